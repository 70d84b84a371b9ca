"""Tables on an engine that is named in a word: the local machine, a Dask cluster, a Spark cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tacit.sources.dask_frame import DaskSource
from tacit.sources.opening import as_source
from tacit.sources.source import Source
from tacit.sources.spark_frame import SparkSource

_ENGINES = "local, dask://HOST:PORT (or dask://local), spark://HOST:PORT (or spark://local[2])"


@contextmanager
def opened(path: str | Path, engine: str = "local") -> Iterator[Source]:
    r"""Open a file or a folder of Parquet files on an engine, and let go of the engine afterwards.

    Parameters
    ----------
    path : str or Path
        As the workers see it.
    engine : str
        ``local``; ``dask://HOST:PORT``, the address of a scheduler, or ``dask://local``, one worker process for each
        processor of this machine; ``spark://HOST:PORT``, a master, or ``spark://local[2]``, threads of this machine.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from tacit.sources import opened
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("age\n31\n45\n")
    >>> with opened(path, "local") as source:
    ...     source.n_rows
    2
    """
    name, _, address = engine.partition("://")
    if engine == "local":
        yield as_source(path)
    elif name == "dask" and address:
        yield from _on_dask(Path(path), address)
    elif name == "spark" and address:
        yield from _on_spark(Path(path), address)
    else:
        raise ValueError(f"The engine must be one of {_ENGINES}, and it is {engine!r}.")


def _on_dask(path: Path, address: str) -> Iterator[Source]:
    try:
        import dask.dataframe as frames
        from distributed import Client
    except ImportError:
        raise ImportError("Dask is not installed: pip install 'tacit[dask]'.") from None
    with Client(dashboard_address=None) if address == "local" else Client(f"tcp://{address}"):
        yield DaskSource(frames.read_csv(path) if _is_csv(path) else frames.read_parquet(path))


def _on_spark(path: Path, address: str) -> Iterator[Source]:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise ImportError("Spark is not installed: pip install 'tacit[spark]'.") from None
    master = address if address.startswith("local") else f"spark://{address}"
    session = SparkSession.builder.master(master).appName("tacit").getOrCreate()
    try:
        reader = session.read.options(header=True, inferSchema=True)
        yield SparkSource(reader.csv(str(path)) if _is_csv(path) else reader.parquet(str(path)))
    finally:
        session.stop()


def _is_csv(path: Path) -> bool:
    return path.name.lower().endswith((".csv", ".csv.gz"))

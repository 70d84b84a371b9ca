"""Tables on an engine that is named in a word: the local machine, a Dask cluster, a Spark cluster.

Every engine reads a CSV file as :class:`~tacit.sources.csv_file.CsvSource` does: the same names, the same delimiter,
all cells as text, and an empty line in a file of one column is a row. No engine guesses types, because a guess would be
read from rows; what a column means is for the schema to say.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from tacit.messages import describe
from tacit.sources.csv_file import CsvSource
from tacit.sources.dask_frame import DaskSource
from tacit.sources.opening import as_source
from tacit.sources.source import Source
from tacit.sources.spark_frame import SparkSource

_ENGINES = "local, dask://HOST:PORT (or dask://local), spark://HOST:PORT (or spark://local[2])"


@contextmanager
def open_source(path: str | Path, engine: str = "local") -> Iterator[Source]:
    r"""Open a file or a folder of Parquet files on an engine, and let go of the engine afterwards.

    Parameters
    ----------
    path : str or Path
        The path, as the workers see it.
    engine : str
        ``local``; ``dask://HOST:PORT``, the address of a scheduler, or ``dask://local``, one worker process for each
        processor of this machine; ``spark://HOST:PORT``, a master, or ``spark://local[2]``, threads of this machine.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from tacit.sources import open_source
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("age\n31\n45\n")
    >>> with open_source(path, "local") as source:
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
        raise ValueError(f"The engine must be one of {_ENGINES}, and it is {describe(engine)}.")


def _on_dask(path: Path, address: str) -> Iterator[Source]:
    try:
        import dask.dataframe as frames
        from distributed import Client
    except ImportError:
        raise ImportError("Dask is not installed: pip install 'tacit[dask]'.") from None
    with Client(dashboard_address=None) if address == "local" else Client(f"tcp://{address}"):
        yield DaskSource(_csv_on_dask(path) if _is_csv(path) else frames.read_parquet(path))


def _csv_on_dask(path: Path) -> Any:
    import dask.dataframe as frames

    local = CsvSource(path)
    frame = frames.read_csv(
        path,
        sep=local.delimiter,
        dtype=str,
        keep_default_na=False,
        na_values=[""],
        skiprows=local.lines_before,
        skip_blank_lines=not local.empty_lines_are_rows,
        blocksize=None if path.name.lower().endswith(".gz") else "default",
    )
    frame.columns = list(local.columns)
    return frame


def _on_spark(path: Path, address: str) -> Iterator[Source]:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise ImportError("Spark is not installed: pip install 'tacit[spark]'.") from None
    master = address if address.startswith("local") else f"spark://{address}"
    session = SparkSession.builder.master(master).appName("tacit").getOrCreate()
    try:
        yield SparkSource(_csv_on_spark(session, path) if _is_csv(path) else session.read.parquet(str(path)))
    finally:
        session.stop()


def _csv_on_spark(session: Any, path: Path) -> Any:
    local = CsvSource(path)
    if not local.empty_lines_are_rows:
        return session.read.options(header=True, sep=local.delimiter).csv(str(path)).toDF(*local.columns)
    # Spark's own CSV reader drops empty lines, with every setting.
    lines = session.sparkContext.textFile(str(path), 1)
    cells = lines.mapPartitionsWithIndex(partial(_single_cells, header_lines=local.lines_before + 1))
    return session.createDataFrame(cells, "cell string").toDF(*local.columns)


def _single_cells(partition: int, lines: Iterable[str], header_lines: int) -> Iterator[tuple[str | None]]:
    """Yield the cells of a CSV file of one column; the header is at the top of the first partition."""
    for line in islice(lines, 0 if partition else header_lines, None):
        if line.count('"') % 2:
            raise ValueError("A cell holds a line break, which this engine cannot read. Use --engine local.")
        (cell,) = next(csv.reader([line])) or [""]
        yield (cell or None,)


def _is_csv(path: Path) -> bool:
    return path.name.lower().endswith((".csv", ".tsv", ".csv.gz", ".tsv.gz"))

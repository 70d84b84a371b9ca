"""One door for rows of every kind."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from scipy import sparse

from tacit.sources.arrays import ArraySource
from tacit.sources.csv_file import CsvSource
from tacit.sources.frames import FrameSource, is_frame
from tacit.sources.parquet import ParquetSource
from tacit.sources.partitions import PartitionedSource
from tacit.sources.source import Source

_FILES: dict[str, type[CsvSource] | type[ParquetSource]] = {
    ".csv": CsvSource,
    ".tsv": CsvSource,
    ".csv.gz": CsvSource,
    ".tsv.gz": CsvSource,
    ".parquet": ParquetSource,
}
_LONGEST_NAME = 255  # The longest name of a file on common systems.


def as_source(X: Any) -> Source:
    """Return the rows of `X` as a `Source`.

    Parameters
    ----------
    X : array-like, data frame, dict of columns, path or Source
        An array or nested list of numbers; a pandas, polars or pyarrow table; a dictionary of columns; the path of a
        ``.csv`` or ``.parquet`` file, or of a folder of the latter, streamed and never held whole; a Dask data frame or
        array, or a Spark data frame, whose rows stay on the cluster. A `Source` is returned as it is.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tacit.sources import as_source
    >>> as_source([[1.0, 2.0], [3.0, 4.0]])
    ArraySource(2 rows, 2 columns)
    >>> as_source(pa.table({"age": [31, 45]}))
    FrameSource(2 rows, columns 'age')
    """
    if isinstance(X, Source):
        return X
    if isinstance(X, str | PathLike):
        return _open_file(Path(X).expanduser())
    if (engine := _engine(X)) == "dask":
        from tacit.sources.dask_frame import DaskSource

        return DaskSource(X)
    if engine == "pyspark":
        from tacit.sources.spark_frame import SparkSource

        return SparkSource(X)
    if is_frame(X) and not sparse.issparse(X):  # One of scipy's sparse matrices is a dictionary, too.
        return FrameSource(X)
    return ArraySource(X)


def on_cluster(X: Any) -> bool:
    """Whether `X` holds rows that are on a cluster, and stay there."""
    return isinstance(X, PartitionedSource) or _engine(X) in ("dask", "pyspark")


def _engine(X: Any) -> str:
    return type(X).__module__.partition(".")[0]  # By name, because neither need be installed.


def _open_file(path: Path) -> Source:
    if "\n" in str(path) or any(len(part) > _LONGEST_NAME for part in path.parts):
        raise ValueError("X is text that cannot be a path. Write rows to a .csv file, and pass its path.")
    if path.is_dir():
        return ParquetSource(path)
    name = path.name.lower()
    for ending, kind in _FILES.items():
        if name.endswith(ending):
            return kind(path)
    raise ValueError(f"The file {path} must be named {', '.join(_FILES)}, so that it is known how to read it.")

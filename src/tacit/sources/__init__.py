"""Where rows live, and how to add up over them: arrays, data frames, CSV and Parquet files, Dask and Spark."""

from tacit.lazy import former_names
from tacit.sources.arrays import ArraySource
from tacit.sources.csv_file import CsvSource
from tacit.sources.dask_frame import DaskSource
from tacit.sources.engines import open_source
from tacit.sources.frames import FrameSource, as_table
from tacit.sources.numbers import as_numbers, has_missing, matrix, numeric
from tacit.sources.opening import as_source, on_cluster
from tacit.sources.parquet import ParquetSource
from tacit.sources.partitions import PartitionedSource
from tacit.sources.source import BLOCK_ROWS, Source, UnreadableCells
from tacit.sources.spark_frame import SparkSource

__all__ = [
    "BLOCK_ROWS",
    "ArraySource",
    "CsvSource",
    "DaskSource",
    "FrameSource",
    "ParquetSource",
    "PartitionedSource",
    "Source",
    "SparkSource",
    "UnreadableCells",
    "as_numbers",
    "as_source",
    "as_table",
    "has_missing",
    "matrix",
    "numeric",
    "on_cluster",
    "open_source",
]

__getattr__ = former_names(__name__, {"opened": "open_source"})

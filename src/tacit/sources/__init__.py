"""Where rows live, and how to add up over them: arrays, data frames, CSV and Parquet files."""

from tacit.sources.arrays import ArraySource
from tacit.sources.csv_file import CsvSource
from tacit.sources.frames import FrameSource, as_table
from tacit.sources.numbers import as_numbers, has_missing, matrix, numeric
from tacit.sources.opening import as_source
from tacit.sources.parquet_file import ParquetSource
from tacit.sources.source import BLOCK_ROWS, Source

__all__ = [
    "BLOCK_ROWS",
    "ArraySource",
    "CsvSource",
    "FrameSource",
    "ParquetSource",
    "Source",
    "as_numbers",
    "as_source",
    "as_table",
    "has_missing",
    "matrix",
    "numeric",
]

"""Rows in a Parquet file, streamed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import copy
from os import PathLike
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tacit.sources.files import check_readable, cut, guarded, no_rows
from tacit.sources.names import check_names, check_selection, listed
from tacit.sources.source import BLOCK_ROWS, Source

# The row labels of a pandas frame, written along by pandas, hidden again when pandas reads the file: not data.
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


class ParquetSource(Source):
    """Rows of a Parquet file, read a block at a time, and only the columns that are asked for.

    Examples
    --------
    >>> import tempfile, pathlib, pyarrow as pa, pyarrow.parquet as pq
    >>> from tacit.sources import ParquetSource
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.parquet"
    >>> pq.write_table(pa.table({"age": [31, 45], "sex": ["f", "m"]}), path)
    >>> source = ParquetSource(path)
    >>> source.columns, source.n_rows
    (('age', 'sex'), 2)
    >>> next(source.select(["age"]).blocks()).to_pydict()
    {'age': [31, 45]}
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        with self._open() as file:
            self._schema, self._n_rows = file.schema_arrow, int(file.metadata.num_rows)
        names = [name for name in self._schema.names if not _PANDAS_INDEX.fullmatch(name)]
        self._columns = check_names(names, str(path))
        if self._n_rows == 0:
            raise no_rows(self.path)

    @property
    def columns(self) -> tuple[str, ...]:
        return self._columns

    @property
    def n_rows(self) -> int:
        return self._n_rows

    @property
    def types(self) -> pa.Schema:
        return pa.schema([self._schema.field(name) for name in self._columns])

    def blocks(self) -> Iterator[pa.Table]:
        with self._open() as file:
            batches = file.iter_batches(BLOCK_ROWS, columns=list(self._columns))
            for block in cut(guarded(batches, f"The file {self.path} is damaged: it could not be read to its end.")):
                yield block.select(self._columns)

    def select(self, columns: Sequence[str]) -> ParquetSource:
        selected = copy(self)
        selected._columns = check_selection(columns, self._columns)
        return selected

    def _open(self) -> pq.ParquetFile:
        check_readable(self.path)
        try:
            # A small buffer instead of whole column chunks: row groups can be as large as the file.
            return pq.ParquetFile(self.path, pre_buffer=False, buffer_size=1 << 16)
        except (pa.ArrowException, OSError):
            pass
        raise ValueError(f"The file {self.path} is not a Parquet file, or is damaged.")

    def __repr__(self) -> str:
        return f"ParquetSource({str(self.path)!r}, {self.n_rows} rows, columns {listed(self.columns)})"

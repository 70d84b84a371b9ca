"""Rows in Parquet files, streamed."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from copy import copy
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from tacit.sources.files import check_readable, cut_blocks, guard, no_rows
from tacit.sources.names import check_names, check_selection, join_names
from tacit.sources.source import BLOCK_ROWS, Source

# Pandas writes the row labels of a frame as such columns, and hides them when it reads the file. They are not data.
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")
# These change the speed, which benchmarks/engines.py measures, and no guarantee.
_STRETCH_ROWS = 16 * BLOCK_ROWS  # A file is opened once for at least this many rows.
_BATCH_CELLS = 2**19  # This many cells are read at a time. Fewer take longer, and more take more memory.


class ParquetSource(Source):
    """Rows of a Parquet file, or of all that are in a folder; only the columns that are asked for are read.

    The files of a folder, and of the folders in it, are one table, in the order of their paths. Folders named like
    ``year=2024`` are a column of that name (hive partitions). Files and folders whose names begin with a dot or an
    underscore are left out, as engines write marks of their own there.

    Examples
    --------
    >>> import tempfile, pathlib, pyarrow as pa, pyarrow.parquet as pq
    >>> from tacit.sources import ParquetSource
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for year in (2023, 2024):
    ...     (folder / f"year={year}").mkdir()
    ...     pq.write_table(pa.table({"age": [31, 45]}), folder / f"year={year}" / "part.parquet")
    >>> source = ParquetSource(folder)
    >>> source.columns, source.n_rows
    (('age', 'year'), 4)
    >>> next(source.select(["age"]).blocks()).to_pydict()
    {'age': [31, 45, 31, 45]}
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        if self.path.is_dir():
            files, named = _files_in(self.path), f"A file in {path}"
            self._unread = f"{named} could not be read to its end, or has other columns than the first."
        else:
            check_readable(self.path)
            files, named = [self.path], f"The file {path}"
            self._unread = f"{named} is damaged: it could not be read to its end."
        try:
            self._dataset = ds.dataset(
                [str(file.absolute()) for file in files],
                format="parquet",
                partitioning=ds.partitioning(flavor="hive"),
                partition_base_dir=str((self.path if self.path.is_dir() else self.path.parent).absolute()),
            )
            self._stretches = list(_stretches(self._dataset))
            whole = True
        except (pa.ArrowException, OSError):
            whole = False
        if not whole:
            raise ValueError(f"{named} is not a Parquet file, or is damaged.")
        if not self._stretches:
            raise no_rows(self.path)
        names = [name for name in self._dataset.schema.names if not _PANDAS_INDEX.fullmatch(name)]
        self._columns = check_names(names, str(path))

    @property
    def columns(self) -> tuple[str, ...]:
        return self._columns

    @property
    def n_rows(self) -> int:
        return self._stretches[-1].end

    @property
    def types(self) -> pa.Schema:
        return pa.schema([self._dataset.schema.field(name) for name in self._columns])

    def blocks(self) -> Iterator[pa.Table]:
        return cut_blocks(chain.from_iterable(self._batches(stretch, use_threads=True) for stretch in self._stretches))

    def streams(self) -> list[Iterator[tuple[int, pa.Table]]]:
        """Return the stretches of files that can be read at the same time."""
        if len(self._stretches) == 1:
            return super().streams()
        seams = _Seams(self.n_rows)
        return [self._stream(stretch, seams) for stretch in self._stretches]

    def _stream(self, stretch: _Stretch, seams: _Seams) -> Iterator[tuple[int, pa.Table]]:
        position = stretch.start
        # The thread that works on a block reads it, so that it is in the cache.
        for piece in cut_blocks(self._batches(stretch, use_threads=False), position):
            block = seams.complete(position, piece)
            if block is not None:
                yield position // BLOCK_ROWS, block
            position += piece.num_rows

    def _batches(self, stretch: _Stretch, use_threads: bool) -> Iterator[pa.RecordBatch]:
        return guard(stretch.batches(self.types, use_threads), self._unread)

    def select(self, columns: Sequence[str]) -> ParquetSource:
        selected = copy(self)
        selected._columns = check_selection(columns, self._columns)
        return selected

    def __repr__(self) -> str:
        return f"ParquetSource({str(self.path)!r}, {self.n_rows} rows, columns {join_names(self.columns)})"


class _Stretch(NamedTuple):
    """Some row groups of one file, enough to be worth opening it, and the number of rows before them."""

    path: str
    metadata: pq.FileMetaData | None  # None for a file of one stretch, to save memory.
    constants: dict[str, Any]  # Columns whose value is in the name of a folder.
    groups: list[int]
    start: int
    end: int

    def batches(self, types: pa.Schema, use_threads: bool) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches with these columns and types, whatever the file has."""
        position = self.start
        # A small buffer, and not whole column chunks, because row groups can be as large as the file.
        with pq.ParquetFile(self.path, metadata=self.metadata, pre_buffer=False, buffer_size=1 << 16) as reader:
            here = set(reader.schema_arrow.names) - set(self.constants)
            names = [name for name in types.names if name in here]
            for batch in reader.iter_batches(_batch_rows(types), self.groups, names, use_threads=use_threads):
                position += batch.num_rows
                if batch.schema.equals(types):
                    yield batch
                else:
                    yield pa.record_batch([_column(batch, field, self.constants) for field in types], schema=types)
        if position != self.end:
            raise pa.ArrowInvalid("There are fewer rows than the file says.")


def _batch_rows(types: pa.Schema) -> int:
    """Return how many rows are read at a time: one block, if cells may be of any length."""
    if not all(pa.types.is_primitive(each) or pa.types.is_dictionary(each) for each in types.types):
        return BLOCK_ROWS
    return max(BLOCK_ROWS, _BATCH_CELLS // len(types) // BLOCK_ROWS * BLOCK_ROWS)


def _column(batch: pa.RecordBatch, field: pa.Field, constants: dict[str, Any]) -> pa.Array:
    """Return a column: the value in the name of the file's folder, else the column of the batch, else nulls."""
    if field.name not in constants and field.name in batch.schema.names:
        return batch[field.name].cast(field.type)
    return pa.repeat(pa.scalar(constants.get(field.name), field.type), batch.num_rows)


def _stretches(dataset: ds.Dataset) -> Iterator[_Stretch]:
    end = 0
    for file in dataset.get_fragments():
        metadata = pq.read_metadata(file.path)  # The fragment's own would stay in memory.
        cuts, start = [], end
        groups: list[int] = []
        for group in range(metadata.num_row_groups):
            groups.append(group)
            end += metadata.row_group(group).num_rows
            if end - start >= _STRETCH_ROWS:
                cuts.append((groups, start, end))
                groups, start = [], end
        if end > start:
            cuts.append((groups, start, end))
        constants = ds.get_partition_keys(file.partition_expression)
        for groups_and_ends in cuts:
            yield _Stretch(file.path, metadata if len(cuts) > 1 else None, constants, *groups_and_ends)


class _Seams:
    """Puts those blocks together whose rows are in several stretches, when the last of them has been read."""

    def __init__(self, n_rows: int) -> None:
        self._n_rows = n_rows
        self._lock = threading.Lock()
        self._pieces: dict[int, dict[int, pa.Table]] = {}

    def complete(self, position: int, piece: pa.Table) -> pa.Table | None:
        """Return the block that a piece completes, if it does."""
        number = position // BLOCK_ROWS
        rows = min(BLOCK_ROWS, self._n_rows - number * BLOCK_ROWS)
        if piece.num_rows == rows:
            return piece
        with self._lock:
            pieces = self._pieces.setdefault(number, {})
            pieces[position] = piece
            if sum(piece.num_rows for piece in pieces.values()) < rows:
                return None
            del self._pieces[number]
        return pa.concat_tables([pieces[position] for position in sorted(pieces)])


def _files_in(folder: Path) -> list[Path]:
    """Return the Parquet files in a folder and those in it, in order; refuse a folder without any."""
    files = [
        file
        for file in sorted(folder.rglob("*.parquet"))
        if file.is_file() and not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
    ]
    if not files:
        raise IsADirectoryError(f"{folder} is a directory without .parquet files; pass one with some, or a file.")
    return files

"""Rows in a folder of Parquet files, streamed one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds

from tacit.sources.files import cut, guarded, no_rows
from tacit.sources.names import check_names, check_selection, listed
from tacit.sources.source import BLOCK_ROWS, Source

# A small buffer instead of whole column chunks, as for one file; and a few blocks ahead of what is worked on.
_SCAN = ds.ParquetFragmentScanOptions(use_buffered_stream=True, buffer_size=1 << 16, pre_buffer=False)
_AHEAD = 4


class ParquetFolder(Source):
    """Rows of all Parquet files in a folder and those in it, in the order of their paths.

    Folders named like ``year=2024`` are a column of that name (hive partitions). Files and folders whose names begin
    with a dot or an underscore are left out, as engines write marks of their own there.

    Examples
    --------
    >>> import tempfile, pathlib, pyarrow as pa, pyarrow.parquet as pq
    >>> from tacit.sources import as_source
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for year in (2023, 2024):
    ...     (folder / f"year={year}").mkdir()
    ...     pq.write_table(pa.table({"age": [31, 45]}), folder / f"year={year}" / "part.parquet")
    >>> source = as_source(folder)
    >>> source.columns, source.n_rows
    (('age', 'year'), 4)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        files = [str(file) for file in parquet_files(path)]
        try:
            self._dataset = ds.dataset(
                files, format="parquet", partitioning=ds.partitioning(flavor="hive"), partition_base_dir=str(path)
            )
            self._n_rows = int(self._dataset.count_rows())
        except (pa.ArrowException, OSError):
            self._n_rows = -1
        if self._n_rows < 0:
            raise ValueError(f"A file in {path} is not a Parquet file, or is damaged.")
        if self._n_rows == 0:
            raise no_rows(path)
        self._columns = check_names(self._dataset.schema.names, str(path))

    @property
    def columns(self) -> tuple[str, ...]:
        return self._columns

    @property
    def n_rows(self) -> int:
        return self._n_rows

    @property
    def types(self) -> pa.Schema:
        return pa.schema([self._dataset.schema.field(name) for name in self._columns])

    def blocks(self) -> Iterator[pa.Table]:
        scanner = self._dataset.scanner(
            columns=list(self._columns),
            batch_size=BLOCK_ROWS,
            batch_readahead=_AHEAD,
            fragment_readahead=1,
            fragment_scan_options=_SCAN,
        )
        complaint = f"A file in {self.path} could not be read to its end, or has other columns than the first."
        yield from cut(batch for batch in guarded(scanner.to_batches(), complaint) if batch.num_rows)

    def select(self, columns: Sequence[str]) -> ParquetFolder:
        selected = copy(self)
        selected._columns = check_selection(columns, self._columns)
        return selected

    def __repr__(self) -> str:
        return f"ParquetFolder({str(self.path)!r}, {self.n_rows} rows, columns {listed(self.columns)})"


def parquet_files(folder: Path) -> list[Path]:
    """Return the Parquet files in a folder and those in it, in order; refuse a folder without any."""
    found = [
        file
        for file in sorted(folder.rglob("*.parquet"))
        if not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
    ]
    if not found:
        raise IsADirectoryError(f"{folder} is a directory without .parquet files; pass one with some, or a file.")
    return found

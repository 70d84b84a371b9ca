"""What files have in common: paths that cannot be read, and batches to be cut into blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from tacit.sources.source import BLOCK_ROWS


def check_readable(path: Path) -> None:
    """Refuse a path that is not a file this process can read, in a sentence."""
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}. Check the path.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory; pass the path of one file.")
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
    except OSError as error:
        raise type(error)(f"The file {path} cannot be read: {error.strerror}.") from None
    if empty:
        raise ValueError(f"The file {path} is empty.")


def no_rows(path: Path) -> ValueError:
    """Return the error for a file without rows."""
    return ValueError(f"Found 0 sample(s) in {path} while a minimum of 1 is required: it has columns, but no rows.")


def cut(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Cut a stream of batches of any lengths into tables of exactly ``BLOCK_ROWS`` rows, the last one shorter."""
    held: list[pa.RecordBatch] = []
    rows_held = 0
    for batch in batches:
        held.append(batch)
        rows_held += batch.num_rows
        if rows_held < BLOCK_ROWS:
            continue
        table = pa.Table.from_batches(held)
        whole = rows_held - rows_held % BLOCK_ROWS
        for start in range(0, whole, BLOCK_ROWS):
            yield table.slice(start, BLOCK_ROWS)
        rows_held -= whole
        held = table.slice(whole).to_batches()
    if rows_held:
        yield pa.Table.from_batches(held)


def guarded(batches: Iterable[pa.RecordBatch], complaint: str) -> Iterator[pa.RecordBatch]:
    """Pass batches on; where reading fails, say `complaint` instead of pyarrow's message, which quotes the row."""
    iterator = iter(batches)
    while True:
        try:
            batch = next(iterator)
        except StopIteration:
            return
        except (pa.ArrowException, OSError):
            break
        yield batch
    raise ValueError(complaint)

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


def cut_blocks(batches: Iterable[pa.RecordBatch], position: int = 0) -> Iterator[pa.Table]:
    """Cut a stream of batches of any lengths wherever a block of ``BLOCK_ROWS`` rows ends; the last one is shorter.

    `position` is how many rows are before the stream: if that is not a multiple, the first one is shorter too.
    """
    held: list[pa.RecordBatch] = []
    rows_held, wanted = 0, BLOCK_ROWS - position % BLOCK_ROWS
    for batch in batches:
        while rows_held + batch.num_rows >= wanted:
            taken = wanted - rows_held
            yield pa.Table.from_batches([*held, batch.slice(0, taken)])
            held, rows_held, wanted = [], 0, BLOCK_ROWS
            batch = batch.slice(taken)
        if batch.num_rows:
            held.append(batch)
            rows_held += batch.num_rows
    if rows_held:
        yield pa.Table.from_batches(held)


def guard(batches: Iterable[pa.RecordBatch], complaint: str) -> Iterator[pa.RecordBatch]:
    """Pass batches on; where reading fails, say `complaint` instead of pyarrow's message, which quotes the row."""
    iterator = iter(batches)
    while True:
        try:
            batch = next(iterator)
        except StopIteration:
            return
        except (pa.ArrowException, OSError, KeyError):  # Columns with the same name raise a KeyError.
            break
        yield batch
    raise ValueError(complaint)

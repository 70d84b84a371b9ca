"""Rows in a CSV file, streamed.

Cells are handed on as text. What a column means (a number, a category, 007 or 7, whether NA is a missing value or
Namibia) is for the reader of the block to decide, who knows. A type guessed from the first rows would fail on later
ones, and would tell something of those rows. It is also faster: the conversion runs on the threads that sum, not on the
one that reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc

from tacit.sources.files import check_readable, cut_blocks, guard, no_rows
from tacit.sources.names import check_names, check_selection, join_names
from tacit.sources.source import Source

DELIMITERS = ",;\t|"
_READ_SIZE = 1 << 19  # The bytes of one piece, and of the longest line. About fifty pieces are in memory at a time.


class CsvSource(Source):
    r"""Rows of a CSV file whose first line names the columns, read a block at a time.

    The text is UTF-8; the delimiter is the one of ``,`` ``;`` tab and ``|`` that the first line holds most of; cells
    may be quoted with ``"`` and may then hold line breaks; an empty cell is null. In a file of one column an empty line
    is a row whose cell is empty; in a file of several columns it is no row. A file named ``.gz`` is unpacked on the
    way. The file declares no types, so ``types`` are all null.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from tacit.sources import CsvSource
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("age;sex\n31;f\n45;m\n")
    >>> source = CsvSource(path)
    >>> source.columns, source.n_rows
    (('age', 'sex'), 2)
    >>> next(source.blocks()).to_pydict()
    {'age': ['31', '45'], 'sex': ['f', 'm']}
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        check_readable(self.path)
        self.lines_before, self.delimiter = _header_line(self.path)
        header = self._header()
        self.empty_lines_are_rows = len(header) == 1
        self._columns = _check_header(header, self.path)
        self._name_in_file = dict(zip(self._columns, header))
        if next(self.blocks(), None) is None:
            raise no_rows(self.path)

    @property
    def columns(self) -> tuple[str, ...]:
        return self._columns

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are: the file is read once to count them."""
        one_column = self.select(self._columns[:1])
        return sum(block.num_rows for block in one_column.blocks())

    @property
    def types(self) -> pa.Schema:
        return pa.schema([(name, pa.null()) for name in self._columns])

    def blocks(self) -> Iterator[pa.Table]:
        check_readable(self.path)
        names = [self._name_in_file[name] for name in self._columns]
        for block in cut_blocks(guard(self._batches(names), self._malformed_message())):
            yield block.rename_columns(list(self._columns))

    def _batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        as_text = dict.fromkeys(names, pa.string())
        with self._reader(self.empty_lines_are_rows, include_columns=names, column_types=as_text) as reader:
            yield from reader

    def _header(self) -> list[str]:
        try:
            with self._reader(empty_lines_are_rows=False) as reader:
                return list(reader.schema.names)
        except (pa.ArrowException, OSError, UnicodeError):
            pass
        raise ValueError(self._malformed_message())

    def _malformed_message(self) -> str:
        return (
            f"The file {self.path} could not be read as CSV. The first line must name the columns, and each line after "
            f"it must have as many cells, separated by {self.delimiter!r}, in UTF-8 text."
        )

    def _reader(self, empty_lines_are_rows: bool, **columns: Any) -> pc.CSVStreamingReader:
        return pc.open_csv(
            self.path,
            read_options=pc.ReadOptions(block_size=_READ_SIZE, skip_rows=self.lines_before),
            parse_options=pc.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=True, ignore_empty_lines=not empty_lines_are_rows
            ),
            convert_options=pc.ConvertOptions(strings_can_be_null=True, null_values=[""], **columns),
        )

    def select(self, columns: Sequence[str]) -> CsvSource:
        selected = copy(self)  # The copy keeps the number of rows, if it is known.
        selected._columns = check_selection(columns, self._columns)
        return selected

    def __repr__(self) -> str:
        return f"CsvSource({str(self.path)!r}, columns {join_names(self.columns)})"


def _header_line(path: Path) -> tuple[int, str]:
    """Return how many empty lines come before the header, and the delimiter that it holds most of outside quotes."""
    try:
        with pa.input_stream(path, compression="detect") as stream:
            lines = stream.read(_READ_SIZE).decode("utf-8", errors="ignore").splitlines()
    except (pa.ArrowException, OSError):
        lines = []
    place, header = next(((place, line) for place, line in enumerate(lines) if line.strip()), (0, ""))
    outside_quotes = "".join(header.split('"')[::2])
    return place, max(DELIMITERS, key=outside_quotes.count)


def _check_header(names: Sequence[str], path: Path) -> tuple[str, ...]:
    """Return the names of the columns, tidied; refuse a line that does not look like names."""
    names = [name.strip() for name in names]
    if not all(names):
        raise ValueError(
            f"A column of {path} has no name in the first line. Name it; "
            "if it is the index of a pandas frame, write the file with index=False."
        )
    if any(_is_number(name) for name in names):
        # Names are public, and appear in models and reports. A row that is taken for the header would be published.
        raise ValueError(
            f"The first line of {path} must name the columns, but one of the names is a number, as if the line were "
            "a row of data. Add a line of names; if it is a name, put a letter before it."
        )
    return check_names(names, str(path))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

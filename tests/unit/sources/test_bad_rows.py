"""Bad input: a sentence that says what to do, and never a row's value or number."""

import gzip
import re
import traceback

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from tacit.sources import BLOCK_ROWS, as_source, as_table, has_missing, numeric

SECRET = "s3cret"
PADDING = BLOCK_ROWS + 123  # the bad row stands behind the first block


def complaint(function, kind=ValueError):
    """Return the message of the error `function` raises, once it is clear that nothing in it tells of a row."""
    with pytest.raises(kind) as caught:
        function()
    told = "".join(traceback.format_exception_only(caught.value))
    chained = caught.value.__context__ or caught.value.__cause__
    assert chained is None, f"{chained!r} is chained to the error"
    assert SECRET not in told
    assert str(PADDING) not in told
    assert str(PADDING + 1) not in told
    assert str(PADDING + 2) not in told
    return str(caught.value)


def read_all(X):
    return has_missing(numeric(as_source(X)))


def padded(header, row, bad):
    return "\n".join([header, *[row] * PADDING, bad, row]) + "\n"


@pytest.fixture
def csv(tmp_path):
    def write(content, name="rows.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


# -- arrays: the sentences scikit-learn's checks look for


@pytest.mark.parametrize(
    ("X", "kind", "words"),
    [
        ([1.0, 2.0], ValueError, "Expected 2D array, got 1D array instead.*Reshape your data"),
        (3.0, ValueError, "Expected 2D array, got scalar array instead"),
        (np.zeros((2, 2, 2)), ValueError, "Found array with dim 3"),
        (
            np.zeros((0, 3)),
            ValueError,
            r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required",
        ),
        (np.zeros((3, 0)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"),
        (np.array([[1 + 1j]]), ValueError, "Complex data not supported"),
        (sparse.csr_array(np.eye(2)), TypeError, "(?i)sparse"),
        (sparse.dok_matrix(np.eye(2)), TypeError, "(?i)sparse"),
        (np.array([[SECRET]]), ValueError, "Expected an array of numbers"),
        (np.array([[SECRET]], dtype=object), ValueError, "could not convert string to float"),
        (np.array([[{SECRET: 1}]], dtype=object), TypeError, "argument must be a string or a real number"),
        (
            np.array([["2020-01-01"]], dtype="M8[D]"),
            ValueError,
            "Expected an array of numbers, got one of type datetime64",
        ),
        ([[1.0, 2.0], [3.0]], ValueError, "rows of equal length"),
        (pd.Series([1.0, 2.0]), ValueError, "got 1D array"),
        (None, TypeError, "Expected rows: .* got NoneType"),
        ({1, 2}, TypeError, "Expected rows: .* got set"),
    ],
)
def test_arrays(X, kind, words):
    assert re.search(words, complaint(lambda: as_source(X), kind))


# -- data frames


def test_text_in_a_numeric_column_is_named_by_its_column():
    for frame in (pd.DataFrame, pl.DataFrame, pa.table, dict):
        cells = ["1.5"] * PADDING + [SECRET]
        assert "Column 'weight' holds text that cannot be read as a number" in complaint(
            lambda frame=frame, cells=cells: read_all(frame({"age": [1] * len(cells), "weight": cells}))
        )


def test_mixed_columns():
    frame = pd.DataFrame({"age": pd.Series([1] * PADDING + [SECRET], dtype=object)})
    assert "Column 'age' mixes kinds" in complaint(lambda: read_all(frame))
    assert "Column 'age' mixes kinds" in complaint(lambda: as_table({"age": [1, SECRET]}))


def test_dates_are_not_numbers():
    frame = pd.DataFrame({"born": pd.to_datetime(["1931-05-04"])})
    assert re.match("Column 'born' holds timestamp.*, not numbers", complaint(lambda: read_all(frame)))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=["1", 1]),
        pa.table([[1], [2]], ["a", "a"]),
    ],
)
def test_duplicated_columns(frame):
    assert "names must be unique, but the data frame has several called" in complaint(lambda: as_source(frame))


def test_frames_without_rows_or_columns():
    assert "0 sample(s) (shape=(0, 1))" in complaint(lambda: as_source(pd.DataFrame({"a": []})))
    assert "0 feature(s)" in complaint(lambda: as_source(pd.DataFrame(index=[1, 2])))
    assert "0 feature(s)" in complaint(lambda: as_source({}))
    assert "equal length" in complaint(lambda: as_source({"a": [1], "b": [1, 2]}))


def test_lazy_frames():
    assert "Collect it first" in complaint(lambda: as_source(pl.LazyFrame({"a": [1]})), TypeError)


# -- files


def test_paths(tmp_path, csv):
    assert "There is no file" in complaint(lambda: as_source(tmp_path / "none.csv"), FileNotFoundError)
    assert "There is no file" in complaint(lambda: as_source(tmp_path / "none.parquet"), FileNotFoundError)
    (tmp_path / "folder.csv").mkdir()
    assert "is a directory" in complaint(lambda: as_source(tmp_path / "folder.csv"), IsADirectoryError)
    assert "must be named .csv" in complaint(lambda: as_source("rows.xlsx"))
    for name in ("empty.csv", "empty.parquet"):
        path = csv("", name)
        assert "is empty" in complaint(lambda path=path: as_source(path))


def test_unreadable_file(csv, monkeypatch):
    path = csv("a\n1\n")

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(PermissionError, match="cannot be read: Permission denied"):
        as_source(path)


@pytest.mark.parametrize("content", ["a,b\n", "a,b\n\n\n"])
def test_csv_without_rows(csv, content):
    assert "no rows" in complaint(lambda: as_source(csv(content)))


def test_parquet_without_rows(tmp_path):
    pq.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "rows.parquet")
    assert "no rows" in complaint(lambda: as_source(tmp_path / "rows.parquet"))


def test_csv_with_a_cell_that_is_no_number(csv):
    path = csv(padded("age,weight", "1,2", f"3,{SECRET}"))
    assert "Column 'weight' holds text that cannot be read as a number" in complaint(lambda: read_all(path))


@pytest.mark.parametrize("bad", [f"1,2,{SECRET}", SECRET, f'"{SECRET}'])
def test_csv_with_a_line_of_another_length(csv, bad):
    near = csv(padded("age,weight", "1,2", bad), "near.csv")
    assert "could not be read as CSV" in complaint(lambda: as_source(near))
    row = "1," + "2" * 100
    far = csv(padded("age,weight", row + f"\n{row}" * 5, bad), "far.csv")  # far behind what is read on opening
    source = as_source(far)
    assert "could not be read as CSV" in complaint(lambda: read_all(source))


def test_csv_that_is_not_utf8(csv):
    assert "UTF-8" in complaint(lambda: read_all(csv(padded("a,b", "1,2", "1,\xe9").encode("latin-1"))))
    assert "UTF-8" in complaint(lambda: read_all(csv("\xe9,b\n1,2\n".encode("latin-1"))))


def test_csv_with_a_row_longer_than_can_be_read_at_once(csv):
    assert "could not be read as CSV" in complaint(lambda: read_all(csv(f"a\n1\n{SECRET * 10**6}\n")))


def test_csv_damaged_in_transit(csv):
    packed = gzip.compress(padded("a,b", "1,2", "3,4").encode())
    assert "could not be read as CSV" in complaint(lambda: read_all(csv(packed[: len(packed) // 2], "rows.csv.gz")))


def test_csv_header(csv):
    assert "several called 'a'" in complaint(lambda: as_source(csv("a,b, a\n1,2,3\n")))
    assert "has no name" in complaint(lambda: as_source(csv(",a\n0,1\n")))
    # A row of data in place of the header must not become public names.
    assert "must name the columns" in complaint(lambda: as_source(csv(f"39,{SECRET}\n40,x\n")))


def test_parquet_that_is_none(csv):
    assert "not a Parquet file" in complaint(lambda: as_source(csv(SECRET * 100, "rows.parquet")))


def test_parquet_damaged_inside(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": np.random.default_rng(0).normal(size=50_000)}), path, write_page_index=False)
    content = bytearray(path.read_bytes())
    content[1000:200_000] = bytes(199_000)
    path.write_bytes(content)
    assert "is damaged" in complaint(lambda: read_all(path))


def test_parquet_with_text(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"age": [1] * PADDING, "name": [SECRET] * PADDING}), path)
    assert "Column 'name' holds text" in complaint(lambda: read_all(path))

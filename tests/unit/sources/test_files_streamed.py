"""Files: what is understood in them, and that they are never held whole."""

import contextlib
import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import tacit
from tacit.sources import BLOCK_ROWS, as_source, has_missing, numeric


def cells(path):
    return pa.concat_tables(as_source(path).blocks()).to_pydict()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a,b\n1,2\n", {"a": ["1"], "b": ["2"]}),
        ("a;b\n1,5;2\n", {"a": ["1,5"], "b": ["2"]}),
        ("a\tb\n1\t2\n", {"a": ["1"], "b": ["2"]}),
        ("a|b\r\n1|2\r\n", {"a": ["1"], "b": ["2"]}),
        ("a\n1\n2", {"a": ["1", "2"]}),
        ("\ufeffa, b\n1,2\n", {"a": ["1"], "b": ["2"]}),
        ('"x, y";"b"\n"1;2";3\n', {"x, y": ["1;2"], "b": ["3"]}),
        ('a,b\n"one\ntwo","say ""no"""\n', {"a": ["one\ntwo"], "b": ['say "no"']}),
        ("a,b\n007,NA\n,None\n", {"a": ["007", None], "b": ["NA", "None"]}),
        ("a,b\n\n1,2\n\n", {"a": ["1"], "b": ["2"]}),
        ("\n\na,b\n1,2\n", {"a": ["1"], "b": ["2"]}),
        # In a file of one column an empty line is a row whose cell is empty.
        ("a\n1\n\n2\n", {"a": ["1", None, "2"]}),
        ("a\r\n1\r\n\r\n\r\n", {"a": ["1", None, None]}),
        ("a\n\n", {"a": [None]}),
        ("\n\na\n\n1\n", {"a": [None, "1"]}),
    ],
)
def test_csv_dialects(tmp_path, content, expected):
    path = tmp_path / "rows.csv"
    path.write_bytes(content.encode())
    assert cells(path) == expected


def test_numbers_in_text(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('a\n1\n 2.5\n-3e2 \nNA\n""\n?\nnan\ninf\n+4\n')
    (block,) = numeric(as_source(path)).blocks()
    np.testing.assert_array_equal(block[:, 0], [1, 2.5, -300, np.nan, np.nan, np.nan, np.nan, np.inf, 4])


def test_a_column_may_change_its_looks_in_later_blocks(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a\n" + "1\n" * BLOCK_ROWS * 3 + "2.5\nNA\n")
    blocks = list(numeric(as_source(path)).blocks())
    np.testing.assert_array_equal(blocks[-1][:, 0], [2.5, np.nan])


def test_a_csv_file_declares_no_types(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("i,f\n1,1.5\n")
    assert as_source(path).types == pa.schema([("i", pa.null()), ("f", pa.null())])


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz"])
def test_an_empty_line_deletes_no_row(tmp_path, name):
    """A certificate said 2,999 rows when one person of 3,000 had no value."""
    path = tmp_path / name
    lines = ["0.5"] * 100_000  # several pieces of the file, as it is read
    for place in (0, 1, 17, 8191, 8192, 50_000, 99_999):
        lines[place] = ""
    with gzip.open(path, "wt") if name.endswith("gz") else path.open("w") as file:
        file.write("x\n" + "\n".join(lines) + "\n")
    source = as_source(path)
    assert source.n_rows == 100_000
    blocks = np.concatenate(list(numeric(source).blocks()))
    assert np.flatnonzero(np.isnan(blocks[:, 0])).tolist() == [0, 1, 17, 8191, 8192, 50_000, 99_999]
    assert has_missing(source)


def test_an_empty_line_is_refused_as_a_missing_cell_is(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x\n" + "0.5\n\n0.25\n" * 1000)
    model = tacit.RobustMean(bounds=1.0, missing="error")
    with pytest.raises(ValueError, match="missing cells"):
        model.fit(path)
    path.write_text("x\n" + "0.5\nNA\n0.25\n" * 1000)
    with pytest.raises(ValueError, match="missing cells"):
        model.fit(path)


def test_rows_are_counted_once(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    source = as_source(path)
    assert source.n_rows == 2
    path.unlink()
    assert source.select(["b"]).n_rows == 2


def test_the_index_of_pandas_is_not_a_column(tmp_path):
    frame = pd.DataFrame({"a": [1, 2]}, index=["x", "y"])
    frame.to_parquet(tmp_path / "rows.parquet")
    assert pq.read_schema(tmp_path / "rows.parquet").names == ["a", "__index_level_0__"]
    assert as_source(tmp_path / "rows.parquet").columns == ("a",)
    assert as_source(frame).columns == ("a",)


def test_parquet_names_with_dots(tmp_path):
    pq.write_table(pa.table({"a": [1], "a.b": [2], "c": [3]}), tmp_path / "rows.parquet")
    (block,) = as_source(tmp_path / "rows.parquet").select(["a"]).blocks()
    assert block.to_pydict() == {"a": [1]}


def test_pruned_columns_are_not_read(tmp_path):
    table = pa.table({"small": np.zeros(100_000), "large": ["x" * 200] * 100_000})
    pq.write_table(table, tmp_path / "rows.parquet", use_dictionary=False)
    before = pa.total_allocated_bytes()
    blocks = list(as_source(tmp_path / "rows.parquet").select(["small"]).blocks())
    assert pa.total_allocated_bytes() - before < 3_000_000  # 0.8 MB; the other column has 20 MB
    assert len(blocks) == 13


MEASURE = """
import sys, tracemalloc
import numpy as np, pyarrow as pa
from tacit.sources import as_source, has_missing, numeric
assert has_missing(numeric(as_source({"x": [1.0, None]})))  # so that what pyarrow imports on first use is not counted
source = numeric(as_source(sys.argv[1]))
tracemalloc.start()
total = source.sum(lambda block: np.array([len(block), int((block[:, 0] > 0).sum())]), threads=2)
assert total[0] == source.n_rows == 1_000_000 and 490_000 < total[1] < 510_000, total
print(pa.default_memory_pool().max_memory(), tracemalloc.get_traced_memory()[1])
"""


@pytest.fixture(scope="module")
def large_table():
    numbers = np.random.default_rng(0).normal(size=(10, 1_000_000)).round(4)
    return pa.table({f"x{i}": column for i, column in enumerate(numbers)})  # 80 MB, and as text about 110 MB


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_memory_stays_constant(kind, large_table, tmp_path):
    path = tmp_path / f"rows.{kind}"
    if kind == "csv":
        pyarrow.csv.write_csv(large_table, path)
    else:
        pq.write_table(large_table, path)  # a single row group
    done = subprocess.run([sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    arrow_peak, numpy_peak = map(int, done.stdout.split())
    assert arrow_peak < 50e6  # measured: 26 MB, the same for a file four times as long
    assert numpy_peak < 10e6  # measured: 1.3 MB


def one(block):
    return np.ones(1, dtype=np.int64)


def test_a_file_that_has_lost_rows_since_is_refused(tmp_path):
    """Rows would be missing from the block that two files share, and nobody would know."""
    for name in ("a", "b"):
        pq.write_table(pa.table({"x": np.arange(10_000.0)}), tmp_path / f"{name}.parquet")
    source = as_source(tmp_path)
    pq.write_table(pa.table({"x": np.arange(9_999.0)}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="could not be read to its end"):
        source.sum(one)


def test_a_column_that_folders_name_is_what_they_say(tmp_path):
    for year, kept in ((2023, [7, 8]), (2024, None)):
        columns = {"x": [1.0, 2.0]} if kept is None else {"x": [1.0, 2.0], "year": pa.array(kept, pa.int32())}
        (tmp_path / f"year={year}").mkdir()
        pq.write_table(pa.table(columns), tmp_path / f"year={year}" / "part.parquet")
    assert cells(tmp_path)["year"] == [2023, 2023, 2024, 2024]
    assert numeric(as_source(tmp_path)).sum(lambda block: block[:, 1].sum(keepdims=True).astype(np.int64)) == [8094]


def test_folders_named_like_files_are_folders(tmp_path):
    (tmp_path / "people.parquet").mkdir()
    pq.write_table(pa.table({"x": [1.0, 2.0]}), tmp_path / "people.parquet" / "part.parquet")
    assert as_source(tmp_path).n_rows == as_source(tmp_path / "people.parquet").n_rows == 2


def test_a_relative_path_is_of_the_folder_one_was_in(tmp_path, monkeypatch):
    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "rows.parquet")
    monkeypatch.chdir(tmp_path)
    source = as_source("rows.parquet")
    monkeypatch.chdir("/")
    assert source.sum(one) == [1]


def test_long_cells_are_read_a_block_at_a_time(tmp_path):
    rows = 6 * BLOCK_ROWS
    pq.write_table(pa.table({"word": [f"{row:0500}" for row in range(rows)]}), tmp_path / "rows.parquet")
    before, most = pa.total_allocated_bytes(), []

    def hold(block):
        most.append(pa.total_allocated_bytes() - before)
        return one(block)

    assert as_source(tmp_path / "rows.parquet").sum(hold, threads=1) == [6]
    assert max(most) < 20e6  # all of them have 25 MB, a block 4 MB


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="Open files are listed in /proc on Linux alone.")
@pytest.mark.parametrize("threads", [1, 4])
def test_files_are_closed_where_a_sum_fails(threads, tmp_path):
    for name in "abcdef":
        pq.write_table(pa.table({"x": np.arange(20_000.0)}), tmp_path / f"{name}.parquet")
    source = as_source(tmp_path)

    def failing(block):
        raise ZeroDivisionError("as planned")

    with pytest.raises(ZeroDivisionError) as kept:
        source.sum(failing, threads=threads)
    assert kept.value.__traceback__ is not None
    assert not [link for link in open_files() if link.startswith(str(tmp_path))]


def open_files():
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            yield str(entry.readlink())


def test_text_that_is_none_names_its_column():
    broken = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, 2], np.int32)), pa.py_buffer(b"\xff1")]
    )
    with pytest.raises(ValueError, match="Column 'a' holds text"):
        next(numeric(as_source(pa.table({"a": broken}))).blocks())

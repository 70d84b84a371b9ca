"""Files: what is understood in them, and that they are never held whole."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from tacit.sources import BLOCK_ROWS, as_source, numeric


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


def test_guessed_types(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("i,f,b,s,e\n1,1.5,true,x,\n-2,3,False,1,\n,,,,\n")
    source = as_source(path)
    assert source.types_are_guessed
    assert [str(field.type) for field in source.types] == ["int64", "double", "bool", "string", "double"]


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

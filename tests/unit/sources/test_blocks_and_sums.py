"""Every kind of source cuts the same rows into the same blocks, and adds them up to the same integers."""

import os
import pickle
import threading
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from threadpoolctl import threadpool_info

from tacit.release.sampling import Deal, PoissonSample
from tacit.sources import BLOCK_ROWS, FrameSource, Source, as_source, has_missing, matrix, numeric
from tacit.sources.summation import _Shared, sum_over_streams

ROWS = 2 * BLOCK_ROWS + 77
NAMES = ("height", "weight", "visits")


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(3)
    return np.column_stack([generator.normal(size=(ROWS, 2)).round(3), generator.integers(0, 9, ROWS)])


KINDS = ("array", "fortran", "list", "pandas", "polars", "pyarrow", "dict", "csv", "csv.gz", "parquet")


@pytest.fixture(scope="module", params=KINDS)
def source(request, rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    table = pa.table({name: rows[:, i] for i, name in enumerate(NAMES)})
    kind = request.param
    if kind.startswith("csv"):
        path = folder / f"rows.{kind}"
        with pa.CompressedOutputStream(str(path), "gzip") if kind.endswith("gz") else open(path, "wb") as file:
            pyarrow.csv.write_csv(table, file)
        return as_source(str(path))
    if kind == "parquet":
        pq.write_table(table, folder / "rows.parquet", row_group_size=5000)  # groups that straddle blocks
        return as_source(folder / "rows.parquet")
    makers = {
        "array": lambda: rows,
        "fortran": lambda: np.asfortranarray(rows),
        "list": lambda: rows.tolist(),
        "pandas": lambda: pd.DataFrame(rows, columns=NAMES, index=np.arange(ROWS)[::-1]),
        "polars": lambda: pl.DataFrame(rows, schema=list(NAMES)),
        "pyarrow": lambda: pa.Table.from_batches(table.to_batches(max_chunksize=1000)),
        "dict": lambda: {name: rows[:, i] for i, name in enumerate(NAMES)},
    }
    return as_source(makers[kind]())


def thousandths(block):
    return np.rint(1000 * block).astype(np.int64).sum(axis=0)


def test_blocks_are_cut_by_position_alone(source, rows):
    assert source.n_rows == ROWS
    blocks = list(numeric(source).blocks())
    assert [len(block) for block in blocks] == [BLOCK_ROWS, BLOCK_ROWS, 77]
    assert all(block.dtype == np.float64 for block in blocks)
    np.testing.assert_array_equal(np.vstack(blocks), rows)


def test_blocks_can_be_read_again_after_a_reader_gave_up(source):
    next(source.blocks())
    assert sum(len(block) for block in numeric(source).blocks()) == ROWS


def test_sum_is_exact_whatever_the_threads(source, rows):
    expected = np.rint(1000 * rows).astype(np.int64).sum(axis=0)
    for threads in (None, 1, 2, 5):
        np.testing.assert_array_equal(numeric(source).sum(thousandths, threads=threads), expected)


def test_map_is_lazy_and_chains(source, rows):
    seen = []
    mapped = numeric(source).map(lambda block: seen.append(len(block)) or block[:, :1] * 2, columns=["double"])
    assert seen == []
    assert mapped.columns == ("double",)
    assert mapped.n_rows == ROWS
    np.testing.assert_array_equal(mapped.sum(thousandths), [np.rint(2000 * rows[:, 0]).astype(np.int64).sum()])
    assert sorted(seen) == [77, BLOCK_ROWS, BLOCK_ROWS]


def test_rows_in_memory_are_mapped_once_for_many_passes(source, rows):
    seen = []
    mapped = numeric(source).map(lambda block: seen.append(len(block)) or block[:, :1] * 2, columns=["double"])
    held = mapped.hold()
    for _ in range(3):
        np.testing.assert_array_equal(held.sum(thousandths), [np.rint(2000 * rows[:, 0]).astype(np.int64).sum()])
    assert held.n_rows == ROWS
    assert held.columns == ("double",)
    if source.in_memory:
        assert seen == [1, BLOCK_ROWS, BLOCK_ROWS, 77]  # one row first: how much memory it takes
        assert held.hold() is held
        assert not any(block.flags.writeable for block in held.blocks())
    else:
        assert held is mapped
        assert len(seen) == 9
    assert source.hold() is source


def test_what_would_take_much_memory_is_not_held(monkeypatch):
    mapped = as_source(np.zeros((ROWS, 2))).map(lambda block: block + 1)
    monkeypatch.setattr("tacit.sources.source._MOST_HELD", ROWS * 2 * 8)
    assert mapped.hold() is not mapped
    monkeypatch.setattr("tacit.sources.source._MOST_HELD", ROWS * 2 * 8 - 1)
    assert mapped.hold() is mapped


def test_missing_is_found_in_the_last_block(source):
    assert not has_missing(numeric(source))

    def spoil(value):
        def function(block):
            return np.vstack([block[:-1], np.full(3, value)]) if len(block) == 77 else block

        return function

    for value in (np.nan, np.inf, -np.inf):
        assert has_missing(numeric(source).map(spoil(value)))


def test_a_source_is_its_own_source(source):
    assert as_source(source) is source


def test_sources_can_be_pickled(source):
    np.testing.assert_array_equal(
        numeric(pickle.loads(pickle.dumps(source))).sum(thousandths), numeric(source).sum(thousandths)
    )


def test_columns_are_selected_by_name_in_order(source, rows):
    if source.columns is None:
        with pytest.raises(TypeError, match="no names"):
            source.select(["visits"])
        return
    assert source.columns == NAMES
    chosen = source.select(["visits", "height"])
    assert chosen.columns == ("visits", "height")
    assert [field.name for field in chosen.types] == ["visits", "height"]
    assert all(block.column_names == ["visits", "height"] for block in chosen.blocks())
    np.testing.assert_array_equal(np.vstack([matrix(block) for block in chosen.blocks()]), rows[:, [2, 0]])
    with pytest.raises(ValueError, match=r"no column 'Weight'.*Did you mean 'weight'"):
        source.select(["Weight"])
    with pytest.raises(ValueError, match="no column 'weight'"):
        chosen.select(["weight"])


# -- arrays


@pytest.mark.parametrize(
    "dtype", [np.int8, np.int64, np.uint16, np.bool_, np.float32, np.float16, np.longdouble, object]
)
def test_other_numbers_become_float64(dtype):
    source = as_source(np.array([[0, 1], [1, 1]], dtype=dtype))
    (block,) = source.blocks()
    assert block.dtype == np.float64
    np.testing.assert_array_equal(block, [[0, 1], [1, 1]])


@pytest.mark.parametrize("order", ["C", "F"])
def test_float64_arrays_are_not_copied(order):
    array = np.zeros((10, 3), order=order)
    assert all(np.shares_memory(block, array) for block in as_source(array).blocks())


def test_masked_cells_are_missing():
    masked = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(next(as_source(masked).blocks()), [[1, np.nan], [3, 4]])


def test_memory_maps_stay_on_disk(tmp_path):
    array = np.lib.format.open_memmap(tmp_path / "rows.npy", "w+", np.float64, (20_000, 2))
    array[:] = 1
    source = as_source(np.load(tmp_path / "rows.npy", mmap_mode="r"))
    np.testing.assert_array_equal(source.sum(thousandths), [20_000_000, 20_000_000])


# -- sums


def test_sums_refuse_what_does_not_add_up_exactly():
    source = as_source(np.ones((3, 2)))
    for function in (lambda block: block.sum(axis=0), lambda block: 3, lambda block: np.ones((1, 1), dtype=np.int64)):
        with pytest.raises(TypeError, match="vector of int64"):
            source.sum(function)


def test_sums_refuse_vectors_of_changing_length():
    source = as_source(np.ones((BLOCK_ROWS + 1, 1)))
    with pytest.raises(ValueError, match="same length"):
        source.sum(lambda block: np.ones(min(len(block), 5), dtype=np.int64))


def test_sums_leave_the_first_vector_alone():
    one = np.ones(1, dtype=np.int64)
    assert as_source(np.ones((3 * BLOCK_ROWS, 1))).sum(lambda block: one) == [3]
    assert one == [1]


def test_an_error_in_a_block_stops_the_sum():
    def function(block):
        raise ZeroDivisionError("as planned")

    with pytest.raises(ZeroDivisionError, match="as planned"):
        as_source(np.ones((5 * BLOCK_ROWS, 1))).sum(function, threads=2)


def test_an_error_in_a_thread_stops_the_others():
    source, main = Endless(), threading.get_ident()

    def function(block):
        source.finish(block)
        if threading.get_ident() != main:
            raise ZeroDivisionError("as planned")
        time.sleep(0.001)
        return np.ones(1, dtype=np.int64)

    with pytest.raises(ZeroDivisionError, match="as planned"):
        source.sum(function, threads=2)
    assert source.read < 200


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("lengths", [[5], [0, 4], [1, 0, 30, 2], [1] * 20])
def test_blocks_of_several_streams_are_counted_once(lengths, threads):
    """Whichever thread reads them; and no more streams are begun than there are threads to work on them."""
    lock, begun, most = threading.Lock(), set(), []

    def stream(number, length):
        for place in range(length):
            with lock:
                begun.add(number)
                most.append(len(begun))
            time.sleep(0.0002)
            yield 1 << number, place
        begun.discard(number)

    streams = [stream(number, length) for number, length in enumerate(lengths)]
    found = sum_over_streams(streams, lambda block: np.array([block[0], block[1] + 1]), threads)
    assert found[0] == sum(length << number for number, length in enumerate(lengths))
    assert found[1] == sum(length * (length + 1) // 2 for length in lengths)
    assert max(most) <= threads


def test_threads_that_wait_for_a_block_are_let_go():
    """Whatever has become of the thread that reads: an interrupt may have left it anywhere."""
    reading, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def slow():
        reading.set()
        go_on.wait(30)
        yield 1

    shared = _Shared([slow()])
    threading.Thread(target=lambda: list(shared), daemon=True).start()
    assert reading.wait(30)
    threading.Thread(target=lambda: (list(shared), ended.set()), daemon=True).start()
    time.sleep(0.01)
    shared.close()
    assert ended.wait(30)
    go_on.set()


def test_sums_at_the_same_time_leave_blas_as_it_was():
    def threads():
        return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]

    seen, inside, leave = [], threading.Event(), threading.Event()

    def first(block):
        inside.set()
        leave.wait(30)
        seen.append(threads())
        return np.ones(1, dtype=np.int64)

    sum_over_streams([[1]], lambda block: np.ones(1, dtype=np.int64), threads=1)
    before = threads()
    longer = threading.Thread(target=lambda: sum_over_streams([[1]], first, threads=1))
    longer.start()
    assert inside.wait(30)
    sum_over_streams([[1]], lambda block: np.ones(1, dtype=np.int64), threads=1)
    leave.set()
    longer.join()
    assert set(seen[0]) == {1}
    assert threads() == before


def test_streams_without_blocks_are_no_rows():
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        sum_over_streams([[], []], len, threads=2)


def test_threads_must_be_positive():
    with pytest.raises(ValueError, match="at least 1"):
        as_source([[1.0]]).sum(thousandths, threads=0)


class Endless(Source):
    """Counts how many of its blocks are out at once."""

    columns, n_rows, types = ("x",), 200, None

    def __init__(self):
        self.lock, self.read, self.done, self.most = threading.Lock(), 0, 0, 0

    def blocks(self):
        for _ in range(200):
            with self.lock:
                self.read += 1
                self.most = max(self.most, self.read - self.done)
            yield np.ones((1, 1))

    def select(self, columns):
        raise NotImplementedError

    def finish(self, block):
        with self.lock:
            self.done += 1
        return np.ones(1, dtype=np.int64)


def test_reading_ahead_is_bounded():
    source = Endless()
    assert source.sum(source.finish, threads=3) == [200]
    assert source.most <= 3 + 1  # in each thread, and one that the next takes while its end is not counted yet


def test_an_engine_needs_to_implement_sum_alone(rows):
    class Doubled(FrameSource):
        """Stands for an engine that sums elsewhere."""

        def sum(self, function, **how):
            return 2 * super().sum(function, **how)

    frame = pa.table({"x": np.full(10, 0.5)})
    assert numeric(Doubled(frame)).sum(thousandths) == [10_000]
    assert numeric(Doubled(frame)).map(lambda block: 2 * block).sum(thousandths) == [20_000]


def test_shares_hold_every_row_once(source, rows):
    numbers = numeric(source)
    for parts in (1, 3, 1000):
        deal = Deal(parts, key=bytes(32))
        shares = [np.concatenate(list(numbers.sample(deal.share(index)).blocks())) for index in range(min(parts, 5))]
        every = np.concatenate([deal((0, number), len(block)) for number, block in enumerate(numbers.blocks())])
        for index, share in enumerate(shares):
            assert share.tolist() == rows[every == index].tolist()
    doubled = numbers.sample(deal.share(1)).map(lambda block: 2 * block)
    expected = 2 * rows[every == 1, 2].sum()
    assert doubled.sum(lambda block: np.array([block[:, 2].sum()], dtype=np.int64))[0] == expected


def test_wide_blocks_are_summed_in_strips_and_only_then_rounded():
    rng = np.random.default_rng(0)
    rows = rng.uniform(-1, 1, (BLOCK_ROWS + 100, 700))
    seen = []

    def total(block):
        seen.append(len(block))
        return block.sum(axis=0)

    def thousandth(sums):
        seen.append("rounded")
        return np.rint(1000 * sums).astype(np.int64)

    found = as_source(rows).map(lambda block: 2 * block).sum(total, finish=thousandth, threads=1)
    np.testing.assert_allclose(found / 1000, 2 * rows.sum(axis=0), atol=0.0011)
    first, last = seen[: seen.index("rounded")], seen[seen.index("rounded") + 1 :]
    assert sum(first) == BLOCK_ROWS
    assert all(rows % 64 == 0 for rows in first)
    assert max(first) * 700 <= 2**21
    assert last == [100, "rounded"]


def test_samples_are_taken_before_rows_are_mapped():
    rows = np.arange(20.0).reshape(10, 2)
    seen = []
    part = (
        as_source(rows).map(lambda block: seen.append(len(block)) or -block).sample(lambda place, n: np.arange(n) < 3)
    )
    np.testing.assert_array_equal(np.concatenate(list(part.blocks())), -rows[:3])
    assert seen == [3]


def test_few_rows_of_many_blocks_are_summed_together():
    seen = []

    def total(block):
        seen.append(len(block))
        return block.sum(axis=0)

    rows = as_source(np.ones((20 * BLOCK_ROWS, 1)))
    counts = rows.sample(Deal(32, key=bytes(32)).share(3)).sum(total, finish=lambda sums: sums.astype(np.int64))
    assert counts[0] == sum(seen)
    assert len(seen) == 1


# Folders of Parquet files


@pytest.fixture
def folder(tmp_path):
    """Three files of several sizes in two hive partitions, and what engines leave beside them."""
    for year, rows in ((2023, 9000), (2024, 3), (2024, 12_345)):
        (tmp_path / f"year={year}").mkdir(exist_ok=True)
        table = pa.table({"x": np.arange(rows) / 7.0, "y": np.arange(rows) % 3})
        pq.write_table(table, tmp_path / f"year={year}" / f"{rows}.parquet", row_group_size=5000)
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "_temporary").mkdir()
    (tmp_path / "_temporary" / "half.parquet").write_bytes(b"PAR1")
    return tmp_path


def test_a_folder_is_one_table(folder):
    source = as_source(folder)
    whole = pa.concat_tables(list(source.blocks()))
    assert source.columns == ("x", "y", "year")
    assert source.n_rows == whole.num_rows == 9000 + 3 + 12_345
    assert [len(block) for block in source.blocks()] == [BLOCK_ROWS, BLOCK_ROWS, 21_348 - 2 * BLOCK_ROWS]
    assert whole["year"].to_pylist()[8999:9001] == [2023, 2024]
    assert whole["x"].to_pylist()[8999:9002] == [8999 / 7, 0.0, 1 / 7]  # 12345 comes before 3: by path
    assert source.select(["y"]).types.names == ["y"]

    def total(block):
        return np.round(2**20 * block.sum(axis=0)).astype(np.int64)

    rows = np.column_stack([whole["x"], whole["y"], whole["year"]])
    assert (numeric(source).sum(total) == as_source(rows).sum(total)).all()


@pytest.fixture
def scattered(tmp_path):
    """Rows in files and row groups of all sizes, many of which end within one block; one file has other columns."""
    rng = np.random.default_rng(0)
    for number, rows in enumerate([40_000, 1, 0, 300, 150_000, 8192, 17]):
        table = {"x": rng.normal(size=rows), "y": rng.integers(9, size=rows)}
        if number == 3:
            table = {"y": table["y"].astype(np.int16), "z": table["x"]}  # without x, and of another type
        pq.write_table(pa.table(table), tmp_path / f"{number}.parquet", row_group_size=[3000, 70_000][number == 4])
    return as_source(tmp_path)


def test_streams_of_files_are_their_blocks(scattered):
    blocks = list(scattered.blocks())
    assert [len(block) for block in blocks[:-1]] == [BLOCK_ROWS] * (len(blocks) - 1)
    assert scattered.n_rows == sum(map(len, blocks)) == 198_510
    assert pa.concat_tables(blocks)["x"].null_count == 300
    streams = scattered.streams()
    assert len(streams) > 6
    for order in (streams, reversed(scattered.streams())):  # whichever is read first
        found = dict(numbered for stream in order for numbered in stream)
        assert sorted(found) == list(range(len(blocks)))
        assert all(found[number].equals(block) for number, block in enumerate(blocks))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_sums_and_samples_of_files_are_those_in_memory(scattered, threads):
    def total(block):
        return np.round(2**20 * np.nan_to_num(block)).sum(axis=0).astype(np.int64)

    whole = as_source(pa.concat_tables(list(scattered.blocks())))
    for ours, theirs in ((scattered, whole), (scattered.select(["y"]), whole.select(["y"]))):
        assert (numeric(ours).sum(total, threads=threads) == numeric(theirs).sum(total)).all()
        some = PoissonSample(0.1, key=b"key")
        found = numeric(ours).sample(some).sum(total, threads=threads)
        assert (found == numeric(theirs).sample(some).sum(total)).all()


def test_a_folder_of_large_row_groups_is_not_held(tmp_path):
    numbers = np.random.default_rng(0).normal(size=(8, 1_000_000))
    pq.write_table(pa.table(list(numbers), names=list("abcdefgh")), tmp_path / "0.parquet", use_dictionary=False)
    os.link(tmp_path / "0.parquet", tmp_path / "1.parquet")
    source, most = as_source(tmp_path), []

    def hold(block):
        most.append(pa.total_allocated_bytes() - before)
        return np.ones(1, dtype=np.int64)

    before = pa.total_allocated_bytes()
    source.sum(hold, threads=2)
    assert max(most) < 50e6  # measured: 33 MB, batches and pages of both threads; a file has 64 MB


def test_folders_that_are_no_tables(folder, tmp_path_factory):
    with pytest.raises(IsADirectoryError, match=r"without \.parquet files"):
        as_source(tmp_path_factory.mktemp("empty"))
    (folder / "year=2025").mkdir()
    (folder / "year=2025" / "broken.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(ValueError, match="damaged"):
        as_source(folder)
    (folder / "year=2025" / "broken.parquet").unlink()
    pq.write_table(pa.table({"x": ["secret"], "y": [1]}), folder / "year=2025" / "other.parquet")
    with pytest.raises(ValueError, match="could not be read") as caught:
        list(as_source(folder).blocks())
    assert "secret" not in str(caught.value)
    with pytest.raises(ValueError, match="could not be read") as caught:
        as_source(folder).sum(lambda block: np.ones(1, dtype=np.int64))
    assert "secret" not in str(caught.value)


def test_a_source_shows_neither_rows_nor_who_is_in_a_sample():
    held = as_source([[123.0]]).map(lambda block: block + 0.5).hold()
    sampled = held.sample(PoissonSample(0.5, key=b"secret"))
    for source in (held, held.sample(Deal(2, key=b"secret").share(0)), sampled):
        assert "123" not in repr(source)
        assert "secret" not in repr(source)

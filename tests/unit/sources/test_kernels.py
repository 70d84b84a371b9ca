"""A row's numbers depend neither on its place nor on the worker; where they would, nothing is summed."""

import os
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from tacit import kernels
from tacit.kernels import UnlikeKernels, check_kernels, kernel_fingerprint
from tacit.sources import as_source, source
from tacit.sources.partitions import Partial, add_partials, held_blocks, partial_sum, sum_held_blocks
from tacit.sources.summation import sum_over_streams
from tacit.statistics import Centres, ClusterMoments, components

cloudpickle = pytest.importorskip("cloudpickle")


def one_row_each(block):
    return np.array([len(block)], dtype=np.int64)


def test_blocks_are_padded_to_what_is_tested():
    assert kernels.ROWS_AT_ONCE == components.ROWS_AT_ONCE == source._STRIP_ROWS


def last_rows_rounded_differently(rows):
    """What a kernel does that takes rows by fours and has another way for those left over, however wide the block."""
    total = rows.sum(axis=0)
    total[-4:] *= 1 + 2.0**-52
    return total


def in_single_precision_if_few(rows):
    """What a kernel for small products does, if it rounds otherwise."""
    return rows.sum(axis=0) * (1 + 2.0**-52 * (rows.shape[1] < 1000))


def by_neighbours(rows):
    return rows[0] + 2.0**-50 * np.roll(rows[0], 1)


@pytest.mark.parametrize("planted", [last_rows_rounded_differently, in_single_precision_if_few, by_neighbours])
def test_computations_that_depend_on_the_place_are_found_and_nothing_is_summed(planted, monkeypatch):
    rows = kernels._numbers(3, kernels._ROWS)
    assert not kernels._alike_at_all_places(planted, rows)
    monkeypatch.setattr(kernels, "_computations", lambda: iter([(planted, rows)]))
    kernels._alike.cache_clear()
    try:
        with pytest.raises(UnlikeKernels, match=r"by where it stands.*Nothing is summed"):
            sum_over_streams([[np.ones((3, 1))]], one_row_each)
        told = partial_sum(lambda: [np.ones((3, 1))], cloudpickle.dumps(one_row_each), 0)
        assert told.total is None
        assert "by where it stands" in told.failure
    finally:
        kernels._alike.cache_clear()


def test_it_is_found_out_once_and_fast():
    kernels._alike.cache_clear()
    kernels._alike()
    kernels._alike.cache_clear()
    start = time.process_time()
    check_kernels()
    assert time.process_time() - start < 0.1  # some 5 ms, on a machine that has nothing else to do
    calls = kernels._alike.cache_info().misses
    check_kernels()
    assert kernels._alike.cache_info().misses == calls


def test_sums_of_unlike_workers_are_refused():
    like = [Partial(np.array([1]), kernel="one"), Partial(), Partial(np.array([2]), kernel="one")]
    assert add_partials(like).total == 3
    assert add_partials(like).kernel == "one"
    for order in (1, -1):
        told = add_partials([*like, Partial(np.array([4]), kernel="other")][::order])
        assert told.total is None
        assert "different linear algebra" in told.failure
        # The tree of tasks adds up sums of sums.
        assert (
            add_partials(
                [add_partials([*like]), add_partials([Partial(np.array([4]), kernel="other")])][::order]
            ).failure
            == told.failure
        )


def test_blocks_that_one_worker_has_made_and_an_unlike_one_sums_are_refused(monkeypatch):
    pickled = cloudpickle.dumps(one_row_each)
    same = cloudpickle.dumps(lambda block: block)
    held = list(held_blocks(lambda: [np.ones((3, 1)), np.ones((2, 1))], same))
    assert sum_held_blocks(lambda: held, pickled, 0).total == 5
    again = list(held_blocks(lambda: held, same))
    assert sum_held_blocks(lambda: again, pickled, 0).total == 5
    monkeypatch.setattr("tacit.sources.partitions.kernel_fingerprint", lambda: "other")
    for blocks in (held, again):
        assert "different linear algebra" in sum_held_blocks(lambda blocks=blocks: blocks, pickled, 0).failure


def other_kernel():
    """The environment of a process whose OpenBLAS has another kernel than this one, if it can have one."""
    environment = {"OPENBLAS_CORETYPE": "Nehalem" if "Nehalem" not in kernel_fingerprint() else "Haswell"}
    words = "from tacit.kernels import kernel_fingerprint; print(kernel_fingerprint())"
    found = subprocess.run(
        [sys.executable, "-c", words], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    ).stdout.strip()
    if found == kernel_fingerprint():
        pytest.skip("This machine's linear algebra has no other kernel to choose.")
    return environment


def ties(rows=20_000):
    """Rows as far from one centre as from another, up to rounding, and the moments of the clusters."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(2, 30))
    across = points[1] - points[0]
    X = rng.normal(size=(rows, 30))
    X += ((points.mean(axis=0) - X) @ across / (across @ across))[:, None] * across
    return X, ClusterMoments(Centres(points), np.ones(2))


def test_another_kernel_moves_many_rows_that_are_ties(tmp_path):
    """What the fingerprint is for: the same rows, another kernel, and a sum that moves by far more than is stated."""
    environment = other_kernel()
    X, moments = ties()
    np.save(tmp_path / "rows.npy", X)
    words = (
        "import sys, numpy as np\n"
        "from test_kernels import ties\n"
        "np.save(sys.argv[2], ties()[1].block_sum(np.load(sys.argv[1])))\n"
    )
    paths = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    subprocess.run(
        [sys.executable, "-c", words, tmp_path / "rows.npy", tmp_path / "sum.npy"],
        env={**os.environ, **environment, "PYTHONPATH": paths},
        check=True,
    )
    moved = np.linalg.norm(np.load(tmp_path / "sum.npy") - moments.block_sum(X))
    assert moved > 10 * moments.sensitivity("replace_one")


def slow_count(block):
    time.sleep(0.1)  # so that no worker does all
    return one_row_each(block)


def test_dask_workers_with_unlike_kernels_are_refused(monkeypatch):
    distributed = pytest.importorskip("distributed")
    frame = pytest.importorskip("dask.dataframe")
    environment = other_kernel()
    rows = frame.from_pandas(pd.DataFrame({"x": np.arange(4000.0)}), npartitions=8)
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert as_source(rows).sum(slow_count) == 4000
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        cluster.scale(2)
        client.wait_for_workers(2)
        assert len(set(client.run(kernel_fingerprint).values())) == 2
        with pytest.raises(ValueError, match="different linear algebra"):
            as_source(rows).sum(slow_count)

"""Dask and Spark: the same sums as in memory, from rows that stay where they are; and tasks that fail or run twice."""

import contextlib
import gzip
import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

import tacit
from tacit.privacy import Budget, Gaussian, Split
from tacit.release import Curator, calibrated_plan
from tacit.release.sampling import Deal, PoissonSample
from tacit.sources import BLOCK_ROWS, as_source, engines, has_missing, numeric, on_cluster
from tacit.statistics import ComponentMoments, Components, RowCount
from tacit.tables import Boolean, Categorical, Numeric, Schema

dask = pytest.importorskip("dask")
dask_array = pytest.importorskip("dask.array")
dask_frame = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")  # Distributed needs it.

SCHEMA = Schema({"x": Numeric(-10, 10), "y": Numeric(-10, 10), "plan": Categorical(["free", "paid"]), "new": Boolean()})


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    rows = 3 * BLOCK_ROWS + 1234
    first = rng.random(rows) < 0.6
    return pd.DataFrame(
        {
            "x": np.where(first, -3.0, 3.0) + rng.normal(size=rows),
            "y": rng.normal(size=rows),
            "plan": np.where(rng.random(rows) < np.where(first, 0.8, 0.3), "free", "paid"),
            "new": rng.random(rows) < 0.5,
        }
    )


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes."""
    with (
        dask.config.set({"distributed.worker.daemon": False, "distributed.admin.log-length": 0}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, protocol="tcp://"
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


def on_dask(people, partitions=5):
    return dask_frame.from_pandas(people, npartitions=partitions, sort=False)


@pytest.fixture(scope="module")
def folder(people, tmp_path_factory):
    """The same rows in a few files."""
    folder = tmp_path_factory.mktemp("people")
    for part in range(5):
        pq.write_table(pa.Table.from_pandas(people.iloc[part::5], preserve_index=False), folder / f"{part}.parquet")
    return folder


def moments():
    means = np.array([[-3.0, 0.0], [3.0, 0.0]])
    return ComponentMoments(Components(np.array([0.6, 0.4]), means, np.stack([np.eye(2)] * 2)), radius=3.0)


def summed(source):
    statistic = moments()

    def quantised(block):
        return np.round(statistic.block_sum(block) * 2**32).astype(np.int64)

    return numeric(source.select(["x", "y"])).sum(quantised)


def check_same_sums(source, people):
    inside = as_source(people)
    assert source.columns == inside.columns
    assert source.n_rows == len(people)
    assert source.n_columns == 4
    assert summed(source) == pytest.approx(summed(inside), rel=1e-9)
    assert not has_missing(numeric(source.select(["x", "y"])))


def check_fits(frame, people):
    """Noise is drawn here, once; there is a hair more of it on a cluster, so results are alike and not the same."""
    one = tacit.GaussianMixture(1, epsilon=2.0, bounds=SCHEMA, random_state=0)
    inside, there = (clone(one).fit(X) for X in (people, frame))
    assert there.means_ == pytest.approx(inside.means_, abs=0.01)
    assert there.level_probabilities_["plan"] == pytest.approx(inside.level_probabilities_["plan"], abs=0.01)
    assert there.privacy_.plan == inside.privacy_.plan


def check_clusters(numbers):
    clusters = tacit.KMeans(2, n_iter=4, epsilon=2.0, bounds=(-10, 10), random_state=0).fit(numbers)
    assert np.sort(clusters.cluster_centers_[:, 0]) == pytest.approx([-3.0, 3.0], abs=0.1)
    assert clusters.feature_names_in_.tolist() == ["x", "y"]


# Dask


def test_sums_of_a_dask_frame(people):
    source = as_source(on_dask(people))
    assert on_cluster(on_dask(people))
    check_same_sums(source, people)
    assert source.types.field("x").type == pa.float64()
    assert repr(source) == "DaskSource(5 partitions, columns 'x', 'y', 'plan', 'new')"


@pytest.mark.parametrize("partitions", [8, 9, 65, 200])
def test_sums_of_many_partitions(people, partitions):
    """More than one task adds up at once, and more than so many of those: each partition counts once."""
    rows = people[["x", "y"]].iloc[:2000].copy()
    rows["x"] = np.arange(2000) % 7.0

    def told(block):
        return np.append(np.bincount(block[:, 0].astype(np.intp), minlength=7), len(block)).astype(np.int64)

    frame = on_dask(rows, partitions)
    assert frame.npartitions == partitions
    inside, there = numeric(as_source(rows)), numeric(as_source(frame))
    assert (there.sum(told) == inside.sum(told)).all()
    assert (there.hold().sum(told) == inside.sum(told)).all()


@pytest.mark.parametrize("engine", ["memory", "dask"])
def test_no_two_blocks_are_sampled_at_the_same_places(engine):
    """Else rows of two blocks would come and go together, and a sample would not be one of rows each by itself."""
    blocks, rows = 12, BLOCK_ROWS if engine == "memory" else 100
    X = np.column_stack([np.repeat(np.arange(float(blocks)), rows), np.tile(np.arange(float(rows)), blocks)])
    source = as_source(X if engine == "memory" else dask_array.from_array(X, chunks=(rows, 2)))

    def mask_of(block):
        mask = np.zeros(blocks * rows, dtype=np.int64)
        mask[(block[:, 0] * rows + block[:, 1]).astype(np.intp)] = 1
        return mask

    masks = source.sample(PoissonSample(0.5, key=bytes(range(32)))).sum(mask_of).reshape(blocks, rows)
    assert masks.max() == 1
    # Places that two blocks have in common are as many as by chance: half of them, within six deviations.
    for one in range(blocks):
        for other in range(one):
            assert abs((masks[one] == masks[other]).mean() - 0.5) < 3 / np.sqrt(rows)


def test_samples_differ_by_partition_and_by_block():
    sample = PoissonSample(0.5, key=bytes(range(32)))
    places = [(partition, block) for partition in range(20) for block in range(20)]
    assert len({sample(place, 200).tobytes() for place in places}) == len(places)


def test_sums_of_a_dask_array(people):
    rows = people[["x", "y"]].to_numpy()
    source = as_source(dask_array.from_array(rows, chunks=(5000, 1)))
    assert source.columns is None
    assert source.n_columns == 2

    def total(block):
        return np.round(2**32 * block.sum(axis=0)).astype(np.int64)

    assert source.sum(total) == pytest.approx(as_source(rows).sum(total), rel=1e-9)


def test_estimators_on_dask_workers(people, cluster):
    frame = on_dask(people).persist()
    check_same_sums(as_source(frame), people)
    check_fits(frame, people)
    check_clusters(frame[["x", "y"]])


def test_regressions_on_dask(people):
    model = tacit.MixtureOfRegressions(1, epsilon=5.0, bounds=(-10, 10), target_bounds=(-10, 10), random_state=0)
    numbers = people[["x", "y"]]
    inside, there = (clone(model).fit(X, "y") for X in (numbers, on_dask(numbers)))
    assert there.coef_ == pytest.approx(inside.coef_, abs=0.05)
    with pytest.raises(ValueError, match="on a cluster, y is the name"):
        model.fit(on_dask(numbers), people["y"])


def test_a_regression_on_many_rows_of_a_cluster_does_not_deal_them_out():
    x = np.random.default_rng(0).uniform(-1, 1, 170_000)
    rows = on_dask(pd.DataFrame({"x": x, "y": 0.5 * x}))
    model = tacit.LinearRegression(bounds=1, target_bounds=1, random_state=0).fit(rows, "y")
    assert model.coef_ == pytest.approx([0.5], abs=0.01)


def test_perturbed_objectives_on_dask(people):
    model = tacit.LogisticRegression(solver="objective", bounds=(-10, 10), classes=[False, True], random_state=0)
    rows = people[["x", "y"]].assign(far=people.x + people.y > 0)
    inside, there = (clone(model).fit(X, "far") for X in (rows, on_dask(rows)))
    assert there.coef_ == pytest.approx(inside.coef_, rel=0.02)
    assert (inside.coef_ > 0.1).all()


def test_more_partitions_than_are_allowed_for(people, monkeypatch):
    monkeypatch.setattr(tacit.sources.partitions, "_MOST_PARTITIONS", 4)
    with pytest.raises(ValueError, match=r"in 5 partitions, and at most 4 .* Repartition"):
        summed(as_source(on_dask(people)))
    summed(as_source(on_dask(people, partitions=4)))


def test_a_worker_that_is_killed_changes_nothing(folder, cluster, tmp_path):
    """Half-way through a pass; what it had is computed again by the others, and counted once."""
    source = as_source(dask_frame.read_parquet(folder))
    before = summed(source)
    statistic, victim = moments(), tmp_path / "victim"

    def slow(block):
        time.sleep(0.2)
        try:
            with victim.open("x") as file:  # the first to come here
                file.write("gone")
            os.kill(os.getpid(), signal.SIGKILL)
        except FileExistsError:
            pass
        return np.round(statistic.block_sum(block) * 2**32).astype(np.int64)

    assert (numeric(source.select(["x", "y"])).sum(slow) == before).all()
    assert victim.exists()


def disturbed(monkeypatch, engine, kill):
    """Have `kill` called while the third pass of a fit is under way."""
    passes, total = [], engine._total

    def counted(*arguments):
        passes.append(1)
        if len(passes) == 3:
            threading.Timer(0.005, kill).start()
        return total(*arguments)

    monkeypatch.setattr(engine, "_total", counted)
    return passes


def fitted(frame):
    return tacit.KMeans(2, n_iter=3, epsilon=2.0, bounds=(-10, 10), random_state=0).fit(frame).cluster_centers_


def test_a_fit_outlives_a_dask_worker(folder, cluster, monkeypatch):
    """With the blocks that it held. Sums and noise are the same, so the fit is, to the last bit."""
    frame = dask_frame.read_parquet(folder, columns=["x", "y"])
    undisturbed, killed = fitted(frame), []

    def kill():
        victim = next(iter(cluster.cluster.workers.values()))
        killed.append(victim.pid)
        os.kill(victim.pid, signal.SIGKILL)

    passes = disturbed(monkeypatch, tacit.sources.dask_frame, kill)
    assert (fitted(frame) == undisturbed).all()
    assert len(passes) > 3
    assert len(killed) == 1


# Spark


def test_a_fit_outlives_spark_tasks(folder, spark, monkeypatch):
    frame = spark.read.parquet(str(folder)).select("x", "y").cache()
    undisturbed, killed = fitted(frame), []

    def kill():
        for process in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):  # for some end by themselves meanwhile
                if "pyspark.daemon" in process.cmdline():
                    process.kill()
                    killed.append(process.pid)

    passes = disturbed(monkeypatch, tacit.sources.spark_frame, kill)
    assert (fitted(frame) == undisturbed).all()
    assert len(passes) > 3
    assert killed


def test_spark(people, folder, spark, monkeypatch):
    frame = spark.read.parquet(str(folder)).cache()
    source = as_source(frame)
    check_same_sums(source, people)
    assert source._partitions > 1
    at_once = summed(source)
    monkeypatch.setattr(tacit.sources.spark_frame, "_FEW", 1)
    assert (summed(source) == at_once).all()  # by a tree of tasks
    assert source.types.field("plan").type == pa.string()
    check_clusters(frame.select("x", "y"))


def test_a_spark_task_that_fails_is_tried_again_and_counted_once(folder, spark, tmp_path):
    source, statistic, victim = as_source(spark.read.parquet(str(folder))), moments(), tmp_path / "victim"

    def once(block):
        try:
            with victim.open("x") as file:
                file.write("gone")
            os.kill(os.getpid(), signal.SIGKILL)
        except FileExistsError:
            pass
        return np.round(statistic.block_sum(block) * 2**32).astype(np.int64)

    assert numeric(source.select(["x", "y"])).sum(once) == pytest.approx(summed(source), rel=1e-9)
    assert victim.exists()


# What both keep


@pytest.mark.parametrize("engine", ["dask", "spark"])
def test_what_fails_on_a_worker_quotes_no_row(engine, people, folder, request):
    frame = on_dask(people) if engine == "dask" else request.getfixturevalue("spark").read.parquet(str(folder))

    def quoting(block):
        return np.asarray([f"cell {block[0, 0]}"]).astype(np.float64)  # numpy's message has it

    with pytest.raises(ValueError, match="not told here") as caught:
        numeric(as_source(frame).select(["x", "y"])).sum(quoting)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    with pytest.raises(ValueError, match=r"Column 'plan'") as caught:
        numeric(as_source(frame)).sum(lambda block: np.zeros(1, dtype=np.int64))
    assert "free" not in str(caught.value)


def test_what_fails_before_a_partition_is_there_quotes_no_row(people):
    """A file that is read lazily is read in the engine's own tasks, and their errors quote cells."""

    def unreadable(part):
        raise ValueError(f"could not convert string to float: {part.x.iloc[0]!r}")

    frame = on_dask(people[["x", "y"]]).map_partitions(unreadable, meta=people[["x", "y"]].head(0))
    for asked in (lambda source: summed(source), lambda source: source.n_rows):
        with pytest.raises(ValueError, match="could not be computed") as caught:
            asked(as_source(frame))
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None


def test_rows_stay_where_they_are(people):
    with pytest.raises(TypeError, match="stay there"):
        next(as_source(on_dask(people)).blocks())


def test_empty_partitions_add_nothing(people):
    frame = on_dask(people)
    assert summed(as_source(frame[frame.x > 2.5])) == pytest.approx(summed(as_source(people[people.x > 2.5])), abs=8)
    with pytest.raises(ValueError, match="0 sample"):
        summed(as_source(frame[frame.x > 1000]))


def test_noise_is_the_same_wherever_rows_live(people):
    """One changed row may take all others to other places: in memory, in files and on clusters alike."""
    rows = people[["x", "y"]]
    plan = calibrated_plan([Gaussian("moments", 1.0, size=moments().size)], Budget(1.0, 1e-6))
    noise = [Curator(numeric(as_source(X)), plan).noise("moments", moments()) for X in (rows, on_dask(rows))]
    assert noise[0] == noise[1]


def test_shares_are_dealt_out_where_rows_are(people):
    rows = people[["x", "y"]]
    plan = calibrated_plan([Split(3, Gaussian("count", 1.0))], Budget(200.0, 0.1))
    curator = Curator(numeric(as_source(on_dask(rows))), plan, random_state=0)
    counts = np.array([curator.release("count", RowCount())[0] for _ in range(3)])
    assert counts.sum() == pytest.approx(len(rows), abs=5)
    assert counts == pytest.approx(len(rows) / 3, abs=5 * np.sqrt(len(rows)))


def test_rows_that_are_found_in_another_order_are_not_dealt_out():
    """A row could be in two shares then."""

    def shuffled(_):
        return np.random.default_rng().permutation(np.arange(100.0)).reshape(50, 2)

    array = dask_array.from_delayed(dask.delayed(shuffled, pure=False)(0), (50, 2), dtype=float)
    source = as_source(array)
    deal = Deal(2, key=bytes(32))
    source.sample(deal.share(0)).sum(lambda block: np.array([len(block)]))
    with pytest.raises(ValueError, match="same order"):
        source.sample(deal.share(1)).sum(lambda block: np.array([len(block)]))


def test_samples_are_drawn_where_rows_are_and_the_same_when_a_task_runs_again(people):
    sample = PoissonSample(0.3, key=bytes(range(32)))
    source = numeric(as_source(on_dask(people[["x", "y"]])))

    def count(block):
        return np.array([len(block)])

    counts = [int(source.sample(sample).sum(count)[0]) for _ in range(2)]
    assert counts[0] == counts[1] == pytest.approx(0.3 * len(people), abs=5 * np.sqrt(0.21 * len(people)))
    other = PoissonSample(0.3, key=bytes(32))
    assert int(source.sample(other).sum(count)[0]) != counts[0]


# CSV files


@pytest.fixture(params=["dask", "spark"])
def csv_on_engine(request):
    """A function from the path of a CSV file to a source on an engine."""
    if request.param == "dask":
        return lambda path: as_source(engines._csv_on_dask(path))
    session = request.getfixturevalue("spark")
    return lambda path: as_source(engines._csv_on_spark(session, path))


def counts(source):
    """Return the numbers of rows and of missing cells."""

    def count(block):
        return np.array([len(block), np.isnan(block).sum()])

    return source.n_rows, *numeric(source).sum(count).tolist()


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz"])
def test_an_empty_line_deletes_no_row_on_an_engine(csv_on_engine, tmp_path, name):
    path = tmp_path / name
    with gzip.open(path, "wt") if name.endswith("gz") else path.open("w") as file:
        file.write("\nx\n" + '0.5\n\n"0.25"\nNA\n\n' * 2000)
    assert counts(as_source(path)) == (10_000, 10_000, 6000)
    assert counts(csv_on_engine(path)) == (10_000, 10_000, 6000)


def test_csv_files_are_read_alike_on_every_engine(csv_on_engine, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(" a ;b\n1,5;2\n\nNA;\n007;x\n")
    source = csv_on_engine(path)
    assert source.columns == as_source(path).columns == ("a", "b")
    assert source.n_rows == as_source(path).n_rows == 3
    schema = Schema({"a": Categorical(["1,5", "NA", "007"]), "b": Categorical(["2", "x"])})

    def coded(block):
        return np.nan_to_num(block, nan=7.0).sum(axis=0).astype(np.int64)

    assert schema.encode_source(source).sum(coded).tolist() == schema.encode_source(path).sum(coded).tolist()


@pytest.mark.parametrize("cell", ["2", "2.5", "x", "true", ""])
def test_types_on_an_engine_do_not_depend_on_cells(csv_on_engine, tmp_path, cell):
    path = tmp_path / "rows.csv"
    path.write_text(f"a,b\n1,1\n{cell},2\n")
    assert [str(each.type) for each in csv_on_engine(path).types] in (["string"] * 2, ["large_string"] * 2)

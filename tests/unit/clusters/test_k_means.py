"""k-means as users meet it: what it finds, what it refuses, and what it leaves out."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans as Plain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from tacit.clusters.adaptive_schedule import adaptive_schedule
from tacit.clusters.clusters import Clusters, k_means_plus_plus, lloyd
from tacit.privacy import Budget
from tacit.published import DPEMLloyd, DPLloyd
from tacit.published.lloyd import zcdp_epsilon

METHODS = ("adaptive", "dplloyd", "dplloyd_zcdp", "dpem")


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    centres = rng.uniform(-0.7, 0.7, (8, 4))
    return np.clip(rng.normal(centres[rng.integers(8, size=30_000)], 0.08), -1, 1), centres


def nicv(X, centres):
    return np.min([np.sum((X - centre) ** 2, axis=1) for centre in centres], axis=0).mean()


# Accuracy


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize(("epsilon", "delta", "most"), [(1.0, 1e-6, 1.02), (0.3, 1e-6, 1.25), (2.0, 0.0, 1.05)])
def test_nearly_as_good_as_without_privacy(blobs, epsilon, delta, most, neighbors):
    X, centres = blobs
    best = nicv(X, Plain(8, init=centres, n_init=1).fit(X).cluster_centers_)
    model = tacit.KMeans(8, epsilon=epsilon, delta=delta, bounds=(-1, 1), neighbors=neighbors, random_state=1).fit(X)
    assert nicv(X, model.cluster_centers_) < most * best


def test_bounds_may_be_generous(blobs):
    X, centres = blobs
    for epsilon, far in ((1.0, 10), (2.0, 100)):
        model = tacit.KMeans(8, epsilon=epsilon, bounds=(-far, far), random_state=0).fit(X)
        assert nicv(X, model.cluster_centers_) < 1.3 * nicv(X, centres)


def test_the_default_beats_what_is_published(blobs):
    X, _ = blobs
    excess = {}
    for method in METHODS:
        fits = (tacit.KMeans(8, method=method, bounds=(-1, 1), random_state=seed).fit(X) for seed in range(3))
        excess[method] = np.mean([nicv(X, fit.cluster_centers_) for fit in fits])
    assert excess["adaptive"] < 0.5 * min(excess[method] for method in METHODS[1:])


@pytest.mark.filterwarnings("ignore:delta=")
def test_figure_4_in_small():
    """k-means on locations at epsilon = 0.01: the default far below what is published."""
    from experiments.dpem_figure4 import OURS, compare, locations

    X, name = locations(None, 60_000)
    assert name
    found = {label: mean for label, mean, _ in compare(X, 1, (20,))[0]}
    assert found["not private"] < found[OURS]
    assert found[OURS] < 0.5 * min(mean for label, mean in found.items() if label.endswith("J = 20"))


@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_hardly_any_rows_and_hardly_any_budget(delta):
    """Noise alone: nothing to be learnt, but nothing breaks either, and centres stay inside the bounds."""
    for columns in (1, 2, 30):
        X = np.random.default_rng(0).uniform(0, 1, (12, columns))
        for seed in range(3):
            model = tacit.KMeans(4, epsilon=0.01, delta=delta, bounds=(0, 1), random_state=seed).fit(X)
            assert (model.cluster_centers_ >= 0).all()
            assert (model.cluster_centers_ <= 1).all()


def test_rows_all_alike():
    model = tacit.KMeans(3, bounds=(-1, 1), random_state=0).fit(np.full((5000, 2), 0.25))
    assert np.abs(model.cluster_centers_[0] - 0.25).max() < 0.02


def test_given_centres(blobs):
    X, centres = blobs
    model = tacit.KMeans(8, init=centres + 0.05, bounds=(-1, 1), random_state=0).fit(X)
    assert nicv(X, model.cluster_centers_) < 1.05 * nicv(X, centres)
    assert model.n_iter_ == 5


def test_more_clusters_than_the_noise_can_tell_apart(blobs):
    X, _ = blobs
    model = tacit.KMeans(50, epsilon=0.05, bounds=(-1, 1), random_state=0).fit(X[:2000])
    assert model.cluster_centers_.shape == (50, 4)
    assert np.isfinite(model.cluster_centers_).all()


# Units


def test_distances_are_in_the_rows_own_units(rows, bounds):
    """Columns of range 400 and 6: the first decides, as it does in scikit-learn."""
    model = tacit.KMeans(2, bounds=bounds, random_state=0).fit(rows)
    plain = Plain(2, n_init=3, random_state=0).fit(rows)
    order = np.argsort(plain.cluster_centers_[:, 0])
    mine = model.cluster_centers_[np.argsort(model.cluster_centers_[:, 0])]
    assert np.abs(mine - plain.cluster_centers_[order])[:, 0].max() < 5
    plain.cluster_centers_ = model.cluster_centers_
    assert model.transform(rows[:50]) == pytest.approx(plain.transform(rows[:50]))
    assert model.score(rows) == pytest.approx(plain.score(rows))
    assert (model.predict(rows) == plain.predict(rows)).all()


def test_a_ball(blobs):
    X, _ = blobs
    model = tacit.KMeans(8, bounds=2.0, random_state=0).fit(X)
    assert model.transform(X[:9]) == pytest.approx(np.linalg.norm(X[:9, None] - model.cluster_centers_, axis=2))


def test_a_schema_has_standard_coordinates():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.uniform(0, 100, 4000), "member": rng.uniform(size=4000) < 0.5})
    schema = tacit.Schema.from_dict(
        {"columns": {"age": {"type": "numeric", "low": 0, "high": 100}, "member": {"type": "boolean"}}}
    )
    model = tacit.KMeans(2, epsilon=4.0, bounds=schema, random_state=0).fit(table)
    assert model.transform(table).max() < 4
    assert set(np.unique(model.predict(table))) == {0, 1}


# Budgets and certificates


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("method", METHODS)
def test_the_certificate_keeps_to_the_budget(method, neighbors):
    X = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    model = tacit.KMeans(3, method=method, epsilon=0.5, bounds=(-1, 1), neighbors=neighbors, random_state=0).fit(X)
    assert model.privacy_.plan.delta(0.5) <= 1e-6
    assert len(model.privacy_.releases) == len(model.privacy_.plan.steps)


@pytest.mark.parametrize("method", ["adaptive", "dplloyd"])
def test_pure_budgets_have_no_delta(method):
    X = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    model = tacit.KMeans(3, method=method, epsilon=0.5, delta=0.0, bounds=(-1, 1), random_state=0).fit(X)
    assert model.privacy_.plan.delta(0.5) == 0
    assert model.privacy_.plan.epsilon(0.0) == pytest.approx(0.5)


def test_dplloyd_is_pure_whatever_delta_is():
    model = tacit.KMeans(3, method=DPLloyd(n_iter=4), bounds=(-1, 1), random_state=0).fit(np.zeros((100, 2)))
    (step,) = model.privacy_.plan.steps
    assert step.noise_multiplier == pytest.approx(4.0)
    assert model.privacy_.plan.delta(1.0) == 0


def test_zcdp_composition_spends_the_budget_of_the_formula():
    budget = Budget(0.7, 1e-5)
    rho = 12 * zcdp_epsilon(budget, 12) ** 2 / 2
    assert rho + 2 * np.sqrt(rho * np.log(1e5)) == pytest.approx(0.7)
    steps = DPEMLloyd(n_iter=6).schedule(3, 2, budget).steps()
    assert [1 / step.noise_multiplier for step in steps] == pytest.approx([zcdp_epsilon(budget, 12)] * 2)


# Refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be a whole number"),
        ({"n_clusters": 2.5}, "n_clusters must be a whole number"),
        ({"method": "lloyd"}, "method must be one of"),
        ({"n_iter": 0}, "n_iter must be"),
        ({"n_iter": 2}, "pass n_iter=3 or more"),
        ({"init": "k-means++"}, "init must be"),
        ({"init": np.zeros((3, 5))}, "init must be 3 finite centres"),
        ({"delta": 0.0, "method": "dpem"}, "delta is 0"),
        ({"delta": 0.0, "method": "dplloyd_zcdp"}, "delta is 0"),
        ({"delta": 0.0, "bounds": "private"}, "delta is 0"),
        ({"bounds": None}, "bounds is missing"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"n_clusters": 101}, "n_clusters=101"),
    ],
)
def test_refusals_come_before_anything_is_charged(options, message, tmp_path):
    model = tacit.KMeans(**{"n_clusters": 3, "bounds": (-1, 1), **options})
    with pytest.raises(ValueError, match=message):
        model.fit(np.zeros((100, 2)))
    assert not hasattr(model, "privacy_")


@pytest.mark.parametrize(
    ("n_clusters", "options", "growing"),
    [
        (5, {}, (1, 3, 8, 24)),
        (5, {"pure": True}, (1, 4, 16)),
        (20, {}, (1, 3, 12, 40)),
        (20, {"n_iter": 3}, (1, 40)),
        (1, {}, (1,)),
        (20, {"pure": True}, (1, 6, 40)),
        (20, {"grow": False}, ()),
    ],
)
def test_few_iterations_grow_faster(n_clusters, options, growing):
    schedule = adaptive_schedule(n_clusters, 2, 1000, **options)
    assert schedule.growing_sizes == growing
    assert schedule.refining_rounds == (1 if growing else 5)


def test_budget_and_rows_pay_for_rounds():
    for rows, epsilon, refining in ((10_000, 0.1, 1), (100_000, 0.1, 3), (100_000, 1.0, 4), (None, 1.0, 4)):
        assert adaptive_schedule(5, 2, rows, epsilon=epsilon).refining_rounds == refining


@pytest.mark.parametrize(
    "options",
    [{}, {"delta": 0.0}, {"n_iter": 4}, {"init": np.zeros((3, 2))}, {"method": "dplloyd"}, {"method": "dpem"}],
)
def test_a_fit_makes_every_release_that_the_plan_pays_for(options):
    fitted = tacit.KMeans(3, bounds=(-1, 1), random_state=0, **options).fit(np.zeros((2000, 2)))
    counts = {step.name: step.count for step in fitted.privacy_.plan.steps}
    assert {release.name: release.count for release in fitted.privacy_.releases} == counts
    assert sum(counts.values()) == fitted.n_iter_


# Parts


@pytest.mark.parametrize(
    ("rows", "pure", "split"),
    [(100_000, False, True), (10_000, False, False), (100_000, True, False), (None, False, False)],
)
def test_many_rows_that_cannot_come_or_go_are_dealt_out_to_the_growing_rounds(rows, pure, split):
    growing = adaptive_schedule(5, 10, rows, pure=pure, epsilon=0.1).steps()[0]
    assert (growing.kind == "split") == split
    assert growing.releases == (6 if split else 2 if pure else 3)


def test_summaries_are_regrouped_as_k_means_would():
    rng = np.random.default_rng(0)
    centres = rng.uniform(-1, 1, (6, 3))
    halves = np.concatenate([centres + 0.02, centres - 0.02])
    regrouped = Clusters(halves, np.full(12, 100.0), np.tile(np.eye(3) * 1e-4, (12, 1, 1))).regroup(6)
    assert np.abs(regrouped.centres[:, None] - centres).max(axis=2).min(axis=1).max() < 0.02
    assert regrouped.sizes == pytest.approx(np.full(6, 200.0))


def test_lloyd_never_loses():
    rng = np.random.default_rng(0)
    points, weights = rng.normal(size=(300, 2)), rng.uniform(size=300)
    starts = k_means_plus_plus(points, weights, 5, 7, rng)
    losses = [lloyd(points, weights, starts, rounds)[1] for rounds in (1, 2, 4, 8)]
    assert (np.diff(losses, axis=0) <= 1e-9).all()


def test_splitting_keeps_rows_and_mean():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(2, 3, 3))
    clusters = Clusters(rng.normal(size=(2, 3)), np.array([10.0, 30.0]), root @ root.transpose(0, 2, 1))
    split = clusters.split(7)
    assert split.sizes.sum() == pytest.approx(40.0)
    assert split.sizes @ split.centres == pytest.approx(clusters.sizes @ clusters.centres)
    assert (np.linalg.eigvalsh(split.covariances) > 0).all()


# scikit-learn's contract


def model(**options):
    return tacit.KMeans(**{"n_clusters": 2, "bounds": (-100, 100), "epsilon": 10.0, "delta": 1e-3, **options})


NO_LABELS = {
    "check_clustering": "It wants labels_ of the fit's own rows, which no noise protects.",
    "check_clusterer_compute_labels_predict": "As above.",
}


@parametrize_with_checks(
    [model(random_state=0), model(random_state=0, method="dplloyd", neighbors="add_remove")],
    expected_failed_checks=lambda estimator: NO_LABELS,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_parameters_survive_cloning():
    assert clone(model(method="dpem")).get_params() == model(method="dpem").get_params()


def test_what_would_leak_is_not_there():
    fitted = model(random_state=0).fit([[0.0], [1.0], [2.0]])
    for name in ("labels_", "inertia_", "fit_predict"):
        assert not hasattr(fitted, name)


def test_pipelines_and_pickles():
    rows = [[float(i % 7), float(i % 3)] for i in range(200)]
    pipeline = make_pipeline(FunctionTransformer(), model(random_state=0)).fit(rows)
    assert pipeline.transform(rows).shape == (200, 2)
    again = pickle.loads(pickle.dumps(pipeline))
    assert (again.predict(rows) == pipeline.predict(rows)).all()
    assert pipeline[-1].get_feature_names_out().tolist() == ["kmeans0", "kmeans1"]


@pytest.mark.filterwarnings("ignore:delta=")
def test_missing_cells():
    rows = np.random.default_rng(0).uniform(-1, 1, (2000, 2))
    rows[::7, 0] = np.nan
    with pytest.raises(ValueError, match="missing cells"):
        model().fit(rows)
    assert np.isfinite(model(missing="ignore", random_state=0).fit(rows).cluster_centers_).all()


def test_the_order_of_rows_does_not_matter_to_replace_one():
    rows = np.random.default_rng(0).uniform(-1, 1, (9000, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = [model(n_clusters=4, bounds=(-1, 1), random_state=0).fit(X) for X in (rows, rows[::-1])]
    assert fits[0].cluster_centers_ == pytest.approx(fits[1].cluster_centers_, abs=1e-6)

"""The number of components, chosen privately: right where it can be told, small where it cannot, and paid for."""

import numpy as np
import pytest

import tacit
from tacit.mixture.mixture import Mixture
from tacit.mixture.model_choice import drop_empty, smallest_not_beaten
from tacit.mixture.scale_free_schedule import CHOICE
from tacit.mixture.table_mixture import TableMixture
from tacit.privacy import Budget, Ledger
from tacit.statistics import Components, LikelihoodGains, TableLayout
from tacit.tables import Boolean, Categorical, Numeric

MEANS = np.array([[-5.0, 0.0], [4.0, 4.0], [3.0, -5.0], [0.0, 6.0]])


def clusters(count, rows=6000, seed=0):
    rng = np.random.default_rng(seed)
    return MEANS[rng.choice(count, rows)] + rng.normal(size=(rows, 2)) * 0.8


def fit(X, n_components="auto", **options):
    options = {"bounds": (-10, 10), "epsilon": 2.0, "random_state": 0, **options}
    return tacit.GaussianMixture(n_components, **options).fit(X)


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_the_right_number_is_found(count, neighbors):
    chosen = [
        fit(clusters(count, rows=4000, seed=seed), range(1, 6), neighbors=neighbors, random_state=seed)
        for seed in range(3)
    ]
    assert [model.n_components_ for model in chosen].count(count) >= 2
    for model in chosen:
        assert len(model.weights_) == len(model.means_) == len(model.covariances_) == model.n_components_


SCHEMA = tacit.Schema(
    {"x": Numeric(-10, 10), "plan": Categorical(["a", "b", "c"]), "y": Numeric(-10, 10), "smokes": Boolean()}
)


def table(count, rows=5000, seed=0, gaps=0.0):
    """Clusters in which levels go with the cluster, and not with the numbers otherwise; some cells missing."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(count, rows)
    X = MEANS[labels] + rng.normal(size=(rows, 2)) * 0.8
    X[rng.random(X.shape) < gaps] = np.nan
    levels = np.array(["a", "b", "c"])[np.where(rng.random(rows) < 0.7, labels % 3, rng.choice(3, rows))]
    smokes = (rng.random(rows) < np.array([0.2, 0.9, 0.5, 0.5])[labels]).astype(object)
    levels = levels.astype(object)
    for column in (levels, smokes):
        column[rng.random(rows) < gaps] = None
    return {"x": X[:, 0], "plan": levels, "y": X[:, 1], "smokes": smokes}


@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_right_number_is_found_in_tables_with_levels(count, gaps):
    options = {"bounds": SCHEMA, "missing": "model" if gaps else "error", "epsilon": 3.0}
    chosen = [fit(table(count, seed=seed, gaps=gaps), range(1, 5), random_state=seed, **options) for seed in range(3)]
    assert [model.n_components_ for model in chosen].count(count) >= 2
    for model in chosen:
        assert model.level_probabilities_["plan"].shape == (model.n_components_, 3)
        assert [release.count for release in model.privacy_.releases if release.name == CHOICE] == [1]
        assert any("chosen privately from 1 to 4" in note for note in model.privacy_.notes)
        assert model.privacy_.plan.delta(3.0) <= 1e-6


def test_levels_that_do_not_go_together_are_no_reason_for_components():
    """Encoded, every level looks like a cluster of its own; as products, one component explains all of them."""
    rng = np.random.default_rng(0)
    rows = {"x": rng.normal(size=4000), "y": rng.normal(size=4000)}
    rows |= {"plan": np.array(["a", "b", "c"])[rng.choice(3, 4000)], "smokes": rng.random(4000) < 0.4}
    for neighbors in ("replace_one", "add_remove"):
        assert fit(rows, range(1, 5), bounds=SCHEMA, epsilon=4.0, neighbors=neighbors).n_components_ == 1


def test_tables_of_levels_alone():
    names = [f"v{place}" for place in range(6)]
    schema = tacit.Schema({name: Boolean() for name in names})
    rng = np.random.default_rng(0)
    labels = rng.choice(2, 6000)
    likely = np.where(labels[:, None] == 0, 0.9, 0.1)
    rows = dict(zip(names, (rng.random((6000, 6)) < likely).T))
    model = fit(rows, range(1, 5), bounds=schema, epsilon=3.0)
    assert model.n_components_ == 2
    assert model.level_probabilities_["v3"][:, 1] == pytest.approx([0.9, 0.1], abs=0.05) or model.level_probabilities_[
        "v3"
    ][:, 1] == pytest.approx([0.1, 0.9], abs=0.05)


def test_the_right_number_is_found_where_cells_are_missing():
    X = clusters(3)
    X[np.random.default_rng(1).random(X.shape) < 0.15] = np.nan
    model = fit(X, range(1, 6), missing="model")
    assert model.n_components_ == 3
    assert model.score(X) > fit(X, 2, missing="model").score(X)


def test_the_number_of_releases_can_be_fixed_for_tables():
    rows = table(2, rows=600)
    assert [fit(rows, (1, 2), bounds=SCHEMA, n_iter=count).n_iter_ for count in (7, 9)] == [7, 9]


def test_products_are_merged_as_products():
    """Two pieces that differ in a level alone are one product at little cost; those with other numbers are not."""
    layout = TableLayout((0,), ((1,),))
    pieces = TableMixture(
        np.array([0.4, 0.3, 0.3]),
        np.array([[0.0], [0.0], [0.5]]),
        np.full((3, 1, 1), 0.01),
        layout,
        np.array([[0.6, 0.4], [0.4, 0.6], [0.5, 0.5]]),
    )
    merged = pieces.merge(2)
    assert merged.weights == pytest.approx([0.3, 0.7])
    assert merged.means.ravel() == pytest.approx([0.5, 0.0])
    assert merged.probabilities[1] == pytest.approx([(0.4 * 0.6 + 0.3 * 0.4) / 0.7, (0.4 * 0.4 + 0.3 * 0.6) / 0.7])


@pytest.mark.parametrize("kind", ["tied", "diag", "spherical"])
def test_with_every_covariance_type(kind):
    X = clusters(3)
    model = fit(X, range(1, 6), covariance_type=kind)
    assert model.n_components_ == 3
    assert model.score(X) > fit(X, 2, covariance_type=kind).score(X)
    assert set(model.predict(X)) == {0, 1, 2}
    assert set(model.sample(500, 0)[1]) == {0, 1, 2}


def test_components_of_another_shape_need_more_of_them():
    """A long cluster is one full component, and several balls: the choice is made for the shape asked for."""
    long = np.random.default_rng(0).normal(size=(6000, 2)) * [4.0, 0.3]
    assert fit(long, range(1, 5)).n_components_ == 1
    assert fit(long, range(1, 5), covariance_type="spherical").n_components_ > 1


def test_auto_is_one_to_ten():
    model = fit(clusters(4))
    assert model.n_components_ == 4
    assert [step.size for step in model.privacy_.plan.steps if step.name == CHOICE] == [9]


def test_next_to_no_budget_leaves_one_component():
    assert fit(clusters(4, rows=300), epsilon=0.05).n_components_ == 1


@pytest.mark.parametrize("grid", [range(2, 5), (2, 4), np.array([4, 2, 3, 3])], ids=str)
def test_only_numbers_of_the_grid_are_chosen(grid):
    for X in (clusters(1), clusters(3), clusters(4)):
        assert fit(X, grid).n_components_ in grid
    assert fit(clusters(1), grid).n_components_ == 2


def test_a_grid_of_one_number_is_that_number():
    X = clusters(2)
    alone, plain = fit(X, [2]), fit(X, 2)
    assert (alone.means_ == plain.means_).all()
    assert alone.privacy_.notes == plain.privacy_.notes


def test_the_choice_is_planned_paid_for_and_stated(tmp_path):
    account = Ledger(tmp_path / "study.db").create("people", Budget(2.0, 1e-6))
    model = fit(clusters(2), range(1, 5), ledger=account)
    assert [step.size for step in model.privacy_.plan.steps if step.name == CHOICE] == [3]
    assert [release.count for release in model.privacy_.releases if release.name == CHOICE] == [1]
    assert model.privacy_.plan.delta(2.0) <= 1e-6
    assert any(
        "chosen privately from 1 to 4, paid for by the release 'model choice'" in n for n in model.privacy_.notes
    )
    assert "GaussianMixture(1 to 4" in account.history()[0].purpose
    assert sum(release.count for release in model.privacy_.releases) == model.n_iter_


def test_the_number_of_releases_can_be_fixed():
    assert [fit(clusters(2), (1, 2), n_iter=count).n_iter_ for count in range(7, 11)] == [7, 8, 9, 10]
    with pytest.raises(ValueError, match="model choice and one for outliers; pass n_iter=7 or more"):
        fit(clusters(2), (1, 2), n_iter=6)


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "many", [], [0, 1], [1, "two"], None])
def test_numbers_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match="n_components must be a whole number"):
        fit(clusters(1, rows=50), wrong)


@pytest.mark.parametrize("options", [{"method": "joint"}, {"init": "public"}, {"init": np.zeros((2, 2))}], ids=str)
def test_only_a_mixture_that_grows_has_candidates(options):
    with pytest.raises(ValueError, match="grows its own candidates"):
        fit(clusters(1, rows=50), (1, 2), **options)


def test_a_component_without_rows_is_dropped():
    """Three pieces, one of them empty up to noise: what is left are shares of 1."""
    mixture = Mixture(np.array([0.01, 0.59, 0.4]), MEANS[:3] / 10, np.stack([np.eye(2)] * 3) * 0.01)
    kept = drop_empty(mixture, (1, 2, 3), 10_000, count_noise=100.0)
    assert kept.weights == pytest.approx([0.59 / 0.99, 0.4 / 0.99])
    assert (kept.means == MEANS[1:3] / 10).all()
    assert drop_empty(mixture, (1, 2, 3), 10_000, count_noise=1.0) is mixture


def test_smaller_is_better_unless_clearly_beaten():
    scores = np.array([0.0, 100.0, 104.0, -50.0])
    assert smallest_not_beaten(scores, noise=1.0) == 2
    assert smallest_not_beaten(scores, noise=5.0) == 1
    assert smallest_not_beaten(scores, noise=80.0) == 0
    assert smallest_not_beaten(np.array([3.0, 1.0]), noise=0.0) == 0
    assert smallest_not_beaten(np.array([-5.0, -np.inf, -np.inf]), noise=1.0) == 0


def test_gains_have_the_sign_of_the_truth():
    """Over rows of p, 2 (p - q) / (p + q) has a positive mean, and over rows of q a negative one."""
    p = Components(np.array([0.97, 0.03]), np.array([[0.0], [6.0]]), np.ones((2, 1, 1)))
    q = Components(np.ones(1), np.zeros((1, 1)), np.full((1, 1, 1), 1.1))
    gains, rng = LikelihoodGains((q, p)), np.random.default_rng(0)
    rows = np.where(rng.random((20_000, 1)) < 0.03, 6.0, 0.0) + rng.normal(size=(20_000, 1))
    assert gains.block_sum(rows)[0] > 0
    assert gains.block_sum(1.1 * rng.normal(size=(20_000, 1)))[0] < 0


def test_small_gains_are_log_likelihood():
    rng = np.random.default_rng(0)
    one, other = (Components(np.ones(1), np.full((1, 2), m), np.eye(2)[None]) for m in (0.0, 0.02))
    rows = rng.normal(size=(1000, 2))
    gains = LikelihoodGains((one, other))
    exact = (other.log_density(rows) - one.log_density(rows)).sum()
    assert gains.parts(gains.block_sum(rows)) == pytest.approx([exact], rel=1e-3)
    with pytest.raises(ValueError, match="at least two candidates"):
        LikelihoodGains((one,))

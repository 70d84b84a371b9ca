"""The estimator: what a fitted model holds, what it answers, and that neither depends on more than it should."""

import math
import pickle
import re
import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import tacit
from tacit.privacy import Budget, BudgetExceeded, Ledger
from tacit.published import DPEM, JointMoments
from tacit.sources import Source, as_source

KINDS = ("full", "tied", "diag", "spherical")
RELATIONS = ("replace_one", "add_remove")
ARRAYS = ("weights_", "means_", "covariances_", "precisions_cholesky_")


def model(n_components=2, **options):
    options = {"epsilon": 2.0, "delta": 1e-5, "bounds": (-1.0, 1.0), "random_state": 0, **options}
    return tacit.GaussianMixture(n_components, **options)


def same(first, second):
    return all((getattr(first, name) == getattr(second, name)).all() for name in ARRAYS)


def full_covariances(fitted):
    columns = fitted.means_.shape[1]
    covariances = {
        "full": lambda c: c,
        "tied": lambda c: np.tile(c, (fitted.n_components, 1, 1)),
        "diag": lambda c: c[:, None, :] * np.eye(columns),
        "spherical": lambda c: c.reshape(len(c), 1, -1) * np.eye(columns),
    }[fitted.covariance_type]
    return covariances(fitted.covariances_)


# ------------------------------------------------------------------------------------------------------- what it holds


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_attributes_are_those_of_scikit_learn(rows, bounds, kind, neighbors):
    fitted = model(3, bounds=bounds, covariance_type=kind, neighbors=neighbors).fit(rows)
    shape = {"full": (3, 2, 2), "tied": (2, 2), "diag": (3, 2), "spherical": (3, 2)}[kind]
    assert fitted.weights_.shape == (3,)
    assert fitted.weights_.sum() == pytest.approx(1.0)
    assert (np.diff(fitted.weights_) <= 0).all()
    assert (fitted.weights_ > 0).all()
    assert fitted.means_.shape == (3, 2)
    assert fitted.covariances_.shape == fitted.precisions_cholesky_.shape == shape
    if kind in ("full", "tied"):
        upper = fitted.precisions_cholesky_
        assert upper == pytest.approx(np.triu(upper))
        assert upper @ np.swapaxes(upper, -1, -2) == pytest.approx(np.linalg.inv(fitted.covariances_))
    else:
        assert fitted.precisions_cholesky_ == pytest.approx(1 / np.sqrt(fitted.covariances_))
    assert fitted.n_features_in_ == 2
    assert fitted.n_iter_ == sum(record.count for record in fitted.privacy_.releases)


def test_where_columns_have_the_same_range_spherical_covariances_are_numbers():
    fitted = model(3, covariance_type="spherical").fit(np.random.default_rng(0).normal(0.0, 0.2, (500, 4)))
    assert fitted.covariances_.shape == fitted.precisions_cholesky_.shape == (3,)


@pytest.mark.parametrize("kind", KINDS)
def test_components_are_found(rows, bounds, kind):
    fitted = model(bounds=bounds, covariance_type=kind).fit(rows)
    assert fitted.weights_ == pytest.approx([0.6, 0.4], abs=0.03)
    assert fitted.means_ == pytest.approx(np.array([[250.0, 1.0], [100.0, -1.0]]), rel=0.1)
    if kind in ("full", "diag"):
        spread = np.sqrt(np.einsum("kii->ki", full_covariances(fitted)))
        assert spread == pytest.approx(np.array([[30.0, 0.2], [20.0, 0.3]]), rel=0.25)


def numbers_within(value, seen):
    """Every array and number that can be reached from a value, whatever holds it."""
    if id(value) in seen:
        return
    seen[id(value)] = value  # kept, so that no other object gets its id
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, float):
        yield np.array([value])
    elif isinstance(value, dict):
        for each in value.values():
            yield from numbers_within(each, seen)
    elif isinstance(value, list | tuple | set):
        for each in value:
            yield from numbers_within(each, seen)
    elif hasattr(value, "__dict__"):
        yield from numbers_within(vars(value), seen)


@pytest.mark.parametrize(
    "options", [{}, {"method": "joint"}, {"method": "per_parameter"}, {"bounds": "private"}], ids=str
)
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_nothing_of_the_rows_is_kept(options, neighbors):
    rows = np.random.default_rng(5).uniform(-0.9, 0.9, (1237, 2))
    fitted = model(neighbors=neighbors, **options).fit(rows)
    found = list(numbers_within(vars(fitted), {}))
    assert len(found) > 10
    assert all(1237 not in each.shape for each in found)
    assert not np.isin(np.concatenate([np.ravel(each) for each in found]).astype(float), rows).any()
    assert not any(np.shares_memory(each, rows) for each in found)
    pickled = pickle.dumps(fitted)
    assert len(pickled) < 12_000
    assert not any(cell.tobytes() in pickled for cell in rows[:200].ravel())
    if neighbors == "add_remove":  # the number of rows is a secret, too
        assert not any((each == 1237).any() for each in found)
        assert not re.search(r"\b1,?237\b", repr(fitted) + fitted.privacy_.to_json() + fitted.privacy_.text())


def test_pickled_models_answer_as_before(rows, bounds):
    fitted = model(bounds=bounds).fit(rows)
    again = pickle.loads(pickle.dumps(fitted))
    assert same(fitted, again)
    assert (again.score_samples(rows) == fitted.score_samples(rows)).all()
    assert again.privacy_ == fitted.privacy_
    assert again.get_params()["epsilon"] == 2.0


# ----------------------------------------------------------------------------------------------------- what it answers


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ball", [False, True], ids=["box", "ball"])
def test_densities_are_those_of_the_published_parameters(rows, bounds, kind, ball):
    fitted = model(3, bounds=500.0 if ball else bounds, covariance_type=kind).fit(rows)
    joint = np.stack(
        [
            weight * multivariate_normal(mean, covariance).pdf(rows)
            for weight, mean, covariance in zip(fitted.weights_, fitted.means_, full_covariances(fitted))
        ]
    )
    density = joint.sum(axis=0)
    if (outliers := fitted.outliers_) is not None:
        wide = multivariate_normal(outliers.mean, outliers.variances).pdf(rows)
        density = (1 - outliers.weight) * density + outliers.weight * wide
    assert fitted.score_samples(rows) == pytest.approx(np.log(density))
    assert fitted.score(rows) == pytest.approx(np.log(density).mean())
    assert fitted.predict_proba(rows) == pytest.approx((joint / joint.sum(axis=0)).T, abs=1e-12)
    assert (fitted.predict(rows) == joint.argmax(axis=0)).all()


def test_scores_are_in_the_units_of_the_rows(rows, bounds):
    """Rows in units that are a power of two smaller: the same fit to the last bit, and densities that much lower."""
    fitted = model(bounds=bounds).fit(rows)
    finer = model(bounds=(1024 * bounds[0], 1024 * bounds[1])).fit(1024 * rows)
    assert (finer.means_ == 1024 * fitted.means_).all()
    assert (finer.covariances_ == 1024**2 * fitted.covariances_).all()
    assert finer.score(1024 * rows) == pytest.approx(fitted.score(rows) - 2 * math.log(1024))


def test_rows_far_outside_the_bounds_have_the_density_the_model_gives_them():
    fitted = model(1).fit(np.random.default_rng(0).normal(0.0, 0.2, (2000, 2)))
    far = np.array([[30.0, -40.0]])
    expected = multivariate_normal(fitted.means_[0], fitted.covariances_[0]).logpdf(far)
    assert fitted.score_samples(far) == pytest.approx(expected)
    assert fitted.predict_proba(far).tolist() == [[1.0]]


@pytest.mark.parametrize("size", [1e20, 1e150, 1e200, 1.7e308])
def test_rows_far_beyond_all_components_belong_to_one_nevertheless(size):
    """Their densities are 0 as floats are, and then the direction decides: the longest component in it has them."""
    rng = np.random.default_rng(0)
    clusters = [rng.normal([-5, 0], [3.0, 0.3], (3000, 2)), rng.normal([5, 0], [0.3, 3.0], (3000, 2))]
    fitted = model(bounds=(-1e-3, 1e-3)).fit(np.concatenate(clusters) * 1e-4)
    flat = int(np.argmin(fitted.means_[:, 0]))
    far = np.array([[size, size / 1e6], [-size / 1e7, -size]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fitted.predict(far).tolist() == [flat, 1 - flat]
        assert fitted.predict_proba(far) == pytest.approx(np.eye(2)[[flat, 1 - flat]])
        assert (fitted.score_samples(far) < -1e20).all()


@pytest.mark.parametrize("ball", [False, True], ids=["box", "ball"])
def test_synthetic_rows(rows, bounds, ball):
    fitted = model(bounds=500.0 if ball else bounds).fit(rows)
    drawn, labels = fitted.sample(20_000, random_state=1)
    assert drawn.shape == (20_000, 2)
    assert np.bincount(labels) / 20_000 == pytest.approx(fitted.weights_, abs=0.02)
    for k in range(2):
        assert drawn[labels == k].mean(axis=0) == pytest.approx(fitted.means_[k], rel=0.05, abs=0.05)
        assert np.cov(drawn[labels == k].T) == pytest.approx(fitted.covariances_[k], rel=0.1, abs=1.0)
    if ball:
        assert np.linalg.norm(drawn, axis=1).max() <= 500.0 * (1 + 1e-12)
    else:
        assert (drawn >= bounds[0] - 1e-9).all()
        assert (drawn <= bounds[1] + 1e-9).all()
    assert (fitted.sample(5, random_state=7)[0] == fitted.sample(5, random_state=7)[0]).all()
    assert (fitted.sample(5)[0] != fitted.sample(5)[0]).any()


@pytest.mark.parametrize("bounds", [(-1.0, 1.0), 1.0], ids=["box", "ball"])
def test_synthetic_rows_are_brought_inside_the_bounds(bounds):
    """With next to no budget the model is as wide as the bounds, and many draws would be outside."""
    drawn, _ = model(bounds=bounds, epsilon=0.001).fit(np.zeros((100, 2))).sample(2000, random_state=0)
    reach = np.abs(drawn).max(axis=1) if isinstance(bounds, tuple) else np.linalg.norm(drawn, axis=1)
    assert reach.max() <= 1 + 1e-12
    assert np.mean(reach > 1 - 1e-9) > 0.05


@pytest.mark.parametrize("count", [0, -1, 2.5, "many"])
def test_a_number_of_synthetic_rows_that_is_none(rows, bounds, count):
    with pytest.raises(ValueError, match=r"n_samples.*whole number, at least 1"):
        model(bounds=bounds).fit(rows).sample(count)


# ------------------------------------------------------------------------------------------------------------- privacy


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("method", ["scale_free", "joint", "per_parameter"])
def test_the_certificate(rows, bounds, method, neighbors):
    fitted = model(bounds=bounds, method=method, neighbors=neighbors, epsilon=0.7).fit(rows)
    certificate = fitted.privacy_
    assert certificate.budget == Budget(0.7, 1e-5)
    assert certificate.plan.neighbors == neighbors
    assert certificate.delta(0.7) <= 1e-5
    assert certificate.rows == (3000 if neighbors == "replace_one" else None)
    assert [(r.name, r.count) for r in certificate.releases] == [(s.name, s.count) for s in certificate.plan.steps]
    for record, step in zip(certificate.releases, certificate.plan.steps):
        assert record.noise_scale >= step.noise_multiplier * record.sensitivity
        assert record.noise_scale == pytest.approx(step.noise_multiplier * record.sensitivity, rel=1e-14)
    assert certificate.bounds.startswith("a box: column 1 from 0 to 400")
    assert any(method in note for note in certificate.notes)


def test_seeded_fits_repeat_themselves_and_say_so(rows, bounds):
    seeded = model(bounds=bounds).fit(rows)
    assert seeded.privacy_.seeded
    assert same(seeded, model(bounds=bounds).fit(rows))
    assert same(seeded, seeded.fit(rows))
    assert not same(seeded, model(bounds=bounds, random_state=1).fit(rows))
    fresh = model(bounds=bounds, random_state=None)
    assert not fresh.fit(rows).privacy_.seeded
    first = fresh.fit(rows).means_
    assert (first != fresh.fit(rows).means_).all()
    assert model(bounds=bounds, random_state=np.random.RandomState(0)).fit(rows).privacy_.seeded


class RowsWithoutANumber(Source):
    """Rows that do not tell how many they are."""

    def __init__(self, array):
        self.array = array

    columns = None
    types = None

    @property
    def n_rows(self):
        raise AssertionError("The number of rows was asked for.")

    def blocks(self):
        yield from as_source(self.array).blocks()

    def select(self, columns):
        raise NotImplementedError


@pytest.mark.parametrize("method", ["scale_free", "joint", "per_parameter"])
def test_where_the_number_of_rows_is_secret_it_is_not_asked_for(rows, bounds, method):
    secret = RowsWithoutANumber(rows)
    fitted = model(bounds=bounds, method=method, neighbors="add_remove").fit(secret)
    assert same(fitted, model(bounds=bounds, method=method, neighbors="add_remove").fit(rows))
    with pytest.raises(AssertionError, match="asked for"):
        model(bounds=bounds, method=method, neighbors="replace_one").fit(secret)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("method", ["scale_free", "joint", "per_parameter"])
def test_rows_that_are_left_out_change_nothing(rows, bounds, method, neighbors):
    """Rows with missing cells contribute to no sum. What still changed with their number would be a leak of it."""
    options = {"bounds": bounds, "method": method, "neighbors": neighbors, "missing": "ignore"}
    complete = model(**options).fit(rows)
    spoilt = model(**options).fit(np.concatenate([rows, np.full((2000, 2), np.nan)]))
    for name in ARRAYS:
        assert getattr(spoilt, name) == pytest.approx(getattr(complete, name), rel=1e-6)
    assert spoilt.privacy_.plan == complete.privacy_.plan
    assert spoilt.privacy_.rows is None


def test_a_row_with_one_missing_cell_is_left_out_whole(rows, bounds):
    gaps = rows.copy()
    gaps[::7, 1] = np.nan
    fitted = model(bounds=bounds, missing="ignore").fit(gaps)
    complete = model(bounds=bounds, missing="ignore").fit(np.delete(rows, np.s_[::7], axis=0))
    assert fitted.means_ == pytest.approx(complete.means_, rel=1e-6)
    assert "left out" in " ".join(fitted.privacy_.notes)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_a_fit_is_charged_to_its_ledger(rows, bounds, tmp_path, neighbors):
    account = Ledger(tmp_path / "study.db").create("people", Budget(1.0, 1e-5), neighbors)
    fitted = model(bounds=bounds, epsilon=0.8, neighbors=neighbors, ledger=account).fit(rows)
    (receipt,) = account.history()
    assert receipt.epsilon == pytest.approx(0.8, rel=1e-6)
    assert "GaussianMixture(2, method='scale_free')" in receipt.purpose
    with pytest.raises(BudgetExceeded):
        model(bounds=bounds, epsilon=0.8, neighbors=neighbors, ledger=account).fit(rows)
    assert len(account.history()) == 1
    model(bounds=bounds, epsilon=0.3, neighbors=neighbors, ledger=account).fit(rows)
    assert len(account.history()) == 2
    assert pickle.loads(pickle.dumps(fitted)).ledger == account


def test_the_whole_of_a_budget_can_be_spent(rows, bounds, tmp_path):
    account = Ledger(tmp_path / "study.db").create("people", Budget(1.0, 1e-5))
    model(bounds=bounds, epsilon=1.0, ledger=account).fit(rows)
    assert account.remaining().epsilon < 1e-3


# ------------------------------------------------------------------------------------------------------------ settings


@pytest.mark.parametrize(
    ("options", "per_iteration"),
    [({"n_iter": 9}, 1), ({"method": JointMoments(n_iter=9)}, 1), ({"method": DPEM(n_iter=9)}, 5)],
    ids=str,
)
def test_the_number_of_iterations(rows, bounds, options, per_iteration):
    assert model(bounds=bounds, **options).fit(rows).n_iter_ == 9 * per_iteration


def test_components_that_cannot_be_told_apart_are_copies(rows, bounds):
    fitted = model(6, bounds=bounds, epsilon=0.01).fit(rows)
    assert fitted.means_.shape == (6, 2)
    assert fitted.weights_.sum() == pytest.approx(1.0)
    assert len(np.unique(fitted.means_, axis=0)) < 6


@pytest.mark.parametrize("n_iter", ["auto", 200])
@pytest.mark.parametrize("epsilon", [1e-3, 1e4])
@pytest.mark.parametrize("kind", KINDS)
def test_extreme_budgets_end_in_a_model(rows, bounds, kind, epsilon, n_iter):
    few = rows[:100]
    fitted = model(2, bounds=bounds, covariance_type=kind, epsilon=epsilon, n_iter=n_iter).fit(few)
    assert np.isfinite(fitted.score(few))
    spread = np.linalg.eigvalsh(full_covariances(fitted) / np.outer([200.0, 3.0], [200.0, 3.0]))
    assert spread.max() <= 2.5  # no wider than the bounds allow: rows are no longer than sqrt(2) in units of them


@pytest.mark.parametrize("value", [0.5, 0.0, 1e300, -1e300])
def test_rows_that_are_all_alike_end_in_a_model(value):
    for neighbors in RELATIONS:
        fitted = model(3, epsilon=20.0, neighbors=neighbors).fit(np.full((500, 3), value))
        assert np.isfinite(fitted.score(fitted.sample(10, random_state=0)[0]))
        assert fitted.means_[0] == pytest.approx(np.full(3, np.clip(value, -1, 1)), abs=0.1)


def test_progress_is_shown_on_request(rows, bounds, capsys):
    model(bounds=bounds).fit(rows)
    assert capsys.readouterr().out == ""
    fitted = model(bounds=bounds, verbose=True).fit(rows)
    shown = "".join(capsys.readouterr())
    assert "Fitting 2 component(s)" in shown
    assert f"{fitted.n_iter_}/{fitted.n_iter_}" in shown


def test_a_delta_that_allows_publishing_a_row_is_warned_about(rows, bounds):
    with pytest.warns(UserWarning, match="not below 1/3000.*publishing somebody's row outright"):
        model(bounds=bounds, delta=1e-3).fit(rows)


@pytest.mark.filterwarnings("error")
def test_no_other_fit_warns(rows, bounds):
    model(bounds=bounds, delta=1e-4).fit(rows)
    model(bounds=bounds, delta=1e-3, neighbors="add_remove").fit(rows)  # the number of rows is a secret

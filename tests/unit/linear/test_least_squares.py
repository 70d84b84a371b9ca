"""The default linear regression on tables that are not as they should be: collinear, rare, skewed, drowned."""

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.base import clone
from sklearn.metrics import r2_score

import tacit


def half(X, y):
    return (X[::2], y[::2]), (X[1::2], y[1::2])


def scores(X, y, seeds=3, **options):
    """Return R² on rows held out: of the plain fit, and of private ones."""
    (A, a), (B, b) = half(X, y)
    plain = r2_score(b, linear_model.LinearRegression().fit(A, a).predict(B))
    options = {"bounds": (-100, 100), "target_bounds": 1000.0, **options}
    return plain, [tacit.LinearRegression(random_state=seed, **options).fit(A, a).score(B, b) for seed in range(seeds)]


def visits(rows, rng):
    """Return three counts, the last the sum of the others, a rare indicator and a cost that is mostly zero."""
    prescribed, bought = rng.poisson(0.8, rows), rng.poisson(0.3, rows)
    rare = (rng.random(rows) < 0.004).astype(float)
    cost = np.where(rng.random(rows) < 0.05, rng.exponential(5.0, rows), 0.0)
    X = np.column_stack([prescribed, bought, prescribed + bought, rare, cost]).astype(float)
    return X, 2.0 * prescribed - bought + 25.0 * rare + 0.5 * cost + rng.normal(size=rows)


@pytest.mark.parametrize(("epsilon", "loss"), [(1.0, 0.3), (10.0, 0.05), (1000.0, 0.01)])
def test_collinear_and_rare_columns_do_no_harm(epsilon, loss):
    """The 40 rows with the rare value have 27% of the variance, and epsilon 1 hides them."""
    X, y = visits(20_000, np.random.default_rng(0))
    plain, private = scores(X, y, epsilon=epsilon)
    assert plain - min(private) < loss


def test_with_little_noise_it_is_least_squares_also_where_errors_are_skewed_and_depend_on_inputs():
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(20_000, 3))
    y = X @ [1.0, 2.0, 0.5] + X[:, 0] * rng.lognormal(sigma=0.8, size=20_000)
    plain = linear_model.LinearRegression().fit(X, y)
    model = tacit.LinearRegression(epsilon=30.0, bounds=(0, 50), target_bounds=(0, 500), random_state=0).fit(X, y)
    bulk = clone(model).set_params(loss="huber").fit(X, y)
    assert model.coef_ == pytest.approx(plain.coef_, abs=0.1)
    assert abs(bulk.coef_[0] - plain.coef_[0]) > 0.15


def test_a_target_without_anything_to_find_costs_next_to_nothing():
    rng = np.random.default_rng(0)
    plain, private = scores(rng.normal(size=(4000, 10)), rng.normal(size=4000), seeds=5)
    assert plain > -0.05
    assert min(private) > -0.05


def test_much_wider_bounds_change_nothing_that_matters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 4))
    y = X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=20_000)
    for half_range in (5.0, 500.0):
        plain, private = scores(X, y, bounds=(-half_range, half_range), target_bounds=2 * half_range)
        assert plain - min(private) < 0.01


def test_units_and_shifts_of_columns_do_not_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3))
    y = X @ [1.0, -1.0, 0.5] + rng.normal(size=20_000)
    unit, shift = np.array([1e-3, 1.0, 1e4]), np.array([5.0, 0.0, -3e4])
    plain, private = scores(X * unit + shift, y, bounds=(10 * (-unit) + shift, 10 * unit + shift), target_bounds=10.0)
    assert plain - min(private) < 0.01


def test_predictions_are_kept_within_the_targets_that_are_seen_also_from_a_file(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 1))
    model = tacit.LinearRegression(bounds=1000, target_bounds=1000, random_state=0).fit(X, X[:, 0])
    again = tacit.load_model(tacit.save_model(model, tmp_path / "model.tacit"))
    far = np.array([[-900.0], [0.5], [900.0]])
    assert model.predict(far)[1] == pytest.approx(0.5, abs=0.05)
    assert (np.abs(model.predict(far)) < 20).all()
    assert (model.predict(far) == again.predict(far)).all()


def test_a_loss_that_is_not_known_is_refused_before_anything_is_charged():
    model = tacit.LinearRegression(loss="absolute", bounds=1, target_bounds=1)
    with pytest.raises(ValueError, match="loss must be 'squared' or 'huber', and it is 'absolute'"):
        model.fit(np.zeros((10, 1)), np.zeros(10))


def test_deviations_of_rare_values_are_the_columns_own():
    """Nearly all rows have one value, so the unit is a guess: but second moments tell how much the column varies."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=20_000), rng.random(20_000) < 0.1]).astype(float)
    model = tacit.LinearRegression(bounds=(-20, 20), target_bounds=50, random_state=0).fit(X, X[:, 0])
    assert model._spread.deviations == pytest.approx(X.std(axis=0), rel=0.3)

"""What penalties make of a least-squares fit is what scikit-learn makes of the rows."""

import numpy as np
import pytest
from sklearn import linear_model

from tacit.linear.linear_fit import LinearFit
from tacit.linear.score_regression import best_radius


def rows(n=400, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ np.linalg.cholesky(0.7 * np.ones((d, d)) + 0.3 * np.eye(d)).T + 2.0
    return X, X @ np.array([2.0, -1.0, 0.5, 0.0, 0.0, 0.0]) + 5.0 + rng.normal(size=n)


def least_squares(X, y):
    """The fit that rows have without noise."""
    centre, covariance = X.mean(axis=0), np.cov(X.T, bias=True)
    slopes = np.linalg.lstsq(X - centre, y - y.mean(), rcond=None)[0]
    return LinearFit(centre, y.mean(), slopes, covariance, len(X), 1.0)


@pytest.mark.parametrize(
    ("model", "lasso", "ridge"),
    [
        (linear_model.LinearRegression(), 0.0, 0.0),
        (linear_model.Ridge(30.0), 0.0, 30.0),
        (linear_model.Lasso(0.2, tol=1e-10), 0.2, 0.0),
        (linear_model.ElasticNet(0.3, l1_ratio=0.4, tol=1e-10), 0.12, 0.18 * 400),
    ],
    ids=str,
)
def test_penalties_are_those_of_scikit_learn(model, lasso, ridge):
    X, y = rows()
    model.fit(X, y)
    found = least_squares(X, y).penalise(lasso, ridge)
    assert found.slopes == pytest.approx(model.coef_, abs=1e-6)
    assert found.intercept == pytest.approx(model.intercept_, abs=1e-5)
    assert ((found.slopes == 0) == (model.coef_ == 0)).all()


def test_units():
    X, y = rows()
    centre, scale = np.array([1.0] * 6 + [3.0]), np.array([2.0, 0.5, 1.0, 1.0, 10.0, 1.0, 7.0])
    standard = least_squares((X - centre[:-1]) / scale[:-1], (y - centre[-1]) / scale[-1])
    whole = least_squares(X, y)
    back = standard.in_units(centre, scale)
    assert back.slopes == pytest.approx(whole.slopes)
    assert back.intercept == pytest.approx(whole.intercept)
    assert back.covariance == pytest.approx(whole.covariance)
    assert back.variance == pytest.approx(49.0)


def test_the_error_of_the_intercept_is_carried_from_the_centre():
    errors = np.diag([0.04, 0.01])
    fit = LinearFit(np.array([3.0]), 1.0, np.array([2.0]), np.eye(1), 10.0, 1.0, errors)
    assert fit.intercept == -5.0
    assert fit.standard_errors() == pytest.approx([np.sqrt(0.04 + 9 * 0.01), 0.1])


def test_less_noise_believes_rows_farther_out():
    radii = [best_radius(5, noise) for noise in (3.0, 0.3, 0.03, 0.003)]
    assert radii == sorted(radii)
    assert radii[0] < 1 < 2 < radii[-1]

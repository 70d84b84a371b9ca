"""Where inputs lie is measured with the fit, and in the units of the rows."""

import numpy as np
import pytest

import tacit

RNG = np.random.default_rng(0)
X = RNG.normal([40.0, -2.0], [12.0, 0.5], (20_000, 2))
Y = X @ [0.5, 3.0] + RNG.normal(size=20_000)
OPTIONS = {"bounds": ([0.0, -10.0], [100.0, 10.0]), "epsilon": 3.0, "random_state": 0}
KINDS = [tacit.LinearRegression, tacit.Ridge, tacit.Lasso, tacit.ElasticNet, tacit.HuberRegressor]


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", [*KINDS, tacit.LogisticRegression, tacit.LinearSVC])
def test_means_and_deviations_are_those_of_the_rows(kind, fit_intercept, neighbors):
    options = OPTIONS | {"fit_intercept": fit_intercept, "neighbors": neighbors}
    if kind in KINDS:
        model = kind(**options, target_bounds=100).fit(X, Y)
    else:
        model = kind(**options, classes=[0, 1]).fit(X, (Y.mean() < Y).astype(int))
    np.testing.assert_allclose(model._spread.means, X.mean(axis=0), atol=1.0)
    np.testing.assert_allclose(model._spread.deviations, X.std(axis=0), rtol=0.25)


def test_a_new_fit_forgets_the_last_one():
    model = tacit.LinearRegression(**OPTIONS, target_bounds=100).fit(X, Y)
    assert model._spread is not None
    assert model.set_params(method="robust", bounds=None, target_bounds=None).fit(X, Y)._spread is None

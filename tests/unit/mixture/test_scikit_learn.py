"""The estimator keeps scikit-learn's contract, with every method and every covariance type."""

import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit

VARIANTS = [
    {},
    {"method": "joint"},
    {"method": "per_parameter"},
    {"covariance_type": "tied"},
    {"covariance_type": "diag", "n_components": 2},
    {"covariance_type": "spherical", "neighbors": "add_remove"},
    {"missing": "ignore"},
    {"n_components": (1, 2)},
]


def model(**options):
    return tacit.GaussianMixture(bounds=(-100, 100), epsilon=10.0, delta=1e-3, random_state=0, **options)


def cannot_hold(estimator):
    if estimator.missing == "ignore":
        return {"check_estimators_pickle": "Rows with missing cells are left out of a fit, but have no density."}
    return {}


@parametrize_with_checks([model(**variant) for variant in VARIANTS], expected_failed_checks=cannot_hold)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_parameters_survive_cloning(variant):
    assert clone(model(**variant)).get_params() == model(**variant).get_params()
    assert clone(model()).set_params(epsilon=0.3).epsilon == 0.3


def test_what_would_leak_is_not_there():
    """Functions of the rows of the fit that no noise protects."""
    fitted = model().fit([[0.0], [1.0], [2.0]])
    for name in ("labels_", "fit_predict", "lower_bound_", "lower_bounds_", "converged_", "bic", "aic"):
        assert not hasattr(fitted, name)


def test_pipelines():
    rows = [[float(i % 7), float(i % 3)] for i in range(200)]
    pipeline = make_pipeline(FunctionTransformer(), model(n_components=2)).fit(rows)
    assert pipeline.score_samples(rows).shape == (200,)
    assert pipeline.predict(rows).shape == (200,)

"""A fit begins from scratch: no certificate stands beside numbers that it is not about."""

import inspect

import numpy as np
import pytest
from estimators import ESTIMATORS, ROWS, rows, target
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import tacit
from tacit.fitting import PrivateEstimator
from tacit.storage import load_model, save_model


def fitted_state(model):
    return set(vars(model)) - set(model.get_params(deep=False))


def fit(model, name, X):
    return model.fit(X, target(name, X))


def test_every_public_estimator_is_tried():
    public = [getattr(tacit, name) for name in tacit.__all__]
    kinds = {each.__name__ for each in public if inspect.isclass(each) and issubclass(each, PrivateEstimator)}
    assert kinds == set(ESTIMATORS)
    assert {name: type(each).__name__ for name, each in ESTIMATORS.items()} == {name: name for name in ESTIMATORS}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_refit_that_fails_leaves_nothing(name):
    model, X = clone(ESTIMATORS[name]), rows()
    fit(model, name, X)
    assert "privacy_" in fitted_state(model)
    with pytest.raises((ValueError, TypeError)):
        model.fit(X[0], target(name, X))  # one row, not in a table
    assert fitted_state(model) == set()
    fit(model, name, X)
    with pytest.raises(ValueError, match="epsilon"):
        fit(model.set_params(epsilon=-1.0), name, X)  # refused before rows are looked at
    assert fitted_state(model) == set()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_fit_that_fails_half_way_leaves_nothing(name, monkeypatch):
    model, X = clone(ESTIMATORS[name]), rows()
    fit(model, name, X)

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(tacit.release.Curator, "certificate", interrupted)  # when all releases are made
    with pytest.raises(KeyboardInterrupt):
        fit(model, name, X)
    assert fitted_state(model) == set()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_refit_replaces_the_certificate(name):
    model, X = clone(ESTIMATORS[name]), rows()
    before = fit(model, name, X).privacy_
    state = fitted_state(model)
    model.set_params(epsilon=4.0)
    after = fit(model, name, X[1:]).privacy_
    assert (before.budget.epsilon, after.budget.epsilon) == (5.0, 4.0)
    assert (before.rows, after.rows) in ((ROWS, ROWS - 1), (None, None))
    assert fitted_state(model) == state


def test_a_model_from_a_file_forgets_it_too(tmp_path):
    for name in ("LogisticRegression", "FactorAnalysis", "TableModel"):
        model = load_model(save_model(fit(clone(ESTIMATORS[name]), name, rows()), tmp_path / f"{name}.tacit"))
        with pytest.raises(ValueError, match="2D"):
            model.fit(rows()[0], target(name, rows()))
        assert fitted_state(model) == set()
    moments = tacit.Moments(bounds=5.0).fit(rows())
    for model in (tacit.FactorAnalysis.from_moments(moments), tacit.LinearRegression.from_moments(moments, 1)):
        with pytest.raises((ValueError, TypeError)):
            model.fit(rows()[0], None)
        assert fitted_state(model) == set()


def test_what_others_set_on_an_estimator_stays():
    model = tacit.KMeans(2, bounds=5.0, epsilon=5.0).set_output(transform="pandas")
    model._mine = model.mine = 1
    make_pipeline(FunctionTransformer(), model).fit(rows()).fit(rows(1))
    assert (model._mine, model.mine) == (1, 1)
    assert list(model.transform(rows()).columns) == ["kmeans0", "kmeans1"]
    assert np.isfinite(model.cluster_centers_).all()

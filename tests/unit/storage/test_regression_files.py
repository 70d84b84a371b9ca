"""Regressions, symmetric mixtures and robust means come back from files exactly, or are refused when damaged."""

import json

import numpy as np
import pytest

import tacit
from tacit.published import CatoniMean, ClippedGradientEM, RobustEM, RobustGradientEM, TruncatedGradientEM
from tacit.tables import Categorical, Numeric

RNG = np.random.default_rng(0)
X = RNG.normal([1.0, -2.0], [0.5, 2.0], (1500, 2))
Y = X @ [2.0, -1.0] * RNG.choice([-1.0, 1.0], 1500) + RNG.normal(0.0, 0.3, 1500)
GAPS = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
ROWS = RNG.choice([-1.0, 1.0], 1500)[:, None] * [0.6, 0.8] + RNG.normal(0.0, 0.5, (1500, 2))
KNOWN = {"bounds": ([-5.0, -12.0], [7.0, 8.0]), "target_bounds": 30, "epsilon": 3.0, "random_state": 0}
NO_BOUNDS = {"bounds": None, "target_bounds": None}
PAPER = {"scale": 0.3, "n_iter": 5}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.tacit"


def table():
    pandas = pytest.importorskip("pandas")
    kinds = RNG.choice(["a", "b", "c"], len(X))
    return pandas.DataFrame({"y": Y, "first": X[:, 0], "kind": kinds, "second": X[:, 1]})


def schema():
    levels = Categorical(("a", "b", "c"))
    columns = {"y": Numeric(-30, 30), "first": Numeric(-5, 7), "kind": levels, "second": Numeric(-12, 8)}
    return tacit.Schema(columns)


def same(model, path, names, methods):
    """Save, load, compare all that is public, and save again: to the same bytes."""
    stored = tacit.save_model(model, path).read_bytes()
    again = tacit.load_model(path)
    for name in (*names, "n_iter_", "n_features_in_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    for method in methods:
        np.testing.assert_array_equal(method(again), method(model))
    assert again.privacy_ == model.privacy_
    assert tacit.save_model(again, path).read_bytes() == stored
    return again


REGRESSIONS = ("weights_", "coef_", "intercept_", "scales_", "coef_errors_", "inputs_covariance_")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"bounds": "private", "target_bounds": None},
        {"neighbors": "add_remove", "fit_intercept": False},
        {"symmetric": True, "missing": "ignore", "random_state": None},
        {"symmetric": True, "method": RobustGradientEM(**PAPER), **NO_BOUNDS},
        {"symmetric": True, "method": ClippedGradientEM(**PAPER, init=np.array([1.0, 0.5])), **NO_BOUNDS},
    ],
    ids=str,
)
def test_mixtures_of_regressions_come_back_exactly(path, options):
    model = tacit.MixtureOfRegressions(2, **KNOWN | options).fit(X, Y)
    methods = (lambda each: each.predict_components(X), lambda each: each.predict_proba(X, Y))
    again = same(model, path, REGRESSIONS, methods)
    assert again.score(X, Y) == model.score(X, Y)


def test_the_file_of_regressions_says_what_the_model_is(path):
    model = tacit.MixtureOfRegressions(2, **KNOWN).fit(X, Y)
    values = json.loads(tacit.save_model(model, path).read_text())
    z = (X - np.array(values["centre"])[:-1]) / np.array(values["scale"])[:-1]
    coefficients = np.array(values["regressions"]["coefficients"])
    means = values["centre"][-1] + values["scale"][-1] * (coefficients[:, 0] + z @ coefficients[:, 1:].T)
    np.testing.assert_allclose(means, model.predict_components(X))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"bounds": "private", "target_bounds": None, "neighbors": "add_remove"},
        {"method": TruncatedGradientEM(**PAPER, split=True), **NO_BOUNDS},
    ],
    ids=str,
)
def test_regressions_on_inputs_with_gaps_come_back_exactly(path, options):
    model = tacit.MissingCovariateRegression(**KNOWN | options).fit(GAPS, Y)
    names = ("coef_", "intercept_", "scale_", "coef_errors_", "inputs_mean_", "inputs_covariance_")
    same(model, path, names, [lambda each: each.predict(GAPS)])


def test_names_of_columns_and_of_the_target_come_back(path):
    frame = table()[["first", "y", "second"]]
    model = tacit.MixtureOfRegressions(1, **KNOWN).fit(frame, "y")
    again = same(model, path, REGRESSIONS, [lambda each: each.predict(frame[["first", "second"]])])
    assert list(again.feature_names_in_) == ["first", "second"]
    assert json.loads(path.read_text())["columns"] == ["first", "second", "y"]


@pytest.mark.parametrize("kind", [tacit.MixtureOfRegressions, tacit.MissingCovariateRegression])
def test_schemas_come_back_and_the_target_need_not_be_there_for_predictions(path, kind):
    frame = table()
    model = kind(bounds=schema(), epsilon=3.0, random_state=0).fit(frame, "y")
    again = same(model, path, ["coef_", "intercept_"], [lambda each: each.predict(frame)])
    assert again.bounds == schema()
    np.testing.assert_array_equal(again.predict(frame.drop(columns="y")), model.predict(frame))
    values = json.loads(path.read_text())
    values["columns"][-1] = "nothing"
    path.write_text(json.dumps(values))
    with pytest.raises(ValueError, match="the last of the columns must be the target"):
        tacit.load_model(path)


OLD = {"learning_rate": 1.0, "clip": 1.0, "moment_bound": 1.0, "truncation": None, "split": False, "as_printed": False}


def test_files_of_version_0_1_have_options_of_published_methods_among_those_of_the_estimator(path):
    method = TruncatedGradientEM(scale=0.3, n_iter=5, split=True, init=[1.0, 0.5], truncation=2.0)
    options = {"epsilon": 3.0, "random_state": 0}
    for model in (
        tacit.SymmetricMixture(method=method, **options).fit(ROWS),
        tacit.MixtureOfRegressions(2, symmetric=True, method=method, **options).fit(X, Y),
        tacit.MissingCovariateRegression(method=method, **options).fit(GAPS, Y),
    ):
        values = json.loads(tacit.save_model(model, path).read_text())
        own = {"scale": 0.3, "n_iter": 5, "split": True, "init": [1.0, 0.5], "truncation": 2.0}
        values["parameters"] |= {"method": "truncated", **OLD, **own}
        path.write_text(json.dumps(values))
        assert tacit.load_model(path).method == method


def test_files_of_version_0_1_of_fits_by_moments_are_read(path):
    for model in (
        tacit.SymmetricMixture(bounds=5, random_state=0).fit(ROWS),
        tacit.MixtureOfRegressions(2, **KNOWN).fit(X, Y),
        tacit.MissingCovariateRegression(**KNOWN).fit(GAPS, Y),
    ):
        values = json.loads(tacit.save_model(model, path).read_text())
        values["parameters"] |= {**OLD, "scale": None, "init": "random"}
        path.write_text(json.dumps(values))
        assert tacit.load_model(path).get_params() == tacit.load_model(tacit.save_model(model, path)).get_params()


def test_a_guess_comes_back(path):
    options = {"sparsity": 1, "init": [1.0, 0.5], "bounds": 5, "random_state": 0}
    model = tacit.SymmetricMixture(**options).fit(ROWS)
    same(model, path, ("half_", "scale_", "support_", "init"), ())


@pytest.mark.parametrize("options", [{}, {"method": RobustEM(scale=0.5), "bounds": None}], ids=str)
def test_symmetric_mixtures_come_back_exactly(path, options):
    model = tacit.SymmetricMixture(**{"bounds": 5, "epsilon": 3.0, "random_state": 0} | options).fit(ROWS)
    methods = (lambda each: each.score_samples(ROWS), lambda each: each.sample(5, 1)[0])
    same(model, path, ("half_", "scale_"), methods)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"centre": [0.0, 1.0], "bounds": (-10, 10), "neighbors": "add_remove"},
        {"method": "clipped", "moment_bound": np.array([2.0, 9.0]), "moment_order": 3, "delta": 0.0},
        {"method": CatoniMean(moment_bound=9.0, scale="improved")},
        {"method": CatoniMean(scale=np.array([3.0, 4.0])), "centre": 1.0},
    ],
    ids=str,
)
def test_robust_means_come_back_exactly(path, options):
    model = tacit.RobustMean(**{"epsilon": 3.0, "random_state": 0} | options).fit(X)
    known = "moment_bound" in options or getattr(model.method, "moment_bound", None) is not None
    interval = [lambda each: each.interval(0.9)] if known else []
    same(model, path, ("mean_", "centre_", "scale_", "noise_std_"), interval)
    assert tacit.load_model(path).method == model.method


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        (CatoniMean(moment_bound=(2.0, 9.0), moment_order=3), {"moment_bound": [2.0, 9.0], "moment_order": 3}),
        (CatoniMean(moment_bound=9.0, scale="thesis"), {"moment_bound": 9.0, "scale": "thesis"}),
    ],
    ids=str,
)
def test_robust_means_of_version_0_1_are_read(path, method, parameters):
    tacit.save_model(tacit.RobustMean(method=method, random_state=0).fit(X), path)
    stored = json.loads(path.read_text())
    stored["parameters"] |= {"method": "robust", **parameters}
    path.write_text(json.dumps(stored))
    loaded = tacit.load_model(path)
    assert (loaded.method, loaded.moment_bound, loaded.moment_order, loaded.scale) == (method, None, 2, "auto")


def _set(*keys, value):
    def change(values):
        for key in keys[:-1]:
            values = values[key]
        values[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        _set("regressions", value={}),
        _set("regressions", "weights", value=[0.5, 0.6]),
        _set("regressions", "scales", value=[1.0, 0.0]),
        _set("regressions", "coefficients", value=[[1.0], [2.0]]),
        _set("parameters", "n_components", value=3),
        _set("parameters", "method", value="clipped"),
        _set("estimator", value="MissingCovariateRegression"),
        _set("columns", value=["a", "b"]),
    ],
)
def test_damaged_regressions_are_refused(path, change):
    _damaged(tacit.save_model(tacit.MixtureOfRegressions(2, **KNOWN).fit(X, Y), path), change)


@pytest.mark.parametrize(
    "change",
    [
        _set("gaussian", "mean", value=[0.0]),
        _set("gaussian", "covariance", value=[[1.0, 0.2, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        _set("gaussian", "covariance", value=(-np.eye(3)).tolist()),
    ],
)
def test_damaged_gaussians_are_refused(path, change):
    _damaged(tacit.save_model(tacit.MissingCovariateRegression(**KNOWN).fit(GAPS, Y), path), change)


@pytest.mark.parametrize("change", [_set("symmetric", "half", value=[1.0]), _set("symmetric", "scale", value=0.0)])
def test_damaged_symmetric_mixtures_are_refused(path, change):
    _damaged(tacit.save_model(tacit.SymmetricMixture(bounds=5).fit(ROWS), path), change)


@pytest.mark.parametrize("change", [_set("mean", "mean", value=["x", 1.0]), _set("mean", "scale", value=[1.0])])
def test_damaged_means_are_refused(path, change):
    _damaged(tacit.save_model(tacit.RobustMean().fit(X), path), change)


def _damaged(path, change):
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))
    with pytest.raises(ValueError, match=r"model\.tacit is damaged: .*\. Take it from a copy"):
        tacit.load_model(path)

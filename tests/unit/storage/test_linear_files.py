"""Linear regressions and classifiers come back from files exactly, or are refused when damaged."""

import json

import numpy as np
import pytest

import tacit
from tacit.published import SVRG, GradientDescent, RobustDescent
from tacit.tables import Categorical, Numeric

RNG = np.random.default_rng(0)
X = RNG.normal([1.0, -2.0], [0.5, 2.0], (1500, 2))
Y = X @ [2.0, -1.0] + 3.0 + RNG.normal(0.0, 0.3, 1500)
SIDES = np.where(Y + RNG.logistic(size=1500) > 7.0, "high", "low")
THIRDS = np.digitize(Y, [5.0, 9.0]) - 1
INPUTS = {"bounds": ([-5.0, -12.0], [7.0, 8.0]), "epsilon": 3.0, "random_state": 0}
BOTH = INPUTS | {"target_bounds": 30}
PENALISED = {tacit.Ridge: {"alpha": 100.0}, tacit.Lasso: {"alpha": 0.3}, tacit.ElasticNet: {"l1_ratio": 0.2}}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.tacit"


def table(target, values):
    pandas = pytest.importorskip("pandas")
    kinds = RNG.choice(["a", "b", "c"], len(X))
    return pandas.DataFrame({target: values, "first": X[:, 0], "kind": kinds, "second": X[:, 1]})


def schema(target, column):
    columns = {"first": Numeric(-5, 7), "kind": Categorical(("a", "b", "c")), "second": Numeric(-12, 8)}
    return tacit.Schema({target: column, **columns})


def same(model, path, names, *methods):
    """Save, load, compare all that is public, and save again: to the same bytes."""
    stored = tacit.save_model(model, path).read_bytes()
    again = tacit.load_model(path)
    assert type(again) is type(model)
    for name in ("coef_", "intercept_", "n_iter_", "n_features_in_", *names):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    for method in methods:
        np.testing.assert_array_equal(method(again), method(model))
    assert again.privacy_ == model.privacy_
    assert tacit.save_model(again, path).read_bytes() == stored
    return again


def prediction(model):
    return model.predict(X)


def both_ends(model):
    found = model.confidence_intervals(0.8)
    return np.column_stack([np.atleast_2d(found.coef.reshape(-1)), np.atleast_2d(found.intercept.reshape(-1))])


@pytest.mark.parametrize(
    "options", [{}, {"bounds": "private", "target_bounds": None}, {"fit_intercept": False, "neighbors": "add_remove"}]
)
def test_linear_regressions_come_back_exactly(path, options):
    model = tacit.LinearRegression(**BOTH | options).fit(X, Y)
    same(model, path, ("noise_variance_", "coef_errors_", "intercept_error_"), prediction, both_ends)


def test_robust_descent_comes_back_without_what_it_does_not_know(path):
    method = RobustDescent(n_iter=5, moment_bound=50.0)
    options = {"bounds": None, "target_bounds": None, "method": method}
    again = same(tacit.LinearRegression(**BOTH | options).fit(X, Y), path, (), prediction)
    assert not hasattr(again, "coef_errors_")
    assert again.method == method
    with pytest.raises(ValueError, match="standard errors"):
        again.confidence_intervals()


@pytest.mark.parametrize("kind", PENALISED)
def test_penalised_regressions_come_back_exactly(path, kind):
    again = same(kind(**BOTH | PENALISED[kind]).fit(X, Y), path, ("noise_variance_",), prediction)
    assert again.get_params().items() >= PENALISED[kind].items()


@pytest.mark.parametrize("kind", [tacit.LinearRegression, tacit.Lasso])
@pytest.mark.parametrize("bounds", [30.0, (-30.0, [10.0, 30.0, 20.0])], ids=["ball", "box"])
def test_regressions_made_of_moments_come_back_wherever_the_target_stood(path, kind, bounds):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"first": X[:, 0], "y": Y, "second": X[:, 1]})
    moments = tacit.Moments(bounds=bounds, epsilon=3.0, random_state=0).fit(frame)
    model = kind.from_moments(moments, "y")
    again = same(model, path, ("noise_variance_",), lambda each: each.predict(frame[["first", "second"]]))
    assert list(again.feature_names_in_) == ["first", "second"]
    assert json.loads(path.read_text())["columns"] == ["first", "second", "y"]


def probabilities(model):
    return model.predict_proba(X)


@pytest.mark.parametrize(
    ("labels", "options"),
    [
        (SIDES, {"classes": ["low", "high"]}),
        (SIDES, {"classes": np.array(["high", "low"]), "C": np.inf, "class_weight": {"low": 2.0}}),
        (THIRDS, {"classes": (-1, 0, 1), "class_weight": {np.int64(-1): 0.5, 1: 2}, "neighbors": "add_remove"}),
        (THIRDS > 0, {"classes": [False, True], "bounds": "private", "fit_intercept": False}),
    ],
    ids=["text", "weighed text", "three numbers", "truth"],
)
def test_logistic_regressions_come_back_exactly(path, labels, options):
    model = tacit.LogisticRegression(**INPUTS | options).fit(X, labels)
    again = same(model, path, ("classes_",), prediction, probabilities, both_ends)
    assert (again.C, again.class_weight) == (model.C, model.class_weight)
    assert again.classes_.dtype == model.classes_.dtype


def test_other_solvers_come_back_without_intervals(path):
    model = tacit.LogisticRegression(classes=["high", "low"], solver=GradientDescent(n_iter=5), **INPUTS).fit(X, SIDES)
    again = same(model, path, ("classes_",), prediction, probabilities)
    with pytest.raises(ValueError, match='Intervals are for solver="newton"'):
        again.confidence_intervals()
    assert again.solver == model.solver


def as_stored_by_version_0_1(path, **parameters):
    """Write the parameters of a file as version 0.1 had them."""
    stored = json.loads(path.read_text())
    stored["parameters"] |= parameters
    path.write_text(json.dumps(stored))


@pytest.mark.parametrize("method", [RobustDescent(n_iter=5, moment_bound=50.0, batch_size=0.5), "scores"], ids=str)
def test_linear_regressions_of_version_0_1_are_read(path, method):
    tacit.save_model(tacit.LinearRegression(method=method, **BOTH).fit(X, Y), path)
    published = method != "scores"
    as_stored_by_version_0_1(
        path,
        method="robust" if published else "scores",
        moment_bound=50.0 if published else 1.0,
        gradient_bounds=None,
        coef_bound=None,
        batch_size=0.5 if published else None,
        learning_rate="auto",
        n_iter=5 if published else "auto",
    )
    assert tacit.load_model(path).method == method


@pytest.mark.parametrize("kind", [tacit.LogisticRegression, tacit.LinearSVC, tacit.HuberRegressor])
def test_solvers_of_version_0_1_are_read(path, kind):
    options, y = (BOTH, Y) if kind is tacit.HuberRegressor else ({"classes": ["high", "low"], **INPUTS}, SIDES)
    model = kind(solver=SVRG(epochs=2), **options).fit(X, y)
    tacit.save_model(model, path)
    as_stored_by_version_0_1(path, solver="svrg", n_iter=2)
    assert tacit.load_model(path).solver == model.solver
    as_stored_by_version_0_1(path, solver="newton", n_iter=3)
    assert (tacit.load_model(path).solver, tacit.load_model(path).n_iter) == ("newton", 3)


def test_support_vector_classifiers_come_back_exactly(path):
    model = tacit.LinearSVC(classes=["high", "low"], width=0.5, **INPUTS).fit(X, SIDES)
    same(model, path, ("classes_",), prediction, lambda each: each.decision_function(X))


@pytest.mark.parametrize("options", [{}, {"alpha": 0.0, "bounds": "private", "target_bounds": None}], ids=str)
def test_hubers_regressions_come_back_exactly(path, options):
    same(tacit.HuberRegressor(**BOTH | options).fit(X, Y), path, ("scale_",), prediction)


@pytest.mark.parametrize("kind", [tacit.LinearRegression, tacit.Ridge, tacit.HuberRegressor])
def test_schemas_come_back_and_the_target_need_not_be_there_for_predictions(path, kind):
    known, frame = schema("y", Numeric(-30, 30)), table("y", Y)
    model = kind(bounds=known, epsilon=3.0, random_state=0).fit(frame, "y")
    again = same(model, path, (), lambda each: each.predict(frame))
    assert again.bounds == known
    np.testing.assert_array_equal(again.predict(frame.drop(columns="y")), model.predict(frame))


@pytest.mark.parametrize("kind", [tacit.LogisticRegression, tacit.LinearSVC])
def test_classes_are_the_levels_of_a_schema(path, kind):
    known, frame = schema("side", Categorical(("low", "high"))), table("side", SIDES)
    model = kind(bounds=known, epsilon=3.0, random_state=0).fit(frame, "side")
    again = same(model, path, ("classes_",), lambda each: each.decision_function(frame))
    assert again.classes_.tolist() == ["low", "high"]  # in the order of the schema
    np.testing.assert_array_equal(again.predict(frame.drop(columns="side")), model.predict(frame))


def test_the_file_of_a_linear_regression_says_what_the_model_is(path):
    model = tacit.LinearRegression(**BOTH).fit(X, Y)
    found = json.loads(tacit.save_model(model, path).read_text())["linear"]
    np.testing.assert_allclose(found["intercept"] + X @ found["coefficients"], model.predict(X))


def test_the_file_of_a_classifier_says_what_the_model_is(path):
    model = tacit.LogisticRegression(classes=[-1, 0, 1], **INPUTS).fit(X, THIRDS)
    values = json.loads(tacit.save_model(model, path).read_text())
    z = (X - np.array(values["centre"])[:-1]) / np.array(values["scale"])[:-1]
    coefficients = np.array(values["predictor"]["coefficients"])
    odds = np.exp(coefficients[:, 0] + z @ coefficients[:, 1:].T)
    np.testing.assert_allclose(odds / odds.sum(axis=1, keepdims=True), model.predict_proba(X))
    assert values["classes"] == [-1, 0, 1]


def test_losses_of_ones_own_are_not_stored(path):
    with pytest.raises(TypeError, match="this is a ERM"):
        tacit.save_model(tacit.ERM(), path)


def _set(*keys, value):
    def change(values):
        for key in keys[:-1]:
            values = values[key]
        values[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        _set("linear", value={}),
        _set("linear", "coefficients", value=[1.0]),
        _set("linear", "coefficients", value=["x", 1.0]),
        _set("linear", "intercept", value=None),
        _set("linear", "intercept", value=[1.0]),
        _set("linear", "noise_variance", value=-1.0),
        _set("linear", "errors", value=[1.0, 1.0]),
        _set("linear", "errors", value=[1.0, 1.0, -1.0]),
        _set("linear", "inputs", value="x"),
        _set("linear", "inputs", "means", value=[1.0]),
        _set("linear", "inputs", "deviations", value=[1.0, -1.0]),
        _set("parameters", "method", value="guess"),
        _set("parameters", "method", value={"name": "RobustDescent", "moment_bound": 0}),
        _set("estimator", value="LogisticRegression"),
        _set("columns", value=["a", "b"]),
    ],
)
def test_damaged_linear_regressions_are_refused(path, change):
    _damaged(tacit.save_model(tacit.LinearRegression(**BOTH).fit(X, Y), path), change)


@pytest.mark.parametrize("kind", PENALISED)
def test_damaged_penalties_are_refused(path, kind):
    _damaged(tacit.save_model(kind(**BOTH).fit(X, Y), path), _set("parameters", "alpha", value=-1.0))


@pytest.mark.parametrize(
    "change",
    [
        _set("classes", value=["low", "high"]),
        _set("predictor", "inputs", "deviations", value=[1.0]),
        _set("parameters", "classes", value=["high"]),
        _set("parameters", "classes", value=None),
        _set("parameters", "C", value="much"),
        _set("parameters", "class_weight", value=[["middle", 1.0]]),
        _set("parameters", "class_weight", value=[[["low"], 1.0]]),
        _set("parameters", "class_weight", value=2.0),
        _set("predictor", value={}),
        _set("predictor", "coefficients", value=[[1.0, 2.0]]),
        _set("predictor", "coefficients", value=[[1.0, 2.0, 3.0]] * 2),
        _set("predictor", "covariance", value=[[1.0, 2.0, 3.0]]),
        _set("predictor", "covariance", value=[1.0, 2.0, 3.0]),
    ],
)
def test_damaged_classifiers_are_refused(path, change):
    model = tacit.LogisticRegression(classes=["high", "low"], **INPUTS).fit(X, SIDES)
    _damaged(tacit.save_model(model, path), change)


@pytest.mark.parametrize("change", [_set("parameters", "width", value=0.0), _set("classes", value=[0, 1])])
def test_damaged_support_vector_classifiers_are_refused(path, change):
    _damaged(tacit.save_model(tacit.LinearSVC(classes=["high", "low"], **INPUTS).fit(X, SIDES), path), change)


def test_support_vectors_of_three_classes_are_refused(path):
    model = tacit.LogisticRegression(classes=[-1, 0, 1], **INPUTS).fit(X, THIRDS)

    def change(values):
        values["estimator"] = "LinearSVC"
        values["parameters"]["width"] = 1.0

    _damaged(tacit.save_model(model, path), change)


@pytest.mark.parametrize(
    "change",
    [
        _set("predictor", "scale", value=0.0),
        _set("predictor", "scale", value=[1.0]),
        _set("predictor", "coefficients", value=[1.0, 2.0, 3.0]),
        _set("parameters", "threshold", value=0.0),
    ],
)
def test_damaged_hubers_regressions_are_refused(path, change):
    _damaged(tacit.save_model(tacit.HuberRegressor(**BOTH).fit(X, Y), path), change)


def _damaged(path, change):
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))
    with pytest.raises(ValueError, match=r"model\.tacit is damaged: .*\. Take it from a copy"):
        tacit.load_model(path)

"""Logistic regression, and linear classifiers: right without noise, near with it, and careful about what is public."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression as Plain

import tacit
from tacit.cautions import CautionWarning
from tacit.tables import Boolean, Categorical, Numeric

RNG = np.random.default_rng(0)
X = RNG.normal(size=(6000, 3)) @ np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 0.2]])
MARGIN = X @ [1.5, -1.0, 2.0] - 0.4
Y = (MARGIN + RNG.logistic(size=len(X)) > 0).astype(int)
THREE = np.argmax(X @ RNG.normal(size=(3, 3)) + RNG.gumbel(size=(len(X), 3)), axis=1)


def model(**settings):
    return tacit.LogisticRegression(**{"classes": [0, 1], "bounds": 6.0, "random_state": 0, **settings})


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_without_noise_it_is_scikit_learns(neighbors, fit_intercept):
    plain = Plain(C=1.0, fit_intercept=fit_intercept, tol=1e-8).fit(X, Y)
    settings = {"epsilon": 1e8, "neighbors": neighbors, "fit_intercept": fit_intercept, "n_iter": 15}
    quiet = model(**settings).fit(X, Y)
    errors = 1 / np.sqrt(len(X) * 0.15 * X.var(axis=0))
    assert (np.abs(quiet.coef_ - plain.coef_) < 0.7 * errors).all()  # rows are weighed, which costs some efficiency
    if fit_intercept:
        np.testing.assert_allclose(quiet.intercept_, plain.intercept_, atol=0.03)
    else:
        np.testing.assert_array_equal(quiet.intercept_, 0.0)


def test_three_classes_without_noise():
    plain = Plain(tol=1e-8).fit(X, THREE)
    quiet = model(classes=[0, 1, 2], epsilon=1e8, n_iter=15).fit(X, THREE)
    assert np.abs(quiet.predict_proba(X) - plain.predict_proba(X)).max() < 0.05
    np.testing.assert_allclose(quiet.coef_.sum(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(quiet.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("solver", ["newton", "gradient", "accmd", "sgd", "svrg", "katyusha", "svrg++", "robust"])
def test_every_solver_classifies(solver):
    fitted = model(solver=solver, epsilon=4.0).fit(X, Y)
    best = Plain().fit(X, Y).score(X, Y)
    assert fitted.score(X, Y) > best - 0.02
    assert (solver == "newton") == (fitted._covariance is not None)


def test_weights_of_classes_move_the_intercept():
    heavy = model(class_weight={1: 3.0}, epsilon=1e8, n_iter=15).fit(X, Y)
    plain = Plain(class_weight={1: 3.0}, tol=1e-8).fit(X, Y)
    np.testing.assert_allclose(heavy.intercept_, plain.intercept_, atol=0.1)


def test_labels_are_of_any_kind_and_columns_may_be_named():
    words = np.array(["no", "yes"])[Y]
    by_array = model(classes=["yes", "no"]).fit(X, words)
    assert by_array.classes_.tolist() == ["no", "yes"]
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(bought=words)
    by_name = model(classes=["yes", "no"]).fit(frame, "bought")
    np.testing.assert_array_equal(by_name.coef_, by_array.coef_)
    assert by_name.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(by_name.predict(frame[["a", "b", "c"]]), by_array.predict(X))


@pytest.mark.parametrize("kind", ["levels", "truth"])
def test_a_schema_has_the_classes(kind):
    shop = np.array(["north", "south", "west"])[RNG.integers(0, 3, len(X))]
    labels = np.array(["no", "yes"])[Y] if kind == "levels" else Y.astype(bool)
    frame = pd.DataFrame({"a": X[:, 0], "shop": shop, "bought": labels, "b": X[:, 1]})
    target = Categorical(["no", "yes"]) if kind == "levels" else Boolean()
    schema = tacit.Schema(
        {"a": Numeric(-6, 6), "shop": Categorical(["north", "south", "west"]), "bought": target, "b": Numeric(-6, 6)}
    )
    fitted = model(classes=None, bounds=schema).fit(frame, "bought")
    assert fitted.coef_.shape == (1, 5)
    assert fitted.classes_.tolist() == (["no", "yes"] if kind == "levels" else [False, True])
    assert np.mean(fitted.predict(frame.drop(columns="bought")) == labels) > 0.6


def test_private_bounds():
    fitted = model(bounds="private", epsilon=4.0).fit(X, Y)
    assert fitted.score(X, Y) > Plain().fit(X, Y).score(X, Y) - 0.05


def test_rows_with_gaps_are_left_out():
    gaps = X.copy()
    gaps[:10, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model().fit(gaps, Y)
    assert model(missing="ignore").fit(gaps, Y).score(X, Y) > 0.6


@pytest.mark.parametrize(
    ("settings", "labels", "sentence"),
    [
        ({"classes": None}, Y, "classes is missing"),
        ({"classes": [0]}, Y, "two or more"),
        ({"classes": [0, 2]}, Y, "none of the classes"),
        ({"C": 0.0}, Y, "C must be"),
        ({"class_weight": "balanced"}, Y, "worked out from the rows"),
        ({"class_weight": {5: 1.0}}, Y, "none of the classes"),
        ({"class_weight": {1: -1.0}}, Y, "positive"),
        ({"solver": "lbfgs"}, Y, "solver must be one of"),
        ({"bounds": None}, Y, "bounds is missing"),
        ({}, None, "requires y"),
        ({"delta": 0.0}, Y, "delta is 0"),
    ],
)
def test_bad_input_is_refused_before_anything_is_charged(settings, labels, sentence, tmp_path):
    account = tacit.Ledger(tmp_path / "budget.db").create("rows", tacit.Budget(10.0, 1e-3))
    with pytest.raises(ValueError, match=sentence):
        model(ledger=account, **settings).fit(X, labels)
    assert not account.history()


def test_what_would_leak_is_not_there():
    fitted = model().fit(X, Y)
    for name in ("loss_curve_", "dual_gap_", "support_", "history_"):
        assert not hasattr(fitted, name)


def test_intervals_cover():
    """Over tables and noise: nine in ten, and no wider than they must be."""
    truth, held, lengths = np.array([1.0, -0.5, 0.25]), [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(4000, 3))
        labels = (rows @ truth + rng.logistic(size=4000) > 0).astype(int)
        fitted = model(bounds=5.0, C=np.inf, random_state=seed).fit(rows, labels)
        ends = fitted.confidence_intervals(0.9).coef[0]
        held.append((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
        lengths.append(np.abs(fitted.coef_[0] - truth) / fitted.confidence_intervals().coef_errors[0])
    assert 0.82 < np.mean(held) < 0.97
    assert 0.7 < np.sqrt(np.mean(np.square(lengths))) < 1.3


def test_intervals_are_of_newtons_method():
    with pytest.raises(ValueError, match="newton"):
        model(solver="gradient").fit(X, Y).confidence_intervals()
    with pytest.raises(ValueError, match="level"):
        model().fit(X, Y).confidence_intervals(1.0)


def test_hinge_without_noise_is_near_scikit_learns():
    from sklearn.svm import LinearSVC as PlainSVC

    plain = PlainSVC(loss="hinge", C=1.0, max_iter=20_000).fit(X, Y)
    quiet = tacit.LinearSVC(classes=[0, 1], bounds=6.0, width=0.1, epsilon=1e8, n_iter=20, random_state=0).fit(X, Y)
    assert np.mean(quiet.predict(X) == plain.predict(X)) > 0.97
    with pytest.raises(ValueError, match="two classes"):
        tacit.LinearSVC(classes=[0, 1, 2], bounds=6.0).fit(X, THREE)
    with pytest.raises(ValueError, match="width"):
        tacit.LinearSVC(classes=[0, 1], bounds=6.0, width=0.0).fit(X, Y)


def test_how_many_labels_occur_is_not_told():
    """Neither by scikit-learn, which warns of labels that hardly ever occur twice."""
    X, classes = np.zeros((40, 1)), np.arange(40.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", CautionWarning)  # So many classes are drowned in noise.
        for y in (classes, np.repeat(classes[:20], 2), np.zeros(40)):
            tacit.LogisticRegression(classes=classes, bounds=1, n_iter=1, delta=1e-3, random_state=0).fit(X, y)


def test_many_rows_are_dealt_out_and_nothing_is_lost():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(400_000, 4)) * [1.0, 1.0, 0.3, 0.3]
    slopes = np.array([1.0, -0.5, 2.0, 0.0])
    y = (rows @ slopes + 0.5 + rng.logistic(size=len(rows)) > 0).astype(int)
    dealt = model(delta=1e-7, C=np.inf).fit(rows, y)
    kinds = {step.name: type(step).__name__ for step in dealt.privacy_.plan.steps}
    assert kinds["early gradient"] == kinds["columns"] == "Split"
    assert kinds["gradient"] == "Gaussian"
    plain = Plain(C=np.inf).fit(rows, y)
    assert abs(dealt.coef_ - plain.coef_).max() < 2 * abs(plain.coef_ - slopes).max()
    secret = model(delta=1e-7, C=np.inf, neighbors="add_remove").fit(rows, y)
    assert {type(step).__name__ for step in secret.privacy_.plan.steps} == {"Gaussian"}


def test_levels_are_counted():
    rng = np.random.default_rng(4)
    town, age = rng.choice(list("abcdefghij"), 30_000), rng.normal(40, 10, 30_000)
    owns = rng.logistic(size=30_000) < np.where(town == "a", 1.5, -1.0) + (age - 40) / 10
    table = {"town": town, "age": age, "owns": owns}
    schema = tacit.Schema({"town": Categorical(list("abcdefghij")), "age": Numeric(0, 120), "owns": Boolean()})
    fitted = tacit.LogisticRegression(bounds=schema, epsilon=0.3, random_state=0).fit(table, "owns")
    assert "levels" in [step.name for step in fitted.privacy_.plan.steps]
    assert np.mean(fitted.predict(table) == owns) > 0.72
    assert fitted.coef_[0, 0] - fitted.coef_[0, 1:10].mean() == pytest.approx(2.5, abs=0.8)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_bounds_a_thousand_times_too_wide_do_not_lead_astray(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(100_000, 10))
    slopes = rng.normal(size=10) / 2
    y = (rows @ slopes + rng.logistic(size=len(rows)) > 0).astype(int)
    fitted = model(bounds=1000.0, random_state=seed).fit(rows, y)
    np.testing.assert_allclose(fitted.coef_[0], slopes, atol=0.15)


def test_more_budget_is_not_worse_for_a_rare_class_and_a_rare_input_that_goes_with_it():
    rng = np.random.default_rng(0)
    cell = rng.choice(4, p=[0.38, 0.57, 0.006, 0.044], size=100_000)
    inputs = np.column_stack([cell // 2, cell % 2]).astype(float)
    labels = (rng.random(len(cell)) < np.array([0.009, 0.0095, 0.9, 0.11])[cell]).astype(int)

    def log_loss(fit):
        scores = fit.decision_function(inputs)
        return np.mean(np.logaddexp(0.0, scores) - labels * scores)

    plain = log_loss(Plain().fit(inputs, labels))
    for epsilon, excess in ((1.0, 0.005), (10.0, 0.002), (100.0, 0.002)):
        assert log_loss(model(bounds=(0, 2), epsilon=epsilon).fit(inputs, labels)) < plain + excess

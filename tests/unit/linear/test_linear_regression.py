"""Private linear regression: near least squares, unmoved by heavy tails, with intervals that hold the truth."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn import linear_model

import tacit
from tacit.privacy import Gaussian, Plan, Split
from tacit.published import RobustDescent
from tacit.published.least_squares import least_squares_problem
from tacit.published.robust_descent import descend_robustly
from tacit.release import Curator
from tacit.sources import as_source
from tacit.tables import Categorical, Numeric, Schema

SLOPES = np.array([2.0, -1.0, 0.5])


def table(rows=20_000, seed=0, errors="normal", scale=1.0, slopes=SLOPES, correlation=0.6):
    rng = np.random.default_rng(seed)
    columns = len(slopes)
    X = rng.normal(size=(rows, columns))
    for j in range(1, columns):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    noise = rng.normal(size=rows) if errors == "normal" else rng.lognormal(0.0, 1.0, rows) - np.exp(0.5)
    return X, X @ slopes + 3.0 + scale * noise


def fit(X, y, kind=tacit.LinearRegression, *args, **options):
    options = {"epsilon": 1.0, "bounds": (-10, 10), "target_bounds": 50, "random_state": 0, **options}
    return kind(*args, **options).fit(X, y)


def test_near_least_squares():
    ratios = []
    for seed in range(6):
        X, y = table(seed=seed)
        ordinary = linear_model.LinearRegression().fit(X, y)
        model = fit(X, y, random_state=seed)
        ratios.append([np.linalg.norm(each.coef_ - SLOPES) for each in (model, ordinary)])
    private, plain = np.mean(ratios, axis=0)
    assert private < 1.4 * plain
    assert model.noise_variance_ == pytest.approx(1.0, abs=0.1)
    assert model.score(X, y) == pytest.approx(ordinary.score(X, y), abs=1e-3)
    assert model.predict(X) == pytest.approx(ordinary.predict(X), abs=0.2)


@pytest.mark.parametrize(
    ("model", "peer"),
    [
        (tacit.LinearRegression(), linear_model.LinearRegression()),
        (tacit.LinearRegression(fit_intercept=False), linear_model.LinearRegression(fit_intercept=False)),
        (tacit.Ridge(20_000.0), linear_model.Ridge(20_000.0)),
        (tacit.Lasso(0.3), linear_model.Lasso(0.3)),
        (tacit.ElasticNet(0.5, l1_ratio=0.3), linear_model.ElasticNet(0.5, l1_ratio=0.3)),
    ],
    ids=str,
)
def test_with_next_to_no_noise_it_is_not_private_regression(model, peer):
    X, y = table()
    model.set_params(epsilon=1e3, delta=0.1, bounds=(-10, 10), target_bounds=50, random_state=0)
    with pytest.warns(UserWarning, match="delta"):
        model.fit(X, y)
    peer.fit(X, y)
    assert model.coef_ == pytest.approx(peer.coef_, abs=0.05)
    assert model.intercept_ == pytest.approx(peer.intercept_, abs=0.05)


def test_least_squares_itself_with_next_to_no_noise():
    """Nearer to it than to the truth."""
    X, y = table()
    with pytest.warns(UserWarning, match="delta"):
        model = fit(X, y, epsilon=1e3, delta=0.1)
    ordinary = linear_model.LinearRegression().fit(X, y)
    assert np.linalg.norm(model.coef_ - ordinary.coef_) < 0.3 * np.linalg.norm(ordinary.coef_ - SLOPES)


def test_heavy_tailed_errors_do_less_harm_than_to_least_squares():
    private, plain, levels = [], [], []
    for seed in range(5):
        X, y = table(seed=seed, errors="lognormal")
        model = fit(X, y, random_state=seed, target_bounds=500, loss="huber")
        private.append(np.linalg.norm(model.coef_ - SLOPES))
        plain.append(np.linalg.norm(linear_model.LinearRegression().fit(X, y).coef_ - SLOPES))
        levels.append(model.intercept_ - 3.0)
    assert np.mean(private) < 0.8 * np.mean(plain)
    assert abs(np.mean(levels)) < 0.1  # where most rows lie 0.65 below their mean


def test_far_inputs_and_far_targets_hardly_matter():
    X, y = table()
    X[:100], y[:100] = 10.0, -50.0
    assert fit(X, y).coef_ == pytest.approx(SLOPES, abs=0.1)


def test_heavy_tailed_inputs():
    rng = np.random.default_rng(0)
    X = rng.standard_t(2.5, size=(20_000, 3))
    y = X @ SLOPES + rng.standard_t(2.5, size=20_000)
    assert fit(X, y, bounds=(-1000, 1000), target_bounds=5000).coef_ == pytest.approx(SLOPES, abs=0.06)


def test_a_rare_condition_has_its_coefficient():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=50_000), rng.random(50_000) < 0.02])
    y = X @ [1.0, 3.0] + rng.normal(size=50_000)
    model = fit(X, y, bounds=([-10, 0], [10, 1]))
    assert model.coef_ == pytest.approx([1.0, 3.0], abs=0.2)
    assert 0.03 < model.coef_errors_[1] < 0.15  # 0.032 without privacy


@pytest.mark.parametrize(
    ("rows", "epsilon", "errors", "correlation"),
    [(5000, 1.0, "normal", 0.0), (5000, 0.5, "normal", 0.8), (5000, 3.0, "lognormal", 0.3)],
)
@pytest.mark.parametrize(("loss", "most"), [("huber", 0.97), ("squared", 1.0)])
def test_intervals_hold_the_truth_as_often_as_they_say(rows, epsilon, errors, correlation, loss, most):
    held = []
    for seed in range(40):
        X, y = table(rows, seed, errors, correlation=correlation)
        intervals = fit(X, y, epsilon=epsilon, random_state=seed, loss=loss).confidence_intervals(0.9)
        held.append((intervals.coef[:, 0] < SLOPES) & (intervals.coef[:, 1] > SLOPES))
    assert 0.82 < np.mean(held) <= most  # 120 draws: three standard errors are 0.08


def test_intervals_that_allow_for_clipping_are_not_much_wider():
    X, y = table(50_000)
    assert (fit(X, y).coef_errors_ < 2 * fit(X, y, loss="huber").coef_errors_).all()


def test_intervals_are_about_the_estimates_and_wider_for_higher_levels():
    model = fit(*table())
    narrow, wide = model.confidence_intervals(0.5), model.confidence_intervals(0.99)
    assert narrow.coef.mean(axis=1) == pytest.approx(model.coef_)
    assert wide.intercept.mean() == pytest.approx(model.intercept_)
    assert (np.diff(wide.coef) > 3 * np.diff(narrow.coef)).all()
    assert np.diff(wide.intercept)[0] == pytest.approx(2 * 2.5758 * model.intercept_error_, rel=1e-3)


def test_more_noise_means_larger_errors():
    X, y = table(5000)
    strict, loose = fit(X, y, epsilon=0.3), fit(X, y, epsilon=3.0)
    assert (strict.coef_errors_ > 1.5 * loose.coef_errors_).all()
    assert (loose.coef_errors_ > 0.9 / np.sqrt(5000)).all()


@pytest.mark.parametrize("kind", [tacit.LinearRegression, tacit.Ridge, tacit.Lasso, tacit.ElasticNet])
def test_a_secret_number_of_rows(kind):
    X, y = table()
    options = {} if kind is tacit.LinearRegression else {"alpha": 0.01}
    model = fit(X, y, kind, neighbors="add_remove", **options)
    assert model.coef_ == pytest.approx(SLOPES, abs=0.08)
    assert model.privacy_.rows is None


def test_many_rows_are_dealt_out():
    X, y = table(200_000, slopes=np.array([2.0, -1.0]))
    model = fit(X, y)
    split = [step for step in model.privacy_.plan.steps if isinstance(step, Split)]
    whole = {step.name for step in model.privacy_.plan.steps} - {step.name for step in split}
    assert whole == {"final scores", "tails of scores", "level"}
    assert model.coef_ == pytest.approx([2.0, -1.0], abs=0.012)
    assert model.privacy_.plan.delta(1.0) <= 1e-6
    hidden = fit(X, y, neighbors="add_remove").privacy_.plan.steps
    assert not any(isinstance(step, Split) for step in hidden)


def test_few_rows_and_many_columns_do_not_blow_up():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 60))
    y = X[:, 0] + rng.normal(size=2000)
    model = fit(X, y, epsilon=0.1)
    assert np.linalg.norm(model.coef_) < 4
    assert np.isfinite(model.coef_errors_).all()


@pytest.mark.parametrize("kind", ["constant", "collinear", "rare", "wild"])
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_no_table_makes_a_fit_fail(kind, neighbors):
    """An exception that depends on rows would tell about them."""
    rng = np.random.default_rng(0)
    for rows, columns, epsilon in [(1, 1, 1.0), (7, 30, 1.0), (300, 3, 1e-4), (3000, 3, 1e3)]:
        X = rng.normal(size=(rows, columns))
        if kind == "constant":
            X[:] = 3.0
        elif kind == "collinear":
            X[:] = X[:, :1]
        elif kind == "rare":
            X = (X > 2.5).astype(float)
        else:
            X *= 10.0 ** rng.integers(-300, 300, X.shape)
        for y in (np.zeros(rows), X[:, 0], rng.standard_cauchy(rows)):
            model = fit(X, y, epsilon=epsilon, delta=1e-5, neighbors=neighbors)
            assert np.isfinite([*model.coef_, *model.coef_errors_, model.intercept_, model.noise_variance_]).all()


def test_bounds_found_privately():
    X, y = table()
    model = fit(1000 * X, y, bounds="private", target_bounds=None)
    assert 1000 * model.coef_ == pytest.approx(SLOPES, abs=0.1)


def test_rows_with_gaps_are_left_out():
    X, y = table()
    X[::10, 0] = np.nan
    assert fit(X, y, missing="ignore").coef_ == pytest.approx(SLOPES, abs=0.08)
    with pytest.raises(ValueError, match=r"missing cells|NaN"):
        fit(X, y)


def test_the_target_by_name():
    X, y = table(5000)
    frame = pd.DataFrame({"charge": y, "age": X[:, 0], "dose": X[:, 1], "weight": X[:, 2]})
    by_name, by_array = fit(frame, "charge"), fit(X, y)
    assert by_name.feature_names_in_.tolist() == ["age", "dose", "weight"]
    assert (by_name.coef_ == by_array.coef_).all()
    schema = Schema({"charge": Numeric(-50, 50), **{name: Numeric(-10, 10) for name in ("age", "dose", "weight")}})
    by_schema = fit(frame, "charge", bounds=schema, target_bounds=None)
    assert by_schema.coef_ == pytest.approx(by_array.coef_)
    assert by_schema.predict(frame) == pytest.approx(by_array.predict(X))


def test_units_do_not_matter():
    X, y = table(5000)
    units = np.array([1e3, 1e-3, 1.0])
    model = fit(X * units, 1e6 * y, bounds=(-10 * units, 10 * units), target_bounds=5e7)
    plain = fit(X, y)
    assert model.coef_ * units / 1e6 == pytest.approx(plain.coef_)
    assert model.coef_errors_ * units / 1e6 == pytest.approx(plain.coef_errors_)


@pytest.mark.parametrize("kind", [tacit.LinearRegression, tacit.Ridge, tacit.Lasso, tacit.ElasticNet])
def test_regressions_made_of_moments(kind):
    X, y = table()
    frame = pd.DataFrame({"charge": y, "age": X[:, 0], "dose": X[:, 1], "weight": X[:, 2]})
    low, high = [-50, -10, -10, -10], [50, 10, 10, 10]
    moments = tacit.Moments(bounds=(low, high), random_state=0).fit(frame)
    model = kind.from_moments(moments, "charge", **({} if kind is tacit.LinearRegression else {"alpha": 0.01}))
    assert model.coef_ == pytest.approx(SLOPES, abs=0.15)
    assert model.intercept_ == pytest.approx(3.0, abs=0.15)
    assert model.privacy_.plan == moments.privacy_.plan
    assert "no further cost" in model.privacy_.notes[0]
    assert model.feature_names_in_.tolist() == ["age", "dose", "weight"]
    assert model.predict(frame[["age", "dose", "weight"]]) == pytest.approx(X @ model.coef_ + model.intercept_)
    assert kind.from_moments(moments, 0).coef_ == pytest.approx(kind.from_moments(moments, "charge").coef_)


def test_moments_through_the_origin():
    X, y = table()
    moments = tacit.Moments(bounds=(-50, 50), random_state=0).fit(np.column_stack([X, y - 3.0]))
    model = tacit.LinearRegression.from_moments(moments, fit_intercept=False)
    assert model.coef_ == pytest.approx(SLOPES, abs=0.15)
    assert model.intercept_ == 0.0


def test_what_moments_cannot_do_is_said():
    X, y = table(500)
    moments = tacit.Moments(bounds=(-50, 50), random_state=0).fit(np.column_stack([X, y]))
    for target, words in (("charge", "no column of that name"), (4, "must be a column's name or place")):
        with pytest.raises(ValueError, match=words):
            tacit.Ridge.from_moments(moments, target)
    with pytest.raises(TypeError, match="fitted tacit"):
        tacit.Ridge.from_moments(X)
    with pytest.raises(ValueError, match="standard errors"):
        tacit.LinearRegression.from_moments(moments).confidence_intervals()


def test_published_robust_descent():
    """Near the truth where noise is small; its scale makes noise large where it is not."""
    X, y = table(50_000, errors="lognormal", slopes=np.array([0.6, -0.8]), correlation=0.0)
    robust = {"method": RobustDescent(moment_bound=6.0), "bounds": None, "target_bounds": None}
    rough = fit(X, y, **robust)
    assert rough.coef_ == pytest.approx([0.6, -0.8], abs=0.25)
    assert rough.n_iter_ == 50
    assert not hasattr(rough, "coef_errors_")
    default = fit(X, y)
    errors = [np.linalg.norm(model.coef_ - [0.6, -0.8]) for model in (default, rough)]
    assert errors[0] < 0.5 * errors[1]
    secret = fit(X, y, **robust, neighbors="add_remove", fit_intercept=False)
    assert secret.coef_ == pytest.approx([0.6, -0.8], abs=0.3)
    assert secret.intercept_ == 0.0


def test_samples_make_robust_descent_better():
    """The scale is that of a sample, so that there is less noise; batches are rows or a share of them."""
    X, y = table(50_000, errors="lognormal", slopes=np.array([0.6, -0.8]), correlation=0.0)
    known = {"bounds": None, "target_bounds": None, "epsilon": 0.3}
    share = RobustDescent(moment_bound=6.0, batch_size=0.01, n_iter=100)
    rows = replace(share, batch_size=500)
    whole = fit(X, y, method=RobustDescent(moment_bound=6.0), **known)
    some, same = (fit(X, y, method=method, **known) for method in (rows, share))
    assert np.array_equal(some.coef_, same.coef_)
    errors = [np.linalg.norm(model.coef_ - [0.6, -0.8]) for model in (some, whole)]
    assert errors[0] < 0.5 * errors[1]
    secret = fit(X, y, method=share, **known, neighbors="add_remove")
    assert secret.coef_ == pytest.approx([0.6, -0.8], abs=0.3)
    with pytest.raises(ValueError, match="is secret here"):
        fit(X, y, method=rows, **known, neighbors="add_remove")


def test_robust_descent_takes_a_ridge():
    """Of squared error and ridge the minimum is known."""
    X, y = table(40_000, slopes=np.array([0.6, -0.8]), correlation=0.0)
    ridge = np.diag([0.0, 3.0, 3.0])
    problem = replace(least_squares_problem(2, 40_000, True), ridge=ridge)
    plan = Plan((Gaussian("gradient", 1.0, 60, 3),))  # next to no noise
    curator = Curator(as_source(np.column_stack([X, y])), plan, random_state=0)
    options = {"moment_bound": 10.0, "learning_rate": 0.3, "sampling_rate": 1.0}
    found = descend_robustly(problem, curator, 60, **options).coefficients
    inputs = np.column_stack([np.ones(40_000), X])
    best = np.linalg.solve(inputs.T @ inputs / 40_000 + ridge, inputs.T @ y / 40_000)
    assert found[0] == pytest.approx(best, abs=0.05)


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        (tacit.LinearRegression, {"method": "best"}, "method must be"),
        (tacit.LinearRegression, {"delta": 0.0}, "needs a delta above 0"),
        (tacit.LinearRegression, {"target_bounds": None}, "both needed"),
        (tacit.Ridge, {"alpha": -1.0}, "alpha must be"),
        (tacit.Lasso, {"alpha": "much"}, "alpha must be"),
        (tacit.ElasticNet, {"l1_ratio": 1.5}, "0 to 1"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_and_nothing_charged(kind, options, words, tmp_path):
    account = tacit.Ledger(tmp_path / "budget.db").create("rows", tacit.Budget(10.0, 1e-3))
    with pytest.raises(ValueError, match=words):
        fit(*table(200), kind, ledger=account, **options)
    assert account.spent().epsilon == 0.0
    fit(*table(200), kind, ledger=account)
    assert len(account.history()) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_iter": 0}, "n_iter must be"),
        ({"learning_rate": -1.0}, "learning_rate must be"),
        ({"moment_bound": 0}, "must be a positive number"),
        ({"batch_size": 1.5}, "batch_size must be"),
        ({"batch_size": 0}, "batch_size must be"),
    ],
    ids=str,
)
def test_options_of_robust_descent_are_checked(options, words):
    with pytest.raises(ValueError, match=words):
        RobustDescent(**options)


def test_levels_of_intervals_are_checked():
    model = fit(*table(500))
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.confidence_intervals(90)


def test_coefficients_of_levels_are_from_their_average():
    """What they have in common cannot be told from the intercept; errors are those of what can be told."""
    rng = np.random.default_rng(0)
    plan = rng.choice(["a", "b", "c"], 4000, p=[0.5, 0.3, 0.2])
    y = np.select([plan == "a", plan == "b"], [2.0, 1.0], 0.0) + rng.normal(size=4000)
    schema = tacit.Schema({"plan": Categorical(["a", "b", "c"]), "y": Numeric(-10, 10)})
    model = tacit.LinearRegression(epsilon=5.0, bounds=schema, random_state=0).fit({"plan": plan, "y": y}, "y")
    assert model.coef_.sum() == pytest.approx(0.0, abs=1e-6)
    assert model.coef_ == pytest.approx([1.0, 0.0, -1.0], abs=0.15)
    assert model.intercept_ == pytest.approx(1.0, abs=0.15)
    assert (model.coef_errors_ < 0.1).all()
    assert model.predict({"plan": ["a", "c"]}) == pytest.approx([2.0, 0.0], abs=0.15)

"""Published regressions for heavy tails, corrected: they work where they can, and say so where they cannot."""

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.privacy import PlanError
from tacit.published import BlockMean, SampleAggregate, TrimmedDescent
from tacit.storage import load_model, save_model

SLOPES = np.array([0.6, -0.8])


def table(rows=40_000, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 2))
    return X, X @ SLOPES + 0.5 + spread * rng.standard_t(3, rows)


def fit(X, y, **options):
    return tacit.LinearRegression(**{"epsilon": 1.0, "random_state": 0, **options}).fit(X, y)


def error(model):
    return np.linalg.norm(model.coef_ - SLOPES)


def test_trimmed_descent():
    X, y = table()
    model = fit(X, y, method=TrimmedDescent(gradient_bounds=2.0))
    assert error(model) < 0.08
    assert model.intercept_ == pytest.approx(0.5, abs=0.08)
    assert model.n_iter_ == 10
    assert not hasattr(model, "coef_errors_")
    assert "TrimmedDescent(gradient_bounds=2.0, learning_rate=0.5, n_iter=10)" in model.privacy_.notes[0]
    assert "log-normal" in model.privacy_.text()
    assert model.privacy_.plan.epsilon(1e-6) <= 1.0
    wide = fit(X, y, method=TrimmedDescent(gradient_bounds=(-200.0, 100.0)))
    assert error(wide) < 0.08  # the range may be coarse
    none = fit(X, y, method=TrimmedDescent(gradient_bounds=2.0), fit_intercept=False, epsilon=0.3)
    assert none.intercept_ == 0.0


def test_trimming_needs_rows():
    """With few of them nothing but noise is left, and coefficients stay where steps within the range can take them."""
    X, y = table(300)
    model = fit(X, y, method=TrimmedDescent(gradient_bounds=1.0), epsilon=0.1)
    assert np.abs(model.coef_).max() <= 5.0


def test_mean_of_blocks():
    X, y = table()
    assert error(fit(X, y, method=BlockMean(coef_bound=5.0))) < 0.05
    assert error(fit(X, y, method=BlockMean(coef_bound=50.0))) < 0.3


def test_centre_of_blocks():
    """It takes many rows, or small errors."""
    X, y = table(spread=0.02)
    model = fit(X, y, method=SampleAggregate(coef_bound=3.0), epsilon=4.0)
    assert error(model) < 0.5
    lost = fit(*table(), method=SampleAggregate(coef_bound=3.0))
    assert np.linalg.norm([*lost.coef_, lost.intercept_]) <= 3.0 + 1e-9


@pytest.mark.parametrize("method", [TrimmedDescent(gradient_bounds=(-2.0, 2.0)), BlockMean(coef_bound=5.0)], ids=str)
def test_files_are_as_good_as_memory(method, tmp_path):
    X, y = table(20_000)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})
    frame.to_parquet(tmp_path / "rows.parquet")
    inside, file = fit(X, y, method=method), fit(str(tmp_path / "rows.parquet"), "y", method=method)
    np.testing.assert_array_equal(inside.coef_, file.coef_)
    save_model(file, tmp_path / "model.tacit")
    loaded = load_model(tmp_path / "model.tacit")
    np.testing.assert_array_equal(loaded.coef_, file.coef_)
    assert loaded.method == method


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "trimmed"}, r"method=tacit\.published\.TrimmedDescent\(gradient_bounds=2\.0\)"),
        ({"method": "block_mean"}, r"method=tacit\.published\.BlockMean\(coef_bound=10\.0\)"),
        ({"method": TrimmedDescent(gradient_bounds=1.0), "neighbors": "add_remove"}, "public number of rows"),
        ({"method": BlockMean(coef_bound=1.0), "missing": "ignore"}, "all of them complete"),
        ({"method": SampleAggregate(coef_bound=1.0)}, "too few rows for its budget"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_and_nothing_charged(options, words, tmp_path):
    account = tacit.Ledger(tmp_path / "budget.db").create("rows", tacit.Budget(10.0, 1e-3))
    with pytest.raises((ValueError, PlanError), match=words):
        fit(*table(200), ledger=account, **options)
    assert account.spent().epsilon == 0.0
    assert not account.history()


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        (TrimmedDescent, {"gradient_bounds": 0.0}, "needs gradient_bounds"),
        (TrimmedDescent, {"gradient_bounds": "wide"}, "needs gradient_bounds"),
        (TrimmedDescent, {"gradient_bounds": 1.0, "n_iter": 0}, "n_iter must be"),
        (SampleAggregate, {"coef_bound": -1.0}, "coef_bound must be"),
        (BlockMean, {"coef_bound": 0.0}, "must be a positive number"),
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused_at_once(kind, options, words):
    with pytest.raises(ValueError, match=words):
        kind(**options)


def test_options_of_earlier_versions_are_refused_with_what_to_write_now():
    with pytest.raises(TypeError, match=r"no parameter coef_bound\. Write method=tacit\.published\.SampleAggregate"):
        tacit.LinearRegression(method="block_mean", coef_bound=3.0)


def test_smooth_releases_are_charged_to_a_ledger(tmp_path):
    account = tacit.Ledger(tmp_path / "budget.db").create("rows", tacit.Budget(3.0, 1e-5))
    fit(*table(5000), ledger=account, method=TrimmedDescent(gradient_bounds=2.0))
    fit(*table(20_000), ledger=account, method=SampleAggregate(coef_bound=2.0))
    assert 1.0 < account.spent().epsilon <= 2.0

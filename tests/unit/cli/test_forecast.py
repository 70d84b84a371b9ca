"""Forecasts tell what happens: they agree with a fit of such a table, and get better with budget and rows."""

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.cli.forecast import forecast
from tacit.models.trials.mixture import mixture_errors
from tacit.models.trials.simulation import Setting, mixture_rows, ordinary_mixture, random_factors, random_mixture
from tacit.tables import Boolean, Categorical, Integer, Numeric

NUMBERS = Setting.of(None, 3)
MIXED = tacit.Schema(
    {"age": Integer(0, 120), "income": Numeric(0, 500), "smoker": Boolean(), "region": Categorical(["n", "s", "w"])}
)


@pytest.fixture(scope="module")
def expected():
    return forecast("mixture", NUMBERS, 4000, 3, [0.2, 1.0, 5.0], tables=2)


def test_more_budget_means_less_error(expected):
    for name in ("gap", "worst_gap", "mean_error", "weight_error"):
        values = [each.figures[name] for each in expected]
        assert values[0] > values[2], name
    assert expected[-1].figures["found"] == 3
    noises = [each.plan.steps[0].noise_multiplier for each in expected]
    assert noises == sorted(noises, reverse=True)


def test_with_a_great_budget_privacy_costs_next_to_nothing(expected):
    assert expected[-1].figures["gap"] < 0.05
    assert expected[-1].figures["mean_error"] < 0.1
    assert expected[-1].figures["weight_error"] < 0.02
    assert "level_error" not in expected[-1].figures


def test_plans_are_those_of_the_fit(expected):
    for each in expected:
        assert each.plan.epsilon(1e-6) == pytest.approx(each.epsilon, rel=1e-3)


@pytest.mark.parametrize(
    ("kind", "size", "figure", "least"),
    [
        ("mixture", 2, "gap", 0.1),
        ("kmeans", 3, "excess", 0.05),
        ("factors", 1, "gap", 0.1),
        ("moments", None, None, 0.1),
    ],
)
def test_tables_of_a_schemas_kinds(kind, size, figure, least):
    low, high = forecast(kind, Setting.of(MIXED, 4), 4000, size, [0.1, 20.0], tables=1)
    name = figure or "correlation_error"
    assert -0.01 < high.figures[name] < least
    assert high.figures[name] < low.figures[name]
    if kind == "mixture":
        assert high.figures["found"] == 2
        assert high.figures["level_error"] < 0.03


def test_the_plan_of_a_schema_is_that_of_a_fit_with_it():
    """A table of levels is fitted as a table of levels, not as one of numbers."""
    setting = Setting.of(MIXED, 4)
    (each,) = forecast("mixture", setting, 500, 2, [1.0], tables=1)
    rng = np.random.default_rng(0)
    rows, _ = setting.table(mixture_rows(random_mixture(2, "full", setting.domain, rng), 500, rng)[0])
    assert isinstance(rows, pa.Table)
    assert rows.schema.types == [pa.int64(), pa.float64(), pa.bool_(), pa.string()]
    assert each.plan == tacit.GaussianMixture(2, bounds=MIXED, random_state=0).fit(rows).privacy_.plan


def test_the_same_seed_gives_the_same_figures():
    one = Setting.of(None, 2)
    first, second, other = (
        forecast("mixture", one, 500, 2, [1.0], tables=1, seed=seed)[0].figures["gap"] for seed in (3, 3, 4)
    )
    assert first == second != other


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_simulated_mixtures_have_the_shape_that_is_fitted(kind):
    rng = np.random.default_rng(0)
    setting = Setting.of(None, 4)
    truth = random_mixture(3, kind, setting.domain, rng)
    X, encoded = setting.table(mixture_rows(truth, 20_000, rng)[0])
    assert abs(X).max() <= 1
    ordinary = ordinary_mixture(truth, encoded, kind, setting.domain.least_variances)
    np.testing.assert_allclose(ordinary.weights, truth.weights, atol=0.02)
    deviations = np.sqrt(np.einsum("kii->ki", truth.covariances))
    assert (np.abs(ordinary.means - truth.means) < 0.2 * deviations + 0.02).all()
    off = ordinary.covariances[:, 0, 1]
    assert (off == 0).all() == (kind in ("diag", "spherical"))
    assert np.array_equal(ordinary.covariances[0], ordinary.covariances[1]) == (kind == "tied")


def test_the_ordinary_fit_is_scikit_learns():
    from sklearn.mixture import GaussianMixture

    rng = np.random.default_rng(1)
    truth = random_mixture(3, "full", NUMBERS.domain, rng)
    X, _ = mixture_rows(truth, 5000, rng)
    ours = ordinary_mixture(truth, X, "full", np.zeros(3))
    theirs = GaussianMixture(
        3, weights_init=truth.weights, means_init=truth.means, precisions_init=np.linalg.inv(truth.covariances)
    ).fit(X)
    np.testing.assert_allclose(ours.means, theirs.means_, atol=5e-3)
    np.testing.assert_allclose(ours.covariances, theirs.covariances_, atol=2e-3)


def test_the_ordinary_fit_finds_levels():
    rng = np.random.default_rng(2)
    setting = Setting.of(MIXED, 4)
    truth = random_mixture(2, "full", setting.domain, rng)
    _, encoded = setting.table(mixture_rows(truth, 20_000, rng)[0])
    ordinary = ordinary_mixture(truth, encoded, "full", setting.domain.least_variances[:2])
    np.testing.assert_allclose(ordinary.probabilities, truth.probabilities, atol=0.02)


def test_simulated_factors_have_something_in_common():
    rng = np.random.default_rng(0)
    truth = random_factors(2, 6, rng)
    shared = (truth.loadings**2).sum(axis=1) / np.diag(truth.covariance())
    assert ((shared > 0.3) & (shared < 0.95)).all()


def test_errors_do_not_depend_on_the_order_of_components():
    rng = np.random.default_rng(1)
    setting = Setting.of(MIXED, 4)
    truth = random_mixture(3, "full", setting.domain, rng)

    class Turned:
        _mixture = truth.take(np.array([2, 0, 1]), truth.weights[[2, 0, 1]])

    errors = mixture_errors(truth, Turned, np.sqrt(np.einsum("kii->ki", truth.covariances)))
    assert errors == {"mean_error": 0.0, "level_error": 0.0, "weight_error": 0.0, "found": 3.0}


@pytest.mark.parametrize("schema", [None, tacit.Schema({"a": Boolean()}), tacit.Schema({"a": Categorical(["x", "y"])})])
@pytest.mark.parametrize("kind", ["mixture", "kmeans", "factors", "moments"])
def test_one_part_and_one_column_will_do(kind, schema):
    (each,) = forecast(kind, Setting.of(schema, 1), 300, None if kind == "moments" else 1, [1.0], tables=1)
    assert np.isfinite(list(each.figures.values())).all()


@pytest.mark.parametrize("setting", [Setting.of(None, 4), Setting.of(MIXED, 4, "income")], ids=["numbers", "schema"])
def test_regressions_are_forecast(setting):
    low, high = forecast("regressions", setting, 8000, 2, [0.05, 10.0], tables=2)
    assert -0.01 < high.figures["gap"] < 0.1
    assert high.figures["gap"] < low.figures["gap"]
    assert high.figures["prediction_error"] < 0.6 * low.figures["prediction_error"]
    assert high.figures["found"] == 2
    assert high.plan.epsilon(1e-6) == pytest.approx(10.0, rel=1e-3)


def test_one_regression_is_forecast_nearly_exactly():
    [found] = forecast("regressions", Setting.of(None, 3), 20_000, 1, [2.0], tables=1)
    assert abs(found.figures["gap"]) < 1e-3
    assert found.figures["prediction_error"] < 0.05
    with pytest.raises(ValueError, match="2 columns or more"):
        forecast("regressions", Setting.of(None, 1), 100, 1, [1.0])


@pytest.mark.parametrize("setting", [Setting.of(None, 4), Setting.of(MIXED, 4, "income")], ids=["numbers", "schema"])
@pytest.mark.parametrize("kind", ["linear", "huber"])
def test_lines_are_forecast(kind, setting):
    low, high = forecast(kind, setting, 8000, None, [0.05, 10.0], tables=2)
    assert high.figures["prediction_error"] < 0.6 * low.figures["prediction_error"]
    assert -0.001 < high.figures["explained_lost"] < 0.02


@pytest.mark.parametrize("target", [None, "smoker", "region"])
@pytest.mark.parametrize("kind", ["logistic", "svc"])
def test_classes_are_forecast(kind, target):
    setting = Setting.of(None, 4) if target is None else Setting.of(MIXED, 4, target)
    if (kind, target) == ("svc", "region"):
        with pytest.raises(ValueError, match="two classes"):
            forecast(kind, setting, 1000, None, [1.0])
        return
    low, high = forecast(kind, setting, 8000, None, [0.05, 10.0], tables=2)
    assert abs(high.figures["accuracy_lost"]) < 0.02
    assert high.figures["accuracy_lost"] < low.figures["accuracy_lost"]
    if kind == "logistic":
        assert -0.01 < high.figures["log_loss"] < 0.02
        assert high.figures["log_loss"] < low.figures["log_loss"]

"""Linear regression of tables with categories: near least squares, with intervals, whatever the errors."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.linear_model import LinearRegression as Plain

import tacit
from tacit.linear.newton_regression import best_threshold
from tacit.statistics.losses import HuberLoss
from tacit.tables import Boolean, Categorical, Numeric, Schema

LEVELS = (3, 5, 12)
SCHEMA = Schema(
    {f"c{count}": Categorical([f"level {each}" for each in range(count)]) for count in LEVELS}
    | {"member": Boolean(), "age": Numeric(0, 110), "y": Numeric(-60, 60)}
)


def table(rows, seed=0, errors="normal"):
    """Return a table and its coefficients: of levels they add up to zero."""
    law, rng = np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2, rows])
    columns, y, truth = {}, np.zeros(rows), []
    for count in LEVELS:
        effects = law.normal(size=count)
        effects -= effects.mean()
        places = rng.choice(count, rows, p=law.dirichlet(np.full(count, 2.0)))
        columns[f"c{count}"] = np.array([f"level {each}" for each in range(count)])[places]
        y += effects[places]
        truth.extend(effects)
    columns["member"] = rng.random(rows) < 0.3
    columns["age"] = rng.normal(50, 15, rows).clip(0, 110)
    y += 0.5 * np.where(columns["member"], 1, -1) + 0.05 * columns["age"]
    noise = rng.normal(size=rows) if errors == "normal" else rng.lognormal(size=rows)
    return pd.DataFrame(columns | {"y": y + noise}), np.array([*truth, 0.5, 0.05])


def encoded(rows):
    return SCHEMA.encode(rows)[:, : SCHEMA.slices["y"].start]


def left(model, rows):
    """Return the share of the target's variance that is left."""
    return float(np.mean((model.predict(rows) - rows["y"]) ** 2) / rows["y"].var())


@pytest.mark.parametrize(
    ("neighbors", "rows"), [("replace_one", 20_000), ("add_remove", 20_000), ("replace_one", 240_000)]
)
def test_coefficients_are_near_those_of_least_squares(neighbors, rows):
    people, truth = table(rows)
    test, _ = table(5_000 + 1)
    model = tacit.LinearRegression(bounds=SCHEMA, neighbors=neighbors, random_state=0).fit(people, "y")
    plain = Plain().fit(encoded(people), people["y"])
    best = np.mean((plain.predict(encoded(test)) - test["y"]) ** 2) / test["y"].var()
    assert left(model, test) < 1.03 * best
    assert np.median(np.abs(model.coef_ - truth)) < 0.05  # some levels are rare
    assert model.noise_variance_ == pytest.approx(1.0, rel=0.35)
    assert "Newton steps" in model.privacy_.notes[0]


@pytest.mark.parametrize("seed", range(3))
def test_where_there_is_little_budget_noise_is_not_taken_for_effects(seed):
    people, _ = table(5_000, seed)
    test, _ = table(5_001, seed)
    assert left(tacit.LinearRegression(epsilon=0.2, bounds=SCHEMA, random_state=seed).fit(people, "y"), test) < 0.75


@pytest.mark.parametrize(("rows", "epsilon"), [(5_000, 0.3), (20_000, 1.0)])
def test_intervals_hold_the_truth(rows, epsilon):
    held, off = [], []
    for seed in range(8):
        people, truth = table(rows, seed)
        model = tacit.LinearRegression(epsilon=epsilon, bounds=SCHEMA, random_state=seed).fit(people, "y")
        low, high = model.confidence_intervals(0.9).coef.T
        held.append((low <= truth) & (truth <= high))
        off.append((model.coef_ - truth) / model.coef_errors_)
    assert np.mean(held) > 0.85
    assert 0.5 < np.sqrt(np.mean(np.square(off))) < 1.2  # and they are no wider than need be


@pytest.mark.parametrize("target", ["y", "high"])
def test_slopes_of_levels_that_are_hardly_there_are_not_said_to_be_known(target):
    rng = np.random.default_rng(0)
    names = [f"level {each}" for each in range(30)]
    places = np.where(rng.random(20_000) < 0.99, 0, rng.integers(1, 30, 20_000))  # all but one have 7 rows each
    y = rng.normal(size=30)[places] + rng.normal(size=20_000)
    kinds = {"y": Numeric(-20, 20), "high": Boolean()}
    people = pd.DataFrame({"c": np.array(names)[places], "y": y, "high": y > 0})[["c", target]]
    kind = {"y": tacit.LinearRegression, "high": tacit.LogisticRegression}[target]
    model = kind(bounds=Schema({"c": Categorical(names), target: kinds[target]}), random_state=0).fit(people, target)
    low, high = np.squeeze(model.confidence_intervals(0.9).coef).T
    assert np.median((high - low)[1:]) > 2 * 1.64 * 0.35  # if noise were nothing, 1 / sqrt(7) for the first


def test_the_level_is_right_where_errors_are_skewed():
    people, truth = table(50_000, errors="skewed")
    model = tacit.LinearRegression(bounds=SCHEMA, random_state=0).fit(people, "y")
    assert model.predict(people).mean() == pytest.approx(people["y"].mean(), abs=0.05)
    assert np.median(np.abs(model.coef_ - truth)) < 0.05


def test_without_an_intercept_predictions_are_zero_where_inputs_are():
    people, _ = table(20_000)
    test, _ = table(5_001)
    model = tacit.LinearRegression(fit_intercept=False, bounds=SCHEMA, random_state=0).fit(people, "y")
    assert model.intercept_ == 0.0
    plain = Plain(fit_intercept=False).fit(encoded(people), people["y"])
    best = np.mean((plain.predict(encoded(test)) - test["y"]) ** 2) / test["y"].var()
    assert left(model, test) < 1.1 * best


def test_penalties_on_levels():
    people, _ = table(20_000)
    loose, tight = (tacit.Lasso(alpha, bounds=SCHEMA, random_state=0).fit(people, "y") for alpha in (0.001, 0.2))
    assert np.count_nonzero(tight.coef_) < np.count_nonzero(loose.coef_)
    lengths = [
        np.linalg.norm(tacit.Ridge(alpha, bounds=SCHEMA, random_state=0).fit(people, "y").coef_[:20])
        for alpha in (1.0, 1e5)
    ]
    assert lengths[1] < 0.5 * lengths[0]


@pytest.mark.parametrize("threshold", [0.7, 1.35, 3.0])
def test_what_huber_s_loss_expects_of_normal_residuals(threshold):
    loss = HuberLoss(threshold)
    assert loss.within == pytest.approx(norm.cdf(threshold) - norm.cdf(-threshold))
    expected = quad(lambda e: min(e * e, threshold**2) * norm.pdf(e), -12, 12, points=[-threshold, threshold])[0]
    assert loss.square == pytest.approx(expected)


def test_the_less_noise_the_farther_out_residuals_count():
    found = [best_threshold(noise) for noise in (10.0, 1.0, 0.3, 0.1, 0.01, 0.0)]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (0.7, 6.0)

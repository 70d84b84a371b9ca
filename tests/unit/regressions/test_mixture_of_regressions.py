"""Mixtures of regressions: near the non-private fit, in the units of the table, and refused in sentences."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.linear_model import LinearRegression

import tacit
from tacit.regressions.regression_moments import longest_directions
from tacit.regressions.regressions import Regressions
from tacit.statistics import ComponentMoments, RegressionScores
from tacit.tables import Numeric, Schema


def groups(rows=20_000, slopes=((2.0, 0.0), (-1.0, 0.5)), intercepts=(1.0, -1.0), weights=(0.6, 0.4), seed=0):
    rng = np.random.default_rng(seed)
    slopes, intercepts = np.array(slopes), np.array(intercepts)
    X = rng.normal(size=(rows, slopes.shape[1])) @ np.array([[1.0, 0.6], [0.0, 0.8]])[: slopes.shape[1]] + 1.0
    group = rng.choice(len(slopes), rows, p=weights)
    y = intercepts[group] + np.einsum("nd,nd->n", X, slopes[group]) + rng.normal(0.0, 0.3, rows)
    return X, y


def opposite(rows=20_000, columns=10, seed=0, noise=1 / 3):
    """The papers' setting: coefficients +-b of length 1, standard normal inputs."""
    rng = np.random.default_rng(seed)
    b = rng.normal(size=columns)
    b /= np.linalg.norm(b)
    X = rng.normal(size=(rows, columns))
    return X, rng.choice([-1.0, 1.0], rows) * (X @ b) + noise * rng.normal(size=rows), b


def plain_em(X, y, b, noise, iterations=100):
    """EM without privacy for coefficients +-b, started at the truth."""
    gram = X.T @ X
    for _ in range(iterations):
        b = np.linalg.solve(gram, X.T @ (np.tanh(y * (X @ b) / noise**2) * y))
    return b


def fit(X, y, **options):
    options = {"n_components": 2, "epsilon": 1.0, "bounds": 10, "target_bounds": 20, "random_state": 0, **options}
    return tacit.MixtureOfRegressions(**options).fit(X, y)


def distance(found, truth):
    """Root mean squared distance of coefficients, in the best order."""
    orders = itertools.permutations(range(len(truth)))
    return min(math.sqrt(np.mean(np.sum((found[list(order)] - truth) ** 2, axis=1))) for order in orders)


def test_two_groups_are_found_with_intercepts_weights_and_scales():
    model = fit(*groups())
    assert model.coef_ == pytest.approx(np.array([[2.0, 0.0], [-1.0, 0.5]]), abs=0.05)
    assert model.intercept_ == pytest.approx([1.0, -1.0], abs=0.05)
    assert model.weights_ == pytest.approx([0.6, 0.4], abs=0.02)
    assert model.scales_ == pytest.approx([0.3, 0.3], abs=0.03)


@pytest.mark.parametrize(("epsilon", "most"), [(0.5, 2.5), (1.0, 1.8)])
def test_near_the_non_private_fit_without_a_start(epsilon, most):
    private, ordinary = [], []
    for seed in range(4):
        X, y, b = opposite(seed=seed)
        model = fit(X, y, symmetric=True, epsilon=epsilon, delta=1 / 40_000, bounds=6, target_bounds=6)
        private.append(distance(model.coef_, np.stack([b, -b])))
        ordinary.append(np.linalg.norm(plain_em(X, y, b, 1 / 3) - b))
    assert np.mean(private) < most * np.mean(ordinary)


def test_with_next_to_no_noise_it_is_ordinary_em():
    X, y, b = opposite(rows=6000, columns=3)
    model = fit(X, y, symmetric=True, epsilon=1e3, delta=0.1, bounds=6, target_bounds=6, n_iter=25)
    ordinary = plain_em(X, y, b, 1 / 3)
    assert distance(model.coef_, np.stack([ordinary, -ordinary])) < 0.3 * np.linalg.norm(ordinary - b) + 0.003


def test_one_component_is_linear_regression():
    X, y = groups(slopes=((2.0, -0.5),), intercepts=(3.0,), weights=(1.0,))
    model, ordinary = fit(X, y, n_components=1), LinearRegression().fit(X, y)
    assert model.coef_[0] == pytest.approx(ordinary.coef_, abs=0.02)
    assert model.intercept_[0] == pytest.approx(ordinary.intercept_, abs=0.03)
    assert model.predict(X) == pytest.approx(ordinary.predict(X), abs=0.15)


def test_outliers_hardly_matter():
    X, y = groups(slopes=((2.0, -0.5),), intercepts=(3.0,), weights=(1.0,))
    y[:200] = 20.0
    assert fit(X, y, n_components=1).coef_[0] == pytest.approx([2.0, -0.5], abs=0.05)


def test_three_groups():
    truth = np.array([[1.5, 0.0], [-1.0, 1.0], [0.0, -1.5]])
    X, y = groups(40_000, truth, (0.0, 1.0, -1.0), (0.5, 0.3, 0.2))
    assert distance(fit(X, y, n_components=3).coef_, truth) < 0.06


def test_a_secret_number_of_rows():
    model = fit(*groups(), neighbors="add_remove")
    assert model.coef_ == pytest.approx(np.array([[2.0, 0.0], [-1.0, 0.5]]), abs=0.06)


def test_through_the_origin():
    X, y = groups(intercepts=(0.0, 0.0))
    model = fit(X, y, fit_intercept=False, bounds=(-5, 15), target_bounds=(-10, 30))
    assert model.intercept_ == pytest.approx([0.0, 0.0], abs=1e-9)
    assert model.coef_ == pytest.approx(np.array([[2.0, 0.0], [-1.0, 0.5]]), abs=0.06)


def test_the_target_by_name():
    X, y = groups()
    frame = pd.DataFrame({"charge": y, "age": X[:, 0], "dose": X[:, 1]})
    by_name, by_array = fit(frame, "charge"), fit(X, y)
    assert by_name.feature_names_in_.tolist() == ["age", "dose"]
    assert (by_name.coef_ == by_array.coef_).all()
    schema = Schema({"age": Numeric(-10, 10), "charge": Numeric(-20, 20), "dose": Numeric(-10, 10)})
    by_schema = fit(frame, "charge", bounds=schema, target_bounds=None)
    assert by_schema.coef_ == pytest.approx(by_array.coef_)
    assert by_schema.predict(frame) == pytest.approx(by_array.predict(X))
    assert "charge" in str(by_schema.privacy_.bounds)


def test_files(tmp_path):
    X, y = groups()
    pd.DataFrame({"age": X[:, 0], "dose": X[:, 1], "charge": y}).to_csv(tmp_path / "table.csv", index=False)
    assert fit(tmp_path / "table.csv", "charge").coef_ == pytest.approx(fit(X, y).coef_)


def test_probabilities_and_densities_are_those_of_the_published_parameters():
    X, y = groups(500)
    model = fit(X, y, epsilon=5.0)
    means = model.intercept_ + X @ model.coef_.T
    joint = model.weights_ * norm.pdf(y[:, None], means, model.scales_)
    assert model.predict_components(X) == pytest.approx(means)
    assert model.predict(X) == pytest.approx(means @ model.weights_)
    assert model.predict_proba(X, y) == pytest.approx(joint / joint.sum(axis=1, keepdims=True))
    assert model.predict_proba(X) == pytest.approx(np.tile(model.weights_, (500, 1)))
    assert model.log_density(X, y) == pytest.approx(np.log(joint.sum(axis=1)))
    assert model.score(X, y) == pytest.approx(np.log(joint.sum(axis=1)).mean())


def test_posterior_weights_are_those_of_bayes():
    """1 / (1 + exp(-2 y <b, x> / noise^2)) for coefficients +-b: with the 2 that the papers leave out."""
    b, noise = np.array([0.6, -0.8]), 0.5
    both = RegressionScores(
        np.full(2, 0.5), np.array([[0.0, *b], [0.0, *-b]]), np.full(2, noise), np.zeros(2), np.eye(2), 100.0
    )
    rows = np.random.default_rng(0).normal(size=(50, 3))
    shares = both.e_step(rows)[2]
    assert shares[0] == pytest.approx(1 / (1 + np.exp(-2 * rows[:, 2] * (rows[:, :2] @ b) / noise**2)))


def test_the_mean_score_is_the_gradient():
    """Of the log likelihood of the target, by finite differences."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3))
    weights, scales = np.array([0.3, 0.7]), np.array([0.5, 0.8])
    coefficients = rng.normal(size=(2, 3))

    def likelihood(coefficients):
        means = coefficients[:, :1] + coefficients[:, 1:] @ rows[:, :2].T
        return np.log(weights @ norm.pdf(rows[:, 2], means, scales[:, None])).sum()

    scores = RegressionScores(weights, coefficients, scales, np.zeros(2), np.eye(2), 100.0)
    statistic = ComponentMoments(scores, 1e6, covariance_type="spherical")
    sums = statistic.parts(statistic.block_sum(rows))[1] / scales[:, None]
    for k, j in itertools.product(range(2), range(3)):
        step = np.zeros((2, 3))
        step[k, j] = 1e-5
        slope = (likelihood(coefficients + step) - likelihood(coefficients - step)) / 2e-5
        assert sums[k, j] == pytest.approx(slope, rel=1e-4)


def test_merging_keeps_the_whole_and_takes_the_nearest():
    three = Regressions(np.array([0.4, 0.3, 0.3]), np.array([[0.0, 1.0], [0.0, 1.1], [0.0, -3.0]]), np.ones(3))
    two = three.merge(2)
    assert two.weights.sum() == pytest.approx(1.0)
    assert two.weights @ two.coefficients == pytest.approx(three.weights @ three.coefficients)
    assert sorted(two.weights) == pytest.approx([0.3, 0.7])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_components": 0}, "whole number, at least 1"),
        ({"method": "best"}, "method must be"),
        ({"n_iter": 3}, "pass n_iter=10 or more"),
        ({"delta": 0.0}, "needs a delta above 0"),
        ({"symmetric": True, "n_components": 3}, "for two components"),
        ({"target_bounds": None}, "both needed"),
        ({"bounds": None}, "both needed"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_in_words(options, words):
    X, y = groups(100)
    with pytest.raises(ValueError, match=words):
        fit(X, y, **options)


def test_targets_that_make_no_sense_are_refused_in_words(tmp_path):
    X, y = groups(100)
    frame = pd.DataFrame(X, columns=["age", "dose"])
    schema = Schema({"age": Numeric(-10, 10), "dose": Numeric(-10, 10)})
    with pytest.raises(ValueError, match="y is None"):
        fit(X, None)
    with pytest.raises(ValueError, match="no column of that name"):
        fit(frame, "charge")
    with pytest.raises(ValueError, match="the name of one of its columns"):
        fit(frame, y, bounds=schema, target_bounds=None)
    frame.to_csv(tmp_path / "table.csv", index=False)
    with pytest.raises(ValueError, match="name of its column"):
        fit(tmp_path / "table.csv", y)
    model = fit(X, y, epsilon=20.0)
    with pytest.raises(ValueError, match="as many"):
        model.score(X, y[:50])
    with pytest.raises(ValueError, match="finite"):
        model.score(X, np.full(100, np.nan))


@pytest.mark.parametrize("options", [{}, {"symmetric": True}])
def test_standard_errors_are_about_as_large_as_errors(options):
    off = []
    for seed in range(6):
        if options:
            X, y, b = opposite(seed=seed, columns=4)
            truth = np.stack([b, -b])
        else:
            X, y = groups(seed=seed)
            truth = np.array([[2.0, 0.0], [-1.0, 0.5]])
        model = fit(X, y, epsilon=0.5, random_state=seed, **options)
        if model.coef_[0] @ truth[0] < 0:
            truth = truth[::-1]
        off.append((model.coef_ - truth) / model.coef_errors_)
    assert 0.5 < np.sqrt(np.mean(np.square(off))) < 1.8


def test_inputs_are_described_in_their_units():
    model = fit(*groups())
    assert model.inputs_mean_ == pytest.approx([1.0, 1.0], abs=0.1)
    assert model.inputs_covariance_ == pytest.approx(np.array([[1.0, 0.6], [0.6, 1.0]]), abs=0.15)


def test_rare_levels_are_predicted_as_well_as_common_ones():
    """Their rows are far out in white coordinates; shortened before they are predicted, they would mislead."""
    rng = np.random.default_rng(0)
    rare, x = rng.random(8000) < 0.05, rng.normal(size=8000)
    y = x + 5.0 * rare + rng.normal(0.0, 0.3, 8000)
    model = fit(np.column_stack([x, rare]), y, n_components=1, bounds=6, target_bounds=12, epsilon=2.0)
    assert model.coef_ == pytest.approx(np.array([[1.0, 5.0]]), abs=0.2)


def test_without_intercepts_none_is_split_along_them_whatever_noise_says():
    negative = np.array([[[0.5, 0.1], [0.1, -1.0]]])  # as noise may have it
    assert np.abs(longest_directions(negative, through_origin=True)).tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize("epsilon", [1.0, 10.0])
def test_targets_that_are_rarely_far_from_the_rest_are_not_impossible(epsilon):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 2)).clip(-5, 5)
    y = 0.1 * X[:, 0] + 0.02 * rng.normal(size=20_000)
    far = rng.uniform(size=20_000) < 0.01
    y[far] = rng.uniform(-5, 5, far.sum())
    model = tacit.MixtureOfRegressions(1, bounds=5, target_bounds=(-5, 5), epsilon=epsilon, random_state=0).fit(X, y)
    one_normal_law = -np.log(y.std()) - 0.5 * np.log(2 * np.pi) - 0.5
    assert model.score(X, y) > one_normal_law - 0.3

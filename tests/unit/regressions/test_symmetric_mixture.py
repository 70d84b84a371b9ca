"""The symmetric mixture: within the factors of the non-private fit that were asked for, and more."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import tacit
from tacit.statistics import ComponentMoments, FoldedScores


def rows(count=10_000, columns=10, scale=0.5, seed=0):
    rng = np.random.default_rng(seed)
    half = rng.normal(size=columns)
    half /= np.linalg.norm(half)
    return rng.choice([-1.0, 1.0], count)[:, None] * half + scale * rng.normal(size=(count, columns)), half


def plain_em(X, half, scale, iterations=60):
    for _ in range(iterations):
        half = (np.tanh(X @ half / scale**2)[:, None] * X).mean(axis=0)
    return half


def apart(found, half):
    return min(np.linalg.norm(found - half), np.linalg.norm(found + half))


def fit(X, **options):
    return tacit.SymmetricMixture(**{"epsilon": 1.0, "bounds": 6.0, "random_state": 0, **options}).fit(X)


@pytest.mark.parametrize(("epsilon", "most"), [(0.2, 2.2), (0.5, 1.45), (1.0, 1.25)])
@pytest.mark.parametrize("scale", [None, 0.5], ids=["scale estimated", "scale known"])
def test_near_the_non_private_fit_without_a_start(epsilon, most, scale):
    private, ordinary = [], []
    for seed in range(8):
        X, half = rows(seed=seed)
        model = fit(X, epsilon=epsilon, delta=1 / 20_000, scale=scale, random_state=seed)
        private.append(apart(model.half_, half))
        ordinary.append(apart(plain_em(X, half, 0.5), half))
    assert np.mean(private) <= most * np.mean(ordinary)


@pytest.mark.parametrize(("columns", "scale"), [(1, 0.2), (2, 0.2), (2, 0.7), (30, 0.2), (30, 0.7)])
def test_the_scale_is_found_too(columns, scale):
    X, half = rows(20_000, columns, scale)
    model = fit(X, epsilon=2.0)
    assert model.scale_ == pytest.approx(scale, rel=0.05)
    assert apart(model.half_, half) < 0.12


@pytest.mark.parametrize("options", [{"neighbors": "add_remove"}, {"bounds": (-5, 3)}, {"bounds": "private"}], ids=str)
def test_other_public_knowledge(options):
    X, half = rows(columns=4)
    assert apart(fit(X, **options).half_, half) < 0.06


def test_densities_probabilities_and_samples_are_those_of_the_published_parameters():
    X, _ = rows(300, 3)
    model = fit(X, epsilon=5.0)
    parts = np.stack(
        [multivariate_normal(side * model.half_, model.scale_**2 * np.eye(3)).pdf(X) for side in (1, -1)], axis=1
    )
    assert model.score_samples(X) == pytest.approx(np.log(parts.mean(axis=1)))
    assert model.predict_proba(X) == pytest.approx(parts / parts.sum(axis=1, keepdims=True))
    assert (model.predict(X) == parts.argmax(axis=1)).all()
    drawn, labels = model.sample(20_000, random_state=0)
    assert drawn[labels == 1].mean(axis=0) == pytest.approx(-model.half_, abs=0.03)
    assert model.score(drawn) == pytest.approx(model.score(model.sample(20_000, random_state=1)[0]), abs=0.05)


def test_the_mean_score_is_the_gradient():
    X, half = rows(400, 3)
    start = half + 0.2
    statistic = ComponentMoments(FoldedScores(np.zeros(3), start, 0.5), 1e6, covariance_type="spherical")
    sums = statistic.parts(statistic.block_sum(X))[1][0] / 0.5

    def likelihood(half):
        parts = [multivariate_normal(side * half, 0.25 * np.eye(3)).pdf(X) for side in (1, -1)]
        return np.log(np.mean(parts, axis=0)).sum()

    for j in range(3):
        step = 1e-5 * np.eye(3)[j]
        slope = (likelihood(start + step) - likelihood(start - step)) / 2e-5
        assert sums[j] == pytest.approx(slope, rel=1e-4)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scale": -1.0}, "scale must be"),
        ({"n_iter": 2}, "pass n_iter=4 or more"),
        ({"delta": 0.0}, "needs a delta above 0"),
        ({"method": "magic"}, "method must be"),
        ({"bounds": tacit.Schema({"a": tacit.tables.Numeric(0, 1)})}, "one unit"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_makes_no_sense_is_refused_in_words(options, words):
    with pytest.raises(ValueError, match=words):
        fit(rows(100)[0], **options)

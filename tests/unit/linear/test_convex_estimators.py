"""Huber's regression, and losses of one's own with penalties and constraints."""

import numpy as np
import pytest
from sklearn.linear_model import HuberRegressor as PlainHuber
from sklearn.linear_model import LogisticRegression as Plain

import tacit
from tacit.linear import Box, ConvexLoss, ElasticNetPenalty, L1Ball, L2Ball

RNG = np.random.default_rng(0)
X = RNG.normal(size=(6000, 4)) * [1.0, 2.0, 0.5, 1.0]
SLOPES = np.array([1.0, -0.5, 2.0, 0.0])
Y = 3.0 + X @ SLOPES + RNG.standard_t(2, size=len(X))
SIGNS = np.where(X @ SLOPES + RNG.logistic(size=len(X)) > 0, 1.0, -1.0)
# Targets are -1 and 1: the logistic loss, as anyone would write it.
LOGISTIC = ConvexLoss(
    value=lambda p, t: np.logaddexp(0.0, -p * np.sign(t)),
    slope=lambda p, t: -np.sign(t) * 0.5 * (1 - np.tanh(p * np.sign(t) / 2)),
    lipschitz=1.0,
    smoothness=0.25,
)


def huber(**settings):
    return tacit.HuberRegressor(**{"bounds": 12.0, "target_bounds": 60.0, "random_state": 0, **settings})


def erm(**settings):
    return tacit.ERM(LOGISTIC, **{"bounds": 12.0, "target_bounds": 1.0, "random_state": 0, **settings})


def test_huber_without_noise_is_near_scikit_learns():
    plain = PlainHuber(max_iter=1000).fit(X, Y)
    quiet = huber(epsilon=1e8, n_iter=15).fit(X, Y)
    np.testing.assert_allclose(quiet.coef_, plain.coef_, atol=0.06)
    np.testing.assert_allclose(quiet.intercept_, plain.intercept_, atol=0.06)
    np.testing.assert_allclose(quiet.predict(X[:5]), quiet.intercept_ + X[:5] @ quiet.coef_)


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_outliers_do_not_disturb_it(neighbors):
    dirty = Y.copy()
    dirty[:300] = 60.0
    fitted = huber(neighbors=neighbors).fit(X, dirty)
    assert np.abs(fitted.coef_ - SLOPES).max() < 0.25
    assert 0.5 < fitted.scale_ < 15.0


def test_a_strong_signal_is_found():
    """Where the target is a hundred times its residuals, the start from moments does most of it."""
    clear = X @ SLOPES + 0.02 * RNG.normal(size=len(X))
    fitted = huber(epsilon=4.0, target_bounds=20.0).fit(X, clear)
    assert np.corrcoef(fitted.predict(X), clear)[0, 1] > 0.999


@pytest.mark.parametrize(("name", "value"), [("threshold", 0.0), ("alpha", -1.0), ("solver", "lbfgs")])
def test_bad_options_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        huber(**{name: value}).fit(X, Y)


def test_a_loss_of_ones_own_without_noise():
    plain = Plain(C=np.inf, tol=1e-8).fit(X, SIGNS)
    quiet = erm(epsilon=1e8, n_iter=20).fit(X, SIGNS)
    np.testing.assert_allclose(quiet.coef_, plain.coef_[0], atol=0.1)


STANDARD = np.full(4, 12.0)  # coefficients in standard coordinates are those in units of the rows, times this


def test_penalties_and_constraints_hold():
    free = erm(epsilon=1e6, solver="accmd", n_iter=400).fit(X, SIGNS).coef_ * STANDARD
    ball = erm(epsilon=1e6, constraint=L2Ball(5.0), n_iter=100).fit(X, SIGNS).coef_ * STANDARD
    assert 4.7 < np.linalg.norm(ball) < 5.0 + 1e-9 < np.linalg.norm(free)
    corner = erm(epsilon=1e6, constraint=L1Ball(5.0), n_iter=100).fit(X, SIGNS).coef_ * STANDARD
    assert 4.5 < np.abs(corner).sum() < 5.0 + 1e-9
    positive = erm(constraint=Box(0.0, np.inf), regularizer=ElasticNetPenalty(l2=1e-3)).fit(X, SIGNS).coef_
    assert (positive >= 0).all()
    sparse = erm(epsilon=1e6, regularizer=ElasticNetPenalty(l1=0.02), n_iter=200).fit(X, SIGNS).coef_ * STANDARD
    assert abs(sparse[3]) < 0.2 < abs(free[2])


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"constraint": L1Ball(1.0), "regularizer": ElasticNetPenalty(l1=1.0)}, "without a regularizer"),
        ({"constraint": L2Ball(1.0), "solver": "newton"}, "newton"),
        ({"constraint": 1.0}, "constraint must be"),
        ({"regularizer": "l2"}, "regularizer must be"),
        ({"loss": "logistic"}, "loss must be"),
    ],
)
def test_what_does_not_go_together_is_refused(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        tacit.ERM(**{"loss": LOGISTIC, "bounds": 12.0, "target_bounds": 1.0, **settings}).fit(X, SIGNS)


@pytest.mark.parametrize("penalty", [ElasticNetPenalty(0.3, 0.5), L2Ball(1.0), L1Ball(1.0), Box(-0.2, 0.7)], ids=str)
def test_proximal_steps_are_minima(penalty):
    """No point nearby is better, of those that are allowed."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        slopes = rng.normal(size=(2, 3))
        best = penalty.prox(slopes, 0.7)
        for _ in range(50):
            other = best + 0.05 * rng.normal(size=best.shape)
            if not isinstance(penalty, ElasticNetPenalty):
                other = penalty.prox(other, 0.7)  # Projections are allowed.
            assert cost(penalty, best, slopes) <= cost(penalty, other, slopes) + 1e-9


def cost(penalty, point, slopes, step=0.7):
    near = np.sum((point - slopes) ** 2) / 2
    if isinstance(penalty, ElasticNetPenalty):
        near += step * (penalty.l1 * np.abs(point).sum() + penalty.l2 * np.sum(point**2) / 2)
    return near


@pytest.mark.parametrize("wrong", [lambda: ElasticNetPenalty(l1=-1.0), lambda: L2Ball(0.0), lambda: Box(1.0, 0.0)])
def test_penalties_that_are_none_are_refused(wrong):
    with pytest.raises(ValueError, match="must"):
        wrong()

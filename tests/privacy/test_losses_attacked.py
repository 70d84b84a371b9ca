"""Private minima rest on what losses state: convex, no slope longer, no curvature larger. Each constant is attacked."""

import numpy as np
import pytest

from tacit.statistics.losses import HuberLoss, LogisticLoss, SmoothedHingeLoss, SoftmaxLoss

LOSSES = [
    LogisticLoss(),
    LogisticLoss((0.2, 7.0)),
    SoftmaxLoss((1.0, 1.0)),
    SoftmaxLoss((1.0, 2.0, 0.3, 5.0)),
    SmoothedHingeLoss(),
    SmoothedHingeLoss((3.0, 1.0), 0.01),
    HuberLoss(),
    HuberLoss(0.01),
    HuberLoss(50.0),
]
ROUNDING = 1 + 1e-9


def pairs(loss, rng, rows=20_000):
    """Pairs of predictions near and far, and targets of every class, or far away."""
    size = 10.0 ** rng.uniform(-3, 3, (1, rows))
    first = rng.normal(size=(loss.outputs, rows)) * size
    apart = rng.normal(size=(loss.outputs, rows)) * 10.0 ** rng.uniform(-4, 3, (1, rows))
    if isinstance(loss, HuberLoss):
        targets = rng.normal(size=rows) * 10.0 ** rng.uniform(-3, 5, rows)
    else:
        targets = rng.integers(0, max(2, loss.outputs), rows).astype(float)
    return first, first + apart, targets


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_slopes_are_no_longer_than_stated_and_get_there(loss):
    first, _, targets = pairs(loss, np.random.default_rng(0))
    longest = np.linalg.norm(loss.derivatives(first, targets)[0], axis=0).max()
    assert 0.99 * loss.lipschitz <= longest <= loss.lipschitz * ROUNDING


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_losses_are_convex_and_no_more_curved_than_stated(loss):
    """Slopes of two predictions never point together, and are no farther apart than the curvature allows."""
    worst = 0.0
    for seed in range(5):
        first, second, targets = pairs(loss, np.random.default_rng(seed))
        slopes = [loss.derivatives(each, targets)[0] for each in (first, second)]
        apart, change = second - first, slopes[1] - slopes[0]
        scale = np.abs(first).max(axis=0) + np.abs(second).max(axis=0)
        off = 1e-12 * loss.smoothness * scale * np.linalg.norm(apart, axis=0)  # what cancels in the differences
        assert ((apart * change).sum(axis=0) >= -off).all()
        steepness = (np.linalg.norm(change, axis=0) - 1e-13 * loss.smoothness * scale) / np.linalg.norm(apart, axis=0)
        worst = max(worst, float(steepness.max()))
    assert 0.9 * loss.smoothness <= worst <= loss.smoothness * ROUNDING


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_slopes_are_those_of_the_value(loss):
    """Convexity is of the function whose slopes are summed, so these must be its slopes."""
    first, second, targets = pairs(loss, np.random.default_rng(1))
    middle = loss.value((first + second) / 2, targets)
    ends = [loss.value(each, targets) for each in (first, second)]
    slack = 1e-9 * (1 + np.abs(ends[0]) + np.abs(ends[1]))
    assert (middle <= (ends[0] + ends[1]) / 2 + slack).all()
    ahead = ends[0] + (loss.derivatives(first, targets)[0] * (second - first)).sum(axis=0)
    slack = 1e-9 * (1 + np.abs(ends[0]) + np.abs(ends[1]) + np.abs(ahead))
    assert (ends[1] >= ahead - slack).all()  # the tangent lies below

"""Losses are what they say: their slopes are derivatives, and as steep and as curved as stated."""

import numpy as np
import pytest

from tacit.linear import ConvexLoss, HuberLoss, LogisticLoss, SmoothedHingeLoss, SoftmaxLoss

RNG = np.random.default_rng(0)
LOSSES = [
    LogisticLoss(),
    LogisticLoss((0.5, 3.0)),
    SoftmaxLoss((1.0, 1.0, 1.0)),
    SoftmaxLoss((1.0, 2.0, 0.3, 1.0)),
    SmoothedHingeLoss(),
    SmoothedHingeLoss((2.0, 1.0), 0.1),
    HuberLoss(0.7),
]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=str)


def drawn(loss, rows=2000):
    predictions = RNG.normal(0.0, 2.0, (loss.outputs, rows))
    if isinstance(loss, HuberLoss):
        return predictions, RNG.normal(size=rows)
    return predictions, RNG.integers(0, max(2, loss.outputs), rows).astype(float)


@every_loss
def test_slopes_are_derivatives(loss):
    predictions, targets = drawn(loss)
    slopes = loss.derivatives(predictions, targets)[0]
    for output in range(loss.outputs):
        step = np.zeros((loss.outputs, 1))
        step[output] = 1e-6
        ahead, behind = loss.value(predictions + step, targets), loss.value(predictions - step, targets)
        np.testing.assert_allclose(slopes[output], (ahead - behind) / 2e-6, atol=1e-5)


@every_loss
def test_no_slope_is_longer_than_stated(loss):
    predictions, targets = drawn(loss)
    slopes, steepest, _ = loss.derivatives(10 * predictions, targets)
    lengths = np.linalg.norm(slopes, axis=0)
    assert (lengths <= steepest * (1 + 1e-12)).all()
    assert (steepest <= loss.lipschitz * (1 + 1e-12)).all()
    if not isinstance(loss, HuberLoss):  # some class reaches it
        every = [
            loss.derivatives(predictions, np.full(len(targets), float(code)))[0] for code in range(max(2, loss.outputs))
        ]
        longest = np.max([np.linalg.norm(each, axis=0) for each in every], axis=0)
        np.testing.assert_allclose(longest, loss.derivatives(predictions, targets)[1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if not isinstance(loss, SmoothedHingeLoss)], ids=str)
def test_curvatures_are_those_of_slopes_and_no_larger_than_stated(loss):
    predictions, targets = drawn(loss)
    curvatures = loss.derivatives(predictions, targets)[2]
    total = np.zeros(len(targets))
    for output in range(loss.outputs):
        step = np.zeros((loss.outputs, 1))
        step[output] = 1e-6
        ahead, behind = (loss.derivatives(predictions + side * step, targets)[0] for side in (1, -1))
        total += (ahead - behind)[output] / 2e-6
    off = np.abs(curvatures - total / loss.outputs) > 1e-4
    assert off.mean() < 0.01  # but for rows at a corner of the slope
    assert (curvatures <= loss.smoothness * (1 + 1e-9)).all()


@pytest.mark.parametrize("loss", LOSSES[:4], ids=str)
def test_expectations_are_over_the_models_own_classes(loss):
    predictions = RNG.normal(0.0, 1.5, (loss.outputs, 5))
    if loss.outputs == 1:
        chances = np.stack([1 / (1 + np.exp(predictions[0])), 1 / (1 + np.exp(-predictions[0]))])
    else:
        chances = np.exp(predictions) / np.exp(predictions).sum(axis=0)
    slopes = [loss.derivatives(predictions, np.full(5, float(code)))[0] for code in range(len(chances))]
    squares = sum(chance * each[:, None] * each[None] for chance, each in zip(chances, slopes))
    np.testing.assert_allclose(loss.expected_square(predictions), squares, atol=1e-12)
    if loss.weights == (1.0,) * len(loss.weights):  # then squares are curvatures: Fisher's information
        np.testing.assert_allclose(loss.expected_curvature(predictions), squares, atol=1e-12)


def declared(**changes):
    kind = {"value": lambda p, t: np.hypot(1, p - t), "slope": lambda p, t: (p - t) / np.hypot(1, p - t)}
    return ConvexLoss(**{**kind, "lipschitz": 1.0, "smoothness": 1.0, **changes})


def test_a_loss_of_ones_own_has_slopes_and_curvatures():
    slopes, steepest, curvatures = declared().derivatives(np.array([[0.0, 1.0]]), np.zeros(2))
    np.testing.assert_allclose(slopes, [[0.0, 0.5**0.5]])
    np.testing.assert_allclose(curvatures, [0.5**0.5, 0.2**0.5], atol=1e-6)  # over a unit to both sides
    np.testing.assert_allclose(steepest, 1.0)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"lipschitz": 0.9}, "exceeds 0.9"),
        ({"smoothness": 0.1}, "more than 0.1"),
        ({"lipschitz": -1.0}, "lipschitz must be positive"),
        ({"value": lambda p, t: np.abs(p - t)}, "not the derivative"),
        ({"slope": lambda p, t: np.cos(p)}, "not convex"),
        ({"slope": lambda p, t: np.full(len(p), np.nan)}, "one finite number"),
        ({"slope": lambda p, t: 0.0}, "one finite number"),
        ({"slope": lambda p, t: (p - t) / np.hypot(1, p - t) * np.linspace(0.5, 1.0, len(p))}, "not the derivative"),
        (
            {
                "value": lambda p, t: np.hypot(1, p - t) / len(p),
                "slope": lambda p, t: (p - t) / np.hypot(1, p - t) / len(p),
            },
            "rows around it",
        ),
    ],
)
def test_losses_that_are_not_what_they_say_are_refused(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        declared(**changes)

"""Losses of linear predictions: convex, with what must be known of them for privacy and for steps.

Predictions are (K, rows), targets (rows,): the number of the class for classifiers, a number for regressions. Beside
what :class:`tacit.statistics.PredictionLoss` asks for, they have their value, the longest slope there is anywhere,
whether predictions are ``redundant``, and ``expected_curvature(predictions)``, the matrix of second derivatives
(K, K, rows) averaged over targets: what the model's own curvature is worked out from. Also ``at_zero``, the largest
value at a prediction of 0 (none is negative), and whether the loss is ``twice_smooth``: has two continuous derivatives.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array


@dataclass(frozen=True)
class LogisticLoss:
    """log(1 + exp(-m)), m the prediction for class 1 and its opposite for class 0.

    Parameters
    ----------
    weights : pair of float, default (1, 1)
        The weight of the rows of each class.

    Examples
    --------
    >>> import numpy as np
    >>> even, both = np.zeros((1, 2)), np.array([0.0, 1.0])
    >>> LogisticLoss().value(even, both).round(3), LogisticLoss().derivatives(even, both)[0]
    (array([0.693, 0.693]), array([[ 0.5, -0.5]]))
    """

    weights: tuple[float, ...] = (1.0, 1.0)

    outputs = 1
    redundant = False
    twice_smooth = True

    @property
    def at_zero(self) -> float:
        """Log 2 times the largest weight: both classes are equally likely."""
        return math.log(2.0) * max(self.weights)

    @property
    def lipschitz(self) -> float:
        """The largest slope, which the most wrong prediction has."""
        return max(self.weights)

    @property
    def smoothness(self) -> float:
        """The largest curvature, p (1 - p) at p = 1/2."""
        return max(self.weights) / 4

    def value(self, predictions: Array, targets: Array) -> Array:
        """Return the loss of each row."""
        signed = np.where(targets > 0.5, predictions[0], -predictions[0])
        result: Array = self._weight(targets) * np.logaddexp(0.0, -signed)
        return result

    def derivatives(self, predictions: Array, targets: Array) -> tuple[Array, Array, Array]:
        """Return p - y, the larger of p and 1 - p, and p (1 - p), p being the probability of class 1."""
        p = _sigmoid(predictions[0])
        wrong = 1.0 - p
        yes = targets > 0.5
        if self.weights == (1.0, 1.0):
            return (p - yes)[None], np.maximum(p, wrong), p * wrong
        weights = np.where(yes, self.weights[1], self.weights[0])
        steepest = np.maximum(self.weights[0] * p, self.weights[1] * wrong)
        return (weights * (p - yes))[None], steepest, weights * p * wrong

    def expected_curvature(self, predictions: Array) -> Array:
        """Return second derivatives (1, 1, rows), averaged over targets as the model has them."""
        p = _sigmoid(predictions[0])
        return ((p * self.weights[1] + (1 - p) * self.weights[0]) * p * (1 - p))[None, None]

    def expected_square(self, predictions: Array) -> Array:
        """Return squared slopes (1, 1, rows), averaged over targets as the model has them."""
        p = _sigmoid(predictions[0])
        return (p * (1 - p) * (self.weights[1] ** 2 * (1 - p) + self.weights[0] ** 2 * p))[None, None]

    def _weight(self, targets: Array) -> Array:
        return np.where(targets > 0.5, self.weights[1], self.weights[0])


@dataclass(frozen=True)
class SoftmaxLoss:
    """-log p_y, p the softmax of K predictions: cross-entropy of K classes.

    Parameters
    ----------
    weights : tuple of K floats
        The weight of the rows of each class.

    Examples
    --------
    >>> import numpy as np
    >>> loss = SoftmaxLoss((1.0, 1.0, 1.0))
    >>> slopes, steepest, _ = loss.derivatives(np.zeros((3, 1)), np.array([2.0]))
    >>> slopes.round(2).T, steepest.round(2)
    (array([[ 0.33,  0.33, -0.67]]), array([0.82]))
    """

    weights: tuple[float, ...]

    redundant = True  # Adding one number to all predictions changes nothing.
    twice_smooth = True

    @property
    def at_zero(self) -> float:
        """Log K times the largest weight: all classes are equally likely."""
        return math.log(self.outputs) * max(self.weights)

    @property
    def outputs(self) -> int:
        """The number of classes."""
        return len(self.weights)

    @property
    def lipschitz(self) -> float:
        """sqrt(2): all of the probability on a wrong class."""
        return math.sqrt(2.0) * max(self.weights)

    @property
    def smoothness(self) -> float:
        """The largest curvature, 1/2: two classes are equally likely, and there are no others."""
        return max(self.weights) / 2

    def value(self, predictions: Array, targets: Array) -> Array:
        """Return the loss of each row."""
        top = predictions.max(axis=0)
        total = top + np.log(np.exp(predictions - top).sum(axis=0))
        codes = targets.astype(np.intp)
        result: Array = self._weight(targets) * (total - predictions[codes, np.arange(len(codes))])
        return result

    def derivatives(self, predictions: Array, targets: Array) -> tuple[Array, Array, Array]:
        """Return p - e_y, the longest p - e_k over classes k, and the mean of p_k (1 - p_k)."""
        p = _softmax(predictions)
        weights = self._weight(targets)
        squares = (p * p).sum(axis=0) + 1.0 - 2.0 * p  # These are the squared lengths of p - e_k.
        steepest = (np.array(self.weights)[:, None] * np.sqrt(np.maximum(squares, 0.0))).max(axis=0)
        slopes = weights * (p - (np.rint(targets) == np.arange(self.outputs)[:, None]))
        return slopes, steepest, weights * (p * (1 - p)).mean(axis=0)

    def expected_curvature(self, predictions: Array) -> Array:
        """Return diag(p) - p p', (K, K, rows), times the mean weight as the model has classes."""
        p = _softmax(predictions)
        weights = np.array(self.weights) @ p
        return weights * (np.eye(self.outputs)[:, :, None] * p - p[:, None] * p[None])

    def expected_square(self, predictions: Array) -> Array:
        """Return products of slopes (K, K, rows), averaged over targets as the model has them."""
        p = _softmax(predictions)
        slopes = p[:, None] - np.eye(self.outputs)[:, :, None]  # (k, y, rows): prediction k, class y.
        squared_weights = np.array(self.weights)[:, None] ** 2 * p
        result: Array = np.einsum("ayn,byn,yn->abn", slopes, slopes, squared_weights)
        return result

    def _weight(self, targets: Array) -> Array:
        places = np.clip(np.rint(targets), 0, self.outputs - 1).astype(np.intp)
        return np.array(self.weights)[places]


@dataclass(frozen=True)
class SmoothedHingeLoss:
    """The hinge max(0, 1 - m), with its corner rounded off over [1 - width, 1 + width]: quadratic there.

    m is the prediction for class 1 and its opposite for class 0.

    Parameters
    ----------
    weights : pair of float, default (1, 1)
    width : float, default 0.5

    Examples
    --------
    >>> import numpy as np
    >>> loss = SmoothedHingeLoss()
    >>> loss.value(np.array([[0.0, 1.0, 2.0]]), np.ones(3))
    array([1.   , 0.125, 0.   ])
    >>> loss.derivatives(np.array([[0.0, 1.0, 2.0]]), np.ones(3))[0]
    array([[-1. , -0.5, -0. ]])
    """

    weights: tuple[float, ...] = (1.0, 1.0)
    width: float = 0.5

    outputs = 1
    redundant = False
    twice_smooth = False  # Curvatures jump at both ends of the corner.

    @property
    def at_zero(self) -> float:
        """1, or more if the corner reaches that far."""
        return float(self.value(np.zeros((1, 2)), np.array([0.0, 1.0])).max())

    @property
    def lipschitz(self) -> float:
        """The largest slope."""
        return max(self.weights)

    @property
    def smoothness(self) -> float:
        """The largest curvature: that of the quadratic part, or over a unit to both sides."""
        return max(self.weights) * max(1 / (2 * self.width), 0.5)

    def value(self, predictions: Array, targets: Array) -> Array:
        """Return the loss of each row."""
        short = 1 - self._margins(predictions, targets)
        inside = (short + self.width) ** 2 / (4 * self.width)
        values = np.where(short > self.width, short, np.where(short < -self.width, 0.0, inside))
        return self._weight(targets) * values

    def derivatives(self, predictions: Array, targets: Array) -> tuple[Array, Array, Array]:
        """Return slopes, the steeper of the two classes' slopes, and curvatures, over a unit to both sides.

        The curvature at a point alone would be none almost everywhere, and of no use to a step.
        """
        slopes, yes = [self._slope(predictions[0], code) for code in (0.0, 1.0)], targets > 0.5
        ahead, behind = ([self._slope(predictions[0] + side, code) for code in (0.0, 1.0)] for side in (1.0, -1.0))
        curvatures = [(after - before) / 2 for after, before in zip(ahead, behind)]
        steepest = np.maximum(slopes[0], -slopes[1])
        return np.where(yes, slopes[1], slopes[0])[None], steepest, np.where(yes, curvatures[1], curvatures[0])

    def _slope(self, predictions: Array, code: float) -> Array:
        """Return the slope for rows of one class. It grows from 0 to its largest size through the corner."""
        sign = 2 * code - 1
        part = np.clip((1 - sign * predictions + self.width) / (2 * self.width), 0.0, 1.0)
        return -sign * self.weights[int(code)] * part

    def expected_curvature(self, predictions: Array) -> Array:
        """Return second derivatives (1, 1, rows), classes being as likely as exp(-2 loss) says."""
        codes = [np.full(predictions.shape[1], code) for code in (0.0, 1.0)]
        likelihoods = np.exp([-2.0 * self.value(predictions, code) for code in codes])
        curvatures = np.array([self.derivatives(predictions, code)[2] for code in codes])
        result: Array = ((likelihoods * curvatures).sum(axis=0) / likelihoods.sum(axis=0))[None, None]
        return result

    def _margins(self, predictions: Array, targets: Array) -> Array:
        result: Array = np.where(targets > 0.5, predictions[0], -predictions[0])
        return result

    def _weight(self, targets: Array) -> Array:
        return np.where(targets > 0.5, self.weights[1], self.weights[0])


@dataclass(frozen=True)
class HuberLoss:
    """Squares of residuals over 2, up to `threshold`; linear beyond.

    Parameters
    ----------
    threshold : float, default 1.35
        The residual at which squares end, in units of the target.

    Examples
    --------
    >>> import numpy as np
    >>> HuberLoss(1.0).derivatives(np.zeros((1, 3)), np.array([0.5, 5.0, -5.0]))[0]
    array([[-0.5, -1. ,  1. ]])
    """

    threshold: float = 1.35

    outputs = 1
    redundant = False
    twice_smooth = False  # The curvature jumps at the threshold.
    smoothness = 1.0
    at_zero = math.inf  # Targets may be anything.

    @property
    def lipschitz(self) -> float:
        """The largest slope, the threshold."""
        return self.threshold

    def value(self, predictions: Array, targets: Array) -> Array:
        """Return the loss of each row."""
        sizes = np.abs(predictions[0] - targets)
        result: Array = np.where(sizes < self.threshold, sizes**2 / 2, self.threshold * (sizes - self.threshold / 2))
        return result

    def derivatives(self, predictions: Array, targets: Array) -> tuple[Array, Array, Array]:
        """Return the residual cut off at the threshold, the threshold, and 1 for rows within it."""
        residuals = predictions - targets
        steepest = np.full(predictions.shape[1], self.threshold)
        within = (np.abs(residuals[0]) < self.threshold).astype(np.float64)
        return np.clip(residuals, -self.threshold, self.threshold), steepest, within

    def expected_curvature(self, predictions: Array) -> Array:
        """Return second derivatives (1, 1, rows), averaged over normal residuals of scale 1."""
        return np.full((1, 1, predictions.shape[1]), self.within)

    def expected_square(self, predictions: Array) -> Array:
        """Return squared slopes (1, 1, rows), averaged over normal residuals of scale 1."""
        return np.full((1, 1, predictions.shape[1]), self.square)

    @property
    def within(self) -> float:
        """The proportion of normal residuals of scale 1 that are within the threshold."""
        return math.erf(self.threshold / math.sqrt(2))

    @property
    def square(self) -> float:
        """The mean square of normal residuals of scale 1, cut off at the threshold."""
        density = math.exp(-(self.threshold**2) / 2) / math.sqrt(2 * math.pi)
        return self.within - 2 * self.threshold * density + self.threshold**2 * (1 - self.within)


@dataclass(frozen=True)
class SquaredLoss:
    """Squares of residuals over 2. Slopes have no bound, so it is for statistics that bound gradients themselves.

    Examples
    --------
    >>> import numpy as np
    >>> SquaredLoss().derivatives(np.zeros((1, 2)), np.array([0.5, 5.0]))[0]
    array([[-0.5, -5. ]])
    """

    outputs = 1
    redundant = False
    smoothness = 1.0
    lipschitz = math.inf

    def value(self, predictions: Array, targets: Array) -> Array:
        """Return the loss of each row."""
        result: Array = (predictions[0] - targets) ** 2 / 2
        return result

    def derivatives(self, predictions: Array, targets: Array) -> tuple[Array, Array, Array]:
        """Return residuals, infinity and 1."""
        residuals = predictions - targets
        return residuals, np.full(len(targets), math.inf), np.ones(len(targets))


ProvenLoss = LogisticLoss | SoftmaxLoss | SmoothedHingeLoss | HuberLoss
"""Losses that are convex, with slopes and curvatures that are bounded as stated: what private minima rest on."""


def _sigmoid(predictions: Array) -> Array:
    """Return 1 / (1 + exp(-m)), which is 0 if exp overflows."""
    with np.errstate(over="ignore"):
        probabilities: Array = np.exp(-predictions)
    probabilities += 1.0
    return np.divide(1.0, probabilities, out=probabilities)


def _softmax(predictions: Array) -> Array:
    probabilities: Array = np.exp(predictions - predictions.max(axis=0))
    probabilities /= probabilities.sum(axis=0)
    return probabilities

"""Linear regressions that share their inputs, and how to split and merge them. Plain numerics: no data, no privacy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array

# A component is split along a direction of coefficients. The halves differ from it by 0.7 of its residuals' standard
# deviation, and the scale of each is 0.7 of its own. 0.7^2 + 0.7^2 is 0.98: together they explain what the whole did.
# experiments/gradient_em.py measures what they give, on two regressions.
_SPLIT_DISTANCE, _SPLIT_SCALE = 0.7, 0.7


@dataclass(frozen=True, eq=False)
class Regressions:
    """Weights (K,), coefficients (K, 1 + d) and scales (K,) of residuals, for inputs (1, u) with u standard normal.

    Examples
    --------
    >>> import numpy as np
    >>> one = Regressions(np.ones(1), np.array([[1.0, 0.0]]), np.array([2.0]))
    >>> two = one.split(2, np.array([[0.0, 1.0]]))
    >>> two.coefficients
    array([[ 1. ,  1.4],
           [ 1. , -1.4]])
    >>> two.merge(1).coefficients, two.merge(1).scales.round(2)
    (array([[1., 0.]]), array([1.98]))
    """

    weights: Array
    coefficients: Array
    scales: Array

    @property
    def count(self) -> int:
        """How many components there are."""
        return len(self.weights)

    def split(self, count: int, directions: Array) -> Regressions:
        """Split the components that leave most unexplained along `directions` (K, 1 + d), until there are `count`."""
        order = np.argsort(-self.weights * self.scales**2, kind="stable")
        wide = np.sort(order[: count - self.count])
        kept = np.setdiff1d(np.arange(self.count), wide)
        apart = _SPLIT_DISTANCE * self.scales[wide, None] * directions[wide]
        halves = np.stack([self.coefficients[wide] + apart, self.coefficients[wide] - apart], axis=1)
        return Regressions(
            np.concatenate([self.weights[kept], np.repeat(self.weights[wide] / 2, 2)]),
            np.concatenate([self.coefficients[kept], halves.reshape(-1, halves.shape[2])]),
            np.concatenate([self.scales[kept], np.repeat(_SPLIT_SCALE * self.scales[wide], 2)]),
        )

    def merge(self, count: int) -> Regressions:
        """Merge pairs, each time the one that costs least likelihood, until there are `count` components."""
        merged = self
        while merged.count > count:
            pairs = [(i, j) for i in range(merged.count) for j in range(i)]
            i, j = min(pairs, key=lambda pair: merged._cost(*pair))
            rest = np.setdiff1d(np.arange(merged.count), [i, j])
            weight, coefficients, scale = merged._merge_pair(i, j)
            merged = Regressions(
                np.append(merged.weights[rest], weight),
                np.concatenate([merged.coefficients[rest], coefficients[None]]),
                np.append(merged.scales[rest], scale),
            )
        return merged

    def repeat_heaviest(self, count: int) -> Regressions:
        """Return the same density with `count` components: the heaviest ones are counted as two halves."""
        whole = self
        while whole.count < count:
            k = int(np.argmax(whole.weights))
            again = np.append(np.arange(whole.count), k)
            weights = whole.weights[again]
            weights[[k, -1]] /= 2
            whole = Regressions(weights, whole.coefficients[again], whole.scales[again])
        return whole

    def by_weight(self) -> Regressions:
        """Return the components in order of falling weight."""
        order = np.argsort(-self.weights, kind="stable")
        return Regressions(self.weights[order], self.coefficients[order], self.scales[order])

    def mirror(self) -> Regressions:
        """Return the two components nearest to these with opposite slopes, equally heavy and wide."""
        one, other = self.coefficients
        slopes = (one[1:] - other[1:]) / 2
        intercept = (one[:1] + other[:1]) / 2
        scale = np.sqrt(np.average(self.scales**2, weights=self.weights))
        both = np.stack([np.concatenate([intercept, slopes]), np.concatenate([intercept, -slopes])])
        return Regressions(np.full(2, 0.5), both, np.full(2, scale))

    def _merge_pair(self, i: int, j: int) -> tuple[float, Array, float]:
        weight = self.weights[i] + self.weights[j]
        part = self.weights[i] / weight
        apart = self.coefficients[i] - self.coefficients[j]
        coefficients = part * self.coefficients[i] + (1 - part) * self.coefficients[j]
        within = part * self.scales[i] ** 2 + (1 - part) * self.scales[j] ** 2
        return weight, coefficients, float(np.sqrt(within + part * (1 - part) * apart @ apart))

    def _cost(self, i: int, j: int) -> float:
        """Return Runnalls' (2007) bound on what merging two of them costs, in nats per row."""
        weight, _, scale = self._merge_pair(i, j)
        parts = self.weights[i] * np.log(self.scales[i]) + self.weights[j] * np.log(self.scales[j])
        return float(weight * np.log(scale) - parts)

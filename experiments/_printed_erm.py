"""DP-SVRG, DP-Katyusha and DP-SVRG++ with the noise that is printed for them. NOT PRIVATE: kept to see what it hides.

Each step samples one row, and has noise of variance c K log(1/delta) / (n epsilon)^2, K being the number of steps. The
proof takes a lemma for it that needs noise as large as the longest gradient there is; in the experiments it is smaller,
by hundreds. c is not told; 8 is what full gradients need. The noise of Katyusha is missing in print; here it is what
the proof has. Steps are Barzilai and Borwein's, from gradients without noise, as in the experiments.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

CONSTANT = 8.0
FIRST_STEP = 0.1
SMOOTHNESS = 0.25  # Largest second derivative of the logistic loss, for rows of length 1.
_BLOCK = 500  # Number of steps whose random numbers are drawn at once.
Prox = Callable[[np.ndarray, np.ndarray], np.ndarray]  # A function of coefficients (lanes, p) and steps (lanes, 1).
Trace = list[tuple[float, np.ndarray]]  # Number of gradients divided by n, and coefficients (lanes, p).


@dataclass(frozen=True)
class Printed:
    """Which of the three it is."""

    epochs: int
    inner: int  # Steps of an epoch; where epochs double, half the steps of the first one.
    doubling: bool = False
    towards: float = 1.0  # Gradients are taken this far from the snapshot towards the moving point.
    carried: bool = False  # Whether an epoch starts where the last one ended, and not at its mean.

    @property
    def lengths(self) -> list[int]:
        """How many steps each epoch has."""
        return [self.inner * 2 ** (epoch + 1) if self.doubling else self.inner for epoch in range(self.epochs)]

    def noise(self, rows: int, epsilon: float, delta: float) -> float:
        """Return the standard deviation that is printed."""
        return math.sqrt(CONSTANT * sum(self.lengths) * math.log(1 / delta)) / (rows * epsilon)

    def given_away(self, rows: int) -> float:
        """Return how likely it is that a given row is drawn in some step, and so all but shown: about what delta is."""
        return -math.expm1(sum(self.lengths) * math.log1p(-1 / rows))


def svrg(rows: int) -> Printed:
    """Return DP-SVRG with the numbers of the experiments."""
    return Printed(2 * math.ceil(math.log(rows)), 100)


def katyusha(rows: int) -> Printed:
    """Return DP-Katyusha with the numbers of the experiments."""
    return Printed(math.ceil(math.log(rows)), 3 * rows // 4, towards=0.5, carried=True)


def doubling(rows: int, columns: int, delta: float) -> Printed:
    """Return DP-SVRG++ with as many epochs as the theorem has at epsilon = 1; m is not told, and is 10 here."""
    epochs = math.log2(rows / math.sqrt(columns * math.log(1 / delta)))
    return Printed(max(2, round(epochs)), 10, doubling=True, carried=True)


def run(kind: Printed, signed: np.ndarray, noise: np.ndarray, prox: Prox, seed: int) -> Trace:
    """Return what one run for each number of `noise` comes to after each epoch; rows are times their labels."""
    rng, (n, p), lanes = np.random.default_rng(seed), signed.shape, len(noise)
    snapshot = point = np.zeros((lanes, p))
    step = np.full((lanes, 1), 1 / (13 * SMOOTHNESS) if kind.doubling else FIRST_STEP)
    before, trace, taken = None, [], 0.0
    for length in kind.lengths:
        slopes = -1 / (1 + np.exp(signed @ snapshot.T))  # (n, lanes)
        gradient = (signed.T @ slopes).T / n
        if before is not None and not kind.doubling:
            step = _barzilai_borwein(step, snapshot - before[0], gradient - before[1], length)
        before = (snapshot, gradient)
        point = point if kind.carried else snapshot
        total = np.zeros_like(point)
        for start in range(0, length, _BLOCK):
            count = min(_BLOCK, length - start)
            drawn = rng.integers(n, size=(count, lanes))
            shaken = gradient + noise[:, None] * rng.normal(size=(count, lanes, p))
            for rows, at_snapshot, fixed in zip(signed[drawn], slopes[drawn, np.arange(lanes)], shaken):
                asked = snapshot + kind.towards * (point - snapshot)
                slope = -1 / (1 + np.exp(np.einsum("lp,lp->l", rows, asked)))
                point = prox(point - step * (rows * (slope - at_snapshot)[:, None] + fixed), step)
                total += point
        snapshot = snapshot + kind.towards * (total / length - snapshot)
        taken += 1 + 2 * length / n
        trace.append((taken, snapshot))
    return trace


def _barzilai_borwein(step: np.ndarray, moved: np.ndarray, changed: np.ndarray, length: int) -> np.ndarray:
    """Return |moved|^2 / (length <moved, changed>), as in SVRG-BB; the last step where that is not positive."""
    squared = np.sum(moved * moved, axis=1, keepdims=True)
    along = length * np.sum(moved * changed, axis=1, keepdims=True)
    return np.where(along > 0, squared / np.where(along > 0, along, 1.0), step)

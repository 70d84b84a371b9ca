"""The default solver: Newton steps on white inputs, filtered.

Near the minimum a noisy mean gradient is a linear measurement of how far off the coefficients are:
g = -H (best - beta) + noise. So rounds are not steps of a search that each pay for themselves, but measurements of one
thing, and the best way to put measurements together is Kalman's: what is known so far, and how well, is weighed against
what a round says, and how noisy that is. Whatever the number of rounds, nearly all of the budget counts.

- The *curvature* H needs no release of its own: inputs are taken to be Gaussian, with variances that are known, and H
  follows from the coefficients. Only its size is measured, by one number beside each gradient.
- *What is known before* is that predictions are a few units large: so where noise drowns rows, coefficients stay small.
- H is not exact, and steps that are long leave the region where it holds. So each step adds doubt, in proportion to its
  length, and later rounds go on correcting it.
- *Gradients* are weighed so that no target could make them longer than half of an ordinary row
  (:class:`tacit.statistics.LossGradients`): half the noise of rows that are shortened, at next to no loss.
- *Where rows are many*, all rounds but the last two are of shares of them (:mod:`tacit.linear.row_shares`), to save
  time. What other rows would have said is noise like any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from tacit.fitting.engine import Noise
from tacit.linear.problem import SAMPLING, Problem, Solver, bounded
from tacit.linear.row_shares import dealt
from tacit.privacy import Gaussian, Step
from tacit.statistics import LossGradients
from tacit.statistics.components import Array

EARLY, GRADIENT = "early gradient", "gradient"
_FEW_ROUNDS, _MANY_ROUNDS, _FEW_COLUMNS = 8, 10, 20
SIGNAL = 2.0  # how large predictions may be, as a standard deviation, before anything is known
CURVATURE = 0.3  # weight of the curvature beside the gradient
_MISFIT = 0.5  # of a step, that may be wrong because the curvature is
_POINTS = 4096
_LATE_ROUNDS = 2  # of all rows, where the others are of shares
_EARLY_SHARE = 0.2  # of the budget, for the others
_LEAST_RATIO, _MOST_RATIO = 0.2, 2.0  # of the curvature measured to that expected
_DOUBTFUL = 1.5  # times as much noise as there is, is reckoned with before curvatures are corrected
_LEAST_SECANT = 0.05  # of the curvature expected along a step: less is not believed
_LONGEST = 3.0  # steps, in standard deviations of what coefficients were expected to be
_LIKELY = 0.3  # how far off, relatively, the expected curvature is likely to be


@dataclass(frozen=True, eq=False)
class Stand:
    """Where a fit stands: coefficients (K, 1 + d), how far off they may be (p, p), and the curvature there (p, p).

    In the end also the covariance of coefficients, of sampling error and noise together, where the loss allows it.
    Also the last step, with the gradient before it, the curvature expected there and that gradient's noise; and what
    steps have shown of curvatures.
    """

    coefficients: Array
    doubt: Array
    hessian: Array | None = None
    covariance: Array | None = None
    last: tuple[Array, Array, Array, float] | None = None
    secants: tuple[tuple[Array, Array], ...] = ()


@dataclass
class Newton(Solver):
    """Filtered Newton steps, run by :func:`tacit.fitting.engine.run`.

    Parameters
    ----------
    problem : Problem
    iterations : int
    """

    problem: Problem
    iterations: int
    rounds: list[str] = field(init=False)

    @staticmethod
    def default_iterations(columns: int) -> int:
        """Return how many rounds settle it: more columns are less like the Gaussian that curvatures come from."""
        return _FEW_ROUNDS if columns <= _FEW_COLUMNS else _MANY_ROUNDS

    def __post_init__(self) -> None:
        early = _early(self.iterations, self.problem.shares)
        self.rounds = [EARLY] * early + [GRADIENT] * (self.iterations - early)

    @staticmethod
    def steps(iterations: int, size: int, share: float, shares: int = 1) -> list[Step]:
        """Return the plan's steps: where rows are dealt out, all gradients but the last are of shares of them."""
        early = _early(iterations, shares)
        late = iterations - early
        first = share * _EARLY_SHARE if early else 0.0
        steps: list[Step] = [Gaussian(GRADIENT, math.sqrt(late / (share - first)), late, size + 1)]
        if early:
            steps.insert(0, dealt(Gaussian(EARLY, math.sqrt(early / first), early, size + 1), shares))
        return steps

    def start(self) -> Stand:
        """Return where to start, and how far off that may be."""
        problem = self.problem
        spread = np.concatenate([[problem.intercept * SIGNAL**2], problem.coordinates.prior])
        return Stand(problem.begin, np.kron(problem.free_outputs, np.diag(spread)))

    def statistic(self, state: Stand, index: int, noise: Noise) -> tuple[Stand, LossGradients]:
        """Return gradients at the coefficients."""
        return state, self.problem.gradients(state.coefficients, CURVATURE)

    def update(self, state: Stand, index: int, statistic: LossGradients, released: Array, noise: float) -> Stand:
        """Weigh what is known against what the gradients say."""
        beta = state.coefficients
        rows = self.problem.rows / (self.problem.shares if self.rounds[index] == EARLY else 1)
        gradient = self.problem.mean_gradient(statistic, released, rows).ravel()
        scale = noise * statistic.radius / rows
        if rows < self.problem.rows:  # other rows have another mean
            scale = math.hypot(scale, SAMPLING * self.problem.loss.lipschitz / math.sqrt(rows))
        expected, secants = self._hessian(statistic, released, noise, rows), state.secants
        if state.last is not None:
            *last, unsure = state.last
            secants = (*secants, secant(*last, gradient, expected, math.hypot(unsure, scale)))
        hessian = corrected(expected, secants)
        seen = state.doubt @ hessian
        gain = np.linalg.solve(hessian @ seen + scale**2 * np.eye(len(hessian)), seen.T).T
        step = -gain @ gradient
        doubt = state.doubt - gain @ seen.T
        prior = self.start().doubt
        known = np.diag(prior) > 0  # all but intercepts that are left out
        long = float(np.mean(step[known] ** 2 / np.diag(prior)[known]))
        if long > _LONGEST**2:  # rows are not as they were taken to be: go on from there with care
            step *= _LONGEST / math.sqrt(long)
            long = _LONGEST**2
        doubt = (doubt + doubt.T) / 2 + _MISFIT**2 * long * prior
        return Stand(
            bounded(beta + step.reshape(beta.shape)), doubt, hessian, None, (step, gradient, expected, scale), secants
        )

    def finish(self, state: Stand) -> Stand:
        """Return where the fit stands, and the covariance of the coefficients."""
        loss = self.problem.loss
        if not hasattr(loss, "expected_square"):
            return state
        if state.hessian is None:
            raise ValueError("There was no round yet, and so there is no Hessian to compute errors from.")
        statistic = self.problem.gradients(state.coefficients)
        inverse = np.linalg.pinv(state.hessian, rcond=1e-10, hermitian=True)
        square = self._mean_product(statistic, loss.expected_square, 2)[0]
        sampling = inverse @ square @ inverse / self.problem.rows
        free = np.kron(self.problem.free_outputs, np.eye(state.coefficients.shape[1]))
        return replace(state, covariance=state.doubt + free @ sampling @ free)

    def _hessian(self, statistic: LossGradients, released: Array, noise: float, rows: float) -> Array:
        """Return the Hessian (p, p) that Gaussian inputs have, as large as was measured, and the ridge's."""
        problem, loss = self.problem, self.problem.loss
        hessian, expected = self._mean_product(statistic, loss.expected_curvature, 1)
        measured = statistic.total_curvature(released) / rows / expected
        unsure = noise * loss.smoothness / statistic.curvature / rows / expected
        ratio = 1.0 + (np.clip(measured, _LEAST_RATIO, _MOST_RATIO) - 1.0) / (1.0 + (unsure / _LIKELY) ** 2)
        return hessian * ratio + np.kron(np.eye(len(statistic.coefficients)), problem.left(statistic) * problem.ridge)

    def _mean_product(
        self, statistic: LossGradients, expected: Callable[[Array], Array], power: int
    ) -> tuple[Array, float]:
        """Return the mean of w^power e z z' over Gaussian inputs z, (p, p), e being (K, K); and that of its diagonal e.

        w are the weights that the statistic gives to rows.
        """
        problem, beta = self.problem, statistic.coefficients
        points = _points(beta.shape[1] - 1) * np.sqrt(problem.coordinates.variances)
        z = np.column_stack([np.full(len(points), problem.intercept), points])
        predictions = beta @ z.T
        lengths = np.sqrt((z * z).sum(axis=1)) * problem.loss.derivatives(predictions, np.zeros(len(z)))[1]
        each = np.minimum(1.0, statistic.radius / np.maximum(lengths, 1e-300)) ** power * expected(predictions)
        product = np.einsum("abn,ni,nj->aibj", each, z, z, optimize=True).reshape(beta.size, beta.size)
        return product / len(z), max(float(np.einsum("aan->", each)) / (len(beta) * len(z)), 1e-12)


def _early(iterations: int, shares: int) -> int:
    """Return how many rounds are of shares of the rows."""
    return max(iterations - _LATE_ROUNDS, 0) if shares > 1 else 0


def secant(step: Array, before: Array, curved: Array, after: Array, curves: Array, noise: float) -> tuple[Array, Array]:
    """Return a step, and by how much the gradient changed otherwise than expected, in units of what was.

    The difference of gradients `before` and `after` has noise of this scale, and as much of the surprise as that
    explains is left out; `curved` and `curves` are the expected curvatures there.
    """
    expected = (curved + curves) @ step / 2
    surprise = after - before - expected
    trust = max(0.0, 1.0 - _DOUBTFUL * len(step) * noise**2 / max(float(surprise @ surprise), 1e-300))
    return step, surprise * (trust / max(float(expected @ step), 1e-300))


def corrected(hessian: Array, secants: tuple[tuple[Array, Array], ...]) -> Array:
    """Return the expected curvature, corrected along steps by what was seen there.

    Each step moves the curvature along itself, as in Broyden, Fletcher, Goldfarb and Shanno's method.

    Examples
    --------
    >>> corrected(np.eye(2), ((np.array([1.0, 0.0]), np.array([3.0, 0.0])),)).round(3)
    array([[4., 0.],
           [0., 1.]])
    """
    model = hessian
    for step, surprise in secants:
        expected, seen = hessian @ step, model @ step
        change = seen + surprise * float(seen @ step)
        along, before = float(change @ step), float(expected @ step)
        if before > 0 and along > _LEAST_SECANT * before:
            hessian = hessian + np.outer(change, change) / along - np.outer(expected, expected) / before
    return hessian


@lru_cache(maxsize=4)
def _points(columns: int) -> Array:
    """Return points that are spread as white inputs are: with mean 0 and covariance 1, exactly."""
    count = max(_POINTS, 16 * columns)
    half = np.random.default_rng(0).normal(size=(count // 2, columns))
    points = np.concatenate([half, -half])
    points = np.linalg.solve(np.linalg.cholesky(points.T @ points / len(points)), points.T).T
    points.setflags(write=False)
    return points

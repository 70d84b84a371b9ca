"""The default solver: Newton steps on white inputs, filtered.

Near the minimum a noisy mean gradient is a linear measurement of how far off the coefficients are:
g = -H (best - beta) + noise. So rounds are not steps of a search that each pay for themselves, but measurements of one
thing, and the best way to put measurements together is Kalman's: what is known so far, and how well, is weighed against
what a round says, and how noisy that is. Whatever the number of rounds, nearly all of the budget counts.

- The *curvature* H needs no release of its own: inputs are taken to be Gaussian, with variances that are known, and H
  follows from the coefficients. Only its size is measured, by one number beside each gradient.
- *What is known before* is that predictions are a few units large: so where noise drowns rows, coefficients stay small.
- H is not exact, and steps that are long leave the region where it holds. So each step adds doubt, in proportion to its
  length, and later rounds go on correcting it. Most of this doubt is along the step: where classes are nearly separable
  the next step goes the same way, and what gradients say of it must not be outweighed by what earlier ones said from
  farther off.
- *Long steps are damped*, as the loss may be far more curved where they end: without, a rare class and a rare input
  that goes with it are overshot, the more the less noise there is.
- *What is drowned in noise* is drawn to saying nothing: at last slopes are shrunk by how much noise explains of them.
- *Gradients* are weighed so that no target could make them longer than half of an ordinary row
  (:class:`tacit.statistics.LossGradients`): half the noise of rows that are shortened, at next to no loss.
- *Where rows are many*, all rounds but the last two are of shares of them (:mod:`tacit.fitting.allocation`), to save
  time. What other rows would have said is noise like any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import deal, noise_multiplier
from tacit.fitting.shrinkage import james_stein_after_kalman, james_stein_factor
from tacit.linear.problem import SAMPLING, AfterRelease, Problem, Solution, Solver, ignore, keep_finite
from tacit.privacy import Gaussian, Step
from tacit.release import Curator, Measurement
from tacit.statistics import LossGradients

EARLY, GRADIENT = "early gradient", "gradient"
# benchmarks/logistic_regression.py measures what these numbers give, on simulated tables and on Adult.
SIGNAL = 2.0  # Standard deviation of predictions before anything is known.

# Rounds, and how the budget is split where rows are dealt out.
_FEW_ROUNDS, _MANY_ROUNDS, _FEW_COLUMNS = 8, 10, 20
_LATE_ROUNDS = 2  # Rounds of all rows, where the others are of shares.
_EARLY_BUDGET = 0.2  # Part of the budget for the others, in squared signal-to-noise.

# The Hessian.
_TRACE_WEIGHT = 0.3  # Weight of the released trace of the Hessian beside the gradient.
_POINTS = 4096  # Points of the integral over Gaussian inputs.
_LEAST_RATIO, _MOST_RATIO = 0.2, 2.0  # Limits of the ratio of the measured Hessian to the expected one.
_RATIO_DEVIATION = 0.3  # Prior standard deviation of this ratio about 1.
_CAUTION = 1.5  # Secants are corrected for this many times the noise that there is.
_LEAST_SECANT = 0.05  # Least corrected curvature along a step, relative to the expected one. Less is not believed.

# Steps.
# benchmarks/arena.py measures what these numbers give, on real tables.
_STEP_ERROR = 0.3  # Part of a step that may be wrong in any direction because the Hessian is.
_STEP_AGAIN = 0.5  # Part of a step that may be missing along it.
_STEADY_STEP = 0.5, 0.0  # Both of them where curvature is steady (benchmarks/linear_regression.py, on Adult).
_TRUSTED = 1.0  # Change of predictions up to which a step is not damped.
_MANY_DEVIATIONS = 2.0  # Change of predictions that a step is judged by, in standard deviations over the rows.
_LONGEST_STEP = 3.0  # Longest step, in prior standard deviations of the coefficients.


@dataclass(frozen=True, eq=False)
class NewtonState:
    """The fit state.

    Parameters
    ----------
    coefficients : (K, 1 + d) array
    covariance : (p, p) array
        Of what the coefficients may be off by.
    hessian : (p, p) array, optional
        Before the last step.
    last : _Step, optional
    secants : tuple of pairs of arrays
        What steps have shown of the Hessian; see :func:`secant`.
    """

    coefficients: Array
    covariance: Array
    hessian: Array | None = None
    last: _Step | None = None
    secants: tuple[tuple[Array, Array], ...] = ()


@dataclass(frozen=True, eq=False)
class _Step:
    """A step, with the gradient before it, the Hessian expected there and the noise of that gradient."""

    step: Array
    gradient: Array
    expected_hessian: Array
    noise: float


def solve(problem: Problem, curator: Curator, iterations: int, after: AfterRelease = ignore) -> Solution:
    """Release gradients, and filter what they say of the coefficients."""
    prior = _prior_covariance(problem)
    fit = NewtonState(problem.begin, prior)
    early = _early_rounds(iterations, problem.shares)
    for step, rows in [(EARLY, problem.rows / problem.shares)] * early + [(GRADIENT, problem.rows)] * (
        iterations - early
    ):
        statistic = problem.gradients(fit.coefficients, _TRACE_WEIGHT)
        fit = _update(problem, prior, fit, statistic, curator.measure(step, statistic), rows)
        after(step, _shrink_slopes(problem, fit))
    return _solution(problem, fit)


def steps(iterations: int, size: int, power: float, shares: int = 1) -> list[Step]:
    """Return the plan's steps: where rows are dealt out, all gradients but the last two are of shares of them."""
    early = _early_rounds(iterations, shares)
    late = iterations - early
    first = power * _EARLY_BUDGET if early else 0.0
    steps: list[Step] = [Gaussian(GRADIENT, noise_multiplier(power - first, late), late, size + 1)]
    if early:
        steps.insert(0, deal(Gaussian(EARLY, noise_multiplier(first, early), early, size + 1), shares))
    return steps


def default_iterations(columns: int) -> int:
    """Return how many rounds suffice: more columns are less like the Gaussian that the Hessian is computed for."""
    return _FEW_ROUNDS if columns <= _FEW_COLUMNS else _MANY_ROUNDS


def _early_rounds(iterations: int, shares: int) -> int:
    """Return how many rounds are of shares of the rows."""
    return max(iterations - _LATE_ROUNDS, 0) if shares > 1 else 0


def _prior_covariance(problem: Problem) -> Array:
    """Return the covariance (p, p) of coefficients before anything is known."""
    variances = np.concatenate([[problem.intercept * SIGNAL**2], problem.coordinates.prior])
    return np.kron(problem.free_outputs, np.diag(variances))


def _update(
    problem: Problem, prior: Array, fit: NewtonState, statistic: LossGradients, released: Measurement, rows: float
) -> NewtonState:
    """Weigh what is known against what the gradient of these rows says (Kalman's filter)."""
    gradient = problem.mean_gradient(statistic, released.value, rows).ravel()
    noise = released.noise * statistic.radius / rows
    if rows < problem.rows:  # Other rows have another mean.
        noise = math.hypot(noise, SAMPLING * problem.loss.lipschitz / math.sqrt(rows))
    expected, secants = _expected_hessian(problem, statistic, released, rows), fit.secants
    if (last := fit.last) is not None:
        both = math.hypot(last.noise, noise)
        secants = (*secants, secant(last.step, last.gradient, last.expected_hessian, gradient, expected, both))
    hessian = correct_hessian(expected, secants)
    gain = kalman_gain_matrix(fit.covariance, hessian, noise)
    asked = -gain @ gradient
    step = asked if problem.steady else _damp(problem, asked)
    covariance = fit.covariance - gain @ (fit.covariance @ hessian).T
    free = np.diag(prior) > 0  # All coefficients but intercepts that are left out.
    length2 = float(np.mean(step[free] ** 2 / np.diag(prior)[free]))
    if length2 > _LONGEST_STEP**2:  # Rows are not as the Hessian expects: go on from there with care.
        step = step * (_LONGEST_STEP / math.sqrt(length2))
        length2 = _LONGEST_STEP**2
    error, again = _STEADY_STEP if problem.steady else (_STEP_ERROR, _STEP_AGAIN)
    doubt = error**2 * length2 * prior + again**2 * np.outer(asked, asked)
    covariance = (covariance + covariance.T) / 2 + doubt
    coefficients = keep_finite(fit.coefficients + step.reshape(fit.coefficients.shape))
    return NewtonState(coefficients, covariance, hessian, _Step(step, gradient, expected, noise), secants)


def _damp(problem: Problem, step: Array) -> Array:
    """Return a step that is no longer than the curvature where it begins can be trusted.

    Curvatures of logistic regression change by a factor of e^r at most on a step that changes predictions by r, so of
    a long step log(1 + r) is safe. How far the predictions of rows move is known from their second moments alone, and
    r is _MANY_DEVIATIONS times that.
    """
    variances = np.append(problem.intercept, problem.coordinates.variances)
    far = _MANY_DEVIATIONS * math.sqrt(float(np.sum(step.reshape(-1, len(variances)) ** 2 @ variances)))
    beyond = max(far - _TRUSTED, 0.0)
    return step * ((_TRUSTED + math.log1p(beyond)) / far) if beyond else step


def kalman_gain_matrix(covariance: Array, hessian: Array, noise: float) -> Array:
    """Return what turns a gradient into a step, C H (H C H + noise^2)^-1, whatever curvatures a ridge has.

    Examples
    --------
    Two inputs whose ridge is so large that their slopes must stay equal, and an intercept that has none:

    >>> hessian = np.array([[0.25, 0.0, 0.0], [0.0, 1e12, 1e12], [0.0, 1e12, 1e12]])
    >>> (kalman_gain_matrix(np.eye(3), hessian, 0.1) @ [1.0, 1.0, 1.0]).round(3)
    array([3.448, 0.   , 0.   ])
    """
    seen = covariance @ hessian
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            gain = np.linalg.solve(hessian @ seen + noise**2 * np.eye(len(hessian)), seen.T).T
            if np.isfinite(gain).all():
                return gain
        except np.linalg.LinAlgError:
            pass
        # The ridge of a column that is measured in far too large a unit drowns all else: each in a unit of its own.
        units = np.maximum(np.abs(hessian).max(axis=1), noise)[:, None]
        scaled = hessian / units
        matrix = scaled @ covariance @ scaled.T + np.diag((noise / units[:, 0]) ** 2)
        right = np.nan_to_num(scaled @ covariance)
        return (np.linalg.lstsq(np.nan_to_num(matrix), right, rcond=None)[0] / units).T


def _solution(problem: Problem, fit: NewtonState) -> Solution:
    """Return the coefficients, with the covariance of their error where the loss allows it."""
    coefficients = _shrink_slopes(problem, fit)
    if not hasattr(problem.loss, "expected_square"):
        return Solution(coefficients, fit.covariance)
    statistic = problem.gradients(fit.coefficients)
    inverse = np.linalg.pinv(fit.hessian, rcond=1e-10, hermitian=True)
    square = _mean_product(problem, statistic, problem.loss.expected_square, 2)[0]
    sampling = inverse @ square @ inverse / problem.rows
    free = np.kron(problem.free_outputs, np.eye(fit.coefficients.shape[1]))
    return Solution(coefficients, fit.covariance, fit.covariance + free @ sampling @ free)


def _shrink_slopes(problem: Problem, fit: NewtonState) -> Array:
    """Return coefficients with slopes shrunk by how much of their predictions noise explains, where that is much.

    Steps were damped as if predictions were as large as was expected before.
    """
    variances, slopes = problem.coordinates.variances, fit.coefficients[:, 1:]
    errors = np.diag(fit.covariance).reshape(fit.coefficients.shape)[:, 1:]
    prior = float(np.trace(problem.free_outputs) * (variances @ problem.coordinates.prior))
    factor = james_stein_after_kalman(float(np.sum(variances * slopes**2)), float(np.sum(errors @ variances)), prior)
    return np.column_stack([fit.coefficients[:, :1], factor * slopes])


def _expected_hessian(problem: Problem, statistic: LossGradients, released: Measurement, rows: float) -> Array:
    """Return the Hessian (p, p) for Gaussian inputs, scaled to the trace that was measured, and the ridge's."""
    loss = problem.loss
    hessian, expected = _mean_product(problem, statistic, loss.expected_curvature, 1)
    measured = statistic.total_curvature(released.value) / rows / expected
    noise = released.noise * loss.smoothness / statistic.curvature / rows / expected
    ratio = 1.0 + (np.clip(measured, _LEAST_RATIO, _MOST_RATIO) - 1.0) / (1.0 + (noise / _RATIO_DEVIATION) ** 2)
    return hessian * ratio + np.kron(
        np.eye(len(statistic.coefficients)), problem.remaining_curvature(statistic) * problem.ridge
    )


def _mean_product(
    problem: Problem, statistic: LossGradients, expected: Callable[[Array], Array], power: int
) -> tuple[Array, float]:
    """Return the mean of w^power e z z' over Gaussian inputs z, (p, p), e being (K, K); and that of its diagonal e.

    w are the weights that the statistic gives to rows.
    """
    beta = statistic.coefficients
    points = _points(beta.shape[1] - 1) * np.sqrt(problem.coordinates.variances)
    z = np.column_stack([np.full(len(points), problem.intercept), points])
    predictions = beta @ z.T
    lengths = np.sqrt((z * z).sum(axis=1)) * problem.loss.derivatives(predictions, np.zeros(len(z)))[1]
    each = np.minimum(1.0, statistic.radius / np.maximum(lengths, 1e-300)) ** power * expected(predictions)
    product = np.einsum("abn,ni,nj->aibj", each, z, z, optimize=True).reshape(beta.size, beta.size)
    return product / len(z), max(float(np.einsum("aan->", each)) / (len(beta) * len(z)), 1e-12)


def secant(step: Array, before: Array, curved: Array, after: Array, curves: Array, noise: float) -> tuple[Array, Array]:
    """Return a step, and by how much the gradient changed otherwise than expected, in units of what was.

    The difference of gradients `before` and `after` has noise of this scale, and as much of the surprise as that
    explains is left out; `curved` and `curves` are the expected curvatures there. Where rounding leaves nothing of them
    along the step, as it may beside a ridge that is 10^16 times as large, there is nothing to compare with.
    """
    expected = (curved + curves) @ step / 2
    if not expected @ step > 0:
        return step, np.zeros_like(step)
    surprise = after - before - expected
    signal = float(james_stein_factor(_CAUTION * len(step) * noise**2, float(surprise @ surprise)))
    return step, surprise * (signal / max(float(expected @ step), 1e-300))


def correct_hessian(hessian: Array, secants: tuple[tuple[Array, Array], ...]) -> Array:
    """Return the expected curvature, corrected along steps by what was seen there.

    Each step moves the curvature along itself, as in Broyden, Fletcher, Goldfarb and Shanno's method.

    Examples
    --------
    >>> correct_hessian(np.eye(2), ((np.array([1.0, 0.0]), np.array([3.0, 0.0])),)).round(3)
    array([[4., 0.],
           [0., 1.]])
    """
    model = hessian
    for step, surprise in secants:
        expected, seen = hessian @ step, model @ step
        change = seen + surprise * float(seen @ step)
        along, before = float(change @ step), float(expected @ step)
        if before > 0 and along > _LEAST_SECANT * before:
            with np.errstate(over="ignore", invalid="ignore"):
                moved = hessian + np.outer(change, change) / along - np.outer(expected, expected) / before
            hessian = moved if np.isfinite(moved).all() else hessian
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


@dataclass(frozen=True)
class Newton(Solver):
    """The default solver: so many rounds of filtered Newton steps."""

    n_iter: int

    def steps(self, size: int, power: float, shares: int = 1) -> list[Step]:
        """Return the plan's steps."""
        return steps(self.n_iter, size, power, shares)

    def solve(self, problem: Problem, curator: Curator, after: AfterRelease = ignore) -> Solution:
        """Release gradients, and filter what they say of the coefficients."""
        return solve(problem, curator, self.n_iter, after)

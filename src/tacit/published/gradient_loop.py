"""The loop of published gradient EM: release a bounded mean of the rows' gradients, make a step along it, and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import noise_multiplier, selection_step
from tacit.fitting.parameters import check_count, check_positive, float_array
from tacit.fitting.progress import Watch
from tacit.fitting.published import PublishedMethod
from tacit.messages import describe
from tacit.privacy import Budget, Gaussian, Split, Step
from tacit.published.statistics.em_gradients import (
    EMGradient,
    MissingCovariateGradient,
    SymmetricMixtureGradient,
    SymmetricRegressionGradient,
)
from tacit.release import Choice, Curator, generator
from tacit.statistics import RobustSum, RowCount

# Names of the plan's steps.
ROWS, CHOICE, GRADIENT = "number of rows", "columns", "gradient"

RowModel = Literal["symmetric mixture", "symmetric regressions", "missing covariates"]
Gradients = Callable[..., EMGradient]  # Of beta and a truncation.
_GRADIENTS: dict[RowModel, Gradients] = {
    "symmetric mixture": SymmetricMixtureGradient,
    "symmetric regressions": SymmetricRegressionGradient,
    "missing covariates": MissingCovariateGradient,
}

# Part of the budget that counts the rows, where their number is secret, relative to that of all gradients. At epsilon 1
# and delta 1e-6, the count is off by 43 rows (one standard deviation), and gradients have half a percent more noise.
_COUNT_PART = 0.01
# Length of a random start, in scales: the papers' ratio of coefficients to noise. experiments/gradient_em.py measures
# what it gives.
_START_LENGTH = 3.0
# Largest coefficient, in scales. Beyond it, Gaussians are flat to a computer.
_MOST_SIGNAL = 1e6


@dataclass(frozen=True)
class GradientSchedule:
    """The releases of gradient EM: public numbers, from which the plan and the fit both follow.

    Parameters
    ----------
    columns : int
    n_rows : int or None
        Number of rows, where it is public. Otherwise it is released first.
    iterations : int
    sparsity : int or None
        Number of coefficients that each step keeps. None keeps all.
    split : bool
        Whether each row is used in one step alone.
    """

    columns: int
    n_rows: int | None
    iterations: int
    sparsity: int | None = None
    split: bool = False

    @property
    def n_releases(self) -> int:
        """Number of releases, where the choices of one step count as one."""
        return (self.n_rows is None) + self.iterations * (1 if self.sparsity is None else 2)

    def steps(self) -> list[Step]:
        """Return the plan's steps, with noise relative to each other."""
        kept, count = self.sparsity or self.columns, 1 if self.split else self.iterations
        steps: list[Step] = [Gaussian(GRADIENT, 1.0, count, kept)]
        if self.sparsity is not None:
            steps.insert(0, selection_step(CHOICE, count, count * kept, self.columns))
        if self.split:
            steps = [Split(self.iterations, step) for step in steps]
        if self.n_rows is None:
            steps.insert(0, Gaussian(ROWS, noise_multiplier(_COUNT_PART * count)))
        return steps


@dataclass(frozen=True, kw_only=True)
class GradientMethod(PublishedMethod):
    """What the methods of :mod:`tacit.published.gradient_em` share: options, the start, and the loop.

    Subclasses say in ``bound`` how gradients are bounded.
    """

    scale: float | None = None
    init: Any = "random"
    as_printed: bool = False
    n_iter: int = 22

    learning_rate: ClassVar[float] = 1.0
    split: ClassVar[bool] = False

    def __post_init__(self) -> None:
        name = type(self).__name__
        if self.scale is None:
            raise ValueError(
                f"{name} takes the standard deviation of the noise to be known; pass it as scale, as in "
                f'method=tacit.published.{name}(scale=0.5), or use method="moments", which estimates it.'
            )
        check_positive("scale", self.scale)
        check_positive("learning_rate", self.learning_rate)
        check_count("n_iter", self.n_iter)
        if isinstance(self.init, str) and self.init == "random":
            return
        start = float_array(self.init)
        if start is None or start.ndim != 1 or not np.isfinite(start).all():
            raise ValueError(
                f'init must be "random" or finite numbers, one for each column, and it is {describe(self.init)}.'
            )
        object.__setattr__(self, "init", tuple(start.tolist()))  # Methods with the same options are equal.

    def schedule(self, columns: int, n_rows: int | None, sparsity: int | None) -> GradientSchedule:
        """Return the releases of a fit."""
        return GradientSchedule(columns, n_rows, self.n_iter, sparsity, self.split)

    def start(self, columns: int, random_state: Any = None) -> Array:
        """Return the coefficients to start from: those given, or a direction drawn without a look at any row."""
        if self.init == "random":
            direction = generator(random_state).numpy().normal(size=columns)
            return _START_LENGTH * self.scale * direction / np.linalg.norm(direction)
        if len(self.init) != columns:
            raise ValueError(
                f'init must be "random" or {columns} finite number(s), one for each column, and it has '
                f"{len(self.init)}."
            )
        return np.array(self.init)

    def bound(self, gradients: Gradients, beta: Array, columns: Array, rows: float, budget: Budget) -> RobustSum:
        """Return the bounded sum of the gradients at beta of about `rows` rows, in these columns."""
        raise NotImplementedError

    def iterate(
        self, curator: Curator, schedule: GradientSchedule, row_model: RowModel, start: Array, budget: Budget
    ) -> Iterator[Array]:
        """Yield the private coefficients (d,) after each step.

        Parameters
        ----------
        curator : Curator
            Its plan must have the schedule's steps, calibrated. Rows are in their own units.
        schedule : GradientSchedule
        row_model : {"symmetric mixture", "symmetric regressions", "missing covariates"}
            Which model the gradients are of.
        start : (d,) array
            Public.
        budget : Budget
            The scale of robust methods depends on it.
        """

        def gradients(beta: Array, truncation: float | None = None) -> EMGradient:
            return _GRADIENTS[row_model](beta, float(self.scale), truncation, bool(self.as_printed))

        beta, every_column = start, np.arange(schedule.columns)
        rows = schedule.n_rows
        if rows is None:
            measurement = curator.measure(ROWS, RowCount(gradients(beta)))
            rows = max(float(measurement.value[0]), measurement.noise, 1.0)
        rows_used = rows / (schedule.iterations if schedule.split else 1)
        most = _MOST_SIGNAL * self.scale

        for _ in range(schedule.iterations):
            columns = every_column
            if schedule.sparsity is not None:
                statistic = self.bound(gradients, beta, every_column, rows, budget)
                choice = largest_after_step(statistic, beta, self.learning_rate, rows_used, schedule.sparsity)
                columns = np.sort(curator.choose(CHOICE, choice)[0])
            statistic = self.bound(gradients, beta, columns, rows, budget)
            value = curator.measure(GRADIENT, statistic).value
            mean = statistic.centre + statistic.half_width * value / rows_used
            after = np.zeros(schedule.columns)
            after[columns] = np.clip(beta[columns] + self.learning_rate * mean, -most, most)
            beta = after
            yield beta

    def fit_coefficients(
        self,
        curator: Curator,
        schedule: GradientSchedule,
        row_model: RowModel,
        start: Array,
        budget: Budget,
        watch: Watch = lambda done, total: None,
    ) -> Array:
        """Return the coefficients after the last step; call ``watch(done, total)`` after each."""
        beta, steps = start, self.iterate(curator, schedule, row_model, start, budget)
        for done in range(schedule.iterations):
            beta = next(steps)
            watch(done + 1, schedule.iterations)
        return beta


def largest_after_step(gradients: RobustSum, beta: Array, rate: float, rows: float, count: int) -> Choice:
    """Return the choice of the coefficients that a step makes largest.

    In sums with one half-width h for all columns, a coefficient after the step is rate h / rows times
    (the sum + rows (beta / rate + centre) / h).
    """
    sums = replace(gradients, scale=np.full(len(beta), gradients.scale.max()))
    offset = rows * (beta / rate + sums.centre) / sums.half_width
    return Choice(sums, count, "either", offset=offset)

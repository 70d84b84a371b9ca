"""What a solver is: the steps that it plans, and a function that makes these releases and returns coefficients."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tacit.arrays import Array
from tacit.fitting.progress import Watch
from tacit.linear.problem import Problem
from tacit.privacy import Step
from tacit.release import Curator

AfterRelease = Callable[[str, Array], None]
"""What is called after each release: with the name of its step, and the coefficients if the search ended there."""


def ignore(step: str, coefficients: Array) -> None:
    """Do nothing after a release."""


def count_releases(watch: Watch, total: int) -> AfterRelease:
    """Return what moves a progress bar after each release."""
    done = itertools.count(1)
    return lambda step, coefficients: watch(next(done), total)


@dataclass(frozen=True, eq=False)
class Solution:
    """What a solver returns.

    Parameters
    ----------
    coefficients : (K, 1 + d) array
        In the coordinates of the problem, the intercept of each prediction first.
    noise_covariance : (p, p) array, optional
        Of the error that noise has caused in the coefficients, where the solver knows it.
    covariance : (p, p) array, optional
        Of the error of the coefficients, by sampling and noise together, where the solver knows it.
    """

    coefficients: Array
    noise_covariance: Array | None = None
    covariance: Array | None = None


@dataclass(frozen=True, eq=False)
class Solver:
    """A way to minimise a mean loss, as functions.

    Parameters
    ----------
    solve : callable
        ``solve(problem, curator, iterations, after)`` returns a :class:`Solution`.
    steps : callable
        ``steps(iterations, size, power, shares)`` returns the plan's steps, with noise relative to each other: of
        releases of `size` numbers, for the part `power` of the budget in squared signal-to-noise, of rows that are
        dealt out into `shares`.
    default_iterations : callable
        Of the number of columns.
    releases : callable, optional
        ``releases(iterations)`` returns how often ``after`` is called.
    refusal : callable, optional
        ``refusal(risk, n_iter)`` returns why this :class:`tacit.linear.risk.Risk` cannot be minimised with this solver
        and this parameter; None if it can.
    measures_inputs : bool, default True
        Whether moments of inputs are released first.
    """

    solve: Callable[[Problem, Curator, int, AfterRelease], Solution]
    steps: Callable[[int, int, float, int], list[Step]]
    default_iterations: Callable[[int], int]
    releases: Callable[[int], int] = lambda iterations: iterations
    refusal: Callable[[Any, Any], str | None] = lambda risk, n_iter: None
    measures_inputs: bool = True

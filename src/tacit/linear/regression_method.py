"""How a linear regression is fitted: the plan's steps, and the function that makes the releases they plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tacit.fitting.progress import Watch
from tacit.linear.linear_fit import LinearFit
from tacit.linear.newton_regression import NewtonSchedule, fit_by_newton
from tacit.linear.score_regression import fit_by_scores
from tacit.linear.score_schedule import ScoreSchedule
from tacit.privacy import Budget, Relation, Step
from tacit.release import Curator
from tacit.statistics import TableLayout
from tacit.tables import Domain


@dataclass(frozen=True, eq=False)
class RegressionMethod:
    """A way to fit a linear regression, from public numbers.

    Parameters
    ----------
    steps : list of Step
        The plan's steps, with noise relative to each other.
    releases : int
        How many releases a fit makes.
    fit : callable
        Of a curator, the domain of inputs and target, and what watches progress. It returns the fit in the coordinates
        that the curator has rows in.
    check : callable
        Of a curator. It refuses what cannot be fitted, while nothing is charged yet.
    """

    steps: Sequence[Step]
    releases: int
    fit: Callable[[Curator, Domain, Watch], LinearFit]
    check: Callable[[Curator], object] = lambda curator: None


def default_method(
    layout: TableLayout, neighbors: Relation, rows: int | None, budget: Budget, intercept: bool
) -> RegressionMethod:
    """Return the default method: Newton steps where inputs have levels, and scores where all of them are numbers.

    Parameters
    ----------
    layout : TableLayout
        Where numbers and levels are found in rows; the target, last, is a number.
    neighbors : {"replace_one", "add_remove"}
    rows : int or None
        The number of rows, where it is public.
    budget : Budget
    intercept : bool
        Whether there is an intercept.
    """
    fit: Callable[..., LinearFit]
    schedule: NewtonSchedule | ScoreSchedule
    if layout.levels:
        fit, schedule = fit_by_newton, NewtonSchedule(layout, neighbors, rows, budget)
    else:
        fit, schedule = fit_by_scores, ScoreSchedule(layout.numbers[-1], neighbors, rows, budget)

    def fit_in(curator: Curator, domain: Domain, watch: Watch) -> LinearFit:
        origin = None if intercept else -domain.centre / domain.scale
        return fit(curator, schedule, origin, domain.least_variances, watch)

    return RegressionMethod(schedule.steps(), schedule.releases, fit_in)

"""A curator that shows some columns of the rows: what fits a model to selected columns, or to columns of one kind."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.privacy import Plan
from tacit.release import Curator, Measurement, Statistic
from tacit.statistics import OnColumns


@dataclass(frozen=True, eq=False)
class ColumnView:
    """A curator whose statistics see these columns alone, in this order.

    Parameters
    ----------
    curator : Curator
    columns : tuple of int
        Public, or private already.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.privacy import Budget, Gaussian
    >>> from tacit.release import calibrated_plan
    >>> from tacit.sources import as_source
    >>> from tacit.statistics import RobustSum
    >>> plan = calibrated_plan([Gaussian("sum", 1.0)], Budget(1.0, 1e-6))
    >>> curator = Curator(as_source(np.tile([0.0, 0.5], (10_000, 1))), plan, random_state=0)
    >>> view = ColumnView(curator, (1,))
    >>> bool(abs(view.measure("sum", RobustSum(np.zeros(1), np.ones(1))).value[0] - 5000) < 50)
    True
    """

    curator: Curator
    columns: tuple[int, ...]

    @property
    def plan(self) -> Plan:
        """The curator's plan."""
        return self.curator.plan

    def measure(self, step: str, statistic: Statistic) -> Measurement:
        """Return the statistic's noisy sum over rows of these columns, and the noise's scale."""
        return self.curator.measure(step, OnColumns(statistic, self.columns))

    def noise(self, step: str, statistic: Statistic) -> float:
        """Return the scale of the noise that ``measure`` adds to a number."""
        return self.curator.noise(step, OnColumns(statistic, self.columns))

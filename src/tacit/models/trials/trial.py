"""What trials of several models share: a simulated table with its judge, and figures with names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tacit.models.card import Figure

__all__ = ["FOUND", "LOG_LIKELIHOOD_LOST", "MEAN_ERROR", "NEAR", "TEST_ROWS", "WEIGHT_ERROR", "SimulatedTable"]

TEST_ROWS = 10_000  # New rows that fits are judged by.
NEAR = 1.0  # Standard deviations, per column, within which a component or a centre counts as found.

LOG_LIKELIHOOD_LOST = Figure("log-lik. lost", "{value:.3f}", worst=True)
MEAN_ERROR = Figure("means off by", "{value:.3f}")
WEIGHT_ERROR = Figure("weights off by", "{value:.2%}")
FOUND = Figure("found", "{value:.1f} of {size}")


class SimulatedTable(NamedTuple):
    """Rows to fit, a judge that returns figures of a fit to them by name, and the target, where there is one."""

    rows: Any
    judge: Callable[[Any], dict[str, float]]
    target: tuple[Any, ...] = ()

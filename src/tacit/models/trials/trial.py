"""What every trial of a model has: a simulated table, a judge, and figures with names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["FIGURES", "NEAR", "TEST_ROWS", "SimulatedTable"]

TEST_ROWS = 10_000
NEAR = 1.0  # Standard deviations, per column, within which a component or a centre counts as found.

#: What figures are called in a table, and how they are written.
FIGURES = {
    "gap": ("log-lik. lost", "{:.3f}"),
    "worst_gap": ("at worst", "{:.3f}"),
    "excess": ("distance² more", "{:.1%}"),
    "worst_excess": ("at worst", "{:.1%}"),
    "mean_error": ("means off by", "{:.3f}"),
    "level_error": ("levels off by", "{:.2%}"),
    "weight_error": ("weights off by", "{:.2%}"),
    "centre_error": ("centres off by", "{:.3f}"),
    "deviation_error": ("deviations off by", "{:.1%}"),
    "correlation_error": ("correlations off by", "{:.3f}"),
    "prediction_error": ("predictions off by", "{:.3f}"),
    "factors_kept": ("factors kept", "{:.0%}"),
    "found": ("found", "{:.1f}"),
}


class SimulatedTable(NamedTuple):
    """Rows to fit, a judge that returns figures of a fit to them by name, and the target, where there is one."""

    rows: Any
    judge: Callable[[Any], dict[str, float]]
    target: tuple[Any, ...] = ()

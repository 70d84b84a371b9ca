"""What accuracy to expect of a private model: by simulation, from public numbers alone, before anything is spent.

Tables are drawn at random inside the bounds, of the kinds of columns that the schema has, and both a private and an
ordinary fit are made. A real table is at best roughly as simple as these. So the figures are what privacy costs, beside
whatever an ordinary model would miss too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.cautions import CautionWarning
from tacit.models.card import Trial
from tacit.models.registry import forecast_cards
from tacit.models.trials.simulation import Setting
from tacit.models.trials.trial import TEST_ROWS
from tacit.privacy import Plan

__all__ = ["Expectation", "forecast", "simulated_rows"]

_MOST_CELLS = 10_000_000  # Cells of a simulated table, 80 MB.


@dataclass(frozen=True)
class Expectation:
    """What a fit at one epsilon comes to, compared with an ordinary one, on average over simulated tables.

    Parameters
    ----------
    epsilon : float
    figures : dict from str to float
        By name: those that the model's card lists, on average over tables. For some there is the one of the worst
        table as well, such as "worst_gap" beside "gap".
    plan : Plan
        What would be released, with how much noise.
    """

    epsilon: float
    figures: dict[str, float]
    plan: Plan


def simulated_rows(rows: int, columns: int) -> int:
    """Return how many rows to simulate: all of them, up to a limit on memory. With more rows a fit is more accurate.

    Examples
    --------
    >>> simulated_rows(20_000, 10), simulated_rows(10**9, 10)
    (20000, 1000000)
    """
    return min(rows, max(TEST_ROWS, _MOST_CELLS // columns))


def forecast(
    kind: str,
    setting: Setting,
    rows: int,
    size: int | None,
    epsilons: Sequence[float],
    *,
    delta: float = 1e-6,
    tables: int = 3,
    seed: int = 0,
    advance: Callable[[int], None] = lambda steps: None,
    **options: Any,
) -> list[Expectation]:
    """Return what to expect at each epsilon.

    Parameters
    ----------
    kind : str
        The name of a command: "mixture", "kmeans", ...
    setting : Setting
        What is publicly known about columns.
    rows : int
    size : int or None
        How many components, clusters or factors.
    epsilons : sequence of float
    delta : float
    tables : int, default 3
        How many tables to try.
    seed : int
        The seed of the simulation, which concerns no one's rows. The same seed gives the same figures.
    advance : callable, optional
        Called as ``advance(1)`` after each fit; there are ``tables * (1 + len(epsilons))``.
    **options
        Passed on to the estimator: covariance_type, method, neighbors.

    Examples
    --------
    >>> setting = Setting.of(None, columns=2)
    >>> few, many = (forecast("mixture", setting, rows, 2, [1.0], tables=1)[0] for rows in (300, 10_000))
    >>> many.figures["gap"] < few.figures["gap"], many.figures["found"]
    (True, 2.0)
    """
    card = forecast_cards()[kind]
    told: dict[str, Any] = {"bounds": setting.bounds, **options}
    if size is not None:
        told[card.trial.size.parameter] = size
    if card.target is not None and setting.domain.schema is None:
        told |= {"target_bounds": setting.bounds} if card.target == "number" else {"classes": [0, 1]}
    judged: list[list[dict[str, float]]] = [[] for _ in epsilons]
    plans: list[Plan] = []
    for table in range(tables):
        simulated = card.trial.draw(setting, rows, size, options, np.random.default_rng([seed, table]))
        advance(1)
        for index, epsilon in enumerate(epsilons):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore" if table or index else "default", UserWarning)  # Each of them once.
                warnings.simplefilter("ignore", CautionWarning)  # The figures say how much a result is worth.
                private = card.estimator(epsilon=epsilon, delta=delta, random_state=table, **told)
                private.fit(simulated.rows, *simulated.target)
            plans.append(private.privacy_.plan)
            judged[index].append(simulated.judge(private))
            advance(1)
    figures = [_figures(each, card.trial) for each in judged]
    return [Expectation(*each) for each in zip(epsilons, figures, plans)]


def _figures(judged: list[dict[str, float]], trial: Trial) -> dict[str, float]:
    """Return the mean of each figure over tables and, where it is asked for, the worst."""
    figures: dict[str, float] = {}
    for name in judged[0]:
        values = [each[name] for each in judged]
        figures[name] = float(np.mean(values))
        if trial.figures[name].worst:
            figures[f"worst_{name}"] = max(values)
    return figures

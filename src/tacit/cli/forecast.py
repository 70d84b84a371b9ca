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

from tacit.models.registry import TRIALS
from tacit.models.trials.simulation import Setting
from tacit.models.trials.trial import TEST_ROWS
from tacit.privacy import Plan

__all__ = ["Expectation", "forecast", "simulated_rows"]

_MOST_CELLS = 10_000_000
_WORST = {"gap": "worst_gap", "excess": "worst_excess"}  # figures of which the worst table is told as well


@dataclass(frozen=True)
class Expectation:
    """What a fit at one epsilon comes to, compared with an ordinary one, on average over simulated tables.

    Parameters
    ----------
    epsilon : float
    figures : dict from str to float
        By name. Of a mixture: "gap" and "worst_gap", log-likelihood lost on new rows in nats per row, on average and on
        the worst table; "mean_error", how far means are off, in standard deviations of their component; "level_error",
        the share of rows that levels give to other levels; "weight_error", the same of components; "found", how many
        components are within one standard deviation of where they belong. What other models have is in
        their cards, :mod:`tacit.models`.
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
        Of the simulation, which concerns no one's rows: the same seed gives the same figures.
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
    card = TRIALS[kind]
    create = card.trial.create or card.estimator
    judged: list[list[dict[str, float]]] = [[] for _ in epsilons]
    plans: list[Plan] = []
    for table in range(tables):
        simulated = card.trial.draw(setting, rows, size, options, np.random.default_rng([seed, table]))
        advance(1)
        for index, epsilon in enumerate(epsilons):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore" if table or index else "default", UserWarning)  # each of them once
                private = create(
                    *([] if size is None else [size]),
                    epsilon=epsilon,
                    delta=delta,
                    bounds=setting.bounds,
                    random_state=table,
                    **options,
                ).fit(simulated.rows, *simulated.target)
            plans.append(private.privacy_.plan)
            judged[index].append(simulated.judge(private))
            advance(1)
    return [Expectation(epsilon, _figures(each), plan) for epsilon, each, plan in zip(epsilons, judged, plans)]


def _figures(judged: list[dict[str, float]]) -> dict[str, float]:
    figures: dict[str, float] = {}
    for name in judged[0]:
        values = [each[name] for each in judged]
        figures[name] = float(np.mean(values))
        if name in _WORST:
            figures[_WORST[name]] = max(values)
    return figures

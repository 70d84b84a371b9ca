"""A model of few columns out of many: they are chosen first, and then the model never sees others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tacit.fitting.engine import Model, Noise
from tacit.privacy import Step
from tacit.regressions.screening import Screened, Screening
from tacit.release import Statistic
from tacit.statistics import OnColumns


@dataclass(frozen=True, eq=False)
class Sparse:
    """Where a fit stands: what screening found, and once that is done, the model and where it stands."""

    screened: Screened
    model: Any = None
    state: Any = None

    @property
    def rows(self) -> float | None:
        """How many rows there are, as far as is known."""
        return None if self.state is None else self.state.rows


@dataclass
class SparseMoments:
    """Screening and then a model of the columns it chose, run by :func:`tacit.fitting.engine.run`.

    Parameters
    ----------
    screening : Screening
    model : callable
        ``model(screened)`` returns the model of the columns that were chosen, in ascending order. Its steps may not
        depend on which they are.
    """

    screening: Screening
    model: Callable[[Screened], Model[Any]]
    rounds: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self._any = self.model(self._some())
        self.rounds = [*self.screening.rounds, *self._any.rounds]

    def _some(self) -> Screened:
        count = self.screening.sparsity
        return Screened(columns=tuple(range(count)), signs=(1,) * count)

    def steps(self) -> list[Step]:
        """Return the plan's steps."""
        steps = self._any.steps()
        return [*self.screening.steps(sum(step.weight for step in steps)), *steps]

    def start(self) -> Sparse:
        """Return what is known before any row is read."""
        return Sparse(self.screening.start())

    def statistic(self, state: Sparse, index: int, noise: Noise) -> tuple[Sparse, Statistic]:
        """Return what the next round chooses from, or what it releases of the columns that were chosen."""
        before = len(self.screening.rounds)
        if index < before:
            screened, choice = self.screening.statistic(state.screened, index, noise)
            return replace(state, screened=screened), choice
        if state.model is None:
            order = np.argsort(state.screened.columns)
            columns, signs = (np.array(each)[order] for each in (state.screened.columns, state.screened.signs))
            screened = replace(state.screened, columns=tuple(columns.tolist()), signs=tuple(signs.tolist()))
            model = self.model(screened)
            state = Sparse(screened, model, model.start())
        columns = self._columns(state)
        inner, statistic = state.model.statistic(
            state.state, index - before, lambda statistic: noise(OnColumns(statistic, columns))
        )
        return replace(state, state=inner), OnColumns(statistic, columns)

    def _columns(self, state: Sparse) -> tuple[int, ...]:
        target = (len(self.screening.origin) - 1,) if self.screening.screen != "spread" else ()
        return (*state.screened.columns, *target)

    def update(self, state: Sparse, index: int, statistic: Any, released: Any, noise: float) -> Sparse:
        """Hand on what was chosen or released."""
        before = len(self.screening.rounds)
        if index < before:
            screened = self.screening.update(state.screened, index, statistic, released, noise)
            return replace(state, screened=screened)
        inner = state.model.update(state.state, index - before, statistic.statistic, released, noise)
        return replace(state, state=inner)

    def finish(self, state: Sparse) -> tuple[Screened, Any]:
        """Return what screening found, and the model's own result."""
        return state.screened, state.model.finish(state.state)

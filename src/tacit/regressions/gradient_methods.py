"""What estimators share that can also be fitted by the papers' gradient EM: its options, checked, and its start."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tacit.fitting import PrivateEstimator, check_choices, check_shapes, float_array
from tacit.messages import describe
from tacit.privacy import Budget
from tacit.regressions.gradient_em import GradientEM
from tacit.regressions.screening import Screened, Screening
from tacit.regressions.sparse_moments import SparseMoments
from tacit.release import Curator, generator
from tacit.statistics import EMGradient
from tacit.statistics.components import Array
from tacit.statistics.screening_values import Screen
from tacit.tables import Domain

_SIGNAL = 3.0  # the papers' ratio of coefficients to noise: how long a random start is, in scales
_MOST_SIGNAL = 1e6  # that a coefficient may have, in scales: Gaussians of more are flat, as computers see them


class GradientMethods(PrivateEstimator):
    """An estimator with ``method="moments"``, and with those of :class:`tacit.regressions.gradient_em.GradientEM`.

    Subclasses take ``method, scale, sparsity, init, learning_rate, clip, moment_bound, truncation, split, as_printed,
    n_iter``. Gradients are those of rows in their own units, brought inside the bounds where there are any.
    """

    @property
    def _needs_bounds(self) -> bool:  # type: ignore[override]
        return self.method == "moments"

    def _check_gradient_options(self, methods: Sequence[str]) -> None:
        """Refuse, in a sentence, what makes no sense."""
        check_choices(self, method=("moments", *methods))
        for name in ("learning_rate", "clip", "moment_bound", "truncation", "scale"):
            value, free = getattr(self, name), name in ("truncation", "scale")
            number = isinstance(value, numbers.Real) and not isinstance(value, bool)
            if not (free and value is None) and not (number and 0 < value < math.inf):
                raise ValueError(f"{name} must be {'None or ' * free}a positive number, and it is {describe(value)}.")
        if self.sparsity is not None and (
            not isinstance(self.sparsity, numbers.Integral) or isinstance(self.sparsity, bool) or self.sparsity < 1
        ):
            raise ValueError(
                f"sparsity must be None or a whole number, at least 1, and it is {describe(self.sparsity)}."
            )
        if self.method == "moments":
            if self.sparsity is None and self._guess_given():
                raise ValueError('method="moments" needs no start; leave out init, or choose another method.')
        elif self.scale is None:
            raise ValueError(
                f'method="{self.method}" takes the standard deviation of the noise to be known; pass it as scale, or '
                'use method="moments", which estimates it.'
            )
        if self.split and self.method != "truncated":
            raise ValueError(f'split=True is for method="truncated", and method is "{self.method}".')

    def _gradient_em(
        self, gradient: Callable[..., EMGradient], columns: int, n_rows: int | None, budget: Budget
    ) -> GradientEM:
        """Return the model that the engine runs; `gradient` is a class of gradients."""

        def at(beta: Array, truncation: float | None = None) -> EMGradient:
            return gradient(beta, float(self.scale), truncation, bool(self.as_printed))

        self._check_columns(columns)
        return GradientEM(
            at,
            self._begin(columns),
            n_rows,
            budget,
            _MOST_SIGNAL * self.scale,
            self.method,
            self.n_iter,
            self.learning_rate,
            self.clip,
            self.moment_bound,
            self.truncation,
            bool(self.split),
            self.sparsity,
        )

    def _sparse(
        self,
        screen: Screen,
        origin: Array,
        model: Callable[[Screened], Any],
        guess: Array | None = None,
        *,
        centred: bool = False,
    ) -> SparseMoments:
        """Return the model that chooses columns first; `guess` is a direction to fold rows along, if there is one."""
        self._check_columns(len(origin) - (screen != "spread"))
        return SparseMoments(Screening(screen, self.sparsity, origin, centred, guess), model)

    def _check_columns(self, columns: int) -> None:
        if self.sparsity is not None and self.sparsity > columns:
            raise ValueError(f"sparsity is {self.sparsity}, and there are {columns} column(s); it can be at most that.")

    def _guess_given(self) -> bool:
        return not isinstance(self.init, str) or self.init != "random"

    def _guess(self, columns: int) -> Array | None:
        """Return the start that was given, if any; one that is 0 everywhere says nothing."""
        start = self._begin(columns) if self._guess_given() else None
        return start if start is not None and start.any() else None

    def _chosen(self, found: Any) -> Any:
        """Set ``support_`` where columns were chosen, and return what was found of them."""
        if hasattr(self, "support_"):
            del self.support_  # of an earlier fit
        if self.sparsity is None:
            return found
        columns, found = (found[0].columns, found[1]) if self.method == "moments" else (np.flatnonzero(found), found)
        self.support_ = np.array(columns, dtype=np.int64)
        return found

    def _among_all(self, values: Array, columns: int) -> Array:
        """Return numbers (..., chosen columns) among zeros for all other columns."""
        if self.sparsity is None:
            return values
        among = np.zeros((*values.shape[:-1], columns))
        among[..., self.support_] = values
        return among

    def _inputs_used(self) -> Array:
        """Return the columns that the model has: those that were chosen, or all."""
        return np.arange(self._domain.columns) if self.sparsity is None else self.support_

    def _stored_support(self) -> dict[str, Any]:
        """Return what a model file holds of the choice of columns."""
        return {} if self.sparsity is None else {"support": self.support_.tolist()}

    def _restore_support(self, values: dict[str, Any]) -> None:
        if self.sparsity is not None:
            self.support_ = np.array(values["support"], dtype=np.int64)
            check_shapes(support=(self.support_, (self.sparsity,)))
            if not ((self.support_ >= 0) & (self.support_ < self._domain.columns)).all():
                raise ValueError("the support must be places of columns")

    def _begin(self, columns: int) -> Array:
        """Return the start that was given, or one drawn without a look at any row."""
        if not self._guess_given():
            direction = generator(self.random_state).numpy().normal(size=columns)
            return _SIGNAL * self.scale * direction / np.linalg.norm(direction)
        start = float_array(self.init)
        if start is None or start.shape != (columns,) or not np.isfinite(start).all():
            raise ValueError(
                f'init must be "random" or {columns} finite number(s), one for each column, and it is '
                f"{describe(self.init)}."
            )
        return start

    def _enter(self, curator: Curator, domain: Domain) -> Domain:
        domain = super()._enter(curator, domain)
        if self.method != "moments":
            curator.map_rows(domain.restoring_map)
        return domain

    def _gradient_notes(self) -> list[str]:
        """Return what the certificate has to say beside the method."""
        notes = []
        if self.sparsity is not None:
            when = "first" if self.method == "moments" else "anew in each step"
            notes.append(
                f"Columns that matter were chosen privately, {when}: {self.sparsity} of {self.n_features_in_}."
            )
        if self.split:
            steps = self.n_iter_ // (1 if self.sparsity is None else 2)  # in each, columns are chosen first
            notes.append(f"Rows were dealt out by secret random bits: each was used in one of {steps} steps.")
        if self.as_printed:
            notes.append("Formulas as printed in the papers, mistakes included.")
        return notes

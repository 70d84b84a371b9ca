"""The estimator: private least squares."""

from __future__ import annotations

from typing import Any

from tacit.erm.linear_model import LinearModel
from tacit.privacy import Account


class LinearRegression(LinearModel):
    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        bounds: Any = None,
        target_bounds: Any = None,
        neighbors: str = "replace_one",
        missing: str = "error",
        ledger: Account | None = None,
        random_state: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.neighbors = neighbors
        self.missing = missing
        self.ledger = ledger
        self.random_state = random_state
        self.verbose = verbose

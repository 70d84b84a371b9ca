"""Budgets, plans and their accounting, and the certificate that a fitted model carries.

Nothing here sees data. Mechanisms *describe* themselves as steps of a ``Plan``; only this package turns descriptions
into epsilons and deltas.
"""

from . import steps
from .budget import Budget, Relation, check_relation
from .certificate import Certificate, ReleaseRecord
from .errors import BudgetExceeded, LedgerError, PlanError, PrivacyError
from .ledger import Account, Ledger
from .plan import Plan
from .steps import (
    Gaussian,
    Laplace,
    Mechanism,
    Sampled,
    Selection,
    Smooth,
    SmoothGaussian,
    SmoothLaplace,
    Split,
    Step,
    TiltedGaussian,
)

__all__ = [
    "Account",
    "Budget",
    "BudgetExceeded",
    "Certificate",
    "Gaussian",
    "Laplace",
    "Ledger",
    "LedgerError",
    "Mechanism",
    "Plan",
    "PlanError",
    "PrivacyError",
    "Relation",
    "ReleaseRecord",
    "Sampled",
    "Selection",
    "Smooth",
    "SmoothGaussian",
    "SmoothLaplace",
    "Split",
    "Step",
    "TiltedGaussian",
    "check_relation",
]


def __getattr__(name: str) -> object:
    return steps.__getattr__(name)  # names of version 0.1 say what to write instead

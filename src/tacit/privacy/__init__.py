"""Budgets, plans and their accounting, and the certificate that a fitted model carries.

Nothing here sees data. Mechanisms *describe* themselves as steps of a ``Plan``; only this package turns descriptions
into epsilons and deltas.
"""

from .budget import Budget, Relation, check_relation
from .certificate import Certificate, ReleaseRecord
from .errors import BudgetExceeded, LedgerError, PlanError, PrivacyError
from .ledger import Account, Ledger
from .plan import Plan
from .steps import (
    Gaussian,
    Laplace,
    SampledGaussian,
    Selection,
    Smooth,
    SmoothGaussian,
    SmoothLaplace,
    Split,
    SplitGaussian,
    SplitSelection,
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
    "Plan",
    "PlanError",
    "PrivacyError",
    "Relation",
    "ReleaseRecord",
    "SampledGaussian",
    "Selection",
    "Smooth",
    "SmoothGaussian",
    "SmoothLaplace",
    "Split",
    "SplitGaussian",
    "SplitSelection",
    "Step",
    "TiltedGaussian",
    "check_relation",
]

"""Budgets, plans and their accounting, and the certificate that a fitted model carries.

Nothing here sees data. Mechanisms *describe* themselves as steps of a ``Plan``; only this package turns descriptions
into epsilons and deltas.
"""

from typing import TYPE_CHECKING

from tacit.lazy import lazy_names

from . import steps

if TYPE_CHECKING:
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
else:
    _get_attribute, __dir__ = lazy_names(
        __name__,
        {
            "tacit.privacy.budget": ["Budget", "Relation", "check_relation"],
            "tacit.privacy.certificate": ["Certificate", "ReleaseRecord"],
            "tacit.privacy.errors": ["BudgetExceeded", "LedgerError", "PlanError", "PrivacyError"],
            "tacit.privacy.ledger": ["Account", "Ledger"],
            "tacit.privacy.plan": ["Plan"],
            "tacit.privacy.steps": [
                "Gaussian",
                "Laplace",
                "Mechanism",
                "Sampled",
                "Selection",
                "Smooth",
                "SmoothGaussian",
                "SmoothLaplace",
                "Split",
                "Step",
                "TiltedGaussian",
            ],
        },
    )

    def __getattr__(name: str) -> object:
        if name in steps.NESTED:  # Names of version 0.1 say what to write instead.
            return steps.__getattr__(name)
        return _get_attribute(name)


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

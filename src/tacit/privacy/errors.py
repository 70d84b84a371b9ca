"""What can go wrong with a privacy guarantee, by name.

Every message is a sentence: what was wrong, what was expected, what to do. No message holds a value read from a row.
"""

__all__ = ["BudgetExceeded", "LedgerError", "PlanError", "PrivacyError"]


class PrivacyError(RuntimeError):
    """A guarantee could not be given. All errors of this package derive from it."""


class BudgetExceeded(PrivacyError):
    """A release would spend more than the data set's budget; nothing was charged or released."""


class LedgerError(PrivacyError):
    """The ledger could not be read or written; nothing was released."""


class PlanError(PrivacyError):
    """A plan cannot be accounted for, calibrated, composed or followed as asked."""

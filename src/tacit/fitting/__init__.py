"""What all private estimators do alike: check what they are told, open rows, plan, charge, certify."""

from tacit.fitting.estimator import PrivateEstimator
from tacit.fitting.parameters import check_budget, check_choices, check_shapes, checked_budget, float_array
from tacit.fitting.progress import progress

__all__ = [
    "PrivateEstimator",
    "check_budget",
    "check_choices",
    "check_shapes",
    "checked_budget",
    "float_array",
    "progress",
]

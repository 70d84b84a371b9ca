"""What all private estimators do alike: check what they are told, open rows, plan, charge, certify."""

from tacit.fitting.estimator import PrivateEstimator
from tacit.fitting.parameters import (
    check_budget,
    check_choices,
    check_count,
    check_positive,
    check_shapes,
    float_array,
)
from tacit.fitting.progress import progress
from tacit.lazy import former_names

__all__ = [
    "PrivateEstimator",
    "check_budget",
    "check_choices",
    "check_count",
    "check_positive",
    "check_shapes",
    "float_array",
    "progress",
]

__getattr__ = former_names(
    __name__,
    {"checked_budget": "check_budget"},
    {
        "SupervisedEstimator": "is gone: write a PrivateEstimator with _has_target = True, and open rows by "
        "tacit.fitting.target.open_with_target."
    },
)

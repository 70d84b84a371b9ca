"""Empirical risk minimisation: losses of linear predictions, and what minimises them privately."""

from tacit.erm.intervals import CoefficientIntervals
from tacit.erm.logistic_regression import LogisticRegression
from tacit.erm.losses import HuberLoss, LogisticLoss, SmoothedHingeLoss, SoftmaxLoss

__all__ = [
    "CoefficientIntervals",
    "HuberLoss",
    "LogisticLoss",
    "LogisticRegression",
    "SmoothedHingeLoss",
    "SoftmaxLoss",
]

"""Regression under differential privacy."""

from tacit.erm.lasso import ElasticNet, Lasso
from tacit.erm.linear_regression import LinearIntervals, LinearRegression
from tacit.erm.ridge import Ridge

__all__ = [
    "ElasticNet",
    "Lasso",
    "LinearIntervals",
    "LinearRegression",
    "Ridge",
]

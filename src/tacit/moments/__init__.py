"""Means and covariances released once, and the models that are made of them."""

from tacit.moments.factor_analysis import FactorAnalysis
from tacit.moments.moments import Moments

__all__ = ["FactorAnalysis", "Moments"]

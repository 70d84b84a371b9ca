"""Statistics of rows that may be heavy-tailed, or hold anything at all."""

from tacit.robust.mean import RobustMean, mean

__all__ = ["RobustMean", "mean"]

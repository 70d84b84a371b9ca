"""Bounded statistics that published methods alone use, each with its sensitivity proved.

They must be believed like those of :mod:`tacit.statistics`, when such a method is used.
"""

from tacit.published.statistics.block_estimates import BlockCentre, BlockSquares
from tacit.published.statistics.cluster_sums import ClusterSums
from tacit.published.statistics.em_gradients import (
    EMGradient,
    MissingCovariateGradient,
    SymmetricMixtureGradient,
    SymmetricRegressionGradient,
)
from tacit.published.statistics.influence import Shorten, Smoothed, smoothed_bound, smoothed_influence
from tacit.published.statistics.prediction_gradients import PredictionGradients, SomeValues
from tacit.published.statistics.trimmed_means import TrimmedMeans
from tacit.published.statistics.weighed_gradients import WeighedGradients

__all__ = [
    "BlockCentre",
    "BlockSquares",
    "ClusterSums",
    "EMGradient",
    "MissingCovariateGradient",
    "PredictionGradients",
    "Shorten",
    "Smoothed",
    "SomeValues",
    "SymmetricMixtureGradient",
    "SymmetricRegressionGradient",
    "TrimmedMeans",
    "WeighedGradients",
    "smoothed_bound",
    "smoothed_influence",
]

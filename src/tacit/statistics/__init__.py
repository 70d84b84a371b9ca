"""Bounded statistics: functions of one row whose sums may be released, each with its sensitivity proved."""

from tacit.statistics.centres import Centres
from tacit.statistics.cluster_moments import ClusterMoments
from tacit.statistics.cluster_sums import ClusterSums
from tacit.statistics.component_moments import (
    ComponentMoments,
    CovarianceType,
    moment_sensitivity,
    numbers_in_second_moment,
)
from tacit.statistics.component_squares import ComponentSquares
from tacit.statistics.components import Components
from tacit.statistics.magnitudes import Magnitudes

__all__ = [
    "Centres",
    "ClusterMoments",
    "ClusterSums",
    "ComponentMoments",
    "ComponentSquares",
    "Components",
    "CovarianceType",
    "Magnitudes",
    "moment_sensitivity",
    "numbers_in_second_moment",
]

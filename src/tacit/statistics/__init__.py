"""Bounded statistics: functions of one row whose sums may be released, each with its sensitivity proved."""

from tacit.statistics.column_moments import ColumnMoments
from tacit.statistics.component_moments import (
    ComponentMoments,
    CovarianceType,
    moment_sensitivity,
    numbers_in_second_moment,
)
from tacit.statistics.component_squares import ComponentSquares
from tacit.statistics.components import Components, DiagonalComponent
from tacit.statistics.magnitudes import Magnitudes

__all__ = [
    "ColumnMoments",
    "ComponentMoments",
    "ComponentSquares",
    "Components",
    "CovarianceType",
    "DiagonalComponent",
    "Magnitudes",
    "moment_sensitivity",
    "numbers_in_second_moment",
]

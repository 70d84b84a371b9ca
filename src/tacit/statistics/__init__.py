"""Bounded statistics: functions of one row whose sums may be released, each with its sensitivity proved."""

from tacit.statistics.component_moments import (
    ComponentMoments,
    CovarianceType,
    moment_sensitivity,
    numbers_in_second_moment,
)
from tacit.statistics.component_squares import ComponentSquares
from tacit.statistics.components import Components
from tacit.statistics.magnitudes import Magnitudes
from tacit.statistics.table_components import TableComponents, TableLayout
from tacit.statistics.table_moments import TableMoments, least_radius
from tacit.statistics.table_squares import TableSquares

__all__ = [
    "ComponentMoments",
    "ComponentSquares",
    "Components",
    "CovarianceType",
    "Magnitudes",
    "TableComponents",
    "TableLayout",
    "TableMoments",
    "TableSquares",
    "least_radius",
    "moment_sensitivity",
    "numbers_in_second_moment",
]

"""Bounded statistics: functions of one row whose sums may be released, each with its sensitivity proved."""

from tacit.lazy import former_names
from tacit.statistics.centres import Centres
from tacit.statistics.cluster_moments import ClusterMoments
from tacit.statistics.components import Components, DiagonalComponent
from tacit.statistics.counts.cell_counts import Bins, CellCounts, PairCounts
from tacit.statistics.counts.far_residuals import FarResiduals
from tacit.statistics.counts.far_rows import FarRows
from tacit.statistics.counts.length_counts import LengthCounts
from tacit.statistics.counts.magnitudes import Magnitudes
from tacit.statistics.counts.observed_cells import ObservedCells
from tacit.statistics.counts.outlier_count import OutlierCount
from tacit.statistics.influence import Clip, Influence
from tacit.statistics.likelihood_gains import LikelihoodGains
from tacit.statistics.loss_gradients import LossGradients, PredictionLoss
from tacit.statistics.moments.column_moments import ColumnMoments
from tacit.statistics.moments.component_moments import (
    ComponentMoments,
    CovarianceType,
    moment_sensitivity,
    numbers_in_second_moment,
)
from tacit.statistics.moments.component_squares import ComponentSquares
from tacit.statistics.moments.table_moments import TableMoments, least_radius
from tacit.statistics.moments.table_squares import TableSquares
from tacit.statistics.on_columns import OnColumns
from tacit.statistics.robust.robust_sum import RobustSum, RowCount, RowValues
from tacit.statistics.robust.trimmed_sum import TrimmedSum
from tacit.statistics.row_vectors import RowVectors, VectorModel
from tacit.statistics.scores.column_scores import ColumnScores
from tacit.statistics.scores.folded_scores import FoldedScores
from tacit.statistics.scores.input_scores import InputVectors, ResidualScores, VectorTails
from tacit.statistics.scores.linear_scores import LinearCurvature, LinearResiduals, LinearScores, ResidualVectors
from tacit.statistics.scores.missing_scores import MissingScores
from tacit.statistics.scores.regression_scores import RegressionScores
from tacit.statistics.screening_values import CellRanks, ScreeningValues
from tacit.statistics.table_components import TableComponents, TableLayout

__all__ = [
    "Bins",
    "CellCounts",
    "CellRanks",
    "Centres",
    "Clip",
    "ClusterMoments",
    "ColumnMoments",
    "ColumnScores",
    "ComponentMoments",
    "ComponentSquares",
    "Components",
    "CovarianceType",
    "DiagonalComponent",
    "FarResiduals",
    "FarRows",
    "FoldedScores",
    "Influence",
    "InputVectors",
    "LengthCounts",
    "LikelihoodGains",
    "LinearCurvature",
    "LinearResiduals",
    "LinearScores",
    "LossGradients",
    "Magnitudes",
    "MissingScores",
    "ObservedCells",
    "OnColumns",
    "OutlierCount",
    "PairCounts",
    "PredictionLoss",
    "RegressionScores",
    "ResidualScores",
    "ResidualVectors",
    "RobustSum",
    "RowCount",
    "RowValues",
    "RowVectors",
    "ScreeningValues",
    "TableComponents",
    "TableLayout",
    "TableMoments",
    "TableSquares",
    "TrimmedSum",
    "VectorModel",
    "VectorTails",
    "least_radius",
    "moment_sensitivity",
    "numbers_in_second_moment",
]

# Names of version 0.1 that published methods alone use.
_MOVED = (
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
)
__getattr__ = former_names(
    __name__,
    {},
    {name: f"is tacit.published.statistics.{name} now." for name in _MOVED}
    | {"StatedLoss": "is gone: the losses whose bounds are proved are the classes of tacit.statistics.losses."},
)

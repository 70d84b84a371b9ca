"""Bounded statistics: functions of one row whose sums may be released, each with its sensitivity proved."""

from tacit.lazy import moved_names
from tacit.statistics.centres import Centres
from tacit.statistics.cluster_moments import ClusterMoments
from tacit.statistics.cluster_sums import ClusterSums
from tacit.statistics.components import Components, DiagonalComponent
from tacit.statistics.counts.cell_counts import Bins, CellCounts, PairCounts
from tacit.statistics.counts.magnitudes import Magnitudes
from tacit.statistics.counts.observed_cells import ObservedCells
from tacit.statistics.counts.outlier_count import OutlierCount
from tacit.statistics.gradients.loss_gradients import LossGradients, PredictionGradients, PredictionLoss
from tacit.statistics.gradients.weighed_gradients import WeighedGradients
from tacit.statistics.influence import Clip, Influence, Shorten, Smoothed, smoothed_bound, smoothed_influence
from tacit.statistics.likelihood_gains import LikelihoodGains
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
from tacit.statistics.on_columns import OnColumns, SomeValues
from tacit.statistics.robust.block_estimates import BlockCentre, BlockSquares
from tacit.statistics.robust.robust_sum import RobustSum, RowCount, RowValues
from tacit.statistics.robust.trimmed_means import TrimmedMeans
from tacit.statistics.robust.trimmed_sum import TrimmedSum
from tacit.statistics.row_vectors import RowVectors, VectorModel
from tacit.statistics.scores.folded_scores import FoldedScores
from tacit.statistics.scores.linear_scores import LinearCurvature, LinearResiduals, LinearScores
from tacit.statistics.scores.missing_scores import MissingScores
from tacit.statistics.scores.regression_scores import RegressionScores
from tacit.statistics.screening_values import CellRanks, ScreeningValues
from tacit.statistics.table_components import TableComponents, TableLayout

__all__ = [
    "Bins",
    "BlockCentre",
    "BlockSquares",
    "CellCounts",
    "CellRanks",
    "Centres",
    "Clip",
    "ClusterMoments",
    "ClusterSums",
    "ColumnMoments",
    "ComponentMoments",
    "ComponentSquares",
    "Components",
    "CovarianceType",
    "DiagonalComponent",
    "FoldedScores",
    "Influence",
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
    "PredictionGradients",
    "PredictionLoss",
    "RegressionScores",
    "RobustSum",
    "RowCount",
    "RowValues",
    "RowVectors",
    "ScreeningValues",
    "Shorten",
    "Smoothed",
    "SomeValues",
    "TableComponents",
    "TableLayout",
    "TableMoments",
    "TableSquares",
    "TrimmedMeans",
    "TrimmedSum",
    "VectorModel",
    "WeighedGradients",
    "least_radius",
    "moment_sensitivity",
    "numbers_in_second_moment",
    "smoothed_bound",
    "smoothed_influence",
]

_EM_GRADIENTS = ("EMGradient", "MissingCovariateGradient", "SymmetricMixtureGradient", "SymmetricRegressionGradient")
__getattr__ = moved_names(__name__, dict.fromkeys(_EM_GRADIENTS, "tacit.published.em_gradients"))

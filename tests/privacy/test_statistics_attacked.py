"""Every statistic against its stated sensitivity: properties, searches for a counterexample, and ugly corners.

A statistic's bound is proved in its docstring. Here it is attacked: for every kind, both relations and both norms, with
ugly rows, degenerate parameters and the parameters that real fits arrive at. Where the proof says the bound is reached,
the search must reach it, which shows that the search is able to find what it looks for.
"""

import importlib
import inspect
import itertools
import pkgutil
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transcript import Transcript, hard_pair

import tacit
import tacit.published.statistics
import tacit.statistics
from tacit.audit import attack_sensitivity
from tacit.fitting.moment_weights import block_weights
from tacit.linear import ConvexLoss, HuberLoss, LogisticLoss, SmoothedHingeLoss, SoftmaxLoss
from tacit.privacy import Gaussian, Laplace, Plan
from tacit.published import DPEM, JointMoments
from tacit.published.statistics import ClusterSums, PredictionGradients, Shorten, Smoothed, SomeValues, WeighedGradients
from tacit.published.statistics.em_gradients import (
    MissingCovariateGradient,
    SymmetricMixtureGradient,
    SymmetricRegressionGradient,
)
from tacit.release import Affine, Curator
from tacit.release.precision import BLOCK_ROWS
from tacit.sources import BLOCK_ROWS as SOURCE_BLOCK_ROWS
from tacit.sources import as_source
from tacit.statistics import (
    Bins,
    CellCounts,
    CellRanks,
    Centres,
    Clip,
    ClusterMoments,
    ColumnMoments,
    ColumnScores,
    ComponentMoments,
    Components,
    ComponentSquares,
    DiagonalComponent,
    FarResiduals,
    FarRows,
    FoldedScores,
    InputVectors,
    LengthCounts,
    LikelihoodGains,
    LinearCurvature,
    LinearResiduals,
    LinearScores,
    LossGradients,
    Magnitudes,
    MissingScores,
    ObservedCells,
    OnColumns,
    OutlierCount,
    PairCounts,
    RegressionScores,
    ResidualScores,
    ResidualVectors,
    RobustSum,
    RowCount,
    ScreeningValues,
    TableComponents,
    TableLayout,
    TableMoments,
    TableSquares,
    TrimmedSum,
    VectorTails,
)
from tacit.statistics.losses import SquaredLoss

KINDS = ("full", "tied", "diag", "spherical")
RELATIONS = ("replace_one", "add_remove")
NORMS = ("l1", "l2")
COLUMNS = 2

FAR_APART = Components(
    np.array([0.3, 0.7]),
    np.array([[-6.0, 1.0], [5.0, 2.0]]),
    np.array([[[1.0, 0.0], [0.4, 0.5]], [[0.3, 0.0], [-0.2, 0.8]]]),
)
OVERLAPPING = Components(
    np.array([0.2, 0.5, 0.3]), np.array([[0.0, 0.0], [0.3, 0.1], [0.0, -0.4]]), np.stack([np.eye(2)] * 3) * 0.5
)
APART, LONE = Centres(np.array([[-0.5, 0.2], [0.9, -0.4]])), Centres(np.array([[0.2, -0.1]]))
UPRIGHT = DiagonalComponent(np.array([0.2, -0.1]), np.array([0.7, 0.1]))
ALONE = Components(np.ones(1), np.array([[0.2, -0.1]]), np.array([[[0.7, 0.0], [0.1, 0.2]]]))
REGRESSIONS = RegressionScores(
    np.array([0.4, 0.6]), np.array([[0.1, 0.5], [-0.2, -0.3]]), np.array([0.1, 0.4]), np.zeros(1), np.eye(1), 3.0
)
SYMMETRIC = Components(np.ones(1), np.array([[0.2, -0.1]]), np.array([[[0.7, 0.1], [0.1, 0.2]]]))


def moments(kind):
    """The statistic as fits use it: weights of the default method, of "joint" and of "per_parameter"."""
    count, mean = block_weights(COLUMNS, kind, "replace_one")
    return [
        ComponentMoments(FAR_APART, 1.5, count, mean, 1.0, kind),
        ComponentMoments(ALONE, 1.5, 1.0, 3.0, 1.0, kind),  # where opposite rows are the worst
        ComponentMoments(OVERLAPPING, 0.8, 1.0, 1.0, 1.0, kind, whitened=False),
        ComponentMoments(OVERLAPPING, 0.8, 0.0, 1.0, 0.0, kind, whitened=False, only=1),
        ComponentMoments(OVERLAPPING, 0.8, 0.0, 0.0, 1.0, kind, whitened=False, only=2),
        ComponentMoments(FAR_APART, 1.5, 1.0, 0.0, 0.0, kind),
        ComponentMoments(FAR_APART, 1.5, 0.0, 0.5, 2.0, kind, only=0),
    ]


# In two columns: a number and a yes or no; nothing but levels; numbers that may be missing. More in their own file.
NUMBER = Components(np.array([0.4, 0.6]), np.array([[-2.0], [2.0]]), np.array([[[1.0]], [[0.3]]]))
MIXED = TableComponents(TableLayout((0,), ((1,),)), NUMBER, np.array([[0.9, 0.1], [0.2, 0.8]]))
NOTHING = Components(np.array([0.4, 0.6]), np.empty((2, 0)), np.empty((2, 0, 0)))
LEVELS = TableComponents(
    TableLayout((), ((0,), (1,))), NOTHING, np.array([[0.9, 0.1, 0.5, 0.5], [1e-4, 1 - 1e-4, 0.7, 0.3]])
)
BINS = (Bins((0,), np.arange(2), np.array([-1.0, 0.2, 1.0]), missing=True), Bins((1,), np.arange(2)))

# Gradients of gradient EM: of rows of two columns, or of one and a target.
GRADIENTS = [
    SymmetricMixtureGradient(np.array([0.8, -0.6]), 0.3, 0.7),
    SymmetricRegressionGradient(np.array([1.2]), 0.3, 0.7),
    MissingCovariateGradient(np.array([1.2]), 0.3, 0.7),
    MissingCovariateGradient(np.array([-9.0]), 2.0, 0.7),
    MissingCovariateGradient(np.array([1.2]), 0.3, 0.7, as_printed=True),
]

# What columns are screened by: of rows of two columns, or of one and a target.
SCREENS = [
    ScreeningValues("spread", np.array([0.1, -0.2]), 0.3),
    ScreeningValues("folding", np.array([0.1, -0.2]), 0.3, direction=np.array([1.0, -2.0])),
    *(ScreeningValues(screen, np.array([0.1, -0.2]), 0.3, 0.7) for screen in ("interaction", "association")),
    *(ScreeningValues(screen, np.array([0.1, -0.2]), 0.3, 0.7, np.array([-1.0])) for screen in ("folding", "crossing")),
    CellRanks(np.array([0.1, 0.4, 2.0]), (0, 1), np.array([0.1, 0.0]), absolute=True),
    CellRanks(np.array([-0.3, 0.4]), (1,), np.array([0.1]), absolute=False),
    SomeValues(GRADIENTS[0], (1,)),
    SomeValues(GRADIENTS[3], (0,)),
]

# Rows of one input and a target; the second regression is that of a fit that has collapsed onto a crowd.
LINEAR = [
    LinearScores(np.array([0.1, 2.0]), 0.5, np.array([0.2]), np.array([[0.4]]), 3.0),
    LinearScores(np.array([0.0, -1.0]), 1e-6, np.array([0.2]), np.array([[1e-5]]), 1.5),
]

# Vectors of such rows: weighed inputs, scores with tails, residuals, and scores of the columns by themselves.
INPUTS = InputVectors(np.array([[1.0, 0.0], [-0.3, 2.5]]), 1.4)
NARROW = ResidualScores(InputVectors(np.array([[1.0, 0.0], [4e4, 2e5]])), np.array([0.1, -3.0]), 0.2, 1e-4)
VECTORS = [
    INPUTS,
    ResidualScores(INPUTS, np.array([0.1, 2.0]), 0.2, 0.5),
    NARROW,
    VectorTails(NARROW, 0.3),
    ResidualVectors(LinearResiduals(np.array([0.1, 2.0])), 0.5),
    ColumnScores(np.array([0.2, -0.1]), np.array([0.7, 1e-5])),
]

# Losses of predictions from one column, and one that is none of the things it says: it is steeper, and not finite.
SOFTMAX = SoftmaxLoss((1.0, 3.0, 0.5))
WRONG = ConvexLoss(lambda p, t: np.zeros_like(p), lambda p, t: np.zeros_like(p), 1e-3, 1e-3)
object.__setattr__(WRONG, "slope", lambda p, t: np.tan(p * t) * np.exp(t))

# Each with parameters that are hard for it: those with which one row moves the sum as far as the bound allows, or with
# which floating point is at its limits, such as components far apart, or scales of very different sizes.
STATISTICS = [
    *(RobustSum(np.zeros(each.size), np.ones(each.size), values=each) for each in SCREENS),
    OnColumns(RobustSum(np.zeros(1), np.ones(1), Shorten(), count=0.5), (1,)),
    OnColumns(ComponentMoments(ALONE, 1.5), (1, 0)),
    *(ComponentMoments(scores, 2.0, 0.5, 1.0, 0.7, kind) for scores in LINEAR for kind in ("full", "spherical")),
    *(ComponentMoments(LinearCurvature(scores, 2.0), scores.reach, 0.0, 0.0, 1.0) for scores in LINEAR),
    *(ComponentMoments(vectors, 0.9, 0.5, 1.0, 0.7) for vectors in VECTORS),
    *(ComponentMoments(vectors, 2.0, 0.0, 1.0, 0.0) for vectors in VECTORS),
    ComponentMoments(INPUTS, INPUTS.reach, 0.0, 0.0, 1.0),
    *(LengthCounts(vectors, 0.7) for vectors in VECTORS),
    *(
        RobustSum(np.zeros(1), np.array([0.7]), Clip(), LinearResiduals(np.array([0.1, 2.0]), squared))
        for squared in (False, True)
    ),
    RobustSum(
        np.zeros(2), np.full(2, 0.5), Smoothed(4.605), PredictionGradients(SquaredLoss(), np.array([[0.1, 2.0]]))
    ),
    RobustSum(
        np.zeros(1), np.full(1, 0.5), Smoothed(4.605), PredictionGradients(LogisticLoss(), np.array([[0.0, 2.0]]), 0.0)
    ),
    LossGradients(LogisticLoss(), np.array([[0.3, -2.0]]), 0.6),
    LossGradients(LogisticLoss((1.0, 5.0)), np.array([[0.3, -2.0]]), 0.6, curvature=0.5),
    LossGradients(SOFTMAX, np.array([[0.3, 1.0], [0.0, -4.0], [9.0, 0.1]]), 0.6, curvature=2.0),
    LossGradients(SmoothedHingeLoss(), np.array([[0.1, 1.0]]), 1.5, curvature=0.5, intercept=0.0),
    LossGradients(HuberLoss(), np.array([[0.1, 1e50]]), 1e-3),
    LossGradients(LogisticLoss(), np.array([[0.1, 1.0]]), 0.1, anchor=np.array([[-1.0, 3.0]])),
    LossGradients(WRONG, np.array([[0.1, 1.0]]), 0.5, curvature=0.3),
    WeighedGradients(LogisticLoss((1.0, 5.0)), np.array([[0.3, -2.0]]), 0.6),
    WeighedGradients(SOFTMAX, np.array([[0.3, 1.0], [0.0, -4.0], [9.0, 0.1]]), 1.6),
    WeighedGradients(SmoothedHingeLoss(), np.array([[0.1, 1.0]]), 1.5, intercept=0.0),
    WeighedGradients(HuberLoss(), np.array([[0.1, 1e50]]), 1e-3),
    *(
        RobustSum(
            *(np.zeros(1), np.ones(1), Clip()),
            SomeValues(PredictionGradients(loss, np.array([[0.1, 2.0]])), (place,)),
            count,
        )
        for loss, place, count in ((LogisticLoss(), 1, 0.0), (HuberLoss(), 0, 0.5), (WRONG, 1, 0.0))
    ),
    *(statistic for kind in KINDS for statistic in moments(kind)),
    ComponentMoments(UPRIGHT, 1.5, *block_weights(COLUMNS, "full", "replace_one"), 1.0),
    ComponentMoments(UPRIGHT, 1.5, 0.0, 0.0, 1.0, whitened=False),
    *(
        ComponentMoments(scores, 2.0, count, 1.0, second, kind)
        for scores in (
            RegressionScores(
                np.array([0.3, 0.7]),
                np.array([[0.1, 2.0], [0.0, -1.0]]),
                np.array([0.5, 0.1]),
                np.array([0.2]),
                np.array([[0.4]]),
                3.0,
            ),
            FoldedScores(np.array([0.1, 0.0]), np.array([0.3, -0.5]), 0.2),
            MissingScores(np.array([0.2, -0.1]), np.array([[0.7, 0.0], [1.5, 0.2]])),
        )
        for count, second, kind in ((0.5, 0.5, "spherical"), (0.5, 1.0, "full"), (0.0, 0.7, "full"))
    ),
    ComponentSquares(FAR_APART),
    ComponentSquares(OVERLAPPING),
    ComponentSquares(ALONE),
    LikelihoodGains((FAR_APART, OVERLAPPING)),
    LikelihoodGains((ALONE, OVERLAPPING, FAR_APART, ALONE, ALONE)),
    *(
        ColumnMoments(UPRIGHT.mean, UPRIGHT.scales, count, mean)
        for count, mean in ((0.0, 0.6), (0.5, 0.6), (0.0, 2.0), (2.0, 0.1))
    ),
    Magnitudes(COLUMNS),
    TrimmedSum(np.array([-0.5, 0.1]), np.array([1.0, 2.0])),
    TrimmedSum(np.array([-1e-3, 0.1]), np.array([1.0, 1e9]), 0.3),
    RobustSum(np.array([0.3, -0.1]), np.array([2.0, 0.5]), Clip()),
    RobustSum(np.zeros(2), np.ones(2), Smoothed(4.605), count=0.7),
    RobustSum(np.zeros(2), np.array([1.0, 3.0]), Shorten(), count=1.0),
    RowCount(),
    RowCount(GRADIENTS[2]),
    *(RobustSum(*each.box, Clip(), each) for each in GRADIENTS),
    *(
        RobustSum(np.zeros(each.size), np.full(each.size, 0.5), influence, each)
        for each in (replace(each, truncation=None) for each in GRADIENTS[:3])
        for influence in (Shorten(), Smoothed(2.146))
    ),
    *(
        ClusterMoments(centres, radii, *weights, kind)
        for kind in ("full", "diag", "spherical")
        for centres, radii, weights in (
            (APART, np.array([0.7, 1.5]), (0.5, 1.0, 1.0)),
            (LONE, np.array([0.9]), (0.5, 3.0, 1.0)),  # where opposite rows are the worst
        )
    ),
    ClusterSums(APART, np.array([0.5, 2.0])),
    ClusterSums(LONE, np.array([0.5, 2.0]), 0.1, 1.0),
    ClusterSums(APART, 1.5, 1.0, 0.0),
    ClusterSums(LONE, 1.5, 0.0, 1.0),
    TableMoments(MIXED, 1.5, *block_weights(1, "full", "replace_one"), level_weight=1.3),
    TableMoments(MIXED, 1.5, covariance_type="diag", missing=True),
    TableMoments(LEVELS, 1.0, level_weight=0.7),
    TableMoments(LEVELS, 1.0, missing=True),
    *(TableMoments(TableComponents.of_numbers(FAR_APART), 2.1, 0.6, 0.9, 1.0, 1.0, kind, True, 0.9) for kind in KINDS),
    CellCounts(BINS),
    PairCounts(BINS),
    TableSquares(MIXED),
    TableSquares(TableComponents.of_numbers(FAR_APART), missing=True),
    ObservedCells(COLUMNS),
    OutlierCount(TableComponents.of_numbers(FAR_APART), TableComponents.of_numbers(ALONE), missing=True),
    OutlierCount(MIXED, replace(MIXED, gaussians=replace(NUMBER, factors=4 * NUMBER.factors))),
    FarResiduals(REGRESSIONS, least=1.0, bins=6),
    FarRows(ALONE, least=1.0, bins=4),
    FarRows(SYMMETRIC, least=1e-3, bins=12, count=0.1),
]

GAINS = LikelihoodGains((ALONE, OVERLAPPING, FAR_APART))


def label(statistic):
    if isinstance(statistic, ColumnMoments):
        return f"columns-{statistic.count:.2g}-{statistic.mean:.2g}"
    if isinstance(statistic, TableMoments | TableSquares | OutlierCount):
        kind, gaps = getattr(statistic, "covariance_type", ""), "missing" if statistic.missing else "complete"
        return f"{type(statistic).__name__}-{kind}-{statistic.components.layout}-{gaps}"
    if not isinstance(statistic, ComponentMoments):
        size = getattr(getattr(statistic, "components", None), "count", statistic.size)
        return f"{type(statistic).__name__}{size}"
    parts = f"{statistic.count:.2g}-{statistic.mean:.2g}-{statistic.second:.2g}"
    place = "whitened" if statistic.whitened else "plain"
    if not isinstance(statistic.components, Components | DiagonalComponent):
        place = type(statistic.components).__name__
    return f"{statistic.covariance_type}-{statistic.components.count}-{parts}-{place}-{statistic.only}"


every_statistic = pytest.mark.parametrize("statistic", STATISTICS, ids=label)
every_relation = pytest.mark.parametrize("neighbors", RELATIONS)
every_norm = pytest.mark.parametrize("norm", NORMS)


def moved(statistic, rows, others, norm="l2"):
    with np.errstate(all="ignore"):
        change = statistic.block_sum(rows) - statistic.block_sum(others)
    assert np.isfinite(change).all()
    return float(np.linalg.norm(change, {"l1": 1, "l2": 2, "linf": np.inf}[norm]))


def bound(statistic, neighbors, norm="l2", rows=0):
    """The stated sensitivity, and what summing `rows` rows in floating point can add."""
    rounding = 2 * rows**2 * 2.0**-53 * statistic.sensitivity("add_remove", norm)
    return statistic.sensitivity(neighbors, norm) + rounding


def test_every_statistic_is_attacked():
    rooms = (tacit.statistics, tacit.published.statistics)
    exported = {getattr(room, name) for room in rooms for name in room.__all__}
    statistics = {thing for thing in exported if inspect.isclass(thing) and hasattr(thing, "block_sum")}
    attacked = {type(statistic) for statistic in STATISTICS}
    unattacked = sorted(each.__name__ for each in statistics - attacked)
    assert not unattacked, f"Add {', '.join(unattacked)} to STATISTICS here, for rows of two columns."
    unknown = sorted(each.__name__ for each in attacked - statistics)
    assert not unknown, f"Export {', '.join(unknown)} in the __init__.py of its room of statistics."


@pytest.mark.parametrize("room", [tacit.statistics, tacit.published.statistics], ids=lambda room: room.__name__)
def test_every_statistic_is_exported(room):
    """A statistic that its room does not export would be attacked by nobody."""
    defined = set()
    for each in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
        members = vars(importlib.import_module(each.name)).values()
        defined |= {kind for kind in members if inspect.isclass(kind) and kind.__module__ == each.name}
    statistics = {kind.__name__ for kind in defined if hasattr(kind, "block_sum") and not kind.__name__.startswith("_")}
    unexported = sorted(statistics - {*room.__all__})
    assert not unexported, f"Add {', '.join(unexported)} to __all__ in the __init__.py of {room.__name__}."


# Searches


@every_norm
@every_relation
@every_statistic
def test_search_finds_no_counterexample(statistic, neighbors, norm):
    attack = attack_sensitivity(statistic, COLUMNS, neighbors=neighbors, norm=norm, trials=60, random_state=0)
    assert not attack.exceeds, attack


@pytest.mark.slow
@every_norm
@every_relation
@every_statistic
def test_long_search_finds_no_counterexample(statistic, neighbors, norm):
    attack = attack_sensitivity(statistic, COLUMNS, neighbors=neighbors, norm=norm, trials=3000, random_state=1)
    assert not attack.exceeds, attack


@pytest.mark.parametrize(
    ("kind", "components", "count", "mean"),
    [
        *(pytest.param(kind, FAR_APART, 1.0, 1.0, id=f"{kind}-two components") for kind in KINDS),
        *(pytest.param(kind, ALONE, 0.5, 2.0, id=f"{kind}-opposite rows") for kind in KINDS),
        *(pytest.param(kind, ALONE, 0.3, 1.2, id=f"{kind}-rows at an angle") for kind in ("full", "tied")),
        pytest.param("full", FAR_APART, *block_weights(2, "full", "replace_one"), id="full-as fitted"),
    ],
)
def test_replaced_row_reaches_the_bound(kind, components, count, mean):
    """The proof has equality: a smaller bound would be wrong, and the noise is no larger than need be."""
    statistic = ComponentMoments(components, 1.5, count, mean, 1.0, kind)
    attack = attack_sensitivity(statistic, COLUMNS, neighbors="replace_one", trials=400, random_state=0)
    assert not attack.exceeds
    assert attack.ratio > 0.99, attack


@pytest.mark.parametrize("mean", [0.1, 0.5, 0.6, 0.7, 2.0])
def test_replaced_row_reaches_the_bound_of_columns(mean):
    """Both where opposite rows are the worst and where rows at an angle are."""
    statistic = ColumnMoments(UPRIGHT.mean, UPRIGHT.scales, 0.0, mean)
    grid = np.linspace(-1, 1, 401)[:, None] * UPRIGHT.scales + UPRIGHT.mean
    furthest = max(moved(statistic, row[None], UPRIGHT.mean[None] + UPRIGHT.scales) for row in grid)
    one_row = moved(statistic, UPRIGHT.mean[None] + UPRIGHT.scales, np.empty((0, COLUMNS)))
    assert max(furthest, one_row) <= statistic.sensitivity("replace_one")
    assert max(furthest, one_row) > 0.999 * statistic.sensitivity("replace_one")


@pytest.mark.parametrize("columns", [1, 2, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_no_weights_let_a_replaced_row_go_further(kind, columns):
    """Over weights and pairs of clipped rows at large, without the detour through blocks: t(x) - t(x') itself."""
    rng = np.random.default_rng(columns)
    rows = rng.normal(size=(2, 400, columns)) * rng.choice([0.1, 1.0, 1.0], (2, 400, columns))
    rows *= rng.choice([0.3, 1.0, 1.0], (2, 400, 1)) / np.linalg.norm(rows, axis=2, keepdims=True)
    rows[1, :200] = -rows[0, :200] + rng.normal(size=(200, columns)) * 0.2
    one = Components(np.ones(1), np.zeros((1, columns)), np.eye(columns)[None])
    for count, mean in np.exp(rng.uniform(-4, 2, (12, 2))):
        statistic = ComponentMoments(one, 1.0, count, mean, 1.0, kind)
        furthest = max(moved(statistic, row[None], other[None]) for row, other in zip(*rows[:, ::4]))
        assert furthest <= statistic.sensitivity("replace_one")


@pytest.mark.parametrize(
    "statistic",
    [
        *(ComponentMoments(FAR_APART, 1.5, covariance_type=kind) for kind in KINDS),
        ComponentSquares(FAR_APART),
        LikelihoodGains((FAR_APART, OVERLAPPING)),
        LikelihoodGains((ALONE, OVERLAPPING, FAR_APART, ALONE)),
        OutlierCount(TableComponents.of_numbers(FAR_APART), TableComponents.of_numbers(ALONE)),
        FarRows(SYMMETRIC, least=0.5, bins=3),
        ColumnMoments(UPRIGHT.mean, UPRIGHT.scales, 0.5),
        Magnitudes(COLUMNS),
        TrimmedSum(np.array([-0.5, 0.1]), np.array([1.0, 2.0])),
        TrimmedSum(np.array([-1e-3, 0.1]), np.array([1.0, 1e9]), 0.3),
        RobustSum(np.zeros(2), np.ones(2), Clip(), count=0.5),
        RowCount(),
    ],
    ids=label,
)
def test_added_row_reaches_the_bound(statistic):
    attack = attack_sensitivity(statistic, COLUMNS, neighbors="add_remove", trials=200, random_state=0)
    assert not attack.exceeds
    assert attack.ratio > 0.99, attack


@pytest.mark.parametrize("candidates", [(FAR_APART, OVERLAPPING), (ALONE, FAR_APART, ALONE, FAR_APART)])
def test_replaced_row_reaches_the_bound_of_gains(candidates):
    """One row prefers the first candidate beyond doubt, the other the next: nothing less than 2 would do."""
    attack = attack_sensitivity(
        LikelihoodGains(candidates), COLUMNS, neighbors="replace_one", trials=200, random_state=0
    )
    assert not attack.exceeds
    assert attack.ratio > 0.99, attack


@every_relation
@pytest.mark.parametrize(
    "statistic", [each for each in STATISTICS if isinstance(each, RobustSum | OnColumns)], ids=label
)
def test_search_finds_no_counterexample_in_one_number(statistic, neighbors):
    attack = attack_sensitivity(statistic, COLUMNS, neighbors=neighbors, norm="linf", trials=60, random_state=0)
    assert not attack.exceeds, attack


@pytest.mark.parametrize("values", [*SCREENS[:4], SCREENS[5]], ids=lambda values: values.screen)
def test_one_row_moves_the_score_of_a_column_by_all_that_is_stated(values):
    """What choices are charged for: nothing less would do."""
    total = RobustSum(np.zeros(values.size), np.ones(values.size), values=values)
    attack = attack_sensitivity(total, COLUMNS, neighbors="replace_one", norm="linf", trials=300, random_state=0)
    assert not attack.exceeds
    assert attack.ratio > 0.99, attack


def test_search_finds_a_bound_that_is_a_hundredth_too_small():
    class TooSmall(ComponentMoments):
        def sensitivity(self, neighbors, norm="l2"):
            return 0.99 * super().sensitivity(neighbors, norm)

    attack = attack_sensitivity(TooSmall(FAR_APART, 1.5), COLUMNS, neighbors="replace_one", trials=400, random_state=0)
    assert attack.exceeds


# The statistics that fits arrive at: components shrunk onto a crowd, split, merged, and pulled by a far row.


def met_in_a_fit(**options):
    data, _ = hard_pair("replace_one")
    model = tacit.GaussianMixture(random_state=0, epsilon=4.0, delta=1e-3, **{"bounds": (-1, 1), **options})
    return [statistic for _, _, statistic, _, _ in Transcript(model, data).releases]


@every_relation
@pytest.mark.parametrize(
    "options",
    [
        {"method": "scale_free", "n_components": 3},
        {"method": "scale_free", "n_components": 2, "covariance_type": "diag"},
        {"method": "joint", "n_components": 2, "covariance_type": "spherical"},
        {"method": DPEM(n_iter=1), "n_components": 2},
        {"method": "scale_free", "bounds": "private"},
        {"method": "scale_free", "n_components": "auto"},
    ],
    ids=lambda options: "-".join(map(str, options.values())),
)
def test_statistics_met_in_fits(options, neighbors):
    met = met_in_a_fit(neighbors=neighbors, **options)
    for statistic in met[::3] + [each for each in met if isinstance(each, LikelihoodGains | OutlierCount)]:
        attack = attack_sensitivity(statistic, COLUMNS, neighbors=neighbors, trials=40, random_state=0)
        assert not attack.exceeds, (attack, statistic)


@pytest.mark.slow
@every_relation
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["scale_free", JointMoments(n_iter=2), DPEM(n_iter=2)], ids=str)
@pytest.mark.parametrize("components", [1, 2, 5])
def test_statistics_met_in_many_fits(method, kind, components, neighbors):
    settings = {"method": method, "covariance_type": kind, "n_components": components, "neighbors": neighbors}
    for statistic in met_in_a_fit(**settings):
        for norm in NORMS:
            attack = attack_sensitivity(statistic, COLUMNS, neighbors=neighbors, norm=norm, trials=120, random_state=0)
            assert not attack.exceeds, (attack, statistic)


# Properties: whatever rows and parameters there are


UGLY = [0.0, -0.0, 5e-324, 1e-308, 1e-160, 1e-16, 1.0, 1e16, 1e150, 1e154, 1e160, 1.7e308, np.inf, np.nan]
cells = st.one_of(
    st.sampled_from([sign * value for value in UGLY for sign in (1, -1)]),
    st.floats(-3, 3),
    st.floats(allow_nan=True, allow_infinity=True),
)


@st.composite
def neighbours(draw, columns=COLUMNS):
    """Two tables and the relation they are in: up to 70 rows, past the 64 that are worked on at a time."""
    row = st.lists(cells, min_size=columns, max_size=columns)
    some = np.array(draw(st.lists(row, max_size=6)), dtype=np.float64).reshape(-1, columns)
    shared = np.tile(some, (draw(st.sampled_from([1, 1, 1, 11])), 1))
    place = draw(st.integers(0, len(shared)))
    data = np.insert(shared, place, draw(row), axis=0)
    neighbors = draw(st.sampled_from(RELATIONS))
    other = shared if neighbors == "add_remove" else np.insert(shared, place, draw(row), axis=0)
    order = draw(st.sampled_from("CF"))
    return neighbors, np.asarray(data, order=order), np.asarray(other, order=order)


@st.composite
def components(draw, columns=COLUMNS):
    """Any parameters that are finite: also ones that no fit arrives at."""
    number = draw(st.integers(1, 4))
    sizes = st.one_of(st.floats(-10, 3), st.floats(-150, 150)).map(lambda power: 10.0**power)
    factors = np.zeros((number, columns, columns))
    for k in range(number):
        size = draw(sizes)
        for i in range(columns):
            factors[k, i, i] = size * draw(st.sampled_from([1.0, 0.02, 1e-6]))
            factors[k, i, :i] = size * draw(st.sampled_from([0.0, 0.3, -2.0, 1e3]))
    means = np.array([[draw(st.floats(-2, 2)) for _ in range(columns)] for _ in range(number)])
    weights = np.array([draw(st.sampled_from([1.0, 1e-3, 1e-300])) for _ in range(number)])
    return Components(weights / weights.sum(), means * draw(st.sampled_from([1.0, 1e9])), factors)


@pytest.mark.parametrize("kind", KINDS)
@given(pair=neighbours(), parts=components(), data=st.data())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_moments_move_no_further_than_stated(kind, pair, parts, data):
    weights = st.sampled_from([0.0, 0.2, 1.0, 5.0])
    statistic = ComponentMoments(
        parts,
        radius=data.draw(st.sampled_from([1e-100, 0.1, 1.0, 4.0, 1e100])),
        count=data.draw(weights),
        mean=data.draw(weights),
        second=data.draw(st.sampled_from([0.3, 1.0])),
        covariance_type=kind,
        whitened=data.draw(st.booleans()),
        only=data.draw(st.one_of(st.none(), st.integers(0, parts.count - 1))),
    )
    neighbors, rows, others = pair
    for norm in NORMS:
        assert moved(statistic, rows, others, norm) <= bound(statistic, neighbors, norm, len(rows))


@given(pair=neighbours(), data=st.data())
@settings(max_examples=200, deadline=None, derandomize=True)
def test_columns_move_no_further_than_stated(pair, data):
    number = st.floats(-160, 160).map(lambda power: 10.0**power)
    place = st.lists(st.floats(-2, 2), min_size=COLUMNS, max_size=COLUMNS)
    centre = np.array(data.draw(place)) * data.draw(st.sampled_from([1.0, 1e9, 1e200]))
    reach = np.array([data.draw(number) for _ in range(COLUMNS)])
    weights = [data.draw(st.sampled_from(values)) for values in ([0.0, 0.5, 3.0], [0.1, 0.6, 2.0], [0.2, 1.0])]
    statistic = ColumnMoments(centre, reach, *weights)
    neighbors, rows, others = pair
    for norm in NORMS:
        assert moved(statistic, rows, others, norm) <= bound(statistic, neighbors, norm, len(rows))


@given(pair=neighbours(), data=st.data())
@settings(max_examples=200, deadline=None, derandomize=True)
def test_moments_in_columns_own_units_move_no_further_than_stated(pair, data):
    number = st.floats(-150, 150).map(lambda power: 10.0**power)
    scales = np.array([data.draw(number) for _ in range(COLUMNS)])
    one = DiagonalComponent(np.array([data.draw(st.floats(-2, 2)) for _ in range(COLUMNS)]), scales)
    count, mean = (data.draw(st.sampled_from([0.0, 0.2, 1.0, 5.0])) for _ in range(2))
    statistic = ComponentMoments(one, data.draw(st.sampled_from([1e-100, 0.1, 1.0, 4.0])), count, mean)
    neighbors, rows, others = pair
    for norm in NORMS:
        assert moved(statistic, rows, others, norm) <= bound(statistic, neighbors, norm, len(rows))


@given(pair=neighbours(), parts=components())
@settings(max_examples=200, deadline=None, derandomize=True)
def test_squares_move_no_further_than_stated(pair, parts):
    neighbors, rows, others = pair
    for norm in NORMS:
        assert moved(ComponentSquares(parts), rows, others, norm) <= bound(
            ComponentSquares(parts), neighbors, norm, len(rows)
        )


@given(pair=neighbours(), candidates=st.lists(components(), min_size=2, max_size=4))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_gains_move_no_further_than_stated(pair, candidates):
    neighbors, rows, others = pair
    gains = LikelihoodGains(tuple(candidates))
    for norm in NORMS:
        assert moved(gains, rows, others, norm) <= bound(gains, neighbors, norm, len(rows))


@given(pair=neighbours())
@settings(max_examples=300, deadline=None, derandomize=True)
def test_magnitudes_move_no_further_than_stated(pair):
    neighbors, rows, others = pair
    for norm in NORMS:
        assert moved(Magnitudes(COLUMNS), rows, others, norm) <= bound(Magnitudes(COLUMNS), neighbors, norm)


@given(rows=st.lists(st.lists(cells, min_size=2, max_size=2), min_size=1, max_size=8), parts=components())
@settings(max_examples=150, deadline=None, derandomize=True)
def test_responsibilities_are_shares(rows, parts):
    with np.errstate(all="ignore"):
        y, distances, shares = parts.e_step(np.array(rows))
    assert np.isfinite(y).all()
    assert np.isfinite(distances).all()
    assert (shares >= 0).all()
    assert (shares.sum(axis=0) <= 1 + 1e-15 * parts.count).all()


# Corners


@every_statistic
def test_no_rows_are_nothing(statistic):
    assert not statistic.block_sum(np.empty((0, COLUMNS))).any()
    assert statistic.block_sum(np.empty((0, COLUMNS))).shape == (statistic.size,)


@every_statistic
def test_layout_of_a_block_does_not_matter(statistic):
    rows = np.random.default_rng(0).normal(size=(200, COLUMNS))
    views = (np.asfortranarray(rows), np.repeat(rows, 2, axis=0)[::2], np.hstack([rows, rows])[:, :COLUMNS])
    for view in views:
        assert moved(statistic, rows, view) <= 1e-10


@every_statistic
def test_rows_that_are_no_numbers_hide_none_of_the_others(statistic):
    """A NaN in a sum would turn it into zero on the lattice: one bad row would take a block's other rows with it."""
    rows = np.random.default_rng(0).normal(size=(500, COLUMNS))
    for ugly in (np.nan, np.inf, -np.inf, 1.7e308, 1e160, 5e-324):
        for bad in (np.full((1, COLUMNS), ugly), np.array([[ugly, 0.1]])):
            assert moved(statistic, np.vstack([rows, bad]), rows) <= bound(statistic, "add_remove", "l2", 501)


def test_rows_too_long_for_their_square_though_not_for_the_components():
    """1e158 is within 1e10 standard deviations of 1e10, but its own square is past float64."""
    wide = Components(np.ones(1), np.zeros((1, 2)), 1e10 * np.eye(2)[None])
    for kind in KINDS:
        statistic = ComponentMoments(wide, 1.0, covariance_type=kind, whitened=False)
        rows = np.vstack([np.ones((500, 2)), [[1e158, 0.0]]])
        assert moved(statistic, rows, rows[:-1]) <= bound(statistic, "add_remove", "l2", 501)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("whitened", [True, False])
def test_a_row_just_past_the_radius_is_clipped_to_it(kind, whitened):
    """|v| must not come out above 1 by more than the hair the bound allows, in many columns either."""
    columns = 60
    one = Components(np.ones(1), np.zeros((1, columns)), np.eye(columns)[None])
    statistic = ComponentMoments(one, 1.0, covariance_type=kind, whitened=whitened)
    rows = np.random.default_rng(0).normal(size=(200, columns))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for row in rows * np.geomspace(0.999999999999999, 1e200, 200)[:, None]:
        assert moved(statistic, row[None], np.empty((0, columns))) <= statistic.sensitivity("add_remove")


def test_many_components_share_a_row():
    """Hundreds of responsibilities add up to no more than one row."""
    rng = np.random.default_rng(0)
    many = Components(rng.dirichlet(np.ones(400)), rng.normal(size=(400, 1)), rng.uniform(0.01, 2.0, (400, 1, 1)))
    for kind in KINDS:
        statistic = ComponentMoments(many, 1.0, covariance_type=kind)
        for row in rng.normal(size=(20, 1, 1)) * 3:
            assert moved(statistic, row, np.empty((0, 1))) <= statistic.sensitivity("add_remove")
            assert moved(statistic, row, np.empty((0, 1)), "l1") <= statistic.sensitivity("add_remove", "l1")


@pytest.mark.parametrize(
    "wrong",
    [
        {"radius": 0.0},
        {"radius": -1.0},
        {"radius": 1e-170},
        {"radius": np.nan},
        {"radius": np.inf},
        {"count": -1.0},
        {"mean": np.nan},
        {"second": np.inf},
        {"count": 0.0, "mean": 0.0, "second": 0.0},
        {"only": 2},
        {"only": -1},
    ],
    ids=str,
)
def test_parameters_without_a_bound_are_refused(wrong):
    with pytest.raises(ValueError, match="must"):
        ComponentMoments(**{"components": FAR_APART, "radius": 1.0, **wrong})


# Where a row stands


@pytest.mark.parametrize("columns", [1, 2, 3, 5, 11, 20])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_row_is_computed_alike_wherever_it_stands(columns, order):
    """To the last bit: under add_remove every row behind the one that goes stands elsewhere afterwards."""
    rng = np.random.default_rng(columns)
    root = rng.normal(size=(3, columns, columns)) * 1e-3
    factors = np.linalg.cholesky(root @ root.transpose(0, 2, 1) + 1e-8 * np.eye(columns))
    narrow = Components(np.ones(3) / 3, rng.uniform(-1, 1, (3, columns)), factors)
    row = rng.uniform(-1, 1, columns)
    seen = set()
    for rows in (1, 2, 3, 5, 8, 63, 64, 65, 130, 1000):
        block = np.asarray(np.tile(row, (rows, 1)), order=order)
        y, distances, shares = narrow.e_step(block)
        for place in {0, 1, rows // 2, rows - 1} & set(range(rows)):
            density = narrow.log_density(block)[place]
            parts = y[:, :, place], distances[:, place], shares[:, place], density
            seen.add(tuple(part.tobytes() for part in parts))
    assert len(seen) == 1


@pytest.mark.parametrize("columns", [1, 3, 20, 130])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_row_in_columns_own_units_is_computed_alike_wherever_it_stands(columns, order):
    rng = np.random.default_rng(columns)
    one = DiagonalComponent(rng.uniform(-1, 1, columns), rng.uniform(1e-6, 1, columns))
    row = rng.uniform(-1, 1, columns)
    seen = set()
    for rows in (1, 2, 3, 8, 63, 64, 65, 1000):
        y, distances, _ = one.e_step(np.asarray(np.tile(row, (rows, 1)), order=order))
        for place in {0, 1, rows // 2, rows - 1} & set(range(rows)):
            seen.add((y[:, :, place].tobytes(), distances[:, place].tobytes()))
    assert len(seen) == 1


@pytest.mark.parametrize("size", [1e-4, 1e-6, 1e-8, 1e-10])
def test_rows_between_two_narrow_components_stay_with_theirs(size):
    """Which one is nearer is decided in the last bits, and must not change when an earlier row goes."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        columns = int(rng.choice([3, 5, 11]))
        root = rng.normal(size=(columns, columns))
        covariance = (root @ root.T / columns + np.eye(columns)) * size**2
        centre, apart = rng.uniform(-0.5, 0.5, columns), rng.normal(size=columns) * size
        means = np.stack([centre + apart, centre - apart])
        pair = Components(np.full(2, 0.5), means, np.linalg.cholesky(np.stack([covariance] * 2)))
        statistic = ComponentMoments(pair, 1.0)
        normal = np.linalg.solve(covariance, apart)
        rows = rng.uniform(-1, 1, (7, columns))
        rows -= np.outer((rows - centre) @ normal, normal) / (normal @ normal)
        for kept in (2, 3, 5, 7):
            assert moved(statistic, rows[:kept], rows[1:kept]) <= bound(statistic, "add_remove", "l2", kept)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("outputs", [1, 3])
def test_predictions_that_cancel_out_are_alike_wherever_rows_stand(outputs, order):
    """All but the last bits cancel, and those say which side a row is on: one row more must not turn all others."""
    rng = np.random.default_rng(0)
    loss = LogisticLoss() if outputs == 1 else SoftmaxLoss((1.0,) * outputs)
    for _ in range(40):
        columns = int(rng.integers(3, 20))
        beta = rng.normal(size=(outputs, 1 + columns))
        x = rng.normal(size=columns) * 10.0 ** rng.integers(15, 22, columns)
        x[-1] = -(beta[0, 1:-1] @ x[:-1]) / beta[0, -1]
        statistic = LossGradients(loss, beta, 1.0)
        for target, rows in itertools.product((0.0, 1.0), (63, 64, 65, 128)):
            block = np.asarray(np.tile(np.append(x, target), (rows + 1, 1)), order=order)
            others = np.asarray(block[:-1], order=order)
            assert moved(statistic, block, others) <= bound(statistic, "add_remove", "l2", rows)


def test_inputs_whose_squares_underflow_do_not_hide_a_slope():
    """Losses are not trusted: this one is steeper than it says, where the check of what it says does not look."""
    loss = ConvexLoss(lambda p, t: np.exp(t - p), lambda p, t: -np.exp(t - p), lipschitz=1e9, smoothness=1e9)
    statistic = LossGradients(loss, np.array([[0.0, 1.0]]), 1.0, intercept=0.0)
    for size in (1e-140, 1e-155, 1e-162, 1e-165, 1e-200):
        row = np.array([[size, 600.0]])
        assert moved(statistic, row, np.empty((0, 2))) <= statistic.sensitivity("add_remove")


@every_relation
def test_roots_in_bounds_are_never_rounded_down(neighbors):
    """A row of counts can be as long as the root of a whole number, and math.sqrt is below it for some."""
    for columns in range(1, 300):
        bins = (Bins((0,), np.arange(2)),) * columns
        moved = columns if neighbors == "add_remove" else 2 * columns
        for statistic, square in (
            (CellCounts(bins), moved),
            (Magnitudes(columns), moved),
            (ObservedCells(columns), columns),
        ):
            assert Fraction(statistic.sensitivity(neighbors, "l2")) ** 2 >= square


# What the curator computes: blocks, the lattice, floating point


def test_blocks_are_what_the_curator_reckons_with():
    assert SOURCE_BLOCK_ROWS == BLOCK_ROWS


@every_relation
@pytest.mark.parametrize("kind", [Gaussian, Laplace])
def test_computed_sums_of_neighbours_are_no_further_apart_than_the_noise_is_sized_for(kind, neighbors):
    """On whole tables of several blocks, as integers, before the noise: what the guarantee rests on."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3 * BLOCK_ROWS + 77, COLUMNS)) * rng.choice([1e-3, 1.0, 30.0], (3 * BLOCK_ROWS + 77, 1))
    columns = ColumnMoments(UPRIGHT.mean, UPRIGHT.scales, 2.0, 0.1)
    for statistic in (STATISTICS[0], STATISTICS[2], ComponentSquares(OVERLAPPING), GAINS, columns, Magnitudes(COLUMNS)):
        plan = Plan((kind("sum", 1.0, size=statistic.size),), neighbors=neighbors)
        precision, _ = Curator(as_source(rows), plan)._precision(plan.steps[0], statistic)

        def total(table, statistic=statistic, precision=precision):
            sums = as_source(table).sum(lambda block: precision.sums.quantise(statistic.block_sum(block)))
            return precision.noise.coarsen(sums, precision.sums)

        exact = total(rows)
        for place in (0, 1, BLOCK_ROWS - 1, BLOCK_ROWS, len(rows) - 1):
            other = np.delete(rows, place, axis=0)
            if neighbors == "replace_one":
                other = np.insert(other, place, [6.5, -3.0], axis=0)
            for order in (np.arange(len(other)), np.argsort(other[:, 0])):  # a changed cell may move all rows
                change = np.abs(exact - total(other[order])).astype(float) * precision.noise.step
                assert (change.sum() if kind is Laplace else np.linalg.norm(change)) <= precision.sensitivity


def test_whether_numpy_warns_tells_nothing_about_rows():
    """Warnings turned into errors would be an answer that no noise protects."""
    statistic = ComponentMoments(FAR_APART, 1.5)
    plan = Plan((Gaussian("sum", 1.0, count=20, size=statistic.size),))
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for ugly in (np.nan, np.inf, 1.7e308, 1e160, 1e-160, 5e-324):
            curator = Curator(as_source(np.full((3, 2), ugly)), plan, random_state=0)
            curator.map_rows(Affine(np.full(2, 3.0), np.zeros(2)))
            curator.release("sum", statistic)

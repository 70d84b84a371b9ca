"""Statistics with parameters near the limits of floating point: each holds its bound, or is refused when it is made.

Estimators do not get there. But a bound is proved for all parameters, and a user may pass any; and what a statistic
refuses only when it reads certain rows would tell of these rows.
"""

# ruff: noqa: B023, E731 (what makes a statistic is called at once, within its turn of the loop)

from itertools import product

import numpy as np
import pytest

from tacit.audit import attack_sensitivity
from tacit.published.statistics import BlockCentre, BlockSquares, ClusterSums, Shorten, Smoothed, WeighedGradients
from tacit.statistics import (
    Centres,
    ClusterMoments,
    ColumnMoments,
    ComponentMoments,
    Components,
    ComponentSquares,
    DiagonalComponent,
    FarResiduals,
    FarRows,
    FoldedScores,
    LikelihoodGains,
    LinearCurvature,
    LinearScores,
    LossGradients,
    MissingScores,
    OutlierCount,
    RegressionScores,
    RobustSum,
    TableComponents,
    TableLayout,
    TableMoments,
    TableSquares,
    TrimmedSum,
    least_radius,
)
from tacit.statistics.losses import LogisticLoss, SquaredLoss

KINDS = ("full", "tied", "diag", "spherical")

RELATIONS = ("replace_one", "add_remove")
PIVOTS = (1e-8, 1e-12, 1e-14, 1e-16, 1e-20, 1e-100, 1e-200, 1e-300, 5e-324)
SMALL = (1e-320, 1e-300, 1e-200, 1e-165, 1e-162, 1e-150, 1e-101, 1e-100, 1e-12)
SIZES = (*SMALL, 1.0, 1e12, 1e70, 1e78, 1e100, 1e155, 1e200, 1e307)
ROW_SIZES = np.array([0.0, *(10.0**power for power in range(-320, 309, 4)), 1.7e308, np.inf, np.nan])


def rows_of_all_sizes(columns, rng, count=100):
    """Rows whose cells are of one size, or of several, or missing."""
    sizes = rng.choice(ROW_SIZES, (count, 1))
    several = rng.choice(ROW_SIZES, (count, columns))
    mixed = np.where(rng.random((count, 1)) < 0.5, sizes, several)
    with np.errstate(all="ignore"):
        rows = mixed * rng.choice([rng.normal(size=(count, columns)), np.sign(rng.normal(size=(count, columns)))])
    rows[rng.random(rows.shape) < 0.1] = np.nan
    return rows


def furthest(statistic, rows, neighbors):
    """The most that a row moves the sum by, as a share of the bound; infinite where the sum is not finite."""
    with np.errstate(all="ignore"):
        sums = np.array([statistic.block_sum(row[None]) for row in rows])
        if not np.isfinite(sums).all():
            return np.inf
        bound = statistic.sensitivity(neighbors, "l2")
        sums = sums / bound if bound > 0 else np.where(sums == 0, 0.0, np.inf)
    if neighbors == "add_remove":
        return float(np.linalg.norm(sums, axis=1).max())
    far = sums[np.argsort(-np.linalg.norm(sums, axis=1))[:30]]
    return float(np.linalg.norm(far[:, None] - far, axis=2).max())


def check(make, columns, rng, near=()):
    """Refused with a sentence, or bounded: for these rows, rows of all sizes, and what a search finds."""
    refusal = ""
    try:
        statistic = make()
        statistic.sensitivity("replace_one", "l2")
    except ValueError as error:
        refusal = str(error)
    if refusal:
        assert refusal.endswith(".")
        return
    rows = np.concatenate([rows_of_all_sizes(columns, rng), *near])
    for neighbors in RELATIONS:
        assert furthest(statistic, rows, neighbors) <= 1 + 1e-9
        attack = attack_sensitivity(statistic, columns, neighbors=neighbors, trials=24, random_state=0)
        assert not attack.exceeds, attack
    with np.errstate(all="ignore"):
        assert not statistic.block_sum(np.empty((0, columns))).any()


def nearly_singular(pivot, rng, columns=3):
    factor = np.tril(rng.normal(size=(columns, columns)))
    factor[:, 1:] *= pivot
    factor[range(columns), range(columns)] = np.maximum(np.abs(np.diag(factor)), 5e-324)
    return factor


def rows_along(factor, rng, count=100):
    """Rows in which all that is large cancels out when they are made white, some with a cell missing."""
    columns = len(factor)
    rows = rng.normal(size=(count, columns)) @ factor.T * 10.0 ** rng.uniform(-1, 2, (count, 1))
    missing = rng.integers(columns + 1, size=count)
    rows[missing[:, None] == np.arange(columns)] = np.nan
    return rows


@pytest.mark.parametrize("pivot", PIVOTS)
@pytest.mark.parametrize("kind", KINDS)
def test_moments_of_tables_with_nearly_singular_factors(kind, pivot):
    rng = np.random.default_rng(0)
    for _ in range(4):
        factor = nearly_singular(pivot, rng)

        def make(factor=factor):
            table = TableComponents.of_numbers(Components(np.ones(1), np.zeros((1, 3)), factor[None]))
            least = least_radius(3, kind)
            return TableMoments(table, least, 1e-3, 1e-3, level_weight=1e-3, covariance_type=kind, missing=True)

        check(make, 3, rng, [rows_along(factor, rng)])


@pytest.mark.parametrize("pivot", PIVOTS)
def test_other_statistics_of_nearly_singular_factors(pivot):
    rng = np.random.default_rng(1)
    factors = np.stack([nearly_singular(pivot, rng) for _ in range(2)])
    weights, means = np.array([0.5, 0.5]), rng.normal(size=(2, 3))
    near = [rows_along(factor, rng) for factor in factors]

    def two():
        return Components(weights, means, factors)

    def table():
        return TableComponents.of_numbers(two())

    for kind in KINDS:
        check(lambda kind=kind: ComponentMoments(two(), 2.0, covariance_type=kind), 3, rng, near)
    check(lambda: ComponentSquares(two()), 3, rng, near)
    check(lambda: TableSquares(table(), missing=True), 3, rng, near)
    wide = lambda: TableComponents.of_numbers(Components(weights, means, 2 * factors))
    check(lambda: OutlierCount(table(), wide(), missing=True), 3, rng, near)
    check(lambda: FarRows(Components(np.ones(1), means[:1], factors[:1]), 2.0, 10), 3, rng, near)
    check(lambda: LikelihoodGains((two(), Components(weights, means[::-1], factors))), 3, rng, near)
    check(lambda: ComponentMoments(MissingScores(means[0], factors[0]), 2.0), 3, rng, near)
    small = factors[0][:2, :2]
    check(lambda: ComponentMoments(LinearScores(np.ones(3), 1.0, np.zeros(2), small, 3.0), 2.0), 3, rng, near)
    regressions = (np.array([0.5, 0.5]), rng.normal(size=(2, 3)), np.ones(2), np.zeros(2), small, 3.0)
    check(lambda: ComponentMoments(RegressionScores(*regressions), 2.0), 3, rng, near)
    check(lambda: FarResiduals(RegressionScores(*regressions), 2.0, 10), 3, rng, near)


@pytest.mark.parametrize("size", SIZES)
def test_factors_means_and_scales_of_any_size(size):
    rng = np.random.default_rng(2)
    eye, one = np.eye(2)[None], np.ones(1)
    for kind, radius in product(KINDS, (1.5, size)):
        short = lambda: Components(one, np.zeros((1, 2)), size * eye)
        far = lambda: Components(one, np.full((1, 2), size), eye)
        check(lambda: ComponentMoments(short(), radius, covariance_type=kind), 2, rng)
        check(lambda: ComponentMoments(far(), radius, covariance_type=kind), 2, rng)
        table = lambda: TableComponents.of_numbers(short())
        check(lambda: TableMoments(table(), max(radius, 2.0), covariance_type=kind, missing=True), 2, rng)
    check(lambda: ComponentMoments(DiagonalComponent(np.zeros(2), np.full(2, size)), 2.0), 2, rng)
    check(lambda: ComponentMoments(FoldedScores(np.zeros(2), np.ones(2), size), 2.0), 2, rng)
    check(lambda: ComponentMoments(FoldedScores(np.zeros(2), np.full(2, size), 1.0), 2.0), 2, rng)
    check(lambda: RobustSum(np.zeros(2), np.full(2, size)), 2, rng)
    check(lambda: RobustSum(np.full(2, size), np.ones(2), Shorten()), 2, rng)
    check(lambda: RobustSum(np.full(2, size), np.ones(2), Smoothed(1.0)), 2, rng)
    check(lambda: ColumnMoments(np.zeros(2), np.full(2, size), count=1.0), 2, rng)
    check(lambda: ColumnMoments(np.full(2, size), np.ones(2)), 2, rng)
    check(lambda: TrimmedSum(np.full(2, -size), np.full(2, size)), 2, rng)
    centres = Centres(np.array([[0.0, 0.0], [1.0, 1.0]]))
    check(lambda: ClusterSums(centres, size), 2, rng)
    check(lambda: ClusterSums(centres, np.full(2, size)), 2, rng)
    for kind in ("full", "diag", "spherical"):
        check(lambda: ClusterMoments(centres, np.full(2, size), covariance_type=kind), 2, rng)
        away = Centres(np.array([[size, 0.0], [0.0, size]]))
        check(lambda: ClusterMoments(away, np.ones(2), covariance_type=kind), 2, rng)


@pytest.mark.parametrize("size", SIZES)
def test_scores_and_gradients_of_any_size(size):
    rng = np.random.default_rng(3)
    eye, half = np.eye(2), np.array([0.5, 0.5])
    zeros, nothing = np.zeros(2), np.zeros((2, 3))
    for radius in (2.0, 1e-90, 1e-12):
        scores = [
            lambda: LinearScores(np.ones(3), size, zeros, eye, 3.0),
            lambda: LinearScores(np.zeros(3), 1.0, zeros, eye, size),
            lambda radius=radius: LinearCurvature(LinearScores(np.zeros(3), 1.0, zeros, eye, size), radius),
            lambda: RegressionScores(half, nothing, np.ones(2), zeros, eye, size),
            lambda: RegressionScores(half, nothing, np.full(2, size), zeros, eye, 3.0),
            lambda: RegressionScores(half, np.full((2, 3), size), np.ones(2), zeros, eye, 3.0),
        ]
        for make in scores:
            check(lambda: ComponentMoments(make(), radius), 3, rng)
    for loss in (LogisticLoss(), SquaredLoss()):
        for intercept in (0.0, 1.0, size):
            check(lambda: LossGradients(loss, np.ones((1, 3)), size, 1.0, intercept), 3, rng)
            check(lambda: LossGradients(loss, np.full((1, 3), size), 1.0, 1.0, intercept), 3, rng)
            check(lambda: LossGradients(loss, np.ones((1, 3)), 1.0, size, intercept), 3, rng)
            check(lambda: WeighedGradients(LogisticLoss(), np.ones((1, 3)), size, intercept), 3, rng)
            check(lambda: WeighedGradients(LogisticLoss(), np.full((1, 3), size), 1.0, intercept), 3, rng)


@pytest.mark.parametrize("size", SIZES)
def test_weights_of_parts_of_any_size(size):
    rng = np.random.default_rng(4)
    one = Components(np.ones(1), np.zeros((1, 2)), np.eye(2)[None])
    table = TableComponents.of_numbers(one)
    centres = Centres(np.array([[0.0, 0.0], [1.0, 1.0]]))
    for weights in ((size, size, size), (size, 3 * size, 0.7 * size), (1.0, size, 1.0), (size, 1.0, size)):
        check(lambda: ComponentMoments(one, 2.0, *weights), 2, rng)
        check(lambda: TableMoments(table, 2.0, *weights, level_weight=size), 2, rng)
        check(lambda: ClusterMoments(centres, np.ones(2), *weights), 2, rng)
        check(lambda: ColumnMoments(np.zeros(2), np.ones(2), *weights), 2, rng)
    check(lambda: RobustSum(np.zeros(2), np.ones(2), count=size), 2, rng)
    check(lambda: TrimmedSum(np.zeros(2), np.ones(2), size), 2, rng)
    check(lambda: ClusterSums(centres, 1.0, size, 1.0), 2, rng)
    check(lambda: ClusterSums(centres, 1.0, 1.0, size), 2, rng)


@pytest.mark.parametrize("estimate", [BlockSquares, BlockCentre])
@pytest.mark.parametrize("radius", [0.0, 1e-320, 1e-300, 1e300, 1e308, np.inf, np.nan])
def test_balls_whose_lattice_would_have_no_steps_are_refused(estimate, radius):
    """With a radius of 1e-320 the bound on how far a row moves the centre came out as 0."""
    with pytest.raises(ValueError, match="radius must be"):
        estimate(1, 40, radius, True, 10)


@pytest.mark.parametrize("total", [0.5, 1 - 1e-9, 1 - 1e-15, 1 + 1e-15, 1 + 1e-12, 1 + 1e-9, 1.5, 40.0])
def test_probabilities_that_add_up_to_about_one(total):
    rng = np.random.default_rng(5)
    gaussians = Components(np.ones(1), np.zeros((1, 1)), np.ones((1, 1, 1)))
    levels = total * np.array([[1 - 1e-9, 0.6e-9, 0.4e-9]])

    def make():
        table = TableComponents(TableLayout((0,), ((1, 2, 3),)), gaussians, levels)
        return TableMoments(table, 3.0, count=1e-3, mean=1e-3, second=1e-3, missing=True)

    check(make, 4, rng, [np.array([[0.0, np.nan, np.nan, np.nan]])])


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        *(("weights", wrong) for wrong in (0.0, -1.0, np.nan, np.inf)),
        *(("means", wrong) for wrong in (np.nan, np.inf)),
        *(("factors", wrong) for wrong in (0.0, -1.0, np.nan, np.inf)),
    ],
)
def test_components_that_are_none_are_refused(place, wrong):
    parameters = {"weights": np.ones(2) / 2, "means": np.zeros((2, 2)), "factors": np.stack([np.eye(2)] * 2)}
    parameters[place].flat[0] = wrong
    with pytest.raises(ValueError, match=r"\.$"):
        Components(**parameters)

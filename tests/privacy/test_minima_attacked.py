"""Minima that are found inside the curator, against what is proved of them: how far a row moves them, what tilts hide.

Brute force: tables so small that every row can be replaced by the worst one, and densities that can be integrated.
"""

import itertools
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from scipy.special import expit

from tacit.audit import audit_outputs
from tacit.linear import HuberLoss, LogisticLoss, SmoothedHingeLoss, SoftmaxLoss
from tacit.privacy import Budget, Gaussian, TiltedGaussian
from tacit.privacy.composition import tilted_delta
from tacit.published.statistics import WeighedGradients
from tacit.release import Curator, Minimum, calibrated_plan
from tacit.release.noise import discrete_gaussian
from tacit.release.precision import BLOCK_ROWS
from tacit.sources import as_source

RELATIONS = ("replace_one", "add_remove")
LOSSES = {
    "logistic": LogisticLoss(),
    "weighed logistic": LogisticLoss((1.0, 5.0)),
    "softmax": SoftmaxLoss((1.0, 2.0, 1.0)),
    "hinge": SmoothedHingeLoss(),
    "huber": HuberLoss(),
}
RADIUS = 1.5
UGLY = [np.nan, np.inf, -np.inf, 1e308, 1e-308, 1e49, -1e30, 0.0]


def asked(loss, strengths, inputs=2, intercept=1.0, tilt=None, most_rows=40.0, fall=np.inf):
    """The minimum of losses of rows of `inputs` inputs, with a quadratic term of these strengths, not along axes."""
    shape = (loss.outputs, 1 + inputs)
    size = loss.outputs * (1 + inputs)
    axes = np.linalg.qr(np.random.default_rng(size).normal(size=(size, size)))[0]
    quadratic = (axes * np.resize(strengths, size)) @ axes.T

    gradients = WeighedGradients(loss, np.zeros(shape), RADIUS, intercept)
    return Minimum(gradients, np.full(size, 0.1), quadratic, np.eye(size), most_rows, fall, tilt)


def found(search, rows, tilt=0.0):
    """What is told, without noise."""
    sums = search.lattice
    return search.find(lambda statistic: sums.to_float(sums.quantise(statistic.block_sum(rows))), tilt)


def rows_at_large(loss, rng, count):
    """Rows of two inputs and a target: some ordinary, some too long, some ugly, and labels of every kind."""
    rows = rng.normal(size=(count, 3)) * 10.0 ** rng.integers(-2, 4, (count, 1))
    targets = rng.normal(size=count) * 10.0 ** rng.integers(-2, 6, count)
    rows[:, 2] = targets if isinstance(loss, HuberLoss) else rng.integers(0, max(loss.outputs, 2), count)
    ugly = rng.uniform(size=rows.shape) < 0.05
    rows[ugly] = rng.choice(UGLY, int(ugly.sum()))
    return rows


@pytest.mark.parametrize("strengths", [(3.0, 1.0), (50.0, 0.02)], ids=["even", "uneven"])
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_no_row_moves_a_minimum_further_than_stated(loss, neighbors, strengths):
    search = asked(loss, strengths).search(neighbors, None, BLOCK_ROWS, 1)
    rng = np.random.default_rng(0)
    for _ in range(8):
        rows, other = rows_at_large(loss, rng, rng.integers(1, 9)), rows_at_large(loss, rng, 1)
        here = found(search, rows)
        assert np.isfinite(here).all()
        for place in range(len(rows)):
            changed = np.delete(rows, place, axis=0)
            if neighbors == "replace_one":
                changed = np.vstack([changed, other])
            assert np.linalg.norm(found(search, changed) - here) <= search.sensitivity


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_the_bound_is_reached(neighbors):
    """Huber's loss is as steep as it can be where targets are far: the bound is no larger than need be."""
    search = asked(HuberLoss(), (2.0,)).search(neighbors, None, BLOCK_ROWS, 1)
    x = np.sqrt(RADIUS**2 - 1.0)
    far = [np.array([[x, 0.0, target]]) for target in (1e3, -1e3)]
    other = far[1] if neighbors == "replace_one" else np.empty((0, 3))
    assert np.linalg.norm(found(search, far[0]) - found(search, other)) > 0.999 * search.sensitivity


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_a_minimum_is_where_it_is_said_to_be(loss):
    """The gradient there, added up otherwise, is within the tolerance; and one found more closely is within it too."""
    minimum = asked(loss, (50.0, 0.02))
    search = minimum.search("add_remove", None, BLOCK_ROWS, 1)
    rng = np.random.default_rng(1)
    for _ in range(10):
        rows = rows_at_large(loss, rng, 30)
        told = found(search, rows)
        theta = search.parameters(told)
        by_row = np.sum([minimum.gradients.at(theta).block_sum(row[None]) for row in rows], axis=0)
        gradient = by_row + minimum.quadratic @ (theta - minimum.centre)
        assert np.linalg.norm(gradient) <= 1.01 * search.tolerance
        closer = found(replace(search, tolerance=1e-3 * search.tolerance), rows)
        least = np.linalg.eigvalsh(minimum.quadratic)[0]
        assert np.linalg.norm(closer - told) <= 1.01 * search.tolerance / np.sqrt(least)


@pytest.mark.parametrize(
    "rows",
    [
        np.empty((0, 3)),
        np.full((5, 3), np.nan),
        np.tile([1.0, 1.0, 1.0], (40, 1)),
        np.column_stack([np.full(40, 1e49), np.zeros(40), np.ones(40)]),
        np.column_stack([np.linspace(-9, 9, 40), np.zeros(40), np.linspace(-9, 9, 40) > 0]),
    ],
    ids=["none", "nothing measured", "all alike", "endless", "separable"],
)
def test_every_search_ends(rows):
    for loss, weak in itertools.product(LOSSES.values(), (1.0, 1e-4)):
        assert np.isfinite(found(asked(loss, (weak, 1.0)).search("add_remove", None, BLOCK_ROWS, 1), rows)).all()


def test_a_flat_direction_is_refused():
    with pytest.raises(ValueError, match="strongly convex"):
        asked(LogisticLoss(), (1.0, 0.0)).search("replace_one", None, BLOCK_ROWS, 1)


@pytest.mark.parametrize("loss", [HuberLoss(), SmoothedHingeLoss(), LOSSES["softmax"]])
def test_only_what_the_proof_covers_is_tilted(loss):
    with pytest.raises(ValueError, match="one linear prediction, with two derivatives"):
        asked(loss, (1.0,), tilt="tilt").search("replace_one", TiltedGaussian("tilt", 1.0), BLOCK_ROWS, 1)


# Tilted minima: their density is known, so that what they give away can be integrated.

EPSILONS = np.array([0.0, 0.1, 0.3, 0.6, 1.0, 1.5])
WEIGHTS = (1.0, 2.0)


def tilted(multiplier, bend, inputs=1, weaker=1.0):
    """A search without intercept and without penalty; `weaker` spoils the ridge that the proof asks for."""
    loss = LogisticLoss(WEIGHTS)
    minimum = replace(asked(loss, (0.0,), inputs, 0.0, "tilt"), centre=np.zeros(1 + inputs))
    step = TiltedGaussian("tilt", multiplier, bend=bend)
    return step, lambda neighbors: spoilt(minimum.search(neighbors, step, BLOCK_ROWS, 1), weaker)


def spoilt(search, weaker):
    return replace(search, quadratic=search.quadratic / weaker)


def density(search, rows, grid):
    """Of the minimum at points of a grid (m, d), up to a factor that all tables share."""
    wide = grid.shape[1]
    ridge = search.quadratic[1, 1]
    lengths2 = (rows[:, :-1] ** 2).sum(axis=1)
    weights = np.where(rows[:, -1] > 0.5, WEIGHTS[1], WEIGHTS[0]) / np.maximum(1.0, lengths2 / RADIUS**2)
    p = expit(grid @ rows[:, :-1].T)
    gradient = (weights * (p - rows[:, -1])) @ rows[:, :-1] + ridge * grid
    hessian = np.einsum("mr,ri,rj->mij", weights * p * (1 - p), rows[:, :-1], rows[:, :-1]) + ridge * np.eye(wide)
    return np.exp(-(gradient**2).sum(axis=1) / (2 * search.tilt_scale**2)) * np.linalg.det(hessian)


def apart(search, rows, others, grid):
    """The hockey-stick divergence of the two tables' minima, at every epsilon."""
    here, there = (density(search, table, grid) for table in (rows, others))
    return np.maximum(here - np.exp(EPSILONS)[:, None] * there, 0.0).sum(axis=1) / here.sum()


def worst(multiplier, bend, neighbors, weaker=1.0):
    """The largest share of what the step states that pairs of tables of one input reach, at any epsilon."""
    step, make = tilted(multiplier, bend, weaker=weaker)
    search = make(neighbors)
    stated = tilted_delta(EPSILONS, 1 / step.noise_multiplier, step.bend, 1 if neighbors == "add_remove" else 2)
    reach = 9 * search.tilt_scale / search.quadratic[1, 1] + 40 * RADIUS / search.quadratic[1, 1]
    grid = np.linspace(-reach, reach, 4001)[:, None]
    row, most = [np.array([[x, y]]) for x in (RADIUS, 3 * RADIUS) for y in (0.0, 1.0)], 0.0
    for base in (np.empty((0, 2)), np.tile([[RADIUS, 1.0]], (5, 1)), np.array([[1.0, 0.0], [1.0, 1.0], [-0.2, 1.0]])):
        for one, other in itertools.product(row, row if neighbors == "replace_one" else [np.empty((0, 2))]):
            tables = np.vstack([base, one]), np.vstack([base, other])
            for pair in (tables, tables[::-1]):
                most = max(most, float(np.max(apart(search, *pair, grid) / np.maximum(stated, 1e-12))))
    return most


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize(("multiplier", "bend"), [(2.0, 0.5), (2.0, 0.05), (8.0, 0.5), (0.5, 0.3)])
def test_tilted_minima_give_away_no_more_than_stated(multiplier, bend, neighbors):
    assert worst(multiplier, bend, neighbors) <= 1.0


def test_a_ridge_that_is_too_weak_is_caught():
    """The test bites: with a ridge a hundred times weaker, rows bend the sum by more than the step has paid for."""
    assert worst(20.0, 0.05, "add_remove", weaker=100.0) > 1.0


def test_rows_at_an_angle_give_away_no_more_than_stated():
    """In the plane, where a replaced row moves gradients along two lines."""
    step, make = tilted(1.5, 0.4, inputs=2)
    search = make("replace_one")
    stated = tilted_delta(EPSILONS, 1 / step.noise_multiplier, step.bend, 2)
    reach = 6 * search.tilt_scale / search.quadratic[1, 1]
    axis = np.linspace(-reach, reach, 301)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    base = np.array([[0.5, 1.0, 1.0], [1.0, -0.5, 0.0]])
    for angle in (0.5, 1.6, 3.14):
        one, other = (RADIUS * np.array([np.cos(a), np.sin(a)]) for a in (0.0, angle))
        for labels in ((0.0, 0.0), (0.0, 1.0)):
            tables = [np.vstack([base, [*x, y]]) for x, y in zip((one, other), labels)]
            assert (apart(search, *tables, grid) <= stated).all()


# Through the door, at the worst pair of tables there is: what comes out keeps to the plan, and less noise does not.

FAR = np.tile([np.sqrt(RADIUS**2 - 1.0), 0.0, 1e6], (3, 1))
WORST = {
    "output": (HuberLoss(), [Gaussian("minimum", 1.0, size=3)], None),
    "objective": (LogisticLoss(), [TiltedGaussian("tilt", 1.0, size=3), Gaussian("minimum", 7.0, size=3)], "tilt"),
}


def audited(name, neighbors, trials, less=1.0, epsilon=1.0):
    loss, steps, tilt = WORST[name]
    plan = calibrated_plan(steps, Budget(epsilon, 1e-3), neighbors)
    minimum = asked(loss, (2.0,) if tilt is None else (0.0,), tilt=tilt)
    other = np.vstack([FAR[:-1], FAR[-1:] * [1.0, 1.0, -1.0]]) if neighbors == "replace_one" else FAR[:-1]

    def run(rows, seed):
        curator = Curator(as_source(rows), plan, random_state=seed)
        with mock.patch("tacit.release.curator.discrete_gaussian", lambda *how: quieter(less, *how)):
            return curator.minimise("minimum", minimum)

    return audit_outputs(
        run, FAR, other, delta=1e-3, trials=trials, confidence=0.999, method="threshold", claim=plan, random_state=0
    )


def quieter(less, scale, size, gen):
    return discrete_gaussian(scale / less, size, gen)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("name", WORST)
def test_the_door_keeps_to_the_plan(name, neighbors):
    assert audited(name, neighbors, 60).consistent_with()


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("name", WORST)
def test_the_door_keeps_to_the_plan_in_the_long_run(name, neighbors):
    audit = audited(name, neighbors, 4000, epsilon=4.0)
    assert audit.consistent_with()
    if name == "output":  # where the pair is the worst there is: the audit sees something, and would see more
        assert audit.epsilon > 0.5


@pytest.mark.parametrize(("name", "less"), [("output", 6.0), ("objective", 12.0)])
def test_too_little_noise_is_caught(name, less):
    """Labels of one and the same row move logistic gradients by half of what two rows could."""
    assert audited(name, "replace_one", 200, less).refutes()

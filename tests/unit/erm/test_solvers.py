"""Step rules, by what they must do where the answer is known."""

import numpy as np
import pytest

from tacit.erm.input_moments import Coordinates, Scatter
from tacit.erm.linear_estimator import SOLVERS
from tacit.erm.losses import LogisticLoss
from tacit.erm.newton import GRADIENT, Newton, corrected, secant
from tacit.erm.problem import Problem
from tacit.erm.variance_reduced import DIFFERENCE, SNAPSHOT
from tacit.latent.engine import run
from tacit.privacy import Budget, SampledGaussian
from tacit.release import Curator, planned
from tacit.sources import as_source

RNG = np.random.default_rng(0)
ROWS = np.column_stack([RNG.normal(size=(3000, 2)), np.zeros(3000)])
ROWS[:, -1] = ROWS[:, 0] - 0.5 * ROWS[:, 1] + RNG.logistic(size=3000) > 0


def problem(noise=1e-6):
    coordinates = Coordinates(np.zeros(2), np.eye(2), np.ones(2), np.ones(2), 3000.0)
    return Problem(LogisticLoss(), coordinates, np.zeros((1, 3)), 1.0, np.zeros((3, 3)), noise)


def solved(name, iterations, epsilon):
    solver = SOLVERS[name]
    plan = planned(solver.steps(iterations, 3, 1.0), Budget(epsilon, 1e-6))
    model = solver(problem(), iterations)
    return model, model.finish(run(model, Curator(as_source(ROWS), plan, random_state=0))).coefficients


@pytest.mark.parametrize(
    ("name", "iterations"),
    [
        ("newton", 8),
        ("gradient", 60),
        ("accmd", 60),
        ("sgd", 200),
        ("svrg", 10),
        ("katyusha", 10),
        ("svrg++", 6),
        ("robust", 200),
    ],
)
def test_every_rule_finds_the_minimum(name, iterations):
    _, found = solved(name, iterations, 1e3)
    gradient = problem().gradients(found).block_sum(ROWS) / 3000  # of all rows at once: there is no noise here
    assert np.linalg.norm(gradient) < 0.02


def test_epochs_are_snapshots_and_differences():
    assert SOLVERS["svrg"](problem(), 2).rounds == ([SNAPSHOT] + [DIFFERENCE] * 20) * 2
    assert [len(SOLVERS["svrg++"](problem(), 3).rounds), SOLVERS["newton"](problem(), 2).rounds] == [38, [GRADIENT] * 2]


def test_the_first_difference_of_an_epoch_is_next_to_nothing():
    """At the snapshot itself there is no difference, and no noise worth the name."""
    model = SOLVERS["svrg"](problem(), 1)
    state = model.start()
    state, snapshot = model.statistic(state, 0, lambda statistic: 1.0)
    state = model.update(state, 0, snapshot, np.zeros(3), 1.0)
    assert model.statistic(state, 1, lambda statistic: 1.0)[1].radius < 1e-8


def test_differences_are_shorter_the_nearer_the_snapshot_is():
    model = SOLVERS["katyusha"](problem(), 1)
    state, snapshot = model.statistic(model.start(), 0, lambda statistic: 1.0)
    state = model.update(state, 0, snapshot, np.array([0.0, 0.4, 0.0]), 1.0)
    radii = []
    for step in (0.1, 0.01):
        moved = state.__class__(state.snapshot, state.gradient, state.snapshot + step, state.mean)
        radii.append(model.statistic(moved, 1, lambda statistic: 1.0)[1].radius)
    assert radii[1] == pytest.approx(radii[0] / 10)


def test_no_sample_of_one_row_is_offered():
    for name in ("sgd", "svrg", "katyusha", "svrg++", "robust"):
        for step in SOLVERS[name].steps(4, 3, 1.0):
            if isinstance(step, SampledGaussian):
                assert step.sampling_rate >= 0.01


def test_rounds_cost_next_to_nothing():
    """Measurements of one thing are put together: ten rounds are about as good as twenty, at the same budget."""
    few, many = ([error(iterations, seed) for seed in range(8)] for iterations in (8, 24))
    assert np.mean(many) < 2.0 * np.mean(few)


def error(iterations, seed):
    plan = planned(Newton.steps(iterations, 3, 1.0), Budget(1.0, 1e-6))
    model = Newton(problem(30.0), iterations)
    found = run(model, Curator(as_source(ROWS), plan, random_state=seed)).coefficients
    return float(np.sum((found - solved("newton", 12, 1e6)[1]) ** 2))


def test_curvatures_are_corrected_by_what_steps_show():
    truth, model, step = np.diag([4.0, 1.0]), np.eye(2), np.array([0.5, 0.0])
    seen = secant(step, np.zeros(2), model, truth @ step, model, noise=1e-6)
    np.testing.assert_allclose(corrected(model, (seen,)), truth, atol=1e-6)
    drowned = secant(step, np.zeros(2), model, truth @ step, model, noise=10.0)
    np.testing.assert_allclose(corrected(model, (drowned,)), model)


def test_coordinates_are_white_where_noise_is_small():
    covariance = np.array([[4.0, 1.2, 0.0], [1.2, 1.0, 0.0], [0.0, 0.0, 1.0]])
    scatter = Scatter(np.zeros(3), np.ones(3), covariance, 1e-9, 1e5)
    fine = Coordinates.white(scatter, 2.0, 1e-3)
    np.testing.assert_allclose(fine.whitener @ covariance[:2, :2] @ fine.whitener.T, np.eye(2), atol=1e-3)
    coarse = Coordinates.white(Scatter(np.zeros(3), np.ones(3), covariance, 100.0, 1e5), 2.0, 1e-3)
    assert np.linalg.cond(coarse.whitener) < 1.1  # nothing is known, and nothing is undone
    beta = np.array([[0.3, 1.0, -2.0]])
    rows = np.array([[1.0, 2.0, 7.0]])
    moved = fine(rows)
    there = fine.to_standard(beta)
    assert moved[0, -1] == 7.0
    np.testing.assert_allclose(beta[0, 0] + moved[0, :2] @ beta[0, 1:], there[0, 0] + rows[0, :2] @ there[0, 1:])

"""Step rules, by what they must do where the answer is known."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import tacit
from tacit.linear.accelerated_descent import AcceleratedDescent
from tacit.linear.coordinates import Coordinates, Scatter
from tacit.linear.newton import GRADIENT, Newton, correct_hessian, secant
from tacit.linear.problem import Problem
from tacit.linear.risk import OWN_SOLVERS, PUBLISHED_SOLVERS
from tacit.privacy import Budget, Sampled
from tacit.published import SGD, SVRG, GradientDescent, Katyusha, RobustSGD, SVRGPlusPlus, variance_reduced
from tacit.published.variance_reduced import DIFFERENCE, SNAPSHOT, differences
from tacit.release import Curator, calibrated_plan
from tacit.sources import as_source
from tacit.statistics.losses import LogisticLoss

RNG = np.random.default_rng(0)
ROWS = np.column_stack([RNG.normal(size=(3000, 2)), np.zeros(3000)])
ROWS[:, -1] = ROWS[:, 0] - 0.5 * ROWS[:, 1] + RNG.logistic(size=3000) > 0


def problem(noise=1e-6):
    coordinates = Coordinates(np.zeros(2), np.eye(2), np.ones(2), np.ones(2), 3000.0)
    return Problem(LogisticLoss(), coordinates, np.zeros((1, 3)), 1.0, np.zeros((3, 3)), noise)


def solve(solver, epsilon, seed=0, noise=1e-6):
    """Return the steps whose releases a solver made, in order, where it was after each, and what it returns."""
    names, points = [], []
    plan = calibrated_plan(solver.steps(3, 1.0, 1), Budget(epsilon, 1e-6))
    curator = Curator(as_source(ROWS), plan, random_state=seed)
    solution = solver.solve(problem(noise), curator, lambda step, point: (names.append(step), points.append(point)))
    assert len(names) == solver.releases
    return names, points, solution.coefficients


@pytest.mark.parametrize(
    "solver",
    [
        Newton(8),
        GradientDescent(n_iter=60),
        AcceleratedDescent(60),
        SGD(),
        SVRG(epochs=10),
        Katyusha(epochs=10),
        SVRGPlusPlus(epochs=6),
        RobustSGD(),
        RobustSGD(sampling_rate=1.0),
    ],
    ids=str,
)
def test_every_rule_finds_the_minimum(solver):
    _, points, found = solve(solver, 1e3)
    assert np.array_equal(points[-1], found)
    gradient = problem().gradients(found).block_sum(ROWS) / 3000  # All rows at once: there is no noise here.
    assert np.linalg.norm(gradient) < 0.02


def test_epochs_are_snapshots_and_differences():
    assert solve(SVRG(epochs=2), 1e3)[0] == ([SNAPSHOT] + [DIFFERENCE] * 20) * 2
    assert solve(SVRG(epochs=1, epoch_length=3), 1e3)[0] == [SNAPSHOT] + [DIFFERENCE] * 3
    assert [len(solve(SVRGPlusPlus(epochs=3), 1e3)[0]), solve(Newton(2), 1e3)[0]] == [73, [GRADIENT] * 2]


def test_an_epoch_has_the_mean_of_its_second_half(monkeypatch):
    points = []
    monkeypatch.setattr(variance_reduced, "keep_finite", lambda point: points.append(point) or point)
    _, told, found = solve(SVRG(epochs=2), 1e3)
    np.testing.assert_allclose(told[21], np.mean(points[10:20], axis=0))  # The second snapshot.
    np.testing.assert_allclose(found, np.mean(points[30:40], axis=0))


@pytest.mark.parametrize("rule", [SVRG(epochs=2), Katyusha(epochs=2), SVRGPlusPlus(epochs=2)], ids=str)
def test_steps_are_short_where_noise_would_carry_the_point_away(rule):
    """An epoch's noise, added up, is no longer than the way that the point has gone."""
    inner = rule.epoch_lengths()[0]
    free, short = rule.step_length(problem(), inner, 1e-6), rule.step_length(problem(), inner, 100.0)
    assert free == pytest.approx(rule.longest_step / problem().smoothness)
    sampled = 0.05 * 3000
    per_unit_of_distance = 2 * problem().loss.smoothness * problem().coordinates.length * 100.0 / sampled * np.sqrt(3)
    assert short * per_unit_of_distance * np.sqrt(inner) == pytest.approx(1.0)


def test_the_first_difference_of_an_epoch_is_next_to_nothing():
    """At the snapshot itself there is no difference, and no noise worth the name."""
    assert differences(problem(), problem().begin, problem().begin).radius < 1e-8


def test_differences_are_shorter_the_nearer_the_snapshot_is():
    snapshot = np.array([[0.0, 0.4, 0.0]])
    radii = [differences(problem(), snapshot + step, snapshot).radius for step in (0.1, 0.01)]
    assert radii[1] == pytest.approx(radii[0] / 10)


def test_no_sample_of_one_row_is_offered():
    for kind in (SGD, SVRG, Katyusha, SVRGPlusPlus, RobustSGD):
        for step in kind().steps(3, 1.0, 1):
            if isinstance(step, Sampled):
                assert step.rate >= 0.01


@pytest.mark.parametrize("solver", sorted({*OWN_SOLVERS, *PUBLISHED_SOLVERS} - {"frank_wolfe"}))  # It is for balls.
def test_no_intercept_is_no_intercept(solver):
    """Noise on what is not asked for must not become an answer."""
    options = {"solver": solver, "classes": [0, 1], "bounds": 5.0, "fit_intercept": False, "random_state": 0}
    model = tacit.LogisticRegression(**options).fit(ROWS[:, :-1], ROWS[:, -1].astype(int))
    assert model.intercept_ == pytest.approx(0.0, abs=1e-12)
    assert np.abs(model.coef_).max() > 1e-3


@pytest.mark.parametrize("solver", ["newton", "gradient"])
def test_a_ridge_counts_for_as_much_less_as_gradients_are_weighed_down(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 8))
    y = (X @ np.full(8, 1.0) + rng.logistic(size=len(X)) > 0).astype(int)
    C = 1 / (0.01 * len(X))
    model = tacit.LogisticRegression(solver=solver, C=C, classes=[0, 1], bounds=5.0, random_state=0).fit(X, y)
    plain = LogisticRegression(C=C).fit(X, y)
    assert np.linalg.norm(model.coef_) == pytest.approx(np.linalg.norm(plain.coef_), rel=0.045)


@pytest.mark.parametrize("solver", ["svrg", "katyusha"])
def test_epochs_do_not_overshoot_where_some_rows_are_long(solver):
    """Rare levels are long rows in white coordinates: differences that are cut short there lead steps astray."""
    rng = np.random.default_rng(0)
    shares = 0.75 ** np.arange(25)
    levels = rng.choice(25, 40_000, p=shares / shares.sum())
    X = np.eye(25)[levels] - 1 / 25
    y = (rng.logistic(size=len(X)) < rng.normal(size=25)[levels]).astype(int)
    model = tacit.LogisticRegression(solver=solver, classes=[0, 1], bounds=1.0, delta=1e-5, random_state=0).fit(X, y)
    counts = np.bincount(levels, minlength=25)
    p = np.clip(np.bincount(levels, y, minlength=25) / counts, 1e-9, 1 - 1e-9)
    best = -float(np.sum(counts * (p * np.log(p) + (1 - p) * np.log(1 - p)))) / len(X)
    assert -np.mean(model.predict_log_proba(X)[np.arange(len(X)), y]) - best < 0.02


@pytest.mark.parametrize("solver", ["sgd", "svrg", "katyusha", "svrg++"])
def test_samples_leave_what_moments_are_given_under_both_relations(solver):
    """Noise on sampled sums is stated per row added; where rows are replaced it has to be twice that."""
    y = ROWS[:, -1].astype(int)
    options = {"classes": [0, 1], "bounds": 5.0, "random_state": 0}
    for neighbors in ("add_remove", "replace_one"):
        fits = (
            tacit.LogisticRegression(solver=name, neighbors=neighbors, **options).fit(ROWS[:, :-1], y)
            for name in (solver, "gradient")
        )
        noise = [next(each for each in fit.privacy_.releases if each.name == "columns").noise_scale for fit in fits]
        assert noise[0] == pytest.approx(noise[1], rel=0.3)


def test_rounds_cost_next_to_nothing():
    """Measurements of one thing are put together: ten rounds are about as good as twenty, at the same budget."""
    few, many = ([error(iterations, seed) for seed in range(8)] for iterations in (8, 24))
    assert np.mean(many) < 2.0 * np.mean(few)


def error(iterations, seed):
    found = solve(Newton(iterations), 1.0, seed, noise=30.0)[2]
    return float(np.sum((found - solve(Newton(12), 1e6)[2]) ** 2))


def test_curvatures_are_corrected_by_what_steps_show():
    truth, model, step = np.diag([4.0, 1.0]), np.eye(2), np.array([0.5, 0.0])
    seen = secant(step, np.zeros(2), model, truth @ step, model, noise=1e-6)
    np.testing.assert_allclose(correct_hessian(model, (seen,)), truth, atol=1e-6)
    drowned = secant(step, np.zeros(2), model, truth @ step, model, noise=10.0)
    np.testing.assert_allclose(correct_hessian(model, (drowned,)), model)


def test_coordinates_are_white_where_noise_is_small():
    covariance = np.array([[4.0, 1.2, 0.0], [1.2, 1.0, 0.0], [0.0, 0.0, 1.0]])
    scatter = Scatter(np.zeros(3), np.ones(3), np.ones(3), covariance, 1e-9, 1e5)
    fine = Coordinates.white(scatter, 2.0, 1e-3)
    np.testing.assert_allclose(fine.whitener @ covariance[:2, :2] @ fine.whitener.T, np.eye(2), atol=1e-3)
    coarse = Coordinates.white(Scatter(np.zeros(3), np.ones(3), np.ones(3), covariance, 100.0, 1e5), 2.0, 1e-3)
    assert np.linalg.cond(coarse.whitener) < 1.1  # nothing is known, and nothing is undone
    beta = np.array([[0.3, 1.0, -2.0]])
    rows = np.array([[1.0, 2.0, 7.0]])
    moved = fine.row_map(rows)
    there = fine.to_standard(beta)
    assert moved[0, -1] == 7.0
    np.testing.assert_allclose(beta[0, 0] + moved[0, :2] @ beta[0, 1:], there[0, 0] + rows[0, :2] @ there[0, 1:])

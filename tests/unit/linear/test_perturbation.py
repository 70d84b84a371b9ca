"""Perturbed outputs and objectives, and private corners: what they find, what they cost, and what they refuse."""

import numpy as np
import pytest
from scipy.optimize import minimize

import tacit
from tacit.linear import ConvexLoss, L1Ball, L2Ball
from tacit.privacy import Budget

RNG = np.random.default_rng(0)
X = RNG.normal(size=(8000, 4)) * [1.0, 2.0, 0.5, 1.0] + [0.0, 1.0, 0.0, 0.0]
SLOPES = np.array([1.0, -0.5, 2.0, 0.0])
LABELS = (X @ SLOPES + 0.7 + RNG.logistic(size=len(X)) > 0).astype(int)
TARGETS = X @ SLOPES + 3.0 + RNG.standard_t(2, size=len(X))
WIDE = RNG.uniform(-1, 1, (6000, 200))
WIDE_TARGETS = 3 * WIDE[:, 7] - 2 * WIDE[:, 60] + 0.3 * RNG.normal(size=6000)
LOG_COSH = ConvexLoss(lambda p, t: np.logaddexp(p - t, t - p), lambda p, t: np.tanh(p - t), 1.0, 1.0)


def logistic(**settings):
    return tacit.LogisticRegression(**{"classes": [0, 1], "bounds": 12.0, "random_state": 0, **settings})


def sparse(**settings):
    settings = {"bounds": 1.0, "target_bounds": 6.0, "constraint": L1Ball(6.0), "random_state": 0, **settings}
    return tacit.ERM(LOG_COSH, **{"solver": "frank_wolfe", **settings})


def error(model, truth=SLOPES):
    return float(np.abs(np.ravel(model.coef_) - truth).max())


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_objective_perturbation_finds_coefficients(neighbors):
    model = logistic(solver="objective", neighbors=neighbors).fit(X, LABELS)
    assert error(model) < 0.3
    assert abs(model.intercept_[0] - 0.7) < 0.2
    assert [step.name for step in model.privacy_.plan.steps][-2:] == ["tilt", "minimum"]
    assert model.privacy_.delta(1.0) <= 1e-6


def test_it_needs_no_penalty():
    assert error(logistic(solver="objective", C=np.inf).fit(X, LABELS)) < 0.3


def test_objective_perturbation_is_worth_about_what_newton_is():
    fits = {
        solver: [logistic(solver=solver, epsilon=0.3, random_state=seed).fit(X, LABELS) for seed in range(5)]
        for solver in ("newton", "objective")
    }
    assert np.mean([*map(error, fits["objective"])]) < 3 * np.mean([*map(error, fits["newton"])])


def test_output_without_noise_is_the_penalised_minimum():
    """But for weights of long rows, and for the penalty that intercepts have too."""
    model = logistic(solver="output", epsilon=100.0, C=0.002).fit(X, LABELS)

    def risk(beta):
        scores = (2 * LABELS - 1) * (beta[0] + X @ beta[1:])
        return np.logaddexp(0.0, -scores).sum() + beta[1:] @ beta[1:] / (2 * 0.002)

    plain = minimize(risk, np.zeros(5), method="BFGS").x
    np.testing.assert_allclose(model.coef_[0], plain[1:], atol=0.15)
    assert abs(model.intercept_[0] - plain[0]) < 0.15


def test_a_stronger_penalty_is_less_noise():
    weak, strong = (np.linalg.norm(logistic(solver="output", C=C).fit(X, LABELS).coef_) for C in (1.0, 0.003))
    assert weak > 5 > strong
    scales = [logistic(solver="output", C=C).fit(X, LABELS).privacy_.releases[-1].noise_scale for C in (1.0, 0.01)]
    assert scales[0] == pytest.approx(10 * scales[1], rel=0.01)  # Noise is on sqrt(1 / C) times coefficients.


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_every_loss_of_the_library_goes_with_output(neighbors):
    settings = {"bounds": 12.0, "random_state": 0, "neighbors": neighbors, "solver": "output"}
    three = LABELS + (X[:, 3] > 1)
    many = tacit.LogisticRegression(classes=[0, 1, 2], C=0.003, **settings).fit(X, three)
    assert many.coef_.shape == (3, 4)
    assert many.score(X, three) > 0.55
    assert tacit.LinearSVC(classes=[0, 1], C=0.003, **settings).fit(X, LABELS).score(X, LABELS) > 0.7
    assert error(tacit.HuberRegressor(alpha=300.0, target_bounds=60.0, **settings).fit(X, TARGETS)) < 0.7


@pytest.mark.parametrize("solver", ["output", "objective"])
def test_without_intercepts_predictions_are_zero_where_inputs_are(solver):
    model = logistic(solver=solver, C=0.01, fit_intercept=False).fit(X, LABELS)
    assert model.intercept_[0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (logistic(solver="output", C=np.inf), "needs a penalty on squared coefficients"),
        (logistic(solver="output", n_iter=5), "n_iter is for the solver newton, accmd; a published one has its own"),
        (logistic(solver="svrg", n_iter=5), r"solver=tacit\.published\.SVRG\(epochs=5, "),
        (logistic(solver="objective", classes=[0, 1, 2]), "is for two classes, and there are 3"),
        (logistic(solver="frank_wolfe"), r"it is for tacit.ERM\(loss, constraint=L1Ball\(radius\)\)"),
        (tacit.LinearSVC(classes=[0, 1], bounds=12.0, solver="objective"), "needs a loss with two derivatives"),
        (tacit.HuberRegressor(bounds=12.0, target_bounds=1.0, solver="objective"), "needs a loss with two derivatives"),
        (tacit.HuberRegressor(bounds=12.0, target_bounds=1.0, alpha=0.0, solver="output"), "or alpha positive"),
        (sparse(solver="output"), "only declared for others"),
        (sparse(solver="objective"), "only declared for others"),
        (sparse(constraint=L2Ball(1.0)), "corner to corner of an L1Ball"),
        (sparse(constraint=None), "corner to corner of an L1Ball"),
        (logistic(delta=0.0, solver="objective"), "delta above 0"),
    ],
)
def test_what_does_not_go_together_is_refused_before_anything_is_charged(model, sentence, tmp_path):
    account = tacit.Ledger(tmp_path / "ledger.db").create("rows", Budget(9.0, 1e-3))
    with pytest.raises(ValueError, match=sentence):
        model.set_params(ledger=account, random_state=None).fit(X, LABELS)
    assert account.history() == []


# Frank and Wolfe's method


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_corners_are_found(neighbors):
    rows, target = WIDE[:, [7, 60, 0]], WIDE_TARGETS + 2.0
    model = sparse(neighbors=neighbors).fit(rows, target)
    assert np.abs(model.coef_).sum() <= 6.0 + 1e-9
    assert error(model, [3.0, -2.0, 0.0]) < 0.7
    assert abs(model.intercept_ - 2.0) < 0.2


def test_many_columns_leave_most_slopes_at_zero():
    model = sparse(fit_intercept=False).fit(WIDE, WIDE_TARGETS)
    assert set(np.argsort(-np.abs(model.coef_))[:2]) == {7, 60}
    assert (model.coef_ != 0).sum() <= model.n_iter_ == 20
    assert model.intercept_ == 0.0


def test_a_budget_may_be_pure():
    model = sparse(delta=0.0, epsilon=2.0).fit(WIDE[:, :5], WIDE_TARGETS)
    assert model.privacy_.budget == Budget(2.0, 0.0)
    assert model.privacy_.epsilon(0.0) <= 2.0
    assert {step.kind for step in model.privacy_.plan.steps} == {"selection", "laplace"}

"""Classifiers, regressions and their solvers, audited whole at small size; and the solvers as they were printed.

Three of the published solvers were not private as printed: one had no noise, one returned a point that no noise had
touched, and the noise of the third was too small for samples of one row. Each is caught, and its correction is not.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from joined import Joined
from sklearn.base import clone

import tacit
from tacit import published
from tacit.audit import audit_estimator, audit_outputs
from tacit.fitting import allocation
from tacit.linear import ConvexLoss, HuberLoss, L1Ball, LogisticLoss
from tacit.privacy import Budget, Gaussian, Plan, Sampled, Split
from tacit.release import Curator, calibrated_plan
from tacit.sources import as_source
from tacit.statistics import LossGradients

RNG = np.random.default_rng(0)
ROWS = np.column_stack([RNG.uniform(-0.3, 0.3, 24), RNG.integers(0, 2, 24)])
RIGHT, LEFT = np.vstack([ROWS, [[1.0, 1.0]]]), np.vstack([ROWS, [[1.0, 0.0]]])


class Logistic(Joined, tacit.LogisticRegression):
    pass


class SVC(Joined, tacit.LinearSVC):
    pass


class Huber(Joined, tacit.HuberRegressor):
    pass


class Sparse(Joined, tacit.ERM):
    pass


LOG_COSH = ConvexLoss(lambda p, t: np.logaddexp(p - t, t - p), lambda p, t: np.tanh(p - t), 1.0, 1.0)


MODELS = {
    "newton": Logistic(classes=[0, 1], n_iter=3),
    "three classes": Logistic(classes=[0, 1, 2], n_iter=3),
    "gradient": Logistic(classes=[0, 1], solver=published.GradientDescent(n_iter=3)),
    "accmd": Logistic(classes=[0, 1], solver="accmd", n_iter=3),
    "sgd": Logistic(classes=[0, 1], solver=published.SGD(n_iter=4)),
    "svrg": Logistic(classes=[0, 1], solver=published.SVRG(epochs=1)),
    "katyusha": Logistic(classes=[0, 1], solver=published.Katyusha(epochs=1)),
    "svrg++": Logistic(classes=[0, 1], solver=published.SVRGPlusPlus(epochs=2)),
    "robust": Logistic(classes=[0, 1], solver=published.RobustSGD(n_iter=4)),
    "hinge": SVC(classes=[0, 1], n_iter=3),
    "huber": Huber(target_bounds=1.0, n_iter=3),
    "output": Logistic(classes=[0, 1], solver="output"),
    "objective": Logistic(classes=[0, 1], solver="objective"),
    "output, three classes": Logistic(classes=[0, 1, 2], solver="output", C=0.1),
    "objective, no intercept": Logistic(classes=[0, 1], solver="objective", fit_intercept=False),
    "output, huber": Huber(target_bounds=1.0, alpha=1.0, solver="output"),
    "frank_wolfe": Sparse(LOG_COSH, constraint=L1Ball(2.0), target_bounds=1.0, solver=published.FrankWolfe(n_iter=3)),
}
RELATIONS = ("replace_one", "add_remove")
BOTH = [(name, neighbors) for name in MODELS for neighbors in RELATIONS]
TURNS = [(name, RELATIONS[place % 2]) for place, name in enumerate(MODELS)]  # both, in the long run


def found(model):
    return np.append(np.ravel(model.coef_), model.intercept_)


def audited(name, trials, neighbors="replace_one", **settings):
    settings = {"epsilon": 8.0, "delta": 1e-3, "bounds": 1.0, "neighbors": neighbors, **settings}
    model = MODELS[name].set_params(**settings)
    other = ROWS if neighbors == "add_remove" else LEFT
    return audit_estimator(model, RIGHT, other, trials=trials, score=found, confidence=0.999, random_state=0)


@pytest.mark.parametrize(("name", "neighbors"), TURNS)
def test_the_claim_stands(name, neighbors):
    assert audited(name, 40, neighbors).consistent_with()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "neighbors"), BOTH)
def test_the_claim_stands_over_many_fits(name, neighbors):
    assert audited(name, 1500, neighbors).consistent_with()


@pytest.mark.parametrize("trials", [40, pytest.param(1500, marks=pytest.mark.slow)])
def test_the_claim_stands_where_rows_are_dealt_out(trials, monkeypatch):
    monkeypatch.setattr(allocation, "_ROWS_PER_SHARE", 3)
    assert audited("newton", trials).consistent_with()
    kinds = {step.name: type(step) for step in MODELS["newton"].fit(RIGHT).privacy_.plan.steps}
    assert kinds["early gradient"] is kinds["second moments"] is Split


@pytest.mark.parametrize(
    ("name", "less", "epsilon"), [("gradient", 8, 8.0), ("output", 50, 1.0), ("objective", 50, 1.0)]
)
def test_too_little_noise_is_caught(name, less, epsilon, monkeypatch):
    from tacit.release import curator

    noise = curator.discrete_gaussian
    monkeypatch.setattr(curator, "discrete_gaussian", lambda scale, size, gen: noise(scale / less, size, gen))
    assert audited(name, 100, epsilon=epsilon).refutes()


# The sampled path, by itself: what a curator releases of samples, against the accountant's curve.

GRADIENTS = LossGradients(LogisticLoss(), np.zeros((1, 2)), 0.5)
RATE, RELEASES = 0.2, 2


class WholeTable(Curator):
    """Takes all rows where the plan says that they are sampled."""

    def _sum(self, step, *asked):
        return super()._sum(replace(step, rate=1.0), *asked)


class LargerSamples(Curator):
    """Takes four times as many rows as the plan says."""

    def _sum(self, step, *asked):
        return super()._sum(replace(step, rate=min(1.0, 4 * step.rate)), *asked)


def audit_of_samples(curator, neighbors, trials):
    plan = calibrated_plan([Sampled(RATE, Gaussian("g", 1.0, RELEASES, 2))], Budget(2.0, 1e-3), neighbors)

    def run(rows, seed):
        made = curator(as_source(rows), plan, random_state=seed)
        return np.concatenate([made.release("g", GRADIENTS) for _ in range(RELEASES)])

    other = ROWS if neighbors == "add_remove" else LEFT
    return audit_outputs(
        run, RIGHT, other, delta=1e-3, trials=trials, confidence=0.999, method="threshold", claim=plan, random_state=0
    )


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_samples_keep_to_the_accountants_curve(neighbors):
    assert audit_of_samples(Curator, neighbors, 200).consistent_with()


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_samples_keep_to_the_accountants_curve_in_the_long_run(neighbors):
    audit = audit_of_samples(Curator, neighbors, 20_000)
    assert audit.consistent_with()
    assert audit.epsilon > 0.1  # the audit sees something, so it would see more if there were more


@pytest.mark.parametrize("curator", [WholeTable, LargerSamples])
def test_samples_that_are_too_large_are_caught(curator):
    assert audit_of_samples(curator, "replace_one", 500).refutes()


# As printed. Rows are replaced, the loss is logistic and 1-Lipschitz: |x| <= 1, and there are no intercepts.


def gradient(rows, beta):
    x, y = rows[:, 0], 2 * rows[:, 1] - 1
    return np.mean(-y * x / (1 + np.exp(y * x * beta)))


def katyusha_as_printed(rows, seed):
    """Algorithm 3.1.2, of one column: sampled gradients corrected by the snapshot's, and no noise anywhere."""
    rng = np.random.default_rng(seed)
    snapshot = point = 0.0
    for _ in range(2):
        full, points = gradient(rows, snapshot), []
        for _ in range(5):
            asked, row = 0.5 * point + 0.5 * snapshot, rows[rng.integers(len(rows))][None]
            point -= 2.0 * (gradient(row, asked) - gradient(row, snapshot) + full)
            points.append(point)
        snapshot = 0.5 * np.mean(points) + 0.5 * snapshot
    return snapshot


def accelerated_as_printed(rows, seed, rounds=1, scale=1.0):
    """Algorithm 3.1.4 with the Euclidean distance: noise moves z, and y, which is returned, moves without it."""
    rng = np.random.default_rng(seed)
    y = z = 0.0
    for k in range(rounds):
        x = 2 / (k + 2) * z + k / (k + 2) * y
        exact = gradient(rows, x)
        y = x - 4.0 * exact
        z -= (k + 2) * (exact + scale * rng.normal())
    return y


def steps_as_printed(rows, seed, trials, releases=10, epsilon=1.0, delta=1e-3):
    """What the proof for algorithms 3.1.1 and 3.1.3 says is private: steps of one row each, with the printed noise."""
    rng = np.random.default_rng(seed)
    count = len(rows)
    scale = math.sqrt(8 * releases * math.log(1 / delta)) / (count * epsilon)
    here, there = 6.0, -6.0  # two points far apart: where differences of gradients are as long as they can be
    differences = np.array([gradient(row[None], here) - gradient(row[None], there) for row in rows])
    picked = rng.integers(count, size=(trials, releases))
    steps = differences[picked] + gradient(rows, there) + scale * rng.normal(size=(trials, releases))
    return np.sort(steps, axis=1)[:, [0, -1]]


def many(rows):
    """Two hundred rows, most of which say nothing, and the one that is replaced."""
    return np.vstack([np.zeros((200, 2)), rows[-1:]])


def printed(run, data=RIGHT, other=LEFT, trials=400, **options):
    plan = calibrated_plan([Gaussian("all", 1.0)], Budget(1.0, 1e-3))
    settings = {"delta": 1e-3, "trials": trials, "confidence": 0.999, "method": "threshold", "claim": plan, **options}
    return audit_outputs(run, data, other, random_state=0, **settings)


@pytest.mark.parametrize("run", [katyusha_as_printed, accelerated_as_printed], ids=lambda run: run.__name__)
def test_printed_solvers_are_caught(run):
    assert printed(run).refutes()


def test_printed_noise_of_samples_of_one_row_is_caught():
    flipped = many(RIGHT).copy()
    flipped[-1] = [0.0, 0.0]
    assert printed(steps_as_printed, many(RIGHT), flipped, trials=20_000, vectorized=True).refutes()


@pytest.mark.parametrize("solver", ["katyusha", "accmd"])
def test_their_corrections_are_not_caught_and_have_noise(solver):
    assert audited(solver, 40, epsilon=1.0).consistent_with()
    fits = [clone(MODELS[solver]).set_params(bounds=1.0, random_state=seed) for seed in (0, 1)]
    assert fits[0].fit(RIGHT).coef_ != fits[1].fit(RIGHT).coef_


def test_differences_of_samples_are_not_caught():
    """The split form: the difference, clipped at what the distance allows, at a multiplier that the plan fixes."""
    plan = calibrated_plan([Sampled(1 / 201, Gaussian("d", 1.0, 10, 2))], Budget(1.0, 1e-3))
    apart = LossGradients(LogisticLoss(), np.array([[0.0, 6.0]]), 1.0, intercept=0.0, anchor=np.array([[0.0, -6.0]]))

    def run(rows, seed):
        made = Curator(as_source(rows), plan, random_state=seed)
        return np.sort([made.release("d", apart)[1] for _ in range(10)])[[0, -1]]

    flipped = many(RIGHT).copy()
    flipped[-1] = [0.0, 0.0]
    audit = audit_outputs(
        run,
        many(RIGHT),
        flipped,
        delta=1e-3,
        trials=60,
        confidence=0.999,
        method="threshold",
        claim=plan,
        random_state=0,
    )
    assert audit.consistent_with()


def test_a_loss_that_lies_leaks_nothing():
    """Slopes steeper than declared are bounded all the same."""
    loss = HuberLoss(1.0)
    steep = LossGradients(loss, np.zeros((1, 2)), 0.1)
    assert steep.sensitivity("replace_one") == pytest.approx(2.0)
    assert np.linalg.norm(steep.block_sum(np.array([[1e9, 1e9]]))) <= 1.0 + 1e-9
    assert Plan((Gaussian("g", 1.0),)).epsilon(1e-6) > 0

"""Published methods for heavy tails: as they were printed they are caught by an audit, as they are here they are not.

Also whole regressions by these methods, audited at small size.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

import tacit
from tacit.audit import audit_estimator, audit_outputs
from tacit.privacy import Budget, Plan, SmoothLaplace
from tacit.published import BlockMean, SampleAggregate, TrimmedDescent
from tacit.release import Curator, SmoothStatistic, calibrated_plan
from tacit.sources import as_source
from tacit.statistics import BlockCentre, TrimmedMeans

N, TRIM, WIDTH = 40, 8, 2.0
NOTHING = np.zeros((N, 1))
FAR = np.vstack([NOTHING[:-1], [[1e9]]])  # the same trimmed mean
BUDGET = Budget(1.0, 1e-3)
PLAN = calibrated_plan([SmoothLaplace("mean", 1.0)], BUDGET)


class Cells:
    size = 1

    def __call__(self, block):
        return block[:, :1]


class Printed(SmoothStatistic):
    """The trimmed mean with the bound of thesis and paper: one that no smooth sensitivity exceeds, and not smooth."""

    low, high = np.full(1, -WIDTH / 2), np.full(1, WIDTH / 2)

    def least(self, smoothness):
        return math.exp(-TRIM * smoothness) * WIDTH

    def answer(self, blocks, smoothness):
        x = np.sort(np.concatenate([block for block, _ in blocks])[:, 0])
        mean = float(np.clip(x[TRIM : N - TRIM].mean(), self.low[0], self.high[0]))
        return [Fraction(mean)], np.array([max((x[-1] - x[0]) / (N - 2 * TRIM), self.least(smoothness))])


def ours():
    return TrimmedMeans(Cells(), np.full(1, -WIDTH / 2), np.full(1, WIDTH / 2), N, trim=TRIM)


def audited(statistic, plan, data, neighbor, trials=400):
    def run(rows, seed):
        found = Curator(as_source(rows), plan, random_state=seed).release(plan.steps[0].name, statistic)
        return np.append(found, np.abs(found) > WIDTH / 2 - 1e-9)  # where noise is far larger than the range

    return audit_outputs(
        run, data, neighbor, delta=BUDGET.delta, trials=trials, confidence=0.999, claim=plan, random_state=0
    )


def test_a_bound_that_is_not_smooth_is_caught_and_the_smooth_one_is_not():
    plan = Plan((SmoothLaplace("mean", 1.0),))
    caught = audited(Printed(), plan, NOTHING, FAR)
    assert caught.refutes()
    assert caught.epsilon > plan.epsilon(BUDGET.delta)
    assert not audited(ours(), plan, NOTHING, FAR).refutes()


@pytest.mark.slow
def test_trimmed_means_stand_over_many_runs():
    """Tables at which the bound and the mean change as much as they may."""
    halves = np.where(np.arange(N) < N // 2 - 1, -1.0, 1.0)[:, None]
    one = halves.copy()
    one[0] = 1.0
    for data, neighbor in ((NOTHING, FAR), (halves, one)):
        assert not audited(ours(), PLAN, data, neighbor, trials=6000).refutes()


ROWS = np.random.default_rng(0).uniform(-0.3, 0.3, (60, 2))
RIGHT, LEFT = np.vstack([ROWS, [[1.0, 1.0]]]), np.vstack([ROWS, [[1.0, -1.0]]])


class Linear(tacit.LinearRegression):
    """The last column is the target, as an audit has one table."""

    def fit(self, X, y=None):
        return super().fit(X[:, :-1], X[:, -1])


MODELS = {
    "trimmed": Linear(method=TrimmedDescent(gradient_bounds=1.0, n_iter=3), fit_intercept=False),
    "sample_aggregate": Linear(method=SampleAggregate(coef_bound=2.0), fit_intercept=False),
    "block_mean": Linear(method=BlockMean(coef_bound=2.0), fit_intercept=False),
}


def audited_model(name, trials, epsilon=8.0, delta=1e-3):
    # Of few blocks the centre has no bound; many rows are more of the same.
    many = [
        np.vstack([table, np.tile(ROWS, (15, 1))]) if name == "sample_aggregate" else table for table in (RIGHT, LEFT)
    ]
    model = MODELS[name].set_params(epsilon=epsilon, delta=delta)
    return audit_estimator(
        model, *many, trials=trials, score=lambda fitted: fitted.coef_, confidence=0.999, random_state=0
    )


@pytest.mark.filterwarnings("ignore:delta=")
@pytest.mark.parametrize("name", MODELS)
def test_the_claim_stands(name):
    assert audited_model(name, 40).consistent_with()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:delta=")
@pytest.mark.parametrize("name", MODELS)
def test_the_claim_stands_over_many_fits(name):
    assert audited_model(name, 1500).consistent_with()


def test_a_centre_of_too_few_blocks_has_no_bound():
    assert BlockCentre(1, 40, 2.0).least(0.1) == 0.0

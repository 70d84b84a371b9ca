"""Linear regressions, audited whole at small size."""

import numpy as np
import pytest
from joined import Joined

import tacit
from tacit.audit import audit_estimator
from tacit.fitting import allocation
from tacit.privacy import Split
from tacit.published import RobustDescent

ROWS = np.random.default_rng(0).uniform(-0.3, 0.3, (24, 2))
RIGHT, LEFT = np.vstack([ROWS, [[1.0, 1.0]]]), np.vstack([ROWS, [[1.0, -1.0]]])


class Linear(Joined, tacit.LinearRegression):
    pass


class Sparse(Joined, tacit.Lasso):
    pass


class Shrunk(Joined, tacit.Ridge):
    pass


class Both(Joined, tacit.ElasticNet):
    pass


def found(model):
    published = [model.coef_, model.intercept_, getattr(model, "coef_errors_", 0.0)]
    return np.concatenate([np.ravel(part) for part in published])


MODELS = {
    "scores": Linear(target_bounds=1.0),
    "no intercept": Linear(fit_intercept=False, target_bounds=1.0),
    "robust": Linear(method=RobustDescent(n_iter=3, learning_rate=1.0), target_bounds=1.0),
    "robust, sampled": Linear(method=RobustDescent(n_iter=4, batch_size=0.5, learning_rate=1.0), target_bounds=1.0),
    "lasso": Sparse(0.01, target_bounds=1.0),
    "ridge": Shrunk(0.01, target_bounds=1.0),
    "elastic net": Both(0.01, target_bounds=1.0),
    "shares": Linear(target_bounds=1.0),
}
BOTH = [(name, neighbors) for name in MODELS for neighbors in ("replace_one", "add_remove")]


@pytest.fixture
def in_shares(request, monkeypatch):
    """Have rows dealt out, few as they are; where they may come or go they are not, whatever their number."""
    if request.node.callspec.params["name"] == "shares":
        monkeypatch.setattr(allocation, "_ROWS_PER_SHARE", 3)


def audited(name, trials, neighbors="replace_one", **settings):
    settings = {"epsilon": 8.0, "delta": 1e-3, "bounds": 1.0, "neighbors": neighbors, **settings}
    other = ROWS if neighbors == "add_remove" else LEFT
    model = MODELS[name].set_params(**settings)
    return audit_estimator(model, RIGHT, other, trials=trials, score=found, confidence=0.999, random_state=0)


@pytest.mark.usefixtures("in_shares")
@pytest.mark.parametrize(("name", "neighbors"), [*BOTH[:2], *BOTH[2::2]])
def test_the_claim_stands(name, neighbors):
    assert audited(name, 40, neighbors).consistent_with()


@pytest.mark.slow
@pytest.mark.usefixtures("in_shares")
@pytest.mark.parametrize(("name", "neighbors"), BOTH)
def test_the_claim_stands_over_many_fits(name, neighbors):
    assert audited(name, 1500, neighbors).consistent_with()


def test_few_rows_can_be_dealt_out(monkeypatch):
    """The audits of shares are of shares."""
    monkeypatch.setattr(allocation, "_ROWS_PER_SHARE", 3)
    model = MODELS["shares"].set_params(epsilon=8.0, delta=1e-3, bounds=1.0, neighbors="replace_one").fit(RIGHT)
    assert {step.parts for step in model.privacy_.plan.steps if isinstance(step, Split)} == {8}


def test_too_little_noise_is_caught(monkeypatch):
    from tacit.release import curator

    noise = curator.discrete_gaussian
    monkeypatch.setattr(curator, "discrete_gaussian", lambda scale, size, gen: noise(scale / 16, size, gen))
    assert audited("scores", 200).refutes()

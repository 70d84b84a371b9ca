"""Mixtures of regressions, symmetric mixtures and regression with gaps, audited whole at small size."""

import numpy as np
import pytest

import tacit
from tacit.audit import audit_estimator

ROWS = np.random.default_rng(0).uniform(-0.3, 0.3, (24, 2))
RIGHT, LEFT = np.vstack([ROWS, [[1.0, 1.0]]]), np.vstack([ROWS, [[1.0, -1.0]]])
GAP = np.vstack([ROWS, [[np.nan, 1.0]]])


class Joined:
    """The last column is the target, as an audit has one table."""

    def fit(self, X, y=None):
        return super().fit(X[:, :-1], X[:, -1])


class Regressions(Joined, tacit.MixtureOfRegressions):
    pass


class WithGaps(Joined, tacit.MissingCovariateRegression):
    pass


def found(model):
    if isinstance(model, tacit.SymmetricMixture):
        return np.append(model.half_, model.scale_)
    return np.concatenate([np.ravel(model.coef_), np.ravel(model.intercept_), np.ravel(getattr(model, "scales_", 0.0))])


MODELS = {
    "regressions": Regressions(n_components=2, target_bounds=1.0),
    "symmetric regressions": Regressions(symmetric=True, target_bounds=1.0),
    "one regression": Regressions(n_components=1, target_bounds=1.0),
    "gaps": WithGaps(target_bounds=1.0),
    "symmetric mixture": tacit.SymmetricMixture(),
}


def audited(name, trials, neighbors="replace_one", **settings):
    settings = {"epsilon": 8.0, "delta": 1e-3, "bounds": 1.0, "neighbors": neighbors, **settings}
    other = ROWS if neighbors == "add_remove" else GAP if name == "gaps" else LEFT
    model = MODELS[name].set_params(**settings)
    return audit_estimator(model, RIGHT, other, trials=trials, score=found, confidence=0.999, random_state=0)


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("name", MODELS)
def test_the_claim_stands(name, neighbors):
    assert audited(name, 40, neighbors).consistent_with()


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("name", MODELS)
def test_the_claim_stands_over_many_fits(name, neighbors):
    assert audited(name, 1500, neighbors).consistent_with()


def test_too_little_noise_is_caught(monkeypatch):
    from tacit.release import curator

    noise = curator.discrete_gaussian
    monkeypatch.setattr(curator, "discrete_gaussian", lambda scale, size, gen: noise(scale / 8, size, gen))
    assert audited("one regression", 200, n_iter=4).refutes()

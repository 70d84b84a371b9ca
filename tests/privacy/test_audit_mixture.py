"""The mixture, audited whole at small size: a row at one end of the bounds, moved to the other end or taken away.

The budget is large so that few fits say much: the claim tested is the certificate's whole curve, which half the noise
would break at any epsilon.
"""

import numpy as np
import pytest

import tacit
from tacit.audit import audit_estimator
from tacit.published import DPEM, JointMoments
from tacit.release import curator

ROWS = np.random.default_rng(0).uniform(-0.3, 0.3, (30, 1))
RIGHT, LEFT = np.vstack([ROWS, [[1.0]]]), np.vstack([ROWS, [[-1.0]]])


def audited(trials, model=tacit.GaussianMixture, **settings):
    settings = {"n_components": 1, "epsilon": 8.0, "delta": 1e-3, "bounds": 1.0, **settings}
    neighbor = ROWS if settings.get("neighbors") == "add_remove" else LEFT
    return audit_estimator(model(**settings), RIGHT, neighbor, trials=trials, confidence=0.999, random_state=0)


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("method", ["scale_free", "joint"])
def test_the_claim_stands(method, neighbors):
    assert audited(60, method=method, neighbors=neighbors).consistent_with()


def test_the_audit_has_teeth():
    """One release, one component: what is published is nearly what was released, and the attacker sees much of it."""
    audit = audited(300, method=JointMoments(n_iter=1), covariance_type="spherical")
    assert audit.consistent_with()
    assert audit.epsilon > 1.5


def test_too_little_noise_is_caught(monkeypatch):
    noise = curator.discrete_gaussian
    monkeypatch.setattr(curator, "discrete_gaussian", lambda sigma, size, gen: noise(sigma / 4, size, gen))
    assert audited(300, method=JointMoments(n_iter=1), covariance_type="spherical").refutes()


def test_a_raw_attribute_is_caught():
    class WithCentre(tacit.GaussianMixture):
        def fit(self, X, y=None):
            super().fit(X)
            self.centre_ = X.mean(axis=0)
            return self

    assert audited(60, model=WithCentre, epsilon=1.0).refutes()


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_the_claim_stands_where_the_number_of_components_is_chosen(neighbors):
    assert audited(60, n_components=(1, 2), n_iter=7, neighbors=neighbors).consistent_with()


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize(
    "settings",
    [
        {"method": "scale_free"},
        {"method": "scale_free", "n_components": 2, "n_iter": 6},
        {"method": "scale_free", "n_iter": 4, "covariance_type": "spherical"},
        {"method": "scale_free", "n_components": (1, 2), "n_iter": 7},
        {"method": "scale_free", "bounds": "private"},
        {"method": "scale_free", "missing": "ignore"},
        {"method": JointMoments(n_iter=1)},
        {"method": DPEM(n_iter=1)},
        {"method": DPEM(n_iter=1, noise="LLG")},
    ],
    ids=lambda settings: "-".join(map(str, settings.values())),
)
def test_the_claim_stands_over_many_fits(settings, neighbors):
    audit = audited(1000, neighbors=neighbors, **settings)
    assert audit.consistent_with(), audit

"""k-means, audited whole at small size: a row at one end of the bounds, moved to the other end or taken away."""

import numpy as np
import pytest

import tacit
from tacit.audit import audit_estimator
from tacit.published import DPEMLloyd, DPLloyd
from tacit.release import curator

ROWS = np.random.default_rng(0).uniform(-0.3, 0.3, (30, 1))
RIGHT, LEFT = np.vstack([ROWS, [[1.0]]]), np.vstack([ROWS, [[-1.0]]])


def audited(trials, model=tacit.KMeans, **settings):
    settings = {"n_clusters": 1, "epsilon": 8.0, "delta": 1e-3, "bounds": 1.0, **settings}
    neighbor = ROWS if settings.get("neighbors") == "add_remove" else LEFT
    return audit_estimator(model(**settings), RIGHT, neighbor, trials=trials, confidence=0.999, random_state=0)


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("settings", [{}, {"delta": 0.0}, {"method": "dplloyd"}, {"n_clusters": 2}], ids=str)
def test_the_claim_stands(settings, neighbors):
    assert audited(60, neighbors=neighbors, **settings).consistent_with()


def test_the_audit_has_teeth():
    audit = audited(300, method=DPLloyd(n_iter=1))
    assert audit.consistent_with()
    assert audit.epsilon > 1.0


def test_too_little_noise_is_caught(monkeypatch):
    noise = curator.discrete_laplace
    monkeypatch.setattr(curator, "discrete_laplace", lambda scale, size, gen: noise(scale / 5, size, gen))
    assert audited(300, method=DPLloyd(n_iter=1), epsilon=4.0).refutes()


def test_labels_of_the_fit_would_be_caught():
    class WithLabels(tacit.KMeans):
        def fit(self, X, y=None):
            super().fit(X)
            self.labels_ = np.abs(X - np.sort(self.cluster_centers_, axis=0).T).argmin(axis=1)
            return self

    assert audited(60, model=WithLabels, n_clusters=2, epsilon=1.0).refutes()


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"n_clusters": 3},
        {"n_clusters": 2, "delta": 0.0},
        {"bounds": "private"},
        {"missing": "ignore"},
        {"method": DPLloyd(n_iter=1)},
        {"method": "dplloyd_zcdp", "n_clusters": 2},
        {"method": DPEMLloyd(n_iter=1)},
    ],
    ids=str,
)
def test_the_claim_stands_over_many_fits(settings, neighbors):
    audit = audited(1000, neighbors=neighbors, **settings)
    assert audit.consistent_with(), audit

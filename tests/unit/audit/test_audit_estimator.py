"""Audits of whole estimators: the honest one stands, the leaky ones fall, and no budget is spent on rehearsals."""

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from tacit.audit import audit_estimator
from tacit.privacy import Budget, Certificate, Gaussian, Plan
from tacit.release.generator import generator
from tacit.release.mechanisms import gaussian_vector


class PrivateMean(BaseEstimator):
    """The mean of rows in the unit ball; `leak` names what is wrong with it."""

    def __init__(self, epsilon=2.0, delta=1e-3, neighbors="replace_one", leak=None, ledger=None, random_state=None):
        self.epsilon = epsilon
        self.delta = delta
        self.neighbors = neighbors
        self.leak = leak
        self.ledger = ledger
        self.random_state = random_state

    def fit(self, X, y=None):
        if self.ledger is not None:
            raise AssertionError("an audit must not charge a ledger")
        rows = np.asarray(X, dtype=float)
        budget = Budget(self.epsilon, self.delta)
        plan = Plan((Gaussian("sum", 1.0, size=rows.shape[1]),), neighbors=self.neighbors).calibrate(budget)
        noise = plan.steps[0].noise_multiplier * (0.5 if self.leak == "half the noise" else 1.0)
        total = (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1.0)).sum(axis=0)
        sensitivity = 2.0 if self.neighbors == "replace_one" else 1.0
        self.mean_ = gaussian_vector(total, sensitivity, noise, generator(self.random_state)) / 20
        if self.leak == "labels":
            self.labels_ = (rows[:, 0] > 0).astype(int)
        if self.leak == "nested":
            self.history_ = {"ranges": [rows.min(axis=0), rows.max(axis=0)]}
        if self.leak == "hidden":
            self._rows = rows
        self.privacy_ = Certificate(
            plan=plan,
            budget=budget,
            releases=(),
            seeded=self.random_state is not None,
            rows=len(rows) if self.neighbors == "replace_one" else None,
            bounds="rows in the unit ball",
            notes=(),
            version="test",
        )
        return self

    def score_samples(self, X):
        if self.leak == "hidden":
            return np.array([(self._rows == row).all(axis=1).any() for row in X], dtype=float)
        return -np.linalg.norm(X - self.mean_, axis=1)


@pytest.fixture
def rows():
    return np.random.default_rng(0).uniform(-0.5, 0.5, (20, 2))


@pytest.fixture
def pair(rows):
    other = rows.copy()
    rows[3], other[3] = [1.0, 0.0], [-1.0, 0.0]
    return rows, other


def audited(model, X, X_neighbor, **options):
    return audit_estimator(model, X, X_neighbor, **{"trials": 1200, "confidence": 0.999, "random_state": 0, **options})


def test_honest_estimator_stands_and_the_audit_comes_near(pair):
    audit = audited(PrivateMean(), *pair)
    assert audit.method == "gdp"
    assert audit.delta == 1e-3
    assert audit.consistent_with()
    assert audit.epsilon > 0.5
    assert "claimed 2: consistent" in repr(audit)


def test_honest_estimator_stands_when_a_row_comes_or_goes(rows):
    audit = audited(PrivateMean(neighbors="add_remove"), np.vstack([rows, [1.0, 0.0]]), rows)
    assert audit.consistent_with()
    assert audit.epsilon > 0.5


@pytest.mark.parametrize("leak", ["half the noise", "labels", "nested", "hidden"])
def test_leaks_are_caught(pair, leak):
    assert audited(PrivateMean(leak=leak), *pair, trials=800).refutes()


def test_the_attackers_own_score_is_used(pair):
    blind = audited(PrivateMean(leak="labels"), *pair, trials=200, score=lambda model: model.mean_[1])
    assert blind.consistent_with()
    assert audited(PrivateMean(leak="labels"), *pair, trials=200, score=lambda model: model.labels_[3]).refutes()


def test_nothing_is_charged_and_the_estimator_is_left_alone(pair):
    model = PrivateMean(ledger="a ledger that must not be charged", random_state=7)
    audited(model, *pair, trials=40)
    assert not hasattr(model, "mean_")
    assert model.random_state == 7


def test_the_threshold_method_can_be_asked_for(pair):
    assert audited(PrivateMean(), *pair, trials=40, method="threshold").method == "threshold"


def test_frames_are_audited(pair):
    frames = [pd.DataFrame(rows, columns=["a", "b"]) for rows in pair]
    assert audited(PrivateMean(), *frames, trials=40).trials == 20


def test_jobs_in_parallel_give_the_same_audit(pair):
    with joblib.parallel_config("threading"):
        one, two = (audited(PrivateMean(), *pair, trials=60, n_jobs=jobs) for jobs in (None, 2))
    assert (one.false_positives, one.false_negatives) == (two.false_positives, two.false_negatives)


def test_two_changed_rows_are_refused(pair):
    first, second = pair
    second[5] += 1
    with pytest.raises(ValueError, match="same rows but for one"):
        audited(PrivateMean(), first, second)


def test_one_row_fewer_is_no_neighbour_under_replace_one(rows):
    with pytest.raises(ValueError, match="same rows but for one"):
        audited(PrivateMean(), rows, rows[1:])


@pytest.mark.parametrize(
    "change", [lambda X: X, lambda X: X[2:], lambda X: X[1:] + 0.1, lambda X: np.roll(X[1:], 1, 0)]
)
def test_what_is_not_a_row_fewer_is_refused_under_add_remove(rows, change):
    with pytest.raises(ValueError, match="without one of its rows"):
        audited(PrivateMean(neighbors="add_remove"), rows, change(rows))


@pytest.mark.parametrize("removed", [0, 7, 19])
def test_any_row_may_be_the_one_removed_and_missing_values_equal_each_other(rows, removed):
    rows[4, 1] = np.nan
    model = PrivateMean(neighbors="add_remove")
    assert audited(model, np.delete(rows, removed, axis=0), rows, trials=40).trials == 20


def test_an_estimator_without_a_certificate_gets_a_sentence(pair):
    class NoClaim(BaseEstimator):
        def fit(self, X, y=None):
            return self

    with pytest.raises(TypeError, match="no certificate in privacy_"):
        audited(NoClaim(), *pair)

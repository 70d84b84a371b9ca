"""Replay finds planted leaks: each kind that post-processing can have, and each that releases can have.

The honest estimator passes; every leaky one differs from it by a line or two.
"""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import tacit
from tacit.audit import replay
from tacit.privacy import Budget, Gaussian
from tacit.release import Affine, Curator, calibrated_plan
from tacit.sources import as_source
from tacit.statistics import RobustSum

RELATIONS = ("replace_one", "add_remove")
X = np.random.default_rng(0).normal(scale=0.3, size=(300, 2))
BUDGET = Budget(1.0, 1e-6)


def clipped(columns=2, scale=1.0):
    return RobustSum(np.zeros(columns), np.full(columns, scale))


class Honest(BaseEstimator):
    """Sums of clipped rows, released five times."""

    def __init__(self, neighbors="replace_one", random_state=None):
        self.neighbors = neighbors
        self.random_state = random_state

    def fit(self, X, y=None):
        source = as_source(X)
        plan = calibrated_plan([Gaussian("sums", 1.0, count=5, size=2)], BUDGET, self.neighbors)
        curator = Curator(source, plan, random_state=self.random_state)
        self.sums_ = np.zeros(2)
        for index in range(5):
            if self.stops(X, index):
                break
            self.sums_ = self.sums_ + curator.release("sums", self.statistic(X))
        self.after(X, curator)
        self.privacy_ = curator.certificate(BUDGET)
        return self

    def statistic(self, X):
        return clipped()

    def stops(self, X, index):
        return False

    def after(self, X, curator):
        pass


class Attribute(Honest):
    def after(self, X, curator):
        self.largest_ = X.max()


class PrivateAttribute(Honest):
    def after(self, X, curator):
        self._cache = {"deep": [lambda: X]}


class LastBit(Honest):
    def after(self, X, curator):
        self.sums_ = self.sums_ * (1 + 2.0**-52 * (X[0, 0] > X[1, 0])) + (X[:, 0].mean() > 0) * 1e-14


class Count(Honest):
    def after(self, X, curator):
        self.mean_ = self.sums_ / len(X)


class EarlyStop(Honest):
    def stops(self, X, index):
        return index > 2 and X[:, 0].mean() > 0.1


class Branch(Honest):
    def after(self, X, curator):
        if (X[:, 0] > 0).mean() > 0.6:
            self.sums_ = self.sums_ / 2


class ExceptionText(Honest):
    def after(self, X, curator):
        raise ValueError(f"The largest cell is {X.max()}.")


class Refusal(Honest):
    def after(self, X, curator):
        if X.max() > 1e3:
            raise ValueError("Some cell is too large.")


class Warned(Honest):
    def after(self, X, curator):
        if X.min() < -1e3:
            warnings.warn("Some cell is small.", stacklevel=2)


class Printed(Honest):
    def after(self, X, curator):
        print("mean", X.mean())


class Radius(Honest):
    """Noise relative to a scale read from rows: the answers are the same, and what was asked for is not."""

    def statistic(self, X):
        return clipped(scale=float(np.abs(X).max()))


class Unpaid(Honest):
    """A second curator over the same rows, of which no certificate speaks."""

    def after(self, X, curator):
        second = Curator(as_source(X), curator.plan, random_state=1)
        self.more_ = second.release("sums", clipped())


class AnotherPass(Honest):
    def after(self, X, curator):
        if X[:, 0].mean() > 0.1:
            as_source(X).sum(lambda block: np.zeros(1, dtype=np.int64))


class RowMap(Honest):
    def fit(self, X, y=None):
        before, middle = Curator.release, X.mean(axis=0)

        def release(curator, name, statistic):
            curator.map_rows(Affine(np.ones(len(middle)), -middle))
            return before(curator, name, statistic)

        Curator.release = release
        try:
            return super().fit(X)
        finally:
            Curator.release = before


class Hoarder(RobustSum):
    """A statistic that keeps what it sees."""

    def block_sum(self, block):
        object.__setattr__(self, "seen", block.copy())
        return super().block_sum(block)


class Unclipped(RobustSum):
    def block_sum(self, block):
        return block.sum(axis=0)


class Halved(RobustSum):
    def sensitivity(self, neighbors, norm="l2"):
        return super().sensitivity(neighbors, norm) / 2


class NoSum(RobustSum):
    """Not a sum over rows: each row counts for as much as there are rows in its block."""

    def block_sum(self, block):
        return super().block_sum(block) * len(block)


def differences(estimator, relation="replace_one"):
    outcome = replay(estimator(neighbors=relation), X)
    assert not outcome.passed
    assert "FAILED" in str(outcome)
    return " ".join(outcome.differences)


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_honest_one_passes(relation):
    outcome = replay(Honest(neighbors=relation), X)
    assert outcome.passed, str(outcome)
    assert len(outcome.releases) == 5
    assert outcome.releases[0].ratio == pytest.approx(1.0)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    ("leaky", "words"),
    [
        (Attribute, "Attribute largest_"),
        (PrivateAttribute, "Attribute _cache"),
        (LastBit, "Attribute sums_"),
        (EarlyStop, "How often the curator is asked"),
        (Branch, "Attribute sums_"),
        (ExceptionText, "what the exception says"),
        (Refusal, "Whether the fit fails"),
        (Warned, "Warnings depend"),
        (Printed, "Printed text depends"),
        (Radius, "The statistic of step 'sums'"),
        (Unpaid, "Attribute more_"),
        (AnotherPass, "passes over the rows"),
        (RowMap, "What rows pass through"),
    ],
)
def test_planted_leaks_are_found(leaky, words, relation):
    found = differences(leaky, relation)
    assert words in found
    assert "random_state" not in found  # nobody is told that it may be chance


def test_the_number_of_rows_is_a_leak_only_where_it_is_secret():
    assert "Attribute mean_" in differences(Count, "add_remove")
    assert replay(Count(neighbors="replace_one"), X).passed


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("statistic", [Unclipped, Halved, NoSum])
def test_sums_that_move_further_than_declared_are_found(statistic, relation):
    class Estimator(Honest):
        def statistic(self, X):
            return statistic(np.zeros(2), np.ones(2))

    outcome = replay(Estimator(neighbors=relation), X)
    assert not outcome.differences
    assert all(release.exceeds for release in outcome.releases)
    assert "EXCEEDED" in str(outcome)


def test_nothing_that_rows_leave_in_a_statistic_comes_out():
    class Estimator(Honest):
        def statistic(self, X):
            self.statistic_ = Hoarder(np.zeros(2), np.ones(2))
            return self.statistic_

    fitted = Estimator(random_state=0).fit(X)
    assert not hasattr(fitted.statistic_, "seen")
    assert replay(Estimator(), X).passed


def test_chance_that_is_not_seeded_is_told_from_rows():
    class Estimator(Honest):
        def after(self, X, curator):
            self.chance_ = np.random.default_rng().random()

    assert "random_state does not seed" in differences(Estimator)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    "model",
    [
        tacit.KMeans(2, bounds=(-1, 1)),
        tacit.GaussianMixture(1, bounds=(-1, 1)),
        tacit.TableModel(bounds=(-1, 1)),
        tacit.RobustMean(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_leak_planted_in_a_real_estimator_is_found(model, relation, monkeypatch):
    """One number of the rows in a note of the certificate."""
    kind = type(model)
    certify = kind._certify

    def leaky(self, curator, budget, rows, notes):
        largest = curator._rows.sum(lambda block: np.array([np.nanmax(block) > 0.9]).astype(np.int64))
        certify(self, curator, budget, rows, [*notes, f"{largest}"])

    monkeypatch.setattr(kind, "_certify", leaky)
    outcome = replay(model.set_params(neighbors=relation), X)
    assert any("Attribute privacy_" in sentence for sentence in outcome.differences)

"""Moments and factor analysis, end to end: by arithmetic on a hard pair of neighbours, and by many fits.

See ``test_transcript_mixture`` for the two ways, and ``transcript`` for what is overheard.
"""

import numpy as np
import pytest
from transcript import Transcript, audited, hard_pair, planned_mu2, share

import tacit
from tacit.audit import attack_sensitivity, audit_estimator
from tacit.release import curator as curators

RELATIONS = ("replace_one", "add_remove")
METHODS = ("iterated", "staged", "published")
BUDGET = {"epsilon": 8.0, "delta": 1e-3}
ROWS = np.random.default_rng(0).uniform(-0.3, 0.3, (30, 2))
FAR, OPPOSITE = np.array([[1.0, 0.0]]), np.array([[-1.0, 0.0]])

every_relation = pytest.mark.parametrize("neighbors", RELATIONS)
every_method = pytest.mark.parametrize("method", METHODS)


@every_relation
@every_method
@pytest.mark.parametrize("bounds", [(-1, 1), 1.5, "private"], ids=str)
@pytest.mark.parametrize("missing", ["error", "ignore"])
def test_no_fit_goes_further_than_planned(method, neighbors, bounds, missing):
    data, neighbor = hard_pair(neighbors)
    model = tacit.Moments(
        method=method, neighbors=neighbors, bounds=bounds, missing=missing, random_state=0, n_iter="auto", **BUDGET
    )
    transcript = Transcript(model, data)
    assert len(transcript.releases) == sum(step.count for step in transcript.model.privacy_.plan.steps)
    assert transcript.furthest_step(data, neighbor) <= 1 + 1e-9
    assert transcript.spent(data, neighbor) <= planned_mu2(transcript.model.privacy_.plan) * (1 + 1e-9)


@every_relation
@every_method
def test_statistics_met_in_fits(method, neighbors):
    """Columns shrunk onto a crowd and widened by a far row, as a fit has them."""
    data, _ = hard_pair(neighbors)
    model = tacit.Moments(method=method, neighbors=neighbors, bounds=(-1, 1), random_state=0, **BUDGET)
    for _, _, statistic, _, _ in Transcript(model, data).releases[::2]:
        attack = attack_sensitivity(statistic, 2, neighbors=neighbors, trials=40, random_state=0)
        assert not attack.exceeds, (attack, statistic)


def test_a_row_with_a_hole_moves_no_more_than_any_other():
    """With missing="ignore" a row can take a value that leaves it out: the count moves, under replace_one too."""
    data = np.vstack([ROWS, FAR])
    neighbor = np.vstack([ROWS, [[np.nan, 0.0]]])
    for method in METHODS:
        model = tacit.Moments(method=method, bounds=(-1, 1), missing="ignore", random_state=0, **BUDGET)
        transcript = Transcript(model, data)
        assert transcript.furthest_step(data, neighbor) <= 1 + 1e-9


@pytest.mark.parametrize(("method", "trials", "least"), [("published", 240, 0.4), ("staged", 160, 0.2)])
def test_all_that_crosses_the_door_tells_no_more_than_claimed(method, trials, least):
    # Under replace_one the far row and its opposite have the same square, which is all that "published" sees of them.
    audit = audited(trials, model=tacit.Moments, method=method, neighbors="add_remove")
    assert audit.consistent_with(), audit
    assert share(audit) >= least, audit


def estimated(trials, model, **settings):
    settings = {"bounds": 1.0, "neighbors": "replace_one", **BUDGET, **settings}
    data = np.vstack([ROWS, FAR])
    neighbor = ROWS if settings["neighbors"] == "add_remove" else np.vstack([ROWS, OPPOSITE])
    return audit_estimator(model(**settings), data, neighbor, trials=trials, confidence=0.999, random_state=0)


@every_relation
@pytest.mark.parametrize(
    ("model", "method"),
    [(tacit.Moments, "staged"), (tacit.Moments, "iterated"), (tacit.FactorAnalysis, "adaptive")],
)
def test_the_claim_stands(model, method, neighbors):
    assert estimated(40, model, method=method, neighbors=neighbors).consistent_with()


def test_too_little_noise_is_caught(monkeypatch):
    noise = curators.discrete_gaussian
    monkeypatch.setattr(curators, "discrete_gaussian", lambda sigma, size, gen: noise(sigma / 6, size, gen))
    assert estimated(240, tacit.Moments, method="published", neighbors="add_remove").refutes()


@pytest.mark.slow
@every_relation
@pytest.mark.parametrize(
    ("model", "settings"),
    [
        *((tacit.Moments, {"method": method}) for method in METHODS),
        (tacit.Moments, {"method": "staged", "bounds": "private"}),
        (tacit.Moments, {"method": "staged", "missing": "ignore"}),
        (tacit.FactorAnalysis, {"method": "adaptive"}),
        (tacit.FactorAnalysis, {"method": "paper"}),
        (tacit.FactorAnalysis, {"n_components": 2}),
    ],
    ids=lambda each: each.__name__ if isinstance(each, type) else "-".join(map(str, each.values())),
)
def test_the_claim_stands_over_many_fits(model, settings, neighbors):
    audit = estimated(1000, model, neighbors=neighbors, **settings)
    assert audit.consistent_with(), audit


@pytest.mark.slow
@every_relation
@every_method
def test_all_that_crosses_the_door_over_many_fits(method, neighbors):
    audit = audited(1500, model=tacit.Moments, method=method, neighbors=neighbors)
    assert audit.consistent_with(), audit

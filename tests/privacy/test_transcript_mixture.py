"""The mixture, end to end: nobody who reads everything a fit releases tells neighbours apart better than is claimed.

Two ways. By arithmetic: on a hard pair of neighbours, the noise-free sums of every release are no further apart than
the plan allows, whatever the fit does. By experiment: many fits, the best attack there is on everything that crosses
the door (see ``transcript``), and the usual one on what the model publishes; no confidence bound may exceed the claim.
"""

import json
import warnings

import numpy as np
import pytest
from transcript import CROWD, FAR, Transcript, audited, hard_pair, planned_mu2, share

import tacit
from tacit.audit import audit_estimator
from tacit.privacy import Budget, Ledger, PrivacyError
from tacit.published import DPEM, JointMoments

RELATIONS = ("replace_one", "add_remove")
BUDGET = {"epsilon": 8.0, "delta": 1e-3}

# Two components, each at home in one of the corners the far row jumps between.
CORNERS = {"n_components": 2, "init": [[0.9, 0.9], [-0.9, -0.9]]}

every_relation = pytest.mark.parametrize("neighbors", RELATIONS)


def named(settings):
    return "-".join("corners" if key == "init" else str(value) for key, value in settings.items())


# By arithmetic


@every_relation
@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize(
    "settings",
    [
        {"method": "scale_free"},
        {"method": "scale_free", "n_components": 2},
        {"method": "scale_free", **CORNERS},
        {"method": "scale_free", "n_components": 3, "bounds": "private"},
        {"method": "scale_free", "n_components": range(1, 4)},
        {"method": "joint", **CORNERS},
        {"method": DPEM(n_iter=2), **CORNERS},
        {"method": DPEM(n_iter=2, noise="LLG")},
    ],
    ids=named,
)
def test_no_fit_goes_further_than_planned(settings, covariance_type, neighbors):
    data, neighbor = hard_pair(neighbors)
    settings = {**BUDGET, "bounds": (-1, 1), "neighbors": neighbors, "covariance_type": covariance_type, **settings}
    transcript = Transcript(tacit.GaussianMixture(random_state=0, **settings), data)
    assert len(transcript.releases) == sum(step.count for step in transcript.model.privacy_.plan.steps)
    assert transcript.furthest_step(data, neighbor) <= 1 + 1e-9
    if settings.get("noise") != "LLG":
        assert transcript.spent(data, neighbor) <= planned_mu2(transcript.model.privacy_.plan) * (1 + 1e-9)


def test_the_pair_is_as_hard_as_can_be():
    """It uses up the whole plan, so that audits on it would see any excess."""
    for neighbors, settings, least in (("add_remove", {}, 0.999), ("replace_one", CORNERS, 0.9)):
        data, neighbor = hard_pair(neighbors)
        model = tacit.GaussianMixture(
            method=JointMoments(n_iter=1), neighbors=neighbors, bounds=(-1, 1), random_state=0, **BUDGET, **settings
        )
        transcript = Transcript(model, data)
        assert transcript.spent(data, neighbor) > least * planned_mu2(transcript.model.privacy_.plan)


# By experiment


@pytest.mark.parametrize(
    ("settings", "neighbors", "least"),
    [
        ({"method": JointMoments(n_iter=1), **CORNERS}, "replace_one", 0.4),
        ({"method": JointMoments(n_iter=1), **CORNERS}, "add_remove", 0.4),
        ({"method": "scale_free", "n_iter": 4}, "add_remove", 0.2),
        ({"method": DPEM(n_iter=1)}, "add_remove", 0.2),
    ],
    ids=["joint-replace_one", "joint-add_remove", "scale_free", "per_parameter"],
)
def test_everything_that_crosses_the_door(settings, neighbors, least):
    """No more than is claimed, and enough of it that an excess would be seen."""
    audit = audited(240, neighbors=neighbors, **settings)
    assert audit.consistent_with(), audit
    assert audit.ceiling > audit.claim.epsilon(audit.delta)  # or no leak could fail this test
    assert share(audit) >= least, audit


@pytest.mark.parametrize("settings", [{"method": "scale_free", "n_iter": 4}, {"method": DPEM(n_iter=1)}])
def test_everything_that_crosses_the_door_for_rows_that_are_hard_to_tell_apart(settings):
    """Both rows are far out, so that these methods see little of which it is: an excess would have to be large."""
    audit = audited(80, neighbors="replace_one", epsilon=3.0, **settings)  # a claim that so few fits could refute
    assert audit.consistent_with(), audit
    assert audit.ceiling > audit.claim.epsilon(audit.delta)  # or no leak could fail this test


@every_relation
def test_what_is_published(neighbors):
    data, neighbor = hard_pair(neighbors)
    model = tacit.GaussianMixture(1, bounds=(-1, 1), neighbors=neighbors, n_iter=4, **BUDGET)
    audit = audit_estimator(model, data, neighbor, trials=60, confidence=0.999, random_state=0)
    assert audit.consistent_with(), audit


LONG = [
    *({"method": "scale_free", "covariance_type": kind} for kind in ("full", "diag", "spherical")),
    {"method": "scale_free", "covariance_type": "tied", "n_components": 2},
    {"method": "scale_free", "n_components": 3},
    {"method": "scale_free", **CORNERS},
    {"method": "scale_free", "bounds": "private"},
    {"method": "scale_free", "missing": "ignore"},
    {"method": JointMoments(n_iter=1), **CORNERS},
    {"method": JointMoments(n_iter=4), "covariance_type": "diag"},
    {"method": DPEM(n_iter=1), **CORNERS},
    {"method": DPEM(n_iter=1, noise="LLG")},
]


@pytest.mark.slow
@every_relation
@pytest.mark.parametrize("settings", LONG, ids=named)
def test_everything_that_crosses_the_door_many_times(settings, neighbors):
    audit = audited(600, neighbors=neighbors, **settings)
    assert audit.consistent_with(), audit
    if settings == {"method": JointMoments(n_iter=1), **CORNERS}:
        assert share(audit) > 0.6, audit


@pytest.mark.slow
@every_relation
@pytest.mark.parametrize("settings", LONG, ids=named)
def test_what_is_published_many_times(settings, neighbors):
    data, neighbor = hard_pair(neighbors)
    model = tacit.GaussianMixture(**{**BUDGET, "bounds": (-1, 1), "neighbors": neighbors, **settings})
    audit = audit_estimator(model, data, neighbor, trials=300, confidence=0.999, random_state=0)
    assert audit.consistent_with(), audit


# What no noise protects must not depend on rows


def test_the_number_of_rows_shows_nowhere_when_it_is_secret(tmp_path):
    """One row more or less: the same certificate, the same entry in the ledger, and no warning about 1/n."""
    shown = []
    for rows in (CROWD, np.vstack([CROWD, FAR])):
        ledger = Ledger(tmp_path / f"{len(rows)}.db")
        ledger.create("people", Budget(20.0, 0.1), neighbors="add_remove")
        model = tacit.GaussianMixture(
            bounds=(-1, 1),
            neighbors="add_remove",
            epsilon=1.0,
            delta=0.0405,  # between 1/25 and 1/24
            ledger=ledger.account("people"),
            random_state=0,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.fit(rows)
        (entry,) = ledger.history("people")
        shown.append((json.loads(model.privacy_.to_json()), model.n_iter_, entry.purpose, entry.plan))
    assert shown[0] == shown[1]
    assert model.privacy_.rows is None


def test_a_published_model_carries_no_row():
    """Neither as an attribute, nor in a pickle: what is kept is what was released, and what the user passed."""
    import pickle

    mark = 0.123456789012345
    rows = np.full((50, 2), mark)
    model = tacit.GaussianMixture(bounds=(-1, 1), random_state=0).fit(rows)
    assert np.float64(mark).tobytes() not in pickle.dumps(model)


@every_relation
def test_a_fit_that_fails_beforehand_charges_nothing(neighbors, tmp_path):
    ledger = Ledger(tmp_path / "budget.db")
    ledger.create("people", Budget(2.0, 1e-3), neighbors=neighbors)
    rows = np.vstack([CROWD, FAR])
    wrong = [
        ({}, np.where(rows == rows[-1], np.nan, rows)),
        ({"n_iter": 1}, rows),
        ({"bounds": None}, rows),
        ({"bounds": (1, -1)}, rows),
        ({"init": [[0.0]]}, rows),
        ({"epsilon": -1.0}, rows),
        ({"epsilon": 10.0}, rows),  # more than there is
        ({"delta": 0.0}, rows),
    ]
    for settings, table in wrong:
        settings = {"bounds": (-1, 1), "delta": 1e-6, "neighbors": neighbors, **settings}
        model = tacit.GaussianMixture(1, ledger=ledger.account("people"), random_state=0, **settings)
        with pytest.raises((ValueError, PrivacyError)):
            model.fit(table)
        assert not ledger.history("people"), settings


def test_the_charge_is_made_before_the_first_release_and_stays(tmp_path, monkeypatch):
    ledger = Ledger(tmp_path / "budget.db")
    ledger.create("people", Budget(2.0, 1e-3))
    account = ledger.account("people")
    model = tacit.GaussianMixture(1, bounds=(-1, 1), ledger=account, random_state=0)

    def interrupted(*_):
        assert len(ledger.history("people")) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr("tacit.release.curator.discrete_gaussian", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(CROWD)
    assert len(ledger.history("people")) == 1
    assert not hasattr(model, "means_")

"""The private mean, audited whole: a row at one end of what counts, moved to the other end or taken away."""

import json
import warnings

import numpy as np
import pytest

import tacit
from tacit.audit import audit_estimator
from tacit.cautions import CautionWarning
from tacit.fitting import estimator as estimators
from tacit.privacy import Laplace
from tacit.published import CatoniMean
from tacit.release import Curator, curator

ROWS = np.random.default_rng(0).uniform(-0.3, 0.3, (30, 1))
RIGHT, LEFT = np.vstack([ROWS, [[1e6]]]), np.vstack([ROWS, [[-1e6]]])
SETTINGS = {
    "clipped": {"method": "clipped", "scale": 1.0},
    "moment": {"method": "clipped", "moment_bound": 0.1},
    "robust": {"method": CatoniMean(moment_bound=0.1)},
    "gaussian": {"method": CatoniMean(scale=1.0), "noise": "gaussian"},
    "adaptive": {},
    "trimmed": {"method": "trimmed"},
    "about-0": {"centre": 0.0},
    "adaptive-gaussian": {"noise": "gaussian"},
    "bounds": {"bounds": (-1.0, 1.0), "method": "clipped"},
}
pytestmark = pytest.mark.filterwarnings("ignore:.*rows are few:UserWarning")
every_setting = pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
every_relation = pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])


def audited(trials, score=None, **settings):
    settings = {"epsilon": 3.0, "delta": 1e-3, **settings}
    neighbor = ROWS if settings.get("neighbors") == "add_remove" else LEFT
    return audit_estimator(
        tacit.RobustMean(**settings), RIGHT, neighbor, trials=trials, score=score, confidence=0.999, random_state=0
    )


@every_relation
@every_setting
def test_the_claim_stands(settings, neighbors):
    audit = audited(40, neighbors=neighbors, **settings)
    assert audit.consistent_with(), audit


@every_relation
@every_setting
@pytest.mark.parametrize("missing", ["error", "ignore"])
def test_no_release_goes_further_than_planned(settings, neighbors, missing, monkeypatch):
    """By arithmetic: whatever was found before, the sums of neighbours are as near as the noise is sized for."""
    functions, checked = [], []

    class Overheard(Curator):
        def map_rows(self, function):
            functions.append(function)
            super().map_rows(function)

        def measure(self, name, statistic):
            step = next(step for step in self.plan.steps if step.name == name)
            order = 1 if isinstance(step, Laplace) else 2
            rows = [RIGHT, ROWS if neighbors == "add_remove" else LEFT]
            if missing == "ignore":
                rows.append(np.vstack([ROWS, [[np.nan]]]))
            for function in functions:
                rows = [function(each) for each in rows]
            sums = [statistic.block_sum(each) for each in rows]
            apart = max(np.linalg.norm(sums[0] - other, order) for other in sums[1:])
            checked.append(apart * step.noise_multiplier / self.noise(name, statistic))
            return super().measure(name, statistic)

    monkeypatch.setattr(estimators, "Curator", Overheard)
    model = tacit.RobustMean(epsilon=3.0, delta=1e-3, neighbors=neighbors, missing=missing, random_state=0, **settings)
    model.fit(RIGHT)
    assert len(checked) == len(model.privacy_.plan.steps)
    assert max(checked) <= 1.0
    # Rows so far away are left out of a trimmed mean.
    if missing == "error" and neighbors == "replace_one" and settings.get("method") != "trimmed":
        assert checked[-1] > 0.9  # the pair is as hard as can be


@pytest.mark.parametrize("name", ["clipped", "gaussian"])
def test_the_audit_has_teeth(name):
    """One release of one number: what is published is what was released, and the attacker sees nearly all of it."""
    audit = audited(200, lambda model: model.mean_, epsilon=8.0, **SETTINGS[name])
    assert audit.consistent_with()
    assert audit.epsilon > 1.5, audit


@pytest.mark.parametrize(("name", "noise"), [("clipped", "discrete_laplace"), ("gaussian", "discrete_gaussian")])
def test_too_little_noise_is_caught(name, noise, monkeypatch):
    drawn = getattr(curator, noise)
    monkeypatch.setattr(curator, noise, lambda scale, size, gen: drawn(scale / 3, size, gen))
    assert audited(300, lambda model: model.mean_, **SETTINGS[name]).refutes()


@every_relation
@pytest.mark.slow
@every_setting
def test_the_claim_stands_over_many_fits(settings, neighbors):
    audit = audited(1000, neighbors=neighbors, **settings)
    assert audit.consistent_with(), audit


@pytest.mark.slow
@every_setting
def test_rows_left_out_do_not_show(settings):
    neighbor = np.vstack([ROWS, [[np.nan]]])
    model = tacit.RobustMean(epsilon=3.0, delta=1e-3, missing="ignore", **settings)
    audit = audit_estimator(model, RIGHT, neighbor, trials=600, confidence=0.999, random_state=0)
    assert audit.consistent_with(), audit


@every_setting
def test_the_number_of_rows_shows_nowhere_when_it_is_secret(settings):
    """One row more or less, with a seed: all but the noisy numbers is the same."""
    shown = []
    for rows in (ROWS, RIGHT):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", CautionWarning)  # It follows from noisy numbers, and is compared below.
            model = tacit.RobustMean(neighbors="add_remove", delta=0.033, random_state=0, **settings).fit(rows)
        plain = {name: value for name, value in vars(model).items() if isinstance(value, int | str | None)}
        shown.append((json.loads(model.privacy_.to_json()), plain))
    assert shown[0] == shown[1]

"""The methods that measure moments: plan and fit agree."""

import numpy as np
import pytest

from tacit.moments.estimates import PublicFacts
from tacit.moments.iterated_moments import iterated_moments, iterated_steps
from tacit.moments.two_stage_moments import two_stage_moments, two_stage_steps
from tacit.moments.whole_moments import whole_moments, whole_steps
from tacit.privacy import Budget
from tacit.published import AnalyzeGauss
from tacit.release import Curator, calibrated_plan
from tacit.sources import as_source

METHODS = {
    "iterated": (iterated_steps, iterated_moments),
    "whole": (whole_steps, whole_moments),
    "staged": (two_stage_steps, two_stage_moments),
    "published": (AnalyzeGauss().steps, AnalyzeGauss().estimate),
}
every_relation = pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])


def table(rows, columns):
    rng = np.random.default_rng(columns)
    X = 0.1 * rng.normal(size=(rows, columns)) + 0.3 * rng.normal(size=(rows, 1)) * rng.normal(size=columns)
    X[:, 0] = 0.0
    X[:, -1] = (rng.uniform(size=rows) < 0.02) * rng.uniform(-1, 1, rows)  # a column with tails
    return np.clip(X, -1, 1)


def curator(X, steps, neighbors, epsilon=1.0):
    return Curator(as_source(X), calibrated_plan(steps, Budget(epsilon, 1e-6), neighbors), random_state=0)


def unwatched(done, total):
    pass


@every_relation
@pytest.mark.parametrize("n_iter", [3, 4, 9, "auto"])
@pytest.mark.parametrize("method", METHODS)
def test_a_fit_makes_every_release_that_is_planned(method, n_iter, neighbors):
    plan_steps, estimate = METHODS[method]
    steps = plan_steps(3, n_iter)
    door, watched = curator(table(200, 3), steps, neighbors), []
    estimates = estimate(door, steps, PublicFacts(3, None), lambda done, total: watched.append((done, total)))
    total = sum(step.count for step in steps)
    assert watched == [(done, total) for done in range(1, total + 1)]
    releases = door.certificate(Budget(1.0, 1e-6)).releases
    assert [(each.name, each.count) for each in releases] == [(step.name, step.count) for step in steps]
    assert np.linalg.eigvalsh(estimates.covariance).min() > 0


@pytest.mark.parametrize("method", ["iterated", "staged"])
def test_too_few_releases_are_refused(method):
    for n_iter in (1, 2):
        with pytest.raises(ValueError, match="pass n_iter=3 or more"):
            METHODS[method][0](3, n_iter)

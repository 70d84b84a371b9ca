"""Mixtures of regressions, symmetric mixtures and regression with gaps, audited whole at small size."""

import numpy as np
import pytest
from joined import Joined

import tacit
from tacit.audit import audit_estimator, audit_outputs
from tacit.privacy import Budget, Gaussian, Split
from tacit.published import ClippedGradientEM, RobustEM, RobustGradientEM, TruncatedGradientEM
from tacit.release import Curator, calibrated_plan
from tacit.release.sampling import Share
from tacit.sources import as_source
from tacit.statistics import RobustSum

ROWS = np.random.default_rng(0).uniform(-0.3, 0.3, (24, 2))
RIGHT, LEFT = np.vstack([ROWS, [[1.0, 1.0]]]), np.vstack([ROWS, [[1.0, -1.0]]])
GAP = np.vstack([ROWS, [[np.nan, 1.0]]])


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
    "sparse mixture": tacit.SymmetricMixture(sparsity=1),
    "sparse regressions": Regressions(symmetric=True, sparsity=1, target_bounds=1.0),
    "sparse gaps": WithGaps(sparsity=1, target_bounds=1.0),
    "thresholded mixture": tacit.SymmetricMixture(
        method=TruncatedGradientEM(truncation=1.0, scale=0.3, n_iter=3, init=[0.5, 0.5]), sparsity=1
    ),
    "thresholded split mixture": tacit.SymmetricMixture(
        method=TruncatedGradientEM(truncation=1.0, scale=0.3, n_iter=3, split=True, init=[0.5, 0.5]), sparsity=1
    ),
    "clipped mixture": tacit.SymmetricMixture(method=ClippedGradientEM(scale=0.3, n_iter=3, init=[0.5, 0.5])),
    "robust mixture": tacit.SymmetricMixture(method=RobustEM(scale=0.3, n_iter=3, init=[0.5, 0.5])),
    "robust regressions": Regressions(symmetric=True, method=RobustGradientEM(scale=0.3, n_iter=3), target_bounds=1.0),
    "truncated gaps": WithGaps(method=TruncatedGradientEM(truncation=1.0, scale=0.3, n_iter=3), target_bounds=1.0),
    "split gaps": WithGaps(
        method=TruncatedGradientEM(truncation=1.0, scale=0.3, n_iter=3, split=True, init=[0.5]), target_bounds=1.0
    ),
}
BOTH = [
    (name, neighbors)
    for name, model in MODELS.items()
    for neighbors in ("replace_one", "add_remove")
    if not (getattr(model.method, "split", False) and neighbors == "add_remove")  # refused
]


def audited(name, trials, neighbors="replace_one", **settings):
    settings = {"epsilon": 8.0, "delta": 1e-3, "bounds": 1.0, "neighbors": neighbors, **settings}
    other = ROWS if neighbors == "add_remove" else GAP if name.endswith("gaps") else LEFT
    model = MODELS[name].set_params(**settings)
    return audit_estimator(model, RIGHT, other, trials=trials, score=found, confidence=0.999, random_state=0)


@pytest.mark.parametrize(("name", "neighbors"), BOTH)
def test_the_claim_stands(name, neighbors):
    assert audited(name, 40, neighbors).consistent_with()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "neighbors"), BOTH)
def test_the_claim_stands_over_many_fits(name, neighbors):
    assert audited(name, 1500, neighbors).consistent_with()


def test_too_little_noise_is_caught(monkeypatch):
    from tacit.release import curator

    noise = curator.discrete_gaussian
    monkeypatch.setattr(curator, "discrete_gaussian", lambda scale, size, gen: noise(scale / 8, size, gen))
    assert audited("one regression", 200, n_iter=4).refutes()


def dealt_out(trials):
    """Audit releases of rows that are dealt out: all twenty of them, not what a fit makes of them."""
    plan = calibrated_plan([Split(20, Gaussian("shares", 1.0))], Budget(2.0, 1e-3))
    total = RobustSum(np.zeros(1), np.ones(1))

    def released(rows, seed):
        curator = Curator(as_source(rows), plan, random_state=seed)
        return np.ravel([curator.release("shares", total) for _ in range(20)])

    rows, other = np.zeros((40, 1)), np.zeros((40, 1))
    rows[7], other[7] = 1.0, -1.0
    return audit_outputs(
        released, rows, other, delta=1e-3, trials=trials, confidence=0.999, method="gdp", claim=plan, random_state=0
    )


def test_rows_dealt_out_are_worth_one_release():
    assert dealt_out(200).consistent_with()


def test_a_split_that_forgets_who_is_in_which_share_is_caught(monkeypatch):
    """Were every release of all rows, the price of one would be too low."""
    monkeypatch.setattr(Share, "__call__", lambda share, place, rows: np.ones(rows, dtype=bool))
    assert dealt_out(200).refutes()

"""Audits of mechanisms whose privacy is known exactly: near the truth from below, whatever comes out."""

import numpy as np
import pytest

from tacit.audit import Audit, audit_outputs
from tacit.privacy import Budget, Gaussian, Laplace, Plan
from tacit.privacy.gaussian_profile import gaussian_mu


def gaussian(sigma, size=1):
    def run(shift, seed, trials):
        return np.random.default_rng(seed).normal(shift / np.sqrt(size), sigma, (trials, size))

    return run


def laplace(scale):
    return lambda shift, seed, trials: np.random.default_rng(seed).laplace(shift, scale, trials)


def audited(run, **options):
    settings = {"delta": 0.0, "trials": 20_000, "confidence": 0.999, "vectorized": True, "random_state": 0}
    return audit_outputs(run, 0.0, 1.0, **{**settings, **options})


@pytest.mark.parametrize(("epsilon", "size"), [(0.5, 1), (1.0, 1), (1.0, 10), (4.0, 1)])
def test_gaussian_is_found_above_sixty_percent_of_its_epsilon_and_not_above_it(epsilon, size):
    sigma = 1 / gaussian_mu(epsilon, 1e-6)
    audit = audited(gaussian(sigma, size), delta=1e-6, trials=200_000, method="gdp")
    assert 0.6 * epsilon < audit.epsilon < epsilon
    assert audit.consistent_with(epsilon)
    assert audit.consistent_with(Budget(epsilon, 1e-6))
    assert audit.consistent_with(Plan((Gaussian("sum", noise_multiplier=sigma),)))
    assert audit.refutes(0.6 * epsilon)
    assert audit.refutes(Plan((Gaussian("sum", noise_multiplier=sigma * 1.6),)))


def test_the_assumption_free_bound_of_a_gaussian_is_weaker_but_has_teeth():
    audit = audited(gaussian(1 / gaussian_mu(4.0, 1e-6)), delta=1e-6, trials=100_000)
    assert 0.4 * 4.0 < audit.epsilon < 4.0


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_laplace_is_found_near_its_epsilon_with_no_assumption(epsilon):
    audit = audited(laplace(1 / epsilon), trials=100_000)
    assert 0.8 * epsilon < audit.epsilon < epsilon
    assert audit.consistent_with(Plan((Laplace("count", noise_multiplier=1 / epsilon),)))
    assert audit.refutes(Plan((Laplace("count", noise_multiplier=1.3 / epsilon),)))


def test_the_bound_fails_no_more_often_than_it_says():
    """At confidence 1/2, of 40 bounds at most half may be above the truth (by union bounds, far fewer are).

    An audit that counted the runs by which it chose its threshold would be above it in 70% of cases.
    """
    bounds = [audited(laplace(1.0), trials=400, confidence=0.5, random_state=seed).epsilon for seed in range(40)]
    assert sum(bound > 1.0 for bound in bounds) <= 20


def test_no_difference_is_not_found():
    audit = audited(lambda shift, seed, trials: np.random.default_rng(seed).normal(size=(trials, 3)), trials=4000)
    assert audit.epsilon < 0.05


def test_randomised_response_is_read_off_exactly():
    def run(truth, seed, trials):
        return np.where(np.random.default_rng(seed).random(trials) < 0.75, truth, 1 - truth)

    assert np.log(3) * 0.9 < audited(run).epsilon < np.log(3)


@pytest.mark.parametrize(
    ("what", "run"),
    [
        ("an exact value", lambda data, seed: data),
        ("an exact value beside noise", lambda data, seed: [np.random.default_rng(seed).normal(0, 9), 5000 + data]),
        ("not a number", lambda data, seed: np.nan if data else 3.0),
        ("infinity", lambda data, seed: np.inf if data else np.random.default_rng(seed).normal()),
        ("the length", lambda data, seed: np.zeros(3 + int(data))),
    ],
)
def test_plain_leaks_reach_the_ceiling(what, run):
    audit = audited(run, vectorized=False, trials=400)
    assert audit.epsilon == pytest.approx(audit.ceiling), what
    assert audit.refutes(2.5)


def test_a_difference_in_spread_is_found():
    audit = audited(lambda wide, seed, trials: np.random.default_rng(seed).normal(0, 1 + wide, (trials, 2)))
    assert audit.epsilon > 3


def test_a_value_only_one_of_many_categories_gives_away_is_found():
    def run(data, seed, trials):
        picks = np.random.default_rng(seed).integers(0, 12, trials)
        return np.where((picks == 7) & (data == 1), 3, picks)

    assert audited(run).epsilon > 3


def test_gross_outliers_do_not_blind_the_attack():
    """Cauchy noise beside the leak: a mean or a covariance of such outputs is meaningless."""

    def run(shift, seed, trials):
        rng = np.random.default_rng(seed)
        return np.column_stack([rng.standard_cauchy(trials) * 1e9, rng.normal(shift, 0.4, trials)])

    assert audited(run, delta=1e-6, method="gdp").mu > 2.2


def test_counts_and_trade_off_agree():
    audit = audited(laplace(0.5))
    assert audit.trials == 10_000
    rates = np.array([audit.false_positives, audit.false_negatives]) / audit.trials
    distance = np.abs(audit.tradeoff - rates).max(axis=1).min()
    assert distance < 0.01
    assert (np.diff(audit.tradeoff[:, 0]) <= 0).all()
    assert (np.diff(audit.tradeoff[:, 1]) >= 0).all()
    assert audit.epsilon < audit.estimate <= audit.ceiling + 3


def test_one_call_a_run_and_one_call_for_all_agree():
    loop = audit_outputs(
        lambda shift, seed: np.random.default_rng(seed).laplace(shift, 0.5),
        0.0,
        1.0,
        delta=0.0,
        trials=4000,
        random_state=1,
    )
    batch = audited(laplace(0.5), trials=4000, confidence=0.95, random_state=1)
    assert loop.epsilon == pytest.approx(batch.epsilon, abs=0.3)


def test_every_run_has_its_own_seed_and_the_audit_is_reproducible():
    seen = []

    def run(data, seed):
        seen.append(seed)
        return np.random.default_rng(seed).normal(data)

    first = audit_outputs(run, 0, 1, delta=1e-6, trials=100, random_state=4)
    assert len(set(seen)) == 200
    assert all(0 <= seed < 2**32 for seed in seen)
    second = audit_outputs(run, 0, 1, delta=1e-6, trials=100, random_state=4)
    assert (first.false_positives, first.false_negatives) == (second.false_positives, second.false_negatives)
    assert seen[:200] == seen[200:]


def test_repr_gives_the_verdict():
    text = repr(audited(laplace(0.5), claim=1.0))
    assert "claimed 1: REFUTED" in text
    assert "0.999 confidence" in text
    assert "claimed 2.5: consistent" in repr(audited(laplace(0.5), claim=Budget(2.5)))
    assert "claimed" not in repr(audited(laplace(0.5), trials=400))


def test_progress_is_shown_when_asked_for(capsys):
    audited(lambda data, seed: data, vectorized=False, trials=40, progress=True)
    assert "Running the mechanism" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 1.0}, "delta must be"),
        ({"method": "gdp"}, "no epsilon at delta 0"),
        ({"method": "magic"}, "method must be"),
        ({"confidence": 1.0}, "confidence must"),
        ({"trials": 10}, "trials must be at least 40"),
    ],
)
def test_bad_arguments_get_a_sentence(options, message):
    with pytest.raises(ValueError, match=message):
        audited(laplace(1.0), **options)


def test_a_vectorized_run_of_the_wrong_length_gets_a_sentence():
    with pytest.raises(ValueError, match="one row for each of its 40 trials"):
        audited(lambda data, seed, trials: np.zeros(3), trials=40)


def test_refuting_nothing_gets_a_sentence():
    audit = Audit(1e-6, 0.95, "threshold", 100, 3, 5, "linear", np.zeros((0, 2)))
    with pytest.raises(ValueError, match="no claim to refute"):
        audit.refutes()

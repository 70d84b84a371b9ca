"""Planted bugs: each is caught by an audit (the claim is refuted with confidence 0.999), and its correct twin is not.

Every pipeline below uses the library's own noise. The bug is in what surrounds it, which is where bugs are.
"""

import numpy as np
import pytest

from tacit.audit import audit_outputs
from tacit.privacy import Gaussian, Laplace, Plan
from tacit.release.generator import generator
from tacit.release.mechanisms import gaussian_vector, laplace_vector

RADIUS = 1.0
NOISE = 2.0  # noise multiplier of one Gaussian release
DELTA = 1e-5

ROWS = np.array([[0.2, 0.1], [-0.4, 0.3], [0.1, -0.9], [0.0, 0.0], [0.5, 0.5]])
RIGHT, LEFT, FAR = [1.0, 0.0], [-1.0, 0.0], [9.0, 0.0]


def with_row(row):
    return np.vstack([ROWS, row])


def clipped(rows):
    return rows * np.minimum(1.0, RADIUS / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


def noisy_sums(total, sensitivity, noise_multiplier, trials, gen):
    """One Gaussian release of a vector, made `trials` times over."""
    return gaussian_vector(np.tile(total, (trials, 1)), sensitivity, noise_multiplier, gen)


def release_sum(rows, seed, trials, *, noise_multiplier=NOISE, clip=clipped, sensitivity=2 * RADIUS, releases=1):
    gen = generator(seed)
    total = clip(rows).sum(axis=0)
    return np.hstack([noisy_sums(total, sensitivity, noise_multiplier, trials, gen) for _ in range(releases)])


def audited(run, data, neighbor, plan, **options):
    settings = {"delta": DELTA, "trials": 8000, "confidence": 0.999, "method": "gdp", "vectorized": True}
    return audit_outputs(run, data, neighbor, claim=plan, random_state=0, **{**settings, **options})


def verdict(audit):
    """Whether the claim is refuted: by its whole curve and, as must agree for Gaussian plans, by the plain figure."""
    assert audit.refutes() == (audit.epsilon > audit.claim.epsilon(DELTA))
    return audit.refutes()


def bug(**settings):
    return pytest.param(settings, True)


def twin(**settings):
    return pytest.param(settings, False)


@pytest.mark.parametrize(("settings", "caught"), [bug(noise_multiplier=NOISE / 2), twin(noise_multiplier=NOISE)])
def test_halved_sigma(settings, caught):
    plan = Plan((Gaussian("sum", NOISE, size=2),))
    audit = audited(lambda *run: release_sum(*run, **settings), with_row(RIGHT), with_row(LEFT), plan)
    assert verdict(audit) is caught


@pytest.mark.parametrize(("settings", "caught"), [bug(releases=4), twin(releases=3)])
def test_one_release_more_than_planned(settings, caught):
    plan = Plan((Gaussian("sum", NOISE, count=3, size=2),))
    run = lambda *args: release_sum(*args, **settings)  # noqa: E731
    assert verdict(audited(run, with_row(RIGHT), with_row(LEFT), plan, trials=40_000)) is caught


@pytest.mark.parametrize(("settings", "caught"), [bug(clip=lambda rows: rows), twin()])
def test_unclipped_row(settings, caught):
    plan = Plan((Gaussian("sum", NOISE, size=2),))
    audit = audited(lambda *run: release_sum(*run, **settings), with_row(FAR), with_row(LEFT), plan)
    assert verdict(audit) is caught


@pytest.mark.parametrize(("settings", "caught"), [bug(sensitivity=RADIUS), twin(sensitivity=2 * RADIUS)])
def test_add_remove_sensitivity_where_a_row_is_replaced(settings, caught):
    plan = Plan((Gaussian("sum", NOISE, size=2),), neighbors="replace_one")
    audit = audited(lambda *run: release_sum(*run, **settings), with_row(RIGHT), with_row(LEFT), plan)
    assert verdict(audit) is caught


def test_add_remove_sensitivity_suffices_where_a_row_comes_or_goes():
    plan = Plan((Gaussian("sum", NOISE, size=2),), neighbors="add_remove")
    audit = audited(lambda *run: release_sum(*run, sensitivity=RADIUS), with_row(RIGHT), ROWS, plan)
    assert not verdict(audit)


@pytest.mark.parametrize("caught", [True, False])
def test_true_count_where_the_noisy_one_belongs(caught):
    """Shares of two groups, scaled to add up to the number of rows: the true one, or the noisy one."""

    def run(rows, seed, trials):
        gen = generator(seed)
        counts = np.array([(rows[:, 0] < 0).sum(), (rows[:, 0] >= 0).sum()])
        noisy = laplace_vector(np.tile(counts, (trials, 1)), 1.0, 2.0, gen)
        total = laplace_vector(np.full(trials, len(rows)), 1.0, 2.0, gen)
        return noisy * ((len(rows) if caught else total) / noisy.sum(axis=1))[:, None]

    plan = Plan((Laplace("groups", 2.0, size=2), Laplace("rows", 2.0)), neighbors="add_remove")
    audit = audited(run, with_row(RIGHT), ROWS, plan, method="threshold", delta=0.0)
    assert audit.refutes() is caught
    assert (audit.epsilon > plan.epsilon(0.0)) is caught


@pytest.mark.parametrize("caught", [True, False])
def test_early_stop_that_looks_at_the_data(caught):
    """Steps towards the mean, stopped when the gradient is small: the true gradient, or the noisy, public one."""
    steps, noise_multiplier = 5, 6.0

    def run(rows, seed, trials):
        gen = generator(seed)
        place = np.zeros((trials, 2))
        path = np.full((trials, steps, 2), np.nan)
        running = np.ones(trials, dtype=bool)
        for step in range(steps):
            gradient = clipped(rows).sum(axis=0) - len(rows) * place
            noisy = gaussian_vector(gradient, 2 * RADIUS, noise_multiplier, gen)
            running &= np.linalg.norm(gradient if caught else noisy, axis=1) >= 1.3
            place = place + noisy / len(rows) / 10
            path[running, step] = place[running]
        return path.reshape(trials, -1)

    plan = Plan((Gaussian("gradient", noise_multiplier, count=steps, size=2),))
    assert audited(run, with_row(RIGHT), with_row(LEFT), plan).refutes() is caught

"""Moments: near the plain ones where the budget allows, public choices made beforehand, bad input refused."""

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.moments.factors import Factors
from tacit.moments.moments import iteration_pays
from tacit.moments.spectrum import common_factors, top_eigenpairs
from tacit.moments.two_stage_moments import two_stage_steps
from tacit.privacy import Budget, Ledger
from tacit.statistics import ComponentMoments, Components, DiagonalComponent


def factor_rows(rows, columns, factors, seed=0):
    rng = np.random.default_rng(seed)
    scales = np.exp(0.5 * rng.normal(size=columns))
    loadings = rng.normal(size=(columns, factors)) / np.sqrt(factors)
    model = Factors(2 * scales * rng.normal(size=columns), scales[:, None] * loadings, 0.5 * scales**2)
    return model, model.sample(rows, rng)


def nats_lost(moments, model):
    """Kullback-Leibler divergence of the Gaussian with these moments from the true one."""
    truth, found = model.covariance(), moments.covariance_
    away = moments.mean_ - model.mean
    relative = np.linalg.solve(found, truth)
    return 0.5 * (
        np.trace(relative) - len(truth) - np.linalg.slogdet(relative)[1] + away @ np.linalg.solve(found, away)
    )


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize(("method", "most"), [("iterated", 0.03), ("staged", 0.08)])
def test_near_the_truth(method, most, neighbors):
    model, X = factor_rows(20_000, 8, 2)
    fits = [
        tacit.Moments(method=method, bounds=(-30, 30), neighbors=neighbors, random_state=seed).fit(X)
        for seed in range(3)
    ]
    moments = fits[0]
    # The median: noise alone makes a column look as if it had tails once in some hundred columns.
    assert np.median([nats_lost(each, model) for each in fits]) < most
    assert moments.count_ == 20_000 if neighbors == "replace_one" else abs(moments.count_ - 20_000) < 500
    assert np.allclose(moments.second_moment_, moments.covariance_ + np.outer(moments.mean_, moments.mean_))


@pytest.mark.parametrize("method", ["iterated", "staged", "published"])
def test_a_public_number_of_rows_is_told_as_it_is(method):
    """Also where its noise would be larger than it is."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    assert tacit.Moments(method=method, epsilon=0.5, bounds=(-10, 10), random_state=0).fit(X).count_ == 30


def test_few_rows_beside_columns():
    """Where the covariance drowns, columns are still known, and so are directions that stand out."""
    model, X = factor_rows(5_000, 60, 3)
    staged = tacit.Moments(bounds=(-30, 30), epsilon=0.5, random_state=0).fit(X)
    iterated = tacit.Moments(bounds=(-30, 30), epsilon=0.5, random_state=0, method="iterated").fit(X)
    assert staged.method_ == "staged"
    alone = np.diag(np.diag(model.covariance()))
    without_factors = 0.5 * (np.linalg.slogdet(alone)[1] - np.linalg.slogdet(model.covariance())[1])
    assert nats_lost(staged, model) < min(0.75 * without_factors, nats_lost(iterated, model))


def test_hopeless_budgets_leave_a_covariance_within_the_bounds():
    rows = np.random.default_rng(0).uniform(-1, 1, (20, 30))
    for method in ("staged", "iterated", "published"):
        moments = tacit.Moments(method=method, epsilon=0.01, bounds=(-1, 1), random_state=0).fit(rows)
        assert np.linalg.eigvalsh(moments.covariance_).min() > 0
        if method != "published":  # The published method has no such limits.
            assert np.abs(moments.mean_).max() <= 1
            assert np.diag(moments.covariance_).max() <= 30


def test_a_column_that_is_nearly_always_zero_keeps_its_variance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 3)) * 0.1
    X[:, 0] = (rng.uniform(size=50_000) < 0.03) * rng.uniform(0, 1, 50_000)
    moments = tacit.Moments(method="staged", epsilon=2.0, bounds=(-1, 1), random_state=0).fit(X)
    assert 0.5 < moments.covariance_[0, 0] / X[:, 0].var() < 2


@pytest.mark.parametrize("bounds", [10.0, (-10, 10), 300.0, "private"], ids=str)
def test_rows_near_the_edge_of_the_bounds(bounds):
    X = np.random.default_rng(0).normal([9.0, 0.0, 0.0], [0.3, 0.5, 0.1], (20_000, 3))
    for method in ("staged", "iterated"):
        moments = tacit.Moments(method=method, bounds=bounds, random_state=0).fit(X)
        assert np.allclose(moments.mean_, [9, 0, 0], atol=0.05)
        assert np.allclose(np.sqrt(np.diag(moments.covariance_)), [0.3, 0.5, 0.1], rtol=0.15)


def test_what_adaptive_is_follows_from_public_numbers():
    budget = Budget(1.0, 1e-6)
    assert iteration_pays(20_000, 50, budget, "replace_one")
    assert not iteration_pays(200, 50, budget, "replace_one")
    assert not iteration_pays(20_000, 50, Budget(0.01, 1e-6), "replace_one")
    assert not iteration_pays(10**9, 1000, budget, "replace_one")
    assert iteration_pays(None, 10, budget, "add_remove")
    first, second = np.zeros((500, 3)), np.random.default_rng(0).normal(size=(500, 3))
    fitted = [tacit.Moments(bounds=9.0, random_state=0).fit(X) for X in (first, second)]
    assert fitted[0].method_ == fitted[1].method_
    assert fitted[0].privacy_.plan == fitted[1].privacy_.plan


def test_published_is_the_second_moment_in_the_ball():
    X = np.random.default_rng(0).normal(size=(200_000, 3)) * 0.2 + 0.1
    moments = tacit.Moments(method="published", bounds=2.0, epsilon=0.9, random_state=0).fit(X)
    assert np.allclose(moments.covariance_, X.T @ X / len(X), atol=2e-3)
    assert not moments.mean_.any()
    step = moments.privacy_.plan.steps[0]
    assert step.noise_multiplier == pytest.approx(np.sqrt(2 * np.log(1.25 / 1e-6)) / 0.9)
    assert moments.privacy_.epsilon() <= 0.9


def test_published_moments_are_an_object_and_make_one_release():
    by_word, by_object = (
        tacit.Moments(method=method, bounds=2.0, random_state=0).fit(np.ones((200, 2)))
        for method in ("published", tacit.published.AnalyzeGauss())
    )
    np.testing.assert_array_equal(by_word.covariance_, by_object.covariance_)
    assert "AnalyzeGauss()" in by_object.privacy_.notes[0]
    assert tacit.FactorAnalysis.from_moments(by_object).method == by_object.method
    with pytest.raises(ValueError, match="n_iter is for the method adaptive, iterated, staged"):
        tacit.Moments(method="published", n_iter=2, bounds=2.0).fit(np.ones((200, 2)))


def test_published_is_calibrated_anew_where_the_classical_formula_does_not_hold():
    moments = tacit.Moments(method="published", bounds=2.0, epsilon=30.0, random_state=0).fit(np.zeros((100, 2)))
    assert moments.privacy_.epsilon() <= 30.0
    assert moments.privacy_.plan.steps[0].noise_multiplier > np.sqrt(2 * np.log(1.25 / 1e-6)) / 30


def test_one_charge_for_many_models(tmp_path):
    account = Ledger(tmp_path / "budget.db").create("rows", Budget(2.0, 1e-5))
    X = factor_rows(2_000, 4, 1)[1]
    moments = tacit.Moments(bounds=(-30, 30), ledger=account).fit(X)
    left = account.remaining()
    models = [tacit.FactorAnalysis.from_moments(moments, count) for count in (1, 2, 3)]
    assert account.remaining() == left
    for model in models:
        assert model.privacy_.plan == moments.privacy_.plan
        assert "at no further cost" in model.privacy_.text().replace("\n", " ")


def test_frames_schemas_and_missing_cells():
    _, X = factor_rows(3_000, 3, 1)
    table = pa.table({name: X[:, j] for j, name in enumerate("abc")})
    moments = tacit.Moments(bounds=(-30, 30), random_state=0).fit(table)
    assert moments.feature_names_in_.tolist() == ["a", "b", "c"]
    X[::10, 1] = np.nan
    with pytest.raises(ValueError, match="missing"):
        tacit.Moments(bounds=(-30, 30)).fit(X)
    for method in ("iterated", "staged", "published"):
        left_out = tacit.Moments(bounds=(-30, 30), missing="ignore", method=method, random_state=0).fit(X)
        assert abs(left_out.count_ - 2_700) < 250
        assert left_out.privacy_.rows is None


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"method": "best"}, "method"),
        ({"n_iter": 0}, "n_iter"),
        ({"n_iter": 2, "method": "staged"}, "n_iter=3"),
        ({"delta": 0.0}, "delta"),
        ({"bounds": None}, "bounds"),
        ({"neighbors": "both"}, "neighbo"),
    ],
    ids=str,
)
def test_bad_input_is_refused(wrong, match):
    with pytest.raises(ValueError, match=match):
        tacit.Moments(**{"bounds": 1.0, **wrong}).fit(np.zeros((50, 2)))


def test_releases_are_as_many_as_asked_for():
    for method in ("staged", "iterated"):
        moments = tacit.Moments(bounds=1.0, n_iter=5, method=method, random_state=0).fit(np.zeros((50, 2)))
        assert moments.n_iter_ == 5 == sum(step.count for step in moments.privacy_.plan.steps)
    assert [(step.name, step.count) for step in two_stage_steps(2, 3)] == [
        ("columns", 1),
        ("tails", 1),
        ("second moments", 1),
    ]


# Numerics


def test_a_diagonal_component_is_what_a_component_with_a_diagonal_factor_is():
    rng = np.random.default_rng(0)
    mean, scales, rows = rng.normal(size=4), rng.uniform(0.5, 2, 4), rng.normal(size=(300, 4)) * 2
    plain = Components(np.ones(1), mean[None], np.diag(scales)[None])
    for whitened in (True, False):
        sums = [
            ComponentMoments(each, 2.0, whitened=whitened).block_sum(rows)
            for each in (plain, DiagonalComponent(mean, scales))
        ]
        assert np.allclose(*sums)


def test_large_matrices_have_the_same_largest_eigenvalues():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(600, 600))
    matrix = (noise + noise.T) / np.sqrt(1200)
    vectors = np.linalg.qr(rng.normal(size=(600, 3)))[0]
    matrix += (vectors * [9.0, 6.0, 4.0]) @ vectors.T
    values, found = top_eigenpairs(matrix, 3)
    exact, axes = np.linalg.eigh(matrix)
    assert np.allclose(values, exact[::-1][:3], rtol=1e-6)
    assert np.allclose(np.abs(np.sum(found * axes[:, ::-1][:, :3], axis=0)), 1.0, atol=1e-6)


@pytest.mark.parametrize("columns", [50, 500])
def test_pure_noise_has_no_factors(columns):
    rng = np.random.default_rng(columns)
    found = 0
    for _ in range(20 if columns == 50 else 3):
        noise = rng.normal(size=(columns, columns))
        found += common_factors(np.eye(columns) + (noise + noise.T) / 2, 1.0, 5).shape[1]
    assert found <= 1


def test_loadings_are_shrunk_by_what_noise_adds():
    """Nearer to the truth, in squared error, than the plain eigenvectors."""
    rng = np.random.default_rng(0)
    loadings = rng.uniform(0.3, 0.8, (100, 1))
    noise = rng.normal(size=(100, 100)) * 2.0
    noisy = loadings @ loadings.T + (noise + noise.T) / 2
    values, vectors = np.linalg.eigh(noisy)
    plain = vectors[:, -1:] * np.sqrt(values[-1])
    found = common_factors(noisy, 2.0, 3)
    truth = loadings @ loadings.T
    assert np.linalg.norm(found @ found.T - truth) < 0.9 * np.linalg.norm(plain @ plain.T - truth)

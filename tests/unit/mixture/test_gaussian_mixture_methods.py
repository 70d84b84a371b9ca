"""The published methods beside the default: their noise, their iterations, and how they compare."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Plain

import tacit
from tacit.mixture.mixture import public_means
from tacit.privacy import Budget, Gaussian, Laplace
from tacit.published import DPEM, JointMoments
from tacit.published.compositions import COMPOSITIONS, noise_multipliers

KINDS = ("full", "tied", "diag", "spherical")


def model(n_components=2, **options):
    options = {"epsilon": 1.0, "delta": 1e-5, "bounds": (-1.0, 1.0), "random_state": 0, **options}
    return tacit.GaussianMixture(n_components, **options)


@pytest.fixture(scope="module")
def broad():
    """Clusters that fill the box: the published methods cannot see smaller ones."""
    rng = np.random.default_rng(0)
    spread = np.array([[0.2, 0.1], [0.0, 0.25]])
    clusters = [rng.normal(size=(4000, 2)) @ spread - 0.4, rng.normal(size=(6000, 2)) @ spread.T + 0.4]
    return np.clip(rng.permutation(np.concatenate(clusters)), -1.0, 1.0)


# ------------------------------------------------------------------------------------------------------- the iteration


@pytest.mark.parametrize("init", ["public", [[-0.5, -0.2], [0.3, 0.5]]], ids=["public", "array"])
@pytest.mark.parametrize("method", [JointMoments, DPEM])
@pytest.mark.parametrize("kind", KINDS)
def test_with_next_to_no_noise_an_iteration_is_that_of_em(broad, kind, method, init):
    means = public_means(2, 2) if init == "public" else np.array(init)
    precisions = {
        "full": np.stack([np.eye(2)] * 2),
        "tied": np.eye(2),
        "diag": np.ones((2, 2)),
        "spherical": np.ones(2),
    }
    plain = Plain(
        2,
        covariance_type=kind,
        max_iter=1,
        reg_covar=0.0,
        init_params="random",
        random_state=0,
        weights_init=[0.5, 0.5],
        means_init=means,
        precisions_init=precisions[kind],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        plain.fit(broad)
    order = np.argsort(-plain.weights_)
    fitted = model(covariance_type=kind, method=method(n_iter=1), init=init, epsilon=1e4).fit(broad)
    assert fitted.weights_ == pytest.approx(plain.weights_[order], abs=0.005)
    assert fitted.means_ == pytest.approx(plain.means_[order], abs=0.01)
    covariances = plain.covariances_ if kind == "tied" else plain.covariances_[order]
    assert fitted.covariances_ == pytest.approx(covariances, abs=0.01)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["joint", "per_parameter"])
def test_covariance_types(broad, kind, method):
    fitted = model(3, covariance_type=kind, method=method).fit(broad)
    shape = {"full": (3, 2, 2), "tied": (2, 2), "diag": (3, 2), "spherical": (3,)}[kind]
    assert fitted.covariances_.shape == shape
    assert np.isfinite(fitted.score(broad))


def test_better_methods_fit_better(broad):
    """Under the same budget: each component in its own coordinates, all moments at once, one parameter at a time."""
    scores = {
        method: np.mean([model(method=method, epsilon=0.3, random_state=s).fit(broad).score(broad) for s in range(3)])
        for method in ("scale_free", "joint", "per_parameter")
    }
    assert scores["scale_free"] > scores["joint"] > scores["per_parameter"]


# ----------------------------------------------------------------------------------------------------------- the noise


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_the_paper_s_noise_is_what_is_added(broad, composition):
    fitted = model(3, method=DPEM(composition=composition, n_iter=4)).fit(broad)
    expected = noise_multipliers(composition, "GGG", Budget(1.0, 1e-5), 3, 4)
    steps = fitted.privacy_.plan.steps
    assert {step.name: step.noise_multiplier for step in steps} == expected
    assert {step.name: step.count for step in steps} == {"weights": 4, "means": 12, "covariances": 12}
    assert all(isinstance(step, Gaussian) for step in steps)
    assert fitted.privacy_.delta(1.0) <= 1e-5
    assert fitted.privacy_.epsilon() < 1.0  # the compositions are looser than exact accounting
    assert composition in " ".join(fitted.privacy_.notes)


def test_better_compositions_fit_better(broad):
    scores = {}
    for composition in COMPOSITIONS:
        options = {"method": DPEM(composition=composition), "epsilon": 0.5}
        scores[composition] = np.mean(
            [model(random_state=seed, **options).fit(broad).score(broad) for seed in range(4)]
        )
    assert min(scores["zcdp"], scores["moments"]) > scores["advanced"] > scores["linear"]
    assert scores["zcdp"] == pytest.approx(scores["moments"], abs=0.5)


def test_laplace_noise_on_weights_and_means(broad):
    fitted = model(method=DPEM(noise="LLG", composition="zcdp", n_iter=2)).fit(broad)
    kinds = {step.name: type(step) for step in fitted.privacy_.plan.steps}
    assert kinds == {"weights": Laplace, "means": Laplace, "covariances": Gaussian}
    assert [record.mechanism for record in fitted.privacy_.releases] == [
        "discrete Laplace",
        "discrete Laplace",
        "discrete Gaussian",
    ]
    assert fitted.privacy_.delta(1.0) <= 1e-5
    assert np.isfinite(fitted.score(broad))


@pytest.mark.parametrize("composition", ["linear", "moments"])
def test_laplace_noise_keeps_the_budget_with_every_composition(broad, composition):
    fitted = model(method=DPEM(noise="LLG", composition=composition, n_iter=1)).fit(broad)
    assert fitted.privacy_.delta(1.0) <= 1e-5


def test_all_moments_at_once_need_less_noise_than_one_at_a_time(broad):
    joint = model(3, method="joint").fit(broad).privacy_.plan.steps
    apart = model(3, method="per_parameter").fit(broad).privacy_.plan.steps
    assert joint[0].noise_multiplier < 0.6 * apart[0].noise_multiplier


# -------------------------------------------------------------------------------------------------------------- priors


@pytest.mark.parametrize("method", ["scale_free", "joint", "per_parameter"])
def test_a_strong_prior_prevails(broad, method):
    """Equal weights, means at the centre of the bounds, and covariances of the prior's own size."""
    rows = broad[:, :1] * 100.0 + 300.0
    prior = tacit.MixturePrior(concentration=1e7, mean_rows=1e7, scale=0.2e7, degrees=1e7)
    fitted = model(2, method=method, bounds=(200.0, 400.0), prior=prior, init="public").fit(rows)
    assert fitted.weights_ == pytest.approx([0.5, 0.5], abs=0.01)
    assert fitted.means_ == pytest.approx(np.full((2, 1), 300.0), abs=2.0)
    if method != "scale_free":  # whose last release may widen it again
        assert fitted.covariances_ == pytest.approx(np.full((2, 1, 1), 0.2 * 100.0**2), rel=0.05)


def test_a_weak_prior_hardly_matters(broad):
    for method in ("scale_free", "joint"):
        plain = model(method=method).fit(broad)
        with_prior = model(method=method, prior=tacit.MixturePrior()).fit(broad)
        assert with_prior.means_ == pytest.approx(plain.means_, abs=0.02)
        assert with_prior.score(broad) == pytest.approx(plain.score(broad), abs=0.02)
        assert not (with_prior.means_ == plain.means_).all()

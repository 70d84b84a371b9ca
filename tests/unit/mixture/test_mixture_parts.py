"""The parts of the mixture that meet no rows: splitting, schedules, sharing out noise, priors."""

import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import tacit
from tacit.fitting.moment_weights import block_weights, clipping_radius
from tacit.mixture.mixture import Mixture, public_means
from tacit.mixture.scale_free_schedule import scale_free_schedule
from tacit.privacy import Budget, Plan
from tacit.published import DPEM, JointMoments
from tacit.published.compositions import COMPOSITIONS, noise_multipliers
from tacit.statistics import TableLayout, moment_sensitivity

KINDS = ("full", "tied", "diag", "spherical")


def mixture(count=5, columns=3, seed=0):
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(count, columns, columns)) / 3
    covariances = roots @ roots.transpose(0, 2, 1) + 0.05 * np.eye(columns)
    return Mixture(rng.dirichlet(np.full(count, 3.0)), rng.normal(size=(count, columns)), covariances)


def first_two_moments(m):
    mean = m.weights @ m.means
    apart = m.means - mean
    return mean, np.einsum("k,kij->ij", m.weights, m.covariances) + np.einsum("k,ki,kj->ij", m.weights, apart, apart)


def density(m, rows):
    return sum(w * multivariate_normal(mu, c).pdf(rows) for w, mu, c in zip(m.weights, m.means, m.covariances))


# ----------------------------------------------------------------------------------------------- splitting and merging


def test_a_split_is_along_the_longest_axis():
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    covariance = rotation @ np.diag([4.0, 1.0, 0.5]) @ rotation.T
    two = Mixture(np.ones(1), np.array([[1.0, 2.0, 3.0]]), covariance[None]).split(2)
    assert two.weights == pytest.approx([0.5, 0.5])
    assert np.abs((two.means - [1.0, 2.0, 3.0]) @ rotation) == pytest.approx(np.tile([1.5, 0, 0], (2, 1)), abs=1e-12)
    for half in two.covariances:
        assert rotation.T @ half @ rotation == pytest.approx(np.diag([1.6, 1.0, 0.5]), abs=1e-12)


def test_a_split_keeps_the_mean_and_nearly_the_spread():
    whole = mixture()
    for count in range(6, 11):
        halves = whole.split(count)
        assert halves.count == count
        assert halves.weights.sum() == pytest.approx(1.0)
        mean, spread = first_two_moments(halves)
        assert mean == pytest.approx(first_two_moments(whole)[0])
        assert np.trace(spread) == pytest.approx(np.trace(first_two_moments(whole)[1]), rel=0.04)
        np.linalg.cholesky(halves.covariances)


def test_what_spreads_most_is_split():
    """Weight times largest variance: neither the heaviest component nor the longest one."""
    covariances = np.array([[[0.1]], [[1.0]], [[5.0]]])
    three = Mixture(np.array([0.6, 0.35, 0.05]), np.array([[-10.0], [0.0], [10.0]]), covariances).split(4)
    assert np.sort(three.means.ravel()) == pytest.approx([-10.0, -0.75, 0.75, 10.0])


def test_merging_keeps_the_first_two_moments():
    many = mixture(8)
    for count in (7, 4, 1):
        few = many.merge(count)
        assert few.count == count
        assert few.weights.sum() == pytest.approx(1.0)
        for before, after in zip(first_two_moments(many), first_two_moments(few)):
            assert after == pytest.approx(before)


def test_the_cheapest_pair_is_merged():
    """By Runnalls' bound: half of w log|S| - w1 log|S1| - w2 log|S2|."""
    many = mixture(6, seed=3)

    def cost(i, j):
        pair = Mixture(many.weights[[i, j]] / many.weights[[i, j]].sum(), many.means[[i, j]], many.covariances[[i, j]])
        whole = np.linalg.slogdet(first_two_moments(pair)[1])[1]
        return many.weights[i] * (whole - np.linalg.slogdet(many.covariances[i])[1]) + many.weights[j] * (
            whole - np.linalg.slogdet(many.covariances[j])[1]
        )

    pair = min(((i, j) for i in range(6) for j in range(i)), key=lambda pair: cost(*pair))
    expected = set(range(6)) - set(pair)
    kept = {k for k in range(6) if (many.merge(5).means == many.means[k]).all(axis=1).any()}
    assert kept == expected


def test_copies_leave_the_density_as_it_was():
    few, rows = mixture(3), np.random.default_rng(1).normal(size=(50, 3))
    assert few.repeat(7).count == 7
    assert density(few.repeat(7), rows) == pytest.approx(density(few, rows))
    assert few.repeat(3) is few
    assert (np.diff(few.by_weight().weights) <= 0).all()
    assert density(few.by_weight(), rows) == pytest.approx(density(few, rows))


def test_constrained_covariances():
    full = mixture()
    tied, diag, spherical = (full.constrain(kind).covariances for kind in ("tied", "diag", "spherical"))
    assert full.constrain("full").covariances is full.covariances
    assert tied == pytest.approx(np.tile(np.einsum("k,kij->ij", full.weights, full.covariances), (5, 1, 1)))
    assert diag == pytest.approx(full.covariances * np.eye(3))
    assert spherical == pytest.approx(np.einsum("kii->k", full.covariances)[:, None, None] / 3 * np.eye(3))


# --------------------------------------------------------------------------------------------------- what noise is for


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("columns", [1, 2, 10, 50])
def test_no_other_weights_lose_less(columns, kind, neighbors):
    """The expected loss of the docstring, searched at random: noise costs |E|^2 / 4 in covariances, half a square in
    means, and in counts both a weight and a size.
    """
    per_second = {"full": columns * (columns + 1) / 8, "tied": columns * (columns + 1) / 8, "diag": columns / 4}

    def loss(count, mean):
        second = per_second.get(kind, 1 / (4 * columns)) * columns**2
        numbers = second + columns**2 / 2 / mean**2 + (0.5 + columns / 4) / count**2
        return numbers * moment_sensitivity(count, mean, 1.0, neighbors) ** 2

    best = loss(*block_weights(columns, kind, neighbors))
    others = np.exp(np.random.default_rng(columns).uniform(math.log(0.02), math.log(4.0), (3000, 2)))
    assert best <= 1.002 * min(loss(*pair) for pair in others)


@pytest.mark.parametrize("kind", KINDS)
def test_more_noise_clips_more(kind):
    radii = [clipping_radius(10, kind, noise) for noise in (1e-6, 1e-4, 1e-2, 1.0, 100.0)]
    assert (np.diff(radii) <= 0).all()
    assert radii[0] > radii[-1]
    assert radii[-1] ** 2 == pytest.approx(9.34, abs=0.01)  # the median of chi-square with 10 degrees of freedom
    assert clipping_radius(10, kind, None) > radii[-1]


@pytest.mark.parametrize("n_iter", ["auto", 12])
@pytest.mark.parametrize("components", [1, 3, 5])
def test_the_schedule_is_known_beforehand(components, n_iter):
    layout = TableLayout((0, 1, 2, 3))
    schedule = scale_free_schedule((components,), layout, "full", "replace_one", 1000, n_iter=n_iter)
    assert schedule.n_releases == len(schedule.growing_sizes) + schedule.refining_rounds + 2
    if n_iter != "auto":
        assert schedule.n_releases == n_iter
    assert max(schedule.growing_sizes) == (1 if components == 1 else 2 * components)
    other = scale_free_schedule((components,), layout, "full", "add_remove", None, n_iter=n_iter)
    assert other.steps() == schedule.steps()


@pytest.mark.parametrize("kind", KINDS)
def test_simpler_covariances_release_fewer_numbers(kind):
    def numbers(kind):
        return JointMoments().schedule(3, 10, kind, Budget(1.0, 1e-6)).steps()[-1].size

    full = numbers("full")
    assert numbers(kind) == {"full": 198, "tied": 198, "diag": 63, "spherical": 36}[kind] <= full


def test_public_means_are_fixed_points_inside():
    points = public_means(20, 5)
    assert np.linalg.norm(points, axis=1) == pytest.approx(math.sqrt(5) / 2)
    assert (points == public_means(20, 5)).all()
    assert len(np.unique(points.round(6), axis=0)) == 20


# -------------------------------------------------------------------------------------------------------- compositions


def spent(composition, noise, multipliers, budget, components, iterations):
    """The epsilon that the formulas of Park et al. (2017) give for this noise."""
    laplace = iterations * (components + 1) if noise == "LLG" else 0
    gaussian = iterations * (2 * components + 1) - laplace
    delta_each = {"linear": budget.delta / gaussian, "advanced": budget.delta / (2 * gaussian)}.get(
        composition, 1e-4 * budget.delta
    )
    sigma = multipliers["covariances"]
    each = math.sqrt(2 * math.log(1.25 / delta_each)) / sigma
    if noise == "LLG":
        assert multipliers["means"] == multipliers["weights"] == pytest.approx(1 / each)
    else:
        assert multipliers["means"] == multipliers["weights"] == sigma
    count = laplace + gaussian
    if composition == "linear":
        return count * each
    if composition == "advanced":
        return count * each * math.expm1(each) + math.sqrt(2 * count * math.log(2 / budget.delta)) * each
    if composition == "zcdp":
        rho = laplace * each**2 / 2 + gaussian / (2 * sigma**2)
        return rho + 2 * math.sqrt(rho * math.log(1 / budget.delta))

    def log_moment(order):
        one = (order + 1) / (2 * order + 1) * math.exp(order * each)
        one += order / (2 * order + 1) * math.exp(-each * (order + 1))
        return laplace * math.log(one) + gaussian * (order**2 + order) / (2 * sigma**2)

    return min((log_moment(order) - math.log(budget.delta)) / order for order in range(1, int(700 / each)))


@pytest.mark.parametrize("noise", ["GGG", "LLG"])
@pytest.mark.parametrize("composition", COMPOSITIONS)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-4), (1.0, 1e-4), (4.0, 1e-8)])
def test_compositions_spend_what_their_formulas_say(composition, noise, epsilon, delta):
    budget = Budget(epsilon, delta)
    multipliers = noise_multipliers(composition, noise, budget, 3, 10)
    assert spent(composition, noise, multipliers, budget, 3, 10) == pytest.approx(epsilon, rel=2e-3)


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_exact_accounting_finds_every_composition_loose(composition):
    budget = Budget(1.0, 1e-4)
    schedule = DPEM(composition=composition).schedule(3, 10, "full", budget)
    assert Plan(tuple(schedule.steps())).epsilon(1e-4) < 1.0


@pytest.mark.parametrize("noise", ["GGG", "LLG"])
def test_better_compositions_need_less_noise(noise):
    multipliers = [noise_multipliers(name, noise, Budget(0.5, 1e-4), 3, 10)["covariances"] for name in COMPOSITIONS]
    linear, advanced, zcdp, moments = multipliers
    assert linear > advanced > 1.1 * zcdp
    assert moments == pytest.approx(zcdp, rel=0.05)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.03, 100.0, 1e5])
@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_compositions_have_an_answer_for_every_budget(composition, epsilon):
    for noise in ("GGG", "LLG"):
        multipliers = noise_multipliers(composition, noise, Budget(epsilon, 1e-6), 1, 1)
        assert all(0 < multiplier < np.inf for multiplier in multipliers.values())
        more = noise_multipliers(composition, noise, Budget(epsilon / 2, 1e-6), 1, 1)
        assert more["covariances"] >= multipliers["covariances"]


# -------------------------------------------------------------------------------------------------------------- priors


@pytest.mark.parametrize("degrees", [None, 12.0])
def test_the_prior_is_that_of_the_paper(degrees):
    """Park et al. (2017), in a ball of radius 1; the mixture's own coordinates are sqrt(d) times as large."""
    alpha, kappa, scatter = 5.0, 3.0, 0.2
    d, m = 3, mixture(4)
    counts = np.array([50.0, 3.0, 700.0, 12.0])
    nu = d + 2 if degrees is None else degrees
    weights = (counts + alpha - 1) / (counts.sum() + 4 * alpha - 4)
    means = counts[:, None] * m.means / (counts[:, None] + kappa)
    covariances = np.stack(
        [
            (scatter * np.eye(d) + n * c + kappa * n / (kappa + n) * np.outer(mu, mu)) / (nu + n + d + 2)
            for n, c, mu in zip(counts, m.covariances, m.means)
        ]
    )
    prior = tacit.MixturePrior(alpha, kappa, scatter, degrees)
    mode = prior.posterior_mode(counts, Mixture(m.weights, math.sqrt(d) * m.means, d * m.covariances))
    assert mode.weights == pytest.approx(weights)
    assert mode.means == pytest.approx(math.sqrt(d) * means)
    assert mode.covariances == pytest.approx(d * covariances)


def test_a_prior_gives_way_to_many_rows():
    m = mixture(2)
    mode = tacit.MixturePrior().posterior_mode(1e9 * m.weights, m)
    assert mode.weights == pytest.approx(m.weights)
    assert mode.means == pytest.approx(m.means)
    assert mode.covariances == pytest.approx(m.covariances)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("concentration", 0.5),
        ("concentration", math.inf),
        ("mean_rows", 0.0),
        ("scale", -1.0),
        ("scale", "wide"),
        ("degrees", -100.0),
        ("degrees", math.nan),
    ],
)
def test_priors_that_have_no_mode_are_refused(name, value):
    with pytest.raises(ValueError, match=f"The prior's {name} must be"):
        tacit.MixturePrior(**{name: value})

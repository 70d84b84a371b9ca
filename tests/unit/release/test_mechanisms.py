import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tacit.release import mechanisms
from tacit.release.generator import generator
from tacit.release.lattice import Lattice
from tacit.release.mechanisms import gaussian_vector, laplace_vector, noisy_count, quantile, select


@pytest.mark.parametrize("multiplier", [0.01, 1.0, 300.0])
def test_gaussian_noise_has_the_size_it_says(multiplier):
    noise = gaussian_vector(np.full(100_000, 7.0), 2.0, multiplier, generator(1)) - 7
    # The sensitivity is 2 and the noise covers rounding 100 000 numbers too, which is under 1e-4 of it.
    assert abs(noise.std() / (2 * multiplier) - 1) < 0.01
    assert abs(noise.mean()) < 4.5 * 2 * multiplier / math.sqrt(100_000)
    assert stats.kstest(noise[:5000] / (2 * multiplier), "norm").pvalue > 1e-4


@pytest.mark.parametrize("multiplier", [0.01, 1.0, 300.0])
def test_laplace_noise_has_the_size_it_says(multiplier):
    noise = laplace_vector(np.full(1000, 7.0), 2.0, multiplier, generator(2)) - 7
    assert stats.kstest(noise / (2 * multiplier), "laplace").pvalue > 1e-4


@pytest.mark.parametrize("release", [gaussian_vector, laplace_vector])
def test_noise_covers_the_rounding(release, monkeypatch):
    """What is drawn is at least the multiplier times the sensitivity of the *quantised* value."""
    asked = []
    for name in ("discrete_gaussian", "discrete_laplace"):
        monkeypatch.setattr(
            mechanisms, name, lambda scale, shape, gen: asked.append(scale) or np.zeros(shape, np.int64)
        )
    size, multiplier = 10_000, 0.7
    release(np.zeros(size), 1.0, multiplier, generator(0))
    lattice = Lattice.for_noise(multiplier, 1.0)
    rounding = lattice.rounding_l2(size) if release is gaussian_vector else lattice.rounding_l1(size)
    assert multiplier * (1 + rounding) <= asked[0] * lattice.step <= multiplier * (1 + rounding) * 1.000001


@pytest.mark.parametrize("release", [gaussian_vector, laplace_vector])
@settings(max_examples=30, deadline=None)
@given(values=st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=5), seed=st.integers(0, 99))
def test_every_value_gives_finite_points_of_the_same_lattice(release, values, seed):
    noisy = release(values, 3.0, 0.5, generator(seed))
    assert noisy.shape == (len(values),)
    assert np.isfinite(noisy).all()
    step = Lattice.for_noise(1.5, 3.0).step
    assert (noisy / step == np.rint(noisy / step)).all()


def test_shapes_are_kept():
    assert gaussian_vector(np.zeros((2, 3)), 1.0, 1.0, generator(0)).shape == (2, 3)
    assert laplace_vector(1.0, 1.0, 1.0, generator(0)).shape == ()


@pytest.mark.parametrize("release", [gaussian_vector, laplace_vector])
@pytest.mark.parametrize(("sensitivity", "multiplier"), [(0.0, 1.0), (1.0, -1.0), (math.inf, 1.0), (1.0, math.nan)])
def test_wrong_noise_gets_a_sentence(release, sensitivity, multiplier):
    with pytest.raises(ValueError, match="must be a positive, finite number"):
        release([1.0], sensitivity, multiplier, generator(0))


@pytest.mark.parametrize("steps", [-3, -1, 1, 3, 5])
def test_a_noisy_count_is_a_function_of_the_count_plus_its_noise(steps, monkeypatch):
    """Counts that are one apart, with noise that is one apart the other way, become the same: halves too."""

    def noise_of(halves):
        lattice = Lattice.for_noise(1.0, 1.0)
        monkeypatch.setattr(
            mechanisms, "discrete_laplace", lambda *_: np.array([round(halves / 2 / lattice.step)], np.int64)
        )

    noise_of(steps)
    first = noisy_count(3, 1.0, generator(0))
    noise_of(steps - 2)
    assert noisy_count(4, 1.0, generator(0)) == first


@pytest.mark.parametrize(("sensitivity", "multiplier"), [(1, 2.0**45), (2**40, 1.0)])
def test_noise_that_leaves_the_last_digits_of_a_count_is_refused(sensitivity, multiplier):
    with pytest.raises(ValueError, match="too large"):
        noisy_count(1, multiplier, generator(0), sensitivity)


@settings(max_examples=100, deadline=None)
@given(
    sensitivity=st.floats(1e-6, 1e6),
    multiplier=st.floats(0.01, 1e4),
    size=st.integers(1, 10_000),
    release=st.sampled_from([gaussian_vector, laplace_vector]),
)
def test_noise_scales_are_rounded_up(sensitivity, multiplier, size, release):
    """In exact arithmetic, what is drawn is no less than the multiplier times the sensitivity with rounding."""
    asked = []
    with pytest.MonkeyPatch.context() as patched:
        for name in ("discrete_gaussian", "discrete_laplace"):
            patched.setattr(
                mechanisms, name, lambda scale, shape, gen: asked.append(scale) or np.zeros(shape, np.int64)
            )
        release(np.zeros(size), sensitivity, multiplier, generator(0))
    step = Fraction(Lattice.for_noise(multiplier * sensitivity, sensitivity).step)
    drawn = Fraction(asked[0]) * step / Fraction(multiplier) - Fraction(sensitivity)
    # The rounding adds step * sqrt(size) in l2 norm, and step * size in l1.
    assert drawn >= 0
    assert drawn**2 >= step**2 * size if release is gaussian_vector else drawn >= step * size


def test_noisy_counts_are_laplace_rounded_to_whole_numbers():
    gen, epsilon = generator(3), 0.8
    noise = np.array([noisy_count(50, 1 / epsilon, gen) for _ in range(4000)]) - 50
    k = np.arange(-6, 7)
    p = np.diff(stats.laplace(scale=1 / epsilon).cdf(np.arange(-6.5, 7.0)))
    observed = np.array([(noise == j).sum() for j in k])
    rest = noise.size - observed.sum()
    assert stats.chisquare(np.append(observed, rest), np.append(p, 1 - p.sum()) * noise.size).pvalue > 1e-4
    assert isinstance(noisy_count(np.int64(5), 1.0, gen), int)
    twice = np.array([noisy_count(0, 1 / epsilon, gen, sensitivity=10) for _ in range(1000)])
    assert abs(np.abs(twice).mean() - 12.5) < 2


# --- Selection -----------------------------------------------------------------------------------------------------


def test_select_follows_the_exponential_mechanism():
    utilities, gen, draws = np.array([1.0, 2.5, 0.0, 2.0]), generator(4), 4000
    picks = np.bincount([select(utilities, 0.5, 0.9, gen)[0] for _ in range(draws)], minlength=4)
    weight = np.exp(0.9 * utilities / (2 * 0.5))
    assert stats.chisquare(picks, draws * weight / weight.sum()).pvalue > 1e-4


def test_top_k_follows_the_law_of_peeling():
    utilities, gen, draws = np.array([1.0, 2.5, 0.0, 2.0]), generator(5), 4000
    picks = [tuple(select(utilities, 1.0, 2.0, gen, k=2)) for _ in range(draws)]
    weight = np.exp(utilities)
    orders = list(permutations(range(4), 2))
    expected = [weight[i] / weight.sum() * weight[j] / (weight.sum() - weight[i]) for i, j in orders]
    assert stats.chisquare([picks.count(order) for order in orders], np.array(expected) * draws).pvalue > 1e-4


def test_choosing_all_is_a_permutation_and_the_clear_order_is_found():
    assert select([0.0, 1e4, -1e4, 500.0], 1.0, 1.0, generator(6), k=4) == [1, 3, 0, 2]


def test_utilities_of_all_kinds_are_bounded():
    assert select([math.nan, math.inf, -math.inf, 1e308], 1.0, 1.0, generator(7))[0] in (1, 3)
    assert select([-math.inf, -math.inf], 1.0, 1.0, generator(7))[0] in (0, 1)


@pytest.mark.parametrize(("utilities", "k"), [([], 1), ([1.0], 2), ([1.0], 0), ([[1.0]], 1)])
def test_impossible_choices_get_a_sentence(utilities, k):
    with pytest.raises(ValueError, match="Cannot choose"):
        select(utilities, 1.0, 1.0, generator(0), k=k)


# --- Quantiles -----------------------------------------------------------------------------------------------------


def quantile_law(values, q, first, last, epsilon, neighbors):
    """Return the probabilities of the candidates first, ..., last, written down from the docstring."""
    values, candidates = np.clip(values, first, last), np.arange(first, last + 1)
    under = (values[:, None] < candidates).sum(axis=0)
    through = (values[:, None] <= candidates).sum(axis=0)
    utility = -np.maximum(0, np.maximum(under - q * len(values), q * len(values) - through))
    sensitivity = 1 if neighbors == "replace_one" else max(q, 1 - q)
    weight = np.exp(epsilon * utility / (2 * sensitivity))
    return weight / weight.sum()


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("q", [0.0, 0.25, 0.5, 1.0])
def test_quantiles_follow_their_law(q, neighbors):
    values, gen, draws = np.array([3, 3, 3, 8, 9, 14, 40, -5]), generator(8), 1500
    found = [quantile(values, q, 0, 20, 0.8, gen, neighbors, resolution=1) for _ in range(draws)]
    picks = np.bincount(np.array(found).astype(int), minlength=21)
    expected = draws * quantile_law(values, q, 0, 20, 0.8, neighbors)
    assert expected.min() > 0.5
    assert stats.chisquare(picks, expected).pvalue > 1e-4


@settings(max_examples=100, deadline=None)
@given(
    values=st.lists(st.integers(0, 12), min_size=1, max_size=8),
    other=st.integers(0, 12),
    q=st.sampled_from([0.0, 0.1, 0.5, 0.75, 1.0]),
    neighbors=st.sampled_from(["replace_one", "add_remove"]),
)
def test_the_quantile_law_is_private(values, other, q, neighbors):
    """Bounded range, hence epsilon-private: the spread of the log-ratio between neighbours is at most epsilon."""
    neighbour = [*values[:-1], other] if neighbors == "replace_one" else [*values, other]
    laws = (quantile_law(np.array(data), q, 0, 12, 1.0, neighbors) for data in (values, neighbour))
    loss = np.log(next(laws)) - np.log(next(laws))
    assert np.ptp(loss) <= 1 + 1e-9
    assert np.abs(loss).max() <= 1 + 1e-9


def test_quantiles_are_accurate_within_bounds_a_billion_times_too_wide():
    values = np.random.default_rng(0).normal(10, 2, 20_000)
    for q in (0.05, 0.5, 0.95):
        assert abs(quantile(values, q, -1e9, 1e9, 1.0, generator(9)) - np.quantile(values, q)) < 0.1


def test_quantiles_stay_in_bounds_for_every_input():
    gen = generator(10)
    for values in ([], [math.nan] * 5, [math.inf, -math.inf], [1e308, -1e308, 5e-324]):
        for low, high in ((-3.3, 7.1), (2.0, 2.0 + 1e-12), (-1e308, 1e308), (1.0, 1 + 2.0**-52), (1e15, 1e15 + 1)):
            assert low <= quantile(values, 0.3, low, high, 0.5, gen) <= high


def test_ties_are_found_when_the_resolution_is_known():
    wages = np.repeat([1000, 2000, 3000], 40)
    found = [quantile(wages, 0.5, 0, 10_000, 2.0, generator(seed), resolution=1) for seed in range(20)]
    assert found.count(2000.0) >= 18


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"q": 1.1}, "q is"),
        ({"q": math.nan}, "q is"),
        ({"low": 5, "high": 5}, "low less than high"),
        ({"high": math.inf}, "finite"),
        ({"epsilon": 0}, "epsilon is"),
        ({"neighbors": "swap"}, "neighbors must be"),
        ({"resolution": 0}, "resolution is"),
        ({"resolution": 100}, "resolution is"),
        ({"low": 1e-310, "high": 2e-310}, "too few numbers"),
    ],
)
def test_wrong_arguments_get_a_sentence(changes, words):
    arguments = {"values": [1.0, 2.0], "q": 0.5, "low": 0, "high": 5, "epsilon": 1.0, "gen": generator(0)} | changes
    with pytest.raises(ValueError, match=words):
        quantile(**arguments)

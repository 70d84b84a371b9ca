"""The attack on the low-order bits of floating-point noise: it breaks naive noise, and learns nothing from ours.

Two neighbouring data sets have the sums 0 and s in each number; noise for a small epsilon is added. By definition
nobody who sees the result can guess which it was with a chance of more than e^eps / (1 + e^eps), near one half. But
which *floats* can come out of `sum + noise` depends on the sum, as Mironov found (2012). An attacker who asks only
whether the result is one of those that the sum 0 can give is right nearly always.
"""

import math

import numpy as np
import pytest

from tacit.release.generator import generator
from tacit.release.lattice import Lattice
from tacit.release.mechanisms import gaussian_vector, laplace_vector

GAMES = 200


def chance_to_win(release, attack, sums):
    """Return how often the attack names the sum behind a release, over games with either sum."""
    wins = [attack(release(np.full(*sums[guess]))) == guess for guess in (0, 1) for _ in range(GAMES // 2)]
    return np.mean(wins)


def best_chance(epsilon):
    """Return the best chance that epsilon allows, plus 4 standard errors of the estimate."""
    return 1 / (1 + math.exp(-epsilon)) + 4 * math.sqrt(0.25 / GAMES)


# --- Laplace: is the noise a logarithm of one of the 2^53 uniform numbers? --------------------------------------------

SIZE, EPSILON = 32, 0.1
L1_SUMS = ((SIZE, 0.0), (SIZE, 1 / SIZE))  # neighbours at l1 distance 1


def is_a_logarithm(noise, scale):
    """Tell whether numpy's Laplace generator, scale * log(m / 2^53), can give this number."""
    near = round(math.exp(-abs(noise) / scale) * 2**53)
    return any(scale * math.log(m / 2**53) == -abs(noise) for m in range(max(1, near - 4), near + 5))


def laplace_attack(released):
    return 0 if all(is_a_logarithm(y, 1 / EPSILON) for y in released.tolist()) else 1


def test_the_attack_breaks_naive_laplace_noise():
    rng = np.random.default_rng(1)
    won = chance_to_win(lambda v: v + rng.laplace(scale=1 / EPSILON, size=v.size), laplace_attack, L1_SUMS)
    assert best_chance(EPSILON) < 0.7  # what a guarantee of this epsilon would allow
    assert won > 0.99


def test_one_number_with_naive_laplace_noise_is_enough():
    rng = np.random.default_rng(2)
    won = chance_to_win(lambda v: v + rng.laplace(scale=10.0, size=1), laplace_attack, ((1, 0.0), (1, 1.0)))
    assert won > best_chance(EPSILON)


@pytest.mark.parametrize("seed", [None, 3])
def test_the_attack_on_discrete_laplace_noise_does_no_better_than_allowed(seed):
    gen = generator(seed)
    won = chance_to_win(lambda v: laplace_vector(v, 1.0, 1 / EPSILON, gen), laplace_attack, L1_SUMS)
    assert won < best_chance(EPSILON)


# --- Gaussian: are numbers near zero finer than the sum's last bit? ---------------------------------------------------

LONG, SHIFT = 2**16, 2.0**-8  # neighbours at l2 distance 1
L2_SUMS = ((LONG, 0.0), (LONG, SHIFT))
MULTIPLIER = 5.0  # mu = 1/5: no guess is right more often than Phi(1/10) = 0.54


def gaussian_attack(released):
    """Say 0 if a number under SHIFT / 4 has bits that `SHIFT + noise` has lost: those under 2^-53 SHIFT."""
    small = released[np.abs(released) < SHIFT / 4]
    grains = small / (SHIFT * 2.0**-53)
    return 0 if (grains != np.rint(grains)).any() else 1


def test_the_attack_breaks_naive_gaussian_noise():
    rng = np.random.default_rng(4)
    won = chance_to_win(lambda v: v + rng.normal(scale=MULTIPLIER, size=v.size), gaussian_attack, L2_SUMS)
    assert won > 0.99


def test_the_attack_on_discrete_gaussian_noise_does_no_better_than_allowed():
    gen = generator(5)
    won = chance_to_win(lambda v: gaussian_vector(v, 1.0, MULTIPLIER, gen), gaussian_attack, L2_SUMS)
    assert won < 0.54 + 4 * math.sqrt(0.25 / GAMES)


# --- Why: both sums reach the same numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize(("release", "scale"), [(laplace_vector, 10.0), (gaussian_vector, 10.0)])
def test_every_release_is_on_a_lattice_that_does_not_depend_on_the_sum(release, scale):
    step = Lattice.for_noise(scale, 1.0).step
    gen = generator(6)
    for total in (0.0, 1 / 3, 1e5 / 7, 1e-300):
        points = release(np.full(1000, total), 1.0, scale, gen) / step
        np.testing.assert_array_equal(points, np.rint(points))
        # Their last bits are fair coins whatever the sum is.
        ones = np.unpackbits((points.astype(np.int64) & 0xFF).astype(np.uint8)).reshape(-1, 8).sum(axis=0, dtype=int)
        assert (np.abs(ones - 500) < 5 * math.sqrt(250)).all()

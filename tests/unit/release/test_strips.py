"""The envelope is checked by proof, point by point in exact arithmetic; the sampler on it by forcing its rare paths."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tacit.release import strips as module
from tacit.release.generator import generator
from tacit.release.strips import strips

SCALES = [2.0**-10, 0.3, 0.5, 1.0, 3.7, 50.0, 63.999, 2.0**10, 1.9 * 2**20, 2.0**30, 2.0**40]
LAWS = [1, 2]


def density(k, power, scale):
    return mpmath.exp(-((abs(mpmath.mpf(int(k))) / mpmath.mpf(scale)) ** power) / power)


def check_envelope(power, scale):
    """Check what the module's docstring claims of the envelope, with 60 digits."""
    law = strips.__wrapped__(power, scale)
    width = 2**law.shift
    assert law.start.size == 2**13
    assert 13 + law.shift + 16 <= 64
    assert 2**law.stride_shift > scale
    with mpmath.workdps(60):
        inner = np.flatnonzero(law.side == 0)
        starts, first, heights = np.unique(law.start[inner], return_index=True, return_counts=True)
        # The strips tile [-tail_start, tail_start).
        np.testing.assert_array_equal(starts, np.arange(-law.tail_start, law.tail_start, width))
        # One constant makes every ceiling: Fractions of floats are exact.
        ceilings = [Fraction(float(law.ceiling[inner[i]])) for i in first]
        constant = ceilings[0] / int(heights[0])
        assert all(ceiling == constant * int(height) for ceiling, height in zip(ceilings, heights))
        for start, ceiling, i in zip(starts, ceilings, first):
            ends = [density(start, power, scale), density(start + width - 1, power, scale)]
            assert max(ends) <= mpmath.mpf(ceiling.numerator) / ceiling.denominator
            assert int(law.quick[inner[i]]) * mpmath.mpf(float(ceiling)) <= min(ends) * 2**16
        # The tails: the same constant per probability and integer, and a ceiling that is never broken.
        for side in (1, -1):
            slots = np.flatnonzero(law.side == side)
            assert (law.quick[slots] == 0).all()
            ceiling = Fraction(float(law.ceiling[slots[0]]))
            assert ceiling == constant * slots.size * width / 2**law.stride_shift
            for stride in (0, 1, 2, 10, 40):
                start = law.tail_start + (stride << law.stride_shift)
                assert density(start, power, scale) <= mpmath.mpf(float(ceiling)) / 2 ** (stride + 1)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("power", LAWS)
def test_the_envelope_is_above_the_law_and_proportional_to_the_proposal(power, scale):
    check_envelope(power, scale)


@settings(max_examples=20, deadline=None)
@given(power=st.sampled_from(LAWS), log2_scale=st.floats(-10, 40))
def test_the_envelope_holds_at_any_scale(power, log2_scale):
    check_envelope(power, 2.0**log2_scale)


def chi_square(draws, power, scale, inside=lambda k: True):
    """Return the p-value of draws (those `inside`) against the exact probabilities, rare values pooled."""
    far = int(scale * (30 * power) ** (1 / power)) + 2
    support = np.array([k for k in range(-far, far + 1) if inside(k)])
    weight = np.exp(-((np.abs(support) / scale) ** power) / power)
    expected = weight / weight.sum() * draws.size
    observed = np.bincount(np.searchsorted(support, draws), minlength=support.size)
    assert observed.sum() == draws.size
    common = expected >= 10
    rare = [observed[~common].sum()], [expected[~common].sum()]
    observed, expected = np.append(observed[common], rare[0]), np.append(expected[common], rare[1])
    if expected[-1] < 1:
        assert observed[-1] <= 10
        observed, expected = observed[:-1], expected[:-1] * observed[:-1].sum() / expected[:-1].sum()
    return stats.chisquare(observed, expected).pvalue


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.7, 50.0])
@pytest.mark.parametrize("power", LAWS)
def test_draws_follow_the_exact_probabilities(power, scale):
    assert chi_square(strips(power, scale).sample(400_000, generator(1)), power, scale) > 1e-4


@pytest.mark.parametrize("power", LAWS)
def test_the_tails_follow_the_exact_probabilities(power):
    law = strips(power, 3.7)
    draws = law.sample(2_000_000, generator(2))
    tail = draws[(draws >= law.tail_start) | (draws < -law.tail_start)]
    assert tail.size > 500
    assert chi_square(tail, power, 3.7, inside=lambda k: k >= law.tail_start or k < -law.tail_start) > 1e-4


@pytest.mark.parametrize("power", LAWS)
def test_draws_decided_by_exact_arithmetic_alone_follow_the_same_law(power, monkeypatch):
    """Without quick acceptance, and with every comparison in doubt, floating point decides nothing."""
    law = replace(strips(power, 3.7), quick=np.zeros(2**13, dtype=np.uint16))
    monkeypatch.setattr(module, "_DOUBT", np.inf)
    calls = []
    monkeypatch.setattr(module, "falls_under", lambda *a, f=module.falls_under: calls.append(0) or f(*a))
    draws = law.sample(10_000, generator(3))
    assert len(calls) > 10_000
    assert chi_square(draws, power, 3.7) > 1e-4


@pytest.mark.parametrize("scale", [0.5, 50.0, 2.0**40])
@pytest.mark.parametrize("power", LAWS)
def test_quick_decisions_are_the_exact_ones(power, scale, monkeypatch):
    """The same bits, with and without the short cuts: the same draws."""
    law = strips(power, scale)
    quick = law.sample(3000, generator(4))
    monkeypatch.setattr(module, "_DOUBT", np.inf)
    np.testing.assert_array_equal(quick, law.sample(3000, generator(4)))


def test_doubtful_draws_are_those_within_the_band(monkeypatch):
    """At the acceptance probability itself floating point must not decide; 2^-20 away from it, it must."""
    law, doubtful = strips(2, 1000.0), []
    monkeypatch.setattr(module, "falls_under", lambda u, *rest: doubtful.append(u) or True)
    draws, ceiling = np.array([1234] * 3), np.array([float(law.ceiling[np.argmax(law.start > 1200)])] * 3)
    with mpmath.workdps(40):
        goal = int(density(1234, 2, 1000.0) / mpmath.mpf(float(ceiling[0])) * 2**64)
    u = np.array([goal, goal - goal // 2**20, goal + goal // 2**20], dtype=np.uint64)
    assert law._under_the_law(u, draws, ceiling, generator(0)).tolist() == [True, True, False]
    assert doubtful == [goal]


def test_the_exponential_is_as_good_as_trusted():
    energy = np.linspace(0, 700, 20_001)
    with mpmath.workdps(30):
        error = max(abs(float(np.exp(-e)) / mpmath.exp(-mpmath.mpf(float(e))) - 1) for e in energy[::10])
    scalar, vector = np.array([np.exp(-e) for e in energy]), np.exp(-energy)
    assert error < 2.0**-45
    np.testing.assert_allclose(vector, scalar, rtol=2.0**-45)


class Zeros:
    """A source that starts with words of 64 tails, one for each coin and round."""

    def __init__(self, rounds):
        self.rounds = rounds

    def bits(self, count):
        self.rounds -= 1
        return np.full(count, 0 if self.rounds >= 0 else 8, dtype=np.uint64)


def test_tosses_go_on_until_heads():
    assert module._tosses_before_heads(3, Zeros(0)).tolist() == [3, 3, 3]
    assert module._tosses_before_heads(2, Zeros(2)).tolist() == [131, 131]
    draws = module._tosses_before_heads(64_000, generator(5))
    observed = np.bincount(np.minimum(draws, 10), minlength=11)
    assert stats.chisquare(observed, 64_000 * 2.0 ** -np.append(np.arange(1, 11), 10)).pvalue > 1e-4


def test_a_draw_far_in_the_tail_is_placed_and_judged():
    law = strips(2, 2.0**40)
    slot = np.array([np.argmax(law.side == 1), np.argmax(law.side == -1)])
    draws, ceiling = law._with_tails(np.zeros(2, dtype=np.int64), slot, Zeros(1))
    assert draws[0] == law.tail_start + (67 << law.stride_shift) + 8
    assert draws[1] == ~draws[0]
    np.testing.assert_array_equal(ceiling, law.ceiling[slot] * 2.0**-68)
    # Energy about 10^4: float64 says zero, and only U = 0.000... is in doubt.
    assert not law._under_the_law(np.array([2, 1], dtype=np.uint64), draws, ceiling, generator(0)).any()


class Script:
    """Bits for one proposal, word by word; further bits of U are all 0, so that U is known to the last of them."""

    def __init__(self, *words):
        self.words = list(words)

    def bits(self, count):
        return np.array([self.words.pop(0) for _ in range(count)], dtype=np.uint64)

    def word(self):
        return 0


def proposed(law, slot, position, u, stride=0):
    """Return what comes of one proposal, as a list of none or one: a slot, a place there, and 64 bits of U."""
    tail = bool(law.side[slot])
    first = slot | (0 if tail else position << 13) | (u >> 48) << 48
    later = (u & (2**48 - 1)) << 16
    # A tail's stride is told by the zeros that end a word, its place there by another word.
    coins = [0] * (stride // 64) + [1 << stride % 64]
    return law._accept(1, Script(first, later, *coins, position)).tolist()


def acceptance(law, slot, position, stride=0):
    """Return the integer that is proposed, and for how many of 2**64 values of U it is accepted: by bisection."""
    found = proposed(law, slot, position, 0, stride)
    if not found:
        return None, 0
    low, high = 0, 2**64  # accepted, and not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if proposed(law, slot, position, middle, stride) else (low, middle)
    return found[0], high


@pytest.mark.parametrize("scale", [0.5, 1.3, 3.7])
@pytest.mark.parametrize("power", LAWS)
def test_all_scripts_of_bits_together_make_the_exact_law_tails_included(power, scale):
    """Every slot, place and stride, with its probability, and what floating point and exact arithmetic make of it.

    The probabilities that come out are rational numbers. They are compared with the law's own, ratio by ratio, to
    within the 2^-64 that U is cut into; far in the tails, where that is no longer small, to within what it allows.
    """
    law = strips(power, scale)
    strides, wide = 12, 2**law.stride_shift
    made = {}  # the probability of each integer, times 2**13 * 2**64
    slots, counts = np.unique(np.stack([law.start, law.side.astype(np.int64)]), axis=1, return_counts=True)
    resolution = {}
    for (start, side), count in zip(slots.T.tolist(), counts.tolist()):
        slot = int(np.flatnonzero((law.start == start) & (law.side == side))[0])
        ways = (
            [(place, 0, Fraction(count, 2**law.shift)) for place in range(2**law.shift)]
            if not side
            else [(p, g, Fraction(count, wide * 2 ** (g + 1))) for g in range(strides) for p in range(wide)]
        )
        for place, stride, probability in ways:
            k, accepted = acceptance(law, slot, place, stride)
            if side:
                right = law.tail_start + stride * wide + place
                assert k in (None, right if side > 0 else ~right)
                k = right if side > 0 else ~right
            else:
                assert k == start + place
            assert k not in made
            made[k], resolution[k] = probability * accepted, probability
    reach = law.tail_start + strides * wide
    assert sorted(made) == list(range(-reach, reach))
    with mpmath.workdps(60):
        one = mpmath.mpf(made[0].numerator) / made[0].denominator
        for k, mass in made.items():
            exact = density(k, power, scale) * one
            off = abs(mpmath.mpf(mass.numerator) / mass.denominator - exact)
            step = mpmath.mpf(resolution[k].numerator) / resolution[k].denominator
            assert off <= step + exact * mpmath.mpf(2) ** -60


@pytest.mark.parametrize("scale", [0.0, -1.0, 2.0**-11, 2.0**41, np.inf, np.nan])
def test_scales_out_of_range_get_a_sentence(scale):
    with pytest.raises(ValueError, match="lattice steps; it must be"):
        strips(1, scale)

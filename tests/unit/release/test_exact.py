from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.release.exact import exp_bracket, falls_under
from tacit.release.generator import generator

fractions = st.fractions(min_value=0, max_value=200, max_denominator=2**80)


def true_exp(energy, precision=2000):
    """Return exp(-energy) as a fraction right to `precision` bits."""
    with mpmath.workprec(precision):
        value = mpmath.exp(-mpmath.mpf(energy.numerator) / energy.denominator)
        return Fraction(int(mpmath.floor(value * mpmath.mpf(2) ** precision)), 2**precision)


class Tape:
    """A source of bits that someone chose."""

    def __init__(self, *words):
        self.words = list(words)

    def word(self):
        return self.words.pop(0)


@settings(deadline=None)
@given(energy=fractions, bits=st.sampled_from([64, 128, 512]))
def test_the_bracket_contains_the_exponential_and_is_narrow(energy, bits):
    low, high = exp_bracket(energy, bits)
    truth = true_exp(energy)
    assert low <= truth + Fraction(1, 2**1999)
    assert truth <= high
    assert high - low < Fraction(1, 2**bits)


@pytest.mark.parametrize("energy", [Fraction(0), Fraction(10**6), Fraction(2**140), Fraction(1, 2**600)])
def test_the_bracket_holds_at_the_ends(energy):
    low, high = exp_bracket(energy, 64)
    assert 0 <= low <= high
    assert high - low < Fraction(1, 2**64)
    assert low <= 1 <= high or energy > 0


@settings(deadline=None)
@given(energy=st.fractions(min_value=0, max_value=20, max_denominator=10**6), depth=st.integers(1, 6))
def test_bits_that_follow_the_truth_are_read_until_they_leave_it(energy, depth):
    """Give U the very bits of exp(-energy), for `depth` words, and then one bit more, or one less."""
    ceiling = Fraction(3, 2)
    digits = int(true_exp(energy) / ceiling * 2 ** (64 * 64))
    follow = [digits >> 64 * (63 - i) & (2**64 - 1) for i in range(64)]
    for last, answer in ((follow[depth] + 1, False), (follow[depth] - 1, True)):
        if not 0 <= last < 2**64:
            continue
        tape = Tape(*follow[1:depth], last, *[2**63] * 64)
        assert falls_under(follow[0], ceiling, energy, tape) is answer
        assert len(tape.words) <= 64  # it did read as far as the bit that matters


def test_a_certain_answer_draws_no_bits():
    assert falls_under(2**62, Fraction(1), Fraction(1), Tape())
    assert not falls_under(2**63, Fraction(1), Fraction(1), Tape())


def test_an_impossible_energy_is_refused_by_any_u_but_zero():
    assert not falls_under(1, Fraction(1), Fraction(10**9), Tape())
    assert not falls_under(0, Fraction(1), Fraction(10**9), Tape(1))


@pytest.mark.parametrize(("energy", "ceiling"), [(Fraction(1, 3), Fraction(1)), (Fraction(5, 2), Fraction(1, 10))])
def test_the_coin_has_its_bias(energy, ceiling):
    gen, flips = generator(11), 20_000
    heads = sum(falls_under(gen.word(), ceiling, energy, gen) for _ in range(flips))
    bias = float(true_exp(energy) / ceiling)
    assert abs(heads - flips * bias) < 4.5 * (flips * bias * (1 - bias)) ** 0.5

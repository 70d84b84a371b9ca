"""Coin flips whose probability is an exponential, decided with certainty.

A floating-point program that asks ``uniform() < exp(-x)`` flips a coin of slightly the wrong bias. Here the uniform
number is a real one, of which as many bits are drawn as the question needs, and the exponential is bracketed ever more
tightly, until the answer is certain. With fair bits the coin is exact.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from tacit.release.generator import SecureGenerator


def falls_under(first_bits: int, ceiling: Fraction, energy: Fraction, gen: SecureGenerator) -> bool:
    """Decide whether U * ceiling < exp(-energy), for U uniform on [0, 1) with 64 bits known already.

    While the bracket of U and the bracket of the exponential overlap, the precision of both is doubled, with fresh
    bits for U. That ends, with probability 1, and almost always at once.

    Parameters
    ----------
    first_bits : int
        The first 64 bits of U: it lies in [first_bits, first_bits + 1) / 2**64.
    ceiling : Fraction
        Positive.
    energy : Fraction
        Zero or positive.
    gen : SecureGenerator
        The source of further bits.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from tacit.release.exact import falls_under
    >>> from tacit.release.generator import generator
    >>> falls_under(2**63, Fraction(1), Fraction(2, 3), generator(0))  # 0.5 < exp(-2/3) = 0.513...
    True
    """
    u, known = first_bits, 64
    while True:
        low, high = exp_bracket(energy, known)
        if (u + 1) * ceiling <= low * 2**known:
            return True
        if u * ceiling >= high * 2**known:
            return False
        for _ in range(known // 64):
            u = u << 64 | gen.word()
        known *= 2


def exp_bracket(energy: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Return rational numbers low <= exp(-energy) <= high, at most 2**-bits apart.

    ``Context.exp`` is correctly rounded, so that the next decimals below and above its result enclose the truth.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from tacit.release.exact import exp_bracket
    >>> low, high = exp_bracket(Fraction(1), 64)
    >>> float(low), high > low, high - low < Fraction(1, 2**64)
    (0.36787944117144233, True, True)
    """
    down, up = (Context(bits // 3 + 20, mode, MIN_EMIN, MAX_EMAX) for mode in (ROUND_FLOOR, ROUND_CEILING))
    numerator, denominator = Decimal(energy.numerator), Decimal(energy.denominator)
    # Past an energy of `bits` both ends are nearly zero, and exact ones would have very long denominators.
    high = down.next_plus(down.exp(min(down.divide(numerator, denominator), Decimal(bits)).copy_negate()))
    if energy > bits:
        return Fraction(0), Fraction(high)
    return Fraction(up.next_minus(up.exp(up.divide(numerator, denominator).copy_negate()))), Fraction(high)

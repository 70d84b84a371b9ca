"""Noise relative to a bound that is found in the rows: for answers that one row seldom moves far, and may.

The lattice of :mod:`tacit.release.lattice` needs noise of one public scale. Here the scale depends on rows, so that the
answer itself must not be seen in low-order bits, and neither must the scale. What is released is

    the number f + scale * Z, rounded to the nearest multiple of a public step, cut off at a public range.

Formal guarantee
----------------
Were all of this done on real numbers, rounding and cutting off would be post-processing, and what is released as
private as :mod:`tacit.privacy.smooth_profiles` says. As it is done, what is released differs from that with a
probability of at most 2^-90 for each number; ``MISMATCH``, which is larger, is charged to delta. The proof couples Z as
drawn with a real Z that has the same 448 random bits in each of its uniform numbers, and random ones behind them.

1. f is a fraction, exact. The bound and what it is divided by are floats, taken as they are: the proofs of a statistic
   are for the bound *as computed*. From there on arithmetic is decimal, with 140 digits, and correctly rounded.
2. *Exponential*, -ln U. But for a chance of 2^-100, U and 1 - U are over 2^-101, and then it is off by at most 2^-346.
3. *Normal*, by the polar method: V sqrt(-2 ln R / R) for a point (V, W) of the square within the unit circle, R its
   squared length. Whether it is within it is decided differently for real points with a probability under 2^-440. But
   for a chance of 2^-200 neither R nor 1 - R is under 2^-202, and then it is off by at most 2^-330. It is over 20 with
   a probability under 2^-280, so that the exponential of half of it is under 2^15, and off by at most 2^-310.
4. So scale * Z is off by at most scale * 2^-290. Quotient and sum are off by a 2^-460th of themselves; where that
   matters they are within the range, hence, with M for its width or the larger of its ends in absolute value, by at
   most M 2^-450. ``SmoothNoise`` refuses statistics whose scale could be under M 2^-150: that is scale * 2^-300.
5. f + scale * Z has a density of at most 1 / scale. It is rounded differently only if it is within scale * 2^-289 of
   one of the midpoints between multiples of the step, of which the range has at most 2^42: a probability of 2^-246.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.privacy import Gaussian, PlanError, Relation, SmoothGaussian, SmoothLaplace, Step
from tacit.release.generator import SecureGenerator
from tacit.release.lattice import Lattice
from tacit.release.sampling import Deal

# All of these are part of the proof above.
MISMATCH = 2.0**-80  # The sampling error that is charged for each number.
_EXACT = Context(140, ROUND_HALF_EVEN, MIN_EMIN, MAX_EMAX)  # Decimal arithmetic with 140 digits.
_WORDS = 7  # A uniform number has this many words of 64 random bits.
_FINENESS = 40  # The range has from 2^40 to 2^41 steps.
_LEAST = 2.0**-150  # The least scale of noise, as a part of the range.


class SmoothStatistic(ABC):
    """An answer with a smooth bound: how far one row can move it, at this table and at tables near it.

    Formal guarantees a statistic gives
    -----------------------------------
    1. Between tables of as many rows, one of which has another value, no number of the answer moves by more than its
       bound at either table, and no logarithm of a bound changes by more than ``smoothness``. Where all bounds are one,
       as they must be for Gaussian noise, it is the answer's length that moves by at most that.
    2. Bounds are finite, and never under ``least(smoothness)``, which is public.
    3. Both hold for the numbers as computed, for *every* block of float64, and for every order of the rows: the answer
       and the bounds are functions of the multiset of rows, or of those of the groups that rows are dealt out into.

    Rows are dealt out into ``groups`` by secret bits that depend on no cell. Given the bits, one row is in one group.
    What holds for every way to deal holds for their mixture, because the divergences that privacy is measured by are
    jointly convex.
    """

    low: Array
    high: Array

    @property
    def size(self) -> int:
        """How many numbers the answer has."""
        return len(self.low)

    def groups(self, smoothness: float) -> int:
        """Return how many groups rows are dealt out into."""
        return 1

    @abstractmethod
    def least(self, smoothness: float) -> float:
        """Return a public number that no bound is smaller than."""

    @abstractmethod
    def answer(
        self, blocks: Iterable[tuple[Array, NDArray[np.int64]]], smoothness: float
    ) -> tuple[Sequence[Fraction], Array]:
        """Return the numbers, each within ``low`` and ``high``, and their bounds.

        Blocks come as rows and the numbers of the groups that they are dealt to.
        """


@dataclass(frozen=True)
class SmoothNoise:
    """The noise of a step, for a statistic: made by :meth:`of`, from public numbers alone."""

    kind: type[Step]
    smoothness: float
    shift: float
    spread: float
    least: float
    steps: tuple[float, ...]

    @classmethod
    def of(cls, step: Step, statistic: SmoothStatistic, neighbors: Relation, local: bool) -> SmoothNoise:
        """Return the noise, or refuse what has no guarantee."""
        if neighbors != "replace_one" or not local:
            raise PlanError(
                f"Step {step.name!r} needs all rows in one place and a public number of them; use "
                'neighbors="replace_one", and rows that are in memory or in a file and not on a cluster.'
            )
        if type(step) not in (Gaussian, SmoothLaplace, SmoothGaussian):
            raise PlanError(f"Step {step.name!r} is a {step.kind} step, and this answer is of all rows.")
        if isinstance(step, (SmoothLaplace, SmoothGaussian)):
            smoothness, shift = step.smoothness, step.shift
        else:  # There is one bound for all tables.
            smoothness, shift = 0.0, 1 / step.noise_multiplier
        widths = statistic.high - statistic.low
        least = statistic.least(smoothness)
        largest = max(float(widths.max()), float(np.abs(statistic.low).max()), float(np.abs(statistic.high).max()))
        if not (math.isfinite(largest) and widths.min() > 0 and least / shift >= _LEAST * largest):
            raise PlanError(
                f"Step {step.name!r} has too few rows for its budget, or a range without width; use more rows, a "
                "larger epsilon, or a wider range."
            )
        steps = tuple(math.ldexp(1.0, math.frexp(width)[1] - 1 - _FINENESS) for width in widths.tolist())
        spread = step.spread if isinstance(step, SmoothLaplace) else 0.0
        return cls(type(step), smoothness, shift * (1 - 2.0**-40), spread, least, steps)

    @property
    def scale(self) -> float:
        """The least scale of the noise: it depends on no row."""
        return self.least / self.shift

    @property
    def lattice(self) -> Lattice:
        """The finest of the lattices that numbers are rounded to."""
        return Lattice(min(self.steps))

    def add_to(self, statistic: SmoothStatistic, blocks: Iterable[Array], gen: SecureGenerator) -> Array:
        """Return the statistic's answer with noise, rounded and within its range."""
        deal = Deal.draw(statistic.groups(self.smoothness), gen)
        dealt = ((block, deal((0, number), len(block))) for number, block in enumerate(blocks))
        with np.errstate(all="ignore"):
            values, bounds = statistic.answer(dealt, self.smoothness)
        if len(values) != statistic.size or bounds.shape != (statistic.size,):
            raise PlanError(f"The statistic has {len(values)} numbers where it says {statistic.size}.")
        if self.kind is not SmoothLaplace and (bounds != bounds[0]).any():
            raise PlanError("Gaussian noise is for statistics with one bound for all numbers.")
        released = np.empty(statistic.size)
        for j, (value, bound, step) in enumerate(zip(values, bounds.tolist(), self.steps)):
            centre = _EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))
            noise = _EXACT.divide(_EXACT.multiply(self._draw(gen), Decimal(bound)), Decimal(self.shift))
            place = _EXACT.to_integral_value(_EXACT.divide(_EXACT.add(centre, noise), Decimal(step)))
            least, most = (Fraction(float(end[j])) / Fraction(step) for end in (statistic.low, statistic.high))
            released[j] = float(min(max(int(place), math.ceil(least)), math.floor(most))) * step
        return released

    def _draw(self, gen: SecureGenerator) -> Decimal:
        if self.kind is not SmoothLaplace:
            return normal(gen)
        size = _EXACT.ln(uniform(gen)).copy_negate()
        times = _EXACT.exp(_EXACT.multiply(normal(gen), Decimal(self.spread)))
        return _EXACT.multiply(size, times).copy_sign(Decimal(1 - 2 * (gen.word() & 1)))


def uniform(gen: SecureGenerator) -> Decimal:
    """Return a number uniform on (0, 1), by the middle of the interval of length 2^-448 that it is in."""
    bits = 0
    for _ in range(_WORDS):
        bits = bits << 64 | gen.word()
    return _EXACT.divide(Decimal(2 * bits + 1), Decimal(2 << (64 * _WORDS)))


def normal(gen: SecureGenerator) -> Decimal:
    """Return a standard normal number of some hundred digits, by the polar method.

    Examples
    --------
    >>> from tacit.release.generator import generator
    >>> draws = [float(normal(gen)) for gen in [generator(0)] for _ in range(4000)]
    >>> bool(abs(np.mean(draws)) < 0.05), bool(0.95 < np.std(draws) < 1.05)
    (True, True)
    """
    while True:
        v, w = (_EXACT.subtract(_EXACT.multiply(Decimal(2), uniform(gen)), Decimal(1)) for _ in range(2))
        length = _EXACT.add(_EXACT.multiply(v, v), _EXACT.multiply(w, w))
        if length < 1:
            ratio = _EXACT.divide(_EXACT.multiply(Decimal(-2), _EXACT.ln(length)), length)
            return _EXACT.multiply(v, _EXACT.sqrt(ratio))

"""Exact and fast sampling of the integers with probabilities proportional to exp(-energy(k)).

Here energy(k) = (|k| / scale)^p / p: p = 1 is the discrete Laplace law, p = 2 the discrete Gaussian. The scale is a
float64, taken as the rational number it is, so the energy of an integer is rational.

The envelope
    The integers near zero are cut into strips of one width, a power of two. A strip is proposed by looking up 13 random
    bits in a table, of whose 8192 slots it holds `height`, and a point in it by further random bits. A proposed k is
    accepted if U * ceiling < exp(-energy(k)), with U uniform on [0, 1) and ceiling = constant * height. Each point of a
    strip is proposed with probability height / (8192 width), and so accepted with probability proportional to
    exp(-energy(k)): the law itself, *provided* that the ceiling is nowhere under exp(-energy). The heights are rounded
    up to see to that.

The tails
    Beyond the last strip, from `tail_start` on, each side is cut into strides longer than the scale. The g-th stride is
    proposed with probability 2^-(g+1), by fair coins, and has a ceiling lower by that factor. Energy is convex and
    grows by at least 1 > ln 2 in the first stride, so exp(-energy) more than halves from each stride to the next, and
    stays under its ceiling.

Lazy exactness
    U is a real number of which the first bits are known. Mostly 16 bits suffice: U is under the lowest acceptance
    probability anywhere in the strip. Otherwise 64 bits of U are compared with exp(-energy(k)) / ceiling in float64.
    The relative error of that quotient is under 2^-33: the energy's is under 2^-50, where it is below 745 (beyond,
    the exponential is zero, and right to 2^-1000), and np.exp is trusted to 2^-34, a hundred thousand times less than
    it keeps. A draw for which the comparison is within `_DOUBT` = 2^-32 of equality, one in billions, goes to
    :func:`tacit.release.exact.falls_under`, which is certain. Hence the sampling error is zero, and not merely small.

Two limits. int64 ends at 2^63, and a draw would get there with a probability below 2^-(2^21): never. And nothing here
takes constant time: proposals are rejected, a few take a longer way, and who times single draws learns a little of
them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.release.exact import falls_under
from tacit.release.generator import SecureGenerator

# These three change the speed, which benchmarks/noise.py measures, and no guarantee.
_SLOT_BITS = 13  # With up to 35 bits of position and 16 of U, one random word makes one proposal.
_QUICK_BITS = 16  # The number of bits of U that the quick test compares.
_BATCH = 2**14  # This many proposals at a time fit in a processor's cache.
_DOUBT = 2.0**-32  # A comparison that is closer than this, relatively, is decided exactly; see above.

SMALLEST_SCALE, LARGEST_SCALE = 2.0**-10, 2.0**40


@dataclass(frozen=True, eq=False)
class Strips:
    """The envelope of one law, made by :func:`strips`. Arrays are indexed by slot."""

    power: int
    scale: float
    shift: int  # The logarithm, to base 2, of the strips' width.
    start: NDArray[np.int64]  # The first integer of the slot's strip.
    ceiling: Array  # Whole multiples of one constant, exact in float64.
    quick: NDArray[np.uint16]  # If U < quick / 2**16, every point of the strip is accepted.
    side: NDArray[np.int8]  # +1 is for the right tail, -1 for the left one, and 0 for a strip.
    tail_start: int  # The right tail starts here, and the left one at ~tail_start = -tail_start - 1.
    stride_shift: int  # The logarithm, to base 2, of the length of the tails' strides.

    def sample(self, size: int | tuple[int, ...], gen: SecureGenerator) -> NDArray[np.int64]:
        """Draw independent integers."""
        draws = np.empty(size, dtype=np.int64)
        flat, filled = draws.reshape(-1), 0
        while filled < flat.size:
            wanted = flat.size - filled
            batch = self._accept(min(_BATCH, wanted * 9 // 8 + 16), gen)[:wanted]
            flat[filled : filled + batch.size] = batch
            filled += batch.size
        return draws

    def _accept(self, proposals: int, gen: SecureGenerator) -> NDArray[np.int64]:
        """Return the accepted ones of `proposals` draws, in the order proposed: another order would favour some."""
        word = gen.bits(proposals)
        slot = (word & np.uint64(2**_SLOT_BITS - 1)).astype(np.intp)
        position = (word >> np.uint64(_SLOT_BITS)) & np.uint64(2**self.shift - 1)
        draws = self.start[slot] + position.astype(np.int64)
        first_bits = (word >> np.uint64(64 - _QUICK_BITS)).astype(np.uint16)
        accepted = first_bits < self.quick[slot]
        slow = np.flatnonzero(~accepted)
        if slow.size:
            later_bits = gen.bits(slow.size) >> np.uint64(_QUICK_BITS)
            u = first_bits[slow].astype(np.uint64) << np.uint64(64 - _QUICK_BITS) | later_bits
            draws[slow], ceiling = self._with_tails(draws[slow], slot[slow], gen)
            accepted[slow] = self._under_the_law(u, draws[slow], ceiling, gen)
        return draws[accepted]

    def _with_tails(
        self, draws: NDArray[np.int64], slot: NDArray[np.intp], gen: SecureGenerator
    ) -> tuple[NDArray[np.int64], Array]:
        """Place the proposals that fell on a tail's slot, and return every proposal's ceiling."""
        ceiling, side = self.ceiling[slot], self.side[slot]
        tail = np.flatnonzero(side)
        strides = _tosses_before_heads(tail.size, gen)
        position = gen.bits(tail.size) & np.uint64(2**self.stride_shift - 1)
        right = self.tail_start + (strides << self.stride_shift) + position.astype(np.int64)
        draws[tail] = np.where(side[tail] > 0, right, ~right)
        ceiling[tail] = np.ldexp(ceiling[tail], (-1 - strides).astype(np.intc))
        return draws, ceiling

    def _under_the_law(
        self, u: NDArray[np.uint64], draws: NDArray[np.int64], ceiling: Array, gen: SecureGenerator
    ) -> NDArray[np.bool_]:
        """Decide U * ceiling < exp(-energy), for U in [u, u + 1) / 2**64."""
        goal = np.exp(-_energy(draws, self.power, self.scale)) / ceiling * 2.0**64
        number = u.astype(np.float64)
        yes = number + 2 <= goal * (1 - _DOUBT)
        no = number - 2 >= goal * (1 + _DOUBT)
        for i in np.flatnonzero(~(yes | no)):
            energy = (abs(int(draws[i])) / Fraction(self.scale)) ** self.power / self.power
            yes[i] = falls_under(int(u[i]), Fraction(float(ceiling[i])), energy, gen)
        return yes


@lru_cache(maxsize=16)
def strips(power: int, scale: float) -> Strips:
    """Lay out the envelope for energy(k) = (|k| / scale)^power / power, in about 0.4 ms."""
    if not SMALLEST_SCALE <= scale <= LARGEST_SCALE:
        raise ValueError(
            f"The noise's scale is {scale!r} lattice steps; it must be from 2**-10 to 2**40. Change the step."
        )
    scale = float(scale)
    binade = math.frexp(scale)[1]  # So 2**(binade - 1) <= scale < 2**binade.
    shift, stride_shift = max(0, binade - 6), max(0, binade)  # 32 to 64 strips per scale; longer strides
    width = 2**shift
    # The tails start where exp(-energy) is under 2**-8.
    half = int(scale * (8 * math.log(2) * power) ** (1 / power)) // width + 1
    start = np.arange(-half, half, dtype=np.int64) * width
    last = start + (width - 1)
    highest = np.exp(-_energy(np.where(start >= 0, start, last), power, scale))
    lowest = np.exp(-_energy(np.where(start >= 0, last, start), power, scale))
    # The ceiling of a tail is that of its first stride, `spread` times as wide as a strip and proposed half the time.
    spread = 2.0 ** (stride_shift - shift)
    beyond = math.exp(-float(_energy(np.array(half * width), power, scale)))
    needed = np.append(highest, [2 * spread * beyond] * 2) * (1 + _DOUBT)
    # Rounding up takes less than a slot for each. A constant in single precision has exact multiples in double.
    constant = float(np.nextafter(np.float32(needed.sum() / (2**_SLOT_BITS - needed.size - 1)), np.float32(np.inf)))
    height = np.maximum(1, np.ceil(needed / constant)).astype(np.int64)
    height[half] += 2**_SLOT_BITS - height.sum()  # The strip that starts at zero takes the slots left over.
    ceiling = np.float64(constant) * height
    quick = np.append(np.floor(lowest / ceiling[:-2] * (1 - _DOUBT) * 2**_QUICK_BITS), [0, 0]).astype(np.uint16)
    ceiling[-2:] /= spread
    side = np.zeros(height.size, dtype=np.int8)
    side[-2:] = 1, -1
    owner = np.repeat(np.arange(height.size), height)
    return Strips(
        power=power,
        scale=scale,
        shift=shift,
        start=np.append(start, [0, 0])[owner],
        ceiling=ceiling[owner],
        quick=quick[owner],
        side=side[owner],
        tail_start=half * width,
        stride_shift=stride_shift,
    )


def _energy(k: NDArray[np.int64], power: int, scale: float) -> Array:
    ratio = np.abs(k) / scale
    return ratio if power == 1 else 0.5 * ratio * ratio


def _tosses_before_heads(count: int, gen: SecureGenerator) -> NDArray[np.int64]:
    """Return how often a fair coin falls on tails before heads, `count` times: the zeros that end a random word."""
    word = gen.bits(count)
    lowest_bit = word & (~word + np.uint64(1))
    tosses = np.frexp(lowest_bit.astype(np.float64))[1].astype(np.int64) - 1
    all_failed = np.flatnonzero(word == 0)
    if all_failed.size:
        tosses[all_failed] = 64 + _tosses_before_heads(all_failed.size, gen)
    return tosses

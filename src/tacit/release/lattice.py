"""The lattice on which released numbers live.

Adding floating-point noise to a floating-point sum leaks the sum through the low-order bits: which numbers *can* come
out depends on the sum (Mironov, 2012). So sums are first rounded to whole multiples of a step chosen from public
numbers alone; the noise is whole too, and every multiple can come out of every data set. All arithmetic between the
rounding and the release is on int64, and exact.

What this costs is proved in :class:`Lattice`: rounding changes by how much neighbours differ, by a known amount.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.arrays import Array

_FINENESS = 31  # The noise, and one row, have about 2^31 steps: the discretisation error of noise is about 1e-20 then.
_FINEST = 39  # The noise has at most 2^39 steps. Samplers end at twice as many, and rounding adds to the noise.
_LARGEST = 2**62  # Quantised values are cut off here, so that the noise cannot wrap them around.


@dataclass(frozen=True)
class Lattice:
    """The multiples of a power of two.

    Parameters
    ----------
    step : float
        Distance between points; a power of two, so that dividing by it is exact.

    Notes
    -----
    **What rounding costs.** Rows are cut into blocks; each block is summed, the sum is quantised, and the integers are
    added up. Write S for the sum and Q for its quantised value: in each number |step Q - S| <= step / 2. If there are
    at most `blocks` of them, the totals of `size` numbers therefore differ, between neighbours, by the difference of
    the exact totals, plus at most blocks * step in each number: blocks * step * sqrt(size) in l2 norm (`rounding_l2`),
    blocks * step * size in l1 norm (`rounding_l1`). No block is taken to be the same in neighbouring data sets: one row
    that takes another value may move all others, where rows are kept in the order of their values.

    **Two lattices.** The sums of many blocks are rounded to a fine lattice (`for_sums`), and their total is rounded
    once to the coarser one that the noise lives on (`for_noise`), which may be much coarser than one row's
    contribution. That costs one more rounding, as of one block.

    Cutting values off at the end of the range, as projection onto an interval, moves no two values further apart. NaN
    becomes 0: no statistic returns it, and should one do so, a fixed number is better than whatever a cast makes of it.

    **Overflow cannot hurt privacy.** int64 addition wraps around, which is arithmetic modulo 2**64: what is released is
    the true sum plus noise, modulo 2**64, a function of a private value. It would hurt accuracy, and a choice of the
    largest sum, which is no function of sums with noise. So there is room for 2**30 rows, and a curator refuses more.

    Examples
    --------
    >>> from tacit.release.lattice import Lattice
    >>> lattice = Lattice(0.25)
    >>> lattice.quantise([1.0, -0.3, float("nan"), float("inf")]).tolist()
    [4, -1, 0, 4611686018427387904]
    >>> lattice.to_float([4, -1]).tolist()
    [1.0, -0.25]
    """

    step: float

    def __post_init__(self) -> None:
        if not 0 < self.step < math.inf or math.frexp(self.step)[0] != 0.5:
            raise ValueError(f"step is {self.step!r}; it must be a power of two, such as 0.25.")

    @classmethod
    def for_sums(cls, largest: float, rows: int = 2**30) -> Lattice:
        """Return the finest lattice on which sums of `rows` rows fit into 62 bits.

        Parameters
        ----------
        largest : float
            The largest absolute value one row can contribute to one number.
        rows : int
            The most rows there can be.

        Examples
        --------
        >>> from tacit.release.lattice import Lattice
        >>> Lattice.for_sums(1.0, rows=2**20) == Lattice(2.0**-41)
        True
        """
        _check_positive("largest", largest)
        # With 2^(k-1) <= largest < 2^k and rows <= 2^r, a step of 2^(k + r - 62) makes largest * rows / step < 2^62.
        return cls(math.ldexp(1.0, max(_floor_log2(largest) + 1 + (rows - 1).bit_length() - 62, -1074)))

    @classmethod
    def for_noise(cls, noise_scale: float, largest: float) -> Lattice:
        """Return the lattice for noise of a given scale, from public numbers alone.

        The step is about 2**-31 of the noise or of the largest contribution, whichever is smaller. It is coarser than
        that where 2**30 rows could otherwise overflow, but never coarser than the noise. It is never finer than
        ``for_sums(largest)``.

        Parameters
        ----------
        noise_scale : float
            Standard deviation of Gaussian noise, or scale of Laplace noise, in the statistic's units.
        largest : float
            The largest absolute value one row can contribute to one number.

        Examples
        --------
        >>> from tacit.release.lattice import Lattice
        >>> Lattice.for_noise(noise_scale=3.0, largest=1.0) == Lattice(2.0**-31)
        True
        """
        _check_positive("noise_scale", noise_scale)
        _check_positive("largest", largest)
        noise = _floor_log2(noise_scale)
        exponent = max(
            min(noise, _floor_log2(largest)) - _FINENESS,
            noise - _FINEST + 1,
            _floor_log2(largest) - 31,  # This makes largest * 2**30 / step < 2**62.
            -1074,  # 2**-1074 is the smallest float64.
        )
        if exponent > noise:
            raise ValueError(
                f"The noise, {noise_scale:g}, is a billion times smaller than one row's largest contribution, "
                f"{largest:g}, and protects nobody; use a smaller epsilon."
            )
        return cls(math.ldexp(1.0, exponent))

    def coarsen(self, steps: NDArray[np.int64], finer: Lattice) -> NDArray[np.int64]:
        """Return points of a finer lattice, in its steps and under 2**62, as the nearest points of this one.

        Examples
        --------
        >>> from tacit.release.lattice import Lattice
        >>> Lattice(1.0).coarsen(np.array([3, 5, -7]), Lattice(0.25)).tolist()
        [1, 1, -2]
        """
        shift = _floor_log2(self.step) - _floor_log2(finer.step)
        if shift == 0:
            return steps
        if shift > 62:
            return np.zeros_like(steps)
        rounded: NDArray[np.int64] = (steps + (1 << (shift - 1))) >> shift
        return rounded

    def quantise(self, values: ArrayLike) -> NDArray[np.int64]:
        """Return the nearest points, in steps: halves to even, cut off at 2**62 steps, NaN to 0."""
        with np.errstate(all="ignore"):  # Overflow and underflow end up at the right numbers.
            steps = np.rint(np.asarray(values, dtype=np.float64) / self.step)
            steps = np.minimum(np.maximum(steps, -_LARGEST), _LARGEST)
            return np.where(np.isnan(steps), 0.0, steps).astype(np.int64)

    def to_float(self, steps: ArrayLike) -> Array:
        """Return points as numbers; past 2**53 steps the nearest float, a function of the steps and as private."""
        return np.asarray(steps, dtype=np.int64).astype(np.float64) * self.step

    def rounding_l2(self, size: int, blocks: int = 1) -> float:
        """Return what quantising sums of `size` numbers can add to their l2 sensitivity (see the notes)."""
        root = math.sqrt(size)
        if Fraction(root) ** 2 < size:
            root = math.nextafter(root, math.inf)
        return math.nextafter(blocks * self.step * root, math.inf) if root % 1 else blocks * self.step * root

    def rounding_l1(self, size: int, blocks: int = 1) -> float:
        """Return what quantising sums of `size` numbers can add to their l1 sensitivity (see the notes)."""
        return blocks * self.step * size

    def rounding_linf(self, size: int, blocks: int = 1) -> float:
        """Return what quantising sums can add to how far any one of them moves (see the notes)."""
        return blocks * self.step


def _check_positive(name: str, value: float) -> None:
    if not 0 < value < math.inf:
        raise ValueError(f"{name} is {value!r}; it must be a positive, finite number.")


def _floor_log2(value: float) -> int:
    return math.frexp(value)[1] - 1

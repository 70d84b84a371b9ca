"""What may be chosen by rows: the places of a statistic's sums that are largest, and not the sums themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.privacy import Relation
from tacit.release.lattice import Lattice
from tacit.release.statistic import Norm, Statistic

Side = Literal["largest", "either", "middle"]
_MOST = 2**60  # Sums and offsets are cut off at this many steps, so that they and their sum stay within 62 bits.


@dataclass(frozen=True, eq=False)
class Choice:
    """Which of a statistic's sums stand out: asked of :meth:`tacit.release.Curator.choose`.

    Parameters
    ----------
    sums : Statistic
        One sum for each candidate.
    count : int
        How many to choose, one after the other, each of what earlier ones left.
    side : {"largest", "either", "middle"}
        The largest sums; or the largest in absolute value, and then their signs are told too; or those nearest to 0.
    offset : array, optional
        Added to the sums first; public, or private already.
    excluded : sequence of int
        Places that are no candidates; public, or private already.

    Notes
    -----
    Let no sum move by more than D between neighbours: ``sensitivity(neighbors, "linf")``. Cutting off, adding an offset
    and taking absolute values move nothing further. So the utilities of all candidates, sum, minus sum or minus its
    absolute value, change by amounts in [-D, D], which is what a :class:`tacit.privacy.Selection` is accounted for.
    With two sides each place has two candidates, one for each sign, and both are gone when one is chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.statistics import RobustSum
    >>> Choice(RobustSum(np.zeros(3), np.ones(3)), 2, "either").utilities(np.array([5, -7, 1]), Lattice(1.0))
    array([[ 5, -7,  1],
           [-5,  7, -1]])
    """

    sums: Statistic
    count: int
    side: Side = "largest"
    offset: Array | None = None
    excluded: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.count <= self.size - len(self.excluded):
            raise ValueError(
                f"{self.count} cannot be chosen of {self.size} candidates, {len(self.excluded)} of which are excluded."
            )
        if self.offset is not None and (self.offset.shape != (self.size,) or not np.isfinite(self.offset).all()):
            raise ValueError(f"offset must be {self.size} finite number(s), one for each candidate.")

    @property
    def size(self) -> int:
        """How many candidates there are."""
        return self.sums.size

    def block_sum(self, block: Array) -> Array:
        """Return the sums over the rows of a block."""
        return self.sums.block_sum(block)

    def sensitivity(self, neighbors: Relation, norm: Norm = "linf") -> float:
        """Return the sums' bound."""
        return self.sums.sensitivity(neighbors, norm)

    def utilities(self, total: NDArray[np.int64], lattice: Lattice) -> NDArray[np.int64]:
        """Return the utility of each place, (sides, size), from sums in steps of a lattice."""
        total = np.clip(total, -_MOST, _MOST)
        if self.offset is not None:
            total = total + np.clip(lattice.quantise(self.offset), -_MOST, _MOST)
        if self.side == "either":
            return np.stack([total, -total])
        return -np.abs(total)[None] if self.side == "middle" else total[None]

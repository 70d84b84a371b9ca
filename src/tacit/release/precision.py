"""The sensitivity of what is *computed*, not only of what is meant: floating-point summation and rounding are added.

**What floating point adds.** Let t be bounded by B, m = ``BLOCK_ROWS`` the most rows of a block, u = 2^-53. A sum of m
numbers in any order, with or without fused operations, each of which goes through up to 64 more operations (products
with weights, sums of sums), is off by at most k u / (1 - k u) times the sum of their absolute values, where k = m + 64
(Higham, 2002, §3.1 and §4.2). So a computed block sum is off by at most k u / (1 - k u) * m B in norm. Block sums are
rounded to a lattice and added as integers, exactly. (A wide block is summed in strips, to save memory, and their sums
are added before they are rounded: one of the orders in which its rows can be summed.)

Replacing one row may move all others to other places and other blocks: in a folder of files that is partitioned by a
value, in a table that is kept sorted, on a cluster. So between neighbours every block may differ, each by at most twice
that error. A public ceiling on the number of rows, ``MOST_ROWS``, says how many blocks there can be; it costs 0.2% more
noise. That is for the sums: t(row) itself must be computed alike wherever in a block the row stands.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.privacy import Gaussian, Laplace, Plan, PlanError, Relation, Step
from tacit.release.lattice import Lattice
from tacit.release.planning import FINEST_NOISE
from tacit.release.statistic import Norm, Statistic
from tacit.release.strips import LARGEST_SCALE
from tacit.rounding import UNIT_ROUNDOFF

BLOCK_ROWS = 8192  # The most rows of a block, m above.
MOST_ROWS = 2**30  # The most rows of a table; the curator refuses more.
_MOST_BLOCKS = MOST_ROWS // BLOCK_ROWS  # The most blocks of a table.
_MORE_OPERATIONS = 64  # A statistic may apply this many operations to what it sums, beside adding it up.


@dataclass(frozen=True)
class Precision:
    """The lattices of one release, and its sensitivity as computed; made by :meth:`of` and :meth:`exact`.

    Parameters
    ----------
    sums : Lattice
        The lattice that block sums are rounded to.
    noise : Lattice
        The lattice that their total is rounded to; the noise is whole steps of it.
    sensitivity : float
        The sensitivity, with all rounding errors.
    """

    sums: Lattice
    noise: Lattice
    sensitivity: float

    @classmethod
    def of(cls, statistic: Statistic, noise_multiplier: float, neighbors: Relation, norm: Norm) -> Precision:
        """Return the precision of a statistic's sum; for a choice, of norm "linf", that of the sums it is made from."""
        stated, largest = statistic.sensitivity(neighbors, norm), statistic.sensitivity("add_remove", norm)
        off = (BLOCK_ROWS + _MORE_OPERATIONS) * UNIT_ROUNDOFF
        summation = 2 * _MOST_BLOCKS * (off / (1 - off) * BLOCK_ROWS * largest)
        # A choice cuts its sums off at 2^60 steps and adds offsets to them, so that two bits must stay free.
        sums = Lattice.for_sums(largest, MOST_ROWS * (4 if norm == "linf" else 1))
        noise = sums if norm == "linf" else Lattice.for_noise(noise_multiplier * stated, largest)
        rounding = _rounding(sums, statistic.size, norm, _MOST_BLOCKS) + _rounding(noise, statistic.size, norm)
        return cls(sums, noise, math.fsum([stated, summation, rounding]))

    @classmethod
    def exact(cls, sensitivity: float, size: int, noise_multiplier: float) -> Precision:
        """Return the precision of numbers whose errors are already in their l2 sensitivity, rounded once."""
        lattice = Lattice.for_noise(noise_multiplier * sensitivity, sensitivity)
        return cls(lattice, lattice, math.fsum([sensitivity, _rounding(lattice, size, "l2")]))

    def check_noise(self, step: str, scale: float, *, exact: bool) -> None:
        """Refuse noise that cannot be drawn, or is so little that its distance from the law accounted for is too large.

        `exact` is for noise whose discrete law is accounted for as it is.
        """
        if not exact and scale < FINEST_NOISE * self.noise.step:
            raise PlanError(f"Step {step!r} has next to no noise; use a smaller epsilon.")
        if scale > LARGEST_SCALE * self.noise.step:
            raise PlanError(f"Step {step!r} has more noise than can be drawn; use a larger epsilon, or fewer steps.")


@dataclass(frozen=True)
class _Unit:
    """A statistic of which one row's contribution has length 1, in every norm and under both relations."""

    size: int

    def block_sum(self, block: Array) -> Array:
        return np.zeros(self.size)

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        return 1.0


def check_drawable(plan: Plan) -> None:
    """Refuse, before anything is charged, a plan with noise that no release could have.

    Whether noise can be drawn depends on its size beside one row's contribution, which the plan says, up to the ratio
    of the sensitivities under the two relations. That is 1 or more for every statistic here.
    """
    for step in plan.steps:
        if isinstance(step.mechanism, (Gaussian, Laplace)):
            norm: Norm = "l1" if isinstance(step.mechanism, Laplace) else "l2"
            try:
                precision = Precision.of(_Unit(step.size), step.noise_multiplier, plan.neighbors, norm)
            except ValueError as error:
                raise PlanError(f"Step {step.name!r} has next to no noise; use a smaller epsilon.") from error
            scale = step.noise_multiplier * precision.sensitivity
            precision.check_noise(step.name, scale, exact=is_exact(step, plan))


def is_exact(step: Step, plan: Plan) -> bool:
    """Whether the discrete law of the step's noise is accounted for as it is: Laplace noise of a pure plan."""
    return isinstance(step.mechanism, Laplace) and plan.sampling_error == 0


def _rounding(lattice: Lattice, size: int, norm: Norm, blocks: int = 1) -> float:
    return {"l1": lattice.rounding_l1, "l2": lattice.rounding_l2, "linf": lattice.rounding_linf}[norm](size, blocks)

"""The one door to the data.

Formal guarantees
-----------------
1. Nothing computed from rows leaves a curator except through :meth:`Curator.release`, as a noisy sum on a lattice or a
   noisy answer rounded to one (:mod:`tacit.release.smooth`); :meth:`Curator.choose`, as places chosen by the
   exponential mechanism from sums on a lattice; and :meth:`Curator.minimise`, as a minimum found from such sums,
   rounded to a lattice, with noise for how far one row can move it (:mod:`tacit.release.minimum`).
2. Only what the plan names can be released, at most as often as the plan says, with the plan's noise: also when several
   threads ask at the same time. Where the plan says that rows are split, each release, or all choices made together, is
   of the next share of them; where it says that they are sampled, of rows drawn afresh, each by itself, and which these
   are is never told.
3. The whole plan is charged to the ledger, durably, before the first release; a charge is never undone.
4. The noise is sized for the sensitivity *of what is computed*, not only of what is meant: floating-point summation and
   rounding to the lattice are added to the statistic's own bound.

What floating point adds (guarantee 4). Let t be bounded by B, m = ``BLOCK_ROWS`` the most rows of a block, u = 2^-53.
A sum of m numbers in any order, with or without fused operations, each of which goes through up to 64 more operations
(products with weights, sums of sums), is off by at most k u / (1 - k u) times the sum of their absolute values, where
k = m + 64 (Higham, 2002, §3.1 and §4.2). So a computed block sum is off by at most k u / (1 - k u) * m B in norm. Block
sums are rounded to the lattice and added as integers, exactly. (A wide block is summed in strips, to save memory, and
their sums are added before they are rounded: one of the orders in which its rows can be summed.)

- replace_one: blocks are cut by position, so one block differs between neighbours, by at most twice that error.
- add_remove, and replace_one where an engine moves rows about: every row behind the one that comes or goes moves up, so
  all blocks may differ. Up to ``MOST_ROWS`` rows
  they are MOST_ROWS / m blocks. The number of rows being secret, this public ceiling stands in for it, at a cost of
  0.2% more noise. That is for the sums: t(row) itself must be computed alike wherever in a block the row stands.

Whether numpy warns of an overflow, or raises where it has been told to, depends on rows. Here it does neither.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.privacy import (
    Account,
    Budget,
    Certificate,
    Gaussian,
    Laplace,
    Mechanism,
    Plan,
    PlanError,
    ReleaseRecord,
    Sampled,
    Selection,
    Smooth,
    SmoothGaussian,
    SmoothLaplace,
    Split,
    Step,
    TiltedGaussian,
)
from tacit.release.choice import Choice
from tacit.release.generator import RandomState, generator
from tacit.release.lattice import Lattice
from tacit.release.mechanisms import choose
from tacit.release.minimum import Minimum, Search
from tacit.release.noise import discrete_gaussian, discrete_laplace
from tacit.release.planning import FINEST_NOISE
from tacit.release.rows import Rows
from tacit.release.sampling import PoissonSample
from tacit.release.smooth import SmoothNoise, SmoothStatistic
from tacit.release.statistic import Norm, Statistic
from tacit.release.strips import LARGEST_SCALE

BLOCK_ROWS = 8192
MOST_ROWS = 2**30
_MORE_OPERATIONS = 64  # that a statistic may apply to what it sums, beside adding it up
_UNIT_ROUNDOFF = 2.0**-53
_UP = 1 + 2.0**-48  # so that rounding does not make a choice's scale smaller
_MECHANISMS: dict[type[Mechanism], str] = {
    Laplace: "discrete Laplace",
    Selection: "exponential mechanism",
    Gaussian: "discrete Gaussian",
    SmoothLaplace: "Laplace log-normal, by rows",
    SmoothGaussian: "Gaussian, by rows",
    TiltedGaussian: "discrete Gaussian tilt",
}
_Out = TypeVar("_Out")
Asked = Statistic | SmoothStatistic | Minimum


class Curator:
    """Releases noisy sums of bounded statistics, as planned and paid for.

    Parameters
    ----------
    rows : Source
        Where the rows live. Blocks must be float64 matrices (rows, columns).
    plan : Plan
        Calibrated; see :func:`planned`.
    ledger : Account, optional
        What the plan is charged to before the first release.
    random_state : None or int
        None draws private noise; a seed makes it reproducible and *not private*, and the certificate says so.
    purpose : str
        What the ledger's entry says the charge was for.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.privacy import Budget, Gaussian
    >>> from tacit.release import planned
    >>> from tacit.sources import as_source
    >>> from tacit.statistics import ComponentMoments, Components
    >>> one = Components(np.ones(1), np.zeros((1, 2)), np.eye(2)[None])
    >>> moments = ComponentMoments(one, radius=2.0, second=0.0)
    >>> plan = planned([Gaussian("moments", 1.0, size=moments.size)], Budget(1.0, 1e-6))
    >>> curator = Curator(as_source(np.full((100_000, 2), 0.5)), plan, random_state=0)
    >>> counts, sums, _ = moments.parts(curator.release("moments", moments))
    >>> bool(abs(sums / counts - 0.5).max() < 0.01)
    True
    >>> curator.release("moments", moments)
    Traceback (most recent call last):
        ...
    tacit.privacy.errors.PlanError: The plan has no further release named 'moments'...
    """

    def __init__(
        self,
        rows: Rows,
        plan: Plan,
        *,
        ledger: Account | None = None,
        random_state: RandomState = None,
        purpose: str = "",
    ) -> None:
        self._rows = rows
        self._ledger = ledger
        self._generator = generator(random_state)
        self._purpose = purpose
        self._charged = False
        self._lock = Lock()  # of the noise, what is left of the plan, whether it was charged, and what was done
        self._left = Counter({step.name: step.releases for step in plan.steps})
        self._steps = {step.name: step for step in plan.steps}
        if len(self._steps) != len(plan.steps):
            raise PlanError("Two steps of the plan have the same name; give each its own, or one step a count.")
        if (plan.neighbors == "add_remove" or not rows.by_position) and any(isinstance(s, Split) for s in plan.steps):
            raise PlanError(
                "The plan deals out rows by their places, and under add_remove or on a cluster these may change. Use "
                "a method that sees all rows in each release, or pass the rows as a file or in memory."
            )
        self._records: dict[str, ReleaseRecord] = {}
        self.plan = plan

    def release(self, name: str, statistic: Statistic | SmoothStatistic) -> NDArray[np.float64]:
        """Return the statistic's sum over all rows, or its answer, plus the planned noise.

        Parameters
        ----------
        name : str
            The plan's step. Its noise is Gaussian (for the l2 sensitivity) or Laplace (for the l1 sensitivity).
        statistic : Statistic
            What to sum; see :mod:`tacit.release.statistic`. Or what to answer; see :mod:`tacit.release.smooth`.
        """
        if isinstance(statistic, SmoothStatistic):
            return self._release_answer(name, statistic)
        step, before = self._take(name, statistic, Gaussian, Laplace, sampled=True)
        sensitivity, lattice = self._sensitivity(step, statistic)
        noise_scale = self._scale(step, sensitivity)
        draw = discrete_laplace if isinstance(step.mechanism, Laplace) else discrete_gaussian
        total = self._sum(step, before, statistic, lattice)
        with self._lock:  # noise drawn by two threads at a time might be the same noise, and cancel out
            noise = draw(noise_scale / lattice.step, statistic.size, self._generator)
        self._record(step, sensitivity, noise_scale, lattice)
        return lattice.to_float(total + noise)

    def _release_answer(self, name: str, statistic: SmoothStatistic) -> NDArray[np.float64]:
        step, _ = self._take(name, statistic, Smooth, Gaussian)
        noise = SmoothNoise.of(step, statistic, self.plan.neighbors, self._rows.by_position)
        self._charge()
        with self._lock:
            self._rows = self._rows.held()
            released = noise.added(statistic, self._rows.blocks(), self._generator)
        self._record(step, noise.least, noise.scale, noise.lattice)
        return released

    def choose(self, name: str, choice: Choice) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the places that are chosen, first choice first, and the signs of their sums.

        Each is chosen by the exponential mechanism of what earlier ones left; see
        :func:`tacit.release.mechanisms.select`. Signs are told where either side may be chosen, and are 1 elsewhere.

        Parameters
        ----------
        name : str
            The plan's step, a ``Selection``: ``choice.count`` of its choices are made. Of a ``Split``, all choices of
            the next share of the rows.
        choice : Choice
            What to choose from.
        """
        step, before = self._take(name, choice, Selection, releases=choice.count)
        sensitivity, lattice = self._sensitivity(step, choice)
        scale = self._scale(step, sensitivity)
        utilities = choice.utilities(self._sum(step, before, choice, lattice), lattice)
        with self._lock:
            chosen = choose(utilities, scale / lattice.step, self._generator, choice.count, choice.excluded)
        self._record(step, sensitivity, scale, lattice, choice.count)
        sides, places = np.array(chosen, dtype=np.int64).T
        return places, 1 - 2 * sides

    def minimise(self, name: str, minimum: Minimum) -> NDArray[np.float64]:
        """Return the parameters at a minimum, with the planned noise.

        Parameters
        ----------
        name : str
            The plan's step, Gaussian: of the minimum itself, or of how far a tilted one, as computed, is off.
        minimum : Minimum
            What to minimise. If it is tilted, that is a step of the plan too.
        """
        step, before = self._take(name, minimum, Gaussian)
        tilted = None if minimum.tilt is None else self._take(minimum.tilt, minimum, TiltedGaussian)[0]
        search = self._search(minimum)
        sensitivity, lattice = self._lattice(step, search.sensitivity, search.sensitivity, 1, minimum.size, 0.0)
        scale, tilt = self._scale(step, sensitivity), np.zeros(minimum.size)
        if tilted is not None:
            grid = Lattice(search.tilt_step)
            with self._lock:
                tilt = grid.to_float(discrete_gaussian(search.tilt_scale / grid.step, minimum.size, self._generator))
        sums = search.lattice
        found = search.found(lambda statistic: sums.to_float(self._sum(step, before, statistic, sums)), tilt)
        with self._lock:
            noise = discrete_gaussian(scale / lattice.step, minimum.size, self._generator)
        if tilted is not None:
            self._record(tilted, search.change, search.tilt_scale, grid)
        self._record(step, sensitivity, scale, lattice)
        return search.parameters(lattice.to_float(lattice.quantise(found) + noise))

    def _search(self, minimum: Minimum) -> Search:
        tilted = None if minimum.tilt is None else self._steps[minimum.tilt]
        if tilted is not None and not isinstance(tilted, TiltedGaussian):
            raise PlanError(f"Step {minimum.tilt!r} is no tilted_gaussian step, and a tilt needs one.")
        return minimum.search(self.plan.neighbors, tilted, BLOCK_ROWS, MOST_ROWS // BLOCK_ROWS)

    def _sum(self, step: Step, before: int, statistic: Statistic, lattice: Lattice) -> NDArray[np.int64]:
        """Charge the plan if that is still to be done, and return the statistic's sum in steps of the lattice."""
        self._charge()
        with self._lock:  # two threads need not both work it out
            self._rows = self._rows.held()
        rows = self._rows
        if isinstance(step, Split):
            share = before // step.count if isinstance(step.mechanism, Selection) else before
            rows = rows.part(share % step.parts, step.parts)
        if isinstance(step, Sampled):
            rows = rows.sampled(self._sample(step.rate))
        total = rows.sum(_quietly(statistic.block_sum), finish=lattice.quantise)
        if total.shape != (statistic.size,):
            # One draw of noise for several numbers would cancel out of their differences; several for one, average out.
            raise PlanError(
                f"The statistic of step {step.name!r} has {total.size} numbers where it says {statistic.size}."
            )
        return total

    def _sample(self, rate: float) -> PoissonSample:
        """Return a fresh sample, with a secret of its own."""
        with self._lock:
            return PoissonSample.drawn(rate, self._generator)

    def pass_rows_through(self, function: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> None:
        """Have every row pass through `function`, row by row, before any statistic from now on.

        The function's parameters must be public or already private. Statistics are bounded for every row, so what it
        does to rows cannot change a sensitivity.
        """
        self._rows = self._rows.map(_quietly(function))

    def noise(self, name: str, statistic: Statistic | SmoothStatistic | Minimum) -> float:
        """Return the (least) scale of noise that ``release(name, statistic)`` adds to a number, from public numbers."""
        step = self._steps[name]
        if isinstance(statistic, SmoothStatistic):
            return SmoothNoise.of(step, statistic, self.plan.neighbors, self._rows.by_position).scale
        if isinstance(statistic, Minimum):
            return self._scale(step, self._search(statistic).sensitivity)
        return self._scale(step, self._sensitivity(step, statistic)[0])

    def certificate(
        self, budget: Budget, *, rows: int | None = None, bounds: str = "", notes: Sequence[str] = ()
    ) -> Certificate:
        """Return what was planned, what was released, and what that guarantees."""
        return Certificate(
            plan=self.plan,
            budget=budget,
            releases=tuple(self._records[step.name] for step in self.plan.steps if step.name in self._records),
            seeded=self._generator.seeded,
            rows=rows if self.plan.neighbors == "replace_one" else None,
            bounds=bounds,
            notes=tuple(notes),
        )

    def _take(
        self, name: str, statistic: Asked, *kinds: type[Mechanism], releases: int = 1, sampled: bool = False
    ) -> tuple[Step, int]:
        """Return the step, some releases of which are used up, and how many were used up before."""
        step = self._steps.get(name)
        if step is None:
            raise self._unplanned(name)
        if not isinstance(step.mechanism, kinds) or (isinstance(step, Sampled) and not sampled):
            raise PlanError(
                f"Step {name!r} is a {step.kind} step: release makes Gaussian and Laplace steps alone, choose "
                "selections, and minimise Gaussian and tilted ones."
            )
        if statistic.size > step.size:
            raise PlanError(
                f"Step {name!r} is planned for {step.size} numbers, and the statistic has {statistic.size}; plan for "
                "as many as are released."
            )
        if isinstance(step, Split) and isinstance(step.mechanism, Selection) and releases != step.count:
            raise PlanError(f"Step {name!r} has {step.count} choices of each share, and {releases} are asked for.")
        with self._lock:  # two threads must not both see the last one left
            if self._left[name] < releases:
                raise self._unplanned(name)
            self._left[name] -= releases
            left = self._left[name]
        return step, step.releases - releases - left

    def _unplanned(self, name: str) -> PlanError:
        return PlanError(
            f"The plan has no further release named {name!r}; it has {dict(self._left)} left. What is to be released "
            "must be in the plan before the first row is read."
        )

    def _charge(self) -> None:
        with self._lock:  # whoever comes second waits until the charge is durable, and makes none
            if not self._charged and self._ledger is not None:
                self._ledger.charge(self.plan, self._purpose, seeded=self._generator.seeded)
            self._charged = True

    def _sensitivity(self, step: Step, statistic: Statistic) -> tuple[float, Lattice]:
        """Return the sensitivity of the sum as computed, and the lattice it is computed on."""
        mechanism = step.mechanism
        norm: Norm = "l1" if isinstance(mechanism, Laplace) else "linf" if isinstance(mechanism, Selection) else "l2"
        # A row that is not in a sample adds nothing: noise is sized for what a row adds, under both relations.
        neighbors = "add_remove" if isinstance(step, Sampled) else self.plan.neighbors
        stated = statistic.sensitivity(neighbors, norm)
        largest = statistic.sensitivity("add_remove", norm)
        blocks = 1 if neighbors == "replace_one" and self._rows.by_position else MOST_ROWS // BLOCK_ROWS
        off = (BLOCK_ROWS + _MORE_OPERATIONS) * _UNIT_ROUNDOFF
        error = 2 * blocks * (off / (1 - off) * BLOCK_ROWS * largest)
        return self._lattice(step, stated, largest, blocks, statistic.size, error, norm)

    @staticmethod
    def _lattice(
        step: Step, stated: float, largest: float, blocks: int, size: int, error: float, norm: Norm = "l2"
    ) -> tuple[float, Lattice]:
        """Return the sensitivity with errors of summation and rounding, and the lattice that is rounded to."""
        lattice = Lattice.for_noise(step.noise_multiplier * stated, largest, blocks)
        if norm != "linf" and step.noise_multiplier * stated < FINEST_NOISE * lattice.step:
            raise PlanError(f"Step {step.name!r} has next to no noise; use a smaller epsilon.")
        rounding = {"l1": lattice.rounding_l1, "l2": lattice.rounding_l2, "linf": lattice.rounding_linf}[norm]
        sensitivity = math.fsum([stated, error, rounding(size, blocks)])
        if norm != "linf" and step.noise_multiplier * sensitivity > LARGEST_SCALE * lattice.step:
            # Found out here, and not when the noise is drawn, because by then the plan has been charged.
            raise PlanError(
                f"Step {step.name!r} has more noise than can be drawn; use a larger epsilon, or fewer steps."
            )
        return sensitivity, lattice

    @staticmethod
    def _scale(step: Step, sensitivity: float) -> float:
        """Return the scale of the noise; of a choice, that of the Gumbel noise which it amounts to."""
        scale = step.noise_multiplier * sensitivity
        return 2 * scale * _UP if isinstance(step.mechanism, Selection) else scale

    def _record(self, step: Step, sensitivity: float, noise_scale: float, lattice: Lattice, releases: int = 1) -> None:
        with self._lock:
            done = self._records.get(step.name)
            self._records[step.name] = ReleaseRecord(
                name=step.name,
                mechanism=next(words for kind, words in _MECHANISMS.items() if isinstance(step.mechanism, kind)),
                size=step.size,
                count=releases if done is None else done.count + releases,
                sensitivity=sensitivity,
                noise_scale=noise_scale,
                lattice_step=None if isinstance(step.mechanism, Selection) else lattice.step,
            )


def _quietly(function: Callable[[NDArray[np.float64]], _Out]) -> Callable[[NDArray[np.float64]], _Out]:
    """Return the function without numpy's warnings; set inside it, because it runs on other threads."""

    def quiet(block: NDArray[np.float64]) -> _Out:
        with np.errstate(all="ignore"):
            return function(block)

    return quiet

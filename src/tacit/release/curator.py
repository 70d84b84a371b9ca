"""The one door to the data.

Formal guarantees
-----------------
1. Nothing computed from rows leaves a curator except through :meth:`Curator.release`, as a noisy sum on a lattice or a
   noisy answer rounded to one (:mod:`tacit.release.smooth`); :meth:`Curator.choose`, as places chosen by the
   exponential mechanism from sums on a lattice; and :meth:`Curator.minimise`, as a minimum found from such sums,
   rounded to a lattice, with noise for how far one row can move it (:mod:`tacit.release.minimum`).
2. Only what the plan names can be released, at most as often as the plan says, with the plan's noise: also when several
   threads ask at the same time. Where the plan says that rows are split, each release, or all choices made together, is
   of the next share of them; where it says that they are sampled, of rows drawn afresh. Which rows these are is never
   told.
3. The whole plan is charged to the ledger, durably, before the first release; a charge is never undone.
4. The noise is sized for the sensitivity *of what is computed*, not only of what is meant: floating-point summation and
   rounding to the lattice are added to the statistic's own bound (:mod:`tacit.release.precision`).
5. The law of a release depends on the multiset of rows alone, not on their order, place, block, file or worker. Rows
   are dealt out and sampled by secret bits (:mod:`tacit.release.sampling`).
6. A curator belongs to the process that made it. A fork would repeat its noise and its plan, and refuses.

Whether numpy warns of an overflow, or raises where it has been told to, depends on rows. Here it does neither. What a
statistic keeps of the rows that it has seen (in a cache, say) depends on them too: rows meet a copy of it, which never
leaves.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.kernels import check_kernels
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
from tacit.release.precision import BLOCK_ROWS, MOST_ROWS, Precision, check_drawable, is_exact
from tacit.release.row_maps import RowMap
from tacit.release.rows import Rows, quietly
from tacit.release.sampling import Deal, PoissonSample
from tacit.release.smooth import SmoothNoise, SmoothStatistic
from tacit.release.statistic import Measurement, Norm, Statistic
from tacit.rounding import SCALE_SLACK

_TOO_MANY = f"There are more rows than {MOST_ROWS:,}, which is all that sums have room for."
_MECHANISMS: dict[type[Mechanism], str] = {
    Laplace: "discrete Laplace",
    Selection: "exponential mechanism",
    Gaussian: "discrete Gaussian",
    SmoothLaplace: "Laplace log-normal, by rows",
    SmoothGaussian: "Gaussian, by rows",
    TiltedGaussian: "discrete Gaussian tilt",
}
Asked = Statistic | SmoothStatistic | Minimum


class Curator:
    """Releases noisy sums of bounded statistics, as planned and paid for.

    Parameters
    ----------
    rows : Source
        The source of the rows. Blocks must be float64 matrices (rows, columns).
    plan : Plan
        Calibrated; see :func:`calibrated_plan`.
    ledger : Account, optional
        The account that the plan is charged to before the first release.
    random_state : None or int
        None draws private noise; a seed makes it reproducible and *not private*, and the certificate says so.
    purpose : str
        What the ledger's entry says the charge was for.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.privacy import Budget, Gaussian
    >>> from tacit.release import calibrated_plan
    >>> from tacit.sources import as_source
    >>> from tacit.statistics import ComponentMoments, Components
    >>> one = Components(np.ones(1), np.zeros((1, 2)), np.eye(2)[None])
    >>> moments = ComponentMoments(one, radius=2.0, second=0.0)
    >>> plan = calibrated_plan([Gaussian("moments", 1.0, size=moments.size)], Budget(1.0, 1e-6))
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
        self._lock = Lock()  # It guards the generator, the releases left, the charge and the records.
        self._left = Counter({step.name: step.releases for step in plan.steps})
        self._steps = {step.name: step for step in plan.steps}
        if len(self._steps) != len(plan.steps):
            raise PlanError("Two steps of the plan have the same name; give each its own, or one step a count.")
        check_drawable(plan)
        check_kernels()
        self._process = os.getpid()
        self._maps = 0  # The number of maps that rows pass through.
        self._deals: dict[tuple[int, int], Deal] = {}  # Keys are (maps, shares).
        self._dealt_in: dict[str, int] = {}  # The number of maps when a step dealt out rows.
        self._records: dict[str, ReleaseRecord] = {}
        self.plan = plan

    def release(self, name: str, statistic: Statistic | SmoothStatistic) -> Array:
        """Return the value of ``measure`` alone."""
        return self.measure(name, statistic).value

    def measure(self, name: str, statistic: Statistic | SmoothStatistic) -> Measurement:
        """Return the statistic's sum over all rows, or its answer, plus the planned noise, and the noise's scale.

        Parameters
        ----------
        name : str
            The plan's step. Its noise is Gaussian (for the l2 sensitivity) or Laplace (for the l1 sensitivity).
        statistic : Statistic
            What to sum; see :mod:`tacit.release.statistic`. Or what to answer; see :mod:`tacit.release.smooth`.
        """
        if isinstance(statistic, SmoothStatistic):
            return self._answer(name, statistic)
        step, before = self._take(name, statistic, Gaussian, Laplace, sampled=True)
        precision, scale = self._precision(step, statistic)
        draw = discrete_laplace if isinstance(step.mechanism, Laplace) else discrete_gaussian
        total = precision.noise.coarsen(self._sum(step, before, statistic, precision.sums), precision.sums)
        with self._lock:  # Two threads at a time might draw the same noise, which cancels out.
            noise = draw(scale / precision.noise.step, statistic.size, self._generator)
        self._record(step, precision.sensitivity, scale, precision.noise)
        return Measurement(precision.noise.to_float(total + noise), scale)

    def _answer(self, name: str, statistic: SmoothStatistic) -> Measurement:
        step, _ = self._take(name, statistic, Smooth, Gaussian)
        noise = SmoothNoise.of(step, statistic, self.plan.neighbors, self._rows.local)
        self._charge()
        with self._lock:
            self._rows = self._rows.hold()
            released = noise.add_to(deepcopy(statistic), self._rows.blocks(), self._generator)
        self._record(step, noise.least, noise.scale, noise.lattice)
        return Measurement(released, noise.scale)

    def choose(self, name: str, choice: Choice) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the places that are chosen, first choice first, and the signs of their sums.

        Each is chosen by the exponential mechanism of what earlier ones left; see
        :func:`tacit.release.mechanisms.select`. Signs are told where either side may be chosen, and are 1 elsewhere.

        Parameters
        ----------
        name : str
            The plan's step, a ``Selection``: ``choice.count`` of its choices are made. If it is in a ``Split``, these
            must be all choices of the next share of the rows.
        choice : Choice
            What to choose from.
        """
        step, before = self._take(name, choice, Selection, releases=choice.count)
        precision, scale = self._precision(step, choice)
        lattice = precision.sums
        utilities = choice.utilities(self._sum(step, before, choice, lattice), lattice)
        with self._lock:
            chosen = choose(utilities, scale / lattice.step, self._generator, choice.count, choice.excluded)
        self._record(step, precision.sensitivity, scale, lattice, choice.count)
        sides, places = np.array(chosen, dtype=np.int64).T
        return places, 1 - 2 * sides

    def minimise(self, name: str, minimum: Minimum) -> Array:
        """Return the parameters at a minimum, with the planned noise.

        Parameters
        ----------
        name : str
            The plan's Gaussian step. Its noise is for the minimum, or, with a tilt, for the error of the computed one.
        minimum : Minimum
            What to minimise. If it is tilted, that is a step of the plan too.
        """
        step, before = self._take(name, minimum, Gaussian)
        tilted = None if minimum.tilt is None else self._take(minimum.tilt, minimum, TiltedGaussian)[0]
        if self.plan.neighbors == "replace_one" and not minimum.most_rows >= self._rows.n_rows:
            raise PlanError("There are more rows than the bounds on this minimum allow for.")
        search = self._search(minimum)
        precision = Precision.exact(search.sensitivity, minimum.size, step.noise_multiplier)
        sensitivity, lattice, sums = precision.sensitivity, precision.noise, search.lattice
        scale, tilt = self._scale(step, sensitivity), np.zeros(minimum.size)
        precision.check_noise(name, scale, exact=False)
        if tilted is not None:
            grid = Lattice(search.tilt_step)
            with self._lock:
                tilt = grid.to_float(discrete_gaussian(search.tilt_scale / grid.step, minimum.size, self._generator))
        at_minimum = search.find(lambda statistic: sums.to_float(self._sum(step, before, statistic, sums)), tilt)
        with self._lock:
            noise = discrete_gaussian(scale / lattice.step, minimum.size, self._generator)
        if tilted is not None:
            self._record(tilted, search.change, search.tilt_scale, grid)
        self._record(step, sensitivity, scale, lattice)
        return search.parameters(lattice.to_float(lattice.quantise(at_minimum) + noise))

    def _search(self, minimum: Minimum) -> Search:
        tilted = None if minimum.tilt is None else self._steps[minimum.tilt]
        if not (tilted is None or isinstance(tilted, TiltedGaussian)):
            raise PlanError(f"Step {minimum.tilt!r} is a {tilted.kind} step, and a tilt needs a tilted_gaussian one.")
        return minimum.search(self.plan.neighbors, tilted, BLOCK_ROWS, MOST_ROWS // BLOCK_ROWS)

    def _sum(self, step: Step, before: int, statistic: Statistic, lattice: Lattice) -> NDArray[np.int64]:
        """Charge the plan if that is still to be done, and return the statistic's sum in steps of the lattice."""
        self._charge()
        with self._lock:  # Two threads need not both compute it.
            self._rows = self._rows.hold()
        rows = self._rows
        if isinstance(step, Split):
            share = before // step.count if isinstance(step.mechanism, Selection) else before
            rows = rows.sample(self._deal(step).share(share % step.parts))
        if isinstance(step, Sampled):
            with self._lock:
                sample = PoissonSample.draw(step.rate, self._generator)
            rows = rows.sample(sample)
        # Blocks are counted with the sums, because nobody may ask for a secret number of rows before.
        total = rows.sum(
            quietly(deepcopy(statistic).block_sum), finish=lambda sums: np.append(np.int64(1), lattice.quantise(sums))
        )
        if total[0] > MOST_ROWS // BLOCK_ROWS:
            raise PlanError(_TOO_MANY)
        total = total[1:]
        if total.shape != (statistic.size,):
            # One draw of noise for several numbers cancels in their differences, and several for one average out.
            raise PlanError(
                f"The statistic of step {step.name!r} has {total.size} numbers where it says {statistic.size}."
            )
        return total

    def _deal(self, step: Split) -> Deal:
        """Return how rows are dealt out: by secret bits, the same for all steps of as many shares.

        So a row is in one share of each step, and steps of one round are of the same rows.
        """
        with self._lock:
            if self._dealt_in.setdefault(step.name, self._maps) != self._maps:
                # An engine may compute mapped rows anew in another order, so that a row is in two shares of a step.
                raise PlanError(f"Step {step.name!r} has dealt out rows before they were mapped; map rows before it.")
            if (self._maps, step.parts) not in self._deals:
                self._deals[self._maps, step.parts] = Deal.draw(step.parts, self._generator)
            return self._deals[self._maps, step.parts]

    def map_rows(self, row_map: RowMap) -> None:
        """Have every row pass through a map before any statistic from now on.

        The map's numbers must be public or already private. Statistics are bounded for every row, so what a map does to
        rows cannot change a sensitivity.
        """
        if not isinstance(row_map, RowMap):
            raise TypeError(
                f"Rows pass through the maps of tacit.release.row_maps alone, and this is a {type(row_map).__name__}."
            )
        self._rows = self._rows.map(quietly(row_map))
        self._maps += 1

    def noise(self, name: str, statistic: Statistic | SmoothStatistic | Minimum) -> float:
        """Return the (least) scale of noise that ``release(name, statistic)`` adds to a number, from public numbers."""
        step = self._steps[name]
        if isinstance(statistic, SmoothStatistic):
            return SmoothNoise.of(step, statistic, self.plan.neighbors, self._rows.local).scale
        if isinstance(statistic, Minimum):
            return self._scale(step, self._search(statistic).sensitivity)
        return self._precision(step, statistic)[1]

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
        """Use up some releases of a step; return the step, and how many releases were used up before."""
        if os.getpid() != self._process:
            raise PlanError("A curator answers in the process that made it alone; make one in each process.")
        step = self._steps.get(name)
        if step is None:
            raise self._unplanned_error(name)
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
        with self._lock:  # Two threads must not both take the last release.
            if self._left[name] < releases:
                raise self._unplanned_error(name)
            self._left[name] -= releases
            left = self._left[name]
        return step, step.releases - releases - left

    def _unplanned_error(self, name: str) -> PlanError:
        return PlanError(
            f"The plan has no further release named {name!r}; it has {dict(self._left)} left. What is to be released "
            "must be in the plan before the first row is read."
        )

    def _charge(self) -> None:
        with self._lock:  # A second thread waits until the charge is durable, and makes none.
            if self._charged:
                return
            if self.plan.neighbors == "replace_one" and self._rows.n_rows > MOST_ROWS:
                raise PlanError(_TOO_MANY)
            if self._ledger is not None:
                self._ledger.charge(self.plan, self._purpose, seeded=self._generator.seeded)
            self._charged = True

    def _precision(self, step: Step, statistic: Statistic) -> tuple[Precision, float]:
        """Return the lattices and the sensitivity of a release, and the scale of its noise."""
        mechanism = step.mechanism
        norm: Norm = "l1" if isinstance(mechanism, Laplace) else "linf" if isinstance(mechanism, Selection) else "l2"
        # A row outside the sample adds nothing, so noise is sized for what one row adds, under both relations.
        neighbors = "add_remove" if isinstance(step, Sampled) else self.plan.neighbors
        precision = Precision.of(statistic, step.noise_multiplier, neighbors, norm)
        scale = self._scale(step, precision.sensitivity)
        if norm != "linf":
            precision.check_noise(step.name, scale, exact=is_exact(step, self.plan))
        return precision, scale

    @staticmethod
    def _scale(step: Step, sensitivity: float) -> float:
        """Return the scale of the noise. A choice amounts to Gumbel noise, and has the scale of that."""
        scale = step.noise_multiplier * sensitivity * SCALE_SLACK
        return 2 * scale if isinstance(step.mechanism, Selection) else scale

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

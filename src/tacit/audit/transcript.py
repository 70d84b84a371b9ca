"""What crosses the door during a fit: recorded, and given again as the answers of a fit on another table.

Under ``crossing`` every curator works as ever, in whichever estimator it is. It reads its rows, checks, charges and
draws noise. Each answer is written down, with what was asked. Where there is a script, the transcript of an earlier
fit, the answer that is given is the script's: the estimator then learns nothing from its rows through the door.

Answers of a curator that writes no certificate are never taken from the script. Nobody says that they are paid for, so
a model must not depend on them; rows that an algorithm makes up from released values are the same each time anyway.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.audit.passes import during, overseen
from tacit.audit.snapshot import Snapshot, snapshot
from tacit.privacy import Laplace
from tacit.release import Curator, Norm, RowMap, SmoothStatistic
from tacit.release.sampling import Deal

DOORS = ("measure", "release", "choose", "minimise")
_FINE = 2.0**-36  # of the sensitivity declared, to which sums without noise are rounded
_here = threading.local()


class OffScript(BaseException):
    """The fit asks something else than the script has; no estimator can mistake this for an error of its own."""


@dataclass(frozen=True, eq=False)
class Asked:
    """One question to a curator.

    Attributes
    ----------
    curator : int
        Which curator was asked, in the order in which they were first asked.
    door, step, size : str, str, int
        The method of the curator, the step of the plan, and how many numbers the statistic has.
    statistic : Snapshot
        All parameters of the statistic, bit for bit.
    norm : {"l1", "l2", "linf"}
        The norm that the noise of the step is sized in.
    declared : float or None
        The sensitivity that the statistic states; None where its bound depends on rows.
    exact : array or None
        The sum over all rows, without noise: what is measured. NaN where the sum is no number.
    bounds : array or None
        The smooth bounds of the answer, where there are any.
    answer : Any
        What the curator answered, of rows or from the script.
    """

    curator: int
    door: str
    step: str
    size: int
    statistic: Snapshot
    norm: Norm
    declared: float | None
    smoothness: float
    exact: Array
    bounds: Array | None
    answer: Any


@dataclass(eq=False)
class Transcript:
    """All that was asked of curators in one fit, in order, and all passes over rows."""

    asked: list[Asked] = field(default_factory=list)
    maps: list[Snapshot] = field(default_factory=list)
    passes: list[tuple[str, str, str]] = field(default_factory=list)
    certified: set[int] = field(default_factory=set)
    curators: list[Curator] = field(default_factory=list, repr=False)

    def number(self, curator: Curator) -> int:
        """Return the number of a curator; one that is not known yet gets the next."""
        for number, known in enumerate(self.curators):
            if known is curator:
                return number
        self.curators.append(curator)
        return len(self.curators) - 1

    def pays(self, number: int) -> bool:
        """Whether a certificate speaks of what this curator answers; without any certificate, all are believed."""
        return not self.certified or number in self.certified


@contextmanager
def crossing(script: Transcript | None = None) -> Iterator[Transcript]:
    """Write down what crosses the door in this process; give answers of the script, if there is one.

    One fit at a time: curators of all threads are overheard.

    Examples
    --------
    >>> import tacit
    >>> model = tacit.Moments(bounds=(0, 1), random_state=0)
    >>> with crossing() as script:
    ...     _ = model.fit([[0.1, 0.2], [0.3, 0.4]] * 50)
    >>> [(asked.door, asked.step) for asked in script.asked][:2]
    [('measure', 'growing moments'), ('measure', 'growing moments')]
    >>> mean = model.mean_
    >>> with crossing(script):
    ...     _ = model.fit([[0.9, 0.9], [0.8, 0.0]] * 50)
    >>> bool((mean == model.mean_).all())
    True
    """
    transcript = Transcript()
    originals = {name: Curator.__dict__[name] for name in (*DOORS, "certificate", "map_rows")}
    for name in DOORS:
        setattr(Curator, name, _overheard(name, originals[name], transcript, script))

    def certificate(self: Curator, *arguments: Any, **options: Any) -> Any:
        transcript.certified.add(transcript.number(self))
        return originals["certificate"](self, *arguments, **options)

    def map_rows(self: Curator, row_map: RowMap) -> None:
        transcript.maps.append(snapshot(row_map))
        originals["map_rows"](self, row_map)

    Curator.certificate = certificate  # type: ignore[method-assign]
    Curator.map_rows = map_rows  # type: ignore[method-assign]
    try:
        with overseen(transcript.passes):
            yield transcript
    finally:
        for name, original in originals.items():
            setattr(Curator, name, original)


def _overheard(door: str, original: Any, transcript: Transcript, script: Transcript | None) -> Callable[..., Any]:
    def overheard(self: Curator, name: str, statistic: Any) -> Any:
        if getattr(_here, "inside", False):  # one door that leads through another is one question
            return original(self, name, statistic)
        number, place = transcript.number(self), len(transcript.asked)
        follows = script is not None and script.pays(number)
        if follows and not _is_asked(script, place, door, name):
            raise OffScript
        _here.inside = True
        try:
            # How many passes the search for a minimum takes depends on rows, and is not told.
            with during(None if door == "minimise" else f"{door} {name!r}"):
                answer = original(self, name, statistic)
            if follows and script is not None:
                answer = script.asked[place].answer
            with during(None):
                transcript.asked.append(_measured(self, number, door, name, statistic, answer))
        finally:
            _here.inside = False
        return deepcopy(answer)  # which the estimator may write to

    return overheard


def _is_asked(script: Transcript | None, place: int, door: str, name: str) -> bool:
    if script is None or place >= len(script.asked):
        return False
    return (door, name) == (script.asked[place].door, script.asked[place].step)


def _dealt(curator: Curator, groups: int) -> Iterator[tuple[Any, Any]]:
    """Yield the rows of a curator dealt out into groups, alike for the rows that neighbours share."""
    deal = Deal(groups, key=bytes(32))
    for number, block in enumerate(curator._rows.blocks()):
        yield block, deal((0, number), len(block))


def _measured(curator: Curator, number: int, door: str, name: str, statistic: Any, answer: Any) -> Asked:
    """Return what was asked, with what the rows of this curator add up to.

    The statistic is looked at when the curator is done with it: what rows have left in it counts. What is measured here
    is that of a copy.
    """
    parameters, statistic = snapshot(statistic), deepcopy(statistic)
    step = next(step for step in curator.plan.steps if step.name == name)
    norm: Norm = "linf" if door == "choose" else "l1" if isinstance(step, Laplace) else "l2"
    bounds, smoothness = None, 0.0
    if isinstance(statistic, SmoothStatistic):
        declared = None
        smoothness = float(getattr(step, "smoothness", 0.0))
        with np.errstate(all="ignore"):
            values, bounds = statistic.answer(_dealt(curator, statistic.groups(smoothness)), smoothness)
        exact = np.array([float(value) for value in values])
    else:
        # A minimum moves as far as the sum of gradients at one place does; the place is what was answered.
        summed = statistic.gradients.at(answer) if door == "minimise" else statistic
        declared = float(summed.sensitivity(curator.plan.neighbors, norm))
        exact = _exact_sum(curator, summed, declared)
    return Asked(
        number,
        door,
        name,
        statistic.size,
        parameters,
        norm,
        declared,
        smoothness,
        exact,
        bounds,
        deepcopy(answer),
    )


def _exact_sum(curator: Curator, statistic: Any, declared: float) -> Array:
    """Return the sum over all rows of a curator, to a small part of the sensitivity; NaN where it is no number."""
    step = 2.0 ** np.floor(np.log2(declared)) * _FINE if 0 < declared < np.inf else _FINE
    total = curator._rows.sum(partial(_quiet_sum, statistic), finish=partial(_whole_steps, step))
    return np.where(total[-1] > 0, np.nan, total[:-1] * step)


def _quiet_sum(statistic: Any, block: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(statistic.block_sum(block), dtype=np.float64)


def _whole_steps(step: float, total: Array) -> NDArray[np.int64]:
    """Return a sum in whole steps, and behind it whether it holds what is no number."""
    finite = np.isfinite(total)
    steps = np.clip(np.rint(np.where(finite, total, 0.0) / step), -(2.0**62), 2.0**62)
    return np.append(steps, not finite.all()).astype(np.int64)

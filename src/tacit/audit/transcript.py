"""A transcript of what crosses the door during a fit, and a replay of it as the answers of a fit on another table.

Under ``record_releases`` every curator works as usual, in whichever estimator it is: it reads its rows, checks, charges
and draws noise. The transcript holds each question and its answer. With a script, which is the transcript of an earlier
fit, the curator gives the script's answer instead. The estimator then learns nothing from its rows through the door.

The answers of a curator that writes no certificate never come from the script. No certificate says that they are paid
for, so a model must not depend on them. (Synthetic rows that an algorithm draws from released values do not change
between the fits.)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property, partial, wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.audit.snapshot import Snapshot, snapshot
from tacit.privacy import Laplace
from tacit.release import Curator, Norm, RowMap, SmoothStatistic
from tacit.release.sampling import Deal
from tacit.sources import Source

DOORS = ("measure", "release", "choose", "minimise")
_READING = ("sum", "blocks", "streams", "hold", "n_rows")  # Methods of a source that pass over rows.
# Sums without noise are rounded to steps of this part of the declared sensitivity, so that they add up exactly.
_FINE = 2.0**-36
_here = threading.local()


class OffScript(BaseException):
    """The fit asks something that is not in the script. Estimators do not catch it, because it is no Exception."""


@dataclass(frozen=True, eq=False)
class Question:
    """One question to a curator.

    Attributes
    ----------
    curator : int
        Number of the curator, in the order of their first questions.
    door, step, size : str, str, int
        The method of the curator, the step of the plan, and how many numbers the statistic has.
    statistic : Snapshot
        All parameters of the statistic, bit for bit.
    norm : {"l1", "l2", "linf"}
        The norm that the noise of the step is sized in.
    declared : float or None
        The sensitivity that the statistic states; None where its bound depends on rows.
    exact : array or None
        The sum over all rows, without noise. NaN where it is not finite.
    bounds : array or None
        The smooth bounds of the answer, where there are any.
    answer : Any
        What the curator answered, from its rows or from the script.
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
    """All questions to curators in one fit, in order, and all passes over rows."""

    questions: list[Question] = field(default_factory=list)
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
        """Whether a certificate covers this curator's answers. If no curator writes one, all count as covered."""
        return not self.certified or number in self.certified


@contextmanager
def record_releases(script: Transcript | None = None) -> Iterator[Transcript]:
    """Record what crosses the door in this process; give the answers of the script, if there is one.

    Only one fit may run at a time, because curators of all threads are recorded.

    Examples
    --------
    >>> import tacit
    >>> model = tacit.Moments(bounds=(0, 1), random_state=0)
    >>> with record_releases() as script:
    ...     _ = model.fit([[0.1, 0.2], [0.3, 0.4]] * 50)
    >>> [(question.door, question.step) for question in script.questions][:2]
    [('measure', 'columns'), ('measure', 'narrow columns')]
    >>> mean = model.mean_
    >>> with record_releases(script):
    ...     _ = model.fit([[0.9, 0.9], [0.8, 0.0]] * 50)
    >>> bool((mean == model.mean_).all())
    True
    """
    transcript = Transcript()
    originals = {name: Curator.__dict__[name] for name in (*DOORS, "certificate", "map_rows")}
    for name in DOORS:
        setattr(Curator, name, _record(name, originals[name], transcript, script))

    def certificate(self: Curator, *arguments: Any, **options: Any) -> Any:
        transcript.certified.add(transcript.number(self))
        return originals["certificate"](self, *arguments, **options)

    def map_rows(self: Curator, row_map: RowMap) -> None:
        transcript.maps.append(snapshot(row_map))
        originals["map_rows"](self, row_map)

    Curator.certificate = certificate  # type: ignore[method-assign]
    Curator.map_rows = map_rows  # type: ignore[method-assign]
    try:
        with watch_passes(transcript.passes):
            yield transcript
    finally:
        for name, original in originals.items():
            setattr(Curator, name, original)


def _record(door: str, original: Any, transcript: Transcript, script: Transcript | None) -> Callable[..., Any]:
    def ask(self: Curator, name: str, statistic: Any) -> Any:
        if getattr(_here, "inside", False):  # A door that leads through another one is one question.
            return original(self, name, statistic)
        number, place = transcript.number(self), len(transcript.questions)
        follows = script is not None and script.pays(number)
        if follows and not _is_next(script, place, door, name):
            raise OffScript
        _here.inside = True
        try:
            # The number of passes of a search for a minimum depends on rows, and is secret.
            with during(None if door == "minimise" else f"{door} {name!r}"):
                answer = original(self, name, statistic)
            if follows and script is not None:
                answer = script.questions[place].answer
            with during(None):
                transcript.questions.append(_measure(self, number, door, name, statistic, answer))
        finally:
            _here.inside = False
        return deepcopy(answer)  # The estimator may write to it.

    return ask


def _is_next(script: Transcript | None, place: int, door: str, name: str) -> bool:
    if script is None or place >= len(script.questions):
        return False
    return (door, name) == (script.questions[place].door, script.questions[place].step)


def _deal_rows(curator: Curator, groups: int) -> Iterator[tuple[Any, Any]]:
    """Yield the rows of a curator with their groups; rows that neighbours share have the same group in both."""
    deal = Deal(groups, key=bytes(32))
    for number, block in enumerate(curator._rows.blocks()):
        yield block, deal((0, number), len(block))


def _measure(curator: Curator, number: int, door: str, name: str, statistic: Any, answer: Any) -> Question:
    """Return the question, with the exact sum over the rows of this curator.

    The snapshot of the statistic is taken after the curator has used it, so it shows what rows may have left in it. The
    exact sum is computed by a copy.
    """
    parameters, statistic = snapshot(statistic), deepcopy(statistic)
    step = next(step for step in curator.plan.steps if step.name == name)
    norm: Norm = "linf" if door == "choose" else "l1" if isinstance(step, Laplace) else "l2"
    bounds, smoothness = None, 0.0
    if isinstance(statistic, SmoothStatistic):
        declared = None
        smoothness = float(getattr(step, "smoothness", 0.0))
        with np.errstate(all="ignore"):
            values, bounds = statistic.answer(_deal_rows(curator, statistic.groups(smoothness)), smoothness)
        exact = np.array([float(value) for value in values])
    else:
        # A minimum moves as far as the sum of gradients at one place does. The place is the answer.
        summed = statistic.gradients.at(answer) if door == "minimise" else statistic
        declared = float(summed.sensitivity(curator.plan.neighbors, norm))
        exact = _exact_sum(curator, summed, declared)
    return Question(
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
    """Return the sum over all rows of a curator, exact to a small part of the sensitivity; NaN where not finite."""
    step = 2.0 ** np.floor(np.log2(declared)) * _FINE if 0 < declared < np.inf else _FINE
    total = curator._rows.sum(partial(_quiet_sum, statistic), finish=partial(_whole_steps, step))
    return np.where(total[-1] > 0, np.nan, total[:-1] * step)


def _quiet_sum(statistic: Any, block: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(statistic.block_sum(block), dtype=np.float64)


def _whole_steps(step: float, total: Array) -> NDArray[np.int64]:
    """Return a sum in whole steps, followed by a flag that is 1 if a number is not finite."""
    finite = np.isfinite(total)
    steps = np.clip(np.rint(np.where(finite, total, 0.0) / step), -(2.0**62), 2.0**62)
    return np.append(steps, not finite.all()).astype(np.int64)


@contextmanager
def watch_passes(passes: list[tuple[str, str, str]]) -> Iterator[None]:
    """Append each pass over rows of any source to `passes`: its purpose, the method, and the kind of source.

    The number and the kind of passes must depend on public facts alone. Passes inside another pass, and those of
    helping threads, do not count separately.
    """
    replaced: list[tuple[type, str, Any]] = []
    for kind in dict.fromkeys(_kinds(Source)):
        for name in _READING:
            method = kind.__dict__.get(name)
            if method is None:
                continue
            replaced.append((kind, name, method))
            if isinstance(method, property):
                setattr(kind, name, property(_note(method.fget, name, passes)))
            elif isinstance(method, cached_property):
                setattr(kind, name, property(_note(_cache_as_property(method.func, name), name, passes)))
            else:
                setattr(kind, name, _note(method, name, passes))
    try:
        with during("outside the door"):
            yield
    finally:
        for kind, name, method in replaced:
            setattr(kind, name, method)


@contextmanager
def during(what: str | None) -> Iterator[None]:
    """State the purpose of the passes that follow; with None they are not recorded."""
    before = getattr(_here, "what", None)
    _here.what = what
    try:
        yield
    finally:
        _here.what = before


def _kinds(kind: type) -> list[type]:
    kinds = [kind]
    below: type
    for below in kind.__subclasses__():
        kinds += _kinds(below)
    return kinds


def _cache_as_property(function: Callable[[Any], Any], name: str) -> Callable[[Any], Any]:
    """Return a function that keeps its result where a cached property keeps it."""

    def compute_once(self: Any) -> Any:
        if name not in vars(self):
            vars(self)[name] = function(self)
        return vars(self)[name]

    return compute_once


def _note(method: Any, name: str, passes: list[tuple[str, str, str]]) -> Callable[..., Any]:
    @wraps(method)
    def noting(self: Any, *arguments: Any, **options: Any) -> Any:
        what = getattr(_here, "what", None)
        if what is None:
            return method(self, *arguments, **options)
        passes.append((what, name, type(self).__name__))
        with during(None):
            return method(self, *arguments, **options)

    return noting

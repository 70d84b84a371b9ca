"""Replay: a test that a model is a function of its releases and of public values alone.

A fit on one table is recorded: each question to the curator, and its answer. Then the estimator is fitted to other
tables, while the curator gives the first table's answers. All results must be the same, to the last bit. If they are
not, the estimator has read something else from rows.

In the same runs each statistic is summed over neighbouring tables without noise, with the parameters that it had in the
fit. The sum must not change by more than the statistic declares (a grey-box audit).

Both tests can refute a claim, and neither can prove one: a leak that these tables do not trigger is not seen.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from copy import deepcopy
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from tacit.audit.estimator import clone_with_seed
from tacit.audit.sensitivity import ORDERS
from tacit.audit.snapshot import Snapshot, differing, snapshot
from tacit.audit.stand_ins import FitArguments, Tables, stand_ins
from tacit.audit.transcript import OffScript, Question, Transcript, record_releases
from tacit.privacy import Relation, check_relation

# Excess over the declared sensitivity that rounding of sums without noise could explain, relative to it.
_TOLERANCE = 1e-6
_CLOCK = re.compile(r"(-:--:--|\d+:\d\d:\d\d)")  # The remaining time in a progress bar.


@dataclass(frozen=True)
class CheckedRelease:
    """The declared sensitivity of one release, and the largest change between neighbouring tables.

    Attributes
    ----------
    step : str
        The step of the plan.
    door : {"release", "choose", "minimise"}
        How the curator was asked.
    norm : {"l1", "l2", "linf"}
        The norm of the sensitivity.
    declared, measured : float
        The declared sensitivity, and the largest change between neighbours. Where the bound depends on rows, those of
        the pair that came nearest to its bound.
    """

    step: str
    door: str
    norm: str
    declared: float
    measured: float

    @property
    def ratio(self) -> float:
        """Measured change divided by declared sensitivity; above 1 the declaration is wrong."""
        if self.declared > 0:
            return self.measured / self.declared
        return np.inf if self.measured > 0 else 0.0

    @property
    def exceeds(self) -> bool:
        """Whether more was measured than declared, by more than rounding could explain."""
        return not self.ratio <= 1 + _TOLERANCE


@dataclass(frozen=True, repr=False)
class Replay:
    """The result of :func:`replay`. It prints as a table and a verdict. Not private: it is for the keeper of the rows.

    Attributes
    ----------
    estimator : str
        Name of the estimator's class.
    neighbors : {"replace_one", "add_remove"}
        The relation under which tables are neighbours.
    tables : int
        Number of tables that were fitted with the first one's answers.
    releases : tuple of CheckedRelease
        One for each release, in order.
    differences : tuple of str
        One sentence for each result that depends on rows and did not come through the door. They quote no row, unless
        an exception of the estimator does.
    """

    estimator: str
    neighbors: Relation
    tables: int
    releases: tuple[CheckedRelease, ...]
    differences: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether all fits had the same results, and no release changed by more than declared."""
        return not self.differences and not any(release.exceeds for release in self.releases)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON; what is infinite is None."""
        return {
            "estimator": self.estimator,
            "neighbors": self.neighbors,
            "tables": self.tables,
            "passed": self.passed,
            "releases": [
                {**vars(release), "measured": measured if np.isfinite(measured) else None, "exceeds": release.exceeds}
                for release in self.releases
                for measured in [release.measured]
            ],
            "differences": list(self.differences),
        }

    def __str__(self) -> str:
        lines = [
            f"{self.estimator}, {self.neighbors}: {len(self.releases)} release(s), replayed on {self.tables} table(s)",
            "",
            f"{'step':<24} {'asked':<9} {'times':>5} {'norm':<5} {'declared':>11} {'measured':>11} {'ratio':>6}",
        ]
        for (step, door, norm), group in self._groups():
            worst = max(group, key=lambda release: release.ratio)
            lines.append(
                f"{step:<24} {door:<9} {len(group):>5} {norm:<5} {worst.declared:>11.5g} {worst.measured:>11.5g} "
                f"{worst.ratio:>6.3f}" + (" EXCEEDED" if worst.exceeds else "")
            )
        lines += ["", *self.differences, *([""] if self.differences else [])]
        exceeded = sum(release.exceeds for release in self.releases)
        if self.passed:
            lines.append(
                "Passed: what comes out depends on releases and public values alone, as far as these tables show."
            )
        else:
            lines.append(
                f"FAILED: {len(self.differences)} difference(s), {exceeded} release(s) that move further than declared."
            )
        return "\n".join(lines)

    def _groups(self) -> Iterator[tuple[tuple[str, str, str], list[CheckedRelease]]]:
        groups: dict[tuple[str, str, str], list[CheckedRelease]] = {}
        for release in self.releases:
            groups.setdefault((release.step, release.door, release.norm), []).append(release)
        yield from groups.items()

    def __repr__(self) -> str:
        verdict = "passed" if self.passed else "FAILED"
        return f"<Replay of {self.estimator}, {self.neighbors}: {len(self.releases)} releases, {verdict}>"


def replay(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    unrelated: Sequence[Any] | None = None,
    neighboring: Sequence[Any] | None = None,
) -> Replay:
    """Check that a fitted estimator depends on its releases and public values alone, and that these move as declared.

    The estimator is fitted to X with a seed, and then to the other tables, with the answers of the first fit given
    again. All attributes, public and private, must be the same bit for bit, and so must the certificate, warnings,
    printed text, exceptions, the parameters of all statistics, and the number and kind of passes over the rows. Fits
    are of clones, charge no ledger, and run one at a time.

    Parameters
    ----------
    estimator : estimator
        Whose ``fit`` reads rows through a :class:`tacit.release.Curator`.
    X : array-like, data frame, or anything the estimator fits
    y : array-like, str or None
        As the estimator's ``fit`` takes it.
    unrelated : sequence of tables, optional
        Tables of the same public shape with other values: the same columns and types, and as many rows if neighbours
        have as many. Each is an X, or a pair (X, y) where y is an array. Made from X if it is in memory.
    neighboring : sequence of tables, optional
        Tables that differ from X in one row, the same in all. Where rows may come and go (``add_remove``), that row is
        missing in the first of them. Made from X if it is in memory, with rows that an adversary would choose.

    Returns
    -------
    Replay
        Prints as a table with a verdict; ``passed`` is the verdict.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.audit import replay
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> print(replay(tacit.Moments(bounds=(-4, 4)), X))
    Moments, replace_one: ...
    Passed: what comes out depends on releases and public values alone, as far as these tables show.

    An estimator that keeps a number which it read from rows is found out:

    >>> class Leaky(tacit.Moments):
    ...     def fit(self, X, y=None):
    ...         super().fit(X)
    ...         self.largest_ = X.max()
    ...         return self
    >>> print(replay(Leaky(bounds=(-4, 4)), X).differences[0])
    Attribute largest_ of the fitted model depends on rows (unrelated table 1).
    """
    neighbors: Relation = getattr(estimator, "neighbors", "replace_one")
    check_relation(neighbors)
    tables = _tables(estimator, X, y, neighbors, unrelated, neighboring)
    first = _fit(estimator, tables.first)
    labels = [f"unrelated table {place}" for place in range(1, len(tables.unrelated) + 1)]
    labels += [f"neighbour {place}" for place in range(1, len(tables.neighboring) + 1)]
    runs = [_fit(estimator, table, first.transcript) for table in (*tables.unrelated, *tables.neighboring)]
    differences: dict[str, str] = {}  # Each sentence once, with the first table that showed it.
    for label, run in zip(labels, runs):
        for sentence in _differences(first, run):
            differences.setdefault(sentence, label)
    if differences and list(_differences(first, _fit(estimator, tables.first, first.transcript))):
        differences.setdefault(
            "Two fits to the same table with the same answers differ too: the estimator has randomness that "
            "random_state does not seed, or reads a clock",
            "the table itself",
        )
    if first.error is not None:
        ended = f"The fit ended with {': '.join(first.error).rstrip('.')}, so there is no model to check"
        differences.setdefault(ended, "the table itself")
    return Replay(
        type(estimator).__name__,
        neighbors,
        len(runs),
        tuple(_checked_releases(neighbors, first, runs[len(tables.unrelated) :])),
        tuple(f"{sentence} ({label})." for sentence, label in differences.items()),
    )


def _tables(
    estimator: Any,
    X: Any,
    y: Any,
    neighbors: Relation,
    unrelated: Sequence[Any] | None,
    neighboring: Sequence[Any] | None,
) -> Tables:
    def as_tables(given: Sequence[Any]) -> list[FitArguments]:
        return [FitArguments(*each) if isinstance(each, tuple) else FitArguments(each, y) for each in given]

    if unrelated is not None and neighboring is not None:
        return Tables(FitArguments(X, y), as_tables(unrelated), as_tables(neighboring))
    made = stand_ins(estimator, X, y, neighbors)
    return Tables(
        made.first,
        made.unrelated if unrelated is None else as_tables(unrelated),
        made.neighboring if neighboring is None else as_tables(neighboring),
    )


@dataclass(frozen=True, eq=False)
class _Run:
    """All results of one fit."""

    transcript: Transcript
    model: Snapshot
    warned: list[tuple[str, str]]
    printed: str
    error: tuple[str, str] | None
    off_script: bool


def _fit(estimator: Any, table: FitArguments, script: Transcript | None = None) -> _Run:
    model = clone_with_seed(estimator, 0) if hasattr(estimator, "get_params") else deepcopy(estimator)
    error, off_script, printed = None, False, io.StringIO()
    with (
        warnings.catch_warnings(record=True) as caught,
        redirect_stdout(printed),
        redirect_stderr(printed),
        record_releases(script) as transcript,
    ):
        warnings.simplefilter("always")
        try:
            _ = model.fit(table.X) if table.y is None else model.fit(table.X, table.y)
        except OffScript:
            off_script = True
        except Exception as raised:
            error = (type(raised).__name__, str(raised))
    warned = [(each.category.__name__, str(each.message)) for each in caught]
    return _Run(transcript, snapshot(model), warned, _CLOCK.sub("", printed.getvalue()), error, off_script)


def _differences(first: _Run, other: _Run) -> Iterator[str]:
    """Yield the differences between a fit and one with its answers, as sentences without a full stop."""
    questions, again = first.transcript.questions, other.transcript.questions
    for one, two in zip(questions, again):
        if (one.door, one.step, one.size, one.norm, one.curator) != (
            two.door,
            two.step,
            two.size,
            two.norm,
            two.curator,
        ):
            yield f"What is asked of the curator after {one.step!r} depends on rows"
            return
        if one.statistic != two.statistic:
            yield f"The statistic of step {one.step!r} depends on rows"
            break
    if other.off_script or len(questions) != len(again):
        yield "How often the curator is asked, or what for, depends on rows"
    if first.transcript.maps != other.transcript.maps:
        yield "What rows pass through before they are summed depends on rows"
    if first.transcript.passes != other.transcript.passes:
        yield "The number or the kind of passes over the rows depends on rows"
    if first.transcript.certified != other.transcript.certified:
        yield "Whether a certificate is written depends on rows"
    if first.error != other.error and not other.off_script:
        yield "Whether the fit fails, or what the exception says, depends on rows"
    if first.warned != other.warned and not other.off_script:
        yield "Warnings depend on rows"
    if first.printed != other.printed and not other.off_script:
        yield "Printed text depends on rows"
    if first.error == other.error and not other.off_script:
        for name in dict.fromkeys(_attribute(place) for place in differing(first.model, other.model)):
            yield f"Attribute {name} of the fitted model depends on rows"


def _attribute(place: str) -> str:
    """Return the attribute of a model that a place in its snapshot belongs to."""
    return re.split(r"[.\[]", place.removeprefix("."), maxsplit=1)[0] or "(its kind)"


def _checked_releases(neighbors: Relation, first: _Run, others: Sequence[_Run]) -> Iterator[CheckedRelease]:
    """Yield the declared sensitivity of each release, and the largest change between any two neighbours."""
    for place in range(len(first.transcript.questions)):
        column = [
            run.transcript.questions[place] if place < len(run.transcript.questions) else None
            for run in (first, *others)
        ]
        pairs = list(combinations(column, 2))
        if neighbors == "add_remove":  # The first of the other tables lacks the row.
            pairs = [(column[1], each) for index, each in enumerate(column) if index != 1] if others else []
        question = first.transcript.questions[place]
        changes = [_compare(one, two) for one, two in pairs if one is not None and two is not None]
        declared, measured = max(changes, key=_ratio, default=(question.declared or 0.0, 0.0))
        yield CheckedRelease(question.step, question.door, question.norm, declared, measured)


def _ratio(pair: tuple[float, float]) -> float:
    declared, measured = pair
    return measured / declared if declared > 0 else np.inf if measured > 0 else 0.0


def _compare(one: Question, two: Question) -> tuple[float, float]:
    """Return the declared sensitivity, and the change between two neighbours."""
    if one.exact.shape != two.exact.shape or not np.isfinite(one.exact - two.exact).all():
        return one.declared or 0.0, np.inf
    if one.bounds is None or two.bounds is None:
        return one.declared or 0.0, float(np.linalg.norm(one.exact - two.exact, ORDERS[one.norm]))
    # With smooth bounds, no number changes by more than its bound at either table, and no bound by more than a factor.
    least = np.minimum(one.bounds, two.bounds)
    moves, changes = np.abs(one.exact - two.exact) / least, np.abs(np.log(one.bounds / two.bounds))
    far = int(np.argmax(moves))
    if changes.max() > one.smoothness * (1 + _TOLERANCE) + 1e-9:
        return one.smoothness, float(changes.max())
    return float(least[far]), float(np.abs(one.exact - two.exact)[far])

"""An attack on stated sensitivities: a search for neighbours between which a statistic changes by more than it states.

A statistic states how far its sum can move when one person's row changes; the noise is scaled to that number, so the
guarantee is worth as much as the bound. The attack looks for a counterexample in three waves: ugly rows (NaN,
infinities, the largest and smallest floats, minus zero), rows where bounds are usually met (opposite directions, zero,
the magnitudes and points found in the statistic's own fields), and a hill climb from the best pairs found.

Invariants
----------
- A data set is summed the way the curator sums it: cut by row position into blocks, one ``block_sum`` per block.
  So a statistic that is not a plain sum over rows is caught too (a row removed shifts every block after it).
- A result that is not finite, has the wrong shape, or is an exception counts as an infinite change: a neighbour
  can be told apart by it.
- Finding nothing proves nothing. The proof belongs in the statistic's docstring; this is the test that can fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple, Protocol, get_args

import numpy as np

from tacit.arrays import Array
from tacit.audit.snapshot import numbers_in
from tacit.messages import describe
from tacit.privacy import Relation, check_relation
from tacit.release import Norm

ORDERS: dict[Norm, float] = {"l1": 1, "l2": 2, "linf": np.inf}  # As numpy numbers norms.
_CLIMBS = 4  # The hill climb starts from this many of the best pairs.
_TOLERANCE = 1e-9  # Excess over the bound that rounding could explain, relative to it.
# Values at the limits of float64, and where squares overflow, underflow or lose digits.
_UGLY = np.array(
    [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, -5e-324, 1e-308, 1e154, -1e154, 1e-160, 1e16]
)


class BoundedSum(Protocol):
    """What can be attacked: a sum over rows with a stated sensitivity (see `tacit.release.statistic`)."""

    @property
    def size(self) -> int: ...

    def block_sum(self, block: Array) -> Array: ...

    def sensitivity(self, neighbors: Any, norm: Any) -> float: ...


@dataclass(frozen=True, repr=False, eq=False)
class SensitivityAttack:
    """The outcome of `attack_sensitivity`.

    Attributes
    ----------
    found : float
        The largest change found between neighbouring data sets, in the norm attacked.
    bound : float
        The sensitivity the statistic states.
    neighbors, norm
        As given to the attack.
    data, neighbor : ndarray of shape (rows, columns)
        The pair of neighbouring data sets that shows the change.
    block_rows : int
        How many rows each block held when the pair was summed.
    problem : str or None
        Why the change is infinite, if it is: what `block_sum` returned or raised.
    """

    found: float
    bound: float
    neighbors: Relation
    norm: Norm
    data: Array
    neighbor: Array
    block_rows: int
    problem: str | None = None

    @property
    def ratio(self) -> float:
        """The change found, relative to the stated bound. Above 1 the bound is wrong, far below 1 it may be loose."""
        if self.bound > 0:
            return self.found / self.bound
        return np.inf if self.found > 0 else 0.0

    @property
    def exceeds(self) -> bool:
        """Whether the stated bound is broken, by more than a relative 1e-9 that rounding could explain."""
        return self.found > self.bound * (1 + _TOLERANCE)

    def __repr__(self) -> str:
        verdict = "EXCEEDED" if self.exceeds else "not exceeded"
        reason = f"; {self.problem}" if self.problem else ""
        return (
            f"SensitivityAttack({self.neighbors}, {self.norm}: bound {self.bound:.6g} {verdict}, "
            f"found {self.found:.6g} = {self.ratio:.3f} of it{reason})"
        )


def attack_sensitivity(
    statistic: BoundedSum,
    columns: int,
    *,
    neighbors: Relation = "replace_one",
    norm: Norm = "l2",
    rows: int = 4,
    trials: int = 4000,
    random_state: int | np.random.Generator | None = None,
) -> SensitivityAttack:
    """Search for neighbouring data sets on which a statistic moves further than its stated sensitivity.

    Parameters
    ----------
    statistic : object with `size`, `block_sum` and `sensitivity`
        The statistic attacked. Numbers found in its fields (radii, bounds, centres) are used as hints.
    columns : int
        The number of columns of the blocks it takes.
    neighbors : {"replace_one", "add_remove"}
        What makes two data sets neighbours: one row takes another value, or one row is added.
    norm : {"l1", "l2", "linf"}
        The norm in which the change is measured.
    rows : int
        The largest number of rows the two data sets share.
    trials : int
        The number of pairs tried: half of them drawn afresh, half in climbing from the best.
    random_state : int, Generator or None
        Makes the search reproducible.

    Returns
    -------
    SensitivityAttack
        The worst pair found. `exceeds` says whether it breaks the bound.

    Examples
    --------
    A sum of rows clipped to the unit ball moves by at most 2 when a row is replaced. The one below forgot the 2.

    >>> import numpy as np
    >>> from tacit.audit import attack_sensitivity
    >>> class ClippedSum:
    ...     size = 3
    ...
    ...     def block_sum(self, block):
    ...         block = np.clip(np.nan_to_num(block), -1e100, 1e100)
    ...         norms = np.linalg.norm(block, axis=1, keepdims=True)
    ...         return (block / np.maximum(norms, 1.0)).sum(axis=0)
    ...
    ...     def sensitivity(self, neighbors, norm):
    ...         return 1.0 if norm == "l2" else np.sqrt(3)
    >>> attack_sensitivity(ClippedSum(), columns=3, neighbors="add_remove", trials=500, random_state=0)
    SensitivityAttack(add_remove, l2: bound 1 not exceeded, found 1 = 1.000 of it)
    >>> attack_sensitivity(ClippedSum(), columns=3, neighbors="replace_one", trials=500, random_state=0)
    SensitivityAttack(replace_one, l2: bound 1 EXCEEDED, found 2 = 2.000 of it)
    """
    check_relation(neighbors)
    if norm not in get_args(Norm):
        raise ValueError(f"norm must be 'l1', 'l2' or 'linf', and it is {describe(norm)}.")
    if columns < 1 or rows < 0 or trials < 2:
        raise ValueError(
            "columns must be at least 1, rows at least 0 and trials at least 2, "
            f"and they are {columns}, {rows} and {trials}."
        )
    bound = float(statistic.sensitivity(neighbors, norm))
    if not bound >= 0:
        raise ValueError(f"The statistic states a sensitivity of {bound}; it must be a number that is not negative.")
    rng = np.random.default_rng(random_state)
    hints = _Hints.of(statistic, columns)

    def measure(pair: _Pair) -> _Outcome:
        return _Outcome(pair, *_change(statistic, pair, norm))

    fresh = [measure(pair) for pair in islice(_fresh_pairs(neighbors, rows, columns, hints, rng), trials // 2)]
    best = sorted(fresh, key=lambda outcome: -outcome.change)[:_CLIMBS]
    if np.isfinite(best[0].change):
        steps = (trials - len(fresh)) // len(best)
        best = [_climb(start, steps, hints, rng, measure) for start in best]
    worst = max(best, key=lambda outcome: outcome.change)
    return SensitivityAttack(
        found=worst.change,
        bound=bound,
        neighbors=neighbors,
        norm=norm,
        data=worst.pair.data,
        neighbor=worst.pair.neighbor,
        block_rows=worst.pair.block_rows,
        problem=worst.problem,
    )


@dataclass(frozen=True)
class _Pair:
    """Two neighbouring data sets: `shared` rows, and at `position` either `row` or `other` (None: no row there)."""

    shared: Array
    row: Array
    other: Array | None
    position: int = 0
    block_rows: int = 1

    @property
    def data(self) -> Array:
        return np.insert(self.shared, self.position, self.row, axis=0)

    @property
    def neighbor(self) -> Array:
        return self.shared if self.other is None else np.insert(self.shared, self.position, self.other, axis=0)


class _Outcome(NamedTuple):
    pair: _Pair
    change: float
    problem: str | None


def _change(statistic: BoundedSum, pair: _Pair, norm: Norm) -> tuple[float, str | None]:
    """Return the change of the statistic between the pair, and a reason if it is not finite."""
    try:
        with np.errstate(all="ignore"):
            data, neighbor = (_total(statistic, rows, pair.block_rows) for rows in (pair.data, pair.neighbor))
            if not (np.isfinite(data).all() and np.isfinite(neighbor).all()):
                return np.inf, "block_sum returned a value that is not finite"
            return float(np.linalg.norm(data - neighbor, ord=ORDERS[norm])), None
    except Exception as error:
        # An exception that one data set raises and its neighbour does not is an output like any other.
        return np.inf, f"block_sum raised {type(error).__name__}: {error}"


def _total(statistic: BoundedSum, rows: Array, block_rows: int) -> Array:
    """Return the statistic of a data set, summed block by block; an empty data set is one empty block."""
    total = np.zeros(statistic.size)
    for start in range(0, max(len(rows), 1), block_rows):
        part = np.asarray(statistic.block_sum(rows[start : start + block_rows].copy()), dtype=np.float64)
        if part.shape != total.shape:
            raise ValueError(f"it returned shape {part.shape} where size promises {total.shape}.")
        total += part
    return total


@dataclass(frozen=True)
class _Hints:
    """Where to search: magnitudes and points from the statistic's fields, and a few that always help."""

    magnitudes: Array
    points: Array

    @classmethod
    def of(cls, statistic: object, columns: int) -> _Hints:
        arrays = list(numbers_in(statistic))
        points = [array.reshape(-1, columns) for array in arrays if array.ndim and array.shape[-1] == columns]
        points = [np.zeros((1, columns)), *points]
        lengths = [np.linalg.norm(block, axis=1) for block in points]
        magnitudes = np.abs(np.concatenate([np.ravel(array) for array in [*arrays, *lengths, np.ones(1)]]))
        return cls(np.unique(magnitudes[np.isfinite(magnitudes)])[-256:], np.concatenate(points)[:256])

    def magnitude(self, rng: np.random.Generator) -> float:
        kind = rng.integers(4)
        if kind == 0:
            # The magnitude is just inside, at, or just outside a length from the statistic's fields.
            return float(rng.choice(self.magnitudes) * rng.choice([0.5, 1 - 1e-9, 1, 1 + 1e-9, 2]))
        return float(10 ** rng.uniform(-300, 300)) if kind == 1 else float(10 ** rng.uniform(-3, 3))

    def row(self, rng: np.random.Generator) -> Array:
        columns = self.points.shape[1]
        if rng.random() < 0.25:
            ugly = rng.choice(_UGLY, columns)
            return np.where(rng.random(columns) < rng.random(), ugly, rng.standard_normal(columns))
        with np.errstate(over="ignore", invalid="ignore"):
            point: Array = rng.choice(self.points)
            return point + self.magnitude(rng) * _direction(columns, rng)


def _direction(columns: int, rng: np.random.Generator) -> Array:
    """Return a unit vector: anywhere on the sphere, along an axis, or to a corner of a cube."""
    kind = rng.integers(3)
    direction: Array = rng.standard_normal(columns) if kind == 1 else rng.choice([-1.0, 1.0], columns)
    if kind == 0:
        direction = direction * (np.arange(columns) == rng.integers(columns))
    return np.divide(direction, np.linalg.norm(direction))


def _fresh_pairs(
    neighbors: Relation, rows: int, columns: int, hints: _Hints, rng: np.random.Generator
) -> Iterator[_Pair]:
    """Yield pairs without end: random ones and, between them while they last, pairs of ugly values."""
    replacing = neighbors == "replace_one"
    ugly = [(value, other) for value in _UGLY for other in (_UGLY if replacing else _UGLY[:1])]
    rng.shuffle(ugly)
    while True:
        if ugly:
            value, other = ugly.pop()
            yield _Pair(np.empty((0, columns)), np.full(columns, value), np.full(columns, other) if replacing else None)
        shared = np.array([hints.row(rng) for _ in range(rng.integers(rows + 1))]).reshape(-1, columns)
        row = hints.row(rng)
        opposite = (-row, hints.row(rng), np.zeros(columns))[rng.integers(3)] if replacing else None
        position, block_rows = int(rng.integers(len(shared) + 1)), int(rng.integers(1, rows + 2))
        yield _Pair(shared, row, opposite, position, block_rows)


def _climb(
    start: _Outcome,
    steps: int,
    hints: _Hints,
    rng: np.random.Generator,
    measure: Callable[[_Pair], _Outcome],
) -> _Outcome:
    """Climb by random steps of the two rows that differ; the step grows on success and shrinks on failure."""
    best, step = start, 1.0
    for _ in range(steps):
        pair = best.pair
        row, other = _move(pair.row, step, hints, rng), pair.other
        if other is not None:
            moved = _move(other, step, hints, rng)
            row, other = ((row, other), (pair.row, moved), (row, moved), (row, -row))[rng.integers(4)]
        outcome = measure(replace(pair, row=row, other=other))
        if outcome.change > best.change:
            best, step = outcome, min(step * 2, 4.0)
        else:
            step = step * 0.9 if step > 1e-8 else 1.0
        if not np.isfinite(best.change):
            break
    return best


def _move(row: Array, step: float, hints: _Hints, rng: np.random.Generator) -> Array:
    """Return the row after one step: stretched, moved in some direction, or with one coordinate changed."""
    kind = rng.integers(4)
    with np.errstate(all="ignore"):
        if kind == 0:
            return np.multiply(row, np.exp(step * rng.standard_normal()))
        if kind == 1:
            length = float(np.linalg.norm(np.nan_to_num(row, posinf=0, neginf=0)))
            return np.add(row, step * (length if 0 < length < np.inf else 1.0) * _direction(len(row), rng))
        row = row.copy()
        column = rng.integers(len(row))
        if kind == 2:
            row[column] += step * rng.standard_normal() * (abs(row[column]) or 1.0)
        else:
            row[column] = rng.choice([-row[column], 0.0, rng.choice(_UGLY), hints.magnitude(rng)])
        return row

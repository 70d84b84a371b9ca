"""A chain that agrees with noisy counts of pairs, as far as they can be believed.

The columns are taken one after the other. Rows of the columns before it are drawn already; given those, a column gets
the smoothest probabilities whose expected counts together with each of them are the ones released: a multinomial logit,
the maximum-entropy law of that kind, and a convex problem. No row is looked at.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from tacit.arrays import Array
from tacit.synthesis.chain import Chain, Codes, Design, drawn, odds, spread

Tables = dict[tuple[int, int], Array]

_FEWEST_ROWS, _MOST_ROWS = 3000, 30_000  # drawn to fit to: their own error is well below that of noise
_ITERATIONS = 30
_TYPICAL = 0.7  # how large weights are, in log odds, when nothing is known: what they are shrunk by


def fit_chain(
    margins: list[Array],
    tables: Tables,
    noise: float,
    rows: float,
    watch: Callable[[int, int], None],
    wide: list[Codes] | None = None,
) -> Chain:
    """Return the chain for columns with these shares of codes, and these noisy counts of pairs of them.

    Parameters
    ----------
    margins : list of arrays
        The shares of each column's codes, positive and adding up to 1.
    tables : dict of arrays by (i, j), i < j
        Counts of rows with code a of column i and b of column j.
    noise : float
        Standard deviation of the noise in each count.
    rows : float
        How many rows were counted, about.
    watch : callable
        Told how many columns are done, and how many there are.
    wide : list of arrays, optional
        For each column the wider group that each of its codes is in, from 0 up: that of numbers that are near each
        other, and so go with others in like ways. By default each code is a group of its own.

    Notes
    -----
    With expected counts E of a pair of codes, were their columns independent, and a weight of its own, the count tells
    the weight up to a variance (E + noise^2) / E^2: that of rows being drawn, and that of noise. If weights are
    `_TYPICAL` in size, the best estimate of each is had by adding (1 + noise^2 / E) / _TYPICAL^2 times half its square
    to the negative log likelihood. So pairs that are rare compared with the noise are taken to be independent.

    A weight is the sum of one for the pair of codes and one for the pair of wider groups, where those are different:
    what many rare pairs have in common can be seen although each by itself cannot.

    Examples
    --------
    >>> import numpy as np
    >>> half = np.array([0.5, 0.5])
    >>> chain = fit_chain([half, half], {(0, 1): np.array([[450.0, 50.0], [50.0, 450.0]])}, 1.0, 1000.0, print)
    1 2
    2 2
    >>> np.exp(chain.log_probabilities(np.array([[0, 0], [0, 1]]))).round(2)
    array([0.45, 0.05])
    """
    sizes = tuple(map(len, margins))
    wide = [np.arange(size) for size in sizes] if wide is None else wide
    order = _strongest_first(margins, tables, noise, rows)
    rng = np.random.default_rng(0)  # what is drawn here protects nobody
    design, weights = Design(int(np.clip(3 * rows, _FEWEST_ROWS, _MOST_ROWS)), sizes, order), []
    for place, column in enumerate(order):
        ones = design.before(place)
        shares = ones.mean(axis=1, dtype=np.float64)
        wanted, start = [margins[column][None]], 1
        for other in order[:place]:
            expected = np.outer(shares[start : start + sizes[other]], margins[column])
            wanted.append(expected + _interaction(_table(tables, other, column) / rows - expected))
            start += sizes[other]
        before = [np.ones(1), *(margins[other] for other in order[:place])]
        fine = _Level(np.eye(start), np.eye(sizes[column]), np.concatenate(before), margins[column], noise, rows)
        found = _logit(ones, np.concatenate(wanted), [fine, *_wider(order[:place], column, margins, wide, fine)])
        weights.append(found)
        design.append(drawn(odds(ones, found), spread(ones.shape[1], rng)))
        watch(place + 1, len(order))
    return Chain(sizes, order, tuple(weights))


class _Level:
    """Weights of pairs of groups: those of all columns before, the first of which is all rows, and those of a column.

    `before` (codes, groups) and `own` (codes, groups) are zeros and ones that say which codes are in which groups.
    """

    def __init__(self, before: Array, own: Array, shares: Array, margin: Array, noise: float, rows: float) -> None:
        self.before, self.own, self.shares, self.margin = before, own, shares, margin
        self.noise, self.rows = noise, rows
        likely = rows * np.outer(shares @ before, margin @ own)
        cells = np.outer(before.sum(axis=0), own.sum(axis=0))
        self.ridge = (1 + cells * noise**2 / (likely + 1)) / _TYPICAL**2 / rows
        if before[0].any():
            self.ridge[before[0].argmax()] = 0.0  # of the margin, which is known well
        # In units in which the second derivatives are all near one.
        self.units = 1 / np.sqrt(likely / rows + self.ridge)

    def weights(self, groups: Array) -> Array:
        """Return what weights of pairs of groups make of those of pairs of codes."""
        return np.asarray(self.before @ groups @ self.own.T)

    def slope(self, codes: Array) -> Array:
        """Return what derivatives by weights of pairs of codes make of those by weights of pairs of groups."""
        return np.asarray(self.before.T @ codes @ self.own)


def _wider(others: tuple[int, ...], column: int, margins: list[Array], wide: list[Codes], fine: _Level) -> list[_Level]:
    """Return the weights of pairs of wider groups, of those columns for which they are not the same once more."""

    def members(j: int) -> Array:
        return (wide[j][:, None] == np.arange(wide[j].max() + 1)).astype(np.float64)

    own, start, found = members(column), 1, []
    for other in others:
        each = members(other)
        if each.shape[1] < len(each) or own.shape[1] < len(own):
            before = np.zeros((len(fine.shares), each.shape[1]))
            before[start : start + len(each)] = each
            found.append(before)
        start += len(margins[other])
    if not found:
        return []
    return [_Level(np.hstack(found), own, fine.shares, fine.margin, fine.noise, fine.rows)]


def _logit(ones: np.ndarray, wanted: Array, levels: list[_Level]) -> Array:
    """Return the weights whose expected counts, per row, are those wanted, shrunk as the levels say."""
    start = np.zeros_like(wanted)
    start[0] = np.log(levels[0].margin)
    ends = np.cumsum([level.units.size for level in levels])

    def parts(flat: Array) -> list[Array]:
        each = np.split(flat, ends[:-1])
        return [part.reshape(level.units.shape) * level.units for part, level in zip(each, levels)]

    def loss(flat: Array) -> tuple[float, Array]:
        groups = parts(flat)
        weights = start + sum(level.weights(each) for level, each in zip(levels, groups))
        logits = weights.T.astype(np.float32) @ ones
        highest = logits.max(axis=0)
        logits -= highest
        np.exp(logits, out=logits)
        sums = logits.sum(axis=0)
        logits /= sums
        value = float((np.log(sums) + highest).mean(dtype=np.float64)) - float((weights * wanted).sum())
        slope = (ones @ logits.T) / ones.shape[1] - wanted
        slopes = []
        for level, each in zip(levels, groups):
            shrunk = level.ridge * each
            value += 0.5 * float((shrunk * each).sum())
            slopes.append(((level.slope(slope) + shrunk) * level.units).ravel())
        return value, np.concatenate(slopes)

    best = minimize(loss, np.zeros(ends[-1]), jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS})
    return np.asarray(start + sum(level.weights(each) for level, each in zip(levels, parts(best.x))))


def _strongest_first(margins: list[Array], tables: Tables, noise: float, rows: float) -> tuple[int, ...]:
    """Return the columns in an order: first those that have most to do with others, beyond what noise makes of it."""
    strengths = np.zeros(len(margins))
    for (i, j), table in tables.items():
        expected = rows * np.outer(margins[i], margins[j])
        apart = _interaction(table - expected)
        freedom = (len(margins[i]) - 1) * (len(margins[j]) - 1) / table.size
        variances = expected + noise**2
        excess = float(((apart**2 - freedom * variances) / variances).sum())
        strengths[[i, j]] += max(0.0, excess)
    return tuple(int(column) for column in np.argsort(-strengths, kind="stable"))


def _table(tables: Tables, i: int, j: int) -> Array:
    return tables[i, j] if i < j else tables[j, i].T


def _interaction(table: Array) -> Array:
    """Return a table less what its rows and its columns have in common: what is left adds up to 0 either way."""
    return table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()

"""A chain that agrees with noisy counts of pairs, as far as they can be believed.

The columns are taken one after the other. Rows of the columns before it are drawn already; given those, a column gets
the smoothest probabilities whose expected counts together with each of them are the ones released: a multinomial logit,
the maximum-entropy law of that kind, and a convex problem. No row is looked at.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from tacit.statistics.components import Array
from tacit.synthesis.chain import Chain, Design, drawn, odds

Tables = dict[tuple[int, int], Array]

_FEWEST_ROWS, _MOST_ROWS = 3000, 30_000  # drawn to fit to: their own error is well below that of noise
_ITERATIONS = 30
_TYPICAL = 0.7  # how large weights are, in log odds, when nothing is known: what they are shrunk by


def fit_chain(
    margins: list[Array], tables: Tables, noise: float, rows: float, watch: Callable[[int, int], None]
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

    Notes
    -----
    With expected counts E of a pair of codes, were their columns independent, and a weight of its own, the count tells
    the weight up to a variance (E + noise^2) / E^2: that of rows being drawn, and that of noise. If weights are
    `_TYPICAL` in size, the best estimate of each is had by adding (1 + noise^2 / E) / _TYPICAL^2 times half its square
    to the negative log likelihood. So pairs that are rare compared with the noise are taken to be independent.

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
    order = _strongest_first(margins, tables, noise, rows)
    rng = np.random.default_rng(0)  # what is drawn here protects nobody
    design, weights = Design(int(np.clip(3 * rows, _FEWEST_ROWS, _MOST_ROWS)), sizes, order), []
    for place, column in enumerate(order):
        ones = design.before(place)
        shares = ones.mean(axis=1, dtype=np.float64)
        wanted, trust, start = [margins[column][None]], [np.zeros((1, sizes[column]))], 1
        for other in order[:place]:
            expected = np.outer(shares[start : start + sizes[other]], margins[column])
            counted = _table(tables, other, column) / rows
            wanted.append(expected + _interaction(counted - expected))
            likely = rows * np.outer(margins[other], margins[column])
            trust.append((1 + noise**2 / (likely + 1)) / _TYPICAL**2 / rows)
            start += sizes[other]
        found = _logit(ones, np.concatenate(wanted), np.concatenate(trust), margins[column], shares)
        weights.append(found)
        design.append(drawn(odds(ones, found), rng))
        watch(place + 1, len(order))
    return Chain(sizes, order, tuple(weights))


def _logit(ones: np.ndarray, wanted: Array, ridge: Array, margin: Array, shares: Array) -> Array:
    """Return the weights whose expected counts, per row, are those wanted, shrunk by the ridge."""
    # In units in which the second derivatives are all near one.
    units = 1 / np.sqrt(np.outer(np.maximum(shares, 1e-6), margin) + ridge)
    start = np.zeros_like(wanted)
    start[0] = np.log(margin)

    def loss(flat: Array) -> tuple[float, Array]:
        weights = start + flat.reshape(wanted.shape) * units
        logits = weights.T.astype(np.float32) @ ones
        highest = logits.max(axis=0)
        logits -= highest
        np.exp(logits, out=logits)
        sums = logits.sum(axis=0)
        logits /= sums
        mean = float((np.log(sums) + highest).mean(dtype=np.float64))
        shrunk = ridge * weights
        value = mean - float((weights * wanted).sum()) + 0.5 * float((shrunk * weights).sum())
        slope = (ones @ logits.T) / ones.shape[1] - wanted + shrunk
        return value, (slope * units).ravel()

    best = minimize(loss, np.zeros(wanted.size), jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS})
    return start + best.x.reshape(wanted.shape) * units


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

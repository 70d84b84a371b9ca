"""Fitting a chain to noisy counts of pairs of columns. It reads no rows.

Columns are fitted in order. Each gets a multinomial logit given the columns before it: the law of maximum entropy among
those with the released counts of its pairs with these columns. The problem is convex. Expectations are taken over
synthetic rows of the columns before it, which the chain has drawn so far. Weights are shrunk as the noise demands.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from tacit.arrays import Array
from tacit.synthesis.chain import Chain, Codes, Design, code_probabilities, draw_codes, stratified_uniforms

Tables = dict[tuple[int, int], Array]

# benchmarks/synthetic.py measures what these numbers give, on Adult.
# Number of synthetic rows: three times the real ones, within these limits. The noise exceeds their sampling error.
_FEWEST_ROWS, _MOST_ROWS = 3000, 30_000
_ITERATIONS = 30  # Largest number of L-BFGS iterations for one column.
_PRIOR_DEVIATION = 0.7  # Prior standard deviation of a weight, in log odds.


def fit_chain(
    margins: list[Array],
    tables: Tables,
    noise: float,
    rows: float,
    watch: Callable[[int, int], None],
    coarse: list[Codes] | None = None,
) -> Chain:
    """Return the chain for columns with these probabilities of codes and these noisy counts of pairs.

    Parameters
    ----------
    margins : list of arrays
        The probabilities of each column's codes, positive and adding up to 1.
    tables : dict of arrays by (i, j), i < j
        Counts of rows with code a of column i and b of column j.
    noise : float
        Standard deviation of the noise in each count.
    rows : float
        Number of rows that were counted, or an estimate of it.
    watch : callable
        The function calls ``watch(done, total)`` after each column.
    coarse : list of arrays, optional
        For each column, the coarse group of each of its codes, from 0 up. Numbers that are near each other share one,
        because they usually depend on other columns alike. By default each code is a group of its own.

    Notes
    -----
    Let E be the count of a pair of codes that is expected if the columns are independent. The count determines the
    pair's weight up to a variance (E + noise^2) / E^2: that of sampling rows, and that of the noise. With a prior
    variance v of weights, the posterior mode adds (1 + noise^2 / E) / v times half the squared weight to the negative
    log likelihood. So pairs that are rare compared with the noise are nearly independent in the model.

    A weight is the sum of a weight for the pair of codes and, where coarse groups differ from codes, a weight for the
    pair of coarse groups: what many rare pairs have in common is seen, although each pair alone is lost in the noise.

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
    coarse = [np.arange(size) for size in sizes] if coarse is None else coarse
    order = _strongest_first(margins, tables, noise, rows)
    rng = np.random.default_rng(0)  # These rows are synthetic, so their seed may be known.
    design, weights = Design(int(np.clip(3 * rows, _FEWEST_ROWS, _MOST_ROWS)), sizes, order), []
    for place, column in enumerate(order):
        before = design.before(place)
        drawn = before.mean(axis=1, dtype=np.float64)
        wanted, start = [margins[column][None]], 1
        for other in order[:place]:
            expected = np.outer(drawn[start : start + sizes[other]], margins[column])
            wanted.append(expected + _interaction(_table(tables, other, column) / rows - expected))
            start += sizes[other]
        margin_before = np.concatenate([np.ones(1), *(margins[other] for other in order[:place])])
        of_codes = _PairWeights(np.eye(start), np.eye(sizes[column]), margin_before, margins[column], noise, rows)
        of_groups = _coarse_weights(order[:place], column, margins, coarse, of_codes)
        weights.append(_fit_logit(before, np.concatenate(wanted), [of_codes, *of_groups]))
        design.append(draw_codes(code_probabilities(before, weights[-1]), stratified_uniforms(before.shape[1], rng)))
        watch(place + 1, len(order))
    return Chain(sizes, order, tuple(weights))


class _PairWeights:
    """Weights of pairs of groups: groups of codes of the columns before, and groups of codes of a column.

    `before` (codes, groups) and `own` (codes, groups) are indicators of which codes are in which groups. The first code
    of `before` is the intercept.
    """

    def __init__(
        self, before: Array, own: Array, margin_before: Array, margin: Array, noise: float, rows: float
    ) -> None:
        self.before, self.own, self.margin_before, self.margin = before, own, margin_before, margin
        self.noise, self.rows = noise, rows
        expected = rows * np.outer(margin_before @ before, margin @ own)
        cells = np.outer(before.sum(axis=0), own.sum(axis=0))
        self.ridge = (1 + cells * noise**2 / (expected + 1)) / _PRIOR_DEVIATION**2 / rows
        if before[0].any():
            self.ridge[before[0].argmax()] = 0.0  # The margin is known well, so the intercept is not shrunk.
        # In these units, all second derivatives are near 1.
        self.units = 1 / np.sqrt(expected / rows + self.ridge)

    def weights(self, groups: Array) -> Array:
        """Return the weights of pairs of codes, from those of pairs of groups."""
        return np.asarray(self.before @ groups @ self.own.T)

    def slope(self, codes: Array) -> Array:
        """Return derivatives by weights of pairs of groups, from those by weights of pairs of codes."""
        return np.asarray(self.before.T @ codes @ self.own)


def _coarse_weights(
    others: tuple[int, ...], column: int, margins: list[Array], coarse: list[Codes], of_codes: _PairWeights
) -> list[_PairWeights]:
    """Return the weights of pairs of coarse groups, for pairs of columns where these differ from the codes."""

    def members(j: int) -> Array:
        return (coarse[j][:, None] == np.arange(coarse[j].max() + 1)).astype(np.float64)

    own, start, parts = members(column), 1, []
    for other in others:
        each = members(other)
        if each.shape[1] < len(each) or own.shape[1] < len(own):
            part = np.zeros((len(of_codes.margin_before), each.shape[1]))
            part[start : start + len(each)] = each
            parts.append(part)
        start += len(margins[other])
    if not parts:
        return []
    before = np.hstack(parts)
    return [_PairWeights(before, own, of_codes.margin_before, of_codes.margin, of_codes.noise, of_codes.rows)]


def _fit_logit(design: np.ndarray, wanted: Array, groupings: list[_PairWeights]) -> Array:
    """Return the weights (codes before, codes) with expected proportions `wanted`, shrunk by each grouping's ridge."""
    start = np.zeros_like(wanted)
    start[0] = np.log(groupings[0].margin)
    ends = np.cumsum([grouping.units.size for grouping in groupings])

    def parts(flat: Array) -> list[Array]:
        each = np.split(flat, ends[:-1])
        return [part.reshape(grouping.units.shape) * grouping.units for part, grouping in zip(each, groupings)]

    def loss(flat: Array) -> tuple[float, Array]:
        groups = parts(flat)
        weights = start + sum(grouping.weights(each) for grouping, each in zip(groupings, groups))
        logits = weights.T.astype(np.float32) @ design
        highest = logits.max(axis=0)
        logits -= highest
        np.exp(logits, out=logits)
        sums = logits.sum(axis=0)
        logits /= sums
        value = float((np.log(sums) + highest).mean(dtype=np.float64)) - float((weights * wanted).sum())
        slope = (design @ logits.T) / design.shape[1] - wanted
        slopes = []
        for grouping, each in zip(groupings, groups):
            pull = grouping.ridge * each
            value += 0.5 * float((pull * each).sum())
            slopes.append(((grouping.slope(slope) + pull) * grouping.units).ravel())
        return value, np.concatenate(slopes)

    best = minimize(loss, np.zeros(ends[-1]), jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS})
    return np.asarray(start + sum(grouping.weights(each) for grouping, each in zip(groupings, parts(best.x))))


def _strongest_first(margins: list[Array], tables: Tables, noise: float, rows: float) -> tuple[int, ...]:
    """Return the columns by association with all others, strongest first. What noise explains is deducted."""
    strengths = np.zeros(len(margins))
    for (i, j), table in tables.items():
        expected = rows * np.outer(margins[i], margins[j])
        interaction = _interaction(table - expected)
        freedom = (len(margins[i]) - 1) * (len(margins[j]) - 1) / table.size
        variances = expected + noise**2
        excess = float(((interaction**2 - freedom * variances) / variances).sum())
        strengths[[i, j]] += max(0.0, excess)
    return tuple(int(column) for column in np.argsort(-strengths, kind="stable"))


def _table(tables: Tables, i: int, j: int) -> Array:
    return tables[i, j] if i < j else tables[j, i].T


def _interaction(table: Array) -> Array:
    """Return a table less its main effects: what is left adds up to 0 in every row and column."""
    return table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()

"""Fitting a chain to noisy counts of pairs of columns. It reads no rows.

Columns are fitted in order. Each gets a multinomial logit given the columns before it: the law of maximum entropy among
those with the released counts of its pairs with these columns. The problem is convex. Expectations are taken over
synthetic rows of the columns before it, which the chain has drawn so far. Weights are shrunk as the noise demands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import minimize

from tacit.arrays import Array
from tacit.synthesis.chain import Chain, Design, code_probabilities, draw_codes, stratified_uniforms
from tacit.synthesis.pair_tables import PairTable, interaction
from tacit.synthesis.pair_weights import PairWeights, pair_weights

Tables = dict[tuple[int, int], PairTable]

# benchmarks/synthetic.py measures what these numbers give.
# Number of synthetic rows: three times the real ones, within these limits. The noise exceeds their sampling error.
_FEWEST_ROWS, _MOST_ROWS = 3000, 30_000
_ITERATIONS = 30  # Largest number of L-BFGS iterations for one column.
_ADJUSTMENTS = 3  # Number of times that intercepts are adjusted at the end, so that the column has its probabilities.


def fit_chain(
    margins: list[Array],
    tables: Tables,
    rows: float,
    watch: Callable[[int, int], None],
    ordered: Sequence[int] = (),
) -> Chain:
    """Return the chain for columns with these probabilities of codes and these noisy counts of pairs.

    Parameters
    ----------
    margins : list of arrays
        The probabilities of each column's codes, positive and adding up to 1.
    tables : dict of PairTable by (i, j), i < j
    rows : float
        Number of rows that were counted, or an estimate of it.
    watch : callable
        The function calls ``watch(done, total)`` after each column.
    ordered : sequence of int, optional
        How many codes of each column are in the order of a number; by default none.

    Notes
    -----
    Let E be the count of a pair of groups that is expected if the columns are independent. The count determines the
    pair's weight up to a variance (E + noise^2) / E^2: that of sampling rows, and that of the noise. With a prior
    variance v of weights, the posterior mode adds (1 + noise^2 / E) / v times half the squared weight to the negative
    log likelihood. So pairs that are rare compared with the noise are nearly independent in the model.

    The prior variance is a pair's own, as its counts show it (empirical Bayes): where two columns say much about each
    other, weights are shrunk little, and where they say nothing, much.

    A weight is the sum of several: one for the pair of groups, one for the pair of coarse groups that it is in, and,
    for numbers, weights of trends, which are smooth functions of the number's rank. So what many rare pairs have in
    common is seen, although each pair alone is lost in the noise.

    Examples
    --------
    >>> import numpy as np
    >>> half, each = np.array([0.5, 0.5]), np.arange(2)
    >>> pair = PairTable((each, each), np.array([[450.0, 50.0], [50.0, 450.0]]), noise=1.0)
    >>> chain = fit_chain([half, half], {(0, 1): pair}, 1000.0, print)
    1 2
    2 2
    >>> np.exp(chain.log_probabilities(np.array([[0, 0], [0, 1]]))).round(2)
    array([0.45, 0.05])
    """
    sizes = tuple(map(len, margins))
    ordered = ordered or [0] * len(sizes)
    order = _strongest_first(margins, tables, rows)
    rng = np.random.default_rng(0)  # These rows are synthetic, so their seed may be known.
    design, weights = Design(int(np.clip(3 * rows, _FEWEST_ROWS, _MOST_ROWS)), sizes, order), []
    for place, column in enumerate(order):
        before = design.before(place)
        drawn, start, parts = before.mean(axis=1, dtype=np.float64), 1, []
        for other in order[:place]:
            codes = slice(start, start + sizes[other])
            table = tables[other, column] if other < column else tables[column, other].transposed
            both = (margins[other], margins[column]), (ordered[other], ordered[column])
            parts += pair_weights(codes, table, drawn[codes], *both, rows)
            start = codes.stop
        weights.append(_fit_logit(before, margins[column], parts))
        design.append(draw_codes(code_probabilities(before, weights[-1]), stratified_uniforms(before.shape[1], rng)))
        watch(place + 1, len(order))
    return Chain(sizes, order, tuple(weights))


def _fit_logit(design: np.ndarray, margin: Array, parts: list[PairWeights]) -> Array:
    """Return the weights (codes before, codes): the proportions are those wanted, but for each part's ridge."""
    start = np.zeros((len(design), len(margin)))
    start[0] = np.log(margin)
    intercept_units = 1 / np.sqrt(margin)
    ends = np.cumsum([len(margin), *(part.units.size for part in parts)])

    def expand(flat: Array) -> tuple[Array, list[Array]]:
        intercepts, *pieces = np.split(flat, ends[:-1])
        weights = start.copy()
        weights[0] += intercepts * intercept_units
        values = [piece.reshape(part.units.shape) * part.units for piece, part in zip(pieces, parts)]
        for part, value in zip(parts, values):
            part.add_to(weights, value)
        return weights, values

    def loss(flat: Array) -> tuple[float, Array]:
        weights, values = expand(flat)
        logits = weights.T.astype(np.float32) @ design
        highest = logits.max(axis=0)
        logits -= highest
        np.exp(logits, out=logits)
        sums = logits.sum(axis=0)
        logits /= sums
        found = ((design @ logits.T) / design.shape[1]).astype(np.float64)
        total = float((np.log(sums) + highest).mean(dtype=np.float64)) - float(weights[0] @ margin)
        slopes = [(found[0] - margin) * intercept_units]
        for part, value in zip(parts, values):
            pull = part.ridge * value
            total += 0.5 * float((pull * value).sum()) - float((value * part.wanted).sum())
            slopes.append(((part.slope(found) + pull) * part.units).ravel())
        return total, np.concatenate(slopes)

    best = minimize(loss, np.zeros(ends[-1]), jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS})
    weights = expand(best.x)[0]
    for _ in range(_ADJUSTMENTS):
        weights[0] += np.log(margin / code_probabilities(design, weights).mean(axis=1, dtype=np.float64))
    return weights


def _strongest_first(margins: list[Array], tables: Tables, rows: float) -> tuple[int, ...]:
    """Return the columns by association with all others, strongest first. What noise explains is deducted."""
    strengths = np.zeros(len(margins))
    for (i, j), table in tables.items():
        of_groups = tuple(np.bincount(each, margins[at]) for at, each in zip((i, j), table.groups))
        expected = rows * np.outer(*of_groups)
        found = interaction(table.counts - expected)
        freedom = (len(of_groups[0]) - 1) * (len(of_groups[1]) - 1) / found.size
        variances = expected + table.noise**2
        excess = float(((found**2 - freedom * variances) / variances).sum())
        strengths[[i, j]] += max(0.0, excess)
    return tuple(int(column) for column in np.argsort(-strengths, kind="stable"))

"""Fitting a chain to noisy counts of pairs of columns. It reads no rows.

Columns are fitted in order. Each gets a multinomial logit given the columns before it: the law of maximum entropy among
those with the released counts of its pairs with these columns. The problem is convex. Expectations are taken over
synthetic rows of the columns before it, which the chain has drawn so far. Weights are shrunk as the noise demands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from tacit.arrays import Array
from tacit.synthesis.chain import Chain, Design, code_probabilities, draw_codes, stratified_uniforms
from tacit.synthesis.pair_tables import PairTable, indicators, interaction

Tables = dict[tuple[int, int], PairTable]

# benchmarks/synthetic.py measures what these numbers give.
# Number of synthetic rows: three times the real ones, within these limits. The noise exceeds their sampling error.
_FEWEST_ROWS, _MOST_ROWS = 3000, 30_000
_ITERATIONS = 30  # Largest number of L-BFGS iterations for one column.
_PRIOR_DEVIATION = 0.7  # Prior standard deviation of a weight, in log odds.
_PRIOR_CELLS = 4.0
_PRIOR_RANGE = (0.02, 4.0)
_EB = True


def fit_chain(
    margins: list[Array],
    tables: Tables,
    rows: float,
    watch: Callable[[int, int], None],
    ordered: list[int] | None = None,
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

    Notes
    -----
    Let E be the count of a pair of groups that is expected if the columns are independent. The count determines the
    pair's weight up to a variance (E + noise^2) / E^2: that of sampling rows, and that of the noise. With a prior
    variance v of weights, the posterior mode adds (1 + noise^2 / E) / v times half the squared weight to the negative
    log likelihood. So pairs that are rare compared with the noise are nearly independent in the model.

    A weight is the sum of a weight for the pair of groups and, where coarse groups were counted too, a weight for the
    pair of coarse groups: what many rare pairs have in common is seen, although each pair alone is lost in the noise.

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
    ordered = [0] * len(sizes) if ordered is None else ordered
    order = _strongest_first(margins, tables, rows)
    rng = np.random.default_rng(0)  # These rows are synthetic, so their seed may be known.
    design, weights = Design(int(np.clip(3 * rows, _FEWEST_ROWS, _MOST_ROWS)), sizes, order), []
    for place, column in enumerate(order):
        before = design.before(place)
        drawn, start, levels = before.mean(axis=1, dtype=np.float64), 1, []
        for other in order[:place]:
            codes = slice(start, start + sizes[other])
            table = tables[other, column] if other < column else tables[column, other].transposed
            levels += _levels(codes, table, drawn[codes], (margins[other], margins[column]), rows, (ordered[other], ordered[column]))
            start = codes.stop
        weights.append(_fit_logit(before, margins[column], levels))
        design.append(draw_codes(code_probabilities(before, weights[-1]), stratified_uniforms(before.shape[1], rng)))
        watch(place + 1, len(order))
    return Chain(sizes, order, tuple(weights))


@dataclass(frozen=True, eq=False)
class _Level:
    """Weights of pairs of groups: groups of codes of a column before, and groups of codes of the column.

    `codes` are the codes of the column before in the design. `first` (its codes, groups) and `second` (codes, groups)
    are indicators of which codes are in which groups.
    """

    codes: slice
    first: Array
    second: Array
    wanted: Array  # The proportions of rows that pairs of groups should have.
    ridge: Array
    units: Array  # In these units, all second derivatives are near 1.

    @classmethod
    def of(cls, codes, first, second, wanted, information, variances, prior, rows) -> _Level:
        ridge = (1 + variances / (rows * information + 1)) / prior / rows
        return cls(codes, first, second, wanted, ridge, 1 / np.sqrt(information + ridge))

    def add_to(self, weights: Array, groups: Array) -> None:
        """Add the weights of pairs of groups to the weights of pairs of codes."""
        weights[self.codes] += self.first @ groups @ self.second.T

    def slope(self, found: Array) -> Array:
        """Return derivatives by weights of pairs of groups, from the proportions of pairs of codes."""
        return np.asarray(self.first.T @ found[self.codes] @ self.second - self.wanted)


_DEGREE = 2
_PRIORS = (0.1, 0.2, 0.2)
_WIDTH = 1.5
_TREND = True
_FIX = 3
_MAXCOR = 10


def _trends(margin: Array, known: int) -> Array | None:
    """Return smooth functions of the codes of a number, (codes, functions), of variance 1 and mean 0."""
    if known < 3:
        return None
    shares = margin[:known] / margin[:known].sum()
    place = 2 * (np.cumsum(shares) - shares / 2) - 1
    powers = np.vander(place, min(_DEGREE + 1, known), increasing=True)
    q, _ = np.linalg.qr(np.sqrt(shares)[:, None] * powers)
    functions = np.zeros((len(margin), powers.shape[1] - 1))
    functions[:known] = q[:, 1:] / np.sqrt(shares)[:, None]
    return functions


def _levels(codes: slice, table: PairTable, drawn: Array, margins: tuple[Array, Array], rows: float, ordered) -> list[_Level]:
    """Return the weights of a pair of columns."""
    first, second = (indicators(each) for each in table.groups)
    shares = margins[0] @ first, margins[1] @ second
    expected = np.outer(*shares)
    by_rows = np.outer(drawn @ first, shares[1])
    change = interaction(table.counts / rows - by_rows)
    wanted = by_rows + change
    change = interaction(table.counts / rows - expected)
    bases = []  # (basis of groups, basis of groups, default prior variance, free)
    each = np.eye(len(shares[0])), np.eye(len(shares[1]))
    lifts = each if table.coarse is None else tuple(indicators(part) for part in table.coarse)
    trends = [_trends(share, int(part[:known].max(initial=-1)) + 1) for share, part, known in zip(shares, table.groups, ordered)]
    if _TREND and (trends[0] is not None or trends[1] is not None):
        both = [lift if trend is None else trend for lift, trend in zip(lifts, trends)]
        bases.append((*both, _PRIORS[0]))
    if any(lift.shape[1] < len(lift) for lift in lifts):
        bases.append((*lifts, _PRIORS[1]))
    bases.append((*each, _PRIORS[2]))
    levels, explained = [], np.zeros_like(expected)
    for one, two, default in bases:
        information = np.outer(shares[0] @ one**2, shares[1] @ two**2)
        variances = table.variances(one, two)
        left = one.T @ (change - interaction(expected * np.expm1(explained))) @ two
        free = [1.0 if trend is not None and basis.shape[1] == trend.shape[1] else 1 - 1 / basis.shape[1] for trend, basis in zip(trends, (one, two))]
        estimates = left / information
        errors = (rows * information + variances) / (rows * information) ** 2 * free[0] * free[1]
        prior = _prior_variance(estimates, errors, default)
        explained = explained + one @ (np.clip(estimates, -3, 3) * prior / (prior + errors)) @ two.T
        levels.append(_Level.of(codes, first @ one, second @ two, one.T @ wanted @ two, information, variances, prior, rows))
    return levels


def _prior_variance(estimates: Array, errors: Array, default: float) -> float:
    """Return the variance of weights that estimates with these errors show."""
    steps = np.arange(-6, 7)
    variances = default * 2.0**steps
    totals = variances[:, None] + errors.ravel()
    fit = -0.5 * (np.log(totals) + estimates.ravel() ** 2 / totals).sum(axis=1) - 0.5 * (steps * np.log(2) / _WIDTH) ** 2
    weights = np.exp(fit - fit.max())
    return float(weights @ variances / weights.sum())


def _fit_logit(design: np.ndarray, margin: Array, levels: list[_Level]) -> Array:
    """Return the weights (codes before, codes) with the proportions that levels want, shrunk by each level's ridge."""
    start = np.zeros((len(design), len(margin)))
    start[0] = np.log(margin)
    intercept_units = 1 / np.sqrt(margin)
    ends = np.cumsum([len(margin), *(level.units.size for level in levels)])

    def expanded(flat: Array) -> tuple[Array, list[Array]]:
        intercept, *each = np.split(flat, ends[:-1])
        weights = start.copy()
        weights[0] += intercept * intercept_units
        parts = [part.reshape(level.units.shape) * level.units for part, level in zip(each, levels)]
        for level, part in zip(levels, parts):
            level.add_to(weights, part)
        return weights, parts

    def loss(flat: Array) -> tuple[float, Array]:
        weights, parts = expanded(flat)
        logits = weights.T.astype(np.float32) @ design
        highest = logits.max(axis=0)
        logits -= highest
        np.exp(logits, out=logits)
        sums = logits.sum(axis=0)
        logits /= sums
        found = ((design @ logits.T) / design.shape[1]).astype(np.float64)
        value = float((np.log(sums) + highest).mean(dtype=np.float64)) - float(weights[0] @ margin)
        slopes = [(found[0] - margin) * intercept_units]
        for level, part in zip(levels, parts):
            pull = level.ridge * part
            value += 0.5 * float((pull * part).sum()) - float((part * level.wanted).sum())
            slopes.append(((level.slope(found) + pull) * level.units).ravel())
        return value, np.concatenate(slopes)

    best = minimize(loss, np.zeros(ends[-1]), jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS, "maxcor": _MAXCOR})
    weights = expanded(best.x)[0]
    for _ in range(_FIX):
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

"""A density of tables: columns in a fixed order, each with a law that depends on the columns before it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.arrays import Array

Codes = NDArray[np.intp]
_Single = NDArray[np.float32]  # Probabilities are exact enough in single precision, which is twice as fast.


@dataclass(frozen=True, eq=False)
class Chain:
    """A density of rows of codes, as a product of one multinomial logit for each column.

    With c(j) the columns before column j in the order, the log odds of its codes are weights[j][0] plus, for each
    column i in c(j), the row of weights[j] that belongs to the code of column i.

    Parameters
    ----------
    sizes : tuple of int
        How many codes each column has.
    order : tuple of int
    weights : tuple of arrays
        In that order: for each column an array (1 + all codes of the columns before it, its codes).

    Examples
    --------
    >>> import numpy as np
    >>> alike = Chain((2, 2), (0, 1), (np.zeros((1, 2)), np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])))
    >>> codes = alike.draw(1000, np.random.default_rng(0))
    >>> bool((codes[:, 0] == codes[:, 1]).mean() > 0.99)
    True
    >>> alike.log_probabilities(np.array([[0, 0], [0, 1]])).round(1)
    array([-0.7, -9.7])
    """

    sizes: tuple[int, ...]
    order: tuple[int, ...]
    weights: tuple[Array, ...]

    def draw(self, count: int, rng: np.random.Generator) -> Codes:
        """Return the codes of `count` rows."""
        design = Design(count, self.sizes, self.order)
        for place, weights in enumerate(self.weights):
            design.append(
                draw_codes(code_probabilities(design.before(place), weights), stratified_uniforms(count, rng))
            )
        return design.codes

    def log_probabilities(self, codes: Codes) -> Array:
        """Return the log probability of each row of codes."""
        # In single precision the last digits depend on where a row stands.
        design = Design(len(codes), self.sizes, self.order, np.float64)
        total = np.zeros(len(codes))
        for place, (column, weights) in enumerate(zip(self.order, self.weights)):
            probabilities = code_probabilities(design.before(place), weights)
            total += np.log(probabilities[codes[:, column], np.arange(len(codes))])
            design.append(codes[:, column])
        return total


class Design:
    """Rows of codes that grow column by column, and their design matrix: an intercept and indicators of codes."""

    def __init__(
        self, rows: int, sizes: tuple[int, ...], order: tuple[int, ...], precision: type[np.floating] = np.float32
    ) -> None:
        self._order, self._done = order, 0
        self._ends = np.cumsum([1, *(sizes[column] for column in order)])
        self._matrix = np.zeros((int(self._ends[-1]), rows), dtype=precision)
        self._matrix[0] = 1.0
        self.codes = np.zeros((rows, len(sizes)), dtype=np.intp)

    def append(self, codes: Codes) -> None:
        """Add the next column of the order."""
        self.codes[:, self._order[self._done]] = codes
        self._matrix[self._ends[self._done] + codes, np.arange(len(codes))] = 1.0
        self._done += 1

    def before(self, place: int) -> _Single:
        """Return the design matrix of the columns before this place in the order, (1 + all their codes, rows)."""
        return self._matrix[: self._ends[place]]


def code_probabilities(design: _Single, weights: Array) -> _Single:
    """Return the probabilities of a column's codes, (codes, rows), by a multinomial logit of the design matrix."""
    # Rows are the last axis, because sums over a short last axis are slow.
    logits = weights.T.astype(design.dtype) @ design
    logits -= logits.max(axis=0)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=0)
    np.maximum(logits, np.finfo(design.dtype).tiny, out=logits)
    return logits


def stratified_uniforms(count: int, rng: np.random.Generator) -> Array:
    """Return `count` numbers between 0 and 1 in random order, one in each of `count` equal parts of that range.

    Codes that are drawn by them have nearly the proportions they should have, in short tables too.
    """
    return (rng.permutation(count) + rng.random(count)) / count


def draw_codes(probabilities: _Single, uniform: Array) -> Codes:
    """Return a code for each row, from their probabilities (codes, rows) and numbers between 0 and 1."""
    return np.minimum((np.cumsum(probabilities, axis=0) < uniform).sum(axis=0), len(probabilities) - 1)

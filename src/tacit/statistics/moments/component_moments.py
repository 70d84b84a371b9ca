"""Moments of rows under a mixture, clipped: the statistic behind private EM for Gaussian mixtures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.kernels import CACHE_NUMBERS, ROWS_AT_ONCE
from tacit.messages import describe
from tacit.privacy import Relation
from tacit.release.statistic import Norm
from tacit.rounding import ROW_SLACK
from tacit.statistics.components import Components, Workspace
from tacit.statistics.ranges import check_sizes
from tacit.statistics.row_vectors import VectorModel

CovarianceType = Literal["full", "tied", "diag", "spherical"]
_ROOM = Workspace()


@dataclass(frozen=True, eq=False)
class ComponentMoments:
    """Count, mean and second moment of each component's rows, in coordinates where a clipped row is in the unit ball.

    Row x with responsibilities r_k (``Components.e_step``) contributes, for all k together,

        t(x) = ( count * r_k,  mean * r_k * v_k,  second * r_k * S(v_k) ),    v_k = clip(y_k, radius) / radius,

    where y_k is the row in coordinates of component k, L_k^-1 (x - mu_k), or the row itself if ``whitened`` is False,
    clip shortens a vector to length ``radius`` if it is longer, and S(v) is

    - "full": the upper triangle of v v', off-diagonal entries times sqrt(2), so that |S(v)| = |v|^2;
    - "tied": the same, with the sum over k of r_k S(v_k) in place of the K parts;
    - "diag": the squares of v;
    - "spherical": |v|^2.

    Parameters
    ----------
    components : VectorModel
        What turns rows into vectors y_k and weights r_k: :class:`Components`, or the scores of a regression. Its
        parameters are public, or private already.
    radius : float
        The clip radius of rows.
    count, mean, second : float
        Weights of the three parts. Noise is the same on every number released, so a larger weight is a finer release.
        A part with weight 0 is left out.
    covariance_type : {"full", "tied", "diag", "spherical"}
    whitened : bool
        Clip and measure rows in each component's own coordinates, or as they are.
    only : int, optional
        Release this component's moments alone.

    Notes
    -----
    **One row.** |v_k| <= 1 and |S(v)| <= |v|^2 <= 1, the responsibilities are at least 0 and add up to at most 1, so
    |t|^2 <= sum_k r_k^2 (count^2 + mean^2 + second^2) <= B^2 := count^2 + mean^2 + second^2 (tied: the last part is a
    convex combination of vectors of length at most 1). **add_remove**: the sum moves by t(x), at most B.

    **replace_one**: the sum moves by t(x) - t(x'), and |t - t'|^2 = |t|^2 + |t'|^2 - 2 <t, t'>. With
    u_k = <v_k, v'_k> in [-1, 1], <S(v), S(v')> >= u^2 for full (equality), tied (the other terms are squares) and
    spherical (|v|^2 |v'|^2 >= u^2). So

        <t, t'> >= sum_k r_k r'_k g(u_k),    g(u) = count^2 + mean^2 u + second^2 u^2,

    and as sum_k r_k r'_k <= 1, <t, t'> >= min(0, min g). Hence |t - t'|^2 <= 2 B^2 + 2 max(0, -min g over [-1, 1]).
    When mean^2 <= 2 count second, g is never negative and the bound is sqrt(2) B: a replaced row costs sqrt(2), not 2,
    times as much as an added one. The numbers of "diag" are some of those of "full", so they move no further. One
    component alone (``only``) is the case of one k.

    **l1**: a vector of m numbers has l1 norm at most sqrt(m) times its l2 norm, so a row's is at most
    count + mean sqrt(d) + second sqrt(m); a replaced row can do that twice.

    A row with NaN, or one that overflows, has responsibilities 0 and contributes nothing.

    Examples
    --------
    >>> import numpy as np
    >>> one = Components(np.ones(1), np.zeros((1, 2)), np.eye(2)[None])
    >>> moments = ComponentMoments(one, radius=3.0)
    >>> counts, sums, squares = moments.parts(moments.block_sum(np.array([[1.0, 0.0], [0.0, -2.0]])))
    >>> counts, sums.round(9), squares.round(9)
    (array([2.]), array([[ 1., -2.]]), array([[[1., 0.],
            [0., 4.]]]))
    >>> round(moments.sensitivity("add_remove"), 4), round(moments.sensitivity("replace_one"), 4)
    (1.7321, 2.4495)
    """

    components: VectorModel
    radius: float
    count: float = 1.0
    mean: float = 1.0
    second: float = 1.0
    covariance_type: CovarianceType = "full"
    whitened: bool = True
    only: int | None = None

    def __post_init__(self) -> None:
        check_sizes("The radius", self.radius)
        check_sizes("The weights count, mean and second", (self.count, self.mean, self.second), or_zero=True)
        if not self.count + self.mean + self.second > 0:
            raise ValueError("The weights count, mean and second must be over 0 in part: not all 0.")
        if self.only is not None and not 0 <= self.only < self.components.count:
            raise ValueError(
                f"only must name one of {self.components.count} component(s), and it is {describe(self.only)}."
            )

    @cached_property
    def size(self) -> int:
        """How many numbers are released."""
        number, columns = self._number, self.components.columns
        seconds = 1 if self.covariance_type == "tied" else number
        return (
            number * (self.count > 0)
            + number * columns * (self.mean > 0)
            + seconds * numbers_in_second_moment(self.covariance_type, columns) * (self.second > 0)
        )

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return the bound proved in the notes."""
        columns = self.components.columns
        if norm == "l1":
            numbers = numbers_in_second_moment(self.covariance_type, columns)
            row = self.count + self.mean * math.sqrt(columns) + self.second * math.sqrt(numbers)
            return (row if neighbors == "add_remove" else 2 * row) * ROW_SLACK
        return moment_sensitivity(self.count, self.mean, self.second, neighbors)

    def block_sum(self, block: Array) -> Array:
        """Return the sum over the rows of a block."""
        numbers = self.components.count * (self.components.columns + 1)
        # An odd multiple, because lines whose length is a power of two would compete for few places in the cache.
        piece = (CACHE_NUMBERS // (numbers * ROWS_AT_ONCE) | 1) * ROWS_AT_ONCE
        total = np.zeros(self.size)
        for start in range(0, len(block), piece):
            total += self._piece_sum(block[start : start + piece])
        return total

    def parts(self, total: Array) -> tuple[Array, Array, Array]:
        """Return a (noisy) total as counts (K,), sums of y (K, d) and sums of y y' in the statistic's coordinates.

        The last is (K, d, d) for full, (d, d) for tied, (K, d) for diag and (K,) for spherical. A part of weight 0
        comes back empty.
        """
        number, columns = self._number, self.components.columns
        counts, sums, squares = np.split(
            total, np.cumsum([number * (self.count > 0), number * columns * (self.mean > 0)])
        )
        if self.count > 0:
            counts = counts / self.count
        if self.mean > 0:
            sums = sums.reshape(number, columns) * (self.radius / self.mean)
        if self.second > 0:
            squares = _unpack(squares * (self.radius**2 / self.second), self.covariance_type, number, columns)
        return counts, sums, squares

    @property
    def _number(self) -> int:
        return self.components.count if self.only is None else 1

    def _piece_sum(self, rows: Array) -> Array:
        if isinstance(self.components, Components):
            lifted, distances, weights = self.components.e_step(rows, room=_ROOM)
        else:
            lifted, distances, weights = self.components.e_step(rows)
        if not self.whitened:
            with np.errstate(over="ignore", invalid="ignore"):
                lengths = np.einsum("rd,rd->r", rows, rows)
            kept = np.isfinite(lengths)  # The row itself may overflow where the whitened one does not.
            weights = weights * kept
            lifted[:, self._y] = np.where(kept, rows.T, 0.0)
            distances = np.broadcast_to(np.where(kept, lengths, 0.0), distances.shape)
        if self.only is not None:
            chosen = slice(self.only, self.only + 1)
            lifted, distances, weights = lifted[chosen], distances[chosen], weights[chosen]
        # The square of what y is divided by to have v: the radius inside the ball, |y| outside.
        lengths2 = np.maximum(distances, self.radius**2, out=_ROOM("lengths", *distances.shape))
        return np.concatenate(self.weighted_moments(lifted, distances, weights, lengths2))

    @property
    def _y(self) -> slice:
        """The lines of y in whitened rows."""
        return slice(1, 1 + self.components.columns)

    def weighted_moments(self, lifted: Array, distances: Array, weights: Array, lengths2: Array) -> list[Array]:
        """Return the parts of the sum over rows, from what ``Components.e_step`` returns.

        `lengths2` (K, rows) is the square of what y is divided by to have v; it is overwritten, as whitened rows are.
        """
        if self.covariance_type in ("full", "tied") and self.second > 0:
            return self._gram(lifted, weights, lengths2)
        y = lifted[:, self._y]
        scale = 1.0 / np.sqrt(lengths2)
        weighted = weights * scale
        out = []
        if self.count > 0:
            out.append(self.count * weights.sum(axis=1))
        if self.mean > 0:
            out.append(self.mean * (y @ weighted[:, :, None]).ravel())
        if self.second > 0:
            weighted *= scale
            if self.covariance_type == "spherical":
                out.append(self.second * np.einsum("kr,kr->k", weighted, distances))
            else:
                out.append(self.second * ((y * y) @ weighted[:, :, None]).ravel())
        return out

    def _gram(self, lifted: Array, weights: Array, lengths2: Array) -> list[Array]:
        """All three parts from one product: Z Z' with columns (sqrt(r), sqrt(r) v) holds r, r v and r v v'."""
        np.sqrt(weights, out=lifted[:, 0])
        scale = np.sqrt(np.divide(weights, lengths2, out=lengths2), out=lengths2)
        lifted[:, self._y] *= scale[:, None, :]  # In place, because this step waits for memory.
        gram = lifted @ lifted.transpose(0, 2, 1)
        out = []
        if self.count > 0:
            out.append(self.count * gram[:, 0, 0])
        if self.mean > 0:
            out.append(self.mean * gram[:, 0, self._y].ravel())
        out.append(self.second * pack_seconds(gram[:, self._y, self._y], self.covariance_type))
        return out


def numbers_in_second_moment(covariance_type: CovarianceType, columns: int) -> int:
    """Return how many numbers one second moment of each type has.

    Examples
    --------
    >>> [numbers_in_second_moment(kind, 10) for kind in ("full", "diag", "spherical")]
    [55, 10, 1]
    """
    triangle = columns * (columns + 1) // 2
    return {"full": triangle, "tied": triangle, "diag": columns, "spherical": 1}[covariance_type]


def moment_sensitivity(
    count: float, mean: float, second: float, neighbors: Relation, level_weight: float = 0.0
) -> float:
    """Return the l2 sensitivity of :class:`ComponentMoments` with these weights; its notes have the proof.

    `level_weight` is the weight of what :class:`TableMoments` adds to them.
    """
    row2 = count**2 + mean**2 + second**2 + level_weight**2
    if neighbors == "add_remove":
        return math.sqrt(row2) * ROW_SLACK
    least = _least_of_parabola(count**2, mean**2, second**2)
    return math.sqrt(2 * row2 + 2 * max(0.0, -least)) * ROW_SLACK


def _least_of_parabola(constant: float, slope: float, curvature: float) -> float:
    """Return the least of constant + slope u + curvature u^2 over u in [-1, 1], for slope and curvature at least 0."""
    u = -1.0 if slope >= 2 * curvature else -slope / (2 * curvature)
    return constant + slope * u + curvature * u * u


@cache
def triangle(columns: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Return rows and columns of the upper triangle, and by what its numbers are multiplied."""
    rows, cols = np.triu_indices(columns)
    return rows, cols, np.where(rows == cols, 1.0, math.sqrt(2.0))


def pack_seconds(seconds: Array, covariance_type: CovarianceType) -> Array:
    """Return second moments (K, d, d) as the numbers that are released."""
    if covariance_type == "spherical":
        traces: Array = np.einsum("kii->k", seconds)
        return traces
    if covariance_type == "diag":
        return np.ravel(np.einsum("kii->ki", seconds))
    if covariance_type == "tied":
        seconds = seconds.sum(axis=0, keepdims=True)
    rows, cols, factors = triangle(seconds.shape[1])
    numbers: Array = (seconds[:, rows, cols] * factors).ravel()
    return numbers


def _unpack(numbers: Array, covariance_type: CovarianceType, count: int, columns: int) -> Array:
    if covariance_type == "spherical":
        return numbers
    if covariance_type == "diag":
        return numbers.reshape(count, columns)
    rows, cols, weights = triangle(columns)
    triangles = numbers.reshape(1 if covariance_type == "tied" else count, len(weights)) / weights
    matrices = np.zeros((len(triangles), columns, columns))
    matrices[:, rows, cols] = triangles
    matrices[:, cols, rows] = triangles
    return matrices[0] if covariance_type == "tied" else matrices

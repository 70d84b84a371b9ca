"""Minima of convex sums over rows: found inside the curator from exact sums, told with noise alone.

A minimum is no sum over rows, and yet one row cannot move it far where the sum is strongly convex. Rows i have convex
functions f_i of parameters theta, with gradients no longer than G; Q is a public, positive definite matrix, and

    F(theta) = sum_i f_i(theta) + (theta - centre)' Q (theta - centre) / 2 + <tilt, theta>

has its minimum at theta*. What is told of it is u = R (theta - centre), where R'R = Q: lengths of u are Q-norms.

Formal guarantees
-----------------
1. *How far one row moves it.* Let F' be the sum of a neighbouring table, and theta' its minimum. Q-strong convexity,
   and that gradients vanish at minima, give

       |theta* - theta'|_Q^2 <= <grad F(theta*) - grad F(theta'), theta* - theta'> = <grad (F' - F)(theta'), ...>,

   so |theta* - theta'|_Q is at most the dual norm of how much the sum of gradients changes, at one and the same
   parameters: S / sqrt(mu), S the sensitivity of the sum of gradients and mu the least eigenvalue of Q. That holds for
   rows that are replaced, and for rows that come and go: Q is fixed, and nothing is divided by the number of rows.
2. *How far off a computed one is.* By the same inequality |theta - theta*|_Q <= |grad F(theta)| / sqrt(mu). What a
   search comes to is told only if the gradient there, computed once more, is shorter than a public ``tolerance``, and
   the way there no longer than ``search_radius``; what its computation may be off, ``off``, is added. So u moves by at
   most (S + 2 (tolerance + off)) / sqrt(mu) between neighbours. That check is all of the search that must be believed.
3. *Tilted minima* (objective perturbation). Where the tilt is Gaussian, the exact minimum is private by itself, at the
   price of a :class:`tacit.privacy.TiltedGaussian` step (proved in :mod:`tacit.privacy.composition`), for a ridge that
   is added to Q so that log(1 + curvature / mu) <= bend / noise multiplier. Given the exact minimum and the rows, the
   tilt is known (it is minus the gradient), and with it the computed minimum: their difference is a function of rows
   and of something private already. It is never longer than (tolerance + off + rounding of the tilt) / sqrt(mu), and
   twice that is the sensitivity of what is told, for noise of its own: the two compose.

What is reckoned with in ``off``: each row's gradient as computed (``RowGradients.error``); block sums in floating point
(:mod:`tacit.release.curator`); rounding to the lattice; and a few operations on parameters afterwards, which are no
longer than ``search_radius``. Bounds hold for `most_rows` rows, and tilts of at most 64 standard deviations in each
number; probabilities of under 1e-800 that they do not hold are covered by what the bound for discrete noise leaves
over.

*Every search ends.* With a metric M = Q + likely, m = sqrt(g' M^-1 g) measures how far there is to go. A plain step
theta - M^-1 g / c has the gradient (1 - A) g in the metric, where A is between q / c and 1 once c M exceeds all second
derivatives: m shrinks by 1 - q / c at least, q a public number. Steps that remember earlier ones (Anderson's), and
those by second derivatives (Newton's), are taken only where they do better than that by a fixed factor. Nothing about
the way is told; only how long a fit takes depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, eigh, solve_triangular

from tacit.arrays import Array
from tacit.privacy import Relation, TiltedGaussian
from tacit.release.lattice import Lattice
from tacit.release.statistic import Statistic
from tacit.rounding import FORMULA_SLACK, UNIT_ROUNDOFF

# These two are part of the proof.
_FEW = 16.0  # More than the roundings of one number in sums and products of vectors, over the vectors' length.
_DEVIATIONS = 64.0  # No number of a tilt is more standard deviations out than this; see above.
# These decide how long a search takes, and how exact it is. The bounds count them in, whatever they are.
_TOLERANCE = 2.0**-18  # A search may end at a gradient of this part of the longest gradient of a row.
_REMEMBERED = 10  # The number of earlier steps that Anderson's method combines.
_FAR_BETTER = 0.9  # A combined step must shorten the gradient to at most this part of its length.
_SHORTEST = 2.0**-24  # A Newton step that is shortened to less than this is given up.


class RowGradients(Statistic, Protocol):
    """Sums of gradients of convex functions of parameters, one function for each row, at some parameters."""

    def at(self, parameters: Array) -> RowGradients:
        """Return the gradients of the same functions at other parameters, with the same bounds."""

    @property
    def curvature(self) -> float:
        """The most that one row's function bends: no eigenvalue of its second derivatives is larger."""

    @property
    def linear(self) -> bool:
        """Whether rows have functions of one linear prediction each, with two continuous derivatives."""

    def second_derivatives(self, total: Callable[[Statistic], Array]) -> Array:
        """Return an estimate, (p, p) and at least 0, of the sum of all rows' second derivatives."""

    def error(self, length: float) -> float:
        """Return how far off a row's gradient is, as computed at parameters no longer than `length`."""


@dataclass(frozen=True, eq=False)
class Minimum:
    """The minimum of a convex sum over rows: asked of :meth:`tacit.release.Curator.minimise`.

    Parameters
    ----------
    gradients : RowGradients
        The gradients of functions that *are* convex, with the bounds stated.
    centre : (p,) array
        The parameters at which the quadratic term is least. The search starts there.
    quadratic : (p, p) array
        Q of the module's docstring, symmetric and at least 0; positive definite where there is no tilt.
    likely : (p, p) array
        An estimate of the sum of all rows' second derivatives. A good one makes searches short.
    most_rows : float
        No table has more rows than this; if one had, nothing here would hold, and a search might not end.
    fall : float, default infinity
        The most by which any row's function can fall below its value at the centre.
    tilt : str, optional
        The plan's :class:`tacit.privacy.TiltedGaussian` step, for a tilted minimum.

    Notes
    -----
    All of it is public, or private already. The proofs are in the module's docstring.
    """

    gradients: RowGradients
    centre: Array
    quadratic: Array
    likely: Array
    most_rows: float
    fall: float = math.inf
    tilt: str | None = None

    @property
    def size(self) -> int:
        """How many parameters there are."""
        return len(self.centre)

    def search(self, neighbors: Relation, tilted: TiltedGaussian | None, block_rows: int, blocks: int) -> Search:
        """Return how to search for the minimum, and how far answers of neighbours can be apart. It depends on no row.

        There are at most `blocks` blocks of at most `block_rows` rows each.
        """
        at, size = self.gradients.at(self.centre), self.size
        row, change = at.sensitivity("add_remove", "l2"), at.sensitivity(neighbors, "l2")
        quadratic, tilt_scale, tilt_step = self.quadratic, 0.0, 0.0
        if tilted is not None:
            if not at.linear:
                raise ValueError(
                    "Only sums of functions of one linear prediction, with two derivatives, can be tilted."
                )
            ridge = at.curvature / math.expm1(tilted.bend / tilted.noise_multiplier) * FORMULA_SLACK
            ridge += 1e-12 * size * float(np.linalg.norm(quadratic))  # Rounding may have made Q negative.
            quadratic = quadratic + ridge * np.eye(size)
            tilt_scale = tilted.noise_multiplier * change * FORMULA_SLACK
            tilt_step = Lattice.for_noise(tilt_scale, row).step
        values = np.linalg.eigvalsh(quadratic)
        least, largest = float(values[0] - 1e-12 * size * values[-1]), float(values[-1])
        if not least > 0:
            raise ValueError("The sum must be strongly convex: its quadratic term is nearly flat in some direction.")
        longest_tilt = _DEVIATIONS * tilt_scale * math.sqrt(size)
        pull = self.most_rows * row + longest_tilt
        length = min(pull / least, 2 * longest_tilt / least + math.sqrt(2 * self.most_rows * self.fall / least))
        search_radius, away = 2 * length, float(np.linalg.norm(self.centre))
        lattice = Lattice(2.0 ** (math.frexp(self.most_rows * row)[1] - 61))
        each = at.error(away + search_radius) + (block_rows + 4 * _FEW) * UNIT_ROUNDOFF * row
        after = _FEW * UNIT_ROUNDOFF * (size**1.5 * largest * (away + search_radius) + pull)
        off = self.most_rows * each * FORMULA_SLACK + blocks * lattice.step / 2 * math.sqrt(size) + after
        tolerance = max(2 * off, _TOLERANCE * row)
        inexact = tolerance + off + tilt_step / 2 * math.sqrt(size)
        stretch = math.sqrt(1 + 8 * size**2 * UNIT_ROUNDOFF * largest / least)  # Rounding makes R'R differ from Q.
        moved = ((0.0 if tilted else change) + 2 * inexact) * stretch / math.sqrt(least) * FORMULA_SLACK
        return Search(self, quadratic, lattice, tolerance, search_radius, row, change, tilt_scale, tilt_step, moved)


@dataclass(frozen=True, eq=False)
class Search:
    """How a minimum is searched for: made by :meth:`Minimum.search`, from public numbers.

    Parameters
    ----------
    minimum : Minimum
    quadratic : (p, p) array
        Q, with what a tilt asks for on top.
    lattice : Lattice
        The lattice of the sums of gradients.
    tolerance, search_radius : float
        A search ends at parameters where the gradient is at most `tolerance` long, and which are at most
        `search_radius` away from the centre.
    row, change : float
        The longest gradient of a row, and the sensitivity of the sum of gradients.
    tilt_scale, tilt_step : float
        The tilt's standard deviation and lattice; 0 without a tilt.
    sensitivity : float
        How far one row moves what is told, in l2 norm.
    """

    minimum: Minimum
    quadratic: Array
    lattice: Lattice
    tolerance: float
    search_radius: float
    row: float
    change: float
    tilt_scale: float
    tilt_step: float
    sensitivity: float

    def find(self, total: Callable[[Statistic], Array], tilt: Array | float = 0.0) -> Array:
        """Return u at the minimum, within the tolerance, from a function that returns sums over all rows."""
        minimum = self.minimum
        theta = self._descend(total, tilt)
        at = minimum.gradients.at(theta)
        gradient = self.quadratic @ (theta - minimum.centre) + total(at) + tilt
        if not (self.is_near(theta, gradient) and at.sensitivity("add_remove", "l2") <= self.row):
            raise RuntimeError("A search for a minimum has ended elsewhere; nothing is told of it.")
        return self._root @ (theta - minimum.centre)

    def is_near(self, theta: Array, gradient: Array) -> bool:
        """Whether parameters with this gradient are as near to the minimum as the bounds assume. NaN is not near."""
        within = np.linalg.norm(theta - self.minimum.centre) <= self.search_radius
        return bool(within and np.linalg.norm(gradient) <= self.tolerance)

    def _descend(self, total: Callable[[Statistic], Array], tilt: Array | float) -> Array:
        """Return parameters near the minimum."""
        minimum = self.minimum
        theta, metric, short = minimum.centre, self._metric, 1.0
        least = float(eigh(self.quadratic, self.quadratic + minimum.likely, eigvals_only=True)[0]) / 2

        def gradient(theta: Array) -> Array:
            slope: Array = self.quadratic @ (theta - minimum.centre) + total(minimum.gradients.at(theta)) + tilt
            return slope

        here, shorter = gradient(theta), 1.0
        memory: list[tuple[Array, Array]] = []  # Earlier steps, and how each of them changed the gradient.
        while not self.is_near(theta, here):
            step, rest = np.zeros_like(theta), here
            if memory:
                steps, changes = (np.column_stack(parts) for parts in zip(*memory))
                factors = np.linalg.lstsq(self._scale(changes), self._scale(here), rcond=1e-10)[0]
                step, rest = -steps @ factors, here - changes @ factors
            ahead = theta + step - short * cho_solve(metric, rest)
            there = gradient(ahead)
            better = float(np.linalg.norm(self._scale(there)) / np.linalg.norm(self._scale(here)))
            plain = metric is self._metric and not memory
            if better <= (_FAR_BETTER if memory else 1 - (least * shorter if plain else short / 4)):
                memory = [*memory, (ahead - theta, there - here)][-_REMEMBERED:]
                theta, here = ahead, there
            elif memory:  # Second derivatives have changed, so they are computed anew.
                memory, short = [], 1.0
                metric = self._factors(minimum.gradients.at(theta).second_derivatives(total))
            elif not plain and short > _SHORTEST:
                short /= 4
            else:
                shorter /= 2 if plain else 1
                metric, short = self._metric, shorter
        return theta

    def parameters(self, told: Array) -> Array:
        """Return the parameters that are told by u."""
        parameters: Array = self.minimum.centre + solve_triangular(self._root, told)
        return parameters

    @cached_property
    def _root(self) -> Array:
        root: Array = cholesky(self.quadratic)
        return root

    @cached_property
    def _metric(self) -> tuple[Array, bool]:
        return self._factors(self.minimum.likely)

    def _factors(self, derivatives: Array) -> tuple[Array, bool]:
        factors: tuple[Array, bool] = cho_factor(self.quadratic + derivatives, lower=True)
        return factors

    def _scale(self, vectors: Array) -> Array:
        scaled: Array = solve_triangular(self._metric[0], vectors, lower=True)
        return scaled

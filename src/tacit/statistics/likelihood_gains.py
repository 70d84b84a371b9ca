"""How much better one mixture explains a row than another, bounded: what a private choice among mixtures rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.kernels import ROWS_AT_ONCE
from tacit.privacy import Relation
from tacit.release.statistic import Norm
from tacit.rounding import ROW_SLACK
from tacit.statistics.components import Components
from tacit.statistics.table_components import TableComponents

_PIECE = 32 * ROWS_AT_ONCE  # The number of rows that are worked on at a time, so that they stay in the cache.


@dataclass(frozen=True, eq=False)
class LikelihoodGains:
    """Log-likelihood that each candidate gains over the one before it, with a bound on what one row adds.

    Row x, with densities p_0(x), ..., p_m(x) under the candidates, contributes

        t(x) = h / max(1, |h|),    h_j = tanh(u_j / 2),    u_j = log p_j(x) - log p_(j-1)(x),    j = 1, ..., m.

    2 tanh(u / 2) is the gain u itself where that is small, and never more than 2, whatever the row. It keeps the sign
    that counts: it is 2 (p - q) / (p + q), so over rows that follow p it has a mean of at least 0, whatever q is, and
    over rows that follow q one of at most 0.

    Parameters
    ----------
    candidates : sequence of Components or TableComponents
        Already private; at least two.
    missing : bool
        Whether cells may be missing, and a row's densities are those of the cells that it has. Candidates are
        TableComponents then.

    Notes
    -----
    **add_remove**: |t| <= 1, as h is shortened to length 1 where it is longer. **replace_one**: the sum moves by
    t(x) - t(x'), and |t - t'| <= |t| + |t'| <= 2; two rows of which one prefers the first candidate and the other the
    second, beyond doubt, reach that. **l1**: t has m numbers, so its l1 norm is at most sqrt(m) times its l2 norm.

    Nothing is used of what a density is but that it is a number computed from this row and private parameters alone, so
    the bounds hold as they stand for tables with levels, whose densities are products, and for rows with missing cells:
    a row that comes to lack a cell, or comes to have it, is another row and no more. Densities of the same row are
    compared, so always of the same cells, whose units cancel. With all cells missing all densities are 1 and all gains
    0.

    A row that any candidate can say nothing about (``log_density`` is NaN) contributes nothing: without `missing`, one
    with a missing cell.

    Examples
    --------
    >>> import numpy as np
    >>> one, other = (Components(np.ones(1), np.full((1, 1), mean), np.ones((1, 1, 1))) for mean in (0.0, 1.0))
    >>> gains = LikelihoodGains((one, other))
    >>> gains.parts(gains.block_sum(np.array([[0.6], [9.0]]))).round(2)
    array([2.1])
    >>> gains.sensitivity("add_remove"), gains.sensitivity("replace_one")
    (1.000000000001, 2.000000000002)
    """

    candidates: tuple[Components, ...] | tuple[TableComponents, ...]
    missing: bool = False

    def __post_init__(self) -> None:
        if len(self.candidates) < 2:
            raise ValueError(f"A choice needs at least two candidates, and there are {len(self.candidates)}.")
        if self.missing and not all(isinstance(each, TableComponents) for each in self.candidates):
            raise ValueError("With missing cells the candidates must be TableComponents, which can do without cells.")

    @property
    def size(self) -> int:
        """How many numbers are released."""
        return len(self.candidates) - 1

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return the bound proved in the notes, enlarged by the rounding within a row."""
        row = 1.0 if norm == "l2" else math.sqrt(self.size)
        return row * (2.0 if neighbors == "replace_one" else 1.0) * ROW_SLACK

    def block_sum(self, block: Array) -> Array:
        """Return the sum over the rows of a block."""
        total = np.zeros(self.size)
        for start in range(0, len(block), _PIECE):
            rows = block[start : start + _PIECE]
            densities = np.stack([self._log_density(candidate, rows) for candidate in self.candidates])
            with np.errstate(over="ignore", invalid="ignore"):
                bounded = np.tanh(0.5 * np.diff(densities, axis=0))
            bounded[:, np.isnan(densities).any(axis=0)] = 0.0
            lengths = np.sqrt(np.einsum("jr,jr->r", bounded, bounded))
            total += (bounded / np.maximum(lengths, 1.0)).sum(axis=1)
        return total

    def _log_density(self, candidate: Components | TableComponents, rows: Array) -> Array:
        if isinstance(candidate, TableComponents):
            return candidate.log_density(rows, self.missing)
        return candidate.log_density(rows)

    def parts(self, total: Array) -> Array:
        """Return a (noisy) total as gains in nats."""
        return 2.0 * total

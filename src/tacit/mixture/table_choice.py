"""How many components a table with levels needs: chosen as for tables of numbers, among mixtures of products.

Candidates come from the mixture of encoded rows, merged down and made products of, in the better one of two orders,
as the refining rounds would start from them. A component's parameters are then those of its Gaussian and, for each
column with levels, one less than it has levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tacit.mixture.mixture import Mixture
from tacit.mixture.model_choice import Choosing, ChosenScaleFree, gaussian_parameters
from tacit.mixture.scale_free import Fit
from tacit.mixture.table_mixture import TableMixture, merged_products
from tacit.mixture.table_scale_free import TableFit, TableScaleFree, nats_to_refining
from tacit.statistics.components import Array


@dataclass
class ChosenTableScaleFree(Choosing, TableScaleFree):
    """Scale-free EM for a mixture of products that also chooses the number of components; see ``Choosing``."""

    grid: Sequence[int] = ()

    def _grown_by(self, *options: Any) -> ChosenScaleFree:
        return ChosenScaleFree(*options, grid=self.grid)

    def _most(self) -> int:
        return self.grid[-1]

    def _merged(self, encoded: Mixture, count: int) -> TableMixture:
        return merged_products(encoded, self.layout, count)

    def _candidate(self, state: Fit, count: int) -> TableFit:
        return self._product(state, count)

    def _parameters(self, counts: Array) -> Array:
        levels = sum(size - 1 for size in self.layout.sizes)
        return gaussian_parameters(counts, len(self.layout.numbers), self.covariance_type) + counts * levels

    def _nats_lost(self) -> float:
        return nats_to_refining(self.layout, self.covariance_type, self.neighbors)

"""Where inputs lie, as far as a fit has measured it: what coefficients are compared by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.fitting import check_shapes


@dataclass(frozen=True, eq=False)
class InputSpread:
    """Means and standard deviations (d,) of inputs: private, as they follow from releases.

    Examples
    --------
    >>> import numpy as np
    >>> spread = InputSpread(np.array([1.0]), np.array([2.0]))
    >>> InputSpread.restored(spread.stored(), 1).deviations
    array([2.])
    """

    means: Array
    deviations: Array

    def in_units(self, centre: Array, scale: Array) -> InputSpread:
        """Return the same in the units of rows that are centre + scale * what it is measured in."""
        return InputSpread(centre + scale * self.means, scale * self.deviations)

    def stored(self) -> dict[str, Any]:
        """Return them as JSON has them."""
        return {"means": self.means.tolist(), "deviations": self.deviations.tolist()}

    @classmethod
    def restored(cls, values: dict[str, Any] | None, columns: int) -> InputSpread | None:
        """Return what `stored` gave for so many inputs; None, where nothing was measured, stays None."""
        if values is None:
            return None
        spread = cls(np.array(values["means"], float), np.array(values["deviations"], float))
        check_shapes(means=(spread.means, (columns,)), deviations=(spread.deviations, (columns,)))
        if (spread.deviations < 0).any():
            raise ValueError("standard deviations must not be negative")
        return spread

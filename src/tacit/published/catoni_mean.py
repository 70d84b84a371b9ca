"""The mean by Catoni and Giulini's smooth function of values, as published for heavy-tailed rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.fitting.clipping import minimax_scale
from tacit.fitting.parameters import check_word, float_array
from tacit.fitting.published import PublishedMethod
from tacit.messages import describe
from tacit.statistics import Smoothed

FAILURE = 0.01  # Failure probability that the published scales are stated with.
_SCALES = ("auto", "minimax", "thesis", "improved")


@dataclass(frozen=True, kw_only=True)
class CatoniMean(PublishedMethod):
    """Values are bounded by a smooth function before they are summed (Catoni and Giulini, 2017).

    The error of its non-private part has Gaussian tails, but under privacy noise clipping is as good or better.

    Parameters
    ----------
    moment_bound : float or sequence of floats, optional
        What E|x - centre|^k is known to be at most, for all columns or one by one. Privacy does not depend on its
        truth; accuracy does. It has no default, unless a scale is given.
    moment_order : float, default 2
        The order k of that moment, over 1 and at most 3.
    scale : {"auto", "minimax", "thesis", "improved"}, float or sequence of floats, default "auto"
        "minimax" has the least worst-case error for the moment bound; "auto" is half of that, better on nearly all real
        distributions and never much worse. "thesis" and "improved" are the published scales, for second moments: the
        first is best without noise, and the second depends on epsilon and delta. A number is taken as it is.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rows = np.random.default_rng(0).lognormal(size=(20_000, 1))
    >>> method = tacit.published.CatoniMean(moment_bound=8.0, scale="improved")
    >>> tacit.RobustMean(method=method, random_state=0).fit(rows).mean_.round(1)
    array([1.6])
    """

    moment_bound: Any = None
    moment_order: float = 2
    scale: Any = "auto"

    def __post_init__(self) -> None:
        if self.moment_bound is not None:
            object.__setattr__(self, "moment_bound", _positive_numbers("moment_bound", self.moment_bound))
        if not isinstance(self.scale, str):
            object.__setattr__(self, "scale", _positive_numbers("scale", self.scale))
        else:
            check_word("scale", self.scale, _SCALES)
            if self.moment_bound is None:
                raise ValueError(
                    "CatoniMean needs moment_bound, what E|x - centre|^k is known to be at most, or a scale: "
                    'method=tacit.published.CatoniMean(moment_bound=4.0). If nothing is known, use method="adaptive".'
                )
            if self.scale in ("thesis", "improved") and self.moment_order != 2:
                raise ValueError(f'scale="{self.scale}" is for second moments; leave moment_order at 2.')
        self.influence.bias(self.moment_order)  # It refuses orders that there are none for.

    @property
    def needs_delta(self) -> bool:  # type: ignore[override]
        """Whether the scale depends on a delta."""
        return isinstance(self.scale, str) and self.scale == "improved"

    @property
    def influence(self) -> Smoothed:
        """The smooth function that bounds values."""
        precision = math.log(1 / FAILURE)
        return Smoothed(math.sqrt(precision) if self.needs_delta else precision)

    def scale_by_rule(self, moment: Array, noise: float, rows: float, epsilon: float, delta: float) -> Array:
        """Return the scale of each column by the rule asked for, where none is given."""
        if self.scale == "thesis":
            return thesis_scale(moment, rows)
        if self.scale == "improved":
            return improved_scale(moment, rows, epsilon, delta)
        scale = minimax_scale(self.influence, moment, self.moment_order, noise, rows)
        return scale / 2 if self.scale == "auto" else scale


def thesis_scale(moment: Array, rows: float) -> Array:
    """Return the published scale that is best without noise, sqrt(n v / (2 log(1 / failure)))."""
    return (rows * moment / (2 * math.log(1 / FAILURE))) ** 0.5


def improved_scale(moment: Array, rows: float, epsilon: float, delta: float) -> Array:
    """Return the published scale sqrt(n epsilon v) / (log(1 / failure) log(1 / delta)^(1/4))."""
    return (rows * epsilon * moment) ** 0.5 / (math.log(1 / FAILURE) * math.log(1 / delta) ** 0.25)


def _positive_numbers(name: str, value: Any) -> float | tuple[float, ...]:
    """Return a positive number, or one for each column."""
    array = float_array(value)
    if array is None or array.ndim > 1 or array.size == 0 or not (np.isfinite(array) & (array > 0)).all():
        raise ValueError(f"{name} must be a positive number, or one for each column, and it is {describe(value)}.")
    return float(array) if array.ndim == 0 else tuple(array.tolist())

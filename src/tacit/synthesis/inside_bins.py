"""Where numbers lie inside a bin. Counts do not say, so these are assumptions."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from tacit.arrays import Array
from tacit.synthesis.histograms import NARROW, SHARED

# benchmarks/synthetic.py measures what these numbers give, on Adult.
# Proportion of an outermost bin's rows that are spread evenly, so that no place in it is next to impossible.
_EVENLY = 0.1
# Least width of a neighbour that says how steep an outermost bin is, relative to the width of that bin.
_LEAST_NEIGHBOUR = 1 / 64

# Least width of an outermost bin that is tilted, relative to its neighbour. A bin of one whole number never is.
_LEAST_WIDTH = 1.5


def tilts(edges: Array, probabilities: Array) -> Array:
    """Return by how much the log density falls in each bin, from its lower to its upper edge.

    Most bins have a constant density, and a tilt of 0. The outermost ones end at the bounds, which may be far from any
    row, and are wide if so. There the density starts at that of the neighbour, and falls so that the bin has its
    probability. (A tenth of the bin's rows is spread evenly; the tilt is of the others.)

    Examples
    --------
    >>> import numpy as np
    >>> tilts(np.array([0.0, 4.0, 8.0, 108.0]), np.array([0.5, 0.4, 0.1])).round()
    array([  0.,   0., 100.])
    """
    widths = np.diff(edges)
    result = np.zeros(len(widths))
    with_width = np.flatnonzero(widths > NARROW)
    for inwards, side in ((with_width[::-1], 1.0), (with_width, -1.0)):
        near = [b for b in inwards[1:] if widths[b] >= _LEAST_NEIGHBOUR * widths[inwards[0]]] if len(inwards) else []
        if near and widths[inwards[0]] > _LEAST_WIDTH * widths[near[0]]:
            b = inwards[0]
            ratio = probabilities[b] / (probabilities[near[0]] / widths[near[0]] * widths[b])
            if ratio < 0.99:
                result[b] = side * brentq(_excess, 1e-3, 1 / ratio + 1, args=(ratio,))
    return result


def _excess(fall: float, ratio: float) -> float:
    """Return the mean of a falling density less `ratio`, in units of the density at its start."""
    return -math.expm1(-fall) / fall - ratio


def places(tilt: Array, uniform: Array) -> Array:
    """Return places in bins, from 0 to 1, with densities that fall by the tilts, from uniform numbers."""
    result, falls = uniform.copy(), (tilt != 0) & (uniform >= _EVENLY)
    result[(tilt != 0) & ~falls] /= _EVENLY
    fall = np.abs(tilt[falls])
    result[falls] = -np.log1p((uniform[falls] - _EVENLY) / (1 - _EVENLY) * np.expm1(-fall)) / fall
    return np.where(tilt < 0, 1 - result, result)


def proportions_below(tilt: float, place: Array) -> Array:
    """Return the proportion of a bin's rows below places in it, from 0 to 1."""
    if tilt == 0:
        return place
    fall, from_steep_end = abs(tilt), place if tilt > 0 else 1 - place
    steep = _EVENLY * from_steep_end + (1 - _EVENLY) * np.expm1(-fall * from_steep_end) / math.expm1(-fall)
    return steep if tilt > 0 else 1 - steep


def log_densities(tilt: Array, place: Array) -> Array:
    """Return the log density at places in bins, from 0 to 1."""
    result, falls = np.zeros(len(tilt)), tilt != 0
    fall, from_steep_end = np.abs(tilt[falls]), np.where(tilt > 0, place, 1 - place)[falls]
    falling = np.log(fall) - np.log(-np.expm1(-fall)) - fall * from_steep_end
    result[falls] = np.logaddexp(math.log(_EVENLY), math.log(1 - _EVENLY) + falling)
    return result


def shared_values(edges: Array, centre: float, scale: float) -> Array:
    """Return the value that all rows in a bin share, in standard coordinates; NaN for a bin that is not the narrowest.

    A bin of the least width was split off because it has many rows, so these rows probably share a value. It is taken
    to be the roundest number in the bin, because most shared values are round.

    Parameters
    ----------
    edges : (bins + 1,) array
    centre, scale : float
        A number is centre + scale * its standard coordinate.

    Examples
    --------
    >>> import numpy as np
    >>> print(*shared_values(np.array([0.0, 0.25 - 1e-8, 0.25 + 3e-8, 1.0]), 0.0, 1.0))
    nan 0.25 nan
    """
    values = np.full(len(edges) - 1, np.nan)
    for b in np.flatnonzero(np.diff(edges) < SHARED):
        low, high = edges[b], edges[b + 1]
        if high - low <= NARROW:
            values[b] = low
            continue
        wanted = _roundest(centre + scale * low, centre + scale * high)
        values[b] = min(max((wanted - centre) / scale, low), np.nextafter(high, low))
        for near in (values[b], np.nextafter(values[b], low), np.nextafter(values[b], high)):
            if centre + scale * near == wanted:
                values[b] = near
                break
    return values


def _roundest(low: float, high: float) -> float:
    """Return the number in [low, high) that has the fewest digits."""
    for digits in range(-15, 17):
        rounded = round(math.ceil(low * 10.0**digits) / 10.0**digits, digits)
        if low <= rounded < high:
            return rounded
    return low

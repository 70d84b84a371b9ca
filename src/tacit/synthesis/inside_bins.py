"""Where numbers lie inside a bin, of which counts do not tell."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from tacit.arrays import Array
from tacit.synthesis.histograms import FINEST, NARROW

_EVENLY = 0.1  # of rows in a bin in which density falls, lest any place be next to impossible
_COMPARABLE = 1 / 64  # of the width of an outermost bin, that its neighbour must have to say how steep it is


def tilts(edges: Array, shares: Array) -> Array:
    """Return how fast the density falls in each bin, in its logarithm from the lower end to the upper one.

    In most bins rows are spread evenly: 0. In the outermost ones, which reach to the bounds however far rows do, the
    density starts with that of the neighbour, and falls as fast as the share of rows asks for, but for a tenth of them.

    Examples
    --------
    >>> import numpy as np
    >>> tilts(np.array([0.0, 4.0, 8.0, 108.0]), np.array([0.5, 0.4, 0.1])).round()
    array([  0.,   0., 100.])
    """
    widths = np.diff(edges)
    found = np.zeros(len(widths))
    wide = np.flatnonzero(widths > NARROW)
    for inwards, side in ((wide[::-1], 1.0), (wide, -1.0)):
        near = [b for b in inwards[1:] if widths[b] >= _COMPARABLE * widths[inwards[0]]] if len(inwards) else []
        if near:
            b = inwards[0]
            ratio = shares[b] / (shares[near[0]] / widths[near[0]] * widths[b])
            if ratio < 0.99:
                found[b] = side * brentq(_excess, 1e-3, 1 / ratio + 1, args=(ratio,))
    return found


def _excess(fall: float, ratio: float) -> float:
    """Return by how much the mean of a falling density is over `ratio` times what it starts with."""
    return -math.expm1(-fall) / fall - ratio


def places(tilt: Array, uniform: Array) -> Array:
    """Return places in bins, from 0 to 1, that fall off as the tilts say, from numbers between 0 and 1."""
    found, falls = uniform.copy(), (tilt != 0) & (uniform >= _EVENLY)
    found[(tilt != 0) & ~falls] /= _EVENLY
    fall = np.abs(tilt[falls])
    found[falls] = -np.log1p((uniform[falls] - _EVENLY) / (1 - _EVENLY) * np.expm1(-fall)) / fall
    return np.where(tilt < 0, 1 - found, found)


def log_densities(tilt: Array, place: Array) -> Array:
    """Return the log density at places in bins, from 0 to 1."""
    found, falls = np.zeros(len(tilt)), tilt != 0
    fall, from_steep_end = np.abs(tilt[falls]), np.where(tilt > 0, place, 1 - place)[falls]
    falling = np.log(fall) - np.log(-np.expm1(-fall)) - fall * from_steep_end
    found[falls] = np.logaddexp(math.log(_EVENLY), math.log(1 - _EVENLY) + falling)
    return found


def shared_values(edges: Array, centre: float, scale: float) -> Array:
    """Return the one value that the rows in a bin have, in standard coordinates, where the bin is so narrow; else NaN.

    Bins that narrow were split off because many rows are in them, which are then rows that share a value. It is taken
    to be the roundest number in the bin, as most such values are round.

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
    for b in np.flatnonzero(np.diff(edges) < 1.5 * FINEST):
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
    """Return the number from low up to high that has the fewest digits."""
    for digits in range(-15, 17):
        found = round(math.ceil(low * 10.0**digits) / 10.0**digits, digits)
        if low <= found < high:
            return found
    return low

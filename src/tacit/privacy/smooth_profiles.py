"""Profiles of noise whose scale depends on rows: what a shift and a change of scale give away together.

Both are for a function f and a bound S on how far one row moves it, itself *smooth*: between neighbours its logarithm
moves by at most t (Nissim, Raskhodnikova and Smith, 2007). What is released is f + (S / s) Z.

**Laplace times log-normal** (Bun and Steinke, 2019), Z = X exp(sigma Y), X Laplace and Y standard normal.

- *Shift.* Z has the density E[exp(-sigma Y - |z| exp(-sigma Y))] / 2. The slope of its logarithm is, up to sign, the
  mean of W = exp(-sigma Y) under the law with weights W exp(-|z| W). That mean falls as |z| grows, at the rate of W's
  variance, so it is largest at z = 0: E W^2 / E W = exp(3 sigma^2 / 2). So shifting Z by s is purely private, with
  a = s exp(3 sigma^2 / 2).
- *Scale.* exp(t) Z is X exp(sigma (Y + t / sigma)): to tell it from Z is no easier than to tell two normal variables
  with means m = t / sigma apart.
- *Both.* An event of probability r under one release has at most h(r) = Phi(Phi^-1(r) + m) once the scale has changed,
  and at most k(h(r)), k(q) = min(e^a q, 1 - e^-a (1 - q)), once f has moved too; in this order or, seen from the other
  table, again shift first. So delta(e) is at most the maximum over r of k(h(r)) - e^e r. k h is concave, so this is the
  profile of one pair of distributions that dominates every such pair. (In zero-concentrated privacy it is
  (a + m)^2 / 2, a little more.)

**Gaussian**, in d dimensions with one S: f moves by at most S in length, so by at most c = s noise deviations, and the
deviation changes by a factor of at most e^t. Let P = N(0, I), Q = N(v, e^(2 u) I).

- *|v| = c is the worst.* 1 - delta is the integral of min(p, e^e q), which is the integral over levels of the volume of
  the intersection of two balls, one around 0 and one around v: the nearer they are, the larger.
- *u = t or u = -t is the worst*, for e >= 0. Let A be the set where P / Q exceeds e^e. For u <= 0 it is all but a ball,
  or half of space, and v is not in it, as ln P / Q is -|v|^2 / 2 + d u at v. The narrower Q is, the less of it is in A:
  Q with u = -t does at least as well with A. For u > 0 it is a ball, and the mass of a ball under Q, as u grows, rises
  and then falls, or falls: with R and K for its radius and the distance of its centre from v in units of e^u, the sign
  of the change is that of K I_(n+1)(R K) / I_n(R K) - R, n = d / 2 - 1, and the ratio of Bessel functions grows with
  its argument (Amos, 1974). So at one of the two ends Q has less of it, and delta is as large.

At the ends, A is where |z - k|^2, noncentral chi-squared under both laws, is beyond or below a number.
"""

import math

import numpy as np
from scipy.special import ndtr, ndtri

from tacit.arrays import Array
from tacit.rounding import FORMULA_SLACK

__all__ = ["smooth_gaussian_delta", "smooth_laplace_delta"]


def smooth_laplace_delta(epsilons: Array, shift: float, scale: float) -> Array:
    """Return delta at each of ``epsilons``, for a shift that is purely private and a change of scale as Gaussian noise.

    Parameters
    ----------
    epsilons : array
    shift : float
        a in the notes.
    scale : float
        m in the notes.

    Examples
    --------
    >>> smooth_laplace_delta(np.array([0.0, 1.0, 3.0]), 0.5, 0.5).round(6).tolist()
    [0.414048, 0.086459, 0.0]
    """
    first, last = ((-(epsilons + sign * shift) / scale - scale / 2) for sign in (1.0, -1.0))
    kink = float(ndtri(1 / (1 + math.exp(shift)))) - scale
    z = np.minimum(np.maximum(kink, first), last)
    q, r = ndtr(z + scale), ndtr(z)
    most = np.minimum(math.exp(shift) * q, -math.expm1(-shift) + math.exp(-shift) * q)
    deltas: Array = np.clip((most - np.exp(epsilons) * r) * FORMULA_SLACK, 0.0, 1.0)
    return deltas


def smooth_gaussian_delta(epsilons: Array, shift: float, smoothness: float, dimensions: int) -> Array:
    """Return delta at each of ``epsilons >= 0``, for noise in `dimensions` dimensions.

    Parameters
    ----------
    epsilons : array
    shift : float
        c in the notes.
    smoothness : float
        t in the notes, positive.
    dimensions : int

    Examples
    --------
    >>> smooth_gaussian_delta(np.array([0.5, 1.0]), 0.2, 0.03, 10).round(9).tolist()
    [0.006243602, 0.000161179]
    """
    from scipy.stats import (
        ncx2,
    )  # It is imported here because scipy.stats is slow to import and no other plan needs it.

    worst = np.zeros_like(epsilons)
    for log_scale in (-smoothness, smoothness):
        kept = -math.expm1(2 * log_scale)  # This is 1 - e^(2u), which is positive where Q is the narrower.
        centre = shift / kept
        radius2 = 2 / kept * math.exp(2 * log_scale) * (epsilons - dimensions * log_scale + shift * centre / 2)
        radius2 = np.maximum(radius2, 0.0)
        mass = ncx2.sf if kept > 0 else ncx2.cdf
        other = math.exp(-2 * log_scale)
        here = mass(radius2, dimensions, centre**2)
        there = mass(radius2 * other, dimensions, (centre - shift) ** 2 * other)
        worst = np.maximum(worst, here - np.exp(epsilons) * there)
    deltas: Array = np.clip(worst * FORMULA_SLACK, 0.0, 1.0)
    return deltas

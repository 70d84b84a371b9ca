"""Private numbers one at a time, for those who need a number and not an estimator.

Each function takes the sensitivity of what it is given, proves its guarantee in its docstring, and releases points of a
lattice that depends on public numbers alone. None of them keeps account: each names the step of a
:class:`tacit.privacy.Plan` that describes it, and the plan says what it costs.

The sensitivity is the caller's promise: the largest change of the argument between neighbouring data sets, for every
value that rows can take. What these functions themselves add, by rounding, they add to the noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.arrays import Array
from tacit.messages import describe
from tacit.privacy.budget import Relation, check_relation
from tacit.release.generator import SecureGenerator
from tacit.release.lattice import Lattice
from tacit.release.noise import discrete_gaussian, discrete_laplace, exponential_select
from tacit.rounding import SCALE_SLACK


def gaussian_vector(value: ArrayLike, sensitivity: float, noise_multiplier: float, gen: SecureGenerator) -> Array:
    """Release numbers with discrete Gaussian noise.

    A plan describes it by ``Gaussian(name, noise_multiplier, size=value.size)``, and by its ``sampling_error`` of
    value.size * :func:`tacit.release.noise.discretisation_error` (noise in steps), which is below 1e-16 per number for
    noise multipliers over 2**-7.

    Parameters
    ----------
    value : array
        What to release. NaN becomes 0, and numbers over 2**30 sensitivities may be cut off.
    sensitivity : float
        Largest change of `value` between neighbours, in l2 norm.
    noise_multiplier : float
        Standard deviation of the noise / sensitivity.
    gen : SecureGenerator
        See :func:`tacit.release.generator.generator`.

    Notes
    -----
    Quantised neighbours differ by at most sensitivity + step * sqrt(size) in l2 norm (:class:`Lattice`). The noise is
    `noise_multiplier` times that, so the release of whole steps is the Gaussian mechanism with that multiplier, but for
    the discretisation of the noise; turning steps into floats is post-processing.

    Examples
    --------
    >>> from tacit.release.generator import generator
    >>> from tacit.release.mechanisms import gaussian_vector
    >>> noisy = gaussian_vector([10.0, 20.0], sensitivity=1.0, noise_multiplier=0.1, gen=generator(0))
    >>> noisy.round().tolist()
    [10.0, 20.0]
    """
    exact, lattice = _on_lattice(value, sensitivity, noise_multiplier)
    noise = noise_multiplier * (sensitivity + lattice.rounding_l2(exact.size)) * SCALE_SLACK
    return lattice.to_float(exact + discrete_gaussian(noise / lattice.step, exact.shape, gen))


def laplace_vector(value: ArrayLike, sensitivity: float, noise_multiplier: float, gen: SecureGenerator) -> Array:
    """Release numbers with discrete Laplace noise: (1 / noise_multiplier)-differentially private.

    A plan describes it by ``Laplace(name, noise_multiplier, size=value.size)``.

    Parameters
    ----------
    value : array
        What to release. NaN becomes 0, and numbers over 2**30 sensitivities may be cut off.
    sensitivity : float
        Largest change of `value` between neighbours, in l1 norm.
    noise_multiplier : float
        Scale of the noise / sensitivity.
    gen : SecureGenerator
        See :func:`tacit.release.generator.generator`.

    Notes
    -----
    Quantised neighbours differ by at most sensitivity + step * size in l1 norm (:class:`Lattice`), and the scale of the
    noise is `noise_multiplier` times that. The guarantee is then the discrete Laplace law's own, without correction
    (:func:`tacit.release.noise.discrete_laplace`).

    Examples
    --------
    >>> from tacit.release.generator import generator
    >>> from tacit.release.mechanisms import laplace_vector
    >>> noisy = laplace_vector([10.0, 20.0], sensitivity=1.0, noise_multiplier=0.1, gen=generator(0))
    >>> noisy.round().tolist()
    [10.0, 20.0]
    """
    exact, lattice = _on_lattice(value, sensitivity, noise_multiplier)
    noise = noise_multiplier * (sensitivity + lattice.rounding_l1(exact.size)) * SCALE_SLACK
    return lattice.to_float(exact + discrete_laplace(noise / lattice.step, exact.shape, gen))


def noisy_count(count: int, noise_multiplier: float, gen: SecureGenerator, sensitivity: int = 1) -> int:
    """Release a count with Laplace noise, rounded to a whole number: (1 / noise_multiplier)-differentially private.

    A plan describes it by ``Laplace(name, noise_multiplier)``. The noise is drawn on a fine lattice and the sum rounded
    afterwards. Noise drawn on the integers (the geometric mechanism) is as private at its own epsilon, but its curve
    lies above that of Laplace noise at smaller ones, so composing it as Laplace noise would under-count. The result may
    be negative. Counts move between neighbours by `sensitivity`, and points of a lattice whose step divides 1 by as
    much. Rounding down count + noise + 1/2, exactly, is a function of the noisy count: post-processing. (Rounding
    the noise by itself is not, if halves go to even numbers: 3 + 0.5 and 4 - 0.5 would become 3 and 4.)

    Parameters
    ----------
    count : int
        What to release.
    noise_multiplier : float
        Scale of the noise / sensitivity.
    gen : SecureGenerator
        See :func:`tacit.release.generator.generator`.
    sensitivity : int, default 1
        Largest change of the count between neighbours.

    Examples
    --------
    >>> from tacit.release.generator import generator
    >>> from tacit.release.mechanisms import noisy_count
    >>> 950 < noisy_count(1000, noise_multiplier=2.0, gen=generator(0)) < 1050
    True
    """
    _, lattice = _on_lattice(0.0, sensitivity, noise_multiplier)
    if lattice.step > 1:
        # Such noise is a multiple of 2 or more, and would not change whether the count is even.
        raise ValueError("The noise of a count is too large; use a smaller noise_multiplier or sensitivity.")
    noise = noise_multiplier * (sensitivity + lattice.rounding_l1(1)) * SCALE_SLACK
    steps = int(discrete_laplace(noise / lattice.step, 1, gen)[0])
    return math.floor(int(count) + steps * Fraction(lattice.step) + Fraction(1, 2))


def select(utilities: ArrayLike, sensitivity: float, epsilon: float, gen: SecureGenerator, k: int = 1) -> list[int]:
    """Choose k candidates of high utility, one after the other, by the exponential mechanism.

    A plan describes it by ``Selection(name, noise_multiplier=1 / epsilon, count=k)``: `epsilon` is that of *each*
    choice. The law is that of the k largest utilities after Gumbel noise, in order (Durfee and Rogers, 2019).

    Parameters
    ----------
    utilities : array, shape (n,)
        One per candidate. NaN counts as 0.
    sensitivity : float
        Largest change of any one utility between neighbours.
    epsilon : float
        Privacy of each choice, in bounded range.
    gen : SecureGenerator
        See :func:`tacit.release.generator.generator`.
    k : int, default 1
        How many to choose.

    Returns
    -------
    list of int
        Indices of the chosen, first choice first.

    Notes
    -----
    Quantised utilities change by at most sensitivity + step each, hence by amounts in an interval of twice that width.
    Candidates are drawn with weights exp(epsilon * utility / that width): one choice is epsilon-bounded-range and so
    epsilon-differentially private (:func:`tacit.release.noise.exponential_select`). The step is 2**-30 of the
    sensitivity, so that utilities up to 2**30 sensitivities are told apart. Given the earlier choices, which are
    private, each further one is the same mechanism on the candidates that remain: k choices compose.

    Examples
    --------
    >>> from tacit.release.generator import generator
    >>> from tacit.release.mechanisms import select
    >>> select([3.0, 250.0, 120.0, 5.0], sensitivity=1.0, epsilon=1.0, gen=generator(0), k=2)
    [1, 2]
    """
    _check_positive("sensitivity", sensitivity)
    _check_positive("epsilon", epsilon)
    lattice = Lattice(2.0 ** (math.frexp(sensitivity)[1] - 31))
    # The difference of two utilities must fit into int64.
    utility = np.clip(lattice.quantise(utilities), -(2**61), 2**61)
    if utility.ndim != 1 or not 1 <= k <= utility.size:
        raise ValueError(f"Cannot choose k={k} of the candidates in an array of shape {utility.shape}.")
    scale = 2 * (sensitivity + lattice.step) / lattice.step / epsilon * SCALE_SLACK
    return [place for _, place in choose(utility[None], scale, gen, k)]


def choose(
    utilities: NDArray[np.int64], scale: float, gen: SecureGenerator, k: int, excluded: Sequence[int] = ()
) -> list[tuple[int, int]]:
    """Choose k places one after the other, each with weight exp(utility / scale): sides and places of the chosen.

    Utilities (sides, places) and the scale are in lattice steps; a place that is chosen is gone on all sides.
    """
    left = np.ones(utilities.shape, dtype=np.int64)
    left[:, list(excluded)] = 0
    chosen: list[tuple[int, int]] = []
    for _ in range(k):
        candidate = exponential_select(utilities.ravel(), scale, gen, multiplicities=left.ravel())
        side, place = divmod(candidate, utilities.shape[1])
        chosen.append((side, place))
        left[:, place] = 0
    return chosen


def quantile(
    values: ArrayLike,
    q: float,
    low: float,
    high: float,
    epsilon: float,
    gen: SecureGenerator,
    neighbors: Relation = "replace_one",
    resolution: float | None = None,
) -> float:
    """Release a quantile of bounded numbers by the exponential mechanism: epsilon-differentially private.

    A plan describes it by ``Selection(name, noise_multiplier=1 / epsilon)``. The rank of the result is within about
    2 log(range / spread of the data near the quantile) / epsilon of q n.

    Parameters
    ----------
    values : array, shape (n,)
        One number per row. Those outside the bounds, infinite ones too, count as the nearer bound; NaN counts as 0, or
        as the bound nearest to 0.
    q : float
        From 0 to 1; taken to the nearest multiple of 2**-20.
    low, high : float
        Bounds known beforehand. A wide range costs little: accuracy depends on its logarithm.
    epsilon : float
        Privacy, in bounded range.
    gen : SecureGenerator
        See :func:`tacit.release.generator.generator`.
    neighbors : {"replace_one", "add_remove"}
        add_remove needs less noise, and least for the median.
    resolution : float, optional
        Smaller differences than this do not matter: 1 for whole numbers, 0.01 for prices. Pass it where many rows share
        a value; fewer candidates find it more surely. By default the range is cut in 2**40 or so.

    Returns
    -------
    float
        A multiple of a power of two, from low to high.

    Notes
    -----
    *Candidates* are the points k of a lattice in [low, high]; each row is rounded to a candidate, by itself. With L and
    R the number of rows under k and up to k, the utility of k is -max(0, L - q n, q n - R): by how many rows k misses
    the quantile, 0 for all k that are one, ties included.

    *Sensitivity.* replace_one: L and R change by at most 1, n does not; the utility changes by at most 1. add_remove:
    one row more changes L - q n by 1 - q or by -q, and q n - R likewise; the utility changes by at most
    D = max(q, 1 - q). Weights exp(epsilon * utility / (2 D)), D = 1 for replace_one, make the choice
    epsilon-bounded-range.

    *Exactness.* Ranks times 2**20 are whole numbers. Candidates between two data values share a utility, so a stretch
    is drawn first, with its length as multiplicity, then a point of it, uniformly: both exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.release.generator import generator
    >>> from tacit.release.mechanisms import quantile
    >>> ages = np.arange(10_000) % 100
    >>> quantile(ages, 0.5, low=0, high=150, epsilon=1.0, gen=generator(0), resolution=1)
    49.0
    """
    _check_positive("epsilon", epsilon)
    if not 0 <= q <= 1:
        raise ValueError(f"q is {describe(q)}; it must be from 0 to 1: 0.5 for the median.")
    lattice, first, last = _candidates(low, high, resolution)
    rows = np.clip(lattice.quantise(values).ravel(), first, last)
    points, ties = np.unique(rows, return_counts=True)
    up_to = np.concatenate([[0], np.cumsum(ties)])
    # Stretches alternate: the gap before a data value, the value itself, and so on, up to the gap after the last value.
    ends = np.concatenate([[first - 1], points, [last + 1]])
    starts, lengths = np.empty((2, 2 * points.size + 1), dtype=np.int64)
    starts[0::2], lengths[0::2] = ends[:-1] + 1, np.diff(ends) - 1
    starts[1::2], lengths[1::2] = points, 1
    under, through = np.repeat(up_to, 2)[:-1], np.repeat(up_to, 2)[1:]
    one = 2**20
    part = round(q * one)
    target = part * rows.size
    misses = np.maximum(0, np.maximum(under * one - target, target - through * one))
    sensitivity = one if check_relation(neighbors) == "replace_one" else max(part, one - part)
    stretch = exponential_select(-misses, 2 * sensitivity / epsilon * SCALE_SLACK, gen, multiplicities=lengths)
    return float(lattice.to_float(int(starts[stretch]) + gen.below(int(lengths[stretch]))))


def _on_lattice(value: ArrayLike, sensitivity: float, noise_multiplier: float) -> tuple[NDArray[np.int64], Lattice]:
    _check_positive("sensitivity", sensitivity)
    _check_positive("noise_multiplier", noise_multiplier)
    lattice = Lattice.for_noise(noise_multiplier * sensitivity, largest=sensitivity)
    return lattice.quantise(value), lattice


def _candidates(low: float, high: float, resolution: float | None) -> tuple[Lattice, int, int]:
    """Return a lattice, and the first and last of its points between the bounds."""
    if not -math.inf < low < high < math.inf:
        raise ValueError(
            f"The bounds are low={describe(low)} and high={describe(high)}; they must be finite, and low less than "
            "high."
        )
    if resolution is not None and not 0 < resolution <= high - low:
        raise ValueError(
            f"resolution is {describe(resolution)}; it must be positive and at most the range, {high - low:g}."
        )
    # With this step every point is an exact float.
    finest = max(high / 2 - low / 2, abs(low) * 2.0**-12, abs(high) * 2.0**-12) * 2.0**-39
    lattice = Lattice(2.0 ** (math.frexp(max(finest, resolution or 0.0, 2.0**-1000))[1] - 1))
    first, last = math.ceil(low / lattice.step), math.floor(high / lattice.step)
    if first > last:
        raise ValueError(
            f"Float64 has too few numbers between low={describe(low)} and high={describe(high)}; pass a wider range."
        )
    return lattice, first, last


def _check_positive(name: str, value: float) -> None:
    if not 0 < value < math.inf:
        raise ValueError(f"{name} is {describe(value)}; it must be a positive, finite number.")

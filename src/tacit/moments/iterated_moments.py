"""Mean and covariance of one Gaussian, measured several times, each time in its own last coordinates.

Noise sized for the whole of the public bounds would drown a Gaussian that is small beside them. So each round measures
rows with the last covariance as the unit, starting from the bounds. Noise is then relative to the Gaussian, and the
unit contracts geometrically, as in CoinPress (Biswas et al., 2020)::

    mean, covariance = centre of the bounds, size of the bounds
    repeat
        release count, mean and second moment of the rows, clipped, in coordinates where the covariance is the identity
        move mean and covariance by what was released, less what is noise
    release squared deviations of each column in public coordinates, where nothing is clipped
    widen the columns that clearly have more variance than the covariance says

The last release is for columns that are the same in nearly all rows (a rare condition, a cost that is mostly zero).
Clipped in its own units, such a column looks narrower each round, until the rows that differ are impossible.

These are the rounds of a mixture with one component (:mod:`tacit.mixture.component_estimates`).
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.fitting.allocation import weigh_releases
from tacit.fitting.progress import Watch
from tacit.mixture.component_estimates import squared_deviations, widen_components
from tacit.mixture.scale_free_schedule import GROWING, REFINING, RELEASE_PARTS, TAILS
from tacit.moments.estimates import MomentEstimates, PublicFacts
from tacit.moments.gaussian_round import GaussianEstimate, measure_gaussian, numbers_in_round
from tacit.privacy import Step
from tacit.release import Curator

# benchmarks/factor_analysis.py measures what these numbers give, on five tables.
_GROWING_ROUNDS = 2  # Rounds with more noise.
_REFINING_ROUNDS = 6  # Rounds with less.


def iterated_steps(columns: int, n_iter: int | str = "auto") -> list[Step]:
    """Return the steps of the plan: a few rounds with more noise, more rounds with less, and one for tails.

    Examples
    --------
    >>> [(step.name, step.count) for step in iterated_steps(10, n_iter=5)]
    [('growing moments', 2), ('refining moments', 2), ('tails', 1)]
    """
    growing, refining = _GROWING_ROUNDS, _REFINING_ROUNDS
    if n_iter != "auto":
        growing = min(growing, max(1, int(n_iter) - 2))
        refining = int(n_iter) - growing - 1
    if refining < 1:
        raise ValueError(
            f"n_iter is {n_iter}, and iterated moments take two or more releases of moments and one of tails; pass "
            'n_iter=3 or more, or "auto".'
        )
    numbers = numbers_in_round(columns)
    counts = {GROWING: growing, REFINING: refining, TAILS: 1}
    return weigh_releases(RELEASE_PARTS, counts, {GROWING: numbers, REFINING: numbers, TAILS: columns})


def iterated_moments(curator: Curator, steps: Sequence[Step], facts: PublicFacts, watch: Watch) -> MomentEstimates:
    """Return mean, covariance and number of rows, from one release for each round of these steps.

    Parameters
    ----------
    curator : Curator
        Its plan has these steps, calibrated.
    steps : sequence of Step
        From :func:`iterated_steps`.
    facts : PublicFacts
    watch : callable
        Called as ``watch(done, total)`` after each release.
    """
    *rounds, tails = [step.name for step in steps for _ in range(step.count)]
    gaussian = GaussianEstimate.of_bounds(facts)
    for done, step in enumerate(rounds, 1):
        gaussian = measure_gaussian(curator, step, gaussian, facts)
        watch(done, len(rounds) + 1)

    estimates = gaussian.as_mixture()
    squares = squared_deviations(estimates.mixture)
    estimates = widen_components(estimates, squares, curator.measure(tails, squares), "full")
    watch(len(rounds) + 1, len(rounds) + 1)
    error = float(gaussian.prior_variances[1, 0])
    return MomentEstimates(gaussian.mean, estimates.mixture.covariances[0], gaussian.rows, error)

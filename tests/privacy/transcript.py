"""Everything that crosses the door while a model is fitted, and the best attack there is on it.

What a model publishes is a little of what its curator released. The guarantee is for all of it: somebody who reads
every noisy sum, and knows both data sets in question, must not tell them apart any better than the certificate says.
That somebody knows each statistic (its parameters are what was released before), so can compute what the sum would have
been without noise on either data set. The ratio of the likelihoods follows, and no test is better than one by that.
"""

import math
from unittest.mock import patch

import numpy as np

import tacit
from tacit.audit import audit_outputs
from tacit.fitting import estimator as estimators
from tacit.privacy import Gaussian
from tacit.release import Curator


class Transcript:
    """The releases of one fit of `estimator`: what was asked, what came out, and with what noise it should have."""

    def __init__(self, estimator, rows, curator=Curator):
        self.rows_pass_through, self.releases = [], []
        transcript = self

        class Overheard(curator):
            def map_rows(self, function):
                transcript.rows_pass_through.append(function)
                super().map_rows(function)

            def measure(self, name, statistic):
                coordinates = list(transcript.rows_pass_through)
                measurement = super().measure(name, statistic)
                transcript.releases.append((self.plan, name, statistic, coordinates, measurement.value))
                return measurement

        with patch.object(estimators, "Curator", Overheard):
            self.model = estimator.fit(rows)

    def log_likelihood_ratio(self, data, neighbor):
        """Return log P(transcript | neighbor) - log P(transcript | data), had the noise been as planned."""
        return sum(
            (_energy(step, released - without, noise) - _energy(step, released - otherwise, noise))
            for step, noise, released, without, otherwise in self._both_ways(data, neighbor)
        )

    def spent(self, data, neighbor):
        """Return mu^2 of the fit: how far apart the two data sets were, in noise, summed over Gaussian releases."""
        return sum(
            float(np.sum((without - otherwise) ** 2)) / noise**2
            for step, noise, _, without, otherwise in self._both_ways(data, neighbor)
            if isinstance(step.mechanism, Gaussian)
        )

    def furthest_step(self, data, neighbor):
        """Return the most that the two data sets were apart in one release, as a share of what it was sized for."""
        return max(
            float(np.linalg.norm(without - otherwise, 2 if isinstance(step.mechanism, Gaussian) else 1))
            * step.noise_multiplier
            / noise
            for step, noise, _, without, otherwise in self._both_ways(data, neighbor)
        )

    def numbers(self, data, neighbor):
        """Return what an audit is given: the best score there is, how many releases there were, and the first one."""
        return np.append([self.log_likelihood_ratio(data, neighbor), len(self.releases)], self.releases[0][-1])

    def _both_ways(self, data, neighbor):
        for plan, name, statistic, coordinates, released in self.releases:
            step = next(step for step in plan.steps if step.name == name)
            noise = step.noise_multiplier * statistic.sensitivity(
                plan.neighbors, "l2" if isinstance(step.mechanism, Gaussian) else "l1"
            )
            sums = [statistic.block_sum(_mapped(rows, coordinates)) for rows in (data, neighbor)]
            yield step, noise, released, *sums


def _mapped(rows, functions):
    for function in functions:
        rows = function(rows)
    return rows


def _energy(step, residual, noise):
    return (
        np.sum(residual**2) / (2 * noise**2)
        if isinstance(step.mechanism, Gaussian)
        else np.sum(np.abs(residual)) / noise
    )


def planned_mu2(plan):
    """Return mu^2 that an all-Gaussian plan allows."""
    return sum(step.count / step.noise_multiplier**2 for step in plan.steps)


# The hard pair: rows all at one point, so that the components are as narrow as they get, and one row far from them. A
# large crowd makes them narrower still.
CROWD = np.full((24, 2), [0.1, -0.05])
LARGE_CROWD = np.full((2000, 2), [0.1, -0.05])
FAR, OPPOSITE = np.array([[1.0, 1.0]]), np.array([[-1.0, -1.0]])


def hard_pair(neighbors, crowd=CROWD):
    """Return two neighbouring tables: one row in the far corner, in the other corner or not there."""
    other = np.empty((0, 2)) if neighbors == "add_remove" else OPPOSITE
    return np.vstack([crowd, FAR]), np.vstack([crowd, other])


def audited(trials, curator=Curator, pair=None, seed=0, model=tacit.GaussianMixture, **settings):
    """Audit everything that crosses the door in a fit, on the hard pair, against the certificate's whole curve."""
    settings = {"epsilon": 8.0, "delta": 1e-3, "bounds": (-1, 1), "neighbors": "replace_one", **settings}
    data, neighbor = hard_pair(settings["neighbors"]) if pair is None else pair

    def run(rows, seed):
        return Transcript(model(random_state=seed, **settings), rows, curator).numbers(data, neighbor)

    claim = model(random_state=0, **settings).fit(data).privacy_
    gaussian = claim.plan.gaussian
    return audit_outputs(
        run,
        data,
        neighbor,
        delta=settings["delta"],
        trials=trials,
        confidence=0.999,
        method="gdp" if gaussian else "threshold",
        claim=claim,
        random_state=seed,
    )


def share(audit):
    """Return the measured mu (or epsilon) as a share of what is claimed."""
    if audit.method == "gdp":
        return audit.mu / math.sqrt(planned_mu2(audit.claim.plan))
    return audit.epsilon / audit.claim.epsilon(audit.delta)

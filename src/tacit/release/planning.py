"""From steps and a budget to a plan that a curator can carry out: what discrete noise costs is counted in."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tacit.privacy import (
    Budget,
    Gaussian,
    Laplace,
    Plan,
    Relation,
    SmoothGaussian,
    SmoothLaplace,
    Step,
    TiltedGaussian,
)
from tacit.release.noise import discretisation_error, laplace_discretisation_error
from tacit.release.smooth import MISMATCH

FINEST_NOISE = 2.0**28  # The least noise of a release, in lattice steps: `calibrated_plan` charges for this much.


def calibrated_plan(steps: Sequence[Step], budget: Budget, neighbors: Relation = "replace_one") -> Plan:
    """Return the plan of `steps` with the least noise that `budget` allows, ready for a curator.

    Accountants know the laws of continuous noise, and what is drawn is discrete: the distance between the two, for
    every number released, is charged to delta. A pure budget (delta 0) has Laplace noise alone, which needs no such
    charge.

    Examples
    --------
    >>> from tacit.privacy import Budget, Gaussian
    >>> plan = calibrated_plan([Gaussian("moments", 1.0, count=10, size=66)], Budget(1.0, 1e-6))
    >>> round(plan.steps[0].noise_multiplier, 2), plan.delta(1.0) <= 1e-6
    (13.36, True)
    """
    return stated_plan(steps, budget, neighbors).calibrate(budget)


def stated_plan(steps: Sequence[Step], budget: Budget, neighbors: Relation = "replace_one") -> Plan:
    """Return the plan of `steps` with their stated noise, charged for discrete noise as in :func:`calibrated_plan`."""
    error = 0.0
    if budget.delta > 0:
        per_number = {
            Gaussian: discretisation_error(FINEST_NOISE),
            TiltedGaussian: discretisation_error(FINEST_NOISE),
            Laplace: laplace_discretisation_error(FINEST_NOISE),
            SmoothLaplace: MISMATCH,
            SmoothGaussian: MISMATCH,
        }
        error = math.fsum(step.size * step.releases * per_number.get(type(step.mechanism), 0.0) for step in steps)
    return Plan(tuple(steps), neighbors, sampling_error=error)

"""A private value with its noise: what an algorithm gets when it asks the curator."""

from __future__ import annotations

from tacit.release import Curator, Measurement, Statistic

__all__ = ["Measurement", "measure"]


def measure(curator: Curator, step: str, statistic: Statistic) -> Measurement:
    """Release a statistic's sum as a step of the curator's plan, and return it with its noise."""
    return curator.measure(step, statistic)

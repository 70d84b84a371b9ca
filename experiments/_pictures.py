"""What the pictures of experiments and of the documentation share."""

from __future__ import annotations

from typing import Any

import numpy as np

BLUE, ORANGE, GREY, RED = "#1f5fa8", "#d1661f", "#8a8f98", "#b00020"


def ellipses(axes: Any, means: np.ndarray, covariances: np.ndarray, **style: object) -> None:
    """Draw components at two standard deviations."""
    from matplotlib.patches import Ellipse

    for mean, covariance in zip(means, covariances):
        variances, directions = np.linalg.eigh(covariance)
        angle = np.degrees(np.arctan2(directions[1, 1], directions[0, 1]))
        axes.add_patch(Ellipse(mean, *(4 * np.sqrt(variances[::-1])), angle=angle, fill=False, **style))

"""What models check when they come back from a file, whatever their kind."""

from __future__ import annotations

import numpy as np


def check_shapes(**wanted: tuple[np.ndarray, tuple[int, ...]]) -> None:
    """Refuse arrays that are not of the shapes beside them, or not finite.

    Examples
    --------
    >>> check_shapes(weights=(np.ones(3), (2,)))
    Traceback (most recent call last):
    ValueError: weights must be finite numbers of shape (2,)
    """
    for name, (array, shape) in wanted.items():
        if array.shape != shape or not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite numbers of shape {shape}")

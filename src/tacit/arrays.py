"""The type of every array of numbers in this library: float64, of any shape."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array"]

Array = NDArray[np.float64]

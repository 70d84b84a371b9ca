"""Which rows are in a sample: each by itself, with one probability, and the same ones whenever it is asked again."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from tacit.release.generator import SecureGenerator, from_key


@dataclass(frozen=True)
class PoissonSample:
    """A fresh sample of rows, each kept with probability `rate`, or less by at most 2^-53, independently.

    A smaller probability is no less private. Bits are those of ChaCha20, keyed by a secret of the release and by where
    a block is found: the rows of a block that is read again, by a task that an engine has lost and repeats, are chosen
    alike. Workers that are sent the secret see the rows as well; it is told to no one else.

    Examples
    --------
    >>> sample = PoissonSample(0.25, key=bytes(32))
    >>> kept = sample((0, 3), rows=8192)
    >>> bool(kept.mean().round(2) == 0.25), bool((kept == sample((0, 3), rows=8192)).all())
    (True, True)
    >>> bool((kept == sample((0, 4), rows=8192)).all())
    False
    """

    rate: float
    key: bytes = field(repr=False)  # whoever reads it in a log knows who is in the sample

    @classmethod
    def drawn(cls, rate: float, generator: SecureGenerator) -> PoissonSample:
        """Return a sample with a secret of its own."""
        return cls(rate, generator.bits(4).tobytes())

    def __call__(self, place: tuple[int, int], rows: int) -> NDArray[np.bool_]:
        """Return which rows are kept of a block, by its partition and its number there."""
        most = np.uint64(math.floor(self.rate * 2.0**53))
        here = sha256(self.key + b"".join(number.to_bytes(8, "little") for number in place)).digest()
        return (from_key(here).bits(rows) >> np.uint64(11)) < most

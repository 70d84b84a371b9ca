"""Which rows a release is of: samples, and shares that rows are dealt out into. Fresh secret bits decide, row by row.

Each row of a block has bits of its own: those of ChaCha20, under a secret key and the place of the block. Bits depend
on no cell, and those of different rows are independent. So which rows are drawn has the same law for every order of
the rows, every file and every cluster: it depends on the multiset of rows alone.

A block that is read again, by a task that an engine has lost and repeats, has the same bits. Workers that are sent the
key see the rows as well; it is told to no one else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.release.generator import SecureGenerator, key_bits

Place = tuple[int, int]
"""Where a block is found: its partition, and its number there."""


@dataclass(frozen=True)
class PoissonSample:
    """A fresh sample of rows, each kept with probability `rate`, or less by at most 2^-53, independently.

    A smaller probability is no less private.

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
    key: bytes = field(repr=False)  # It is hidden, because whoever reads it in a log knows who is in the sample.

    @classmethod
    def draw(cls, rate: float, generator: SecureGenerator) -> PoissonSample:
        """Return a sample with a secret of its own."""
        return cls(rate, generator.bits(4).tobytes())

    def __call__(self, place: Place, rows: int) -> NDArray[np.bool_]:
        """Return which rows of a block are kept."""
        most = np.uint64(math.floor(self.rate * 2.0**53))
        return (_bits(self.key, place, rows) >> np.uint64(11)) < most


@dataclass(frozen=True)
class Deal:
    """Rows dealt out into `parts` shares: each row by itself, into every share with the same probability.

    Probabilities differ by at most 2^-16. Privacy does not depend on them: it needs only that bits depend on no cell.

    Examples
    --------
    >>> deal = Deal(4, key=bytes(32))
    >>> np.bincount(deal((0, 0), rows=8192)).tolist()
    [2053, 2103, 1924, 2112]
    >>> bool((deal.share(1)((0, 0), rows=8192) == (deal((0, 0), rows=8192) == 1)).all())
    True
    """

    parts: int
    key: bytes = field(repr=False)

    @classmethod
    def draw(cls, parts: int, generator: SecureGenerator) -> Deal:
        """Return a deal with a secret of its own."""
        return cls(parts, generator.bits(4).tobytes())

    def __call__(self, place: Place, rows: int) -> NDArray[np.int64]:
        """Return the share that each row of a block is dealt to, from 0 on."""
        return _share_numbers(self.parts, self.key, place, rows).astype(np.int64)

    def share(self, index: int) -> Share:
        """Return one of the shares."""
        return Share(self, index)


@dataclass(frozen=True)
class Share:
    """The rows that a deal gives to one share. Rows must be found in the same places whenever a share is asked for."""

    deal: Deal
    index: int

    same_places = True

    def __call__(self, place: Place, rows: int) -> NDArray[np.bool_]:
        """Return which rows of a block are in the share."""
        kept: NDArray[np.bool_] = _share_numbers(self.deal.parts, self.deal.key, place, rows) == self.index
        return kept


@lru_cache(maxsize=2048)  # At most 64 MB. The releases of all shares of a step ask for the same blocks.
def _share_numbers(parts: int, key: bytes, place: Place, rows: int) -> NDArray[np.unsignedinteger[Any]]:
    """Return the share of each row, in the narrowest type: 16 random bits a row, or 32 where shares are many."""
    width, narrow = (16, "u1") if parts <= 2**8 else (32, "u4")
    numbers = _bits(key, place, -(-rows * width // 64)).view(f"<u{width // 8}")[:rows]
    shares: NDArray[np.unsignedinteger[Any]] = ((numbers.astype(np.int64) * parts) >> width).astype(narrow)
    shares.flags.writeable = False
    return shares


def _bits(key: bytes, place: Place, words: int) -> NDArray[np.uint64]:
    """Return words of 64 bits for a block."""
    here = sha256(key + b"".join(number.to_bytes(8, "little") for number in place)).digest()
    return key_bits(here, words)

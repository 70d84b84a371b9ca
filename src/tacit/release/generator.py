"""The one source of randomness.

Invariants:

- Noise that protects people comes from ChaCha20 under a key of 256 bits asked of the operating system, never from
  numpy's global state and never from a statistical generator such as PCG64 or the Mersenne twister, whose past and
  future follow from its output.
- No two processes ever share a stream: a forked child takes a new key, and a pickled or copied generator is a new one.
- A generator made from a ``random_state`` repeats itself, for tests and experiments. It says so in ``seeded``: whoever
  knows the seed can subtract the noise, so nothing drawn from it is private.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from randomgen import ChaCha

from tacit.messages import describe

RandomState: TypeAlias = "int | np.integer[Any] | np.random.Generator | np.random.RandomState | SecureGenerator | None"

_ROUNDS = 20  # ChaCha20 has twenty rounds; variants with fewer are quicker, and less studied.


class SecureGenerator:
    """Uniform random bits from ChaCha20. Made by :func:`generator`.

    Attributes
    ----------
    seeded : bool
        True if the stream is reproducible, and therefore not private.
    """

    def __init__(self, seed: int | None = None) -> None:
        self.seeded = seed is not None
        self._owner = os.getpid()
        self._cipher = _cipher(secrets.randbits(256) if seed is None else _spread(seed))

    def bits(self, count: int) -> NDArray[np.uint64]:
        """Return `count` words of 64 independent fair bits."""
        words: NDArray[np.uint64] = self._own_cipher().random_raw(count)
        return words

    def word(self) -> int:
        """Return 64 independent fair bits as a Python integer."""
        return int(self._own_cipher().random_raw())

    def below(self, bound: int) -> int:
        """Return an integer uniform on 0, ..., bound - 1, exactly, for a bound of any size.

        Draws as many bits as ``bound - 1`` has and starts over when they make a number that is too large.
        """
        if bound < 1:
            raise ValueError(f"A uniform integer needs at least one value to choose from; bound is {bound}.")
        length = (bound - 1).bit_length()
        words, spare = -(-length // 64), -length % 64
        while True:
            draw = 0
            for _ in range(words):
                draw = draw << 64 | self.word()
            if (draw := draw >> spare) < bound:
                return draw

    def numpy(self) -> np.random.Generator:
        """Return a numpy generator keyed from this one, for what no guarantee rests on: starting points, shuffles."""
        return np.random.Generator(_cipher(int.from_bytes(self.bits(4).tobytes(), "little")))

    def _own_cipher(self) -> Any:
        # A fork copies the key. The child must not add the noise to its sums that its parent adds to other sums.
        if not self.seeded and self._owner != os.getpid():
            self._owner, self._cipher = os.getpid(), _cipher(secrets.randbits(256))
        return self._cipher

    def __reduce__(self) -> tuple[Callable[..., SecureGenerator], tuple[Any, ...]]:
        # The key of a private stream is never written anywhere. A copy is another private stream.
        return (_restore, (self._cipher.state,)) if self.seeded else (SecureGenerator, ())

    def __repr__(self) -> str:
        return f"SecureGenerator({'seeded: not private' if self.seeded else 'ChaCha20, keyed by the operating system'})"


def generator(random_state: RandomState = None) -> SecureGenerator:
    """Return the generator for a scikit-learn style ``random_state``.

    Parameters
    ----------
    random_state : None, int, numpy Generator, numpy RandomState or SecureGenerator
        None (the default) keys the stream from the operating system: the only choice that gives privacy. An integer
        gives the same stream each time; a numpy generator gives a seed drawn from it. Both are marked ``seeded``. A
        SecureGenerator is returned as it is.

    Examples
    --------
    >>> from tacit.release.generator import generator
    >>> generator()
    SecureGenerator(ChaCha20, keyed by the operating system)
    >>> bool((generator(7).bits(3) == generator(7).bits(3)).all())
    True
    >>> generator(7).seeded
    True
    """
    if random_state is None:
        return SecureGenerator()
    if isinstance(random_state, SecureGenerator):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return SecureGenerator(int.from_bytes(random_state.bytes(32), "little"))
    if isinstance(random_state, np.random.RandomState):
        return SecureGenerator(int.from_bytes(random_state.bytes(32), "little"))
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0:
        return SecureGenerator(int(random_state))
    raise ValueError(
        f"random_state is {describe(random_state)}; it must be None (private noise), an integer of 0 or more, or a "
        "numpy Generator or RandomState (reproducible noise, which is not private)."
    )


def key_bits(key: bytes, count: int) -> NDArray[np.uint64]:
    """Return the first `count` words of the stream of a secret key of 32 bytes: the same each time."""
    words: NDArray[np.uint64] = _cipher(int.from_bytes(key, "little")).random_raw(count)
    return words


def _cipher(key: int) -> Any:
    return ChaCha(key=key, rounds=_ROUNDS)


def _spread(seed: int) -> int:
    """Return a key from a seed of any length. SeedSequence is what numpy promises to keep stable between versions."""
    return int.from_bytes(np.random.SeedSequence(seed).generate_state(4, np.uint64).astype("<u8").tobytes(), "little")


def _restore(state: dict[str, Any]) -> SecureGenerator:
    copy = SecureGenerator(0)
    copy._cipher.state = state
    return copy

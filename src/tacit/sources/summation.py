"""Adding up integer vectors over blocks on a few threads, in constant memory."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped, unused-ignore]

MOST_THREADS = 8
_LIGHT = 3e-4  # seconds for a block, below which threads wait for each other longer than they work


def sum_over_blocks(
    blocks: Iterable[Any], function: Callable[[Any], NDArray[np.int64]], threads: int | None = None
) -> NDArray[np.int64]:
    """Add up ``function(block)`` over blocks: exact integers, so the answer does not depend on the order.

    About ``2 * threads`` blocks are held at a time: the next ones are read while the first ones are worked on.
    """
    at_most, threads = threads, default_threads() if threads is None else threads
    if threads < 1:
        raise ValueError(f"threads must be at least 1, got {threads}.")
    blocks = iter(blocks)
    first = list(islice(blocks, 2))
    if not first:
        raise ValueError("Found 0 sample(s) while a minimum of 1 is required.")
    total = _Total()
    # One BLAS thread for each of ours: blocks are too small to be shared out further, threads of threads get in each
    # other's way, and a product rounds alike however many of ours there are.
    with _blas().limit(limits=1, user_api="blas"):
        start = time.perf_counter()
        total.add(function(first[0]))
        light = at_most is None and time.perf_counter() - start < _LIGHT
        rest = chain(first[1:], blocks)
        if threads == 1 or len(first) == 1 or light:
            for block in rest:
                total.add(function(block))
        else:
            _add_on_threads(total, rest, function, threads)
    return total.value


def _add_on_threads(
    total: _Total, blocks: Iterable[Any], function: Callable[[Any], NDArray[np.int64]], threads: int
) -> None:
    with ThreadPoolExecutor(threads, "tacit-sum") as pool:
        waiting: deque[Future[NDArray[np.int64]]] = deque()
        try:
            for block in blocks:
                if len(waiting) == 2 * threads:
                    total.add(waiting.popleft().result())
                waiting.append(pool.submit(function, block))
            while waiting:
                total.add(waiting.popleft().result())
        finally:
            for future in waiting:
                future.cancel()


class _Total:
    """A running sum of int64 vectors that refuses anything else."""

    value: NDArray[np.int64]

    def __init__(self) -> None:
        self.empty = True

    def add(self, part: NDArray[np.int64]) -> None:
        if not isinstance(part, np.ndarray) or part.dtype != np.int64 or part.ndim != 1:
            raise TypeError("A function summed over blocks must return a vector of int64: integers add up exactly.")
        if self.empty:
            self.value, self.empty = part.copy(), False
        elif part.shape == self.value.shape:
            self.value += part
        else:
            raise ValueError("A function summed over blocks must return a vector of the same length for every block.")


def default_threads() -> int:
    """Return how many threads to use: the processors this process may run on, at most ``MOST_THREADS``."""
    # sched_getaffinity knows of taskset and cpusets, but exists on Linux alone.
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, MOST_THREADS)


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()  # takes milliseconds to find the libraries, so it is done once

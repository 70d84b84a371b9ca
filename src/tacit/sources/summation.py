"""Adding up integer vectors over blocks on a few threads, in constant memory."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import threadpoolctl  # type: ignore[import-untyped, unused-ignore]
from numpy.typing import NDArray

from tacit.kernels import check_kernels

# These change the speed, which benchmarks/engines.py measures, and no guarantee.
MOST_THREADS = 8  # More threads wait for memory.
_LIGHT = 3e-4  # If a block takes fewer seconds, threads wait for each other longer than they work.


def sum_over_streams(
    streams: Sequence[Iterable[Any]], function: Callable[[Any], NDArray[np.int64]], threads: int | None = None
) -> NDArray[np.int64]:
    """Add up ``function(block)`` over the blocks of all streams: exact integers, so their order does not matter.

    Every thread reads the blocks it works on, from whichever stream no other is reading. So at most as many streams are
    begun and not at their ends as there are threads, and as many blocks are held.
    """
    at_most, threads = threads, default_threads() if threads is None else threads
    if threads < 1:
        raise ValueError(f"threads must be at least 1, got {threads}.")
    blocks, totals = _Shared(streams), [_Total() for _ in range(threads)]
    # Each of our threads has one BLAS thread. Blocks are too small to be divided further, more threads would get in
    # each other's way, and a product rounds alike however many threads we have.
    with ONE_BLAS_THREAD, closing(blocks):
        check_kernels()
        if threads == 1:
            _add(totals[0], blocks, function)
        else:
            _add_on_threads(totals, blocks, function, _LIGHT if at_most is None else 0.0)
    total = _Total()
    for part in totals:
        if not part.empty:
            total.add(part.value)
    if total.empty:
        raise ValueError("Found 0 sample(s) while a minimum of 1 is required.")
    return total.value


def _add(total: _Total, blocks: Iterable[Any], function: Callable[[Any], NDArray[np.int64]]) -> None:
    for block in blocks:
        total.add(function(block))


def _add_on_threads(
    totals: list[_Total], blocks: _Shared, function: Callable[[Any], NDArray[np.int64]], light: float
) -> None:
    """Add up on this thread and others, each to its own total; alone if the first block takes less than `light`."""
    alone = threading.Event()

    def help_with(total: _Total) -> None:
        if not alone.wait(light):
            with closing(blocks):  # If this thread fails, the others stop.
                _add(total, blocks, function)

    pool = ThreadPoolExecutor(len(totals) - 1, "tacit-sum")
    with pool, closing(blocks):  # It is closed before the pool waits for helpers.
        helpers = [pool.submit(help_with, total) for total in totals[1:]]
        start = time.perf_counter()
        _add(totals[0], islice(blocks, 1), function)
        if time.perf_counter() - start < light:
            alone.set()
        _add(totals[0], blocks, function)
    while helpers:  # Popped, so that an error and its traceback do not hold each other.
        helpers.pop().result()


class _Shared:
    """The items of several iterators, for several threads: each item is given to one thread.

    An interrupt may come between any two lines, and leave one thread's part undone; but whoever closes this then lets
    all others go. (That is why the lock is a plain one: a condition's own can be left locked.)
    """

    def __init__(self, iterables: Sequence[Iterable[Any]]) -> None:
        self._idle = [iter(iterable) for iterable in reversed(iterables)]  # Those that nobody reads; the next is last.
        self._being_read, self._closed = 0, False
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        while True:
            with self._lock:
                self._changed.wait_for(lambda: self._idle or not self._being_read or self._closed)
                if self._closed or not self._idle:
                    raise StopIteration
                iterator = self._idle.pop()
                self._being_read += 1
            items = []
            try:
                items = list(islice(iterator, 1))
            finally:
                with self._lock:
                    self._being_read -= 1
                    if items and not self._closed:
                        self._idle.append(iterator)
                    self._changed.notify_all()
            if self._closed:
                _end(iterator)
            if items:
                return items[0]

    def close(self) -> None:
        """End the iteration, and let iterators close what they have open."""
        with self._lock:
            idle, self._idle, self._closed = self._idle, [], True
            self._changed.notify_all()
        for iterator in idle:
            _end(iterator)


def _end(iterator: Iterator[Any]) -> None:
    if isinstance(iterator, Generator):
        iterator.close()


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
    # sched_getaffinity respects taskset and cpusets, and exists on Linux alone.
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, MOST_THREADS)


class _OneBlasThread:
    """Keeps BLAS to one thread while any sum is under way: the first sets the limit, the last takes it back."""

    def __init__(self) -> None:
        self._lock, self._sums = threading.Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            if self._sums == 0:
                _let_any_thread_control()
                self._limit = _blas().limit(limits=1, user_api="blas")
            self._sums += 1

    def __exit__(self, *raised: object) -> None:
        with self._lock:
            self._sums -= 1
            if self._sums == 0:
                _let_any_thread_control()
                self._limit.restore_original_limits()
                _let_any_thread_control()


def _let_any_thread_control() -> None:
    """Let any thread change a limit. Since threadpoolctl 3.8 only the thread that set it may change it."""
    openblas = getattr(threadpoolctl, "OpenBLASController", None)
    if hasattr(openblas, "clear_controlling_thread"):
        openblas.clear_controlling_thread(force=True)


@cache
def _blas() -> threadpoolctl.ThreadpoolController:
    return threadpoolctl.ThreadpoolController()  # Cached, because finding the libraries takes milliseconds.


ONE_BLAS_THREAD = _OneBlasThread()

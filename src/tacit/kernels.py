"""Whether this process computes a row's numbers alike wherever the row stands, and as other processes do.

A sum over rows moves by no more than its stated sensitivity between neighbours only if the rows that they share count
for the same in both: to the last bit where the last bit decides to which of two clusters a row belongs. Replacing one
row can move others, to another place in a block, to another block or to another machine. How a matrix product rounds is
up to the library that computes it, to the kernel that this library has for the processor, and, in some kernels, to how
many rows are multiplied and where a row stands among them.

So two things are checked, once for each process, in a few milliseconds:

- :func:`check_kernels`: products and functions, of the shapes that statistics use, give a row the same numbers at any
  place among any others. What they rely on is that blocks are padded to multiples of ``ROWS_AT_ONCE`` rows.
- :func:`kernel_fingerprint`: which library, version and kernel there is, and what it makes of fixed numbers. Workers of
  a cluster send theirs with their sums, and sums of unlike workers are refused (:mod:`tacit.sources.partitions`).

Both are tests, and no proofs: what is tested are some shapes, and some numbers, of all that there are.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256

import numpy as np
import threadpoolctl  # type: ignore[import-untyped, unused-ignore]

from tacit.arrays import Array

ROWS_AT_ONCE = 64  # Blocks are padded to a multiple of this many rows.
# Statistics work on pieces of at most this many numbers: enough for numpy, and few enough for a processor's cache. It
# changes the speed, which benchmarks/engines.py measures, and no guarantee.
CACHE_NUMBERS = 320_000
# Rows are multiplied with matrices of these shapes.
_SHAPES = ((1, 2), (1, 9), (2, 2), (3, 5), (4, 10), (8, 3), (12, 33))
_ROWS = 1600  # Some libraries have other kernels for small products, which have fewer rows than this.
# These rows are also computed by themselves: single ones, whole sets, and the last ones.
_SOME = tuple(slice(*ends) for ends in ((0, 1), (37, 38), (0, 64), (61, 125), (5, 70), (777, 1600)))
_KEYS = ("internal_api", "version", "architecture")  # What identifies a kernel, as threadpoolctl names it.
_UNLIKE = (
    "This machine's linear algebra rounds a row's numbers by where it stands, so that stated sensitivities may not "
    "hold. Nothing is summed with it. Install numpy from another source, or set another kernel for it, such as by "
    "OPENBLAS_CORETYPE=Haswell."
)


class UnlikeKernels(RuntimeError):
    """Rows would not be computed alike everywhere. The sentence holds nothing of them."""


def check_kernels() -> None:
    """Raise :class:`UnlikeKernels` if what is computed for a row depends on its place or on the other rows.

    Call it where BLAS is kept to one thread, as it is while rows are summed.

    Examples
    --------
    >>> check_kernels()
    """
    if not _alike():
        raise UnlikeKernels(_UNLIKE)


@cache
def kernel_fingerprint() -> str:
    """Return what a row's last bits depend on: processes with the same one are taken to compute the same numbers.

    Examples
    --------
    >>> kernel_fingerprint() == kernel_fingerprint()
    True
    """
    libraries = threadpoolctl.ThreadpoolController().info()
    libraries = [library for library in libraries if library.get("user_api") == "blas"]
    # scipy may bring a library of its own on one machine only. Rows are multiplied by that of numpy.
    libraries = [library for library in libraries if "numpy" in str(library.get("filepath"))] or libraries
    names = sorted({" ".join(str(library.get(key)) for key in _KEYS) for library in libraries})
    digest = sha256()
    for compute, rows in _computations():
        digest.update(np.ascontiguousarray(compute(_pad(rows[:, :256]))).tobytes())
    return ", ".join([f"numpy {np.__version__} on {platform.machine()}", *names, digest.hexdigest()[:16]])


@cache
def _alike() -> bool:
    return all(_alike_at_all_places(compute, rows) for compute, rows in _computations())


def _alike_at_all_places(compute: Callable[[Array], Array], rows: Array) -> bool:
    """Whether some rows (columns, rows), computed by themselves, have the same bits as among all."""
    together = compute(_pad(rows))
    for some in _SOME:
        alone = rows[:, some]
        if not np.array_equal(compute(_pad(alone))[..., : alone.shape[1]], together[..., some]):
            return False
    return True


def _computations() -> Iterator[tuple[Callable[[Array], Array], Array]]:
    """Yield what statistics compute, from rows (columns, rows), and rows to compute it of."""
    for lines, columns in _SHAPES:
        matrix, rows = _numbers(lines, columns), _numbers(columns, _ROWS)
        yield lambda rows, matrix=matrix: matrix @ rows, rows  # type: ignore[misc]
        yield lambda rows, vector=matrix[0]: vector @ rows, rows  # type: ignore[misc]
        yield lambda rows: np.einsum("dr,dr->r", rows, rows), rows
        yield lambda rows: (rows * rows).sum(axis=0), rows
    for function in (np.exp, np.tanh, np.sqrt, np.log):
        yield lambda rows, function=function: function(8.0 * np.abs(rows) + 1e-3), rows  # type: ignore[misc]


def _pad(rows: Array) -> Array:
    """Return rows (columns, rows) with zeros behind them, up to whole sets of ``ROWS_AT_ONCE``, laid out alike."""
    padded = np.zeros((len(rows), rows.shape[1] + -rows.shape[1] % ROWS_AT_ONCE))
    padded[:, : rows.shape[1]] = rows
    return padded


def _numbers(lines: int, columns: int) -> Array:
    """Return fixed numbers between -1/2 and 1/2 with 32 bits, the same on every machine."""
    places = np.arange(1, lines * columns + 1, dtype=np.uint64)
    mixed = (places * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(11)) * np.uint64(0xBF58476D1CE4E5B9) >> np.uint64(32)
    numbers: Array = mixed.astype(np.float64).reshape(lines, columns) * 2.0**-32 - 0.5
    return numbers

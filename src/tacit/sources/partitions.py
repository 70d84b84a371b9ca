"""Rows spread over the workers of a cluster: what every engine does with one partition of them.

A cluster's partitions are cut into blocks where they are, and only sums of integers leave a worker. Engines run a task
again when a worker is lost or slow, and count the result of one run: what a partition adds up to depends on its rows
alone, so it does not matter which. That takes workers that round alike: each sends with its sums by which kernel they
were computed (:mod:`tacit.kernels`), and sums of unlike ones are refused.

A curator allows for what floating point does to 2^17 blocks, and each partition may end with a short one: so there are
at most 2^16 partitions, and 2^29 rows.

Rows that are dealt out into shares must be found in the same places in every pass: else a row could be in two shares.
Engines promise no order within a partition, where rows come out of a shuffle and are computed anew. So workers send a
digest of what they found, and a pass that finds rows elsewhere is refused.
"""

from __future__ import annotations

import pickle
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.kernels import UnlikeKernels, kernel_fingerprint
from tacit.sources.sampling import Kept, SampledSource, sampled_blocks
from tacit.sources.source import Source, UnreadableCells, block_function
from tacit.sources.summation import ONE_BLAS_THREAD, sum_over_streams

_UNKNOWN = (
    "A task failed on a worker, for a reason that is not told here because it could quote a row. Are tacit and numpy "
    "installed on the workers, in the same versions as here?"
)
_UNLIKE = (
    "Workers compute rows with different linear algebra, and would round them differently: {}; and {}. Give all "
    "the same versions of numpy and of its BLAS, and the same kernel (for OpenBLAS, the same OPENBLAS_CORETYPE)."
)
_Computed = TypeVar("_Computed")
_MOST_PARTITIONS = 2**16  # The docstring says why.
_MOST_WIDENED = 4  # Workers hold mapped rows with at most this many times the columns; a category may have many levels.
_MOVED = (
    "Rows were not found in the same order as in an earlier pass, so that they cannot be dealt out into shares. "
    "Persist the collection first (persist(), or a checkpoint), or write it to Parquet files and pass these."
)
_NOT_COMPUTED = (
    "The rows could not be computed where they are, for a reason that is not told here because it could quote one. "
    "Compute the collection by itself to see it."
)


class Partial(NamedTuple):
    """The sum over one partition or several: None if they have no rows, and if it failed, which `failure` explains."""

    total: NDArray[np.int64] | None = None
    failure: str | None = None
    kernel: str | None = None  # The kernel that computed it; see ``tacit.kernels``.
    digests: dict[int, bytes] = {}  # noqa: RUF012 - By partition: digests of the rows in their order.


@dataclass(frozen=True)
class OfSample:
    """A function of blocks, for those of their rows that are in a sample."""

    function: Callable[[Any], NDArray[np.int64]]
    kept: Kept

    @property
    def same_places(self) -> bool:
        """Whether rows must be where they were in the pass before."""
        return getattr(self.kept, "same_places", False)


def partial_sum(blocks: Callable[[], Iterable[Any]], pickled: bytes, partition: int) -> Partial:
    """Add up a pickled function over the blocks of a partition, by its number, on a worker.

    Nothing is raised: engines write what is raised to their logs, with the rows at hand. Only sentences that are known
    to quote no cell are passed on.
    """
    try:
        function = pickle.loads(pickled)
        iterator = iter(blocks())
        seen = blake2b(digest_size=16)
        if dealt := isinstance(function, OfSample) and function.same_places:
            iterator = _digest_each(iterator, seen)
        if isinstance(function, OfSample):
            iterator = sampled_blocks(enumerate(iterator), function.kept, partition)
            function = function.function
        first = next(iterator, None)
        if first is None:
            return Partial()
        total = sum_over_streams([_chain(first, iterator)], function, threads=1)
        return Partial(total, kernel=_kernel(), digests={partition: seen.digest()} if dealt else {})
    except (UnreadableCells, UnlikeKernels) as error:
        return Partial(failure=str(error))
    except Exception:
        return Partial(failure=_UNKNOWN)


def add_partials(partials: Iterable[Partial]) -> Partial:
    """Add up the sums of partitions, if all were computed alike."""
    total: NDArray[np.int64] | None = None
    digests: dict[int, bytes] = {}
    kernel: str | None = None
    for partial in partials:
        if partial.failure is not None:
            return partial
        if partial.kernel is not None and kernel is not None and partial.kernel != kernel:
            return Partial(failure=_UNLIKE.format(*sorted((kernel, partial.kernel))))
        kernel = kernel or partial.kernel
        if partial.total is not None:
            total = partial.total if total is None else total + partial.total
        digests |= partial.digests
    return Partial(total, kernel=kernel, digests=digests)


def _kernel() -> str:
    with ONE_BLAS_THREAD:
        return kernel_fingerprint()


def compute_or_refuse(compute: Callable[[], _Computed]) -> _Computed:
    """Return what an engine computes. Its own error may quote a row, so another is raised, not chained to it."""
    try:
        return compute()
    except Exception:
        pass
    raise ValueError(_NOT_COMPUTED)


def _digest_each(blocks: Iterable[Any], seen: Any) -> Iterator[Any]:
    for block in blocks:
        seen.update(pickle.dumps(block.combine_chunks()) if isinstance(block, pa.Table) else block.tobytes("A"))
        yield block


def _chain(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest


def held_blocks(blocks: Callable[[], Iterable[Any]], pickled: bytes) -> Iterator[Array | Partial]:
    """Yield what a pickled function makes of the blocks of a partition, on a worker; or, last, why that failed.

    Among them is what kernel made it: the sum may be found on another worker.
    """
    try:
        function = pickle.loads(pickled)
        yield Partial(kernel=_kernel())
        for block in blocks():
            if isinstance(block, Partial):
                yield block
            else:
                with ONE_BLAS_THREAD:  # How a product rounds depends on the number of threads.
                    mapped = function(block)
                yield mapped
    except UnreadableCells as error:
        yield Partial(failure=str(error))
    except Exception:
        yield Partial(failure=_UNKNOWN)


def sum_held_blocks(blocks: Callable[[], Iterable[Any]], pickled: bytes, partition: int) -> Partial:
    """Add up a pickled function over blocks that `held_blocks` gave."""
    reports: list[Partial] = []

    def blocks_of_numbers() -> Iterator[Any]:
        for block in blocks():
            if isinstance(block, Partial):
                reports.append(block)
            else:
                yield block

    total = partial_sum(blocks_of_numbers, pickled, partition)
    return add_partials([*reports, total])


class PartitionedSource(Source):
    """Rows on a cluster. Engines say how to sum over all partitions, and how workers hold them."""

    local = False
    _digests: dict[int, bytes] | None = None  # The digests of the first pass that dealt out rows.

    def hold_as(self, function: Callable[[Any], Any], names: tuple[str, ...] | None) -> Source | None:
        import cloudpickle

        if names is not None and len(names) > _MOST_WIDENED * self.n_columns:
            return None
        return self._hold(cloudpickle.dumps(function), names)

    @abstractmethod
    def _hold(self, pickled: bytes, names: tuple[str, ...] | None) -> Source:
        """Return what a pickled function makes of blocks, held by the workers from the first pass on."""

    @property
    @abstractmethod
    def _partitions(self) -> int:
        """How many partitions there are."""

    @abstractmethod
    def _sum(self, pickled: bytes) -> Partial:
        """Return what all partitions add up to, by a pickled function of blocks."""

    def sum(
        self,
        function: Callable[[Any], NDArray[Any]],
        *,
        finish: Callable[[Array], NDArray[np.int64]] | None = None,
        threads: int | None = None,
    ) -> NDArray[np.int64]:
        return self._total(block_function(function, finish))

    def _total(self, function: Callable[[Any], NDArray[np.int64]] | OfSample) -> NDArray[np.int64]:
        import cloudpickle  # It comes with the extras tacit[dask] and tacit[spark].

        if self._partitions > _MOST_PARTITIONS:
            raise ValueError(
                f"The rows are in {self._partitions:,} partitions, and at most {_MOST_PARTITIONS:,} can be summed. "
                "Repartition them: some hundred thousand rows in each are summed fastest."
            )
        pickled = cloudpickle.dumps(function)
        total, failure, _, digests = compute_or_refuse(lambda: self._sum(pickled))
        if failure is not None:
            raise ValueError(failure)
        if total is None:
            raise ValueError("Found 0 sample(s) while a minimum of 1 is required.")
        if isinstance(function, OfSample) and function.same_places:
            self._digests = digests if self._digests is None else self._digests
            if digests != self._digests:
                raise ValueError(_MOVED)
        return total

    def sample(self, kept: Kept) -> Source:
        return _SampledPartitions(self, kept)

    def blocks(self) -> NoReturn:
        raise TypeError(
            "Rows on a cluster stay there: only sums over all of them can be had. To predict or score, pass the rows "
            "of one partition at a time, in the function that you map over partitions."
        )


@dataclass(frozen=True)
class _SampledPartitions(SampledSource):
    """The rows of a sample, chosen where they are."""

    parent: PartitionedSource

    local = False

    def sum(
        self,
        function: Callable[[Any], NDArray[Any]],
        *,
        finish: Callable[[Array], NDArray[np.int64]] | None = None,
        threads: int | None = None,
    ) -> NDArray[np.int64]:
        return self.parent._total(OfSample(block_function(function, finish), self.kept))


class HeldPartitions(PartitionedSource):
    """Blocks of numbers that workers hold: what has become of the rows of `origin`."""

    def __init__(self, names: tuple[str, ...] | None, origin: PartitionedSource) -> None:
        self.names, self.origin = names, origin

    @property
    def columns(self) -> tuple[str, ...] | None:
        return self.names

    @property
    def n_columns(self) -> int:
        return self.origin.n_columns if self.names is None else len(self.names)

    @property
    def n_rows(self) -> int:
        return self.origin.n_rows

    @property
    def types(self) -> pa.Schema:
        raise TypeError("A mapped source has no declared types; ask the source it was made from.")

    def select(self, columns: Sequence[str]) -> Source:
        raise TypeError("Columns cannot be selected after map; select them first, then map.")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_columns} columns)"

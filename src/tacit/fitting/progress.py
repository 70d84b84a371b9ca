"""A progress bar for fits that are watched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Watch = Callable[[int, int], None]


@contextmanager
def progress(shown: bool, what: str) -> Iterator[Watch]:
    """Yield a function ``watch(done, total)``; it moves a bar on the terminal if `shown`.

    Examples
    --------
    >>> with progress(False, "Fitting") as watch:
    ...     watch(1, 10)
    """
    if not shown:
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:  # Standard output is for results.
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def part_of(watch: Watch, before: int, total: int) -> Watch:
    """Return a function that tells `watch` how far a part of the work is, which begins after `before` of `total`.

    Examples
    --------
    >>> part_of(lambda done, total: print(done, "of", total), 3, 10)(1, 2)
    4 of 10
    """
    return lambda done, _: watch(before + done, total)

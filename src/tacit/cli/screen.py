"""What commands say, and where: results on standard output, everything else on standard error.

On a terminal results are laid out for its width. Elsewhere they are plain text: no colours, and sentences and paths on
one line each, for programs to read; ``--json`` is better still.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from tacit.models.printed import NumberedTable
    from tacit.privacy import Certificate

__all__ = [
    "certificate",
    "note",
    "note_hidden_lines",
    "numbered_table",
    "print_json",
    "progress",
    "say",
    "table",
    "where",
]

_PLAIN_WIDTH = 110  # Characters of a line in a table that goes to a file.
MOST_LINES = 80  # Lines of a table that has one for each column.


def print_json(values: Any) -> None:
    """Print values as JSON, exactly."""
    typer.echo(json.dumps(values, indent=2, allow_nan=False, ensure_ascii=False))


def say(text: str = "", *, style: str = "") -> None:
    """Print a sentence as part of the result."""
    console = _output()
    console.print(Text(text, style=style), soft_wrap=not console.is_terminal)


def where(**paths: Path | str | None) -> None:
    """Print what can be found where, one line for each that is there."""
    width = max(len(name) for name in paths) + 2
    for name, path in paths.items():
        if path is not None:
            line = Text.assemble((f"{name.capitalize():<{width}}", "bold"), str(path))
            _output().print(line, soft_wrap=True)  # A path that is broken over lines cannot be copied.


def note(text: str, *, style: str = "yellow") -> None:
    """Print a sentence that is not part of the result: a warning, an error, what is being done."""
    console = Console(stderr=True, highlight=False)
    console.print(Text(text, style=style), soft_wrap=not console.is_terminal)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "", words: int = 1) -> None:
    """Print a table, its first `words` columns to the left and the others to the right."""
    console = _output()
    if title:
        say(title, style="bold")
    console.print(_table(head, rows, words))


def numbered_table(block: NumberedTable) -> None:
    """Print rows of cells for components, clusters or factors, for as many of them as there is room for."""
    what, rows, others, last = block
    count = len(next(iter(rows.values())))
    wide = 2 + max(len(cell) for cells in rows.values() for cell in cells)
    kept = 0 if last is None else 2 + max(map(len, (last[0], *last[1])))
    shown = min(max(1, (_output().width - 4 - max(map(len, (what, *rows))) - kept) // wide), count)
    head = [what, *(str(k + 1) for k in range(shown)), *([] if last is None else [last[0]])]
    after = [()] * len(rows) if last is None else [(cell,) for cell in last[1]]
    lines = [[name, *cells[:shown], *more] for (name, cells), more in zip(rows.items(), after)]
    table(head, lines[:MOST_LINES])
    if shown < count:
        say(f"  Not shown, for want of room: {count - shown} {others}.")
    note_hidden_lines(len(lines))


def note_hidden_lines(lines: int) -> None:
    """Say that a table has more lines than are shown, if it has."""
    if lines > MOST_LINES:
        say(f"  Not shown: {lines - MOST_LINES} more lines; --json and the model file have them.")


def certificate(shown: Certificate) -> None:
    """Print a certificate in plain words."""
    console = _output()
    if not console.is_terminal:
        say(shown.text())
        return
    console.print(Text(f"Privacy certificate (tacit {shown.version})", style="bold"))
    if shown.seeded:
        console.print(Text("\nSEEDED: NOT PRIVATE. Keep this for tests; fit again without a seed.", style="bold red"))
    if shown.peeked:
        console.print(Text(f"\nBOUNDS READ FROM THE ROWS. {shown.peeked_why()}", style="bold red"))
    for title, parts in shown.sections():  # The same sections as in ``text()``, laid out for this terminal.
        console.print(Text(f"\n{title}", style="bold"))
        for part in parts:
            if isinstance(part, str):
                console.print(Text(part))
            else:
                console.print(_table(part[0], part[1:], words=2 if len(part[0]) > 2 else 1))


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yield a function that moves a bar forward; there is a bar only if standard error is a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda steps: bar.advance(task, steps)


def _output() -> Console:
    console = Console(highlight=False)  # Made anew each time: standard output may be redirected in between.
    return console if console.is_terminal else Console(highlight=False, width=_PLAIN_WIDTH)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> Padding:
    grid = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for index, name in enumerate(head):
        grid.add_column(Text(name), justify="left" if index < words else "right", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(cell) for cell in row))
    return Padding(grid, (0, 0, 0, 2), expand=False)

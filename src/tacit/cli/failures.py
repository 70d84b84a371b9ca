"""How commands end: a sentence instead of a traceback, and an exit code.

0 done; 1 refused, because of the data, a file or a value; 2 the command line cannot be understood; 3 the budget is
short. Whatever is refused has cost no budget.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from tacit.cli import screen
from tacit.privacy.errors import BudgetExceeded, PrivacyError

__all__ = ["BUDGET_EXCEEDED", "REFUSED", "sentences"]

# Exit codes. Typer's own, for a wrong command line, is 2.
REFUSED = 1
BUDGET_EXCEEDED = 3  # A ledger has too little left.


@contextmanager
def sentences() -> Iterator[None]:
    """Turn refusals into a sentence on standard error and an exit code, and warnings into sentences.

    Other exceptions are mistakes in this library and pass through.
    """
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            yield
        except BrokenPipeError:
            raise  # Whoever read our output has seen enough; typer knows how to leave.
        except BudgetExceeded as error:
            screen.note(f"Refused: {error}", style="red")
            raise typer.Exit(BUDGET_EXCEEDED) from None
        except (ValueError, OSError, PrivacyError) as error:
            screen.note(f"Error: {_sentence(error)}", style="red")
            raise typer.Exit(REFUSED) from None


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'A file'}: {error.strerror}."
    return str(error)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    screen.note(f"Warning: {message}")

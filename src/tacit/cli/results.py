"""What a fit found, on the screen: the registry has the tables and sentences of each model."""

from __future__ import annotations

from typing import Any

from tacit.cli import screen
from tacit.fitting import PrivateEstimator
from tacit.models import Results, Without, find_card
from tacit.models.printed import NumberedTable, Table

__all__ = ["results_in_words", "show_results", "summary"]


def results_in_words(model: PrivateEstimator) -> str:
    """Return in a few words what was done to a table, which is named next.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> results_in_words(tacit.KMeans(3, bounds=10.0).fit(X))
    'Found 3 cluster(s) in'
    """
    return _results(model).words(model)


def show_results(model: PrivateEstimator) -> None:
    """Print tables and sentences about what was found."""
    for block in _results(model).blocks(model):
        if isinstance(block, NumberedTable):
            screen.numbered_table(block)
        elif isinstance(block, Table):
            screen.table(block.head, block.rows[: screen.MOST_LINES], words=block.words)
            screen.note_hidden_lines(len(block.rows))
        else:
            screen.say(block)


def summary(model: PrivateEstimator) -> dict[str, Any]:
    """Return what was found as JSON has it."""
    return _results(model).summary(model)


def _results(model: PrivateEstimator) -> Results:
    card = find_card(model)
    if card is None or isinstance(card.results, Without):
        raise TypeError(f"No command shows a {type(model).__name__}.")
    return card.results

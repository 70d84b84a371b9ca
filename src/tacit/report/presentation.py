"""What the page of a report needs to know about one fitted model: all that differs between models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.report.cautions import Caution
from tacit.report.markup import Html

__all__ = ["MOST_PICTURES", "Pairs", "Presentation", "refuse_pairs"]

Pairs = Sequence[Sequence[str | int]] | None

MOST_PICTURES = 3  # Pictures of pairs of columns, where nobody says which pairs to draw.


@dataclass(frozen=True)
class Presentation:
    """A fitted model, as the page presents it.

    Parameters
    ----------
    title : str
        What the page is called if nobody says.
    columns : int
        How many columns of the table the model is about.
    ignored : tuple of str
        Names of columns that the schema leaves out.
    cautions : list of Caution
    results : Html
        What was found.
    signal_rows : str
        Which rows the ratio of signal to noise is about.
    signal_proportion : float
        What proportion of all rows these are.
    """

    title: str
    columns: int
    ignored: tuple[str, ...]
    cautions: list[Caution]
    results: Html
    signal_rows: str = "all rows"
    signal_proportion: float = 1.0


def refuse_pairs(pairs: Pairs) -> None:
    """Refuse pairs of columns to draw, for a model that has no such pictures."""
    if pairs is not None:
        raise ValueError("Pairs of columns are drawn of mixtures and of clusters; leave them out for this model.")

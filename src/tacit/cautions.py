"""What a reader should know before using a result: one kind of value for warnings, certificates and reports.

The card of a model says what its results must be warned of (:mod:`tacit.models`): by what was released and the noise
that is known to be in it, never by rows. When a fit ends, the estimator warns of it in Python, which a command prints,
and the certificate keeps it, so that files and reports have it too.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

__all__ = ["Caution", "CautionWarning", "Severity", "find_cautions"]

Severity = Literal["danger", "warning", "note"]


@dataclass(frozen=True)
class Caution:
    """Something to know before using a result.

    Parameters
    ----------
    severity : {"danger", "warning", "note"}
    title : str
        What is wrong, without a full stop.
    text : str
        What that means and what to do, in sentences.

    Examples
    --------
    >>> str(Caution("warning", "Some centres are copies", "Fewer clusters say as much."))
    'Some centres are copies. Fewer clusters say as much.'
    """

    severity: Severity
    title: str
    text: str

    def __str__(self) -> str:
        return f"{self.title}. {self.text}"


class CautionWarning(UserWarning):
    """A fit is sound as to privacy, but its result says little, or not what it seems to say."""


def find_cautions(model: Any) -> list[Caution]:
    """Return what the card of a fitted model says its results must be warned of.

    The registry stands above the estimators, and is imported here when a fit has ended.
    """
    card = import_module("tacit.models.registry").find_card(model)
    return [] if card is None else list(card.cautions(model))

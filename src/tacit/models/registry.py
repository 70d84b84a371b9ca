"""The registry: the cards of all models, in the order in which commands list them.

To add a model, write its card into the file of its family, and its family into `_FAMILIES` if it is new.
``tests/unit/models/test_registry.py`` tells what a card lacks.
"""

from __future__ import annotations

from typing import Any

from tacit.models import (
    classification,
    clusters,
    factor_analysis,
    linear,
    missing_regression,
    mixture,
    moments,
    regressions,
    robust_mean,
    synthesis,
)
from tacit.models.card import ModelCard, Without
from tacit.models.command import Command

__all__ = ["CARDS", "COMMANDS", "TRIALS", "card_named", "find_card"]

_FAMILIES = (
    mixture,
    clusters,
    synthesis,
    regressions,
    linear,
    classification,
    missing_regression,
    moments,
    factor_analysis,
    robust_mean,
)

#: The card of every estimator.
CARDS: tuple[ModelCard, ...] = tuple(card for family in _FAMILIES for card in family.CARDS)
#: The commands of ``tacit fit``; several cards may share one.
COMMANDS: tuple[Command, ...] = tuple(
    dict.fromkeys(card.command for card in CARDS if not isinstance(card.command, Without))
)
#: The cards of models whose accuracy ``tacit plan`` forecasts, by the names of their commands.
TRIALS: dict[str, ModelCard] = {
    card.command.name: card
    for card in CARDS
    if not isinstance(card.trial, Without) and not isinstance(card.command, Without)
}
_BY_NAME = {card.name: card for card in CARDS}


def card_named(name: str) -> ModelCard:
    """Return the card of the estimator of that name.

    Examples
    --------
    >>> card_named("KMeans").docs
    'kmeans.md'
    """
    return _BY_NAME[name]


def find_card(model: Any) -> ModelCard | None:
    """Return the card of a model's estimator or of the nearest it is derived from, or None for anything else.

    Examples
    --------
    >>> import tacit
    >>> find_card(tacit.Ridge()).name, find_card("Ridge")
    ('Ridge', None)
    """
    for ancestor in type(model).__mro__:
        card = _BY_NAME.get(ancestor.__name__)
        if card is not None and card.estimator is ancestor:
            return card
    return None

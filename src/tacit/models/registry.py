"""The registry: the cards of all models, in the order in which commands list them.

To add a model, write its card into the file of its family. Name the family in `_FAMILIES` if it is new. A package of
your own calls `register`. ``tests/unit/models/test_registry.py`` tells what a card lacks.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tacit.models.card import ModelCard, Without
from tacit.models.command import Command

__all__ = ["CARDS", "card_named", "commands", "find_card", "forecast_cards", "register"]

# Modules of `tacit.models`, one for each family, in the order in which commands are listed.
_FAMILIES = (
    "mixture",
    "clusters",
    "synthesis",
    "regressions",
    "linear",
    "classification",
    "moments",
    "robust_mean",
)

#: The card of every estimator, by the estimator's name.
CARDS: dict[str, ModelCard] = {}


def register(*cards: ModelCard) -> None:
    """Add models to the registry: storage, reports and commands know them from now on.

    Commands are made when ``tacit.cli`` is imported, so a package registers its models before that.
    """
    for card in cards:
        taken = {each.name for each in commands()} - {each.name for each in commands() if each is card.command}
        if card.name in CARDS or (isinstance(card.command, Command) and card.command.name in taken):
            raise ValueError(f"There is a model or a command of the name of {card.name} already; choose another.")
        CARDS[card.name] = card


def card_named(name: str) -> ModelCard:
    """Return the card of the estimator of that name.

    Examples
    --------
    >>> card_named("KMeans").docs
    'kmeans.md'
    """
    return CARDS[name]


def find_card(model: Any) -> ModelCard | None:
    """Return the card of a model's estimator or of the nearest it is derived from, or None for anything else.

    Examples
    --------
    >>> import tacit
    >>> find_card(tacit.Ridge()).name, find_card("Ridge")
    ('Ridge', None)
    """
    for ancestor in type(model).__mro__:
        card = CARDS.get(ancestor.__name__)
        if card is not None and card.estimator is ancestor:
            return card
    return None


def commands() -> tuple[Command, ...]:
    """Return the commands of ``tacit fit``; several cards may share one."""
    return tuple(dict.fromkeys(card.command for card in CARDS.values() if isinstance(card.command, Command)))


def forecast_cards() -> dict[str, ModelCard]:
    """Return the cards of models whose accuracy ``tacit plan`` forecasts, by the names of their commands."""
    cards = (card for card in CARDS.values() if not isinstance(card.trial, Without))
    return {card.command.name: card for card in cards if isinstance(card.command, Command)}


for _family in _FAMILIES:
    register(*import_module(f"tacit.models.{_family}").CARDS)

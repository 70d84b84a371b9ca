"""The registry of models: how each is named, shown, warned about, stored, offered on the command line and forecast.

Storage, reports and commands have no list of models of their own; they look a model up here.
"""

from tacit.models.card import ModelCard, Results, StoredParameter, Trial, Without, later
from tacit.models.command import Command, Derivation, FitRequest, Option, OptionError
from tacit.models.registry import CARDS, card_named, find_card

__all__ = [
    "CARDS",
    "Command",
    "Derivation",
    "FitRequest",
    "ModelCard",
    "Option",
    "OptionError",
    "Results",
    "StoredParameter",
    "Trial",
    "Without",
    "card_named",
    "find_card",
    "later",
]

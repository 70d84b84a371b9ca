"""The registry of models: how each is named, shown, warned about, stored, offered on the command line and forecast.

Storage, reports and commands have no list of models of their own; they look a model up here.
"""

from tacit.models.card import Figure, ModelCard, Predictions, Results, StoredParameter, Trial, Without, later
from tacit.models.command import Command, Derivation, FitRequest, Option, OptionError, fit_request
from tacit.models.printed import Block, NumberedTable, Table
from tacit.models.registry import CARDS, card_named, find_card, register

__all__ = [
    "CARDS",
    "Block",
    "Command",
    "Derivation",
    "Figure",
    "FitRequest",
    "ModelCard",
    "NumberedTable",
    "Option",
    "OptionError",
    "Predictions",
    "Results",
    "StoredParameter",
    "Table",
    "Trial",
    "Without",
    "card_named",
    "find_card",
    "fit_request",
    "later",
    "register",
]

"""Robust means, as storage, reports and commands know them."""

from __future__ import annotations

from tacit.models.card import ModelCard, Without

__all__ = ["CARDS"]

CARDS = (
    ModelCard(
        name="RobustMean",
        room="tacit.robust",
        kind="a robust mean",
        docs="robust-mean.md",
        stored={"mean": '{"mean": [d], "noise_std": [d], "centre": [d], "scale": [d]}, in the units of the rows'},
        presentation=Without("It is one number for each column, which its attributes show whole."),
        command=Without("Nobody has written one yet; tacit fit moments measures means of columns with bounds."),
        results=Without("No command fits it."),
        trial=Without("No command fits it."),
        predictions=Without("It says nothing about single rows."),
    ),
)

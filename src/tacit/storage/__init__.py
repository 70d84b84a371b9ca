"""Fitted models of all kinds as files."""

from tacit.storage.model_file import load_model, save_model

__all__ = ["load_model", "save_model"]

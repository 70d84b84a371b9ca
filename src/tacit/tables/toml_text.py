"""Writing TOML: the standard library reads it, but does not write it, and a schema needs little of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def to_toml_text(columns: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the settings of columns as the text of a TOML file."""
    return "\n".join(column_text(name, settings) for name, settings in columns.items())


def column_text(name: str, settings: Mapping[str, Any], comments: Mapping[str, str] | None = None) -> str:
    """Return one part of the file, with comments behind the settings that have one.

    Examples
    --------
    >>> from tacit.tables.toml_text import column_text
    >>> print(column_text("body weight", {"type": "numeric", "low": 0.0}, {"low": "in kg"}))
    [columns."body weight"]
    type = "numeric"
    low = 0.0  # in kg
    """
    lines = [f"[columns.{name if _BARE_KEY.fullmatch(name) else value_text(name)}]"]
    for key, value in settings.items():
        comment = f"  # {comments[key]}" if comments and key in comments else ""
        lines.append(f"{key} = {value_text(value)}{comment}")
    return "\n".join(lines) + "\n"


def value_text(value: str | float | list[Any]) -> str:
    """Return text, a finite number or a list of them as TOML.

    For these, TOML is JSON, but for one control character that JSON leaves as it is.
    """
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

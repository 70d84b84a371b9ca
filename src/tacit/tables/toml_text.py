"""TOML as a schema needs it: the standard library reads it, but does not write it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")  # Other keys are quoted.
_PLACE = re.compile(r"\(at .*\)$")  # Where reading stopped, at the end of a message.


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a TOML file holds.

    A file that is not TOML may be a table of rows that was named by mistake. So the refusal says where reading stopped,
    and quotes nothing, as the error of the standard library would.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        where = ""
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        where = "" if place is None else f" {place[0]}"
    raise ValueError(f"this is not a TOML file{where}. A schema is a .toml file; tacit schema init makes one.")


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

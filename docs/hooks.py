"""What the documentation needs beside its plugins: the models of the registry, and docstrings without roles."""

import re
from pathlib import Path
from typing import Any

from tacit.models import CARDS

_ROLE = re.compile(r":(?:class|func|meth|mod|attr):(?=<code>)")


def on_config(config: Any) -> Any:
    """Add the pages of models to the navigation, where ``mkdocs.yml`` does not name them."""
    named = str(config.nav)
    (models,) = (section["Models"] for section in config.nav if "Models" in section)
    models += sorted({card.docs for card in CARDS.values() if f"'{card.docs}'" not in named})
    return config


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Show every estimator on the page of estimators that no other page about the interface shows."""
    if page.file.src_uri != "api/estimators.md":
        return markdown
    shown = "\n".join(path.read_text(encoding="utf-8") for path in Path(config.docs_dir, "api").glob("*.md"))
    more = [card.name for card in CARDS.values() if not re.search(rf"^::: tacit\.(\w+\.)?{card.name}$", shown, re.M)]
    title, _, rest = markdown.partition("\n")
    return "\n\n".join([title, *(f"::: tacit.{name}" for name in more), rest])


def on_page_content(html: str, **_: Any) -> str:
    """Leave out the roles that docstrings use, such as ``:class:`` before a name; they are not Markdown."""
    return _ROLE.sub("", html)

"""What the documentation needs beside its plugins."""

import re
from typing import Any

_ROLE = re.compile(r":(?:class|func|meth|mod|attr):(?=<code>)")


def on_page_content(html: str, **_: Any) -> str:
    """Leave out the roles that docstrings use, such as ``:class:`` before a name; they are not Markdown."""
    return _ROLE.sub("", html)

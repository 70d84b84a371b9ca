"""What Figures 2 and 3 of Park et al. (2017) share: test log-likelihood of private mixtures, against epsilon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.mixture import GaussianMixture as Plain

import tacit
from experiments._results import verdict, write_results
from tacit.mixture.mixture import Mixture
from tacit.privacy import Budget, Step
from tacit.published import DPEM, dp_em
from tacit.published.dp_em import PerParameterSchedule
from tacit.release import Curator

NOT_PRIVATE = "not private"
Row = tuple[str, float, float]  # Method, epsilon, log-likelihood per row.


@dataclass(frozen=True)
class Setting:
    """The numbers of a figure, except the table."""

    components: int
    iterations: int
    delta_each: float
    epsilons: tuple[float, ...]
    seeds: int
    delta: float = 1e-4

    def words(self, name: str, rows: int) -> str:
        """Return what the figure's caption says."""
        return f"{name}, {rows:,} rows, K = {self.components}, δ = {self.delta:g}, mean of {self.seeds} run(s)"


def halves(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a random 90% of the rows to fit and 10% to score, the same in every run."""
    X = X[np.random.default_rng(0).permutation(len(X))]
    return X[: int(0.9 * len(X))], X[int(0.9 * len(X)) :]


def measure(
    fit: np.ndarray, test: np.ndarray, setting: Setting, methods: Mapping[str, Mapping[str, Any]], plain: Plain
) -> list[Row]:
    """Return the mean log-likelihood of test rows for each method and epsilon; rows lie in the unit ball.

    The settings of a method are those of ``tacit.GaussianMixture``. `DPEMInThreePasses` gets the iterations and the
    delta_each of the figure.
    """
    table: list[Row] = [(NOT_PRIVATE, epsilon, plain.fit(fit).score(test)) for epsilon in setting.epsilons[:1]]
    table += [(NOT_PRIVATE, epsilon, table[0][2]) for epsilon in setting.epsilons[1:]]
    print(f"{NOT_PRIVATE:30s}             {table[0][2]:10.2f}", flush=True)
    for label, settings in methods.items():
        for epsilon in setting.epsilons:
            scores = [_score(fit, test, setting, dict(settings), epsilon, seed) for seed in range(setting.seeds)]
            table.append((label, epsilon, float(np.mean(scores))))
            print(f"{label:30s} epsilon {epsilon:<4} {table[-1][2]:10.2f}", flush=True)
    return table


def _score(
    fit: np.ndarray, test: np.ndarray, setting: Setting, settings: dict[str, Any], epsilon: float, seed: int
) -> float:
    budget = {"epsilon": epsilon, "delta": setting.delta, "bounds": 1.0, "random_state": seed}
    if isinstance(method := settings.get("method"), DPEMInThreePasses):
        settings["method"] = replace(method, n_iter=setting.iterations, delta_each=setting.delta_each)
    return tacit.GaussianMixture(setting.components, **budget, **settings).fit(fit).score(test)


class DPEMInThreePasses(DPEM):
    """DP-EM as published, with an iteration in three passes over rows.

    The means of all components are released in one pass, and their covariances in another. The noise is the same: the
    bounds on a row's contribution to one component hold for all components together, as responsibilities add up to 1.
    So fits follow the same law as those of 2K + 1 passes an iteration.
    """

    def schedule(self, n_components: int, columns: int, covariance_type: Any, budget: Budget) -> InThreePasses:
        """Return the releases of a fit that spends this budget."""
        return InThreePasses(**vars(super().schedule(n_components, columns, covariance_type, budget)))

    def fit_mixture(self, curator: Curator, schedule: Any, means: Any, prior: Any, watch: Any = None) -> Mixture:
        """Return a private mixture."""
        return fit_in_three_passes(curator, schedule, means, prior)


class InThreePasses(PerParameterSchedule):
    """The releases of an iteration, those of all components together."""

    @property
    def n_releases(self) -> int:
        """Number of releases."""
        return 3 * self.iterations

    def steps(self) -> list[Step]:
        """Return the paper's steps."""
        weights, *others = super().steps()
        return [
            weights,
            *(replace(step, count=self.iterations, size=step.size * self.n_components) for step in others),
        ]


def fit_in_three_passes(
    curator: Curator, schedule: InThreePasses, means: np.ndarray | None, prior: tacit.MixturePrior | None
) -> Mixture:
    """Return a mixture, heaviest component first, from three releases in each iteration."""
    kind = schedule.covariance_type
    mixture = dp_em.public_mixture(schedule.n_components, schedule.columns, means)
    for _ in range(schedule.iterations):
        statistic = dp_em.ball_moments(mixture, kind, 1.0, 0.0, 0.0)
        measurement = curator.measure(dp_em.WEIGHTS, statistic)
        counts = dp_em.positive_counts(statistic.parts(measurement.value)[0], measurement.noise)
        statistic = dp_em.ball_moments(mixture, kind, 0.0, 1.0, 0.0)
        sums = statistic.parts(curator.measure(dp_em.MEANS, statistic).value)[1]
        new_means = dp_em.inside_ball(sums / counts[:, None])
        statistic = dp_em.ball_moments(mixture, kind, 0.0, 0.0, 1.0)
        squares = statistic.parts(curator.measure(dp_em.COVARIANCES, statistic).value)[2]
        covariances = [dp_em.ball_covariance(*each) for each in zip(squares, counts, new_means)]
        mixture = dp_em.most_probable(counts, new_means, covariances, kind, prior)
    return mixture.by_weight()


def verdicts(table: Sequence[Row], better: Sequence[tuple[str, str]]) -> list[str]:
    """Return for pairs of methods, the first claimed to be better, by how much it is, and whether the claim holds."""
    scores = {(label, epsilon): score for label, epsilon, score in table}
    epsilons = list(dict.fromkeys(epsilon for _, epsilon, _ in table))
    lines = []
    for first, second in better:
        gains = [scores[first, epsilon] - scores[second, epsilon] for epsilon in epsilons]
        words = verdict(*(gain >= 0 for gain in gains))
        shown = ", ".join(f"{gain:+.1f}" for gain in gains)
        lines.append(f"{first} above {second}: {words} ({shown} nats a row at ε = {', '.join(map(str, epsilons))})")
    return lines


def write(table: Sequence[Row], caption: str, results: Path, name: str, claims: Sequence[str] = ()) -> None:
    """Write the table, the claims with what was found, and the picture."""
    lines = [("method", "epsilon", "log-likelihood per row"), *table]
    write_results(results / name, lines, caption, claims, _draw(table, caption))


def _draw(table: Sequence[Row], caption: str) -> Any:
    """Draw log-likelihood against epsilon; logarithmic where losses are huge."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.8), layout="constrained")
    axes = figure.add_subplot()
    for label in dict.fromkeys(row[0] for row in table):
        points = [(epsilon, score) for each, epsilon, score in table if each == label]
        axes.plot(*zip(*points), label=label, **_style(label))
    axes.set_yscale("symlog", linthresh=20)
    axes.set(xscale="log", xlabel="ε", ylabel="test log-likelihood per row", title=caption)
    axes.set_xticks(*[list(dict.fromkeys(row[1] for row in table))] * 2, minor=False)
    axes.minorticks_off()
    axes.title.set_fontsize(9)
    figure.legend(loc="outside right upper", fontsize=8, frameon=False)
    axes.grid(alpha=0.3)
    return figure


def _style(label: str) -> dict[str, Any]:
    if label == NOT_PRIVATE:
        return {"color": "black", "linestyle": ":"}
    if "tacit" in label:
        colour, marker = ("#7fb0e0", "^") if "diagonal" in label else ("#1f5fa8", "o")
        return {"color": colour, "linewidth": 2.4, "marker": marker, "markersize": 5}
    colours = {"linear": "#8a8f98", "advanced": "#d1661f", "zCDP": "#2a8a4a", "moments": "#a03d80"}
    composition = next((word for word in colours if label.startswith(word)), None)
    line = "--" if "LLG" in label else "-"
    if composition == "moments":  # It is as good as zCDP, so the two lines coincide.
        line = (0, (1, 3)) if "GGG" in label else (0, (1, 3, 4, 3))
    marker = "s" if "LLG" in label else "o"
    return {"color": colours.get(composition, "#1a7390"), "linestyle": line, "marker": marker, "markersize": 4}

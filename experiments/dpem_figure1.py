"""Park et al. (2017), Figure 1: one person far from all others, given away by plain EM and hidden by a private fit.

    python -m experiments.dpem_figure1 [--quick]

The paper simulates 10^4 people on a map, of whom one lives far from all others, and fits a mixture. Its claims:
(A) the mean of a component of plain EM is that person; (B, left) of a private fit it is not; (B, right) with 50 times
as many people, the private fit is closer to the plain one, and a component speaks for several people.

Here too people are simulated, in five towns and one place far away, on a map of 600 by 800 km, which is all that is
public. Beside the picture, an attack is run: whoever knows everybody else sees a fit, and says whether the person is in
the table, or somebody from a town in their place. Fits of the two are told apart by the density that they give the
person's place, as well as a threshold can; it is chosen on one half of the fits and tested on the other.
"""

from __future__ import annotations

import argparse
import csv
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.mixture import GaussianMixture as Plain

import tacit
from experiments._dpem import DPEMInThreePasses
from experiments._pictures import BLUE, GREY, ORANGE, RED, ellipses
from experiments._results import RESULTS, verdict

PERSON = np.array([80.0, 700.0])
MAP = (np.zeros(2), np.array([600.0, 800.0]))
# The middles of the map's regions, where plain EM begins.
REGIONS = np.array([[230.0, 170.0], [430.0, 240.0], [320.0, 450.0], [540.0, 470.0], [160.0, 310.0], [130.0, 640.0]])
FAR = 12.0  # Others live within this many km of the person, where there are others.
EPSILON, DELTA = 1.0, 1e-6
_WITH: dict[str, Any] = {"color": BLUE, "linewidth": 2.2}
_WITHOUT: dict[str, Any] = {"color": ORANGE, "linewidth": 1.6, "linestyle": (0, (3, 3))}


def people(rows: int, seed: int = 0) -> np.ndarray:
    """Return where people live who live in the five towns."""
    rng = np.random.default_rng(seed)
    towns = np.array([[250.0, 150.0], [420.0, 260.0], [330.0, 430.0], [520.0, 480.0], [180.0, 330.0]])
    shapes = np.array([[30, 12, 24], [26, -10, 20], [22, 4, 26], [20, 8, 22], [18, -6, 18]])[:, [[0, 0], [1, 2]]]
    shapes = shapes * np.array([[1.0, 0.0], [1.0, 1.0]])
    lives = rng.choice(5, rows, p=[0.35, 0.25, 0.2, 0.12, 0.08])
    return towns[lives] + np.einsum("nij,nj->ni", shapes[lives], rng.normal(size=(rows, 2)))


def with_the_person(X: np.ndarray) -> np.ndarray:
    """Return the same people, with the person in the last one's place."""
    return np.vstack([X[:-1], PERSON])


def plain(X: np.ndarray, seed: int = 0) -> Any:
    """Fit plain EM, with a component for each region of the map, begun in its middle."""
    return Plain(len(REGIONS), means_init=REGIONS, random_state=seed, max_iter=200).fit(X)


def private(X: np.ndarray, seed: int = 0) -> tacit.GaussianMixture:
    """Fit as many components privately, without starting values."""
    return tacit.GaussianMixture(len(REGIONS), epsilon=EPSILON, delta=DELTA, bounds=MAP, random_state=seed).fit(X)


def published(X: np.ndarray, seed: int = 0) -> tacit.GaussianMixture:
    """Fit by the paper's method, as corrected, from the same starting values as plain EM."""
    budget = {"epsilon": EPSILON, "delta": DELTA, "bounds": MAP, "random_state": seed}
    return tacit.GaussianMixture(len(REGIONS), method=DPEMInThreePasses(), init=REGIONS, **budget).fit(X)


METHODS = {"plain EM (scikit-learn)": plain, "DP-EM (2017), corrected": published, "tacit": private}


@dataclass(frozen=True)
class Finding:
    """What a method says about the person."""

    method: str
    rows: int
    nearest_km: float  # Distance of the person from the nearest mean, when the person is in the table.
    nearest_km_without: float
    people_in_component: float  # Estimated number of rows of that component.
    attack: float  # Proportion of right answers.
    certified: float | None  # The largest proportion that any attack can reach.
    attack_error: float  # Three standard errors of the proportion.
    off_plain_km: float  # Distance of the towns' means in the plain fit from the nearest means of this one.


def nearest(model: Any, rows: int) -> tuple[float, float]:
    """Return how far from the person the nearest mean is, and for how many people it speaks."""
    counted = model.weights_ * rows > 0.5  # Plain EM keeps empty components.
    distances = np.linalg.norm(model.means_[counted] - PERSON, axis=1)
    return float(distances.min()), float(model.weights_[counted][distances.argmin()] * rows)


def off(model: Any, reference: Any) -> float:
    """Return how far the towns' means are off those of a reference, on average over people."""
    distances = np.linalg.norm(reference.means_[:5, None] - model.means_, axis=2).min(axis=1)
    return float(np.average(distances, weights=reference.weights_[:5]))


def attack(fit: Callable[..., Any], present: np.ndarray, absent: np.ndarray, fits: int) -> float:
    """Return how often an attacker is right who sees one fit and says whether the person is there."""
    scores = np.array(
        [
            [fit(X, 2 * i + side).score_samples(PERSON[None])[0] for side, X in enumerate((absent, present))]
            for i in range(fits)
        ]
    )
    chosen, tested = scores[: len(scores) // 2], scores[len(scores) // 2 :]
    middles = (np.unique(chosen)[1:] + np.unique(chosen)[:-1]) / 2

    def right(threshold: float, seen: np.ndarray) -> float:
        return float(((seen[:, 0] < threshold).mean() + (seen[:, 1] >= threshold).mean()) / 2)

    return right(max(middles, key=lambda threshold: right(threshold, chosen)), tested)


def find(rows: int, fits: int) -> tuple[list[Finding], dict[str, tuple[Any, Any]]]:
    """Fit each method with and without the person, and attack it."""
    absent = people(rows)
    present = with_the_person(absent)
    reference = plain(absent)
    findings, shown = [], {}
    for name, fit in METHODS.items():
        with_person, without = fit(present, 20), fit(absent, 21)  # The two fits have independent noise.
        certificate = getattr(with_person, "privacy_", None)
        tries = fits if certificate else 2
        (km, count), (km_without, _) = nearest(with_person, rows), nearest(without, rows)
        right = attack(fit, present, absent, tries)
        error = 3 * 0.5 / math.sqrt(tries)
        bound = certificate and certificate.best_guess()
        findings.append(Finding(name, rows, km, km_without, count, right, bound, error, off(with_person, reference)))
        shown[name] = with_person, without
    return findings, shown


def many(rows: int, far: int) -> tuple[np.ndarray, dict[str, Any], dict[str, float]]:
    """Fit each method to more people, of whom several live far away; return how far the towns are off, too."""
    rng = np.random.default_rng(1)
    X = np.vstack([people(rows - far), PERSON, PERSON + FAR * rng.normal(size=(far - 1, 2))])
    models = {name: fit(X, 1) for name, fit in METHODS.items()}
    reference = models["plain EM (scikit-learn)"]
    return X, models, {name: off(model, reference) for name, model in models.items()}


def claims(
    findings: Sequence[Finding], times: int, off_with_many: dict[str, float], plain_of_many: tuple[float, float]
) -> list[str]:
    """Return the paper's claims, each with our figures and whether it holds."""
    found = {finding.method: finding for finding in findings}
    shown, ours = found["plain EM (scikit-learn)"], found["tacit"]
    nearer, people_there = off_with_many["tacit"], plain_of_many[1]
    return [
        f"A: plain EM gives the person away. Its nearest mean is {shown.nearest_km:.2f} km away and speaks for "
        f"{shown.people_in_component:.0f} person; the attack is right in {shown.attack:.0%}: "
        f"{verdict(shown.nearest_km < 0.01 and shown.attack == 1.0)}.",
        f"B, left: the private fit does not. Its nearest mean is {ours.nearest_km:.0f} km away with the person and "
        f"{ours.nearest_km_without:.0f} km without; the attack is right in {ours.attack:.0%}, a coin in 50%, "
        f"and no attack in more than {ours.certified:.0%}: "
        f"{verdict(ours.nearest_km > 100 and ours.attack <= ours.certified + ours.attack_error)}.",
        f"B, right: with {times} times as many people the towns are {nearer:.2f} km off plain EM's instead of "
        f"{ours.off_plain_km:.2f} km, and plain EM's far component speaks for {people_there:.0f} people: "
        f"{verdict(nearer < ours.off_plain_km and people_there > 1)}.",
    ]


def draw(X: np.ndarray, shown: dict[str, tuple[Any, Any]], more: np.ndarray, models: dict[str, Any], far: int) -> Any:
    """Return the picture: above, one person far away; below, more people, `far` of them far away."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 9.6), layout="constrained")
    panels = figure.subplots(2, len(METHODS))
    for axes, (name, (present, absent)) in zip(panels[0], shown.items()):
        draw_fit(axes, X, f"{name}\n{len(X):,} people, one far away", present, absent)
    for axes, (name, model) in zip(panels[1], models.items()):
        draw_fit(axes, more, f"{name}\n{len(more):,} people, {far} far away", model)
    draw_legend(figure)
    return figure


def draw_fit(axes: Any, X: np.ndarray, title: str, model: Any, without: Any = None) -> None:
    """Draw the map, the components of a fit, those of one without the person, and what it says about the person."""
    sample = X[np.random.default_rng(0).permutation(len(X))[:2500]]
    near = X[np.linalg.norm(X - PERSON, axis=1) < 5 * FAR]
    axes.scatter(*sample.T, s=3, color=GREY, alpha=0.35, linewidths=0, rasterized=True)
    axes.scatter(*near.T, s=6, color=GREY, linewidths=0)
    axes.scatter(*PERSON, s=190, facecolors="none", edgecolors=RED, linewidths=1.6, zorder=5)
    _components(axes, model, len(X), **_WITH)
    if without is not None:
        _components(axes, without, len(X), **_WITHOUT)
    km, count = nearest(model, len(X))
    words = f"nearest mean: {km:.1f} km away,\nspeaks for {count:,.0f} {'person' if round(count) == 1 else 'people'}"
    place = {"xytext": (16, 0), "textcoords": "offset points", "va": "center"}
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.9}
    axes.annotate(words, PERSON, **place, fontsize=9, color=RED, bbox=paper, zorder=6)
    low, high = MAP
    axes.set(aspect="equal", xlim=(low[0] - 30, high[0] + 30), ylim=(low[1] - 30, high[1] + 30), xticks=[], yticks=[])
    axes.set_title(title, fontsize=10.5)
    axes.spines[:].set_color("#c9ccd1")


def draw_legend(figure: Any) -> None:
    """Say below a figure what its lines are."""
    from matplotlib.lines import Line2D

    lines = {
        "components (2 sd) and their means": Line2D([], [], marker="x", **_WITH),
        "the same, with somebody else in the person's place": Line2D([], [], marker="x", **_WITHOUT),
        "the person": Line2D([], [], marker="o", markersize=12, color=RED, markerfacecolor="none", linestyle="none"),
    }
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=3, frameon=False, fontsize=9)


def _components(axes: Any, model: Any, rows: int, color: str, **line: Any) -> None:
    counted = model.weights_ * rows > 0.5
    ellipses(axes, model.means_[counted], model.covariances_[counted], edgecolor=color, **line)
    axes.scatter(*model.means_[counted].T, marker="x", s=34, color=color, linewidths=1.6, zorder=4)


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, attack, and write the table and the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    rows, times, fits = (10_000, 5, 8) if options.quick else (10_000, 50, 200)
    findings, shown = find(rows, fits)
    more, models, off_with_many = many(rows * times, times)
    for finding in findings:
        print(
            f"{finding.method:26s} nearest mean {finding.nearest_km:6.2f} km with the person, "
            f"{finding.nearest_km_without:6.2f} km without; attack right in {finding.attack:.1%}"
            + (f", certified at most {finding.certified:.1%}" if finding.certified else "")
        )
    print(*claims(findings, times, off_with_many, nearest(models["plain EM (scikit-learn)"], len(more))), sep="\n")
    options.results.mkdir(exist_ok=True)
    with (options.results / "dpem_figure1.csv").open("w", newline="") as file:
        head = [*(field.name for field in fields(Finding)), f"off_plain_km_with_{times}_times_as_many"]
        csv.writer(file).writerows([head, *((*astuple(each), off_with_many[each.method]) for each in findings)])
    figure = draw(with_the_person(people(rows)), shown, more, models, times)
    figure.savefig(options.results / "dpem_figure1.png", dpi=120)


if __name__ == "__main__":
    main()

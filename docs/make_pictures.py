"""Draw the pictures of the documentation from fits made on the spot: ``python docs/make_pictures.py``.

Needs the extra ``plot``. Rows are simulated or in the public domain, so that they may be shown; noise is seeded, so
that pictures come out the same each time.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from sklearn.mixture import GaussianMixture as OrdinaryMixture

sys.path.insert(0, str(Path(__file__).parents[1]))  # where experiments are
from experiments import dpem_figure1
from experiments._pictures import BLUE, GREY, ORANGE, ellipses

import tacit
from tacit.data import load_randhie
from tacit.mixture.scale_free import fit_scale_free
from tacit.mixture.scale_free_schedule import scale_free_schedule
from tacit.mixture.table_mixture import table_layout
from tacit.privacy import Budget, Certificate, Gaussian
from tacit.release import Curator, calibrated_plan
from tacit.sources import as_source
from tacit.tables import Domain, compare

IMAGES = Path(__file__).parent / "images"
BOUNDS = (-20.0, 20.0)
COMPONENTS = 4


def simulated_rows(rows: int = 20_000) -> np.ndarray:
    """Return rows of four groups of different sizes and shapes."""
    rng = np.random.default_rng(4)
    means = np.array([[-4.5, -1.0], [0.5, 3.2], [3.6, -1.6], [7.2, 3.4]])
    shapes = np.array([[1.3, 0.5, 1.1], [2.6, -1.1, 0.8], [0.5, 0.3, 1.4], [0.7, 0.0, 0.5]])[:, [[0, 1], [1, 2]]]
    groups = rng.choice(COMPONENTS, rows, p=[0.4, 0.25, 0.2, 0.15])
    return means[groups] + np.einsum("nij,nj->ni", np.linalg.cholesky(shapes)[groups], rng.normal(size=(rows, 2)))


def panel(axes: Axes, rows: np.ndarray, title: str, limits: tuple[float, float, float, float]) -> None:
    axes.scatter(*rows[:2500].T, s=3, color=GREY, alpha=0.35, linewidths=0, rasterized=True)
    axes.set(title=title, xticks=[], yticks=[], aspect="equal", xlim=limits[:2], ylim=limits[2:])
    axes.spines[:].set_color("#c9ccd1")


def draw_budgets(rows: np.ndarray) -> None:
    """The README's picture: the same fit at three budgets, beside the one without privacy."""
    ordinary = OrdinaryMixture(COMPONENTS, n_init=10, random_state=0).fit(rows)
    figure, panels = plt.subplots(1, 3, figsize=(11, 3.1), layout="constrained")
    for axes, epsilon in zip(panels, (0.1, 0.3, 1.0)):
        model = tacit.GaussianMixture(COMPONENTS, epsilon=epsilon, bounds=BOUNDS, random_state=1).fit(rows)
        panel(axes, rows, f"$\\varepsilon$ = {epsilon:g}", (-9.5, 11, -6.5, 7))
        ellipses(axes, ordinary.means_, ordinary.covariances_, edgecolor=ORANGE, linewidth=1.4, linestyle=(0, (4, 2)))
        ellipses(axes, model.means_, model.covariances_, edgecolor=BLUE, linewidth=2.0)
    lines = [plt.Line2D([], [], color=BLUE, linewidth=2.0), plt.Line2D([], [], color=ORANGE, linestyle=(0, (4, 2)))]
    labels = ["tacit, private", "scikit-learn, not private"]
    figure.legend(lines, labels, loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(IMAGES / "budgets.png", dpi=130)


def draw_growth(rows: np.ndarray) -> None:
    """The methods page's picture: a mixture as it grows, from the bounds to the components."""
    domain = Domain.from_bounds(BOUNDS, 2)
    schedule = scale_free_schedule((COMPONENTS,), table_layout(domain), "full", "replace_one", len(rows))
    curator = Curator(as_source(rows), calibrated_plan(schedule.steps(), Budget(1.0, 1e-6)), random_state=0)
    curator.map_rows(domain.row_map)
    rounds = fit_scale_free(curator, schedule).rounds
    last = len(rounds)
    figure, panels = plt.subplots(1, 4, figsize=(12, 3.2), layout="constrained")
    for axes, release in zip(panels, (1, 4, 8, last)):
        mixture = rounds[release - 1].mixture
        many = "s" * (mixture.count > 1)
        panel(axes, rows, f"release {release}: {mixture.count} component{many}", (-9.5, 11, -9, 9))
        covariances = mixture.covariances * np.outer(domain.scale, domain.scale)
        ellipses(axes, domain.restore(mixture.means), covariances, edgecolor=BLUE, linewidth=1.8)
    figure.savefig(IMAGES / "growth.png", dpi=130)


def draw_guarantee() -> None:
    """The guarantee page's picture: how far evidence can move a suspicion."""
    figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    chances = np.geomspace(1e-6, 0.5, 121)
    for epsilon, colour in ((0.1, "#9dbbe0"), (0.5, "#5c8fca"), (1.0, BLUE), (2.0, "#0d2f57")):
        budget = Budget(epsilon, 1e-6)
        certificate = Certificate(calibrated_plan([Gaussian("moments", 1.0, count=10)], budget), budget)
        suspicion = [100 * certificate.suspicion(chance) for chance in chances]
        axes.plot(chances, suspicion, color=colour, linewidth=2, label=f"$\\varepsilon$ = {epsilon:g}")
    axes.axhline(50, color=GREY, linewidth=1, linestyle=(0, (4, 2)))
    axes.set(xscale="log", xlim=(0.5, 1e-6), ylim=(45, 100))
    axes.set(xlabel="how rare the evidence is (chance of seeing it, if the suspicion is true)")
    axes.set(ylabel="suspicion after it, %, if 50% before")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(IMAGES / "suspicion.png", dpi=130)


def draw_one_person() -> None:
    """The guarantee page's other picture: one person far from all others, in a plain and in a private fit."""
    absent = dpem_figure1.people(10_000)
    present = dpem_figure1.with_the_person(absent)
    figure, panels = plt.subplots(1, 2, figsize=(8.4, 5.6), layout="constrained")
    fits = {"scikit-learn, not private": dpem_figure1.plain, "tacit, $\\varepsilon$ = 1": dpem_figure1.private}
    for axes, (title, fit) in zip(panels, fits.items()):
        dpem_figure1.draw_fit(axes, present, title, fit(present, 20), fit(absent, 21))
    dpem_figure1.draw_legend(figure)
    figure.savefig(IMAGES / "one_person.png", dpi=130)


def draw_comparison() -> None:
    """The picture of the page on synthetic tables: a real table in the public domain, which may be shown."""
    real, schema = load_randhie()
    model = tacit.GaussianMixture(4, epsilon=1.0, bounds=schema, random_state=0).fit(real)
    synthetic, _ = model.sample(real.num_rows, 0)
    compare(real, synthetic, schema=schema).plot().savefig(IMAGES / "comparison.png", dpi=80)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    draw_budgets(simulated_rows())
    draw_growth(simulated_rows())
    draw_guarantee()
    draw_one_person()
    draw_comparison()
    print(f"Written to {IMAGES}")

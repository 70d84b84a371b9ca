"""The components of a mixture as a table."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tacit.cli import screen
from tacit.latent import GaussianMixture
from tacit.tables import Boolean, Categorical

__all__ = ["component_table", "standard_deviations"]

Array = NDArray[np.float64]


def component_table(model: GaussianMixture) -> None:
    """Print the weights of components, and what is in them, for as many as there is room for."""
    names = list(model._domain.names or [f"column {j + 1}" for j in range(model._domain.columns)])
    columns = zip(_descriptions(model), model.means_.T, standard_deviations(model).T)
    cells = [[f"{weight:.1%}" for weight in model.weights_]]
    cells += [describe(means, deviations) for describe, means, deviations in columns]
    wide = 2 + max(len(cell) for row in cells for cell in row)
    room = (screen.width() - 4 - max(map(len, names))) // wide
    shown = min(max(1, room), model.n_components_)
    head = ["component", *(str(k + 1) for k in range(shown))]
    screen.table(head, [[name, *row[:shown]] for name, row in zip(["weight", *names], cells)])
    if shown < model.n_components_:
        screen.say(f"  Not shown, for want of room: {model.n_components_ - shown} of less weight.")


def standard_deviations(model: GaussianMixture) -> Array:
    """Return the standard deviation of each column in each component, (K, d), in the units of the rows."""
    variances: Array = np.einsum("kii->ki", model._mixture.covariances)
    return np.sqrt(variances) * model._domain.scale


def _descriptions(model: GaussianMixture) -> list[Callable[[Array, Array], list[str]]]:
    """Return how to write about each column: mean and standard deviation, or the share of a category or of true."""
    schema = model._domain.schema
    if schema is None:
        return [_numbers] * model._domain.columns
    kinds = {Boolean: _shares_of_true, Categorical: _shares}
    return [
        kinds.get(type(schema.columns[name]), _numbers)
        for name, place in schema.slices.items()
        for _ in range(place.stop - place.start)
    ]


def _numbers(means: Array, deviations: Array) -> list[str]:
    """Write means and standard deviations to two digits of the largest deviation."""
    decimals = 1 - math.floor(math.log10(deviations.max()))
    if not 0 <= decimals <= 4:
        return [f"{mean:.3g} ± {deviation:.2g}" for mean, deviation in zip(means, deviations)]
    rounded = np.round(means, decimals) + 0.0  # no -0.0
    return [f"{mean:.{decimals}f} ± {deviation:.{decimals}f}" for mean, deviation in zip(rounded, deviations)]


def _shares(means: Array, _: Array) -> list[str]:
    return [f"{mean:.0%}" for mean in means.clip(0.0, 1.0)]


def _shares_of_true(means: Array, deviations: Array) -> list[str]:
    return _shares((means + 1) / 2, deviations)

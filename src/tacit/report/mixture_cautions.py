"""What a reader of a mixture should be warned of."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.special import ndtr

from tacit.cautions import Caution
from tacit.mixture import GaussianMixture
from tacit.privacy import Certificate
from tacit.report.cautions import budget_cautions, by_gravity, join_numbers, join_some, rows_needed
from tacit.report.numerals import join_words, percent
from tacit.report.view import MixtureView, NumberColumn

__all__ = ["fitted_cautions", "mixture_cautions"]

_ALIKE = 0.8  # Overlap from which two components are hardly two.
_LITTLE_USED = 0.2  # Proportion of a public range; a column that takes up less has bounds that are too wide.
_MUCH_OUTSIDE = 0.1  # Proportion of the model's rows outside the bounds that is worth a caution.
_ROUGH_LEVELS = 0.05  # Noise on the probability of a level that is worth a caution.
_MOST_NAMED = 6  # Pairs of components that a caution names.


def mixture_cautions(view: MixtureView, certificate: Certificate) -> list[Caution]:
    """Return all cautions, the gravest first.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> X = np.random.default_rng(0).normal(size=(5000, 2))
    >>> model = tacit.GaussianMixture(bounds=(-100, 100), random_state=0).fit(X)
    >>> [caution.title for caution in mixture_cautions(MixtureView.of(model), model.privacy_)]
    ['Seeded noise protects nobody', 'Public ranges are little used']
    """
    return by_gravity([*budget_cautions(certificate), *_components(view, certificate), *_bounds(view)])


def fitted_cautions(model: GaussianMixture) -> list[Caution]:
    """Return what a fitted mixture must be warned of: components that are copies, or cannot be told apart."""
    return _components(MixtureView.of(model), model.privacy_)


def _components(view: MixtureView, certificate: Certificate) -> list[Caution]:
    cautions = []
    groups = view.copies()
    repeated = [group for group in groups if len(group) > 1]
    if repeated:
        named = "; ".join(join_numbers(group) for group in repeated)
        text = (
            f"Components {named} are the same. The noise was too large to tell so many apart: {len(groups)} different "
            f"ones were found, and {view.count} asked for. The result is sound; fewer components say as much."
        )
        cautions.append(Caution("warning", "Some components are copies", text))
    firsts = [group[0] for group in groups]
    alike = [pair for pair in combinations(firsts, 2) if view.overlap(*pair) > _ALIKE]
    if alike:
        named = join_words([f"{i + 1} and {j + 1}" for i, j in alike[:_MOST_NAMED]])
        text = f"Components {named} overlap so much that most of their rows could belong to either. Take them as one."
        cautions.append(Caution("warning", "Components can hardly be told apart", text))
    if certificate.rows and certificate.releases:
        needed = rows_needed(certificate, len(view.columns))
        faint = [k for k in firsts if view.weights[k] * certificate.rows < needed]
        if faint:
            text = (
                f"So much noise and so many columns want some {needed:,.0f} rows for each component, and "
                f"{join_numbers(faint)} {'has' if len(faint) == 1 else 'have'} fewer. Take their shapes as rough."
            )
            cautions.append(Caution("warning", "Some components rest on few rows beside the noise", text))
    return [*cautions, *_levels(view, firsts)]


def _levels(view: MixtureView, components: list[int]) -> list[Caution]:
    """Return one caution, if noise hides the probabilities of levels in some components, or none."""
    if view.level_noise is None:
        return []
    rough = [k for k in components if view.level_noise[k] > _ROUGH_LEVELS]
    if not rough:
        return []
    named = join_words([f"{k + 1} (± {percent(min(1.0, 2 * float(view.level_noise[k])))})" for k in rough])
    text = (
        f"One release tells the probability of a level only so well in component {named}: noise is within that in "
        "19 of 20 cases. Rounds are averaged, which lowers it. Take differences between levels that are smaller as "
        "noise."
    )
    return [Caution("warning", "Probabilities of levels are rough", text)]


def _bounds(view: MixtureView) -> list[Caution]:
    cautions = []
    unused = [(column, used) for column in view.numbers if (used := _used_proportion(view, column)) < _LITTLE_USED]
    if unused:
        text = (
            f"Three standard deviations around all components take up little of the range of {_columns(unused)}. If "
            "more is known publicly, without looking at these rows, narrower bounds help: the default method gains "
            "little by them, the methods “joint” and “per_parameter” a lot."
        )
        cautions.append(Caution("note", "Public ranges are little used", text))
    beyond = [(column, outside) for column in view.numbers if (outside := _outside(view, column)) > _MUCH_OUTSIDE]
    if beyond:
        text = (
            f"The model places many rows beyond the range of {_columns(beyond)}, where none can be: bell curves fit a "
            "lopsided column roughly. Synthetic rows are moved back to the edge."
        )
        cautions.append(Caution("note", "The model reaches beyond the bounds", text))
    return cautions


def _used_proportion(view: MixtureView, column: NumberColumn) -> float:
    means, extents = view.means[:, column.place], 3 * view.deviations(column.place)
    low, high = np.clip([(means - extents).min(), (means + extents).max()], column.low, column.high)
    return float((high - low) / (column.high - column.low))


def _outside(view: MixtureView, column: NumberColumn) -> float:
    means, deviations = view.means[:, column.place], view.deviations(column.place)
    beyond = ndtr((column.low - means) / deviations) + ndtr((means - column.high) / deviations)
    return float(view.weights @ beyond)


def _columns(named: list[tuple[NumberColumn, float]]) -> str:
    return join_some([f"{column.name} ({percent(proportion)})" for column, proportion in named])

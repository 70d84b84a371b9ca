"""What a reader should be warned of: judged from the certificate and the private parameters, never from rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from scipy.special import ndtr

from tacit.privacy import Certificate
from tacit.report.feature_views import ClusterView, FactorView, FeatureView, MomentsView
from tacit.report.linear_view import LinearView
from tacit.report.numerals import listed, percent, plural, rounded, scientific
from tacit.report.regression_view import RegressionView
from tacit.report.view import MixtureView, NumberColumn
from tacit.report.words import WEAK_EPSILON

Level = Literal["danger", "warning", "note"]

_SEEDED = (
    "What this page says about protection is what the same fit would give without random_state. Fit again without it."
)
_ALIKE = 0.8  # overlap from which two components are hardly two
_LITTLE_USED = 0.2  # of a public range
_MUCH_OUTSIDE = 0.1  # of the model's rows
_ROWS_PER_NOISE = 1.5  # rows a component needs per column and unit of noise: what the default method grows by
_ROWS_TO_TELL_INPUTS = 100  # per input, at epsilon 1: where intervals were found to hold the truth as they should
_MANY_INPUTS = 10
_MOST_NAMED = 6
_DECIDES = 0.95  # of the squared distances between centres
_NOTHING_OWN = 0.006  # of a column's variance: the least that a fit leaves it is 0.005
_FAINT = 0.01  # of the variance of all columns


@dataclass(frozen=True)
class Caution:
    """Something to know before using the result."""

    level: Level
    title: str
    text: str


def cautions(view: MixtureView, certificate: Certificate) -> list[Caution]:
    """Return all cautions, the gravest first.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> X = np.random.default_rng(0).normal(size=(5000, 2))
    >>> model = tacit.GaussianMixture(bounds=(-100, 100), random_state=0).fit(X)
    >>> [caution.title for caution in cautions(MixtureView.of(model), model.privacy_)]
    ['Seeded noise protects nobody', 'Public ranges are little used']
    """
    return _by_gravity([*_budget(certificate), *_components(view, certificate), *_bounds(view)])


def cluster_cautions(view: ClusterView, certificate: Certificate) -> list[Caution]:
    """Return all cautions about centres, the gravest first."""
    found = _budget(certificate)
    repeated = [group for group in view.copies() if len(group) > 1]
    if repeated:
        named = "; ".join(_numbers(group) for group in repeated)
        text = (
            f"Centres {named} are the same: the noise was too large to tell so many apart. Fewer clusters say as much."
        )
        found.append(Caution("warning", "Some centres are copies", text))
    needed = _rows_needed(certificate, len(view.features))
    if certificate.rows and certificate.rows < needed * view.count:
        text = (
            f"So much noise and so many columns want some {needed:,.0f} rows for each cluster, and an average one has "
            f"{certificate.rows / view.count:,.0f}. Take centres as rough, or find fewer clusters."
        )
        found.append(Caution("warning", "Clusters rest on few rows beside the noise", text))
    column, share = view.deciding_column()
    if len(view.columns) > 1 and share > _DECIDES:
        text = (
            f"{percent(share)} of the distances between centres are in the column {column}. Distances are in the units "
            "of the columns, so a wide range weighs more; a schema, or columns in other units, lets others count."
        )
        found.append(Caution("note", "One column decides the clusters", text))
    return _by_gravity(found)


def moment_cautions(view: MomentsView, certificate: Certificate) -> list[Caution]:
    """Return all cautions about moments, the gravest first."""
    return _by_gravity([*_budget(certificate), *_few_rows(view, certificate)])


def factor_cautions(view: FactorView, certificate: Certificate) -> list[Caution]:
    """Return all cautions about factors, the gravest first."""
    found = [*_budget(certificate), *_few_rows(view, certificate)]
    alone = [feature.label for feature, unique in zip(view.features, view.unique) if unique < _NOTHING_OWN]
    if alone:
        text = (
            f"{_some(alone)} {'has' if len(alone) == 1 else 'have'} no variance left that is not a factor's: a factor "
            "stands for such a column alone rather than for what columns share. Levels of one category do that, as one "
            "follows from the others. Fewer factors, or such columns left out, may say more."
        )
        found.append(Caution("warning", "A factor is all but a column", text))
    faint = [k for k, share in enumerate(view.explained) if share < _FAINT]
    if faint:
        text = (
            f"Factor {_numbers(faint)} explain{'s' * (len(faint) == 1)} less than {percent(_FAINT)} of the variance. "
            "That much did not stand out of the noise; fewer factors say as much."
        )
        found.append(Caution("note", "Some factors explain next to nothing", text))
    return _by_gravity(found)


def regression_cautions(view: RegressionView, certificate: Certificate) -> list[Caution]:
    """Return all cautions about regressions, the gravest first."""
    found = _budget(certificate)
    repeated = [group for group in view.copies() if len(group) > 1]
    if repeated:
        named = "; ".join(_numbers(group) for group in repeated)
        text = (
            f"Components {named} are the same: the noise was too large to tell so many apart. Fewer components say as "
            "much."
        )
        found.append(Caution("warning", "Some components are copies", text))
    needed = _rows_needed(certificate, len(view.features) + 1)
    if certificate.rows and certificate.rows * view.weights.min() < needed:
        text = (
            f"So much noise and so many inputs want some {needed:,.0f} rows for each regression, and one rests on "
            f"{certificate.rows * view.weights.min():,.0f}. Take coefficients as rough."
        )
        found.append(Caution("warning", "Coefficients rest on few rows beside the noise", text))
    return _by_gravity(found)


def linear_cautions(view: LinearView, certificate: Certificate, why_no_errors: str, *, weighted: bool) -> list[Caution]:
    """Return all cautions about a linear model, the gravest first.

    `why_no_errors` is what to say if there are none; `weighted` is whether classes were given weights.
    """
    found = _budget(certificate)
    needed = _ROWS_TO_TELL_INPUTS * len(view.features) / certificate.budget.epsilon
    if certificate.rows and certificate.rows < needed:
        text = (
            f"At this ε, so many inputs want some {needed:,.0f} rows, and there are {certificate.rows:,}. Inputs that "
            "go together can hardly be told apart. "
        )
        text += "Take coefficients as rough." if view.errors is None else "Intervals may be too narrow."
        found.append(Caution("warning", "Rows are few beside the noise", text))
    elif certificate.rows is None:
        text = (
            f"The number of rows is not shown. At this ε, so many inputs want some {needed:,.0f} rows; with fewer, "
            "inputs that go together can hardly be told apart, and "
        )
        text += "coefficients are rough." if view.errors is None else "intervals may be too narrow."
        found.append(Caution("note", "Compare inputs with the number of rows", text))
    if view.errors is None:
        found.append(Caution("note", "Coefficients have no standard errors", why_no_errors))
    else:
        unclear = int((~(view.sure_effects > 0).any(axis=0)).sum())
        if len(view.features) >= _MANY_INPUTS and unclear > len(view.features) / 2:
            text = (
                f"Of {len(view.features):,} inputs, {unclear:,} cannot be told from having no effect: their 90% "
                "intervals hold zero. Among so many, about one interval in ten misses the truth."
            )
            found.append(Caution("note", "Most inputs may count for nothing", text))
    if weighted:
        text = (
            "Rows of some classes count for more than others. Odds and probabilities are those of a table with that "
            "many more of them, not of this one."
        )
        found.append(Caution("note", "Classes were given weights", text))
    return _by_gravity(found)


def table_cautions(certificate: Certificate) -> list[Caution]:
    """Return all cautions about a model of a table, the gravest first."""
    return _by_gravity(_budget(certificate))


def _by_gravity(found: list[Caution]) -> list[Caution]:
    return sorted(found, key=lambda caution: ("danger", "warning", "note").index(caution.level))


def _rows_needed(certificate: Certificate, columns: int) -> float:
    """Return how many rows it takes for that many columns to stand out of the noise, roughly."""
    return _ROWS_PER_NOISE * min((record.noise_scale for record in certificate.releases), default=0.0) * columns


def _few_rows(view: FeatureView, certificate: Certificate) -> list[Caution]:
    needed = _rows_needed(certificate, len(view.features))
    if certificate.rows is None or certificate.rows >= needed:
        return []
    text = (
        f"So much noise and so many columns want some {needed:,.0f} rows at least, and there are {certificate.rows:,}. "
        "Take what columns have in common as rough."
    )
    return [Caution("warning", "Rows are few beside the noise", text)]


def _budget(certificate: Certificate) -> list[Caution]:
    budget, rows, found = certificate.budget, certificate.rows, []
    if certificate.seeded:
        found.append(Caution("danger", "Seeded noise protects nobody", _SEEDED))
    if certificate.peeked:
        found.append(Caution("danger", "Bounds were read from the rows", certificate.peeked_why()))
    proven = certificate.delta(budget.epsilon)
    if proven > budget.delta:
        text = f"At ε = {rounded(budget.epsilon)} what was released is proven for δ = {scientific(proven)} only."
        found.append(Caution("danger", "The budget was not kept", text))
    if budget.epsilon > WEAK_EPSILON:
        text = (
            f"ε = {rounded(budget.epsilon)} is above {WEAK_EPSILON:g}: the odds of a conclusion about somebody may "
            "change more than a thousandfold. Values of 1 or less are usual where people must not be recognised."
        )
        found.append(Caution("warning", "A large epsilon promises little", text))
    if rows is not None and budget.delta * rows >= 0.1:
        level: Level = "danger" if budget.delta * rows >= 1 else "warning"
        text = (
            f"δ = {scientific(budget.delta)} beside {plural(rows, 'row')}: a δ of 1 in {rows:,} allows publishing "
            f"somebody's row outright. Take at most {scientific(10.0 ** np.floor(np.log10(0.01 / rows)))}."
        )
        found.append(Caution(level, "Delta is large for so many rows", text))
    elif rows is None and budget.delta > 1e-5:
        text = (
            f"The number of rows is not shown. δ = {scientific(budget.delta)} is small enough for tables of at most "
            f"some {0.1 / budget.delta:,.0f} rows; compare."
        )
        found.append(Caution("note", "Compare delta with the number of rows", text))
    return found


def _components(view: MixtureView, certificate: Certificate) -> list[Caution]:
    found = []
    groups = view.copies()
    repeated = [group for group in groups if len(group) > 1]
    if repeated:
        named = "; ".join(_numbers(group) for group in repeated)
        text = (
            f"Components {named} are the same. The noise was too large to tell so many apart: {len(groups)} different "
            f"ones were found, and {view.count} asked for. The result is sound; fewer components say as much."
        )
        found.append(Caution("warning", "Some components are copies", text))
    firsts = [group[0] for group in groups]
    alike = [pair for pair in combinations(firsts, 2) if view.overlap(*pair) > _ALIKE]
    if alike:
        named = listed([f"{i + 1} and {j + 1}" for i, j in alike[:_MOST_NAMED]])
        text = f"Components {named} overlap so much that most of their rows could belong to either. Take them as one."
        found.append(Caution("warning", "Components can hardly be told apart", text))
    if certificate.rows and certificate.releases:
        needed = _rows_needed(certificate, len(view.columns))
        faint = [k for k in firsts if view.weights[k] * certificate.rows < needed]
        if faint:
            text = (
                f"So much noise and so many columns want some {needed:,.0f} rows for each component, and "
                f"{_numbers(faint)} {'has' if len(faint) == 1 else 'have'} fewer. Take their shapes as rough."
            )
            found.append(Caution("warning", "Some components rest on few rows beside the noise", text))
    return found


def _bounds(view: MixtureView) -> list[Caution]:
    found = []
    unused = [(column, share) for column in view.numbers if (share := _used(view, column)) < _LITTLE_USED]
    if unused:
        text = (
            f"Three standard deviations around all components take up little of the range of {_columns(unused)}. If "
            "more is known publicly, without looking at these rows, narrower bounds help: the default method gains "
            "little by them, the methods “joint” and “per_parameter” a lot."
        )
        found.append(Caution("note", "Public ranges are little used", text))
    beyond = [(column, share) for column in view.numbers if (share := _outside(view, column)) > _MUCH_OUTSIDE]
    if beyond:
        text = (
            f"The model places many rows beyond the range of {_columns(beyond)}, where none can be: bell curves fit a "
            "lopsided column roughly. Synthetic rows are moved back to the edge."
        )
        found.append(Caution("note", "The model reaches beyond the bounds", text))
    return found


def _used(view: MixtureView, column: NumberColumn) -> float:
    means, reach = view.means[:, column.place], 3 * view.deviations(column.place)
    low, high = np.clip([(means - reach).min(), (means + reach).max()], column.low, column.high)
    return float((high - low) / (column.high - column.low))


def _outside(view: MixtureView, column: NumberColumn) -> float:
    means, deviations = view.means[:, column.place], view.deviations(column.place)
    beyond = ndtr((column.low - means) / deviations) + ndtr((means - column.high) / deviations)
    return float(view.weights @ beyond)


def _numbers(components: list[int]) -> str:
    return listed([str(k + 1) for k in components])


def _columns(found: list[tuple[NumberColumn, float]]) -> str:
    return _some([f"{column.name} ({percent(share)})" for column, share in found])


def _some(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return listed([*names[:_MOST_NAMED], f"{more} more"] if more > 0 else names)

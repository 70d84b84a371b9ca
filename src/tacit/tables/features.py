"""The numbers of an encoded row as people know them: numbers in their units, levels and truth values as proportions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from tacit.tables.columns import Boolean, Categorical, Numeric
from tacit.tables.domain import Domain


@dataclass(frozen=True)
class Feature:
    """One number of an encoded row.

    Parameters
    ----------
    column : str
        The column of the table that it belongs to.
    label : str
        What it is called: the column, or the column and one of its levels.
    low, high : float
        The public range of what is shown.
    is_proportion : bool
        Whether its mean is a proportion of rows: those with a level, or those that are true.
    middle, unit : float
        A value v in the units of the rows is shown as middle + unit * v.
    description : str
    """

    column: str
    label: str
    low: float
    high: float
    is_proportion: bool = False
    middle: float = 0.0
    unit: float = 1.0
    description: str = ""

    def display(self, values: Any) -> Any:
        """Return values as people know them: numbers as they are, encoded levels and truth values as proportions."""
        return self.middle + self.unit * values


def features(domain: Domain) -> tuple[Feature, ...]:
    """Return the features of encoded rows, in order.

    Examples
    --------
    >>> from tacit.tables import Boolean, Categorical, Domain, Numeric, Schema
    >>> schema = Schema({"age": Numeric(0, 100), "plan": Categorical(["free", "paid"]), "smokes": Boolean()})
    >>> age, free, paid, smokes = features(Domain.from_schema(schema))
    >>> paid.label, smokes.display(-0.5)
    ('plan=paid', 0.25)
    """
    if domain.schema is None:
        radius = math.sqrt(domain.columns) if domain.ball else 1.0
        low, high = domain.centre - radius * domain.scale, domain.centre + radius * domain.scale
        names = domain.names or [f"column {j + 1}" for j in range(domain.columns)]
        return tuple(Feature(str(name), str(name), float(a), float(b)) for name, a, b in zip(names, low, high))
    numbers: list[Feature] = []
    for name in domain.schema.used:
        column = domain.schema.columns[name]
        words = column.description
        if isinstance(column, Numeric):
            numbers.append(Feature(name, name, column.low, column.high, description=words))
        elif isinstance(column, Categorical):
            labels = column.labels(name)
            numbers += [Feature(name, label, 0.0, 1.0, is_proportion=True, description=words) for label in labels]
        elif isinstance(column, Boolean):
            numbers.append(Feature(name, name, 0.0, 1.0, True, 0.5, 0.5, words))  # The codes are -1 and 1.
    return tuple(numbers)

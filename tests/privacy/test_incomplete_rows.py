"""With ``missing="ignore"`` a row with a missing cell is left out whole, as the certificate says.

Every estimator whose docstring offers that word is fitted three times with one seed: to rows of which some miss one
cell, to the same rows where these miss all cells, and to the complete rows alone. All sums that its curator computes
must be the same, and so must all that comes out. Sums without noise are compared as well: a count that noise hides
would not show in what comes out. The cases are those of ``test_replay.py``: every word of every option, every kind of
bounds.
"""

import inspect
import re
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from test_replay import CASES

from tacit.audit.snapshot import differing, snapshot
from tacit.audit.transcript import record_releases
from tacit.fitting import PrivateEstimator, check_budget
from tacit.models import CARDS
from tacit.privacy import Gaussian
from tacit.published import BlockMean, SampleAggregate, TrimmedDescent
from tacit.release import Curator
from usual_fits import X, usual_fit

OFFERED = re.compile(r'^missing : .*"ignore"', re.MULTILINE)
CHOSEN = {
    case: (estimator, table, {**settings, "missing": "ignore", "verbose": False, "random_state": 0})
    for case, (estimator, table, settings) in CASES.items()
    if OFFERED.search(inspect.getdoc(estimator)) and "missing" not in settings
}
COMPLETE = (BlockMean, SampleAggregate, TrimmedDescent)  # They do not take rows with missing cells.


def columns_of(table):
    """Return the columns of what an estimator is fitted to, with their names, and a function that puts them back."""
    rows, *target = table
    if isinstance(rows, pa.Table):
        columns = {name: rows[name].to_pylist() for name in rows.column_names}
        return columns, lambda columns: (
            pa.table({name: pa.array(cells, rows[name].type) for name, cells in columns.items()}),
            *target,
        )
    rows = np.where(np.isnan(rows), 0.1, rows)
    columns = {f"column {j + 1}": cells.tolist() for j, cells in enumerate(rows.T)}
    target = [np.asarray(each) for each in target]
    if target and target[0].dtype.kind == "f":  # A class has no value for a missing one.
        columns["target"], target = target[0].tolist(), []

    def put_back(columns):
        inputs = [cells for name, cells in columns.items() if name != "target"]
        targets = [cells for name, cells in columns.items() if name == "target"]
        return (
            np.array(inputs, dtype=float).T,
            *(np.array(cells, dtype=float) for cells in targets),
            *(each[: len(inputs[0])] for each in target),
        )

    return columns, put_back


def incomplete_tables(table):
    """Return three tables: in one some rows miss a cell, each of another column; in the next they miss all; then none.

    They are the last rows, so that others keep their places, and with them the random bits that sample them.
    """
    columns, put_back = columns_of(table)
    complete = len(next(iter(columns.values()))) - len(columns)
    one = {
        name: [None if at == complete + place else cell for at, cell in enumerate(cells)]
        for place, (name, cells) in enumerate(columns.items())
    }
    none = {name: cells[:complete] + [None] * len(columns) for name, cells in columns.items()}
    gone = {name: cells[:complete] for name, cells in columns.items()}
    return put_back(one), put_back(none), put_back(gone)


def rounded(exact):
    """Return sums without the last digits: those are charged as rounding, and depend on how many rows a block has."""
    return exact.round(7) if isinstance(exact, np.ndarray) and exact.dtype.kind == "f" else exact


def fit(estimator, settings, table):
    """Return what a curator was asked and computed, and all that a fit came to, as leaves that can be compared."""
    model = estimator(**settings)
    with warnings.catch_warnings(), record_releases() as transcript:
        warnings.simplefilter("ignore", UserWarning)
        model.fit(*table)
    asked = [
        (each.step, each.door, each.statistic, snapshot(rounded(each.exact)), snapshot(each.answer))
        for each in transcript.questions
    ]
    return asked, {name: snapshot(value) for name, value in vars(model).items() if name not in settings}


def complaints(estimator, table, settings):
    """Yield a sentence for each comparison in which rows with a missing cell count."""
    one, none, gone = incomplete_tables(table)
    asked, found = fit(estimator, settings, one)
    others = {"miss all cells": none}
    if settings["neighbors"] == "add_remove":  # Else the number of rows is public, and schedules may depend on it.
        others["are not there"] = gone
    for words, other in others.items():
        asked_then, found_then = fit(estimator, settings, other)
        moved = dict.fromkeys(before[0] for before, after in zip(asked, asked_then) if before != after)
        if moved:
            yield (
                f"What these steps measure changes if rows that miss a cell {words}: {', '.join(moved)}. A statistic "
                "must add nothing for a row whose cells are NaN."
            )
        changed = [name for name in {**found, **found_then} if differing(found.get(name, {}), found_then.get(name, {}))]
        if changed or len(asked) != len(asked_then):
            yield f"What a fit comes to changes if rows that miss a cell {words}: {', '.join(changed)}."


@pytest.mark.parametrize("case", CHOSEN)
def test_rows_with_a_missing_cell_are_left_out_whole(case):
    estimator, table, settings = CHOSEN[case]
    if isinstance(settings.get("method"), COMPLETE):
        with pytest.raises(ValueError, match='missing="error"'):
            estimator(**settings).fit(*table)
    else:
        told = list(complaints(estimator, table, settings))
        assert not told, "\n".join(told)


@pytest.mark.parametrize(
    "name", [name for name, card in CARDS.items() if OFFERED.search(inspect.getdoc(card.estimator))]
)
def test_an_infinite_cell_is_a_missing_one(name):
    card = CARDS[name]
    if card.target is None:  # Arrays of inputs and targets with infinities are refused.
        (rows,), settings = usual_fit(card)
        settings = {**settings, "missing": "ignore", "random_state": 0}
        infinite, missing = (np.vstack([rows, [cell, 0.5]]) for cell in (np.inf, np.nan))
        assert fit(card.estimator, settings, (infinite,)) == fit(card.estimator, settings, (missing,))


class AllRows:
    """How many rows there are, whether they miss cells or not."""

    size = 1

    def sensitivity(self, neighbors, norm="l2"):
        return 1.0

    def block_sum(self, block):
        return np.array([float(len(block))])


class CellsThere(AllRows):
    """How many first cells of rows are not missing."""

    def block_sum(self, block):
        return np.array([float((~np.isnan(block[:, 0])).sum())])


class Planted(PrivateEstimator):
    """It measures one number."""

    statistic: Any = None
    blanked: bool = True

    def fit(self, X, y=None):
        budget = check_budget(self)
        domain, rows = self._open(X)
        curator = self._curator(rows, domain, [Gaussian("planted", 1.0)], budget, "planted")
        if not self.blanked:
            curator = Curator(rows, curator.plan, random_state=self.random_state)
        self.number_ = curator.release("planted", self.statistic)
        return self


@pytest.mark.parametrize(("statistic", "blanked"), [(AllRows(), True), (CellsThere(), False)])
def test_rows_that_count_although_they_are_incomplete_are_seen(statistic, blanked):
    settings = {"bounds": 1.0, "missing": "ignore", "neighbors": "add_remove", "random_state": 0}
    told = list(complaints(Planted, (X,), {**settings, "statistic": statistic, "blanked": blanked}))
    assert "planted" in told[0]
    assert "number_" in told[1]
    assert not list(complaints(Planted, (X,), {**settings, "statistic": CellsThere(), "blanked": True}))


def test_every_estimator_that_offers_it_is_here():
    offering = {card.estimator for card in CARDS.values() if OFFERED.search(inspect.getdoc(card.estimator))}
    assert offering == {estimator for estimator, _, _ in CHOSEN.values()}

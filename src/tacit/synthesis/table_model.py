"""The estimator: a private model of a table with columns of all kinds, made for drawing synthetic rows."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from tacit.arrays import Array
from tacit.fitting import PrivateEstimator, check_budget, progress
from tacit.messages import describe
from tacit.privacy import Budget
from tacit.synthesis.chain import Chain
from tacit.synthesis.columns import CountedColumn, public_columns
from tacit.synthesis.counting import count_columns, count_pairs, steps
from tacit.synthesis.fitted_chain import fit_chain
from tacit.synthesis.stored_table import ABOUT, from_json, to_json

_BLOCK_ROWS = 8192  # Number of synthetic rows that are drawn at a time, to limit memory.


class TableModel(DensityMixin, PrivateEstimator):
    """A density of tables, from private counts of columns and of all pairs of columns; for synthetic tables.

    Numbers are counted in bins that adapt to the rows: they are as fine as the noise allows, and whole numbers and
    values of many rows have bins of their own. The columns are then put in an order, and each gets the law of maximum
    entropy that agrees with its counts and with those of its pairs with the columns before it.

    Parameters
    ----------
    bounds : Schema, (low, high), float or "private"
        What is publicly known about rows, best a :class:`tacit.Schema`; for tables of numbers also a pair of numbers or
        arrays, a radius, or "private" to spend a tenth of the budget on finding a range. They are never read from the
        data. Numbers beyond them are brought to them.
    missing : {"error", "ignore", "model"}, default "error"
        What to do about missing cells: refuse, before anything is spent; leave such rows out; or take being missing for
        one more value of the column, so that synthetic rows have missing cells as well.

    Attributes
    ----------
    probabilities_ : dict of arrays
        The proportion of rows in each bin of each column, by name or number: the levels in the schema's order, or false
        and true, or the intervals in ``edges_``. With ``missing="model"``, that of missing cells is the last.
    edges_ : dict of arrays
        Where the bins of columns of numbers begin and end, in the units of the rows. Whole numbers are in the middle of
        theirs.
    n_iter_ : int
        How many releases were made.

    Notes
    -----
    Everything that a fit sets is private: it may be printed or published, and rows may be drawn at no further cost.

    Examples
    --------
    >>> import tacit
    >>> from tacit.data import load_randhie
    >>> real, schema = load_randhie()
    >>> model = tacit.TableModel(epsilon=1.0, bounds=schema, random_state=0).fit(real)
    >>> synthetic = model.sample(1000, random_state=0)
    >>> synthetic.column_names == list(schema.used), synthetic.num_rows
    (True, 1000)
    """

    def fit(self, X: Any, y: Any = None) -> TableModel:
        """Count the cells of `X` and pairs of them, spending the budget, and fit the model to the counts.

        Parameters
        ----------
        X : array, data frame, path of a CSV or Parquet file, or Source
        y : ignored
        """
        budget = self._check_parameters()
        domain, rows = self._open(X)
        n_rows = self._check_rows(rows)
        gaps = self.missing == "model"
        curator = self._curator(rows, domain, steps(public_columns(domain, gaps), gaps), budget, type(self).__name__)
        domain = self._enter(curator, domain)
        counted = count_columns(curator, public_columns(domain, gaps), gaps, n_rows)
        with progress(self.verbose, f"Fitting {len(counted.columns)} column(s)") as watch:
            if len(counted.columns) > 1:
                columns, margins, tables, noise = count_pairs(curator, counted)
            else:
                columns, margins, tables, noise = counted.columns, [counted.columns[0].group_probabilities], {}, 0.0
            coarse = [column.coarse_groups for column in columns]
            self._publish(columns, fit_chain(margins, tables, noise, counted.rows, watch, coarse))
        self.n_iter_ = sum(step.count for step in curator.plan.steps)
        self._certify(curator, budget, n_rows, ["A table's density from counts of columns and of pairs of columns."])
        return self

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array | pa.Table:
        """Draw synthetic rows, at no further cost to privacy.

        Among up to 8192 rows at a time, proportions are nearer to the model's than those of independent draws.

        Parameters
        ----------
        n_samples : int
        random_state : int, numpy Generator or None
            Seed of the synthetic rows.

        Returns
        -------
        array, or a pyarrow Table with the schema's columns if the bounds are a schema
        """
        check_is_fitted(self)
        if not isinstance(n_samples, numbers.Integral) or n_samples < 1:
            raise ValueError(
                f"Invalid value for 'n_samples': {describe(n_samples)}; it must be a whole number, at least 1."
            )
        rng = np.random.default_rng(random_state)
        starts = range(0, int(n_samples), _BLOCK_ROWS)
        return self._domain.table(np.concatenate([self._draw(min(_BLOCK_ROWS, n_samples - at), rng) for at in starts]))

    def score_samples(self, X: Any) -> Array:
        """Return the log density at each row, in the units of the rows.

        For levels, missing cells and values that have a bin of their own it is the log probability. Rows beyond the
        bounds count as rows at the bounds.
        """
        check_is_fitted(self)
        return np.concatenate([self._log_densities(block) for block in self._standard_blocks(X)])

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log density of the rows of `X`."""
        return float(self.score_samples(X).mean())

    def _draw(self, count: int, rng: np.random.Generator) -> Array:
        """Return rows drawn in standard coordinates, inside the bounds."""
        codes = self._chain.draw(count, rng)
        centre, scale = self._domain.centre, self._domain.scale
        cells = []
        for j, column in enumerate(self._columns):
            place = column.bins.places[0]
            cells.append(column.draw(codes[:, j], rng, centre[place], scale[place]))
        return self._inside(np.hstack(cells))

    def _inside(self, rows: Array) -> Array:
        """Return rows in standard coordinates, inside the bounds."""
        domain = self._domain
        return domain.standardise(domain.restore(rows)) if domain.ball else np.clip(rows, -1.0, 1.0)

    def _log_densities(self, block: Array) -> Array:
        bins = [column.bins.bins(block) for column in self._columns]
        codes = np.column_stack([column.bins.groups_of(each) for column, each in zip(self._columns, bins)])
        total = self._chain.log_probabilities(codes)
        for column, each in zip(self._columns, bins):
            total += column.log_densities(block, each, self._domain.scale[column.bins.places[0]])
        return total

    def _check_parameters(self) -> Budget:
        return check_budget(self, missing=("error", "ignore", "model"))

    def _publish(self, columns: list[CountedColumn], chain: Chain) -> None:
        """Set the public attributes, in the units of the rows."""
        domain = self._domain
        names = range(domain.columns) if domain.names is None else domain.names
        if domain.schema is not None:
            names = domain.schema.used
        self._columns, self._chain = columns, chain
        self.probabilities_ = {name: column.probabilities for name, column in zip(names, columns)}
        self.edges_ = {}
        for name, column in zip(names, columns):
            if column.bins.edges is not None:
                place = column.bins.places[0]
                self.edges_[name] = domain.centre[place] + domain.scale[place] * column.bins.edges

    _about = ABOUT

    def _stored(self) -> dict[str, Any]:
        return to_json(self._columns, self._chain)

    def _restore(self, values: dict[str, Any]) -> None:
        self._check_parameters()
        gaps = self.missing == "model"
        self._publish(*from_json(values, public_columns(self._domain, gaps), gaps))

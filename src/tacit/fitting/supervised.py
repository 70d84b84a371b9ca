"""Estimators of a target given inputs: the target is one more column, the last, until rows are to be predicted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d, validate_data

from tacit.fitting.estimator import PrivateEstimator
from tacit.messages import name_or_kind, unquoted
from tacit.release import Curator
from tacit.sources import Source, as_source, numeric, on_cluster
from tacit.statistics.components import Array
from tacit.tables import Domain, Ignored, Numeric, Schema


class SupervisedEstimator(PrivateEstimator):
    """What estimators with ``fit(X, y)`` share. Subclasses take ``target_bounds`` beside what all estimators take.

    `y` is an array, or the name of a column of `X`: of a data frame, of a file, or of the schema.
    """

    _joint: Domain
    _target: tuple[float, float]  # centre and scale of the target

    def _open_both(self, X: Any, y: Any) -> tuple[Domain, Source]:
        """Return the domain of inputs and target, the target last, and the rows as numbers."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None. Pass an array, or the name "
                "of a column of X."
            )
        if isinstance(self.bounds, Schema):
            return self._open_schema(X, y)
        rows, names = self._joined(X, y)
        if self.bounds is None and self.target_bounds is None and not self._needs_bounds:
            return Domain.everywhere(self.n_features_in_ + 1, names), rows
        return Domain.from_bounds(self._both_bounds(), self.n_features_in_ + 1, names), rows

    def _open_schema(self, X: Any, y: Any) -> tuple[Domain, Source]:
        schema = self.bounds
        if not isinstance(y, str) or y not in schema.used:
            raise ValueError(
                f"With a schema, y is the name of one of its columns ({', '.join(schema.used)}), and it is "
                f"{name_or_kind(y)}."
            )
        if not isinstance(schema.columns[y], Numeric):
            raise ValueError(f"The target must be a column of numbers, and the schema says {y!r} is not.")
        if self.target_bounds is not None:
            raise ValueError("target_bounds is for arrays; the schema has the target's bounds.")
        joint = _target_last(schema, y)
        domain = Domain.from_schema(joint)
        self.n_features_in_ = domain.columns - 1
        return domain, joint.encode_source(X)

    def _joined(self, X: Any, y: Any) -> tuple[Source, tuple[str, ...] | None]:
        """Return inputs and target as one source of numbers, and the names of its columns."""
        if isinstance(y, str):
            source = as_source(X)
            if source.columns is None or y not in source.columns:
                raise ValueError(f"y names the column {name_or_kind(y)}, and X has no column of that name.")
            inputs = [name for name in source.columns if name != y]
            self.n_features_in_, self.feature_names_in_ = len(inputs), np.array(inputs, dtype=object)
            return numeric(source.select([*inputs, y])), (*inputs, y)
        arrays = hasattr(X, "shape") or hasattr(X, "__array__") or isinstance(X, (list, tuple))
        if not arrays or on_cluster(X):
            raise ValueError(
                "Where X is a file, a source or on a cluster, y is the name of its column that is the target."
            )
        source = as_source(X)
        validate_data(self, X, reset=True, skip_check_array=True)  # names and number of columns
        inputs, target = np.concatenate(list(numeric(source).blocks())), _numbers(y)
        if len(inputs) != len(target):
            raise ValueError("Found inconsistent numbers of samples: X and y must have as many rows as each other.")
        if np.isinf(inputs).any() or np.isinf(target).any():
            raise ValueError(
                "Input X or y contains infinity. Missing cells are NaN; correct others, or leave them out."
            )
        names = getattr(self, "feature_names_in_", None)
        return as_source(np.column_stack([inputs, target])), None if names is None else (*map(str, names), "target")

    def _both_bounds(self) -> Any:
        """Return bounds of inputs and target as one pair."""
        columns = self.n_features_in_
        if isinstance(self.bounds, str):
            return -1.0, 1.0  # yet to be found
        if self.bounds is None or self.target_bounds is None:
            raise ValueError(
                "bounds and target_bounds are both needed. Say what is publicly known about the inputs and about the "
                "target: a number r for everything within r of zero, or a pair (low, high); or pass a tacit.Schema as "
                'bounds, or bounds="private" to spend part of the budget on finding ranges. Bounds are never read from '
                "the data, because that would reveal rows."
            )
        pairs = [_pair(bounds, width) for bounds, width in ((self.bounds, columns), (self.target_bounds, 1))]
        return tuple(np.concatenate(ends) for ends in zip(*pairs))

    def _enter(self, curator: Curator, domain: Domain) -> Domain:
        joint = super()._enter(curator, domain)
        self._divide(joint)
        return joint

    def _restore_domain(self, domain: Domain) -> None:
        if domain.schema is not None:
            if domain.names is None or domain.names[-1] not in domain.schema.used:
                raise ValueError("the last of the columns must be the target, as the schema calls it")
            domain = replace(domain, schema=_target_last(domain.schema, domain.names[-1]))
        self._divide(domain)
        super()._restore_domain(self._domain)

    def _divide(self, joint: Domain) -> None:
        """Part the domain of inputs and target."""
        self._joint = joint
        self._target = float(joint.centre[-1]), float(joint.scale[-1])
        names = None if joint.names is None else joint.names[:-1]
        schema = None
        if joint.schema is not None:  # rows to be predicted may have a target, or not
            schema = Schema({**joint.schema.columns, next(reversed(joint.schema.columns)): Ignored()})
        self._domain = Domain(joint.centre[:-1], joint.scale[:-1], joint.ball, schema, names, joint.unbounded)

    def _stated_domain(self) -> Domain:
        return self._joint

    def _standard_target(self, y: Any) -> Array:
        """Return targets to be scored, in standard coordinates."""
        values = _numbers(y)
        if not np.isfinite(values).all():
            raise ValueError("y must be one column of finite numbers.")
        return (values - self._target[0]) / self._target[1]

    def _standard_rows(self, X: Any) -> Array:
        blocks: Iterator[Array] = self._standard_blocks(X)
        return np.concatenate(list(blocks))


def one_column(y: Any) -> NDArray[Any]:
    """Return targets as a vector; a refusal of scikit-learn's would tell how many there are."""
    return unquoted("y must be one column: a value for each row of X.", column_or_1d, y, warn=True)


def scored(metric: str, y: Any, predicted: Any, sample_weight: Any) -> float:
    """Return what a function of scikit-learn's metrics says about predictions; its refusals would quote targets."""
    from sklearn import metrics

    complaint = "Predictions cannot be scored: y must be one value for each row of X, of the kind that was fitted to."
    return float(unquoted(complaint, getattr(metrics, metric), one_column(y), predicted, sample_weight=sample_weight))


def _numbers(y: Any) -> Array:
    values = one_column(y)
    if np.iscomplexobj(values):
        raise ValueError("Complex data not supported: y must be real numbers.")
    return unquoted("y must be numbers, one for each row of X.", np.asarray, values, dtype=np.float64)


def _target_last(schema: Schema, target: str) -> Schema:
    """Return the same schema with the target behind all other columns."""
    others = {name: column for name, column in schema.columns.items() if name != target}
    return Schema({**others, target: schema.columns[target]})


def _pair(bounds: Any, columns: int) -> tuple[Array, Array]:
    """Return what users pass as bounds as a box: the ends of each column's range."""
    domain = Domain.from_bounds(bounds, columns)
    if domain.ball:
        radius = float(bounds)
        return np.full(columns, -radius), np.full(columns, radius)
    return domain.centre - domain.scale, domain.centre + domain.scale

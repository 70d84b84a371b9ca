"""Rows with a target: it is one more column, the last, until rows are to be predicted.

A target is a number, or one of a few classes that are public knowledge. Users pass it as an array, or as the name of a
column of `X`: of a data frame, of a file, or of the schema.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from tacit.arrays import Array
from tacit.messages import call_or_refuse, name_or_kind
from tacit.sources import Source, as_source, numeric, on_cluster
from tacit.sources.numbers import matrix
from tacit.tables import Boolean, Categorical, Domain, Ignored, Numeric, Schema

_CLASS_BOUNDS = (-1.0, 1.0)  # Where the codes of classes lie.


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes that a target may be of, as numbers from -1 to 1.

    Parameters
    ----------
    labels : (K,) array
        In ascending order; public knowledge.

    Examples
    --------
    >>> import numpy as np
    >>> Classes(np.array(["a", "b", "c"])).numbers_of(["c", "a", "b"])
    array([ 1., -1.,  0.])
    """

    labels: NDArray[Any]

    def from_codes(self, codes: Any) -> Array:
        """Return the numbers of classes, from their places among the labels."""
        return 2.0 * np.asarray(codes, dtype=np.float64) / (len(self.labels) - 1) - 1.0

    def numbers_of(self, y: Any) -> Array:
        """Return the numbers of the classes that targets are of."""
        y = one_column(y)
        if self.labels.dtype.kind not in "biu":  # Whole numbers are labels, whatever they are.
            # Not asked of y: it counts labels, and warns of many. Twice each, so that it does not warn of classes.
            check_classification_targets(np.repeat(self.labels, 2))
        places = np.clip(np.searchsorted(self.labels, y), 0, len(self.labels) - 1)
        if (self.labels[places] != y).any():
            raise ValueError(
                "y holds a label that is none of the classes. List all labels that could occur in classes, from what "
                "is known without looking at the rows."
            )
        return self.from_codes(places)

    def replace_levels(self, inputs: int) -> Callable[[Array], Array]:
        """Return a map of encoded rows: it has one number for the class in place of what the schema has."""

        def with_number(block: Array) -> Array:
            last = block[:, inputs:]
            if last.shape[1] > 1:
                last = self.from_codes(np.argmax(last, axis=1)) + 0.0 * last.sum(axis=1)
            return np.column_stack([block[:, :inputs], last])

        return with_number

    def encode_column(self, inputs: list[str], target: str) -> Callable[[pa.Table], Array]:
        """Return a map of tables: it has the columns of inputs as numbers, and the number of the class last."""
        levels = self.labels.tolist()
        schema = Schema({target: Boolean() if set(levels) == {False, True} else Categorical(levels)})

        def numbers_of_block(block: pa.Table) -> Array:
            encoded = schema.encode(block.select([target]))
            last = encoded[:, 0] if encoded.shape[1] == 1 else self.from_codes(np.argmax(encoded, axis=1))
            return np.column_stack([matrix(block, inputs), last + 0.0 * encoded.sum(axis=1)])

        return numbers_of_block


def open_with_target(estimator: Any, X: Any, y: Any, classes: Classes | None = None) -> tuple[Domain, Source]:
    """Return the domain of inputs and target, the target last, and the rows as numbers.

    It sets ``n_features_in_`` and ``feature_names_in_`` of the estimator. With `classes`, the target is one of them.
    """
    check_target_given(estimator, y)
    if isinstance(estimator.bounds, Schema):
        return _open_schema(estimator, X, y, classes)
    if classes is not None and not isinstance(y, str):
        as_source(X)  # It refuses X before y, in scikit-learn's order.
        y = classes.numbers_of(y)
    rows, names = _join(estimator, X, y, classes)
    columns = estimator.n_features_in_ + 1
    target_bounds = estimator.target_bounds if classes is None else _CLASS_BOUNDS
    if estimator.bounds is None and classes is not None:
        Domain.from_bounds(None, estimator.n_features_in_)  # It says what is wrong.
    if estimator.bounds is None and target_bounds is None and not estimator._needs_bounds:
        return Domain.everywhere(columns, names), rows
    return Domain.from_bounds(_joint_bounds(estimator, target_bounds), columns, names), rows


def check_target_given(estimator: Any, y: Any) -> None:
    """Refuse a fit without a target."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None. Pass an array, or the name "
            "of a column of X."
        )


def _open_schema(estimator: Any, X: Any, y: Any, classes: Classes | None) -> tuple[Domain, Source]:
    schema = estimator.bounds
    if not isinstance(y, str) or y not in schema.used:
        raise ValueError(
            f"With a schema, y is the name of one of its columns ({', '.join(schema.used)}), and it is "
            f"{name_or_kind(y)}."
        )
    joint = _target_last(schema, y)
    if classes is not None:
        inputs = Domain.from_schema(_without_target(joint))
        estimator.n_features_in_ = inputs.columns
        domain = Domain(np.append(inputs.centre, 0.0), np.append(inputs.scale, 1.0), False, joint, (*inputs.names, y))
        return domain, joint.encode_source(X).map(classes.replace_levels(inputs.columns))
    if not isinstance(schema.columns[y], Numeric):
        raise ValueError(f"The target must be a column of numbers, and the schema says {y!r} is not.")
    if estimator.target_bounds is not None:
        raise ValueError("target_bounds is for arrays; the schema has the target's bounds.")
    domain = Domain.from_schema(joint)
    estimator.n_features_in_ = domain.columns - 1
    return domain, joint.encode_source(X)


def _join(estimator: Any, X: Any, y: Any, classes: Classes | None) -> tuple[Source, tuple[str, ...] | None]:
    """Return inputs and target as one source of numbers, and the names of its columns."""
    if isinstance(y, str):
        source = as_source(X)
        if source.columns is None or y not in source.columns:
            raise ValueError(f"y names the column {name_or_kind(y)}, and X has no column of that name.")
        inputs = [name for name in source.columns if name != y]
        estimator.n_features_in_, estimator.feature_names_in_ = len(inputs), np.array(inputs, dtype=object)
        source = source.select([*inputs, y])
        return numeric(source) if classes is None else source.map(classes.encode_column(inputs, y)), (*inputs, y)
    arrays = hasattr(X, "shape") or hasattr(X, "__array__") or isinstance(X, (list, tuple))
    if not arrays or on_cluster(X):
        raise ValueError("Where X is a file, a source or on a cluster, y is the name of its column that is the target.")
    source = as_source(X)
    validate_data(estimator, X, reset=True, skip_check_array=True)  # Names and number of columns.
    cells, target = np.concatenate(list(numeric(source).blocks())), target_numbers(y)
    if len(cells) != len(target):
        raise ValueError("Found inconsistent numbers of samples: X and y must have as many rows as each other.")
    if np.isinf(cells).any() or np.isinf(target).any():
        raise ValueError("Input X or y contains infinity. Missing cells are NaN; correct others, or leave them out.")
    names = getattr(estimator, "feature_names_in_", None)
    return as_source(np.column_stack([cells, target])), None if names is None else (*map(str, names), "target")


def _joint_bounds(estimator: Any, target_bounds: Any) -> Any:
    """Return bounds of inputs and target as one pair."""
    columns = estimator.n_features_in_
    if isinstance(estimator.bounds, str):
        return -1.0, 1.0  # A placeholder for bounds that are found later.
    if estimator.bounds is None or target_bounds is None:
        raise ValueError(
            "bounds and target_bounds are both needed. Say what is publicly known about the inputs and about the "
            "target: a number r for everything within r of zero, or a pair (low, high); or pass a tacit.Schema as "
            'bounds, or bounds="private" to spend part of the budget on finding ranges. Bounds are never read from '
            "the data, because that would reveal rows."
        )
    pairs = [_pair(bounds, width) for bounds, width in ((estimator.bounds, columns), (target_bounds, 1))]
    return tuple(np.concatenate(ends) for ends in zip(*pairs))


def input_domain(joint: Domain) -> Domain:
    """Return the domain of inputs, from that of inputs and target. Rows to be predicted may have a target, or not."""
    names = None if joint.names is None else joint.names[:-1]
    schema = None if joint.schema is None else _without_target(joint.schema)
    return Domain(joint.centre[:-1], joint.scale[:-1], joint.ball, schema, names, joint.unbounded)


def read_joint_domain(domain: Domain) -> Domain:
    """Return a domain of inputs and target as a file has it, with the target as the last column of its schema."""
    if domain.schema is None:
        return domain
    if domain.names is None or domain.names[-1] not in domain.schema.used:
        raise ValueError("the last of the columns must be the target, as the schema calls it")
    return replace(domain, schema=_target_last(domain.schema, domain.names[-1]))


def one_column(y: Any) -> NDArray[Any]:
    """Return targets as a vector; a refusal of scikit-learn's would tell how many there are."""
    return call_or_refuse("y must be one column: a value for each row of X.", column_or_1d, y, warn=True)


def target_numbers(y: Any) -> Array:
    values = one_column(y)
    if np.iscomplexobj(values):
        raise ValueError("Complex data not supported: y must be real numbers.")
    return call_or_refuse("y must be numbers, one for each row of X.", np.asarray, values, dtype=np.float64)


def score_predictions(metric: str, y: Any, predicted: Any, sample_weight: Any) -> float:
    """Return what a function of scikit-learn's metrics says about predictions; its refusals would quote targets."""
    from sklearn import metrics

    complaint = "Predictions cannot be scored: y must be one value for each row of X, of the kind that was fitted to."
    return float(
        call_or_refuse(complaint, getattr(metrics, metric), one_column(y), predicted, sample_weight=sample_weight)
    )


def _target_last(schema: Schema, target: str) -> Schema:
    """Return the same schema with the target behind all other columns."""
    others = {name: column for name, column in schema.columns.items() if name != target}
    return Schema({**others, target: schema.columns[target]})


def _without_target(joint: Schema) -> Schema:
    """Return the same schema, whose last column is ignored."""
    return Schema({**joint.columns, next(reversed(joint.columns)): Ignored()})


def _pair(bounds: Any, columns: int) -> tuple[Array, Array]:
    """Return what users pass as bounds as a box: the ends of each column's range."""
    domain = Domain.from_bounds(bounds, columns)
    if domain.ball:
        radius = float(bounds)
        return np.full(columns, -radius), np.full(columns, radius)
    return domain.centre - domain.scale, domain.centre + domain.scale

"""The estimator that all others are: one door in for rows, one for what may be published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from tacit.arrays import Array
from tacit.fitting.documentation import complete_docstring
from tacit.fitting.private_bounds import bounds_step, private_bounds
from tacit.fitting.published import find_published
from tacit.fitting.target import input_domain, read_joint_domain
from tacit.messages import warn_user
from tacit.privacy import Account, Budget, Plan, Step
from tacit.release import BlankIncomplete, Curator, calibrated_plan
from tacit.sources import Source, as_source, has_missing, numeric
from tacit.sources.names import join_names
from tacit.tables import Domain, Schema

_LARGEST = np.finfo(np.float64).max  # Rows in very small units are far away, and never infinite.


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
class PrivateEstimator(BaseEstimator):
    """What private estimators share.

    Subclasses declare their parameters as fields of a dataclass, which writes the constructor that scikit-learn asks
    for. Parameters are passed by keyword, but for those declared with ``field(default=..., kw_only=False)``. The ones
    below are those of every estimator. Docstrings of subclasses document what is their own, and get the rest from
    :mod:`tacit.fitting.documentation`.

    Subclasses write their ``fit`` from the methods below, in this order: ``check_budget``, ``_open``,
    ``_check_rows``, ``_curator``, ``_enter``, the model's own releases, ``_certify``. Those that can do without
    bounds say so in ``_needs_bounds``. Those with ``fit(X, y)`` say so in ``_has_target``, and open rows by
    :func:`tacit.fitting.target.open_with_target`. ``_moved`` says of parameters of earlier versions what to write now.
    ``_method_parameter``, ``_methods`` and ``_published`` say what ``method`` may be, where there is one; see
    :mod:`tacit.fitting.published`.

    A file needs four members more of a subclass. ``fit`` sets ``n_iter_``, the number of releases. ``_stored()``
    returns what the fit found, for JSON, and ``_restore(values)`` takes it back. ``_about`` ends the sentence "A row is
    centre + scale * z, and ..." in the file.

    A fit that begins forgets all that an earlier one found, and a fit that fails leaves nothing. So a certificate never
    stands beside numbers that it is not about.

    A fit sets ``_domain``, the domain of inputs; with a target also ``_joint``, the domain of inputs and target, the
    target last, and ``_target``, the target's centre and scale.
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    bounds: Any = None
    neighbors: str = "replace_one"
    missing: str = "error"
    ledger: Account | None = None
    random_state: Any = None
    verbose: bool = False

    _needs_bounds: ClassVar[bool] = True
    _has_target: ClassVar[bool] = False
    _moved: ClassVar[dict[str, str]] = {}
    _method_parameter: ClassVar[str] = "method"
    _methods: ClassVar[tuple[str, ...]] = ()
    _published: ClassVar[dict[str, tuple[str, dict[str, Any]]]] = {}

    def __new__(cls, *args: Any, **parameters: Any) -> Any:
        if refusal := cls._refusal(parameters):
            raise TypeError(refusal)
        return super().__new__(cls)

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters, and return the estimator. Those that moved are refused with what to write now."""
        if refusal := self._refusal(parameters):
            raise ValueError(refusal)
        return super().set_params(**parameters)

    @classmethod
    def _refusal(cls, parameters: Iterable[str]) -> str | None:
        """Return what to write in place of the first parameter that is one of an earlier version."""
        moved = next((name for name in parameters if name in cls._moved), None)
        return None if moved is None else f"{cls.__name__} has no parameter {moved}. {cls._moved[moved]}"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(kw_only=True, eq=False, repr=False)(cls)
        if cls.__doc__:
            cls.__doc__ = complete_docstring(cls.__doc__, [parameter.name for parameter in fields(cls)])
        fit = getattr(cls, "fit", None)  # It may be a mixin's.
        if fit is not None and not getattr(fit, "starts_from_scratch", False):
            cls.fit = _from_scratch(fit)

    def _remember(self, before: Iterable[str] = ()) -> None:
        """Note which private attributes a fit has set, or a file: all that were not there before.

        Others are set by whoever uses the estimator, such as scikit-learn's pipelines, and are not for us to delete.
        """
        self._fit_state = tuple(name for name in vars(self) if name.startswith("_") and name not in before)

    def _forget(self) -> None:
        """Delete all that a fit has set: public attributes, whose names end in _, and private ones."""
        state = vars(self).pop("_fit_state", ())
        for name in [name for name in vars(self) if name.endswith("_") or name in state]:
            delattr(self, name)

    def _open(self, X: Any) -> tuple[Domain, Source]:
        """Return the domain, and the rows as numbers: encoded by the schema if there is one, as they are if not."""
        if isinstance(self.bounds, Schema):
            domain = Domain.from_schema(self.bounds)
            self.n_features_in_ = domain.columns
            return domain, self.bounds.encode_source(X)
        source = as_source(X)
        if source.in_memory and (hasattr(X, "shape") or isinstance(X, (list, tuple))):
            validate_data(self, X, reset=True, skip_check_array=True)
        else:
            self.n_features_in_ = source.n_columns
            if source.columns is not None:
                self.feature_names_in_ = np.array(source.columns, dtype=object)
        if self.bounds is None and not self._needs_bounds:
            return Domain.everywhere(self.n_features_in_, source.columns), numeric(source)
        bounds = (-1.0, 1.0) if isinstance(self.bounds, str) else self.bounds  # A placeholder.
        return Domain.from_bounds(bounds, self.n_features_in_, source.columns), numeric(source)

    def _check_rows(
        self, rows: Source, least: int = 1, parameter: str | None = None, *, delta: float | None = None
    ) -> int | None:
        """Refuse what cannot be fitted, before anything is charged; return the number of rows where it is public.

        The number is secret, and None, under ``add_remove`` and with ``missing="ignore"``. A model that needs it then
        measures it. The pass over the rows also finds cells that cannot be read.

        Parameters
        ----------
        rows : Source
        least : int
            How many rows a fit takes at least.
        parameter : str, optional
            The parameter that has the value `least`, for the message.
        delta : float, optional
            The part of delta that will be spent, if that is not all of it.
        """
        if has_missing(rows) and self.missing == "error":
            raise ValueError(
                "Input X contains NaN, infinity or missing cells. Fill them in, drop those rows, or pass "
                'missing="ignore" (--missing ignore) to leave them out; a mixture can also model what is there.'
            )
        if self.neighbors != "replace_one":
            return None  # The number of rows is secret, and not even asked for.
        if rows.n_rows < least:
            needed = f"{least} for {parameter}={least}" if parameter else f"{least}"
            raise ValueError(
                f"There are {rows.n_rows} row(s) (n_samples={rows.n_rows}), and a fit takes at least {needed}."
            )
        delta = self.delta if delta is None else delta
        if delta >= 1 / rows.n_rows:
            warn_user(
                f"delta={delta:g} is not below 1/{rows.n_rows}, one over the number of rows: such a delta allows "
                "publishing somebody's row outright. Use a much smaller one."
            )
        return None if self.missing == "ignore" else rows.n_rows

    def _curator(self, rows: Source, domain: Domain, steps: Sequence[Step], budget: Budget, purpose: str) -> Curator:
        """Return the curator of the rows, with a plan that spends the budget on these steps; nothing is charged yet.

        With ``missing="ignore"`` rows with a missing cell reach statistics with all cells missing. The certificate says
        that they were left out, and a statistic that used their other cells would make that untrue.
        """
        if isinstance(self.bounds, Schema) and self.bounds.peeked:
            warn_user(
                f"The schema says that it was read from the rows about {join_names(self.bounds.peeked)} (tacit schema "
                "init --peek). That was not paid for and the promise does not cover it. Replace it by public "
                'knowledge, and delete source = "peeked".'
            )
        steps = list(steps)
        if isinstance(self.bounds, str):
            steps.insert(0, bounds_step(steps, domain.columns))
        plan = self._plan(steps, budget)
        curator = Curator(rows, plan, ledger=self.ledger, random_state=self.random_state, purpose=purpose)
        if self.missing == "ignore":
            curator.map_rows(BlankIncomplete())
        return curator

    def _plan(self, steps: list[Step], budget: Budget) -> Plan:
        method = find_published(self) if self._published else None
        if method is None or isinstance(self.bounds, str):
            return calibrated_plan(steps, budget, self.neighbors)
        return method.plan(steps, budget, self.neighbors)

    def _enter(self, curator: Curator, domain: Domain) -> Domain:
        """Have the curator bring rows inside the bounds and into standard coordinates; return the domain.

        Where ``bounds="private"``, the bounds are found first, by a release.
        """
        if isinstance(self.bounds, str):
            domain = Domain.from_bounds(private_bounds(curator, domain.columns), domain.columns, domain.names)
        domain = self._choose_shape(domain)
        if domain.schema is None:  # Rows encoded by a schema are in standard coordinates.
            curator.map_rows(domain.row_map)
        self._set_domain(domain)
        return domain

    def _set_domain(self, domain: Domain) -> None:
        """Take the domain of rows; where the last column is the target, part it from that of inputs."""
        self._domain = domain
        if self._has_target:
            self._joint, self._domain = domain, input_domain(domain)
            self._target = float(domain.centre[-1]), float(domain.scale[-1])

    def _restore_domain(self, domain: Domain) -> None:
        """Take back, from a file, the domain that the certificate states."""
        self._set_domain(read_joint_domain(domain) if self._has_target else domain)
        domain = self._domain
        self.n_features_in_ = domain.columns
        if domain.names is not None and domain.schema is None:
            self.feature_names_in_ = np.array(domain.names, dtype=object)

    def _choose_shape(self, domain: Domain) -> Domain:
        """Return the domain in the form that the model wants, such as the box around a ball; it must hold `domain`."""
        return domain

    def _certify(self, curator: Curator, budget: Budget, rows: int | None, notes: Sequence[str]) -> None:
        """Set ``privacy_``, with the estimator's notes and those on what happened to rows."""
        notes = list(notes)
        found = ", found privately" if isinstance(self.bounds, str) else ""
        if self.missing == "ignore":
            notes.append("Rows with missing cells were left out; how many is not told.")
        if self.missing == "model":
            notes.append("Missing cells were modelled; whether there are any is not told.")
        domain = self._stated_domain()
        certificate = curator.certificate(budget, rows=rows, bounds=str(domain) + found, notes=notes)
        self.privacy_ = replace(certificate, peeked=() if domain.schema is None else domain.schema.peeked)

    def _stated_domain(self) -> Domain:
        """Return the domain that the certificate states."""
        return self._joint if self._has_target else self._domain

    def _standard_blocks(self, X: Any) -> Iterator[Array]:
        """Yield rows to be scored, block by block in standard coordinates, *not* brought inside the bounds."""
        check_is_fitted(self)
        domain = self._domain
        for block in self._rows(X).blocks():
            if block.shape[1] != domain.columns:
                raise ValueError(f"X has {block.shape[1]} column(s), and the model was fitted to {domain.columns}.")
            usable = ~np.isinf(block) if self.missing == "model" else np.isfinite(block)
            if not usable.all():
                raise ValueError("Input X contains NaN, infinity or missing cells; fill them in first.")
            with np.errstate(over="ignore"):
                standard = block if domain.schema else (block - domain.centre) / domain.scale
            yield np.clip(standard, -_LARGEST, _LARGEST)

    def _rows(self, X: Any) -> Source:
        """Return rows to be scored as numbers, in the order of the columns that the model was fitted to."""
        if self._domain.schema is not None:
            return self._domain.schema.encode_source(X)
        source = as_source(X)
        if hasattr(X, "shape") or isinstance(X, (list, tuple)):
            validate_data(self, X, reset=False, skip_check_array=True)  # It checks names and number of columns.
        if source.columns is not None and hasattr(self, "feature_names_in_"):
            source = source.select(self.feature_names_in_.tolist())
        return numeric(source)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        return tags


def _from_scratch(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Return a fit that forgets what was fitted before, and everything if it fails."""

    @wraps(fit)
    def fit_from_scratch(self: PrivateEstimator, *args: Any, **options: Any) -> Any:
        self._forget()
        before = tuple(vars(self))
        try:
            fitted = fit(self, *args, **options)
        except BaseException:
            self._remember(before)
            self._forget()
            raise
        self._remember(before)
        return fitted

    fit_from_scratch.starts_from_scratch = True
    return fit_from_scratch


dataclass(kw_only=True, eq=False, repr=False)(PrivateEstimator)

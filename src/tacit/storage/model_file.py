"""Fitted models as files: plain JSON, which any language can read and which never executes anything.

The format, ``tacit.model/1``
-----------------------------
::

    {
      "format": "tacit.model/1",
      "estimator": "GaussianMixture",       or "KMeans", "Moments", "FactorAnalysis", ...
      "about": "...",                       the next two lines, for whoever opens the file
      "parameters": {...},                  what the estimator was told, without ledger, seed and verbosity
      "columns": ["age", ...] or null,      names of the columns of an (encoded) row
      "centre": [...], "scale": [...],      a row is centre + scale * z, column by column
      "ball": false,                        whether z keeps inside the ball of radius sqrt(d), or the box [-1, 1]^d
      "unbounded": true,                    if it does neither; otherwise this is left out
      ...,                                  what the fit found: each model's card says how it is stored
      "releases": 15,                       n_iter_
      "certificate": {...}                  as Certificate.to_json writes it
    }

The registry of models says for each of them under which keys a file holds what the fit found, and in which units:
``tacit.models.card_named("KMeans").stored``.

Everything in it is public or private in the sense of the certificate, so the file may be published. Floats are written
so that they are read back exactly. A schema is in ``parameters.bounds``, as ``Schema.to_dict`` gives it. A parameter
that is infinite is "inf", and weights of classes are a list of pairs, as labels need not be text. The file
is not signed: whoever can write it can also change the certificate in it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from tacit.files import write_whole
from tacit.fitting import PrivateEstimator, check_shapes
from tacit.fitting.published import read_method, write_method
from tacit.models import CARDS, ModelCard, Without, find_card
from tacit.models.stored_parameters import INFINITE
from tacit.privacy import Certificate
from tacit.tables import Domain, Schema

__all__ = ["load_model", "save_model"]

FORMAT = "tacit.model/1"
_PRIVATE = "Made under differential privacy; the certificate says how private."
_BOUNDS = ("bounds", "target_bounds")
_NOT_STORED = ("ledger", "random_state", "verbose")  # They belong to the place and the moment of the fit.


def save_model(model: PrivateEstimator, path: str | PathLike[str]) -> Path:
    """Write a fitted model to a JSON file, which `load_model` reads back exactly.

    The file appears whole or not at all. It is as private as the model.

    Parameters
    ----------
    model : estimator
        Fitted.
    path : str or path
        Usually named ``.tacit``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.storage import load_model, save_model
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> model = tacit.GaussianMixture(1, bounds=10.0, random_state=0).fit(X)
    >>> path = save_model(model, pathlib.Path(tempfile.mkdtemp()) / "model.tacit")
    >>> np.array_equal(load_model(path).means_, model.means_)
    True
    """
    path = Path(path)
    card = find_card(model)
    if card is None or isinstance(card.stored, Without):
        raise TypeError(f"A model file holds one of {', '.join(_stored())}, and this is a {type(model).__name__}.")
    if not hasattr(model, "privacy_"):
        raise ValueError("This model is not fitted; call fit first.")
    domain = model._stated_domain()
    values = {
        "format": FORMAT,
        "estimator": type(model).__name__,
        "about": f"A row is centre + scale * z, and {model._about} {_PRIVATE}",
        "parameters": _parameters(model, card),
        "columns": None if domain.names is None else list(domain.names),
        "centre": domain.centre.tolist(),
        "scale": domain.scale.tolist(),
        "ball": domain.ball,
        **({"unbounded": True} if domain.unbounded else {}),
        **model._stored(),
        "releases": model.n_iter_,
        "certificate": json.loads(model.privacy_.to_json()),
    }
    text = ",\n".join(f" {_json(key)}: {_json_lines(key, value)}" for key, value in values.items())
    with write_whole(path) as temporary:
        temporary.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")
    return path


def load_model(path: str | PathLike[str]) -> Any:
    """Read a model that `save_model` wrote: ready to sample, predict and report, exactly as it was.

    Nothing in the file is executed. A file that is damaged, or of a format that this version does not know, is refused
    in a sentence.
    """
    path = Path(path)
    values = _read(path)
    try:
        return _model(values)
    except (KeyError, TypeError, ValueError, AttributeError, np.linalg.LinAlgError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
    raise ValueError(f"The model in {path} is damaged: {reason.rstrip('.')}. Take it from a copy, or fit it again.")


def _stored() -> list[str]:
    """Return the names of estimators that a file can hold."""
    return [card.name for card in CARDS.values() if not isinstance(card.stored, Without)]


def _json_lines(key: str, value: Any) -> str:
    """Return a value as JSON: what people read on many lines, and numbers, which may be millions, on one."""
    return _json(value, indent=1).replace("\n", "\n ") if key in ("parameters", "certificate") else _json(value)


def _json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, indent=indent, allow_nan=False, ensure_ascii=False)


def _parameters(model: PrivateEstimator, card: ModelCard) -> dict[str, Any]:
    values = {name: value for name, value in model.get_params(deep=False).items() if name not in _NOT_STORED}
    values |= {name: _bounds(values[name]) for name in _BOUNDS if name in values}
    values |= {name: write_method(values[name]) for name in [model._method_parameter] if name in values}
    values |= {name: each.write(values[name]) for name, each in card.parameters.items()}
    return {name: _plain(value) for name, value in values.items()}


def _bounds(bounds: Any) -> Any:
    if bounds is None or isinstance(bounds, str):
        return bounds
    if isinstance(bounds, Schema):
        return bounds.to_dict()
    if isinstance(bounds, int | float | np.number):
        return float(bounds)
    return [np.asarray(side, dtype=np.float64).tolist() for side in bounds]


def _plain(value: Any) -> Any:
    """Return numbers and sequences of them, numpy's and others, as JSON has them."""
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, float) and math.isinf(value):
        return INFINITE
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return list(map(_plain, value)) if isinstance(value, Sequence) and not isinstance(value, str) else value


def _read(path: Path) -> dict[str, Any]:
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a model file in it.")
    if not path.exists():
        raise FileNotFoundError(f"There is no model file {path}. Check the path; tacit fit makes one.")
    try:
        values = json.loads(path.read_bytes(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):  # Errors of UTF-8 and of JSON.
        values = None
    if not isinstance(values, dict) or not str(values.get("format")).startswith("tacit.model/"):
        raise ValueError(f"{path} is not a model file of tacit, or is damaged.")
    if values["format"] != FORMAT:
        raise ValueError(
            f"{path} has the format {values['format']!r}, and this version of tacit reads {FORMAT!r}; upgrade tacit."
        )
    return values


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number.")


def _model(values: dict[str, Any]) -> PrivateEstimator:
    if values["estimator"] not in _stored():
        raise ValueError(f"the estimator should be one of {', '.join(_stored())}")
    card = CARDS[values["estimator"]]
    parameters = read_method(card.estimator, values["parameters"])
    schema = Schema.from_dict(parameters["bounds"]) if isinstance(parameters["bounds"], dict) else None
    for name in _BOUNDS:
        if isinstance(parameters.get(name), list):
            parameters[name] = tuple(parameters[name])
    if schema is not None:
        parameters["bounds"] = schema
    parameters |= {name: each.read(parameters[name]) for name, each in card.parameters.items() if name in parameters}
    model = card.estimator(**parameters)
    names = None if values["columns"] is None else tuple(map(str, values["columns"]))
    centre, scale = np.array(values["centre"], float), np.array(values["scale"], float)
    domain = Domain(centre, scale, values["ball"], schema, names, bool(values.get("unbounded", False)))
    _check_domain(domain)
    model._restore_domain(domain)
    model._restore(values)
    model._remember()
    model.n_iter_ = int(values["releases"])
    model.privacy_ = Certificate.from_json(json.dumps(values["certificate"]))
    return model


def _check_domain(domain: Domain) -> None:
    columns = domain.columns
    check_shapes(centre=(domain.centre, (columns,)), scale=(domain.scale, (columns,)))
    if domain.names is not None and len(domain.names) != columns:
        raise ValueError(f"there must be {columns} names of columns")
    if (domain.scale <= 0).any():
        raise ValueError("scales must be positive")

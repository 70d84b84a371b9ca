"""Fitted models as files: plain JSON, which any language can read and which never executes anything.

The format, ``tacit.model/1``
-----------------------------
::

    {
      "format": "tacit.model/1",
      "estimator": "GaussianMixture",
      "about": "...",                       the next two lines, for whoever opens the file
      "parameters": {...},                  what the estimator was told, without ledger, seed and verbosity
      "columns": ["age", ...] or null,      names of the columns of an (encoded) row
      "centre": [...], "scale": [...],      a row is centre + scale * z, column by column
      "ball": false,                        whether z keeps inside the ball of radius sqrt(d), or the box [-1, 1]^d
      "mixture": {
        "weights": [K], "means": [K][d], "covariances": [K][d][d],    the density of z, in its columns of numbers
        "levels": {"plan": [K][levels], ...}    with a schema that has such columns: probabilities of their levels
      },
      "releases": 15,                       n_iter_
      "certificate": {...}                  as Certificate.to_json writes it
    }

Everything in it is public or private in the sense of the certificate, so the file may be published. Floats are written
so that they are read back exactly. A schema is in ``parameters.bounds``, as ``Schema.to_dict`` gives it. The file
is not signed: whoever can write it can also change the certificate in it.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from tacit.files import written_whole
from tacit.latent.gaussian_mixture import GaussianMixture
from tacit.latent.mixture import Mixture
from tacit.latent.mixture_parameters import checked_mixture_budget
from tacit.latent.prior import MixturePrior
from tacit.latent.table_mixture import TableMixture, columns_with_levels, table_layout
from tacit.privacy import Certificate
from tacit.tables import Domain, Schema

__all__ = ["load_model", "save_model"]

FORMAT = "tacit.model/1"
_ABOUT = (
    "A row is centre + scale * z, and z has the density of the mixture: the sum over k of weights[k] times the normal "
    "density with means[k] and covariances[k]. Columns with levels are apart from that: within a component they are "
    "independent of all others, and levels has their probabilities, in the schema's order, or of false and true. Made "
    "under differential privacy; the certificate says how private."
)
_NOT_STORED = ("ledger", "random_state", "verbose")  # they belong to the place and the moment of the fit


def save_model(model: GaussianMixture, path: str | PathLike[str]) -> Path:
    """Write a fitted model to a JSON file, which `load_model` reads back exactly.

    The file appears whole or not at all. It is as private as the model.

    Parameters
    ----------
    model : GaussianMixture
        Fitted.
    path : str or path
        Usually named ``.tacit``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.latent.model_file import load_model, save_model
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> model = tacit.GaussianMixture(1, bounds=10.0, random_state=0).fit(X)
    >>> path = save_model(model, pathlib.Path(tempfile.mkdtemp()) / "model.tacit")
    >>> np.array_equal(load_model(path).means_, model.means_)
    True
    """
    path = Path(path)
    if not isinstance(model, GaussianMixture):
        raise TypeError(f"A model file holds a tacit.GaussianMixture, and this is a {type(model).__name__}.")
    if not hasattr(model, "privacy_"):
        raise ValueError("This model is not fitted; call fit first.")
    domain, mixture = model._domain, model._mixture
    levels = {}
    if hasattr(model, "level_probabilities_"):
        levels = {"levels": {name: shares.tolist() for name, shares in model.level_probabilities_.items()}}
    values = {
        "format": FORMAT,
        "estimator": type(model).__name__,
        "about": _ABOUT,
        "parameters": _parameters(model),
        "columns": None if domain.names is None else list(domain.names),
        "centre": domain.centre.tolist(),
        "scale": domain.scale.tolist(),
        "ball": domain.ball,
        "mixture": {name: getattr(mixture, name).tolist() for name in ("weights", "means", "covariances")} | levels,
        "releases": model.n_iter_,
        "certificate": json.loads(model.privacy_.to_json()),
    }
    text = json.dumps(values, indent=1, allow_nan=False, ensure_ascii=False)
    with written_whole(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")
    return path


def load_model(path: str | PathLike[str]) -> GaussianMixture:
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


def _parameters(model: GaussianMixture) -> dict[str, Any]:
    values = {name: value for name, value in model.get_params(deep=False).items() if name not in _NOT_STORED}
    bounds, init, prior = values["bounds"], values["init"], values["prior"]
    if isinstance(bounds, Schema):
        values["bounds"] = bounds.to_dict()
    elif isinstance(bounds, str | int | float | np.number):
        values["bounds"] = bounds if isinstance(bounds, str) else float(bounds)
    else:
        values["bounds"] = [np.asarray(side, dtype=np.float64).tolist() for side in bounds]
    values["init"] = init if isinstance(init, str) else np.asarray(init, dtype=np.float64).tolist()
    values["prior"] = None if prior is None else asdict(prior)
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}


def _read(path: Path) -> dict[str, Any]:
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a model file in it.")
    if not path.exists():
        raise FileNotFoundError(f"There is no model file {path}. Check the path; tacit fit makes one.")
    try:
        values = json.loads(path.read_bytes(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):  # of UTF-8 and of JSON
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


def _model(values: dict[str, Any]) -> GaussianMixture:
    if values["estimator"] != "GaussianMixture":
        raise ValueError(f"the estimator is {values['estimator']!r}, and should be 'GaussianMixture'")
    parameters = dict(values["parameters"])
    bounds, prior = parameters["bounds"], parameters["prior"]
    schema = Schema.from_dict(bounds) if isinstance(bounds, dict) else None
    parameters["bounds"] = tuple(bounds) if isinstance(bounds, list) else schema or bounds
    parameters["prior"] = None if prior is None else MixturePrior(**prior)
    if isinstance(parameters["init"], list):
        parameters["init"] = np.array(parameters["init"])
    model = GaussianMixture(**parameters)
    checked_mixture_budget(model)
    names = None if values["columns"] is None else tuple(map(str, values["columns"]))
    domain = Domain(np.array(values["centre"], float), np.array(values["scale"], float), values["ball"], schema, names)
    mixture = Mixture(*(np.array(values["mixture"][name], float) for name in ("weights", "means", "covariances")))
    layout = table_layout(domain)
    if layout.levels:
        levels = values["mixture"]["levels"]
        shares = [np.array(levels[name], float) for name in columns_with_levels(schema)]
        mixture = TableMixture(mixture.weights, mixture.means, mixture.covariances, layout, np.hstack(shares))
    _check_shapes(domain, mixture, model.n_components)
    model._domain = domain
    model._publish(mixture)
    model.n_features_in_ = domain.columns
    if names is not None and schema is None:
        model.feature_names_in_ = np.array(names, dtype=object)
    model.n_iter_ = int(values["releases"])
    model.privacy_ = Certificate.from_json(json.dumps(values["certificate"]))
    return model


def _check_shapes(domain: Domain, mixture: Mixture, components: int) -> None:
    columns, layout = domain.columns, table_layout(domain)
    numbers = len(layout.numbers)
    wanted = {
        "centre": (domain.centre, (columns,)),
        "scale": (domain.scale, (columns,)),
        "weights": (mixture.weights, (components,)),
        "means": (mixture.means, (components, numbers)),
        "covariances": (mixture.covariances, (components, numbers, numbers)),
    }
    if isinstance(mixture, TableMixture):
        wanted["levels"] = (mixture.probabilities, (components, sum(layout.sizes)))
    for name, (array, shape) in wanted.items():
        if array.shape != shape or not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite numbers of shape {shape}")
    if domain.names is not None and len(domain.names) != columns:
        raise ValueError(f"there must be {columns} names of columns")
    if (mixture.weights < 0).any() or abs(mixture.weights.sum() - 1) > 1e-6 or (domain.scale <= 0).any():
        raise ValueError("weights must be shares of 1, and scales positive")
    if isinstance(mixture, TableMixture):
        totals = [mixture.probabilities[:, where].sum(axis=1) for where in layout.slices]
        if not ((mixture.probabilities > 0).all() and np.allclose(totals, 1.0, atol=1e-6)):
            raise ValueError("probabilities of levels must be positive, and add up to 1 in each column")

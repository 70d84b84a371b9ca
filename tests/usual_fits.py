"""Small tables between -1 and 1, and how each model is usually fitted to them: its card has the parameters."""

import numpy as np
import pyarrow as pa

from tacit.tables import Boolean, Categorical, Integer, Numeric, Schema

ROWS = 400
RNG = np.random.default_rng(0)
GROUPS = RNG.integers(0, 2, ROWS)
X = np.array([[-0.5, 0.2], [0.4, -0.3]])[GROUPS] + RNG.normal(scale=0.15, size=(ROWS, 2))
Y = X @ [0.6, -0.8] + 0.1 * RNG.normal(size=ROWS)
LABELS = (Y > 0).astype(int)
HOLES = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
PEOPLE = pa.table(
    {
        "age": np.round(45 + 30 * X[:, 0]).astype(int),
        "income": 40 + 20 * X[:, 1],
        "smoker": GROUPS == 1,
        "region": np.array(["north", "south", "west"])[np.random.default_rng(1).integers(0, 3, ROWS)],
    }
)
SCHEMA = Schema(
    {
        "age": Integer(0, 120),
        "income": Numeric(0.0, 100.0),
        "smoker": Boolean(),
        "region": Categorical(["north", "south", "west"]),
    }
)
BOUNDS = ("box", "ball", "private", "schema")  # the ways to say where rows lie
REFUSED = {("SymmetricMixture", "schema"), ("RobustMean", "private")}  # the only ones that a model does not take
REFUSED_HINT = "If the model does not take a kind of bounds, add that to REFUSED in tests/usual_fits.py."


def usual_fit(card, bounds=None):
    """Return what a model is fitted to, rows and where it has one the target, and its usual parameters.

    Parameters
    ----------
    card : ModelCard
    bounds : one of `BOUNDS`, optional
        How to say where rows lie; by default a box, or what the card says.
    """
    if bounds == "schema":
        target = {None: (), "number": ("income",), "class": ("smoker",)}[card.target]
        return (PEOPLE, *target), {**card.usual(), "bounds": SCHEMA}
    rows = HOLES if getattr(card.estimator, "missing", "error") == "model" else X
    target = {None: (), "number": (Y,), "class": (LABELS,)}[card.target]
    public = {None: {}, "number": {"target_bounds": (-1, 1)}, "class": {"classes": [0, 1]}}[card.target]
    stated = {} if bounds is None else {"bounds": {"box": (-1, 1), "ball": 1.0, "private": "private"}[bounds]}
    return (rows, *target), {"bounds": (-1, 1), **public, **card.usual(), **stated}

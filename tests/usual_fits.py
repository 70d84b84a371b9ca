"""Small tables between -1 and 1, and how each model is usually fitted to them: its card has the parameters."""

import numpy as np

ROWS = 400
RNG = np.random.default_rng(0)
GROUPS = RNG.integers(0, 2, ROWS)
X = np.array([[-0.5, 0.2], [0.4, -0.3]])[GROUPS] + RNG.normal(scale=0.15, size=(ROWS, 2))
Y = X @ [0.6, -0.8] + 0.1 * RNG.normal(size=ROWS)
LABELS = (Y > 0).astype(int)
HOLES = np.where(RNG.random(X.shape) < 0.1, np.nan, X)


def usual_fit(card):
    """Return what a model is usually fitted to, rows and where it has one the target, and its parameters."""
    rows = HOLES if getattr(card.estimator, "missing", "error") == "model" else X
    target = {None: (), "number": (Y,), "class": (LABELS,)}[card.target]
    public = {None: {}, "number": {"target_bounds": (-1, 1)}, "class": {"classes": [0, 1]}}[card.target]
    return (rows, *target), {"bounds": (-1, 1), **public, **card.usual()}

"""Every estimator of the registry, with its usual parameters and a budget that is enough for a small table."""

import numpy as np

from tacit.models import CARDS

ROWS = 400
COMMON = {"epsilon": 5.0, "delta": 1e-4}
LABELS = ["no", "yes"]
PUBLIC = {None: {}, "number": {"target_bounds": 9.0}, "class": {"classes": LABELS}}

ESTIMATORS = {
    name: card.estimator(**{**card.usual(), "bounds": 5.0, **PUBLIC[card.target], **COMMON})
    for name, card in CARDS.items()
}
CLASSIFIERS = tuple(name for name, card in CARDS.items() if card.target == "class")
SUPERVISED = tuple(name for name, card in CARDS.items() if card.target)


def rows(seed=0):
    return np.random.default_rng(seed).normal(size=(ROWS, 2)).clip(-4, 4)


def target(name, X):
    """Return the target that an estimator wants, or None."""
    if name in CLASSIFIERS:
        return np.where(X[:, 0] > 0, "yes", "no")
    return X @ [1.0, -0.5] if name in SUPERVISED else None

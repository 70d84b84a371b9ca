"""Every model of the registry, audited whole: a row at one corner is moved to another or taken away.

Files of their own audit what is special about a model, over more fits.
"""

import warnings

import numpy as np
import pytest
from joined import Joined

from tacit.audit import audit_estimator
from tacit.models import CARDS
from tacit.release import curator

RNG = np.random.default_rng(0)
INPUTS = RNG.uniform(-0.3, 0.3, (24, 2))
TARGETS = {"number": RNG.uniform(-0.3, 0.3, (24, 1)), "class": RNG.integers(0, 2, (24, 1)).astype(float)}
CORNERS = {None: ([1.0, 1.0], [-1.0, -1.0]), "number": ([1.0, 1.0, 1.0], [1.0, 1.0, -1.0])}
CORNERS["class"] = ([1.0, 1.0, 1.0], [1.0, 1.0, 0.0])
# This table is too small for an attacker to see that their noise is missing. Files of their own have other audits.
HIDDEN = ("TableModel", "MixtureOfRegressions", "MissingCovariateRegression", "SymmetricMixture")
PUBLIC = {None: {}, "number": {"target_bounds": (-1, 1)}, "class": {"classes": [0, 1]}}


def audited(name, neighbors, trials, **settings):
    card = CARDS[name]
    rows = np.hstack([INPUTS, TARGETS[card.target]]) if card.target else INPUTS
    one, other = (np.vstack([rows, [corner]]) for corner in CORNERS[card.target])
    kind = type("Audited", (Joined, card.estimator), {}) if card.target else card.estimator
    settings = {"delta": 1e-3, "neighbors": neighbors, "bounds": (-1, 1), **PUBLIC[card.target], **settings}
    model = kind(**{**card.usual(), **settings})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # A table as small as this is no use but to an attacker.
        return audit_estimator(
            model, one, rows if neighbors == "add_remove" else other, trials=trials, confidence=0.999, random_state=0
        )


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("name", CARDS)
def test_the_claim_stands(name, neighbors):
    audit = audited(name, neighbors, 40, epsilon=4.0)
    assert audit.consistent_with(), f"{name} tells more than its certificate says: {audit}"


@pytest.mark.parametrize("name", [name for name in CARDS if name not in HIDDEN])
def test_a_fit_without_noise_is_caught(name, monkeypatch):
    for law in ("discrete_gaussian", "discrete_laplace"):
        noise = getattr(curator, law)
        monkeypatch.setattr(curator, law, lambda scale, size, gen, noise=noise: noise(scale / 1000, size, gen))
    audit = audited(name, "replace_one", 60, epsilon=0.5)
    assert audit.refutes(), f"The audit of {name} would not see that its noise is missing: {audit}"

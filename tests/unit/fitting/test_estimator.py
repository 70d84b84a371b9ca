"""What all estimators do alike."""

import numpy as np
import pandas as pd
import pytest

import tacit


def test_more_rows_than_the_proof_covers_are_refused():
    """A view of one row, over a thousand million times: refused before a pass is made over it."""
    X = np.broadcast_to(np.zeros((1, 2)), (2**30 + 1, 2))
    for neighbors in ("replace_one", "add_remove"):
        with pytest.raises(ValueError, match="more than 1,073,741,824 rows"):
            tacit.GaussianMixture(1, bounds=1.0, neighbors=neighbors).fit(X)


def test_a_refit_forgets_the_columns_of_the_last_one():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(-1, 1, (500, 2)), columns=["a", "b"])
    schema = tacit.Schema.from_dict({"columns": {"a": {"type": "numeric", "low": -1, "high": 1}}})
    model = tacit.GaussianMixture(1, bounds=1.0, random_state=0).fit(frame)
    assert list(model.feature_names_in_) == ["a", "b"]
    model.set_params(bounds=schema).fit(frame[["a"]])
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 1

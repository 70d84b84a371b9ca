"""What all estimators do alike."""

import numpy as np
import pandas as pd

import tacit


def test_a_refit_forgets_the_columns_of_the_last_one():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(-1, 1, (500, 2)), columns=["a", "b"])
    schema = tacit.Schema.from_dict({"columns": {"a": {"type": "numeric", "low": -1, "high": 1}}})
    model = tacit.GaussianMixture(1, bounds=1.0, random_state=0).fit(frame)
    assert list(model.feature_names_in_) == ["a", "b"]
    model.set_params(bounds=schema).fit(frame[["a"]])
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 1

"""An estimator that validates its input by as_source alone passes scikit-learn's checks of bad input."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted, validate_data

from tacit.sources import as_source, has_missing, numeric


class Midpoints(BaseEstimator):
    """Finds the middle of each column, to the nearest thousandth."""

    def fit(self, X, y=None):
        source = self._source(X, reset=True)
        total = source.sum(lambda block: np.rint(1000 * block).astype(np.int64).sum(axis=0))
        self.middle_ = total / (1000 * source.n_rows)
        return self

    def predict(self, X):
        check_is_fitted(self)
        return np.concatenate([np.linalg.norm(block - self.middle_, axis=1) for block in self._source(X).blocks()])

    def _source(self, X, reset=False):
        source = numeric(as_source(X))
        validate_data(self, X, reset=reset, skip_check_array=True)
        if has_missing(source):
            raise ValueError("Input contains NaN or infinity.")
        return source


def test_check_estimator():
    results = check_estimator(Midpoints(), on_fail=None, on_skip=None)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert failed == {}
    assert sum(result["status"] == "passed" for result in results) > 30

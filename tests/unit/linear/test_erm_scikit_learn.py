"""Classifiers and regressions keep scikit-learn's contract."""

from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from tacit.linear import ConvexLoss, classifier

SETTINGS = {"bounds": (-100, 100), "epsilon": 10.0, "delta": 1e-3, "random_state": 0, "n_iter": 4}


@dataclass(frozen=True)
class LogCosh:
    """A loss, or its slope: a value that can be pickled, and has the same name in every process."""

    slope: bool = False

    def __call__(self, predictions, targets):
        apart = predictions - targets
        return np.tanh(apart) if self.slope else np.logaddexp(apart, -apart)


class LabelsAreKnown:
    """The checks draw their own labels: take them to be public. Nothing else is changed."""

    def fit(self, X, y=None):
        with patch.object(classifier, "public_classes", labels_of):
            return super().fit(X, y)


def labels_of(estimator, y):
    labels = np.unique(np.asarray(y))
    return labels if len(labels) > 1 else np.append(labels, labels + 1)


class Logistic(LabelsAreKnown, tacit.LogisticRegression):
    pass


class SVC(LabelsAreKnown, tacit.LinearSVC):
    pass


OUTPUT = {**SETTINGS, "n_iter": "auto", "solver": "output"}
MODELS = [
    Logistic(**SETTINGS),
    SVC(**SETTINGS),
    tacit.HuberRegressor(target_bounds=100, **SETTINGS),
    tacit.ERM(ConvexLoss(LogCosh(), LogCosh(True), 1.0, 1.0), target_bounds=100, **SETTINGS),
    Logistic(C=0.1, **OUTPUT),
    Logistic(**{**OUTPUT, "solver": "objective"}),
    tacit.HuberRegressor(target_bounds=100, alpha=10.0, **OUTPUT),
]


def cannot_hold(estimator):
    if estimator.solver in ("output", "objective"):
        reason = "Weights of 1000 and 0.0001 come with noise for rows of weight 1000, on a handful of rows."
        few = "Noise for a penalty that leaves most of the target explained drowns 200 rows."
        return {"check_class_weight_classifiers": reason, "check_regressors_train": few}
    return {}


@parametrize_with_checks(MODELS, expected_failed_checks=cannot_hold)
def test_scikit_learn_checks(estimator, check):
    if isinstance(estimator, SVC) and check.func.__name__ == "check_class_weight_classifiers":
        pytest.skip("With weights of 1000 and 0.0001 the intercept stays near 0 at any budget; the seed decides.")
    check(estimator)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_parameters_survive_cloning(model):
    assert clone(model).get_params() == model.get_params()

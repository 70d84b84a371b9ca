"""Every public estimator, with options that fit a small table in a moment."""

import numpy as np

import tacit
from tacit.linear import ConvexLoss

ROWS = 400
COMMON = {"epsilon": 5.0, "delta": 1e-4}
PAIR = {"bounds": 5.0, "target_bounds": 9.0}
LABELS = ["no", "yes"]


LOSS = ConvexLoss(
    value=lambda p, t: np.logaddexp(0.0, 4 * (p - t)) / 4 - 0.75 * (p - t),
    slope=lambda p, t: 0.5 + 0.5 * np.tanh(2 * (p - t)) - 0.75,
    lipschitz=0.75,
    smoothness=1.0,
)

ESTIMATORS = {
    "ERM": tacit.ERM(LOSS, n_iter=3, **PAIR, **COMMON),
    "ElasticNet": tacit.ElasticNet(alpha=0.1, **PAIR, **COMMON),
    "FactorAnalysis": tacit.FactorAnalysis(1, bounds=5.0, **COMMON),
    "GaussianMixture": tacit.GaussianMixture(2, bounds=5.0, **COMMON),
    "HuberRegressor": tacit.HuberRegressor(n_iter=3, **PAIR, **COMMON),
    "KMeans": tacit.KMeans(2, bounds=5.0, **COMMON),
    "Lasso": tacit.Lasso(alpha=0.1, **PAIR, **COMMON),
    "LinearRegression": tacit.LinearRegression(**PAIR, **COMMON),
    "LinearSVC": tacit.LinearSVC(classes=LABELS, bounds=5.0, n_iter=3, **COMMON),
    "LogisticRegression": tacit.LogisticRegression(classes=LABELS, bounds=5.0, n_iter=3, **COMMON),
    "MissingCovariateRegression": tacit.MissingCovariateRegression(**PAIR, **COMMON),
    "MixtureOfRegressions": tacit.MixtureOfRegressions(1, **PAIR, **COMMON),
    "Moments": tacit.Moments(bounds=5.0, **COMMON),
    "Ridge": tacit.Ridge(**PAIR, **COMMON),
    "RobustMean": tacit.RobustMean(bounds=5.0, **COMMON),
    "SymmetricMixture": tacit.SymmetricMixture(bounds=5.0, **COMMON),
    "TableModel": tacit.TableModel(bounds=5.0, **COMMON),
}
CLASSIFIERS = ("LinearSVC", "LogisticRegression")
SUPERVISED = tuple(name for name, each in ESTIMATORS.items() if hasattr(each, "target_bounds"))


def rows(seed=0):
    return np.random.default_rng(seed).normal(size=(ROWS, 2)).clip(-4, 4)


def target(name, X):
    """Return the target that an estimator wants, or None."""
    if name in CLASSIFIERS:
        return np.where(X[:, 0] > 0, "yes", "no")
    return X @ [1.0, -0.5] if name in SUPERVISED else None

"""Regression and classification under differential privacy: losses of linear predictions, and what minimises them."""

from typing import TYPE_CHECKING

from tacit.lazy import lazy_names

if TYPE_CHECKING:
    from tacit.erm.convex_loss import ConvexLoss
    from tacit.erm.empirical_risk import ERM
    from tacit.erm.huber_regressor import HuberRegressor
    from tacit.erm.intervals import CoefficientIntervals
    from tacit.erm.lasso import ElasticNet, Lasso
    from tacit.erm.linear_regression import LinearRegression
    from tacit.erm.linear_svc import LinearSVC
    from tacit.erm.logistic_regression import LogisticRegression
    from tacit.erm.penalties import Box, ElasticNetPenalty, L1Ball, L2Ball
    from tacit.erm.ridge import Ridge
    from tacit.statistics.losses import HuberLoss, LogisticLoss, SmoothedHingeLoss, SoftmaxLoss
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "tacit.erm.convex_loss": ["ConvexLoss"],
            "tacit.erm.empirical_risk": ["ERM"],
            "tacit.erm.huber_regressor": ["HuberRegressor"],
            "tacit.erm.intervals": ["CoefficientIntervals"],
            "tacit.erm.lasso": ["ElasticNet", "Lasso"],
            "tacit.erm.linear_regression": ["LinearRegression"],
            "tacit.erm.linear_svc": ["LinearSVC"],
            "tacit.erm.logistic_regression": ["LogisticRegression"],
            "tacit.erm.penalties": ["Box", "ElasticNetPenalty", "L1Ball", "L2Ball"],
            "tacit.erm.ridge": ["Ridge"],
            "tacit.statistics.losses": ["HuberLoss", "LogisticLoss", "SmoothedHingeLoss", "SoftmaxLoss"],
        },
    )

__all__ = [
    "ERM",
    "Box",
    "CoefficientIntervals",
    "ConvexLoss",
    "ElasticNet",
    "ElasticNetPenalty",
    "HuberLoss",
    "HuberRegressor",
    "L1Ball",
    "L2Ball",
    "Lasso",
    "LinearRegression",
    "LinearSVC",
    "LogisticLoss",
    "LogisticRegression",
    "Ridge",
    "SmoothedHingeLoss",
    "SoftmaxLoss",
]

"""Regression and classification under differential privacy: losses of linear predictions, and what minimises them."""

from typing import TYPE_CHECKING

from tacit.lazy import lazy_names

if TYPE_CHECKING:
    from tacit.linear.convex_loss import ConvexLoss
    from tacit.linear.empirical_risk import ERM
    from tacit.linear.huber_regressor import HuberRegressor
    from tacit.linear.linear_fit import CoefficientIntervals
    from tacit.linear.linear_regression import LinearRegression
    from tacit.linear.linear_svc import LinearSVC
    from tacit.linear.logistic_regression import LogisticRegression
    from tacit.linear.penalised_regression import ElasticNet, Lasso, Ridge
    from tacit.linear.penalties import Box, ElasticNetPenalty, L1Ball, L2Ball
    from tacit.statistics.losses import HuberLoss, LogisticLoss, SmoothedHingeLoss, SoftmaxLoss
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "tacit.linear.convex_loss": ["ConvexLoss"],
            "tacit.linear.empirical_risk": ["ERM"],
            "tacit.linear.huber_regressor": ["HuberRegressor"],
            "tacit.linear.linear_fit": ["CoefficientIntervals"],
            "tacit.linear.linear_regression": ["LinearRegression"],
            "tacit.linear.linear_svc": ["LinearSVC"],
            "tacit.linear.logistic_regression": ["LogisticRegression"],
            "tacit.linear.penalised_regression": ["ElasticNet", "Lasso", "Ridge"],
            "tacit.linear.penalties": ["Box", "ElasticNetPenalty", "L1Ball", "L2Ball"],
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

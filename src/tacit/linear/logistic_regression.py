"""The estimator: logistic regression of two or more classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_softmax
from sklearn.utils.validation import check_is_fitted

from tacit.arrays import Array
from tacit.fitting import PrivateEstimator, check_shapes
from tacit.linear.classifier import LinearClassifierMixin, check_classifier, fit_classifier, open_with_classes
from tacit.linear.linear_fit import CoefficientIntervals, linear_predictions
from tacit.linear.risk import OWN_SOLVERS, PUBLISHED_SOLVERS
from tacit.statistics.losses import LogisticLoss, SoftmaxLoss


class LogisticRegression(LinearClassifierMixin, PrivateEstimator):
    """Logistic regression under differential privacy.

    Inputs are measured first, and coefficients by Newton steps on white inputs, filtered; see
    :mod:`tacit.linear.newton`.

    Parameters
    ----------
    classes : list of labels, optional
        All labels that could occur: public knowledge. With a schema as `bounds` they are the levels of the column `y`.
    C : float, default 1.0
        Half of the squared coefficients, over C, is added to the sum of losses, as in scikit-learn; ``inf`` for none.
    class_weight : dict, optional
        What rows of each class count for, by class; 1 by default. Public knowledge, not worked out from rows.
    fit_intercept : bool, default True
    solver : {"newton", "accmd", "gradient", "sgd", "svrg", "katyusha", "svrg++", "robust", "output", "objective"}
        By default "newton". "accmd" is accelerated mirror descent. The others are published ones, corrected where they
        were not private, and kept for comparison: :class:`tacit.published.GradientDescent`, ``SGD``, ``SVRG``,
        ``Katyusha``, ``SVRGPlusPlus``, ``RobustSGD``, ``OutputPerturbation`` and ``ObjectivePerturbation``. Pass such
        an object to set its options.
    n_iter : int or "auto", default "auto"
        How many steps "newton" and "accmd" make.

    Attributes
    ----------
    classes_ : array
    coef_ : (1, n_features) or (n_classes, n_features) array
    intercept_ : (1,) or (n_classes,) array
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 2))
    >>> y = np.where(X @ [2.0, -1.0] + rng.logistic(size=20_000) > 0, "yes", "no")
    >>> model = tacit.LogisticRegression(classes=["no", "yes"], bounds=5, random_state=0).fit(X, y)
    >>> model.coef_.round(1)
    array([[ 1.9, -1. ]])
    >>> model.predict([[1.0, 0.0], [-1.0, 0.0]])
    array(['yes', 'no'], dtype='<U3')
    """

    classes: Any = None
    C: float = 1.0
    class_weight: Any = None
    fit_intercept: bool = True
    solver: Any = "newton"
    n_iter: int | str = "auto"

    _has_target = True
    _method_parameter = "solver"
    _methods = OWN_SOLVERS
    _published = PUBLISHED_SOLVERS

    def fit(self, X: Any, y: Any = None) -> LogisticRegression:
        """Fit the regression to rows, spending the budget.

        Parameters
        ----------
        X : array, data frame, path of a CSV or Parquet file, or Source
        y : (n,) array, or the name of a column of `X`
        """
        budget = check_classifier(self)
        domain, rows, weights = open_with_classes(self, X, y)
        n_rows = self._check_rows(rows, 2)
        loss = LogisticLoss(weights) if len(self.classes_) == 2 else SoftmaxLoss(weights)
        fit = fit_classifier(self, loss, True, domain, rows, n_rows, budget)
        self._covariance = fit.covariance_in_units(self._domain)
        self._certify(fit.curator, budget, n_rows, [f"Logistic regression, solver {self.solver}."])
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, for each row."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of the probability of each class, for each row."""
        scores = linear_predictions(self, X)
        if len(self.classes_) == 2:
            return -np.logaddexp(0.0, np.column_stack([scores, -scores]))
        return log_softmax(scores, axis=1)

    _about = (
        "the last of its columns has the class. With two classes, the log odds of the second are coefficients[0][0] "
        "plus the sum over inputs j of coefficients[0][1 + j] times the input's z; with more, the logarithm of the "
        "probability of class k is that of coefficients[k], up to what makes probabilities add up to 1. covariance is "
        "that of all intercepts and slopes, row by row, in the units of the rows, where it is known."
    )

    def _stored(self) -> dict[str, Any]:
        stored = super()._stored()
        stored["predictor"]["covariance"] = None if self._covariance is None else self._covariance.tolist()
        return stored

    def _restore(self, values: dict[str, Any]) -> None:
        super()._restore(values)
        covariance = values["predictor"]["covariance"]
        self._covariance = None if covariance is None else np.array(covariance, float)
        if self._covariance is not None:
            check_shapes(covariance=(self._covariance, (self._coefficients.size, self._coefficients.size)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.solver != "objective"
        return tags

    def confidence_intervals(self, level: float = 0.9) -> CoefficientIntervals:
        """Return intervals for the coefficients that maximum likelihood would have on the population, at no cost.

        That is the population that these rows are a sample of: sampling error and privacy noise are both included. What
        is not: the penalty draws coefficients towards zero, by less the more rows there are; pass ``C=inf`` for none.
        They follow from what was released. Of solvers, "newton" alone keeps account of how far off coefficients may be.
        """
        check_is_fitted(self)
        if self._covariance is None:
            raise ValueError(f'Intervals are for solver="newton", and this model was fitted with {self.solver!r}.')
        errors = np.sqrt(np.maximum(np.diag(self._covariance), 0.0)).reshape(len(self.coef_), -1)
        return CoefficientIntervals.normal(self.coef_, self.intercept_, errors[:, 1:], errors[:, 0], level)

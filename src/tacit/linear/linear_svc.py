"""The estimator: a linear classifier with the hinge loss, its corner rounded off."""

from __future__ import annotations

from typing import Any

from tacit.fitting import PrivateEstimator
from tacit.linear.classifier import LinearClassifierMixin, check_classifier, fit_classifier, open_with_classes
from tacit.linear.risk import OWN_SOLVERS, PUBLISHED_SOLVERS
from tacit.messages import describe
from tacit.statistics.losses import SmoothedHingeLoss


class LinearSVC(LinearClassifierMixin, PrivateEstimator):
    """Linear support vector classification of two classes, under differential privacy.

    The loss is the hinge, with its corner rounded off over `width` to both sides, so that it has a slope everywhere.

    Parameters
    ----------
    classes : list of labels, optional
        Both labels: public knowledge. With a schema as `bounds` they are the levels of the column `y`.
    width : float, default 0.5
        Of the part of the loss that is rounded off.
    C : float, default 1.0
        Half of the squared coefficients, over C, is added to the sum of losses, as in scikit-learn; ``inf`` for none.
    class_weight : dict, optional
        What rows of each class count for, by class; 1 by default. Public knowledge, not worked out from rows.
    fit_intercept : bool, default True
    solver : {"newton", "accmd", "gradient", "sgd", "svrg", "katyusha", "svrg++", "robust", "output"}, default "newton"
        "accmd" is accelerated mirror descent. The others are published ones, corrected where they were not private, and
        kept for comparison: :class:`tacit.published.GradientDescent`, ``SGD``, ``SVRG``, ``Katyusha``,
        ``SVRGPlusPlus``, ``RobustSGD`` and ``OutputPerturbation``. Pass such an object to set its options.
    n_iter : int or "auto", default "auto"
        How many steps "newton" and "accmd" make.

    Attributes
    ----------
    classes_ : array
    coef_ : (1, n_features) array
    intercept_ : (1,) array
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 2))
    >>> y = np.where(X @ [2.0, -1.0] + rng.normal(size=20_000) > 0, "yes", "no")
    >>> model = tacit.LinearSVC(classes=["no", "yes"], bounds=5, random_state=0).fit(X, y)
    >>> model.predict([[1.0, 0.0], [-1.0, 0.0]])
    array(['yes', 'no'], dtype='<U3')
    """

    classes: Any = None
    width: float = 0.5
    C: float = 1.0
    class_weight: Any = None
    fit_intercept: bool = True
    solver: Any = "newton"
    n_iter: int | str = "auto"

    _has_target = True
    _method_parameter = "solver"
    _methods = OWN_SOLVERS
    _published = PUBLISHED_SOLVERS

    def fit(self, X: Any, y: Any = None) -> LinearSVC:
        """Fit the classifier to rows, spending the budget.

        Parameters
        ----------
        X : array, data frame, path of a CSV or Parquet file, or Source
        y : (n,) array, or the name of a column of `X`
        """
        self._check_width()
        budget = check_classifier(self)
        domain, rows, weights = open_with_classes(self, X, y)
        self._check_classes()
        n_rows = self._check_rows(rows, 2)
        fit = fit_classifier(self, SmoothedHingeLoss(weights, self.width), False, domain, rows, n_rows, budget)
        self._certify(fit.curator, budget, n_rows, [f"Linear support vector classification, solver {self.solver}."])
        return self

    _about = (
        "the last of its columns has the class, of two. It is the second where coefficients[0][0] plus the sum over "
        "inputs j of coefficients[0][1 + j] times the input's z is over 0."
    )

    def _check_width(self) -> None:
        if not 0 < self.width < float("inf"):
            raise ValueError(f"width must be a positive number, and it is {describe(self.width)}.")

    def _check_classes(self) -> None:
        if len(self.classes_) > 2:
            raise ValueError(
                f"LinearSVC tells two classes apart, and there are {len(self.classes_)}. Only binary classification is "
                "supported; use LogisticRegression for more."
            )

    def _restore(self, values: dict[str, Any]) -> None:
        self._check_width()
        super()._restore(values)
        self._check_classes()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

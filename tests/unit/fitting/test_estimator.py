"""What all estimators do alike."""

import inspect
import re
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from estimators import ESTIMATORS
from sklearn.pipeline import make_pipeline

import tacit
from tacit.fitting import PrivateEstimator
from tacit.sources import Source, as_source


def test_a_refit_forgets_the_columns_of_the_last_one():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(-1, 1, (500, 2)), columns=["a", "b"])
    schema = tacit.Schema.from_dict({"columns": {"a": {"type": "numeric", "low": -1, "high": 1}}})
    model = tacit.GaussianMixture(1, bounds=1.0, random_state=0).fit(frame)
    assert list(model.feature_names_in_) == ["a", "b"]
    model.set_params(bounds=schema).fit(frame[["a"]])
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 1


class RowsWithoutANumber(Source):
    """Rows that do not tell how many they are."""

    columns = types = None

    @property
    def n_rows(self):
        raise AssertionError("The number of rows was asked for.")

    def blocks(self):
        return as_source(np.random.default_rng(0).normal(size=(2000, 3))).blocks()

    def select(self, columns):
        raise AssertionError("There are no names to select by.")


@pytest.mark.parametrize(
    "estimator",
    [
        tacit.GaussianMixture("auto", bounds=10.0),
        tacit.GaussianMixture(2, bounds=10.0, missing="model"),
        tacit.KMeans(3, bounds=10.0),
        tacit.KMeans(3, bounds=10.0, method="dpem"),
        tacit.Moments(bounds=10.0),
        tacit.FactorAnalysis(1, bounds=10.0),
        tacit.FactorAnalysis(1, bounds=10.0, method="paper"),
        tacit.RobustMean(),
    ],
    ids=str,
)
def test_where_the_number_of_rows_is_secret_it_is_not_asked_for(estimator):
    assert estimator.set_params(neighbors="add_remove").fit(RowsWithoutANumber()).privacy_.rows is None
    with pytest.raises(AssertionError, match="asked for"):
        estimator.set_params(neighbors="replace_one").fit(RowsWithoutANumber())


@pytest.mark.parametrize("missing", ["error", "ignore"])
@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.array([[1.0], ["secret"]], dtype=object), np.zeros(2)),
        (np.zeros((2, 1)), np.array([1.0, "secret"], dtype=object)),
        (np.array([["secret"], ["1"]]), np.zeros(2)),
        (np.array([12345.5, 12345.5]), np.zeros(2)),
        (np.array([[12345.5j], [12345.5j]]), np.zeros(2)),
    ],
)
def test_what_is_wrong_with_inputs_or_target_is_told_without_their_cells(X, y, missing):
    with pytest.raises((TypeError, ValueError)) as caught:
        tacit.LinearRegression(bounds=1, target_bounds=1, missing=missing).fit(X, y)
    assert "secret" not in str(caught.value)
    assert "12345" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_and_no_other_is_documented(name):
    estimator = type(ESTIMATORS[name])
    documented = re.search(r"Parameters\n-+\n(.*?)\n\n", estimator.__doc__, re.DOTALL)[1]
    names = [
        each for entry in re.findall(r"^(\w[\w, ]*?)(?: :|$)", documented, re.MULTILINE) for each in entry.split(", ")
    ]
    assert sorted(names) == sorted(inspect.signature(estimator).parameters)
    assert not any(parameter.startswith("_") for parameter in names)


def test_what_a_class_documents_itself_is_kept():
    assert "With delta=0" in tacit.KMeans.__doc__
    assert tacit.KMeans.__doc__.count("\ndelta :") == 1


def test_a_parameter_that_moved_is_refused_in_a_sentence():
    class Mean(PrivateEstimator):
        """Not one to be fitted."""

        _moved: ClassVar = {"width": "Write bounds=width."}

    with pytest.raises(TypeError, match=r"Mean has no parameter width\. Write bounds=width\."):
        Mean(width=3)
    with pytest.raises(ValueError, match=r"Mean has no parameter width\. Write bounds=width\."):
        Mean().set_params(width=3)
    assert Mean(bounds=3).bounds == Mean().set_params(bounds=3).bounds == 3


def test_a_published_method_s_iterations_are_set_by_the_method():
    with pytest.raises(ValueError, match=r"Write method=tacit\.published\.RobustDescent\(n_iter=\.\.\.\)"):
        make_pipeline(tacit.LinearRegression()).set_params(linearregression__n_iter=3)


@pytest.mark.parametrize(
    "estimator", [tacit.GaussianMixture(1, bounds=5.0), tacit.SymmetricMixture(bounds=5.0)], ids=repr
)
def test_warnings_name_the_line_of_the_program_that_fits(estimator):
    with pytest.warns(UserWarning, match="delta=0.5") as caught:
        estimator.set_params(delta=0.5).fit(np.random.default_rng(0).normal(size=(300, 2)))
    assert {warning.filename for warning in caught} == {__file__}

"""Standard deviations that people read are those of the columns, also where a fit computes with a floor."""

from dataclasses import replace

import numpy as np
import pytest
from pages import Page

import tacit
from tacit.moments.estimates import ColumnSpread
from tacit.report import report_html
from tacit.report.correlations import results
from tacit.report.feature_views import MomentsView
from tacit.report.linear_view import LinearView

DEVIATIONS = np.array([0.9, 1.03, 12.0, 15.0])
RNG = np.random.default_rng(0)
X = RNG.normal(0.0, DEVIATIONS, (8000, 4))
Y = X @ [1.0, -1.0, 0.1, 0.1] + RNG.normal(size=8000)


@pytest.mark.parametrize("method", ["staged", "iterated"])
def test_narrow_columns_of_moments_have_their_own_deviations(method, tmp_path):
    model = tacit.Moments(method=method, bounds=(-50, 50), random_state=0).fit(X)
    np.testing.assert_allclose(MomentsView.of(model).deviations, DEVIATIONS, rtol=0.15)
    again = tacit.load_model(tacit.save_model(model, tmp_path / "moments.tacit"))
    np.testing.assert_array_equal(MomentsView.of(again).deviations, MomentsView.of(model).deviations)
    line = tacit.LinearRegression.from_moments(model, 3)
    np.testing.assert_allclose(LinearView.of(line).steps, DEVIATIONS[:3], rtol=0.15)


@pytest.mark.parametrize("name", ["LogisticRegression", "LinearSVC", "HuberRegressor"])
def test_steps_of_linear_models_are_the_columns_own_deviations(name):
    """Beside wide columns, narrow ones had a floor in common: 4.13 for both of the first two."""
    told = {"target_bounds": 50} if name == "HuberRegressor" else {"classes": [0, 1]}
    model = getattr(tacit, name)(bounds=(-50, 50), random_state=0, **told)
    model.fit(X, Y if name == "HuberRegressor" else (Y > 0).astype(int))
    np.testing.assert_allclose(LinearView.of(model).steps, DEVIATIONS, rtol=0.2)


def test_a_deviation_that_noise_hides_is_below_a_limit(tmp_path):
    model = tacit.Moments(bounds=(-50, 50), random_state=0).fit(X)
    model._spread = ColumnSpread(model._spread.deviations, np.array([4.0, 0.1, 0.1, 0.1]))
    view = MomentsView.of(model)
    assert view.hidden.tolist() == [True, False, False, False]
    assert view.deviations[0] == pytest.approx(0.9 * 3, rel=0.1)  # sqrt(1 + 2 * 4) = 3
    text = Page(str(results(view))).text
    assert text.count("± below 2.") == 1
    assert "where noise hides how wide a column is" in text
    assert "below" not in Page(str(results(replace(view, hidden=np.zeros(4, bool))))).text
    assert report_html(tacit.load_model(tacit.save_model(model, tmp_path / "moments.tacit"))).count("± below") == 1


def test_intervals_say_what_they_are_for():
    line = tacit.LinearRegression(bounds=(-50, 50), target_bounds=50, random_state=0).fit(X, Y)
    assert Page(report_html(line)).text.count("for what least squares would find in the whole population") == 2
    classes = tacit.LogisticRegression(classes=[0, 1], bounds=(-50, 50), random_state=0).fit(X, (Y > 0).astype(int))
    assert Page(report_html(classes)).text.count("for what maximum likelihood would find in the whole population") == 2
    ridge = tacit.Ridge(bounds=(-50, 50), target_bounds=50, random_state=0).fit(X, Y)
    assert "would find in the whole population" not in report_html(ridge), "it has no intervals"

"""Reports of regressions: they say what inputs add to the target, and are as safe as that of a mixture."""

import re

import numpy as np
import pytest
from pages import EVIL, Page

import tacit
from tacit.models import find_card
from tacit.report import report_html
from tacit.report.regression_view import RegressionView
from tacit.report.regressions import regression_cautions
from tacit.tables import Boolean, Categorical, Ignored, Numeric

AGE, PLAN = f"age {EVIL}", f"plan {EVIL}"
COST = f"cost {EVIL}"
SCHEMA = tacit.Schema(
    {
        COST: Numeric(-1000, 3000),
        AGE: Numeric(0, 120, description=f"In years {EVIL}"),
        "smoker": Boolean(),
        PLAN: Categorical([f"a {EVIL}", "b", "c"]),
        f"name {EVIL}": Ignored(),
    }
)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    first, age, smoker = rng.random(8000) < 0.65, rng.normal(50, 15, 8000), rng.random(8000) < 0.3
    plan = rng.choice(3, 8000, p=[0.5, 0.3, 0.2])
    cost = np.where(first, 100 + 8 * age + 150 * smoker, 900 - 3 * age + 400 * smoker)
    cost += np.array([0.0, 50.0, 100.0])[plan] + rng.normal(0, 60, 8000)
    return {COST: cost, AGE: age, "smoker": smoker, PLAN: np.array(SCHEMA.columns[PLAN].levels)[plan]}


@pytest.fixture(scope="module")
def models(rows):
    options = {"epsilon": 5.0, "bounds": SCHEMA}
    return {
        "two": tacit.MixtureOfRegressions(2, **options).fit(rows, COST),
        "one": tacit.MixtureOfRegressions(1, **options).fit(rows, COST),
        "gaps": tacit.MissingCovariateRegression(**options).fit(rows, COST),
    }


@pytest.mark.parametrize("name", ["two", "one", "gaps"])
def test_pages_are_whole_and_nothing_of_the_user_becomes_markup(models, name):
    html = report_html(models[name])
    page = Page(html)
    assert page.open == []
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "certificate"}]
    assert not any(key.startswith("on") for _, attributes in page.tags for key in attributes)
    assert not re.search(r"https?:|url\((?!#)|@import|@font-face", html)
    for text in (AGE, COST, f"{PLAN}=a {EVIL}", f"In years {EVIL}", f"left out: name {EVIL}."):
        assert text in page.text
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    pictures = [attributes for tag, attributes in page.tags if tag == "svg" and attributes.get("aria-hidden") != "true"]
    assert len(pictures) == 3  # effects, lines over age, and the curve of the guarantee
    for attributes in pictures:
        assert set(attributes["aria-labelledby"].split()) <= set(ids)


@pytest.mark.parametrize("name", ["two", "one", "gaps"])
def test_every_step_is_explained(models, name):
    page = Page(report_html(models[name]))
    for step in models[name].privacy_.plan.steps:
        meaning = find_card(models[name]).steps[step.name]
        assert f"{step.name} {meaning}" in page.text


def test_views_are_in_the_units_of_people(models):
    view = RegressionView.of(models["two"])
    age, smoker, *plans = range(5)
    assert [each.column for each in view.features] == [AGE, "smoker", PLAN, PLAN, PLAN]
    assert view.slopes[:, age] == pytest.approx([8, -3], abs=0.3)
    assert view.slopes[:, smoker] == pytest.approx([150, 400], abs=15)  # true rather than false
    assert view.steps[age] == pytest.approx(15, abs=2)
    assert view.steps[smoker] == 1.0
    # Levels count from their average: 0.3 * 50 + 0.2 * 100 = 35.
    assert view.slopes[:, plans] == pytest.approx(np.tile([-35.0, 15.0, 65.0], (2, 1)), abs=15)
    assert view.intercepts == pytest.approx([135, 935], abs=25)
    assert view.target == COST
    assert view.ignored == (f"name {EVIL}",)
    assert view.strongest(2) == [smoker, age]
    assert view.telling(3) == [age]


@pytest.mark.parametrize("name", ["two", "one", "gaps"])
def test_views_predict_as_models_do(models, rows, name):
    """Whatever a coefficient is measured from, what is predicted for a row is the same."""
    model, view = models[name], RegressionView.of(models[name])
    few = {column: values[:50] for column, values in rows.items()}
    levels = np.array([few[PLAN] == level for level in SCHEMA.columns[PLAN].levels], float)
    shown = np.vstack([few[AGE], few["smoker"], levels]).T
    expected = view.intercepts + shown @ view.slopes.T
    np.testing.assert_allclose(expected @ view.weights, model.predict(few), rtol=1e-6)


def test_lines_pass_through_an_average_row(models):
    view = RegressionView.of(models["one"])
    middle = view.at_average(0, view.middles[:1])
    smoker = view.slopes[:, 1] * view.middles[1]
    assert middle[:, 0] == pytest.approx(view.intercepts + view.slopes[:, 0] * view.middles[0] + smoker)


def test_what_the_papers_methods_find_has_no_errors_to_draw():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = rng.choice([-1.0, 1.0], 3000) * (X @ [1.0, 0.0, -1.0]) + rng.normal(0.0, 0.3, 3000)
    method = tacit.published.ClippedGradientEM(scale=0.3, n_iter=3)
    model = tacit.MixtureOfRegressions(2, symmetric=True, method=method, random_state=0).fit(X, y)
    page = Page(report_html(model))
    assert "the target" in page.text
    assert "standard error" not in page.text
    assert "which way coefficients should move" in page.text
    assert not any(attributes.get("class", "").startswith("whisker") for _, attributes in page.tags)


def sparse_rows(rows=2000):
    """Inputs of which the second and the fifth matter, a target, and one with the opposite sign in half of the rows."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (rows, 6))
    y = 0.6 * X[:, 1] - 0.4 * X[:, 4] + 0.05 * rng.normal(size=rows)
    return X, y, y * rng.choice([-1.0, 1.0], rows)


@pytest.mark.parametrize("sparsity", [1, 2, 6])
@pytest.mark.parametrize("kind", ["opposite", "one", "gaps", "published"])
def test_pages_of_sparse_regressions_show_the_columns_that_were_chosen(kind, sparsity):
    X, y, opposite = sparse_rows()
    options = {"sparsity": sparsity, "bounds": 1.0, "target_bounds": 2.0, "epsilon": 5.0, "random_state": 0}
    if kind == "gaps":
        model = tacit.MissingCovariateRegression(**options).fit(X, y)
    elif kind == "one":
        model = tacit.MixtureOfRegressions(1, **options).fit(X, y)
    else:
        method = "moments" if kind == "opposite" else tacit.published.TruncatedGradientEM(scale=0.05, n_iter=3)
        options |= {"symmetric": True, "fit_intercept": False, "method": method}
        model = tacit.MixtureOfRegressions(2, **options).fit(X, opposite)
    view, page = RegressionView.of(model), Page(report_html(model))
    assert page.open == []
    assert f"{sparsity} of 6 input columns" in page.text
    assert "model of 7 columns" in page.text
    assert [each.label for each in view.features] == [f"column {j + 1}" for j in model.support_]
    expected = view.intercepts + X[:50, model.support_] @ view.slopes.T
    np.testing.assert_allclose(expected @ view.weights, model.predict(X[:50]), atol=1e-9)


def test_a_level_that_was_chosen_counts_from_those_that_were_not(rows):
    options = {"sparsity": 3, "bounds": SCHEMA, "epsilon": 20.0, "random_state": 0}
    model = tacit.MixtureOfRegressions(1, **options).fit({**rows, COST: 500.0 * (rows[PLAN] == "b")}, COST)
    view = RegressionView.of(model)
    (level,) = (j for j, each in enumerate(view.features) if each.label.endswith("=b"))
    assert view.slopes[0, level] == pytest.approx(500, abs=25)
    assert view.slopes[0, level] == pytest.approx(model.coef_[0, model.support_[level]])
    assert f"{len(view.columns)} of 3 input columns" in Page(report_html(model)).text


def test_copies_and_few_rows_are_warned_of():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    model = tacit.MixtureOfRegressions(3, bounds=6, target_bounds=6, epsilon=0.1, random_state=0).fit(X, X[:, 0])
    titles = {each.title for each in regression_cautions(RegressionView.of(model), model.privacy_)}
    assert {"Some components are copies", "Coefficients rest on few rows beside the noise"} <= titles
    assert report_html(model)


def test_pairs_are_refused(models):
    with pytest.raises(ValueError, match="leave them out for this model"):
        report_html(models["one"], pairs=[(0, 1)])

"""Reports of linear models: they say what inputs add, in people's units, and are as safe as that of a mixture."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from pages import EVIL, Page

import tacit
from tacit.models import find_card
from tacit.report import report_html
from tacit.report.axes import Scale, factor_ticks
from tacit.report.linear_models import linear_cautions, results
from tacit.report.linear_view import LinearView
from tacit.report.linear_words import nothing, reading
from tacit.report.pictures import badges
from tacit.report.slopes_view import HALF_WIDTH
from tacit.storage import load_model, save_model
from tacit.tables import Boolean, Categorical, Ignored, Numeric

AGE, PLAN, COST = f"age {EVIL}", f"plan {EVIL}", f"cost {EVIL}"
LEVELS = [f"a {EVIL}", "b", "c"]
SCHEMA = tacit.Schema(
    {
        COST: Numeric(-1000, 3000),
        AGE: Numeric(0, 120, description=f"In years {EVIL}"),
        "noise": Numeric(-50, 50),
        "smoker": Boolean(),
        PLAN: Categorical(LEVELS),
        f"name {EVIL}": Ignored(),
    }
)
VALUES = {
    "linear": tacit.LinearRegression(epsilon=5.0, bounds=SCHEMA, random_state=0),
    "ridge": tacit.Ridge(1000.0, epsilon=5.0, bounds=SCHEMA, random_state=0),
    "lasso": tacit.Lasso(20.0, epsilon=5.0, bounds=SCHEMA, random_state=0),
    "elastic net": tacit.ElasticNet(20.0, epsilon=5.0, bounds=SCHEMA),
    "huber": tacit.HuberRegressor(epsilon=5.0, bounds=SCHEMA, random_state=0),
}
CLASSES = {
    "logistic": (tacit.LogisticRegression(epsilon=5.0, bounds=SCHEMA, random_state=0), "smoker"),
    "multinomial": (tacit.LogisticRegression(epsilon=5.0, bounds=SCHEMA, random_state=0), PLAN),
    "svc": (tacit.LinearSVC(epsilon=5.0, bounds=SCHEMA, random_state=0), "smoker"),
}
NAMES = [*VALUES, *CLASSES]
WITH_ERRORS = ("linear", "logistic", "multinomial")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    age = rng.normal(50, 15, 8000)
    plan = np.argmax(np.outer(age - 50, [0.0, 0.0, 0.03]) + rng.gumbel(size=(8000, 3)), axis=1)
    smoker = rng.random(8000) < 1 / (1 + np.exp(-(age - 60) / 10 - np.array([-0.5, 0.0, 0.5])[plan]))
    cost = 100 + 8 * age + 150 * smoker + np.array([0.0, 60.0, 120.0])[plan] + rng.normal(0, 60, 8000)
    noise = rng.normal(0, 10, 8000)
    return {COST: cost, AGE: age, "noise": noise, "smoker": smoker, PLAN: np.array(LEVELS)[plan]}


@pytest.fixture(scope="module")
def models(rows):
    fitted = {name: model.fit(rows, COST) for name, model in VALUES.items()}
    return fitted | {name: model.fit(rows, target) for name, (model, target) in CLASSES.items()}


@pytest.mark.parametrize("name", NAMES)
def test_pages_are_whole_and_nothing_of_the_user_becomes_markup(models, name):
    html = report_html(models[name])
    page = Page(html)
    assert page.open == []
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "certificate"}]
    assert not any(key.startswith("on") for _, attributes in page.tags for key in attributes)
    assert not re.search(r"https?:|url\((?!#)|@import|@font-face", html)
    for text in (AGE, f"In years {EVIL}", f"left out: name {EVIL}.", LEVELS[0]):
        assert text in page.text
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    pictures = [attributes for tag, attributes in page.tags if tag == "svg" and attributes.get("aria-hidden") != "true"]
    assert len(pictures) >= (2 if name == "multinomial" else 3)
    for attributes in pictures:
        assert set(attributes["aria-labelledby"].split()) <= set(ids)
    whiskers = sum("whisker" in attributes.get("class", "") for _, attributes in page.tags)
    assert (whiskers > 0) == (name in ("linear", "logistic"))


@pytest.mark.parametrize("name", NAMES)
def test_every_step_is_explained(models, name):
    page = Page(report_html(models[name]))
    for step in models[name].privacy_.plan.steps:
        meaning = find_card(models[name]).steps[step.name]
        assert f"{step.name} {meaning}" in page.text


def test_steps_of_published_solvers_are_explained_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    model = tacit.LogisticRegression(classes=[0, 1], solver="svrg", bounds=5, random_state=0).fit(X, X[:, 0] > 0)
    page = Page(report_html(model)).text
    assert all(find_card(model).steps[step.name] in page for step in model.privacy_.plan.steps)
    assert "newton alone keeps account" in page


@pytest.mark.parametrize("name", NAMES)
def test_views_predict_as_models_do(models, rows, name):
    """Whatever a coefficient is measured from, what is predicted for a row is the same."""
    model, view = models[name], LinearView.of(models[name])
    few = {column: values[:50] for column, values in rows.items()}
    cells = {f"{PLAN}={level}": few[PLAN] == level for level in LEVELS} | few
    shown = np.column_stack([cells[feature.label] for feature in view.features]).astype(float)
    expected = view.intercepts + shown @ view.slopes.T
    if name in VALUES:
        np.testing.assert_allclose(expected[:, 0], model.predict(few), rtol=1e-6)
    else:
        scores = model.decision_function(few)
        np.testing.assert_allclose(expected if scores.ndim > 1 else expected[:, 0], scores, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_model_has_the_same_report(models, name, tmp_path):
    path = save_model(models[name], tmp_path / "m.tacit")
    stamp = r"page made on [^;.]+"
    first, again = report_html(models[name]), report_html(load_model(path))
    assert re.sub(stamp, "", first) == re.sub(stamp, "", again)
    values = json.loads(path.read_text())  # as files were before inputs were kept in them
    del values["linear" if "linear" in values else "predictor"]["inputs"]
    path.write_text(json.dumps(values))
    view = LinearView.of(load_model(path))
    assert view.step == "range"
    assert view.steps[0] == (4000 if view.features[0].column == COST else 120)
    assert "lowest to the highest that is publicly possible" in report_html(load_model(path))


def test_views_are_in_the_units_of_people(models):
    view = LinearView.of(models["linear"])
    age, noise, smoker, *plans = range(6)
    assert [each.column for each in view.features] == [AGE, "noise", "smoker", PLAN, PLAN, PLAN]
    assert (view.target, view.ignored, view.step) == (COST, (f"name {EVIL}",), "deviation")
    assert view.slopes[0, [age, noise, smoker]] == pytest.approx([8, 0, 150], abs=8)
    assert view.slopes[0, plans] == pytest.approx([-60, 0, 60], abs=10)  # levels count from their average
    assert view.steps[[age, smoker]] == pytest.approx([15, 1], rel=0.1)
    assert view.middles[[age, noise]] == pytest.approx([50, 0], abs=2)
    assert view.residual == pytest.approx(60, rel=0.25)
    assert view.strongest(1) in ([age], [smoker])
    assert view.strongest(6)[-1] == noise
    np.testing.assert_allclose(view.errors[0, :2], models["linear"].coef_errors_[:2])
    np.testing.assert_allclose(view.errors[0, smoker], 2 * models["linear"].coef_errors_[smoker])  # false is -1


def test_errors_of_levels_are_those_of_the_differences(models):
    model = models["logistic"]
    view, names = LinearView.of(model), list(model._domain.names)
    first = names.index(f"{PLAN}={LEVELS[0]}")
    contrast = np.zeros(len(names) + 1)
    contrast[1 + first : 4 + first] = [2 / 3, -1 / 3, -1 / 3]
    assert view.errors[0, first] == pytest.approx(np.sqrt(contrast @ model._covariance @ contrast))
    assert view.slopes[0, first] == pytest.approx(contrast[1:] @ model.coef_[0])
    several = LinearView.of(models["multinomial"])
    own = models["multinomial"].confidence_intervals().coef_errors
    numbers = [j for j, each in enumerate(several.features) if not each.is_proportion]
    np.testing.assert_allclose(several.errors[:, numbers], own[:, numbers])


def test_penalties_leave_zeros_that_are_named(models):
    for name in ("lasso", "elastic net"):
        view = LinearView.of(models[name])
        assert view.zeros == np.flatnonzero(models[name].coef_ == 0).tolist()
        assert not view.levels_from_average
    view, page = LinearView.of(models["lasso"]), Page(report_html(models["lasso"])).text
    assert f"{PLAN}=b" in [view.features[j].label for j in view.zeros]
    assert nothing(view) in page
    assert re.search(f"leaves {6 - len(view.zeros)} inputs? of 6 that counts?\\.", page)
    assert not set(view.zeros) & set(view.strongest(6))
    assert "90% interval" not in page
    assert nothing(LinearView.of(models["linear"])) is None
    nought = tacit.Lasso(1e6, bounds=5, target_bounds=5, random_state=0).fit(np.eye(500)[:, :5], np.arange(500) / 500)
    assert "Nothing: every coefficient is zero" in Page(report_html(nought)).text


def test_what_is_sure_comes_first(models):
    view = LinearView.of(models["linear"])
    many = replace(
        view,
        slopes=np.array([[1.0, 9.0, 5.0, 0.0, 0.1, 0.2]]),
        errors=np.array([[0.1, 9.0, 1.0, 1.0, 1.0, 1.0]]),
        steps=np.ones(6),
    )
    assert many.strongest(9) == [2, 0, 1, 5, 4]  # nothing is sure of the second, large as it is; the fourth has none
    np.testing.assert_allclose(many.sure_effects[0, :3], [1 - 0.1 * HALF_WIDTH, 0.0, 5 - HALF_WIDTH])
    assert many.by_column([4, 2, 5]) == [(PLAN, [5, 4]), ("smoker", [2])]


def test_readings_say_what_goes_with_what(models):
    view = LinearView.of(models["linear"])
    change, text = reading(view, 0, 0)
    assert change == f"{AGE}: 10 more"
    said = re.fullmatch(
        r"Goes with (.*) higher by ([\d.]+) \(90% interval: ([\d.]+) to ([\d.]+)\)\. One standard deviation, ([\d.]+) "
        r"more: ([\d.]+) higher\.",
        text,
    )
    assert said[1] == COST
    low, high = 10 * (view.slopes[0, 0] + HALF_WIDTH * view.errors[0, 0] * np.array([-1, 1]))
    np.testing.assert_allclose([float(said[i]) for i in (2, 3, 4)], [10 * view.slopes[0, 0], low, high], rtol=0.01)
    assert float(said[6]) == pytest.approx(view.effects[0, 0], rel=0.01)
    assert reading(view, 0, 2)[0] == "smoker: true rather than false"
    assert reading(view, 0, 3)[0] == f"{PLAN}: {LEVELS[0]}"
    assert "lower by" in reading(view, 0, 3)[1]
    assert reading(view, 0, 3)[1].endswith("compared with an average level.")
    odds = LinearView.of(models["logistic"])
    factor = re.match(r"Goes with ([\d.]+) times the odds of smoker being true \(90%", reading(odds, 0, 1)[1])
    assert float(factor[1]) == pytest.approx(np.exp(10 * odds.slopes[0, 1]), rel=0.01)
    two = replace(view, features=(*view.features[:3], *view.features[4:]), slopes=view.slopes[:, [0, 1, 2, 4, 5]])
    two = replace(two, slopes=np.array([[1.0, 1.0, 1.0, 7.0, -7.0]]), errors=np.ones((1, 5)), steps=np.ones(5))
    change, text = reading(two, 0, 3)
    assert change == f"{PLAN}: b rather than c"
    assert text == f"Goes with {COST} higher by 14.0 (90% interval: 10.7 to 17.3)."
    sparse = replace(two, slopes=np.array([[1.0, 1.0, 1.0, 0.0, -3.0]]), errors=None, levels_from_average=False)
    assert reading(sparse, 0, 4) == (f"{PLAN}: c rather than b", f"Goes with {COST} lower by 3.")
    assert reading(replace(sparse, errors=np.ones((1, 5))), 0, 4)[0] == f"{PLAN}: c"
    several = LinearView.of(models["multinomial"])
    assert f"times the odds of {PLAN} being c " in reading(several, 2, 1)[1]
    assert "the score of true higher by" in reading(LinearView.of(models["svc"]), 0, 0)[1]


def test_predictions_at_an_average_row(models):
    for name in ("linear", "logistic", "multinomial", "svc"):
        view = LinearView.of(models[name])
        age = next(j for j, each in enumerate(view.features) if each.column == AGE)
        assert age in view.numbers(3)
        values = np.linspace(*view.window(age), 5)
        low, high = view.window(age)
        assert 0 <= low < high <= 120
        predicted = view.predict(age, values)
        linear = view.intercepts[:, None] + view.slopes @ view.average_row()[:, None]
        linear = linear + view.slopes[:, [age]] * (values - view.middles[age])
        if name == "multinomial":
            np.testing.assert_allclose(predicted.sum(axis=0), 1.0)
            np.testing.assert_allclose(np.diff(np.log(predicted), axis=0), np.diff(linear, axis=0))
        elif name == "logistic":
            np.testing.assert_allclose(np.log(predicted / (1 - predicted)), linear)
        else:
            np.testing.assert_allclose(predicted, linear)


def test_odds_and_probabilities_are_those_of_the_truth():
    rng = np.random.default_rng(0)
    X = rng.normal(3.0, 1.0, (9000, 1))
    y = np.where(X[:, 0] - 3.0 + rng.logistic(size=9000) > 0, "yes", "no")
    view = LinearView.of(
        tacit.LogisticRegression(classes=["no", "yes"], bounds=9, epsilon=5.0, random_state=0).fit(X, y)
    )
    said = re.match("Goes with ([0-9.]+) times the odds of class yes", reading(view, 0, 0)[1])
    assert float(said[1]) == pytest.approx(np.e, rel=0.2)
    np.testing.assert_allclose(view.predict(0, np.array([3.0, 5.0]))[0], [0.5, 0.881], atol=0.04)


def test_ticks_of_factors_stay_few_and_apart():
    for low, high in [(-0.01, 0.02), (-1.0, 0.4), (-2.5, 2.5), (-5, 9), (-30, 2), (0, 1500), (-3e4, 1e4)]:
        marks = factor_ticks(low, high)
        assert 3 <= len(marks.values) <= 9, (low, high)
        assert len(set(marks.labels)) == len(marks.labels)
        assert all(low - 1e-9 <= value <= high + 1e-9 for value in marks.values)
    assert factor_ticks(-1.5, 1.5).labels == ("÷4", "÷2", "×1", "×2", "×4")


def titles(view, certificate, *, weighted=False):
    return [each.title for each in linear_cautions(view, certificate, "Because.", weighted=weighted)]


def test_cautions(models):
    model = models["linear"]
    view = LinearView.of(model)
    certificate = replace(model.privacy_, budget=tacit.Budget(6.0, 1e-6), seeded=False)
    assert titles(view, certificate) == []
    assert titles(view, replace(certificate, rows=90)) == ["Rows are few beside the noise"]
    assert titles(view, replace(certificate, rows=None)) == ["Compare inputs with the number of rows"]
    assert titles(replace(view, errors=None), certificate) == ["Coefficients have no standard errors"]
    many = replace(
        view,
        **{name: np.tile(getattr(view, name), 2) for name in ("slopes", "steps", "middles")},
        errors=1e3 * np.tile(view.errors, 2),
        features=view.features * 2,
    )
    assert titles(many, certificate) == ["Most inputs may count for nothing"]
    assert titles(view, certificate, weighted=True) == ["Classes were given weights"]
    for name in NAMES:
        page = Page(report_html(models[name])).text
        assert ("Coefficients have no standard errors" in page) == (name not in WITH_ERRORS)


def test_weights_of_classes_are_told(rows):
    model = tacit.LogisticRegression(epsilon=5.0, bounds=SCHEMA, class_weight={True: 3.0}, random_state=0).fit(
        rows, "smoker"
    )
    assert "Classes were given weights" in report_html(model)


def test_where_nothing_is_sure_nothing_is_claimed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    model = tacit.LogisticRegression(classes=["no", "yes"], bounds=5, epsilon=0.05, random_state=0)
    view = LinearView.of(model.fit(X, rng.choice(["no", "yes"], 2000)))
    unsure = replace(view, errors=np.full_like(view.slopes, 1e3))
    page = Page(results(unsure)).text
    assert "No input can be said to count: every 90% interval holds zero." in page
    assert "What would be predicted" not in page


def test_arrays_have_no_names_and_robust_fits_no_ranges():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    model = tacit.LinearRegression(method="robust", epsilon=5.0, random_state=0).fit(X, X @ [1.0, -1.0])
    view = LinearView.of(model)
    assert (view.target, view.step) == ("the target", "one")
    page = Page(report_html(model)).text
    assert "column 1" in page
    assert "grows by 1" in page
    labels = tacit.LogisticRegression(classes=["no", "yes"], bounds=5, random_state=0).fit(
        X, np.where(X[:, 0] > 0, "yes", "no")
    )
    assert "Logistic regression of class yes" in Page(report_html(labels)).text


def test_moments_know_where_inputs_lie():
    rng = np.random.default_rng(0)
    X = rng.normal([0, 5], [1, 3], (5000, 2))
    y, options = X @ [1.0, -1.0] + rng.normal(size=5000), {"bounds": 50, "epsilon": 5.0, "random_state": 0}
    moments = tacit.Moments(**options).fit(np.column_stack([X, y]))
    for intercept in (True, False):
        view = LinearView.of(tacit.LinearRegression.from_moments(moments, fit_intercept=intercept))
        assert view.steps == pytest.approx([1, 3], rel=0.25)
        assert view.middles == pytest.approx([0, 5], abs=0.4)
        own = tacit.LinearRegression(**options, target_bounds=50, fit_intercept=intercept).fit(X, y)
        assert LinearView.of(own).steps == pytest.approx([1, 3], rel=0.25)
        assert LinearView.of(own).middles == pytest.approx([0, 5], abs=0.4)


@pytest.mark.parametrize("name", NAMES)
def test_seeded_models_are_loud_and_secret_numbers_of_rows_are_not_shown(rows, name):
    model, target = CLASSES.get(name) or (VALUES[name], COST)
    kind, options = type(model), model.get_params() | {"neighbors": "add_remove", "random_state": 0}
    html = report_html(kind(**options).fit(rows, target))
    assert "SEEDED: NOT PRIVATE" in html
    assert "8,000" not in html


def test_pairs_are_refused(models):
    with pytest.raises(ValueError, match="leave them out for this model"):
        report_html(models["linear"], pairs=[(0, 1)])


def test_losses_of_ones_own_have_no_report():
    loss = tacit.linear.ConvexLoss(
        value=lambda p, t: np.logaddexp(p, -p), slope=lambda p, t: np.tanh(p), lipschitz=1.0, smoothness=1.0
    )
    with pytest.raises(TypeError, match="this is a ERM"):
        report_html(tacit.ERM(loss, bounds=1, target_bounds=1))


def test_of_many_inputs_thirty_are_drawn_and_all_are_in_the_table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 45))
    model = tacit.LinearRegression(bounds=6, target_bounds=60, epsilon=5.0, random_state=0).fit(
        X, X @ np.linspace(0.1, 2, 45)
    )
    page = Page(report_html(model))
    assert "Of 45 inputs, 30 are drawn; the table has all." in page.text
    assert sum(attributes.get("class", "").startswith("dot ") for _, attributes in page.tags) == 30
    assert "All 45 coefficients" in page.text
    assert [tag for tag, _ in page.tags].count("details") == 1


def test_classes_with_short_names_are_marked_by_them_and_few_curves_are_drawn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 1))
    y = np.clip(np.rint(5 + 2 * X[:, 0] + rng.normal(size=9000)), 0, 10).astype(int)
    html = report_html(
        tacit.LogisticRegression(classes=list(range(11)), bounds=6, epsilon=5.0, random_state=0).fit(X, y)
    )
    heads = re.findall(r'<th scope="col" class="class"><span class="badge-chip c\d">(\w+)</span></th>', html)
    assert heads == 2 * [str(k) for k in range(11)]
    assert html.count('class="response') == html.count('class="badge-text"') == 8
    assert "Of 11 classes, the 8 that are likeliest there are drawn." in html


def test_intervals_that_are_longer_than_the_picture_end_in_arrows(models):
    view = LinearView.of(models["linear"])
    errors = np.full_like(view.errors, 0.1)
    errors[0, 2] = 1e4
    page = Page(results(replace(view, errors=errors)))
    lines = [attributes["d"] for _, attributes in page.tags if "whisker" in attributes.get("class", "")]
    assert [line.count("M") for line in lines].count(3) == 1  # a line and two arrows
    xs = [float(x) for line in lines for x in re.findall(r"[MH]([\d.]+)", line)]
    assert 100 < min(xs) < max(xs) < 400


def test_marks_that_were_cut_off_at_the_same_corner_are_moved_apart():
    """As are those of classes whose curves all end beyond the picture."""
    x, y = Scale(0, 1, 0, 100), Scale(0, 1, 100, 0)
    far = np.array([[1e4, -1e4]] * 3)
    html = str(badges(far, [[0], [1], [2]], x, y))
    places = np.array(re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', html), dtype=float)
    assert len(np.unique(places, axis=0)) == 3
    assert "nan" not in html

"""A fit that says nothing says so: in Python, on the screen, in its certificate, its file and its report.

What is warned of follows from released values. A sound fit is silent, so that a warning is worth reading.
"""

import json
import warnings
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from typer.testing import CliRunner

import tacit
from tacit.cautions import Caution, CautionWarning, find_cautions
from tacit.cli.app import app
from tacit.models import CARDS, card_named, find_card
from tacit.models.cautions.linear import class_shares
from tacit.moments.estimates import ColumnSpread
from tacit.report import report_html
from tacit.tables import Categorical, Numeric
from usual_fits import usual_fit

RNG = np.random.default_rng(0)
X = RNG.normal(size=(6000, 3))
NOISE = RNG.normal(size=6000)
Y = X @ [1.0, -1.0, 0.5] + NOISE
LABELS = (Y > 0).astype(int)
THREE = np.digitize(Y, [-0.5, 0.5])
GROUPS = np.where(RNG.random(6000) < 0.5, 3.0, -3.0)
CLUSTERS = X[:, :2] + np.array([[6.0, 0.0], [-6.0, 3.0]])[(GROUPS > 0).astype(int)]
NUMBER = {"bounds": 10, "target_bounds": 20}
SOUND = {  # estimator, its options and what it is fitted to: enough rows and budget for what there is to find
    "LinearRegression": (NUMBER, (X, Y)),
    "Ridge": (NUMBER, (X, Y)),
    "Lasso": ({"alpha": 0.1, **NUMBER}, (X, Y)),
    "ElasticNet": ({"alpha": 0.1, **NUMBER}, (X, Y)),
    "HuberRegressor": (NUMBER, (X, Y)),
    "LogisticRegression": ({"classes": [0, 1], "bounds": 10}, (X, LABELS)),
    "LinearSVC": ({"classes": [0, 1], "bounds": 10}, (X, LABELS)),
    "KMeans": ({"n_clusters": 2, "bounds": 20}, (CLUSTERS,)),
    "GaussianMixture": ({"n_components": 2, "bounds": 20}, (CLUSTERS,)),
    "Moments": ({"bounds": 20}, (CLUSTERS,)),
    "FactorAnalysis": ({"bounds": 20}, (np.column_stack([Y, X]),)),
    "MixtureOfRegressions": (NUMBER, (X, GROUPS * X[:, 0] + NOISE)),
    "MissingCovariateRegression": (NUMBER, (X, Y)),
    "RobustMean": ({}, (np.exp(X),)),
    "TableModel": ({"bounds": 20}, (CLUSTERS,)),
}
NO_BETTER, COPIES = "Predictions may be no better than the mean", "Some components are copies"
PURE_NOISE = {  # The title that is warned of if all that is released is noise.
    "LinearRegression": "The fit is drowned in noise",
    "Ridge": "The fit is drowned in noise",
    "Lasso": "The fit is drowned in noise",
    "ElasticNet": "The fit is drowned in noise",
    "HuberRegressor": "The fit is drowned in noise",
    "LogisticRegression": "",  # noise decides which
    "LinearSVC": "",
    "KMeans": "Some clusters may be empty",
    "GaussianMixture": COPIES,
    "Moments": "The moments are drowned in noise",
    "FactorAnalysis": "The moments are drowned in noise",
    "MixtureOfRegressions": COPIES,
    "MissingCovariateRegression": NO_BETTER,
    "RobustMean": "The means are drowned in noise",
    "TableModel": "The table is drowned in noise",
}


def fit(name, options, table, **more):
    """Return a fitted model, and what it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = getattr(tacit, name)(**{"random_state": 0, **options, **more}).fit(*table)
    return model, [str(each.message) for each in caught if issubclass(each.category, CautionWarning)]


def titles(model):
    return [caution.title for caution in model.privacy_.cautions]


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("name", SOUND)
def test_a_sound_fit_is_silent(name, neighbors):
    model, warned = fit(name, *SOUND[name], neighbors=neighbors)
    assert not warned
    assert not model.privacy_.cautions


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("name", SOUND)
def test_a_fit_of_nothing_but_noise_warns_and_everything_about_it_says_so(name, neighbors, tmp_path):
    options, table = SOUND[name]
    model, warned = fit(name, options, [part[:300] for part in table], epsilon=0.003, neighbors=neighbors)
    assert any(text.startswith(PURE_NOISE[name]) for text in warned)
    assert warned == [str(caution) for caution in model.privacy_.cautions]
    if neighbors == "add_remove":
        assert not any("300" in text for text in warned), "the number of rows is secret"
    with warnings.catch_warnings():
        warnings.simplefilter("error", CautionWarning)
        again = tacit.load_model(tacit.save_model(model, tmp_path / "model.tacit"))
    assert again.privacy_ == model.privacy_
    words = " ".join(again.privacy_.text().split())
    page = unescape(report_html(again))
    for caution in model.privacy_.cautions:
        assert str(caution) in words
        assert page.count(f"<b>{caution.title}</b>") == 1
        assert caution.text in page


def test_all_models_with_results_of_their_own_are_covered():
    without = {"SymmetricMixture", "ERM"}
    assert {*SOUND} == {*CARDS} - without
    assert {*PURE_NOISE} == {*SOUND}


def test_inputs_that_say_nothing_are_warned_of():
    for name in ("LinearRegression", "Ridge", "HuberRegressor", "MissingCovariateRegression"):
        model, warned = fit(name, NUMBER, (X, NOISE))
        assert titles(model) == [NO_BETTER], name
        assert len(warned) == 1
    for name in ("LogisticRegression", "LinearSVC"):
        model, _ = fit(name, {"classes": [0, 1], "bounds": 10}, (X, (NOISE > 0).astype(int)))
        assert titles(model) == ["Predictions may be no better than the proportions of classes"], name


def test_levels_that_say_nothing_are_warned_of_and_others_are_not():
    """The errors of levels are singular: their coefficients add up to zero."""
    schema = tacit.Schema({"kind": Categorical(list("abc")), "y": Numeric(-9, 9)})
    kinds = np.array(list("abc"))[RNG.integers(0, 3, 6000)]
    model, _ = fit("LinearRegression", {"bounds": schema}, ({"kind": kinds, "y": NOISE}, "y"))
    assert titles(model) == [NO_BETTER]
    model, _ = fit("LinearRegression", {"bounds": schema}, ({"kind": kinds, "y": NOISE + 2 * (kinds == "b")}, "y"))
    assert titles(model) == []


def test_collinear_inputs_that_say_much_together_are_not_warned_of():
    twice = np.column_stack([X, X[:, 0] + 1e-3 * NOISE])
    model, _ = fit("LinearRegression", NUMBER, (twice, Y))
    assert titles(model) == []


def test_a_penalty_that_leaves_nothing_is_warned_of():
    model, warned = fit("Lasso", {"alpha": 100.0, **NUMBER}, (X, Y))
    assert not model.coef_.any()
    assert warned[0].startswith("Predictions are no better than the mean. Every coefficient is zero")


@pytest.mark.parametrize("name", ["LogisticRegression", "LinearSVC"])
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_one_class_that_is_left_is_warned_of(name, neighbors):
    """Rows with missing cells are left out, and these are all rows of one class."""
    gaps = np.where(LABELS[:, None] == 1, np.nan, X)
    options = {"classes": [0, 1], "bounds": 10, "missing": "ignore", "neighbors": neighbors}
    model, warned = fit(name, options, (gaps, LABELS))
    assert titles(model) == ["One class only was learnt"]
    assert "If class 1 has any rows" in warned[0]
    assert 'missing="ignore"' in warned[0]
    whole, _ = fit(name, options, (X, LABELS))
    assert titles(whole) == []


def test_of_three_classes_the_one_without_rows_is_named_and_rare_ones_are_not():
    options = {"classes": ["low", "middle", "high"], "bounds": 10}
    names = np.array(["low", "middle", "high"])[THREE]
    model, warned = fit("LogisticRegression", options, (X[THREE > 0], names[THREE > 0]))
    assert titles(model) == ["Some classes were not learnt"]
    assert "If class low has any rows" in warned[0]
    model, _ = fit("LogisticRegression", options, (X, names))
    assert titles(model) == []
    np.testing.assert_allclose(class_shares(model), [np.mean(names == each) for each in model.classes_], atol=0.03)
    rare = (RNG.random(6000) < 0.06) | (Y > 3.5)
    model, _ = fit("LogisticRegression", {"classes": [False, True], "bounds": 10}, (X, rare))
    assert "One class only was learnt" not in titles(model)


def test_clusters_that_are_not_there_are_warned_of():
    model, warned = fit("KMeans", {"n_clusters": 30, "bounds": 20}, (CLUSTERS[:1000],))
    assert "Some clusters may be empty" in titles(model)
    assert any("may have no rows at all" in text for text in warned)
    model.cluster_centers_[1] = model.cluster_centers_[0]
    assert "Some centres are copies" in [each.title for each in find_cautions(model)]


def test_more_components_than_the_noise_lets_see_are_warned_of():
    rows = slice(0, 1500)
    model, _ = fit("MixtureOfRegressions", {**NUMBER, "n_components": 3}, (X[rows], Y[rows]), epsilon=0.2)
    assert COPIES in titles(model)
    model, _ = fit("GaussianMixture", {"n_components": 3, "bounds": 20}, (CLUSTERS[:300],), epsilon=0.2)
    assert COPIES in titles(model)


def test_factors_that_explain_nothing_are_warned_of_and_moments_pass_theirs_on():
    one = X[:, :1] + RNG.normal(size=(6000, 8))
    moments, _ = fit("Moments", {"bounds": 20}, (one,), epsilon=10.0)
    with pytest.warns(CautionWarning, match="Factor 2 explains less"):
        factors = tacit.FactorAnalysis.from_moments(moments, 2)
    assert titles(factors) == ["Some factors explain next to nothing"]
    drowned, warned = fit("Moments", {"bounds": 10}, (X[:300],), epsilon=0.003)
    assert len(warned) == 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        factors = tacit.FactorAnalysis.from_moments(drowned, 1)
    assert titles(drowned)[0] in titles(factors)
    assert warned[0] not in [str(each.message) for each in caught], "it was warned of when the moments were fitted"


def test_a_regression_made_of_moments_is_judged_too():
    moments, _ = fit("Moments", {"bounds": 10}, (np.column_stack([X, NOISE]),))
    with pytest.warns(CautionWarning, match="no better than the mean"):
        tacit.LinearRegression.from_moments(moments)


def test_some_columns_of_moments_may_be_hidden_and_others_not():
    model, _ = fit("Moments", {"bounds": 10}, (X,))
    model._spread = ColumnSpread(model._spread.deviations, np.array([0.1, 0.1, 3.0]))
    (caution,) = find_cautions(model)
    assert caution.title == "The spread of some columns is not seen"
    assert "How widely column 3 scatters" in caution.text


def test_subclasses_warn_once_and_refits_forget():
    class Twice(tacit.LinearRegression):
        def fit(self, X, y=None):
            return super().fit(X, y)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = Twice(**NUMBER, random_state=0).fit(X, NOISE)
    assert [each.category for each in caught] == [CautionWarning]
    assert caught[0].filename == __file__, "the warning names the line that called fit"
    model.fit(X, Y)
    assert titles(model) == []


def test_a_fit_whose_warning_is_made_an_error_is_kept():
    """The budget is spent by then."""
    model = tacit.LinearRegression(**NUMBER, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CautionWarning)
        with pytest.raises(CautionWarning):
            model.fit(X, NOISE)
    assert titles(model) == [NO_BETTER]


@pytest.mark.filterwarnings("default")
def test_the_command_prints_it_once_beside_the_results(tmp_path):
    data, output = tmp_path / "rows.csv", tmp_path / "model.tacit"
    np.savetxt(data, np.column_stack([X, NOISE]), delimiter=",", header="a,b,c,y", comments="")
    command = ["fit", "linear", str(data), "--bounds", "-10", "10", "--target", "y", "--output", str(output)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0
    said = " ".join(done.stderr.split())
    assert said.count(f"Warning: {NO_BETTER}.") == 1
    assert NO_BETTER not in done.stdout
    certificate = CliRunner().invoke(app, ["certificate", str(output)])
    assert NO_BETTER in " ".join(certificate.stdout.split())
    assert NO_BETTER not in certificate.stderr, "nothing was fitted"


def test_certificates_of_before_are_read_and_keep_what_they_say():
    model, _ = fit("LinearRegression", NUMBER, (X, NOISE))
    certificate = model.privacy_
    assert tacit.Certificate.from_json(certificate.to_json()) == certificate
    old = json.loads(certificate.to_json())
    del old["cautions"]
    assert tacit.Certificate.from_json(json.dumps(old)) == replace(certificate, cautions=())
    assert "Before you rely on the result" not in replace(certificate, cautions=()).text()
    assert str(certificate.cautions[0])[:40] in certificate._repr_html_()


@pytest.mark.parametrize("name", CARDS)
def test_cautions_are_sentences(name):
    card = card_named(name)
    table, options = usual_fit(card)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = card.estimator(**options, epsilon=0.003, random_state=0).fit(*table)
    assert find_card(model) is card
    for caution in find_cautions(model):
        assert isinstance(caution, Caution)
        assert caution.severity in ("danger", "warning"), "a note is no reason to warn"
        assert not caution.title.endswith(".")
        assert caution.text.endswith(".")


@pytest.mark.parametrize(("epsilon", "rough"), [(0.3, True), (20.0, False)])
def test_probabilities_of_levels_that_noise_hides(epsilon, rough):
    rng = np.random.default_rng(0)
    group = rng.random(1500) < 0.5
    table = {
        "number": np.where(group, -5.0, 5.0) + rng.normal(size=1500),
        "plan": np.where(rng.random(1500) < np.where(group, 0.8, 0.3), "free", "paid"),
    }
    schema = tacit.Schema({"number": Numeric(-10, 10), "plan": Categorical(["free", "paid"])})
    model, warned = fit("GaussianMixture", {"n_components": 2, "bounds": schema, "epsilon": epsilon}, (table,))
    title = "Probabilities of levels are rough"
    assert (title in titles(model)) == any(title in each for each in warned) == rough
    assert (title in report_html(model)) == rough

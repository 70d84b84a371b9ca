"""Reports of clusters, moments and factors: they say what was found, and are as safe as that of a mixture."""

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from pages import EVIL, Page

import tacit
from tacit.report import report_html
from tacit.report.centres import cluster_cautions
from tacit.report.correlations import moment_cautions
from tacit.report.feature_views import ClusterView, FactorView, MomentsView
from tacit.report.loadings import factor_cautions
from tacit.report.numerals import percent
from tacit.tables import Boolean, Categorical, Ignored, Integer, Numeric


@pytest.fixture(scope="module")
def schema():
    return tacit.Schema(
        {
            f"age {EVIL}": Integer(0, 120, description=f"In years {EVIL}"),
            "pressure": Numeric(0, 300),
            f"smoker {EVIL}": Categorical([f"never {EVIL}", "former", "current"]),
            "insured": Boolean(),
            f"name {EVIL}": Ignored(),
        }
    )


@pytest.fixture(scope="module")
def rows(schema):
    rng = np.random.default_rng(0)
    old = rng.random(6000) < 0.4
    age, pressure, smoker, insured, _ = schema.names
    levels = schema.columns[smoker].levels
    years = rng.normal(np.where(old, 70, 30), 6)
    return {
        age: years,
        pressure: 90 + 0.8 * years + rng.normal(0, 5, 6000),
        smoker: np.where(old, np.where(rng.random(6000) < 0.8, levels[0], levels[1]), levels[2]),
        insured: rng.random(6000) < np.where(old, 0.9, 0.25),
    }


MAKERS = {
    "clusters": lambda **options: tacit.KMeans(2, **options),
    "moments": lambda **options: tacit.Moments(**options),
    "factors": lambda **options: tacit.FactorAnalysis(2, **options),
}


@pytest.fixture(scope="module")
def models(schema, rows):
    return {name: make(epsilon=5.0, bounds=schema).fit(rows) for name, make in MAKERS.items()}


@pytest.mark.parametrize("name", MAKERS)
def test_pages_are_whole_and_nothing_of_the_user_becomes_markup(models, schema, name):
    html = report_html(models[name], title=f"Cohort {EVIL}")
    page = Page(html)
    assert page.open == []
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "certificate"}]
    assert not any(key.startswith("on") for _, attributes in page.tags for key in attributes)
    assert not re.search(r"https?:|url\((?!#)|@import|@font-face", html)
    for text in (f"Cohort {EVIL}", f"age {EVIL}", f"smoker {EVIL}=never {EVIL}", f"left out: name {EVIL}"):
        assert text in page.text
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    pictures = [attributes for tag, attributes in page.tags if tag == "svg" and attributes.get("aria-hidden") != "true"]
    for attributes in pictures:
        assert attributes.get("aria-label") or set(attributes["aria-labelledby"].split()) <= set(ids)


@pytest.mark.parametrize("name", MAKERS)
def test_the_certificate_is_explained_step_by_step(models, name):
    page = Page(report_html(models[name]))
    assert "Moderate protection of every person" in page.text
    for record in models[name].privacy_.releases:
        assert record.name in page.text
    assert page.text.count(" : 1") >= 2 * len(models[name].privacy_.releases)
    steps = re.findall(r"([a-z ]+moments|tails|columns) (size|how|centre)", page.text)
    assert steps, "what steps release is not said"


@pytest.mark.parametrize("name", MAKERS)
def test_seeded_models_are_loud_and_secret_numbers_of_rows_are_not_shown(schema, rows, name):
    html = report_html(MAKERS[name](bounds=schema, neighbors="add_remove", random_state=0).fit(rows))
    assert "SEEDED: NOT PRIVATE" in html
    assert "6,000" not in html


def test_centres_are_in_units_and_shares(models, rows, schema):
    view = ClusterView.of(models["clusters"])
    page = report_html(models["clusters"])
    labels = models["clusters"].predict(rows)
    age, pressure, _, insured, _ = schema.names
    for j, name, close in ((0, age, 2), (1, pressure, 2), (5, insured, 0.05)):  # the last is a share, encoded as ±1
        within = [np.mean(np.asarray(rows[name])[labels == k]) for k in range(2)]
        np.testing.assert_allclose(view.centres[:, j], within, atol=close)
    assert abs(view.standing).max() == 1.0
    shown = re.search(r'<th scope="row">pressure<small>0 to 300</small></th>(.*?)</tr>', page)[1]
    np.testing.assert_allclose(
        [float(mean) for mean in re.findall(r">([\d.]+)</td>", shown)], view.centres[:, 1], atol=0.051
    )
    shown = re.search(r'<th scope="row">insured</th>(.*?)</tr>', page)[1]
    shares = [unescape(share) for share in re.findall(r">([^<]+)</td>", shown)]
    assert shares == [percent(min(max(share, 0.0), 1.0)) for share in view.centres[:, -1]]
    assert page.count('class="picture"') == 2  # age against pressure, and the curve


def test_pairs_are_drawn_as_asked_or_refused(models, schema):
    age, pressure, smoker, *_ = schema.names
    assert f"{pressure} across and" in report_html(models["clusters"], pairs=[(pressure, age), (0, 1)])
    for wrong, words in (
        ([(age, smoker)], "no column of numbers"),
        ([(age, "weight")], "no column of numbers 'weight'"),
        ([(0, 9)], "no column of numbers 9"),
        ([(0, 0)], "two different columns"),
    ):
        with pytest.raises(ValueError, match=words):
            report_html(models["clusters"], pairs=wrong)
    for name in ("moments", "factors"):
        with pytest.raises(ValueError, match="drawn of mixtures and of clusters"):
            report_html(models[name], pairs=[(0, 1)])


def test_correlations_are_those_of_the_rows(models, rows, schema):
    view = MomentsView.of(models["moments"])
    age, pressure, _, insured, _ = schema.names
    assert view.means[-1] == pytest.approx(np.mean(rows[insured]), abs=0.03)
    assert view.deviations[-1] == pytest.approx(0.5, abs=0.03)  # Half of the rows are insured.
    expected = np.corrcoef(rows[age], rows[pressure])[0, 1]
    assert view.correlations[0, 1] == pytest.approx(expected, abs=0.05)
    strongest = view.strongest(99)
    assert len(strongest) == 6  # one for each pair of four columns, never two levels of the same one
    assert [abs(r) for *_, r in strongest] == sorted((abs(r) for *_, r in strongest), reverse=True)
    page = Page(report_html(models["moments"])).text
    assert "The strongest correlations" in page
    assert "± " in page


def test_of_many_columns_those_that_go_together_are_shown():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(3000, 60))
    X[:, 40] = X[:, 7] + 0.1 * rng.normal(size=3000)
    moments = tacit.Moments(epsilon=20.0, bounds=(-8, 8), random_state=0).fit(X)
    page = Page(report_html(moments)).text
    assert "Of 60 columns, the 20 that go together most are shown" in page
    factors = Page(report_html(tacit.FactorAnalysis.from_moments(moments, 2))).text
    assert "Of 60 columns, the 40 that factors explain best are shown" in factors
    assert "column 8 column 41" in page


def test_loadings_are_correlations_and_shares_add_up(models):
    view = FactorView.of(models["factors"])
    np.testing.assert_allclose((view.loadings**2).sum(axis=1) + view.unique, 1.0)
    assert view.explained.sum() == pytest.approx(1 - view.unique.mean())
    covariance = models["factors"].get_covariance()
    np.testing.assert_allclose(view.deviations[:2], np.sqrt(np.diag(covariance))[:2])
    assert "rest" in Page(report_html(models["factors"])).text


def titles(found):
    return [caution.title for caution in found]


def test_cautions_of_clusters(models, rows, schema):
    model = models["clusters"]
    view, certificate = ClusterView.of(model), replace(model.privacy_, budget=tacit.Budget(6.0, 1e-6))
    assert titles(cluster_cautions(view, certificate)) == []
    twice = replace(view, centres=view.centres[[0, 0]])
    assert titles(cluster_cautions(twice, certificate)) == ["Some centres are copies"]
    assert titles(cluster_cautions(view, replace(certificate, rows=30))) == [
        "Clusters rest on few rows beside the noise"
    ]
    wide = rows | {"pressure": np.asarray(rows["pressure"]) * 1000}
    units = tacit.KMeans(2, epsilon=5.0, bounds=(0, 1e6), random_state=0).fit(
        {key: wide[key] for key in (schema.names[0], "pressure")}
    )
    told = cluster_cautions(ClusterView.of(units), replace(units.privacy_, seeded=False))
    assert titles(told) == ["One column decides the clusters"]


def test_cautions_of_moments_and_factors(models):
    moments = models["moments"]
    assert titles(moment_cautions(MomentsView.of(moments), moments.privacy_)) == []
    few = replace(moments.privacy_, rows=20)
    assert titles(moment_cautions(MomentsView.of(moments), few)) == ["Rows are few beside the noise"]
    view = FactorView.of(models["factors"])
    plain = replace(view, loadings=np.full_like(view.loadings, 0.5), unique=np.full_like(view.unique, 0.5))
    assert titles(factor_cautions(plain, moments.privacy_)) == []
    alone = replace(plain, unique=np.where(np.arange(6) == 3, 0.005, 0.5))
    assert titles(factor_cautions(alone, moments.privacy_)) == ["A factor is all but a column"]
    faint = replace(plain, loadings=plain.loadings * [1.0, 0.1])
    found = factor_cautions(faint, moments.privacy_)
    assert titles(found) == ["Some factors explain next to nothing"]
    assert "Factor 2 explains less" in found[0].text


def test_a_model_without_bounds_says_so():
    model = tacit.RobustMean(random_state=0).fit(np.random.default_rng(0).normal(size=(1000, 2)))
    page = report_html(model)
    assert "None are known." in page
    assert "Values beyond were moved to the edge" not in page

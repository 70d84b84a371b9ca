"""The page: what it says, that it is safe against names that are markup, and that it loads nothing."""

import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from pages import EVIL, Page

import tacit
from tacit.privacy import Certificate
from tacit.report import report_html, write_report
from tacit.tables import Boolean, Categorical, Ignored, Numeric


@pytest.fixture(scope="module")
def schema():
    return tacit.Schema(
        {
            f"age {EVIL}": Numeric(0, 120, description=f"In years {EVIL}"),
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
    return {
        age: rng.normal(np.where(old, 70, 30), 6),
        pressure: rng.normal(np.where(old, 150, 115), 10),
        smoker: np.where(old, np.where(rng.random(6000) < 0.8, levels[0], levels[1]), levels[2]),
        insured: rng.random(6000) < np.where(old, 0.9, 0.25),
    }


@pytest.fixture(scope="module")
def model(schema, rows):
    """A fit that is the same each time, and whose page is that of one which is not."""
    model = tacit.GaussianMixture(2, epsilon=2.0, bounds=schema, random_state=0).fit(rows)
    model.privacy_ = replace(model.privacy_, seeded=False)
    return model


@pytest.fixture(scope="module")
def html(model):
    return report_html(model, title=f"Cohort {EVIL}")


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


def test_nothing_of_the_user_becomes_markup(html, page, model):
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "certificate"}]
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    for text in (
        f"Cohort {EVIL}",
        f"age {EVIL}",
        f"In years {EVIL}",
        f"smoker {EVIL}",
        f"never {EVIL}",
        f"name {EVIL}",
    ):
        assert text in page.text
    assert page.open == []


def test_markup_in_the_certificate_stays_data(model):
    certificate = replace(model.privacy_, notes=(f"</script>{EVIL}",), bounds=EVIL)
    html = report_html(model, certificate=certificate)
    page = Page(html)
    assert [tag for tag, _ in page.tags].count("script") == 1
    embedded = re.search(r'<script type="application/json" id="certificate">(.*?)</script>', html, re.DOTALL)
    assert Certificate.from_json(embedded[1]) == certificate


def test_the_embedded_certificate_is_the_models(html, model):
    embedded = re.search(r'<script type="application/json" id="certificate">(.*?)</script>', html, re.DOTALL)
    assert json.loads(embedded[1])["budget"] == {"epsilon": 2.0, "delta": 1e-6}
    assert Certificate.from_json(embedded[1]) == model.privacy_


def test_it_loads_and_runs_nothing(html, page):
    assert not re.search(r"https?:|url\((?!#)|@import|@font-face", html)
    assert not {"img", "iframe", "object", "embed", "link", "base", "form"} & {tag for tag, _ in page.tags}
    assert all(attributes["href"].startswith("#") for tag, attributes in page.tags if "href" in attributes)
    policy = next(attributes for _, attributes in page.tags if "http-equiv" in attributes)
    assert policy["content"].startswith("default-src 'none'")


def test_it_says_what_was_promised_and_released(page, model):
    certificate = model.privacy_
    assert "Moderate protection of every person" in page.text
    assert f"{certificate.best_guess():.1%}" in page.text
    assert "How many rows there are is public: 6,000" in page.text
    assert "1 in 1,000,000" in page.text
    for record in certificate.releases:
        assert record.name in page.text
        assert record.mechanism in page.text
    assert "Nothing in this page was computed from rows except through the releases listed" in page.text
    assert f"tacit {certificate.version}" in page.text


def test_levels_are_shares_and_numbers_are_in_their_units(html, model):
    insured = re.findall(r'<th scope="row">insured</th>(.*?)</tr>', html)[0]
    shares = [float(share) for share in re.findall(r"([\d.]+)%</td>", insured)]
    expected = model.level_probabilities_["insured"][:, 1]
    np.testing.assert_allclose(shares[:2], 100 * expected, atol=0.51)
    pressure = re.findall(r'<th scope="row">pressure<small>0 to 300</small></th>(.*?)</tr>', html)[0]
    means = [float(mean) for mean in re.findall(r'<td class="tight">([\d.]+) ', pressure)]
    np.testing.assert_allclose(means[:2], model.means_[:, 1], atol=0.51)
    assert means[2] == pytest.approx(model.weights_ @ model.means_[:, 1], abs=0.51)


def test_every_picture_has_words_and_ids_are_unique(page):
    pictures = [attributes for tag, attributes in page.tags if tag == "svg" and attributes.get("aria-hidden") != "true"]
    assert len(pictures) >= 3
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for attributes in pictures:
        assert attributes["role"] == "img"
        assert attributes.get("aria-label") or set(attributes["aria-labelledby"].split()) <= set(ids)
    headings = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(headings))


def test_a_seeded_model_is_loud(schema, rows):
    seeded = tacit.GaussianMixture(2, bounds=schema, random_state=0).fit(rows)
    page = Page(report_html(seeded))
    assert "SEEDED: NOT PRIVATE" in page.text
    tags = [attributes.get("role", tag) for tag, attributes in page.tags]
    assert tags.index("alert") < tags.index("h1")
    assert "none of this holds" in page.text
    assert "Strong protection" not in page.text


def test_under_add_remove_no_number_of_rows_is_shown(schema, rows):
    model = tacit.GaussianMixture(2, bounds=schema, neighbors="add_remove", random_state=0).fit(rows)
    html = report_html(model)
    assert "6,000" not in html
    assert "The number of rows is protected too" in html
    assert " rows</small>" not in html
    assert html.count("not told") == len(model.privacy_.releases)  # signal : noise would tell


def test_pairs_are_drawn_as_asked(model, schema):
    age, pressure, smoker, *_ = schema.names
    page = report_html(model, pairs=[(pressure, age), (0, 1)])
    assert page.count('class="picture"') == 3  # and the curve
    assert f"{pressure} across and" in page
    with pytest.raises(ValueError, match="has levels, not numbers"):
        report_html(model, pairs=[(age, smoker)])
    with pytest.raises(ValueError, match=r"no column 'weight'; the columns are"):
        report_html(model, pairs=[("weight", pressure)])
    with pytest.raises(ValueError, match="no column 9"):
        report_html(model, pairs=[(0, 9)])
    with pytest.raises(ValueError, match="two different columns"):
        report_html(model, pairs=[(0, 0)])
    with pytest.raises(ValueError, match="A pair is two columns"):
        report_html(model, pairs=["ab"])


def test_all_shapes_of_models_have_a_report():
    rng = np.random.default_rng(1)
    one = tacit.GaussianMixture(2, bounds=(-10, 10), random_state=0).fit(rng.normal(size=(2000, 1)))
    assert "Density of column 1" in report_html(one)
    for kind in ("full", "tied", "diag", "spherical"):
        model = tacit.GaussianMixture(1, covariance_type=kind, bounds=50.0, random_state=0).fit(
            rng.normal(size=(2000, 3))
        )
        assert report_html(model).count('class="sigma1') == 3
    levels = tacit.Schema({"a": Boolean(), "b": Categorical(["x", "y"])})
    only_levels = tacit.GaussianMixture(1, bounds=levels, random_state=0).fit(
        {"a": [True, False] * 500, "b": ["x", "y"] * 500}
    )
    page = report_html(only_levels)
    assert "Columns with levels" in page
    assert "Columns of numbers" not in page
    wide = tacit.GaussianMixture(1, bounds=(0, 1e7), random_state=0).fit(rng.normal(4e6, 2e5, (2000, 2)))
    assert "(in 10⁶)" in report_html(wide)
    found = tacit.GaussianMixture(1, bounds="private", random_state=0).fit(rng.normal(size=(5000, 2)))
    assert "magnitudes" in report_html(found)


def test_writing_returns_the_path_and_replaces(tmp_path, model):
    path = tmp_path / "report.html"
    path.write_text("old")
    assert write_report(model, str(path), title="Åse") == path
    assert "<h1>Åse</h1>" in path.read_text(encoding="utf-8")


def test_what_cannot_be_reported_gets_a_sentence(model):
    with pytest.raises(TypeError, match=r"about a fitted model, one of GaussianMixture, .* and this is a dict"):
        report_html({})
    with pytest.raises(ValueError, match="not fitted"):
        report_html(tacit.GaussianMixture(random_state=0))
    with pytest.raises(TypeError, match=r"certificate must be a tacit.Certificate, and it is a str"):
        report_html(model, certificate="epsilon=1")

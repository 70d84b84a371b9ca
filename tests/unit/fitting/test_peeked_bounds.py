"""Bounds that were read from the rows are told: by the fit, its certificate, its report and its file."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from estimators import CLASSIFIERS, ESTIMATORS, SUPERVISED
from sklearn.base import clone

import tacit
from tacit.report import report_html
from tacit.storage import load_model, save_model
from tacit.tables import Categorical, Numeric, Schema

STATED = Schema({"x": Numeric(-5, 5), "y": Numeric(-9, 9), "kind": Categorical(["no", "yes"])})
PEEKED = Schema(STATED.columns | {"x": Numeric(-3.25, 4.5, source="peeked")})


def table():
    x = np.random.default_rng(0).normal(size=2000).clip(-3, 4)
    return pd.DataFrame({"x": x, "y": x / 2, "kind": np.where(x > 0, "yes", "no")})


def fit(name, schema):
    options = {"target_bounds": None} if "target_bounds" in ESTIMATORS[name].get_params() else {}
    model = clone(ESTIMATORS[name]).set_params(bounds=schema, **options)
    if name in CLASSIFIERS:
        return model.set_params(classes=None).fit(table(), "kind")
    return model.fit(table(), "y") if name in SUPERVISED else model.fit(table())


@pytest.mark.parametrize("name", sorted(ESTIMATORS.keys() - {"SymmetricMixture"}))  # It takes no schema.
def test_a_fit_warns_once_and_its_certificate_says_which(name):
    with pytest.warns(UserWarning, match=r"read from the rows about 'x' .*not paid for") as caught:
        certificate = fit(name, PEEKED).privacy_
    assert sum("read from the rows" in str(each.message) for each in caught) == 1
    assert certificate.peeked == ("x",)
    assert "!!! BOUNDS READ FROM THE ROWS" in certificate.text()
    assert "never read from them" not in certificate.text()
    assert "READ FROM THE ROWS" in certificate._repr_html_()
    assert "not covered" in repr(certificate)
    assert tacit.Certificate.from_json(certificate.to_json()) == certificate


@pytest.mark.parametrize("name", ["GaussianMixture", "LogisticRegression", "TableModel"])
def test_stated_bounds_are_not_doubted(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        certificate = fit(name, STATED).privacy_
    assert certificate.peeked == ()
    assert "never read from them unpaid" in certificate.text()
    assert "READ FROM THE ROWS" not in certificate.text()


def test_the_warning_comes_before_anything_is_charged(tmp_path):
    account = tacit.Ledger(tmp_path / "budget.db").create("people", tacit.Budget(5.0, 1e-4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="not paid for"):
            tacit.TableModel(bounds=PEEKED, ledger=account).fit(table())
    assert account.history() == []


@pytest.mark.filterwarnings("ignore:The schema says")
@pytest.mark.parametrize("name", ["GaussianMixture", "LinearRegression", "LogisticRegression", "TableModel", "KMeans"])
def test_the_file_and_the_report_say_so(name, tmp_path):
    model = fit(name, PEEKED)
    again = load_model(save_model(model, tmp_path / "model.tacit"))
    assert again.bounds.peeked == ("x",)
    assert again.bounds == PEEKED
    assert again.privacy_ == model.privacy_
    for each in (model, again):
        page = report_html(each)
        assert "BOUNDS READ FROM THE ROWS" in page
        assert "Those of x were READ FROM THE ROWS, and not paid for." in page
        assert "never read off the rows" not in page
    stated = report_html(fit(name, STATED))
    assert "READ FROM THE ROWS" not in stated
    assert "never read off the rows" in stated


@pytest.mark.filterwarnings("ignore:The schema says")
def test_what_is_computed_from_moments_says_so_too():
    frame, schema = table()[["x", "y"]], Schema({name: PEEKED.columns[name] for name in ("x", "y")})
    moments = tacit.Moments(bounds=schema, epsilon=5.0).fit(frame)
    assert tacit.FactorAnalysis.from_moments(moments).privacy_.peeked == ("x",)


def test_certificates_of_the_first_version_are_read():
    plan = tacit.Plan((tacit.privacy.Gaussian("sum", 1.0),)).calibrate(tacit.Budget(1.0, 1e-6))
    certificate = tacit.Certificate(plan, tacit.Budget(1.0, 1e-6), bounds="a box")
    old = certificate.to_json().replace('"peeked": [],', "")
    assert "peeked" not in old
    assert tacit.Certificate.from_json(old) == certificate
    assert "x, y" in replace(certificate, peeked=["x", "y"]).text()


def test_a_template_that_was_peeked_is_a_schema_that_says_so(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text(Schema.template(table(), peek=True))
    schema = Schema.from_toml(path)
    assert schema.peeked == ("x", "y", "kind")
    with pytest.warns(UserWarning, match="read from the rows about 'x', 'y', 'kind'"):
        certificate = tacit.TableModel(bounds=schema, epsilon=5.0).fit(table()).privacy_
    assert certificate.peeked == ("x", "y", "kind")

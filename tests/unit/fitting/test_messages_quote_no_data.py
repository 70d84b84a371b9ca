"""No message quotes data: marked values are passed in wrong places, and must not come back in any words."""

import contextlib
import io
import warnings
from dataclasses import fields

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from estimators import ESTIMATORS, LABELS, ROWS, SUPERVISED, rows, target
from sklearn.base import clone

import tacit
from tacit.audit import audit_estimator
from tacit.linear import L1Ball
from tacit.privacy import Gaussian
from tacit.release import Curator
from tacit.tables import Boolean, Categorical, Ignored, Integer, Numeric, Schema

MARKS = ("4711", "4,711", str(ROWS - 1))  # Marks of cells, and of numbers of rows.
WORD, NUMBER = "secret-4711", 47.11471147


def said(function, *values, **options):
    """Return all that a call says: its exception and those behind it, warnings, and what it prints."""
    out, words = io.StringIO(), []
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        try:
            function(*values, **options)
        except Exception as error:
            behind = error
            while behind is not None:
                words += [repr(behind), str(behind), *map(str, getattr(behind, "__notes__", ()))]
                behind = behind.__cause__ or behind.__context__
    return "\n".join([*words, *(str(each.message) for each in caught), out.getvalue()])


def check_unsaid(function, *values, refused=True, **options):
    words = said(function, *values, **options)
    assert not any(mark in words for mark in MARKS), words
    assert words or not refused, "It was to be refused."


def marked_tables():
    """Tables of 399 rows that hold the marks in some way that estimators cannot read."""
    X = rows()[1:]
    text = X.astype(object)
    text[7, 1] = WORD
    infinite = X.copy()
    infinite[3] = NUMBER, np.nan
    mixed = pd.DataFrame({"a": X[:, 0], "b": text[:, 1]})
    return {
        "array of text": text.astype(str),
        "array of objects": text,
        "missing cells": infinite,
        "lists": text.tolist(),
        "uneven lists": [*X.tolist(), [NUMBER]],
        "one dimension": np.full(ROWS - 1, NUMBER),
        "three dimensions": np.full((ROWS - 1, 2, 2), NUMBER),
        "complex": X + NUMBER * 1j,
        "pandas": mixed,
        "pandas text": mixed.astype(str),
        "categories": mixed.assign(b=pd.Categorical(mixed["b"].astype(str))),
        "series": mixed["b"],
        "polars": pl.DataFrame({"a": X[:, 0], "b": text[:, 1].astype(str)}),
        "pyarrow": pa.table({"a": X[:, 0], "b": text[:, 1].astype(str)}),
        "dictionary": {"a": X[:, 0], "b": text[:, 1].tolist()},
        "uneven dictionary": {"a": X[:, 0], "b": [NUMBER]},
        "text of a file": f"a,b\n1,{WORD}\n",
        "a number": np.float64(NUMBER),
        "dates": pd.DataFrame({"a": pd.to_datetime(["4711-01-01"] * (ROWS - 1)).to_numpy(), "b": X[:, 1]})
        if hasattr(pd.Timestamp, "as_unit")
        else mixed,
    }


def marked_targets():
    """Targets of 399 or 398 rows that no estimator takes."""
    X = rows()[1:]
    text = np.full(ROWS - 1, WORD)
    numbers = np.full(ROWS - 1, NUMBER)
    return {
        "text": text,
        "objects": np.array([NUMBER, WORD] + [1.0] * (ROWS - 3), dtype=object),
        "list of text": text.tolist(),
        "series of text": pd.Series(text),
        "polars": pl.Series("y", text),
        "missing": np.where(np.arange(ROWS - 1) == 5, np.nan, numbers),
        "too short": numbers[1:],
        "two columns": np.column_stack([X[:, 0], numbers]),
        "frame": pd.DataFrame({"y": text, "z": numbers}),
        "complex": numbers * 1j,
        "dictionary": {"y": text.tolist()},
        "uneven": [*numbers.tolist(), [NUMBER, NUMBER]],
        "long text": f"{WORD}, {NUMBER}, " * 20,
        "a number": NUMBER,
        "set": {WORD, NUMBER},
    }


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_rows_that_cannot_be_read(name, neighbors):
    model = clone(ESTIMATORS[name]).set_params(neighbors=neighbors)
    y = None if name not in SUPERVISED else target(name, rows())[1:]
    schema = Schema({"a": Numeric(-5, 5), "b": Categorical(["x", "y"]), "c": Ignored()})
    for table in marked_tables().values():
        check_unsaid(model.fit, table, y, refused=False)
        check_unsaid(clone(model).set_params(bounds=schema).fit, table, None if y is None else "b", refused=False)
        check_unsaid(clone(model).set_params(bounds=schema).fit, table, None if y is None else "a", refused=False)


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("name", SUPERVISED)
def test_targets_that_cannot_be_read(name, neighbors):
    model, X = clone(ESTIMATORS[name]).set_params(neighbors=neighbors), rows()[1:]
    schema = Schema({"a": Numeric(-5, 5), "b": Numeric(-5, 5)})
    options = {"bounds": schema} | ({"target_bounds": None} if "target_bounds" in model.get_params() else {})
    with_schema = clone(model).set_params(**options)
    for told, y in marked_targets().items():
        check_unsaid(model.fit, X, y, refused=told != "missing")
        check_unsaid(with_schema.fit, pd.DataFrame(X, columns=["a", "b"]), y)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_rows_that_cannot_be_predicted_or_scored(name):
    model = clone(ESTIMATORS[name]).set_params(neighbors="add_remove")
    model.fit(rows(), target(name, rows()))
    y = target(name, rows()[1:])
    methods = ["predict", "predict_proba", "decision_function", "transform", "score_samples", "score", "interval"]
    methods += ["predict_components", "log_density", "sample", "intervals", "predict_log_proba"]
    for method in methods:
        if (call := getattr(model, method, None)) is None:
            continue
        for told, table in marked_tables().items():
            if told == "a number" and method in ("sample", "interval", "intervals"):
                continue  # an option, which may be shown
            check_unsaid(call, table, refused=False)
            check_unsaid(call, table, y, refused=False)
        for wrong in marked_targets().values():
            check_unsaid(call, rows()[1:], wrong, refused=False)


def wrong_options():
    """Values that hold marks, for options that want a number or a word."""
    return {
        "array": np.full((ROWS - 1, 2), NUMBER),
        "text array": np.full(ROWS - 1, WORD),
        "list": [NUMBER] * (ROWS - 1),
        "words": [WORD] * (ROWS - 1),
        "tuple": (NUMBER, WORD),
        "pair": (np.full(ROWS - 1, NUMBER), np.full(ROWS - 1, -NUMBER)),
        "reversed": ([NUMBER, NUMBER], [-NUMBER, -NUMBER]),
        "frame": pd.DataFrame({"a": [NUMBER, WORD]}),
        "series": pd.Series([WORD] * (ROWS - 1)),
        "dictionary": {"a": [NUMBER, WORD]},
        "long text": f"{WORD} " * 30,
    }


@pytest.mark.parametrize("name", ESTIMATORS)
def test_options_that_hold_rows(name):
    X = rows()[1:]
    y = target(name, X)
    for option in ESTIMATORS[name].get_params(deep=False):
        if option in ("verbose", "fit_intercept", "as_printed", "split"):  # what is true for Python is true
            continue
        for value in wrong_options().values():
            model = clone(ESTIMATORS[name])
            setattr(model, option, value)
            model.neighbors = value if option == "neighbors" else "add_remove"
            check_unsaid(model.fit, X, y, refused=False)


@pytest.mark.parametrize("name", tacit.published.__all__)
def test_options_of_published_methods_that_hold_rows(name):
    method = getattr(tacit.published, name)
    for option in fields(method):
        for value in wrong_options().values():
            check_unsaid(method, refused=False, **{"scale": 1.0, option.name: value})


@pytest.mark.parametrize("value", wrong_options().values(), ids=wrong_options())
def test_what_else_is_public_in_the_library(value, tmp_path):
    plan = tacit.Plan((Gaussian("sum", 1.0),))
    certificate = tacit.Certificate(plan.calibrate(tacit.Budget(1.0, 1e-6)), tacit.Budget(1.0, 1e-6))
    ledger = tacit.Ledger(tmp_path / "budget.db")
    account = ledger.create("people", tacit.Budget(1.0, 1e-6))
    calls = [
        *(lambda kind=kind: kind(value, 1) for kind in (Numeric, Integer)),
        lambda: Numeric(0, value),
        lambda: Numeric(0, 1, description=value),
        lambda: Numeric(0, 1, source=value),
        lambda: Boolean(description=value),
        lambda: Schema(value),
        lambda: Schema({"a": value}),
        lambda: Schema.from_dict({"columns": {"a": value}}),
        lambda: Schema.from_dict({"columns": {"a": {"type": value}}}),
        lambda: Schema({"a": Numeric(0, 1)}).encode(value),
        lambda: Schema({"a": Numeric(0, 1)}).encode({"a": [1]}, unknown=value),
        lambda: Schema({"a": Numeric(0, 1)}).decode(value),
        lambda: tacit.Budget(value),
        lambda: tacit.Budget(1.0, value),
        lambda: tacit.Plan(value),
        lambda: tacit.Plan((value,)),
        lambda: plan.delta(value),
        lambda: plan.epsilon(value),
        lambda: Gaussian("sum", value),
        lambda: Gaussian(value, 1.0),
        lambda: certificate.suspicion(value),
        lambda: ledger.create(value, tacit.Budget(1.0)),
        lambda: ledger.create("more", value),
        lambda: account.charge(value),
        lambda: Curator(value, plan),
        lambda: tacit.mean(value, epsilon=value),
        lambda: tacit.MixturePrior(value),
        lambda: L1Ball(value),
        lambda: tacit.save_model(value, tmp_path / "model.tacit"),
        lambda: tacit.FactorAnalysis.from_moments(value),
        lambda: tacit.LinearRegression.from_moments(tacit.Moments(bounds=5.0).fit(rows()), value),
        lambda: audit_estimator(tacit.KMeans(2, bounds=1.0), value, value, trials=value),
    ]
    for call in calls:
        check_unsaid(call, refused=False)


def test_labels_that_are_data():
    X = rows()[1:]
    for options in (
        {"classes": [WORD, WORD]},
        {"classes": [WORD]},
        {"classes": LABELS, "class_weight": {WORD: 1.0}},
        {"classes": LABELS, "class_weight": {"yes": WORD}},
        {"classes": LABELS, "class_weight": {"yes": -NUMBER}},
        {"classes": LABELS, "class_weight": np.full(ROWS - 1, NUMBER)},
    ):
        for kind in (tacit.LogisticRegression, tacit.LinearSVC):
            check_unsaid(kind(bounds=5.0, **options).fit, X, target("LinearSVC", X))


def test_levels_that_are_data():
    check_unsaid(Categorical, [WORD, WORD])
    check_unsaid(Categorical, [WORD])
    check_unsaid(Categorical, WORD * 20)


def test_names_of_columns_are_public_and_help():
    frame = pd.DataFrame(rows(), columns=["age", "height"])
    assert "'hieght'" in said(tacit.LinearRegression(bounds=5.0, target_bounds=5.0).fit, frame, "hieght")
    assert "-3" in said(tacit.KMeans(-3, bounds=5.0).fit, rows())
    assert "'fast'" in said(tacit.KMeans(2, bounds=5.0, method="fast").fit, rows())


@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_fit_tells_how_many_rows_there_are_where_that_is_secret(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4711, 2)).clip(-4, 4)
    for options in ({"delta": 0.1}, {"epsilon": 0.01}, {"missing": "ignore"}, {"bounds": "private"}, {"bounds": None}):
        model = clone(ESTIMATORS[name]).set_params(neighbors="add_remove", verbose=True, random_state=0)
        if not options.keys() <= model.get_params().keys():
            continue
        check_unsaid(model.set_params(**options).fit, X, target(name, X), refused=False)
        if hasattr(model, "privacy_"):
            told = model.privacy_.text() + repr(model.privacy_) + repr(model) + model.privacy_._repr_html_()
            assert "4711" not in told
            assert "4,711" not in told

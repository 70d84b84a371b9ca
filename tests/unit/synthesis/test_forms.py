"""Synthetic cells have the form of the real ones, as the schema states it: decimals, whole numbers, 0 and 1, dates."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import tacit
import tacit.report
from tacit.cli.app import app
from tacit.tables import Boolean, Categorical, Date, Integer, Numeric

DAYS = ("2020-01-01", "2020-12-31")
SCHEMA = tacit.Schema(
    {
        "price": Numeric(0, 100, decimals=2),
        "halves": Numeric(-5, 5, decimals=1),
        "rounded": Numeric(0, 50, decimals=0),
        "weight": Numeric(0, 100),
        "visits": Integer(0, 20),
        "smokes": Boolean(values=(0, 1)),
        "insured": Boolean(values=("no", "yes")),
        "member": Boolean(),
        "arm": Categorical([0, 1]),
        "plan": Categorical(["free", "paid"]),
        "born": Date(*DAYS, form="timestamp"),
        "seen": Date(*DAYS),
        "paid": Date(*DAYS, form="%d.%m.%Y"),
    }
)


@pytest.fixture(scope="module")
def frame():
    """Later days have higher prices, and as many rows are on each day."""
    rng = np.random.default_rng(0)
    size = 5000
    days = rng.integers(0, 366, size)
    born = pd.to_datetime(DAYS[0]) + pd.to_timedelta(days, unit="D")
    return pd.DataFrame(
        {
            "price": (days / 5 + rng.uniform(0, 20, size)).round(2),
            "halves": rng.normal(0, 1, size).round(1),
            "rounded": rng.integers(0, 51, size).astype(float),
            "weight": rng.uniform(40, 90, size),
            "visits": rng.poisson(3, size).clip(0, 20),
            "smokes": (rng.random(size) < 0.3).astype(int),
            "insured": rng.choice(["no", "yes"], size),
            "member": rng.random(size) < 0.5,
            "arm": rng.integers(0, 2, size),
            "plan": rng.choice(["free", "paid"], size),
            "born": born.astype("datetime64[us]"),
            "seen": born.date,
            "paid": born.strftime("%d.%m.%Y"),
        }
    )


@pytest.fixture(scope="module")
def model(frame):
    return tacit.TableModel(epsilon=5.0, bounds=SCHEMA, random_state=0).fit(frame)


def test_a_data_frame_comes_back_in_its_form(frame, model):
    drawn = model.sample(5000, random_state=0).to_pandas()
    assert list(drawn.columns) == list(frame.columns)
    assert drawn.dtypes.map(str).to_dict() == frame.dtypes.map(str).to_dict()
    for name, decimals in (("price", 2), ("halves", 1), ("rounded", 0)):
        assert (drawn[name] == drawn[name].round(decimals)).all()
    assert (drawn["price"] != drawn["price"].round(1)).mean() > 0.5
    for name in ("smokes", "arm", "insured", "plan", "member"):
        assert set(drawn[name]) == set(frame[name])
        assert drawn[name].value_counts()[frame[name][0]] == pytest.approx(
            frame[name].value_counts()[frame[name][0]], abs=150
        )
    assert isinstance(drawn["seen"][0], datetime.date)
    assert drawn["born"].equals(drawn["born"].dt.normalize())
    assert drawn["paid"].str.fullmatch(r"\d\d\.\d\d\.2020").all()


def test_dates_keep_what_goes_together_with_them(frame, model):
    drawn = model.sample(5000, random_state=1).to_pandas()
    wanted = np.corrcoef(frame["born"].astype("int64"), frame["price"])[0, 1]
    assert np.corrcoef(drawn["born"].astype("int64"), drawn["price"])[0, 1] == pytest.approx(wanted, abs=0.05)
    paid = pd.to_datetime(drawn["paid"], format="%d.%m.%Y")
    assert np.corrcoef(paid.astype("int64"), drawn["price"])[0, 1] == pytest.approx(wanted, abs=0.1)


def test_the_form_survives_a_file(model, tmp_path):
    read = tacit.load_model(tacit.save_model(model, tmp_path / "model.tacit"))
    assert read._domain.schema == SCHEMA
    assert read.sample(20, random_state=0).equals(model.sample(20, random_state=0))


def test_a_report_shows_days(model, tmp_path):
    text = tacit.report.write_report(model, tmp_path / "report.html").read_text()
    assert "born, from 2020-01-0" in text
    assert "to 2020-12-" in text


def test_a_csv_file_comes_back_in_its_form(frame, tmp_path):
    """On the command line all cells are text; the schema alone says which form they have."""
    data, schema, fitted, drawn = (tmp_path / name for name in ("data.csv", "schema.toml", "m.tacit", "drawn.csv"))
    frame.to_csv(data, index=False)
    SCHEMA.to_toml(schema)
    run = CliRunner().invoke
    done = run(app, ["fit", "table", str(data), "--schema", str(schema), "--epsilon", "5", "--output", str(fitted)])
    assert done.exit_code == 0, done.output
    done = run(app, ["sample", str(fitted), "--rows", "500", "--output", str(drawn)])
    assert done.exit_code == 0, done.output
    real, synthetic = (pd.read_csv(path, dtype=str) for path in (data, drawn))
    patterns = {
        "price": r"\d+(\.\d{1,2})?",
        "halves": r"-?\d(\.\d)?",
        "visits": r"\d+",
        "smokes": "[01]",
        "insured": "no|yes",
        "arm": "[01]",
        "plan": "free|paid",
        "born": r"2020-\d\d-\d\d( 00:00:00(\.0+)?)?",
        "seen": r"2020-\d\d-\d\d",
        "paid": r"\d\d\.\d\d\.2020",
    }
    for name, pattern in patterns.items():
        for table in (synthetic, real):
            cells = table[name] if name not in ("price", "halves") else table[name].str.removesuffix(".0")
            assert cells.str.fullmatch(pattern).all(), name


def test_missing_dates_and_numbers_are_drawn_too(frame):
    schema = tacit.Schema({name: SCHEMA.columns[name] for name in ("price", "smokes", "paid", "seen")})
    rows = frame[list(schema.used)].mask(np.random.default_rng(1).random((len(frame), 4)) < 0.2)
    drawn = tacit.TableModel(epsilon=5.0, bounds=schema, missing="model", random_state=0).fit(rows).sample(2000, 0)
    for name in schema.used:
        assert drawn[name].null_count == pytest.approx(400, abs=80)
    assert pa.types.is_date(drawn["seen"].type)
    assert pa.types.is_integer(drawn["smokes"].type)

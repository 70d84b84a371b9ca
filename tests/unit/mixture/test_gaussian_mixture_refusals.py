"""What cannot be fitted is refused with a sentence that says why and quotes no cell, before anything is charged."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from tacit.privacy import Budget, BudgetExceeded, Ledger, PlanError
from tacit.tables import Boolean, Categorical, Numeric

SCHEMA = tacit.Schema({"age": Numeric(0, 120), "region": Categorical(["north", "south"]), "smokes": Boolean()})
ROWS = np.random.default_rng(0).normal(0.0, 0.3, (60, 2))


@pytest.fixture
def account(tmp_path):
    return Ledger(tmp_path / "study.db").create("people", Budget(1.0, 1e-6))


@pytest.fixture
def refuse(account):
    """Fit with a ledger; expect a refusal that charges nothing, and return its sentence."""

    def refuse(rows, error=(ValueError, TypeError), **options):
        model = tacit.GaussianMixture(**{"n_components": 2, "bounds": 1.0, "ledger": account, **options})
        with pytest.raises(error) as caught:
            model.fit(rows)
        assert account.history() == []
        assert not hasattr(model, "means_")
        assert not hasattr(model, "privacy_")
        sentence = str(caught.value)
        assert sentence.endswith((".", "?"))
        return sentence

    return refuse


def test_the_same_fit_without_a_fault_is_charged(account):
    tacit.GaussianMixture(2, bounds=1.0, ledger=account).fit(ROWS)
    assert len(account.history()) == 1


# -------------------------------------------------------------------------------------------------------------- bounds


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        (None, "bounds is missing. Say what is publicly known"),
        (-1.0, "must be positive and finite"),
        ((1.0, -1.0), "reversed or empty"),
        ((0.0, [1.0, 0.0]), "reversed or empty: low is not below high in column 2"),
        ((0.0, [1.0, 1.0, 1.0]), "must be a number or one number for each of the 2 column(s)"),
        ((0.0, np.inf), "must be finite"),
        ("tight", 'bounds must be numbers, a Schema or "private"'),
        ([1.0], "a pair (low, high)"),
    ],
    ids=repr,
)
def test_bounds(refuse, bounds, words):
    assert words in refuse(ROWS, bounds=bounds)


# --------------------------------------------------------------------------------------------------------------- cells


@pytest.mark.parametrize("cell", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_missing_and_infinite_cells(refuse, cell, neighbors, tmp_path):
    account = Ledger(tmp_path / "other.db").create("people", Budget(1.0, 1e-6), neighbors)
    rows = ROWS.copy()
    rows[17, 1] = cell
    for table in (rows, pd.DataFrame(rows, columns=["a", "b"])):
        sentence = refuse(table, neighbors=neighbors, ledger=account)
        assert "contains NaN, infinity or missing cells" in sentence
        assert 'missing="ignore"' in sentence
        assert "17" not in sentence
    assert account.history() == []


def test_text_among_numbers(refuse, tmp_path):
    frame = pd.DataFrame({"age": [31.0] * 60, "weight": ["70"] * 59 + ["a secret"]})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    for table in (frame, tmp_path / "rows.csv", frame.to_numpy()):
        sentence = refuse(table)
        assert "secret" not in sentence
        assert "number" in sentence or "string to float" in sentence


def test_unknown_categories(refuse):
    table = {"age": [31.0] * 60, "region": ["north"] * 59 + ["atlantis"], "smokes": [True] * 60}
    sentence = refuse(table, bounds=SCHEMA)
    assert "Column 'region' holds values that are not among its categories" in sentence
    assert "atlantis" not in sentence


def test_columns_that_the_schema_and_the_table_do_not_share(refuse):
    whole = {"age": [31.0] * 60, "region": ["north"] * 60, "smokes": [True] * 60}
    lacking = {name: cells for name, cells in whole.items() if name != "age"}
    assert "lacks: 'age'" in refuse(lacking, bounds=SCHEMA)
    assert "does not mention: 'name'" in refuse({**whole, "name": ["Ann"] * 60}, bounds=SCHEMA)
    assert "Expected an array of 3 columns" in refuse(ROWS, bounds=SCHEMA)


def test_repeated_columns(refuse, tmp_path):
    (tmp_path / "rows.csv").write_text("a,a\n" + "1,2\n" * 60)
    for table in (pd.DataFrame(ROWS, columns=["a", "a"]), tmp_path / "rows.csv"):
        assert "'a'" in refuse(table)


# ---------------------------------------------------------------------------------------------------------------- rows


def test_fewer_rows_than_components(refuse):
    sentence = refuse(ROWS[:3], n_components=4)
    assert "3 row(s)" in sentence
    assert "n_components=4" in sentence


def test_where_the_number_of_rows_is_secret_it_is_no_reason_to_refuse():
    model = tacit.GaussianMixture(4, bounds=1.0, neighbors="add_remove").fit(ROWS[:3])
    assert model.means_.shape == (4, 2)


@pytest.mark.parametrize(
    "rows",
    [np.empty((0, 2)), np.empty((5, 0)), [], np.ones(5), np.ones((2, 2, 2)), 3.0, "no such file", None],
    ids=repr,
)
def test_what_is_no_table(refuse, rows):
    refuse(rows)


def test_unreadable_files(refuse, tmp_path):
    (tmp_path / "rows.txt").write_text("1,2\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("a,b\n")
    (tmp_path / "broken.parquet").write_bytes(b"not a Parquet file at all")
    (tmp_path / "folder.csv").mkdir()
    pq.write_table(pa.table({"a": pa.array([], pa.float64())}), tmp_path / "empty.parquet")
    assert "must be named .csv" in refuse(tmp_path / "rows.txt")
    for name in ("empty.csv", "header.csv", "broken.parquet", "folder.csv", "empty.parquet"):
        assert refuse(tmp_path / name, error=(ValueError, OSError))
    assert "absent.csv" in refuse(tmp_path / "absent.csv", error=OSError)


# ---------------------------------------------------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_components": 0}, "n_components must be a whole number, at least 1, or"),
        ({"n_components": 2.5}, "n_components must be a whole number"),
        ({"n_components": "two"}, "n_components must be a whole number"),
        ({"epsilon": 0.0}, "epsilon must be a positive, finite number"),
        ({"epsilon": -1.0}, "epsilon must be a positive, finite number"),
        ({"epsilon": np.nan}, "epsilon must be a positive, finite number"),
        ({"epsilon": "much"}, "epsilon must be a positive, finite number"),
        ({"delta": 1.0}, "delta must be at least 0 and less than 1"),
        ({"delta": -1e-6}, "delta must be at least 0 and less than 1"),
        ({"delta": 0.0}, "delta is 0, and Gaussian noise needs a delta above 0"),
        ({"neighbors": "friends"}, "neighbors must be 'replace_one'"),
        (
            {"method": "magic"},
            "method must be one of scale_free, joint, per_parameter, or an object of tacit.published",
        ),
        ({"method": tacit.published.DPLloyd()}, "or an object of tacit.published: JointMoments, DPEM; and it is a"),
        ({"method": "joint", "n_iter": 4}, "n_iter is for the method scale_free; a published one has its own options"),
        ({"covariance_type": "round"}, "covariance_type must be one of full, tied, diag, spherical"),
        ({"missing": "drop"}, "missing must be one of error, ignore"),
        ({"n_iter": 0}, "n_iter must be"),
        ({"n_iter": 2.5}, "n_iter must be"),
        ({"n_iter": "some"}, "n_iter must be"),
        ({"n_iter": 3}, "n_iter is 3"),
        ({"init": "k-means++"}, 'init must be "private", "public" or an array of means'),
        ({"init": np.zeros((3, 2))}, "init must be 2 finite means of 2 column(s), and it is an array"),
        ({"init": [[0.0, np.nan], [0.0, 0.0]]}, "init must be 2 finite means"),
        ({"prior": "flat"}, "prior must be None or a tacit.MixturePrior"),
        ({"random_state": -1}, "random_state is -1"),
        ({"random_state": "lucky"}, "random_state is 'lucky'"),
    ],
    ids=repr,
)
def test_parameters(refuse, options, words):
    assert words in refuse(ROWS, **options)


@pytest.mark.parametrize("method", ["scale_free", "joint", "per_parameter"])
def test_budgets_whose_noise_cannot_be_drawn(refuse, method, tmp_path):
    account = Ledger(tmp_path / "other.db").create("people", Budget(1.0, 1e-6), "add_remove")
    budget = {"epsilon": 1e-12, "delta": 1e-12, "neighbors": "add_remove", "ledger": account}
    assert "more noise than can be drawn; use a larger epsilon" in refuse(ROWS, PlanError, method=method, **budget)
    assert account.history() == []


# ------------------------------------------------------------------------------------------------------------- ledgers


def test_an_overspent_ledger(refuse):
    sentence = refuse(ROWS, epsilon=1.1, error=BudgetExceeded)
    assert "epsilon" in sentence


def test_a_ledger_for_the_other_relation(refuse):
    assert "add_remove" in refuse(ROWS, neighbors="add_remove", error=PlanError)


@pytest.mark.parametrize("ledger", ["study.db", 1.0, {}])
def test_what_is_no_account(refuse, ledger):
    assert "ledger must be an account of a ledger" in refuse(ROWS, ledger=ledger)


def test_a_ledger_in_place_of_its_account(refuse, account):
    assert "ledger must be an account of a ledger" in refuse(ROWS, ledger=account.ledger)


# ------------------------------------------------------------------------------------------------------- fitted models


def test_rows_that_cannot_be_scored():
    fitted = tacit.GaussianMixture(2, bounds=1.0).fit(ROWS)
    with pytest.raises(ValueError, match="NaN"):
        fitted.predict([[0.0, np.nan]])
    with pytest.raises(ValueError, match="3 features"):
        fitted.score([[0.0, 0.0, 0.0]])
    with pytest.raises(ValueError, match="missing cells"):
        fitted.score({"a": [0.0, None], "b": [1.0, 1.0]})


def test_rows_that_cannot_be_scored_by_a_schema():
    fitted = tacit.GaussianMixture(1, bounds=SCHEMA).fit(
        {"age": [31.0, 50.0] * 30, "region": ["north", "south"] * 30, "smokes": [True, False] * 30}
    )
    with pytest.raises(ValueError, match="missing cells"):
        fitted.score({"age": [None], "region": ["north"], "smokes": [True]})
    with pytest.raises(ValueError, match="not among its categories"):
        fitted.score({"age": [30.0], "region": ["atlantis"], "smokes": [True]})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"noise": "LGL"}, "noise must be one of GGG, LLG"),
        ({"composition": "free"}, "composition must be one of linear, advanced, zcdp, moments"),
        ({"delta_each": 0.0}, "delta_each must be a positive number, at most 1"),
        ({"n_iter": 0}, "n_iter must be"),
    ],
    ids=repr,
)
def test_options_of_the_published_method(options, words):
    with pytest.raises(ValueError, match=words):
        tacit.published.DPEM(**options)
    moved = options.keys() & {"noise", "composition"}
    for name in moved:
        with pytest.raises(TypeError, match=rf"Write method=tacit\.published\.DPEM\({name}="):
            tacit.GaussianMixture(**options)

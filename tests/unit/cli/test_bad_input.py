"""Whatever is wrong with a file, a value or the data: a sentence, exit code 1 (3: budget), and nothing is charged."""

import pyarrow as pa
import pyarrow.parquet
import pytest

from tacit.privacy import Budget, Ledger

ROWS = "age,income,smoker,region\n40,20,true,north\n50,30,false,south\n60,40,true,west\n"


@pytest.fixture
def account(folder):
    return Ledger(folder / "study.db").create("people", Budget(1.0, 1e-6))


@pytest.fixture
def refuse(run, folder, account):
    """Fit, with a ledger; expect a refusal that leaves ledger and folder as they were, and return its sentence."""

    def refuse(*arguments, data="people.csv", schema="schema.toml", components=2, code=1):
        public = () if schema is None else ("--schema", schema)
        before = sorted(folder.iterdir())
        ledger = ("--ledger", "study.db", "--dataset", "people")
        result = run("fit", "mixture", data, *public, "-k", components, *ledger, *arguments, code=code)
        assert result.stdout == ""
        assert account.history() == []
        assert sorted(folder.iterdir()) == before
        return " ".join(result.stderr.split())

    return refuse


def test_missing_bounds(refuse):
    assert "--schema FILE" in refuse(schema=None, data="numbers.csv")


@pytest.mark.parametrize(("low", "high"), [(10, 0), (5, 5)])
def test_reversed_bounds(refuse, low, high):
    assert "reversed or empty" in refuse("--bounds", low, high, schema=None, data="numbers.csv")


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_bounds_that_are_no_numbers(refuse, value):
    assert "must be finite" in refuse("--bounds", 0, value, schema=None, data="numbers.csv")
    assert "positive and finite" in refuse("--radius", value, schema=None, data="numbers.csv")


def test_reversed_bounds_in_a_schema(refuse, folder):
    text = (folder / "schema.toml").read_text().replace("high = 120", "high = -1")
    (folder / "wrong.toml").write_text(text)
    sentence = refuse(schema="wrong.toml")
    assert "Column 'age': low must be less than high" in sentence


@pytest.mark.parametrize("cell", ["", "NaN", "NA", "inf"])
def test_missing_cells(refuse, run, folder, account, cell):
    rows = (folder / "people.csv").read_text().splitlines()
    gap = rows[5].split(",")
    gap[2] = cell
    (folder / "gaps.csv").write_text("\n".join([*rows[:5], ",".join(gap), *rows[6:]]))
    assert "missing cells" in refuse(data="gaps.csv")
    ledger = ("--ledger", "study.db", "--dataset", "people")
    run("fit", "mixture", "gaps.csv", "--schema", "schema.toml", "-k", 2, "--missing", "ignore", *ledger)
    assert len(account.history()) == 1


def test_text_among_numbers(refuse, folder):
    (folder / "text.csv").write_text(ROWS.replace("50,30", "50,a secret"))
    sentence = refuse(data="text.csv")
    assert "Column 'income' holds text that cannot be read as a number" in sentence
    assert "a secret" not in sentence
    assert "Column 'income'" in refuse("--bounds", 0, 1, data="text.csv", schema=None)


def test_a_category_that_is_not_in_the_schema(refuse, folder):
    (folder / "east.csv").write_text(ROWS.replace("west", "east"))
    sentence = refuse(data="east.csv")
    assert "Column 'region' holds values that are not among its categories" in sentence
    assert "east" not in sentence.replace("east.csv", "")


def test_fewer_rows_than_components(refuse, folder):
    (folder / "few.csv").write_text(ROWS)
    assert "n_components=9" in refuse(data="few.csv", components=9)


@pytest.mark.parametrize("components", [0, -1])
def test_no_components(refuse, components):
    assert "n_components must be a whole number, at least 1" in refuse(components=components)


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf"])
def test_epsilon(refuse, epsilon):
    assert "epsilon must be a positive, finite number" in refuse("--epsilon", epsilon)


@pytest.mark.parametrize("delta", ["1", "2", "-0.1", "nan"])
def test_delta(refuse, delta):
    assert "delta must be at least 0 and less than 1" in refuse("--delta", delta)


def test_delta_of_zero(refuse):
    assert "Gaussian noise needs a delta above 0" in refuse("--delta", 0)


def test_a_large_delta_is_a_warning(run):
    result = run("fit", "mixture", "people.csv", "--schema", "schema.toml", "-k", 1, "--delta", 0.001)
    assert result.stderr.startswith("Warning: delta=0.001 is not below 1/1500")


def test_an_overspent_ledger(refuse):
    sentence = refuse("--epsilon", 1.5, code=3)
    assert "its budget is epsilon 1" in sentence
    assert "Nothing was charged" in sentence


def test_a_ledger_that_is_not_there(run):
    arguments = ("fit", "mixture", "people.csv", "--schema", "schema.toml", "-k", 1)
    assert "no ledger at" in run(*arguments, "--ledger", "none.db", "--dataset", "a", code=1).stderr.replace("\n", " ")


def test_a_data_set_that_is_not_in_the_ledger(run, account):
    arguments = ("fit", "mixture", "people.csv", "--schema", "schema.toml", "-k", 1)
    assert "no data set 'cats'" in run(*arguments, "--ledger", "study.db", "--dataset", "cats", code=1).stderr


def test_a_ledger_for_the_other_relation(refuse):
    assert "neighbors='replace_one'" in refuse("--neighbors", "add_remove")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("none.csv", None, "There is no file none.csv"),
        ("empty.csv", b"", "is empty"),
        ("header.csv", b"age,income,smoker,region\n", "no rows"),
        ("bytes.csv", b"\xff\xfe\x00\x01\n\x80\n", ""),
        ("ragged.csv", b"age,income,smoker,region\n1,2\n", "could not be read as CSV"),
        ("none.parquet", None, "There is no file none.parquet"),
        ("bytes.parquet", b"PAR1 not at all", "is not a Parquet file"),
        ("twice.csv", b"age,age,smoker,region\n1,2,true,north\n", "age"),
        ("people.xlsx", b"PK", "must be named .csv"),
        ("people", b"age\n1\n", "must be named .csv"),
    ],
)
def test_files(refuse, folder, name, content, words):
    if content is not None:
        (folder / name).write_bytes(content)
    assert words in refuse(data=name)


def test_duplicated_columns_of_a_parquet_file(refuse, folder):
    table = pa.Table.from_arrays([pa.array([1.0, 2.0, 3.0])] * 2, names=["age", "age"])
    pa.parquet.write_table(table, folder / "twice.parquet")
    assert "age" in refuse("--bounds", 0, 9, data="twice.parquet", schema=None)


def test_a_folder_for_data(refuse, folder):
    (folder / "folder.csv").mkdir()
    assert "is a directory" in refuse(data="folder.csv")


def test_columns_that_the_table_lacks_and_columns_that_the_schema_lacks(refuse, folder):
    (folder / "other.csv").write_text("age,salary,smoker,region\n1,2,true,north\n")
    assert "'income'" in refuse(data="other.csv")
    (folder / "more.csv").write_text("age,income,smoker,region,weight\n1,2,true,north,3\n")
    assert "'weight'" in refuse(data="more.csv")


@pytest.mark.parametrize("text", ["[columns.age", "", "[columns]\n", '[columns.age]\ntype = "date"\n', "\0"])
def test_schemas_that_cannot_be_read(refuse, folder, text):
    (folder / "wrong.toml").write_text(text)
    assert "wrong.toml" in refuse(schema="wrong.toml")


def test_a_schema_that_is_not_there(refuse):
    assert "There is no schema file none.toml" in refuse(schema="none.toml")


@pytest.mark.parametrize(
    ("option", "path", "words"),
    [
        ("-o", "none/model.tacit", "does not exist"),
        ("-o", "people.csv", "already a file"),
        ("-o", ".", "is a folder"),
        ("--report", "none/report.html", "does not exist"),
        ("--report", "report.pdf", "must be named .html"),
    ],
)
def test_results_that_have_nowhere_to_go(refuse, option, path, words):
    assert words in refuse(option, path)


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "mixture", "people.csv"),
        ("fit", "mixture", "people.csv", "-k", "three"),
        ("fit", "mixture", "people.csv", "-k", 2, "--schema", "schema.toml", "--radius", 3),
        ("fit", "mixture", "people.csv", "-k", 2, "--schema", "schema.toml", "--bounds", "private"),
        ("fit", "mixture", "people.csv", "-k", 2, "--schema", "schema.toml", "--ledger", "study.db"),
        ("fit", "mixture", "people.csv", "-k", 2, "--schema", "schema.toml", "--dataset", "people"),
        ("fit", "mixture", "people.csv", "-k", 2, "--schema", "schema.toml", "--covariance", "round"),
        ("fit", "mixture", "numbers.csv", "-k", 2, "--bounds", 1),
        ("fit", "forest", "people.csv"),
        ("plan", "-k", 2, "-n", 100),
        ("plan", "-k", 2, "-n", 100, "-d", 3, "--schema", "schema.toml"),
        ("budget", "create", "study.db", "people"),
        ("sample", "model.tacit"),
        ("dance",),
    ],
)
def test_command_lines_that_cannot_be_understood(run, arguments):
    result = run(*arguments, code=2)
    assert result.stdout == ""
    assert result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("plan", "-n", 0, "-d", 2, "-k", 1), "--rows must be at least 1"),
        (("plan", "-n", 9, "-d", -2, "-k", 1), "--columns must be at least 1"),
        (("plan", "-n", 3, "-d", 2, "-k", 4), "fewer components"),
        (("plan", "-n", 9, "-d", 2, "-k", 1, "--epsilon", 1, "--epsilon", -1), "epsilon must be a positive"),
        (("plan", "-n", 9, "--schema", "none.toml", "-k", 1), "no schema file"),
        (("demo", "--epsilon", 0), "epsilon must be a positive"),
        (("demo", "-o", "demo.txt"), "must be named .html"),
        (("budget", "create", "a.db", "people", "--epsilon", -1), "epsilon must be a positive"),
        (("budget", "create", "a.db", " ", "--epsilon", 1), "must not be blank"),
        (("budget", "show", "none.db", "people"), "There is no ledger"),
        (("budget", "list", "people.csv"), "is damaged"),
        (("budget", "list", "mysql://host/base"), "neither a file's name"),
        (("sample", "none.tacit", "-o", "a.csv"), "There is no model file"),
        (("sample", "people.csv", "-o", "a.csv"), "is not a model file of tacit"),
        (("certificate", "people.csv"), "is not a model file of tacit"),
        (("report", "none.tacit"), "There is no model file"),
        (("schema", "init", "none.csv", "-o", "a.toml"), "There is no file"),
        (("schema", "init", "people.csv", "-o", "none/a.toml"), "does not exist"),
        (("schema", "check", "none.toml"), "no schema file"),
        (("schema", "check", "schema.toml", "numbers.csv"), "the table lacks"),
    ],
)
def test_other_commands_refuse_in_a_sentence_too(run, folder, arguments, words):
    before = sorted(folder.iterdir())
    result = run(*arguments, code=1)
    assert result.stdout == ""
    assert words in " ".join(result.stderr.split())
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(("option", "words"), [("-n", "at least 1"), ("-o", "must be named .csv or .parquet")])
def test_samples_that_cannot_be_drawn(run, fitted, option, words):
    arguments = {"-n": 10, "-o": "a.csv"} | {option: {"-n": 0, "-o": "a.xlsx"}[option]}
    assert words in run("sample", fitted, *(part for pair in arguments.items() for part in pair), code=1).stderr


def test_pairs_of_columns_that_are_not_there(run, fitted):
    assert "--pair takes two columns" in run("report", fitted, "--pair", "age,height", code=1).stderr

"""``tacit audit``: a table and a verdict for our estimators and for others' own."""

import pytest

LEAKY = """
import tacit


class Leaky(tacit.Moments):
    def fit(self, X, y=None):
        super().fit(X)
        self.rows_ = [str(cell) for cell in X.column(0)]
        return self


def make():
    return Leaky(bounds=(0, 150))


ready = tacit.Moments(bounds=(0, 150))
"""


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
def test_an_estimator_of_ours(run, relation):
    done = run("audit", "KMeans", "numbers.csv", "--bounds", 0, 150, "--set", "n_clusters=2", "--neighbors", relation)
    assert "NOT PRIVATE" in done.stdout
    assert f"KMeans, {relation}" in done.stdout
    assert "declared" in done.stdout
    assert "Passed" in done.stdout


def test_a_target_and_a_schema(run):
    options = ("--schema", "schema.toml", "--target", "income", "--rows", 300)
    assert "Passed" in run("audit", "LinearRegression", "people.csv", *options).stdout


def test_json(run_json):
    values = run_json("audit", "Moments", "numbers.csv", "--bounds", 0, 150, "--set", "method=published")
    assert values["passed"] is True
    [release] = values["releases"]
    assert 0 < release["measured"] <= release["declared"] * (1 + 1e-6)


@pytest.mark.parametrize("name", ["Leaky", "make"])
def test_a_leak_in_an_estimator_of_ones_own_ends_in_1(run, folder, name, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    (folder / "leaky_models.py").write_text(LEAKY)
    done = run("audit", f"leaky_models:{name}", "numbers.csv", "--bounds", 0, 150, code=1)
    assert "Attribute rows_ of the fitted model depends on rows" in done.stdout
    assert "FAILED" in done.stdout
    assert "Passed" in run("audit", "leaky_models:ready", "numbers.csv").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("Nothing", "numbers.csv"), "There is no 'Nothing' in 'tacit'"),
        (("no_such_module:make", "numbers.csv"), "There is no 'make' in 'no_such_module'"),
        (("Budget", "numbers.csv"), "must be an estimator"),
        (("mean", "numbers.csv"), "must be an estimator"),
        (("KMeans", "absent.csv"), "absent.csv"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(run, arguments, words):
    assert words in run("audit", *arguments, code=1).stderr


def test_a_setting_without_a_value_is_misunderstood(run):
    assert "NAME=VALUE" in run("audit", "KMeans", "numbers.csv", "--set", "n_clusters", code=2).stderr

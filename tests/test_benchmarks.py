"""Parts of the benchmarks that figures depend on."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

from tacit.privacy import Gaussian, Plan
from tacit.tables import Schema, compare

FOLDER = Path(__file__).parents[1] / "benchmarks"


def script(name):
    """Return a benchmark as a module, with its folder where a script finds others."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def peer_tables():
    return script("peer_tables")


def test_peers_are_given_all_that_there_is_to_know_of_a_table(peer_tables):
    schema = Schema.from_toml(FOLDER / "adult.toml")
    rng = np.random.default_rng(0)
    table = schema.decode(rng.uniform(-1, 1, (2000, schema.width)))
    codes, counts = peer_tables.to_codes(table, schema)
    assert all(0 <= min(codes[name].to_pylist()) <= max(codes[name].to_pylist()) < counts[name] for name in counts)
    back = peer_tables.from_codes(codes, schema, rng)
    assert back.column_names == list(schema.used)
    for name in ("age", "hours-per-week", "education", "income"):
        assert back[name].to_pylist() == table[name].to_pylist()
    comparison = compare(table, back, schema=schema)
    assert comparison.column_error < 0.03
    assert ((np.asarray(back["capital-gain"]) == 0) == (np.asarray(table["capital-gain"]) == 0)).all()


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_peers_are_given_all_the_budget_that_zcdp_allows(peer_tables, epsilon):
    rho = peer_tables.rho_for(epsilon, 1e-6)
    assert rho > (math.sqrt(math.log(1e6) + epsilon) - math.sqrt(math.log(1e6))) ** 2  # the usual conversion
    exact = Plan((Gaussian("release", 1 / math.sqrt(2 * rho)),), "add_remove").delta(epsilon)
    assert 1e-8 < exact <= 1e-6


@pytest.fixture(scope="module")
def linear_regression():
    return script("linear_regression")


def test_rivals_of_linear_regression_find_the_slopes_where_there_is_no_noise(linear_regression):
    X, y, slopes = linear_regression.table(20_000, 3, 0, correlation=0.0)
    found = linear_regression.adassp(X, y, 300.0, 0, 10.0, 10.0)
    assert found == pytest.approx(slopes, abs=0.05)
    descended = linear_regression.clipped_descent(X, y, 300.0, 1e-6, 50.0, 0)
    assert descended == pytest.approx(slopes, abs=0.05)

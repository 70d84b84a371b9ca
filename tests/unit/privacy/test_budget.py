"""A budget that exists is meaningful, and what is not gets a sentence."""

import ast
import math
import pickle
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.privacy import Budget, BudgetExceeded, LedgerError, PlanError, PrivacyError, check_relation


@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, math.inf, "1", None, True, [1.0], 10**400])
def test_epsilon_must_be_positive_and_finite(epsilon):
    with pytest.raises(ValueError, match=r"^epsilon must be a positive, finite number, and it is .*\.$"):
        Budget(epsilon)


@pytest.mark.parametrize("delta", [-1e-9, 1.0, 2, math.nan, "0", None, False])
def test_delta_must_be_a_probability_below_one(delta):
    with pytest.raises(ValueError, match=r"^delta must be at least 0 and less than 1, and it is .*\.$"):
        Budget(1.0, delta)


def test_budgets_are_plain_floats_whatever_they_were_made_of():
    budget = Budget(np.float32(0.5), np.int64(0))
    assert budget == Budget(0.5)
    assert type(budget.epsilon) is float
    assert type(budget.delta) is float
    assert {budget: "hashable"}[Budget(0.5, 0.0)] == "hashable"
    assert pickle.loads(pickle.dumps(budget)) == budget


def test_a_budget_cannot_be_changed():
    with pytest.raises(AttributeError):
        Budget(1.0).epsilon = 100.0


def test_relations():
    assert check_relation("replace_one") == "replace_one"
    assert check_relation("add_remove") == "add_remove"
    for name in ("replace", "", None, 1):
        with pytest.raises(ValueError, match=r"neighbors must be 'replace_one' .* or 'add_remove'"):
            check_relation(name)


def test_every_privacy_error_is_one_kind_of_error():
    for error in (BudgetExceeded, LedgerError, PlanError):
        assert issubclass(error, PrivacyError)


@pytest.mark.parametrize("room", ["privacy", "release", "statistics"])
def test_nothing_is_checked_by_an_assert(room):
    """Under ``python -O`` assertions are not there."""
    for path in (Path(tacit.__file__).parent / room).glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not any(isinstance(node, ast.Assert) for node in ast.walk(tree)), path.name

"""Counts of cells against their stated sensitivity, and the table model that is made of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transcript import Transcript, planned_mu2

import tacit
from tacit.audit import attack_sensitivity, audit_estimator
from tacit.statistics import Bins, CellCounts, PairCounts
from tacit.tables import Boolean, Categorical, Integer, Numeric

RELATIONS = ("replace_one", "add_remove")
NORMS = ("l1", "l2")
WIDTH = 6  # a number, three levels, a yes or no, another number of which some bins are not counted
COLUMNS = (
    Bins((0,), np.arange(4), np.array([-1.0, -0.1, 0.0, 5e-324, 1.0]), missing=True),
    Bins((1, 2, 3), np.array([0, 1, 1])),
    Bins((4,), np.arange(2), missing=True),
    Bins((5,), np.array([-1, 0, 1, -1]), np.array([-1.0, -0.5, 0.2, 0.4, 1.0])),
)
REGROUPED = COLUMNS[0].regrouped(np.array([0, 0, 1, 1]))  # The same number in coarser groups.
STATISTICS = (
    CellCounts(COLUMNS),
    PairCounts(COLUMNS),
    PairCounts((*COLUMNS, REGROUPED), ((0, 1), (4, 1), (2, 3), (2, 3))),  # A pair in two ways, and one twice.
    CellCounts(COLUMNS[3:]),
    PairCounts(COLUMNS[:2]),
)

UGLY = [0.0, -0.0, 5e-324, 1e-160, 0.2, 1.0, 1e16, 1.7e308, np.inf]
cells = st.one_of(st.just(np.nan), st.sampled_from([sign * value for value in UGLY for sign in (1, -1)]))

every_relation = pytest.mark.parametrize("neighbors", RELATIONS)
every_norm = pytest.mark.parametrize("norm", NORMS)


@st.composite
def neighbours(draw):
    row = st.lists(cells, min_size=WIDTH, max_size=WIDTH)
    shared = np.array(draw(st.lists(row, max_size=4)), dtype=np.float64).reshape(-1, WIDTH)
    place = draw(st.integers(0, len(shared)))
    data = np.insert(shared, place, draw(row), axis=0)
    neighbors = draw(st.sampled_from(RELATIONS))
    return neighbors, data, shared if neighbors == "add_remove" else np.insert(shared, place, draw(row), axis=0)


@given(pair=neighbours())
@settings(max_examples=200, deadline=None, derandomize=True)
def test_counts_move_no_further_than_stated(pair):
    neighbors, rows, others = pair
    for statistic in STATISTICS:
        change = statistic.block_sum(rows) - statistic.block_sum(others)
        assert np.isfinite(change).all()
        assert len(change) == statistic.size
        for norm in NORMS:
            length = np.linalg.norm(change, 1 if norm == "l1" else 2)
            assert length <= statistic.sensitivity(neighbors, norm) * (1 + 1e-12)  # whole numbers: no rounding


@every_relation
@every_norm
def test_the_bound_is_reached_and_not_exceeded(neighbors, norm):
    for statistic in STATISTICS[:3]:
        attack = attack_sensitivity(statistic, WIDTH, neighbors=neighbors, norm=norm, trials=300, random_state=0)
        assert not attack.exceeds, attack
        assert attack.ratio > 0.999, attack


def test_a_bound_that_forgets_a_column_is_found():
    class Careless(PairCounts):
        def sensitivity(self, neighbors, norm="l2"):
            return PairCounts(self.columns[1:]).sensitivity(neighbors, norm)

    assert attack_sensitivity(Careless(COLUMNS), WIDTH, neighbors="add_remove", trials=300, random_state=0).exceeds


# Fits


SCHEMA = tacit.Schema(
    {"x": Numeric(-1, 1), "plan": Categorical(["a", "b", "c"]), "smokes": Boolean(), "visits": Integer(0, 100_000)}
)
BUDGET = {"epsilon": 8.0, "delta": 1e-3, "bounds": SCHEMA}


def hard_tables(neighbors, missing):
    """A crowd in one spot and a row far from it, against the same with that row elsewhere, or not there."""
    crowd = [{"x": 0.0, "plan": "a", "smokes": False, "visits": 7} for _ in range(60)]
    far = {"x": 1.0, "plan": "c", "smokes": True, "visits": 100_000}
    other = {"x": -1.0, "plan": "b", "smokes": False, "visits": 0}
    if missing:
        far, other = {**far, "x": None}, {**other, "plan": None}
    data = [far, *crowd]
    neighbor = crowd if neighbors == "add_remove" else [other, *crowd]
    return [{name: [row[name] for row in rows] for name in SCHEMA.names} for rows in (data, neighbor)]


@every_relation
@pytest.mark.parametrize("missing", ["error", "ignore", "model"])
def test_no_fit_goes_further_than_planned(missing, neighbors):
    data, neighbor = hard_tables(neighbors, missing != "error")
    transcript = Transcript(tacit.TableModel(random_state=0, missing=missing, neighbors=neighbors, **BUDGET), data)
    plan = transcript.model.privacy_.plan
    names = [name for _, name, *_ in transcript.releases]
    assert names[0] == "cell counts"
    assert names[-2:] == ["pair counts", "finer pair counts"]
    assert 1 <= names.count("finer cell counts") <= 3  # as long as there are heavy bins to split
    encoded = [SCHEMA.encode(table) for table in (data, neighbor)]
    assert transcript.furthest_step(*encoded) <= 1 + 1e-9
    assert transcript.spent(*encoded) <= planned_mu2(plan) * (1 + 1e-9)
    if missing == "error":
        assert transcript.furthest_step(*encoded) > 0.8  # hard enough: the audit below would see an excess
    if missing == "ignore" and neighbors == "add_remove":
        assert transcript.spent(*encoded) == 0  # a row that is left out is as if it were not there


@pytest.mark.parametrize("trials", [60, pytest.param(2000, marks=pytest.mark.slow)])
def test_what_a_model_publishes_does_not_refute_its_certificate(trials):
    data, neighbor = hard_tables("replace_one", missing=False)
    audit = audit_estimator(tacit.TableModel(**BUDGET), data, neighbor, trials=trials, random_state=0)
    assert not audit.refutes(), audit


def test_everything_released_tells_no_more_than_the_certificate():
    """The best attack there is on all that crosses the door; the claim is met to a good part, so it has teeth."""
    data, neighbor = hard_tables("add_remove", missing=False)
    encoded = [SCHEMA.encode(table) for table in (data, neighbor)]
    ratios = []
    for table in (data, neighbor):
        for seed in range(30):
            model = tacit.TableModel(random_state=seed, neighbors="add_remove", **BUDGET)
            ratios.append(Transcript(model, table).log_likelihood_ratio(*encoded))
    apart = np.mean(ratios[30:]) - np.mean(ratios[:30])  # mu^2, were the sums as far apart as planned
    mu2 = planned_mu2(model.fit(data).privacy_.plan)
    assert 0.3 * mu2 < apart < 1.5 * mu2

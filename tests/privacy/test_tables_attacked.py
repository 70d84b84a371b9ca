"""Statistics of tables with levels and missing cells against their stated sensitivity; what fits of tables release.

The proofs are in the docstrings. Attacked are all patterns of missing cells, with ugly numbers between them, under both
relations and in both norms; that the bound is reached shows that the search can find what it looks for.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transcript import Transcript, planned_mu2

import tacit
from tacit.audit import attack_sensitivity, audit_estimator
from tacit.statistics import (
    Components,
    LikelihoodGains,
    OutlierCount,
    TableComponents,
    TableLayout,
    TableMoments,
    TableSquares,
    least_radius,
)
from tacit.tables import Boolean, Categorical, Numeric

KINDS = ("full", "tied", "diag", "spherical")
RELATIONS = ("replace_one", "add_remove")
NORMS = ("l1", "l2")
LAYOUT = TableLayout((0, 5), ((1, 2, 3), (4,)))  # a number, three levels, a yes or no, another number
WIDTH = LAYOUT.width

GAUSSIANS = Components(
    np.array([0.3, 0.7]),
    np.array([[-6.0, 1.0], [5.0, 2.0]]),
    np.array([[[1.0, 0.0], [0.4, 0.5]], [[0.3, 0.0], [-0.2, 0.8]]]),
)
SHARES = np.array([[0.7, 0.2, 0.1, 0.99, 0.01], [1e-6, 0.5, 0.5 - 1e-6, 0.4, 0.6]])
TABLE = TableComponents(LAYOUT, GAUSSIANS, SHARES)
MIRRORED = TableComponents(LAYOUT, Components(GAUSSIANS.weights, -GAUSSIANS.means, GAUSSIANS.factors), SHARES[::-1])

UGLY = [0.0, -0.0, 5e-324, 1e-160, 1e-16, 1.0, 1e16, 1e150, 1e160, 1.7e308, np.inf]
cells = st.one_of(
    st.just(np.nan),
    st.sampled_from([sign * value for value in UGLY for sign in (1, -1)]),
    st.floats(-8, 8),
)

every_relation = pytest.mark.parametrize("neighbors", RELATIONS)
every_kind = pytest.mark.parametrize("kind", KINDS)


def moved(statistic, rows, others, norm="l2"):
    with np.errstate(all="ignore"):
        change = statistic.block_sum(rows) - statistic.block_sum(others)
    assert np.isfinite(change).all()
    return float(np.linalg.norm(change, 1 if norm == "l1" else 2))


def bound(statistic, neighbors, norm, rows):
    return statistic.sensitivity(neighbors, norm) + 2 * rows**2 * 2.0**-53 * statistic.sensitivity("add_remove", norm)


@st.composite
def neighbours(draw):
    row = st.lists(cells, min_size=WIDTH, max_size=WIDTH)
    some = np.array(draw(st.lists(row, max_size=4)), dtype=np.float64).reshape(-1, WIDTH)
    shared = np.tile(some, (draw(st.sampled_from([1, 1, 17])), 1))
    place = draw(st.integers(0, len(shared)))
    data = np.insert(shared, place, draw(row), axis=0)
    neighbors = draw(st.sampled_from(RELATIONS))
    return neighbors, data, shared if neighbors == "add_remove" else np.insert(shared, place, draw(row), axis=0)


@st.composite
def tables(draw):
    """Any parameters: also such that a column all but follows from the others, and levels all but impossible."""
    number = draw(st.integers(1, 3))
    size = 10.0 ** draw(st.floats(-8, 3))
    factors = np.zeros((number, 2, 2))
    for k in range(number):
        factors[k] = size * np.array(
            [[1.0, 0.0], [draw(st.sampled_from([0.0, -0.7, 1e6])), draw(st.sampled_from([1.0, 1e-7, 1e-12]))]]
        )
    means = np.array([[draw(st.floats(-2, 2)) for _ in range(2)] for _ in range(number)])
    weights = np.array([draw(st.sampled_from([1.0, 1e-300])) for _ in range(number)])
    shares = np.array([[draw(st.sampled_from([1.0, 0.3, 1e-9])) for _ in range(5)] for _ in range(number)])
    shares[:, :3] /= shares[:, :3].sum(axis=1, keepdims=True)
    shares[:, 3:] /= shares[:, 3:].sum(axis=1, keepdims=True)
    return TableComponents(LAYOUT, Components(weights / weights.sum(), means, factors), shares)


@every_kind
@given(pair=neighbours(), parts=tables(), data=st.data())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_moments_move_no_further_than_stated(kind, pair, parts, data):
    weights = st.sampled_from([0.2, 1.0, 5.0])
    statistic = TableMoments(
        parts,
        radius=data.draw(st.sampled_from([1.0, 1.7, 1e50])) * least_radius(2, kind),
        count=data.draw(weights),
        mean=data.draw(weights),
        second=data.draw(weights),
        level_weight=data.draw(weights),
        covariance_type=kind,
        missing=data.draw(st.booleans()),
        fill=data.draw(st.sampled_from([0.0, 0.8, 1.0])),
    )
    neighbors, rows, others = pair
    for norm in NORMS:
        assert moved(statistic, rows, others, norm) <= bound(statistic, neighbors, norm, len(rows))


@given(pair=neighbours(), parts=tables(), missing=st.booleans())
@settings(max_examples=120, deadline=None, derandomize=True)
def test_squares_move_no_further_than_stated(pair, parts, missing):
    neighbors, rows, others = pair
    for norm in NORMS:
        statistic = TableSquares(parts, missing)
        assert moved(statistic, rows, others, norm) <= bound(statistic, neighbors, norm, len(rows))


@given(
    pair=neighbours(), parts=tables(), wide=tables(), missing=st.booleans(), share=st.sampled_from([1e-9, 0.001, 1.0])
)
@settings(max_examples=120, deadline=None, derandomize=True)
def test_outliers_count_for_no_more_than_one(pair, parts, wide, missing, share):
    neighbors, rows, others = pair
    statistic = OutlierCount(parts, wide, missing, share)
    assert moved(statistic, rows, others) <= bound(statistic, neighbors, "l2", len(rows))


@given(pair=neighbours(), candidates=st.lists(tables(), min_size=2, max_size=4), missing=st.booleans())
@settings(max_examples=120, deadline=None, derandomize=True)
def test_gains_move_no_further_than_stated(pair, candidates, missing):
    neighbors, rows, others = pair
    gains = LikelihoodGains(tuple(candidates), missing)
    for norm in NORMS:
        assert moved(gains, rows, others, norm) <= bound(gains, neighbors, norm, len(rows))


@every_relation
@pytest.mark.parametrize("missing", [True, False])
def test_the_bound_of_gains_is_reached(missing, neighbors):
    """One row prefers the first candidate beyond doubt, the other the next; with gaps, by the cells they have."""
    attack = attack_sensitivity(
        LikelihoodGains((TABLE, MIRRORED, TABLE), missing), WIDTH, neighbors=neighbors, trials=300, random_state=0
    )
    assert not attack.exceeds, attack
    assert attack.ratio > 0.95, attack


def test_a_row_gains_by_the_cells_it_has():
    """By numbers alone, by a level alone, by nothing; and not at all with a gap where gaps are not modelled."""
    cells = np.array([60.0, 1.0, 0.0, 0.0, -1.0, -70.0])
    for gaps, gained in (([], True), ([1, 2, 3, 4], True), ([0, 5], True), (list(range(WIDTH)), False)):
        row = cells[None].copy()
        row[:, gaps] = np.nan
        with_gaps, without = (abs(LikelihoodGains((TABLE, MIRRORED), m).block_sum(row)[0]) for m in (True, False))
        assert (with_gaps > 0.01) == gained
        assert (without > 0.01) == (not gaps)
    with pytest.raises(ValueError, match="must be TableComponents"):
        LikelihoodGains((GAUSSIANS, GAUSSIANS), missing=True)


@pytest.mark.slow
@every_kind
@every_relation
@pytest.mark.parametrize("norm", NORMS)
def test_long_search_finds_no_counterexample(kind, neighbors, norm):
    for statistic in (
        TableMoments(TABLE, least_radius(2, kind), 0.4, 1.2, 1.0, 0.8, kind, missing=True),
        TableMoments(TABLE, 1.5, 0.4, 1.2, 1.0, 0.8, kind),
        TableSquares(TABLE, missing=True),
        LikelihoodGains((TABLE, MIRRORED, TABLE), missing=True),
        LikelihoodGains((MIRRORED, TABLE)),
    ):
        attack = attack_sensitivity(statistic, WIDTH, neighbors=neighbors, norm=norm, trials=3000, random_state=1)
        assert not attack.exceeds, attack


@every_relation
@every_kind
def test_the_bound_is_reached(kind, neighbors):
    """Two rows of different components and levels, clipped ones: the proof has equality there."""
    statistic = TableMoments(TABLE, 2.1, covariance_type=kind, missing=True)
    attack = attack_sensitivity(statistic, WIDTH, neighbors=neighbors, trials=400, random_state=0)
    assert not attack.exceeds, attack
    assert attack.ratio > 0.97, attack


@every_kind
def test_rows_with_gaps_use_what_there_is_of_the_bound(kind):
    """Whatever cells are missing, a far row is as long as the bound allows, but for the levels: no noise is wasted."""
    statistic = TableMoments(TABLE, 2.1, 0.1, 0.1, 1.0, 0.1, kind, missing=True)
    for gaps in ([], [0], [5], [1, 2, 3], [0, 4], [1, 2, 3, 4]):
        row = np.array([[60.0, 0.0, 1.0, 0.0, -1.0, -70.0]])
        row[:, gaps] = np.nan
        length = moved(statistic, row, row[:0]) / statistic.sensitivity("add_remove")
        assert 0.6 < length <= 1 if kind == "diag" else 0.95 < length <= 1


def test_a_bound_without_room_for_what_is_filled_in_is_found():
    """Clipping rows with gaps at the full radius would break the bound: the search sees it."""

    class Careless(TableMoments):
        def _stretch(self, rows):
            return 1.0

    attack = attack_sensitivity(
        Careless(TABLE, least_radius(2, "full"), 0.1, 0.1, 1.0, 0.1, missing=True),
        WIDTH,
        neighbors="add_remove",
        trials=600,
        random_state=0,
    )
    assert attack.exceeds


@pytest.mark.parametrize("missing", [True, False])
def test_a_row_is_computed_alike_wherever_it_stands(missing):
    """To the last bit, with rows of other patterns before and behind it."""
    rng = np.random.default_rng(0)
    row = np.array([0.3, 0.0, 0.0, 1.0, np.nan if missing else 1.0, np.nan if missing else -0.2])
    seen, densities = set(), set()
    for before in (0, 1, 5, 63, 64, 200):
        others = rng.normal(size=(before + 9, WIDTH))
        others[rng.random(others.shape) < 0.3] = np.nan
        block = np.insert(others, before, row, axis=0)
        for rows in TABLE.e_step(block, missing):
            for at in np.flatnonzero(rows.places == before):
                seen.add(
                    tuple(values[..., at].tobytes() for values in (rows.lifted, rows.distances, rows.responsibilities))
                )
        densities.add(TABLE.log_density(block, missing)[before].tobytes())
    assert len(seen) == len(densities) == 1


def test_parameters_without_a_bound_are_refused():
    for wrong in (
        {"level_weight": 0.0},
        {"level_weight": np.inf},
        {"mean": -1.0},
        {"fill": 1.1},
        {"radius": 0.5},
        {"radius": np.nan},
    ):
        with pytest.raises(ValueError, match="must"):
            TableMoments(**{"components": TABLE, "radius": 2.0, "missing": True, **wrong})
    with pytest.raises(ValueError, match="must be positive"):
        TableComponents(LAYOUT, GAUSSIANS, np.zeros((2, 5)))


# Fits


SCHEMA = tacit.Schema({"x": Numeric(-1, 1), "plan": Categorical(["a", "b", "c"]), "smokes": Boolean()})
BUDGET = {"epsilon": 8.0, "delta": 1e-3, "bounds": SCHEMA}


def hard_tables(neighbors, missing):
    """A crowd in one spot and a row far from it, against the same with that row elsewhere, or not there."""
    crowd = [{"x": 0.01 * (i % 3), "plan": "a", "smokes": False} for i in range(40)]
    far, other = {"x": 1.0, "plan": "c", "smokes": True}, {"x": -1.0, "plan": "b", "smokes": False}
    if missing:
        far, other = {**far, "x": None}, {**other, "plan": None}
    data = [far, *crowd]
    neighbor = crowd if neighbors == "add_remove" else [other, *crowd]
    return [{name: [row[name] for row in rows] for name in SCHEMA.names} for rows in (data, neighbor)]


@every_relation
@pytest.mark.parametrize("missing", ["ignore", "model"])
@pytest.mark.parametrize(
    "settings",
    [{"covariance_type": kind} for kind in KINDS] + [{"n_components": 2}, {"n_components": (1, 2, 3)}],
    ids=str,
)
def test_no_fit_goes_further_than_planned(settings, missing, neighbors):
    data, neighbor = hard_tables(neighbors, missing == "model")
    model = tacit.GaussianMixture(random_state=0, missing=missing, neighbors=neighbors, **BUDGET, **settings)
    transcript = Transcript(model, data)
    plan = transcript.model.privacy_.plan
    assert len(transcript.releases) == sum(step.count for step in plan.steps)
    encoded = [SCHEMA.encode(table) for table in (data, neighbor)]
    assert transcript.furthest_step(*encoded) <= 1 + 1e-9
    assert transcript.spent(*encoded) <= planned_mu2(plan) * (1 + 1e-9)
    if neighbors == "add_remove":
        assert transcript.furthest_step(*encoded) > 0.5


@every_relation
@pytest.mark.parametrize("bounds", [SCHEMA, (-1, 1)], ids=["table", "numbers"])
def test_no_choice_among_fits_with_gaps_goes_further_than_planned(bounds, neighbors):
    """The number of components is chosen by rows with gaps: every release stays within the plan, the choice too."""
    data, neighbor = hard_tables(neighbors, missing=True)
    if bounds is not SCHEMA:
        data, neighbor = (np.array([table["x"], table["smokes"]], dtype=np.float64).T for table in (data, neighbor))
    model = tacit.GaussianMixture((1, 2, 3), random_state=0, missing="model", neighbors=neighbors)
    transcript = Transcript(model.set_params(**{**BUDGET, "bounds": bounds}), data)
    assert any(isinstance(release[2], LikelihoodGains) for release in transcript.releases)
    encoded = [SCHEMA.encode(table) for table in (data, neighbor)] if bounds is SCHEMA else (data, neighbor)
    assert transcript.furthest_step(*encoded) <= 1 + 1e-9
    assert transcript.spent(*encoded) <= planned_mu2(transcript.model.privacy_.plan) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("missing", "trials"), [("model", 60), pytest.param("ignore", 2000, marks=pytest.mark.slow),
                            pytest.param("model", 2000, marks=pytest.mark.slow)]
)  # fmt: skip
def test_what_a_model_publishes_does_not_refute_its_certificate(missing, trials):
    data, neighbor = hard_tables("replace_one", missing == "model")
    model = tacit.GaussianMixture(missing=missing, n_iter=4, **BUDGET)
    audit = audit_estimator(model, data, neighbor, trials=trials, random_state=0)
    assert not audit.refutes(), audit


@pytest.mark.parametrize(
    ("missing", "trials"), [("model", 40), pytest.param("ignore", 1000, marks=pytest.mark.slow),
                            pytest.param("model", 1000, marks=pytest.mark.slow)]
)  # fmt: skip
def test_the_claim_stands_where_the_number_of_components_is_chosen(missing, trials):
    data, neighbor = hard_tables("replace_one", missing == "model")
    model = tacit.GaussianMixture((1, 2), missing=missing, n_iter=7, **BUDGET)
    audit = audit_estimator(model, data, neighbor, trials=trials, random_state=0)
    assert not audit.refutes(), audit

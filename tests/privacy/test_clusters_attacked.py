"""The statistics of k-means in corners of their own: any centres, any rows, wherever the rows stand.

The searches that all statistics undergo are in ``test_statistics_attacked``.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_statistics_attacked import NORMS, RELATIONS, bound, moved, neighbours
from transcript import Transcript, hard_pair

import tacit
from tacit.audit import attack_sensitivity
from tacit.published.statistics import ClusterSums
from tacit.statistics import Centres, ClusterMoments

KINDS = ("full", "diag", "spherical")
COLUMNS = 2
TWO, ONE = Centres(np.array([[-0.5, 0.2], [0.9, -0.4]])), Centres(np.array([[0.2, -0.1]]))


@pytest.mark.parametrize(
    ("kind", "centres", "weights"),
    [
        *(pytest.param(kind, TWO, (0.5, 1.0, 1.0), id=f"{kind}-two clusters") for kind in KINDS),
        *(pytest.param(kind, ONE, (0.5, 2.0, 1.0), id=f"{kind}-opposite rows") for kind in KINDS),
    ],
)
def test_replaced_row_reaches_the_bound(kind, centres, weights):
    statistic = ClusterMoments(centres, np.full(centres.count, 0.8), *weights, kind)
    attack = attack_sensitivity(statistic, COLUMNS, neighbors="replace_one", trials=400, random_state=0)
    assert not attack.exceeds
    assert attack.ratio > 0.99, attack


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("centres", [TWO, ONE], ids=["two", "one"])
def test_sums_in_a_box_reach_the_bound(centres, neighbors, norm):
    statistic = ClusterSums(centres, np.array([0.5, 2.0]), 0.2, 1.0)
    attack = attack_sensitivity(statistic, COLUMNS, neighbors=neighbors, norm=norm, trials=400, random_state=0)
    assert not attack.exceeds
    if not (centres.count == 1 and neighbors == "replace_one"):  # where no row is in another cluster the bound is loose
        assert attack.ratio > 0.99, attack


@st.composite
def any_centres(draw, columns=COLUMNS):
    number = draw(st.integers(1, 4))
    sizes = st.sampled_from([0.0, 1.0, 1.0, 1e-9, 1e9, 1e160])
    return Centres(np.array([[draw(st.floats(-2, 2)) * draw(sizes) for _ in range(columns)] for _ in range(number)]))


@pytest.mark.parametrize("kind", KINDS)
@given(pair=neighbours(), centres=any_centres(), data=st.data())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_moments_move_no_further_than_stated(kind, pair, centres, data):
    weights = st.sampled_from([0.2, 1.0, 5.0])
    radii = np.array([data.draw(st.sampled_from([1e-100, 0.1, 1.0, 4.0, 1e100])) for _ in range(centres.count)])
    statistic = ClusterMoments(centres, radii, *(data.draw(weights) for _ in range(3)), kind)
    neighbors, rows, others = pair
    for norm in NORMS:
        assert moved(statistic, rows, others, norm) <= bound(statistic, neighbors, norm, len(rows))


@given(pair=neighbours(), centres=any_centres(), data=st.data())
@settings(max_examples=150, deadline=None, derandomize=True)
def test_sums_move_no_further_than_stated(pair, centres, data):
    limits = data.draw(st.sampled_from([np.array([1.0, 0.1]), np.array([1e-9, 1e9]), 1e-9, 1.0, 1e9]))
    count, mean = data.draw(st.sampled_from([(1.0, 1.0), (0.1, 3.0), (1.0, 0.0), (0.0, 2.0)]))
    statistic = ClusterSums(centres, limits, count, mean)
    neighbors, rows, others = pair
    for norm in NORMS:
        assert moved(statistic, rows, others, norm) <= bound(statistic, neighbors, norm, len(rows))


@pytest.mark.parametrize("columns", [1, 2, 3, 5, 10, 11, 20])
@pytest.mark.parametrize("clusters", [2, 5, 20, 40])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_row_belongs_to_the_same_centre_wherever_it_stands(columns, clusters, order):
    """Rows halfway between two centres: which is nearer is decided in the last bits."""
    rng = np.random.default_rng([columns, clusters])
    centres = Centres(rng.uniform(-1, 1, (clusters, columns)))
    row = (centres.points[0] + centres.points[1]) / 2 + rng.normal(size=columns) * 1e-17
    seen = set()
    for rows in (1, 2, 3, 5, 8, 63, 64, 65, 130, 1000, 2047, 2048, 2049, 4100):
        block = np.asarray(np.tile(row, (rows, 1)), order=order)
        seen |= set(centres.nearest(block).tolist())
    assert len(seen) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("columns", [1, 2, 7, 10])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_row_contributes_the_same_bits_wherever_it_stands(columns, kind, order):
    """The row is alone in its cluster, so what it contributes is what comes out."""
    rng = np.random.default_rng(columns)
    statistic = ClusterMoments(
        Centres(np.array([np.full(columns, -0.5), np.full(columns, 0.5)])), np.ones(2), 1, 1, 1, kind
    )
    row, seen = rng.uniform(0.1, 3.0, columns), set()
    for rows in (1, 2, 5, 63, 64, 65, 1000, 2049, 8191, 8192):
        block = rng.uniform(-1.0, -0.1, (rows, columns))
        block[rng.integers(rows)] = row
        counts, *parts = statistic.parts(statistic.block_sum(np.asarray(block, order=order)))
        assert counts.tolist() == [rows - 1, 1]
        seen.add(b"".join(part[1].tobytes() for part in parts))
    assert len(seen) == 1


def test_nearest_is_nearest():
    rng = np.random.default_rng(0)
    for columns in (1, 3, 12):
        points, rows = rng.normal(size=(7, columns)), rng.normal(size=(5000, columns)) * 3
        expected = np.argmin(np.linalg.norm(rows[:, None] - points, axis=2), axis=1)
        assert (Centres(points).nearest(rows) == expected).all()


@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_what_the_docstring_says(kind):
    rng = np.random.default_rng(0)
    points, rows = rng.normal(size=(5, 3)), rng.normal(size=(3000, 3))
    radii = rng.uniform(0.3, 1.5, 5)
    statistic = ClusterMoments(Centres(points), radii, 0.7, 1.3, 0.4, kind)
    counts, sums, squares = statistic.parts(statistic.block_sum(rows))
    labels = np.argmin(np.linalg.norm(rows[:, None] - points, axis=2), axis=1)
    for k in range(5):
        away = rows[labels == k] - points[k]
        away *= np.minimum(1.0, radii[k] / np.linalg.norm(away, axis=1, keepdims=True))
        expected = {"full": away.T @ away, "diag": (away**2).sum(axis=0), "spherical": (away**2).sum()}[kind]
        assert counts[k] == pytest.approx(len(away))
        assert sums[k] == pytest.approx(away.sum(axis=0))
        assert squares[k] == pytest.approx(expected)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Centres(np.array([[np.nan, 0.0]])),
        lambda: Centres(np.empty((0, 2))),
        lambda: ClusterMoments(TWO, np.array([1.0])),
        lambda: ClusterMoments(TWO, np.array([1.0, 0.0])),
        lambda: ClusterMoments(TWO, np.ones(2), count=0.0),
        lambda: ClusterMoments(TWO, np.ones(2), second=np.inf),
        lambda: ClusterSums(TWO, np.array([1.0, -1.0])),
        lambda: ClusterSums(TWO, np.inf),
        lambda: ClusterSums(TWO, 1.0, 0.0, 0.0),
    ],
)
def test_parameters_without_a_bound_are_refused(wrong):
    with pytest.raises(ValueError, match="must be"):
        wrong()


# What fits arrive at: every release of a fit, on the pair of tables that is hardest to hide.

SETTINGS = [
    {"method": "adaptive"},
    {"method": "adaptive", "n_clusters": 5},
    {"method": "adaptive", "delta": 0.0},
    {"method": "adaptive", "bounds": "private"},
    {"method": "adaptive", "init": np.array([[-0.5, 0.0], [0.5, 0.0]])},
    {"method": "dplloyd"},
    {"method": "dplloyd_zcdp"},
    {"method": "dpem"},
]


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("options", SETTINGS, ids=lambda options: "-".join(map(str, options)) + options["method"])
def test_no_fit_goes_further_than_planned(options, neighbors):
    data, neighbor = hard_pair(neighbors)
    options = {"n_clusters": 2, "epsilon": 8.0, "delta": 1e-3, "bounds": (-1, 1), "neighbors": neighbors, **options}
    for seed in range(3):
        transcript = Transcript(tacit.KMeans(random_state=seed, **options), data)
        assert len(transcript.releases) == transcript.model.n_iter_ + (options["bounds"] == "private")
        assert transcript.furthest_step(data, neighbor) <= 1

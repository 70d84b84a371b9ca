"""The mixture's statistics compute what their docstrings say: row by row, and as scikit-learn's EM does."""

import math
import pickle
import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Plain

from tacit.statistics import ComponentMoments, Components, ComponentSquares, numbers_in_second_moment

KINDS = ("full", "tied", "diag", "spherical")
COLUMNS = 3
UGLY = [np.nan, np.inf, -np.inf, 1e308, -1e308]


def components(seed=0, count=3, columns=COLUMNS, kind="full"):
    rng = np.random.default_rng(seed)
    if kind == "full":
        factors = np.tril(0.3 * rng.normal(size=(count, columns, columns)), -1)
        factors += np.eye(columns) * rng.uniform(0.4, 1.2, (count, 1, columns))
    elif kind == "tied":
        one = np.tril(0.3 * rng.normal(size=(columns, columns)), -1) + np.diag(rng.uniform(0.4, 1.2, columns))
        factors = np.tile(one, (count, 1, 1))
    else:
        spread = rng.uniform(0.4, 1.2, (count, columns if kind == "diag" else 1))
        factors = np.eye(columns) * spread[:, None, :]
    return Components(rng.dirichlet(np.full(count, 5.0)), rng.normal(size=(count, columns)), factors)


def rows(count=500, columns=COLUMNS, seed=1):
    return 1.5 * np.random.default_rng(seed).normal(size=(count, columns))


def responsibilities(parameters, block):
    density = np.stack(
        [
            weight * multivariate_normal(mean, factor @ factor.T).pdf(block)
            for weight, mean, factor in zip(parameters.weights, parameters.means, parameters.factors)
        ]
    )
    return density / density.sum(axis=0)


def second_moment(v, kind):
    if kind == "spherical":
        return np.array([v @ v])
    if kind == "diag":
        return v**2
    rows, cols = np.triu_indices(len(v))
    return np.where(rows == cols, 1.0, math.sqrt(2.0)) * v[rows] * v[cols]


def by_hand(moments, block):
    """What the class's docstring defines, one row and one component at a time."""
    shares = responsibilities(moments.components, block)
    chosen = range(moments.components.count) if moments.only is None else [moments.only]
    counts, sums, squares = [], [], []
    for k in chosen:
        count, total, square = 0.0, 0.0, 0.0
        for row, share in zip(block, shares[k]):
            y = np.linalg.solve(moments.components.factors[k], row - moments.components.means[k])
            y = y if moments.whitened else row
            v = y * min(1.0, moments.radius / np.linalg.norm(y)) / moments.radius
            count += share
            total = total + share * v
            square = square + share * second_moment(v, moments.covariance_type)
        counts.append([moments.count * count])
        sums.append(moments.mean * total)
        squares.append(moments.second * square)
    if moments.covariance_type == "tied":
        squares = [np.sum(squares, axis=0)]
    parts = [np.ravel(counts) * (moments.count > 0), np.ravel(sums), np.ravel(squares)]
    kept = [part for part, weight in zip(parts, (moments.count, moments.mean, moments.second)) if weight > 0]
    return np.concatenate(kept)


# ------------------------------------------------------------------------------------------------------------- by hand


@pytest.mark.parametrize("only", [None, 1])
@pytest.mark.parametrize("whitened", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_block_sums_are_what_the_docstring_says(kind, whitened, only):
    moments = ComponentMoments(components(), 1.7, 0.5, 2.0, 3.0, kind, whitened, only)
    block = rows()
    assert moments.block_sum(block) == pytest.approx(by_hand(moments, block), rel=1e-10, abs=1e-10)
    assert moments.block_sum(block).shape == (moments.size,)


@pytest.mark.parametrize("weights", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 2.0)])
@pytest.mark.parametrize("kind", KINDS)
def test_parts_of_weight_zero_are_left_out(kind, weights):
    moments = ComponentMoments(components(), 1.7, *weights, kind)
    block = rows(200)
    total = moments.block_sum(block)
    assert total == pytest.approx(by_hand(moments, block), rel=1e-10, abs=1e-10)
    assert [part.size > 0 for part in moments.parts(total)] == [weight > 0 for weight in weights]


@pytest.mark.parametrize("kind", KINDS)
def test_parts_undo_the_weights_and_the_radius(kind):
    """Where no row is clipped, parts are plain weighted sums, whatever the radius and the weights."""
    parameters, block = components(), rows(100)
    shares = responsibilities(parameters, block)
    y = [np.linalg.solve(f, (block - m).T).T for f, m in zip(parameters.factors, parameters.means)]
    outer = np.stack([np.einsum("r,ri,rj->ij", s, each, each) for s, each in zip(shares, y)])
    expected = {
        "full": outer,
        "tied": outer.sum(axis=0),
        "diag": np.einsum("kii->ki", outer),
        "spherical": np.einsum("kii->k", outer),
    }[kind]
    moments = ComponentMoments(parameters, 100.0, 0.2, 0.7, 1.3, kind)
    counts, sums, squares = moments.parts(moments.block_sum(block))
    assert counts == pytest.approx(shares.sum(axis=1))
    assert sums == pytest.approx(np.stack([s @ each for s, each in zip(shares, y)]), abs=1e-9)
    assert squares.shape == expected.shape
    assert squares == pytest.approx(expected, abs=1e-8)


def test_squares_are_what_the_docstring_says():
    parameters, block = components(), rows()
    shares = responsibilities(parameters, block)
    expected = np.stack([s @ np.minimum((block - mean) ** 2, 1.0) for s, mean in zip(shares, parameters.means)])
    squares = ComponentSquares(parameters)
    total = squares.block_sum(block)
    assert total.shape == (squares.size,)
    assert squares.parts(total) == pytest.approx(expected)
    assert total == pytest.approx(expected.ravel() / math.sqrt(COLUMNS))


@pytest.mark.parametrize("kind", KINDS)
def test_sizes(kind):
    for columns in (1, 2, 7):
        moments = ComponentMoments(components(columns=columns), 1.0, covariance_type=kind)
        assert moments.block_sum(rows(10, columns)).size == moments.size
    assert numbers_in_second_moment(kind, 4) == {"full": 10, "tied": 10, "diag": 4, "spherical": 1}[kind]


# ------------------------------------------------------------------------------------------------------------ bad rows


@pytest.mark.parametrize("whitened", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_hold_no_numbers_contribute_nothing(kind, whitened):
    moments = ComponentMoments(components(), 1.7, covariance_type=kind, whitened=whitened)
    block = rows(200)
    spoilt = np.insert(block, [0, 50, 50, 120, 200], [[0.1, bad, 0.2] for bad in UGLY], axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert moments.block_sum(spoilt) == pytest.approx(moments.block_sum(block), rel=1e-12)
        assert (moments.block_sum(np.full((3, COLUMNS), np.nan)) == 0).all()
        assert (moments.block_sum(np.empty((0, COLUMNS))) == 0).all()


@pytest.mark.parametrize("bad", UGLY)
def test_squares_leave_out_rows_that_hold_no_numbers(bad):
    squares, block = ComponentSquares(components()), rows(200)
    spoilt = np.insert(block, 7, [0.1, bad, 0.2], axis=0)
    assert squares.block_sum(spoilt) == pytest.approx(squares.block_sum(block), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_far_out_counts_as_one_at_the_radius(kind):
    parameters = components(count=1)
    moments = ComponentMoments(parameters, 2.0, covariance_type=kind)
    total = moments.block_sum(np.full((1, COLUMNS), 1e100))
    counts, sums, _ = moments.parts(total)
    assert counts == pytest.approx([1.0])
    assert np.linalg.norm(sums) == pytest.approx(2.0)
    assert np.linalg.norm(total) <= moments.sensitivity("add_remove")


def test_what_is_computed_for_a_row_does_not_depend_on_where_it_stands():
    """To the last bit: otherwise a row that comes or goes could change what others contribute."""
    parameters, block = components(columns=7), rows(300, 7)
    whole = parameters.e_step(block)
    for start in (1, 3, 64, 130):
        for part, shifted in zip(whole, parameters.e_step(block[start:])):
            assert (part[..., start:] == shifted).all()


@pytest.mark.parametrize("count", [1, 63, 64, 5000, 20_000])
def test_blocks_of_any_length_add_up(count):
    moments = ComponentMoments(components(), 1.7)
    block = rows(count)
    halves = moments.block_sum(block[: count // 2]) + moments.block_sum(block[count // 2 :])
    assert moments.block_sum(block) == pytest.approx(halves, rel=1e-9, abs=1e-9)


# -------------------------------------------------------------------------------------------------------- the contract


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0), (0.2, 0.45, 1.0), (0.1, 1.0, 0.2)])
def test_no_pair_of_rows_exceeds_the_sensitivity(kind, weights):
    rng = np.random.default_rng(0)
    for whitened in (True, False):
        moments = ComponentMoments(components(count=2), 1.3, *weights, kind, whitened)
        contributions = np.stack([moments.block_sum(row[None]) for row in 3 * rng.standard_t(2, (150, COLUMNS))])
        apart = contributions[:, None] - contributions
        for norm, order in (("l1", 1), ("l2", 2)):
            lengths = np.linalg.norm(contributions, order, axis=-1)
            assert lengths.max() <= moments.sensitivity("add_remove", norm)
            assert np.linalg.norm(apart, order, axis=-1).max() <= moments.sensitivity("replace_one", norm)


def test_the_sensitivity_is_reached():
    """Two rows at the radius, at right angles for one component: nothing of the bound is given away."""
    one = Components(np.ones(1), np.zeros((1, 2)), np.eye(2)[None])
    moments = ComponentMoments(one, 1.0, 0.0, 1.0, 1.0, "spherical")
    row = moments.block_sum(np.array([[5.0, 0.0]]))
    assert np.linalg.norm(row) == pytest.approx(moments.sensitivity("add_remove"))
    means = ComponentMoments(one, 1.0, 0.0, 1.0, 0.0)
    apart = means.block_sum(np.array([[5.0, 0.0]])) - means.block_sum(np.array([[-5.0, 0.0]]))
    assert np.linalg.norm(apart) == pytest.approx(means.sensitivity("replace_one"))


def test_statistics_can_be_sent_to_other_processes():
    block = rows(50)
    for statistic in (
        ComponentMoments(components(), 1.7, covariance_type="diag", only=2),
        ComponentSquares(components()),
    ):
        again = pickle.loads(pickle.dumps(statistic))
        assert (again.block_sum(block) == statistic.block_sum(block)).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"radius": 0.0}, "radius"),
        ({"radius": np.inf}, "radius"),
        ({"radius": np.nan}, "radius"),
        ({"count": -1.0}, "weights"),
        ({"mean": np.nan}, "weights"),
        ({"count": 0.0, "mean": 0.0, "second": 0.0}, "not all 0"),
        ({"only": 3}, "only"),
        ({"only": -1}, "only"),
    ],
)
def test_options_that_have_no_bound_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        ComponentMoments(components(), **{"radius": 1.0, **options})


# -------------------------------------------------------------------------------------------------------- scikit-learn


def plain_iteration(parameters, block, kind):
    """One iteration of scikit-learn's EM from the given parameters."""
    covariances = parameters.factors @ parameters.factors.transpose(0, 2, 1)
    precisions = {
        "full": np.linalg.inv(covariances),
        "tied": np.linalg.inv(covariances[0]),
        "diag": 1 / np.einsum("kii->ki", covariances),
        "spherical": 1 / covariances[:, 0, 0],
    }[kind]
    model = Plain(
        parameters.count,
        covariance_type=kind,
        reg_covar=0.0,
        max_iter=1,
        init_params="random",
        weights_init=parameters.weights,
        means_init=parameters.means,
        precisions_init=precisions,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(block)


@pytest.mark.parametrize("whitened", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_where_nothing_is_clipped_an_iteration_is_that_of_scikit_learn(kind, whitened):
    parameters, block = components(kind=kind), rows(2000)
    plain = plain_iteration(parameters, block, kind)
    moments = ComponentMoments(parameters, 1e4, covariance_type=kind, whitened=whitened)
    counts, sums, squares = moments.parts(moments.block_sum(block))
    shifts = sums / counts[:, None]
    factors = parameters.factors if whitened else np.broadcast_to(np.eye(COLUMNS), parameters.factors.shape)
    means = np.einsum("kij,kj->ki", factors, shifts) + (parameters.means if whitened else 0.0)
    variances = np.einsum("kii->ki", factors) ** 2
    covariances = {
        "full": lambda: (
            factors
            @ (squares / counts[:, None, None] - shifts[:, :, None] * shifts[:, None, :])
            @ factors.transpose(0, 2, 1)
        ),
        "tied": lambda: (
            factors[0] @ (squares - np.einsum("k,ki,kj->ij", counts, shifts, shifts)) @ factors[0].T / counts.sum()
        ),
        "diag": lambda: variances * (squares / counts[:, None] - shifts**2),
        "spherical": lambda: variances[:, 0] * (squares / counts - (shifts**2).sum(axis=1)) / COLUMNS,
    }[kind]()
    assert counts / counts.sum() == pytest.approx(plain.weights_, rel=1e-9)
    assert means == pytest.approx(plain.means_, rel=1e-9, abs=1e-9)
    assert covariances == pytest.approx(plain.covariances_, rel=1e-9, abs=1e-9)

"""Maps that rows pass through: what becomes of a row depends on that row alone, to the last bit."""

import pickle

import numpy as np
import pytest

from tacit.release.row_maps import Affine, BlankIncomplete, RoundTarget, RowMap, Standardise, Whiten

D = 5
RNG = np.random.default_rng(0)
UGLY = [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e155, 5e-324, -0.0, 0.0, 1.0]
MAPS = [
    Standardise(RNG.normal(size=D), RNG.uniform(0.1, 3.0, D), "box"),
    Standardise(RNG.normal(size=D), RNG.uniform(0.1, 3.0, D), "ball"),
    Standardise(RNG.normal(size=D), RNG.uniform(0.1, 3.0, D), "anywhere"),
    Standardise(np.zeros(D), np.ones(D), "ball"),
    Standardise(np.zeros(D), np.full(D, 1e-100), "ball"),
    Affine(RNG.normal(size=D), RNG.normal(size=D)),
    Affine(np.full(D, 1e300), np.zeros(D)),
    Whiten(RNG.normal(size=(D - 1, D - 1)), RNG.normal(size=D - 1)),
    Whiten(RNG.normal(size=(2, D - 1)), RNG.normal(size=D - 1)),
    RoundTarget(),
    BlankIncomplete(),
]
every_map = pytest.mark.parametrize("row_map", MAPS, ids=lambda row_map: type(row_map).__name__)


def rows_of_all_kinds(rows=700, seed=0):
    rng = np.random.default_rng(seed)
    block = rng.normal(size=(rows, D)) * 10.0 ** rng.integers(-3, 4, (rows, 1))
    ugly = rng.uniform(size=block.shape) < 0.1
    block[ugly] = rng.choice(UGLY, ugly.sum())
    return block


def mapped(row_map, block):
    before = block.copy()
    with np.errstate(all="ignore"):
        out = row_map(block)
    assert before.tobytes() == block.tobytes(), "a map writes to what it is given"
    return np.ascontiguousarray(out)


@every_map
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_row_is_mapped_alike_wherever_it_stands(row_map, order):
    block = rows_of_all_kinds()
    whole = mapped(row_map, np.asarray(block, order=order))
    assert len(whole) == len(block)
    rng = np.random.default_rng(1)
    for _ in range(20):
        places = rng.permutation(len(block))[: rng.integers(1, len(block))]
        some = mapped(row_map, np.asarray(block[places], order=order))
        assert some.tobytes() == whole[places].tobytes()


@every_map
def test_one_row_changes_no_other(row_map):
    block = rows_of_all_kinds()
    whole = mapped(row_map, block)
    for place, cell in zip((0, 1, 63, 64, 350, 699), [*UGLY[:6]]):
        other = block.copy()
        other[place] = cell
        assert np.delete(mapped(row_map, other), place, axis=0).tobytes() == np.delete(whole, place, axis=0).tobytes()


@every_map
def test_no_rows_stay_no_rows_and_maps_travel(row_map):
    assert len(mapped(row_map, np.empty((0, D)))) == 0
    block = rows_of_all_kinds(10)
    assert mapped(pickle.loads(pickle.dumps(row_map)), block).tobytes() == mapped(row_map, block).tobytes()


def test_every_map_is_attacked():
    assert {type(row_map) for row_map in MAPS} == set(RowMap.__args__)

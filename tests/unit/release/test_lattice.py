import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tacit.release.lattice import Lattice

any_float = st.floats(allow_nan=True, allow_infinity=True, width=64)
steps = st.integers(-60, 60).map(lambda exponent: 2.0**exponent)
positive = st.floats(1e-250, 1e250)


@pytest.mark.parametrize("step", [0.0, -1.0, 0.3, 3.0, math.inf, math.nan])
def test_the_step_is_a_power_of_two(step):
    with pytest.raises(ValueError, match="power of two"):
        Lattice(step)


def test_quantise_rounds_saturates_and_bounds_everything():
    lattice = Lattice(2.0**-3)
    values = [0.0, 0.0625, 0.1875, -0.19, 1e308, -1e308, math.inf, -math.inf, math.nan, 5e-324]
    assert lattice.quantise(values).tolist() == [0, 0, 2, -2, 2**62, -(2**62), 2**62, -(2**62), 0, 0]


@given(values=arrays(np.float64, st.integers(0, 20), elements=any_float), step=steps)
def test_quantise_is_total_nearest_and_monotone(values, step):
    quantised = Lattice(step).quantise(values)
    assert quantised.dtype == np.int64
    assert (np.abs(quantised) <= 2**62).all()
    near = np.isfinite(values) & (np.abs(values) < step * 2.0**50)
    assert (np.abs(values[near] - quantised[near] * step) <= step / 2).all()
    ordered = Lattice(step).quantise(np.sort(values[~np.isnan(values)]))
    assert (ordered[1:] >= ordered[:-1]).all()


@given(values=arrays(np.int64, 10, elements=st.integers(-(2**52), 2**52)), step=steps)
def test_points_come_back_unchanged(values, step):
    lattice = Lattice(step)
    np.testing.assert_array_equal(lattice.quantise(lattice.to_float(values)), values)


@given(
    x=arrays(np.float64, 6, elements=st.floats(-1e6, 1e6)),
    change=arrays(np.float64, 6, elements=st.floats(-10, 10)),
    step=st.integers(-20, 3).map(lambda exponent: 2.0**exponent),
)
def test_rounding_adds_no_more_to_a_distance_than_it_says(x, change, step):
    lattice, y = Lattice(step), x + change
    distance = lattice.to_float(lattice.quantise(x) - lattice.quantise(y))
    slack = 1 + 1e-12
    assert np.linalg.norm(distance) <= (np.linalg.norm(x - y) + lattice.rounding_l2(6)) * slack
    assert np.abs(distance).sum() <= (np.abs(x - y).sum() + lattice.rounding_l1(6)) * slack


def test_the_cost_of_rounding_is_attained():
    lattice = Lattice(1.0)
    gap = lattice.quantise(np.full(4, 0.5 + 1e-9)) - lattice.quantise(np.full(4, 0.5 - 1e-9))
    assert np.linalg.norm(gap) == lattice.rounding_l2(4)
    assert np.abs(gap).sum() == lattice.rounding_l1(4)


def test_a_row_that_comes_moves_every_later_row_and_all_blocks_may_round_differently():
    rows, lattice = np.tile([0.3, 0.3, -0.1, -0.1], 25), Lattice(1.0)

    def total(values):
        return sum(int(lattice.quantise(values[i : i + 2].sum())) for i in range(0, values.size, 2))

    apart = abs(total(rows) - total(np.append(0.0, rows)))
    assert apart > lattice.rounding_l1(1)
    assert apart <= lattice.rounding_l1(1, blocks=51)


@given(noise=positive, ratio=st.floats(2.0**-29, 2.0**60))
def test_the_step_fits_the_noise_and_the_rows(noise, ratio):
    largest = noise / ratio
    step = Lattice.for_noise(noise, largest).step
    assert 1 <= noise / step < 2**39
    assert largest * 2**30 / step < 2**62
    if ratio >= 2.0**-6:
        assert noise / step >= 2**24


@given(largest=positive, rows=st.integers(1, 2**30))
def test_sums_fit_and_no_finer_lattice_would_hold_them(largest, rows):
    step = Lattice.for_sums(largest, rows).step
    assert largest * rows / step < 2**62
    assert largest * rows / step >= 2**60 or step == 2.0**-1074


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1), st.integers(0, 70))
def test_coarsening_rounds_to_the_nearest_point(steps, shift):
    coarse = Lattice(1.0).coarsen(np.array(steps, dtype=np.int64), Lattice(2.0**-shift))
    for fine, near in zip(steps, coarse.tolist()):
        assert 2 * abs(near * 2**shift - fine) <= 2**shift * (shift > 0)


def test_the_step_is_as_fine_as_rows_and_noise_allow():
    assert Lattice.for_noise(1.0, 1.0).step == 2.0**-31
    assert Lattice.for_noise(2.0**-20, 1.0).step == 2.0**-31
    assert Lattice.for_noise(2.0**20, 1.0).step == 2.0**-18  # the noise must be within the samplers' range


@pytest.mark.parametrize(
    ("noise", "largest", "words"),
    [
        (0.0, 1.0, "noise_scale is"),
        (1.0, math.nan, "largest is"),
        (math.inf, 1.0, "noise_scale is"),
        (1e-20, 1.0, "billion"),
    ],
)
def test_impossible_noise_gets_a_sentence(noise, largest, words):
    with pytest.raises(ValueError, match=words):
        Lattice.for_noise(noise, largest)


def test_wrapping_around_is_harmless_to_a_difference():
    """int64 sums are sums modulo 2**64: what neighbours differ by is the same on either side of the seam."""
    rows = np.array([2**62] * 7 + [3], dtype=np.int64)
    neighbour = np.array([2**62] * 7 + [10], dtype=np.int64)
    assert neighbour.sum() - rows.sum() == 7


@pytest.mark.parametrize("size", [1, 2, 3, 5, 10, 66, 1000, 12_345])
@pytest.mark.parametrize("blocks", [1, 3, 2**17])
def test_the_cost_of_rounding_is_rounded_up(size, blocks):
    lattice = Lattice(2.0**-31)
    assert Fraction(lattice.rounding_l2(size, blocks)) ** 2 >= size * (blocks * Fraction(lattice.step)) ** 2
    assert lattice.rounding_l2(size, blocks) <= blocks * lattice.step * size**0.5 * (1 + 2.0**-50)

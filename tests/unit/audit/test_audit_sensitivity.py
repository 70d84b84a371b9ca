"""The sensitivity attack reaches tight bounds and breaks wrong ones."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from tacit.audit import attack_sensitivity

RELATIONS = ("replace_one", "add_remove")


def finite(block):
    return np.clip(np.nan_to_num(block, posinf=1e100, neginf=-1e100), -1e100, 1e100)


def clip_rows(block, radius):
    """Rows scaled into the ball; the norm is taken after dividing by the largest entry, so that it cannot overflow."""
    block = finite(block)
    largest = np.maximum(np.abs(block).max(axis=1, keepdims=True, initial=0), 1e-300)
    norms = largest * np.linalg.norm(block / largest, axis=1, keepdims=True)
    return block * np.minimum(1.0, radius / np.maximum(norms, 1e-300))


@dataclass(frozen=True)
class ClippedSum:
    """Sum of rows clipped to the ball: a row adds at most `radius`, a replacement moves it by at most twice that."""

    columns: int = 3
    radius: float = 2.5

    @property
    def size(self):
        return self.columns

    def block_sum(self, block):
        return clip_rows(block, self.radius).sum(axis=0)

    def sensitivity(self, neighbors, norm):
        largest = self.radius * (np.sqrt(self.columns) if norm == "l1" else 1.0)
        return largest * (2.0 if neighbors == "replace_one" else 1.0)


@dataclass(frozen=True)
class ClippedMoments:
    """Sum of x and xx' for rows in the ball, off-diagonal entries counted once with weight sqrt(2)."""

    columns: int = 4
    radius: float = 3.0

    @property
    def size(self):
        return self.columns + self.columns * (self.columns + 1) // 2

    def block_sum(self, block):
        block = clip_rows(block, self.radius)
        upper = np.triu_indices(self.columns)
        weights = np.where(upper[0] == upper[1], 1.0, np.sqrt(2))
        return np.concatenate([block.sum(axis=0), (block.T @ block)[upper] * weights])

    def sensitivity(self, neighbors, norm):
        r2 = self.radius**2
        if neighbors == "add_remove":
            return np.sqrt(r2 + r2**2)
        # |x - y|^2 + |xx' - yy'|^2 for |x| = |y| = r and cosine c is 2 r^2 (1 - c) + 2 r^4 (1 - c^2).
        c = max(-1.0, -1 / (2 * r2))
        return np.sqrt(2 * r2 * (1 - c) + 2 * r2**2 * (1 - c**2))


class Unclipped(ClippedSum):
    def block_sum(self, block):
        return finite(block).sum(axis=0)


class ForgottenTwo(ClippedSum):
    def sensitivity(self, neighbors, norm):
        return super().sensitivity("add_remove", norm)


class NotANumberUnsafe(ClippedSum):
    def block_sum(self, block):
        norms = np.linalg.norm(block, axis=1, keepdims=True)
        return (block * np.minimum(1.0, self.radius / np.maximum(norms, 1e-300))).sum(axis=0)


class EntriesClippedBoundForRows(ClippedSum):
    """Clips every entry to the radius, and states the bound of a clipped row: wrong by sqrt(columns)."""

    def block_sum(self, block):
        return np.clip(finite(block), -self.radius, self.radius).sum(axis=0)


class CountForgotten(ClippedSum):
    """Releases the number of rows too, which does not move under replace_one, but does under add_remove."""

    @property
    def size(self):
        return self.columns + 1

    def block_sum(self, block):
        return np.append(super().block_sum(block), len(block))


class RaisesOnInfinity(ClippedSum):
    def block_sum(self, block):
        if np.isinf(block).any():
            raise ValueError("row 3 is infinite")
        return super().block_sum(block)


class CentredInItsBlock(ClippedSum):
    """No sum over rows: each block is divided by its own length, so a row removed moves every block."""

    def block_sum(self, block):
        return super().block_sum(block) / max(len(block), 1) * 2


@dataclass(frozen=True)
class OutOfTheWay(ClippedSum):
    """Clips all rows but those near a point of its own: only who looks at the fields finds the hole."""

    centre: np.ndarray = field(default_factory=lambda: np.array([1234.5, -77.7, 4021.0]))

    def block_sum(self, block):
        near = np.linalg.norm(finite(block) - self.centre, axis=1) < 2.0
        return super().block_sum(block) + near.sum() * 100


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_tight_bounds_are_reached_and_not_exceeded(neighbors, norm):
    attack = attack_sensitivity(ClippedSum(), 3, neighbors=neighbors, norm=norm, trials=800, random_state=0)
    assert not attack.exceeds
    assert attack.ratio > 0.999


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_climb_reaches_a_bound_no_special_point_reaches(neighbors):
    """The worst replacement for moments is at an angle of its own; a bound stated 0.1% too small would be broken."""
    attack = attack_sensitivity(ClippedMoments(), 4, neighbors=neighbors, trials=2000, random_state=0)
    assert 0.999 < attack.ratio <= 1 + 1e-9


@pytest.mark.parametrize(
    ("statistic", "neighbors"),
    [
        (Unclipped(), "replace_one"),
        (Unclipped(), "add_remove"),
        (ForgottenTwo(), "replace_one"),
        (NotANumberUnsafe(), "replace_one"),
        (NotANumberUnsafe(), "add_remove"),
        (EntriesClippedBoundForRows(), "replace_one"),
        (EntriesClippedBoundForRows(), "add_remove"),
        (CountForgotten(), "add_remove"),
        (RaisesOnInfinity(), "replace_one"),
        (CentredInItsBlock(), "add_remove"),
        (OutOfTheWay(), "replace_one"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
@pytest.mark.parametrize("seed", [0, 1])
def test_wrong_bounds_are_broken(statistic, neighbors, seed):
    assert attack_sensitivity(statistic, 3, neighbors=neighbors, trials=400, random_state=seed).exceeds


@pytest.mark.parametrize(
    ("statistic", "neighbors"), [(ForgottenTwo(), "add_remove"), (CountForgotten(), "replace_one")]
)
def test_bounds_wrong_for_one_relation_hold_for_the_other(statistic, neighbors):
    assert not attack_sensitivity(statistic, 3, neighbors=neighbors, trials=1000, random_state=0).exceeds


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_the_worst_pair_is_a_pair_of_neighbours_and_shows_the_change(neighbors):
    statistic = ClippedSum()
    attack = attack_sensitivity(statistic, 3, neighbors=neighbors, trials=400, random_state=3)
    if neighbors == "replace_one":
        assert attack.data.shape == attack.neighbor.shape
        assert (attack.data != attack.neighbor).any(axis=1).sum() == 1
    else:
        assert len(attack.data) == len(attack.neighbor) + 1
    change = np.linalg.norm(statistic.block_sum(attack.data) - statistic.block_sum(attack.neighbor))
    assert change == pytest.approx(attack.found)


def test_exceptions_and_infinite_sums_are_named():
    raised = attack_sensitivity(RaisesOnInfinity(), 3, trials=1000, random_state=0)
    assert raised.found == np.inf
    assert "row 3 is infinite" in repr(raised)
    assert "not finite" in attack_sensitivity(NotANumberUnsafe(), 3, trials=1000, random_state=0).problem


def test_a_wrong_size_is_named():
    class WrongSize(ClippedSum):
        size = 7

    assert "size promises (7,)" in attack_sensitivity(WrongSize(), 3, trials=10, random_state=0).problem


def test_the_attacked_block_cannot_be_changed_in_place():
    class Scribbler(ClippedSum):
        def block_sum(self, block):
            total = super().block_sum(block)
            block[:] = 0.0
            return total

    attack = attack_sensitivity(Scribbler(), 3, trials=400, random_state=0)
    assert attack.ratio > 0.9


def test_the_search_is_reproducible():
    first, second = (attack_sensitivity(ClippedMoments(), 4, trials=300, random_state=5) for _ in range(2))
    assert first.found == second.found
    np.testing.assert_array_equal(first.data, second.data)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"neighbors": "swap"}, "neighbors must be"),
        ({"norm": "l7"}, "norm must be"),
        ({"columns": 0}, "columns must be at least 1"),
        ({"trials": 1}, "trials at least 2"),
    ],
)
def test_bad_arguments_get_a_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        attack_sensitivity(ClippedSum(), **{"columns": 3, **arguments})


def test_a_bound_that_is_no_number_gets_a_sentence():
    class NoBound(ClippedSum):
        def sensitivity(self, neighbors, norm):
            return np.nan

    with pytest.raises(ValueError, match="sensitivity of nan"):
        attack_sensitivity(NoBound(), 3)

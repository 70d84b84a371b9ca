"""Noise relative to bounds that are found in the rows: its law, the lattice it ends on, and what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import kstest, laplace, norm

from tacit.privacy import (
    Budget,
    BudgetExceeded,
    Gaussian,
    Laplace,
    Plan,
    PlanError,
    SmoothGaussian,
    SmoothLaplace,
    Split,
)
from tacit.release import Curator, SmoothStatistic, calibrated_plan
from tacit.release.generator import generator
from tacit.release.smooth import MISMATCH, SmoothNoise, normal, uniform
from tacit.sources import ArraySource, as_source


class Fixed(SmoothStatistic):
    """An answer that does not depend on rows, with a bound of its own."""

    def __init__(self, value=Fraction(1, 3), bound=0.01, size=1, low=-1000.0, high=1000.0, least=0.001):
        self.low, self.high = np.full(size, low), np.full(size, high)
        self.value, self.bound, self.stated = value, bound, least

    def least(self, smoothness):
        return self.stated

    def answer(self, blocks, smoothness):
        type(self).told = smoothness  # rows meet a copy of the statistic
        return [self.value] * self.size, np.full(self.size, self.bound)


ROWS = as_source(np.zeros((10, 1)))


class ReadingRows(Fixed):
    """An answer that reads all rows."""

    def answer(self, blocks, smoothness):
        for _ in blocks:
            pass
        return super().answer(blocks, smoothness)


class WatchedRows(ArraySource):
    """Rows that write down when they are read."""

    def __init__(self, said):
        super().__init__(np.zeros((10, 1)))
        self.said = said

    def blocks(self):
        self.said.append("read")
        return super().blocks()


class Account:
    """What plans are charged to, or what refuses them."""

    def __init__(self, said, refuses):
        self.said, self.refuses = said, refuses

    def charge(self, plan, purpose="", seeded=False):
        self.said.append("charged")
        if self.refuses:
            raise BudgetExceeded("There is nothing left.")


@pytest.mark.parametrize(
    "step", [SmoothLaplace("mean", 2.0), SmoothGaussian("mean", 5.0, smoothness=0.1), Gaussian("mean", 5.0)]
)
def test_an_answer_is_charged_for_before_rows_are_read(step):
    for refuses, expected in ((False, ["charged", "read"]), (True, ["charged"])):
        said = []
        curator = Curator(WatchedRows(said), Plan((step,)), ledger=Account(said, refuses), random_state=0)
        assert said == []
        if refuses:
            with pytest.raises(BudgetExceeded):
                curator.release("mean", ReadingRows())
        else:
            curator.release("mean", ReadingRows())
        assert said == expected


def released(step, statistic, **options):
    return Curator(ROWS, Plan((step,)), random_state=0, **options).release(step.name, statistic)


def test_laplace_times_log_normal_has_its_law():
    step = SmoothLaplace("mean", 2.0, size=1500)
    found = released(step, statistic := Fixed(size=1500))
    standard = (found - 1 / 3) / (0.01 / step.shift)

    def law(z):
        nodes = np.linspace(-8, 8, 2001)
        weights = norm.pdf(nodes) / norm.pdf(nodes).sum()
        return (laplace.cdf(np.asarray(z)[:, None] * np.exp(-step.spread * nodes)) * weights).sum(axis=1)

    assert kstest(standard, law).pvalue > 1e-3
    assert statistic.told == step.smoothness


@pytest.mark.parametrize(
    "step", [SmoothGaussian("mean", 5.0, size=1500, smoothness=0.1), Gaussian("mean", 5.0, size=1500)]
)
def test_gaussian_noise_has_its_law(step):
    found = released(step, statistic := Fixed(size=1500))
    assert kstest((found - 1 / 3) / 0.05, norm.cdf).pvalue > 1e-3
    assert statistic.told == getattr(step, "smoothness", 0.0)


def test_uniform_numbers_are_as_fine_as_they_say():
    gen = generator(1)
    draws = [uniform(gen) for _ in range(300)]
    assert kstest([float(draw) for draw in draws], "uniform").pvalue > 1e-3
    assert all(0 < draw < 1 and len(draw.as_tuple().digits) > 120 for draw in draws)
    assert len(normal(gen).as_tuple().digits) > 120


def test_what_comes_out_is_on_a_public_lattice_and_in_a_public_range():
    """Neither answer nor bound can be seen in low-order bits: points are the same ones for all of them."""
    for value, bound in ((Fraction(1, 3), 0.01), (Fraction(2, 7), 0.3), (Fraction(1, 9), 1e-9)):
        found = released(SmoothLaplace("mean", 2.0, size=200), Fixed(value, bound, 200, -1.0, 1.0, least=1e-9))
        steps = found * 2.0**39  # A step is a 2^40th of the range, which is 2.
        assert (steps == np.rint(steps)).all()
        assert (np.abs(found) <= 1).all()
    far = released(SmoothLaplace("mean", 2.0, size=50), Fixed(bound=1e6, size=50, low=-0.1, high=0.3))
    assert -0.1 <= far.min() < -0.0999999
    assert 0.2999999 < far.max() <= 0.3


def test_certificates_state_the_least_noise():
    step = SmoothLaplace("mean", 4.0, size=1)
    curator = Curator(ROWS, calibrated_plan([step], Budget(1.0, 1e-6)), random_state=0)
    assert curator.plan.sampling_error == MISMATCH
    step = curator.plan.steps[0]
    curator.release("mean", Fixed())
    record = curator.certificate(Budget(1.0, 1e-6)).releases[0]
    assert record.noise_scale == pytest.approx(0.001 / step.shift)
    assert curator.noise("mean", Fixed()) == record.noise_scale
    with pytest.raises(PlanError, match="no further release"):
        curator.release("mean", Fixed())


def test_what_has_no_guarantee_is_refused():
    smooth = SmoothLaplace("mean", 2.0, size=2)
    with pytest.raises(PlanError, match="planned for 2 numbers"):
        released(smooth, Fixed(size=3))
    with pytest.raises(PlanError, match="too few rows"):
        released(smooth, Fixed(least=0.0))
    with pytest.raises(PlanError, match="too few rows"):
        released(smooth, Fixed(low=1.0, high=1.0))
    with pytest.raises(PlanError, match="this answer is of all rows"):
        released(Split(4, Gaussian("mean", 2.0)), Fixed())
    with pytest.raises(PlanError, match="laplace step"):
        released(Laplace("mean", 2.0), Fixed())
    with pytest.raises(PlanError, match="public number of them"):
        Curator(ROWS, Plan((Gaussian("mean", 2.0),), "add_remove"), random_state=0).release("mean", Fixed())

    class Elsewhere:
        local = False

    with pytest.raises(PlanError, match="not on a cluster"):
        Curator(Elsewhere(), Plan((smooth,))).release("mean", Fixed())

    class Two(Fixed):
        def answer(self, blocks, smoothness):
            return [Fraction(0)] * 2, np.array([0.1, 0.2])

    with pytest.raises(PlanError, match="one bound for all"):
        released(Gaussian("mean", 2.0, size=2), Two(size=2))
    with pytest.raises(PlanError, match="2 numbers where it says 1"):
        released(smooth, Two(size=1))


def test_a_sum_is_not_released_as_an_answer():
    from tacit.statistics import RobustSum

    with pytest.raises(PlanError, match="smooth_laplace step"):
        released(SmoothLaplace("mean", 2.0), RobustSum(np.zeros(1), np.ones(1)))


def test_shift_is_rounded_to_the_safe_side():
    step = SmoothLaplace("mean", 2.0)
    noise = SmoothNoise.of(step, Fixed(), "replace_one", True)
    assert 0 < step.shift - noise.shift < 1e-11
    assert noise.shift * math.exp(1.5 * step.spread**2) < step.epsilon_each / 2

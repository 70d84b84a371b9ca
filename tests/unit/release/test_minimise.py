"""Minima through the door: once, as planned and paid for, with the planned noise, wherever rows live."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

from tacit.linear import HuberLoss, LogisticLoss
from tacit.privacy import Budget, BudgetExceeded, Gaussian, Laplace, Ledger, PlanError, TiltedGaussian
from tacit.published.statistics import WeighedGradients
from tacit.release import Curator, Minimum, calibrated_plan
from tacit.sources import as_source, numeric
from tacit.statistics import LossGradients

RNG = np.random.default_rng(0)
ROWS = np.column_stack([RNG.normal(size=(20_000, 2)), RNG.integers(0, 2, 20_000)])
STEPS = [Gaussian("minimum", 1.0, size=3)]
TILTED = [TiltedGaussian("tilt", 1.0, size=3), Gaussian("minimum", 5.0, size=3)]
BUDGET = Budget(1.0, 1e-6)


def asked(tilt=None, strength=5.0):
    gradients = WeighedGradients(LogisticLoss(), np.zeros((1, 3)), 2.0)
    likely = 0.2 * len(ROWS) * np.eye(3)
    return Minimum(gradients, np.zeros(3), strength * np.eye(3), likely, float(len(ROWS)), np.log(2.0), tilt)


def curator(steps=STEPS, rows=ROWS, **options):
    options = {"random_state": 0, **options}
    return Curator(as_source(rows), calibrated_plan(steps, BUDGET, options.pop("neighbors", "replace_one")), **options)


def test_a_minimum_is_told_once():
    made = curator()
    made.minimise("minimum", asked())
    with pytest.raises(PlanError, match="no further release named 'minimum'"):
        made.minimise("minimum", asked())


def test_a_tilt_is_used_up_too():
    made = curator([TILTED[0], Gaussian("minimum", 5.0, 2, 3)])
    made.minimise("minimum", asked("tilt"))
    with pytest.raises(PlanError, match="no further release named 'tilt'"):
        made.minimise("minimum", asked("tilt"))


@pytest.mark.parametrize(
    ("steps", "minimum", "sentence"),
    [
        ([Laplace("minimum", 1.0, size=3)], asked(), "is a laplace step"),
        ([Gaussian("minimum", 1.0, size=2)], asked(), "planned for 2 numbers, and the statistic has 3"),
        (STEPS, asked("tilt"), "no further release named 'tilt'"),
        ([Gaussian("tilt", 1.0, size=3), *STEPS], asked("tilt"), "is a gaussian step"),
        ([TILTED[0]], replace(asked(), tilt=None), "no further release named 'minimum'"),
    ],
)
def test_only_what_is_planned_is_told(steps, minimum, sentence):
    with pytest.raises(PlanError, match=sentence):
        curator(steps).minimise("minimum", minimum)


def test_a_tilt_is_no_release():
    with pytest.raises(PlanError, match="is a tilted_gaussian step"):
        curator(TILTED).release("tilt", LossGradients(LogisticLoss(), np.zeros((1, 3)), 1.0))


def test_nothing_is_read_before_it_is_paid_for(tmp_path):
    account = Ledger(tmp_path / "ledger.db").create("rows", Budget(0.5, 1e-6))
    rows = as_source(ROWS).map(lambda block: pytest.fail("rows were read"))
    with pytest.raises(BudgetExceeded):
        Curator(rows, calibrated_plan(STEPS, BUDGET), ledger=account, random_state=0).minimise("minimum", asked())


@pytest.mark.parametrize(("steps", "tilt"), [(STEPS, None), (TILTED, "tilt")])
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_it_is_recorded(steps, tilt, neighbors):
    made = curator(steps, neighbors=neighbors)
    noise = made.noise("minimum", asked(tilt))
    made.minimise("minimum", asked(tilt))
    certificate = made.certificate(BUDGET)
    records = {record.name: record for record in certificate.releases}
    assert set(records) == {step.name for step in steps}
    assert records["minimum"].noise_scale == pytest.approx(noise, rel=1e-6)
    assert records["minimum"].lattice_step * 2**28 <= records["minimum"].noise_scale
    if tilt:
        multiplier = next(step.noise_multiplier for step in made.plan.steps if step.name == "tilt")
        assert records["tilt"].noise_scale >= multiplier * records["tilt"].sensitivity
        assert records["minimum"].sensitivity < 1e-3 * records["tilt"].sensitivity  # it is off by next to nothing
    assert made.plan.delta(BUDGET.epsilon) <= BUDGET.delta
    assert "minimum" in certificate.text()


def test_noise_is_as_planned():
    exact = curator().minimise("minimum", asked())
    told = np.array([curator(random_state=seed).minimise("minimum", asked()) for seed in range(60)])
    scale = curator().noise("minimum", asked()) / np.sqrt(5.0)  # what is told is sqrt(strength) times the parameters
    centre = told.mean(axis=0)
    assert np.abs(centre - exact).max() < 5 * scale
    assert stats.kstest(((told - centre) / scale).ravel(), "norm").pvalue > 1e-3


def test_tilts_have_the_planned_noise():
    """Where rows say nothing, the minimum is minus the tilt over the ridge, and next to nothing else."""
    rows = np.full((50, 3), np.nan)
    made = [curator(TILTED, rows, random_state=seed) for seed in range(60)]
    told = np.array([each.minimise("minimum", asked("tilt", 0.0)) for each in made])
    search = made[0]._search(asked("tilt", 0.0))
    assert stats.kstest((told * search.quadratic[0, 0] / search.tilt_scale).ravel(), "norm").pvalue > 1e-3


def test_the_same_from_wherever_rows_come(tmp_path):
    table = pa.table({name: column for name, column in zip("abc", ROWS.T)})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=3000)
    sources = [as_source(ROWS), numeric(as_source(tmp_path / "rows.parquet")), as_source(ROWS).map(np.copy)]
    for steps, tilt in ((STEPS, None), (TILTED, "tilt")):
        plan = calibrated_plan(steps, BUDGET)
        told = [Curator(rows, plan, random_state=0).minimise("minimum", asked(tilt)) for rows in sources]
        assert (told[0] == told[1]).all()
        assert (told[0] == told[2]).all()


def test_what_is_stated_grows_with_what_may_go_wrong():
    """More rows, longer parameters and weaker curvature are reckoned with; by next to nothing where they are few."""
    few, many = (replace(asked(), most_rows=count).search("replace_one", None, 8192, 1) for count in (1e4, 1e9))
    assert few.sensitivity < 1.0001 * few.change / np.sqrt(5.0) < many.sensitivity
    steep = replace(asked(), gradients=WeighedGradients(HuberLoss(9.0), np.zeros((1, 3)), 2.0))
    assert steep.search("replace_one", None, 8192, 1).sensitivity > 8 * few.sensitivity
    assert asked(strength=0.05).search("replace_one", None, 8192, 1).sensitivity > 9 * few.sensitivity


def test_minima_of_more_rows_than_were_reckoned_with_are_refused():
    with pytest.raises(PlanError, match="more rows than"):
        curator().minimise("minimum", replace(asked(), most_rows=len(ROWS) - 1.0))


@pytest.mark.parametrize("elsewhere", [np.full(3, 0.5), np.full(3, 1e9), np.full(3, np.nan)], ids=str)
def test_what_a_search_comes_to_is_checked(monkeypatch, elsewhere):
    """However the search goes wrong, nothing is told but parameters with a small gradient."""
    monkeypatch.setattr("tacit.release.minimum.Search._descend", lambda self, total, tilt: elsewhere)
    with pytest.raises(RuntimeError, match="nothing is told"):
        curator().minimise("minimum", asked())


def test_losses_that_are_convex_by_declaration_have_no_private_minima():
    from tacit.linear import ConvexLoss

    declared = ConvexLoss(lambda p, y: (p - y) ** 2 / 2, lambda p, y: p - y, lipschitz=20.0, smoothness=1.0)
    with pytest.raises(TypeError, match="by declaration alone"):
        WeighedGradients(declared, np.zeros((1, 3)), 2.0)

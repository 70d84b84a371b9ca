"""The private mean as people call it: methods, bounds, kinds of noise, missing cells, intervals, bad input."""

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import trim_mean
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from tacit.privacy import Budget, Gaussian, Laplace, Ledger, PrivacyError
from tacit.published import CatoniMean

METHODS = {
    "adaptive": {},
    "adaptive about 0": {"centre": 0.0},
    "clipped": {"method": "clipped", "moment_bound": 8.0},
    "robust": {"method": CatoniMean(moment_bound=8.0)},
    "bounds": {"method": "clipped", "bounds": (-50.0, 50.0)},
    "scale": {"method": CatoniMean(scale=30.0)},
}
every_method = pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
every_relation = pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])


@pytest.fixture
def rows():
    return np.random.default_rng(0).lognormal(size=(20_000, 2)) * [1.0, -1.0]


# ------------------------------------------------------------------------------------------------------------ methods


@every_relation
@every_method
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_means_are_near(rows, options, neighbors, delta):
    model = tacit.RobustMean(epsilon=1.0, delta=delta, neighbors=neighbors, random_state=0, **options).fit(rows)
    assert model.mean_ == pytest.approx(rows.mean(axis=0), rel=0.1)
    assert np.abs(model.mean_ - rows.mean(axis=0)).max() < 6 * model.noise_std_.max() + 0.05
    assert model.privacy_.plan.delta(1.0) <= delta
    assert [record.name for record in model.privacy_.releases] == [step.name for step in model.privacy_.plan.steps]
    assert (model.privacy_.rows is None) == (neighbors == "add_remove")


@pytest.mark.parametrize("options", list(METHODS.values())[2:], ids=list(METHODS)[2:])
def test_noise_is_as_stated(options):
    """Over many fits to the same rows the means scatter by noise_std_."""
    rows = np.random.default_rng(0).lognormal(size=(2000, 1))
    models = [tacit.RobustMean(random_state=seed, **options).fit(rows) for seed in range(100)]
    middle = np.median([model.mean_ for model in models])
    scatter = np.array([(model.mean_ - middle) / model.noise_std_ for model in models])
    assert scatter.std() == pytest.approx(1.0, rel=0.3)


@pytest.mark.parametrize("columns", [1, 3, 60])
def test_the_kind_of_noise_with_less_of_it(columns):
    rows = np.ones((500, columns))
    options = {"method": "clipped", "scale": 2.0, "random_state": 0}
    stds = {kind: tacit.RobustMean(noise=kind, **options).fit(rows).noise_std_[0] for kind in ("laplace", "gaussian")}
    model = tacit.RobustMean(**options).fit(rows)
    assert model.noise_std_[0] == min(stds.values())
    laplace = stds["laplace"] < stds["gaussian"]
    assert isinstance(model.privacy_.plan.steps[0], Laplace if laplace else Gaussian)
    assert model.privacy_.budget == Budget(1.0, 0.0 if laplace else 1e-6)
    assert laplace == (columns < 60)


def test_multipliers_of_the_noise_are_those_of_the_best_mechanism():
    """Noise / sensitivity at delta = 1/n, from a table."""
    for epsilon, n, kappa in ((0.1, 10**3, 17.40), (0.5, 10**4, 5.894), (1.0, 10**5, 3.731), (1.0, 10**3, 2.575)):
        options = {"method": "clipped", "scale": 1.0, "epsilon": epsilon, "delta": 1 / n * (1 - 1e-9)}
        for kind, multiplier in (("gaussian", kappa), ("laplace", math.sqrt(2) / epsilon)):
            model = tacit.RobustMean(noise=kind, random_state=0, **options).fit(np.zeros((n, 1)))
            assert model.noise_std_[0] * n / 2 == pytest.approx(multiplier, rel=2e-3)


def test_a_delta_that_is_not_spent_is_not_warned_of(recwarn):
    options = {"method": "clipped", "scale": 1.0, "delta": 0.01}
    tacit.RobustMean(**options).fit(np.zeros((200, 1)))
    assert not recwarn.list
    with pytest.warns(UserWarning, match="delta=0.01"):
        tacit.RobustMean(noise="gaussian", **options).fit(np.zeros((200, 1)))


def test_a_centre_helps():
    rows = np.random.default_rng(0).standard_t(3, size=(20_000, 1)) + 1000.0
    options = {"method": "clipped", "epsilon": 0.1, "random_state": 0}
    far = tacit.RobustMean(moment_bound=1000.0**2 + 3, **options).fit(rows)
    near = tacit.RobustMean(moment_bound=25.0, centre=1003.0, **options).fit(rows)
    assert near.noise_std_ < far.noise_std_ / 100
    assert near.mean_ == pytest.approx(1000.0, abs=0.2)
    adaptive = tacit.RobustMean(centre=1003.0, epsilon=0.1, random_state=0).fit(rows)
    assert adaptive.mean_ == pytest.approx(1000.0, abs=0.2)


def test_columns_have_scales_of_their_own(rows):
    wide = rows * [1.0, 1e6]
    model = tacit.RobustMean(method="clipped", moment_bound=[8.0, 8e12], random_state=0).fit(wide)
    assert model.scale_[1] == pytest.approx(1e6 * model.scale_[0])
    assert model.mean_ == pytest.approx(wide.mean(axis=0), rel=0.05)
    assert tacit.RobustMean(random_state=0).fit(wide).mean_ == pytest.approx(wide.mean(axis=0), rel=0.05)


def test_one_sided_values_are_clipped_to_one_side(rows):
    model = tacit.RobustMean(centre=0.0, random_state=0).fit(rows)
    low, high = model.centre_ - model.scale_, model.centre_ + model.scale_
    assert -low[0] < high[0] / 8
    assert high[1] < -low[1] / 8


def test_a_wrong_moment_bound_costs_accuracy_alone(rows):
    for wrong in (1e-6, 1e12):
        model = tacit.RobustMean(method="clipped", moment_bound=wrong, random_state=0).fit(rows)
        assert np.isfinite(model.mean_).all()
        assert model.privacy_.delta(1.0) <= 1e-6


@pytest.mark.parametrize("rows", [np.zeros((3, 1)), np.full((50, 2), 1e300), np.full((50, 1), -5e-324)], ids=str)
@every_method
@every_relation
def test_degenerate_rows(rows, options, neighbors):
    model = tacit.RobustMean(neighbors=neighbors, random_state=0, **options).fit(rows)
    assert np.isfinite(model.mean_).all()
    assert np.isfinite(model.noise_std_).all()


# ----------------------------------------------------------------------------------------------------- bounds and rows


def test_bounds_limit_the_range(rows):
    for options in ({}, {"method": "clipped", "moment_bound": 1e9}):
        model = tacit.RobustMean(bounds=([0.0, -5.0], [5.0, 0.0]), random_state=0, **options).fit(rows)
        assert (model.centre_ - model.scale_ >= [-1e-9, -5.0 - 1e-9]).all()
        assert (model.centre_ + model.scale_ <= [5.0 + 1e-9, 1e-9]).all()
        assert model.mean_ == pytest.approx(np.clip(rows, [0, -5], [5, 0]).mean(axis=0), rel=0.02)
        assert "from 0 to 5" in model.privacy_.bounds
    ball = tacit.RobustMean(method="clipped", bounds=3.0, random_state=0).fit(rows)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    assert ball.mean_ == pytest.approx((rows * np.minimum(1, 3 / lengths)).mean(axis=0), abs=0.05)


def test_a_schema_says_what_columns_are():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.uniform(20, 60, 5000), "kind": rng.choice(["a", "b"], 5000, p=[0.3, 0.7])})
    schema = tacit.Schema.from_dict(
        {
            "columns": {
                "age": {"type": "numeric", "low": 0, "high": 100},
                "kind": {"type": "categorical", "levels": ["a", "b"]},
            }
        }
    )
    model = tacit.RobustMean(method="clipped", bounds=schema, random_state=0).fit(table)
    assert model.mean_ == pytest.approx([table.age.mean(), 0.3, 0.7], rel=0.05)


@every_relation
@every_method
def test_rows_with_missing_cells_are_left_out(rows, options, neighbors):
    rows[::4, 1] = np.nan
    model = tacit.RobustMean(missing="ignore", neighbors=neighbors, random_state=0, **options).fit(rows)
    complete = rows[~np.isnan(rows).any(axis=1)]
    assert model.mean_ == pytest.approx(complete.mean(axis=0), rel=0.1)
    assert model.privacy_.rows is None


def test_counting_costs_nothing_when_rows_are_replaced(rows):
    """A row that is left out changes less than one that jumps from end to end."""
    options = {"method": "clipped", "scale": 10.0, "random_state": 0}
    known = tacit.RobustMean(**options).fit(rows)
    counted = tacit.RobustMean(missing="ignore", **options).fit(rows)
    assert counted.privacy_.releases[0].noise_scale == pytest.approx(known.privacy_.releases[0].noise_scale, rel=1e-3)


def test_frames_and_files(rows, tmp_path):
    frame = pd.DataFrame(rows, columns=["up", "down"])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    expected = tacit.RobustMean(random_state=0).fit(rows).mean_
    for table in (frame, pl.DataFrame(frame), tmp_path / "rows.csv", {"up": rows[:, 0], "down": rows[:, 1]}):
        model = tacit.RobustMean(random_state=0).fit(table)
        assert model.mean_ == pytest.approx(expected)
        assert list(model.feature_names_in_) == ["up", "down"]


def test_the_function(rows):
    one = tacit.mean(rows[:, 0], random_state=0)
    assert isinstance(one, float)
    for same in (rows[:, 0].tolist(), pd.Series(rows[:, 0]), pl.Series(rows[:, 0]), tuple(rows[:, 0].tolist())):
        assert tacit.mean(same, random_state=0) == one
    assert tacit.mean(rows, random_state=0).shape == (2,)
    assert tacit.mean(pd.DataFrame(rows[:, :1]), random_state=0) == pytest.approx([one])
    assert tacit.mean([[1.0, 2.0], [3.0, 4.0]], method="clipped", bounds=(0, 5), random_state=0).shape == (2,)
    with pytest.raises(ValueError, match="rows of equal length"):
        tacit.mean([[1.0, 2.0], [3.0]])


# ----------------------------------------------------------------------------------------------------------- intervals


@pytest.mark.parametrize("options", [METHODS["clipped"], METHODS["robust"]], ids=["clipped", "robust"])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_intervals_hold_the_mean(options, noise):
    law = np.random.default_rng(0)
    hits, widths = 0, []
    for seed in range(60):
        rows = law.lognormal(size=(2000, 1))
        model = tacit.RobustMean(epsilon=0.5, delta=1e-4, noise=noise, random_state=seed, **options).fit(rows)
        low, high = model.interval(0.9)
        hits += bool(low[0] < math.exp(0.5) < high[0])
        widths.append(high[0] - low[0])
    assert hits >= 54
    assert np.ptp(widths) < 1e-9  # it depends on no row
    wider = np.subtract(*model.interval(0.99)[::-1])
    assert wider > widths[-1]


def test_intervals_for_other_moments():
    rows = np.random.default_rng(0).lognormal(size=(5000, 1))
    for order, moment in ((1.5, math.exp(1.125)), (3, math.exp(4.5))):
        known = {"moment_bound": moment, "moment_order": order}
        for options in ({"method": "clipped", **known}, {"method": CatoniMean(**known)}):
            model = tacit.RobustMean(random_state=0, **options).fit(rows)
            low, high = model.interval()
            assert low[0] < math.exp(0.5) < high[0]


def test_intervals_that_nothing_vouches_for_are_refused(rows):
    for options in ({}, METHODS["scale"], {**METHODS["clipped"], "neighbors": "add_remove"}):
        with pytest.raises(ValueError, match="needs a moment bound"):
            tacit.RobustMean(random_state=0, **options).fit(rows).interval()
    with pytest.raises(ValueError, match="confidence"):
        tacit.RobustMean(random_state=0, **METHODS["clipped"]).fit(rows).interval(95)


# ----------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "winsorised"}, "method must be one of"),
        ({"method": "clipped"}, "needs moment_bound"),
        ({"method": "robust", "bounds": (0, 1)}, r"method=tacit\.published\.CatoniMean\(moment_bound=4\.0\)"),
        ({"method": CatoniMean(moment_bound=1.0), "moment_bound": 1.0}, "has options of its own"),
        ({"method": CatoniMean(moment_bound=(1.0, 2.0, 3.0))}, "moment_bound must be"),
        ({"moment_bound": 3.0}, "finds its own scale"),
        ({"scale": 3.0}, "finds its own scale"),
        ({"method": "clipped", "moment_bound": -1.0}, "moment_bound must be a positive"),
        ({"method": "clipped", "moment_bound": [1.0, 2.0, 3.0]}, "moment_bound must be"),
        ({"method": "clipped", "moment_bound": "large"}, "moment_bound must be"),
        ({"method": "clipped", "moment_bound": 1.0, "scale": "thesis"}, "scale must be one of"),
        ({"method": CatoniMean(moment_bound=1.0, scale="improved"), "delta": 0.0}, "depends on delta"),
        ({"method": "clipped", "moment_bound": 1.0, "moment_order": 1}, "over 1"),
        ({"method": "clipped", "scale": 0.0}, "scale must be a positive"),
        ({"centre": np.inf}, "centre must be"),
        ({"centre": 9.0, "bounds": (0, 1)}, "within the bounds"),
        ({"bounds": "private"}, "finds its own"),
        ({"bounds": (1, 0)}, "reversed"),
        ({"noise": "uniform"}, "noise must be one of"),
        ({"noise": "gaussian", "delta": 0.0}, "positive delta"),
        ({"epsilon": 0.0}, "epsilon must be"),
        ({"epsilon": 3.0}, "Nothing was charged"),
    ],
    ids=str,
)
def test_bad_options_are_refused_and_not_charged(rows, options, words, tmp_path):
    ledger = Ledger(tmp_path / "budget.db")
    ledger.create("people", Budget(2.0, 1e-3))
    with pytest.raises((ValueError, PrivacyError), match=words):
        tacit.RobustMean(ledger=ledger.account("people"), **options).fit(rows)
    assert not ledger.history("people")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "needs moment_bound"),
        ({"moment_bound": "large"}, "moment_bound must be a positive"),
        ({"moment_bound": -1.0}, "moment_bound must be a positive"),
        ({"moment_bound": 1.0, "scale": None}, "scale must be a positive"),
        ({"moment_bound": 1.0, "scale": "best"}, "scale must be one of"),
        ({"moment_bound": 1.0, "scale": "thesis", "moment_order": 3}, "second moments"),
        ({"moment_bound": 1.0, "moment_order": 4}, "clip instead"),
    ],
    ids=str,
)
def test_options_of_the_published_mean_are_checked(options, words):
    with pytest.raises(ValueError, match=words):
        CatoniMean(**options)


def test_missing_cells_are_refused_and_not_charged(rows, tmp_path):
    ledger = Ledger(tmp_path / "budget.db")
    ledger.create("people", Budget(2.0, 1e-3))
    for ugly in (np.nan, np.inf):
        rows[7, 1] = ugly
        with pytest.raises(ValueError, match="missing"):
            tacit.RobustMean(ledger=ledger.account("people")).fit(rows)
    assert not ledger.history("people")
    tacit.RobustMean(ledger=ledger.account("people"), missing="ignore", random_state=0).fit(rows)
    assert len(ledger.history("people")) == 1


# --------------------------------------------------------------------------------------------------------- conventions


VARIANTS = [tacit.RobustMean(random_state=0, **METHODS[name]) for name in ("adaptive", "clipped", "robust")]
VARIANTS.append(tacit.RobustMean(random_state=0, neighbors="add_remove", missing="ignore"))


@parametrize_with_checks(VARIANTS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_nothing_of_a_row_is_kept():
    mark = 0.123456789012345
    model = tacit.RobustMean(random_state=0).fit(np.full((50, 2), mark))
    assert np.float64(mark).tobytes() not in pickle.dumps(model)
    assert clone(model).get_params() == model.get_params()


# Trimmed


def test_a_trimmed_mean_is_that_of_the_middle():
    """Of columns without a mean at all; far from 0, too; and the median beside it is where it should be."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([3 + rng.standard_cauchy(40_000), 2020 + 5 * rng.standard_t(2, 40_000)])
    for options in ({}, {"neighbors": "add_remove"}, {"delta": 0.0}, {"trim": 0.25}, {"noise": "gaussian"}):
        model = tacit.RobustMean(method="trimmed", epsilon=2.0, random_state=0, **options).fit(rows)
        assert model.mean_ == pytest.approx([3.0, 2020.0], abs=0.3), options
        assert (model.noise_std_ < 0.2).all()
    assert tacit.mean(rows[:, 0], method="trimmed", epsilon=2.0, random_state=0) == pytest.approx(3.0, abs=0.1)


def test_a_trimmed_mean_is_scipys_where_there_is_hardly_any_noise():
    rows = np.random.default_rng(1).normal(5.0, 2.0, (50_000, 1))
    model = tacit.RobustMean(method="trimmed", trim=0.1, epsilon=5.0, centre=0.0, random_state=0).fit(rows)
    assert model.mean_[0] == pytest.approx(trim_mean(rows[:, 0], 0.1), abs=0.05)


@pytest.mark.parametrize("trim", [0.0, 0.5, -1, "much"])
def test_shares_that_cannot_be_trimmed(trim):
    with pytest.raises(ValueError, match="trim must be a share"):
        tacit.RobustMean(method="trimmed", trim=trim).fit(np.zeros((500, 1)))


def test_what_all_cells_alike_are_trimmed_to():
    model = tacit.RobustMean(method="trimmed", epsilon=5.0, random_state=0).fit(np.full((5000, 1), 7.0))
    assert model.mean_[0] == pytest.approx(7.0, abs=0.5)

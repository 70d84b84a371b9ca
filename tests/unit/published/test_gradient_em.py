"""The papers' methods: plain gradient EM where there is next to no noise, in units of rows, refused in sentences."""

import math

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from tacit.privacy import Budget, Gaussian, Split
from tacit.published import ClippedGradientEM, RobustEM, RobustGradientEM, TruncatedGradientEM
from tacit.published.em_gradients import MissingCovariateGradient, SymmetricMixtureGradient, SymmetricRegressionGradient
from tacit.published.gradient_loop import largest_after_step
from tacit.release import generator
from tacit.release.sampling import Deal
from tacit.statistics import Clip, Shorten, Smoothed

SCALE = 1 / 3
GRADIENTS = {
    tacit.SymmetricMixture: SymmetricMixtureGradient,
    tacit.MixtureOfRegressions: SymmetricRegressionGradient,
    tacit.MissingCovariateRegression: MissingCovariateGradient,
}
every_estimator = pytest.mark.parametrize("estimator", GRADIENTS)
NEXT_TO_NO_NOISE = {"epsilon": 1e4, "delta": 0.1}
pytestmark = pytest.mark.filterwarnings("ignore:delta=")


def table(estimator, rows=4000, columns=3, seed=0):
    rng = np.random.default_rng(seed)
    beta = rng.normal(size=columns)
    beta /= np.linalg.norm(beta)
    sides = rng.choice([-1.0, 1.0], rows)
    if estimator is tacit.SymmetricMixture:
        return sides[:, None] * beta + SCALE * rng.normal(size=(rows, columns)), beta
    X = rng.normal(size=(rows, columns))
    if estimator is tacit.MixtureOfRegressions:
        return np.column_stack([X, sides * (X @ beta) + SCALE * rng.normal(size=rows)]), beta
    y = X @ beta + SCALE * rng.normal(size=rows)
    return np.column_stack([np.where(rng.random(X.shape) < 0.1, np.nan, X), y]), beta


METHODS = {
    "clipped": ClippedGradientEM,
    "robust": RobustGradientEM,
    "robust_em": RobustEM,
    "truncated": TruncatedGradientEM,
}
OWN = ("scale", "init", "learning_rate", "clip", "moment_bound", "truncation", "split", "as_printed", "n_iter")


def fit(estimator, rows, *, method, **options):
    own = {"scale": SCALE} | {name: options.pop(name) for name in OWN if name in options}
    options = {"random_state": 0, "method": METHODS[method](**own), **options}
    if estimator is tacit.SymmetricMixture:
        return estimator(**options).fit(rows)
    if estimator is tacit.MixtureOfRegressions:
        options = {"symmetric": True, **options}
    return estimator(**options).fit(rows[:, :-1], rows[:, -1])


def found(model):
    return model.half_ if hasattr(model, "half_") else np.atleast_2d(model.coef_)[0]


def plain(estimator, rows, beta, steps, rate=1.0, bounded=lambda gradients: gradients):
    """Gradient EM without privacy."""
    for step in range(steps):
        part = rows(step) if callable(rows) else rows
        beta = beta + rate * bounded(GRADIENTS[estimator](beta, SCALE)(part)).mean(axis=0)
    return beta


def shortened(gradients):
    return gradients / np.maximum(1.0, np.linalg.norm(gradients, axis=1) / 0.5)[:, None]


@pytest.mark.parametrize(
    ("options", "rate", "bounded"),
    [
        ({"method": "clipped", "clip": 20.0, "learning_rate": 0.7}, 0.7, lambda gradients: gradients),
        ({"method": "clipped", "clip": 0.5}, 1.0, shortened),
        ({"method": "robust", "moment_bound": 0.05}, 1.0, lambda gradients: gradients),
        ({"method": "truncated", "truncation": 5.0, "learning_rate": 0.5}, 0.5, lambda gradients: gradients),
    ],
    ids=["clipped at nothing", "clipped", "robust", "truncated"],
)
@every_estimator
def test_with_next_to_no_noise_it_is_plain_gradient_em(estimator, options, rate, bounded):
    rows, beta = table(estimator)
    start = beta + np.array([0.3, -0.3, 0.2])
    model = fit(estimator, rows, init=start, n_iter=6, **options, **NEXT_TO_NO_NOISE)
    assert found(model) == pytest.approx(plain(estimator, rows, start, 6, rate, bounded), abs=0.01)
    assert model.n_iter_ == 6


def test_robust_em_makes_whole_m_steps():
    rows, beta = table(tacit.SymmetricMixture)
    start = half = beta + np.array([0.3, -0.3, 0.2])
    model = fit(
        tacit.SymmetricMixture, rows, method="robust_em", moment_bound=0.05, init=start, n_iter=4,
        **NEXT_TO_NO_NOISE,
    )  # fmt: skip
    for _ in range(4):
        half = (np.tanh(rows @ half / SCALE**2)[:, None] * rows).mean(axis=0)
    assert model.half_ == pytest.approx(half, abs=0.01)


@every_estimator
def test_split_rows_are_used_in_one_step_each(estimator):
    rows, beta = table(estimator, 4001)
    dealt = Deal.draw(4, generator(0))((0, 0), 4001)  # as the curator of a fit with this seed deals
    rows[dealt == 1, -1] *= 1.5  # so that shares differ, and it matters which is used when
    start = beta + np.array([0.3, -0.3, 0.2])
    options = {"method": "truncated", "truncation": 5.0, "n_iter": 4, "init": start, **NEXT_TO_NO_NOISE}
    model = fit(estimator, rows, split=True, **options)
    assert found(model) == pytest.approx(plain(estimator, lambda step: rows[dealt == step], start, 4), abs=0.08)
    assert np.abs(found(model) - found(fit(estimator, rows, **options))).max() > 0.05
    assert model.privacy_.plan.steps == (
        Split(4, Gaussian("gradient", model.privacy_.plan.steps[0].noise_multiplier, 1, 3)),
    )
    assert "each was used in one of 4 steps" in " ".join(model.privacy_.notes)


@pytest.mark.parametrize("method", ["clipped", "robust", "truncated"])
@every_estimator
def test_a_secret_number_of_rows(estimator, method):
    rows, beta = table(estimator, 20_000)
    options = {"method": method, "neighbors": "add_remove", "epsilon": 5.0, "init": beta + 0.2, "n_iter": 8}
    model = fit(estimator, rows, **options)
    assert np.linalg.norm(found(model) - beta) < 0.1
    assert model.n_iter_ == 9
    assert [step.name for step in model.privacy_.plan.steps] == ["number of rows", "gradient"]


@every_estimator
def test_what_is_published_follows_from_the_coefficients_whatever_the_bounds(estimator):
    rows, beta = table(estimator)
    options = {"method": "clipped", "init": beta + 0.2}
    free = fit(estimator, rows, **options)
    box = {"bounds": (-30, 40)} if estimator is tacit.SymmetricMixture else {"bounds": (-30, 40), "target_bounds": 50}
    boxed = fit(estimator, rows, **options, **box)
    assert found(boxed) == pytest.approx(found(free), abs=1e-9)
    if estimator is tacit.SymmetricMixture:
        assert free.score_samples(rows) == pytest.approx(boxed.score_samples(rows))
        assert free.scale_ == SCALE
        return
    X, y = rows[:, :-1], rows[:, -1]
    assert free.predict(X) == pytest.approx(boxed.predict(X), abs=1e-9)
    assert np.ravel(boxed.intercept_) == pytest.approx(np.zeros(np.size(boxed.intercept_)), abs=1e-9)
    if estimator is tacit.MixtureOfRegressions:
        assert boxed.coef_[1] == pytest.approx(-boxed.coef_[0])
        assert boxed.scales_ == pytest.approx([SCALE, SCALE])
        assert free.score(X, y) == pytest.approx(boxed.score(X, y))
    else:
        assert boxed.inputs_mean_ == pytest.approx(np.zeros(3), abs=1e-9)
        assert boxed.inputs_covariance_ == pytest.approx(np.eye(3))
        assert boxed.scale_ == pytest.approx(SCALE)
        seen = np.where(np.isnan(X), 0.0, X)  # inputs are independent: what is missing is expected to be 0
        assert boxed.predict(X) == pytest.approx(seen @ boxed.coef_)


def test_random_starts_look_at_no_row():
    """A start is a function of the seed and of the number of columns, three scales long."""
    method = ClippedGradientEM(scale=SCALE)
    assert method.start(3, 7).tolist() == method.start(3, 7).tolist()
    assert np.linalg.norm(method.start(3, 7)) == pytest.approx(1.0)
    fresh = [ClippedGradientEM(scale=2.0).start(3) for _ in range(2)]
    assert np.abs(fresh[0] - fresh[1]).max() > 0
    assert np.linalg.norm(fresh[0]) == pytest.approx(6.0)


def test_bounds_scales_and_noise_are_those_of_the_papers():
    budget, size, rows = Budget(0.5, 1e-4), 10, 10_000
    methods = {
        "clipped": ClippedGradientEM(scale=0.5, clip=3.0),
        "robust": RobustGradientEM(scale=0.5, moment_bound=2.0),
        "robust_em": RobustEM(scale=0.5, moment_bound=2.0),
        "truncated": TruncatedGradientEM(scale=0.5),
    }

    def gradients(beta, truncation=None):
        return SymmetricMixtureGradient(beta, 0.5, truncation)

    sums = {
        name: method.bound(gradients, np.full(size, 0.1), np.arange(size), rows, budget)
        for name, method in methods.items()
    }
    assert isinstance(sums["clipped"].influence, Shorten)
    assert sums["clipped"].scale.tolist() == [3.0] * size
    surplus = math.sqrt(math.log(1e4) + 0.5) - math.sqrt(math.log(1e4))
    assert sums["robust"].scale == pytest.approx(math.sqrt(rows * 2.0 * surplus) / (2 * math.log(1e4)))
    assert sums["robust_em"].scale == pytest.approx(math.sqrt(rows * 2.0 * surplus) / (2 * math.log(100)))
    assert sums["robust"].influence == Smoothed(math.sqrt(math.log(size / 0.01)))
    assert isinstance(sums["truncated"].influence, Clip)
    assert sums["truncated"].scale == pytest.approx(math.sqrt(math.log(rows)))
    # Per replaced row: 2 C, 2 B s sqrt(d) and 2 T sqrt(d), where B is below 2 sqrt(2) / 3.
    moved = {name: each.sensitivity("replace_one") * each.half_width[0] for name, each in sums.items()}
    assert moved["clipped"] == pytest.approx(6.0)
    assert moved["robust"] < 4 * math.sqrt(2) / 3 * sums["robust"].scale[0] * math.sqrt(size)
    assert moved["truncated"] == pytest.approx(2 * math.sqrt(math.log(rows) * size))
    assert [method.schedule(size, rows, None).iterations for method in methods.values()] == [22, 22, 5, 10]
    assert methods["robust"].schedule(size, rows, None).steps() == [Gaussian("gradient", 1.0, 22, size)]


@pytest.mark.parametrize("method", ["clipped", "robust", "robust_em", "truncated"])
def test_what_is_chosen_is_what_the_step_makes_largest(method):
    """The choice's sums and offsets, put together, are the coefficients after the step, up to one factor."""
    rng = np.random.default_rng(0)
    beta, rows = rng.normal(size=5), rng.normal(size=(200, 5))
    options = {"learning_rate": 0.3} if method != "robust_em" else {}
    method = METHODS[method](scale=1.0, **options)

    def gradients(beta, truncation=None):
        return SymmetricMixtureGradient(beta, 1.0, truncation)

    statistic = method.bound(gradients, beta, np.arange(5), 200, Budget(1.0, 1e-6))
    choice = largest_after_step(statistic, beta, method.learning_rate, 200, 2)
    ahead = choice.block_sum(rows) + choice.offset
    mean = statistic.centre + statistic.half_width * statistic.block_sum(rows) / 200
    ratios = (beta + method.learning_rate * mean) / ahead
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-9)


def test_as_printed_the_mixture_is_found_wrong():
    rows, beta = table(tacit.SymmetricMixture, 20_000, 3)
    rows = rows + 0.6 * np.random.default_rng(1).normal(size=rows.shape)
    scale = math.hypot(SCALE, 0.6)
    options = {"method": "clipped", "clip": 5.0, "init": beta, "scale": scale, **NEXT_TO_NO_NOISE}
    right, printed = (fit(tacit.SymmetricMixture, rows, as_printed=each, **options) for each in (False, True))
    assert np.linalg.norm(right.half_ - beta) < 0.03
    assert np.linalg.norm(printed.half_ - beta) > 0.045
    assert "as printed" in " ".join(printed.privacy_.notes)


@pytest.mark.parametrize(
    ("method", "options", "words"),
    [
        (RobustGradientEM, {"scale": None}, "pass it as scale"),
        (ClippedGradientEM, {"scale": -1.0}, "scale must be a positive number"),
        (ClippedGradientEM, {"clip": 0.0}, "clip must be a positive number"),
        (RobustGradientEM, {"moment_bound": None}, "moment_bound must be a positive number"),
        (TruncatedGradientEM, {"truncation": -1}, "truncation must be a positive number"),
        (ClippedGradientEM, {"learning_rate": np.inf}, "learning_rate must be a positive"),
        (ClippedGradientEM, {"init": "zero"}, 'init must be "random" or finite numbers'),
        (ClippedGradientEM, {"init": [1.0, 2.0, np.nan]}, "init must be"),
        (RobustEM, {"n_iter": 0}, "n_iter must be a whole number"),
    ],
)
def test_options_that_make_no_sense_are_refused_in_words(method, options, words):
    with pytest.raises(ValueError, match=words):
        method(**{"scale": SCALE, **options})


KNOWN = ClippedGradientEM(scale=SCALE)


@pytest.mark.parametrize(
    ("estimator", "options", "words"),
    [
        (tacit.SymmetricMixture, {"method": "best"}, "method must be one of moments, clipped, robust, robust_em"),
        (tacit.SymmetricMixture, {"method": "clipped"}, "pass it as scale, as in method=tacit.published.Clipped"),
        (tacit.MixtureOfRegressions, {"method": RobustEM(scale=1.0)}, "method must be one of moments, clipped, robust"),
        (tacit.MissingCovariateRegression, {"method": "robust_em"}, "method must be one of moments, clipped"),
        (tacit.SymmetricMixture, {"method": ClippedGradientEM(scale=1.0, init=[1.0, 2.0])}, "3 finite number"),
        (tacit.SymmetricMixture, {"method": KNOWN, "scale": 1.0}, "scale is for method=\"moments\""),
        (tacit.SymmetricMixture, {"method": KNOWN, "init": [1.0, 2.0, 3.0]}, "init is for method=\"moments\""),
        (tacit.SymmetricMixture, {"method": KNOWN, "n_iter": 3}, "n_iter is for method=\"moments\""),
        (tacit.SymmetricMixture, {"init": [1.0, 2.0, 3.0], "bounds": 5}, "needs no start"),
        (tacit.SymmetricMixture, {"bounds": None}, "bounds is missing"),
        (tacit.MixtureOfRegressions, {"method": KNOWN}, "pass symmetric=True"),
        (tacit.MissingCovariateRegression, {"method": KNOWN, "bounds": 5}, "are both needed"),
        (tacit.MissingCovariateRegression, {"method": KNOWN, "delta": 0.0}, "needs a delta above 0"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_in_words(estimator, options, words, tmp_path):
    account = tacit.Ledger(tmp_path / "budget.db").create("rows", tacit.Budget(10.0, 1e-3))
    rows, _ = table(estimator, 40)
    rows = (rows,) if estimator is tacit.SymmetricMixture else (rows[:, :-1], rows[:, -1])
    with pytest.raises(ValueError, match=words):
        estimator(ledger=account, **options).fit(*rows)
    assert account.spent().epsilon == 0.0


@every_estimator
@pytest.mark.parametrize("option", ["learning_rate", "clip", "moment_bound", "truncation", "split", "as_printed"])
def test_options_that_estimators_had_are_refused_with_what_to_write_now(estimator, option):
    with pytest.raises(TypeError, match=rf"no parameter {option}.*method=tacit.published.*{option}="):
        estimator(**{option: 1.0})


def test_scales_and_starts_that_only_published_methods_read_are_their_options():
    for estimator, option in (
        (tacit.MixtureOfRegressions, "scale"),
        (tacit.MissingCovariateRegression, "scale"),
        (tacit.MissingCovariateRegression, "init"),
    ):
        with pytest.raises(TypeError, match=rf"{estimator.__name__} has no parameter {option}"):
            estimator(**{option: 1.0})


def test_methods_with_the_same_options_are_equal_whatever_holds_the_start():
    assert ClippedGradientEM(scale=1.0, init=np.array([1.0, 2.0])) == ClippedGradientEM(scale=1.0, init=[1, 2])


SEEN = {"epsilon": 10.0, "delta": 1e-3, "random_state": 0}


def cannot_hold(estimator):
    if isinstance(estimator, tacit.MissingCovariateRegression):
        return {"check_supervised_y_no_nan": "A target may be missing too; whether all are is not told."}
    return {}


@parametrize_with_checks(
    [
        tacit.SymmetricMixture(method=TruncatedGradientEM(split=True, n_iter=3, scale=1.0), delta=1e-3, random_state=0),
        tacit.SymmetricMixture(
            method=RobustGradientEM(n_iter=3, scale=1.0), delta=1e-3, neighbors="add_remove", random_state=0
        ),
        tacit.SymmetricMixture(bounds=100, **SEEN),
        tacit.MixtureOfRegressions(1, bounds=100, target_bounds=100, **SEEN),
        tacit.MixtureOfRegressions(2, bounds=100, target_bounds=100, neighbors="add_remove", **SEEN),
        tacit.MissingCovariateRegression(bounds=100, target_bounds=100, **SEEN),
        tacit.SymmetricMixture(bounds=100, sparsity=1, **SEEN),
        tacit.SymmetricMixture(method=TruncatedGradientEM(n_iter=3, scale=1.0), sparsity=1, **SEEN),
        tacit.MixtureOfRegressions(1, bounds=100, target_bounds=100, sparsity=1, **SEEN),
        tacit.MissingCovariateRegression(bounds=100, target_bounds=100, sparsity=1, **SEEN),
    ],
    expected_failed_checks=cannot_hold,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)

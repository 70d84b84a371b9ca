"""Few columns out of many: they are found, others get nothing, and what cannot be done is said."""

import numpy as np
import pytest

import tacit
from tacit.privacy import Budget, Gaussian, Selection, Split
from tacit.published import TruncatedGradientEM
from tacit.statistics import CellRanks, ScreeningValues

FEW = 4
TRUTH = np.zeros(60)
TRUTH[[3, 20, 21, 50]] = [0.5, -0.5, 0.5, -0.5]


def table(kind, rows=8000, seed=0):
    rng = np.random.default_rng(seed)
    sides = rng.choice([-1.0, 1.0], rows)
    if kind is tacit.SymmetricMixture:
        return (sides[:, None] * TRUTH + 0.5 * rng.normal(size=(rows, 60)),)
    X = rng.normal(size=(rows, 60))
    y = (sides if kind is tacit.MixtureOfRegressions else 1.0) * (X @ TRUTH) + 0.5 * rng.normal(size=rows)
    return (np.where(rng.random(X.shape) < 0.1, np.nan, X), y) if kind is tacit.MissingCovariateRegression else (X, y)


KINDS = {
    tacit.SymmetricMixture: {"bounds": (-3, 3)},
    tacit.MixtureOfRegressions: {"bounds": (-5, 5), "target_bounds": (-5, 5), "symmetric": True},
    tacit.MissingCovariateRegression: {"bounds": (-5, 5), "target_bounds": (-5, 5)},
}
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def fit(kind, rows=8000, **options):
    options = {"epsilon": 1.0, "delta": 1e-5, "random_state": 0, "sparsity": FEW, **KINDS[kind], **options}
    return kind(**options).fit(*table(kind, rows))


def found(model):
    return model.half_ if hasattr(model, "half_") else np.atleast_2d(model.coef_)[0]


def off(model):
    sides = (1,) if isinstance(model, tacit.MissingCovariateRegression) else (1, -1)
    return min(np.linalg.norm(found(model) - side * TRUTH) for side in sides)


@every_kind
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_the_columns_that_matter_are_found_without_a_start(kind, neighbors):
    model = fit(kind, neighbors=neighbors)
    assert model.support_.tolist() == [3, 20, 21, 50]
    assert off(model) < 0.07
    assert np.flatnonzero(found(model)).tolist() == [3, 20, 21, 50]
    assert model.privacy_.epsilon() <= 1.0


@every_kind
def test_noisy_hard_thresholding_keeps_few_coefficients_in_each_step(kind):
    start = TRUTH + 0.4 * np.random.default_rng(1).normal(size=60) / np.sqrt(60)
    missing = kind is tacit.MissingCovariateRegression
    method = TruncatedGradientEM(scale=0.5, init=start, learning_rate=0.5, truncation=1.2, n_iter=8)
    model = fit(kind, epsilon=4.0, method=method)
    assert model.support_.tolist() == [3, 20, 21, 50]
    assert off(model) < (0.25 if missing else 0.2)


def test_one_regression_with_an_intercept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 40)) + 1.0
    y = 7.0 + X[:, 5] - X[:, 30] + 0.5 * rng.normal(size=6000)
    options = {"bounds": (-6, 6), "target_bounds": (-20, 20), "sparsity": 2, "random_state": 0}
    model = tacit.MixtureOfRegressions(1, **options).fit(X, y)
    assert model.support_.tolist() == [5, 30]
    assert model.coef_[0, [5, 30]] == pytest.approx([1.0, -1.0], abs=0.06)
    assert model.intercept_[0] == pytest.approx(7.0, abs=0.15)
    assert model.predict(X[:5]) == pytest.approx(7.0 + X[:5, 5] - X[:5, 30], abs=0.3)


def test_predictions_look_at_the_chosen_columns_alone():
    model = fit(tacit.MissingCovariateRegression)
    X = table(tacit.MissingCovariateRegression)[0][:50]
    other = X.copy()
    other[:, 0] = 4.0
    np.testing.assert_array_equal(model.predict(X), model.predict(other))
    assert model.inputs_covariance_.shape == (FEW, FEW)
    assert model.coef_.shape == (60,)


def test_a_good_guess_replaces_the_first_choices():
    model = fit(tacit.MixtureOfRegressions, rows=3000, init=2.0 * TRUTH)
    names = [step.name for step in model.privacy_.plan.steps]
    assert "first column" not in names
    assert model.support_.tolist() == [3, 20, 21, 50]


@pytest.mark.parametrize("sparsity", [1, 2, 3, 60])
def test_any_number_of_columns(sparsity):
    model = fit(tacit.SymmetricMixture, rows=2000, sparsity=sparsity)
    assert len(model.support_) == sparsity
    chosen = sum(step.count for step in model.privacy_.plan.steps if "column" in step.name)
    assert chosen == sparsity
    assert all(isinstance(step, Selection) for step in model.privacy_.plan.steps if "column" in step.name)


def test_refitting_without_a_sparsity_forgets_the_columns():
    model = fit(tacit.SymmetricMixture, rows=2000)
    model.set_params(sparsity=None).fit(*table(tacit.SymmetricMixture, 2000))
    assert not hasattr(model, "support_")


def test_the_paper_s_plan():
    """Half of what a share of the rows costs is for choices, and shares cost what one does."""
    model = fit(tacit.SymmetricMixture, method=TruncatedGradientEM(scale=0.5, split=True, n_iter=5))
    choices, gradients = model.privacy_.plan.steps
    assert isinstance(choices, Split)
    assert isinstance(choices.mechanism, Selection)
    assert (choices.count, choices.parts, choices.size) == (FEW, 5, 60)
    assert isinstance(gradients, Split)
    assert isinstance(gradients.mechanism, Gaussian)
    assert (gradients.count, gradients.parts, gradients.size) == (1, 5, FEW)
    assert choices.weight == pytest.approx(gradients.weight)
    assert gradients.weight == gradients.noise_multiplier**-2
    assert "each was used in one of 5 steps" in " ".join(model.privacy_.notes)
    assert "anew in each step: 4 of 60" in " ".join(model.privacy_.notes)


def test_scores_do_not_depend_on_a_row_s_place():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(130, 9)) * 10.0 ** rng.uniform(-3, 3, (130, 1))
    rows[5, 2], rows[60, 8] = np.nan, np.inf
    direction = rng.normal(size=8)
    for values in (
        ScreeningValues("crossing", np.zeros(9), 0.7, 0.3, direction),
        ScreeningValues("folding", np.zeros(9), 0.7, 0.3, direction),
        CellRanks(np.array([0.1, 1.0, 7.0]), tuple(range(9)), np.zeros(9), absolute=True),
    ):
        with np.errstate(all="ignore"):
            whole = values(rows)
            assert np.abs(whole).max() <= 1.0
            for start in (1, 4, 63):
                np.testing.assert_array_equal(values(rows[start:]), whole[start:])


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        (tacit.SymmetricMixture, {"sparsity": 0}, "sparsity must be None or a whole number, at least 1"),
        (tacit.SymmetricMixture, {"sparsity": True}, "sparsity must be None or a whole number, at least 1"),
        (tacit.SymmetricMixture, {"sparsity": 61}, "sparsity is 61, and there are 60 column"),
        (tacit.SymmetricMixture, {"sparsity": 61, "method": TruncatedGradientEM(scale=1.0)}, "there are 60 column"),
        (tacit.SymmetricMixture, {"init": [1.0, 2.0]}, "init must be"),
        (tacit.MixtureOfRegressions, {"symmetric": False}, "for one component, or two with opposite coefficients"),
        (tacit.MixtureOfRegressions, {"symmetric": False, "n_components": 1, "init": TRUTH}, "needs no start"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_before_anything_is_charged(kind, options, words, tmp_path):
    account = tacit.Ledger(tmp_path / "budget.db").create("rows", Budget(10.0, 1e-3))
    with pytest.raises(ValueError, match=words):
        fit(kind, rows=100, ledger=account, **options)
    assert account.spent().epsilon == 0.0


def test_a_thousand_columns_of_the_paper_s_setting():
    """Ten of a thousand columns matter, in 4000 rows, at epsilon 0.5."""
    rng = np.random.default_rng(7)
    half = np.where(np.arange(1000) < 10, 10**-0.5, 0.0)
    rows = rng.choice([-1.0, 1.0], 4000)[:, None] * half + 0.5 * rng.normal(size=(4000, 1000))
    model = tacit.SymmetricMixture(sparsity=10, epsilon=0.5, delta=1 / 8000, bounds=(-3, 3), random_state=0).fit(rows)
    assert model.support_.tolist() == list(range(10))
    assert min(np.linalg.norm(model.half_ - half), np.linalg.norm(model.half_ + half)) < 0.08

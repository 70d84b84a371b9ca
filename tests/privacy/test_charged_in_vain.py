"""A budget is never spent on nothing: whatever the options and the shape of the table, a fit that is charged comes out.

Random estimators with random options fit random tables, and so does every model of the registry with its usual
parameters. Each ends in one of two ways: a model, or a refusal in a sentence with nothing charged.
"""

import warnings

import numpy as np
import pytest

import tacit
from tacit import published
from tacit.linear.risk import OWN_SOLVERS, PUBLISHED_SOLVERS
from tacit.models import CARDS
from tacit.privacy import PrivacyError
from tacit.published import ClippedGradientEM, RobustEM, RobustGradientEM, TruncatedGradientEM

ROWS = (1, 2, 3, 7, 40, 300, 2000)
COLUMNS = (1, 2, 3, 6)


def one_of(rng, *values):
    """Return one of the values, as it is."""
    return values[rng.integers(len(values))]


def with_iterations(rng, kind, **options):
    """Return a published method with a random number of iterations, or its own."""
    n_iter = one_of(rng, "auto", 1, 2, 11, 40)
    return kind(**options) if n_iter == "auto" else kind(**options, **{kind.iterations_option: n_iter})


def solver_options(rng):
    """Return a random solver; its own iterations are for it to have, and those of the estimator for others."""
    word = one_of(rng, *OWN_SOLVERS, *PUBLISHED_SOLVERS)
    if word in OWN_SOLVERS or word in ("output", "objective"):
        return {"solver": word, "n_iter": one_of(rng, "auto", 1, 2, 11, 40)}
    return {"solver": with_iterations(rng, getattr(published, PUBLISHED_SOLVERS[word][0]))}


def regression_method(rng):
    return one_of(
        rng,
        "scores",
        with_iterations(rng, published.RobustDescent),
        with_iterations(rng, published.TrimmedDescent, gradient_bounds=10.0),
        published.SampleAggregate(coef_bound=10.0),
        published.BlockMean(coef_bound=10.0),
    )


def clustering_options(rng):
    lloyd = with_iterations(rng, published.DPLloyd, composition=one_of(rng, "linear", "zcdp"))
    method = one_of(rng, "adaptive", lloyd, with_iterations(rng, published.DPEMLloyd))
    return {"method": method, "n_iter": one_of(rng, "auto", 1, 2, 3, 9, 40) if method == "adaptive" else "auto"}


def mixture_options(rng):
    method = one_of(rng, "scale_free", published.JointMoments, published.DPEM)
    if method == "scale_free":
        return {"n_iter": one_of(rng, "auto", 1, 2, 3, 9, 40)}
    return {"method": with_iterations(rng, method), "n_iter": "auto"}


def gradient_em(rng, *others):
    """Return options of a fit by moments, or by a published method that takes its own number of steps."""
    options = {"scale": 1.0, "n_iter": one_of(rng, 1, 2, 3, 9, 40)}
    published = [kind(**options) for kind in (ClippedGradientEM, RobustGradientEM, *others)]
    published.append(TruncatedGradientEM(split=bool(rng.integers(2)), **options))
    method = one_of(rng, "moments", *published)
    return {"method": method, "sparsity": one_of(rng, None, 1)} | ({} if method == "moments" else {"n_iter": "auto"})


def unsupervised(rng, columns):
    count = int(rng.integers(1, 6))
    common = {"n_iter": one_of(rng, "auto", 1, 2, 3, 9, 40)}
    kinds = [
        (tacit.KMeans, {"n_clusters": count, **clustering_options(rng)}),
        (
            tacit.GaussianMixture,
            {
                "n_components": count,
                **mixture_options(rng),
                "covariance_type": one_of(rng, "full", "tied", "diag", "spherical"),
            },
        ),
        (tacit.FactorAnalysis, {"n_components": min(count, columns)}),
        (tacit.FactorAnalysis, {"n_components": min(count, columns), "method": "paper", "n_iter": "auto"}),
        (tacit.Moments, {}),
        (tacit.SymmetricMixture, {"scale": one_of(rng, None, None, 1.0), **gradient_em(rng, RobustEM)}),
    ]
    kind, options = kinds[rng.integers(len(kinds))]
    return kind, {**common, **options}


def supervised(rng, columns):
    kinds = [
        (tacit.LinearRegression, {"method": regression_method(rng)}),
        (tacit.Ridge, {"alpha": one_of(rng, 0.0, 1.0, 1e6)}),
        (tacit.Lasso, {"alpha": one_of(rng, 0.0, 1.0, 1e6)}),
        (tacit.HuberRegressor, solver_options(rng)),
        (
            tacit.MixtureOfRegressions,
            {"n_components": int(rng.integers(1, 4)), "symmetric": bool(rng.integers(2)), **gradient_em(rng)},
        ),
        (tacit.MissingCovariateRegression, gradient_em(rng)),
    ]
    kind, options = kinds[rng.integers(len(kinds))]
    return kind, {**options, "target_bounds": one_of(rng, None, 1e-3, 5.0, 1e6)}


def classifier(rng):
    kind = one_of(rng, tacit.LogisticRegression, tacit.LinearSVC)
    options = {**solver_options(rng), "C": one_of(rng, 1.0, 1e-6, np.inf)}
    return kind, {**options, "classes": list(range(int(rng.integers(2, 4))))}


def attempt(seed, tmp_path):
    """Return the exception of a random fit, if it had one, and how many charges were made."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.choice(ROWS)), int(rng.choice(COLUMNS))
    X = [rng.normal(size=(rows, columns)), np.zeros((rows, columns)), rng.standard_t(1, (rows, columns))][
        rng.integers(3)
    ]
    which = rng.integers(5)
    y = None
    if which == 0:
        kind, options = supervised(rng, columns)
        y = X[:, 0] + rng.normal(size=rows)
    elif which == 1:
        kind, options = classifier(rng)
        y = rng.integers(0, len(options["classes"]), rows)
    elif which == 2:
        kind, options = (
            tacit.RobustMean,
            {
                "method": one_of(rng, "adaptive", "clipped", published.CatoniMean(moment_bound=2.0), "trimmed"),
                "moment_bound": one_of(rng, None, 2.0),
                "noise": one_of(rng, "auto", "laplace", "gaussian"),
            },
        )
    elif which == 3:
        kind, options = tacit.TableModel, {}
    else:
        kind, options = unsupervised(rng, columns)
    return outcome(rng, seed, tmp_path, kind, options, X, y)


def attempt_as_usual(card, seed, tmp_path):
    """Return the same of a fit of a model with its usual parameters."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.choice(ROWS)), int(rng.choice(COLUMNS))
    X = rng.normal(size=(rows, columns))
    y = {None: None, "number": X[:, 0] + rng.normal(size=rows), "class": rng.integers(0, 2, rows)}[card.target]
    public = {None: {}, "number": {"target_bounds": 5.0}, "class": {"classes": [0, 1]}}[card.target]
    return outcome(rng, seed, tmp_path, card.estimator, {**card.usual(), **public}, X, y)


def outcome(rng, seed, tmp_path, kind, options, X, y):
    """Return the same of a fit with a random budget, bounds and relation."""
    options |= {
        "epsilon": float(10.0 ** rng.uniform(-4, 4)),
        "delta": one_of(rng, 0.0, 1e-12, 1e-6, 1e-2),
        "bounds": one_of(rng, 5.0, (-1.0, 3.0), 1e-6, 1e8, "private"),
        "neighbors": one_of(rng, "replace_one", "add_remove"),
        "random_state": int(seed),
    }
    return try_to_fit(kind, options, (X,) if y is None else (X, y), tmp_path / f"{seed}.db")


def try_to_fit(kind, options, rows, ledger):
    """Return a model, the exception of its fit and how many charges there are in a new ledger."""
    relation = options.get("neighbors", "replace_one")
    account = tacit.Ledger(ledger).create("rows", tacit.Budget(1e9, 0.5), relation)
    model, error = kind(ledger=account, **options), None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(*rows)
        except Exception as raised:
            error = raised
    return model, error, len(account.history())


@pytest.mark.parametrize("shard", range(6))
def test_a_fit_that_is_charged_comes_out(shard, tmp_path):
    for seed in range(60 * shard, 60 * shard + 60):
        check(seed, *attempt(seed, tmp_path))


@pytest.mark.parametrize("name", CARDS)
def test_a_usual_fit_that_is_charged_comes_out(name, tmp_path):
    for seed in range(20):
        check(seed, *attempt_as_usual(CARDS[name], seed, tmp_path))


@pytest.mark.parametrize("name", CARDS)
def test_a_fit_within_private_bounds_that_is_charged_comes_out(name, tmp_path):
    """Noise may find bounds that are far too narrow, and what is measured in units of them is then huge."""
    for seed in range(24):
        check(seed, *attempt_within_private_bounds(CARDS[name], seed, tmp_path))


def attempt_within_private_bounds(card, seed, tmp_path):
    """Return the outcome of a usual fit to a few rows with little budget, within bounds that are found privately."""
    rng = np.random.default_rng(seed)
    X = 0.2 * rng.normal(size=((40, 100, 400)[seed % 3], 2))
    y = X @ [0.6, -0.8] + 0.1 * rng.normal(size=len(X))
    target = {None: (), "number": (y.clip(-1, 1),), "class": ((y > 0).astype(int),)}[card.target]
    public = {None: {}, "number": {"target_bounds": (-1, 1)}, "class": {"classes": [0, 1]}}[card.target]
    options = {**card.usual(), **public, "bounds": "private", "epsilon": (0.15, 1.0)[seed % 2], "random_state": seed}
    return try_to_fit(card.estimator, options, (X, *target), tmp_path / f"{seed}.db")


def check(seed, model, error, charges):
    if error is None:
        assert charges == 1, f"seed {seed}: {model} was fitted with {charges} charges"
    else:
        assert charges == 0, f"seed {seed}: {model} was charged, and then: {type(error).__name__}: {error}"
        assert isinstance(error, (ValueError, TypeError, PrivacyError)), f"seed {seed}: {model}: {error!r}"


@pytest.mark.parametrize("n_iter", [11, 40])
def test_more_rounds_than_shares(n_iter, tmp_path):
    """Rows are dealt out into 8 shares here, and more early rounds than that use some of them twice."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160_000, 2))
    account = tacit.Ledger(tmp_path / "budget.db").create("rows", tacit.Budget(1.0, 1e-6))
    model = tacit.LogisticRegression(classes=[0, 1], bounds=5.0, n_iter=n_iter, ledger=account, random_state=0)
    model.fit(X, (X[:, 0] > rng.logistic(size=len(X))).astype(int))
    assert any("Split" in type(step).__name__ for step in model.privacy_.plan.steps)
    assert np.abs(model.coef_ - [1.0, 0.0]).max() < 0.1


@pytest.mark.parametrize("epsilon", [30.0, 1e3, 1e6])
def test_a_pure_budget_that_is_large(epsilon, tmp_path):
    """Laplace noise is private however fine its lattice is, so that there can be little of it."""
    rows = np.random.default_rng(0).normal(3.0, 1.0, (5000, 1))
    account = tacit.Ledger(tmp_path / "budget.db").create("rows", tacit.Budget(2e6, 1e-6))
    model = tacit.RobustMean(epsilon=epsilon, ledger=account, random_state=0).fit(rows)
    assert model.mean_[0] == pytest.approx(rows.mean(), abs=0.01)


def test_a_budget_too_large_for_any_noise_is_refused_before_it_is_charged(tmp_path):
    account = tacit.Ledger(tmp_path / "budget.db").create("rows", tacit.Budget(1e15, 1e-6))
    with pytest.raises(PrivacyError, match="next to no noise"):
        tacit.RobustMean(epsilon=1e12, delta=0.0, ledger=account).fit(np.zeros((100, 1)))
    assert account.history() == []

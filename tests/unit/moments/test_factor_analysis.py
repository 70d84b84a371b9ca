"""Factor analysis: near scikit-learn's where the budget is large, its interface, many columns in little memory."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.decomposition import FactorAnalysis as Plain
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from tacit.moments.factors import Factors, likeliest_factors
from tacit.privacy import Budget, Ledger


def model(**options):
    return tacit.FactorAnalysis(bounds=(-100, 100), epsilon=10.0, delta=1e-3, random_state=0, **options)


def moments(**options):
    return tacit.Moments(bounds=(-100, 100), epsilon=10.0, delta=1e-3, random_state=0, **options)


def cannot_hold(estimator):
    if estimator.missing == "ignore" and hasattr(estimator, "transform"):
        return {"check_estimators_pickle": "Rows with missing cells are left out of a fit, but have no density."}
    return {}


VARIANTS = [
    model(),
    model(method="paper"),
    model(neighbors="add_remove"),
    model(missing="ignore"),
    moments(method="staged"),
    moments(method="iterated", missing="ignore"),
    moments(method="published"),
]


@parametrize_with_checks(VARIANTS, expected_failed_checks=cannot_hold)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    truth = Factors(rng.normal(size=12), rng.normal(size=(12, 3)), rng.uniform(0.3, 1.5, 12))
    return truth, truth.sample(20_000, rng), truth.sample(4_000, rng)


@pytest.fixture(scope="module")
def plain(problem):
    return Plain(3, tol=1e-3).fit(problem[1]).score(problem[2])


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize(("epsilon", "most"), [(0.3, 0.15), (3.0, 0.01)])
def test_held_out_likelihood_is_near_scikit_learns(problem, plain, epsilon, most, neighbors):
    _, X, test = problem
    scores = [
        tacit.FactorAnalysis(3, epsilon=epsilon, bounds=(-30, 30), neighbors=neighbors, random_state=seed)
        .fit(X)
        .score(test)
        for seed in range(3)
    ]
    assert plain - np.mean(scores) < most


def test_better_than_the_paper_by_far(problem):
    _, X, test = problem
    settings = {"epsilon": 0.3, "bounds": (-30, 30), "random_state": 0}
    adaptive, paper = (tacit.FactorAnalysis(3, method=m, **settings).fit(X).score(test) for m in ("adaptive", "paper"))
    assert adaptive > paper + 5


def test_interface_is_scikit_learns(problem):
    """The same numbers as scikit-learn's methods give, at the private parameters."""
    _, X, test = problem
    ours = tacit.FactorAnalysis(3, bounds=(-30, 30), random_state=0).fit(X)
    theirs = Plain(3).fit(X[:100])
    theirs.components_, theirs.noise_variance_, theirs.mean_ = ours.components_, ours.noise_variance_, ours.mean_
    assert np.allclose(ours.transform(test), theirs.transform(test))
    assert np.allclose(ours.score_samples(test), theirs.score_samples(test))
    assert np.allclose(ours.get_covariance(), theirs.get_covariance())
    assert np.allclose(ours.get_precision() @ ours.get_covariance(), np.eye(12), atol=1e-8)
    assert ours.score(test) == pytest.approx(ours.score_samples(test).mean())
    assert ours.get_feature_names_out().tolist() == [f"factoranalysis{k}" for k in range(3)]


def test_samples_look_like_rows(problem):
    truth, X, _ = problem
    ours = tacit.FactorAnalysis(3, epsilon=3.0, bounds=(-30, 30), random_state=0).fit(X)
    rows = ours.sample(20_000, random_state=1)
    assert np.allclose(np.cov(rows.T), truth.covariance(), atol=0.5)
    assert np.abs(rows).max() <= 30
    with pytest.raises(ValueError, match="n_samples"):
        ours.sample(0)


def test_schema_gives_tables_back():
    schema = tacit.Schema.from_dict(
        {
            "columns": {
                "age": {"type": "integer", "low": 0, "high": 100},
                "cost": {"type": "numeric", "low": 0, "high": 9},
            }
        }
    )
    rng = np.random.default_rng(0)
    table = {"age": rng.integers(20, 60, 500), "cost": rng.uniform(0, 9, 500)}
    fitted = tacit.FactorAnalysis(bounds=schema, random_state=0).fit(pa.table(table))
    assert fitted.sample(7, random_state=0).column_names == ["age", "cost"]


def test_from_moments_is_what_fit_is(problem):
    _, X, _ = problem
    released = tacit.Moments(bounds=(-30, 30), random_state=0).fit(X)
    made, fitted = (
        tacit.FactorAnalysis.from_moments(released, 3),
        tacit.FactorAnalysis(3, bounds=(-30, 30), random_state=0),
    )
    assert np.array_equal(made.components_, fitted.fit(X).components_)
    assert made.privacy_.plan == fitted.privacy_.plan
    assert clone(made).get_params()["n_components"] == 3
    with pytest.raises(NotFittedError):
        tacit.FactorAnalysis.from_moments(tacit.Moments(bounds=1.0))
    with pytest.raises(TypeError, match=r"tacit\.Moments"):
        tacit.FactorAnalysis.from_moments(X)
    with pytest.raises(ValueError, match="n_components"):
        tacit.FactorAnalysis.from_moments(released, 13)


@pytest.mark.parametrize(
    "wrong", [{"n_components": 0}, {"n_components": 13}, {"n_components": 1.5}, {"method": "best"}]
)
def test_bad_input_is_refused_before_anything_is_charged(problem, wrong, tmp_path):
    account = Ledger(tmp_path / "budget.db").create("rows", Budget(2.0, 1e-5))
    left = account.remaining()
    with pytest.raises(ValueError, match=next(iter(wrong))):
        tacit.FactorAnalysis(**{"bounds": 1.0, "ledger": account, **wrong}).fit(problem[1][:50])
    assert account.remaining() == left


def test_pipelines(problem):
    _, X, _ = problem
    pipeline = make_pipeline(FunctionTransformer(), tacit.FactorAnalysis(2, bounds=(-30, 30)))
    assert pipeline.fit(X[:500]).transform(X[:10]).shape == (10, 2)


def test_rows_outside_the_bounds_have_a_density(problem):
    _, X, _ = problem
    ours = tacit.FactorAnalysis(2, bounds=(-3, 3), random_state=0).fit(X[:500])
    assert ours.score_samples(np.full((1, 12), 50.0)) < ours.score_samples(np.zeros((1, 12)))


# Numerics


def test_likeliest_factors_are_scikit_learns(problem):
    X, test = problem[1][:2000], problem[2]
    theirs = Plain(3, tol=1e-8, max_iter=5000).fit(X)
    ours = likeliest_factors(X.mean(axis=0), np.cov(X.T, bias=True), 3)
    assert ours.log_density(test).mean() == pytest.approx(theirs.score(test), abs=1e-5)
    assert np.allclose(ours.covariance(), theirs.get_covariance(), atol=1e-3)


def test_many_columns_take_little_work():
    """A thousand columns, five hundred rows: eigenvectors of the whole matrix are never computed."""
    rng = np.random.default_rng(0)
    X = np.clip(rng.normal(size=(500, 2)) @ rng.normal(size=(2, 1000)) / 6 + 0.1 * rng.normal(size=(500, 1000)), -1, 1)
    fitted = tacit.FactorAnalysis(2, epsilon=50.0, delta=1e-4, bounds=(-1, 1), random_state=0).fit(X)
    strength = np.linalg.norm(fitted.components_, axis=1)
    assert (strength > 1).all()
    assert fitted.score(X) > tacit.FactorAnalysis(2, epsilon=0.1, delta=1e-4, bounds=(-1, 1), random_state=0).fit(
        X
    ).score(X)

"""Tables with levels and with missing cells: what the mixture finds, publishes, scores and draws."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tacit
from tacit.published import JointMoments
from tacit.storage import load_model, save_model
from tacit.tables import Boolean, Categorical, Integer, Numeric

SCHEMA = tacit.Schema(
    {
        "smokes": Boolean(),
        "age": Integer(0, 120),
        "region": Categorical(["north", "south", "west", "nowhere"]),
        "income": Numeric(0.0, 300.0),
    }
)
LEVELS = tacit.Schema({"a": Boolean(), "b": Categorical(["x", "y", "z"]), "c": Boolean()})


def people(count=4000, seed=0):
    """Two groups, that differ in all columns; within a group columns are independent."""
    rng = np.random.default_rng(seed)
    old = rng.random(count) < 0.4
    region = np.where(old, rng.choice(["north", "south"], count, p=[0.9, 0.1]), rng.choice(["south", "west"], count))
    return {
        "smokes": rng.random(count) < np.where(old, 0.7, 0.1),
        "age": np.clip(rng.normal(np.where(old, 70, 30), 8).round(), 0, 120).astype(int),
        "region": region,
        "income": np.clip(rng.normal(np.where(old, 60.0, 150.0), 20.0), 0, 300),
    }


def answers(count=4000, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.random(count) < 0.3
    b = np.where(group, rng.choice(["x", "y"], count, p=[0.9, 0.1]), rng.choice(["y", "z"], count, p=[0.3, 0.7]))
    return {
        "a": rng.random(count) < np.where(group, 0.9, 0.1),
        "b": b,
        "c": rng.random(count) < np.where(group, 0.8, 0.2),
    }


def with_gaps(table, share, seed=0):
    rng = np.random.default_rng(seed)
    gaps = {name: rng.random(len(values)) < share for name, values in table.items()}
    return {name: pa.array(np.asarray(values), mask=gaps[name]) for name, values in table.items()}


def model(n_components=2, **options):
    return tacit.GaussianMixture(n_components, **{"epsilon": 3.0, "bounds": SCHEMA, "random_state": 0, **options})


def check_people(fitted, within=0.06):
    young, old = (int(k) for k in np.argsort(fitted.means_[:, 0]))
    assert fitted.weights_[old] == pytest.approx(0.4, abs=within)
    assert fitted.means_[old] == pytest.approx([70.0, 60.0], abs=6.0)
    assert fitted.means_[young] == pytest.approx([30.0, 150.0], abs=6.0)
    assert fitted.level_probabilities_["smokes"][[young, old], 1] == pytest.approx([0.1, 0.7], abs=within)
    regions = fitted.level_probabilities_["region"]
    assert regions[old] == pytest.approx([0.9, 0.1, 0.0, 0.0], abs=within)
    assert regions[young] == pytest.approx([0.0, 0.5, 0.5, 0.0], abs=within)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_groups_are_found_with_their_levels(kind, neighbors):
    fitted = model(covariance_type=kind, neighbors=neighbors).fit(people())
    check_people(fitted)
    assert fitted.means_.shape == (2, 2)
    assert {"full": (2, 2, 2), "tied": (2, 2)}.get(kind, (2, 2)) == fitted.covariances_.shape
    assert {name: shares.shape for name, shares in fitted.level_probabilities_.items()} == {
        "smokes": (2, 2),
        "region": (2, 4),
    }
    for shares in fitted.level_probabilities_.values():
        assert (shares > 0).all()  # nothing is impossible, not even nowhere
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_tables_of_levels_alone():
    table = answers()
    fitted = model(bounds=LEVELS).fit(table)
    assert fitted.means_.shape == (2, 0)
    rare, common = np.argsort(fitted.weights_)
    assert fitted.weights_[rare] == pytest.approx(0.3, abs=0.06)
    assert fitted.level_probabilities_["b"][rare] == pytest.approx([0.9, 0.1, 0.0], abs=0.06)
    assert fitted.level_probabilities_["b"][common] == pytest.approx([0.0, 0.3, 0.7], abs=0.06)
    drawn = fitted.sample(20_000, random_state=0)[0].to_pandas()
    shares = pd.crosstab(drawn["a"], drawn["b"], normalize=True) - pd.crosstab(table["a"], table["b"], normalize=True)
    assert np.abs(shares.to_numpy()).max() < 0.03
    assert fitted.n_iter_ == sum(step.count for step in fitted.privacy_.plan.steps)
    every = [{"a": [a], "b": [b], "c": [c]} for a in (True, False) for b in "xyz" for c in (True, False)]
    assert sum(np.exp(fitted.score(row)) for row in every) == pytest.approx(1.0)  # probabilities, not densities


def test_density_is_that_of_numbers_times_probability_of_levels():
    fitted = model().fit(people())
    row = {"smokes": [True], "age": [50], "region": ["south"], "income": [100.0]}
    apart = np.array([50.0, 100.0]) - fitted.means_
    normals = [
        np.exp(-0.5 * x @ np.linalg.solve(c, x)) / np.sqrt(np.linalg.det(2 * np.pi * c))
        for x, c in zip(apart, fitted.covariances_)
    ]
    levels = fitted.level_probabilities_["smokes"][:, 1] * fitted.level_probabilities_["region"][:, 1]
    assert np.exp(fitted.score(row)) == pytest.approx(fitted.weights_ @ (normals * levels))
    assert fitted.predict_proba(row)[0] == pytest.approx(
        fitted.weights_ * normals * levels / (fitted.weights_ @ (normals * levels))
    )


@pytest.mark.parametrize("seed", range(4))
def test_levels_tell_components_apart(seed):
    """With numbers that say nothing, the levels of a row still say which component it belongs to.

    Two columns of levels do not say where exactly the components part: many pairs of them have the same table.
    """
    table, rng = people(), np.random.default_rng(1)
    table["age"], table["income"] = rng.normal(50, 9, 4000).round(), rng.normal(100.0, 20.0, 4000)
    fitted = model(random_state=seed).fit(table)
    north = table["region"] == "north"
    old = fitted.predict(table) == fitted.level_probabilities_["region"][:, 0].argmax()
    assert old[north].mean() - old[~north].mean() > 0.5


def test_priors_reach_levels():
    prior = tacit.MixturePrior(concentration=2001.0)
    fitted = model(prior=prior).fit(people())
    assert fitted.level_probabilities_["region"][:, 3] == pytest.approx(2000 / (2000 * 4 + 2000), abs=0.08)
    assert model(bounds=LEVELS, prior=prior).fit(answers()).weights_ == pytest.approx([0.5, 0.5], abs=0.12)


@pytest.mark.parametrize(
    "options", [{"method": JointMoments(n_iter=3)}, {"init": "public"}, {"n_iter": 8}, {"epsilon": 0.05}], ids=str
)
def test_every_way_to_fit_publishes_levels(options, tmp_path):
    fitted = model(**options).fit(people())
    assert set(fitted.level_probabilities_) == {"smokes", "region"}
    assert np.isfinite(fitted.score(people(100)))
    again = load_model(save_model(fitted, tmp_path / "model.tacit"))
    # The same parameters, which other versions of numpy may add up in another order.
    np.testing.assert_allclose(again.score_samples(people(100)), fitted.score_samples(people(100)), rtol=1e-12)
    assert again.sample(20, 1)[0].equals(fitted.sample(20, 1)[0])
    np.testing.assert_array_equal(again.level_probabilities_["region"], fitted.level_probabilities_["region"])


def test_a_refit_to_numbers_forgets_levels():
    fitted = model().fit(people())
    fitted.set_params(bounds=(-10, 10)).fit(np.random.default_rng(0).normal(size=(500, 2)))
    assert not hasattr(fitted, "level_probabilities_")


# Missing cells


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_what_is_there_is_used(kind):
    gappy = with_gaps(people(6000), 0.2)
    fitted = model(missing="model", covariance_type=kind).fit(gappy)
    check_people(fitted, within=0.1)
    assert fitted.privacy_.rows == 6000
    assert "whether there are any is not told" in " ".join(fitted.privacy_.notes)


def test_gaps_do_not_bias_an_array():
    """In columns that go together; leaving rows out would leave too few."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(8000, 4)) @ np.array([[1.0, 0.8, 0, 0], [0, 0.6, 0, 0.5], [0, 0, 1, 0], [0, 0, 0, 0.5]])
    gappy = np.where(rng.random(rows.shape) < 0.3, np.nan, rows)
    for bounds in ((-10, 10), 20.0):
        fitted = tacit.GaussianMixture(1, epsilon=2.0, bounds=bounds, missing="model", random_state=0).fit(gappy)
        np.testing.assert_allclose(fitted.covariances_[0], np.cov(rows.T), atol=0.12)
        np.testing.assert_allclose(fitted.means_[0], 0.0, atol=0.1)


def test_rows_with_gaps_are_scored_by_what_they_have():
    fitted = model(missing="model").fit(people())
    rows = {"smokes": [None, True], "age": [70, None], "region": ["north", None], "income": [None, None]}
    proba = fitted.predict_proba(rows)
    old = fitted.means_[:, 0].argmax()
    assert proba[0, old] > 0.99
    expected = fitted.weights_ * fitted.level_probabilities_["smokes"][:, 1]
    assert proba[1] == pytest.approx(expected / expected.sum())
    assert fitted.score_samples(rows)[1] == pytest.approx(np.log(expected.sum()))
    with pytest.raises(ValueError, match="missing cells"):
        model(missing="ignore").fit(people()).score(rows)


def test_arrays_are_scored_by_what_they_have():
    rows = np.random.default_rng(0).normal([1.0, -2.0], [1.0, 3.0], (3000, 2))
    fitted = tacit.GaussianMixture(1, bounds=(-20, 20), missing="model", random_state=0).fit(rows)
    mean, variance = fitted.means_[0, 1], fitted.covariances_[0, 1, 1]
    expected = -0.5 * (0.5 - mean) ** 2 / variance - 0.5 * np.log(2 * np.pi * variance)
    assert fitted.score_samples([[np.nan, 0.5], [np.nan, np.nan]]) == pytest.approx([expected, 0.0])
    with pytest.raises(ValueError, match="infinity"):
        fitted.score([[np.inf, 0.5]])


def test_modelling_gaps_takes_the_default_method():
    with pytest.raises(ValueError, match='missing="model" is there for method="scale_free" alone'):
        model(missing="model", method="joint").fit(people())


def test_a_model_does_not_remember_rows_it_has_scored():
    """Not even which cells they lack: a model is published, and the rows it was asked about are not."""
    rows = pd.DataFrame(people())
    rows.loc[::7, "income"] = np.nan
    fitted = model(missing="model").fit(rows)
    before = pickle.dumps(fitted)
    fitted.score_samples(rows)
    fitted.predict_proba(rows)
    assert pickle.dumps(fitted) == before


def test_a_table_of_levels_alone_comes_back_from_a_file(tmp_path):
    fitted = model(bounds=LEVELS).fit(answers())
    again = load_model(save_model(fitted, tmp_path / "model.tacit"))
    assert (again.level_probabilities_["b"] == fitted.level_probabilities_["b"]).all()
    assert again.covariances_.shape == fitted.covariances_.shape == (2, 0, 0)
    assert (again.predict(answers()) == fitted.predict(answers())).all()

"""Rows that no component explains: found where they are, and nothing added where they are not."""

import math

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture as Plain

import tacit
from tacit.statistics import Components, OutlierCount, TableComponents
from tacit.storage import load_model, save_model
from tacit.tables import Categorical, Numeric, Schema


def heavy(rows=12_000, columns=3, seed=0):
    """Two clusters whose deviations have Student's distribution with three degrees of freedom."""
    rng = np.random.default_rng(seed)
    return 3.0 * rng.integers(0, 2, (rows, 1)) + rng.standard_t(3, (rows, columns))


def gaussian(rows=12_000, columns=3, seed=0):
    rng = np.random.default_rng(seed)
    return 3.0 * rng.integers(0, 2, (rows, 1)) + rng.normal(size=(rows, columns))


def fit(rows, **options):
    return tacit.GaussianMixture(**{"n_components": 2, "bounds": (-20, 20), "random_state": 0, **options}).fit(rows)


def table(numbers):
    """The same rows with a column of levels: which cluster it is, in nine cases of ten."""
    cluster = (numbers.mean(axis=1) > 1.5) ^ (np.random.default_rng(1).random(len(numbers)) < 0.1)
    columns = {f"x{j}": column for j, column in enumerate(numbers.T)}
    schema = {name: Numeric(-20, 20) for name in columns} | {"side": Categorical(["left", "right"])}
    return columns | {"side": np.where(cluster, "right", "left")}, Schema(schema)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_heavy_tails_are_better_explained_than_without_privacy(epsilon, kind):
    model = fit(heavy(), epsilon=epsilon, covariance_type=kind)
    plain = Plain(2, covariance_type=kind, n_init=3, random_state=0).fit(heavy())
    test = heavy(seed=9)
    assert 0.01 < model.outliers_.weight < 0.1
    assert model.score(test) > plain.score(test)


@pytest.mark.parametrize("options", [{}, {"neighbors": "add_remove"}, {"n_components": "auto"}, {"missing": "model"}])
def test_gaussian_rows_have_no_outliers(options):
    assert fit(gaussian(), epsilon=1.0, **options).outliers_.weight == 0


def test_the_clusters_asked_for_are_all_there():
    model = fit(heavy(), epsilon=1.0)
    assert np.sort(model.means_.mean(axis=1)) == pytest.approx([0.0, 3.0], abs=0.3)
    assert model.weights_.sum() == pytest.approx(1.0)
    assert set(model.predict(heavy())) == {0, 1}


def test_missing_cells_and_secret_counts_make_no_difference():
    rows = heavy()
    rows[np.random.default_rng(2).random(rows.shape) < 0.1] = np.nan
    assert fit(rows, missing="model").outliers_.weight == pytest.approx(0.025, abs=0.02)
    assert fit(heavy(), neighbors="add_remove").outliers_.weight == pytest.approx(0.025, abs=0.02)


def test_tables_with_levels_have_outliers_too(tmp_path):
    columns, schema = table(heavy())
    import pandas as pd

    frame = pd.DataFrame(columns)
    model = fit(frame, bounds=schema, epsilon=2.0)
    assert 0.01 < model.outliers_.weight < 0.1
    assert model.outliers_.level_probabilities["side"].sum() == pytest.approx(1.0)
    save_model(model, tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.score(frame) == pytest.approx(model.score(frame))
    assert again.outliers_.weight == model.outliers_.weight


def test_synthetic_rows_have_their_share_of_outliers():
    model = fit(heavy(), epsilon=4.0)
    rows, labels = model.sample(20_000, random_state=0)
    share = model.outliers_.weight
    assert (labels == -1).mean() == pytest.approx(share, abs=4 * math.sqrt(share / 20_000))
    outlying = rows[labels == -1]
    assert outlying.var(axis=0) == pytest.approx(model.outliers_.variances, rel=0.3)


def test_a_model_file_with_an_impossible_weight_is_refused(tmp_path):
    save_model(fit(heavy(), epsilon=4.0), tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text()
    start = text.index('"weight":')
    end = text.index(",", start)
    (tmp_path / "model.json").write_text(text[:start] + '"weight": 1.5' + text[end:])
    with pytest.raises(ValueError, match="from 0 to 1"):
        load_model(tmp_path / "model.json")


def test_a_release_too_few_is_refused_in_words():
    with pytest.raises(ValueError, match="one for tails and one for outliers; pass n_iter=6 or more"):
        fit(gaussian(50), n_iter=5)


def one(scale, columns=2):
    return TableComponents.of_numbers(Components(np.ones(1), np.zeros((1, columns)), scale * np.eye(columns)[None]))


@pytest.mark.parametrize("scale", [0.3, 1.0, 2.0, 10.0])
@pytest.mark.parametrize("proportion", [0.001, 0.05])
def test_if_the_mixture_is_right_no_more_than_the_proportion_counts(scale, proportion):
    rows = np.random.default_rng(0).normal(size=(50_000, 2))
    count = OutlierCount(one(1.0), one(scale), proportion=proportion).block_sum(rows)[0]
    assert count <= proportion * len(rows) * (1 + 1e-9)


def test_rows_with_missing_cells_count_by_the_cells_they_have():
    count = OutlierCount(one(1.0), one(10.0), missing=True)
    rows = np.array([[30.0, np.nan], [0.1, np.nan], [np.nan, np.nan]])
    assert count.block_sum(rows) == pytest.approx(1.0, abs=0.01)
    assert OutlierCount(one(1.0), one(10.0)).block_sum(rows) == 0.0


def test_reports_and_summaries_tell_of_outliers():
    from tacit.cli.results import summary
    from tacit.report.view import MixtureView

    model = fit(heavy(), epsilon=4.0)
    assert summary(model)["outliers"] == model.outliers_.weight
    assert summary(fit(gaussian(), epsilon=4.0))["outliers"] == 0
    drawn, _ = model.sample(50_000, random_state=0)
    mean, deviation = MixtureView.of(model).overall(0)
    assert (mean, deviation) == (
        pytest.approx(drawn[:, 0].mean(), abs=0.05),
        pytest.approx(drawn[:, 0].std(), rel=0.03),
    )

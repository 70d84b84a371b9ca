"""Model files keep models exactly, hold nothing that runs, and are refused when damaged."""

import json

import numpy as np
import pytest

import tacit
from tacit.data import load_randhie
from tacit.storage import load_model, save_model

X = np.random.default_rng(0).normal([[-2.0, 1.0, 30.0]], [[0.5, 1.0, 10.0]], (800, 3))
LOW, HIGH = np.array([-10.0, -10.0, 0.0]), np.array([10.0, 1 / 3, 99.9])


def fit(**options):
    return tacit.GaussianMixture(
        **{"n_components": 2, "bounds": (LOW, HIGH), "epsilon": 3.0, "random_state": 0} | options
    ).fit(X)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.tacit"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"covariance_type": "tied"},
        {"covariance_type": "diag", "neighbors": "add_remove"},
        {"covariance_type": "spherical", "n_iter": np.int64(6)},
        {"bounds": 50},
        {"bounds": np.float64(50.0)},
        {"bounds": (-40, np.full(3, 70.0))},
        {"bounds": "private"},
        {"method": "joint", "init": "public", "prior": tacit.MixturePrior(degrees=7.5)},
        {"method": tacit.published.DPEM(noise="LLG"), "init": np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 20.0]])},
        {"missing": "ignore", "random_state": None},
        {"n_components": "auto"},
        {"n_components": range(1, 4)},
        {"n_components": np.array([1, 3])},
    ],
    ids=str,
)
def test_models_come_back_exactly(path, options):
    model = fit(**options)
    again = load_model(save_model(model, path))
    for name in ("weights_", "means_", "covariances_", "precisions_cholesky_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    np.testing.assert_array_equal(again.score_samples(X), model.score_samples(X))
    np.testing.assert_array_equal(again.sample(50, 7)[0], model.sample(50, 7)[0])
    assert again.privacy_ == model.privacy_
    for name in ("n_iter_", "n_features_in_", "n_components_"):
        assert getattr(again, name) == getattr(model, name)
    stored = path.read_bytes()
    save_model(again, path)
    assert path.read_bytes() == stored


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"delta": 0.0, "bounds": 50},
        {"method": "dpem", "init": np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 20.0]])},
        {"bounds": "private", "neighbors": "add_remove"},
    ],
    ids=str,
)
def test_clusters_come_back_exactly(path, options):
    model = tacit.KMeans(2, **{"bounds": (LOW, HIGH), "epsilon": 3.0, "random_state": 0} | options).fit(X)
    again = load_model(save_model(model, path))
    np.testing.assert_array_equal(again.cluster_centers_, model.cluster_centers_)
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert again.privacy_ == model.privacy_
    stored = path.read_bytes()
    save_model(again, path)
    assert path.read_bytes() == stored
    values = json.loads(stored)
    values["clusters"]["centres"] = values["clusters"]["centres"][:1]
    path.write_text(json.dumps(values))
    with pytest.raises(ValueError, match="centres must be finite numbers of shape"):
        load_model(path)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": "staged", "bounds": 50},
        {"method": "published"},
        {"method": tacit.published.AnalyzeGauss()},
        {"bounds": "private", "neighbors": "add_remove"},
        {"missing": "ignore", "random_state": None},
    ],
    ids=str,
)
def test_moments_and_their_factors_come_back_exactly(path, options):
    moments = tacit.Moments(**{"bounds": (LOW, HIGH), "epsilon": 3.0, "random_state": 0} | options).fit(X)
    again = load_model(save_model(moments, path))
    for name in ("mean_", "covariance_", "second_moment_", "count_", "n_iter_", "method_", "n_features_in_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(moments, name))
    assert again.privacy_ == moments.privacy_
    stored = path.read_bytes()
    assert save_model(again, path).read_bytes() == stored
    factors, from_file = (tacit.FactorAnalysis.from_moments(each, 2) for each in (moments, again))
    for model in (from_file, load_model(save_model(factors, path))):
        for name in ("components_", "noise_variance_", "mean_", "n_iter_", "n_components", "n_features_in_"):
            np.testing.assert_array_equal(getattr(model, name), getattr(factors, name))
        np.testing.assert_array_equal(model.transform(X), factors.transform(X))
        np.testing.assert_array_equal(model.score_samples(X), factors.score_samples(X))
        np.testing.assert_array_equal(model.sample(9, 1), factors.sample(9, 1))
        assert model.privacy_ == factors.privacy_


def test_moments_and_factors_of_tables_come_back(path):
    table, schema = load_randhie()
    moments = tacit.Moments(bounds=schema, random_state=0).fit(table.slice(0, 3000))
    factors = tacit.FactorAnalysis.from_moments(load_model(save_model(moments, path)), 2)
    again = load_model(save_model(factors, path))
    assert again.bounds == schema
    assert again.sample(20, 1).equals(factors.sample(20, 1))
    np.testing.assert_array_equal(again.transform(table), factors.transform(table))


def test_the_files_of_moments_and_factors_say_what_the_model_is(path):
    moments = tacit.Moments(bounds=(LOW, HIGH), epsilon=3.0).fit(X)
    values = json.loads(save_model(moments, path).read_text())["moments"]
    np.testing.assert_array_equal(values["covariance"], moments.covariance_)
    model = tacit.FactorAnalysis.from_moments(moments, 2)
    values = json.loads(save_model(model, path).read_text())
    loadings, scale = np.array(values["factors"]["loadings"]), np.array(values["scale"])
    covariance = (loadings @ loadings.T + np.diag(values["factors"]["unique"])) * np.outer(scale, scale)
    np.testing.assert_allclose(covariance, model.get_covariance())


def test_schemas_come_back(path):
    table, schema = load_randhie()
    model = tacit.GaussianMixture(2, bounds=schema, random_state=0).fit(table.slice(0, 3000))
    again = load_model(save_model(model, path))
    assert again.bounds == schema
    assert again.sample(20, 1)[0].equals(model.sample(20, 1)[0])
    np.testing.assert_array_equal(again.score_samples(table), model.score_samples(table))


def test_a_loaded_model_can_be_fitted_again(path):
    again = load_model(save_model(fit(), path)).set_params(random_state=0).fit(X)
    np.testing.assert_array_equal(again.means_, fit().means_)


def test_the_file_is_plain_json_that_any_language_can_use(path):
    model = fit()
    values = json.loads(save_model(model, path).read_text())
    weights, means, covariances = (np.array(values["mixture"][name]) for name in ("weights", "means", "covariances"))
    centre, scale = np.array(values["centre"]), np.array(values["scale"])
    z = (X[0] - centre) / scale
    offsets = z - means
    distances = np.einsum("ki,kij,kj->k", offsets, np.linalg.inv(covariances), offsets)
    normals = np.exp(-0.5 * distances) / np.sqrt((2 * np.pi) ** 3 * np.linalg.det(covariances))
    assert np.log(weights @ normals / scale.prod()) == pytest.approx(model.score_samples(X[:1])[0])


def test_neither_seed_nor_ledger_are_stored(path):
    model = fit(random_state=987654321)
    assert "987654321" not in save_model(model, path).read_text()
    assert load_model(path).privacy_.seeded
    assert not {"ledger", "random_state"} & set(json.loads(path.read_text())["parameters"])


def test_names_of_columns_come_back(path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    again = load_model(save_model(tacit.GaussianMixture(1, bounds=(LOW, HIGH)).fit(frame), path))
    assert list(again.feature_names_in_) == ["a", "b", "c"]


def _without(key):
    return lambda values: values.pop(key)


def _set(*keys, value):
    def change(values):
        for key in keys[:-1]:
            values = values[key]
        values[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        _without("mixture"),
        _without("certificate"),
        _without("parameters"),
        _set("estimator", value="os.system"),
        _set("parameters", "n_components", value=3),
        _set("parameters", "surprise", value=1),
        _set("parameters", "method", value="magic"),
        _set("parameters", "bounds", value={"columns": {"a": {"type": "numeric"}}}),
        _set("mixture", "weights", value=[0.5, 0.6]),
        _set("mixture", "weights", value=["a", "b"]),
        _set("mixture", "means", value=[[0.0]]),
        _set("mixture", "covariances", value=np.zeros((2, 3, 3)).tolist()),
        _set("scale", value=[1.0, 1.0, -1.0]),
        _set("columns", value=["a"]),
        _set("certificate", "format", value="tacit.certificate/9"),
        _set("certificate", "plan", value=None),
    ],
)
def test_damage_is_refused_in_a_sentence(path, change):
    _damaged(save_model(fit(), path), change)


@pytest.mark.parametrize(
    "change",
    [
        _without("moments"),
        _set("estimator", value="KMeans"),
        _set("parameters", "method", value="published"),
        _set("parameters", "init", value="private"),
        _set("moments", "method", value="adaptive"),
        _set("moments", "count", value=None),
        _set("moments", "mean", value=[0.0]),
        _set("moments", "covariance", value=np.ones((3, 3)).tolist()),
        _set("moments", "covariance", value=[[1.0, 0.5, 0.0], [0.2, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        _set("moments", "covariance", value=(-np.eye(3)).tolist()),
    ],
)
def test_damaged_moments_are_refused(path, change):
    _damaged(save_model(tacit.Moments(method="staged", bounds=(LOW, HIGH)).fit(X), path), change)


@pytest.mark.parametrize(
    "change",
    [
        _without("factors"),
        _set("estimator", value="Moments"),
        _set("parameters", "method", value="iterated"),
        _set("parameters", "n_components", value=4),
        _set("parameters", "n_components", value=2),
        _set("parameters", "epsilon", value=-1.0),
        _set("factors", "mean", value="none"),
        _set("factors", "unique", value=[1.0, 1.0, 0.0]),
        _set("factors", "loadings", value=[[None]] * 3),
    ],
)
def test_damaged_factors_are_refused(path, change):
    _damaged(save_model(tacit.FactorAnalysis(1, bounds=(LOW, HIGH)).fit(X), path), change)


def _damaged(path, change):
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))
    with pytest.raises(ValueError, match=r"model\.tacit is damaged: .*\. Take it from a copy"):
        load_model(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"\x80\x04K\x01.", b'{"format": "tacit.plan/1"}', b"[" * 200_000, b'{"format": NaN}'],
    ids=["empty", "cut", "list", "null", "pickle", "plan", "deep", "nan"],
)
def test_what_is_no_model_is_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a model file of tacit, or is damaged"):
        load_model(path)


def test_a_newer_format_is_refused(path):
    values = json.loads(save_model(fit(), path).read_text())
    path.write_text(json.dumps(values | {"format": "tacit.model/2"}))
    with pytest.raises(ValueError, match=r"'tacit\.model/2'.*reads 'tacit\.model/1'; upgrade tacit"):
        load_model(path)


def test_missing_files_and_folders_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no model file"):
        load_model(tmp_path / "none.tacit")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        load_model(tmp_path)


def test_only_fitted_models_are_saved(path):
    with pytest.raises(ValueError, match="not fitted"):
        save_model(tacit.GaussianMixture(bounds=1.0), path)
    with pytest.raises(ValueError, match="not fitted"):
        save_model(tacit.Moments(bounds=1.0), path)
    with pytest.raises(TypeError, match="holds one of GaussianMixture"):
        save_model({"weights": [1.0]}, path)
    assert not path.exists()


def test_a_published_method_is_read_back_with_its_options(tmp_path):
    method = tacit.published.DPLloyd(composition="zcdp", n_iter=3)
    model = tacit.KMeans(2, method=method, bounds=(LOW, HIGH), random_state=0).fit(X)
    path = save_model(model, tmp_path / "model.tacit")
    assert load_model(path).method == method


def test_files_with_the_options_of_a_published_method_among_those_of_the_estimator_are_read(tmp_path):
    model = tacit.KMeans(2, method=tacit.published.DPLloyd(n_iter=3), bounds=(LOW, HIGH), random_state=0).fit(X)
    path = save_model(model, tmp_path / "model.tacit")
    stored = json.loads(path.read_text())
    stored["parameters"] |= {"method": "dplloyd", "n_iter": 3}  # as version 0.1 has it
    path.write_text(json.dumps(stored))
    assert load_model(path).method == model.method


def test_published_moments_and_factors_of_version_0_1_are_read(path):
    options = {"method": tacit.published.AnalyzeGauss(), "bounds": (LOW, HIGH), "random_state": 0}
    for model, word in ((tacit.Moments(**options), "published"), (tacit.FactorAnalysis(1, **options), "paper")):
        save_model(model.fit(X), path)
        stored = json.loads(path.read_text())
        stored["parameters"] |= {"method": word, "n_iter": 3}  # as version 0.1 has it, which did not read n_iter here
        path.write_text(json.dumps(stored))
        assert (load_model(path).method, load_model(path).n_iter) == (word, "auto")


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        (tacit.published.DPEM(noise="LLG", n_iter=3), {"method": "per_parameter", "noise": "LLG", "n_iter": 3}),
        (tacit.published.JointMoments(n_iter=3), {"method": "joint", "noise": "GGG", "n_iter": 3}),
        ("scale_free", {"method": "scale_free", "noise": "GGG", "n_iter": "auto"}),
    ],
    ids=str,
)
def test_mixtures_of_version_0_1_are_read(path, method, parameters):
    save_model(fit(method=method), path)
    stored = json.loads(path.read_text())
    stored["parameters"] |= {"composition": "zcdp", **parameters}
    path.write_text(json.dumps(stored))
    assert load_model(path).method == method

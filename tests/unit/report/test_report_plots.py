"""The pictures with matplotlib: what is drawn is the model, and a missing matplotlib gets a sentence."""

import sys

import numpy as np
import pytest

import tacit
from tacit.report import plot_components, plot_privacy_curve

pyplot = pytest.importorskip("matplotlib.pyplot", reason="matplotlib, the extra 'plot', is not installed")


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    covariance = [[4.0, 3.0], [3.0, 9.0]]
    rows = np.concatenate([rng.multivariate_normal(mean, covariance, 4000) for mean in ([0, 0], [30, 10])])
    return tacit.GaussianMixture(2, epsilon=5.0, bounds=(-100, 100), random_state=0).fit(rows)


@pytest.fixture(autouse=True)
def close():
    yield
    pyplot.close("all")


def test_ellipses_are_the_components(model):
    _, given = pyplot.subplots()
    ax = plot_components(model, columns=(0, 1), ax=given)
    assert ax is given
    assert len(ax.patches) == 4
    for k in range(2):
        one = next(p for p in ax.patches if np.allclose(p.center, model.means_[k]) and p.get_linestyle() == "-")
        angle = np.radians(one.angle)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        covariance = turn @ np.diag([one.width**2 / 4, one.height**2 / 4]) @ turn.T
        np.testing.assert_allclose(covariance, model.covariances_[k], rtol=1e-6)


def test_the_curve_passes_through_the_budget(model):
    ax = plot_privacy_curve(model.privacy_)
    line, point = ax.get_lines()
    epsilons, deltas = line.get_data()
    assert point.get_xydata().tolist() == [[5.0, 1e-6]]
    assert np.exp(np.interp(5.0, epsilons, np.log(deltas))) == pytest.approx(1e-6, rel=0.1)


def test_bad_input_gets_a_sentence(model):
    with pytest.raises(ValueError, match="no column 'age'"):
        plot_components(model, columns=("age", "column 1"))
    with pytest.raises(TypeError, match="Pass a certificate"):
        plot_privacy_curve(model)
    one = tacit.GaussianMixture(1, bounds=(-1, 1), random_state=0).fit(np.zeros((100, 1)))
    with pytest.raises(ValueError, match="two columns of numbers"):
        plot_components(one)


def test_without_matplotlib(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw, what in ((plot_components, model), (plot_privacy_curve, model.privacy_)):
        with pytest.raises(ModuleNotFoundError, match=r"pip install 'tacit\[plot\]'"):
            draw(what)

"""Scores of a row are the same to the last bit, wherever it stands and however many rows there are."""

import numpy as np
import pytest

from tacit.published.em_gradients import MissingCovariateGradient, SymmetricMixtureGradient, SymmetricRegressionGradient
from tacit.statistics import (
    Components,
    FoldedScores,
    LinearCurvature,
    LinearResiduals,
    LinearScores,
    MissingScores,
    PredictionGradients,
    RegressionScores,
    TableComponents,
)
from tacit.statistics.losses import LogisticLoss, SoftmaxLoss, SquaredLoss

WIDTH = 11
RNG = np.random.default_rng(0)
FACTOR = np.linalg.cholesky(np.eye(WIDTH) + 0.3 * np.ones((WIDTH, WIDTH)))
LINEAR = LinearScores(RNG.normal(size=WIDTH), 0.1, np.full(WIDTH - 1, 0.2), FACTOR[:-1, :-1], 3.0)
SCORES = {
    "linear": LINEAR,
    "curvature": LinearCurvature(LINEAR, 6.0),
    "regressions": RegressionScores(
        np.full(3, 1 / 3), RNG.normal(size=(3, WIDTH)), np.full(3, 1e-5), np.zeros(WIDTH - 1), FACTOR[:-1, :-1], 4.0
    ),
    "one regression": RegressionScores(
        np.ones(1), RNG.normal(size=(1, WIDTH)), np.ones(1), np.zeros(WIDTH - 1), FACTOR[:-1, :-1], 4.0
    ),
    "folded": FoldedScores(np.zeros(WIDTH), RNG.normal(size=WIDTH), 0.01),
    "missing": MissingScores(np.zeros(WIDTH), FACTOR),
}


def rows(holes):
    block = np.random.default_rng(1).normal(size=(1000, WIDTH))
    if holes:
        block[np.random.default_rng(2).random(block.shape) < 0.1] = np.nan
    return block


def assert_alike(values, block):
    """`values` maps rows to numbers (..., rows)."""
    whole = values(block)
    alone = (slice(place, place + 1) for place in range(60))
    for places in (*alone, slice(3, 68), slice(1, 1000), slice(None, None, -1), slice(0, 1000, 3)):
        assert np.array_equal(values(np.ascontiguousarray(block[places])), whole[..., places], equal_nan=True)


@pytest.mark.parametrize("name", SCORES)
def test_scores_do_not_depend_on_where_a_row_stands(name):
    def values(block):
        lifted, lengths, shares = SCORES[name].e_step(block)
        return np.concatenate([lifted.reshape(-1, len(block)), lengths, shares])

    assert_alike(values, rows(holes=name == "missing"))


@pytest.mark.parametrize("holes", [False, True])
def test_densities_do_not_depend_on_where_a_row_stands(holes):
    parts = TableComponents.of_numbers(Components(np.ones(1), np.zeros((1, WIDTH)), FACTOR[None]))
    assert_alike(lambda block: parts.log_density(block, holes), rows(holes))


@pytest.mark.parametrize(
    ("kind", "width"),
    [
        (SymmetricMixtureGradient, WIDTH),
        (SymmetricRegressionGradient, WIDTH - 1),
        (MissingCovariateGradient, WIDTH - 1),
    ],
)
@pytest.mark.parametrize("truncation", [None, 1.5])
def test_gradients_do_not_depend_on_where_a_row_stands(kind, width, truncation):
    gradient = kind(np.random.default_rng(3).normal(size=width), 0.01, truncation)
    assert_alike(lambda block: gradient(block).T, rows(holes=kind is MissingCovariateGradient))


def test_residuals_do_not_depend_on_where_a_row_stands():
    values = LinearResiduals(np.random.default_rng(3).normal(size=WIDTH))
    assert_alike(lambda block: values(block).T, rows(holes=True))


@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss(), SoftmaxLoss((1.0, 2.0, 1.0))])
def test_gradients_of_losses_do_not_depend_on_where_a_row_stands(loss):
    values = PredictionGradients(loss, np.random.default_rng(3).normal(size=(loss.outputs, WIDTH)))
    assert_alike(lambda block: values(block).T, rows(holes=False))

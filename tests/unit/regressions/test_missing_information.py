"""What missing cells take away from EM's steps is given back, and nothing else is."""

import numpy as np
import pytest

from tacit.regressions.missing_information import lengthen_em_step, projections
from tacit.statistics import Components, TableComponents

TRUTH = np.array([[1.0, 0.6, 0.0], [0.6, 2.0, -0.5], [0.0, -0.5, 0.8]])
MEAN = np.array([0.5, -0.4, 0.2])
MODEL = np.array([[1.5, 0.2, 0.1], [0.2, 1.0, 0.3], [0.1, 0.3, 1.2]])


def em_step(rows, factor):
    """Mean and covariance that EM finds next, in coordinates where the old ones are 0 and I, without privacy."""
    table = TableComponents.of_numbers(Components(np.ones(1), np.zeros((1, 3)), factor[None]))
    mean, moment = np.zeros(3), np.zeros((3, 3))
    for part in table.e_step(rows, missing=True):
        white = part.lifted[0, 1:]
        mean += white.sum(axis=1)
        moment += white @ white.T
        if part.gaps is not None:
            beyond = np.stack([table.marginal(pattern).beyond[0] for pattern in part.patterns])
            moment += beyond[part.gaps].sum(axis=0)
    mean, moment = mean / len(rows), moment / len(rows)
    return mean, moment - np.outer(mean, mean)


@pytest.mark.parametrize("missing", [(0.0, 0.0, 0.0), (0.3, 0.1, 0.5), (0.5, 0.5, 0.0)])
def test_one_step_goes_nearly_all_the_way(missing):
    rng = np.random.default_rng(0)
    rows = MEAN + rng.normal(size=(100_000, 3)) @ np.linalg.cholesky(TRUTH).T
    rows[rng.random(rows.shape) < missing] = np.nan
    factor = np.linalg.cholesky(MODEL)
    shift, covariance = em_step(rows, factor)
    whole, full = lengthen_em_step(shift, covariance, factor, 1 - np.array(missing))
    off, em_off = factor @ whole - MEAN, factor @ shift - MEAN
    far, em_far = factor @ full @ factor.T - TRUTH, factor @ covariance @ factor.T - TRUTH
    if any(missing):
        assert np.linalg.norm(off) < 0.25 * np.linalg.norm(em_off)
        assert np.linalg.norm(far) < 0.25 * np.linalg.norm(em_far)
    else:
        np.testing.assert_allclose(whole, shift, atol=1e-12)
        np.testing.assert_allclose(full, covariance, atol=1e-6)


def test_where_em_stays_the_lengthen_em_step_step_stays():
    shift, covariance = lengthen_em_step(np.zeros(3), np.eye(3), np.linalg.cholesky(TRUTH), np.full(3, 0.4))
    np.testing.assert_allclose(shift, 0.0, atol=1e-12)
    np.testing.assert_allclose(covariance, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("shares", [np.zeros(3), np.array([-1.0, 2.0, 0.5]), np.ones(3)])
@pytest.mark.parametrize("noise", [0.0, 0.3, 1e9])
def test_no_step_goes_far_from_ems_whatever_noise_makes_of_it(shares, noise):
    em = np.diag([0.01, 1.0, 30.0])
    shift, covariance = lengthen_em_step(np.full(3, 5.0), em, np.linalg.cholesky(TRUTH), shares, noise)
    assert np.isfinite(shift).all()
    root = np.sqrt(np.diag(em))
    variances = np.linalg.eigvalsh(covariance / np.outer(root, root))
    assert variances.min() > 0.499
    assert variances.max() < 2.001


def test_much_noise_leaves_ems_step_as_it_is():
    shift, covariance = np.array([0.1, 0.0, -0.2]), np.diag([0.8, 1.1, 1.3])
    found = lengthen_em_step(shift, covariance, np.linalg.cholesky(TRUTH), np.full(3, 0.5), noise=10.0)
    np.testing.assert_allclose(found[0], shift)
    np.testing.assert_allclose(found[1], covariance, atol=1e-9)


def test_projections_are_projections_on_the_columns_that_are_there():
    factor = np.linalg.cholesky(TRUTH)
    found = projections(factor, np.array([1.0, 1.0, 0.0]))
    whole = [each for each in found if np.linalg.matrix_rank(each) == 2]
    assert len(whole) > 0.9 * len(found)
    basis = np.linalg.qr(factor.T[:, :2])[0]
    np.testing.assert_allclose(whole[0], basis @ basis.T, atol=1e-12)

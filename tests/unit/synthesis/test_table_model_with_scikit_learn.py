"""The table model keeps scikit-learn's contract."""

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit

VARIANTS = [{}, {"neighbors": "add_remove"}, {"missing": "ignore"}]


def model(**options):
    return tacit.TableModel(bounds=(-100, 100), epsilon=10.0, delta=1e-3, random_state=0, **options)


@parametrize_with_checks([model(**variant) for variant in VARIANTS])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_parameters_survive_cloning(variant):
    assert clone(model(**variant)).get_params() == model(**variant).get_params()


def test_what_would_leak_is_not_there():
    for name in ("fit_predict", "labels_", "lower_bound_", "score_"):
        assert not hasattr(model(), name)

"""Warnings: each is there when it should be, and only then."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.privacy import Budget, Certificate, Gaussian, Plan, ReleaseRecord
from tacit.report.mixture_cautions import mixture_cautions
from tacit.report.view import LevelColumn, MixtureView, NumberColumn
from tacit.report.words import verdict


def certificate(epsilon=1.0, delta=1e-6, rows=10_000, **changes):
    budget = Budget(epsilon, delta)
    plan = Plan((Gaussian("moments", 1.0, count=10, size=6),)).calibrate(budget)
    noise = plan.steps[0].noise_multiplier
    release = ReleaseRecord("moments", "discrete Gaussian", 6, 10, sensitivity=1.0, noise_scale=noise)
    return replace(Certificate(plan, budget, (release,), rows=rows), **changes)


def view(weights=(0.6, 0.4), means=((20.0, 30.0), (70.0, 60.0)), deviation=8.0, high=100.0):
    count = len(weights)
    return MixtureView(
        np.array(weights),
        np.array(means),
        np.broadcast_to(deviation**2 * np.eye(2), (count, 2, 2)),
        (NumberColumn("age", 0, 0.0, high), NumberColumn("pressure", 1, 0.0, high)),
    )


def titles(*args):
    return [(caution.severity, caution.title) for caution in mixture_cautions(*args)]


def test_a_sound_result_has_none():
    assert titles(view(), certificate()) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"seeded": True}, ("danger", "Seeded noise protects nobody")),
        ({"epsilon": 9.0}, ("warning", "A large epsilon promises little")),
        ({"delta": 1e-4}, ("danger", "Delta is large for so many rows")),
        ({"delta": 2e-5}, ("warning", "Delta is large for so many rows")),
        ({"delta": 2e-5, "rows": None}, ("note", "Compare delta with the number of rows")),
        ({"rows": 50}, ("warning", "Some components rest on few rows beside the noise")),
        ({"budget": Budget(0.5, 1e-6)}, ("danger", "The budget was not kept")),
    ],
)
def test_of_the_budget(changes, expected):
    assert titles(view(), certificate(**changes)) == [expected]


@pytest.mark.parametrize("changes", [{"epsilon": 8.0}, {"delta": 9e-6}, {"rows": None}])
def test_of_the_budget_and_not_before(changes):
    assert titles(view(), certificate(**changes)) == []


def test_of_copies_and_near_copies():
    copied = view((0.5, 0.3, 0.2), ((20.0, 30.0), (70.0, 60.0), (20.0, 30.0)))
    assert titles(copied, certificate()) == [("warning", "Some components are copies")]
    assert "Components 1 and 3 are the same" in mixture_cautions(copied, certificate())[0].text
    alike = view(means=((40.0, 30.0), (43.0, 30.0)))
    assert titles(alike, certificate()) == [("warning", "Components can hardly be told apart")]


def test_of_bounds_hardly_reached_and_exceeded():
    found = mixture_cautions(view(high=1000.0), certificate())
    assert [caution.title for caution in found] == ["Public ranges are little used"]
    assert "age (9%) and pressure (8%)" in found[0].text
    low = view(means=((2.0, 30.0), (70.0, 60.0)))
    found = mixture_cautions(low, certificate())
    assert [caution.title for caution in found] == ["The model reaches beyond the bounds"]
    assert "age (24%)" in found[0].text  # 0.6 * P(z < -1/4)


def test_the_gravest_come_first():
    levels = [level for level, _ in titles(view(high=1000.0), certificate(epsilon=9.0, seeded=True))]
    assert levels == ["danger", "warning", "note"]


@pytest.mark.parametrize(
    ("changes", "tone", "headline"),
    [
        ({"epsilon": 1.0}, "good", "Strong protection"),
        ({"epsilon": 8.0}, "good", "Moderate protection"),
        ({"epsilon": 8.5}, "fair", "Weak protection: epsilon"),
        ({"delta": 1e-4}, "bad", "Weak protection: delta"),
        ({"budget": Budget(0.5, 1e-6)}, "bad", "The budget was not kept"),
        ({"seeded": True}, "bad", "Not private"),
    ],
)
def test_verdicts(changes, tone, headline):
    found = verdict(certificate(**changes))
    assert found.tone == tone
    assert found.headline.startswith(headline)


def test_pairs_that_tell_components_apart_come_first():
    means = np.array([[0.0, 0.0, 0.0, 0.0], [0.0, 9.0, 0.0, 9.0]])
    columns = tuple(NumberColumn(name, at, -20.0, 20.0) for at, name in enumerate("abcd"))
    spread = MixtureView(np.array([0.5, 0.5]), means, np.broadcast_to(np.eye(4), (2, 4, 4)), columns)
    first, *others = spread.best_pairs(3)
    assert first == (1, 3)
    assert len({first, *others}) == 3
    alone = MixtureView(np.ones(1), np.zeros((1, 3)), np.diag([1.0, 4.0, 9.0])[None], columns[:3])
    assert alone.best_pairs(1) == [(1, 2)]
    assert len(alone.best_pairs(9)) == 3


def test_levels_belong_to_components_and_to_all_rows():
    columns = (LevelColumn("smoker", ("a", "b", "c")), LevelColumn("insured", ("true", "false"), boolean=True))
    shares = {"smoker": np.array([[0.6, 0.4, 0.0], [0.2, 0.3, 0.5]]), "insured": np.array([[0.9, 0.1], [0.1, 0.9]])}
    weights, nothing = np.array([0.75, 0.25]), np.empty((2, 0))
    view = MixtureView(weights, nothing, np.empty((2, 0, 0)), columns, probabilities=shares)
    np.testing.assert_allclose(view.level_proportions(columns[0])[-1], [0.5, 0.375, 0.125])
    np.testing.assert_allclose(view.level_proportions(columns[1])[-1], [0.7, 0.3])
    assert view.copies() == [[0], [1]]
    alike = np.sqrt(0.6 * 0.2) + np.sqrt(0.4 * 0.3)
    assert view.overlap(0, 1) == pytest.approx(alike * 2 * np.sqrt(0.09))
    same = {name: values[[0, 0]] for name, values in shares.items()}
    assert MixtureView(weights, nothing, np.empty((2, 0, 0)), columns, probabilities=same).copies() == [[0, 1]]
    assert view.best_pairs(3) == []

"""Certificates: exact storage, honest words, and attack bounds that match the theory."""

import json
import math
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy.stats import norm

from tacit.privacy import Budget, Certificate, Gaussian, Laplace, Plan, ReleaseRecord, Selection

BUDGET = Budget(1.0, 1e-6)


def certificate(neighbors="replace_one", **options):
    steps = (Gaussian("first moments", 3.0, size=66), Gaussian("moments", 1.0, count=10, size=330))
    plan = Plan(steps, neighbors, sampling_error=1e-13).calibrate(BUDGET)
    releases = tuple(
        ReleaseRecord(s.name, "discrete Gaussian", s.size, s.count, math.pi, math.pi * s.noise_multiplier, 2.0**-31)
        for s in plan.steps
    )
    return Certificate(plan, BUDGET, releases, bounds="each column in [-1, 1]", notes=("A note.",), **options)


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("seeded", [False, True])
def test_json_round_trip_is_exact(tmp_path, neighbors, seeded):
    original = certificate(neighbors, seeded=seeded, rows=20190 if neighbors == "replace_one" else None)
    path = tmp_path / "certificate.json"
    text = original.to_json(path)
    for again in (Certificate.from_json(text), Certificate.from_json(path), Certificate.from_json(str(path))):
        assert again == original
        assert again.to_json() == text
        assert again.text() == original.text()


def test_json_can_be_read_without_tacit():
    values = json.loads(certificate(rows=20190).to_json())
    assert values["budget"] == {"epsilon": 1.0, "delta": 1e-6}
    assert values["plan"]["neighbors"] == "replace_one"
    curve = values["curve"]
    at_one = np.interp(1.0, curve["epsilon"], np.log(curve["delta"]))
    assert at_one == pytest.approx(math.log(1e-6), rel=0.01)


def test_other_json_is_refused():
    with pytest.raises(ValueError, match=r"A certificate has the format .*, and this has None"):
        Certificate.from_json("{}")


def test_seeded_is_said_loudly_everywhere():
    seeded = certificate(seeded=True)
    assert seeded.text().splitlines()[2] == "!!! SEEDED: NOT PRIVATE !!!"
    assert repr(seeded).endswith("seeded: not private>")
    assert "SEEDED: NOT PRIVATE" in seeded._repr_html_()
    assert json.loads(seeded.to_json())["seeded"] is True
    plain = certificate()
    for words in (plain.text(), repr(plain), plain._repr_html_()):
        assert "seeded" not in words.lower()


def test_rows_are_shown_only_where_they_are_public():
    assert "20,190" in certificate(rows=20190).text()
    assert "number of rows is protected too" in certificate("add_remove").text()
    with pytest.raises(ValueError, match="number of rows is private; leave rows=None"):
        certificate("add_remove", rows=20190)


def test_text_is_readable_and_complete():
    text = certificate(rows=20190).text()
    assert max(map(len, text.splitlines())) <= 100
    words = " ".join(text.split())
    for expected in (
        "Epsilon = 1, delta = 1e-06",
        "e^epsilon = 2.72 times",
        "1 in 1,000,000",
        "first moments discrete Gaussian 1 66 3.1416",
        "each column in [-1, 1]",
        "1e-13 in total variation",
        "A note.",
    ):
        assert expected in words
    assert repr(certificate()) == "<Certificate: epsilon=1, delta=1e-06, replace_one, 11 releases>"


def test_text_of_a_pure_plan_and_of_an_overspent_one():
    pure = Plan((Laplace("count", 1.0), Selection("median", 1.0))).calibrate(Budget(0.5))
    words = " ".join(Certificate(pure, Budget(0.5)).text().split())
    assert "delta is why" not in words
    assert "0 of 2 planned releases are recorded" in words
    assert "WARNING" not in words
    assert "WARNING: the budget is not kept" in Certificate(pure.scaled(0.5), Budget(0.5)).text()


def test_html_is_well_formed_and_escaped():
    html = certificate(seeded=True, version="<0.1>")._repr_html_()
    assert "<0.1>" not in html
    still_open = []

    class Checker(HTMLParser):
        def handle_starttag(self, tag, attrs):
            still_open.append(tag)

        def handle_endtag(self, tag):
            assert still_open.pop() == tag

    Checker().feed(html)
    assert still_open == []


def test_epsilon_and_delta_are_the_plans():
    it = certificate()
    assert it.epsilon() == pytest.approx(1.0)
    assert it.epsilon(1e-9) == it.plan.epsilon(1e-9)
    assert it.delta(0.5) == it.plan.delta(0.5)


# -------------------------------------------------------------------------------------------------- bounds on an attack


@pytest.mark.parametrize("mu", [0.01, 0.25, 1.0, 4.0])
def test_gaussian_attack_bounds_are_the_exact_trade_off(mu):
    it = Certificate(Plan((Gaussian("a", 1 / mu),)), BUDGET)
    assert it.best_guess() == pytest.approx(norm.cdf(mu / 2))
    for chance in (0.5, 0.01, 1e-6):
        otherwise = norm.cdf(norm.ppf(chance) - mu)  # Neyman and Pearson: the rarest this evidence can be otherwise
        assert it.suspicion(chance) == pytest.approx(chance / (chance + otherwise), rel=1e-6)
        assert it.suspicion(chance) >= chance / (chance + otherwise) * (1 - 1e-12)
        posterior = 0.1 * chance / (0.1 * chance + 0.9 * otherwise)
        assert it.suspicion(chance, before=0.1) == pytest.approx(posterior, rel=1e-6)


def test_laplace_attack_bounds_end_at_the_odds_of_epsilon():
    it = Certificate(Plan((Laplace("a", 0.5),)), Budget(2.0))
    assert it.best_guess() == pytest.approx((2 - math.exp(-1)) / 2, rel=1e-4)
    for chance in (0.1, 1e-3, 1e-6):
        assert it.suspicion(chance) == pytest.approx(1 / (1 + math.exp(-2)), rel=1e-6)


def test_attack_bounds_at_the_edges():
    nothing = Certificate(Plan(()), BUDGET)
    assert nothing.best_guess() == 0.5
    assert nothing.suspicion(0.01) == 0.5
    it = certificate()
    assert it.suspicion(0.5, before=0.0) == 0.0
    assert it.suspicion(0.5, before=1.0) == 1.0
    assert it.suspicion(1e-14) == 1.0  # below the sampling error anything may happen
    for chance, before in ((0.0, 0.5), (1.5, 0.5), (0.5, -0.1), (math.nan, 0.5)):
        with pytest.raises(ValueError, match="chance and before are probabilities"):
            it.suspicion(chance, before)

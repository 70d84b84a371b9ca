"""The table model: what it finds, what it draws, what it refuses, and that it survives a file."""

import math

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.data import load_randhie
from tacit.tables import Boolean, Categorical, Ignored, Integer, Numeric, compare

SCHEMA = tacit.Schema(
    {
        "id": Ignored(),
        "age": Integer(0, 120),
        "income": Numeric(0, 1e6),
        "plan": Categorical(["free", "basic", "paid"]),
        "smokes": Boolean(),
    }
)


def people(rng, count=10_000):
    """The old have more income, the poor have the free plan, and many have no income at all."""
    age = rng.integers(18, 90, count)
    income = np.where(rng.random(count) < 0.3, 0.0, rng.lognormal(9 + age / 40, 0.5)).clip(0, 1e6)
    plan = np.where(income < 1, "free", np.where(rng.random(count) < 0.5, "basic", "paid"))
    return pa.table({"age": age, "income": income, "plan": plan, "smokes": rng.random(count) < 0.2 + 0.5 * (age < 40)})


@pytest.fixture(scope="module")
def rows():
    return people(np.random.default_rng(0))


@pytest.fixture(scope="module")
def fitted(rows):
    return tacit.TableModel(epsilon=3.0, bounds=SCHEMA, random_state=0).fit(rows)


def test_synthetic_rows_are_like_real_ones(rows, fitted):
    synthetic = fitted.sample(10_000, random_state=1)
    assert synthetic.schema.names == ["age", "income", "plan", "smokes"]
    assert pa.types.is_integer(synthetic.schema.field("age").type)
    comparison = compare(rows, synthetic, schema=SCHEMA)
    by_chance = compare(people(np.random.default_rng(5)), rows, schema=SCHEMA)
    assert comparison.column_error < 0.02 + by_chance.column_error
    assert comparison.pair_error < 0.05 + by_chance.pair_error
    assert comparison.association_error < 0.05


def test_what_many_rows_share_comes_out_exactly(rows, fitted):
    for table in (rows, fitted.sample(10_000, random_state=2)):
        none = np.asarray(table["income"]) == 0
        assert abs(none.mean() - 0.3) < 0.02
        assert (np.asarray(table["plan"])[none] == "free").mean() > 0.9


def test_more_budget_is_better(rows):
    synthetic = [
        tacit.TableModel(epsilon=epsilon, bounds=SCHEMA, random_state=0).fit(rows).sample(10_000, random_state=0)
        for epsilon in (0.05, 5.0)
    ]
    errors = [compare(rows, each, schema=SCHEMA).pair_error for each in synthetic]
    assert errors[1] < 0.5 * errors[0]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(("values", "epsilon"), [(12, 10.0), (10, 1.0), (3, 1.0)])  # Months, deciles, trial arms.
def test_an_evenly_spread_column_keeps_its_associations(whole, values, epsilon):
    """Its bins have equal densities, which says nothing about how it goes together with other columns."""
    rng = np.random.default_rng(0)
    even = rng.integers(1, values + 1, 50_000)
    warmth = np.clip(even + rng.normal(0, 0.105 * values, 50_000), 0, values + 1)
    low, high = np.zeros(2), np.full(2, values + 1.0)
    bounds = tacit.Schema({"even": Integer(1, values), "warmth": Numeric(0, values + 1)}) if whole else (low, high)
    rows = pa.table({"even": even, "warmth": warmth}) if whole else np.column_stack([even, warmth])
    drawn = tacit.TableModel(epsilon=epsilon, bounds=bounds, random_state=0).fit(rows).sample(50_000, random_state=0)
    found = np.corrcoef(drawn["even"], drawn["warmth"]) if whole else np.corrcoef(drawn.T)
    assert found[0, 1] == pytest.approx(np.corrcoef(even, warmth)[0, 1], abs=0.02)


def test_the_density_is_a_density():
    """Of whole numbers and levels it is a probability, and all of them add up to one."""
    schema = tacit.Schema({"n": Integer(0, 5), "plan": Categorical(["a", "b"]), "smokes": Boolean()})
    rng = np.random.default_rng(0)
    table = {"n": rng.integers(0, 6, 500), "plan": rng.choice(["a", "b"], 500), "smokes": rng.random(500) < 0.3}
    model = tacit.TableModel(bounds=schema, random_state=0).fit(table)
    every = [(n, plan, smokes) for n in range(6) for plan in "ab" for smokes in (True, False)]
    densities = model.score_samples(dict(zip(("n", "plan", "smokes"), zip(*every))))
    assert np.exp(densities).sum() == pytest.approx(1.0, abs=1e-4)


def test_the_density_of_numbers_is_per_unit():
    for scale in (1.0, 1000.0):
        rows = np.random.default_rng(0).uniform(-scale, scale, (20_000, 1))
        model = tacit.TableModel(bounds=(-scale, scale), random_state=0).fit(rows)
        assert model.score(rows) == pytest.approx(-math.log(2 * scale), abs=0.05)


def test_real_rows_are_likelier_than_shuffled_ones(rows, fitted):
    rng = np.random.default_rng(3)
    shuffled = pa.table({name: rows[name].take(rng.permutation(len(rows))) for name in rows.column_names})
    assert fitted.score(rows) > fitted.score(shuffled) + 0.5


def test_missing_cells_are_drawn_too():
    rng = np.random.default_rng(1)
    rows = people(rng)
    gone = (np.asarray(rows["age"]) > 60) & (rng.random(len(rows)) < 0.8)
    rows = rows.set_column(1, "income", pa.array(np.asarray(rows["income"]), mask=gone))
    with pytest.raises(ValueError, match="missing"):
        tacit.TableModel(bounds=SCHEMA).fit(rows)
    model = tacit.TableModel(epsilon=3.0, bounds=SCHEMA, missing="model", random_state=0).fit(rows)
    drawn = model.sample(10_000, random_state=0)
    share = drawn["income"].null_count / 10_000
    assert share == pytest.approx(gone.mean(), abs=0.02)
    absent = np.asarray(drawn["income"].is_null())
    age = np.asarray(drawn["age"])
    assert np.nanmean(age[absent]) > np.nanmean(age[~absent]) + 10
    assert drawn["age"].null_count < 10  # none, but nothing is impossible
    assert np.isfinite(model.score(rows))
    left_out = tacit.TableModel(epsilon=3.0, bounds=SCHEMA, missing="ignore", random_state=0).fit(rows)
    assert left_out.sample(1000, random_state=0)["income"].null_count == 0
    assert left_out.privacy_.rows is None


def test_a_table_of_one_column_will_do():
    model = tacit.TableModel(bounds=(0, 10), random_state=0).fit(np.random.default_rng(0).uniform(2, 3, (5000, 1)))
    drawn = model.sample(1000, random_state=0)
    assert drawn.shape == (1000, 1)
    assert ((drawn > 1.9) & (drawn < 3.1)).mean() > 0.95
    assert [step.name for step in model.privacy_.plan.steps] == ["cell counts", "finer cell counts"]


def test_few_rows_and_little_budget_do_no_harm():
    rows = people(np.random.default_rng(2), 30)
    for neighbors in ("replace_one", "add_remove"):
        model = tacit.TableModel(epsilon=0.01, bounds=SCHEMA, neighbors=neighbors, random_state=0).fit(rows)
        assert model.sample(100, random_state=0).num_rows == 100
        assert np.isfinite(model.score(rows))


def test_files_and_blocks_give_the_same_counts(rows, tmp_path):
    path = tmp_path / "people.parquet"
    pa.parquet.write_table(rows, path)
    schema = tacit.Schema({name: column for name, column in SCHEMA.columns.items() if name != "id"})
    models = [tacit.TableModel(bounds=schema, random_state=0).fit(each) for each in (rows, str(path))]
    for name in schema.used:
        np.testing.assert_array_equal(models[0].probabilities_[name], models[1].probabilities_[name])


def test_a_model_survives_a_file(rows, fitted, tmp_path):
    read = tacit.load_model(tacit.save_model(fitted, tmp_path / "model.tacit"))
    assert read.sample(50, random_state=3).equals(fitted.sample(50, random_state=3))
    np.testing.assert_allclose(read.score_samples(rows), fitted.score_samples(rows), rtol=1e-6)
    assert read.privacy_.epsilon() == fitted.privacy_.epsilon()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"order": [', '"order": [7, ', "every column once"),
        ('"groups": [', '"groups": [5, ', "a group for each|from 0 up|shares|weights"),
        ('"shares": [', '"shares": [-1, ', "shares must be positive"),
    ],
)
def test_damaged_files_are_refused(fitted, tmp_path, old, new, words):
    path = tacit.save_model(fitted, tmp_path / "model.tacit")
    text = " ".join(path.read_text().split())
    assert old.replace(" ", "") in text.replace(" ", "")
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ValueError, match=f"damaged: .*({words})"):
        tacit.load_model(path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"delta": 0.0}, "delta is 0"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"missing": "maybe"}, "missing must be one of"),
        ({"bounds": None}, "bounds is missing"),
        ({"neighbors": "all"}, "neighbors"),
    ],
)
def test_refusals_charge_nothing(rows, tmp_path, options, words):
    account = tacit.Ledger(tmp_path / "budget.db").create("people", tacit.Budget(1.0, 1e-5))
    with pytest.raises(ValueError, match=words):
        tacit.TableModel(**{"bounds": SCHEMA, "ledger": account, **options}).fit(rows)
    assert account.remaining().epsilon == 1.0


def test_rows_that_cannot_be_drawn(fitted):
    with pytest.raises(ValueError, match="n_samples"):
        fitted.sample(0)


def test_a_real_table_has_sharp_peaks_afterwards():
    """The bundled one: numbers that most rows share, such as no visit at all, and one of few insurance plans."""
    real, schema = load_randhie()
    synthetic = tacit.TableModel(epsilon=1.0, bounds=schema, random_state=0).fit(real).sample(real.num_rows, 0)
    comparison = compare(real, synthetic, schema=schema)
    assert comparison.column_error < 0.02
    assert comparison.pair_error < 0.08

"""Every estimator, with every word that an option takes and under both relations, depends on its releases alone.

Each is fitted to one table, and then to unrelated tables and to neighbours with the answers of the first fit. All that
comes out must be the same, and no statistic may move further than it declares (:mod:`tacit.audit.replaying`). The words
are those of the estimators' docstrings, so that a method without a replay is a failure here. Each is also fitted with
every kind of bounds that it takes.
"""

import inspect
import re

import pytest

import tacit
from tacit import published
from tacit.audit import replay
from tacit.fitting.published import find_published
from tacit.linear import Box, ElasticNetPenalty, L1Ball
from tacit.models import CARDS, card_named, find_card
from tacit.models.reports import step_meanings
from tacit.published import ClippedGradientEM, RobustEM, RobustGradientEM, TruncatedGradientEM
from usual_fits import BOUNDS, GROUPS, HOLES, LABELS, PEOPLE, REFUSED, REFUSED_HINT, RNG, ROWS, SCHEMA, X, Y, usual_fit

WIDE = RNG.normal(scale=0.4, size=(ROWS, 6))
TALL = WIDE[:, 0] - WIDE[:, 1] + 0.1 * RNG.normal(size=ROWS)
MANY = RNG.normal(scale=0.4, size=(6000, 3))
OPTION = re.compile(r'^(\w+) : (.*".*)$', re.MULTILINE)  # a parameter that takes words, with all of its line
BOX = {"bounds": (-1, 1)}
BOTH = {"bounds": (-1, 1), "target_bounds": (-1, 1)}
LOSS = card_named("ERM").usual()["loss"]
GRADIENT_EM = (ClippedGradientEM, RobustGradientEM, RobustEM, TruncatedGradientEM)
FURTHER = {  # what a word needs beside it, or the published method that it stands for with few iterations
    "solver=sgd": {"solver": published.SGD(n_iter=2)},
    "solver=robust": {"solver": published.RobustSGD(n_iter=3)},
    "ERM solver=newton": {"constraint": None},
    "solver=svrg": {"solver": published.SVRG(epochs=1)},
    "solver=katyusha": {"solver": published.Katyusha(epochs=1)},
    "solver=svrg++": {"solver": published.SVRGPlusPlus(epochs=1)},
    "solver=frank_wolfe": {"solver": published.FrankWolfe(n_iter=3), "constraint": L1Ball(2.0)},
    "RobustMean method=clipped": {"moment_bound": 1.0},
    "RobustMean scale=minimax": {"method": "clipped", "moment_bound": 1.0},
    "RobustMean method=robust": {"method": published.CatoniMean(moment_bound=1.0)},
    "LinearRegression method=robust": {
        "method": published.RobustDescent(n_iter=3),
        "bounds": None,
        "target_bounds": None,
    },
    "LinearRegression method=trimmed": {"method": published.TrimmedDescent(gradient_bounds=2.0, n_iter=3)},
    "LinearRegression method=sample_aggregate": {
        "method": published.SampleAggregate(coef_bound=3.0),
        "epsilon": 8.0,
    },
    "LinearRegression method=block_mean": {"method": published.BlockMean(coef_bound=3.0)},
}
TABLES = {  # where the usual one will not do
    "missing=ignore": lambda table: (HOLES, *table[1:]),
    "missing=model": lambda table: (HOLES, *table[1:]),
    "LinearRegression method=sample_aggregate": lambda table: (MANY, MANY @ [0.5, -0.5, 0.2]),
}
PUBLIC_ROWS = (  # cases that need as many rows in neighbours
    "LinearRegression method=trimmed",
    "LinearRegression method=sample_aggregate",
    "LinearRegression method=block_mean",
    "split",
)
HINT = (
    "If the fit was refused because a word needs other parameters or another table, add them to FURTHER or TABLES in "
    f"tests/privacy/test_replay.py. {REFUSED_HINT}"
)


def documented_words(estimator):
    """Yield each option of an estimator with each word that its docstring says it takes, but for defaults."""
    parameters = inspect.signature(estimator).parameters
    for option, line in OPTION.findall(inspect.getdoc(estimator)):
        if option in parameters and option not in ("neighbors", "bounds"):  # Of these every one is replayed anyway.
            words = dict.fromkeys(re.findall(r'"([^"]+)"', line))
            yield from ((option, word) for word in words if word != parameters[option].default)


def by_words():
    """Yield a case of defaults, and one for each other word of each option, by the docstrings."""
    for name, card in CARDS.items():
        estimator, (table, settings) = card.estimator, usual_fit(card)
        yield name, estimator, table, settings
        for option, word in documented_words(estimator):
            keys = (option, f"{option}={word}", f"{name} {option}={word}")
            further = {key: value for place in keys for key, value in FURTHER.get(place, {}).items()}
            change = next((TABLES[key] for key in reversed(keys) if key in TABLES), lambda table: table)
            yield f"{name} {option}={word}", estimator, change(table), {**settings, option: word, **further}


def by_bounds():
    """Yield a case for each way to say where rows lie."""
    for name, card in CARDS.items():
        for bounds in BOUNDS:
            if (name, bounds) not in REFUSED:
                yield (f"{name} bounds={bounds}", card.estimator, *usual_fit(card, bounds))


def by_hand():
    """Yield cases that no single word makes."""
    mixture, regressions = tacit.GaussianMixture, tacit.MixtureOfRegressions
    yield "mixture, prior", mixture, (X,), {"n_components": 2, "prior": tacit.MixturePrior(), **BOX}
    for option in ("linear", "advanced", "moments"):
        method = published.DPEM(composition=option, n_iter=2)
        yield f"mixture, {option} composition", mixture, (X,), {"n_components": 2, "method": method, **BOX}
    method = published.DPEM(noise="LLG", n_iter=2)
    yield "mixture, Laplace noise", mixture, (X,), {"n_components": 2, "method": method, **BOX}
    for scale in ("thesis", "improved"):
        method = published.CatoniMean(moment_bound=1.0, scale=scale)
        yield f"mean, {scale} scale", tacit.RobustMean, (X,), {"method": method}
    yield "line, no intercept", tacit.LinearRegression, (X, Y), {"fit_intercept": False, **BOTH}
    yield "line, batches", tacit.LinearRegression, (X, Y), {"method": published.RobustDescent(n_iter=2, batch_size=0.5)}
    yield "classes, schema", tacit.LogisticRegression, (PEOPLE, "region"), {"bounds": SCHEMA}
    yield "three classes", tacit.LogisticRegression, (X, LABELS + GROUPS), {"classes": [0, 1, 2], **BOX}
    yield "private bounds of both", tacit.Ridge, (X, Y), {"bounds": "private"}
    yield "loss in a box", tacit.ERM, (X, Y), {"loss": LOSS, "constraint": Box(-2.0, 2.0), **BOTH}
    yield "loss, penalty", tacit.ERM, (X, Y), {"loss": LOSS, "regularizer": ElasticNetPenalty(0.1), **BOTH}
    yield "mean, pure", tacit.RobustMean, (X,), {"delta": 0.0}
    yield "mean, moments known", tacit.RobustMean, (X,), {"method": "clipped", "moment_bound": 1.0, "centre": 0.0}
    yield "sparse mixture", tacit.SymmetricMixture, (WIDE,), {"sparsity": 2, **BOX}
    yield "sparse regressions", regressions, (WIDE, TALL), {"sparsity": 2, "symmetric": True, **BOTH}
    yield "sparse, missing", tacit.MissingCovariateRegression, (WIDE, TALL), {"sparsity": 2, **BOTH}
    split = {"method": TruncatedGradientEM(split=True, scale=0.5, n_iter=3), "sparsity": 1}
    yield "split", tacit.SymmetricMixture, (X,), split
    for method in GRADIENT_EM:
        options = {"method": method(scale=0.5, n_iter=4), "sparsity": 1 if method is TruncatedGradientEM else None}
        yield f"SymmetricMixture {method.__name__}", tacit.SymmetricMixture, (X,), options
        if method is not RobustEM:
            name = method.__name__
            yield f"MixtureOfRegressions {name}", regressions, (X, Y), {"symmetric": True, **options}
            yield f"MissingCovariateRegression {name}", tacit.MissingCovariateRegression, (HOLES, Y), options


CASES = {
    f"{name} {relation}": (estimator, table, {**settings, "neighbors": relation, "verbose": True})
    for name, estimator, table, settings in (*by_words(), *by_bounds(), *by_hand())
    for relation in ("replace_one", "add_remove")
    if relation == "replace_one" or name not in PUBLIC_ROWS
}


def test_every_published_method_is_replayed():
    """Those that an estimator documents, by a word or by its class: it knows some others only to refuse them."""
    documented = {
        (kind, name)
        for card in CARDS.values()
        for kind in [card.estimator]
        for word, (name, _) in kind._published.items()
        if re.search(rf'"{re.escape(word)}"|published\.{name}\b', inspect.getdoc(kind))
    }
    fits = [(kind, find_published(kind(**settings))) for kind, _, settings in CASES.values() if kind._published]
    assert documented <= {(kind, type(method).__name__) for kind, method in fits}
    assert {name for _, name in documented} == set(published.__all__)


@pytest.mark.parametrize(("name", "bounds"), sorted(REFUSED))
def test_bounds_that_are_not_replayed_are_refused(name, bounds):
    table, settings = usual_fit(card_named(name), bounds)
    with pytest.raises(ValueError, match="bounds"):
        card_named(name).estimator(**settings).fit(*table)


@pytest.mark.parametrize("case", CASES)
def test_a_fit_depends_on_its_releases_alone(case):
    estimator, table, settings = CASES[case]
    model = estimator(**settings)
    outcome = replay(model, *table)
    assert outcome.passed, f"{outcome}\n{HINT}"
    assert outcome.releases
    assert {each.step for each in outcome.releases} <= {*step_meanings(find_card(model))}, "a report explains each step"
    # Else nothing was measured; but one row need not move what most of the blocks agree on.
    blocks = isinstance(settings.get("method"), published.SampleAggregate)
    assert blocks or max(release.ratio for release in outcome.releases) > 0

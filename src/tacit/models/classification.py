"""Classifiers and losses of one's own, as storage, reports and commands know them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tacit.models.card import Figure, ModelCard, Predictions, Results, Trial, Without, later
from tacit.models.command import Command, FitRequest, Option, OptionError, fit_request
from tacit.models.linear import LINEAR_INPUTS, SOLVER_STEPS, coefficient_cells, explain_coefficients, summarise
from tacit.models.options import INTERCEPT, MISSING, TARGET
from tacit.models.printed import Block, NumberedTable, Table
from tacit.models.stored_parameters import MAY_BE_INFINITE, WEIGHTS_BY_CLASS

if TYPE_CHECKING:
    from tacit.linear import LinearSVC, LogisticRegression
    from tacit.sources import Source

__all__ = ["CARDS"]

_WHOLE = re.compile(r"-?\d+")


def _labels(words: list[str] | None) -> list[Any] | None:
    """Return labels as the table has them: whole numbers and truth values, if they all are, or text."""
    if not words:
        return None
    if all(map(_WHOLE.fullmatch, words)):
        return list(map(int, words))
    return [word == "true" for word in words] if set(words) == {"false", "true"} else list(words)


_OPTIONS = (
    TARGET,
    Option(
        "classes",
        list[str] | None,
        "All labels that could occur, the last before another option.",
        None,
        metavar="LABEL LABEL ...",
    ),
    Option(
        "inverse_penalty",
        float,
        "C in scikit-learn: the less, the smaller coefficients; inf for no penalty.",
        1.0,
        ("--inverse-penalty", "-C"),
        parameter="C",
    ),
    INTERCEPT,
    MISSING,
)


def _request(estimator: str) -> Callable[[dict[str, Any], bool], FitRequest]:
    def request(values: dict[str, Any], has_schema: bool) -> FitRequest:
        if values["classes"] and has_schema:
            raise OptionError("--classes is for tables of numbers; the schema has the levels of the target.")
        return fit_request(estimator, _OPTIONS, values | {"classes": _labels(values["classes"])})

    return request


_WHERE_CLASSES_ARE = """Bounds are those of the inputs. Classes are the levels of the target in the schema, or what
--classes lists; they are never read from the data."""

_LOGISTIC_COMMAND = Command(
    "logistic",
    "LogisticRegression",
    f"""Logistic regression under differential privacy: which of two or more classes a row is of.

{_WHERE_CLASSES_ARE}""",
    (
        "tacit fit logistic data.csv --schema schema.toml --target smoker",
        "tacit fit logistic numbers.csv --bounds -10 10 --target answer --classes no yes",
    ),
    _OPTIONS,
    _request("LogisticRegression"),
)

_SVC_COMMAND = Command(
    "svc",
    "LinearSVC",
    f"""A linear support vector classifier under differential privacy: which of two classes a row is of.

tacit fit logistic has probabilities and standard errors too. {_WHERE_CLASSES_ARE}""",
    (
        "tacit fit svc data.csv --schema schema.toml --target smoker",
        "tacit fit svc numbers.csv --bounds -10 10 --target answer --classes no yes",
    ),
    _OPTIONS,
    _request("LinearSVC"),
)


def _blocks(model: LogisticRegression | LinearSVC) -> list[Block]:
    """Return what inputs add to the log odds of classes, or to a score."""
    from tacit.report.linear_view import LinearView

    view = LinearView.of(model)
    rows = coefficient_cells(view)
    if view.count > 1:
        table = NumberedTable("class", {"(label)": list(view.classes), **rows}, "of more classes")
        return [table, explain_coefficients(view, f"the {view.scale} of each class")]
    head = ("input", f"adds to {view.scale} of {view.classes[1]}")
    whose = f"the {view.scale} of {view.target} being {view.classes[1]} and not {view.classes[0]}"
    return [Table(head, [(name, cells[0]) for name, cells in rows.items()]), explain_coefficients(view, whose)]


def _probabilities(model: LogisticRegression, block: Source) -> dict[str, Any]:
    """Return the class that is predicted, and the probability of each."""
    prediction, each = {"prediction": model.predict(block)}, model.predict_proba(block)
    return prediction | {f"probability_{label}": each[:, k] for k, label in enumerate(model.classes_.tolist())}


def _scores(model: LinearSVC, block: Source) -> dict[str, Any]:
    """Return the class that is predicted, and the score."""
    return {"prediction": model.predict(block), "score": model.decision_function(block)}


def _usual_loss() -> dict[str, Any]:
    """Return the logistic loss as a loss of one's own, of targets by their signs, and coefficients in a ball."""
    import numpy as np

    from tacit.linear import ConvexLoss, L2Ball

    return {
        "loss": ConvexLoss(
            value=lambda predictions, targets: np.logaddexp(0.0, -predictions * np.sign(targets)),
            slope=lambda predictions, targets: (
                -np.sign(targets) * 0.5 * (1 - np.tanh(predictions * np.sign(targets) / 2))
            ),
            lipschitz=1.0,
            smoothness=0.25,
        ),
        "constraint": L2Ball(3.0),
    }


_ACCURACY_LOST = Figure("accuracy lost", "{value:.2%}", worst=True)
_SIMULATED = "that is of logistic regression, on simulated tables of classes that go with the inputs."
_STORED = {
    "classes": "[C], all labels",
    "predictor": '{"coefficients": [K][1 + d]} in coordinates of z, K being 1 for two classes, and "inputs": '
    f"{LINEAR_INPUTS}",
}
_PARAMETERS = {"C": MAY_BE_INFINITE, "class_weight": WEIGHTS_BY_CLASS}

CARDS = (
    ModelCard(
        name="LogisticRegression",
        room="tacit.linear",
        kind="a classifier",
        docs="classification.md",
        target="class",
        steps=SOLVER_STEPS,
        stored=_STORED | {"covariance": "of all K (1 + d) coefficients or null, in the units of the rows"},
        command=_LOGISTIC_COMMAND,
        results=Results(
            lambda model: f"Fitted a logistic regression of {len(model.classes_)} classes to", _blocks, summarise
        ),
        predictions=Predictions("the class, and the probability of each", _probabilities),
        presentation=later(
            "tacit.report.linear_models",
            "present",
            name="Logistic regression",
            why_no_errors="Of all solvers, newton alone keeps account of how far off they may be.",
        ),
        cautions=later("tacit.models.cautions.linear", "classifier_cautions"),
        trial=Trial(
            later("tacit.models.trials.classification", "draw"),
            f"{_SIMULATED} Log-loss: nats per new row. Accuracy: proportion of new rows.",
            {"log_loss": Figure("log-loss more", "{value:.4f}", worst=True), "accuracy_lost": _ACCURACY_LOST},
        ),
        parameters=_PARAMETERS,
    ),
    ModelCard(
        name="LinearSVC",
        room="tacit.linear",
        kind="a support vector classifier",
        docs="classification.md",
        target="class",
        steps=SOLVER_STEPS,
        stored=_STORED,
        command=_SVC_COMMAND,
        results=Results(lambda model: "Fitted a support vector classifier to", _blocks, summarise),
        predictions=Predictions("the class, and the score", _scores),
        presentation=later(
            "tacit.report.linear_models",
            "present",
            name="Linear support vector classifier",
            why_no_errors="How far off they may be is not known with this loss. LogisticRegression has intervals.",
        ),
        cautions=later("tacit.models.cautions.linear", "classifier_cautions"),
        trial=Trial(
            later("tacit.models.trials.classification", "draw"),
            f"{_SIMULATED} Accuracy: proportion of new rows.",
            {"accuracy_lost": _ACCURACY_LOST},
        ),
        parameters=_PARAMETERS,
    ),
    ModelCard(
        name="ERM",
        room="tacit.linear",
        kind="a loss of one's own",
        docs="classification.md",
        target="number",
        steps=SOLVER_STEPS,
        usual=_usual_loss,
        stored=Without("Its loss is a Python function, which no file that executes nothing can hold."),
        command=Without("Its loss is a Python function, which no option can name."),
        results=Without("No command fits it."),
        predictions=Without("No file holds it."),
        presentation=Without("What its coefficients mean depends on a loss that the library does not know."),
        trial=Without("No command fits it."),
    ),
)

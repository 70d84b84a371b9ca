"""The certificate in plain words, for whoever has to answer for the data.

Every sentence follows from the plan's proven delta(epsilon) and says no more than that curve does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from tacit.privacy import Certificate
from tacit.report.numerals import number, one_in, plural, scientific, to_digits

STRONG_EPSILON = 1.0  # Up to this epsilon, the odds of anything change by at most a factor e.
WEAK_EPSILON = 8.0  # Beyond this epsilon, odds may change three-thousandfold: a weak promise.

SEEDED = (
    "The noise came from a fixed seed (random_state). Whoever knows or guesses the seed can take the noise away and "
    "see exact values. Keep this page for tests and experiments, do not publish it, and fit again without random_state."
)

VOID = "The noise was seeded, so none of this holds. It is what the same fit would promise without a seed."

_PROTECTED = {
    "replace_one": (
        "One person's row, whatever it holds and whatever it might have held instead",
        "had that person's row held any other values",
    ),
    "add_remove": (
        "One person's row, and whether it is in the table at all",
        "had that person's row been left out, or one more row been there",
    ),
}


@dataclass(frozen=True)
class Verdict:
    """What the page says first."""

    tone: Literal["good", "fair", "bad"]
    headline: str
    sentence: str


def verdict(certificate: Certificate) -> Verdict:
    """Return the one line to remember.

    Examples
    --------
    >>> from tacit import Budget, Certificate, Plan
    >>> from tacit.privacy import Gaussian
    >>> plan = Plan((Gaussian("moments", 1.0, count=10),)).calibrate(Budget(1.0, 1e-6))
    >>> verdict(Certificate(plan, Budget(1.0, 1e-6))).headline
    'Strong protection of every person'
    """
    budget = certificate.budget
    guess = (
        f"Someone who knows every other row, and is undecided between two equally likely possibilities for one person, "
        f"names the right one in at most {certificate.best_guess():.1%} of cases. Tossing a coin does in 50%."
    )
    if certificate.seeded:
        return Verdict("bad", "Not private: the noise was seeded", SEEDED)
    if certificate.peeked:
        return Verdict("bad", "Bounds were read from the rows", f"{certificate.peeked_why()} Beside that: {guess}")
    if certificate.delta(budget.epsilon) > budget.delta:
        return Verdict("bad", "The budget was not kept", f"More was released than the budget allows. {guess}")
    if certificate.rows and budget.delta * certificate.rows >= 1:
        delta = f"δ = {scientific(budget.delta)} is not below one over the number of rows"
        return Verdict(
            "bad", "Weak protection: delta is too large", f"{delta}, which allows giving somebody away. {guess}"
        )
    if budget.epsilon > WEAK_EPSILON:
        return Verdict("fair", "Weak protection: epsilon is large", guess)
    kind = "Strong" if budget.epsilon <= STRONG_EPSILON else "Moderate"
    return Verdict("good", f"{kind} protection of every person", guess)


def promise(certificate: Certificate) -> list[tuple[str, str]]:
    """Return the guarantee as terms and what they mean."""
    budget = certificate.budget
    what, otherwise = _PROTECTED[certificate.plan.neighbors]
    if certificate.plan.neighbors == "add_remove":
        rows = "The number of rows is protected too, and shown nowhere."
    elif certificate.rows is None:
        rows = "How many rows there are counts as public."
    else:
        rows = f"How many rows there are is public: {certificate.rows:,}."
    factor = f"{to_digits(math.exp(budget.epsilon))} times" if budget.epsilon < 50 else "so many times"
    items = [
        ("What is protected", f"{what}. {rows} One row counts as one person."),
        (
            f"ε (epsilon) = {to_digits(budget.epsilon, 4)}",
            "Take anything that anyone might conclude from this page. They would have concluded it with nearly the "
            f"same probability {otherwise}: at most {factor} (e to the power of ε) more or less likely. Smaller is "
            "more private.",
        ),
    ]
    if budget.delta:
        items.append(
            (
                f"δ (delta) = {scientific(budget.delta)}",
                f"What ε leaves out: {one_in(budget.delta)} is added to that probability. It should be well below one "
                "over the number of rows.",
            )
        )
    if certificate.bounds == "none":
        items.append(("Bounds on rows", "None are known. Every release bounds what one row can add to it by itself."))
    elif certificate.bounds:
        origin = "They are public knowledge, or found by a release listed below; they are never read off the rows."
        if certificate.peeked:
            origin = f"Those of {', '.join(certificate.peeked)} were READ FROM THE ROWS, and not paid for."
        items.append(
            (
                "Bounds on rows",
                f"{certificate.bounds[0].upper()}{certificate.bounds[1:]}. Values beyond were moved to the edge. "
                f"{origin}",
            )
        )
    return items


def limits() -> list[tuple[str, str]]:
    """Return what no such guarantee covers."""
    return [
        (
            "What is true of people in general",
            "A habit that goes with an illness shows here, and lets anyone draw conclusions about a person with that "
            "habit, whether or not that person is in the table.",
        ),
        (
            "Several rows of one person",
            "With m rows, that person's ε is up to m times as large, and δ grows as well.",
        ),
        (
            "Other results from the same table",
            "What each gives away adds up. A ledger keeps count, and says when to stop.",
        ),
        (
            "Rows given to the model later",
            "Predictions and scores of rows are as sensitive as those rows are. Only the model itself is protected.",
        ),
    ]


def suspicions(certificate: Certificate) -> list[tuple[str, str]]:
    """Return how far an even suspicion can rise, on evidence of some rarity."""
    return [
        (f"{number(odds, 0)} cases", f"{certificate.suspicion(1 / odds):.1%}") for odds in (10, 100, 10_000, 1_000_000)
    ]


def other_readings(certificate: Certificate) -> list[tuple[str, str]]:
    """Return epsilons at a few deltas: other ways to state the same guarantee."""
    deltas = sorted({1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10, certificate.budget.delta}, reverse=True)
    epsilons = [certificate.epsilon(delta) for delta in deltas]
    return [
        (scientific(delta), to_digits(epsilon) if math.isfinite(epsilon) else "none proven")
        for delta, epsilon in zip(deltas, epsilons)
    ]


def curve_caption(certificate: Certificate) -> str:
    """Return what there is to see in the picture of delta(epsilon)."""
    budget = certificate.budget
    proven = certificate.epsilon()
    caption = (
        "One guarantee has many readings: every point of the curve holds at once. A larger ε is exceeded more rarely, "
        f"with the smaller δ. The dot is the budget, ε = {to_digits(budget.epsilon)} at δ = {scientific(budget.delta)}"
    )
    if proven < 0.99 * budget.epsilon:
        caption += f"; what was released needs less than that, ε = {to_digits(proven)} at the same δ"
    return f"{caption}. {VOID}" if certificate.seeded else f"{caption}."


def releases_in_words(certificate: Certificate) -> str:
    """Return how many releases there were, of how many that were paid for."""
    planned = sum(step.releases for step in certificate.plan.steps)
    made = sum(record.count for record in certificate.releases)
    numbers = sum(record.count * record.size for record in certificate.releases)
    text = (
        f"{plural(made, 'release')} of {plural(numbers, 'number')} in all, each with noise added before anyone saw it."
    )
    if made < planned:
        text += f" {planned:,} were planned and paid for; the guarantee covers all of them."
    return text

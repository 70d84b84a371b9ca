"""The parts of the page, from top to bottom."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from tacit.privacy import Certificate, ReleaseRecord
from tacit.report import words
from tacit.report.cautions import Caution
from tacit.report.markup import Html, element, together
from tacit.report.numerals import number, one_in, scientific, to_digits
from tacit.report.pictures import curve_picture
from tacit.report.presentation import Presentation
from tacit.report.tables import region, table, terms

_ICONS = {
    "good": ("M12 2.8 4.5 5.7v5.6c0 4.6 3.1 8.3 7.5 9.9 4.4-1.6 7.5-5.3 7.5-9.9V5.7z", "m8.6 12 2.4 2.4 4.6-4.8"),
    "fair": ("M12 3.6 2.7 19.8h18.6z", "M12 10v4.4M12 17v.1"),
    "bad": ("M8.2 2.8h7.6l5.4 5.4v7.6l-5.4 5.4H8.2l-5.4-5.4V8.2z", "m9 9 6 6m0-6-6 6"),
}


_RELEASES = (
    "One person can change all numbers of a release together by at most so much: its sensitivity. The noise on each "
    "number is a standard deviation (Gaussian) or a scale (Laplace). Signal : noise compares with it {whose}, as if "
    "each had the largest effect one person can have; the truth is somewhat less. The larger, the more exact."
)


def alarm(certificate: Certificate) -> Html | None:
    """Return the banner over everything that a model gets whose noise was seeded or whose bounds were peeked."""
    if certificate.seeded:
        why = "SEEDED: NOT PRIVATE."
    elif certificate.peeked:
        why = "BOUNDS READ FROM THE ROWS: NOT COVERED BY THE PROMISE."
    else:
        return None
    return element("div", element("strong", why), " Do not publish this page.", class_="alarm", role="alert")


def masthead(made: datetime) -> Html:
    """Return the line above the title."""
    day = f"{made:%Y-%m-%d}"
    return element(
        "div",
        element("span", element("b", "tacit"), "Privacy report"),
        element("time", day, datetime=day),
        class_="masthead",
    )


def verdict_card(certificate: Certificate) -> Html:
    """Return the verdict, and how far the best guess is from a coin."""
    verdict = words.verdict(certificate)
    icon = element(
        "svg", *(element("path", d=line) for line in _ICONS[verdict.tone]), viewBox="0 0 24 24", aria_hidden="true"
    )
    return element(
        "div",
        element("div", element("h2", icon, element("span", verdict.headline)), element("p", verdict.sentence)),
        None if certificate.seeded else _gauge(certificate.best_guess()),
        class_=f"card verdict {verdict.tone}" + ("" if certificate.seeded else " measured"),
    )


def _gauge(guess: float) -> Html:
    return element(
        "div",
        element("p", "Best possible guess: ", element("b", f"{guess:.1%}"), class_="gauge-title"),
        element("div", element("span", style=f"--share:{200 * (guess - 0.5):.1f}%"), class_="gauge-track"),
        element("div", element("span", "50%: a coin"), element("span", "100%: certainty"), class_="gauge-words"),
        class_="gauge",
        role="img",
        aria_label=f"Best possible guess: {guess:.1%}, between 50% for a coin and 100% for certainty.",
    )


def facts(certificate: Certificate) -> Html:
    """Return the numbers to quote."""
    budget, secret = certificate.budget, certificate.plan.neighbors == "add_remove"
    made = sum(record.count for record in certificate.releases)
    rows = "secret" if secret else "not shown" if certificate.rows is None else f"{certificate.rows:,}"
    entries = [
        (
            "ε (epsilon)",
            to_digits(budget.epsilon, 4),
            "void: the noise was seeded" if certificate.seeded else "privacy loss, at most",
        ),
        ("δ (delta)", scientific(budget.delta), one_in(budget.delta) if budget.delta else "pure privacy"),
        ("Neighbours", "Add or remove", "one row comes or goes")
        if secret
        else ("Neighbours", "Replace one", "one row takes other values"),
        ("Rows", rows, "protected as well" if secret else "public"),
        ("Releases", f"{made:,}", "all noisy, all listed below"),
    ]
    shown = (
        element("div", element("dt", term), element("dd", value, element("small", hint)))
        for term, value, hint in entries
    )
    return element("dl", *shown, class_="card facts")


def cautions_section(found: list[Caution]) -> Html:
    """Return what a reader should be warned of."""
    if not found:
        return element("p", "Nothing stands out: the budget, the noise and the bounds fit together.")
    items = (
        element(
            "li",
            element("span", caution.severity, class_="level"),
            element("b", caution.title),
            element("p", caution.text),
            class_=f"card {caution.severity}",
        )
        for caution in found
    )
    return element("ul", *items, class_="cautions")


def promise_section(certificate: Certificate) -> Html:
    """Return the guarantee in plain words, what it leaves open, and what an attacker could learn."""
    rare = table(
        ["Evidence that turns up, if the suspicion is true, in 1 of", "50% suspicion rises to at most"],
        [list(row) for row in words.suspicions(certificate)],
        class_="brief",
    )
    attack = together(
        element("h3", "What an attacker could learn"),
        element(
            "p",
            "Whoever knows every other row names the right one of two possibilities in at most "
            f"{certificate.best_guess():.1%} of cases. Rare evidence can say more, and turns up as rarely as it says:",
        ),
        region(rare, "How far a suspicion can rise"),
    )
    return together(
        element("p", element("strong", words.VOID)) if certificate.seeded else None,
        element(
            "div",
            element("div", terms(words.promise(certificate)), attack),
            element("div", element("h3", "What is not promised"), terms(words.limits()), class_="card aside"),
            class_="columns",
        ),
    )


def releases_section(presentation: Presentation, certificate: Certificate, meanings: Mapping[str, str]) -> Html:
    """Return every release with its noise and what it measures, by the name of its step."""
    head = [
        "Step",
        "Noise",
        "Times",
        "Numbers each",
        "One person, at most",
        "Noise on each",
        "Noise : person",
        "Signal : noise",
    ]
    body = [_release(presentation, certificate, record, meanings.get(record.name)) for record in certificate.releases]
    return together(
        element("p", words.releases_in_words(certificate)),
        region(table(head, body, words_in=(1,), class_="stack"), "Releases and their noise"),
        element("p", _RELEASES.format(whose=presentation.signal_rows), class_="small soft"),
        *(element("p", note, class_="small soft") for note in certificate.notes),
    )


def _release(
    presentation: Presentation, certificate: Certificate, record: ReleaseRecord, meaning: str | None
) -> list[Html | str]:
    people = record.noise_scale / record.sensitivity
    signal = None if certificate.rows is None else certificate.rows * presentation.signal_proportion / people
    return [
        together(record.name, element("small", meaning) if meaning else None),
        record.mechanism,
        f"{record.count:,}",
        f"{record.size:,}",
        to_digits(record.sensitivity),
        to_digits(record.noise_scale),
        f"{to_digits(people)} : 1",
        "not told" if signal is None else f"{to_digits(signal, 2)} : 1" if signal < 10 else f"{number(signal, 0)} : 1",
    ]


def curve_section(certificate: Certificate) -> Html:
    """Return the delta(epsilon) curve and some of its values."""
    readings = table(
        ["At δ =", "ε is at most"], [list(row) for row in words.other_readings(certificate)], class_="brief"
    )
    return element(
        "div",
        element(
            "figure",
            curve_picture(certificate, "curve"),
            element("figcaption", words.curve_caption(certificate)),
            class_="card",
        ),
        element(
            "div", element("h3", "Other readings of it", class_="first"), region(readings, "Epsilon at some deltas")
        ),
        class_="columns",
    )


def footer(certificate: Certificate, made: datetime) -> Html:
    """Return where the page comes from."""
    stamp = f"{made:%Y-%m-%d %H:%M} UTC"
    return element(
        "footer",
        element(
            "div",
            element("p", "Nothing in this page was computed from rows except through the releases listed."),
            element(
                "p",
                f"Fitted with tacit {certificate.version}; page made on {stamp}. It loads nothing and runs nothing. "
                "The certificate is in it for machines as well, as JSON in the element ",
                element("code", "#certificate"),
                ".",
            ),
        ),
    )

"""The certificate: what a fitted model gives away about one person, in numbers and in plain words.

Invariants
----------
- Everything in a certificate may be published: it holds public options and private values, nothing read from a row.
  The number of rows is there only under replace_one, where it is public.
- Every statement in ``text()`` follows from the plan's proven delta(epsilon), and says no more than that curve does.
- JSON keeps every float exactly: ``Certificate.from_json(certificate.to_json()) == certificate``.
- Seeded noise protects nobody, and every way of showing the certificate says so.
"""

import json
import math
import textwrap
from dataclasses import asdict, dataclass, field
from functools import cache
from html import escape
from importlib.metadata import version
from pathlib import Path

from scipy.optimize import minimize_scalar

from tacit.messages import describe

from .budget import Budget
from .plan import Plan

__all__ = ["Certificate", "ReleaseRecord"]

_FORMAT = "tacit.certificate/1"
_SEEDED = "SEEDED: NOT PRIVATE"
_PEEKED = "BOUNDS READ FROM THE ROWS: NOT COVERED BY THE PROMISE"
_WIDTH = 92  # The number of columns of the text.

TextTable = list[tuple[str, ...]]


@cache
def _own_version() -> str:
    return version("tacit")  # Cached, because reading the file takes milliseconds.


@dataclass(frozen=True)
class ReleaseRecord:
    """One release as it was made: how much noise met how large a sensitivity.

    Parameters
    ----------
    name : str
        The plan's step.
    mechanism : str
        The name of the noise, such as "discrete Gaussian".
    size, count : int
        Numbers per release, and how many times it was made.
    sensitivity : float
        The most that one person can change the released numbers, in their units, rounding included.
    noise_scale : float
        Standard deviation (Gaussian) or scale (Laplace, Gumbel) of the noise, in the same units.
    lattice_step : float or None, default None
        Distance between the values that can be released; None for a choice.

    Examples
    --------
    >>> ReleaseRecord("moments", "discrete Gaussian", 66, 10, sensitivity=2.0, noise_scale=26.7).count
    10
    """

    name: str
    mechanism: str
    size: int
    count: int
    sensitivity: float
    noise_scale: float
    lattice_step: float | None = None


@dataclass(frozen=True, repr=False)
class Certificate:
    """What was planned, what was released, and what that guarantees.

    Parameters
    ----------
    plan : Plan
        All releases that were paid for.
    budget : Budget
        What was asked for.
    releases : sequence of ReleaseRecord, default ()
        What was made of the plan.
    seeded : bool, default False
        Whether the noise came from a ``random_state``: then nothing is private.
    rows : int or None, default None
        The number of rows, under replace_one only.
    bounds : str, default ""
        The public bounds on the rows, in words.
    notes : sequence of str, default ()
        Anything a reader should know.
    version : str
        The version of tacit; the installed one unless given.
    peeked : sequence of str, default ()
        Columns whose bounds or categories were read from the rows, unpaid: the promise does not cover them.

    Examples
    --------
    >>> from tacit.privacy import Gaussian
    >>> budget = Budget(1.0, 1e-6)
    >>> plan = Plan((Gaussian("moments", 1.0, count=10, size=66),)).calibrate(budget)
    >>> certificate = Certificate(plan, budget, rows=20190)
    >>> certificate
    <Certificate: epsilon=1, delta=1e-06, replace_one, 10 releases>
    >>> print(f"{certificate.best_guess():.1%}")
    54.7%
    >>> Certificate.from_json(certificate.to_json()) == certificate
    True
    """

    plan: Plan
    budget: Budget
    releases: tuple[ReleaseRecord, ...] = ()
    seeded: bool = False
    rows: int | None = None
    bounds: str = ""
    notes: tuple[str, ...] = ()
    version: str = field(default_factory=_own_version)
    peeked: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "releases", tuple(self.releases))
        object.__setattr__(self, "notes", tuple(self.notes))
        object.__setattr__(self, "peeked", tuple(self.peeked))
        if self.rows is not None and self.plan.neighbors == "add_remove":
            raise ValueError("Under 'add_remove' the number of rows is private; leave rows=None.")

    def epsilon(self, delta: float | None = None) -> float:
        """Return the least proven epsilon at ``delta``, by default the budget's."""
        delta = self.budget.delta if delta is None else delta
        least = self.plan.epsilon(delta)
        # The root is exact to the last digit but one. The budget's own epsilon is proven by itself.
        holds = self.budget.epsilon < least and self.plan.delta(self.budget.epsilon) <= delta
        return self.budget.epsilon if holds else least

    def delta(self, epsilon: float) -> float:
        """Return the least proven delta at ``epsilon``."""
        return self.plan.delta(epsilon)

    def best_guess(self) -> float:
        """Return how often, at most, anyone can tell which of two equally likely rows was used.

        Luck is right half of the time. Of the other half, delta(0) can be told: it is the total-variation distance of
        the two outcomes.
        """
        return (1 + self.plan.delta(0.0)) / 2

    def suspicion(self, chance: float, before: float = 0.5) -> float:
        """Return how far a suspicion can rise on evidence that turns up, if it is true, with probability ``chance``.

        Let the evidence have probability p if the suspicion is true and p' if it is not. At every epsilon,
        p <= e^epsilon p' + delta(epsilon), so p' is at least the largest e^-epsilon (p - delta(epsilon)), and Bayes'
        rule does the rest. For Gaussian plans the bound is met by the best evidence there is.

        Parameters
        ----------
        chance : float
            p, above 0 and at most 1.
        before : float, default 0.5
            The suspicion before the release, as a probability.

        Examples
        --------
        >>> from tacit.privacy import Laplace
        >>> certificate = Certificate(Plan((Laplace("count", 1.0),)), Budget(1.0))
        >>> print(f"{certificate.suspicion(0.01):.1%}")  # e / (1 + e)
        73.1%
        """
        if not 0 < chance <= 1 or not 0 <= before <= 1:
            raise ValueError(
                "chance and before are probabilities, chance above 0; they are "
                f"{describe(chance)} and {describe(before)}."
            )
        largest = next((e for part in (1e-6, 1e-3, 0.5) if (e := self.plan.epsilon(chance * part)) < math.inf), 0.0)

        def otherwise(epsilon: float) -> float:
            return math.exp(-epsilon) * (chance - self.plan.delta(epsilon))

        # A concave function of e^epsilon, divided by e^epsilon, has one peak. Every point of it is a valid bound.
        peak = minimize_scalar(lambda e: -otherwise(e), bounds=(0.0, largest), method="bounded").x if largest else 0.0
        least = max(0.0, otherwise(0.0), otherwise(float(peak)), otherwise(largest))
        return before * chance / (before * chance + (1 - before) * least) if before else 0.0

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the certificate as JSON, and write it to ``path`` if given. The delta(epsilon) curve is included."""
        epsilons, deltas = self.plan.curve()
        values = {
            "format": _FORMAT,
            "version": self.version,
            "seeded": self.seeded,
            "budget": asdict(self.budget),
            "rows": self.rows,
            "bounds": self.bounds,
            "notes": list(self.notes),
            "peeked": list(self.peeked),
            "releases": [asdict(release) for release in self.releases],
            "plan": self.plan.to_dict(),
            "curve": {"epsilon": epsilons.tolist(), "delta": deltas.tolist()},
        }
        text = json.dumps(values, indent=2, allow_nan=False)
        if path is not None:
            Path(path).write_text(text + "\n", encoding="utf-8")
        return text

    @classmethod
    def from_json(cls, source: str | Path) -> "Certificate":
        """Read what ``to_json`` wrote, from a path or from the text itself."""
        is_text = isinstance(source, str) and source.lstrip().startswith("{")
        values = json.loads(str(source) if is_text else Path(source).read_text(encoding="utf-8"))
        if values.get("format") != _FORMAT:
            raise ValueError(f"A certificate has the format {_FORMAT!r}, and this has {values.get('format')!r}.")
        return cls(
            plan=Plan.from_dict(values["plan"]),
            budget=Budget(**values["budget"]),
            releases=tuple(ReleaseRecord(**release) for release in values["releases"]),
            seeded=values["seeded"],
            rows=values["rows"],
            bounds=values["bounds"],
            notes=tuple(values["notes"]),
            peeked=tuple(values.get("peeked", ())),  # Files of version 0.1 have none.
            version=values["version"],
        )

    def text(self) -> str:
        """Return the certificate in plain words, for a data-protection officer; at most 92 columns."""
        lines = [f"Privacy certificate (tacit {self.version})"]
        if self.seeded:
            lines += ["", f"!!! {_SEEDED} !!!", *_wrap(_SEEDED_WHY)]
        if self.peeked:
            lines += ["", f"!!! {_PEEKED} !!!", *_wrap(self.peeked_why())]
        for title, parts in self.sections():
            lines += ["", title, "-" * len(title)]
            for part in parts:
                lines += _wrap(part) if isinstance(part, str) else _align(part)
        return "\n".join(lines)

    def __repr__(self) -> str:
        count = sum(step.releases for step in self.plan.steps)
        warning = ", seeded: not private" if self.seeded else ""
        warning += ", bounds read from the rows: not covered" if self.peeked else ""
        return (
            f"<Certificate: epsilon={self.budget.epsilon:g}, delta={self.budget.delta:g}, {self.plan.neighbors}, "
            f"{count} release{'s' * (count != 1)}{warning}>"
        )

    def _repr_html_(self) -> str:
        html = [f"<h3>Privacy certificate <small>tacit {escape(self.version)}</small></h3>"]
        if self.seeded:
            html.append(f'<p style="color: #b00020"><strong>{_SEEDED}.</strong> {escape(_SEEDED_WHY)}</p>')
        if self.peeked:
            html.append(f'<p style="color: #b00020"><strong>{_PEEKED}.</strong> {escape(self.peeked_why())}</p>')
        for title, parts in self.sections():
            html.append(f"<h4>{escape(title)}</h4>")
            for part in parts:
                html.append(f"<p>{escape(part)}</p>" if isinstance(part, str) else _html_table(part))
        return "\n".join(html)

    def peeked_why(self) -> str:
        """Return what it means that knowledge about columns was read from the rows; empty if none was."""
        if not self.peeked:
            return ""
        return (
            f"What is stated as known about the columns {', '.join(self.peeked)} (bounds, categories, types) was read "
            "from the rows, and not paid for. It tells something of single rows, and the promise below does not cover "
            "it. Do not publish this result; replace those values by public knowledge and fit again."
        )

    def sections(self) -> list[tuple[str, list[str | TextTable]]]:
        sections: list[tuple[str, list[str | TextTable]]] = [
            ("The promise", [*self._promise()]),
            ("What an attacker could learn", [*self._attack()]),
            ("What was released", [*self._releases()]),
            ("Other ways to read the same guarantee", [self._curve()]),
        ]
        return [*sections, ("Notes", [*self.notes])] if self.notes else sections

    def _promise(self) -> list[str]:
        epsilon, delta = self.budget.epsilon, self.budget.delta
        other, count = {
            "replace_one": (
                "had any one person's row held any other values",
                "The number of rows is public" + ("." if self.rows is None else f": {self.rows:,}."),
            ),
            "add_remove": (
                "had any one person's row been left out, or one more row been there",
                "The number of rows is protected too, and not shown.",
            ),
        }[self.plan.neighbors]
        factor = f"e^epsilon = {math.exp(epsilon):.3g}" if epsilon < 50 else "e^epsilon"
        addition = f", give or take delta = {delta:g} (1 in {1 / delta:,.0f})" if delta else ""
        words = [
            f"Epsilon = {epsilon:g}, delta = {delta:g}, neighbours: {self.plan.neighbors}. Whatever anyone concludes "
            f"from this result, they would have concluded with nearly the same probability {other}: at most {factor} "
            f"times more or less likely{addition}. {count}"
        ]
        if self.plan.delta(epsilon) > delta:
            proven = self.plan.delta(epsilon)
            words.append(
                f"WARNING: the budget is not kept. At this epsilon the plan is proven for delta = {proven:.3g}."
            )
        return words

    def _attack(self) -> list[str | TextTable]:
        rare: TextTable = [("evidence seen, if it is true, in", "50% suspicion becomes at most")]
        rare += [(f"1 of {odds:,} cases", f"{self.suspicion(1 / odds):.1%}") for odds in (10, 100, 10_000, 1_000_000)]
        parts: list[str | TextTable] = [
            "Take someone who knows every other row and all of this software, and is undecided between two equally "
            f"likely possibilities for one person. The best method there is names the right one in at most "
            f"{self.best_guess():.1%} of cases; a coin does in 50%. Rare evidence can say more:",
            rare,
        ]
        if self.budget.delta:
            ceiling = 1 / (1 + math.exp(-self.budget.epsilon))
            parts.append(
                f"Epsilon alone would end this at {ceiling:.1%}; delta is why the rarest evidence may exceed it."
            )
        return parts

    def _releases(self) -> list[str | TextTable]:
        parts: list[str | TextTable] = []
        if self.releases:
            table: TextTable = [("name", "noise", "times", "numbers", "sensitivity", "noise scale", "lattice step")]
            for record in self.releases:
                step = "-" if record.lattice_step is None else f"{record.lattice_step:.3g}"
                row = (
                    f"{record.count:,}",
                    f"{record.size:,}",
                    f"{record.sensitivity:.5g}",
                    f"{record.noise_scale:.5g}",
                )
                table.append((record.name, record.mechanism, *row, step))
            parts += [
                table,
                "Sensitivity is the most that one person can change the released numbers together; noise scale is the "
                "standard deviation (Gaussian) or scale (others) of the noise on each number.",
            ]
        planned, made = sum(step.releases for step in self.plan.steps), sum(record.count for record in self.releases)
        if made < planned:
            parts.append(
                f"{made:,} of {planned:,} planned releases are recorded; the guarantee covers all that were planned."
            )
        if self.bounds:
            origin = "some of them READ FROM THE ROWS, see above" if self.peeked else "never read from them unpaid"
            parts.append(f"Bounds on rows, {origin}: {self.bounds}.")
        if self.plan.sampling_error:
            parts.append(
                f"The noise differs from its ideal law by at most {self.plan.sampling_error:.3g} in total variation, "
                "over all numbers; this is counted in delta."
            )
        return parts

    def _curve(self) -> TextTable:
        deltas = [10.0**-power for power in range(3, 13)]
        pure = self.plan.pure
        return [
            ("at delta =", "epsilon ="),
            *((f"{delta:g}", _epsilon_words(self.plan.epsilon(delta))) for delta in deltas + [0.0] * pure),
        ]


_SEEDED_WHY = (
    "The noise came from a fixed seed. Whoever knows or guesses the seed can take the noise away and see the exact "
    "values. Keep this result for tests and experiments, do not publish it, and fit again without random_state."
)


def _epsilon_words(epsilon: float) -> str:
    return f"{epsilon:.4g}" if math.isfinite(epsilon) else "none"


def _wrap(paragraph: str) -> list[str]:
    return textwrap.wrap(paragraph, _WIDTH)


def _align(table: TextTable) -> list[str]:
    """Return the rows of a table in columns: words to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*table)]
    words = 2 if len(widths) > 2 else 1
    cells = (
        [cell.ljust(width) if i < words else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
        for row in table
    )
    return ["  " + "  ".join(row).rstrip() for row in cells]


def _html_table(table: TextTable) -> str:
    head, *body = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in table)
    rows = "".join(f"<tr>{row}</tr>" for row in body)
    return f"<table><thead><tr>{head.replace('td>', 'th>')}</tr></thead><tbody>{rows}</tbody></table>"

"""Axes of pictures: scales, ticks and the frame around a plot, as SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass
from unicodedata import east_asian_width

from tacit.report.markup import Html, element, together
from tacit.report.numerals import factor, number, scientific

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)  # Distances of ticks, in powers of ten.
_LONGEST_LABEL = 34  # Characters of an axis label. A longer name is cut, and shown in full to those who point at it.


@dataclass(frozen=True)
class Scale:
    """A linear map from values to pixels.

    Examples
    --------
    >>> Scale(0.0, 10.0, 100.0, 200.0)(5.0)
    150.0
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    @property
    def unit(self) -> float:
        """Pixels for one unit; negative where values grow upwards."""
        return (self.end - self.start) / (self.high - self.low)


@dataclass(frozen=True)
class Ticks:
    """Where the ticks are, what they say, and what the axis label must add."""

    values: tuple[float, ...]
    labels: tuple[str, ...]
    unit: str = ""


def ticks(low: float, high: float, most: int = 6) -> Ticks:
    """Return at most `most` round values between low and high.

    Examples
    --------
    >>> ticks(0.0, 9.7).labels
    ('0', '2', '4', '6', '8')
    >>> ticks(0.0, 1.1).labels, ticks(0.0, 110.0).labels
    (('0.0', '0.2', '0.4', '0.6', '0.8', '1.0'), ('0', '20', '40', '60', '80', '100'))
    >>> ticks(0.0, 63_000.0)
    Ticks(values=(0.0, 20000.0, 40000.0, 60000.0), labels=('0', '20', '40', '60'), unit='10³')
    """
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in _STEPS if power * factor >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    values = tuple(i * step for i in range(first, last + 1))
    largest = max(abs(low), abs(high))
    thousands = 3 * math.floor(math.log10(largest) / 3) if not 1e-2 <= largest < 1e4 else 0
    unit = 10.0**thousands
    decimals = max(0, (round(step / power, 1) == 2.5) - math.floor(math.log10(step / unit) + 1e-9))
    labels = tuple(number(value / unit, decimals) for value in values)
    return Ticks(values, labels, scientific(unit) if thousands else "")


def factor_ticks(low: float, high: float, most: int = 8) -> Ticks:
    """Return ticks on an axis of logarithms that say what they multiply or divide by.

    Examples
    --------
    >>> factor_ticks(-1.5, 1.5).labels, factor_ticks(0.0, 0.3).labels
    (('÷4', '÷2', '×1', '×2', '×4'), ('×1.0', '×1.1', '×1.2', '×1.3'))
    """
    if high - low < math.log(8):
        marks = ticks(math.exp(low), math.exp(high), most - 3)
        logs, labels = [math.log(value) for value in marks.values], [f"×{label}" for label in marks.labels]
    else:
        units = [math.log(base) for base in (2.0, 5.0, 10.0)]
        unit = next((unit for unit in units if high - low < unit * most), units[-1])
        logs = [unit * power for power in ticks(low / unit, high / unit, most).values if power.is_integer()]
        labels = [f"{'÷' if log < 0 else '×'}{factor(abs(log))}" for log in logs]
    return Ticks(tuple(logs), tuple(labels))


def frame(x: Scale, y: Scale, x_ticks: Ticks, y_ticks: Ticks, x_label: str, y_label: str) -> Html:
    """Return grid lines, tick labels and axis labels around a plot; without a label there is no vertical axis."""
    bottom, left, middle = y.start, x.start, (y.start + y.end) / 2
    grid = [element("line", x1=x(v), x2=x(v), y1=y.start, y2=y.end, class_="grid") for v in x_ticks.values]
    grid += [element("line", x1=x.start, x2=x.end, y1=y(v), y2=y(v), class_="grid") for v in y_ticks.values]
    marks = [
        element("text", label, x=x(v), y=bottom + 17, text_anchor="middle", class_="tick")
        for v, label in zip(x_ticks.values, x_ticks.labels)
    ]
    marks += [
        element("text", label, x=left - 7, y=y(v) + 4, text_anchor="end", class_="tick")
        for v, label in zip(y_ticks.values, y_ticks.labels)
    ]
    upright = f"translate(14 {middle:.1f}) rotate(-90)"
    return together(
        *grid,
        element("path", d=f"M{left:.1f} {y.end if y_label else bottom:.1f}V{bottom:.1f}H{x.end:.1f}", class_="axis"),
        *marks,
        _label(x_label, x_ticks, x=(x.start + x.end) / 2, y=bottom + 38),
        *([_label(y_label, y_ticks, x=0.0, y=0.0, transform=upright)] if y_label else []),
    )


def shorten(text: str, room: int) -> str:
    """Return a name, cut where it takes up more than `room` places.

    Examples
    --------
    >>> shorten("a long name", 7), shorten("身長", 7)
    ('a long…', '身長')
    """
    wide = sum(east_asian_width(letter) in "WF" for letter in text[:room])
    room -= wide // 2  # Such letters take up two places.
    return text if len(text) <= room else text[: room - 1] + "…"


def _label(text: str, marks: Ticks, **where: str | float) -> Html:
    unit = f" (in {marks.unit})" if marks.unit else ""
    shown = shorten(text, _LONGEST_LABEL - len(unit))
    return element("text", element("title", text), shown + unit, text_anchor="middle", class_="label", **where)

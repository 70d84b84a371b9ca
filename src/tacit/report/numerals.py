"""Numbers as people read them."""

from __future__ import annotations

import math

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MINUS = "−"
_LARGEST_LOGARITHM = 20.0  # Largest logarithm of a factor that is written out.


def number(value: float, decimals: int) -> str:
    """Return a number to `decimals` places with thousands set apart, or in powers of ten if it is huge or tiny.

    Examples
    --------
    >>> number(1234.56, 1), number(-0.04, 1), number(3.2e12, 0), number(1.25e-9, 10)
    ('1,234.6', '0.0', '3.2 × 10¹²', '1.25 × 10⁻⁹')
    """
    if not math.isfinite(value):
        return "–"
    if abs(value) >= 1e9 or decimals > 6:
        return scientific(value)
    text = f"{value:,.{max(0, decimals)}f}"
    return text.replace("-", MINUS) if text.strip("-0.,") else text.lstrip("-")


def scientific(value: float) -> str:
    """Return a number in powers of ten, to three digits.

    Examples
    --------
    >>> scientific(1e-6), scientific(2.5e-6), scientific(0.0)
    ('10⁻⁶', '2.5 × 10⁻⁶', '0')
    """
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.2e}".split("e")
    power = power_of_ten(int(exponent))
    mantissa = mantissa.rstrip("0").rstrip(".").replace("-", MINUS)
    return power if mantissa == "1" else f"{mantissa} × {power}"


def power_of_ten(exponent: int) -> str:
    """Return a power of ten.

    Examples
    --------
    >>> power_of_ten(-12)
    '10⁻¹²'
    """
    return "10" + str(exponent).translate(_RAISED)


def to_digits(value: float, digits: int = 3) -> str:
    """Return a number to `digits` significant digits.

    Examples
    --------
    >>> to_digits(18.2599), to_digits(0.000123), to_digits(54321.0), to_digits(2.0)
    ('18.3', '1.23 × 10⁻⁴', '54,321', '2')
    """
    if value == 0 or not math.isfinite(value):
        return number(value, 0)
    if abs(value) < 1e-3:
        return scientific(value)
    text = number(value, digits - 1 - math.floor(math.log10(abs(value))))
    return text.rstrip("0").rstrip(".") if "." in text and "×" not in text else text


def factor(logarithm: float) -> str:
    """Return what something is multiplied by, from its natural logarithm, however large.

    Examples
    --------
    >>> factor(0.0), factor(-0.7), factor(1000.0)
    ('1', '0.497', '10⁴³⁴')
    """
    if abs(logarithm) > _LARGEST_LOGARITHM:
        return power_of_ten(round(logarithm / math.log(10)))
    return to_digits(math.exp(logarithm))


def spread(mean: float, deviation: float, extent: float) -> tuple[str, str]:
    """Return a mean and its standard deviation, both to the deviation's second digit, but no finer than 1% of `extent`.

    Examples
    --------
    >>> spread(2.8604, 4.5043, 9.0), spread(41234.0, 1234.0, 5000.0), spread(0.00001, 0.0003, 2.0)
    (('2.9', '4.5'), ('41,200', '1,200'), ('0.00', '<0.01'))
    """
    finest = 2 - math.floor(math.log10(extent))
    decimals = min(finest, 1 - math.floor(math.log10(deviation))) if deviation > 0 else finest
    if decimals <= 6 and deviation < 0.5 * 10.0**-decimals:
        return number(mean, decimals), f"<{number(10.0**-decimals, decimals)}"
    return number(round(mean, decimals), decimals), number(round(deviation, decimals), decimals)


def percent(proportion: float) -> str:
    """Return a proportion in per cent, without more digits than help.

    Examples
    --------
    >>> percent(0.547), percent(0.0312), percent(0.004), percent(0.0002), percent(0.9999), percent(1.0), percent(0.0)
    ('55%', '3%', '0.4%', '<0.1%', '>99.9%', '100%', '0%')
    """
    if 0 < proportion < 0.001:
        return "<0.1%"
    if 0.999 < proportion < 1:
        return ">99.9%"
    return f"{proportion:.0%}" if proportion in (0, 1) or 0.0095 <= proportion <= 0.9905 else f"{proportion:.1%}"


def one_in(probability: float) -> str:
    """Return a small probability as odds.

    Examples
    --------
    >>> one_in(1e-6), one_in(0.3)
    ('1 in 1,000,000', '1 in 3')
    """
    return f"1 in {number(1 / probability, 0)}"


def plural(count: int, word: str) -> str:
    """Return a count with its word.

    Examples
    --------
    >>> plural(1, "release"), plural(1200, "row")
    ('1 release', '1,200 rows')
    """
    return f"{count:,} {word}" + "s" * (count != 1)


def join_words(items: list[str]) -> str:
    """Return items in a sentence.

    Examples
    --------
    >>> join_words(["1"]), join_words(["1", "2"]), join_words(["1", "2", "3"])
    ('1', '1 and 2', '1, 2 and 3')
    """
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"

"""Names of data sets in a ledger: one spelling each, and none that a reader would take for another.

Two budgets for one data set are two promises to the same people. So names are normalised (Unicode NFC, no space at the
ends), and a new name that looks like an existing one is refused.
"""

import unicodedata

from tacit.messages import describe

__all__ = ["alike", "check_text", "normal"]

# These letters of other alphabets and digits look like a Latin letter. They are the common ones in Unicode's list of
# confusables (Unicode Technical Standard 39).
_LOOKS_LIKE = str.maketrans(
    {
        **dict(zip("АВЕЅІЈКМНОРСТУХ", "ABESIJKMHOPCTYX")),
        **dict(zip("аеорсухіјѕһԁԛԝ", "aeopcyxijshdqw")),
        **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX")),
        **dict(zip("ονιαρ", "oviap")),
        **dict(zip("ıɑɡ", "iag")),
        **dict(zip("01I|", "Olll")),
    }
)


def normal(name: str) -> str:
    r"""Return the one spelling of a name.

    Examples
    --------
    >>> normal("  cafe\u0301 ") == "caf\u00e9"
    True
    """
    check_text(name, "name of a data set")
    name = unicodedata.normalize("NFC", name).strip()
    if not name:
        raise ValueError("The name of a data set must not be blank; give it one that says what it is.")
    return name


def alike(one: str, other: str) -> bool:
    r"""Return whether two names are easily taken for each other: by case, width, spacing, or letters that look alike.

    Examples
    --------
    >>> alike("Patients 2024", "patients  2024"), alike("patients", "p\u0430tients"), alike("study A", "study B")
    (True, True, False)
    """
    return _fold(one) == _fold(other) or _skeleton(one) == _skeleton(other)


def _fold(name: str) -> str:
    """Return the name without case, width, spacing and invisible characters."""
    visible = "".join(c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) not in ("Cf", "Cc"))
    return " ".join(unicodedata.normalize("NFKC", visible.casefold()).split())


def _skeleton(name: str) -> str:
    """Return the name as it looks, in Latin letters."""
    return _fold(unicodedata.normalize("NFKC", name).translate(_LOOKS_LIKE))


def check_text(value: str, what: str) -> None:
    """Refuse what no database keeps as it is."""
    if not isinstance(value, str):
        raise TypeError(f"The {what} is a string, and it is {describe(value)}.")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError(f"The {what} is text without NUL and lone surrogates, and it is {describe(value)}.")

"""Numbers as people read them: three digits, and words where there is no number."""

from __future__ import annotations

import math
from collections.abc import Sequence

from icsa.assessment.document import ColumnShare
from icsa.assessment.document_parts import Measure, Number
from icsa.assessment.public_edition import FEW

__all__ = [
    "NOT_ESTIMABLE",
    "chance",
    "count",
    "dashed",
    "estimate",
    "listed",
    "measured",
    "number",
    "plural",
    "shares",
    "shortened",
]

NOT_ESTIMABLE = "not estimable"

_DIGITS = 3
_SMALLEST_CHANCE = 0.001


def number(value: Number, *, like: Number = None) -> str:
    """Return a number with three significant digits, or "not estimable" for none.

    Parameters
    ----------
    value : number or None
    like : float, optional
        Show as many decimals as three digits of this one need. A mean next to its standard
        deviation keeps the digits that matter: 1,987.3 with 12.4, not 1,990.

    Examples
    --------
    >>> number(0.123456), number(12345.6), number(-2), number(None), number(1.5e-9)
    ('0.123', '12,300', '−2', 'not estimable', '1.50 × 10^−9')
    >>> number(1987.3, like=12.4)
    '1,987.3'
    """
    if value is None:
        return NOT_ESTIMABLE
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(like or value)))
    if not -5 <= magnitude <= 11 or abs(value) >= 1e12:
        return _with_exponent(value)
    decimals = _DIGITS - 1 - magnitude
    rounded = round(value, decimals)
    if isinstance(value, int) and abs(value) < 10**_DIGITS:
        decimals = 0
    return _signed(f"{rounded:,.{max(0, decimals)}f}")


def count(value: float) -> str:
    """Return a whole number in full.

    Examples
    --------
    >>> count(12345.0)
    '12,345'
    """
    return _signed(f"{int(value):,}")


def chance(value: Number) -> str:
    """Return a probability: three digits, or "less than 0.001".

    Examples
    --------
    >>> chance(0.04567), chance(2e-7), chance(1.0), chance(0.9999)
    ('0.0457', 'less than 0.001', '1', 'more than 0.999')
    """
    if value is None or value == 1:
        return NOT_ESTIMABLE if value is None else "1"
    if value < _SMALLEST_CHANCE:
        return f"less than {_SMALLEST_CHANCE}"
    return f"more than {1 - _SMALLEST_CHANCE}" if value > 1 - _SMALLEST_CHANCE else number(value)


def estimate(value: Number, low: Number = None, high: Number = None, reason: object = "") -> str:
    """Return a value with its interval, or why there is none.

    Examples
    --------
    >>> estimate(0.3124, 0.3006, 0.3241)
    '0.312 (0.301 to 0.324)'
    >>> estimate(None, reason="nobody stands out")
    'not estimable: nobody stands out'
    >>> estimate(12.0)
    '12'
    """
    if value is None:
        return f"{NOT_ESTIMABLE}: {reason or 'no reason was given'}"
    if low is None or high is None:
        return count(value) if float(value).is_integer() else number(value)
    largest = max(abs(end) for end in (value, low, high))
    shown = [number(end, like=largest or None) for end in (value, low, high)]
    return f"{shown[0]} ({shown[1]} to {shown[2]})"


def measured(measure: Measure) -> str:
    """Return a measure's value with its interval, or why there is none; P in words if tiny."""
    if measure.definition == "smallest_chance" and measure.value is not None:
        return chance(measure.value)
    if measure.value is None and measure.reason == FEW:
        return FEW
    return estimate(measure.value, measure.low, measure.high, measure.reason)


def dashed(value: Number) -> str:
    """Return a number, or a dash where there is none.

    Examples
    --------
    >>> dashed(0.25), dashed(None)
    ('0.250', '–')
    """
    return "–" if value is None else number(value)


def shares(parts: Sequence[ColumnShare], most: int = 3) -> str:
    """Return the largest columns' shares in a line.

    Examples
    --------
    >>> parts = [ColumnShare(column="age", share=0.75), ColumnShare(column="bmi", share=0.25)]
    >>> shares(parts, most=1)
    'age 75%, and 1 more'
    """
    ordered = sorted(parts, key=lambda part: -part.share)
    told = [f"{shortened(part.column, 24)} {part.share:.0%}" for part in ordered if part.share > 0]
    return listed(told, most) or "nothing"


def listed(texts: Sequence[str], most: int, between: str = ", ") -> str:
    """Return texts in a line, and how many more there are.

    Examples
    --------
    >>> listed(["a", "b", "c"], 2)
    'a, b, and 1 more'
    """
    rest = len(texts) - most
    return between.join([*texts[:most], f"and {rest} more"] if rest > 0 else texts)


def plural(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> plural(1, "row"), plural(2000, "row"), plural(2, "person", "people")
    ('1 row', '2,000 rows', '2 people')
    """
    return f"{count(n)} {one if n == 1 else many or one + 's'}"


def shortened(text: object, most: int = 60) -> str:
    """Return a text that is not longer than `most` characters; what is cut off becomes a dot dot.

    Examples
    --------
    >>> shortened("a long name", 6), shortened("short", 6)
    ('a lon…', 'short')
    """
    whole = str(text)
    return whole if len(whole) <= most else f"{whole[: most - 1]}…"


def _with_exponent(value: float) -> str:
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{_signed(mantissa)} × 10^{_signed(str(int(exponent)))}"


def _signed(text: str) -> str:
    """Return a number's text with a true minus sign, and without one before a zero."""
    if text.startswith("-"):
        return f"−{text[1:]}" if any(digit in text for digit in "123456789") else text[1:]
    return text

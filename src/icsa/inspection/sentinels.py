"""Codes and words that stand for missing in many files."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from icsa.inspection.profile import Profile
from icsa.matrices import Vector

__all__ = ["may_have_codes", "sentinel_codes", "sentinel_words"]

_NEGATIVE = (-1, -2, -3, -7, -8, -9, -77, -88, -97, -98, -99, -777, -888, -997, -998, -999, -9999)
_ONE_DIGIT = (7, 8, 9)
_POSITIVE = (
    *(77, 88, 97, 98, 99, 777, 888, 997, 998, 999),
    *(7777, 8888, 9997, 9998, 9999, 99999, 999999, 9999999, 99999999),
)
# Nines to the last decimal of a column that has some.
_NINES = (99.9, 99.99, 999.9, 999.99, 9999.9, 9999.99)
_BELOW_ZERO = (*_NEGATIVE, -9.9, *(-code for code in _NINES))
_ABOVE_ZERO = tuple(sorted((*_ONE_DIGIT, *_POSITIVE, *_NINES)))
_CODES = (*_BELOW_ZERO, *_ABOVE_ZERO)
_WORDS = (
    ".",
    "?",
    "#n/a",
    "missing",
    "n.a.",
    "n/a",
    "na",
    "nan",
    "nil",
    "null",
    "refused",
    "unknown",
)
_TWICE = 2
_FAR = 0.5  # of the range of the rest
_PILE = 3.0


def sentinel_codes(profile: Profile) -> Mapping[float, int]:
    """Return well-known codes that stand apart from a column's other numbers, with their rows.

    A negative code stands apart where no other value is negative; a positive one where it is
    beyond all others by half of their range, or is held three times as often as the largest
    others. Each must be held by two rows.

    Examples
    --------
    >>> from icsa.inspection.profile import profile_of
    >>> from icsa.tables.table import Table
    >>> table = Table(pl.DataFrame({"age": [41, 52, 38, 67, 999, 999, -1]}))
    >>> sentinel_codes(profile_of(table, "age"))
    {999: 2}
    """
    numbers = profile.numbers
    if numbers.size < 3 or numbers.size < profile.distinct or not np.isin(numbers, _CODES).any():
        return {}
    held = dict(zip(numbers.tolist(), profile.held.tolist(), strict=True))
    found = {**_negative_codes(held), **_positive_codes(held)}
    return {code: rows for code, rows in found.items() if rows >= _TWICE}


def may_have_codes(cells: pl.Series) -> bool:
    """Return whether numbers could hold a code that stands apart, after a quick look.

    Codes below zero are the smallest numbers of a column, others the largest.

    Examples
    --------
    >>> may_have_codes(pl.Series([41, 52, 999])), may_have_codes(pl.Series([41, 52, 53]))
    (True, False)
    """
    return cells.min() in _BELOW_ZERO or cells.max() in _CODES


def sentinel_words(profile: Profile) -> Mapping[str, int]:
    """Return words for missing among a column's texts, with their rows.

    Examples
    --------
    >>> from icsa.inspection.profile import profile_of
    >>> from icsa.tables.table import Table
    >>> table = Table(pl.DataFrame({"smoker": ["yes", "unknown", "no", "unknown"]}))
    >>> sentinel_words(profile_of(table, "smoker"))
    {'unknown': 2}
    """
    if not profile.is_text:
        return {}
    texts = profile.values.cast(pl.String).to_list()
    held = zip(texts, profile.held.tolist(), strict=True)
    return {text: rows for text, rows in held if text.strip().casefold() in _WORDS}


def _negative_codes(held: Mapping[float, int]) -> dict[float, int]:
    negative = {number for number in held if number < 0}
    if not negative <= set(_BELOW_ZERO) or len(held) - len(negative) < 2:
        return {}
    return {code: held[code] for code in _BELOW_ZERO if code in negative}


def _positive_codes(held: Mapping[float, int]) -> dict[float, int]:
    others = sorted(number for number in held if number not in _ABOVE_ZERO and number >= 0)
    beyond = [code for code in _ABOVE_ZERO if code in held and others and code > others[-1]]
    for position, code in enumerate(beyond):
        rest = np.array([*others, *beyond[:position]])
        if rest.size >= 2 and _stands_apart(code, rest, held):
            return {found: held[found] for found in beyond[position:]}
    return {}


def _stands_apart(code: float, rest: Vector, held: Mapping[float, int]) -> bool:
    length = rest[-1] - rest[0]
    gap = code - rest[-1]
    if code in _ONE_DIGIT:
        return bool(gap >= max(3.0, length))
    near = [held[number] for number in rest[-5:].tolist()]
    piled = held[code] > _PILE * max(near) and gap > 1.0
    return bool(gap >= _FAR * length or (piled and rest.size >= len(near) >= 5))

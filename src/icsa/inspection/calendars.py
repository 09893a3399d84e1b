"""Whole numbers that stand for dates, or for a part of one."""

from __future__ import annotations

import numpy as np

from icsa.inspection.names import words_of
from icsa.inspection.profile import Profile
from icsa.matrices import Vector

__all__ = ["are_written_dates", "bounds_of_part"]

_YEARS = (1850, 2100)
_DAYS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
_PARTS: tuple[tuple[tuple[str, ...], int, int], ...] = (
    (("month", "monat", "mois", "mes", "mese", "maand", "måned", "månad", "kuukausi"), 1, 12),
    (("weekday", "wochentag", "dayofweek", "dow", "viikonpäivä", "veckodag", "ugedag"), 0, 7),
    (("day", "tag", "jour", "dia", "día", "giorno", "dag", "päivä"), 1, 31),
    (("hour", "stunde", "heure", "hora", "ora", "uur", "timme", "tunti"), 0, 23),
    (
        ("year", "jahr", "annee", "année", "año", "anno", "jaar", "år", "vuosi"),
        _YEARS[0],
        _YEARS[1],
    ),
)
# Endings of words that are long enough not to be met by chance.
_LONG_ENDINGS = ("month", "monat", "wochentag", "weekday", "stunde", "jahr", "year", "vuosi")


def are_written_dates(numbers: Vector) -> bool:
    """Return whether all numbers are dates of 1850 to 2100 written as eight digits.

    Examples
    --------
    >>> are_written_dates(np.array([20200727.0, 19991231.0])), are_written_dates(
    ...     np.array([20200230.0])
    ... )
    (True, False)
    """
    if not numbers.size or numbers.min() < _YEARS[0] * 1e4 or numbers.max() >= 1e8:
        return False
    if (numbers != np.round(numbers)).any():
        return False
    days = numbers.astype(np.int64)
    year, month, day = days // 10_000, days // 100 % 100, days % 100
    if year.max() > _YEARS[1] or month.min() < 1 or month.max() > 12 or day.min() < 1:
        return False
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    return bool((day <= _DAYS[month - 1] + (leap & (month == 2))).all())


def bounds_of_part(profile: Profile) -> str | None:
    """Return the bounds of a column that is named a part of a date and lies within them.

    Examples
    --------
    >>> import polars as pl
    >>> from icsa.inspection.profile import profile_of
    >>> from icsa.tables.table import Table
    >>> bounds_of_part(profile_of(Table(pl.DataFrame({"birth_month": [2, 12, 7]})), "birth_month"))
    'lower = 1 and upper = 12'
    """
    numbers, words = profile.numbers, words_of(profile.name)
    if not numbers.size or not profile.is_whole:
        return None
    for names, low, high in _PARTS:
        endings = tuple(name for name in names if name in _LONG_ENDINGS)
        named = set(names) & set(words) or any(word.endswith(endings) for word in words if endings)
        if named and low <= numbers.min() and numbers.max() <= high:
            if high == _YEARS[1]:
                return "lower and upper"
            return f"lower = {low} and upper = {high}"
    return None

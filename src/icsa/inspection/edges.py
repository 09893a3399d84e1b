"""Edges that numbers cannot leave, by what a column is: parts of dates."""

from __future__ import annotations

from icsa.inspection.limits import LIMITS
from icsa.inspection.names import words_of
from icsa.inspection.profile import Profile

__all__ = ["bounds_of_part"]

_PARTS: tuple[tuple[tuple[str, ...], int, int], ...] = (
    (("month", "monat", "mois", "mes", "mese", "maand", "måned", "månad", "kuukausi"), 1, 12),
    (("weekday", "wochentag", "dayofweek", "dow", "viikonpäivä", "veckodag", "ugedag"), 0, 7),
    (("day", "tag", "jour", "dia", "día", "giorno", "dag", "päivä"), 1, 31),
    (("hour", "stunde", "heure", "hora", "ora", "uur", "timme", "tunti"), 0, 23),
    (
        ("year", "jahr", "annee", "année", "año", "anno", "jaar", "år", "vuosi"),
        LIMITS.years[0],
        LIMITS.years[1],
    ),
)
# Endings of words that are long enough not to be met by chance.
_LONG_ENDINGS = ("month", "monat", "wochentag", "weekday", "stunde", "jahr", "year", "vuosi")


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
            if high == LIMITS.years[1]:
                return "lower and upper"
            return f"lower = {low} and upper = {high}"
    return None

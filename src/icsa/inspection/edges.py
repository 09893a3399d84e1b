"""Edges that no number of a column can lie beyond, by its name or because many rows lie on them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from icsa.columns import KINDS
from icsa.columns.levels import FEWEST_HOLDERS
from icsa.inspection.limits import LIMITS
from icsa.inspection.names import plain_words
from icsa.inspection.oddities import sentinel_codes
from icsa.inspection.profile import Profile
from icsa.inspection.vocabulary import AGES, PERCENTAGES, SCORES, SHARES, SHORTER_THAN_YEARS

__all__ = ["Edges", "are_years", "edges_of"]

_PARTS: tuple[tuple[tuple[str, ...], tuple[tuple[float, float], ...]], ...] = (
    (("month", "monat", "mois", "mes", "mese", "maand", "maned", "manad", "kuukausi"), ((1, 12),)),
    (
        ("weekday", "wochentag", "dayofweek", "dow", "viikonpaiva", "veckodag", "ugedag"),
        ((1, 7), (0, 6)),
    ),
    (("day", "tag", "jour", "dia", "giorno", "dag", "paiva"), ((1, 31),)),
    (("hour", "stunde", "heure", "hora", "ora", "uur", "timme", "tunti"), ((0, 23), (1, 24))),
)
# Endings of words that are long enough not to be met by chance.
_LONG_ENDINGS = ("month", "monat", "wochentag", "weekday", "stunde")
_YEARS = ("year", "jahr", "annee", "anno", "jaar", "vuosi")
# Scores whose ends are fixed by how they are counted.
_SCORES: dict[str, tuple[tuple[float, float], ...]] = {
    "apgar": ((0, 10),),
    "bdi": ((0, 63),),
    "ecog": ((0, 5),),
    "gad": ((0, 21),),
    "gcs": ((3, 15),),
    "glasgow": ((3, 15),),
    "hads": ((0, 21), (0, 42)),
    "karnof": ((0, 100),),
    "karnofsky": ((0, 100),),
    "madrs": ((0, 60),),
    "mmse": ((0, 30),),
    "moca": ((0, 30),),
    "nihss": ((0, 42),),
    "nrs": ((0, 10),),
    "phq": ((0, 27),),
    "sao": ((0, 100),),
    "saturation": ((0, 100),),
    "sofa": ((0, 24),),
    "spo": ((0, 100),),
    "vas": ((0, 10), (0, 100)),
}


@dataclass(frozen=True)
class Edges:
    """The smallest and the largest number that can be, and why; None where there is no such.

    Numbers of which none is negative stay so without an edge at 0.
    """

    lower: float | None
    upper: float | None
    why: str

    def describe(self) -> str:
        """Return a note.

        Examples
        --------
        >>> Edges(None, 100.0, "percentages").describe()
        'percentages: none above 100 is released'
        """
        below = "" if self.lower is None else f"below {self.lower:.15g}"
        above = "" if self.upper is None else f"above {self.upper:.15g}"
        return f"{self.why}: none {' or '.join(filter(None, (below, above)))} is released"

    def if_around(self, cells: pl.Series) -> Edges | None:
        """Return the edges if no cell lies beyond them, else none.

        Examples
        --------
        >>> Edges(None, 100.0, "percentages").if_around(pl.Series([20.5, 130.0])) is None
        True
        """
        lowest, highest = pl.Series([cells.min(), cells.max()]).cast(pl.Float64).to_list()
        below = self.lower is not None and lowest < self.lower
        above = self.upper is not None and highest > self.upper
        return None if below or above else self


def edges_of(profile: Profile, kind: str) -> Edges | None:
    """Return the edges of a column of numbers; None where none is known.

    The name says parts of dates, percentages, shares, ages or scores, if all numbers are such;
    scores that are not well known end at a round number. Without a name, an end is an edge that
    ten rows lie on, or three at 100 or at 1.

    Examples
    --------
    >>> import polars as pl
    >>> from icsa.inspection.profile import profile_of
    >>> from icsa.tables.table import Table
    >>> table = Table(pl.DataFrame({"birth_month": [2, 12, 7, 5, 11, 1, 3, 4, 6]}))
    >>> edges_of(profile_of(table, "birth_month"), "integer")
    Edges(lower=1, upper=12, why='a part of a date')
    """
    numbers = profile.numbers
    if not KINDS[kind].is_number or not numbers.size or numbers.size < profile.distinct:
        return None
    codes = sentinel_codes(profile)
    there = ~np.isin(numbers, list(codes))
    if np.count_nonzero(there) <= 1:
        return None
    low, high = float(numbers[there].min()), float(numbers[there].max())
    found = next(_named(profile, low, high), None)
    lower, upper = (None, None) if found is None else (found.lower, found.upper)
    why = [] if found is None else [found.why]
    if low != 0.0 and _is_shared(profile, low):
        lower = low
    if _is_shared(profile, high):
        upper = high
    if not codes and (lower, upper) != (None, None):
        named = found is not None and (lower, upper) == (found.lower, found.upper)
        if not named:
            why.append("many rows lie on an edge")
        return Edges(_plain(lower, profile), _plain(upper, profile), ", ".join(why))
    return None


def are_years(profile: Profile) -> bool:
    """Return whether whole numbers are years by their name, and can be."""
    first, last = LIMITS.years
    named = any(word.endswith(_YEARS) for word in plain_words(profile.name))
    can_be = profile.is_whole and bool(
        (profile.numbers >= first).all() and (profile.numbers <= last).all()
    )
    return named and can_be


def _named(profile: Profile, low: float, high: float) -> Iterator[Edges]:
    """Yield the edges that the name says, where all numbers lie between them."""
    words = plain_words(profile.name)
    for names, choices in _PARTS:
        endings = tuple(name for name in names if name in _LONG_ENDINGS)
        named = set(names) & set(words) or any(word.endswith(endings) for word in words if endings)
        if named and profile.is_whole:
            yield from _fitting(choices, low, high, "a part of a date")
    in_years = AGES & set(words) and not SHORTER_THAN_YEARS & set(words)
    if low >= 0.0 and high <= LIMITS.oldest[-1] and in_years:
        yield Edges(None, next(edge for edge in LIMITS.oldest if high <= edge), "ages")
    percent = "%" in profile.name or any(word.startswith(("pct", "percent")) for word in words)
    if percent or PERCENTAGES & set(words):
        # People call shares of 1 so too.
        if not profile.is_whole:
            yield from _fitting(((0, 1),), low, high, "shares")
        yield from _fitting(((0, 100),), low, high, "percentages")
    if SHARES & set(words) and not profile.is_whole:
        yield from _fitting(((0, 1), (0, 100)), low, high, "shares")
    for word in words:
        yield from _fitting(_SCORES.get(word, ()), low, high, "a score")
    if SCORES & set(words) and profile.is_whole and low >= 0.0 < high:
        yield Edges(None, _round_end(high), "a score")
    full = 100.0 if profile.is_whole or high > 1.0 else 1.0
    if low >= 0.0 and high == full and _holders(profile, high) >= FEWEST_HOLDERS:
        yield Edges(None, high, "percentages or shares")


def _fitting(
    choices: tuple[tuple[float, float], ...], low: float, high: float, why: str
) -> Iterator[Edges]:
    for lower, upper in choices:
        if lower <= low and high <= upper:
            yield Edges(lower or None, upper, why)


def _round_end(high: float) -> float:
    """Return the first of the round numbers that scores end at which is not below a number."""
    ten = 10.0 ** max(math.floor(math.log10(high)) - 1, 0)
    return next(end * ten for end in LIMITS.score_ends if high <= end * ten)


def _is_shared(profile: Profile, end: float) -> bool:
    """Return whether so many rows lie on an end that it tells of none of them."""
    return _holders(profile, end) >= LIMITS.rows_on_an_edge


def _holders(profile: Profile, number: float) -> int:
    return int(profile.held[profile.numbers == number].sum())


def _plain(edge: float | None, profile: Profile) -> float | None:
    """Return an edge of whole numbers as one."""
    return int(edge) if edge is not None and profile.is_whole else edge

"""Texts that nearly all are numbers or dates, and whole numbers that are dates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from icsa.inspection.evidence import Spacing, chance_if_measured
from icsa.inspection.limits import LIMITS
from icsa.inspection.profile import Counts, Profile, sample_of
from icsa.matrices import Vector

__all__ = ["Obstacle", "are_pairs", "are_written_dates", "may_have_obstacles", "obstacle_in"]

_BLANKS = r" \u00a0\u202f"
_WHOLE = r"(?:0|[1-9]\d*)"
_NOTATIONS = tuple(
    rf"^\s*[+-]?(?:{_WHOLE}(?:{mark}\d*)?|{mark}\d+|[1-9]\d{{0,2}}(?:[{thousands}]\d{{3}})+"
    rf"(?:{mark}\d+)?)(?:[eE][+-]?\d+)?\s*$"
    for mark, thousands in ((r"\.", "," + _BLANKS), (",", r"\." + _BLANKS))
)
_CURRENCY = r"(?:[$€£¥]|chf|eur|euro|usd|gbp|sek|nok|dkk|kr\.?)"
_UNITS = (
    "kg|mg|µg|μg|ug|ng|pg|lbs?|oz|cm|mm|km|inch|ft|ml|dl|cl|mmol|µmol|μmol|nmol|pmol|mol|iu|ie|"
    "mmhg|kpa|bpm|hrs?|hours?|mins?|minutes?|sec|yrs?|years?|days?|weeks?|months?|jahre?|tage?|"
    "ans|anni|anos|años|jaar|år|vuotta|kcal|kj|°c|°f"
)
_UNIT = rf"(?:%|‰|{_CURRENCY}|\s*(?:{_UNITS})(?:/[a-zµμ0-9.²³]+)*|\s+[glmshyd](?:/[a-zµμ0-9.²³]+)*)"
_BODY = rf"(?:\d{{1,3}}(?:[.,'’{_BLANKS}]\d{{3}})+(?:[.,]\d+)?|\d+(?:[.,]\d*)?|[.,]\d+)"
_SIGNED = (
    rf"(?i)^\s*\(?\s*[<>≤≥~≈=]{{0,2}}\s*{_CURRENCY}?\s*[-+−–]?\s*{_CURRENCY}?\s*"
    rf"{_BODY}\s*{_UNIT}?\s*\)?\s*$"
)
_SIGN = r"[<>≤≥~≈=%‰$€£¥'’()−–°]|[^\W\d_]"
_BEGINS_LIKE_NUMBERS = rf"(?i)^\s*[(<>≤≥~≈=+\-−–\s]*{_CURRENCY}?\s*[-−–]?[.,]?\d"
_DAYS = (
    *("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%d.%m.%y"),
    *("%d/%m/%y", "%m/%d/%y"),
)
_TIMES = ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%d.%m.%Y %H:%M")
_LIKE_DATES = r"^\s*\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
_PAIR = r"^\s*([1-9]\d{0,2})\s*[/x×]\s*(?:0|[1-9]\d{0,2})\s*$"
_DAYS_OF_MONTHS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Obstacle:
    """What keeps texts from being numbers or dates.

    Attributes
    ----------
    what : str
        How many cells are what.
    remedy : str
        What to do, if the column is to be masked as what it is.
    kept : str
        The same for a column that is in the release anyway.
    """

    what: str
    remedy: str
    kept: str = ""

    def note(self, *, masked: bool) -> str:
        """Return the note on a column that is masked, or else left out or replaced."""
        return f"{self.what}: {self.kept if masked and self.kept else self.remedy}"


def obstacle_in(profile: Profile) -> Obstacle | None:
    """Return what keeps a column of texts from being one of numbers or dates, if anything does.

    Nine of ten cells must be numbers or dates. Numbers that begin with a zero are codes.

    Examples
    --------
    >>> from icsa.inspection.profile import profile_of
    >>> from icsa.tables.table import Table
    >>> table = Table(pl.DataFrame({"crp": [f"{number / 2}" for number in range(19)] + ["1O"]}))
    >>> obstacle_in(profile_of(table, "crp")).what
    '19 of 20 cells are numbers; the first that is not is in row 20'
    """
    if not profile.is_text or profile.distinct <= 2:
        return None
    if not may_have_obstacles(profile.cells):
        return None
    texts = profile.values.cast(pl.String)
    drawn = sample_of(profile.cells).cast(pl.String)
    if _mean(drawn.str.contains(_LIKE_DATES)) >= LIMITS.most:
        return _among_dates(profile, texts)
    return _among_numbers(profile, texts)


def may_have_obstacles(cells: pl.Series) -> bool:
    """Return whether most texts, of many a sample, begin like numbers or dates.

    Examples
    --------
    >>> may_have_obstacles(pl.Series(["€ 12", "7 kg"])), may_have_obstacles(pl.Series(["C50.1"]))
    (True, False)
    """
    drawn = sample_of(cells).cast(pl.String)
    return _mean(drawn.str.contains(_BEGINS_LIKE_NUMBERS)) >= LIMITS.most


def are_pairs(profile: Profile) -> bool:
    """Return whether nearly all texts are two measured numbers, such as 120/80.

    Numbers of files are written alike, but their first part coincides less than a measured one.

    Examples
    --------
    >>> from icsa.inspection.profile import profile_of
    >>> from icsa.tables.table import Table
    >>> table = Table(pl.DataFrame({"pressure": ["120/80", "135/85", "120/75", "110/70"] * 9}))
    >>> are_pairs(profile_of(table, "pressure"))
    True
    """
    texts = profile.values.cast(pl.String)
    if _rows(profile.held, _found(texts, _PAIR)) < LIMITS.nearly_all * profile.present:
        return False
    firsts = profile.cells.cast(pl.String).str.extract(_PAIR).cast(pl.Int64).drop_nulls()
    points, held = np.unique(firsts.to_numpy(), return_counts=True)
    return points.size > 1 and chance_if_measured(Spacing(points - points[0], held)) > LIMITS.chance


def are_written_dates(numbers: Vector) -> bool:
    """Return whether all numbers are dates of 1850 to 2100 written as eight digits.

    Examples
    --------
    >>> are_written_dates(np.array([20200727.0, 19991231.0])), are_written_dates(
    ...     np.array([20200230.0])
    ... )
    (True, False)
    """
    if not numbers.size or numbers.min() < LIMITS.years[0] * 1e4 or numbers.max() >= 1e8:
        return False
    if (numbers != np.round(numbers)).any():
        return False
    days = numbers.astype(np.int64)
    year, month, day = days // 10_000, days // 100 % 100, days % 100
    if year.max() > LIMITS.years[1] or month.min() < 1 or month.max() > 12 or day.min() < 1:
        return False
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    return bool((day <= _DAYS_OF_MONTHS[month - 1] + (leap & (month == 2))).all())


def _among_numbers(profile: Profile, texts: pl.Series) -> Obstacle | None:
    held, enough = profile.held, LIMITS.nearly_all * profile.present
    if are_pairs(profile):
        remedy = "make two columns of them to have both masked as numbers"
        return Obstacle("cells are two numbers in one, as blood pressures are", remedy)
    plain = max((_found(texts, notation) for notation in _NOTATIONS), key=lambda f: _rows(held, f))
    rest = texts.filter(pl.Series(~plain))
    if not rest.len() or rest.str.contains(r"^\s*\d+\s*$").all():
        return None
    signed = ~plain & _found(texts, _SIGNED) & _found(texts, _SIGN)
    both = plain | signed
    enough_plain = _rows(held, plain) >= enough
    if signed.any() and _rows(held, both) >= enough and (both.all() or not enough_plain):
        return Obstacle(
            f"{_rows(held, signed)} of {profile.present} cells are numbers with a sign or unit",
            "take it out to keep the column",
            "take it out to have them masked as numbers",
        )
    return _unlike_others(profile, texts, plain, "numbers") if enough_plain else None


def _among_dates(profile: Profile, texts: pl.Series) -> Obstacle | None:
    held, enough = profile.held, LIMITS.nearly_all * profile.present
    stripped = texts.str.strip_chars()
    read = [
        *(stripped.str.to_date(form, strict=False).is_not_null().to_numpy() for form in _DAYS),
        *(stripped.str.to_datetime(form, strict=False).is_not_null().to_numpy() for form in _TIMES),
    ]
    best = max(read, key=lambda flags: _rows(held, flags))
    if best.all():
        return Obstacle("dates that are not read as such", "write them as 2020-07-27")
    if _rows(held, best) >= enough:
        return _unlike_others(profile, texts, best, "dates")
    if _rows(held, np.logical_or.reduce(read)) >= enough:
        return Obstacle("dates in several notations", "write all of them as 2020-07-27")
    return None


def _unlike_others(profile: Profile, texts: pl.Series, alike: Flags, what: str) -> Obstacle:
    others = texts.filter(pl.Series(~alike))
    bad = profile.cells.cast(pl.String).is_in(others.implode()).fill_null(False)
    count = _rows(profile.held, alike)
    return Obstacle(
        f"{count} of {profile.present} cells are {what}; the first that is not is in row "
        f"{int(np.argmax(bad.to_numpy())) + 1}",
        "correct it, or leave it empty",
    )


def _found(texts: pl.Series, pattern: str) -> Flags:
    return texts.str.contains(pattern).to_numpy()


def _rows(held: Counts, flags: Flags) -> int:
    return int(held[flags].sum())


def _mean(flags: pl.Series) -> float:
    mean = flags.mean()
    return float(mean) if isinstance(mean, int | float) else 0.0

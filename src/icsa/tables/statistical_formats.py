"""What SPSS, Stata and SAS call dates and times, what names they allow, and how cells change.

A lettered missing value of Stata or SAS (.a to .z, and SAS's ._) says why a number is missing.
Cells hold null there, and the letters are in `Table.missing_letters`, in small ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import polars as pl

from icsa.errors import InputError
from icsa.tables.table import Variable

__all__ = [
    "FAMILIES",
    "Family",
    "MomentKind",
    "check_names",
    "from_numbers",
    "moment_kind",
    "split_letters",
    "stata_letters",
    "to_numbers",
    "with_letters",
]

MomentKind: TypeAlias = Literal["date", "datetime", "time"]

_SECONDS_A_DAY = 86_400
# The largest span that dates of four-digit years take up.
_MOST_DAYS = 3_700_000


@dataclass(frozen=True)
class Family:
    """A program: its name, the unit and the origin of its dates, what names it allows.

    Attributes
    ----------
    name : str
    origin : int
        Days from its first day to 1970-01-01.
    days : bool
        Whether dates count days; if not, seconds.
    ticks : int
        Units of datetimes and times in a second.
    pattern : str
        Of names.
    longest : int
        Bytes of the longest name.
    reserved : tuple of str
        Words that are no names.
    formats : mapping of MomentKind to str
        How dates are shown unless the table says otherwise.
    """

    name: str
    origin: int
    days: bool
    ticks: int
    pattern: str
    longest: int
    reserved: tuple[str, ...]
    formats: dict[MomentKind, str]


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_SPSS = Family(
    "SPSS",
    141_428,
    False,
    1,
    r"[^\W\d_][\w.$#@]*(?<!\.)|[@#$][\w.$#@]*(?<!\.)",
    64,
    _names("ALL AND BY EQ GE GT LE LT NE NOT OR TO WITH"),
    {"date": "DATE11", "datetime": "DATETIME23.2", "time": "TIME11.2"},
)
_STATA = Family(
    "Stata",
    3_653,
    True,
    1000,
    r"[^\W\d]\w*",
    32,
    _names(
        "_ALL _N _SKIP _B _COEF _CONS _PI _PRED _RC BYTE DOUBLE FLOAT IF IN INT LONG STRL USING "
        "WITH"
    ),
    {"date": "%td", "datetime": "%tc", "time": "%tcHH:MM:SS"},
)
_SAS = Family(
    "SAS transport files",
    3_653,
    True,
    1,
    r"[A-Za-z_][A-Za-z0-9_]*",
    32,
    _names("_N_ _ERROR_ _NUMERIC_ _CHARACTER_ _ALL_"),
    {"date": "DATE9", "datetime": "DATETIME22.3", "time": "TIME12.3"},
)
FAMILIES: dict[str, Family] = {
    "sav": _SPSS,
    "zsav": _SPSS,
    "dta": _STATA,
    "sas7bdat": _SAS,
    "xpt": _SAS,
}

_SPSS_KINDS: dict[MomentKind, tuple[str, ...]] = {
    "date": _names("DATE ADATE EDATE JDATE SDATE"),
    "datetime": _names("DATETIME YMDHMS"),
    "time": _names("TIME DTIME MTIME"),
}
# In this order: DATETIME begins as DATE does.
_SAS_KINDS: dict[MomentKind, tuple[str, ...]] = {
    "datetime": _names("DATETIME DATEAMPM MDYAMPM E8601DT B8601DT IS8601DT"),
    "date": _names("DATE DDMMYY MMDDYY YYMMDD WEEKDAT WORDDAT E8601DA B8601DA IS8601DA JULIAN"),
    "time": _names("TIME TOD HHMM E8601TM B8601TM IS8601TM"),
}


def moment_kind(family: Family, display_format: str | None) -> MomentKind | None:
    """Return whether a format shows dates, datetimes or times; None for anything else.

    Examples
    --------
    >>> moment_kind(FAMILIES["sav"], "EDATE10"), moment_kind(FAMILIES["dta"], "%tcHH:MM")
    ('date', 'time')
    """
    text = display_format or ""
    if family is _STATA:
        if text.startswith(("%tc", "%tC")):
            return "time" if re.fullmatch(r"%t[cC][HhMSs.:aAmMpP]+", text) else "datetime"
        return "date" if text.startswith(("%td", "%d", "%-td", "%-d")) else None
    letters = re.match(r"[A-Za-z]*(?:8601[A-Za-z]*)?", text.lstrip("$"))
    word = letters[0].upper() if letters else ""
    if family is _SPSS:
        return next((kind for kind, names in _SPSS_KINDS.items() if word in names), None)
    return next((kind for kind, names in _SAS_KINDS.items() if word.startswith(names)), None)


def from_numbers(numbers: pl.Series, kind: MomentKind, family: Family) -> pl.Series:
    """Return a program's numbers as dates, datetimes, times or, beyond a day, durations.

    Numbers that no date of four-digit years has stay numbers.
    """
    numbers = numbers.cast(pl.Float64)
    if kind == "date":
        days = (numbers if family.days else numbers / _SECONDS_A_DAY) - family.origin
        if not _plausible(days):
            return numbers
        whole = days.floor()
        if (whole == days).fill_null(True).all():
            return whole.cast(pl.Int32).cast(pl.Date)
        return (days * _SECONDS_A_DAY * 1e6).round().cast(pl.Int64).cast(pl.Datetime("us"))
    seconds = numbers / family.ticks
    if kind == "datetime":
        seconds = seconds - family.origin * _SECONDS_A_DAY
        if not _plausible(seconds / _SECONDS_A_DAY):
            return numbers
        return (seconds * 1e6).round().cast(pl.Int64).cast(pl.Datetime("us"))
    if ((seconds >= 0) & (seconds < _SECONDS_A_DAY)).fill_null(True).all():
        return ((seconds * 1e6).round().cast(pl.Int64) * 1000).cast(pl.Time)
    if not _plausible(seconds / _SECONDS_A_DAY):
        return numbers
    return (seconds * 1e6).round().cast(pl.Int64).cast(pl.Duration("us"))


def to_numbers(cells: pl.Series, family: Family) -> tuple[pl.Series, MomentKind]:
    """Return dates, datetimes, times or durations as the numbers that a program keeps."""
    dtype = cells.dtype
    if dtype == pl.Date:
        days = cells.cast(pl.Int32).cast(pl.Float64) + family.origin
        return (days if family.days else days * _SECONDS_A_DAY), "date"
    if dtype == pl.Time:
        return cells.cast(pl.Int64).cast(pl.Float64) / 1e9 * family.ticks, "time"
    if isinstance(dtype, pl.Duration):
        return cells.cast(pl.Duration("us")).cast(pl.Int64) / 1e6 * family.ticks, "time"
    micro = cells.cast(pl.Datetime("us")).cast(pl.Int64)
    origin = family.origin * _SECONDS_A_DAY * 1_000_000
    return (micro + origin) / 1e6 * family.ticks, "datetime"


def split_letters(cells: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return numbers, null where a letter stands, and the letters, null where a number stands."""
    values = cells.to_list()
    numbers = pl.Series(cells.name, [None if isinstance(v, str) else v for v in values])
    letters = [v.lower() if isinstance(v, str) else None for v in values]
    if numbers.dtype == pl.Null:
        numbers = numbers.cast(pl.Float64)
    return numbers, pl.Series(cells.name, letters, dtype=pl.String)


def with_letters(numbers: pl.Series, letters: pl.Series | None) -> pl.Series:
    """Return Python objects: the number where there is one, the letter if there is, or None."""
    found = [None] * len(numbers) if letters is None else letters.to_list()
    both = zip(numbers.to_list(), found, strict=True)
    mixed = [letter if number is None else number for number, letter in both]
    return pl.Series(numbers.name, mixed, dtype=pl.Object)


def stata_letters(
    frame: pl.DataFrame, variables: Mapping[str, Variable], letters: Mapping[str, pl.Series]
) -> dict[str, list[str]]:
    """Return the letters that each column of numbers has or labels."""
    known: dict[str, list[str]] = {}
    for name, variable in variables.items():
        found = letters[name].drop_nulls() if name in letters else ()
        labelled = variable.letter_labels if frame[name].null_count() < frame.height else ()
        if frame.schema[name] != pl.String and (*found, *labelled):
            known[name] = sorted({*found, *variable.letter_labels})
    return known


def check_names(names: list[str], family: Family) -> None:
    """Raise an error for the first name that a program does not allow."""
    seen: dict[str, str] = {}
    for name in names:
        size = len(name.encode()) if family is _SPSS else len(name)
        folded = name.upper()
        if size > family.longest:
            reason = (
                f"is longer than {family.longest} {'bytes' if family is _SPSS else 'characters'}"
            )
        elif not re.fullmatch(family.pattern, name):
            reason = "has a blank, a sign or a first character that is not allowed"
        elif folded in family.reserved:
            reason = "is a word of its language"
        elif folded in seen and family is not _STATA:
            reason = f"differs from {seen[folded]!r} in capitals only"
        else:
            seen[folded] = name
            continue
        raise InputError(
            f"Column {name!r} cannot be a name in {family.name}: it {reason}. "
            "Rename the column, or write another format."
        )


def _plausible(days: pl.Series) -> bool:
    return bool((days.is_finite() & (days.abs() < _MOST_DAYS)).fill_null(True).all())

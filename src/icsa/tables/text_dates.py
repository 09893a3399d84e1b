"""Dates, times and durations in text: the pattern a column is written in, and its cells.

Patterns are those of chrono, which polars uses: ``%d`` is a day of two digits, ``%-d`` one without
a leading zero, ``%.3f`` a fraction of three digits. Durations are hours, minutes and perhaps
seconds between colons, as 31:05:22.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

import polars as pl

__all__ = ["parse_durations", "parse_moments", "slashes_are_day_first", "written_durations"]

_DATE = (
    r"(?P<iso>\d{4}(?P<s1>[-/.])\d{1,2}(?P=s1)\d{1,2})"
    r"|(?P<dmy>\d{1,2}(?P<s2>[-/.])\d{1,2}(?P=s2)\d{4})"
    r"|(?P<named>\d{1,2}(?P<s3>[- ]?)[A-Za-z]{3}(?P=s3)\d{4})"
)
_TIME = r"\d{1,2}:\d{2}(?P<second>:\d{2}(?:\.\d{1,9})?)?(?P<half> ?[AaPp][Mm])?"
_MOMENT = re.compile(
    rf"(?P<date>{_DATE})?(?P<between>(?<=\d)[T ])?(?P<time>{_TIME})?(?P<zone>Z|[+-]\d\d:?\d\d)?"
)
_DAY_MONTH = r"^(\d{1,2})[-/.](\d{1,2})[-/.]\d{4}"
_CLOCK = r"^(\d{1,5}):([0-5]\d)(?::([0-5]\d))?$"
_HOURS_OF_A_DAY = 24
_SECONDS_AN_HOUR = 3600


def parse_moments(cells: pl.Series, *, day_first: bool) -> tuple[pl.Series, str] | None:
    """Return the cells as dates, datetimes or times with their pattern, None if they are not.

    The first cell that is there shows the form; all others must have it. Which of two fields is
    the day follows from fields over 12. Where all are below: with slashes `day_first` says, with
    dashes or points the day is first. An offset (``Z``, ``+02:00``) that all cells share is part
    of the pattern and the cells are clock times; where offsets differ or all are zero, cells are
    in UTC.

    Parameters
    ----------
    cells : polars.Series of strings
        Without white space around them; null where missing.
    day_first : bool
        The order of day and month for slashes when cells do not tell.

    Examples
    --------
    >>> parse_moments(pl.Series(["31-12-2020", "1-2-2021"]), day_first=True)[1]
    '%-d-%-m-%Y'
    """
    present = cells.drop_nulls()
    if present.is_empty():
        return None
    form = _MOMENT.fullmatch(present[0])
    if form is None or not (form["date"] or form["time"]):
        return None
    if bool(form["between"]) != bool(form["date"] and form["time"]):
        return None
    if form["zone"] and not (form["date"] and form["time"]):
        return None
    pattern = _date_pattern(form, present, day_first) + (form["between"] or "")
    if form["time"]:
        pattern += _time_pattern(form, present)
    if form["zone"]:
        pattern += _zone_pattern(form["zone"], present)
    parsed = _parsed(cells, pattern, dated=bool(form["date"]), timed=bool(form["time"]))
    if parsed is not None and re.search(r"(?:Z|[+-]00:?00)$", pattern):
        parsed = parsed.dt.replace_time_zone("UTC")
    if parsed is None or not _is_lossless(cells, parsed, pattern):
        return None
    return parsed, pattern


def slashes_are_day_first(columns: Iterable[pl.Series]) -> bool | None:
    """Return whether dates with slashes have the day first, by the first column that tells."""
    for cells in columns:
        present = cells.drop_nulls()
        if present.is_empty() or not re.match(r"\d{1,2}/\d{1,2}/\d{4}", present[0]):
            continue
        first, second = _largest_fields(present)
        if (first > 12) != (second > 12):
            return first > 12
    return None


def _largest_fields(present: pl.Series) -> tuple[int, int]:
    fields = [present.str.extract(_DAY_MONTH, group).cast(pl.Int64).max() for group in (1, 2)]
    first, second = (field if isinstance(field, int) else 0 for field in fields)
    return first, second


def _date_pattern(form: re.Match[str], present: pl.Series, day_first: bool) -> str:
    if not form["date"]:
        return ""
    mark = form["s1"] or form["s2"] or form["s3"] or ""
    if form["iso"]:
        padded = present.str.contains(r"^\d{4}.\d\d.\d\d(?:\D|$)").all()
        return mark.join(["%Y", "%m", "%d"] if padded else ["%Y", "%-m", "%-d"])
    if form["named"]:
        padded = present.str.contains(r"^\d\d\D").all()
        return mark.join(["%d" if padded else "%-d", "%b", "%Y"])
    first, second = _largest_fields(present)
    cells_tell = max(first, second) > 12
    day_leads = first > 12 if cells_tell else day_first or mark != "/"
    padded = present.str.contains(r"^\d\d.\d\d.\d{4}").all()
    day, month = ("%d", "%m") if padded else ("%-d", "%-m")
    return mark.join([day, month, "%Y"] if day_leads else [month, day, "%Y"])


def _time_pattern(form: re.Match[str], present: pl.Series) -> str:
    half = form["half"]
    padded = present.str.contains(r"(?:^|[T ])\d\d:").all()
    hour = {(True, False): "%H", (False, False): "%-H", (True, True): "%I", (False, True): "%-I"}
    pattern = hour[bool(padded), bool(half)] + ":%M"
    if form["second"]:
        pattern += ":%S"
        digits = present.str.extract(r":\d\d\.(\d+)", 1).str.len_bytes().unique().to_list()
        if digits != [None]:
            same = digits[0] if len(digits) == 1 else None
            pattern += f"%.{same}f" if same in (3, 6, 9) else "%.f"
    if half:
        pattern += " " * half.startswith(" ") + ("%P" if half.strip().islower() else "%p")
    return pattern


def _zone_pattern(zone: str, present: pl.Series) -> str:
    if present.str.ends_with(zone).all():
        return zone
    return "%:z" if ":" in zone else "%z"


def _parsed(cells: pl.Series, pattern: str, *, dated: bool, timed: bool) -> pl.Series | None:
    fine = "%.9f" in pattern or ("%.f" in pattern and cells.str.contains(r"\.\d{7}").any())
    unit: Literal["ns", "us"] = "ns" if fine else "us"
    try:
        if dated and timed:
            parsed = cells.str.to_datetime(pattern, strict=False, time_unit=unit)
        elif dated:
            parsed = cells.str.to_date(pattern, strict=False)
        else:
            parsed = cells.str.to_time(pattern, strict=False)
    except pl.exceptions.PolarsError:
        return None
    return parsed if parsed.null_count() == cells.null_count() else None


def _is_lossless(cells: pl.Series, parsed: pl.Series, pattern: str) -> bool:
    # Fractions of uneven length, offsets that differ and months in capitals are written otherwise
    # than they were, and mean the same. Anything else that differs was not of this form.
    if "%.f" in pattern or "z" in pattern or "%b" in pattern or "%-" in pattern:
        return True
    written = parsed.dt.strftime(pattern)
    return bool((written == cells).fill_null(True).all())


def parse_durations(cells: pl.Series) -> tuple[pl.Series, str] | None:
    """Return the cells as durations with their pattern, None if they are not.

    Some must be longer than a day: otherwise they are times of day.

    Examples
    --------
    >>> found, pattern = parse_durations(pl.Series(["31:05:22", "7:10:00", None]))
    >>> found.dt.total_seconds().to_list(), pattern
    ([111922, 25800, None], 'H:MM:SS')
    >>> parse_durations(pl.Series(["07:10", "23:59"])) is None
    True
    """
    present = cells.drop_nulls()
    if present.is_empty() or not re.match(_CLOCK, present[0]):
        return None
    hours, minutes, seconds = (
        cells.str.extract(_CLOCK, group).cast(pl.Int64) for group in (1, 2, 3)
    )
    whole = hours.null_count() == cells.null_count()
    if not whole or seconds.null_count() not in (cells.null_count(), len(cells)):
        return None
    if not (hours >= _HOURS_OF_A_DAY).any():
        return None
    total = _SECONDS_AN_HOUR * hours + 60 * minutes + seconds.fill_null(0)
    pattern = "H:MM" if cells.str.contains(r"^\d:").any() else "HH:MM"
    pattern += ":SS" if seconds.null_count() < len(cells) else ""
    return (1_000_000 * total).cast(pl.Duration("us")), pattern


def written_durations(cells: pl.Series, pattern: str) -> pl.Series:
    """Return durations in a pattern that `parse_durations` gave."""
    total = cells.dt.total_seconds()
    size = total.abs()
    hours = (size // _SECONDS_AN_HOUR).cast(pl.String).str.zfill(pattern.index(":"))
    parts = [size // 60 % 60, size % 60][: pattern.count(":")]
    texts = pl.select(
        pl.concat_str(hours, *(part.cast(pl.String).str.zfill(2) for part in parts), separator=":")
    ).to_series()
    return texts.zip_with((total >= 0).fill_null(value=True), "-" + texts).alias(cells.name)

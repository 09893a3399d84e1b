"""Lengths of time in text: hours, minutes and perhaps seconds between colons, as 31:05:22."""

from __future__ import annotations

import re

import polars as pl

__all__ = ["parse_durations", "written_durations"]

_CLOCK = r"^(\d{1,5}):([0-5]\d)(?::([0-5]\d))?$"
_HOURS_OF_A_DAY = 24
_SECONDS_AN_HOUR = 3600


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
    """Return durations in a pattern that `parse_durations` gave.

    Examples
    --------
    >>> found, pattern = parse_durations(pl.Series(["31:05", "07:10", None]))
    >>> written_durations(found, pattern).to_list()
    ['31:05', '07:10', None]
    """
    total = cells.dt.total_seconds()
    size = total.abs()
    hours = (size // _SECONDS_AN_HOUR).cast(pl.String).str.zfill(pattern.index(":"))
    parts = [size // 60 % 60, size % 60][: pattern.count(":")]
    texts = pl.select(
        pl.concat_str(hours, *(part.cast(pl.String).str.zfill(2) for part in parts), separator=":")
    ).to_series()
    return texts.zip_with((total >= 0).fill_null(value=True), "-" + texts).alias(cells.name)

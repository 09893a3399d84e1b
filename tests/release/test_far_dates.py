"""A date very far from the others: held at the ends of the calendar and told, never an overflow."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta

import numpy as np
import polars as pl
import pytest

from icsa.inspection import guess_schema
from icsa.release import anonymize
from icsa.tables import from_frame

N_ROWS = 150
FIRST, LAST = date(1, 1, 1), date(9999, 12, 31)


def table(**columns: list[object] | pl.Series) -> pl.DataFrame:
    generator = np.random.default_rng(6)
    others = {name: generator.normal(0, 1, N_ROWS).round(2) for name in ("x", "y", "z")}
    return pl.DataFrame({**others, **columns})


def days(*odd: date) -> list[date]:
    generator = np.random.default_rng(7)
    usual = [date(2020, 1, 1) + timedelta(days=int(n)) for n in generator.integers(0, 900, N_ROWS)]
    return [*odd, *usual[len(odd) :]]


@pytest.mark.parametrize("recipe", ["mixed", "topcode", "paper"])
@pytest.mark.parametrize("mask", ["permute", "rotate"])
@pytest.mark.parametrize("odd", [(LAST,), (FIRST,), (FIRST, LAST)])
@pytest.mark.parametrize("unit", [None, "ms", "us"])
def test_a_column_with_a_far_date(recipe, mask, odd, unit) -> None:
    cells = pl.Series(days(*odd))
    frame = table(born=cells if unit is None else cells.cast(pl.Datetime(unit)))
    release = anonymize(frame, recipe=recipe, mask=mask, random_state=1)
    released = release.table["born"].to_list()  # raises where Python has no such date
    moments = [FIRST, LAST] if unit is None else [datetime(1, 1, 1), datetime(9999, 12, 31)]
    held = sum(moment in moments for moment in released)
    told = [warning for warning in release.warnings if "held there" in warning]
    assert len(told) == (held > 0)
    assert not told or told[0].startswith(f"born: {held} cell(s) came out beyond the first or last")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("with_days", [False, True])
def test_dates_that_follow_others_stay_in_order(seed, with_days) -> None:
    first = days()
    generator = np.random.default_rng(8)
    lengths = [int(n) for n in generator.integers(0, 60, N_ROWS)]
    later = [day + timedelta(days=n) for day, n in zip(first, lengths, strict=True)]
    later[0] = LAST
    columns = {"ill": first, "well": later}
    if with_days:
        columns["days"] = [(b - a).days for a, b in zip(first, later, strict=True)]
    frame = table(**columns)
    # Scores drawn anew, and quantiles that are kept, would draw the far date in.
    schema = replace(guess_schema(from_frame(frame)), recipe={"keep_quantiles": False})
    release = anonymize(frame, schema=schema, mask="permute", random_state=seed)
    assert (release.table["well"] >= release.table["ill"]).all()
    assert release.table["well"].max() == LAST
    assert any("well" in w.partition(":")[0] and "held there" in w for w in release.warnings)
    assert "well is never below ill" in release.relations
    if with_days:
        span = (release.table["well"] - release.table["ill"]).dt.total_days()
        assert (span == release.table["days"]).all()


def test_dates_beyond_those_of_python() -> None:
    far = pl.Series([18_000 + row for row in range(N_ROWS - 1)] + [4_000_000], dtype=pl.Int32)
    release = anonymize(table(born=far.cast(pl.Date)), random_state=1)
    assert max(release.table["born"].to_list()) <= LAST


def test_ordinary_dates_are_not_told() -> None:
    release = anonymize(table(born=days()), random_state=1)
    assert not any("held there" in warning for warning in release.warnings)


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("end", ["first", "last"])
def test_moments_next_to_the_ends_stay_apart_and_get_the_right_reason(unit, end) -> None:
    generator = np.random.default_rng(9)
    hours = [timedelta(hours=int(n)) for n in generator.integers(0, 2000, N_ROWS)]
    first, last = datetime(1, 1, 1), datetime(9999, 12, 31, 23)
    if unit == "ns":
        first, last = datetime(1677, 9, 21, 1), datetime(2262, 4, 11, 23)
    cells = [first + h if end == "first" else last - h for h in hours]
    frame = table(seen=pl.Series(cells, dtype=pl.Datetime(unit)))
    release = anonymize(frame, random_state=1)
    released = release.table["seen"]
    assert released.n_unique() > 0.8 * frame["seen"].n_unique()
    assert abs(released.median() - frame["seen"].median()) < timedelta(days=9)
    assert not any("very far from the others" in warning for warning in release.warnings)


def test_a_column_at_the_end_of_the_calendar_is_told_so() -> None:
    hours = np.random.default_rng(9).integers(0, 12, N_ROWS)
    frame = table(seen=[datetime(1, 1, 1) + timedelta(hours=int(n)) for n in hours])
    release = anonymize(frame, random_state=1)
    assert release.table["seen"].max() < datetime(1, 1, 1, 18)
    assert release.table["seen"].n_unique() > 9
    held = (release.table["seen"] == datetime(1, 1, 1)).sum()
    told = f"seen: {held} cell(s) are at the first or last moment that can be written, because"
    assert held
    assert sum(warning.startswith(told) for warning in release.warnings) == 1


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Los_Angeles"])
@pytest.mark.parametrize("unit", ["us", "ns"])
def test_zoned_moments_next_to_the_ends_can_be_written(zone, unit) -> None:
    day = datetime(9999, 12, 29) if unit == "us" else datetime(2262, 4, 9)
    hours = np.random.default_rng(9).integers(0, 30, N_ROWS)
    cells = pl.Series([day + timedelta(hours=int(n)) for n in hours], dtype=pl.Datetime(unit))
    frame = table(seen=cells.dt.replace_time_zone(zone))
    released = anonymize(frame, random_state=1).table["seen"]
    assert len(released.to_list()) == N_ROWS
    assert released.n_unique() > 20


@pytest.mark.parametrize(
    ("unit", "days"), [("ns", 106_700), ("us", 106_000_000), ("ms", 999_999_999)]
)
def test_durations_as_long_as_their_type_holds_stay_apart(unit, days) -> None:
    hours = np.random.default_rng(9).integers(1, 1000, N_ROWS)
    cells = [timedelta(days=days) - timedelta(hours=int(n)) for n in hours]
    frame = table(stay=pl.Series(cells, dtype=pl.Duration(unit)))
    release = anonymize(frame, random_state=1)
    assert release.table["stay"].n_unique() > 100
    assert not any("very far from the others" in warning for warning in release.warnings)

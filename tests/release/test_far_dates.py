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
    moments = [FIRST, LAST] if unit is None else [datetime(1, 1, 2), datetime(9999, 12, 31)]
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
    # Quantiles that are kept would draw the far date in.
    schema = replace(guess_schema(from_frame(frame)), recipe={"keep_quantiles": False})
    release = anonymize(frame, schema=schema, random_state=seed)
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

"""Relations and orders hold in a release also where some of their cells are missing."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

from icsa.release import Release, anonymize
from icsa.schema import ColumnSpec, Schema

N_ROWS = 300


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(12)


def holed(values: np.ndarray, gone: np.ndarray) -> pl.Series:
    """Return whole numbers, null where they are gone."""
    return pl.Series(np.where(gone, np.nan, values), nan_to_null=True).cast(pl.Int64)


def with_measurements(columns: dict[str, object], generator: np.random.Generator) -> pl.DataFrame:
    age = generator.normal(60.0, 12.0, N_ROWS).round()
    return pl.DataFrame({**columns, "age": age, "crp": generator.lognormal(2, 1, N_ROWS).round(1)})


def released(frame: pl.DataFrame, **options: object) -> pl.DataFrame:
    release: Release = anonymize(frame, method="sa", random_state=1, **options)
    assert not any("not kept" in warning for warning in release.warnings)
    before, after = frame.null_count().row(0), release.table.null_count().row(0)
    assert before == after
    return release.table


def test_a_total_with_gaps_of_its_own(generator):
    a, b = generator.integers(0, 25, (2, N_ROWS))
    gone = np.isin(np.arange(N_ROWS), [3, 50, 99, 200, 270])
    frame = with_measurements({"a": a, "b": b, "total": holed(a + b, gone)}, generator)
    there = released(frame).drop_nulls()
    assert there.height == N_ROWS - 5
    assert (there["total"] == there["a"] + there["b"]).all()


def test_a_total_with_gaps_of_its_own_and_of_its_terms(generator):
    a, b = generator.integers(0, 25, (2, N_ROWS))
    no_a = generator.random(N_ROWS) < 0.1
    gone = no_a | (generator.random(N_ROWS) < 0.4)
    columns = {"a": holed(a, no_a), "b": b, "total": holed(a + b, gone)}
    table = released(with_measurements(columns, generator))
    there = table.drop_nulls()
    assert (there["total"] == there["a"] + there["b"]).all()
    assert table.filter(pl.col("a").is_null())["total"].is_null().all()


def test_the_day_of_death_is_empty_for_those_who_live(generator):
    dead = generator.random(N_ROWS) < 0.5
    days = np.where(dead, generator.geometric(0.01, N_ROWS), 900)
    days = days + generator.integers(0, 90, N_ROWS)
    first = [
        dt.date(2018, 1, 1) + dt.timedelta(days=int(d)) for d in generator.integers(0, 900, N_ROWS)
    ]
    died = [
        day + dt.timedelta(days=int(later)) if gone else None
        for day, later, gone in zip(first, days, dead, strict=True)
    ]
    columns = {"diagnosed": first, "died": died, "followup": days, "status": dead.astype(int)}
    table = released(with_measurements(columns, generator))
    there = table.filter(pl.col("died").is_not_null())
    assert ((there["died"] - there["diagnosed"]).dt.total_days() == there["followup"]).all()
    assert (table["died"].is_not_null() == (table["status"] == 1)).all()


def test_a_rule_that_empties_a_total_is_not_undone(generator):
    a, b = generator.integers(0, 25, (2, N_ROWS))
    child = generator.random(N_ROWS) < 0.3
    frame = with_measurements(
        {"a": a, "b": b, "total": holed(a + b, child), "child": child}, generator
    )
    kinds = {"child": "binary", "age": "continuous", "crp": "continuous"}
    specs = {name: ColumnSpec(name=name, kind=kinds.get(name, "integer")) for name in frame.columns}
    schema = Schema(columns=specs, rules=("if child = true then total missing",))
    table = anonymize(frame, schema=schema, method="sa", random_state=1).table
    assert table.filter(pl.col("child"))["total"].is_null().all()
    there = table.drop_nulls()
    assert there.height > 100
    assert (there["total"] == there["a"] + there["b"]).all()


@pytest.mark.parametrize(
    ("no_first", "no_second"),
    [([5], []), ([5], [7]), (range(60), range(40, 90)), (range(200), [])],
)
def test_columns_that_are_equal_in_many_rows(generator, no_first, no_second):
    death = generator.exponential(900, N_ROWS).round().astype(int) + 1
    early = (death * generator.uniform(0.2, 0.95, N_ROWS)).astype(int) + 1
    relapse = np.where(generator.random(N_ROWS) < 0.5, early, death)
    rows = np.arange(N_ROWS)
    columns = {
        "relapse": holed(relapse, np.isin(rows, no_first)),
        "death": holed(death, np.isin(rows, no_second)),
    }
    frame = with_measurements(columns, generator)
    table = released(frame)
    both, were = table.drop_nulls(), frame.drop_nulls()
    assert (both["relapse"] <= both["death"]).all()
    equal = [(rows["relapse"] == rows["death"]).mean() for rows in (were, both)]
    assert equal[1] == pytest.approx(equal[0], abs=0.08)
    for name in ("relapse", "death"):
        assert table[name].mean() == pytest.approx(frame[name].mean(), rel=0.15)
        assert table[name].std() == pytest.approx(frame[name].std(), rel=0.25)


def test_an_order_of_dates_with_a_first_that_is_missing(generator):
    first = generator.integers(0, 900, N_ROWS)
    later = first + generator.integers(0, 300, N_ROWS)
    gone = generator.random(N_ROWS) < 0.2
    columns = {
        "seen": holed(first, gone).cast(pl.Int32).cast(pl.Date),
        "healed": holed(later, np.zeros(N_ROWS, bool)).cast(pl.Int32).cast(pl.Date),
    }
    both = released(with_measurements(columns, generator)).drop_nulls()
    assert (both["seen"] <= both["healed"]).all()

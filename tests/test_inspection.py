"""Kinds are guessed by the rules, notes find what they are for, and no text holds a cell."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from icsa.constraints import find_derivation
from icsa.errors import InputError
from icsa.inspection import Inspection, guess_schema, inspect_table, related, related_columns
from icsa.inspection.limits import Limits
from icsa.inspection.names import names_contact, names_person_number
from icsa.inspection.oddities import sentinel_codes
from icsa.inspection.profile import profile_of
from icsa.schema import ColumnSpec, Schema
from icsa.schema_files import schema_text
from icsa.tables.table import Table, Variable


def table_of(cells: Any, name: str = "x", **variable: Any) -> Table:
    """Return a table of one column."""
    series = cells.alias(name) if isinstance(cells, pl.Series) else pl.Series(name, cells)
    return Table(series.to_frame(), {name: Variable(**variable)})


def guessed(cells: Any, name: str = "x", **variable: Any) -> ColumnSpec:
    """Return the guess for a column."""
    return guess_schema(table_of(cells, name, **variable)).columns[name]


def notes(cells: Any, name: str = "x", spec: ColumnSpec | None = None, **variable: Any) -> str:
    """Return the notes on a column, one a line."""
    schema = None if spec is None else Schema(columns={name: spec})
    return "\n".join(inspect_table(table_of(cells, name, **variable), schema).columns[0].notes)


rng = np.random.default_rng(7)
AGES = rng.integers(18, 90, 200).tolist()
WEIGHTS = rng.normal(70, 10, 200).round(1).tolist()
TEMPERATURES = rng.normal(37, 0.5, 100).round(1).tolist()
DAYS = [date(2020, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 700, 100)]


@pytest.mark.parametrize(
    ("name", "cells", "kind"),
    [
        ("x", [None, None, None], "constant"),
        ("x", [], "constant"),
        ("x", ["a", "a", None], "constant"),
        ("id", [3, 3, 3], "constant"),
        ("x", [[1], [2], [2]], "text"),
        ("x", [{"a": 1}, {"a": 2}], "text"),
        ("x", [b"a", b"b", b"a"], "text"),
        ("x", DAYS, "date"),
        ("id", DAYS, "date"),
        ("x", [datetime(2020, 1, day, 12, 30) for day in range(1, 9)], "datetime"),
        ("x", [timedelta(hours=hour) for hour in range(9)], "duration"),
        ("x", [time(hour) for hour in range(9)], "time"),
        ("x", [True, False, None], "binary"),
        ("x", ["f", "m", "f", None], "binary"),
        ("x", [1, 2, 2, 1], "binary"),
        ("x", [0.5, 1.5, 1.5], "binary"),
        # identifiers
        ("id", [1, 2], "identifier"),
        ("patient_id", [7, 7, 8, 8, 9, 9], "identifier"),
        ("x", range(1, 101), "identifier"),
        ("x", range(100, 1100, 10), "identifier"),
        ("x", [float(number) for number in range(1, 101)], "identifier"),
        ("x", (rng.permutation(900_000)[:60] + 1_000_000).tolist(), "identifier"),
        ("sample_no", ["a", "b", "c", "d", "e", "f", "g", "h", "i", "i"], "identifier"),
        ("surname", [f"Person {letter}" for letter in "abcdefghij" * 2], "identifier"),
        ("zip", (rng.integers(10_000, 11_000, 200)).tolist(), "identifier"),
        ("x", [f"P-{number:04}" for number in range(30)], "identifier"),
        ("site_id", [1, 2, 3, 4] * 20, "category"),
        ("id", WEIGHTS, "continuous"),
        ("phone", ["yes", "no"] * 10, "binary"),
        # strings
        ("x", [f"came by bus number {number}" for number in range(30)], "text"),
        ("x", [f"word{number % 40}" for number in range(400)], "text"),
        ("x", [f"word{number % 20}" for number in range(60)], "text"),
        ("x", ["a", "b", "c"] * 10, "category"),
        ("x", [f"word{number % 30}" for number in range(150)], "category"),
        ("x", ["I", "II", "III"] * 5, "ordinal"),
        ("stage", ["T1", "T2", "T10"] * 5, "ordinal"),
        ("clinic", ["C1", "C2", "C3"] * 5, "category"),
        # numbers
        ("x", [1, 2, 3] * 10, "ordinal"),
        ("race", [1, 2, 3] * 10, "category"),
        ("x", [0.0, 0.5, 1.0] * 10, "ordinal"),
        ("x", [10, 20, 40] * 10, "ordinal"),
        ("x", [0, 1, 2, 3, 4, 6] + [0] * 40, "zero-inflated"),
        ("x", [0.0] * 40 + list(np.arange(1, 60) / 7), "zero-inflated"),
        ("x", [5] * 60 + AGES[:40], "integer"),
        ("x", AGES, "integer"),
        ("x", [float(age) for age in AGES], "integer"),
        ("x", WEIGHTS, "continuous"),
        ("x", (np.arange(1, 101) / 7).tolist(), "continuous"),
        ("x", [1, 5, 3, 2, 8, 13, 21], "integer"),
        ("x", [Decimal("0.25"), Decimal("0.50"), Decimal("3.75")], "continuous"),
        ("x", [float("nan"), 1.5, float("inf"), 2.5], "continuous"),
    ],
)
def test_kinds(name: str, cells: Sequence[Any], kind: str) -> None:
    spec = guessed(list(cells), name)
    assert spec.kind == kind
    if not (kind == "constant" and 0 < len(cells) - cells.count(None) < 3 <= len(cells)):
        assert spec.action == {"identifier": "replace", "text": "drop"}.get(kind, "mask")


def test_ordered_types_and_files_that_say_ordinal_or_give_labels() -> None:
    enum = pl.Series(["low", "high", "mid"] * 3, dtype=pl.Enum(["low", "mid", "high"]))
    assert guessed(enum) == ColumnSpec(name="x", kind="ordinal", levels=("low", "mid", "high"))
    assert guessed(pl.Series(["a", "b", "c"] * 3, dtype=pl.Categorical)).kind == "category"
    unordered = pl.Series([f"ward {k}" for k in range(40)] * 5, dtype=pl.Categorical)
    assert guessed(unordered).kind == "category"
    many = AGES[:60]
    assert guessed([4, 7, 9] * 2, measurement="ordinal").kind == "ordinal"
    assert guessed(AGES, measurement="ordinal").kind == "integer"
    labels = dict.fromkeys(range(200), "label")
    assert guessed([4, 7, 9] * 2, value_labels=labels, measurement="nominal").kind == "category"
    assert guessed(many, value_labels=labels, measurement="scale").kind == "integer"
    assert guessed(many, value_labels={999: "refused"}, measurement="nominal").kind == "integer"


@pytest.mark.parametrize("repeats", [1, 2])
def test_levels_and_labels_that_may_be_names_are_none(repeats: int) -> None:
    names = [f"Mrs. No {k}" for k in range(60)]
    unordered = pl.Series(names * repeats, dtype=pl.Categorical)
    assert guessed(unordered).kind == "text"
    codes = list(range(100, 160)) * repeats
    labels = dict(zip(codes, names * repeats, strict=True))
    assert guessed(codes[::-1], value_labels=labels, measurement="nominal").kind == "identifier"
    if repeats == 1:
        assert guessed(pl.Series(names, dtype=pl.Enum(names))).kind == "text"


def test_levels_are_known_only_where_three_rows_hold_each() -> None:
    assert guessed([1, 2, 3] * 10).levels == (1, 2, 3)
    assert guessed([1, 2] * 10 + [3]).levels == ()
    assert guessed([0.0, 0.5, 1.0] * 10).levels == (0.0, 0.5, 1.0)
    assert guessed([Decimal(k) / 2 for k in range(3)] * 9).levels == (0.0, 0.5, 1.0)
    assert guessed(["III", "I", "II"] * 5).levels == ("I", "II", "III")
    assert guessed(["severe", "mild", "none"] * 5).levels == ("none", "mild", "severe")
    assert guessed(["T10", "T2", "T1"] * 5, "stage").levels == ("T1", "T2", "T10")


def test_missing_codes_of_the_file_and_of_the_schema_are_missing() -> None:
    cells = [1, 2, 999, 998, None, 1]
    column = inspect_table(table_of(cells, missing_codes=((900, 999),))).columns[0]
    assert (column.kind, column.missing, column.distinct) == ("binary", 3, 2)
    spec = ColumnSpec(name="x", kind="binary", missing_codes=(998, 999))
    column = inspect_table(table_of(cells), Schema(columns={"x": spec})).columns[0]
    assert (column.kind, column.missing, column.distinct) == ("binary", 3, 2)


@pytest.mark.parametrize("name", ["id", "ID", "pid", "MRN", "ssn", "subjectId", "record_number"])
def test_names_of_numbers_of_people(name: str) -> None:
    assert names_person_number(name)


@pytest.mark.parametrize("name", ["idea", "period", "acid", "hospital_id", "no", "grid", "void"])
def test_names_of_other_things(name: str) -> None:
    assert not names_person_number(name)
    assert not names_contact(name)


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ([*AGES, 999, 999, 999], {999: 3}),
        ([*AGES, 999], {}),
        ([*AGES, -1, -1, -9, -9], {-1: 2, -9: 2}),
        ([*AGES, -1, -1, -4], {}),
        ([1, 2, 3] * 5 + [9, 9], {9: 2}),
        ([1, 2, 3] * 5 + [8, 8, 9, 9], {8: 2, 9: 2}),
        ([*range(10)] * 5, {}),
        ([*range(1, 81)] * 2 + [99] * 9, {99: 9}),
        ([*range(1, 98)] * 2 + [99] * 3, {}),
        ([*range(1, 98)] * 2 + [99, 99, 999, 999], {999: 2}),
        ([1.5, 2.5, 3.5, 99.0, 99.0], {99: 2}),
        ([-1, -1], {}),
        ([], {}),
        ([*TEMPERATURES, 99.9, 99.9], {99.9: 2}),
        ([*TEMPERATURES, 99.9, 99.9, 999.9, 999.9], {99.9: 2, 999.9: 2}),
        ([*WEIGHTS, 999.9, 999.9, 9999.0, 9999.0], {999.9: 2, 9999.0: 2}),
        ([1.25, 2.75, 3.5, 3.25, 99.99, 99.99], {99.99: 2}),
        ([*TEMPERATURES, -99.9, -99.9], {-99.9: 2}),
        ([value / 10 for value in range(600, 1000)], {}),
        ([97.3, 98.1, 98.6, 99.9, 101.2] * 9, {}),
    ],
)
def test_sentinel_codes(cells: list[float], found: dict[float, int]) -> None:
    assert sentinel_codes(profile_of(table_of(cells), "x")) == found


def test_notes_on_codes_and_words_for_missing() -> None:
    assert "999 in 3 rows may stand for missing: if so, missing_codes = [999]" in notes(
        [*AGES, 999, 999, 999]
    )
    assert '"unknown" in 5 rows may stand for missing' in notes(["a", "b", "unknown"] * 5)
    assert "missing_codes = [99.9]" in notes([*TEMPERATURES, 99.9, 99.9])
    assert "missing_codes = [99999999]" in notes([*AGES, 99_999_999, 99_999_999])
    assert "may stand for" not in notes([*AGES, 999, 999], missing_codes=(999,))


def test_notes_on_identity() -> None:
    assert "looks like an id" in notes(range(1, 101))
    assert "the same id stands in several rows" in notes([1, 1, 2, 2, 3], "id")
    assert "near-unique text" in notes([f"came by bus {number}" for number in range(30)])
    once = [f"came by bus {number}" for number in range(60)]
    for unique in (once, once[:40] + once[:20]):
        assert "give it the kind identifier" in notes(unique)
        assert "category" not in notes(unique)
    assert "give it the kind category or identifier" in notes(once * 3)
    assert "all different: if these numbers are given" in notes((np.arange(30) ** 2).tolist())
    spec = ColumnSpec(name="x", kind="category")
    assert "near-unique" in notes([f"w{number}" for number in range(30)], spec=spec)
    assert notes(WEIGHTS) == ""


def test_notes_on_levels() -> None:
    assert "2 of 5 levels are held by fewer than 3 rows" in notes(list("aaabbbcccde"))
    assert "1 of 3 levels is held by fewer than 3 rows" in notes(list("aaabbbbc"))
    assert "codes without an order" in notes([1, 2, 3] * 10)
    assert "codes without an order" not in notes([1, 2, 3] * 10, "grade")
    assert "text has no order: give levels = [...] in theirs" in notes(
        ["x", "y", "z"], measurement="ordinal"
    )


def test_notes_on_heaping() -> None:
    heaped = [10 * (age // 10) if row % 3 == 0 else age for row, age in enumerate(AGES)]
    assert "are multiples of 10 (10% expected)" in notes(heaped)
    fives = [5 * (age // 5) if row % 2 == 0 else age for row, age in enumerate(AGES * 2)]
    assert "are multiples of 5 (20% expected)" in notes([age for age in fives if age % 10])
    assert "multiple" not in notes([10 * age for age in AGES])  # whose step is 10, and is kept
    assert "multiple" not in notes(AGES)
    slightly = [row % 100 + 1 for row in range(20_000)] + [50] * 300
    assert "multiple" not in notes(slightly)


def test_notes_on_heaping_in_decimals() -> None:
    generator = np.random.default_rng(3)
    weights = generator.normal(75, 12, 400).round(1)
    whole = np.where(np.arange(400) % 10 < 7, weights.round(), weights)
    assert "are whole numbers (10% expected)" in notes(whole.tolist())
    assert "heaping" not in notes(weights.tolist())
    assert "heaping" not in notes((weights * 2).round().tolist())
    halves = (generator.normal(75, 12, 400) * 2).round() / 2
    assert "heaping" not in notes(halves.tolist())
    assert "heaping" not in notes(generator.normal(7.0, 0.05, 400).round(2).tolist())  # of pH
    assert "heaping" not in notes(generator.normal(75, 12, 400).tolist())


def test_notes_on_heaping_at_hundreds() -> None:
    generator = np.random.default_rng(3)
    grams = generator.normal(3300, 600, 400).round()
    hundreds = np.where(np.arange(400) % 2 == 0, (grams / 100).round() * 100, grams)
    assert "are multiples of 100 (1% expected)" in notes(hundreds.astype(int).tolist())
    tens = np.where(np.arange(400) % 5 > 0, (grams / 10).round() * 10, grams)
    assert "are multiples of 10 (10% expected)" in notes(tens.astype(int).tolist())
    assert "heaping" not in notes(grams.astype(int).tolist())
    intelligence = generator.normal(100, 15, 5000).round().astype(int).tolist()
    assert "heaping" not in notes(intelligence)


def test_notes_on_dates() -> None:
    assert "2 dates far outside the rest (rows 51, 102)" in notes(
        [*DAYS[:50], date(1890, 5, 6), *DAYS[50:], date(2201, 5, 6)]
    )
    assert "far outside" not in notes(DAYS)
    placeholder = notes([*DAYS, date(1900, 1, 1), date(1900, 1, 1)])
    assert "1900-01-01 in 2 rows is a date that programs write for no date" in placeholder
    moments = [datetime(day.year, day.month, day.day, 8) for day in DAYS]
    assert "1 dates far outside the rest (row 1)" in notes([datetime(1700, 1, 1), *moments])


def test_notes_on_missing_constant_and_unusable_columns() -> None:
    assert "mostly missing: 75%" in notes([1.5, None, None, None] * 2 + [2.5, None, None, None])
    assert "no cell has a value" in notes([None, None])
    assert "constant: tells people nothing apart" in notes([1, 1])
    assert "but for who has it" in notes([1, None])
    assert "fewer than 3 rows have a value" in notes([1, 2, None])
    assert "cannot be masked" in notes([[1], [2]])
    assert "some cells are infinite" in notes([float("inf"), 1.5, 2.5])
    assert "50% of the cells hold one and the same number" in notes([5] * 40 + AGES[:40])
    spec = ColumnSpec(name="x", kind="integer", lower=0, upper=120)
    assert "kept within the schema's lower bound and upper bound" in notes(AGES, spec=spec)
    assert "one value only is negative" in notes([*AGES, -5])
    kept = ColumnSpec(name="x", kind="integer", action="keep")
    assert "RELEASED AS IT IS" in notes(AGES, spec=kept)


def test_columns_missing_together_name_each_other() -> None:
    many = {f"c{number}": [1.5, None, 2.5, 3.5] for number in range(8)}
    frame = pl.DataFrame({**many, "other": [None, 1.5, 2.5, 3.5], "full": [1.5, 2.5, 3.5, 4.5]})
    columns = {column.name: column for column in inspect_table(Table(frame)).columns}
    listed = "'c1', 'c2', 'c3', 'c4', 'c5' and 2 more"
    assert columns["c0"].notes[-1] == f"missing in the same 1 row as {listed}; stays so"
    assert not columns["other"].notes
    assert not columns["full"].notes


def test_relations_are_notes() -> None:
    table = Table(pl.DataFrame({"a": AGES, "b": AGES[::-1], "w": WEIGHTS}))
    frame = table.frame.with_columns(total=pl.col("a") + pl.col("b"))
    day = pl.Series("day", DAYS * 2)
    frame = frame.with_columns(day, later=day + pl.duration(days=pl.col("a")))
    table = table.with_frame(frame)
    related = related_columns(table)
    found = related.notes
    assert found["total"][0] == "total = a + b in all rows; kept so"
    # What a release does: days between dates follow from the dates, and these stay in order.
    assert found["a"] == ("a = later - day in all rows; kept so",)
    assert found["later"] == ("later is never below day; equal in no row; kept so",)
    shown = inspect_table(table, related=related)
    assert {c.name for c in shown.columns if any("kept so" in n for n in c.notes)} == set(found)
    keep = Schema(
        columns={
            **guess_schema(table).columns,
            "total": ColumnSpec(name="total", kind="integer", action="keep"),
        }
    )
    assert "total" not in related_columns(table, keep).notes


def test_relations_are_searched_on_one_thread_of_linear_algebra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its own threads mostly wait for each other: inspecting took longer than anonymizing."""
    seen = []

    def watched(*arguments: Any) -> Any:
        seen.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
        return find_derivation(*arguments)

    monkeypatch.setattr(related, "find_derivation", watched)
    with threadpool_limits(2, user_api="blas"):
        related_columns(table_of(WEIGHTS, "weight"))
    assert seen
    assert set(seen) == {1}


def test_a_schema_decides_and_the_guess_is_told() -> None:
    spec = ColumnSpec(name="x", kind="category")
    column = inspect_table(table_of([1, 2, 3] * 10), Schema(columns={"x": spec})).columns[0]
    assert column.kind == "category"
    assert column.why.startswith("the schema says so; by itself it looks ordinal")
    with pytest.raises(InputError, match=r"no entry for 1 column\(s\).*'x'"):
        inspect_table(table_of([1]), Schema(columns={}))


@pytest.mark.parametrize(
    ("spec", "outcome"),
    [
        (ColumnSpec(name="x", kind="integer"), "masked, whole numbers, none negative"),
        (ColumnSpec(name="x", kind="integer", action="keep"), "RELEASED AS IT IS"),
        (ColumnSpec(name="x", kind="identifier", action="replace"), "replaced by fresh ones"),
        (ColumnSpec(name="x", kind="integer", action="drop"), "left out"),
    ],
)
def test_outcomes(spec: ColumnSpec, outcome: str) -> None:
    assert inspect_table(table_of(AGES), Schema(columns={"x": spec})).columns[0].outcome == outcome


def test_an_inspection_as_json() -> None:
    shown = inspect_table(table_of([1.5, None, 2.5, 3.5], "weight")).as_dict()
    assert json.loads(json.dumps(shown)) == {
        "rows": 4,
        "columns": [
            {
                "name": "weight",
                "type": "number",
                "kind": "continuous",
                "action": "mask",
                "why": "numbers with decimals",
                "outcome": "masked, rounded as the original is, none negative",
                "notes": [],
                "missing": 1,
                "distinct": 3,
            }
        ],
    }


def test_types_in_plain_words() -> None:
    frame = pl.DataFrame(
        {
            "a": ["a"],
            "b": [1],
            "c": [1.5],
            "d": DAYS[:1],
            "e": [None],
            "f": [[1]],
            "g": pl.Series(["a"], dtype=pl.Enum(["a"])),
        }
    )
    words = [column.dtype for column in inspect_table(Table(frame)).columns]
    assert words[:4] == ["text", "whole number", "number", "date"]
    assert words[4:] == ["empty", "other", "ordered categories"]


# Cells that could not stand in a text by chance: no count, row or code is like them.
MARKED = {
    pl.String: st.integers(10**6, 10**7).map(lambda number: f"zq{number}zq"),
    pl.Int64: st.integers(10**8, 10**9),
    pl.Float64: st.integers(10**8, 10**9).map(lambda number: number + 0.375),
    pl.Date: st.dates(date(1801, 2, 3), date(1830, 1, 1)),
}
NAMES = ["id", "age", "name", "stage", "group", "e mail", "größe", ""]


@st.composite
def marked_tables(draw: st.DrawFn) -> Table:
    """Draw a table whose cells can be told from everything else."""
    rows = draw(st.integers(0, 40))
    columns = {}
    for name in draw(st.lists(st.sampled_from(NAMES), max_size=4, unique=True)):
        dtype = draw(st.sampled_from(list(MARKED)))
        pool = draw(st.lists(MARKED[dtype], min_size=1, max_size=40))
        cells = st.one_of(st.none(), st.sampled_from(pool), MARKED[dtype])
        columns[name] = pl.Series(draw(st.lists(cells, min_size=rows, max_size=rows)), dtype=dtype)
    return Table(pl.DataFrame(columns))


def everything_said(inspection: Inspection) -> str:
    """Return all that is shown or written of an inspection."""
    return f"{json.dumps(inspection.as_dict())}\n{schema_text(inspection)}"


@given(marked_tables())
def test_no_text_holds_a_cell_that_fewer_than_three_rows_have(table: Table) -> None:
    said = everything_said(inspect_table(table))
    for column in table.frame.iter_columns():
        counts = column.drop_nulls().value_counts(name="held")
        for value, held in counts.rows():
            if held < 3:
                assert str(value) not in said


ANY_CELLS = st.sampled_from(
    [
        (pl.Int64, st.integers(-(2**63), 2**63 - 1)),
        (pl.UInt8, st.integers(0, 255)),
        (pl.Float64, st.floats()),
        (pl.Float32, st.floats(width=32)),
        (pl.String, st.text(st.characters(exclude_categories=["Cs"]), max_size=8)),
        (pl.Categorical, st.sampled_from("abcdef")),
        (pl.Boolean, st.booleans()),
        (pl.Date, st.dates()),
        (pl.Datetime, st.datetimes()),
        (pl.Duration, st.timedeltas(timedelta(-1000), timedelta(1000))),
        (pl.Time, st.times()),
        (pl.List(pl.Int64), st.lists(st.integers(0, 3), max_size=2)),
        (pl.Null, st.none()),
    ]
)


@st.composite
def any_tables(draw: st.DrawFn) -> Table:
    """Draw a table of anything."""
    rows = draw(st.integers(0, 60))
    columns = {}
    for name in draw(st.lists(st.text(st.characters(exclude_categories=["Cs"])), unique=True)):
        dtype, cells = draw(ANY_CELLS)
        pool = draw(st.lists(cells, min_size=1, max_size=50))
        picks = st.one_of(st.none(), st.sampled_from(pool))
        drawn = draw(st.lists(picks, min_size=rows, max_size=rows))
        columns[name] = pl.Series(drawn, dtype=dtype)
    return Table(pl.DataFrame(columns))


@given(any_tables())
def test_any_table_can_be_inspected(table: Table) -> None:
    inspection = inspect_table(table)
    assert [column.name for column in inspection.columns] == table.frame.columns
    assert inspection.schema == guess_schema(table)
    assert everything_said(inspection)
    for column in inspection.columns:
        assert 0 <= column.missing <= inspection.n_rows
        held_by_few = column.kind == "constant" and 0 < table.frame.height - column.missing < 3
        few = held_by_few and column.missing > 0
        assert (column.spec.action == "drop") == (column.kind == "text" or few)
    assert repr(inspection.columns) is not None


def test_a_value_of_one_or_two_people_is_left_out():
    cells = pl.Series("x", [None] * 8 + [4.5, 4.5])
    assert guess_schema(Table(pl.DataFrame({"x": cells}))).columns["x"].action == "drop"
    everybody = pl.Series("x", [None] * 7 + [4.5] * 3)
    assert guess_schema(Table(pl.DataFrame({"x": everybody}))).columns["x"].action == "mask"


def test_every_limit_says_what_it_rests_on() -> None:
    for limit in fields(Limits):
        assert len(limit.metadata["rests on"].split()) > 2, limit.name


def test_a_computed_column_is_not_asked_about_as_if_its_numbers_were_given() -> None:
    rng = np.random.default_rng(4)
    width, height = rng.integers(100, 999, (2, 60))
    frame = pl.DataFrame({"width": width, "height": height, "area": width * height})
    assert frame["area"].n_unique() == 60
    doubt = "given, not measured"
    table = Table(frame)
    alone = inspect_table(table).columns[2]
    computed = inspect_table(table, related=related_columns(table)).columns[2]
    assert any(doubt in note for note in alone.notes)
    assert "computed from the others" in computed.outcome
    assert not any(doubt in note for note in computed.notes)

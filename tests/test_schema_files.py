"""Schema files: what is written is read back, and what is wrong is one clear error."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given

from icsa.errors import InputError
from icsa.inspection import guess_schema, inspect_table
from icsa.schema import ColumnSpec, Schema
from icsa.schema_files import read_schema, schema_text
from icsa.tables.table import Table, Variable

from .test_inspection import any_tables

SECRET = 83_719
TABLE = Table(
    pl.DataFrame(
        {
            "age": [41, 52, 38, SECRET],
            "site": ["A", "B", "C", "A"],
            "seen": [date(2020, 1, day) for day in (1, 2, 3, 4)],
            "remark": ["one", "two", "three", "four"],
        }
    )
)
ENTRIES = {
    "age": 'kind = "integer"',
    "site": 'kind = "category"',
    "seen": 'kind = "date"',
    "remark": 'kind = "text"',
}


def text_of(top: str = "version = 1", table_head: str = "", **entries: str | None) -> str:
    """Return a schema for TABLE with some entries changed, or left out where None."""
    parts = [top, table_head]
    for name, entry in {**ENTRIES, **entries}.items():
        if entry is not None:
            parts.append(f"[columns.{name}]\n{entry}")
    return "\n".join(parts)


def read(folder: Path, text: str, table: Table = TABLE) -> Schema:
    path = folder / "schema.toml"
    path.write_text(text, encoding="utf-8")
    return read_schema(path, table)


def test_a_whole_schema(tmp_path: Path) -> None:
    schema = read(
        tmp_path,
        text_of(
            'version = 1\nkeep = ["site"]\nrules = ["seen <= seen"]\n[recipe]\nscale = "linear"',
            age=f'kind = "integer"\nlower = 0\nupper = {SECRET}\nstep = 1\n'
            "missing_codes = [999, [-9, -1]]",
            site='kind = "ordinal"\nlevels = ["C", "B", "A"]',
            seen='kind = "date"\nlower = 2019-12-31\naction = "drop"',
        ),
    )
    assert list(schema.columns) == TABLE.frame.columns
    assert schema.columns["age"] == ColumnSpec(
        name="age",
        kind="integer",
        lower=0,
        upper=SECRET,
        step=1,
        missing_codes=(999, (-9, -1)),
    )
    assert schema.columns["site"] == ColumnSpec(
        name="site", kind="ordinal", action="keep", levels=("C", "B", "A")
    )
    assert schema.columns["seen"].lower == date(2019, 12, 31)
    assert schema.columns["remark"].action == "drop"
    assert schema.rules == ("seen <= seen",)
    assert schema.recipe == {"scale": "linear"}


def test_keep_alone_names_a_column(tmp_path: Path) -> None:
    kept = read(tmp_path, text_of('version = 1\nkeep = ["site"]', site=None)).columns["site"]
    assert (kept.kind, kept.action) == (guess_schema(TABLE).columns["site"].kind, "keep")
    said = read(tmp_path, text_of(site='kind = "category"\naction = "keep"')).columns["site"]
    assert said.action == "keep"


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    assert read(tmp_path, "\ufeff" + text_of()).columns


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version = 1\n[columns.age\n", r"schema\.toml, line 2: this is no TOML"),
        ("version = 1\nkeep = []\nkeep = []", r"line \d: the key 'keep' is there twice"),
        ("version = = 1", "line 1: this is no TOML"),
        (
            text_of(age='kind = "integer"\nkind = "continuous"'),
            r"line \d+: the key 'kind' is there twice\. Take one of the two out",
        ),
        (
            text_of(age='kind = "integer"\nstep = 2'),
            r"\[columns\.age\] Column 'age': 2 of 4 cells are no multiples of the declared step 2 "
            r"\(first in row 1\)\. Correct them or the step",
        ),
        ("version = 1\nkeep = {a = 1, a = 2}", "line 2: the key 'a' is there twice"),
        ("version = 1\n[recipe]\n[columns.a]\n[columns.a]", "the key 'a' is there twice"),
        (text_of("keep = []"), "version is missing or not 1"),
        (text_of("version = 2"), "version is missing or not 1"),
        (text_of("version = 1\nkep = []"), "No key 'kep'. Did you mean 'keep'?"),
        (text_of('version = 1\nkeep = "site"'), "keep is no list of texts"),
        (text_of("version = 1\nrules = [1]"), "rules is no list of texts"),
        (text_of("version = 1\nrecipe = 1"), "recipe is no table"),
        (
            text_of('version = 1\n[recipe]\nscal = "linear"'),
            r"schema\.toml: \[recipe\] No choice of a recipe 'scal'\. Did you mean 'scale'",
        ),
        (text_of('version = 1\n[recipe]\nscale = "log"'), r"\[recipe\] No scale 'log'"),
        (text_of("version = 1\n[recipe]\nscale = [1]"), r"\[recipe\] No scale"),
        (
            text_of("version = 1\n[recipe]\nsplit_zeros = 1"),
            r"schema\.toml: \[recipe\] split_zeros must be true or false",
        ),
        (
            text_of('version = 1\nrules = ["agee >= 18"]'),
            r"schema\.toml: rules: Rule 'agee >= 18', .* no column 'agee'; the nearest is 'age'",
        ),
        (text_of('version = 1\nrules = ["age >="]'), r"schema\.toml: rules: "),
        (text_of('version = 1\nrules = ["age >= low"]'), r"schema\.toml: rules: "),
        (
            text_of('version = 1\nrules = ["age <= 50"]'),
            r"schema\.toml: rules: Rule 'age <= 50': the table itself breaks it in 2 of 4 rows",
        ),
        (
            text_of(site='kind = "ordinal"'),
            r"\[columns\.site\] Column 'site': the order of its 3 levels is not known",
        ),
        (
            text_of(age='kind = "integer"\nmissing_codes = [[9, 1]]'),
            r"\[columns\.age\] missing_codes has a pair whose first is above its second",
        ),
        (
            text_of(seen='kind = "date"\nmissing_codes = [[2020-01-01, 5]]'),
            "missing_codes has a pair whose ends cannot be compared",
        ),
        ("version = 1\ncolumns = 1", "columns is no table"),
        ("version = 1\n[columns]\nage = 1\nsite = 1\nseen = 1\nremark = 1", "is no table"),
        (text_of(agee='kind = "integer"'), "No column 'agee'. Did you mean 'age'?"),
        (text_of('version = 1\nkeep = ["sight"]'), "No column 'sight'. Did you mean 'site'?"),
        (
            text_of(age=None),
            r"1 column\(s\) of the table have no entry: 'age'\..* \[columns\.age\].*--schema-out",
        ),
        (text_of(age="lower = 1"), r"\[columns\.age\] has no kind. Give one of continuous"),
        (text_of(age='kind = "integr"'), r"age\] No kind 'integr'. Did you mean 'integer'?"),
        (text_of(age="kind = 1"), r"\[columns\.age\] kind is no text"),
        (text_of(age='kind = "integer"\naction = "hide"'), "No action 'hide'"),
        (text_of(age='kind = "integer"\nlowr = 1'), "No key 'lowr'. Did you mean 'lower'?"),
        (text_of(age='kind = "integer"\nlower = "a"'), "lower must be a number in a column of"),
        (text_of(age='kind = "integer"\nlower = true'), "lower must be a number"),
        (text_of(age='kind = "integer"\nlower = nan'), "lower must be a number"),
        (text_of(age='kind = "integer"\nlower = 9\nupper = 1'), "lower must not be above upper"),
        (text_of(age='kind = "integer"\nstep = 0'), "step is no positive number"),
        (text_of(age='kind = "integer"\nstep = "a"'), "step is no positive number"),
        (text_of(site='kind = "category"\nstep = 1'), "step: a column of kind 'category' has none"),
        (text_of(site='kind = "category"\nlower = 1'), "kind 'category' has no bounds"),
        (text_of(age='kind = "integer"\nlevels = [1]'), "levels: a column of kind 'integer'"),
        (text_of(site='kind = "category"\nlevels = "A"'), "levels is no list of values"),
        (text_of(age='kind = "integer"\nmissing_codes = 1'), "missing_codes is no list"),
        (text_of(age='kind = "integer"\nmissing_codes = [[1, 2, 3]]'), "pairs of the lowest"),
        (text_of(age='kind = "integer"\nmissing_codes = ["x"]'), "missing code is of another type"),
        (text_of(seen='kind = "date"\nlower = 5'), "lower must be a date such as"),
        (text_of(seen='kind = "date"\nlower = 2020-01-01T00:00:00'), "lower must be a date such"),
        (text_of(remark='kind = "date"'), "'date' does not go with the column's type, String"),
        (text_of(site='kind = "integer"'), "'integer' does not go with the column's type, String"),
        (text_of(age='kind = "identifier"\naction = "mask"'), "can be replace or drop or keep"),
        (text_of(remark='kind = "text"\naction = "mask"'), "give it the kind category"),
        (
            text_of(age='kind = "integer"\naction = "replace"'),
            "'replace' is not for kind 'integer'",
        ),
        (text_of(age='kind = "integer"\nupper = 120'), "1 of 4 cells are above .* upper .*row 4"),
        (text_of(age='kind = "integer"\nlower = 40'), "1 of 4 cells are below .* lower .*row 3"),
        (text_of(seen='kind = "date"\nupper = 2020-01-02'), "2 of 4 cells are above the declared"),
        (text_of(site='kind = "category"\nlevels = ["A", "B"]'), r"1 of 4 cells have none of the"),
        (text_of(site='kind = "binary"'), "has at most 2 different .* the column has 3"),
        (text_of(age='kind = "constant"'), "has at most 1 different .* the column has 4"),
        (
            text_of('version = 1\nkeep = ["age"]', age='kind = "integer"\naction = "drop"'),
            "action is 'drop', but the column is named under keep",
        ),
    ],
)
def test_what_is_wrong_is_told_without_a_cell(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, text)
    assert "schema.toml" in str(caught.value)
    assert str(SECRET) not in str(caught.value)


def test_whole_numbers_have_no_decimals(tmp_path: Path) -> None:
    table = Table(pl.DataFrame({"kg": [61.5, 70.0, 999.5, None]}))
    entry = 'version = 1\n[columns.kg]\nkind = "integer"\n'
    with pytest.raises(InputError, match=r"\[columns\.kg\] Column .kg.: 2 of 4 cells are not"):
        read(tmp_path, entry, table)
    assert read(tmp_path, f"{entry}missing_codes = [61.5, 999.5]", table)
    assert read(tmp_path, f'{entry}action = "keep"', table)


def test_text_in_an_order_is_told_once_it_is_masked(tmp_path: Path) -> None:
    assert read(tmp_path, text_of(site='kind = "ordinal"\naction = "drop"'))
    one = Table(pl.DataFrame({"x": ["a", "a", None]}))
    assert read(tmp_path, 'version = 1\n[columns.x]\nkind = "ordinal"', one)


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    path.write_bytes("version = 1 # größe".encode("latin-1"))
    with pytest.raises(InputError, match="not written in UTF-8"):
        read_schema(path, TABLE)


def test_a_long_table_lists_near_names_only(tmp_path: Path) -> None:
    wide = Table(pl.DataFrame({f"column_{number}": [1] for number in range(300)}))
    with pytest.raises(InputError, match="Did you mean 'column_299'") as caught:
        read(tmp_path, 'version = 1\n[columns.colum_299]\nkind = "constant"', wide)
    assert len(str(caught.value)) < 600
    with pytest.raises(InputError, match=r"300 column.* and 280 more"):
        read(tmp_path, "version = 1", wide)


def test_codes_are_missing_before_bounds_are_checked(tmp_path: Path) -> None:
    bounded = f'kind = "integer"\nupper = 120\nmissing_codes = [{SECRET}]'
    assert read(tmp_path, text_of(age=bounded)).columns["age"].upper == 120
    declared = Table(TABLE.frame, {"age": Variable(missing_codes=(SECRET,))})
    assert read(tmp_path, text_of(age='kind = "integer"\nupper = 120'), declared)


def test_codes_are_missing_for_rules_too(tmp_path: Path) -> None:
    top = 'version = 1\nrules = ["age <= 120"]'
    with pytest.raises(InputError, match="breaks it in 1 of 4 rows, first in row 4"):
        read(tmp_path, text_of(top))
    coded = f'kind = "integer"\nmissing_codes = [{SECRET}]'
    assert read(tmp_path, text_of(top, age=coded)).rules == ("age <= 120",)
    declared = Table(TABLE.frame, {"age": Variable(missing_codes=(SECRET,))})
    assert read(tmp_path, text_of(top), declared)


def test_a_cell_may_be_its_bound(tmp_path: Path) -> None:
    bounded = f'kind = "integer"\nlower = 38\nupper = {SECRET}'
    assert read(tmp_path, text_of(age=bounded)).columns["age"].lower == 38


@pytest.mark.parametrize(
    ("kind", "cells", "written", "bound"),
    [
        ("datetime", [datetime(2020, 1, 1, 8)], "2021-01-01T00:00:00", datetime(2021, 1, 1)),
        ("datetime", [datetime(2020, 1, 1, 8)], "2021-01-01", datetime(2021, 1, 1)),
        ("duration", [timedelta(hours=1)], "7200", timedelta(hours=2)),
        ("time", [time(8)], "12:30:00", time(12, 30)),
        ("zero-inflated", [0.0], "1.5", 1.5),
    ],
)
def test_bounds_in_the_columns_type(
    tmp_path: Path, kind: str, cells: list[Any], written: str, bound: Any
) -> None:
    table = Table(pl.DataFrame({"x": cells}))
    text = f'version = 1\n[columns.x]\nkind = "{kind}"\nupper = {written}'
    assert read(tmp_path, text, table).columns["x"].upper == bound


def test_a_bound_without_the_columns_time_zone_is_told(tmp_path: Path) -> None:
    table = Table(pl.DataFrame({"x": [datetime(2020, 1, 1, tzinfo=UTC)]}))
    entry = 'version = 1\n[columns.x]\nkind = "datetime"\n'
    with pytest.raises(InputError, match="with a time zone where the column has one"):
        read(tmp_path, f"{entry}upper = 2021-01-01T00:00:00", table)
    with pytest.raises(InputError, match="lower must not be above upper"):
        read(tmp_path, f"{entry}lower = 2020-01-01\nupper = 2021-01-01T00:00:00Z", table)
    assert read(tmp_path, f"{entry}upper = 2021-01-01T00:00:00Z", table)


def test_what_a_schema_says_is_written_and_read_again(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "a b": [1.5, 2.5, -1.0],
            "day": [date(2020, 1, 2)] * 2 + [date(2020, 1, 4)],
            "at": [datetime(2020, 1, 2, 3, 4, 5, 678)] * 3,
            "stay": [timedelta(seconds=90), timedelta(seconds=30), None],
            "o'clock": [time(1, 2, 3), time(4), None],
            "grade": ["low", "high", "low"],
        }
    )
    table = Table(frame)
    changes: dict[str, dict[str, Any]] = {
        "a b": {"kind": "continuous", "lower": -2, "step": 0.5, "missing_codes": (9, (90, 99))},
        "day": {"kind": "date", "upper": date(2021, 1, 1)},
        "at": {"kind": "datetime", "upper": datetime(2021, 1, 1, 2, 3, 4, 5678)},
        "stay": {"kind": "duration", "lower": timedelta(seconds=0.5)},
        "o'clock": {"kind": "time", "lower": time(1)},
        "grade": {"kind": "ordinal", "levels": ("low", "high"), "action": "keep"},
    }
    schema = Schema(
        columns={name: ColumnSpec(name=name, **said) for name, said in changes.items()},
        rules=("day >= at",),
        recipe={"scale": "linear"},
    )
    text = schema_text(inspect_table(table, schema))
    again = read(tmp_path, text, table)
    assert replace(again, recipe=dict(again.recipe)) == schema


def test_comments_say_why_and_what_to_look_at() -> None:
    text = schema_text(inspect_table(Table(pl.DataFrame({"x": list("aaabbbccd") * 2}))))
    assert "# 4 different texts\n# look at: 1 of 4 levels is held" in text
    assert "# levels: those seen\n" in text
    rare = pl.DataFrame({"grade": [1, 2] * 10 + [3]})
    assert "# levels: those seen, in ascending order" in schema_text(inspect_table(Table(rare)))


@given(any_tables())
def test_a_guessed_schema_is_read_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, table: Table
) -> None:
    inspection = inspect_table(table)
    folder = tmp_path_factory.mktemp("schema")
    assert read(folder, schema_text(inspection), table) == inspection.schema


def test_what_is_said_of_rows_in_files_is_not_held_against_no_rows(tmp_path: Path) -> None:
    text = text_of('version = 1\nunit = "site"\nweight = "age"')
    empty = Table(TABLE.frame.clear())
    assert read(tmp_path, text, empty).design.columns == {"unit": "site", "weight": "age"}
    with pytest.raises(InputError, match="names 3 units"):
        read(tmp_path, text)
    with pytest.raises(InputError, match="time goes with unit"):
        read(tmp_path, text_of('version = 1\ntime = "seen"'), empty)

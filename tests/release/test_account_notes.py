"""What inspection says about codes, far cells and notations is a warning of every release."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import xlsxwriter

import icsa
from icsa import anonymize
from icsa.cli import run
from icsa.inspection import guess_schema, inspect_table
from icsa.inspection.cautions import cautions_on
from icsa.schema import ColumnSpec, Schema
from icsa.tables.table import Table

ROWS = 200
rng = np.random.default_rng(3)
DAYS = [date(2020, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 700, ROWS)]


def table_with(**columns: Any) -> pl.DataFrame:
    """Return a table of measurements and the given columns."""
    age = rng.integers(18, 90, ROWS)
    pressure = (100 + 0.5 * age + rng.normal(0, 10, ROWS)).round()
    return pl.DataFrame(
        {
            "age": age,
            "pressure": pressure,
            "bmi": rng.normal(25, 3, ROWS).round(1),
            **{name: pl.Series(cells) for name, cells in columns.items()},
        }
    )


def cautions(schema: Schema | None = None, **columns: Any) -> str:
    """Return what is to be looked at in a release, one a line."""
    table = Table(table_with(**columns))
    return "\n".join(cautions_on(table, schema or guess_schema(table)))


def but(cells: Any, row: int, cell: Any) -> list[Any]:
    """Return cells with another one in a row that is counted from 0."""
    return [*list(cells)[:row], cell, *list(cells)[row + 1 :]]


CRP = rng.gamma(2, 3, ROWS).round(1)
CASES = [
    (np.where(rng.random(ROWS) < 0.1, 9999, rng.integers(1, 90, ROWS)), "9999 in"),
    (np.where(rng.random(ROWS) < 0.1, -99, CRP), "-99 in"),
    (but(but(DAYS, 3, date(9999, 12, 31)), 5, date(9999, 12, 31)), "9999-12-31 in 2 rows"),
    (but(DAYS, 3, date(1700, 1, 1)), "1 dates far outside the rest (row 4)"),
    (but(CRP, 199, CRP.sum() * 9), "1 number lies extremely far from all others (row 200)"),
    (but([str(cell) for cell in CRP], 77, "12O"), "199 of 200 cells are numbers; the first"),
    ([f"{cell} %" for cell in CRP], "numbers with a sign or unit: take it out to keep"),
    ([int(f"{day:%Y%m%d}") for day in DAYS], "dates written as numbers"),
]


@pytest.mark.parametrize(("cells", "said"), CASES)
def test_what_must_be_known_of_a_release(cells: Any, said: str) -> None:
    found = cautions(x=cells)
    assert f"x: {said}" in found or f"x: 200 of 200 cells are {said}" in found
    assert found.count("\n") == 0, found


@pytest.mark.parametrize("cells", [cells for cells, _ in CASES])
def test_inspection_says_the_same(cells: Any) -> None:
    table = Table(table_with(x=cells))
    notes = {c.name: c.notes for c in inspect_table(table).columns}
    for caution in cautions_on(table, guess_schema(table)):
        name, _, note = caution.partition(": ")
        assert note.removesuffix(".") in notes[name]


def test_clean_tables_have_nothing_to_look_at() -> None:
    assert cautions(day=DAYS, sex=["m", "f"] * 100, note=[f"came by bus {n}" for n in DAYS]) == ""


def test_declared_codes_and_kept_columns_are_no_matter() -> None:
    cells = np.where(rng.random(ROWS) < 0.1, 999, rng.integers(1, 90, ROWS))
    coded = ColumnSpec(name="x", kind="integer", missing_codes=(999,))
    assert cautions(Schema(columns={"x": coded}), x=cells) == ""
    kept = ColumnSpec(name="x", kind="integer", action="keep")
    assert cautions(Schema(columns={"x": kept}), x=cells) == ""


@pytest.mark.parametrize(("cells", "said"), CASES)
def test_they_are_warnings_of_the_release(cells: Any, said: str) -> None:
    release = icsa.anonymize(table_with(x=cells), random_state=1)
    assert any(warning.startswith("x: ") and said in warning for warning in release.warnings)


def outlying_level(column: str, level: str, rows: slice) -> pl.DataFrame:
    """Return measurements with five people far away at first, and a level in some rows."""
    generator = np.random.default_rng(6)
    measured = generator.normal(size=(200, 3))
    measured[:5] += 40.0
    levels = generator.choice(["a", "b"], 200).astype(object)
    levels[rows] = level
    return pl.DataFrame(measured, schema=["x", "y", "z"]).with_columns(
        pl.Series(column, levels, dtype=pl.String)
    )


def test_a_level_that_only_people_who_stand_out_have_is_told_with_its_column():
    told = "'ward': some values belong only to people who stand out, who are hidden less well"
    (note,) = [
        warning
        for warning in anonymize(outlying_level("ward", "c", slice(5)), random_state=1).warnings
        if "belong only" in warning
    ]
    assert note.startswith(told)
    assert "Merge rare levels with others, or drop the column" in note
    everywhere = anonymize(outlying_level("ward", "c", slice(0, 60, 3)), random_state=1)
    assert not any("belong only" in warning for warning in everywhere.warnings)


def write(frame: pl.DataFrame, path: Path) -> None:
    if path.suffix == ".csv":
        frame.write_csv(path)
        return
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        for row, cells in enumerate([tuple(frame.columns), *frame.rows()]):
            sheet.write_row(row, 0, cells)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_column_without_a_name_is_told(tmp_path, capsys, suffix):
    frame = outlying_level("ward", "c", slice(0, 60, 3)).with_row_index("")
    unnamed, named = (str(tmp_path / f"{name}{suffix}") for name in ("unnamed", "named"))
    write(frame, Path(unnamed))
    write(frame.rename({"": "row"}), Path(named))
    layout = "1 without a name in the header: it is called 'column_1'"
    assert run(["inspect", unnamed]) == 0
    assert layout in " ".join(capsys.readouterr().out.split())  # however lines are broken
    assert run(["anonymize", unnamed, "--seed", "1"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert layout in shown
    assert "look at: column_1: without a name in the file's header" in shown
    assert run(["anonymize", named, "--seed", "1"]) == 0
    assert "without a name" not in capsys.readouterr().out

"""Cells that keep a column from being numbers or dates are told by their row, never themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa.inspection import inspect_table
from icsa.schema import ColumnSpec, Schema
from icsa.tables.table import Table

rng = np.random.default_rng(8)
ROWS = 200
NUMBERS = [f"{number:.1f}" for number in rng.gamma(2, 3, ROWS)]
DATES = [f"2020-{m:02}-{d:02}" for m, d in zip(*rng.integers(1, 13, (2, ROWS)), strict=True)]


def notes(cells: Sequence[Any], name: str = "x", spec: ColumnSpec | None = None) -> str:
    """Return the notes on a column, one a line."""
    table = Table(pl.DataFrame({name: pl.Series(list(cells))}))
    schema = None if spec is None else Schema(columns={name: spec})
    return "\n".join(inspect_table(table, schema).columns[0].notes)


def but(cells: Sequence[str], row: int, cell: str) -> list[str]:
    """Return the cells with another one in a row that is counted from 0."""
    return [*cells[:row], cell, *cells[row + 1 :]]


def test_one_cell_that_is_no_number_is_told_by_its_row() -> None:
    said = notes(but(NUMBERS, 77, "12O"), "crp")
    assert (
        "199 of 200 cells are numbers; the first that is not is in row 78: correct it, or leave "
        "it empty"
    ) in said
    assert "give it the kind category" not in said
    assert "12O" not in said
    answers = but([str(answer) for answer in rng.integers(1, 6, ROWS)], 77, "3?")
    assert "199 of 200 cells are numbers; the first that is not is in row 78" in notes(answers)
    commas = but([number.replace(".", ",") for number in NUMBERS], 3, "x")
    assert "199 of 200 cells are numbers; the first that is not is in row 4" in notes(commas)


def test_one_cell_that_is_no_date_is_told_by_its_row() -> None:
    assert "199 of 200 cells are dates; the first that is not is in row 6" in notes(
        but(DATES, 5, "unknown")
    )
    assert "199 of 200 cells are dates" in notes(but(DATES, 5, "0000-00-00"))
    german = [f"{date[8:]}.{date[5:7]}.{date[:4]}" for date in DATES]
    assert "199 of 200 cells are dates" in notes(but(german, 5, "?"))
    assert "dates in several notations" in notes(DATES[:80] + german[80:])
    short = [f"{date[8:]}.{date[5:7]}.{date[2:4]}" for date in DATES]
    assert "dates that are not read as such: write them as 2020-07-27" in notes(short)


@pytest.mark.parametrize(
    "cells",
    [
        [f"{number} kg" for number in NUMBERS],
        [f"{number}%" for number in NUMBERS],
        [f"€ {number}" for number in NUMBERS],
        [f"${number}" for number in NUMBERS],
        [f"{number} €" for number in NUMBERS],
        [f"({number})" if row % 3 else number for row, number in enumerate(NUMBERS)],
        ["<0.5" if row % 4 == 0 else number for row, number in enumerate(NUMBERS)],
        ["<0.5" if row == 4 else number for row, number in enumerate(NUMBERS)],
        [f"{number}'{row + 100}" for row, number in enumerate(range(10, 10 + ROWS))],
        [f"−{number}" if row % 2 else number for row, number in enumerate(NUMBERS)],
        [
            f"{number} mg/dl" if row % 2 else f"{number} mmol/l"
            for row, number in enumerate(NUMBERS)
        ],
    ],
)
def test_numbers_with_signs_or_units(cells: list[str]) -> None:
    assert "cells are numbers with a sign or unit: take it out to keep the column" in notes(cells)


@pytest.mark.parametrize(
    "cells",
    [
        NUMBERS,  # text by declaration alone
        ["0" + str(number) for number in range(10_000, 10_000 + ROWS)],
        [f"{number:05}" for number in range(9_990, 9_990 + ROWS)],
        [f"{number}A" for number in range(ROWS)],
        [f"C{number}.1" for number in range(10, 10 + ROWS)],
        [f"12{number}/80" for number in range(ROWS)],
        [f"ward {number % 4}" for number in range(ROWS)],
        ["1", "2", "x"],
    ],
)
def test_other_texts_have_no_such_note(cells: list[str]) -> None:
    said = notes(cells)
    assert "cells are" not in said


def test_a_category_that_is_masked_is_not_to_be_kept() -> None:
    doses = [f"{dose} mg" for dose in rng.choice([5, 10, 20, 40], ROWS)]
    assert "take it out to have them masked as numbers" in notes(doses)


def test_identifiers_by_name_have_no_such_note() -> None:
    assert "cells are" not in notes(but([str(n) for n in range(1000, 1200)], 7, "x"), "patient_id")


@given(st.text(min_size=1, max_size=9), st.integers(0, ROWS - 1))
def test_the_cell_itself_is_never_told(cell: str, row: int) -> None:
    marked = f"zq{cell}zq"
    assert marked not in notes(but(NUMBERS, row, marked))


def days(count: int = ROWS) -> list[int]:
    """Return dates written as eight digits."""
    parts = zip(rng.integers(1990, 2020, count), *rng.integers(1, 13, (2, count)), strict=True)
    return [10_000 * int(y) + 100 * int(m) + int(d) for y, m, d in parts]


@pytest.mark.parametrize("cells", [days(), [*days(), None], [float(day) for day in days()]])
def test_dates_written_as_numbers(cells: list[Any]) -> None:
    said = notes(cells, "admitted")
    assert "dates written as numbers" in said
    assert "2020-07-27" in said


@pytest.mark.parametrize("wrong", [20200230, 20201301, 18491231, 21010101, 2020022, 20200010])
def test_other_numbers_are_no_dates(wrong: int) -> None:
    assert "dates written" not in notes([*days(), wrong])


def test_heaping_is_measured_against_the_columns_own_steps() -> None:
    fives = (rng.normal(75, 15, 2000) / 5).round() * 5
    assert "multiple" not in notes(fives)
    assert "multiple" not in notes(10 * rng.integers(1, 60, 400))
    heaped = np.where(rng.random(2000) < 0.8, (fives / 10).round() * 10, fives)
    assert "are multiples of 10 (50% expected)" in notes(heaped)
    evens = 2 * rng.integers(10, 90, 2000)
    assert "multiple" not in notes(evens)
    assert "are multiples of 10 (20% expected)" in notes(
        np.where(rng.random(2000) < 0.4, evens // 10 * 10, evens)
    )


AGES = rng.integers(18, 90, ROWS).tolist()


def test_a_number_far_from_all_others_is_told_by_its_row() -> None:
    assert "1 number lies extremely far from all others (row 201)" in notes([*AGES, sum(AGES)])
    weights = rng.normal(70, 10, ROWS).round(1).tolist()
    assert "1 number lies extremely far from all others (row 1)" in notes([-98765.4, *weights])
    assert "2 numbers lie extremely far from all others (rows 1, 202)" in notes(
        [1e9, *weights, 1e300]
    )
    assert "none negative" not in notes(weights)


@pytest.mark.parametrize(
    "cells",
    [
        AGES,
        rng.lognormal(1.5, 1, 2000),
        [*AGES, 400],
        [*AGES, *([9999] * 4)],  # a code, which has a note of its own
        (1.2 ** np.arange(150)).tolist(),
        [5.0] * 150 + [5.5, 6.0, 7.5, 9.5],
    ],
)
def test_others_are_not_far(cells: Sequence[float]) -> None:
    assert "extremely far" not in notes(cells)

"""Lettered missing values of Stata and SAS go through a release."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from icsa.inspection import guess_schema
from icsa.release import anonymize
from icsa.tables import Table


def lettered_table(n_rows: int = 120) -> Table:
    generator = np.random.default_rng(3)
    frame = pl.DataFrame(
        {name: generator.normal(50, 9, n_rows).round(1) for name in ("x", "y", "z", "w")}
    )
    letters = pl.Series("x", ["a"] * 9 + ["b"] * 5 + [None] * (n_rows - 14))
    gone = pl.Series([True] * 16 + [False] * (n_rows - 16))
    frame = frame.with_columns(frame["x"].set(gone, None))
    return Table(frame, missing_letters={"x": letters})


@pytest.mark.parametrize(
    "options",
    [{}, {"mask": "flip", "method": "sa"}, {"keep": ["x"]}],
    ids=["masked", "flipped", "kept"],
)
def test_every_letter_of_missing_cells_is_as_frequent_as_before(options) -> None:
    table = lettered_table()
    released = anonymize(table, random_state=1, **options).table
    letters = released.missing_letters["x"]
    assert letters.drop_nulls().sort().to_list() == ["a"] * 9 + ["b"] * 5
    assert released.frame["x"].null_count() == 16
    assert released.frame["x"].filter(letters.is_not_null()).null_count() == 14
    assert not letters.equals(table.missing_letters["x"])


def test_a_rule_that_fills_cells_takes_their_letters() -> None:
    table = lettered_table()
    frame = table.frame.with_columns(code=pl.Series(["none"] * 16 + ["some"] * 104))
    table = table.with_frame(frame, table.missing_letters)
    schema = replace(guess_schema(table), rules=("if code = 'none' then x missing",))
    released = anonymize(table, schema=schema, random_state=2).table
    letters = released.missing_letters["x"]
    assert released.frame["x"].filter(letters.is_not_null()).null_count() == letters.count()


def test_letters_go_with_codes_that_a_schema_declares() -> None:
    table = lettered_table()
    x = table.frame["x"].to_list()
    x[14:20] = [999.0] * 6
    table = table.with_frame(table.frame.with_columns(pl.Series("x", x)), table.missing_letters)
    schema = guess_schema(table)
    spec = replace(schema.columns["x"], kind="continuous", missing_codes=(999.0,))
    schema = replace(schema, columns={**schema.columns, "x": spec})
    released = anonymize(table, schema=schema, random_state=2).table
    assert (released.frame["x"] == 999.0).sum() == 6
    assert released.missing_letters["x"].drop_nulls().len() == 14
    assert (
        released.frame["x"].filter(released.missing_letters["x"].is_not_null()).null_count() == 14
    )

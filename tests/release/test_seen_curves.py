"""Curves seen before a release: told with the column's name, and only where they are."""

from __future__ import annotations

import numpy as np
import polars as pl

import icsa
from icsa.inspection import guess_schema, inspect_table
from icsa.release.seen_curves import curve_notes, seen_curves, with_seen_curves
from icsa.tables import Table
from tests.release.tables import clinic


def with_a_flag(n: int = 400) -> pl.DataFrame:
    generator = np.random.default_rng(0)
    weight, height = generator.normal(3000, 500, n).round(), generator.normal(50, 3, n).round(1)
    band = (np.abs(weight - 3000) < 400) ^ (generator.random(n) < 0.02)
    return pl.DataFrame({"grams": weight, "cm": height, "usual": band.astype(int)})


def test_a_flag_that_follows_from_a_number_is_seen() -> None:
    table = Table(with_a_flag())
    seen = seen_curves(table, guess_schema(table))
    assert next(iter(seen)) == "usual"
    assert seen["usual"] > 0.3


def test_inspection_says_so_of_that_column_alone() -> None:
    table = Table(with_a_flag())
    found = with_seen_curves(inspect_table(table), table)
    notes = {column.name: " ".join(column.notes) for column in found.columns}
    assert "--method forest" in notes["usual"]
    assert "--method forest" not in notes["cm"]


def test_a_table_without_curves_is_inspected_as_before() -> None:
    table = Table(clinic(200))
    before = inspect_table(table)
    assert with_seen_curves(before, table) == before


def test_a_table_that_cannot_be_released_is_inspected_all_the_same() -> None:
    table = Table(pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"]}))
    before = inspect_table(table)
    assert with_seen_curves(before, table) == before


def test_a_release_says_which_columns_and_what_to_do() -> None:
    frame = with_a_flag()
    straight = icsa.anonymize(frame, method="icsa", random_state=1)
    told = [note for note in straight.warnings if "Curves" in note]
    assert len(told) == 1
    assert "of usual" in told[0]
    assert "--method forest" in told[0]
    by_forest = icsa.anonymize(frame, method="forest", random_state=1)
    assert not [note for note in by_forest.warnings if "Curves" in note]


def test_many_columns_are_counted_not_listed() -> None:
    (note,) = curve_notes({f"c{j}": 0.1 + j / 100 for j in range(6)})
    assert note.startswith("Curves explain 15% of c5 (and some of c4, c3 and 3 more) beyond")
    assert curve_notes({"a": 0.01}) == ()


def test_constants_with_gaps_have_no_curves() -> None:
    frame = pl.DataFrame({"told": [7, None, 7] * 100})
    released = icsa.anonymize(frame, random_state=1).table
    assert released["told"].null_count() == 100

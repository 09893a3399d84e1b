"""Two tables in files, matched by the names of their columns; a sample of both is in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from icsa.assessment.blocks.coding_columns import Coded, Tables
from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.matching import (
    Comparison,
    differences,
    match_tables,
    names_left_out,
)
from icsa.errors import InputError
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import Scratch
from icsa.schema import Schema
from icsa.tables import Table
from icsa.tables.stored import StoredTable
from icsa.utility.beyond_range import BeyondRange

__all__ = [
    "SAMPLED_ROWS",
    "LargeComparison",
    "cells_of_people",
    "drawn_rows",
    "gathered_cells",
    "match_stored",
    "require_rows",
]

# Rows of each table that everything is taken from which needs them in memory.
SAMPLED_ROWS = 200_000
# Fixed, and no secret: it chooses these rows. Tables of one length have the same ones in it.
_SEED = 20_011


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LargeComparison(Comparison):
    """A comparison of a sample of two tables in files, which knows how large these are.

    Attributes
    ----------
    schema : Schema
        What each column of the original is, from all its cells.
    stored : (StoredTable, StoredTable)
    drawn : ndarray of int
        Row numbers of the original's sample.
    people_cells : mapping of int to dict
        Cells of people who stand out, by row number.
    released_cells : mapping of int to dict
        The same of released rows near to them.
    beyond : BeyondRange, optional
        How many of all released cells lie beyond all of the original's.
    """

    schema: Schema
    stored: tuple[StoredTable, StoredTable]
    drawn: RowNumbers
    people_cells: Mapping[int, dict[str, Any]]
    released_cells: Mapping[int, dict[str, Any]]
    beyond: BeyondRange | None = None

    @property
    def of_rows(self) -> None:
        """Every row is a person: there are no others to look at."""
        return

    @property
    def shapes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Rows and columns of both tables in their files."""
        first, second = ((table.n_rows, len(table.names)) for table in self.stored)
        return first, second

    @property
    def is_sampled(self) -> bool:
        """Whether the sample is not all of the original."""
        return bool(self.drawn.size < self.stored[0].n_rows)

    @property
    def sample_in_words(self) -> str:
        """How many people the sample has."""
        return f"{self.drawn.size:,} people"

    def rows_of_sample(self, rows: Sequence[int]) -> tuple[int, ...]:
        """Return row numbers of the file, from those of the sample."""
        return tuple(self.drawn[list(rows)].tolist())

    @property
    def n_released(self) -> int:
        """Released rows."""
        return self.stored[1].n_rows

    def cells_of(self, row: int, released_row: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the cells of a person and of a released row, in the columns compared."""
        return self.people_cells[row], self.released_cells[released_row]


def drawn_rows(n_rows: int, most: int = SAMPLED_ROWS) -> RowNumbers:
    """Return the rows of a table that are in its sample, in their order; all of few.

    Examples
    --------
    >>> drawn_rows(5, 10)
    array([0, 1, 2, 3, 4])
    >>> drawn_rows(1_000_000).size
    200000
    """
    if n_rows <= most:
        return np.arange(n_rows, dtype=np.int64)
    rng = np.random.default_rng(_SEED)
    return np.sort(rng.choice(n_rows, most, replace=False, shuffle=False)).astype(np.int64)


def match_stored(
    tables: Tables,
    coded: Sequence[Coded],
    schema: Schema,
    leave_out: Sequence[str],
    sampled: str | None = None,
) -> LargeComparison:
    """Return two tables matched: what is said of all rows, and a comparison of the sample.

    They may have nothing in common, as those of `icsa.comparison.matching.match_tables`.

    Parameters
    ----------
    tables : Tables
    coded : sequence of Coded
    schema : Schema
    leave_out : sequence of str
        Columns that are not to be compared.
    sampled : str, optional
        What is computed from which rows, where not all of them are in the sample.
    """
    first, second = tables.original.names, tables.released.names
    originals = [one.cells for one in coded if one.cells is not None]
    unlike = {one.name for one in coded if one.unlike and one.pair is None}
    shown = [
        one.released_cells
        for one in coded
        if one.released_cells is not None and one.name not in unlike
    ]
    sample = match_tables(
        Table(pl.DataFrame(originals), tables.original.variables, tables.original.layout),
        Table(pl.DataFrame(shown), tables.released.variables, tables.released.layout),
        schema,
        leave_out=leave_out,
    )
    return LargeComparison(
        **{name: getattr(sample, name) for name in ("original", "released", "features")},
        matched=tuple(name for name in first if name in second),
        only_original=tuple(name for name in first if name not in second),
        only_released=tuple(name for name in second if name not in first),
        notes=(*_notes(tables, coded, leave_out, sampled), *_constant_here(sample, coded)),
        as_they_are={one.name: one.own for one in coded if one.own},
        not_compared=tuple(one.name for one in coded if one.unlike),
        schema=schema,
        stored=(tables.original, tables.released),
        drawn=tables.sample,
        people_cells={},
        released_cells={},
    )


def _notes(
    tables: Tables, coded: Sequence[Coded], leave_out: Sequence[str], sampled: str | None
) -> list[str]:
    original, released = tables.original, tables.released
    notes = differences(original.names, released.names, original.n_rows, released.n_rows)
    notes += [f"{name!r} marks outliers and is not compared." for name in leave_out]
    notes += [one.note for one in coded if one.note]
    if named := [one.name for one in coded if one.own is not None]:
        notes.append(names_left_out(named))
    if tables.sample.size < original.n_rows or tables.released_sample.size < released.n_rows:
        notes.append(
            sampled
            or "The tables were read from their files. From all rows: who stands out, the rows "
            "nearest to them, equal rows and rare equal cells, extremes. From "
            f"{tables.sample.size:,} original and {tables.released_sample.size:,} released rows, "
            "drawn at random: near cells, distances to closest records, attackers, and what "
            "analyses lose. What all other cells tell of a person's is guessed from these rows and "
            "those nearest to the person."
        )
    return notes


def _constant_here(sample: Comparison, coded: Sequence[Coded]) -> list[str]:
    there = {column.name for column in sample.columns}
    names = [one.name for one in coded if one.pair is not None and one.name not in there]
    if not names:
        return []
    listed = ", ".join(repr(name) for name in names)
    return [f"{listed}: one value in the sample, so that utility leaves it out."]


def cells_of_people(
    passes: Passes, comparison: LargeComparison, rows: RowNumbers, released_rows: RowNumbers
) -> LargeComparison:
    """Return the comparison with the cells of people and of the rows near to them."""
    names = [column.name for column in comparison.columns]
    order = [name for name in comparison.original.frame.columns if name in names]
    found = [
        passes.over(name, [Task(gathered_cells, (table, column, wanted)) for column in order])
        for name, table, wanted in zip(
            ("cells of people", "cells of released rows"),
            comparison.stored,
            (rows, released_rows),
            strict=True,
        )
    ]
    people, shown = (
        dict(zip(wanted.tolist(), pl.DataFrame(cells).rows(named=True), strict=True))
        for cells, wanted in zip(found, (rows, released_rows), strict=True)
    )
    return replace(comparison, people_cells=people, released_cells=shown)


def gathered_cells(_: Scratch, table: StoredTable, name: str, rows: RowNumbers) -> pl.Series:
    """Return the cells of some rows of a column."""
    return table.column(name).frame[name].gather(rows)


def require_rows(tables: Mapping[str, StoredTable]) -> None:
    """Refuse tables, given by their roles, with fewer than two rows."""
    for role, table in tables.items():
        if table.n_rows < 2:
            raise InputError(f"The {role} has {table.n_rows} rows, and at least 2 are needed.")

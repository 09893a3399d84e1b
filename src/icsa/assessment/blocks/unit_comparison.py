"""Two tables in files of people with several rows each, matched; a sample of units is in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from icsa.assessment.blocks.large_comparison import LargeComparison
from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.trajectories import Summarised
from icsa.comparison.unit_matching import UnitComparison, UnitSizes, compared_by
from icsa.privacy import PrivacyAssessment
from icsa.tables.stored import StoredTable
from icsa.utility.beyond_range import BeyondRange

__all__ = ["LargeUnitComparison"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LargeUnitComparison(UnitComparison):
    """A comparison of a sample of units of two tables in files, which knows all of them.

    Attributes
    ----------
    by_row : LargeComparison
        The rows of the sample.
    drawn : ndarray of int
        Which of the original's units are in the sample.
    firsts : ndarray of int
        The first row of every unit of the original.
    all_sizes : (UnitSizes, UnitSizes)
        Of both tables.
    all_columns : tuple of Summarised
        What people who stand out are compared by.
    people_cells, released_cells : mapping of int to dict
        Cells of people who stand out and of released units near to them, by unit.
    beyond : BeyondRange, optional
        How many of all released units' cells lie beyond all of the original's.
    of_rows : PrivacyAssessment, optional
        What is found about all rows, where these are people themselves.
    """

    by_row: LargeComparison
    drawn: RowNumbers
    firsts: RowNumbers
    all_sizes: tuple[UnitSizes, UnitSizes]
    all_columns: tuple[Summarised, ...]
    people_cells: Mapping[int, dict[str, Any]]
    released_cells: Mapping[int, dict[str, Any]]
    beyond: BeyondRange | None = None
    of_rows: PrivacyAssessment | None = None

    @classmethod
    def of(cls, sample: UnitComparison, **more: Any) -> LargeUnitComparison:
        """Return a comparison of a sample, with what is known of all units."""
        known = {part.name: getattr(sample, part.name) for part in fields(sample)}
        notes = compared_by(sample.design, *more["all_sizes"]), *sample.by_row.notes
        nobody: dict[int, dict[str, Any]] = {}
        told = {"people_cells": nobody, "released_cells": nobody, **more}
        return cls(**{**known, "notes": notes, **told})

    @property
    def stored(self) -> tuple[StoredTable, StoredTable]:
        """Both tables in their files."""
        return self.by_row.stored

    @property
    def shapes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Rows and columns of both tables in their files."""
        return self.by_row.shapes

    @property
    def sizes(self) -> tuple[UnitSizes, UnitSizes]:
        """How large both tables are in their files."""
        return self.all_sizes

    @property
    def n_released(self) -> int:
        """Released units."""
        return self.all_sizes[1].units

    @property
    def people_columns(self) -> tuple[Summarised, ...]:
        """What people who stand out are compared by."""
        return self.all_columns

    @property
    def is_sampled(self) -> bool:
        """Whether the sample is not all of the original."""
        return self.by_row.is_sampled

    @property
    def sample_in_words(self) -> str:
        """How many people the sample has, with how many rows."""
        return f"{self.drawn.size:,} people with {self.by_row.drawn.size:,} rows"

    def rows_of_sample(self, rows: Sequence[int]) -> tuple[int, ...]:
        """Return units of the file, from those of the sample."""
        return tuple(self.drawn[list(rows)].tolist())

    def first_rows(self, units: Sequence[int]) -> tuple[int, ...]:
        """Return the original's first row of some units."""
        return tuple(self.firsts[list(units)].tolist())

    def cells_of(self, row: int, released_row: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the cells of a person and of a released one, in the columns compared."""
        return self.people_cells[row], self.released_cells[released_row]

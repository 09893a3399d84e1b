"""Who stands out of all rows of two tables in files, and how near the release comes to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from icsa.assessment.blocks.coding_columns import Coded, Scaled, scale_stored
from icsa.assessment.blocks.filed_lenses import BlockSweep, FiledLenses, filed_lenses, filed_table
from icsa.assessment.blocks.hashed_rows import HashedTables
from icsa.assessment.blocks.large_findings import LargeFindings, Sample
from icsa.comparison.column_pairs import ColumnPair, RowNumbers
from icsa.comparison.features import FeatureTable
from icsa.privacy import Policy, PrivacyAssessment
from icsa.privacy.extremes import together
from icsa.privacy.passport import judged
from icsa.privacy.people import Surroundings, measure_nearness, measure_surroundings
from icsa.privacy.people_findings import nearest_release_group
from icsa.privacy.standing_out import named_people, standing_out
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import Scratch
from icsa.utility.beyond_range import BeyondRange, of_columns

__all__ = ["SIDES", "FiledPeople", "FoundInFiles"]

# What columns of both tables are called in scratch.
SIDES = ("original", "released")


class FoundInFiles(NamedTuple):
    """What is found about people, and how released cells leave the original's range."""

    privacy: PrivacyAssessment
    beyond: BeyondRange


@dataclass(frozen=True, eq=False)
class FiledPeople:
    """Two tables with a row a person, in scratch files.

    Attributes
    ----------
    passes : Passes
    sweep : BlockSweep
    scratches : (Scratch, Scratch)
        Where the columns "original" and "released" are.
    columns : sequence of (int, Coded)
        Which are compared, and their places in scratch.
    """

    passes: Passes
    sweep: BlockSweep
    scratches: tuple[Scratch, Scratch]
    columns: Sequence[tuple[int, Coded]]

    @property
    def _compared(self) -> list[tuple[int, Coded]]:
        """The columns that are compared, numbers first."""
        there = [(place, one) for place, one in self.columns if one.pair is not None]
        return sorted(there, key=lambda item: item[1].has_levels)

    @property
    def pairs(self) -> tuple[ColumnPair, ...]:
        """The columns without their cells, numbers first."""
        return tuple(one.pair for _, one in self._compared if one.pair is not None)

    @property
    def tables(self) -> tuple[FeatureTable, FeatureTable]:
        """The original and the release."""
        places = [place for place, _ in self._compared]
        n_numbers = sum(not one.has_levels for _, one in self._compared)
        first, second = (
            filed_table(scratch, what, places, n_numbers, self.sweep)
            for scratch, what in zip(self.scratches, SIDES, strict=True)
        )
        return first, second

    def look(
        self,
        sampled: Callable[[FiledLenses], Sample],
        rows: RowNumbers | None,
        policy: Policy | None,
    ) -> FoundInFiles:
        """Return what is found about people.

        Parameters
        ----------
        sampled : callable
            Gives the rows that everything is taken from which is not exact.
        rows : ndarray of int, optional
            Who is to be looked at, where somebody says so.
        policy : Policy, optional
        """
        lenses, scaled = self._lenses()
        each = zip(lenses.features.names, scaled, strict=False)
        beyond = of_columns({name: one.beyond for name, one in each})
        around = self._people(lenses, rows)
        findings = self._findings(lenses, around, scaled, sampled(lenses))
        self.passes.told("equal rows", 0.0)
        return FoundInFiles(judged(findings, Policy() if policy is None else policy), beyond)

    def _lenses(self) -> tuple[FiledLenses, list[Scaled]]:
        """Return the lenses on all rows, and what is known of each column of numbers."""
        original, released = self.tables
        files = zip(original.numbers.columns, released.numbers.columns, strict=True)  # type: ignore[attr-defined]
        tasks = [
            Task(scale_stored, (*files_of_one, pair.grid, j))
            for j, (files_of_one, pair) in enumerate(zip(files, self.pairs, strict=False))
        ]
        scaled: list[Scaled] = self.passes.over("scaling columns", tasks)
        self.passes.told("fitting", 0.0)
        varying = [one.varies for _, one in self._compared[len(scaled) :]]
        return filed_lenses(original, released, self.pairs, scaled, varying), scaled

    def _people(self, lenses: FiledLenses, rows: RowNumbers | None) -> Surroundings:
        self.sweep.begin("who stands out")
        people = standing_out(lenses) if rows is None else named_people(lenses, rows)
        self.sweep.begin("neighbours of people")
        return measure_surroundings(lenses, people)

    def _findings(
        self,
        lenses: FiledLenses,
        around: Surroundings,
        scaled: Sequence[Scaled],
        sample: Sample,
    ) -> LargeFindings:
        self.sweep.begin("released rows near people")
        near = measure_nearness(lenses, around)
        self.sweep.begin("equal rows")
        first, second = lenses.features.original, lenses.features.released
        return LargeFindings(
            lenses,
            around,
            near,
            nearest_release_group(near.rho["E"], first.n_rows, second.n_rows),
            sample=sample,
            hashed=HashedTables(*self.scratches),
            ends=together([one.ends for one in scaled]),
            has_gaps=bool(lenses.gaps) or any(one.has_gaps for _, one in self.columns),
        )

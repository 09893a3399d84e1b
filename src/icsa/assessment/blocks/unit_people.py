"""People with several rows in two tables in files: matched, and looked at by unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from icsa.assessment.blocks.coding_columns import Coded, Tables, code_columns
from icsa.assessment.blocks.exact_people import SIDES, FiledPeople, FoundInFiles
from icsa.assessment.blocks.filed_lenses import BlockSweep, FiledLenses
from icsa.assessment.blocks.large_comparison import drawn_rows, gathered_cells, match_stored
from icsa.assessment.blocks.large_findings import Sample
from icsa.assessment.blocks.unit_comparison import LargeUnitComparison
from icsa.assessment.blocks.unit_tables import (
    FiledUnits,
    FoundUnits,
    find_original_units,
    find_released_units,
    guessed_column,
    order_rows,
    own_values_of_units,
    summarise_columns,
)
from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import PART, Features
from icsa.comparison.matching import with_number
from icsa.comparison.trajectories import Summarised
from icsa.comparison.unit_columns import (
    require_differing,
    require_names_of_units,
    require_two_units,
    shown_units,
    wanted_of_units,
)
from icsa.comparison.unit_matching import compared_by_unit
from icsa.errors import InputError
from icsa.inspection.unit_rows import Places, some_units
from icsa.privacy import Policy, PrivacyAssessment, assess_privacy
from icsa.privacy.lenses import fit_lenses
from icsa.release.blocks.block_preparing import Declared
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import Scratch
from icsa.release.blocks.units.stored_units import StoredUnits
from icsa.release.blocks.units.unit_preparing import belonging_in_blocks
from icsa.schema import Design, Schema
from icsa.tables.stored import StoredTable
from icsa.utility.beyond_range import values_beyond_range

__all__ = ["UnitMatching", "UnitPeople"]


class _Drawn(NamedTuple):
    """Units of a sample, and their rows in the file."""

    units: Places
    rows: Places


@dataclass(frozen=True, eq=False)
class UnitPeople:
    """Two tables with a row a person, in scratch, made of tables with several.

    Attributes
    ----------
    comparison : LargeUnitComparison
    units : FiledUnits
    people, by_row : FiledPeople
        The tables with a row a person, and as they are.
    drawn : (ndarray, ndarray)
        Rows of both tables that are in the sample.
    sampled_units, units_in_memory : int
        So many units of each table are in memory at a time; an original with no more of them is
        looked at there, and the release with it.
    """

    comparison: LargeUnitComparison
    units: FiledUnits
    people: FiledPeople
    by_row: FiledPeople
    drawn: tuple[Places, Places]
    sampled_units: int
    units_in_memory: int

    def look(
        self, named: RowNumbers | None, policy: Policy | None
    ) -> tuple[LargeUnitComparison, PrivacyAssessment]:
        """Return what is found about units, and the comparison with the cells of those shown.

        Parameters
        ----------
        named : ndarray of int, optional
            Units of the original that are to be looked at, where somebody says so.
        policy : Policy, optional
        """
        if self.comparison.sizes[0].units <= self.units_in_memory:
            features = self._features(*(np.arange(one.units) for one in self.comparison.sizes))
            privacy = assess_privacy(features, outliers=named, policy=policy)
            found = FoundInFiles(privacy, values_beyond_range(features.columns))
        else:
            found = self.people.look(self._sampled, named, policy)
        rows_found = self._single_rows(policy)
        people = found.privacy.standing_out.rows
        shown = np.unique([one.released_row for one in found.privacy.people]).astype(np.int64)
        comparison = self._with_cells(people, shown)
        return replace(comparison, beyond=found.beyond, of_rows=rows_found), found.privacy

    def _single_rows(self, policy: Policy | None) -> PrivacyAssessment | None:
        """Return what is found about rows, where these are people themselves."""
        if not self.comparison.rows_are_people or not self.by_row.pairs:
            return None

        def sampled(_: FiledLenses) -> Sample:
            return Sample(fit_lenses(self.comparison.by_row.features), *self.drawn)

        return self.by_row.look(sampled, None, policy).privacy

    def _sampled(self, _: FiledLenses) -> Sample:
        """Return units that near cells and distances of everybody are taken from."""
        first, second = (drawn_rows(one.units, self.sampled_units) for one in self.comparison.sizes)
        return Sample(fit_lenses(self._features(first, second)), first, second)

    def _features(self, units: RowNumbers, released_units: RowNumbers) -> Features:
        """Return some units of both tables in memory."""
        first, second = self.people.tables
        pairs = self.people.pairs
        return Features(first.rows(units), second.rows(released_units), pairs)

    def _with_cells(self, people: RowNumbers, shown: RowNumbers) -> LargeUnitComparison:
        """Return the comparison with the cells of people and of the units near to them."""
        comparison, passes = self.comparison, self.people.passes
        columns = self._features(people, shown).columns
        frames = []
        for side, units in enumerate((people, shown)):
            table, rows = comparison.stored[side], self.units.rows(side).firsts[units]
            names = [column.name for column in columns if column.name in table.names]
            tasks = [Task(gathered_cells, (table, name, rows)) for name in names]
            cells = passes.over(("cells of people", "cells of released rows")[side], tasks)
            own = dict(zip(names, cells, strict=True))
            frames.append(shown_units(columns, side, own).rows(named=True))
        return replace(
            comparison,
            people_cells=dict(zip(people.tolist(), frames[0], strict=True)),
            released_cells=dict(zip(shown.tolist(), frames[1], strict=True)),
        )


@dataclass(frozen=True, eq=False)
class UnitMatching:
    """What finds out about two tables in files of people with several rows.

    Attributes
    ----------
    passes : Passes
    sweep : BlockSweep
    scratches : (Scratch, Scratch)
        With as many rows as the tables have.
    stored : (StoredTable, StoredTable)
    schema : Schema, optional
        As far as it was declared.
    design : Design
        With a unit.
    sampled_rows, units_in_memory : int
        So many rows of each table, in whole units, and so many units are in memory at a time.
    """

    passes: Passes
    sweep: BlockSweep
    scratches: tuple[Scratch, Scratch]
    stored: tuple[StoredTable, StoredTable]
    schema: Schema | None
    design: Design
    sampled_rows: int
    units_in_memory: int

    def matched(self, leave_out: Sequence[str]) -> UnitPeople:
        """Return the tables matched, with a row a unit of each in scratch."""
        require_names_of_units(self.stored[1].names, self.design)
        found = self._found()
        schema = self._declared(found[0].sizes.units)
        drawn = [self._drawn(side) for side in (0, 1)]
        tables = Tables(*self.stored, drawn[0].rows, drawn[1].rows)
        coded = code_columns(self.passes, tables, schema.columns, ())
        compared = [(place, one) for place, one in enumerate(coded) if one.name not in leave_out]
        by_row = FiledPeople(self.passes, self.sweep, self.scratches, compared)
        self._order(by_row, found[0].head)
        belonging = {name: spec.belongs_to or "unit" for name, spec in schema.columns.items()}
        people, chosen = self._people(by_row, belonging, found)
        said = match_stored(tables, coded, schema, leave_out, self._note(found, drawn))
        comparison = LargeUnitComparison.of(
            compared_by_unit(said, schema, belonging, found[0].head),
            as_they_are=self._own(coded, schema),
            drawn=drawn[0].units,
            firsts=self.units.rows(0).firsts,
            all_sizes=(found[0].sizes, found[1].sizes),
            all_columns=chosen,
        )
        sampled = drawn[0].rows, drawn[1].rows
        most = self.sampled_rows, self.units_in_memory
        return UnitPeople(comparison, self.units, people, self._of_rows(by_row), sampled, *most)

    @property
    def units(self) -> FiledUnits:
        """Whose rows are whose, once that was found."""
        return FiledUnits(self.scratches)

    def _of_rows(self, by_row: FiledPeople) -> FiledPeople:
        """Return the tables as they are, looked at under a name of its own; else let them go."""
        if self.design.time:
            self.passes.drop(SIDES)
            self.scratches[0].drop_spare()
        told = self.passes.told
        passes = replace(self.passes, told=lambda _, share: told("single rows", share))
        return replace(by_row, passes=passes, sweep=BlockSweep(passes, self.sweep.block_rows))

    def _found(self) -> tuple[FoundUnits, FoundUnits]:
        """Return how many units there are, after all checks of what is said of them."""
        said = {} if self.schema is None else self.schema.columns
        original, released = self.stored
        first, second = self.passes.over(
            "finding units",
            [
                Task(find_original_units, (self.units, original, said, self.design)),
                Task(find_released_units, (self.units, released, self.design.unit)),
            ],
        )
        require_two_units(second.sizes.units)
        return first, second

    def _declared(self, n_units: int) -> Schema:
        """Return what every column is, and whether it belongs to units or rows."""
        original, design = self.stored[0], self.design
        said = {} if self.schema is None else self.schema.columns
        names = [name for name in original.names if name not in said]
        tasks = [Task(guessed_column, (original, name)) for name in names]
        guessed = dict(zip(names, self.passes.over("looking at columns", tasks), strict=True))
        columns = {name: said.get(name) or guessed[name] for name in original.names}
        schema = replace(self.schema or Schema(columns=columns), columns=columns, design=design)
        declared = Declared(schema, "mixed", by_schema=self.schema is not None)
        stored = StoredUnits(original, self.scratches[0])
        found, _ = belonging_in_blocks(self.passes, stored, declared, n_units)
        return with_number(with_number(found, design.time), design.weight)

    def _drawn(self, side: int) -> _Drawn:
        """Return some units of a table, all of few, and their rows."""
        rows = self.units.rows(side)
        units, places = some_units(rows.starts, self.sampled_rows)
        if units.size < 2:
            raise InputError(
                f"A sample of {self.sampled_rows:,} rows does not hold two units of "
                f"{self.design.unit!r}, because they have so many rows each. Name a unit with "
                "fewer rows, or say --unit none where every row is a person of its own."
            )
        return _Drawn(units, np.sort(rows.order[places]))

    def _order(self, by_row: FiledPeople, head: str | None) -> None:
        """Put the rows of all units into their order."""
        time = _time_of(by_row, self.design)
        tasks = []
        for side, table in enumerate(self.stored):
            times = None if time is None else by_row.tables[side].numbers.columns[time]  # type: ignore[attr-defined]
            told = self.units, side, times, table, self.design.role, head
            tasks.append(Task(order_rows, told))
        self.passes.over("order of rows", tasks)

    def _people(
        self,
        by_row: FiledPeople,
        belonging: Mapping[str, str],
        found: tuple[FoundUnits, FoundUnits],
    ) -> tuple[FiledPeople, tuple[Summarised, ...]]:
        """Return both tables with a row a unit, and what their columns are: those that vary."""
        wanted = wanted_of_units(by_row.pairs, belonging, self.design)
        first, second = found
        folder = self.scratches[0].folder / "units"
        folder.mkdir(exist_ok=True)
        scratches = Scratch(folder, first.sizes.units), Scratch(folder, second.sizes.units)
        tables = tuple(replace(table, sweep=None) for table in by_row.tables)
        coded = summarise_columns(
            self.passes,
            self.units,
            (tables[0], tables[1]),
            by_row.pairs,
            wanted,
            _time_of(by_row, self.design),
            scratches,
        )
        kept = [(place, one) for place, one in enumerate(coded) if one.pair is not None]
        require_differing(kept)
        width = max(len(table.names) for table in self.stored)
        block_rows = self.sweep.block_rows * width // max(width, len(kept))
        passes = replace(self.passes, scratch=scratches[0])  # passes of rows have the same names
        sweep = BlockSweep(passes, max(PART, block_rows // PART * PART))
        people = FiledPeople(passes, sweep, scratches, kept)
        return people, tuple(wanted[place] for place, _ in kept)

    def _own(self, coded: Sequence[Coded], schema: Schema) -> dict[str, int]:
        """Return in how many released units own values stand of what names people or is text."""
        names = [one.name for one in coded if one.own is not None]
        tasks = [
            Task(
                own_values_of_units,
                (self.units, self.stored, name, schema.columns[name].belongs_to),
            )
            for name in names
        ]
        counts = self.passes.over("own values of units", tasks)
        return {name: count for name, count in zip(names, counts, strict=True) if count}

    def _note(self, found: tuple[FoundUnits, FoundUnits], drawn: Sequence[_Drawn]) -> str:
        """Return what is computed from all units, and what from which sample."""
        everybody = "near cells, distances to closest records"
        exact = "who stands out, who is nearest to them, equal ones and rare equal cells"
        of_whom = "units" if self.design.time else "units, and all rows, which are people too"
        if found[0].sizes.units <= self.units_in_memory:
            exact, of_some = f"{exact}, {everybody}", ""
        else:
            most = [min(one.sizes.units, self.sampled_rows) for one in found]
            of_some = f" From {most[0]:,} original and {most[1]:,} released units: {everybody}."
        return (
            f"The tables were read from their files. From all {of_whom}: {exact}, extremes."
            f"{of_some} From {drawn[0].units.size:,} original and {drawn[1].units.size:,} released "
            f"units, drawn at random with all their rows ({drawn[0].rows.size:,} and "
            f"{drawn[1].rows.size:,}): parts of people, attackers, and what analyses lose."
        )


def _time_of(by_row: FiledPeople, design: Design) -> int | None:
    """Return where the time is among the numbers of rows."""
    names = [pair.name for pair in by_row.pairs if pair.levels is None]
    return names.index(design.time) if design.time in names else None

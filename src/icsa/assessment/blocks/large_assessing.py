"""An assessment of two tables in files, from the first pass over columns to the word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from icsa.assessment.asked import Asked, check_asked, read_outliers
from icsa.assessment.assessing import Assessment, part_of
from icsa.assessment.blocks.coding_columns import (
    Coded,
    Tables,
    code_columns,
)
from icsa.assessment.blocks.exact_people import FiledPeople
from icsa.assessment.blocks.filed_lenses import BlockSweep, FiledLenses
from icsa.assessment.blocks.large_comparison import (
    SAMPLED_ROWS,
    LargeComparison,
    cells_of_people,
    drawn_rows,
    match_stored,
    require_rows,
)
from icsa.assessment.blocks.large_findings import Sample
from icsa.assessment.blocks.made_again import MadeAgain, MadeBy, how_made_again
from icsa.assessment.blocks.stages import share_of_stages
from icsa.assessment.blocks.text_sources import (
    Source,
    Told,
    after_reading,
    drop_all_but_text,
    rows_for_sure,
    stored_sources,
)
from icsa.assessment.blocks.unit_comparison import LargeUnitComparison
from icsa.assessment.blocks.unit_people import UnitMatching
from icsa.assessment.blocks.whole import files_handed_in, whole_assessment
from icsa.assessment.efficiency import compare_efficiency
from icsa.assessment.provenance import HandedIn
from icsa.assessment.whom_compared import are_by_unit, require_same_people
from icsa.columns.declared import ColumnSpec
from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import PART
from icsa.comparison.matching import require_columns
from icsa.inspection.design_checks import require_sense, require_weight
from icsa.privacy import Policy, PrivacyAssessment
from icsa.privacy.lenses import fit_lenses
from icsa.randomness import as_key
from icsa.release.blocks.block_preparing import require_no_units
from icsa.release.blocks.ground import Resources, rows_in_memory
from icsa.release.blocks.passes import Passes
from icsa.release.blocks.scratch import Scratch
from icsa.release.blocks.scratch_runs import Run, opened_scratch
from icsa.schema import NO_DESIGN, Schema, design_with
from icsa.tables import Table
from icsa.tables.stored import StoredTable
from icsa.threads import give_back_memory

__all__ = ["Wanted", "assess_stored"]

# More memory than this makes no block faster.
_ENOUGH = 1 << 28


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is asked of an assessment, as `icsa.assessment.assess` takes it.

    `design` is what is said of the rows besides what the schema says. `sampled_rows` of each table
    are in memory at a time; people with several rows are looked at there up to `units_in_memory`.
    `made_by` says how the release was made: that is rehearsed, and tried under fresh keys, on the
    sample. `are_frames` says that the files of the tables are nobody's but ours.
    """

    schema: Schema | None = None
    design: Mapping[str, Any] = field(default_factory=dict)
    outliers: Any = None
    policy: Policy | None = None
    asked: Asked = field(default_factory=Asked)
    holdout: Table | None = None
    files: Mapping[str, Path | None] | None = None
    prepared_by: str = ""
    decided_by: str = ""
    sampled_rows: int = SAMPLED_ROWS
    units_in_memory: int = SAMPLED_ROWS
    making: Mapping[str, Any] | None = None
    are_frames: bool = False
    made_by: MadeBy | None = None
    rehearse: int | None = None
    redraws: int = 0

    def again(self, comparison: LargeComparison | LargeUnitComparison) -> MadeAgain:
        """Return how the sample is released again."""
        return how_made_again(
            comparison,
            self.made_by,
            rehearse=self.rehearse,
            redraws=self.redraws,
            holdout=self.holdout,
        )


def assess_stored(
    original: Source,
    released: Source,
    resources: Resources,
    wanted: Wanted | Callable[[Table], Wanted],
    told: Told,
    *,
    against: Source | None = None,
) -> Assessment:
    """Return the assessment of a release whose tables do not fit in memory.

    Parameters
    ----------
    original, released : StoredTable or TextTable
        Text is read into scratch first.
    resources : Resources
        Memory, workers, and where scratch files go; these are removed at the end.
    wanted : Wanted
        Or a function of the original without its rows: columns of text are known once it is read.
    told : callable
        Called with the name of each stage and the share of the work that is done before it.
    against : StoredTable or TextTable, optional
        Another release, assessed for the same people.
    """
    sources = {"original": original, "release": released}
    if against is not None:
        sources["other release"] = against
    if all(map(rows_for_sure, sources.values())):
        _sizes_of_tasks(sources.values(), resources)  # refused before anything is read
    about = {"input": str(original.parts[0])}
    run = Run(about, as_key(None), resumable=False, command="icsa assess")
    with opened_scratch(resources.scratch, run, resume=False) as folder:
        passes = Passes(Scratch(folder, 0), workers=resources.workers, dask=resources.dask)
        tables = stored_sources(passes, sources, resources, told)
        require_rows(tables)
        first, second = tables["original"], tables["release"]
        asked = _with_design(wanted(first.without_rows()) if callable(wanted) else wanted, first)
        design = asked.asked.design
        of_units = are_by_unit(design, first.names, second.names)
        if against is not None:
            require_same_people(design, *(table.names for table in tables.values()))
        handed = files_handed_in(tables, asked)
        at_a_time, rows = _sizes_of_tasks(tables.values(), resources, of_units=of_units)
        passes = replace(passes, columns_at_a_time=at_a_time)
        tell = after_reading(told, sources)
        part = tell if against is None else part_of(tell, 0.0)
        found = _assessed((first, second), passes, rows, asked, handed, part)
        if against is None or not found.tables.columns:
            return found
        drop_all_but_text(folder)
        give_back_memory()
        people = found.privacy.standing_out.rows
        alone = replace(asked, holdout=None, made_by=None, rehearse=None, redraws=0)
        part = part_of(tell, 0.5, "the other release: ")
        both = first, tables["other release"]
        other = _assessed(both, passes, rows, alone, handed, part, people)
        return replace(found, efficiency=compare_efficiency(found, other))


def _with_design(wanted: Wanted, original: StoredTable) -> Wanted:
    """Return what is asked, with whom the rows are about: analyses go by it."""
    said = NO_DESIGN if wanted.schema is None else wanted.schema.design
    design = design_with(said, original.names, **wanted.design)
    return replace(wanted, asked=replace(wanted.asked, design=design))


def _assessed(
    tables: tuple[StoredTable, StoredTable],
    passes: Passes,
    block_rows: int,
    wanted: Wanted,
    handed: HandedIn,
    told: Told,
    people: RowNumbers | None = None,
) -> Assessment:
    """Return the assessment of one release, of people who stand out or of those given."""
    folder = passes.scratch.folder
    scratches = Scratch(folder, tables[0].n_rows), Scratch(folder, tables[1].n_rows)
    passes = replace(
        passes,
        scratch=scratches[0],
        told=lambda name, share: told(*share_of_stages(name, share)),
    )
    large = _Large(passes, BlockSweep(passes, block_rows), scratches, wanted, people)
    return whole_assessment(*large.privacy_of(*tables), wanted, handed, told)


def _sizes_of_tasks(
    tables: Iterable[Source], resources: Resources, *, of_units: bool = False
) -> tuple[int, int]:
    """Return how many columns are worked on at a time, and how many rows a block has.

    An error where a column does not fit. Rows of units need twice the room, as for releases.
    """
    sizes = [(table.n_rows, len(table.names)) for table in tables]
    rows, width = (max(size) for size in zip(*sizes, strict=True))
    at_a_time = resources.columns_at_a_time(rows, of_units=of_units)
    share = resources.memory // resources.workers
    return at_a_time, max(PART, rows_in_memory(min(share, _ENOUGH), width) // PART * PART)


@dataclass(frozen=True, eq=False)
class _Large:
    """Who runs the passes, and what they are for."""

    passes: Passes
    sweep: BlockSweep
    scratches: tuple[Scratch, Scratch]
    wanted: Wanted
    people: RowNumbers | None = None

    def privacy_of(
        self, original: StoredTable, released: StoredTable
    ) -> tuple[LargeComparison | LargeUnitComparison, PrivacyAssessment | None, MadeAgain | None]:
        """Return how the tables are matched, what is found about people, and how to go again."""
        if are_by_unit(self.wanted.asked.design, original.names, released.names):
            return self._of_units(original, released)
        sizes = original.n_rows, released.n_rows
        samples = (drawn_rows(n_rows, self.wanted.sampled_rows) for n_rows in sizes)
        tables = Tables(original, released, *samples)
        coded, schema = self._coded(tables)
        rows, marker = self._named(original)
        leave_out = [marker] if marker else []
        comparison = match_stored(tables, coded, schema, leave_out)
        if self.people is not None:
            rows = self.people
            require_columns(comparison)
        check_asked(self.wanted.asked, comparison)
        if not comparison.columns:
            return comparison, None, None
        again = self.wanted.again(comparison)  # what cannot be is refused before the work
        compared = [(place, one) for place, one in enumerate(coded) if one.name not in leave_out]
        chosen = tables.sample, tables.released_sample

        def sampled(_: FiledLenses) -> Sample:
            return Sample(fit_lenses(comparison.features), *chosen)

        everybody = FiledPeople(self.passes, self.sweep, self.scratches, compared)
        privacy, beyond = everybody.look(sampled, rows, self.wanted.policy)
        shown = np.unique([person.released_row for person in privacy.people]).astype(np.int64)
        people = privacy.standing_out.rows
        known = cells_of_people(self.passes, comparison, people, shown)
        known = replace(known, beyond=beyond)
        return known, privacy, replace(again, comparison=known)

    def _of_units(
        self, original: StoredTable, released: StoredTable
    ) -> tuple[LargeUnitComparison, PrivacyAssessment, MadeAgain]:
        """Return the same of people with several rows."""
        rows, marker = self._named(original)
        found = UnitMatching(
            self.passes,
            self.sweep,
            self.scratches,
            (original, released),
            self.wanted.schema,
            self.wanted.asked.design,
            self.wanted.sampled_rows,
            self.wanted.units_in_memory,
        ).matched([marker] if marker else [])
        check_asked(self.wanted.asked, found.comparison)
        again = self.wanted.again(found.comparison)  # what cannot be is refused before the work
        named = self.people
        if named is None and rows is not None:
            named = found.units.units_of(rows)
        return *found.look(named, self.wanted.policy), again

    def _coded(self, tables: Tables) -> tuple[list[Coded], Schema]:
        """Return all columns, their cells in scratch, and what they are."""
        schema, design = self.wanted.schema, self.wanted.asked.design
        said: Mapping[str, ColumnSpec] = {} if schema is None else schema.columns
        coded = code_columns(self.passes, tables, said, (design.weight,))
        columns = {one.name: one.spec for one in coded if one.spec is not None}
        found = replace(schema or Schema(columns=columns), columns=columns, design=design)
        require_sense(found)
        if design.weight:
            self.passes.once("weights", _require_weight, tables.original, found)
        if design.unit is None:
            for place, one in enumerate(coded):
                if one.may_name:
                    told = tables.original, one.name, "Compared"
                    self.passes.once(f"people named {place}", require_no_units, *told)
        return coded, found

    def _named(self, original: StoredTable) -> tuple[np.ndarray | None, str | None]:
        """Return who is to be looked at, where somebody says so."""
        outliers = self.wanted.outliers
        if outliers is None:
            return None, None
        name = str(outliers) if str(outliers) in original.names else None
        n = original.n_rows
        table = (
            original.column(name)
            if name
            else Table(pl.DataFrame({"row": pl.zeros(n, dtype=pl.Int8, eager=True)}))
        )
        return read_outliers(outliers, table)


def _require_weight(_: Scratch, table: StoredTable, schema: Schema) -> None:
    assert schema.design.weight
    require_weight(table.column(schema.design.weight), schema)

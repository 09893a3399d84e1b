"""An assessment of two tables in files, from the first pass over columns to the word."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from icsa.assessment.asked import Asked, check_asked, read_outliers
from icsa.assessment.assessing import Assessment, put_together, without_columns
from icsa.assessment.blocks.coding_columns import (
    Coded,
    Scaled,
    Tables,
    code_stored,
    scale_stored,
)
from icsa.assessment.blocks.filed_lenses import BlockSweep, FiledLenses, filed_lenses, filed_table
from icsa.assessment.blocks.hashed_rows import HashedTables
from icsa.assessment.blocks.large_comparison import (
    SAMPLED_ROWS,
    LargeComparison,
    cells_of_people,
    drawn_rows,
    match_stored,
    require_rows,
)
from icsa.assessment.blocks.large_findings import LargeFindings, Sample
from icsa.assessment.blocks.stages import share_of_stages
from icsa.assessment.provenance import HandedFile, HandedIn, handed_in
from icsa.assessment.rehearsal import how_controlled
from icsa.assessment.remedies import Circumstances, with_remedies
from icsa.attacks.tallies import not_applicable
from icsa.columns.declared import ColumnSpec
from icsa.comparison.features import PART
from icsa.errors import InputError
from icsa.files import fingerprint
from icsa.inspection.profile import profile_of
from icsa.inspection.units_seen import rows_of_some, seen_in_sample
from icsa.privacy import Policy, PrivacyAssessment
from icsa.privacy.extremes import together
from icsa.privacy.lenses import fit_lenses
from icsa.privacy.passport import judged
from icsa.privacy.people import Surroundings, measure_nearness, measure_surroundings
from icsa.privacy.people_findings import nearest_release_group
from icsa.privacy.standing_out import named_people, standing_out
from icsa.randomness import as_key
from icsa.release.blocks.ground import memory_of_a_column, rows_in_memory
from icsa.release.blocks.large_runs import Resources
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import Scratch
from icsa.release.blocks.scratch_runs import Run, opened_scratch
from icsa.schema import Design, Schema
from icsa.tables import Table
from icsa.tables.stored import StoredTable
from icsa.utility.beyond_range import of_columns

__all__ = ["Wanted", "assess_stored"]

# More memory than this makes no block faster.
_ENOUGH = 1 << 28
# What the last row's cells are guessed from are sums over all rows: a sample has others.
_LAST_PERSON = "all but one"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is asked of an assessment, as `icsa.assessment.assess` takes it.

    `sampled_rows` of each table are in memory at a time.
    """

    schema: Schema | None = None
    every_row_a_person: bool = False
    outliers: Any = None
    policy: Policy | None = None
    asked: Asked = field(default_factory=Asked)
    holdout: Table | None = None
    files: Mapping[str, Path | None] | None = None
    prepared_by: str = ""
    decided_by: str = ""
    sampled_rows: int = SAMPLED_ROWS


def assess_stored(
    original: StoredTable,
    released: StoredTable,
    resources: Resources,
    wanted: Wanted,
    told: Callable[[str, float], None],
) -> Assessment:
    """Return the assessment of a release whose tables do not fit in memory.

    Parameters
    ----------
    original, released : StoredTable
    resources : Resources
        Memory, workers, and where scratch files go; these are removed at the end.
    wanted : Wanted
    told : callable
        Called with the name of each stage and the share of the work that is done before it.
    """
    require_rows((original, released))
    block_rows = _block_rows(original, released, resources)
    run = Run({"input": str(original.parts[0])}, as_key(None), resumable=False)
    with opened_scratch(resources.scratch, run, resume=False) as folder:
        scratches = Scratch(folder, original.n_rows), Scratch(folder, released.n_rows)
        passes = Passes(
            scratches[0],
            workers=resources.workers,
            dask=resources.dask,
            told=lambda name, share: told(*share_of_stages(name, share)),
        )
        sweep = BlockSweep(passes, block_rows)
        large = _Large(passes, sweep, scratches, wanted)
        comparison, privacy = large.privacy_of(original, released)
        return _whole(comparison, privacy, wanted, told)


def _handed(comparison: LargeComparison, wanted: Wanted) -> HandedIn:
    """Return what was handed in, every part of the tables by its name."""
    people = {"prepared_by": wanted.prepared_by, "decided_by": wanted.decided_by}
    handed = handed_in({"holdout": wanted.holdout}, wanted.files, **people)
    parts = [
        HandedFile(role, part.name, fingerprint(part))
        for role, table in zip(("original", "release"), comparison.stored, strict=True)
        for part in table.parts
    ]
    return replace(handed, files=(*parts, *handed.files))


def _block_rows(original: StoredTable, released: StoredTable, resources: Resources) -> int:
    """Return how many rows a task takes; an error where a column does not fit."""
    share = resources.memory // resources.workers
    rows = max(original.n_rows, released.n_rows)
    needed = memory_of_a_column(rows)
    if share < needed:
        fewer = ", or fewer --workers" if resources.workers > 1 else ""
        raise InputError(
            f"A column of {rows:,} rows takes {needed / 1e9:.2g} GB while it is worked on, and "
            f"{share / 1e9:.2g} GB may be taken by each worker. Give --memory "
            f"{needed * resources.workers / 1e9:.2g}GB{fewer}."
        )
    width = max(len(original.names), len(released.names))
    return max(PART, rows_in_memory(min(share, _ENOUGH), width) // PART * PART)


@dataclass(frozen=True, eq=False)
class _Large:
    """Who runs the passes, and what they are for."""

    passes: Passes
    sweep: BlockSweep
    scratches: tuple[Scratch, Scratch]
    wanted: Wanted

    def privacy_of(
        self, original: StoredTable, released: StoredTable
    ) -> tuple[LargeComparison, PrivacyAssessment | None]:
        """Return how the tables are matched, and what is found about people, if any."""
        sizes = original.n_rows, released.n_rows
        samples = (drawn_rows(n_rows, self.wanted.sampled_rows) for n_rows in sizes)
        tables = Tables(original, released, *samples)
        coded, schema = self._coded(tables)
        rows, marker = self._named(tables)
        leave_out = [marker] if marker else []
        comparison = match_stored(tables, coded, schema, leave_out)
        check_asked(self.wanted.asked, comparison)
        if not comparison.columns:
            return comparison, None
        how_controlled(comparison, None, None, self.wanted.holdout)  # refused before the work
        lenses, scaled = self._lenses(
            [(place, one) for place, one in enumerate(coded) if one.name not in leave_out]
        )
        names = lenses.features.names
        beyond = of_columns({name: one.beyond for name, one in zip(names, scaled, strict=False)})
        comparison = replace(comparison, beyond=beyond)
        around = self._people(lenses, rows)
        findings = self._findings(lenses, around, scaled, comparison, tables, coded)
        self.passes.told("equal rows", 0.0)
        policy = Policy() if self.wanted.policy is None else self.wanted.policy
        privacy = judged(findings, policy)
        shown = [person.released_row for person in privacy.people]
        comparison = cells_of_people(
            self.passes, comparison, around.people.rows, np.unique(np.array(shown, dtype=np.int64))
        )
        return comparison, privacy

    def _coded(self, tables: Tables) -> tuple[list[Coded], Schema]:
        """Return all columns, their cells in scratch, and what they are."""
        first, second = tables.original.names, tables.released.names
        names = [*first, *(name for name in second if name not in first)]
        schema = self.wanted.schema
        said: Mapping[str, ColumnSpec] = {} if schema is None else schema.columns
        tasks = [
            Task(code_stored, (tables, name, place, said.get(name)))
            for place, name in enumerate(names)
        ]
        coded: list[Coded] = self.passes.over("reading columns", tasks)
        columns = {one.name: one.spec for one in coded if one.spec is not None}
        found = Schema(columns=columns) if schema is None else replace(schema, columns=columns)
        if self.wanted.every_row_a_person:
            found = replace(found, design=Design(unit=False))
        _require_row_by_row(found)
        if found.design.unit is None:
            for place, one in enumerate(coded):
                if one.may_name:
                    self.passes.once(
                        f"people named {place}", _require_no_units, tables.original, one.name
                    )
        return coded, found

    def _named(self, tables: Tables) -> tuple[np.ndarray | None, str | None]:
        """Return who is to be looked at, where somebody says so."""
        outliers = self.wanted.outliers
        if outliers is None:
            return None, None
        name = str(outliers) if str(outliers) in tables.original.names else None
        n = tables.original.n_rows
        table = (
            tables.original.column(name)
            if name
            else Table(pl.DataFrame({"row": pl.zeros(n, dtype=pl.Int8, eager=True)}))
        )
        return read_outliers(outliers, table)

    def _lenses(self, coded: Sequence[tuple[int, Coded]]) -> tuple[FiledLenses, list[Scaled]]:
        """Return the lenses on all rows, and what is known of each column of numbers."""
        compared = [(place, one.pair, one) for place, one in coded if one.pair is not None]
        numbers = [item for item in compared if item[1].levels is None]
        codes = [item for item in compared if item[1].levels is not None]
        places = [place for place, _, _ in (*numbers, *codes)]
        original, released = (
            filed_table(scratch, what, places, len(numbers), self.sweep)
            for scratch, what in zip(self.scratches, ("original", "released"), strict=True)
        )
        files = zip(original.numbers.columns, released.numbers.columns, strict=True)  # type: ignore[attr-defined]
        tasks = [
            Task(scale_stored, (*pair, item[1].grid, j))
            for j, (pair, item) in enumerate(zip(files, numbers, strict=True))
        ]
        scaled: list[Scaled] = self.passes.over("scaling columns", tasks)
        columns = tuple(pair for _, pair, _ in (*numbers, *codes))
        self.passes.told("fitting", 0.0)
        varying = [one.varies for _, _, one in codes]
        return filed_lenses(original, released, columns, scaled, varying), scaled

    def _people(self, lenses: FiledLenses, rows: np.ndarray | None) -> Surroundings:
        self.sweep.begin("who stands out")
        people = standing_out(lenses) if rows is None else named_people(lenses, rows)
        self.sweep.begin("neighbours of people")
        return measure_surroundings(lenses, people)

    def _findings(
        self,
        lenses: FiledLenses,
        around: Surroundings,
        scaled: Sequence[Scaled],
        comparison: LargeComparison,
        tables: Tables,
        coded: Sequence[Coded],
    ) -> LargeFindings:
        self.sweep.begin("released rows near people")
        near = measure_nearness(lenses, around)
        self.sweep.begin("equal rows")
        n, n_released = tables.original.n_rows, tables.released.n_rows
        group = nearest_release_group(near.rho["E"], n, n_released)
        sample = Sample(fit_lenses(comparison.features), tables.sample, tables.released_sample)
        gaps = bool(lenses.gaps) or any(one.has_gaps for one in coded)
        return LargeFindings(
            lenses,
            around,
            near,
            group,
            sample=sample,
            hashed=HashedTables(*self.scratches),
            ends=together([one.ends for one in scaled]),
            has_gaps=gaps,
        )


def _whole(
    comparison: LargeComparison,
    privacy: PrivacyAssessment | None,
    wanted: Wanted,
    told: Callable[[str, float], None],
) -> Assessment:
    """Return the assessment, with attackers and utility from the sample."""
    handed = _handed(comparison, wanted)
    if privacy is None:
        return without_columns(comparison, wanted.policy, handed)
    controlled = how_controlled(comparison, None, None, wanted.holdout)
    found = put_together(
        comparison,
        privacy,
        controlled,
        wanted.asked,
        handed,
        lambda stage, share: told(*share_of_stages("sample", share, stage)),
        holdout=wanted.holdout,
        without_attacks=(_LAST_PERSON,),
        beyond=comparison.beyond,
    )
    left_out = not_applicable(
        _LAST_PERSON,
        knows="all rows but one",
        guesses="cells of the last row",
        reason="it takes all rows of both tables at once, and they do not fit in memory",
    )
    found = replace(found, attackers=(*found.attackers, left_out))
    advice = Circumstances(
        file=comparison.stored[0].parts[0],
        schema=(wanted.files or {}).get("schema"),
        making=None,
        people=found.people,
        design=wanted.asked.design,
    )
    return replace(found, reasons=with_remedies(found.reasons, advice))


def _require_row_by_row(schema: Schema) -> None:
    design = schema.design
    said = [key for key in ("unit", "weight", "strata") if getattr(design, key)]
    if said:
        raise InputError(
            f"A table that does not fit in memory is assessed row by row, and {said[0]} was given. "
            "Use a machine with more memory (--memory says how much data may take), or leave "
            f"{said[0]} out if every row is a person of its own."
        )


def _require_no_units(_: Scratch, table: StoredTable, name: str) -> None:
    """Refuse a table in which a column seems to name people with several rows."""
    own = table.column(name)
    profile, rows = profile_of(own, name), rows_of_some(own.frame[name])
    del own
    cells = [table.column(other).frame[other][rows] for other in table.names]
    sample = Table(pl.DataFrame(cells), table.variables, table.layout)
    if seen_in_sample(sample, name, profile):
        raise InputError(
            f"Several rows seem to be about one person: {name!r} stands for "
            f"{profile.distinct:,} people or groups in {profile.n_rows:,} rows. Compared row by "
            "row, people would come apart. A table that does not fit in memory is assessed row by "
            "row only: use a machine with more memory (--memory) and --unit, or --unit none where "
            "every row is a person of its own."
        )

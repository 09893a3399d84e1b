"""A large table with several rows a person released: units, their times, rows, and all together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from icsa.inspection.unit_rows import leaves_of
from icsa.matrices import Matrix
from icsa.randomness import Key
from icsa.release.blocks.block_masking import (
    decode_column,
    keep_stored_rules,
    restore_columns,
    take_mended,
)
from icsa.release.blocks.block_preparing import Declared
from icsa.release.blocks.block_weights import check_weights, with_weights
from icsa.release.blocks.ground import Ground
from icsa.release.blocks.made_in_blocks import MadeInBlocks
from icsa.release.blocks.passes import OF_A_BLOCK, Passes, Task
from icsa.release.blocks.scratch import Scratch, StoredNumbers, read_starts
from icsa.release.blocks.units.level_tables import ReleasedUnits, goes_in_blocks, release_units
from icsa.release.blocks.units.released_people import (
    Counted,
    PeopleFiles,
    given_to_rows,
    released_rows,
    write_people,
)
from icsa.release.blocks.units.side_by_side import release_side_by_side
from icsa.release.blocks.units.unit_cells import made_of_units
from icsa.release.blocks.units.unit_planning import PlannedRows, plan_rows_in_blocks
from icsa.release.blocks.units.unit_preparing import (
    DeclaredUnits,
    PreparedUnits,
    declare_units_in_blocks,
    prepare_units_in_blocks,
)
from icsa.release.blocks.units.unit_residuals import mask_residuals, plan_residuals, some_masked
from icsa.release.blocks.units.unit_weights import weighing_in_blocks
from icsa.release.methods import MethodOptions, method_of
from icsa.release.units.level_calibration import Correction, Middle
from icsa.release.units.level_plan import LevelPlan
from icsa.release.units.row_residuals import ResidualPlan
from icsa.release.units.two_levels import require_straight
from icsa.release.units.visit_times import TimePattern

__all__ = ["release_units_in_blocks"]


@dataclass(frozen=True, eq=False)
class _Moved:
    """How masked rows become scores: correlations given back, and calibrated."""

    move: Matrix
    correction: Correction | None


def release_units_in_blocks(
    passes: Passes, ground: Ground, declared: Declared, key: Key, options: MethodOptions
) -> MadeInBlocks:
    """Return the release of a stored table with several rows a unit: the cells of one in memory."""
    people = declare_units_in_blocks(passes, ground.table, declared)
    way = release_side_by_side if people.side_by_side else _release_levels
    if not people.schema.design.weight:
        return way(passes, ground, people, key, options)[1]
    total = passes.once("weights", check_weights, ground.table, people.schema)
    weighing = weighing_in_blocks(passes, ground, people, total)
    after, made = way(passes, ground, people, key, options)
    return with_weights(after, ground, weighing, made)


def _release_levels(
    passes: Passes, ground: Ground, people: DeclaredUnits, key: Key, options: MethodOptions
) -> tuple[Passes, MadeInBlocks]:
    """Return the release on two levels, weights as logarithms, and passes over its rows."""
    method = method_of(**options)
    require_straight(method)
    prepared = prepare_units_in_blocks(passes, people)
    goes_in_blocks(passes, ground, prepared)  # or is refused before the long passes
    planned = plan_rows_in_blocks(passes, prepared)
    mask = method.mask or prepared.rows.recipe.mask
    residuals = plan_residuals(passes, ground, planned, method, mask)
    options = {**options, "straight": True}
    made = release_units(passes, ground, prepared, planned, options, key.child("units"))
    for what in ("effects", "pattern", "x", "ends"):
        prepared.of_units.drop(what)
    passes.drop(["times", "elapsed"])
    prepared.of_units.drop_spare()
    plan = _level_plan(prepared, planned, residuals, made, ground.n_rows)
    counted: Counted = passes.once(
        "times of rows", write_people, prepared, plan, made.table.cells, key.child("times")
    )
    cells = made.table.cells
    cells.let_go(name for name in cells.columns if name not in prepared.schema.columns)
    prepared.of_units.drop_spare()
    rows = released_rows(passes.scratch, counted.n_rows)
    mask_residuals(passes, ground, residuals, counted.n_rows, key.child("residuals"))
    passes.scratch.drop_spare()
    files = PeopleFiles(
        original=passes.scratch,
        rows=rows,
        units=prepared.of_units,
        n_scores=planned.files.n_scores,
        n_slopes=planned.effects.sloped.size,
        width=planned.files.width,
        timed=planned.files.timed,
        bounded=planned.files.bounded,
        weighted=prepared.weight is not None,
    )
    after = replace(passes, scratch=rows)
    moved = _release_rows(after, plan, files, counted.middle, key.child("rows"), ground.table.names)
    return after, made_of_units(after, prepared, plan, made.table, moved, key)


def _level_plan(
    prepared: PreparedUnits,
    planned: PlannedRows,
    residuals: ResidualPlan,
    units: ReleasedUnits,
    n_rows: int,
) -> LevelPlan:
    """Return the plan of both levels without anything that has a row a row."""
    level = planned.level
    return LevelPlan(
        schema=prepared.schema,
        spare=prepared.stored.without_rows(),
        columns=units.table.plan.columns,
        n_rows=n_rows,
        units=units.table.plan,
        rows=replace(level, notes=(*level.notes, *residuals.notes)),
        unit_columns=prepared.above.columns,
        time=prepared.above.time,
        pattern=TimePattern(None, 1, np.ones(1), (), {}),
        curve=prepared.curve,
        effects=planned.effects,
        residuals=residuals,
        turned=units.turned,
        scores=planned.scores,
        aggregates=planned.aggregates,
        wanted=planned.wanted,
        weight=prepared.weight,
        ends=planned.files.compared_ends,
    )


def _release_rows(
    passes: Passes,
    plan: LevelPlan,
    files: PeopleFiles,
    middle: Middle,
    key: Key,
    names: tuple[str, ...],
) -> dict[str, int]:
    """Write the numbers of every column of released rows; return cells that rules moved."""
    scratch = passes.scratch
    starts = read_starts(scratch)
    leaves = leaves_of(starts)
    moved: _Moved = passes.once("calibrating", _calibrate, plan, files, leaves[0])
    scratch.allocate("back", files.n_scores)
    tasks = [Task(_put_together, (plan, files, leaf, moved, middle)) for leaf in leaves]
    passes.over("putting together", tasks, held=OF_A_BLOCK)
    for number in range(-(-scratch.n_rows // files.original.n_rows)):
        files.original.drop(f"fresh {number}")
    files.original.drop_spare()
    encoding, derivation = plan.decoded_by(key, scratch.n_rows)
    parts = list(enumerate(encoding.parts))
    passes.over(
        "decoding", [Task(decode_column, (number, part, encoding)) for number, part in parts]
    )
    passes.drop(["back"])
    coded = {part.column.name: part.column for _, part in parts}
    above = {name: ("released", names.index(name)) for name in given_to_rows(plan)}
    passes.once("computing", restore_columns, plan.bonds, derivation, coded, names, above)
    passes.drop(["decoded"])
    columns = [*above, *plan.rows.columns]
    counts, mended = passes.once(
        "keeping rules", keep_stored_rules, columns, plan.bonds, plan.rules, names
    )
    passes.once("rules kept", take_mended, mended)
    passes.once("what units have of released rows", _aggregate, plan, columns, names)
    scratch.drop_spare()
    found: dict[str, int] = counts
    return found


def _calibrate(scratch: Scratch, plan: LevelPlan, files: PeopleFiles, leaf: slice) -> _Moved:
    """Return how rows are moved, from the first units."""
    starts = read_starts(scratch)
    rows = slice(0, int(starts[leaf.stop]))
    masked = some_masked(files.original, files.n_scores, rows)
    move = plan.residuals.move(masked)
    parts = plan.parts_of(files.people(leaf, rows), starts[: leaf.stop + 1], masked, move)
    return _Moved(move, plan.corrected(parts))


def _put_together(
    scratch: Scratch,
    plan: LevelPlan,
    files: PeopleFiles,
    leaf: slice,
    moved: _Moved,
    middle: Middle,
) -> None:
    """Write the scores of some units, in their own units and calibrated."""
    starts = read_starts(scratch)
    rows = slice(int(starts[leaf.start]), int(starts[leaf.stop]))
    own = starts[leaf.start : leaf.stop + 1] - starts[leaf.start]
    masked = some_masked(files.original, files.n_scores, rows)
    parts = plan.parts_of(files.people(leaf, rows), own, masked, moved.move)
    scores = parts.put_together(moved.correction, middle)
    scores *= plan.rows.spread
    scores += plan.rows.centre
    scratch.write_rows("back", range(scores.shape[1]), rows, scores)


def _aggregate(
    scratch: Scratch, plan: LevelPlan, columns: Sequence[str], names: tuple[str, ...]
) -> None:
    """Write what units have of their rows, one number a row."""
    starts = read_starts(scratch)
    places = {name: ("released", names.index(name)) for name in columns}
    for one in plan.aggregates:
        found = plan.computed(one, StoredNumbers(scratch, places), starts)
        scratch.write("released", names.index(one.target), np.repeat(found, np.diff(starts)))

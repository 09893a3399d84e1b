"""A large table with several rows a person released: units, their times, rows, and all together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np
import polars as pl

from icsa.errors import InputError
from icsa.inspection.unit_rows import leaves_of
from icsa.matrices import Matrix, Vector
from icsa.randomness import Key
from icsa.release.blocks.block_masking import (
    decode_column,
    keep_stored_rules,
    restore_columns,
    take_mended,
)
from icsa.release.blocks.block_preparing import Declared
from icsa.release.blocks.block_weights import check_weights, with_weights
from icsa.release.blocks.ground import TABLES_IN_MEMORY, Ground
from icsa.release.blocks.made_in_blocks import MadeInBlocks
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import Scratch, StoredNumbers, read_starts, write_starts
from icsa.release.blocks.units.side_by_side import release_side_by_side
from icsa.release.blocks.units.stored_units import units_path
from icsa.release.blocks.units.unit_cells import made_of_units
from icsa.release.blocks.units.unit_planning import PlannedRows, plan_rows_in_blocks
from icsa.release.blocks.units.unit_preparing import (
    DeclaredUnits,
    PreparedUnits,
    declare_units_in_blocks,
    pattern_kept,
    prepare_units_in_blocks,
)
from icsa.release.blocks.units.unit_residuals import mask_residuals, plan_residuals, some_masked
from icsa.release.blocks.units.unit_weights import weighing_in_blocks
from icsa.release.methods import MethodOptions, method_of
from icsa.release.planning import Plan, PlanOnce
from icsa.release.releasing import Release, release
from icsa.release.units.effects import Effects
from icsa.release.units.level_calibration import Correction, Middle
from icsa.release.units.level_plan import PATTERN, LevelPlan, ReleasedPeople, effect_names
from icsa.release.units.row_residuals import ResidualPlan
from icsa.release.units.two_levels import (
    effect_columns,
    needed_columns,
    require_straight,
    unit_plan,
)
from icsa.release.units.visit_times import TimePattern

__all__ = ["release_units_in_blocks"]


class ReleasedUnits(NamedTuple):
    """The table with a row a unit, released: its account, its plan without rows, and `turned`."""

    made: Release
    plan: Plan
    turned: Vector


class _Counted(NamedTuple):
    """Rows of the release, and the middle of its units."""

    n_rows: int
    middle: Middle


@dataclass(frozen=True, eq=False)
class _Moved:
    """How masked rows become scores: correlations given back, and calibrated."""

    move: Matrix
    correction: Correction | None


@dataclass(frozen=True, eq=False)
class _Files:
    """Where released rows and units are.

    Attributes
    ----------
    original, rows, units : Scratch
        With a number a row of the original, a released row, a unit.
    n_scores, n_slopes, width : int
    timed, bounded, weighted : bool
    """

    original: Scratch
    rows: Scratch
    units: Scratch
    n_scores: int
    n_slopes: int
    width: int
    timed: bool
    bounded: bool
    weighted: bool

    def people(self, units: slice, rows: slice) -> ReleasedPeople:
        """Return some released units with the times of their rows."""

        def of_units(what: str, count: int) -> Matrix:
            return np.ascontiguousarray(self.units.rows(what, range(count), units))

        return ReleasedPeople(
            of_units("released levels", self.n_scores),
            of_units("released slopes", self.n_slopes),
            of_units("released x", self.width),
            self.rows.rows("elapsed", [0], rows)[:, 0] if self.timed else None,
            of_units("released ends", 1)[:, 0] if self.bounded else None,
            of_units("released weights", 1)[:, 0] if self.weighted else None,
        )


def release_units_in_blocks(
    passes: Passes, ground: Ground, declared: Declared, key: Key, options: MethodOptions
) -> MadeInBlocks:
    """Return the release of a stored table with several rows a unit: the cells of one in memory."""
    people = declare_units_in_blocks(passes, ground.table, declared)
    if people.side_by_side:
        _require_no_weights(people)
        return release_side_by_side(passes, ground, people, key, options)
    return _release_levels(passes, ground, people, key, options)


def _require_no_weights(people: DeclaredUnits) -> None:
    """Refuse weights of units whose rows stand side by side: those need the table in memory."""
    design = people.schema.design
    if design.weight:
        why = "a role is given" if design.role else "all units have rows at the same times"
        raise InputError(
            f"The rows of a unit are released side by side, because {why}, and with a weight "
            f"(here: {design.weight!r}) that needs the table in memory. Give --memory more, or "
            f"leave the {'role' if design.role else 'time'} out."
        )


def _release_levels(
    passes: Passes, ground: Ground, people: DeclaredUnits, key: Key, options: MethodOptions
) -> MadeInBlocks:
    """Return the release on two levels, weights raked."""
    require_straight(method_of(**options))
    design = people.schema.design
    if not design.weight:
        prepared = prepare_units_in_blocks(passes, people)
        return _release(passes, ground, prepared, key, options)[1]
    total = passes.once("weights", check_weights, ground.table, people.schema)
    prepared = prepare_units_in_blocks(passes, people)
    weighing = weighing_in_blocks(passes, ground, prepared, design, total)
    after, made = _release(passes, ground, prepared, key, options)
    return with_weights(after, ground, weighing, made)


def _release(
    passes: Passes, ground: Ground, prepared: PreparedUnits, key: Key, options: MethodOptions
) -> tuple[Passes, MadeInBlocks]:
    """Return the release on two levels, and passes over its rows."""
    method = method_of(**options)
    _require_room_for_units(ground, prepared)
    planned = plan_rows_in_blocks(passes, prepared)
    mask = method.mask or prepared.rows.recipe.mask
    residuals = plan_residuals(passes, ground, planned, method, mask)
    options = {**options, "straight": True}
    made: ReleasedUnits = passes.once(
        "masking units", _release_units, prepared, planned, options, key.child("units")
    )
    passes.drop(["times", "elapsed"])
    for what in ("effects", "x", "ends"):
        prepared.of_units.drop(what)
    prepared.of_units.drop_spare()
    plan = _level_plan(prepared, planned, residuals, made, ground.n_rows)
    counted: _Counted = passes.once(
        "times of rows", _write_people, prepared, plan, key.child("times")
    )
    rows = _released_rows(passes.scratch, counted.n_rows)
    mask_residuals(passes, ground, residuals, counted.n_rows, key.child("residuals"))
    passes.scratch.drop_spare()
    files = _Files(
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
    return after, made_of_units(after, prepared, plan, made.made, moved, key)


def _require_room_for_units(ground: Ground, prepared: PreparedUnits) -> None:
    """Refuse units of which a table in memory would take too much."""
    n_units, n_columns = prepared.of_units.n_rows, len(prepared.schema.columns)
    share = n_units / ground.n_rows
    ground.require_room(
        round(TABLES_IN_MEMORY * share * 2 * n_columns),
        f"A table with a row for each of {n_units:,} units, levels and slopes of their rows in it,",
        "Drop columns, or give --memory more.",
    )


def _released_rows(scratch: Scratch, n_rows: int) -> Scratch:
    """Return scratch for released rows, whose number differs from the original's."""
    found = Scratch(scratch.folder / "released rows", n_rows)
    found.folder.mkdir(exist_ok=True)
    return found


def _release_units(
    scratch: Scratch,
    prepared: PreparedUnits,
    planned: PlannedRows,
    options: MethodOptions,
    key: Key,
) -> ReleasedUnits:
    """Write the released table with a row a unit."""
    q, sloped, files = planned.files.n_scores, planned.effects.sloped, prepared.of_units
    drawn = np.empty((files.n_rows, q + sloped.size))
    for j in range(drawn.shape[1]):
        drawn[:, j] = files.column("effects", j)
    effects = Effects(
        planned.effects.shared, drawn[:, :q], drawn[:, q:], drawn[:0], drawn[0], sloped
    )
    turned, extras = effect_columns(planned.level.encoding, effects)
    del drawn, effects
    extras |= {PATTERN[name]: found for name, found in pattern_kept(scratch).columns.items()}
    targets = {one.target for one in planned.aggregates}
    found = unit_plan(
        prepared.schema,
        prepared.above,
        targets,
        extras,
        options,
        prepared.recipe,
        prepared.weight,
    )
    empty = replace(
        found,
        scores=found.scores[:0],
        spare=found.spare.with_frame(found.spare.frame.clear()),
        triangular=None,
        factors=None,
    )
    once = PlanOnce(found)
    del found
    made = release(once, key)
    made.table.frame.write_ipc(units_path(scratch))
    table = made.table.with_frame(made.table.frame.clear())
    return ReleasedUnits(replace(made, table=table), empty, turned)


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
        columns=units.plan.columns,
        n_rows=n_rows,
        units=units.plan,
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


def _write_people(scratch: Scratch, prepared: PreparedUnits, plan: LevelPlan, key: Key) -> _Counted:
    """Write where released units begin, when their rows are, and what explains those."""
    timed = replace(plan, pattern=pattern_kept(scratch))
    patterns = [PATTERN[name] for name in timed.pattern.columns]
    every = pl.read_ipc_schema(units_path(scratch))
    of_unit = [name for name in every if name in plan.unit_columns]
    frame = pl.read_ipc(units_path(scratch), columns=[*of_unit, *patterns])
    units = plan.numbers_of_units(frame)
    starts, times = timed.times_of(frame, units, key)
    del timed
    # The others by themselves: many units need the room.
    frame = pl.read_ipc(units_path(scratch), columns=_effects_among(every, plan))
    people = plan.people(frame, units, starts, times)
    del frame
    rows, below = _released_rows(scratch, int(starts[-1])), prepared.of_units
    write_starts(rows, starts)
    sizes, names = np.diff(starts), prepared.stored.names
    if people.elapsed is not None:
        rows.write("elapsed", 0, people.elapsed)
    for name in _given_to_rows(plan):
        own = np.repeat(units[name], sizes) if name in units else times
        assert own is not None
        rows.write("released", names.index(name), own)
    several = {"levels": people.levels, "slopes": people.slopes, "x": people.x}
    for what, found in several.items():
        for j in range(found.shape[1]):
            below.write(f"released {what}", j, found[:, j])
    if people.ends is not None:
        below.write("released ends", 0, people.ends)
    if people.weights is not None:
        below.write("released weights", 0, people.weights)
    return _Counted(rows.n_rows, people.middle(plan.curve, rows.n_rows))


def _effects_among(names: Iterable[str], plan: LevelPlan) -> list[str]:
    """Return the columns of levels and slopes of a released table of units."""
    effects = {*chain(*effect_names(plan.rows.encoding, plan.effects.sloped))}
    return [name for name in names if name in effects]


def _given_to_rows(plan: LevelPlan) -> list[str]:
    """Return the columns above rows that are numbers of rows too: the time, and what rows need."""
    needed = needed_columns(plan.schema, plan.rows.derivation)
    found = [n for n in plan.units.columns if n in plan.unit_columns and n in needed]
    return found if plan.time is None else [*found, plan.time.column.name]


def _release_rows(
    passes: Passes,
    plan: LevelPlan,
    files: _Files,
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
    passes.over("putting together", tasks)
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
    above = {name: ("released", names.index(name)) for name in _given_to_rows(plan)}
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


def _calibrate(scratch: Scratch, plan: LevelPlan, files: _Files, leaf: slice) -> _Moved:
    """Return how rows are moved, from the first units."""
    starts = read_starts(scratch)
    rows = slice(0, int(starts[leaf.stop]))
    masked = some_masked(files.original, files.n_scores, rows)
    move = plan.residuals.move(masked)
    parts = plan.parts_of(files.people(leaf, rows), starts[: leaf.stop + 1], masked, move)
    return _Moved(move, plan.corrected(parts))


def _put_together(
    scratch: Scratch, plan: LevelPlan, files: _Files, leaf: slice, moved: _Moved, middle: Middle
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

"""What released units have, column by column: when their rows are, levels, slopes and scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from icsa.inspection.unit_rows import Places
from icsa.matrices import Matrix, Vector
from icsa.randomness import Key
from icsa.release.blocks.block_cells import StoredCells
from icsa.release.blocks.scratch import Scratch, StoredNumbers, write_starts
from icsa.release.blocks.units.stored_scores import write_unit_scores
from icsa.release.blocks.units.unit_preparing import PreparedUnits, pattern_kept
from icsa.release.units.level_calibration import Middle, middle_of
from icsa.release.units.level_plan import PATTERN, LevelPlan, ReleasedPeople
from icsa.release.units.level_schemas import needed_columns

__all__ = ["Counted", "PeopleFiles", "given_to_rows", "released_rows", "write_people"]


class Counted(NamedTuple):
    """Rows of the release, and the middle of its units."""

    n_rows: int
    middle: Middle


@dataclass(frozen=True, eq=False)
class PeopleFiles:
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


def write_people(
    scratch: Scratch, prepared: PreparedUnits, plan: LevelPlan, cells: StoredCells, key: Key
) -> Counted:
    """Write where released units begin, when their rows are, and what explains those.

    Parameters
    ----------
    scratch : Scratch
    prepared : PreparedUnits
    plan : LevelPlan
    cells : StoredCells
        Of the released table with a row a unit.
    key : Key
    """
    below = prepared.of_units
    units = _write_numbers(below, plan, cells)
    starts, times = _times(scratch, plan, cells, units, key)
    rows = released_rows(scratch, int(starts[-1]))
    write_starts(rows, starts)
    _give_to_rows(rows, plan, units, starts, times, prepared.stored.names)
    elapsed, ends = plan.since_start(units, starts, times)
    del times
    if elapsed is not None:
        rows.write("elapsed", 0, elapsed)
    if ends is not None:
        below.write("released ends", 0, ends)
    if plan.weight is not None:
        below.write("released weights", 0, np.exp(units[plan.weight]))
    write_unit_scores(below, plan.scores, units, "released x")
    below.drop("released numbers")
    levels, at = _write_effects(below, plan, cells), plan.curve.slopes(elapsed, rows.n_rows)
    middle = middle_of(levels, at, below.n_rows)
    return Counted(rows.n_rows, middle)


def _column(cells: StoredCells, name: str) -> pl.Series:
    return cells.between(0, cells.n_rows, [name])[name]


def _write_numbers(below: Scratch, plan: LevelPlan, cells: StoredCells) -> StoredNumbers:
    """Write the numbers of the table's own columns of released units; return where they are."""
    own = [name for name in plan.units.columns if name in plan.unit_columns]
    for place, name in enumerate(own):
        numbers = plan.units.columns[name].numbers(_column(cells, name))
        below.write("released numbers", place, numbers)
    return StoredNumbers(below, {n: ("released numbers", place) for place, n in enumerate(own)})


def _times(
    scratch: Scratch, plan: LevelPlan, cells: StoredCells, units: StoredNumbers, key: Key
) -> tuple[Places, Vector | None]:
    """Return where released units begin, and the times of their rows."""
    timed = replace(plan, pattern=pattern_kept(scratch))
    patterns = [PATTERN[name] for name in timed.pattern.columns]
    return timed.times_of(cells.between(0, cells.n_rows, patterns), units, key)


def _give_to_rows(
    rows: Scratch,
    plan: LevelPlan,
    units: StoredNumbers,
    starts: Places,
    times: Vector | None,
    names: Sequence[str],
) -> None:
    """Write the columns above rows that are numbers of rows too."""
    for name in given_to_rows(plan):
        own = np.repeat(units[name], np.diff(starts)) if name in units else times
        assert own is not None
        rows.write("released", names.index(name), own)


def _write_effects(below: Scratch, plan: LevelPlan, cells: StoredCells) -> Iterator[Vector]:
    """Write slopes of released units, and their levels, which are yielded one by one."""
    own = partial(_column, cells)
    for number in range(plan.effects.sloped.size):
        below.write("released slopes", number, plan.slope(number, own))
    for place in range(plan.rows.encoding.n_scores):
        level = plan.level(place, own)
        below.write("released levels", place, level)
        yield level


def given_to_rows(plan: LevelPlan) -> list[str]:
    """Return the columns above rows that are numbers of rows too: the time, and what rows need."""
    needed = needed_columns(plan.schema, plan.rows.derivation)
    found = [n for n in plan.units.columns if n in plan.unit_columns and n in needed]
    return found if plan.time is None else [*found, plan.time.column.name]


def released_rows(scratch: Scratch, n_rows: int) -> Scratch:
    """Return scratch for released rows, whose number differs from the original's."""
    found = Scratch(scratch.folder / "released rows", n_rows)
    found.folder.mkdir(exist_ok=True)
    return found

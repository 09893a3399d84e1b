"""The plan of a large table on two levels: relations, scores and effects of units, by passes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from icsa.columns import Column
from icsa.constraints import Derivation
from icsa.constraints.coded_columns import coded_columns
from icsa.inspection.unit_rows import Places, some_units, unit_leaves
from icsa.matrices import Matrix, Vector
from icsa.release.blocks.passes import OF_A_BLOCK, Passes, Task
from icsa.release.blocks.scratch import Scratch, StoredNumbers, read_starts
from icsa.release.blocks.units.stored_scores import fit_unit_scores
from icsa.release.blocks.units.unit_preparing import PreparedUnits, pattern_kept
from icsa.release.encoding import Encoding, Part, Presence, encoding_from, presence_of
from icsa.release.limits import LIMITS
from icsa.release.units.aggregates import Aggregate, find_aggregates
from icsa.release.units.effects import (
    FITTED_ROWS,
    Curve,
    Effects,
    Law,
    RowsOfUnits,
    draws_of_leaf,
    fitted_law,
    last_draws,
    memories,
)
from icsa.release.units.end_values import Ends
from icsa.release.units.level_calibration import LevelStatistics, level_statistics
from icsa.release.units.level_schemas import needed_columns, with_rules
from icsa.release.units.row_level import RowLevel, row_derivation, score_moments
from icsa.release.units.two_levels import sloped_scores
from icsa.release.units.unit_scores import UnitScores
from icsa.tables import Table

__all__ = ["PlannedRows", "UnitFiles", "plan_rows_in_blocks"]

PlacesOf = Mapping[str, tuple[str, int]]


@dataclass(frozen=True, eq=False)
class UnitFiles:
    """Where the numbers of rows and units are, and how a leaf of units is read.

    Attributes
    ----------
    rows, units : Scratch
        With a number a row, and a number a unit.
    curve : Curve
    n_scores, width : int
        Scores of rows, and of units.
    timed, bounded : bool
        Whether rows have times, and units an end.
    """

    rows: Scratch
    units: Scratch
    curve: Curve
    n_scores: int
    width: int
    timed: bool
    bounded: bool

    @property
    def compared_ends(self) -> Ends | None:
        """How first and last rows are compared; None without times."""
        return Ends(self.curve.usual_gap / self.curve.scale) if self.timed else None

    def elapsed(self, rows: slice) -> Vector | None:
        """Return times of some rows since their unit's first; None without."""
        found: Vector | None = None
        if self.timed:
            found = self.rows.rows("elapsed", [0], rows)[:, 0]
        return found

    def x(self, units: slice) -> Matrix:
        """Return the scores of some units."""
        return np.ascontiguousarray(self.units.rows("x", range(self.width), units))

    def ends(self, units: slice) -> Vector | None:
        """Return the ends of some units since their start; None without."""
        found: Vector | None = None
        if self.bounded:
            found = self.units.rows("ends", [0], units)[:, 0]
        return found

    def leaf(self, units: slice, starts: Places, sloped: Places) -> RowsOfUnits:
        """Return the rows of some units with all that explains their scores."""
        rows = slice(int(starts[units.start]), int(starts[units.stop]))
        own = starts[units.start : units.stop + 1] - starts[units.start]
        scores = np.ascontiguousarray(self.rows.rows("scores", range(self.n_scores), rows))
        elapsed = self.elapsed(rows)
        x = self.x(units)
        design = self.curve.design(elapsed, own, self.ends(units), x)
        return RowsOfUnits.of(
            scores, own, design, self.curve.slopes(elapsed, scores.shape[0]), sloped, x
        )

    def some(self, starts: Places, n_rows: int) -> _Some:
        """Return the design of the units that a sample of so many rows has."""
        units, rows = some_units(starts, n_rows)
        own = np.concatenate([[0], np.cumsum(np.diff(starts)[units])]).astype(np.int64)
        elapsed = self.rows.column("elapsed", 0)[rows] if self.timed else None
        ends = self.units.column("ends", 0)[units] if self.bounded else None
        x = self.units.gathered("x", range(self.width), units)
        design = self.curve.design(elapsed, own, ends, x)
        return _Some(units, rows, own, design, self.curve.slopes(elapsed, rows.size), x)


class _Some(NamedTuple):
    """A sample of units: they and their rows among all, where they begin, what explains them."""

    units: Places
    rows: Places
    starts: Places
    design: Matrix
    times: Vector
    x: Matrix


@dataclass(frozen=True, eq=False)
class PlannedRows:
    """What is known of rows and units before residuals are masked.

    Attributes
    ----------
    level : RowLevel
    aggregates : tuple of Aggregate
    scores : UnitScores
    wanted : LevelStatistics
    effects : Effects
        Without levels, slopes and residuals, which are in scratch.
    files : UnitFiles
    """

    level: RowLevel
    aggregates: tuple[Aggregate, ...]
    scores: UnitScores
    wanted: LevelStatistics
    effects: Effects
    files: UnitFiles


@dataclass(frozen=True, eq=False)
class _Coded:
    """What of rows follows from what, and what is encoded, with where the numbers are."""

    derivation: Derivation
    columns: Mapping[str, Column]
    presences: Mapping[str, Presence]
    places: Mapping[str, tuple[str, int]]


def plan_rows_in_blocks(passes: Passes, prepared: PreparedUnits) -> PlannedRows:
    """Return what is known of rows; errors of all rows and effects of all units are in scratch."""
    above, starts, rows = prepared.above, prepared.starts, prepared.rows
    coded: _Coded = passes.once("relations", _code, prepared)
    passes.drop(["above"])
    encoding = encoding_from(
        coded.columns, coded.presences, keep_quantiles=rows.recipe.keep_quantiles
    )
    centre, spread = _encode(passes, encoding, coded.places)
    level = with_rules(
        RowLevel(
            schema=rows.schema,
            spare=_spare(prepared),
            recipe=rows.recipe,
            columns={name: one.column for name, one in rows.fitted.items()},
            extents={name: one.extent for name, one in rows.fitted.items()},
            derivation=coded.derivation,
            notes=rows.notes,
            encoding=encoding,
            centre=centre,
            spread=spread,
        ),
        prepared.schema,
        above.names,
    )
    aggregates: tuple[Aggregate, ...] = passes.once(
        "what units have of rows", _find, prepared, level
    )
    targets = {one.target for one in aggregates}
    kept = {name: column for name, column in above.columns.items() if name not in targets}
    explained_by: UnitScores = passes.once("scores of units", _explain, prepared, kept)
    bounded = above.time is not None and above.time.bound is not None
    files = UnitFiles(
        rows=passes.scratch,
        units=prepared.of_units,
        curve=prepared.curve,
        n_scores=encoding.n_scores,
        width=explained_by.width,
        timed=prepared.timed,
        bounded=bounded,
    )
    wanted = passes.once(
        "what units and rows have in common", _want, files, level, coded.places, prepared
    )
    pattern: int = passes.once("columns of times", _n_pattern)
    width = explained_by.width + pattern + 1
    sloped = sloped_scores(encoding, starts, width, timed=prepared.timed)
    passes.drop(["numbers", "coded"])
    prepared.of_units.drop("numbers")
    effects = _draw(passes, files, starts, sloped)
    passes.drop(["scores"])
    return PlannedRows(level, aggregates, explained_by, wanted, effects, files)


def _spare(prepared: PreparedUnits) -> Table:
    """Return the columns of rows without a row."""
    table = prepared.stored.without_rows()
    return table.with_frame(table.frame.select(list(prepared.rows.schema.columns)))


def _n_pattern(scratch: Scratch) -> int:
    return len(pattern_kept(scratch).columns)


def _code(scratch: Scratch, prepared: PreparedUnits) -> _Coded:
    """Return what is encoded of rows; what is neither a column's number goes to scratch."""
    above, rows, names = prepared.above, prepared.rows, prepared.stored.names
    columns = {name: one.column for name, one in rows.fitted.items()}
    both, places = dict(above.columns), dict[str, tuple[str, int]]()
    sizes = np.diff(prepared.starts)
    for name, numbers in above.numbers.items():
        places[name] = ("above", names.index(name))
        scratch.write(*places[name], np.repeat(numbers, sizes))
    if above.time is not None:
        places[above.time.column.name] = ("times", 0)
        both[above.time.column.name] = above.time.column
    both |= columns
    places |= {name: ("numbers", names.index(name)) for name in columns}
    stored, recipe = StoredNumbers(scratch, places), rows.recipe
    derivation = row_derivation(columns, both, stored, rows.schema, search=recipe.find_relations)
    coded, reduced = coded_columns(
        both, stored, derivation, scale=recipe.scale, split_zeros=recipe.split_zeros
    )
    coded = {name: column for name, column in coded.items() if name in columns or name not in both}
    fresh = {gap.name for gap in derivation.gaps}
    fresh |= {one.target for one in derivation.computed if one.missing}
    presences = {}
    for number, (name, column) in enumerate(coded.items()):
        if name in fresh:
            places[name] = ("coded", number)
            scratch.write(*places[name], reduced[name])
            presences[name] = presence_of(column, reduced[name])
        else:
            presences[name] = rows.fitted[name].presence
    return _Coded(derivation, coded, presences, {name: places[name] for name in coded})


def _encode(passes: Passes, encoding: Encoding, places: PlacesOf) -> tuple[Vector, Vector]:
    """Write the standardised scores of all rows; return what they were standardised by."""
    tasks = [
        Task(_encode_one, (part, places[part.column.name], indicator))
        for part, indicator in encoding.indicated
    ]
    centre, spread = np.empty(encoding.n_scores), np.empty(encoding.n_scores)
    for found in passes.over("encoding", tasks):
        for place, moments in found.items():
            centre[place], spread[place] = moments
    return centre, spread


def _encode_one(
    scratch: Scratch, part: Part, place: tuple[str, int], indicator: int | None
) -> dict[int, tuple[float, float]]:
    numbers = scratch.column(*place)
    scores = np.empty((scratch.n_rows, part.column.width), order="F")
    part.encode(numbers, scores)
    columns = {part.place.start + j: scores[:, j] for j in range(part.column.width)}
    if indicator is not None:
        columns[indicator] = np.isnan(numbers).astype(np.float64)
    del numbers
    found = {}
    for number, column in columns.items():
        centre, spread = found[number] = score_moments(column)
        column -= centre
        column /= spread
        scratch.write("scores", number, column)
    return found


def _find(scratch: Scratch, prepared: PreparedUnits, level: RowLevel) -> tuple[Aggregate, ...]:
    above, names = prepared.above, prepared.stored.names
    needed = needed_columns(prepared.schema, level.derivation)
    free = above.numbers.without(needed)
    numbers = StoredNumbers(scratch, {n: ("numbers", names.index(n)) for n in level.columns})
    columns = {**above.columns, **level.columns}
    return find_aggregates(columns, free, numbers, prepared.starts)


def _explain(_: Scratch, prepared: PreparedUnits, kept: Mapping[str, Column]) -> UnitScores:
    """Write the scores of units, by which the levels of their rows are explained."""
    return fit_unit_scores(prepared.of_units, kept, prepared.above.numbers)


def _want(
    scratch: Scratch,
    files: UnitFiles,
    level: RowLevel,
    places: PlacesOf,
    prepared: PreparedUnits,
) -> LevelStatistics:
    """Return what calibration aims at, from some units."""
    starts = read_starts(scratch)
    some = files.some(starts, LIMITS.sample_rows)
    numbers = {
        part.column.name: scratch.column(*places[part.column.name])[some.rows]
        for part in level.encoding.parts
    }
    view = level.encoding.view(numbers)
    weights: Vector | None = None
    if prepared.weight is not None:
        weights = np.exp(prepared.above.numbers[prepared.weight][some.units])
    return level_statistics(
        view, some.design, some.starts, some.x, some.times, weights, files.compared_ends
    )


def _draw(passes: Passes, files: UnitFiles, starts: Places, sloped: Places) -> Effects:
    """Write the effects of all units and the errors of all rows; return the law of both."""
    law: Law = passes.once("effects of units", _fit_law, files, starts, sloped)
    q, m = files.n_scores, law.between.shape[0]
    files.rows.allocate("errors", q)
    files.units.allocate("effects", m)
    tasks = [
        Task(_draw_leaf, (files, law, leaf, number, sloped))
        for number, leaf in enumerate(unit_leaves(starts))
    ]
    passes.over("drawing effects", tasks, held=OF_A_BLOCK)
    memory = passes.once("what rows remember", _remember, files)
    none = np.empty((0, q))
    return Effects(law.shared, none, np.empty((0, m - q)), none, memory, sloped)


def _fit_law(scratch: Scratch, files: UnitFiles, starts: Places, sloped: Places) -> Law:
    some = files.some(starts, FITTED_ROWS)
    scores = scratch.gathered("scores", range(files.n_scores), some.rows)
    return fitted_law(RowsOfUnits.of(scores, some.starts, some.design, some.times, sloped, some.x))


def _draw_leaf(
    scratch: Scratch, files: UnitFiles, law: Law, leaf: slice, number: int, sloped: Places
) -> None:
    starts = read_starts(scratch)
    block = files.leaf(leaf, starts, sloped)
    effects, errors = last_draws(block, law, draws_of_leaf(number))
    files.units.write_rows("effects", range(effects.shape[1]), leaf, effects)
    rows = slice(int(starts[leaf.start]), int(starts[leaf.stop]))
    scratch.write_rows("errors", range(errors.shape[1]), rows, errors)


def _remember(scratch: Scratch, files: UnitFiles) -> Vector:
    starts = read_starts(scratch)
    units, rows = some_units(starts, FITTED_ROWS)
    own = np.concatenate([[0], np.cumsum(np.diff(starts)[units])]).astype(np.int64)
    errors = scratch.gathered("errors", range(files.n_scores), rows)
    elapsed = scratch.column("elapsed", 0) if files.timed else None
    lags = files.curve.lags(elapsed, starts)[rows]
    return memories(errors, own, lags)

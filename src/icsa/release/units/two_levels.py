"""Units with irregular rows, visits or pupils: planned on two levels.

What belongs to a unit, with the pattern of its times and the levels and slopes of its rows' scores,
is a table with a row a unit, released by the ordinary way. What remains of every row is masked in
its own coordinates over all rows of everybody. Both are put together, calibrated and decoded; what
is computed from others, rules and cells come last, as for any table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
import polars as pl

from icsa.columns import Column, ColumnSpec, fit_column
from icsa.constraints.coded_columns import step_of
from icsa.errors import InputError
from icsa.inspection.unit_rows import Places, UnitRows, some_units, taken
from icsa.matrices import Matrix, Vector
from icsa.recipes import Recipe, resolve_recipe
from icsa.release.design_plans import PreparedDesign
from icsa.release.encoding import Encoding
from icsa.release.limits import LIMITS
from icsa.release.methods import Method, MethodOptions, method_of
from icsa.release.preparing import PreparedOnce, prepare
from icsa.release.units.aggregates import find_aggregates
from icsa.release.units.effects import curve_of, fit_effects
from icsa.release.units.end_values import Ends
from icsa.release.units.level_calibration import LevelStatistics, level_statistics
from icsa.release.units.level_plan import PATTERN, LevelPlan, UnitTime
from icsa.release.units.level_schemas import (
    names_of_rows,
    names_of_units,
    needed_columns,
    part_of,
    require_none_kept,
    with_rules,
)
from icsa.release.units.row_level import RowLevel, row_level
from icsa.release.units.row_residuals import residual_plan
from icsa.release.units.unit_plans import effect_columns, unit_plan
from icsa.release.units.unit_scores import unit_scores
from icsa.release.units.visit_times import TimePattern, clock_of, pattern_of
from icsa.schema import Schema
from icsa.tables import Table
from icsa.threads import give_back_memory, one_linear_algebra_thread

__all__ = [
    "Above",
    "PreparedLevels",
    "listed_times",
    "prepare_levels",
    "require_straight",
    "sloped_scores",
    "timed_rows",
]


@dataclass(eq=False, repr=False, kw_only=True)
class PreparedLevels(PreparedDesign):
    """A table on two levels, ready to be planned.

    Attributes
    ----------
    weight : str, optional
        The column of units with logarithms of weights, with which calibration counts them.
    """

    schema: Schema
    recipe: Recipe
    spare: Table
    rows: UnitRows
    recipe_name: str
    weight: str | None = None

    def weigh_by(self, name: str) -> None:
        """Have units counted by a column of theirs that holds the logarithms of weights."""
        self.weight = name

    def planned(
        self, progress: Callable[[str, float], None], **options: Unpack[MethodOptions]
    ) -> LevelPlan:
        """Return the plan of both levels."""
        progress("looking at units", 0.05)
        with one_linear_algebra_thread():
            return _planned(self, progress, options)


def prepare_levels(table: Table, schema: Schema, rows: UnitRows, recipe: str) -> PreparedLevels:
    """Return a table on two levels, ready to be planned."""
    require_none_kept(schema)
    return PreparedLevels(
        schema=schema,
        recipe=resolve_recipe(recipe, schema.recipe),
        spare=table,
        rows=rows,
        recipe_name=recipe,
    )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Above:
    """What is known of units before their rows are looked at.

    Attributes
    ----------
    names : list of str
        Columns that belong to units, with the one that names them.
    table : Table
        The first row of each unit, of these columns.
    columns, numbers : dict by str
        Those that are masked.
    time : UnitTime, optional
    pattern : TimePattern
    times : ndarray, optional
        Of all rows, those of a unit together.
    """

    names: list[str]
    table: Table
    columns: dict[str, Column]
    numbers: dict[str, Vector]
    time: UnitTime | None
    pattern: TimePattern
    times: Vector | None

    def by_row(self, sizes: Places) -> tuple[dict[str, Vector], dict[str, Column]]:
        """Return numbers of units and times, one a row, and their columns."""
        found = {name: np.repeat(numbers, sizes) for name, numbers in self.numbers.items()}
        columns = dict(self.columns)
        if self.time is not None and self.times is not None:
            found[self.time.column.name] = self.times
            columns[self.time.column.name] = self.time.column
        return found, columns

    def since_start(self, starts: Places) -> tuple[Vector | None, Vector | None]:
        """Return times since each unit's start, and ends since it; None without."""
        if self.times is None or self.time is None:
            return None, None
        first = self.times[starts[:-1]]
        ends = None if self.time.bound is None else self.numbers[self.time.bound] - first
        return self.times - np.repeat(first, np.diff(starts)), ends


def _planned(
    prepared: PreparedLevels, progress: Callable[[str, float], None], options: MethodOptions
) -> LevelPlan:
    schema, starts, n_units = prepared.schema, prepared.rows.starts, prepared.rows.n_units
    above = _above(prepared)
    level, numbers, reduced, scores = _rows(prepared, above)
    needed = needed_columns(schema, level.derivation)
    free = {name: found for name, found in above.numbers.items() if name not in needed}
    columns = {**above.columns, **level.columns}
    aggregates = find_aggregates(columns, free, numbers, starts)
    numbers.clear()
    targets = {one.target for one in aggregates}
    progress("finding what belongs to whom", 0.1)
    kept = {name: column for name, column in above.columns.items() if name not in targets}
    explained_by = unit_scores(kept, above.numbers)
    x = explained_by.of(above.numbers, n_units)
    elapsed, ends = above.since_start(starts)
    curve = curve_of(elapsed, starts, listed_times(above.pattern, elapsed))
    design = curve.design(elapsed, starts, ends, x)
    slopes_of = curve.slopes(elapsed, scores.shape[0])
    weights = None if prepared.weight is None else np.exp(above.numbers[prepared.weight])
    ended = None if elapsed is None else Ends(curve.usual_gap / curve.scale)
    wanted = _wanted(level, reduced, design, starts, x, slopes_of, weights, ended)
    reduced.clear()
    width = explained_by.width + len(above.pattern.columns) + 1
    sloped = sloped_scores(level.encoding, starts, width, timed=elapsed is not None)
    lags = curve.lags(elapsed, starts)
    effects = fit_effects(scores, starts, design, slopes_of, lags, sloped, x)
    turned, extras = effect_columns(level.encoding, effects)
    extras |= {PATTERN[name]: found for name, found in above.pattern.columns.items()}
    progress("finding coordinates", 0.2)
    method = require_straight(method_of(**options))
    options = {**options, "straight": True}
    mask = method.mask or prepared.recipe.mask
    residuals = residual_plan(effects.residuals, level, method, mask)
    # Not a view of them: a long table needs the room.
    effects = replace(effects, residuals=np.empty((0, effects.residuals.shape[1])))
    del scores, design
    give_back_memory()
    units = unit_plan(
        schema,
        above.table,
        above.names,
        targets,
        extras,
        options,
        prepared.recipe_name,
        prepared.weight,
    )
    return LevelPlan(
        schema=schema,
        spare=prepared.spare,
        columns=units.columns,
        n_rows=prepared.spare.frame.height,
        units=units,
        rows=replace(level, notes=(*level.notes, *residuals.notes)),
        unit_columns=above.columns,
        time=above.time,
        pattern=above.pattern,
        curve=curve,
        effects=effects,
        residuals=residuals,
        turned=turned,
        scores=explained_by,
        aggregates=aggregates,
        wanted=wanted,
        weight=prepared.weight,
        ends=ended,
    )


def require_straight(method: Method) -> Method:
    """Return the method; an error for forests."""
    if method.name == "forest":
        raise InputError(
            "Forests do not release rows of units on two levels: use --method icsa "
            "(method='icsa'). They do where units are many, with rows in the same few places."
        )
    return method


def _above(prepared: PreparedLevels) -> Above:
    """Return what is known of units, and when their rows are."""
    schema, rows = prepared.schema, prepared.rows
    names = names_of_units(schema)
    table = taken(prepared.spare, rows.firsts, names)
    columns, numbers = _of_units(table, schema, names, prepared.recipe_name)
    name = schema.design.time
    cells = None if name is None else prepared.spare.frame[name].gather(rows.order)
    time, pattern, times = timed_rows(schema, cells, rows.starts, numbers)
    return Above(
        names=names,
        table=table,
        columns=columns,
        numbers=numbers,
        time=time,
        pattern=pattern,
        times=times,
    )


def _rows(
    prepared: PreparedLevels, above: Above
) -> tuple[RowLevel, dict[str, Vector], dict[str, Vector], Matrix]:
    """Return the level of rows, numbers of its columns, those that are encoded, and scores."""
    schema, rows = prepared.schema, prepared.rows
    names = names_of_rows(schema, above.names)
    fitted = prepare(
        taken(prepared.spare, rows.order, names),
        schema=part_of(schema, names),
        recipe=prepared.recipe_name,
    )
    assert isinstance(fitted, PreparedOnce)
    level, numbers, reduced, scores = row_level(fitted, *above.by_row(rows.sizes))
    return with_rules(level, schema, above.names), numbers, reduced, scores


def _wanted(
    level: RowLevel,
    reduced: Mapping[str, Vector],
    design: Matrix,
    starts: Places,
    x: Matrix,
    times: Vector,
    weights: Vector | None,
    ends: Ends | None,
) -> LevelStatistics:
    """Return what calibration aims at, from some units of a long table."""
    units, rows = some_units(starts, LIMITS.sample_rows)
    view = level.encoding.view({name: found[rows] for name, found in reduced.items()})
    own = np.concatenate([[0], np.cumsum(np.diff(starts)[units])])
    weights = None if weights is None else weights[units]
    return level_statistics(view, design[rows], own, x[units], times[rows], weights, ends)


def _of_units(
    table: Table, schema: Schema, of_unit: Sequence[str], recipe: str
) -> tuple[dict[str, Column], dict[str, Vector]]:
    """Return the masked columns of units, and their numbers."""
    if not any(schema.columns[name].action == "mask" for name in of_unit):
        return {}, {}
    prepared = prepare(table, schema=part_of(schema, of_unit), recipe=recipe)
    assert isinstance(prepared, PreparedOnce)
    return dict(prepared.columns), prepared.take_numbers()


def timed_rows(
    schema: Schema, cells: pl.Series | None, starts: Places, units: Mapping[str, Vector]
) -> tuple[UnitTime | None, TimePattern, Vector | None]:
    """Return the time, the pattern of rows, and the numbers of times in the order of rows.

    Cells are those of the time in that order; None without one.
    """
    if cells is None:
        return None, pattern_of(None, None, starts, None), None
    said = schema.columns[cells.name]
    kind = _time_kind(said, cells)
    column = fit_column(
        cells, ColumnSpec(name=cells.name, kind=kind, lower=said.lower, upper=said.upper)
    )
    times = column.numbers(cells)
    clock = clock_of(times, step_of(column))
    bound = schema.design.bound if schema.design.bound in units else None
    ticks = clock.ticks(times)
    ends = None if bound is None else clock.ticks(units[bound])
    pattern = pattern_of(clock, ticks, starts, ends)
    start = float(ticks[starts[0]])
    return UnitTime(column=column, start=start, bound=bound), pattern, times


def _time_kind(spec: ColumnSpec, cells: pl.Series) -> str:
    """Return the kind of a time that is a quantity: numbers that were taken for levels are not."""
    if cells.dtype.is_integer():
        return "integer"
    return "continuous" if cells.dtype.is_numeric() else spec.kind


def listed_times(pattern: TimePattern, elapsed: Vector | None) -> Vector | None:
    """Return the times since the start, where they are few."""
    if elapsed is None or pattern.clock is None or pattern.clock.listed is None:
        return None
    found = np.unique(elapsed)
    return found if found.size <= LIMITS.most_places else None


def sloped_scores(encoding: Encoding, starts: Places, width: int, *, timed: bool) -> Places:
    """Return the scores that have slopes: measurements, if units and rows are enough for them."""
    none = np.empty(0, dtype=np.int64)
    several = np.count_nonzero(np.diff(starts) >= LIMITS.rows_for_slopes)
    if not timed or several < LIMITS.fewest_rows:
        return none
    measured = [
        part.place.start + found[0]
        for part in encoding.parts
        if (found := part.column.measured(np.empty(0))) is not None
    ]
    n_scores = width + encoding.n_scores + len(measured)
    enough = starts.size - 1 >= LIMITS.rows_a_score * (n_scores + 1) + 1
    return np.array(measured, dtype=np.int64) if enough else none

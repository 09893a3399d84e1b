"""The plan and the release of units on two levels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from icsa.columns import Column
from icsa.constraints import Derivation
from icsa.constraints.grammar import Rule
from icsa.constraints.keeping import Bonds, keep_rules, rules_of
from icsa.inspection import type_in_words
from icsa.inspection.unit_rows import Places, leaves_of
from icsa.matrices import Matrix, Vector
from icsa.randomness import Key
from icsa.release.accounts import ColumnChange, Looks, changes_of, reaches_of, warnings_of
from icsa.release.design_plans import DesignPlan, UnitAccount
from icsa.release.encoding import Encoding
from icsa.release.limits import LIMITS
from icsa.release.planning import Plan
from icsa.release.preparing import extent_of
from icsa.release.releasing import Release, cells_in_place, release, specs_in_file
from icsa.release.units.aggregates import Aggregate
from icsa.release.units.effects import Curve, Effects
from icsa.release.units.end_values import Ends
from icsa.release.units.level_calibration import (
    Correction,
    LevelStatistics,
    Middle,
    Parts,
    calibrated,
    middle_of,
)
from icsa.release.units.row_level import RowLevel
from icsa.release.units.row_residuals import ResidualPlan
from icsa.release.units.unit_scores import UnitScores
from icsa.release.units.visit_times import Clock, TimePattern
from icsa.schema import Schema
from icsa.tables import Table
from icsa.threads import give_back_memory, one_linear_algebra_thread

__all__ = ["PATTERN", "LevelPlan", "ReleasedPeople", "UnitTime", "effect_names"]

# What a unit has besides its columns, in a table with a row a unit.
PATTERN = {
    "rows": "number of rows",
    "left": "time left at the last row",
    "span": "time from first to last row",
    "start": "time of the first row",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class UnitTime:
    """The time of rows: its column, the one start where all have it, and the column of its ends."""

    column: Column
    start: float
    bound: str | None

    def within(self, clock: Clock, units: Mapping[str, Vector]) -> tuple[float, Vector | float]:
        """Return the earliest tick that there may be, and the latest one, of all or of each."""
        lowest, highest = self.column.lower, self.column.upper
        if clock.listed is not None:
            lowest, highest = 0.0, clock.listed.size - 1.0
        if self.bound is None:
            return lowest, highest
        return lowest, np.minimum(clock.ticks(units[self.bound]), highest)


def effect_names(encoding: Encoding, sloped: Places) -> tuple[list[str], list[str]]:
    """Return what the levels and slopes of all scores are called."""
    of_scores = [""] * encoding.n_scores
    for part in encoding.parts:
        for number, place in enumerate(range(part.place.start, part.place.stop)):
            more = f" {number + 1}" if part.column.width > 1 else ""
            of_scores[place] = f"{part.column.name}{more}"
    for group in range(len(encoding.group_shares)):
        of_scores[encoding.n_columns_scores + group] = f"missing cells {group + 1}"
    levels = [f"{name}: level of a unit" for name in of_scores]
    return levels, [f"{of_scores[place]}: slope of a unit" for place in sloped]


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedPeople:
    """What released units have.

    Attributes
    ----------
    levels, slopes, x : ndarray of shape (n_units, ...)
    elapsed : ndarray of shape (n_rows,), optional
        Times of rows since their unit's first; None without times.
    ends : ndarray of shape (n_units,), optional
        What no time exceeds.
    weights : ndarray of shape (n_units,), optional
        How many units each stands for.
    """

    levels: Matrix
    slopes: Matrix
    x: Matrix
    elapsed: Vector | None
    ends: Vector | None
    weights: Vector | None = None

    def some(self, units: slice, rows: slice) -> ReleasedPeople:
        """Return some of them, with their rows."""
        return ReleasedPeople(
            self.levels[units],
            self.slopes[units],
            self.x[units],
            None if self.elapsed is None else self.elapsed[rows],
            None if self.ends is None else self.ends[units],
            None if self.weights is None else self.weights[units],
        )

    def middle(self, curve: Curve, n_rows: int) -> Middle:
        """Return around what all are corrected."""
        times = curve.slopes(self.elapsed, n_rows)
        return middle_of(self.levels.T, times, self.levels.shape[0])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LevelPlan(DesignPlan):
    """A plan for units with irregular rows.

    Attributes
    ----------
    schema : Schema
        Of the whole table.
    spare : Table
        The table itself.
    columns : mapping of str to Column
        Of units.
    n_rows : int
    units : Plan
        Of the table with a row a unit.
    rows : RowLevel
    unit_columns : mapping of str to Column
        Of the table's own, and computed ones too.
    time : UnitTime, optional
    pattern : TimePattern
    curve : Curve
    effects : Effects
    residuals : ResidualPlan
        What remains of each row.
    turned : ndarray
        Of each slope, how much is in the level: levels without it are unrelated to slopes.
    scores : UnitScores
    aggregates : tuple of Aggregate
    wanted : LevelStatistics
        What calibration aims at.
    weight : str, optional
        The column of units with logarithms of weights, with which calibration counts them.
    ends : Ends, optional
        How calibration compares first and last rows, where there are times.
    """

    schema: Schema
    spare: Table
    columns: Mapping[str, Column]
    n_rows: int
    units: Plan
    rows: RowLevel
    unit_columns: Mapping[str, Column]
    time: UnitTime | None
    pattern: TimePattern
    curve: Curve
    effects: Effects
    residuals: ResidualPlan
    turned: Vector
    scores: UnitScores
    aggregates: tuple[Aggregate, ...]
    wanted: LevelStatistics
    weight: str | None = None
    ends: Ends | None = None

    @property
    def within(self) -> Plan:
        """The plan of its table with a row a unit, or of logarithms of weights."""
        return self.units

    def released(self, key: Key, progress: Callable[[str, float], None]) -> Release:
        """Return the release on both levels."""
        progress("masking units", 0.3)
        made = release(self.units, key.child("units"))
        frame = made.table.frame
        units = self.numbers_of_units(frame)
        with one_linear_algebra_thread():
            starts, times = self.times_of(frame, units, key.child("times"))
            progress("masking rows", 0.5)
            people = self.people(frame, units, starts, times)
            masked = self.residuals.masked_rows(int(starts[-1]), key.child("residuals"))
            progress("calibrating", 0.6)
            scores = self._scores(people, starts, masked)
            del masked
            whole, moved = self._numbers(scores, units, starts, times, key.child("rows"))
        progress("writing cells", 0.8)
        give_back_memory()
        cells, letters = self._cells(made.table, whole, starts, key.child("rows"))
        own = self.spare.missing_letters
        table = replace(
            made.table,
            frame=pl.DataFrame([cells[n] for n in self.spare.frame.columns if n in cells]),
            missing_letters={n: found for n, found in letters.items() if n in own},
        )
        return self._accounted(replace(made, table=table), whole, moved, starts, key)

    def numbers_of_units(self, frame: pl.DataFrame) -> dict[str, Vector]:
        """Return the numbers of the table's own columns in a released table of units."""
        return {
            name: column.numbers(frame[name])
            for name, column in self.units.columns.items()
            if name in self.unit_columns
        }

    def times_of(
        self, frame: pl.DataFrame, units: Mapping[str, Vector], key: Key
    ) -> tuple[Places, Vector | None]:
        """Return where units begin, and the times of their rows."""
        columns = {name: floats_of(frame[PATTERN[name]]) for name in self.pattern.columns}
        clock = self.pattern.clock
        if clock is None or self.time is None:
            return self.pattern.released(columns, None, self.units.mask, key).starts, None
        start = columns.get("start", np.full(frame.height, self.time.start))
        start = np.rint((start - self.time.start) / clock.step) * clock.step + self.time.start
        lowest, limits = self.time.within(clock, units)
        start += np.maximum(np.ceil((lowest - start) / clock.step), 0.0) * clock.step
        start -= np.maximum(np.ceil((start - limits) / clock.step), 0.0) * clock.step
        ends = limits - start
        found = self.pattern.released(columns, ends, self.units.mask, key)
        assert found.ticks is not None
        ticks = found.ticks + np.repeat(start, np.diff(found.starts))
        return found.starts, clock.numbers(ticks)

    def people(
        self,
        frame: pl.DataFrame,
        units: Mapping[str, Vector],
        starts: Places,
        times: Vector | None,
    ) -> ReleasedPeople:
        """Return what released units have, and the times of their rows since they began."""
        q, sloped = self.effects.levels.shape[1], self.effects.sloped.size
        elapsed, ends = self.since_start(units, starts, times)
        levels = [self.level(place, frame.__getitem__) for place in range(q)]
        slopes = [self.slope(number, frame.__getitem__) for number in range(sloped)]
        x = self.scores.of(units, starts.size - 1)
        weights = None if self.weight is None else np.exp(units[self.weight])
        return ReleasedPeople(
            np.column_stack(levels),
            np.column_stack(slopes) if slopes else np.empty((starts.size - 1, 0)),
            x,
            elapsed,
            ends,
            weights,
        )

    def since_start(
        self, units: Mapping[str, Vector], starts: Places, times: Vector | None
    ) -> tuple[Vector | None, Vector | None]:
        """Return times of rows since their unit's first, and ends since then; None without."""
        if times is None or self.time is None:
            return None, None
        first = times[starts[:-1]]
        ends = None
        if self.time.bound is not None:
            ends = np.maximum(units[self.time.bound] - first, 0.0)
        return times - np.repeat(first, np.diff(starts)), ends

    def level(self, place: int, cells: Callable[[str], pl.Series]) -> Vector:
        """Return the levels of released units in a score, from columns of their table."""
        found = floats_of(cells(effect_names(self.rows.encoding, self.effects.sloped)[0][place]))
        for number in np.flatnonzero(self.effects.sloped == place).tolist():
            found = found + self.slope(number, cells) * self.turned[number]
        return found

    def slope(self, number: int, cells: Callable[[str], pl.Series]) -> Vector:
        """Return the slopes of released units, those of the score with that number among them."""
        return floats_of(cells(effect_names(self.rows.encoding, self.effects.sloped)[1][number]))

    def parts_of(
        self, people: ReleasedPeople, starts: Places, masked: Matrix, move: Matrix
    ) -> Parts:
        """Return the parts of the scores of some units, whose rows are these masked ones."""
        effects = self.effects
        design = self.curve.design(people.elapsed, starts, people.ends, people.x)
        curve = design @ effects.shared
        z = self.curve.slopes(people.elapsed, int(starts[-1]))
        sizes = np.diff(starts)
        for j, slope in zip(effects.sloped.tolist(), people.slopes.T, strict=True):
            curve[:, j] += np.repeat(slope, sizes) * z
        lags = self.curve.lags(people.elapsed, starts)
        residuals = self.residuals.of_units(masked, move, starts, lags, effects.memory)
        return Parts(
            curve,
            people.levels,
            residuals,
            starts,
            design,
            people.x,
            z,
            people.weights,
            self.ends,
        )

    def corrected(self, parts: Parts) -> Correction | None:
        """Return how parts are calibrated, from the first units."""
        sample = parts.first(LIMITS.sample_rows)
        return calibrated(sample, self.wanted, self.rows.view, self.rows.recipe.calibration_rounds)

    def _scores(self, people: ReleasedPeople, starts: Places, masked: Matrix) -> Matrix:
        """Return the masked scores of all rows, leaf by leaf."""
        move = self.residuals.move(masked)
        whole = np.empty(masked.shape, order="F")
        correction: Correction | None = None
        middle = people.middle(self.curve, int(starts[-1]))
        for number, leaf in enumerate(leaves_of(starts)):
            rows = slice(int(starts[leaf.start]), int(starts[leaf.stop]))
            own = starts[leaf.start : leaf.stop + 1] - starts[leaf.start]
            parts = self.parts_of(people.some(leaf, rows), own, masked[rows], move)
            if number == 0:
                correction = self.corrected(parts)
            whole[rows] = parts.put_together(correction, middle)
        return whole

    def _numbers(
        self,
        scores: Matrix,
        units: Mapping[str, Vector],
        starts: Places,
        times: Vector | None,
        key: Key,
    ) -> tuple[dict[str, Vector], Mapping[str, int]]:
        """Return numbers of both levels, one a row, after all that follows and all rules."""
        rows, sizes = self.rows, np.diff(starts)
        give_back_memory()
        encoding, derivation = self.decoded_by(key, scores.shape[0])
        decoded = rows.decoded(scores, encoding)
        above = {name: np.repeat(numbers, sizes) for name, numbers in units.items()}
        if times is not None and self.time is not None:
            above[self.time.column.name] = times
        coded = {part.column.name: part.column for part in encoding.parts}
        del scores
        whole = derivation.restore({**above, **decoded}, coded, self.bonds.hold)
        whole, moved = keep_rules(whole, self.bonds, self.rules)
        for one in self.aggregates:
            whole[one.target] = np.repeat(self.computed(one, whole, starts), sizes)
        return whole, moved

    def computed(self, one: Aggregate, rows: Mapping[str, Vector], starts: Places) -> Vector:
        """Return what units have of their released rows, one number each."""
        column = self.unit_columns[one.target]
        found = self.bonds.rounded(one.target, one.compute(rows, starts))
        return np.clip(found, column.lower, column.upper)

    def decoded_by(self, key: Key, n_rows: int) -> tuple[Encoding, Derivation]:
        """Return what so many released rows are decoded and recomputed by."""
        rows = self.rows
        encoding, share = rows.encoding, n_rows / self.n_rows
        if not rows.recipe.exact_counts:
            encoding = encoding.with_moved_counts(n_rows, key.child("counts"))
        derivation = rows.derivation.with_missing(lambda one: round(share * one.missing))
        return encoding.with_drawn_tails(key), derivation

    @property
    def rules(self) -> list[Rule]:
        """Declared rules on rows, and maybe on their units."""
        specs = [*specs_in_file(self.rows), *specs_in_file(self.units)]
        return rules_of(self.rows.rules, self.spare.frame, specs)

    @property
    def bonds(self) -> Bonds:
        """What holds the columns of a row together; those of its unit are not moved."""
        above = dict(self.unit_columns)
        if self.time is not None:
            above[self.time.column.name] = self.time.column
        return Bonds(
            columns={**above, **self.rows.columns},
            derivation=self.rows.derivation,
            groups={part.column.name: part.group for part in self.rows.encoding.parts},
            fixed=frozenset(above),
        )

    def _cells(
        self, units: Table, whole: Mapping[str, Vector], starts: Places, key: Key
    ) -> tuple[dict[str, pl.Series], dict[str, pl.Series]]:
        """Return all columns, and the letters of their missing cells."""
        sizes = np.diff(starts)
        unit = np.repeat(np.arange(sizes.size), sizes)
        own = {name: whole[name] for name in self.rows.columns}
        cells, letters = cells_in_place(self.rows, own, key, int(starts[-1]))
        for name in (n for n in units.frame.columns if n in self.spare.frame.columns):
            cells[name] = units.frame[name].gather(unit)
            if name in units.missing_letters:
                letters[name] = units.missing_letters[name].gather(unit)
        computed = {one.target: self.unit_columns[one.target] for one in self.aggregates}
        if self.time is not None:
            computed[self.time.column.name] = self.time.column
        for name, column in computed.items():
            if self.schema.columns[name].action != "drop":
                cells[name] = column.cells(whole[name])
        return cells, letters

    def _accounted(
        self,
        made: Release,
        whole: Mapping[str, Vector],
        moved: Mapping[str, int],
        starts: Places,
        key: Key,
    ) -> Release:
        """Return the release with the account of both levels."""
        frame, rows = made.table.frame, self.rows
        own = {name: whole[name] for name in rows.columns}
        extents = {name: extent_of(numbers) for name, numbers in own.items()}
        reaches = reaches_of(rows, own)
        changes = {change.name: change for change in made.columns}
        changes |= {c.name: c for c in changes_of(rows, frame, extents, reaches)}
        warnings = (*made.warnings, *warnings_of(rows, key, extents, reaches, own))
        variables = self.spare.variables.items()
        return replace(
            made,
            table=replace(made.table, variables={n: v for n, v in variables if n in frame.columns}),
            columns=tuple(
                self.changes_from(changes, _looks_of(self.spare.frame), _looks_of(frame))
            ),
            warnings=tuple(dict.fromkeys(warnings)),
            relations=(*made.relations, *self.relations_in(whole)),
            moved_cells={**made.moved_cells, **moved},
            n_components=made.n_components + self.residuals.n_components,
            units=self.account(starts),
        )

    def account(self, starts: Places) -> UnitAccount:
        """Return how units were released."""
        return UnitAccount(
            unit=str(self.schema.design.unit),
            way="two levels",
            n_units=starts.size - 1,
            rows_before=self.n_rows,
            rows_after=int(starts[-1]),
        )

    def relations_in(self, numbers: Mapping[str, Vector]) -> tuple[str, ...]:
        """Return in words what holds in the rows of a release."""
        return (
            *self.rows.derivation.describe_in(numbers, self.bonds.rounded),
            *(one.describe() for one in self.aggregates),
            *self._on_times(),
        )

    def _on_times(self) -> Iterator[str]:
        if self.time is not None:
            yield f"{self.time.column.name} grows from row to row of a unit"
            if self.time.bound is not None:
                yield f"{self.time.column.name} never exceeds {self.time.bound}"

    def changes_from(
        self,
        changes: Mapping[str, ColumnChange],
        before: Mapping[str, Looks],
        after: Mapping[str, Looks],
    ) -> Iterator[ColumnChange]:
        """Yield what was done to each column of the table, on whichever level."""
        computed = {one.target: one for one in self.aggregates}
        for name, spec in self.schema.columns.items():
            now = after.get(name)
            if name in changes:
                change = changes[name]
                if name == self.schema.design.unit and change.action == "replaced":
                    change = replace(change, how="fresh identifiers, one a unit")
                elif change.action == "masked" and spec.belongs_to == "unit":
                    change = replace(change, how=f"{change.how}, one a unit")
                elif change.how == "masked, counts kept":
                    change = replace(change, how="masked, levels in the same proportions")
            else:
                one = computed.get(name)
                how = "made anew, growing" if one is None else f"recomputed: {one.describe()}"
                change = ColumnChange(
                    name=name,
                    kind=spec.kind,
                    action="masked" if one is None else "recomputed",
                    how=how,
                    type_before=type_in_words(before[name].dtype),
                    type_after="" if now is None else type_in_words(now.dtype),
                    decimals=None,
                    labels=False,
                    missing_before=0,
                    missing_after=0 if now is None else now.missing,
                )
            yield change

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<LevelPlan: {self.units!r}, {self.n_rows} rows>"


def _looks_of(frame: pl.DataFrame) -> dict[str, Looks]:
    return {cells.name: Looks(cells.dtype, cells.null_count()) for cells in frame.iter_columns()}


def floats_of(cells: pl.Series) -> Vector:
    """Return the numbers of a column, NaN where missing."""
    return np.asarray(cells.cast(pl.Float64).fill_null(np.nan).to_numpy())

"""People who are put into a table to see whether releases reveal them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from icsa.assessment.whom_compared import matched
from icsa.columns import Column
from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import FeatureTable
from icsa.comparison.unit_matching import UnitComparison
from icsa.constraints import Derivation, parse_rule
from icsa.correlations import mad_scale
from icsa.inspection.unit_rows import rows_of_units
from icsa.privacy.lenses import fit_lenses
from icsa.privacy.people import measure_nearness, measure_surroundings
from icsa.privacy.policy import Policy
from icsa.privacy.standing_out import named_people
from icsa.release import Plan
from icsa.rivals.base import within_column
from icsa.schema import NO_DESIGN, Design, Schema
from icsa.tables import Table

__all__ = ["PEOPLE", "Planted", "plant_people", "share_found"]

# How many, and how far out: robust standard deviations in a random direction. Few, so that they do
# not become a group; as far as the strongest outliers of the tables in `benchmarks`.
PEOPLE = 3
_DISTANCE = 20.0
# Columns that can be moved, at least.
_FEWEST_COLUMNS = 2


@dataclass(frozen=True, eq=False, repr=False)
class Planted:
    """A table in which some people were moved far out, and which rows they are."""

    table: Table
    rows: RowNumbers


def plant_people(
    table: Table, plan: Plan, seed: tuple[int, ...], *, design: Design = NO_DESIGN
) -> Planted | None:
    """Return the table with three people moved 20 robust standard deviations out, each alone.

    Only numbers are moved that no other column follows from and no rule is about, upwards, within
    their bounds and on their lattices. Where people have several rows, all of them are moved to one
    place; weights, strata and times stay. None where fewer than two columns can be moved.

    Parameters
    ----------
    table : Table
    plan : Plan
        In which every row stands for itself.
    seed : tuple of int
    design : Design
        Whom the rows are about.
    """
    said = {*design.columns.values(), *design.strata, *_bound(plan.derivation, plan.schema)}
    movable = [
        name
        for name, column in plan.columns.items()
        if column.levels is None and table.frame[name].dtype.is_numeric() and name not in said
    ]
    generator = np.random.default_rng(seed)
    rows, whose = _rows_of_some(table.frame, design, generator)
    directions = np.abs(generator.normal(size=(PEOPLE, len(movable))))
    directions = (directions / np.linalg.norm(directions, axis=1, keepdims=True))[whose]
    moved = {
        name: cells
        for name, direction in zip(movable, directions.T, strict=True)
        if (cells := _moved(table.frame[name], plan.columns[name], rows, direction)) is not None
    }
    if len(moved) < _FEWEST_COLUMNS:
        return None
    return Planted(table.with_frame(table.frame.with_columns(moved.values())), rows)


def share_found(
    planted: Planted, schema: Schema, releases: Callable[[int], Table], count: int
) -> list[float]:
    """Return, for each of so many releases, the share of the planted people whom it reveals.

    Somebody is found whom a released row is at most half as far from as anybody else in the table:
    what the rule for single people calls replicated.
    """
    first = releases(0)
    comparison = matched(planted.table, first, schema)
    people = planted.rows
    if isinstance(comparison, UnitComparison):
        people = comparison.units_of(people)
    lenses = fit_lenses(comparison.features)
    around = measure_surroundings(lenses, named_people(lenses, people))
    near = Policy().person_ratio.value

    def found(released: FeatureTable) -> float:
        rho = measure_nearness(lenses.with_released(released), around).rho["E"]
        return float(np.mean(rho <= near))

    encoded = (comparison.encode(releases(number).frame) for number in range(1, count))
    return [found(comparison.features.released), *(found(table) for table in encoded)]


def _rows_of_some(
    frame: pl.DataFrame, design: Design, generator: np.random.Generator
) -> tuple[RowNumbers, RowNumbers]:
    """Return the rows of three people, and whose of them each is."""
    if not design.unit:
        rows = generator.choice(frame.height, PEOPLE, replace=False)
        return np.sort(rows).astype(np.int64), np.arange(PEOPLE)
    units = rows_of_units(frame[design.unit])
    some = np.sort(generator.choice(units.n_units, PEOPLE, replace=False))
    parts = [units.order[units.starts[unit] : units.starts[unit + 1]] for unit in some]
    return np.concatenate(parts), np.repeat(np.arange(PEOPLE), [part.size for part in parts])


def _moved(
    cells: pl.Series, column: Column, rows: RowNumbers, direction: np.ndarray
) -> pl.Series | None:
    """Return a column with some of its cells moved up; None where it has no room for that."""
    numbers = column.numbers(cells).copy()
    known = numbers[~np.isnan(numbers)]
    middle = float(np.median(known))
    unit = mad_scale(known, middle) or float(known.std())
    # Declared edges hold: whoever cannot be farther out is not.
    targets = within_column(middle + _DISTANCE * unit * direction, column)
    if not unit > 0.0 or not np.any(targets > known.max()):
        return None
    numbers[rows] = targets
    return column.cells(numbers).alias(cells.name)


def _bound(derivation: Derivation, schema: Schema) -> set[str]:
    """Return the columns that follow from others, that others follow from, or that have a rule."""
    names = {name for one in derivation.computed for name in (one.target, *one.sources)}
    names |= {name for gap in derivation.gaps for name in (*gap.bases, gap.other)}
    for text in schema.rules:
        names |= {*parse_rule(text, list(schema.columns)).columns}
    return names

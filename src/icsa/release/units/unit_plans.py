"""The table with a row a unit: its columns, pattern of times, levels and slopes, planned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager

import numpy as np
import polars as pl

from icsa.errors import InputError
from icsa.inspection.unit_rows import Places
from icsa.limits import LONG
from icsa.matrices import Matrix, Vector
from icsa.release.encoding import Encoding
from icsa.release.methods import MethodOptions
from icsa.release.planning import Plan, plan
from icsa.release.preparing import PreparedOnce, prepare
from icsa.release.units.effects import Effects
from icsa.release.units.level_plan import effect_names
from icsa.release.units.level_schemas import said_of_units
from icsa.schema import Schema
from icsa.tables import Table

__all__ = ["effect_columns", "slope_in_level", "slopes_in_levels", "telling_of_units", "unit_plan"]


def effect_columns(encoding: Encoding, effects: Effects) -> tuple[Vector, dict[str, Vector]]:
    """Return how much of slopes is in levels, and levels and slopes by their names."""
    names = effect_names(encoding, effects.sloped)
    levels, slopes = effects.levels.copy(), effects.slopes
    turned = slopes_in_levels(levels, slopes, effects.sloped)
    levels[:, effects.sloped] -= slopes * turned
    found = dict(zip(names[0], levels.T, strict=True)) | dict(zip(names[1], slopes.T, strict=True))
    return turned, found


def slopes_in_levels(levels: Matrix, slopes: Matrix, sloped: Places) -> Vector:
    """Return of each slope how much is in the level; of many units column by column."""
    if levels.shape[0] > LONG:
        pairs = zip(sloped.tolist(), slopes.T, strict=True)
        return np.array([slope_in_level(levels[:, place], slope) for place, slope in pairs])
    centred = slopes - slopes.mean(axis=0)
    own = levels[:, sloped]
    squares = np.maximum((centred**2).sum(axis=0), 1e-300)
    return np.asarray((centred * (own - own.mean(axis=0))).sum(axis=0) / squares)


def slope_in_level(level: Vector, slope: Vector) -> float:
    """Return how much of the slopes of units is in their levels, by regression.

    Examples
    --------
    >>> slope_in_level(np.array([1.0, 3.0, 5.0]), np.array([0.0, 1.0, 2.0]))
    2.0
    """
    level, slope = np.ascontiguousarray(level), np.ascontiguousarray(slope)
    centred = slope - slope.mean()
    squares = max(float((centred**2).sum()), 1e-300)
    return float((centred * (level - level.mean())).sum()) / squares


def unit_plan(
    schema: Schema,
    table: Table,
    of_unit: Sequence[str],
    computed: Set[str],
    extras: dict[str, Vector],
    options: MethodOptions,
    recipe: str,
    weight: str | None = None,
) -> Plan:
    """Return the plan of the table with a row a unit: its columns, pattern, levels and slopes.

    Pattern, levels and slopes are the extras, which are used up.
    """
    said = said_of_units(schema, of_unit, computed, extras)
    own = [name for name in said.columns if name not in extras]
    cells = [pl.Series(n, extras.pop(n), nan_to_null=True) for n in list(extras)]
    wide = table.with_frame(table.frame.select(own).with_columns(cells), table.missing_letters)
    del cells
    with telling_of_units():
        fitted = prepare(wide, schema=said, recipe=recipe)
        del wide  # many units need the room
        assert isinstance(fitted, PreparedOnce)
        fitted.weight = weight
        found = plan(fitted, **options)
    assert isinstance(found, Plan)
    return found


@contextmanager
def telling_of_units() -> Iterator[None]:
    """Have errors on a table with a row a unit say that it is one."""
    try:
        yield
    except InputError as error:
        raise InputError(f"As a table with one row for each unit: {error}") from error

"""The table with a row a unit of two levels: its columns, pattern, levels and slopes, released."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from icsa.limits import LONG
from icsa.matrices import Vector
from icsa.randomness import Key
from icsa.release.blocks.block_preparing import Declared
from icsa.release.blocks.explained_passes import share_of_all
from icsa.release.blocks.ground import Ground
from icsa.release.blocks.passes import Passes
from icsa.release.blocks.scratch import Scratch
from icsa.release.blocks.units.stored_levels import Extra, table_of_units
from icsa.release.blocks.units.tables_of_units import (
    Asked,
    MadeTable,
    bytes_in_memory,
    release_table_of_units,
)
from icsa.release.blocks.units.unit_planning import PlannedRows
from icsa.release.blocks.units.unit_preparing import PreparedUnits, pattern_kept
from icsa.release.methods import MethodOptions
from icsa.release.units.level_plan import PATTERN, effect_names
from icsa.release.units.level_schemas import said_of_units
from icsa.release.units.unit_plans import slope_in_level, slopes_in_levels, telling_of_units

__all__ = ["ReleasedUnits", "goes_in_blocks", "release_units"]

_RELEASED = "units released"


class ReleasedUnits(NamedTuple):
    """The table with a row a unit, released, and of each slope how much was in the level."""

    table: MadeTable
    turned: Vector


def goes_in_blocks(passes: Passes, ground: Ground, prepared: PreparedUnits) -> bool:
    """Return whether the table with a row a unit goes by passes: it is long, and does not fit.

    A run that is gone on with stays with the way that it began. Short tables that do not fit are
    refused.
    """
    n_units = prepared.of_units.n_rows
    # Twice the columns, for levels and slopes and the pattern of times.
    needed = bytes_in_memory(n_units, 2 * len(prepared.schema.columns))
    if n_units > LONG and passes.once("way of units", _is_beyond, needed, ground.memory):
        return True
    ground.require_bytes(
        needed,
        f"A table with a row for each of {n_units:,} units, levels and slopes of their rows in it,",
        "Drop columns, or give --memory more.",
    )
    return False


def _is_beyond(_: Scratch, needed: float, allowed: float) -> bool:
    return needed > allowed


def release_units(
    passes: Passes,
    ground: Ground,
    prepared: PreparedUnits,
    planned: PlannedRows,
    options: MethodOptions,
    key: Key,
) -> ReleasedUnits:
    """Return the released table with a row a unit."""
    above, below = prepared.above, prepared.of_units
    turned: Vector = passes.once("slopes in levels", _slopes_in_levels, prepared, planned)
    extras = _extras(planned, turned, pattern_kept(passes.scratch).columns)
    said = said_of_units(
        prepared.schema, above.names, {one.target for one in planned.aggregates}, extras
    )
    own = [name for name in said.columns if name not in extras]
    asked = Asked(Declared(said, prepared.recipe, by_schema=False), options, prepared.weight)
    scratch = Scratch(below.folder / "table", below.n_rows)
    scratch.folder.mkdir(exist_ok=True)
    table = table_of_units(prepared.stored, own, below, extras)
    # Kept as a whole: what it is told from is let go of before the release is done.
    if not passes.scratch.has(_RELEASED):
        in_blocks = goes_in_blocks(passes, ground, prepared)
        inner = _within_units(passes, scratch) if in_blocks else replace(passes, scratch=scratch)
        passes.scratch.drop_spare()
        with telling_of_units():
            made = release_table_of_units(inner, ground, table, asked, key, in_blocks=in_blocks)
        passes.scratch.keep(_RELEASED, made)
        scratch.drop_spare()
    found: MadeTable = passes.scratch.kept(_RELEASED)
    # The folder may have been called otherwise when it was kept.
    return ReleasedUnits(replace(found, cells=replace(found.cells, scratch=scratch)), turned)


def _within_units(passes: Passes, scratch: Scratch) -> Passes:
    """Return passes over units, which tell of themselves as one pass over all."""

    def told(name: str, share: float) -> None:
        passes.told("masking units", share_of_all(name, share)[1])

    return replace(passes, scratch=scratch, told=told)


def _slopes_in_levels(_: Scratch, prepared: PreparedUnits, planned: PlannedRows) -> Vector:
    """Return of each slope how much is in the level."""
    files, q, sloped = prepared.of_units, planned.files.n_scores, planned.effects.sloped
    if files.n_rows <= LONG:
        drawn = files.gathered("effects", range(q + sloped.size), np.arange(files.n_rows))
        return slopes_in_levels(drawn[:, :q].copy(), drawn[:, q:], sloped)
    return np.array(
        [
            slope_in_level(files.loaded("effects", place), files.loaded("effects", q + number))
            for number, place in enumerate(sloped.tolist())
        ]
    )


def _extras(planned: PlannedRows, turned: Vector, pattern: Iterable[str]) -> dict[str, Extra]:
    """Return where levels, slopes and the pattern of times are, by their names."""
    sloped, q = planned.effects.sloped.tolist(), planned.files.n_scores
    levels, slopes = effect_names(planned.level.encoding, planned.effects.sloped)
    found = {name: Extra("effects", place) for place, name in enumerate(levels)}
    for number, place in enumerate(sloped):
        found[levels[place]] = Extra("effects", place, q + number, float(turned[number]))
    found |= {name: Extra("effects", q + number) for number, name in enumerate(slopes)}
    return found | {PATTERN[name]: Extra("pattern", j) for j, name in enumerate(pattern)}

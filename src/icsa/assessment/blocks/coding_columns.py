"""The passes over columns: cells of both tables to numbers in scratch, and how they are spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from icsa.assessment.blocks.filed_columns import InFile, InRobustUnits
from icsa.columns import kind_of
from icsa.columns.declared import ColumnSpec
from icsa.comparison.coding import code_column
from icsa.comparison.column_pairs import ColumnPair, RowNumbers
from icsa.comparison.matching import as_number, has_other_levels, own_values
from icsa.inspection.overview import guess_column
from icsa.inspection.units_seen import may_name
from icsa.lattice import lattice_step
from icsa.limits import MANY_EQUAL
from icsa.privacy.extremes import ColumnEnd, ends_of_column
from icsa.privacy.lenses import dither_seed, robust_units, tied_share
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import Scratch
from icsa.tables.stored import StoredTable
from icsa.threads import give_back_memory
from icsa.utility.beyond_range import ColumnBeyond, column_beyond

__all__ = ["Coded", "Scaled", "Tables", "code_columns", "code_stored", "scale_stored"]


class Tables(NamedTuple):
    """Both tables, and which rows of each are in the sample."""

    original: StoredTable
    released: StoredTable
    sample: RowNumbers
    released_sample: RowNumbers


@dataclass(frozen=True, eq=False)
class Coded:
    """A column of either table or both, after its cells were read.

    Attributes
    ----------
    name : str
    spec : ColumnSpec, optional
        What it is; None for a column that only the release has.
    may_name : bool
        Whether its cells may name people with several rows.
    cells, released_cells : polars.Series, optional
        Those of the sample.
    pair : ColumnPair, optional
        How it is compared, without cells: these are in scratch. None where it is not.
    note : str
        What is to be said about it.
    unlike : bool
        Whether the release holds something else there.
    own : int, optional
        Of a column that names people: in how many released rows stands somebody's own value.
    varies, has_gaps : bool
        Of codes: whether the original's vary, and whether some are missing in either table.
    """

    name: str
    spec: ColumnSpec | None = None
    may_name: bool = False
    cells: pl.Series | None = None
    released_cells: pl.Series | None = None
    pair: ColumnPair | None = None
    note: str = ""
    unlike: bool = False
    own: int | None = None
    varies: bool = True
    has_gaps: bool = False

    @property
    def has_levels(self) -> bool:
        """Whether it is compared by codes."""
        return self.pair is not None and self.pair.levels is not None


@dataclass(frozen=True, eq=False)
class Scaled:
    """A column of numbers as lenses see it, and its ends.

    Attributes
    ----------
    tied : float
        Share of the cells at the commonest value; 1 for a column that does not vary.
    tied_step : float
        Its step in robust units where most cells are one value.
    original, released : InRobustUnits
    released_centre, released_scale : float
        Of the release, in robust units of the original.
    missing : float
        Share of the original's cells.
    has_gaps : bool
        Whether cells are missing in either table.
    ends : list of ColumnEnd
    beyond : ColumnBeyond, optional
        How released cells leave the original's range.
    """

    tied: float
    tied_step: float
    original: InRobustUnits
    released: InRobustUnits
    released_centre: float
    released_scale: float
    missing: float
    has_gaps: bool
    ends: list[ColumnEnd]
    beyond: ColumnBeyond | None


def code_columns(
    passes: Passes, tables: Tables, specs: Mapping[str, ColumnSpec], numeric: Sequence[str | None]
) -> list[Coded]:
    """Return all columns of both tables, their cells in scratch, by their places.

    Parameters
    ----------
    passes : Passes
    tables : Tables
    specs : mapping of str to ColumnSpec
        Of columns that were declared; others are guessed.
    numeric : sequence of str
        Columns that are numbers, however few values they have.
    """
    first, second = tables.original.names, tables.released.names
    names = [*first, *(name for name in second if name not in first)]
    tasks = [
        Task(code_stored, (tables, name, place, specs.get(name), name in numeric))
        for place, name in enumerate(names)
    ]
    found: list[Coded] = passes.over("reading columns", tasks)
    return found


def code_stored(
    scratch: Scratch,
    tables: Tables,
    name: str,
    place: int,
    spec: ColumnSpec | None,
    numeric: bool = False,
) -> Coded:
    """Return what a column is and how it is compared; its numbers or codes go to scratch.

    Parameters
    ----------
    scratch : Scratch
    tables : Tables
    name : str
    place : int
        Of its files in scratch.
    spec : ColumnSpec, optional
        Where it was declared; else it is guessed.
    numeric : bool
        Whether it is a number, however few values it has.
    """
    if name not in tables.original.dtypes:
        shown = tables.released.column(name).frame[name]
        return Coded(name, released_cells=shown.gather(tables.released_sample))
    table = tables.original.column(name)
    before = table.frame[name]
    spec = guess_column(table, name) if spec is None else spec
    spec = as_number(spec) if numeric else spec
    found = Coded(name, spec, may_name(before), before.gather(tables.sample))
    if name not in tables.released.dtypes:
        return found
    del table
    give_back_memory()  # before the other table's column comes
    after = tables.released.column(name).frame[name]
    found = replace(found, released_cells=after.gather(tables.released_sample))
    spec = spec.in_file(tables.original.without_rows())
    if kind_of(spec.kind).compared == "no" or spec.action == "drop":
        return replace(found, own=own_values(before, after))
    if kind_of(spec.kind).most_values == 1 or not _varies(before):
        note = f"{name!r}: one value in the original, several in the release."
        return replace(found, note=note if _varies(after) else "")
    pair = code_column(before, after, spec)
    if isinstance(pair, str):
        return replace(found, note=pair, unlike=True)
    del before, after
    scratch.write("original", place, pair.original)
    scratch.write("released", place, pair.released)
    none = pair.original[:0]
    found = replace(
        found,
        pair=replace(pair, original=none, released=none, encode=None),
        note=pair.note,
        unlike=has_other_levels(pair),
    )
    if pair.levels is None:
        return found
    return replace(
        found,
        varies=bool((pair.original != pair.original[0]).any()),
        has_gaps=any(bool(gaps.any()) for gaps in pair.missing),
    )


def _varies(cells: pl.Series) -> bool:
    """Return whether there are two different values: without a set of all of them."""
    there = cells.drop_nulls()
    return there.len() > 1 and bool((there != there[0]).any())


def scale_stored(
    _: Scratch, original: InFile, released: InFile, step: float, column: int
) -> Scaled:
    """Return how a column of numbers is spread in both tables, as `fit_lenses` has it.

    Parameters
    ----------
    original, released : InFile
    step : float
        Of the original's lattice, 0 for none.
    column : int
        Its place among the columns of numbers.
    """
    mine, theirs = original.read(slice(None)), released.read(slice(None))
    tied, missing = tied_share(mine), float(np.isnan(mine).mean())
    has_gaps = missing > 0.0 or bool(np.isnan(theirs).any())
    ends = ends_of_column(mine, theirs, theirs.size / mine.size)
    beyond = column_beyond(ColumnPair("", mine, theirs))
    own_step = max(step, lattice_step(theirs)) if step > 0.0 else 0.0
    del theirs
    tied_step = step if tied >= MANY_EQUAL else 0.0
    here = InRobustUnits(original, step, tuple(dither_seed(0, column)), 0.0, 1.0)
    here.change(mine, slice(0, mine.size))
    centres, scales = robust_units(mine[None, :], np.array([tied_step]))
    del mine
    centre, scale = float(centres[0]), float(scales[0])
    there = InRobustUnits(released, own_step, tuple(dither_seed(1, column)), centre, scale)
    shown = there.read(slice(None))
    in_units = tied_step / scale
    own_centres, own_scales = robust_units(shown[None, :], np.array([in_units]))
    return Scaled(
        tied=1.0 if np.isinf(scale) else tied,
        tied_step=in_units,
        original=replace(here, centre=centre, scale=scale),
        released=there,
        released_centre=float(own_centres[0]),
        released_scale=float(own_scales[0]),
        missing=missing,
        has_gaps=has_gaps,
        ends=ends,
        beyond=beyond,
    )

"""Columns of people with several rows: what they are compared by, and how they are shown."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from icsa.columns.declared import Belonging
from icsa.comparison.column_pairs import ColumnPair
from icsa.comparison.matching import own_cells
from icsa.comparison.trajectories import How, Summarised
from icsa.errors import InputError
from icsa.inspection.unit_rows import UnitRows
from icsa.matrices import Vector
from icsa.schema import Design

__all__ = [
    "head_of",
    "in_order",
    "own_in_units",
    "pair_of",
    "require_differing",
    "require_names_of_units",
    "require_two_units",
    "shown_units",
    "varies",
    "wanted_of_units",
]

# Digits of a summary in tables of people that are shown.
_DIGITS = 6


def require_names_of_units(
    released: Collection[str], design: Design, what: str = "release"
) -> None:
    """Refuse a release that lacks the columns that tell the rows of people apart."""
    for name in (design.unit, design.time):
        if name and name not in released:
            raise InputError(
                f"The {what} has no column {name!r}, which tells the rows of people apart. Give "
                "one that has it, or say --unit none (unit=False): every row is then a person."
            )


def require_two_units(n_units: int) -> None:
    """Refuse a release of fewer than two units."""
    if n_units < 2:
        raise InputError(f"The release has {n_units} unit(s), and at least 2 are needed.")


def require_differing(columns: Sequence[object]) -> None:
    """Refuse tables of people who do not differ in any column."""
    if not columns:
        raise InputError("The two tables have no column in common by which people differ.")


def in_order(
    rows: UnitRows, times: Vector | None, roles: pl.Series | None, head: str | None
) -> UnitRows:
    """Return the rows of each unit: by time, the head of a household first."""
    if times is not None:
        return rows.sorted_by(times)
    if head is None or roles is None:
        return rows
    others = roles.cast(pl.String).ne_missing(head)
    return rows.sorted_by(others.cast(pl.Float64).to_numpy())


def head_of(roles: pl.Series | None, rows: UnitRows) -> str | None:
    """Return the role that stands in every unit exactly once, as a text."""
    if roles is None:
        return None
    roles = roles.cast(pl.String).gather(rows.order)
    for value in sorted(roles.unique().to_list()):
        if (np.bincount(rows.unit[(roles == value).to_numpy()], minlength=rows.n_units) == 1).all():
            return str(value)
    return None


def wanted_of_units(
    columns: Sequence[ColumnPair], belonging: Mapping[str, str], design: Design
) -> tuple[Summarised, ...]:
    """Return what people are compared by, of columns of rows; numbers first.

    Parameters
    ----------
    columns : sequence of ColumnPair
        Of rows, numbers first.
    belonging : mapping of str to str
    design : Design
    """
    return tuple(sorted(_wanted(columns, belonging, design), key=lambda c: c.gives_codes))


def _wanted(
    columns: Sequence[ColumnPair], belonging: Mapping[str, str], design: Design
) -> Iterator[Summarised]:
    n = sum(column.levels is None for column in columns)
    for place, column in enumerate(columns):
        where = place if place < n else place - n
        codes = column.levels is not None
        if belonging[column.name] == "unit":
            yield Summarised(column.name, "", where, codes)
            continue
        if column.name == design.role and column.levels is not None:
            for level in range(len(column.levels)):
                yield Summarised(column.name, "level", where, codes, level)
            continue
        for how in _hows(column, design):
            if not (column.name == design.time and how == "slope"):
                yield Summarised(column.name, how, where, codes)
    yield Summarised("", "rows")


def _hows(column: ColumnPair, design: Design) -> Iterator[How]:
    if column.levels is None:
        yield "mean"
    else:
        yield "share" if len(column.levels) == 2 else "most frequent"
    if design.time:
        yield "last"
    if design.role:
        yield "head"
    if column.levels is None:
        yield "slope" if design.time else "spread"


def varies(column: np.ndarray) -> bool:
    """Return whether numbers, or codes, are not all the same; missing ones aside."""
    known = column[column >= 0] if column.dtype.kind == "i" else column[~np.isnan(column)]
    return bool(known.size) and known.min() < known.max()


def pair_of(column: Summarised, columns: Sequence[ColumnPair]) -> ColumnPair:
    """Return a column of people without its cells, from the columns of rows."""
    none = np.empty(0)
    if column.how in ("rows", "level"):
        return ColumnPair(column.name, none, none, grid=1.0, kind="integer")
    n_numbers = sum(one.levels is None for one in columns)
    source = columns[column.place + n_numbers * column.codes]
    if column.how in ("mean", "slope", "spread", "share"):
        unit = source.unit if column.how == "mean" else ""
        return ColumnPair(column.name, none, none, kind="continuous", unit=unit)
    return replace(source, name=column.name, original=none, released=none, note="", encode=None)


def shown_units(
    columns: Sequence[ColumnPair], which: int, own: Mapping[str, pl.Series]
) -> pl.DataFrame:
    """Return a table of people as it is shown: own columns as they were, others as numbers.

    Parameters
    ----------
    columns : sequence of ColumnPair
        Of people.
    which : int
        0 for the original's cells, 1 for the release's.
    own : mapping of str to polars.Series
        Cells of the people's own columns.
    """
    cells = {}
    for column in columns:
        values = (column.original, column.released)[which]
        if column.name in own:
            cells[column.name] = own[column.name]
        elif column.levels is None:
            shown = pl.Series(values, nan_to_null=True).round_sig_figs(_DIGITS)
            cells[column.name] = shown
        else:
            levels = [str(level) for level in column.levels]
            known = pl.Series(levels, dtype=pl.String)
            places = pl.Series(values).replace(-1, None)
            cells[column.name] = known.gather(places)
    return pl.DataFrame(cells)


def own_in_units(
    original: pl.Series, released: pl.Series, rows: Sequence[UnitRows], where: Belonging | None
) -> int:
    """Return in how many released units an own value stands, of what names people or is text."""
    if where == "row":
        own = own_cells(original, released).gather(rows[1].order).to_numpy()
        return int(np.count_nonzero(rows[1].any(own)))
    firsts = (
        cells.gather(one.firsts) for cells, one in zip((original, released), rows, strict=True)
    )
    return int(own_cells(*firsts).sum())

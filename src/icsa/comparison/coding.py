"""One column of both tables as numbers or as codes, with what is needed to code another release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from icsa.columns import ColumnSpec, kind_of, storage_of
from icsa.columns.declared import without_codes
from icsa.columns.readings import Reading, as_numbers, as_text
from icsa.comparison.column_pairs import Codes, ColumnPair
from icsa.lattice import find_lattice, lattice_step
from icsa.matrices import Vector, row_blocks

__all__ = ["code_column"]

# Rows that are read as text at a time.
_ROWS = 1 << 20


def code_column(original: pl.Series, released: pl.Series, spec: ColumnSpec) -> ColumnPair | str:
    """Return a column of both tables as numbers or codes; or why they cannot be compared.

    Numeric kinds, dates and times become numbers. So do ordinal columns: numbers that they hold, or
    the positions of levels whose order is known, on a lattice of step 1, because a neighbouring
    level is nearer than a far one. Binary columns and categories become codes; levels that only the
    release has get codes of their own.

    Parameters
    ----------
    original, released : polars.Series
        They may have different types and lengths.
    spec : ColumnSpec
        Kind, levels and missing codes; bounds are not looked at.

    Examples
    --------
    >>> spec = ColumnSpec(name="ward", kind="category")
    >>> column = code_column(pl.Series(["a", "b", None]), pl.Series(["b", "c"]), spec)
    >>> column.original.tolist(), column.released.tolist(), column.levels
    ([0, 1, -1], [1, 2], ('a', 'b', 'c'))
    """
    kind = kind_of(spec.kind)
    if kind.compared == "numbers":
        return _as_numeric(original, released, spec, kind.reading)
    if kind.compared == "order":
        order = _known_order(original, spec)
        if order is None and original.dtype.is_numeric():
            return _as_numeric(original, released, spec, as_numbers)
        if order is not None:
            positions = _as_positions(original, released, spec, order)
            if positions is not None:
                return positions
    return _as_codes(original, released, spec)


def _as_numeric(
    original: pl.Series, released: pl.Series, spec: ColumnSpec, reading: Reading
) -> ColumnPair | str:
    first, second = reading(original), reading(released)
    if first is None or second is None:
        return _cannot(original, released, spec)

    def encode(cells: pl.Series) -> Vector:
        read = reading(cells)
        assert read is not None
        storage = storage_of(read.dtype)
        assert storage is not None
        return _finite(storage.numbers(without_codes(read, _plain(spec))))

    numbers = encode(first)
    grid = _grid(numbers, spec)  # sorts: before the other column takes room
    return ColumnPair(
        name=spec.name,
        kind=spec.kind,
        original=numbers,
        released=encode(second),
        grid=grid,
        unit=kind_of(spec.kind).unit,
        note=_note(original, released, spec),
        encode=encode,
    )


def _as_positions(
    original: pl.Series, released: pl.Series, spec: ColumnSpec, order: list[str]
) -> ColumnPair | None:
    """Return positions of levels in their order; None where a table has others."""

    def encode(cells: pl.Series) -> Vector:
        text = as_text(cells)
        assert text is not None
        positions = _positions(without_codes(text, spec), order).astype(np.float64)
        positions[positions < 0] = np.nan
        return positions

    for text in (as_text(original), as_text(released)):
        if text is None or not set(without_codes(text, spec).drop_nulls().unique()) <= set(order):
            return None
    return ColumnPair(
        name=spec.name,
        kind=spec.kind,
        original=encode(original),
        released=encode(released),
        grid=1.0,
        unit="level, counted from 0",
        encode=encode,
    )


def _as_codes(original: pl.Series, released: pl.Series, spec: ColumnSpec) -> ColumnPair | str:
    same_type = original.dtype == released.dtype
    numeric = not same_type and all(as_numbers(cells) is not None for cells in (original, released))
    reading: Reading = as_numbers if numeric else as_text
    if any(reading(cells.head(0)) is None for cells in (original, released)):
        return _cannot(original, released, spec)
    lower = original.dtype == pl.Boolean

    def read(cells: pl.Series) -> pl.Series:
        found = reading(cells)
        assert found is not None
        if lower and found.dtype == pl.String:
            found = found.str.to_lowercase()  # TRUE and true are one
        shown = as_text(without_codes(found, spec))
        assert shown is not None
        return shown

    def blocks(cells: pl.Series) -> Iterator[slice]:
        """As text, a long column takes several times its room; how floats read, all cells tell."""
        at_once = numeric or cells.dtype.is_float()
        return row_blocks(cells.len(), max(cells.len(), 1) if at_once else _ROWS)

    def texts(cells: pl.Series) -> set[str]:
        return set().union(*(read(cells[rows]).drop_nulls().unique() for rows in blocks(cells)))

    known = sorted(texts(original))
    new = sorted(texts(released).difference(known))
    levels = [*known, *new]

    def encode(cells: pl.Series) -> Codes:
        codes = np.empty(cells.len(), dtype=np.int32)
        for rows in blocks(cells):
            codes[rows] = _positions(read(cells[rows]), levels)
        return codes

    note = _note(original, released, spec)
    if new:
        note = f"{note} {spec.name!r}: {len(new)} level(s) only in the release.".strip()
    return ColumnPair(
        name=spec.name,
        kind=spec.kind,
        original=encode(original),
        released=encode(released),
        levels=tuple(levels),
        note=note,
        encode=encode,
    )


def _positions(text: pl.Series, levels: list[str]) -> Codes:
    """Return each text's position, -1 for missing, and one after the last for an unknown one."""
    if not levels:
        return np.where(text.is_null().to_numpy(), -1, 0).astype(np.int32)
    places = pl.Series(range(len(levels)), dtype=pl.Int32)
    found = text.replace_strict(
        pl.Series(levels), places, default=len(levels), return_dtype=pl.Int32
    )
    return np.where(text.is_null().to_numpy(), -1, found.fill_null(-1).to_numpy()).astype(np.int32)


def _known_order(original: pl.Series, spec: ColumnSpec) -> list[str] | None:
    if spec.levels:
        return [str(level) for level in spec.levels]
    if isinstance(original.dtype, pl.Enum):
        return list(original.dtype.categories)
    return None


def _grid(numbers: Vector, spec: ColumnSpec) -> float:
    """Return the lattice's step; 0 where no two cells are equal, as nothing agrees by chance."""
    if spec.step is not None:
        return float(spec.step)
    ordered = numbers[~np.isnan(numbers)]
    ordered.sort()
    if not ordered.size or not (ordered[1:] == ordered[:-1]).any() or ordered[0] == ordered[-1]:
        return 0.0
    found = find_lattice(ordered)
    return lattice_step(numbers) if found is None else found.width


def _plain(spec: ColumnSpec) -> ColumnSpec:
    return replace(spec, lower=None, upper=None)


def _finite(numbers: Vector) -> Vector:
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _note(original: pl.Series, released: pl.Series, spec: ColumnSpec) -> str:
    first, second = _family(original.dtype), _family(released.dtype)
    if first == second or released.null_count() == released.len():
        return ""
    return f"{spec.name!r}: {first} in the original, {second} in the release; compared anyway."


def _cannot(original: pl.Series, released: pl.Series, spec: ColumnSpec) -> str:
    return (
        f"{spec.name!r}: {_family(original.dtype)} in the original, {_family(released.dtype)} in "
        f"the release that cannot be read as {spec.kind}; left out of every comparison."
    )


def _family(dtype: pl.DataType) -> str:
    if dtype.is_integer():
        return "whole numbers"
    if dtype.is_numeric():
        return "numbers"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    return {pl.Boolean: "true and false", pl.Null: "nothing"}.get(
        type(dtype), f"cells of type {type(dtype).__name__}"
    )

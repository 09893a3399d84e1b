"""Columns of Arrow to polars and back, with the order of their categories."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from icsa.errors import InputError
from icsa.tables.base import require

__all__ = ["from_arrow", "ordered_levels", "to_arrow", "with_order"]

pa: Any = require("pyarrow", "Arrow tables")


def from_arrow(name: str, column: Any) -> tuple[pl.Series, bool | None]:
    """Return a column of Arrow, and whether it is an ordered category (None: no category)."""
    kind = column.type
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_decimal256(inner) or pa.types.is_run_end_encoded(inner):
        raise _unreadable(name, kind)
    try:
        # bare of metadata, which may name extension types
        frame = pl.from_arrow(pa.table([column], names=[name]))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise _unreadable(name, kind) from None
    cells = frame.to_series()  # type: ignore[union-attr]
    if not pa.types.is_dictionary(kind):
        return cells, None
    return with_order(cells, column), bool(kind.ordered)


def with_order(cells: pl.Series, column: Any) -> pl.Series:
    """Return the cells of an ordered category as levels in their order, others as they are."""
    levels = ordered_levels(column)
    return cells if levels is None else cells.cast(pl.String).cast(pl.Enum(levels))


def ordered_levels(column: Any) -> list[str] | None:
    """Return the levels of an ordered category of texts in their order, else None."""
    kind = column.type
    if not pa.types.is_dictionary(kind) or not kind.ordered or not _is_text(kind.value_type):
        return None
    levels: list[str] | None = None
    for piece in _pieces(column):
        found = piece.dictionary.to_pylist()
        shorter, longer = sorted((levels or [], found), key=len)
        if longer[: len(shorter)] != shorter:
            return None  # two pieces order their levels otherwise
        levels = longer
    if not levels or None in levels or len(set(levels)) < len(levels):
        return None
    return levels


def to_arrow(column: Any, like: Any) -> Any:
    """Return a column in the type of another if its cells fit it, else as it is.

    Ordered categories have all levels of the other column, in its order.
    """
    wanted = like.type
    levels = ordered_levels(like)
    if column.type == wanted and levels is None:
        return column
    try:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if not pa.types.is_dictionary(wanted):
            return column.cast(wanted)
        values = column.cast(wanted.value_type).combine_chunks()
        return pa.chunked_array([_encoded(piece, wanted, levels) for piece in _pieces(values)])
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return column


def _encoded(values: Any, wanted: Any, levels: list[str] | None) -> Any:
    if levels is None:
        found = values.dictionary_encode()
        codes, dictionary = found.indices, found.dictionary
    else:
        dictionary = pa.array(levels, wanted.value_type)
        places = {level: place for place, level in enumerate(levels)}
        codes = pa.array([places.get(value) for value in values.to_pylist()], pa.int64())
        if codes.null_count > values.null_count:
            raise pa.ArrowInvalid("a level that the other column does not have")
    return pa.DictionaryArray.from_arrays(
        codes.cast(wanted.index_type), dictionary, ordered=wanted.ordered
    )


def _pieces(column: Any) -> Iterable[Any]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


def _is_text(kind: Any) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _unreadable(name: str, kind: Any) -> InputError:
    return InputError(
        f"Column {name!r} has the type {kind} of Arrow, which is not supported. Cast it to "
        "numbers, texts, dates or booleans of a usual type, or leave it out."
    )

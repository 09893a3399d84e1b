"""The kinds of columns: one record each."""

from __future__ import annotations

import polars as pl

from icsa.columns.base import Column, KindRecord
from icsa.columns.continuous import CONTINUOUS, INTEGER
from icsa.columns.declared import ColumnSpec, Kind
from icsa.columns.levelled import BINARY, CATEGORY, ORDINAL
from icsa.columns.storage import Storage
from icsa.columns.temporal import DATE, DATETIME, DURATION, TIME
from icsa.columns.unmasked import CONSTANT, IDENTIFIER, TEXT
from icsa.columns.zero_inflated import ZERO_INFLATED
from icsa.errors import UnknownNameError
from icsa.recipes import Scale

__all__ = ["KINDS", "fit_column", "kind_of", "storage_of"]

KINDS: dict[Kind, KindRecord] = {
    kind.name: kind
    for kind in (
        CONTINUOUS,
        INTEGER,
        ZERO_INFLATED,
        BINARY,
        CATEGORY,
        ORDINAL,
        DATE,
        DATETIME,
        DURATION,
        TIME,
        IDENTIFIER,
        TEXT,
        CONSTANT,
    )
}


def kind_of(name: Kind) -> KindRecord:
    """Return the record of a kind; an error that names those there are for an unknown one."""
    if name not in KINDS:
        raise UnknownNameError("kind", name, KINDS)
    return KINDS[name]


def fit_column(cells: pl.Series, spec: ColumnSpec, *, scale: Scale = "power") -> Column:
    """Return a column fitted to its cells.

    Columns with one value, or none, come back as constant ones, of width 0.

    Parameters
    ----------
    cells : polars.Series
    spec : ColumnSpec
        Its kind, bounds, step, levels and missing codes.
    scale : "linear", "power" or "quantile"
        How measurements, dates and times are transformed.

    Raises
    ------
    InputError
        When the cells do not go with the kind, or break what is declared.

    Examples
    --------
    >>> cells = pl.Series("grams", [3100, 2800, None, 3550])
    >>> column = fit_column(cells, ColumnSpec(name="grams", kind="integer"))
    >>> column
    <integer column 'grams': 3 cells, width 1>
    >>> column.numbers(cells)
    array([3100., 2800.,   nan, 3550.])
    """
    return kind_of(spec.kind).fit(cells, spec, scale)


def storage_of(dtype: pl.DataType) -> Storage | None:
    """Return how cells of a type become numbers and back; None where they do not."""
    storages = (kind.storage for kind in KINDS.values() if kind.storage is not None)
    return next((storage for storage in storages if storage.accepts(dtype)), None)

"""Which class fits columns of which kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

import polars as pl

from icsa.columns.base import Column
from icsa.columns.binary import Binary
from icsa.columns.category import Category
from icsa.columns.constant import Constant
from icsa.columns.continuous import Continuous
from icsa.columns.dates import Date, DateTime
from icsa.columns.identifier import Identifier
from icsa.columns.integer import Integer
from icsa.columns.ordinal import Ordinal
from icsa.columns.storage import NUMERIC, Storage
from icsa.columns.text import Text
from icsa.columns.times import Duration, TimeOfDay
from icsa.columns.transforms import Scale
from icsa.columns.zero_inflated import ZeroInflated
from icsa.errors import UnknownNameError
from icsa.schema import ColumnSpec, Kind

__all__ = ["COLUMN_FITTERS", "fit_column", "storage_of"]

Fitter: TypeAlias = Callable[[pl.Series, ColumnSpec, Scale], Column]

COLUMN_FITTERS: Mapping[Kind, Fitter] = MappingProxyType(
    {
        "continuous": Continuous.fit,
        "integer": Integer.fit,
        "zero-inflated": ZeroInflated.fit,
        "binary": Binary.fit,
        "category": Category.fit,
        "ordinal": Ordinal.fit,
        "date": Date.fit,
        "datetime": DateTime.fit,
        "duration": Duration.fit,
        "time": TimeOfDay.fit,
        "identifier": Identifier.fit,
        "text": Text.fit,
        "constant": Constant.fit,
    }
)


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
    if spec.kind not in COLUMN_FITTERS:
        raise UnknownNameError("kind", spec.kind, COLUMN_FITTERS)
    return COLUMN_FITTERS[spec.kind](cells, spec, scale)


def storage_of(dtype: pl.DataType) -> Storage | None:
    """Return how cells of a type become numbers and back; None where they do not.

    Examples
    --------
    >>> storage_of(pl.Date()).holds, storage_of(pl.String())
    ('dates', None)
    """
    return next((storage for storage in _STORAGES if storage.accepts(dtype)), None)


_STORAGES = (NUMERIC, Date.storage, DateTime.storage, Duration.storage, TimeOfDay.storage)

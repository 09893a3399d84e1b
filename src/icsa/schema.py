"""The schema: what each column is and what is to be done with it, as people declare it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

from icsa.errors import UnknownNameError

__all__ = [
    "ACTIONS",
    "DATE_KINDS",
    "DISCRETE_KINDS",
    "KINDS",
    "NUMERIC_KINDS",
    "QUANTITY_KINDS",
    "TEMPORAL_KINDS",
    "Action",
    "ColumnSpec",
    "Kind",
    "Schema",
    "names_with",
    "with_kept",
]

Kind: TypeAlias = Literal[
    "continuous",
    "integer",
    "zero-inflated",
    "binary",
    "category",
    "ordinal",
    "date",
    "datetime",
    "duration",
    "time",
    "identifier",
    "text",
    "constant",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

# Kinds whose cells are numbers, points or lengths of time, one of a few levels.
NUMERIC_KINDS: tuple[Kind, ...] = ("continuous", "integer", "zero-inflated")
DATE_KINDS: tuple[Kind, ...] = ("date", "datetime")
TEMPORAL_KINDS: tuple[Kind, ...] = (*DATE_KINDS, "duration", "time")
DISCRETE_KINDS: tuple[Kind, ...] = ("binary", "category", "ordinal")
# Kinds whose cells can be subtracted from each other.
QUANTITY_KINDS: tuple[Kind, ...] = (*NUMERIC_KINDS, *TEMPORAL_KINDS)

Action: TypeAlias = Literal["mask", "replace", "drop", "keep"]
ACTIONS: tuple[Action, ...] = get_args(Action)


@dataclass(frozen=True, kw_only=True)
class ColumnSpec:
    """What one column is, and what is to be done with it.

    Attributes
    ----------
    name : str
    kind : str
        One of `KINDS`.
    action : "mask", "replace", "drop" or "keep"
        Mask it (the default); replace identifiers by fresh ones; leave it out; release it as it is.
    lower, upper : number, date, datetime, time or timedelta, optional
        Bounds that every cell keeps, in the column's own type. None: the natural ones.
    step : float, optional
        Cells are multiples of it (in days for dates, seconds for datetimes, times and durations).
        None: found from the cells.
    levels : tuple
        Allowed values of a category, or of an ordinal column in their order. Empty: those seen.
    missing_codes : tuple
        Values that stand for missing (999, -1), besides those that the file declares.
    """

    name: str
    kind: Kind
    action: Action = "mask"
    lower: Any = None
    upper: Any = None
    step: float | None = None
    levels: tuple[Any, ...] = ()
    missing_codes: tuple[Any, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Schema:
    """All columns of a table, the rules that a release must keep, and choices of the recipe.

    Attributes
    ----------
    columns : mapping of str to ColumnSpec
        In the table's order; one for each column.
    rules : tuple of str
        Such as ``diagnosed <= died``, ``if pregnant = 0 then weeks missing``.
    recipe : mapping
        Choices that override the recipe's, by name.
    """

    columns: Mapping[str, ColumnSpec]
    rules: tuple[str, ...] = ()
    recipe: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


def names_with(action: Action, schema: Schema) -> list[str]:
    """Return the columns that something is to be done with.

    Examples
    --------
    >>> age = ColumnSpec(name="age", kind="integer")
    >>> names_with("mask", Schema(columns={"age": age}))
    ['age']
    """
    return [spec.name for spec in schema.columns.values() if spec.action == action]


def with_kept(schema: Schema, names: Sequence[str]) -> Schema:
    """Return the schema with some columns to be released as they are.

    Examples
    --------
    >>> schema = Schema(columns={"site": ColumnSpec(name="site", kind="category")})
    >>> with_kept(schema, ["site"]).columns["site"].action
    'keep'
    """
    columns = dict(schema.columns)
    for name in names:
        if name not in columns:
            raise UnknownNameError("column", name, columns)
        columns[name] = replace(columns[name], action="keep")
    return replace(schema, columns=columns)

"""The schema: what each column is and what is to be done with it, as people declare it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from icsa.columns import ACTIONS, KINDS, Action, ColumnSpec
from icsa.errors import UnknownNameError

__all__ = ["ACTIONS", "KINDS", "ColumnSpec", "Schema", "names_with", "with_kept"]


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

"""Notes on relations between columns: sums, columns that follow others, products."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from icsa.columns import Kind
from icsa.constraints import Gap, LinearRelation, find_derivation
from icsa.constraints.coded_columns import quantity_of
from icsa.constraints.words import KEPT, LOST, NEEDS_RULE
from icsa.inspection.kinds import guess_kind
from icsa.inspection.profile import profile_of
from icsa.matrices import Vector
from icsa.schema import Schema
from icsa.tables.table import Table
from icsa.threads import one_linear_algebra_thread

__all__ = ["relation_notes"]


class _Described(Protocol):
    def describe(self) -> str: ...


def relation_notes(table: Table, schema: Schema | None = None) -> Mapping[str, tuple[str, ...]]:
    """Return notes on relations with other columns, by the column that can be computed.

    Parameters
    ----------
    table : Table
    schema : Schema, optional
        With every column of the table. None: guessed.

    Examples
    --------
    >>> import polars as pl
    >>> rng = np.random.default_rng(1)
    >>> a, b = rng.integers(0, 50, (2, 40))
    >>> relation_notes(Table(pl.DataFrame({"a": a, "b": b, "total": a + b})))
    {'total': ('total = a + b in all rows; kept so',)}
    """
    numbers: dict[str, Vector] = {}
    steps: dict[str, float | None] = {}
    kinds: dict[str, Kind] = {}
    for name in table.frame.columns:
        spec = None if schema is None else schema.columns[name]
        profile = profile_of(table, name, spec)
        kind = guess_kind(profile).kind if spec is None else spec.kind
        masked = spec is None or spec.action == "mask"
        quantity = quantity_of(profile.cells, kind) if masked and profile.distinct > 1 else None
        if quantity is not None:
            numbers[name], steps[name], kinds[name] = quantity
    with one_linear_algebra_thread():
        found = find_derivation(numbers, steps, kinds)
    notes: dict[str, tuple[str, ...]] = {}
    _add(notes, ((relation.target, relation) for relation in found.computed), KEPT)
    _add(notes, ((gap.other, gap) for gap in found.gaps), KEPT)
    _add(notes, ((_follower(one), one) for one in found.unkept), LOST)
    _add(notes, ((order.second, order) for order in found.orders), NEEDS_RULE)
    _add(notes, ((product.target, product) for product in found.products), LOST)
    return notes


def _follower(found: LinearRelation | Gap) -> str:
    return found.other if isinstance(found, Gap) else found.target


def _add(
    notes: dict[str, tuple[str, ...]], found: Iterable[tuple[str, _Described]], ending: str
) -> None:
    for name, relation in found:
        notes[name] = (*notes.get(name, ()), _on_one_line(relation.describe()) + ending)


def _on_one_line(words: str) -> str:
    """Return words with escapes for what names may hold that ends a line or moves a cursor."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in words)

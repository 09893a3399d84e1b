"""Relations between columns: sums, columns that follow others, orders; what a schema says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from icsa.columns import Kind, kind_of
from icsa.columns.levels import find_levels
from icsa.constraints import Derivation, Gap, LinearRelation, Order, find_derivation, parse_rule
from icsa.constraints.coded_columns import quantity_of
from icsa.constraints.derived_columns import Derived
from icsa.constraints.words import BY_RULE, KEPT, LOST, NEEDS_RULE
from icsa.inspection.kinds import guess_kind
from icsa.inspection.profile import profile_of
from icsa.matrices import Vector
from icsa.schema import ColumnSpec, Schema
from icsa.tables.table import Table
from icsa.threads import one_linear_algebra_thread

__all__ = ["Related", "related_columns"]


class _Described(Protocol):
    def describe(self) -> str: ...


@dataclass(frozen=True)
class Related:
    """What is known of columns that follow from others or stay in order.

    Attributes
    ----------
    notes : mapping of str to tuple of str
        Notes by the column that can be computed or comes later.
    derive : mapping of str to str
        Expressions that give columns, as a schema declares them.
    rules : tuple of str
        Rules that hold in all rows, and that a release keeps only if they are declared.
    """

    notes: Mapping[str, tuple[str, ...]]
    derive: Mapping[str, str]
    rules: tuple[str, ...]


def related_columns(
    table: Table, schema: Schema | None = None, *, unit: str | None = None
) -> Related:
    """Return which columns follow from others, or stay in order with them.

    Parameters
    ----------
    table : Table
    schema : Schema, optional
        With every column of the table. None: guessed.
    unit : str, optional
        The column that names people with several rows: what they have follows from it anyway.

    Examples
    --------
    >>> import numpy as np
    >>> import polars as pl
    >>> rng = np.random.default_rng(1)
    >>> a, b = rng.integers(0, 50, (2, 40))
    >>> related_columns(Table(pl.DataFrame({"a": a, "b": b, "total": a + b}))).notes
    {'total': ('total = a + b in all rows; kept so',)}
    """
    found = _derivation_of(table, schema, unit)
    rules = () if schema is None else schema.rules
    ruled = [frozenset(parse_rule(text, table.frame.columns).columns) for text in rules]
    notes: dict[str, tuple[str, ...]] = {}
    _add(notes, ((one.target, one) for one in found.computed), KEPT)
    _add(notes, ((gap.other, gap) for gap in found.gaps), KEPT)
    _add(notes, ((_follower(one), one) for one in found.unkept), LOST)
    for order in found.orders:
        declared = any(order.columns <= names for names in ruled)
        _add(notes, [(order.second, order)], BY_RULE if declared else NEEDS_RULE)
    _add(notes, ((product.target, product) for product in found.products), LOST)
    derive = {one.target: one.expression.text for one in found.computed if isinstance(one, Derived)}
    return Related(notes, derive, tuple(order.rule for order in _to_declare(found)))


def _derivation_of(table: Table, schema: Schema | None, unit: str | None) -> Derivation:
    """Return what follows from what among the columns that are masked."""
    numbers: dict[str, Vector] = {}
    steps: dict[str, float | None] = {}
    kinds: dict[str, Kind] = {}
    levels: dict[str, tuple[object, ...]] = {}
    declared: dict[str, str] = {}
    for name in table.frame.columns:
        if name == unit:
            continue
        spec = None if schema is None else schema.columns[name]
        profile = profile_of(table, name, spec)
        if spec is None:
            guess = guess_kind(profile)
            spec = ColumnSpec(
                name=name,
                kind=guess.kind,
                action=kind_of(guess.kind).actions[0],
                levels=guess.levels,
            )
        if spec.action != "mask":
            continue
        if spec.derive is not None:
            declared[name] = spec.derive
        if profile.distinct < 2:
            continue
        quantity = quantity_of(profile.cells, spec.kind)
        if quantity is not None:
            numbers[name], steps[name], kinds[name] = quantity
        elif kind_of(spec.kind).has_levels:
            known = find_levels(profile.cells, spec)
            numbers[name], kinds[name] = known.positions(profile.cells, spec), spec.kind
            levels[name] = tuple(known.values.to_list())
    with one_linear_algebra_thread():
        return find_derivation(numbers, steps, kinds, levels, declared)


def _to_declare(found: Derivation) -> Iterator[Order]:
    """Yield the orders that a release keeps only by a rule."""
    yield from found.orders
    for gap in found.unkept:
        if isinstance(gap, Gap) and gap.ordered:
            yield from (Order(base, gap.other) for base in gap.bases)


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

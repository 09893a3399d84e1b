"""Units whose rows stand side by side: released as one row each, by the ordinary way, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

from icsa.columns import Column
from icsa.columns.unmasked import Identifier
from icsa.constraints.written import renamed
from icsa.errors import InputError
from icsa.inspection import type_in_words
from icsa.randomness import Key
from icsa.recipes import Recipe
from icsa.release.accounts import ColumnChange
from icsa.release.design_plans import DesignPlan, PreparedDesign, UnitAccount
from icsa.release.methods import MethodOptions
from icsa.release.planning import Plan, plan
from icsa.release.preparing import PreparedOnce, prepare
from icsa.release.releasing import Release, release
from icsa.release.units.wide_tables import WideLayout
from icsa.schema import Design, Schema, names_with
from icsa.tables import Table

__all__ = ["PreparedWide", "WidePlan", "prepare_wide"]


@dataclass(eq=False, repr=False, kw_only=True)
class PreparedWide(PreparedDesign):
    """A table with a row a unit, ready to be planned."""

    schema: Schema
    recipe: Recipe
    spare: Table
    layout: WideLayout
    inner: PreparedOnce

    def weigh_by(self, name: str) -> None:
        """Have units counted by a column of theirs that holds the logarithms of weights."""
        self.inner.weight = name

    def planned(
        self, progress: Callable[[str, float], None], **options: Unpack[MethodOptions]
    ) -> WidePlan:
        """Return the plan of the wide table."""
        try:
            inner = plan(self.inner, progress=progress, **options)
        except InputError as error:
            raise InputError(f"With all rows of a unit side by side: {error}") from error
        assert isinstance(inner, Plan)
        return WidePlan(
            schema=self.schema,
            spare=self.spare,
            columns=inner.columns,
            layout=self.layout,
            inner=inner,
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class WidePlan(DesignPlan):
    """A plan for a table with a row a unit, and how its rows become many again.

    Attributes
    ----------
    schema : Schema
        Of the table with many rows a unit.
    spare : Table
        That table.
    layout : WideLayout
    inner : Plan
        Of the wide table.
    """

    schema: Schema
    spare: Table
    columns: Mapping[str, Column]
    layout: WideLayout
    inner: Plan

    @property
    def within(self) -> Plan:
        """The plan of its table with a row a unit, or of logarithms of weights."""
        return self.inner

    def released(self, key: Key, progress: Callable[[str, float], None]) -> Release:
        """Return the release of the wide table, with a row for every row of a unit again."""
        made = release(self.inner, key, progress=progress)
        table = self.layout.narrowed(made.table, self.spare)
        n_rows = table.frame.height
        fresh = [
            Identifier.fit(self.spare.frame[name], spec).fresh(n_rows).alias(name)
            for name, spec in self.schema.columns.items()
            if spec.action == "replace" and name in self.layout.of_row
        ]
        names = [n for n in self.spare.frame.columns if self.schema.columns[n].action != "drop"]
        table = replace(table, frame=table.frame.with_columns(fresh).select(names))
        unit = self.schema.design.unit
        assert unit
        account = UnitAccount(
            unit=unit,
            way="wide",
            n_units=self.layout.rows.n_units,
            rows_before=self.spare.frame.height,
            rows_after=n_rows,
        )
        return replace(
            made,
            table=table,
            columns=tuple(self._changes(made.columns, table)),
            relations=tuple(dict.fromkeys(map(self._plainly, made.relations))),
            moved_cells=self._moved(made.moved_cells),
            warnings=(*self._followable(made.warnings), *self._notes(made.warnings)),
            units=account,
        )

    def _changes(self, changes: Sequence[ColumnChange], table: Table) -> Iterator[ColumnChange]:
        """Yield what was done to each column: what was done to it in its first place."""
        by_name = {change.name: change for change in changes}
        label = self.layout.labels.name
        for name, spec in self.schema.columns.items():
            before = self.spare.frame[name]
            after = table.frame[name] if name in table.frame.columns else None
            in_types = "" if after is None else type_in_words(after.dtype)
            shared: dict[str, Any] = {
                "name": name,
                "type_before": type_in_words(before.dtype),
                "type_after": in_types,
                "missing_before": before.null_count(),
                "missing_after": 0 if after is None else after.null_count(),
            }
            if name == label:
                how = "the same places for all units, as they were"
                change = ColumnChange(
                    kind=spec.kind, action="kept", how=how, decimals=None, labels=False, **shared
                )
            elif name in by_name:
                change = replace(by_name[name], **shared)
                if name == self.schema.design.unit:
                    change = replace(change, how="fresh identifiers, one a unit")
            else:
                first = by_name[self.layout.name(name, 0)]
                how = self._plainly(first.how)
                if first.action == "constant" and spec.kind != "constant":
                    how, first = (
                        "one value in each place, as it was",
                        replace(first, kind=spec.kind),
                    )
                if spec.action == "replace":
                    how, action = "fresh identifiers, unrelated to the old ones", "replaced"
                    first = replace(first, action=action)
                beyond = f"in place 1: {first.beyond}" if first.beyond else ""
                change = replace(first, how=how, beyond=beyond, **shared)
            yield change

    def _plainly(self, words: str) -> str:
        """Return words without the numbers of places."""
        for column in self.layout.of_row:
            words = re.sub(rf"`?{re.escape(column)} #\d+`?", column, words)
        return words

    def _followable(self, warnings: Sequence[str]) -> Iterator[str]:
        """Yield warnings; a rule to declare is one on the table's columns, not on places."""
        for warning in warnings:
            told, rule, rest = warning.partition("Declare the rule ")
            places = set(re.findall(r" #(\d+)", rest))
            yield f"{told}{rule}{self._plainly(rest)}" if len(places) == 1 else warning

    def _moved(self, moved: Mapping[str, int]) -> dict[str, int]:
        """Return how many cells each declared rule moved, in all places."""
        found = {}
        for text in self.schema.rules:
            versions = {text}
            for place in range(self.layout.n_places):
                names = {c: self.layout.name(c, place) for c in self.layout.of_row}
                versions.add(renamed(text, names))
            found[text] = sum(moved.get(version, 0) for version in versions)
        return found

    def _notes(self, warnings: Sequence[str]) -> Iterator[str]:
        if any(re.search(r" #\d", warning) for warning in warnings):
            yield "#1, #2, ... behind a column's name: its first, second, ... row in a unit."
        lost = int(self.layout.rows.sizes.sum() - self.layout.present.sum())
        if lost:
            yield (
                f"{lost} row(s) in places that fewer units have than can be hidden are left out."
            )

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<WidePlan: {self.layout!r}>"


def prepare_wide(table: Table, schema: Schema, layout: WideLayout, recipe: str) -> PreparedWide:
    """Return the table with a row a unit, fitted."""
    kept = [n for n in names_with("keep", schema) if n in layout.of_row]
    if kept and not layout.always.all():
        raise InputError(
            f"Column {kept[0]!r} is to be kept, but not every unit has all rows: its cells would "
            "have no place. Have it masked or dropped."
        )
    # Identifiers of rows are made anew when rows are many again.
    columns = {
        name: replace(spec, action="drop")
        if spec.action == "replace" and name in layout.of_row
        else spec
        for name, spec in schema.columns.items()
    }
    wide = layout.widened(table)
    said = layout.widened_schema(replace(schema, columns=columns), table)
    inner = prepare(wide, schema=replace(said, design=Design(unit=False)), recipe=recipe)
    assert isinstance(inner, PreparedOnce)
    inner.nested = True
    return PreparedWide(
        schema=schema,
        recipe=inner.recipe,
        spare=table,
        layout=layout,
        inner=inner,
    )

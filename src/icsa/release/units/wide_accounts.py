"""The account of units whose rows stood side by side: told of the table that has many rows each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from icsa.constraints.written import renamed
from icsa.inspection import type_in_words
from icsa.release.accounts import ColumnChange, Looks
from icsa.release.design_plans import UnitAccount
from icsa.release.releasing import Release
from icsa.release.units.wide_tables import WideShape
from icsa.schema import Schema
from icsa.tables import Table

__all__ = ["WideAccount"]


@dataclass(frozen=True, eq=False, kw_only=True)
class WideAccount:
    """What is told of a release, from what is told of its wide table.

    Attributes
    ----------
    schema : Schema
        Of the table with many rows a unit.
    shape : WideShape
    rows_before : int
    """

    schema: Schema
    shape: WideShape
    rows_before: int

    def told(
        self,
        made: Release,
        table: Table,
        n_rows: int,
        before: Mapping[str, Looks],
        after: Mapping[str, Looks],
    ) -> Release:
        """Return the release of the wide table as one of the table with many rows a unit.

        Parameters
        ----------
        made : Release
            Of the wide table.
        table : Table
            What is released, with all rows or none.
        n_rows : int
            The rows that it has.
        before, after : mapping of str to Looks
            Of every column, and of every released one.
        """
        unit = self.schema.design.unit
        assert unit
        return replace(
            made,
            table=table,
            columns=tuple(self._changes(made.columns, before, after)),
            relations=tuple(dict.fromkeys(map(self._plainly, made.relations))),
            moved_cells=self._moved(made.moved_cells),
            warnings=(*self._followable(made.warnings), *self._notes(made.warnings)),
            units=UnitAccount(
                unit=unit,
                way="wide",
                n_units=self.shape.n_units,
                rows_before=self.rows_before,
                rows_after=n_rows,
            ),
        )

    def _changes(
        self,
        changes: Sequence[ColumnChange],
        before: Mapping[str, Looks],
        after: Mapping[str, Looks],
    ) -> Iterator[ColumnChange]:
        """Yield what was done to each column: what was done to it in its first place."""
        by_name = {change.name: change for change in changes}
        label = self.shape.labels.name
        for name, spec in self.schema.columns.items():
            new = after.get(name)
            shared: dict[str, Any] = {
                "name": name,
                "type_before": type_in_words(before[name].dtype),
                "type_after": "" if new is None else type_in_words(new.dtype),
                "missing_before": before[name].missing,
                "missing_after": 0 if new is None else new.missing,
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
                first = by_name[self.shape.name(name, 0)]
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
        for column in self.shape.of_row:
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
            for place in range(self.shape.n_places):
                names = {c: self.shape.name(c, place) for c in self.shape.of_row}
                versions.add(renamed(text, names))
            found[text] = sum(moved.get(version, 0) for version in versions)
        return found

    def _notes(self, warnings: Sequence[str]) -> Iterator[str]:
        if any(re.search(r" #\d", warning) for warning in warnings):
            yield "#1, #2, ... behind a column's name: its first, second, ... row in a unit."
        if self.shape.n_left_out:
            yield (
                f"{self.shape.n_left_out} row(s) in places that fewer units have than can be "
                "hidden are left out."
            )

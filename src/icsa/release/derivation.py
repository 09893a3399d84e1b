"""Columns that follow from others: taken out before masking, put back after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from icsa.columns import fit_column
from icsa.columns.base import Column
from icsa.matrices import Vector
from icsa.relations import (
    Gap,
    LinearRelation,
    ProductRelation,
    find_gaps,
    find_products,
    find_relations,
)
from icsa.release.recipes import Recipe
from icsa.schema import ColumnSpec, Kind

__all__ = ["Derivation", "derivation_of", "gap_column", "step_of"]

# Kinds whose numbers can be added and subtracted.
_QUANTITIES = ("continuous", "integer", "zero-inflated", "date", "datetime", "duration", "time")
_DATES = ("date", "datetime")
# Sums of decimal numbers are right to so many of their largest.
_EXACT = 1e-9
# From this share of equal cells on, a column is coded in two parts.
_MANY_ZEROS = 0.4


@dataclass(frozen=True, eq=False)
class Derivation:
    """Which columns follow from others.

    Attributes
    ----------
    relations : tuple of LinearRelation
        Their targets are left out and computed from the other columns of the release.
    gaps : tuple of Gap
        Their second columns are coded as what they are more than the first, in the order in which
        they are to be added up again.
    products : tuple of ProductRelation
        Found, but not kept.
    """

    relations: tuple[LinearRelation, ...] = ()
    gaps: tuple[Gap, ...] = ()
    products: tuple[ProductRelation, ...] = ()

    def reduce(self, numbers: Mapping[str, Vector]) -> dict[str, Vector]:
        """Return the numbers without targets, and with gaps in place of second columns."""
        targets = {relation.target for relation in self.relations}
        reduced = {name: values for name, values in numbers.items() if name not in targets}
        return reduced | {gap.other: gap.forward(numbers) for gap in self.gaps}

    def restore(
        self, numbers: Mapping[str, Vector], gap_columns: Mapping[str, Column]
    ) -> dict[str, Vector]:
        """Return the numbers of all columns."""
        restored = dict(numbers)
        for gap in self.gaps:
            # A gap with two values is coded as binary, so its number need not be its value.
            values = gap_columns[gap.other].cells(numbers[gap.other]).to_numpy()
            restored[gap.other] = gap.back(gap.start(restored), values)
        for relation in self.relations:
            restored[relation.target] = relation.predict(restored)
        return restored

    def targets_in(self, numbers: Mapping[str, Vector]) -> dict[str, Vector]:
        """Return the targets as the other numbers give them, where they are there."""
        found = dict(numbers)
        for relation in self.relations:
            found[relation.target] = relation.predict(found)
        return {relation.target: found[relation.target] for relation in self.relations}

    def describe_in(self, numbers: Mapping[str, Vector]) -> tuple[str, ...]:
        """Return in words how far the relations hold in a release."""
        words = []
        for relation in self.relations:
            gap = np.abs(numbers[relation.target] - relation.predict(numbers))
            holds = gap[~np.isnan(gap)] <= _EXACT * np.nanmax(np.abs(numbers[relation.target]))
            share = float(holds.mean()) if holds.size else 1.0
            words.append(replace(relation, share=share).describe())
        for following in self.gaps:
            rest = following.forward(numbers)
            if following.ordered and not np.any(rest < 0.0):
                words.append(f"{following.other} is never below {' and '.join(following.bases)}")
        return tuple(words)


def derivation_of(columns: Mapping[str, Column], numbers: Mapping[str, Vector]) -> Derivation:
    """Return what follows from what among the columns that hold quantities."""
    quantities = {name: numbers[name] for name, c in columns.items() if c.kind in _QUANTITIES}
    if len(quantities) < 2:
        return Derivation()
    kinds = {name: columns[name].kind for name in quantities}
    steps = {name: step_of(columns[name]) for name in quantities}
    relations = _with_spans_as_targets(find_relations(quantities, steps, kinds), kinds)
    relations = tuple(r for r in relations if _missing_only_with_terms(r, quantities))
    targets = {relation.target for relation in relations}
    left = {name: values for name, values in quantities.items() if name not in targets}
    gaps = find_gaps(left, kinds)
    # A cell whose bases are all missing would be lost.
    lost = {gap.other for gap in gaps if gap.covered < 1.0}
    kept = tuple(gap for gap in gaps if gap.other not in lost)
    return Derivation(relations, kept, find_products(left, steps))


def _with_spans_as_targets(
    relations: Sequence[LinearRelation], kinds: Mapping[str, Kind]
) -> tuple[LinearRelation, ...]:
    """Return the relations with the days between two dates computed from the dates.

    The dates themselves are then coded by gaps, which keeps them in order.
    """
    turned = []
    targets = {relation.target for relation in relations}
    for relation in relations:
        dates = [name for name, _ in relation.terms if kinds[name] in _DATES]
        spans = [name for name, _ in relation.terms if kinds[name] not in _DATES]
        plain = all(coefficient == 1.0 for _, coefficient in relation.terms)
        is_sum = kinds[relation.target] in _DATES and len(dates) == len(spans) == 1 and plain
        if is_sum and spans[0] not in targets:
            terms = ((relation.target, 1.0), (dates[0], -1.0))
            constant = -relation.constant
            relation = replace(relation, target=spans[0], terms=terms, constant=constant)
        turned.append(relation)
    return _in_order(turned)


def gap_column(gap: Gap, other: Column, values: pl.Series, recipe: Recipe) -> Column:
    """Return the column that a gap is coded by."""
    present = values.drop_nulls()
    many_zeros = recipe.split_zeros and (present == 0.0).sum() >= _MANY_ZEROS * present.len()
    spec = ColumnSpec(
        name=gap.other,
        kind="zero-inflated" if many_zeros else "continuous",
        step=step_of(other),
    )
    return fit_column(values, spec, scale=recipe.scale)


def step_of(column: Column) -> float | None:
    """Return the lattice step of a column, None where it has none."""
    # Of a column in two parts the second has the lattice.
    lattice = getattr(getattr(column, "part", column), "lattice", None)
    return None if lattice is None else float(lattice.step)


def _missing_only_with_terms(relation: LinearRelation, numbers: Mapping[str, Vector]) -> bool:
    """Return whether the target is there exactly where all its terms are."""
    terms = np.any([np.isnan(numbers[name]) for name, _ in relation.terms], axis=0)
    return bool(np.all(terms == np.isnan(numbers[relation.target])))


def _in_order(relations: Sequence[LinearRelation]) -> tuple[LinearRelation, ...]:
    """Return the relations so that each target is computed before it is used."""
    waiting, ordered = list(relations), []
    while waiting:
        targets = {relation.target for relation in waiting}
        ready = [r for r in waiting if not targets & {name for name, _ in r.terms}]
        if not ready:  # a circle cannot be computed from anywhere
            break
        ordered += ready
        waiting = [relation for relation in waiting if relation not in ready]
    return tuple(ordered)

"""The account of a release: what was done to every column, and what to look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import polars as pl

from icsa.columns import KINDS, Column
from icsa.columns.levels import FEWEST_HOLDERS
from icsa.constraints import Derivation, Gap, LinearRelation, Order, parse_rule
from icsa.constraints.coded_columns import step_of
from icsa.constraints.words import LOST, compute_again, declare, lost_with_gaps
from icsa.inspection import type_in_words
from icsa.matrices import Vector
from icsa.measures import Reach, reach_beyond
from icsa.randomness import Key
from icsa.recipes import Recipe
from icsa.release.limits import LIMITS
from icsa.release.preparing import Extent
from icsa.schema import Schema, names_with
from icsa.tables import Table

__all__ = [
    "Accounted",
    "ColumnChange",
    "Looks",
    "changes_between",
    "changes_of",
    "reaches_of",
    "warnings_of",
]

_ACTIONS = {"replace": "replaced", "drop": "dropped", "keep": "kept"}
_OTHER_HOW = {
    "replaced": "fresh identifiers, unrelated to the old ones",
    "dropped": "left out",
    "kept": "RELEASED AS IT IS, because it was asked for",
}


class Accounted(Protocol):
    """What an account asks of a plan, be it of a whole table or of the rows of units."""

    @property
    def schema(self) -> Schema:
        """What is declared of its columns."""
        ...

    @property
    def spare(self) -> Table:
        """What is left of the original."""
        ...

    @property
    def recipe(self) -> Recipe:
        """The choices that were made."""
        ...

    @property
    def columns(self) -> Mapping[str, Column]:
        """Every column that is masked or computed."""
        ...

    @property
    def extents(self) -> Mapping[str, Extent]:
        """Of the original's columns."""
        ...

    @property
    def derivation(self) -> Derivation:
        """What follows from what."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What to look at."""
        ...


@dataclass(frozen=True, kw_only=True)
class ColumnChange:
    """What was done to one column.

    Attributes
    ----------
    name, kind : str
    action : str
        "masked", "recomputed", "replaced", "dropped", "kept" or "constant".
    how : str
        The same in a few words, without any cell.
    type_before, type_after : str
        Data types in plain words; empty for a column that is gone.
    decimals : int, optional
        Digits after the decimal mark, where all cells are rounded to as many.
    labels : bool
        Whether the column has a label or labels of values, which are carried over.
    missing_before, missing_after : int
        Cells without a value.
    beyond : str
        How many released cells lie beyond the original's range and how far, without any cell;
        empty where none does.
    """

    name: str
    kind: str
    action: str
    how: str
    type_before: str
    type_after: str
    decimals: int | None
    labels: bool
    missing_before: int
    missing_after: int
    beyond: str = ""


def reaches_of(plan: Accounted, numbers: Mapping[str, Vector]) -> dict[str, Reach]:
    """Return how far released numbers reach beyond the original's, of columns without levels."""
    return {
        name: reach_beyond(plan.extents[name].smallest, plan.extents[name].largest, numbers[name])
        for name, column in plan.columns.items()
        if column.levels is None
    }


def changes_of(
    plan: Accounted,
    frame: pl.DataFrame,
    extents: Mapping[str, Extent],
    reaches: Mapping[str, Reach],
) -> Iterator[ColumnChange]:
    """Yield what was done to each column of the original."""

    def looks(cells: pl.Series, extent: Extent | None) -> Looks:
        return Looks(cells.dtype, cells.null_count() if extent is None else extent.missing)

    names, original = plan.schema.columns, plan.spare.frame
    before = {name: looks(original[name], plan.extents.get(name)) for name in names}
    after = {name: looks(frame[name], extents.get(name)) for name in frame.columns}

    def has_its_counts(name: str) -> bool:
        column = plan.columns[name]
        return name not in after or column.has_its_counts(column.numbers(frame[name]))

    yield from changes_between(plan, before, after, reaches, has_its_counts)


class Looks(NamedTuple):
    """The type of a column's cells, and how many have no value; codes for missing are none."""

    dtype: pl.DataType
    missing: int


def changes_between(
    plan: Accounted,
    looks_before: Mapping[str, Looks],
    looks_after: Mapping[str, Looks],
    reaches: Mapping[str, Reach],
    has_its_counts: Callable[[str], bool],
) -> Iterator[ColumnChange]:
    """Yield what was done to each column, from how columns look before and after.

    `has_its_counts` says of a column by its name whether the release has its levels, or its most
    usual number, as often as before.
    """
    schema, source = plan.schema, plan.spare
    targets = {relation.target: relation for relation in plan.derivation.computed}
    for spec in schema.columns.values():
        before, after = looks_before[spec.name], looks_after.get(spec.name)
        column, variable = plan.columns.get(spec.name), source.variable(spec.name)
        kind: str = spec.kind
        if spec.action != "mask":
            action = _ACTIONS[spec.action]
            how = _OTHER_HOW[action]
        else:
            kind = plan.columns[spec.name].kind
            action = "constant" if kind == "constant" else "masked"
            how = KINDS[kind].account
            if not plan.recipe.exact_counts:
                how = KINDS[kind].moved_account or how
            elif schema.rules and not has_its_counts(spec.name):
                how = "masked, counts changed by rules"
            if spec.name in targets:
                action, how = "recomputed", f"recomputed: {targets[spec.name].describe()}"
        yield ColumnChange(
            name=spec.name,
            kind=kind,
            action=action,
            how=how,
            type_before=type_in_words(before.dtype),
            type_after="" if after is None else type_in_words(after.dtype),
            decimals=None if after is None else _decimals(column),
            labels=bool(variable.label or variable.value_labels),
            missing_before=before.missing,
            missing_after=0 if after is None else after.missing,
            beyond=reaches[spec.name].describe() if spec.name in reaches else "",
        )


def warnings_of(
    plan: Accounted,
    key: Key,
    extents: Mapping[str, Extent],
    reaches: Mapping[str, Reach],
    numbers: Mapping[str, Vector],
) -> Iterator[str]:
    """Yield what to look at before the release is handed out."""
    if key.reproducible:
        yield "Made with a seed, so reproducible: not for release."
    kept = names_with("keep", plan.schema)
    if kept:
        yield (
            f"Released as they are, because it was asked for: {', '.join(kept)}. Their cells stay "
            "together, but no longer belong to the other columns of the same row. Whoever knows "
            "such cells of somebody knows that the person is in the table."
        )
    yield from plan.notes
    yield from _rare_levels(plan)
    wide = _wide_columns(plan, extents)
    if wide:
        yield (
            f"{', '.join(wide)}: spread more than {LIMITS.wide:g} times as far as in the original, "
            "because somebody stands out very far. Use --recipe topcode, or declare bounds in a "
            "schema."
        )
    yield from _far_beyond(reaches)
    yield from _at_the_limits(plan, numbers)
    for found in plan.derivation.unkept:
        yield lost_with_gaps(found.describe(), _how_to_have(found))
    yield from _beyond_natural_bounds(plan, numbers)
    yield from _broken_orders(plan, numbers)
    for product in plan.derivation.products:
        yield f"{product.describe()}{LOST}. {compute_again('it')}."


def _far_beyond(reaches: Mapping[str, Reach]) -> Iterator[str]:
    """Yield a warning on the columns that leave the original's range more often than by chance."""
    least = LIMITS.beyond_chance / max(2 * len(reaches), 1)  # each column has two ends
    far = [name for name, reach in reaches.items() if reach.chance < least]
    if far:  # how many stands in the account, which others do not see
        yield (
            f"{', '.join(far)}: more cells lie beyond the original's range than chance gives. "
            "Declare bounds in a schema, or use a recipe that keeps quantiles."
        )


def _broken_orders(plan: Accounted, numbers: Mapping[str, Vector]) -> Iterator[str]:
    """Yield a warning for each order of the original that the release does not have."""
    rules = [parse_rule(text, list(plan.schema.columns)) for text in plan.schema.rules]
    kinds = {name: column.kind for name, column in plan.columns.items()}
    for order in plan.derivation.orders:
        ruled = any(order.columns <= {*rule.columns} for rule in rules)
        if not ruled and not order.holds_in(numbers, kinds):
            yield f"{order.describe()} in the original{LOST}. {declare(order.rule)}."


def _how_to_have(found: LinearRelation | Gap) -> str:
    """Return what people can do who need a relation that is not kept."""
    if isinstance(found, LinearRelation):
        return f"{compute_again(found.target)}."
    if found.ordered:
        return f"{declare(Order(found.bases[0], found.other).rule)}."
    return "Drop one of them, if that matters."


def _beyond_natural_bounds(plan: Accounted, numbers: Mapping[str, Vector]) -> Iterator[str]:
    """Yield a warning for each column that was computed to where none of its cells can be."""
    for name in (relation.target for relation in plan.derivation.computed):
        column = plan.columns[name]
        with np.errstate(invalid="ignore"):
            beyond = int(np.sum((numbers[name] < column.lower) | (numbers[name] > column.upper)))
        if beyond:
            yield (
                f"{name}: computed from other columns, {beyond} cell(s) came out where none can "
                "be, such as below 0. Declare its bounds in a schema: they come first then."
            )


def _rare_levels(plan: Accounted) -> Iterator[str]:
    """Yield a warning for each column with levels that hardly anybody has."""
    for name, column in plan.columns.items():
        if column.levels is None:
            continue
        counts = column.levels.counts
        rare = int(np.sum((counts > 0) & (counts < FEWEST_HOLDERS)))
        if rare:
            are = "are" if plan.recipe.exact_counts else "may be"
            yield (
                f"{name}: {rare} level(s) held by fewer than {FEWEST_HOLDERS} people {are} in the "
                "release as they are. Merge them with others, or drop the column."
            )


def _at_the_limits(plan: Accounted, numbers: Mapping[str, Vector]) -> Iterator[str]:
    """Yield a warning on the columns of dates in which some were held at the calendar's ends."""
    near: dict[str, int] = {}
    far: dict[str, int] = {}
    for name, column in plan.columns.items():
        limits = column.calendar
        if limits is None or KINDS[column.kind].circular:  # every day begins and ends there
            continue
        for limit, held in zip(limits, _held_at(limits, column, numbers[name]), strict=True):
            if held:
                told = near if column.distance(limit) <= LIMITS.near else far
                told[name] = told.get(name, 0) + held
    if far:
        yield (
            f"{', '.join(far)}: {sum(far.values())} cell(s) came out beyond the first or last "
            "that can be written, and are held there, because somebody's is very far from the "
            "others. Correct it, declare it as a missing code or declare bounds in a schema, or "
            "use --recipe topcode."
        )
    if near:
        yield (
            f"{', '.join(near)}: {sum(near.values())} cell(s) are at the first or last moment that "
            "can be written, because the column lies next to it. Count from another day if that "
            "matters."
        )


def _held_at(limits: tuple[float, float], column: Column, numbers: Vector) -> tuple[int, int]:
    """Return how many numbers are at the first and the last point of a column's lattice."""
    step = step_of(column) or 0.0
    first, last = limits[0] + step, limits[1] - step
    with np.errstate(invalid="ignore"):
        below = numbers < first if step else numbers <= first
        above = numbers > last if step else numbers >= last
    return int(below.sum()), int(above.sum())


def _wide_columns(plan: Accounted, extents: Mapping[str, Extent]) -> list[str]:
    """Return the columns whose released numbers spread much farther than the original's."""
    return [
        name
        for name, column in plan.columns.items()
        if column.levels is None
        and extents[name].deviation > LIMITS.wide * plan.extents[name].deviation
    ]


def _decimals(column: Column | None) -> int | None:
    """Return how many decimals the column's lattice needs; None without a decimal one."""
    step = None if column is None else step_of(column)
    if step is None or not 0.0 < step < 1.0:
        return None
    return next((k for k in range(1, 16) if float(f"{step:.{k}f}") == step), None)

"""From a table about people to one that can be handed out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from icsa.columns.base import Column
from icsa.columns.identifier import Identifier
from icsa.errors import InputError, UnknownNameError
from icsa.inspection import guess_schema, type_in_words
from icsa.masks import MASKS
from icsa.randomness import Key, as_key
from icsa.release.derivation import step_of
from icsa.release.plan import Extent, Plan, extent_of, make_plan, silent
from icsa.release.recipes import resolve_recipe
from icsa.release.records import ColumnChange, Release
from icsa.rules import Rule, check_rules, enforce_rules, parse_rule, require_rules
from icsa.schema import Schema, with_kept
from icsa.shuffling import permutation
from icsa.tables import Table, from_frame, to_frame
from icsa.threads import one_linear_algebra_thread

__all__ = ["anonymize", "plan_release", "release_of"]


def anonymize(
    table: Any,
    *,
    schema: Schema | None = None,
    keep: Sequence[str] = (),
    recipe: str = "mixed",
    method: str = "icsa",
    scatters: Sequence[str] | None = None,
    mask: str = "permute",
    raw_units: bool = False,
    random_state: object = None,
    return_key: bool = False,
    progress: Callable[[str, float], None] | None = None,
) -> Release:
    """Return an anonymized copy of a table with columns of any kind.

    Every column is encoded by its kind, the scores are mapped to coordinates that people who stand
    out cannot steer, each coordinate is masked on its own, and all is mapped back, calibrated and
    decoded. Rows come out in an order that has nothing to do with the original's.

    Parameters
    ----------
    table : pandas, polars or pyarrow table, or icsa.tables.Table
        One row a person; not changed. A pandas index is not released.
    schema : Schema, optional
        What each column is; by default guessed, see `icsa.inspection.guess_schema`.
    keep : sequence of str
        Columns to release as they are. Nothing else passes unmasked.
    recipe : str
        "mixed", "topcode" or "paper"; see `icsa.release.RECIPES`.
    method : "icsa" or "sa"
        Robust coordinates, or principal components.
    scatters : pair of str, optional
        For "icsa"; an MCD takes its weights from the continuous columns.
    mask : str
        "permute", "flip" or "rotate".
    raw_units : bool
        Whether spectral anonymization leaves the columns in their own units.
    random_state : None, int, bytes or Generator
        None draws a fresh secret key. A number makes the release reproducible by whoever guesses
        it: for tests, not to be handed out.
    return_key : bool
        Whether the release has the key. Whoever holds it can undo the release.
    progress : callable, optional
        Called with the name of each stage and the share of the work that is done before it.

    Returns
    -------
    Release

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> frame = pl.DataFrame({
    ...     "age": generator.integers(20, 90, 200),
    ...     "weight": generator.normal(75, 12, 200).round(1),
    ...     "height": generator.normal(170, 9, 200).round(),
    ...     "smokes": generator.choice(["yes", "no"], 200, p=[0.3, 0.7]),
    ... })
    >>> release = anonymize(frame, random_state=1)
    >>> counts = [table["smokes"].value_counts(sort=True) for table in (frame, release.table)]
    >>> release.table.shape, counts[0].equals(counts[1])
    ((200, 4), True)
    """
    told = progress or silent
    told("looking at the columns", 0.0)
    source = table if isinstance(table, Table) else from_frame(table)
    key = as_key(random_state)
    plan, declared = plan_release(
        source,
        schema=schema,
        keep=keep,
        recipe=recipe,
        method=method,
        scatters=scatters,
        mask=mask,
        raw_units=raw_units,
        progress=told,
    )
    release = release_of(plan, source, declared, key, once=True, progress=told)
    return replace(
        release,
        table=release.table if isinstance(table, Table) else to_frame(release.table, table),
        key=key if return_key else None,
    )


def plan_release(
    table: Table,
    *,
    schema: Schema | None = None,
    keep: Sequence[str] = (),
    recipe: str = "mixed",
    method: str = "icsa",
    scatters: Sequence[str] | None = None,
    mask: str = "permute",
    raw_units: bool = False,
    progress: Callable[[str, float], None] = silent,
) -> tuple[Plan, Schema]:
    """Return the plan for a table and the schema that it was made for; options of `anonymize`.

    Whoever assesses a release needs both, to make it again under other keys.
    """
    if mask not in MASKS:
        raise UnknownNameError("mask", mask, MASKS)
    declared = with_kept(guess_schema(table) if schema is None else schema, keep)
    rules = [parse_rule(text, table.frame.columns) for text in declared.rules]
    for rule in rules:
        _require_masked(rule, declared)
    require_rules(rules, table.frame)
    with one_linear_algebra_thread():
        plan = make_plan(
            table,
            declared,
            resolve_recipe(recipe, declared.recipe),
            method=method,
            scatters=scatters,
            mask=mask,
            raw_units=raw_units,
            progress=progress,
        )
    return plan, declared


def _require_masked(rule: Rule, schema: Schema) -> None:
    """Refuse a rule about a column that is not masked: its cells could not be moved."""
    for name in rule.columns:
        action = schema.columns[name].action
        if action != "mask":
            fate = {"keep": "released as it is", "drop": "left out", "replace": "replaced"}[action]
            raise InputError(
                f"The rule {rule.text!r} is about the column {name!r}, which is {fate}. Take the "
                "rule out, or have the column masked."
            )


def release_of(
    plan: Plan,
    source: Table,
    schema: Schema,
    key: Key,
    *,
    once: bool = False,
    progress: Callable[[str, float], None] = silent,
) -> Release:
    """Return the release that a plan gives with a key; its table is an `icsa.tables.Table`.

    A plan that is needed once only can be used up, which takes less memory.
    """
    n_rows = source.frame.height
    with one_linear_algebra_thread():
        numbers = plan.released_numbers(key, in_place=once, progress=progress)
    progress("writing cells", 0.8)
    built: dict[str, pl.Series] = {}
    for spec in schema.columns.values():
        cells = source.frame[spec.name]
        if spec.action == "mask":
            column = plan.columns[spec.name]
            masked = column.cells(numbers[spec.name])
            if plan.extents[spec.name].missing > cells.null_count():
                masked = _with_missing_codes(masked, cells, column, key)
            built[spec.name] = masked
        elif spec.action == "replace":
            built[spec.name] = Identifier.fit(cells, spec).fresh(n_rows).alias(spec.name)
        elif spec.action == "keep":
            built[spec.name] = cells
    frame = pl.DataFrame(built)
    if plan.mask != "permute" or _names(schema, "keep"):
        # The other masks leave rows in their places, and kept columns are in theirs.
        frame = frame[permutation(n_rows, key.stream("rows"))]
        for name in _names(schema, "replace"):
            frame = frame.with_columns(built[name])
    frame, moved = _with_rules(frame, plan, schema)
    if moved:
        numbers = plan.numbers_of(frame)
    extents = {name: extent_of(values) for name, values in numbers.items()}
    return Release(
        table=source.with_frame(frame),
        columns=tuple(_changes(plan, source, schema, frame, extents)),
        warnings=tuple(_warnings(plan, schema, key, extents)),
        relations=plan.derivation.describe_in(numbers),
        moved_cells=moved,
        method=plan.method,
        scatters=plan.scatters,
        mask=plan.mask,
        recipe=plan.recipe,
        n_components=plan.coordinates.eigenvalues.size,
        reproducible=key.reproducible,
    )


def _with_rules(
    frame: pl.DataFrame, plan: Plan, schema: Schema
) -> tuple[pl.DataFrame, Mapping[str, int]]:
    """Return the table with cells moved until the rules hold, and relations too where they can."""
    rules = [parse_rule(text, frame.columns) for text in schema.rules]
    if not rules:
        return frame, MappingProxyType({})
    steps = {name: step_of(column) for name, column in plan.columns.items()}
    frame, moved = enforce_rules(rules, frame, steps)
    targets = plan.derivation.targets_in(plan.numbers_of(frame))
    again = frame.with_columns(plan.columns[name].cells(v) for name, v in targets.items())
    return (frame if check_rules(rules, again) else again), moved


def _names(schema: Schema, action: str) -> list[str]:
    return [spec.name for spec in schema.columns.values() if spec.action == action]


def _with_missing_codes(
    released: pl.Series, original: pl.Series, column: Column, key: Key
) -> pl.Series:
    """Return the cells with the original's codes for missing, shuffled, where they are missing."""
    gone = np.isnan(column.numbers(original))
    pool = original.filter(pl.Series(gone))
    if pool.null_count() == pool.len():
        return released
    order = permutation(pool.len(), key.child("missing codes").stream(original.name))
    rows = np.flatnonzero(released.is_null().to_numpy())
    drawn = pool[np.resize(order, rows.size)]
    return released.scatter(rows, drawn)


_HOW = {
    "continuous": "masked, rounded as the original",
    "integer": "masked, whole numbers",
    "zero-inflated": "masked, as many equal cells as before",
    "binary": "masked, counts kept",
    "category": "masked, counts kept",
    "ordinal": "masked, counts kept",
    "date": "masked",
    "datetime": "masked",
    "duration": "masked",
    "time": "masked",
    "constant": "one value for everybody, as it was",
}
# Released standard deviations above so many times the original's are told.
_WIDE = 1.5
# A level held by fewer people points at them.
_FEW_PEOPLE = 3
_ACTIONS = {"replace": "replaced", "drop": "dropped", "keep": "kept"}
_OTHER_HOW = {
    "replaced": "fresh identifiers, unrelated to the old ones",
    "dropped": "left out",
    "kept": "RELEASED AS IT IS, because it was asked for",
}


def _changes(
    plan: Plan,
    source: Table,
    schema: Schema,
    frame: pl.DataFrame,
    extents: Mapping[str, Extent],
) -> Iterator[ColumnChange]:
    targets = {relation.target: relation for relation in plan.derivation.relations}
    for spec in schema.columns.values():
        before = source.frame[spec.name]
        after = frame[spec.name] if spec.name in frame.columns else None
        column, variable = plan.columns.get(spec.name), source.variable(spec.name)
        kind: str = spec.kind
        if spec.action != "mask":
            action = _ACTIONS[spec.action]
            how = _OTHER_HOW[action]
        else:
            kind = plan.columns[spec.name].kind
            action = "constant" if kind == "constant" else "masked"
            how = _HOW[kind]
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
            missing_before=_missing(plan.extents.get(spec.name), before),
            missing_after=0 if after is None else _missing(extents.get(spec.name), after),
        )


def _warnings(plan: Plan, schema: Schema, key: Key, extents: Mapping[str, Extent]) -> Iterator[str]:
    if key.reproducible:
        yield "Made with a seed, so reproducible: not for release."
    kept = _names(schema, "keep")
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
            f"{', '.join(wide)}: spread more than {_WIDE:g} times as far as in the original, "
            "because somebody stands out very far. Use --recipe topcode, or declare bounds in a "
            "schema."
        )
    for product in plan.derivation.products:
        yield f"{product.describe()}; not kept. Compute it again from the released columns."


def _rare_levels(plan: Plan) -> Iterator[str]:
    """Yield a warning for each column with levels that hardly anybody has."""
    for name, column in plan.columns.items():
        levels = getattr(column, "levels", None)
        if levels is None:
            continue
        rare = int(np.sum((levels.counts > 0) & (levels.counts < _FEW_PEOPLE)))
        if rare:
            yield (
                f"{name}: {rare} level(s) held by fewer than {_FEW_PEOPLE} people are in the "
                "release as they are. Merge them with others, or drop the column."
            )


def _wide_columns(plan: Plan, extents: Mapping[str, Extent]) -> list[str]:
    """Return the columns whose released numbers spread much farther than the original's."""
    return [
        name
        for name, column in plan.columns.items()
        if getattr(column, "levels", None) is None
        and extents[name].deviation > _WIDE * plan.extents[name].deviation
    ]


def _decimals(column: Column | None) -> int | None:
    """Return how many decimals the column's lattice needs; None without a decimal one."""
    step = None if column is None else step_of(column)
    if step is None or not 0.0 < step < 1.0:
        return None
    return next((k for k in range(1, 16) if float(f"{step:.{k}f}") == step), None)


def _missing(extent: Extent | None, cells: pl.Series) -> int:
    """Return how many cells have no value; codes for missing count as none."""
    return cells.null_count() if extent is None else extent.missing

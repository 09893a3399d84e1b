"""From a table about people to one that can be handed out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import polars as pl

from icsa.columns import Column
from icsa.columns.counts import counts_among, moved_counts
from icsa.columns.unmasked import Identifier
from icsa.constraints import Rule, parse_rule, require_rules
from icsa.constraints.domains import sheet_of_columns
from icsa.constraints.extents import extent_of
from icsa.constraints.keeping import keep_rules, rules_of
from icsa.errors import InputError
from icsa.inspection import guess_schema
from icsa.masks import MASKS
from icsa.matrices import Vector
from icsa.memory import give_back_memory
from icsa.randomness import Key, Stream, as_key
from icsa.recipes import Recipe, resolve_recipe
from icsa.release.accounts import changes_of, warnings_of
from icsa.release.arguments import given_names, given_schema
from icsa.release.methods import MethodOptions
from icsa.release.plan import Plan, make_plan, silent
from icsa.release.preparation import Prepared, has_reasons, prepare
from icsa.release.records import Release
from icsa.schema import Schema, names_with, with_kept
from icsa.shuffling import permutation
from icsa.tables import Table, Variable, from_frame, to_frame
from icsa.threads import one_linear_algebra_thread

__all__ = ["anonymize", "plan_of", "plan_release", "prepare_release", "release_of"]


def anonymize(
    table: Any,
    *,
    schema: Schema | str | Path | None = None,
    keep: Sequence[str] | str = (),
    recipe: str = "mixed",
    method: str = "icsa",
    scatters: Sequence[str] | None = None,
    mask: str | None = None,
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
    schema : Schema, str or Path, optional
        What each column is, or the name of a TOML file that says it; by default guessed, see
        `icsa.inspection.guess_schema`.
    keep : sequence of str, or str
        Columns, or one column, to release as they are. Nothing else passes unmasked.
    recipe : str
        "mixed", "topcode" or "paper"; see `icsa.release.RECIPES`.
    method : "icsa" or "sa"
        Robust coordinates, or principal components.
    scatters : pair of str, optional
        For "icsa"; an MCD takes its weights from the continuous columns.
    mask : str, optional
        "redraw", "permute", "flip" or "rotate"; by default what the recipe says, which is "redraw"
        but for "paper".
    raw_units : bool
        Whether spectral anonymization leaves the columns in their own units.
    random_state : None, int, bytes or Generator
        None draws a fresh secret key. A number makes the release reproducible by whoever guesses
        it: for tests, not to be handed out.
    return_key : bool
        Whether the release has the key. Whoever holds it can repeat every draw.
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
    prepared, declared, chosen = prepare_release(
        source, schema=given_schema(schema, source), keep=given_names(keep), recipe=recipe
    )
    plan = plan_of(
        prepared,
        declared,
        chosen,
        method=method,
        scatters=scatters,
        mask=mask,
        raw_units=raw_units,
        progress=told,
    )
    release = release_of(plan, prepared.spare, declared, key, once=True, progress=told)
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
    **options: Unpack[MethodOptions],
) -> tuple[Plan, Schema]:
    """Return the plan for a table and the schema that it was made for; options of `anonymize`.

    Whoever assesses a release needs both, to make it again under other keys.
    """
    prepared, declared, chosen = prepare_release(table, schema=schema, keep=keep, recipe=recipe)
    return plan_of(prepared, declared, chosen, **options), declared


def prepare_release(
    table: Table,
    *,
    schema: Schema | None = None,
    keep: Sequence[str] = (),
    recipe: str = "mixed",
) -> tuple[Prepared, Schema, Recipe]:
    """Return the columns that are to be masked, the whole schema and the whole recipe.

    Whoever lets the table go now and has `Prepared.spare` instead saves the room of its cells.
    """
    declared = with_kept(guess_schema(table) if schema is None else schema, keep)
    for text in declared.rules:
        _require_masked(parse_rule(text, table.frame.columns), declared)
    chosen = resolve_recipe(recipe, declared.recipe)
    with one_linear_algebra_thread():
        prepared = prepare(table, declared, chosen)
    rules = rules_of(declared.rules, prepared.columns, table.frame.columns)
    require_rules(rules, sheet_of_columns(prepared.columns, prepared.numbers, rules))
    return prepared, declared, chosen


def plan_of(
    prepared: Prepared,
    schema: Schema,
    recipe: Recipe,
    *,
    progress: Callable[[str, float], None] = silent,
    **options: Unpack[MethodOptions],
) -> Plan:
    """Return the plan for what `prepare_release` gave, which is used up; options of `anonymize`."""
    with one_linear_algebra_thread():
        return make_plan(prepared, schema, recipe, progress=progress, **options)


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
    with one_linear_algebra_thread():
        numbers = plan.released_numbers(key, in_place=once, progress=progress)
    rules = rules_of(schema.rules, plan.columns, schema.columns)
    numbers, moved = keep_rules(numbers, plan.bonds, rules)
    progress("writing cells", 0.8)
    give_back_memory()
    frame, letters = _cells_of(plan, source, schema, numbers, key)
    extents = {name: extent_of(values) for name, values in numbers.items()}
    return Release(
        table=replace(
            source,
            frame=frame,
            missing_letters=letters,
            variables=_variables_of(source, schema, frame.columns),
        ),
        columns=tuple(changes_of(plan, source, schema, frame, extents)),
        warnings=tuple(warnings_of(plan, schema, key, extents, numbers)),
        relations=plan.relations_in(numbers),
        moved_cells=moved,
        method=plan.method,
        scatters=plan.scatters,
        mask=plan.mask,
        recipe=plan.recipe,
        n_components=plan.coordinates.eigenvalues.size,
        reproducible=key.reproducible,
    )


def _cells_of(
    plan: Plan, source: Table, schema: Schema, numbers: Mapping[str, Vector], key: Key
) -> tuple[pl.DataFrame, dict[str, pl.Series]]:
    """Return the released columns, and the letters of their missing cells."""
    n_rows = source.frame.height
    built: dict[str, pl.Series] = {}
    letters: dict[str, pl.Series] = {}
    for spec in schema.columns.values():
        name = spec.name
        cells = source.frame[name]
        if spec.action == "mask":
            built[name] = plan.columns[name].cells(numbers[name])
            if has_reasons(source, plan.extents, name):
                exact = plan.recipe.exact_counts
                found = _with_reasons(built[name], source, plan.columns[name], key, exact=exact)
                built[name], letters[name] = found
        elif spec.action == "replace":
            built[name] = Identifier.fit(cells, spec).fresh(n_rows).alias(name)
        elif spec.action == "keep":
            built[name] = cells
            letters[name] = source.missing_letters.get(name, _no_letters(cells))
    frame = pl.DataFrame(built)
    if MASKS[plan.mask].keeps_rows or names_with("keep", schema):
        # Kept columns are in their places too.
        order = permutation(n_rows, key.stream("rows"))
        frame = frame[order].with_columns(built[name] for name in names_with("replace", schema))
        letters = {name: found[order] for name, found in letters.items()}
    return frame, {name: found for name, found in letters.items() if name in source.missing_letters}


def _variables_of(source: Table, schema: Schema, released: Sequence[str]) -> dict[str, Variable]:
    """Return what the file says about released columns: nothing about codes that are no more."""
    found = {name: source.variables[name] for name in released if name in source.variables}
    for name in found.keys() & names_with("replace", schema):
        variable = found[name]
        found[name] = replace(variable, value_labels={}, missing_codes=(), letter_labels={})
    return found


def _with_reasons(
    released: pl.Series, source: Table, column: Column, key: Key, *, exact: bool
) -> tuple[pl.Series, pl.Series]:
    """Return the cells with the original's codes for missing, shuffled, and its letters likewise.

    A cell that is missing for no reason given is null in both.
    """
    original = source.frame[column.name]
    letters = source.missing_letters.get(column.name, _no_letters(original))
    gone = pl.Series(np.isnan(column.numbers(original)))
    codes = original.filter(gone)
    found = _no_letters(released)
    if not codes.len():
        return released, found
    rows = np.flatnonzero(released.is_null().to_numpy())
    stream = key.child("missing codes").stream(original.name)
    if exact:
        drawn = np.resize(permutation(codes.len(), stream), rows.size)
    else:
        reasons = pl.DataFrame([codes.alias("code"), letters.filter(gone).alias("letter")])
        moving = key.child("counts").child("reasons").stream(original.name)
        drawn = _moved_reasons(reasons, rows.size, moving)[permutation(rows.size, stream)]
    return released.scatter(rows, codes[drawn]), found.scatter(rows, letters.filter(gone)[drawn])


def _moved_reasons(reasons: pl.DataFrame, n_rows: int, stream: Stream) -> npt.NDArray[np.int64]:
    """Return a row of `reasons` for each row, every reason as often as before but for a few."""
    distinct = (
        reasons.with_row_index("row")
        .group_by(reasons.columns, maintain_order=True)
        .agg(pl.col("row").first(), pl.len().alias("people"))
        .sort("people", descending=True, maintain_order=True)
    )
    counts = moved_counts(distinct["people"].cast(pl.Int64).to_numpy(), stream)
    return np.repeat(distinct["row"].cast(pl.Int64).to_numpy(), counts_among(counts, n_rows))


def _no_letters(cells: pl.Series) -> pl.Series:
    return pl.Series(cells.name, [None], dtype=pl.String).new_from_index(0, cells.len())

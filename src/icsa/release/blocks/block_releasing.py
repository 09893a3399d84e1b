"""A release of a table that does not fit in memory, by passes over files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from icsa.randomness import Key
from icsa.release.accounts import Looks, changes_between, warnings_of
from icsa.release.blocks.block_cells import accounts_of, ready_cells
from icsa.release.blocks.block_masking import release_numbers
from icsa.release.blocks.block_planning import plan_in_blocks
from icsa.release.blocks.block_preparing import (
    Declared,
    Prepared,
    declare_in_blocks,
    prepare_in_blocks,
)
from icsa.release.blocks.block_raking import Weighed
from icsa.release.blocks.block_weights import Weighing, check_weights, logged, with_weights
from icsa.release.blocks.ground import Ground
from icsa.release.blocks.made_in_blocks import MadeInBlocks
from icsa.release.blocks.passes import Passes
from icsa.release.blocks.scratch import StoredNumbers
from icsa.release.methods import MethodOptions, method_of
from icsa.release.planning import Plan
from icsa.release.releasing import Release, released_variables
from icsa.schema import Schema
from icsa.tables import Table
from icsa.threads import one_linear_algebra_thread

__all__ = [
    "release_declared",
    "release_in_blocks",
    "release_rows_in_blocks",
    "release_with_plan",
]


def release_in_blocks(
    passes: Passes,
    ground: Ground,
    key: Key,
    *,
    schema: Schema | None = None,
    choices: Mapping[str, Any],
    options: MethodOptions,
) -> MadeInBlocks:
    """Return the release of a stored table: the same cells as `icsa.release.anonymize` gives.

    Parameters
    ----------
    passes : Passes
    ground : Ground
    key : Key
    schema : Schema, optional
        Read and checked; by default guessed.
    choices : mapping
        keep, drop, recipe and design of `declare_in_blocks`.
    options : MethodOptions
    """
    # As in memory: with more threads, linear algebra has other last digits.
    method_of(**options)
    with one_linear_algebra_thread():
        declared = declare_in_blocks(passes, ground, schema, **choices)
        if declared.schema.design.strata:
            from icsa.release.blocks.strata import release_strata_in_blocks  # each goes as a table

            return release_strata_in_blocks(passes, ground, declared, key, options)
        return release_declared(passes, ground, declared, key, options)


def release_declared(
    passes: Passes, ground: Ground, declared: Declared, key: Key, options: MethodOptions
) -> MadeInBlocks:
    """Return the release of a table of which everything is known that is said of its rows."""
    if declared.schema.design.unit:
        from icsa.release.blocks.units import release_units_in_blocks  # of passes like these

        return release_units_in_blocks(passes, ground, declared, key, options)
    if declared.schema.design.weight:
        return _release_weighted(passes, ground, declared, key, options)
    return release_rows_in_blocks(passes, ground, declared, key, options)


def _release_weighted(
    passes: Passes, ground: Ground, declared: Declared, key: Key, options: MethodOptions
) -> MadeInBlocks:
    """Return the release of a weighted sample."""
    schema, table = declared.schema, ground.table
    total: float = passes.once("weights", check_weights, table, schema)
    within, said = logged(table, schema)
    weight = str(schema.design.weight)
    made = release_rows_in_blocks(
        passes,
        replace(ground, table=within),
        replace(declared, schema=said),
        key,
        options,
        weight=weight,
    )
    original = Weighed(table, weight, None, passes.scratch)
    return with_weights(passes, ground, Weighing(original, made.columns, schema, total), made)


def release_rows_in_blocks(
    passes: Passes,
    ground: Ground,
    declared: Declared,
    key: Key,
    options: MethodOptions,
    *,
    weight: str | None = None,
    nested: bool = False,
) -> MadeInBlocks:
    """Return the release of a table with a row a person; `weight` and `nested` as `Prepared`'s."""
    made, _ = release_with_plan(
        passes, ground, declared, key, options, weight=weight, nested=nested
    )
    return made


def release_with_plan(
    passes: Passes,
    ground: Ground,
    declared: Declared,
    key: Key,
    options: MethodOptions,
    *,
    weight: str | None = None,
    nested: bool = False,
) -> tuple[MadeInBlocks, Plan]:
    """Return the release that `release_rows_in_blocks` does, and its plan, which has no rows."""
    prepared = prepare_in_blocks(passes, ground, declared)
    prepared = replace(prepared, weight=weight, nested=nested)
    ground.table.let_go(_not_read_again(prepared))
    plan = plan_in_blocks(passes, ground, prepared, method_of(**options))
    return _released(passes, ground, prepared, plan, key), plan


def _released(
    passes: Passes, ground: Ground, prepared: Prepared, plan: Plan, key: Key
) -> MadeInBlocks:
    """Return the release of a planned table."""
    names = ground.table.names
    moved = release_numbers(passes, ground, plan, key, names)
    extents, reaches = accounts_of(passes, plan, names)
    places = {name: ("released", names.index(name)) for name in plan.columns}
    numbers = StoredNumbers(passes.scratch, places)
    cells = ready_cells(passes, ground.table, prepared, plan, key)
    frame = cells.between(0, 0)
    before = _looks_before(ground, prepared)
    after = {
        name: Looks(dtype, extents[name].missing if name in extents else before[name].missing)
        for name, dtype in frame.schema.items()
    }
    for name, other in prepared.others.items():
        if other.fresh is not None:
            after[name] = Looks(after[name].dtype, 0)
    return MadeInBlocks(
        cells,
        Release(
            table=Table(
                frame,
                released_variables(plan.spare, plan.schema, frame.columns),
                plan.spare.layout,
            ),
            columns=tuple(
                changes_between(plan, before, after, reaches, _counts_kept(plan, numbers))
            ),
            warnings=tuple(warnings_of(plan, key, extents, reaches, numbers)),
            relations=plan.relations_in(numbers),
            moved_cells=moved,
            method=plan.method,
            scatters=plan.scatters,
            mask=plan.mask,
            recipe=plan.recipe,
            n_components=plan.n_components,
            reproducible=key.reproducible,
            why=plan.why,
            written=ground.n_rows,
        ),
        plan.columns,
    )


def _not_read_again(prepared: Prepared) -> list[str]:
    """Return the columns whose released cells are made without the original's."""
    return [
        name
        for name, spec in prepared.schema.columns.items()
        if spec.action != "keep"
        and not (name in prepared.fitted and prepared.fitted[name].has_reasons)
    ]


def _looks_before(ground: Ground, prepared: Prepared) -> dict[str, Looks]:
    missing = {name: one.extent.missing for name, one in prepared.fitted.items()}
    missing |= {name: one.missing for name, one in prepared.others.items()}
    return {name: Looks(dtype, missing[name]) for name, dtype in ground.table.dtypes.items()}


def _counts_kept(plan: Plan, numbers: StoredNumbers) -> Callable[[str], bool]:
    return lambda name: plan.columns[name].has_its_counts(numbers[name])

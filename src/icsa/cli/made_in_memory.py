"""``icsa anonymize`` of tables that fit: read, masked and written in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from icsa.cli.arguments import naming_the_file, naming_the_sheet, schema_of
from icsa.cli.choosing import require_released
from icsa.cli.console import plain
from icsa.cli.large_inputs import known_kind, written_as

if TYPE_CHECKING:
    from icsa.randomness import Key
    from icsa.release import Plan, Release
    from icsa.release.design_plans import DesignPlan
    from icsa.release.methods import MethodOptions
    from icsa.schema import Schema
    from icsa.tables import Table

__all__ = ["Made", "explain_in_memory", "made_in_memory"]


class Made(NamedTuple):
    """A release, and what an assessment of it needs besides; no plan where there is none."""

    release: Release
    table: Table
    plan: Plan | DesignPlan | None
    schema: Schema
    seconds: float


def made_in_memory(
    read: Callable[[], Table],
    file: Path,
    schema: Path | None,
    key: Key,
    target: Path,
    choices: Mapping[str, Any],
    options: MethodOptions,
    *,
    force: bool,
    quiet: bool,
    once: bool,
    checked: bool = False,
) -> Made:
    """Read, mask and write. A release that is made once lets the original go as early as can be."""
    from icsa.cli.console import stages

    Thread(target=_load).start()
    table = read()
    origin = table.origin  # which no copy has
    from icsa.release import PlanOnce, plan, prepare, release
    from icsa.release.methods import method_of
    from icsa.tables import unwritten_reasons, write_table
    from icsa.tables.stored import write_parts_of

    method_of(**options)
    size = table.frame.height * table.frame.width
    with naming_the_sheet(table.layout):
        given = schema_of(schema, table)
    with stages(size, quiet=quiet) as progress:
        progress("looking at the columns", 0.0)
        with naming_the_sheet(table.layout), naming_the_file(file):
            prepared = prepare(table, schema=given, **choices)
            declared = prepared.schema
            if once and not checked:
                table = prepared.spare
            planned = plan(prepared, progress=progress, **options)
            started = perf_counter()
            made = release(PlanOnce(planned) if once else planned, key, progress=progress)
        seconds = perf_counter() - started
        kept = None if once else planned
        del prepared, planned  # a long table needs the room
        if checked:
            require_released(table, made, declared)
        lost = unwritten_reasons(made.table, written_as(target))
        made = replace(made, warnings=(*made.warnings, *lost))
        progress("writing", 0.9)
        if origin is not None and known_kind(target) is None:
            unit = declared.design.unit or None
            write_parts_of(made.table.frame, origin.parts, target, unit=unit, force=force)
        else:
            write_table(made.table, target, force=force)
    return Made(made, table, kept, declared, seconds)


def explain_in_memory(table: Table, file: Path) -> None:
    """Print that a table is released in memory, and what that takes."""
    from icsa.limits import TABLES_IN_MEMORY
    from icsa.tables import describe_layout

    needed = TABLES_IN_MEMORY * 8e-6 * table.frame.height * table.frame.width
    print(
        plain(
            f"{file.name}: {describe_layout(table)}. It is released in memory, which takes about "
            f"{needed:,.3g} MB beside the program: no passes over files, and no scratch."
        )
    )


def _load() -> None:
    """Load what a release needs, in a thread of its own while its file is being read.

    Polars reads without holding the interpreter, so that half of the time is gained. What goes
    wrong here goes wrong again, and is told, where it is needed.
    """
    with suppress(Exception):
        import numpy as np

        import icsa.release  # noqa: F401
        from icsa.columns.transforms import PowerScale

        # The first kernel of a process takes longest, as numba itself is set up.
        PowerScale(centre=0.0, spread=1.0, exponent=0.5, low=-1.0, high=1.0).forward(np.zeros(1))

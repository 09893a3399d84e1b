"""``icsa anonymize``: a file in, a release out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from icsa.cli.anonymize_options import (
    AsJson,
    File,
    FreshKeys,
    Keep,
    Mask,
    Method,
    Output,
    RawUnits,
    RecipeName,
    SaveKey,
    Scatters,
    Seed,
)
from icsa.cli.arguments import (
    Decimal,
    Encoding,
    Force,
    PublicReport,
    Quiet,
    Report,
    SchemaFile,
    Separator,
    Sheet,
    naming_the_sheet,
    read_file,
    require_free,
    require_of_use,
    schema_of,
)
from icsa.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from icsa.randomness import Key
    from icsa.release import Plan, Release
    from icsa.release.methods import MethodOptions
    from icsa.schema import Schema
    from icsa.tables import Table

__all__ = ["anonymize"]


class _Made(NamedTuple):
    """A release, and what an assessment of it needs besides; no plan where there is none."""

    release: Release
    table: Table
    plan: Plan | None
    schema: Schema
    seconds: float


def anonymize(
    file: File,
    output: Output = None,
    schema: SchemaFile = None,
    keep: Keep = None,
    method: Method = "icsa",
    scatters: Scatters = None,
    mask: Mask = "permute",
    recipe: RecipeName = "mixed",
    raw_units: RawUnits = False,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    seed: Seed = None,
    save_key: SaveKey = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    report: Report = None,
    public_report: PublicReport = None,
    redraws: FreshKeys = 0,
) -> None:
    """Anonymize a table about people: a file in, a release out.

    Every column is masked by its kind; identifiers are replaced and free text is left out. The
    release is written beside the input as NAME.release.SUFFIX. Look at the table first with: icsa
    inspect FILE

    Example: icsa anonymize patients.csv --output release.csv
    """
    from icsa.files import require_readable
    from icsa.randomness import as_key
    from icsa.tables import default_output, output_kind

    require_readable(file)
    target = default_output(file) if output is None else output
    outputs = {"--output": target, "--save-key": save_key}
    reports = {"--report": report, "--public-report": public_report}
    require_free({**outputs, **reports}, (file, schema), force=force)
    reading = {"separator": separator, "decimal": decimal, "encoding": encoding, "sheet": sheet}
    require_of_use([file], **reading)
    output_kind(target)
    key, assessed = as_key(seed), any(path is not None for path in reports.values())
    if redraws and not assessed:
        raise InputError("--redraws is for a report. Give --report or --public-report too.")
    quietly = quiet or as_json
    options: MethodOptions = {
        "method": method,
        "scatters": _pair(scatters),
        "mask": mask,
        "raw_units": raw_units,
    }
    choices = {"keep": keep or (), "recipe": recipe}
    doing = {"force": force, "quiet": quietly, "once": not assessed}
    made = _made(
        partial(read_file, file, **reading), schema, key, target, choices, options, **doing
    )
    if save_key is not None:
        _write_key(save_key, key.reveal())
    if as_json:
        _print_json(made.release, target)
    elif not quiet:
        _print_summary(made.release, made.table, file, target, save_key)
    if made.plan is not None:
        from icsa.cli.assess import report_on

        about = (made.release, made.plan, made.table, made.schema)
        report_on(*about, reports, redraws=redraws, seconds=made.seconds, quiet=quietly)


def _pair(scatters: str | None) -> list[str] | None:
    if scatters is None:
        return None
    names = [name.strip() for name in scatters.split(",")]
    if len(names) == 2 and names[0] == names[1]:
        raise InputError(f"--scatters names {names[0]!r} twice. Give two that differ.")
    return names


def _made(
    read: Callable[[], Table],
    schema: Path | None,
    key: Key,
    target: Path,
    choices: Mapping[str, Any],
    options: MethodOptions,
    *,
    force: bool,
    quiet: bool,
    once: bool,
) -> _Made:
    """Read, mask and write. A release that is made once lets the original go as early as can be."""
    from icsa.cli.loading import load_meanwhile
    from icsa.cli.progress import stages

    load_meanwhile()
    table = read()
    from icsa.release import plan_of, prepare_release, release_of
    from icsa.tables import unwritten_letters, write_table

    size = table.frame.height * table.frame.width
    with naming_the_sheet(table.layout), stages(size, quiet=quiet) as progress:
        progress("looking at the columns", 0.0)
        prepared, declared, recipe = prepare_release(
            table, schema=schema_of(schema, table), **choices
        )
        if once:
            table = prepared.spare
        plan = plan_of(prepared, declared, recipe, progress=progress, **options)
        started = perf_counter()
        release = release_of(plan, table, declared, key, once=once, progress=progress)
        seconds = perf_counter() - started
        kept = None if once else plan
        del prepared, plan  # a long table needs the room
        lost = unwritten_letters(release.table, target)
        release = replace(release, warnings=(*release.warnings, *lost))
        progress("writing", 0.9)
        write_table(release.table, target, force=force)
    return _Made(release, table, kept, declared, seconds)


def _write_key(path: Path, secret: bytes) -> None:
    """Write the key as a line of hexadecimal digits that only its owner may read."""
    from icsa.files import write_atomically

    def write(beside: Path) -> None:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secret.hex() + "\n")

    write_atomically(path, write)


def _print_json(release: Release, target: Path) -> None:
    import json
    from dataclasses import asdict

    account = {
        "output": str(target),
        "rows": release.table.frame.height,
        "method": release.method,
        "scatters": release.scatters,
        "mask": release.mask,
        "recipe": asdict(release.recipe),
        "coordinates": release.n_components,
        "reproducible": release.reproducible,
        "columns": [asdict(column) for column in release.columns],
        "relations": release.relations,
        "moved_cells": dict(release.moved_cells),
        "warnings": release.warnings,
        "schema_version": 1,
    }
    print(json.dumps(account, indent=2, ensure_ascii=False))


def _print_summary(
    release: Release, table: Table, source: Path, target: Path, key: Path | None
) -> None:
    from icsa.cli.console import console
    from icsa.tables import describe_layout

    show = console()
    show.print(f"{source.name}: {describe_layout(table)}", markup=False)
    show.print(
        f"{release.method.upper()} with {' and '.join(release.scatters)}, mask {release.mask}, "
        f"recipe {release.recipe.name}: {release.n_components} coordinates masked",
        markup=False,
    )
    show.print()
    show.print(_what_changed(release))
    show.print()
    for relation in release.relations:
        show.print(f"holds in the release: {relation}", markup=False)
    for rule, count in release.moved_cells.items():
        show.print(f"rule kept: {rule} ({count} cells moved)", markup=False)
    for warning in release.warnings:
        show.print(f"look at: {warning}", markup=False, style="yellow")
    show.print(f"written: {target}", markup=False, style="bold")
    show.print(f"next: icsa assess {source} {target}", markup=False)
    if key is not None:
        show.print(f"key: {key}. Keep it secret: with it the release can be undone.", markup=False)


def _what_changed(release: Release) -> Grid:
    """Return a row for each column: what it is, and what was done to it."""
    from rich.markup import escape
    from rich.table import Table as Grid

    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for heading in ("column", "kind", "type", "decimals", "missing", "what was done"):
        right = heading in ("decimals", "missing")
        grid.add_column(heading, overflow="fold", justify="right" if right else "left")
    for change in release.columns:
        missing = str(change.missing_before)
        grid.add_row(
            escape(change.name),
            change.kind,
            _arrow(change.type_before, change.type_after),
            "" if change.decimals is None else str(change.decimals),
            _arrow(missing, str(change.missing_after)) if change.type_after else missing,
            escape(change.how),
            style="bold red" if change.action == "kept" else None,
        )
    return grid


def _arrow(before: str, after: str) -> str:
    if not after:
        return f"{before} → gone"
    return before if before == after else f"{before} → {after}"

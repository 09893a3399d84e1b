"""``icsa anonymize``: a file in, a release out."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

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
    read_file,
    require_free,
    schema_of,
)

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from icsa.release import Release
    from icsa.tables import Table

__all__ = ["anonymize"]


def anonymize(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="CSV, Parquet, xlsx, SPSS, Stata or SAS file.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to; the suffix says how."),
    ] = None,
    schema: SchemaFile = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COLUMN", help="Release this column as it is."),
    ] = None,
    method: Annotated[
        str, typer.Option("--method", metavar="icsa|sa", help="Robust, or spectral.")
    ] = "icsa",
    scatters: Annotated[
        str | None,
        typer.Option("--scatters", metavar="A,B", help="A pair of scatters; see icsa scatters."),
    ] = None,
    mask: Annotated[
        str, typer.Option("--mask", metavar="permute|flip|rotate", help="What hides people.")
    ] = "permute",
    recipe: Annotated[
        str,
        typer.Option("--recipe", metavar="mixed|topcode|paper", help="How columns are encoded."),
    ] = "mixed",
    raw_units: Annotated[
        bool, typer.Option("--raw-units", help="With --method sa: do not standardise columns.")
    ] = False,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="N", help="Reproducible, for tests: not for release."),
    ] = None,
    save_key: Annotated[
        Path | None,
        typer.Option("--save-key", metavar="FILE", help="Keep the secret key; it can undo all."),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    report: Report = None,
    public_report: PublicReport = None,
    redraws: Annotated[
        int,
        typer.Option(
            "--redraws", metavar="N", min=0, help="Fresh keys for the report. Default: by size."
        ),
    ] = 0,
) -> None:
    """Anonymize a table about people: a file in, a release out.

    Every column is masked by its kind; identifiers are replaced and free text is left out. The
    release is written beside the input as NAME.release.SUFFIX. Look at the table first with: icsa
    inspect FILE

    Example: icsa anonymize patients.csv --output release.csv
    """
    from icsa.cli.assess import report_on
    from icsa.cli.progress import stages
    from icsa.files import require_readable
    from icsa.randomness import as_key
    from icsa.release import plan_of, prepare_release, release_of
    from icsa.tables import default_output, output_kind, unwritten_letters, write_table

    require_readable(file)
    target = default_output(file) if output is None else output
    outputs = {"--output": target, "--save-key": save_key}
    reports = {"--report": report, "--public-report": public_report}
    require_free({**outputs, **reports}, (file, schema), force=force)
    output_kind(target)
    assessed = any(path is not None for path in reports.values())
    table = read_file(file, separator, decimal, encoding, sheet)
    with stages(table.frame.height * table.frame.width, quiet=quiet or as_json) as progress:
        progress("looking at the columns", 0.0)
        prepared, declared, chosen = prepare_release(
            table, schema=schema_of(schema, table), keep=keep or (), recipe=recipe
        )
        if not assessed:
            table = prepared.spare
        plan = plan_of(
            prepared,
            declared,
            chosen,
            method=method,
            scatters=None if scatters is None else scatters.split(","),
            mask=mask,
            raw_units=raw_units,
            progress=progress,
        )
        key = as_key(seed)
        started = perf_counter()
        release = release_of(plan, table, declared, key, once=not assessed, progress=progress)
        seconds = perf_counter() - started
        if not assessed:
            del prepared, plan  # a long table needs the room
        lost = unwritten_letters(release.table, target)
        release = replace(release, warnings=(*release.warnings, *lost))
        progress("writing", 0.9)
        write_table(release.table, target, force=force)
    if save_key is not None:
        _write_key(save_key, key.reveal())
    if as_json:
        _print_json(release, target)
    elif not quiet:
        _print_summary(release, table, file, target, save_key)
    if assessed:
        report_on(
            release,
            plan,
            table,
            declared,
            report=report,
            public_report=public_report,
            redraws=redraws,
            seconds=seconds,
            quiet=quiet or as_json,
        )


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

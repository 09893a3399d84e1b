"""What a terminal shows of a release."""

from __future__ import annotations

from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING

from icsa.cli.console import console, plain, print_line

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from icsa.release import Release
    from icsa.schema import Design
    from icsa.tables import Table
    from icsa.tables.base import Format
    from icsa.tables.table import Variable

__all__ = ["print_release", "print_release_json"]


def print_release_json(release: Release, target: Path) -> None:
    """Print what was done as JSON."""
    import json
    from dataclasses import asdict

    account = {
        "output": str(target),
        "rows": release.n_rows,
        **({} if release.units is None else {"units": asdict(release.units)}),
        "method": release.method,
        "why": release.why,
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


def print_release(
    release: Release, table: Table, design: Design, source: Path, target: Path, key: Path | None
) -> None:
    """Print what was done to each column, what to look at, and what to do next."""
    from icsa.tables import describe_layout, output_kind

    show = console()
    print_line(show, f"{source.name}: {describe_layout(table, release.written)}")
    print_line(show, _how_made(release))
    if release.why:
        print_line(show, release.why)
    if release.units is not None:
        print_line(show, release.units.describe())
    show.print()
    show.print(
        _what_changed(
            release, table, "parquet" if target.is_dir() else output_kind(target).file_format
        )
    )
    show.print()
    for relation in release.relations:
        print_line(show, f"holds in the release: {relation}")
    for rule, count in release.moved_cells.items():
        print_line(show, f"rule kept: {rule} ({count} cells moved)")
    beyond = [f"{column.name} {column.beyond}" for column in release.columns if column.beyond]
    if beyond:
        print_line(show, f"beyond the original's range: {'; '.join(beyond)}")
    for warning in release.warnings:
        print_line(show, f"look at: {warning}", "yellow")
    print_line(show, f"written: {target}", "bold", to_copy=True)
    following = join(["icsa", "assess", str(source), str(target), *design.options])
    print_line(show, f"next: {following}", to_copy=True)
    if key is not None:
        print_line(show, f"key: {key}. Keep it secret: with it every draw can be repeated.")


def _how_made(release: Release) -> str:
    """Return the method in one line."""
    count, recipe = release.n_components, release.recipe.describe()
    if release.method == "forest":
        scores = f"{count} score{'s' * (count != 1)}"
        return f"Forests, recipe {recipe}: {scores} drawn, each given those before"
    return (
        f"{release.method.upper()} with {' and '.join(release.scatters)}, mask {release.mask}, "
        f"recipe {recipe}: {count} coordinate{'s' * (count != 1)} masked"
    )


def _what_changed(release: Release, original: Table, file_format: str) -> Grid:
    """Return a row for each column: what it is, and what was done to it.

    The original's file says what labels there were; the written one has a place for them or not.
    """
    from rich.table import Table as Grid
    from rich.text import Text

    from icsa.tables import FORMATS

    labelled = any(change.labels for change in release.columns)
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for heading in ("column", "kind", "type", "decimals", "labels", "missing", "what was done"):
        if heading != "labels" or labelled:
            right = heading in ("decimals", "missing")
            grid.add_column(heading, overflow="fold", justify="right" if right else "left")
    for change in release.columns:
        missing = str(change.missing_before)
        before, after = original.variable(change.name), release.table.variable(change.name)
        kept = _labels(after, FORMATS[file_format]) if change.type_after else ""
        grid.add_row(
            Text(plain(change.name)),
            change.kind,
            _arrow(change.type_before, change.type_after),
            "" if change.decimals is None else str(change.decimals),
            *([_arrow(_labels(before, None), kept)] if labelled else []),
            _arrow(missing, str(change.missing_after)) if change.type_after else missing,
            Text(plain(change.how)),
            style="bold red" if change.action == "kept" else None,
        )
    return grid


def _labels(variable: Variable, known: Format | None) -> str:
    """Return which labels of a column a format holds; without one, which there are."""
    label = bool(variable.label) and (known is None or known.column_labels)
    held = "any" if known is None else known.value_labels
    values = bool(held) and any(
        held == "any" or (isinstance(value, int | float) and float(value).is_integer())
        for value in variable.value_labels
    )
    return " and ".join(["column"] * label + ["values"] * values)


def _arrow(before: str, after: str) -> str:
    if before and not after:
        return f"{before} → gone"
    return before if before == after else f"{before} → {after}"

"""The table "what changed" that ``icsa anonymize`` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from icsa.release import Release
    from icsa.tables import Table
    from icsa.tables.base import Format
    from icsa.tables.table import Variable

__all__ = ["what_changed"]


def what_changed(release: Release, original: Table, file_format: str) -> Grid:
    """Return a row for each column: what it is, and what was done to it.

    Parameters
    ----------
    release : Release
    original : Table
        For what its file says about the columns.
    file_format : str
        Of the file that was written, which has a place for labels or not.
    """
    from rich.table import Table as Grid
    from rich.text import Text

    from icsa.cli.console import plain
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
            Text(plain("; ".join(filter(None, (change.how, change.beyond))))),
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
    return {
        (True, True): "column and values",
        (True, False): "column",
        (False, True): "values",
        (False, False): "",
    }[label, values]


def _arrow(before: str, after: str) -> str:
    if before and not after:
        return f"{before} → gone"
    return before if before == after else f"{before} → {after}"

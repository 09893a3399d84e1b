"""At the desk: a file opened as the command line opens it, its first rows, its schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from icsa.app.forms import safe_name
from icsa.columns import ColumnSpec, kind_of
from icsa.comparison.coding import code_column
from icsa.comparison.column_pairs import ColumnPair
from icsa.files import fingerprint, require_readable
from icsa.inspection import Inspection, inspect_table
from icsa.inspection.related import Related, related_columns
from icsa.schema_files import schema_text
from icsa.tables import Table, default_output, describe_layout, read_table

__all__ = ["Opened", "column_picture", "opened", "table_of"]

_FIRST_ROWS, _MOST_COLUMNS, _LONGEST = 8, 40, 60


@dataclass
class Opened:
    """A table on the desk, and what was found in it.

    `proposal` and `reasons` are of the table by itself; `inspection` is of the last schema that
    went with it.
    """

    table: Table
    file: Mapping[str, Any]
    stamp: tuple[int, int]
    inspection: Inspection
    related: Related
    reasons: dict[str, tuple[str, str]]
    proposal: str
    pictures: dict[str, str] = field(default_factory=dict)
    looked_for: tuple[Any, Related] | None = None


# One table at a time lies on the desk.
_ON_DESK: list[Opened] = []


def table_of(file: Mapping[str, Any], told: Callable[[str], None] = lambda _stage: None) -> Opened:
    """Return the table of a file, read again only if it is another one by now.

    Parameters
    ----------
    file : mapping
        ``path``, and ``separator``, ``decimal``, ``encoding``, ``sheet`` where somebody chose them.
    told : callable
        Called with the name of each stage.
    """
    path = Path(file["path"])
    require_readable(path)
    found = path.stat()
    stamp = found.st_size, found.st_mtime_ns
    if _ON_DESK and _ON_DESK[0].file == file and _ON_DESK[0].stamp == stamp:
        return _ON_DESK[0]
    _ON_DESK.clear()
    told("reading the file")
    options = {key: file.get(key) or None for key in ("separator", "decimal", "encoding")}
    sheet = file.get("sheet") or None
    number = int(sheet) if sheet is not None and sheet.isdecimal() else sheet
    table = read_table(path, **options, sheet=number)
    told("looking for relations between columns")
    related = related_columns(table)
    told("looking at each column")
    inspection = inspect_table(table, related=related)
    reasons = {column.name: (column.kind, column.why) for column in inspection.columns}
    proposal = schema_text(inspection)
    _ON_DESK.append(Opened(table, dict(file), stamp, inspection, related, reasons, proposal))
    told("drawing")
    return _ON_DESK[0]


def opened(told: Callable[[str], None], *, file: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a file was read, its first rows, and the schema that inspection proposes."""
    on_desk = table_of(file, told)
    table = on_desk.table
    layout, frame = table.layout, table.frame
    for column in on_desk.inspection.columns:
        on_desk.pictures[column.name] = column_picture(table, column.spec)
    shown = frame.head(_FIRST_ROWS).select(frame.columns[:_MOST_COLUMNS])
    return {
        "layout": describe_layout(table),
        "rows": frame.height,
        "columns": frame.width,
        "sheet": layout.sheet,
        "sheets": [name for name in (layout.sheet, *layout.other_sheets) if name],
        "separator": layout.separator,
        "decimal": layout.decimal,
        "encoding": layout.encoding,
        "names": shown.columns,
        "first": [[_cell(cell) for cell in row] for row in shown.iter_rows()],
        "schema": on_desk.proposal,
        "units": None if on_desk.inspection.units is None else on_desk.inspection.units.describe(),
        "release_name": safe_name(default_output(Path(file["path"])).name),
        "sha256": fingerprint(Path(file["path"])),
    }


def column_picture(table: Table, spec: ColumnSpec) -> str:
    """Return a small picture of a column's cells; empty where there is nothing to draw."""
    if kind_of(spec.kind).compared == "no":
        return ""
    from icsa.assessment.bars import column_bars
    from icsa.report.strips import bars_alone

    cells = table.frame[spec.name]
    try:
        pair = code_column(cells, cells, spec.in_file(table))
    except (ValueError, TypeError):
        return ""
    bars = column_bars(pair) if isinstance(pair, ColumnPair) else None
    return "" if bars is None else str(bars_alone(bars, spec.name))


def _cell(cell: object) -> str | None:
    """Return a cell as it is shown, shortened; None where it is missing."""
    if cell is None:
        return None
    told = str(cell)
    return told if len(told) <= _LONGEST else f"{told[: _LONGEST - 1]}…"

"""``icsa inspect``: what each column is, what will happen to it, what to look at."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Annotated

import typer

from icsa.cli.arguments import (
    Decimal,
    Encoding,
    Force,
    SchemaFile,
    Separator,
    Sheet,
    naming_the_file,
    naming_the_sheet,
    read_file,
    require_free,
    require_of_use,
    schema_of,
    taking,
    telling_what_is_written,
)
from icsa.cli.console import plain

if TYPE_CHECKING:
    from rich.console import Console

    from icsa.inspection import Inspection

__all__ = ["inspect"]

# Below this width a table of five columns is a column of syllables.
_NARROW = 90


def inspect(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A table: CSV, Parquet, Excel, SPSS, Stata, SAS.")
    ],
    schema_out: Annotated[
        Path | None, taking("--schema-out", "TOML", "Write a schema to change and use.")
    ] = None,
    schema: SchemaFile = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    force: Force = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what each column is and what will happen to it.

    Nothing is released, and no cell is shown. Example:

    icsa inspect patients.csv --schema-out patients.toml
    """
    from icsa.inspection import inspect_table, related_columns
    from icsa.tables import describe_layout

    require_free({"--schema-out": schema_out}, (file,), force=force)
    require_of_use([file], separator=separator, decimal=decimal, encoding=encoding, sheet=sheet)
    with telling_what_is_written([schema_out]):
        table = read_file(file, separator, decimal, encoding, sheet)
        with naming_the_sheet(table.layout):
            given = schema_of(schema, table)
        with naming_the_file(file):
            inspection = inspect_table(table, given, related=related_columns(table, given))
        if schema_out is not None:
            from icsa.files import write_text_atomically
            from icsa.schema_files import schema_text

            write_text_atomically(schema_out, schema_text(inspection))
    layout = describe_layout(table)
    if json:
        print(dumps({"file": str(file), "layout": layout, **inspection.as_dict()}, indent=2))
        return
    _show(inspection, f"{file}: {layout}")
    if schema_out is not None:
        print()
        print(plain(f"The schema is in {schema_out}. Change what is wrong in it, then:"))
        print(plain(join(["icsa", "anonymize", str(file), "--schema", str(schema_out)])))


def _show(inspection: Inspection, heading: str) -> None:
    from rich.text import Text

    from icsa.cli.console import console

    show = console()
    show.print(Text(plain(heading)))
    show.print()
    if show.width < _NARROW:
        _show_blocks(inspection, show)
    else:
        _show_table(inspection, show)


def _show_table(inspection: Inspection, show: Console) -> None:
    from rich.table import Table as Grid
    from rich.text import Text

    table = Grid(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for heading, ratio in (("column", 3), ("kind", 0), ("missing", 0), ("why", 4)):
        table.add_column(heading, ratio=ratio or None, no_wrap=not ratio, overflow="fold")
    table.add_column("what will happen", ratio=4, overflow="fold")
    table.add_column("look at", ratio=6, overflow="fold")
    for column in inspection.columns:
        style = _style(column.spec.action)
        table.add_row(
            Text(plain(column.name), "bold"),
            column.kind,
            f"{column.missing:,}" if column.missing else "-",
            Text(plain(column.why)),
            Text(plain(column.outcome), style),
            Text("\n".join(map(plain, column.notes))),
        )
    show.print(table)


def _show_blocks(inspection: Inspection, show: Console) -> None:
    """Show each column as a few lines, for narrow terminals."""
    from rich.padding import Padding
    from rich.text import Text

    for column in inspection.columns:
        missing = f", {column.missing:,} missing" if column.missing else ""
        show.print(Text.assemble((plain(column.name), "bold"), f": {column.kind}{missing}"))
        outcome = (plain(column.outcome), _style(column.spec.action))
        lines = Text.assemble(f"{plain(column.why)}\n", outcome)
        for note in column.notes:
            lines.append(f"\nlook at: {plain(note)}")
        show.print(Padding(lines, (0, 0, 0, 2)))


def _style(action: str) -> str:
    return {"keep": "bold red", "drop": "yellow", "replace": "yellow"}.get(action, "")

"""``icsa inspect``: what each column is, what will happen to it, what to look at."""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Annotated

import typer

from icsa.cli.arguments import (
    Bound,
    Decimal,
    Encoding,
    Force,
    Role,
    SchemaFile,
    Separator,
    Sheet,
    Strata,
    Time,
    Unit,
    Weight,
    design_of,
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
    unit: Unit = None,
    time: Time = None,
    bound: Bound = None,
    role: Role = None,
    weight: Weight = None,
    strata: Strata = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    force: Force = False,
    curves: Annotated[
        bool, typer.Option("--curves", help="Look for curved effects too: some seconds.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what each column is and what will happen to it.

    Nothing is released, and no cell is shown. Example:

    icsa inspect patients.csv --schema-out patients.toml
    """
    from icsa.inspection import inspect_table, related_columns
    from icsa.inspection.overview import unit_of
    from icsa.tables import describe_layout

    require_free({"--schema-out": schema_out}, (file,), force=force)
    require_of_use([file], separator=separator, decimal=decimal, encoding=encoding, sheet=sheet)
    with telling_what_is_written([schema_out]):
        table = read_file(file, separator, decimal, encoding, sheet)
        with naming_the_sheet(table.layout):
            given = schema_of(schema, table)
        with naming_the_file(file):
            said = design_of(unit, time, bound, role, weight, strata)
            named = unit_of(table, given, said["unit"])
            related = related_columns(table, given, unit=named)
            inspection = inspect_table(table, given, related=related, design=said)
            if curves:  # what it needs takes a while to load
                from icsa.release.seen_curves import with_seen_curves

                inspection = with_seen_curves(inspection, table)
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
    for line in _on_rows(inspection):
        show.print(Text(plain(line)))
    show.print()
    if show.width < _NARROW:
        _show_blocks(inspection, show)
    else:
        _show_table(inspection, show)


def _on_rows(inspection: Inspection) -> Iterator[str]:
    """Yield whom the rows are about: what was said or found, and why."""
    design, reasons = inspection.schema.design, inspection.reasons
    if inspection.units is not None:
        yield f"several rows are about one person: {inspection.units.describe()}"
    for key, name in design.columns.items():
        yield f"{key}: {name} ({reasons.get(key, 'said so')})"
    of_unit = [column.name for column in inspection.columns if column.spec.belongs_to == "unit"]
    if of_unit:
        yield f"belong to the unit: {', '.join(of_unit)}"
    if inspection.units is not None and design.unit:
        yield f"to release it so: add {inspection.units.options}, or --unit none if rows are people"
    elif "weight" in reasons and design.weight:
        words = join(["--weight", design.weight])
        yield f"to release it so: add {words}; without it the weight is masked as any other column"


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

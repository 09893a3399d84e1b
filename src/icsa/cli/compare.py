"""``icsa compare``: which release for this table, and what it costs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from icsa.cli.arguments import (
    Bound,
    Decimal,
    Encoding,
    Force,
    Quiet,
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
from icsa.cli.console import console, heard_stages, plain, print_line

if TYPE_CHECKING:
    from icsa.choice import Compared
    from icsa.schema import Schema
    from icsa.tables import Table

__all__ = [
    "Budget",
    "Classify",
    "Models",
    "Workers",
    "compare",
    "compared",
    "stage_in_words",
]

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="CSV, Parquet, xlsx, SPSS, Stata or SAS file.")
]
Models = Annotated[
    list[str] | None, taking("--model", "FORMULA", 'Such as "bp ~ age + sex"; repeatable.')
]
Classify = Annotated[
    list[str] | None,
    taking("--classify", "COLUMN", "A category that will be predicted; repeatable."),
]
Methods = Annotated[
    str | None,
    taking("--methods", "A,B,...", "Of icsa, sa, forest and rivals such as mdav. Default: all."),
]
Budget = Annotated[
    float | None,
    taking("--budget", "MINUTES", "Of one core; workers share them. Default: 5."),
]
ReportFile = Annotated[
    Path | None, taking("--report", "R.html", "Picture, table and advice as a page.")
]
JsonFile = Annotated[Path | None, taking("--json", "C.json", "Every candidate and rival as JSON.")]
Seed = Annotated[int, taking("--seed", "N", "Everything random in the race comes from it.", min=0)]
Workers = Annotated[
    int | None, taking("--workers", "COUNT", "Processes. Default: one a core.", min=1)
]
Dask = Annotated[
    str | None,
    taking(
        "--dask",
        "ADDRESS",
        "Compute on the Dask cluster with this scheduler; 'local' starts one here.",
    ),
]
Resume = Annotated[
    Path | None,
    taking(
        "--resume",
        "DIR",
        "Keep what is finished in this folder; the same command goes on where it stopped.",
    ),
]
_STYLES = {True: "bold green", False: "bold yellow"}


def compare(
    file: File,
    schema: SchemaFile = None,
    unit: Unit = None,
    time: Time = None,
    bound: Bound = None,
    role: Role = None,
    weight: Weight = None,
    strata: Strata = None,
    model: Models = None,
    classify: Classify = None,
    methods: Methods = None,
    budget: Budget = None,
    report: ReportFile = None,
    json: JsonFile = None,
    seed: Seed = 0,
    workers: Workers = None,
    dask: Dask = None,
    resume: Resume = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Find the release that suits a table best.

    Releases by several methods and recipes race against each other and against what others would
    do: each is made several times, attacked and measured as icsa assess does. One is advised: of
    those whose word is release, the one that loses least. Nothing is released.

    Example: icsa compare patients.csv --model "bp ~ age + sex" --report compare.html
    """
    outputs = {"--report": report, "--json": json}
    require_free(outputs, (file, schema), force=force)
    reading = {"separator": separator, "decimal": decimal, "encoding": encoding, "sheet": sheet}
    require_of_use([file], **reading)
    with telling_what_is_written(outputs.values()):
        table = read_file(file, **reading)
        with naming_the_sheet(table.layout):
            declared = schema_of(schema, table)
        with naming_the_file(file):
            found = compared(
                table,
                declared,
                quiet=quiet,
                **design_of(unit, time, bound, role, weight, strata),
                models=tuple(model or ()),
                classify=tuple(classify or ()),
                methods=_names(methods),
                budget=budget,
                seed=seed,
                workers=workers,
                dask=dask,
                folder=resume,
                schema_file=schema,
            )
        if json is not None:
            found.to_json(json)
        if report is not None:
            found.to_html(report)
    if not quiet:
        _print(found, outputs)


def compared(
    table: Table,
    schema: Schema | None,
    *,
    quiet: bool,
    budget: float | None,
    workers: int | None,
    folder: Path | None = None,
    **options: Any,
) -> Compared:
    """Return the comparison of a table's releases, with progress on standard error."""
    from icsa.choice import BUDGET
    from icsa.choice import compare as compare_releases

    try:
        with heard_stages() as heard:
            if heard is not None:
                heard(stage_in_words("round-1"), 0.0)
            return compare_releases(
                table,
                schema=schema,
                budget=BUDGET if budget is None else budget,
                workers=workers or os.cpu_count() or 1,
                folder=folder,
                progress=not quiet
                if heard is None
                else lambda stage, share: heard(stage_in_words(stage), share),
                **options,
            )
    except KeyboardInterrupt as stop:
        if folder is not None:
            stop.add_note("What is finished is kept: the same command goes on where it stopped.")
        raise


def stage_in_words(stage: str) -> str:
    """Return a stage of the race for people.

    Examples
    --------
    >>> stage_in_words("round-2"), stage_in_words("final-1")
    ('round 2 of the race', 'assessing the best in full')
    """
    kind, _, number = stage.partition("-")
    return f"round {number} of the race" if kind == "round" else "assessing the best in full"


def _names(methods: str | None) -> tuple[str, ...]:
    return () if methods is None else tuple(name.strip() for name in methods.split(","))


def _print(found: Compared, outputs: dict[str, Path | None]) -> None:
    """Print the table, the advice and the command."""
    from rich.table import Table as Grid
    from rich.text import Text

    from icsa.choice.compare_page import table_of

    show = console()
    headings, rows = table_of(found)
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        grid.add_column(
            heading, justify="left" if heading in ("", "candidate", "word") else "right"
        )
    for row in rows:
        style = "bold" if row["advised"] else "dim" if row["rival"] else ""
        grid.add_row(*(Text(plain(cell) if cell else "", style=style) for cell in row["cells"]))
    show.print(grid)
    show.print()
    for note in found.notes:
        print_line(show, f"note: {note}", "yellow")
    for one in found.candidates:
        if one.why_not:
            print_line(show, f"{one.name}: {one.why_not}", "yellow")
    print_line(show, found.advice.text, _STYLES[found.advice.may_be_released])
    print_line(show, found.advice.command, to_copy=True)
    for path in outputs.values():
        if path is not None:
            print_line(show, f"written: {path}", "bold")

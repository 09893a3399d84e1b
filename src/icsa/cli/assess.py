"""``icsa assess``: a word for a release, why, and a report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    from icsa.assessment import Assessment
    from icsa.release import Plan, Release
    from icsa.schema import Schema
    from icsa.tables import Table

__all__ = ["assess", "report_on"]

# Seconds of work from which on it is said before how long it will take.
_LONG = 10.0
_STYLES = {"release": "bold green", "look again": "bold yellow", "do not release": "bold red"}
_MEANINGS = {
    "release": "nothing was found that replicates anyone who stands out; this is no proof",
    "look again": "something comes nearer to people than chance explains",
    "do not release": "somebody can be found in the release",
}


def assess(
    original: Annotated[
        Path, typer.Argument(metavar="ORIGINAL", help="The table about people; any format.")
    ],
    released: Annotated[
        Path, typer.Argument(metavar="RELEASED", help="Its release, made by any tool.")
    ],
    schema: SchemaFile = None,
    outliers: Annotated[
        str | None,
        typer.Option(
            "--outliers",
            metavar="FILE-OR-COLUMN",
            help="Who to look at: a file of row numbers, or a column of 0 and 1.",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", metavar="FORMULA", help='Such as "bp ~ age + sex"; repeatable.'),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", metavar="P.toml", help="Other thresholds; see icsa policy."),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Everything as JSON; CONFIDENTIAL."),
    ] = None,
    report: Report = None,
    public_report: PublicReport = None,
    gate: Annotated[
        bool, typer.Option("--gate", help="Exit with 3 for look again, 4 for do not release.")
    ] = False,
    redraws: Annotated[
        int,
        typer.Option(
            "--redraws",
            metavar="N",
            min=0,
            help="Release the original N times by icsa anonymize, for the risk before any key.",
        ),
    ] = 0,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Assess a release: people who stand out in it, and what analyses lose.

    Prints one word, release, look again or do not release, and why. Nothing is changed, nothing is
    sent anywhere.

    Example: icsa assess patients.csv release.csv --report report.html
    """
    from icsa.assessment import read_policy

    outputs = {"--json": json, "--report": report, "--public-report": public_report}
    listed = None if outliers is None or not Path(outliers).is_file() else Path(outliers)
    require_free(outputs, (original, released, schema, policy, listed), force=force)
    thresholds = None if policy is None else read_policy(policy)
    first, second = (
        read_file(path, separator, decimal, encoding, sheet) for path in (original, released)
    )
    declared = schema_of(schema, first)
    plan, note = None, ""
    if redraws:
        plan, declared, note = _usual_plan(first, declared)
    assessment = _assessed(
        first,
        second,
        quiet=quiet,
        schema=declared,
        outliers=outliers,
        policy=thresholds,
        models=tuple(model or ()),
        redraws=redraws,
        plan=plan,
        note=note,
    )
    if json is not None:
        assessment.to_json(json)
    _write_reports(assessment, report, public_report)
    if not quiet:
        _print_assessment(assessment, (json, report, public_report))
    if gate:
        raise typer.Exit(assessment.gate)


def report_on(
    release: Release,
    plan: Plan,
    table: Table,
    schema: Schema,
    *,
    report: Path | None,
    public_report: Path | None,
    redraws: int,
    seconds: float,
    quiet: bool,
) -> None:
    """Assess a release that was just made, with its plan; write the reports and say the word.

    `seconds` is what the release took: making it again under other keys takes as long each time.
    """
    assessment = _assessed(
        table,
        release.table,
        quiet=quiet,
        schema=schema,
        redraws=redraws,
        plan=plan,
        making=release,
        seconds=seconds,
    )
    _write_reports(assessment, report, public_report)
    if not quiet:
        _print_assessment(assessment, (report, public_report))


def _assessed(
    original: Table,
    released: Table,
    *,
    quiet: bool,
    note: str = "",
    seconds: float = 0.0,
    **options: Any,
) -> Assessment:
    """Return the assessment, after saying how long it takes if that is long."""
    from dataclasses import replace

    from icsa.assessment import assess as assess_tables
    from icsa.assessment import assessment_cost
    from icsa.assessment.redrawing import usual_redraws
    from icsa.cli.progress import stages

    rows, columns = original.frame.shape
    cost = assessment_cost(rows, released.frame.height, columns)
    plan, again = options.get("plan"), options.get("redraws") or 0
    if plan is not None and not again:
        again = usual_redraws(rows * columns, calibrated=plan.wanted is not None)
    cost = replace(cost, seconds=cost.seconds + again * seconds)
    if cost.seconds > _LONG and not quiet:
        print(f"icsa: assessing takes {cost}", file=sys.stderr, flush=True)
    # Releases that are made again count as so many tables more.
    with stages(rows * columns * (1 + again), quiet=quiet) as progress:
        found = assess_tables(original, released, progress=progress, **options)
    if not note:
        return found
    return replace(found, tables=replace(found.tables, notes=(*found.tables.notes, note)))


def _usual_plan(table: Table, schema: Schema | None) -> tuple[Plan, Schema, str]:
    from icsa.release import plan_release

    plan, declared = plan_release(table, schema=schema)
    note = (
        "The risk before any key is that of icsa anonymize with its usual recipe on this original: "
        "it speaks of this release only if it was made so."
    )
    return plan, declared, note


def _write_reports(assessment: Assessment, report: Path | None, public_report: Path | None) -> None:
    if report is None and public_report is None:
        return
    from icsa.report.assessment_page import write_assessment_report

    # Whether files may be replaced was asked before the work began.
    if report is not None:
        write_assessment_report(assessment.as_dict("internal"), report, force=True)
    if public_report is not None:
        write_assessment_report(assessment.as_dict("public"), public_report, force=True)


def _print_assessment(assessment: Assessment, written: tuple[Path | None, ...]) -> None:
    from icsa.cli.console import console

    show = console()
    # The internal edition: whoever has both tables may know row numbers.
    shown = assessment.as_dict("internal")
    word = shown["verdict"]
    show.print(f"verdict: {word}", style=_STYLES[word], markup=False)
    show.print(f"{_MEANINGS[word]}.", markup=False)
    for reason in shown["reasons"]:
        show.print(f"- {reason}", markup=False)
    if not assessment.trusted:
        show.print(f"self-test: {shown['self_test']['why']}", markup=False, style="bold red")
    show.print()
    show.print(_grid(shown))
    show.print()
    people = shown["people_summary"]
    status = ", ".join(f"{count} {name}" for name, count in people["status"].items() if count)
    left = f"; {people['left_out']} more were left out" if people["left_out"] else ""
    show.print(
        f"people who stand out: {people['count']} of {shown['tables']['original']['rows']}"
        f"{f' ({status})' if status else ''}{left}",
        markup=False,
    )
    if shown["redraws"]:
        found = shown["redraws"]
        show.print(f"over {found['n']} fresh keys: {found['words']}", markup=False)
    for note in shown["tables"]["notes"]:
        show.print(f"note: {note}", markup=False, style="yellow")
    for path in written:
        if path is not None:
            show.print(f"written: {path}", markup=False, style="bold")


def _grid(shown: dict[str, Any]) -> Any:
    """Return the privacy measures beside the two ends of their scales."""
    from rich.table import Table as Grid

    from icsa.assessment.measure_words import SHOWN

    grid = Grid(box=None, pad_edge=False, header_style="bold")
    grid.add_column("measure")
    for heading in ("this release", "an exact copy", "columns shuffled"):
        grid.add_column(heading, justify="right")
    grid.add_column("good")
    for key in SHOWN:
        measure = shown["privacy"][key]
        ends = measure["ends"]
        if measure["value"] is None and ends["copy"] is None:
            continue
        numbers = (measure["value"], ends["copy"], ends["shuffled"])
        grid.add_row(measure["label"], *map(_number, numbers), measure["good"])
    return grid


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.3g}"

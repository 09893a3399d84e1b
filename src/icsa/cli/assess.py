"""``icsa assess``: a word for a release, why, and a report; ``icsa policy``: its thresholds."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
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
    naming_the_file,
    read_file,
    require_free,
    require_of_use,
    schema_of,
    taking,
    telling_what_is_written,
)
from icsa.cli.assessment_summary import print_assessment

if TYPE_CHECKING:
    from icsa.assessment import Assessment, Edition
    from icsa.release import Plan, Release
    from icsa.schema import Schema
    from icsa.tables import Table

__all__ = ["assess", "policy", "report_on"]

# Seconds of work from which on it is said before how long it will take.
_LONG = 10.0

Original = Annotated[
    Path, typer.Argument(metavar="ORIGINAL", help="The table about people; any format.")
]
Released = Annotated[
    Path, typer.Argument(metavar="RELEASED", help="Its release, made by any tool.")
]
Outliers = Annotated[
    str | None,
    taking(
        "--outliers",
        "FILE-OR-COLUMN",
        "Who to look at: a file of row numbers, or a column of 0 and 1.",
    ),
]
Models = Annotated[
    list[str] | None, taking("--model", "FORMULA", 'Such as "bp ~ age + sex"; repeatable.')
]
Classify = Annotated[
    list[str] | None,
    taking("--classify", "COLUMN", "Predict this category, learnt from the release; repeatable."),
]
Clusters = Annotated[int | None, taking("--clusters", "K", "Find K groups in both tables.", min=2)]
Select = Annotated[
    list[str] | None,
    taking("--select", "RESPONSE", "Which columns matter for this one, by the lasso; repeatable."),
]
Against = Annotated[
    Path | None,
    taking(
        "--against",
        "OTHER_RELEASE",
        "Another release of ORIGINAL: which gives more privacy for what it loses?",
    ),
]
PolicyFile = Annotated[
    Path | None, taking("--policy", "P.toml", "Other thresholds; see icsa policy.")
]
JsonFile = Annotated[Path | None, taking("--json", "FILE", "Everything as JSON; CONFIDENTIAL.")]
PublicJsonFile = Annotated[
    Path | None, taking("--public-json", "FILE", "The same, to be handed out.")
]
Gate = Annotated[
    bool, typer.Option("--gate", help="Exit with 3 for look again, 4 for do not release.")
]
Redraws = Annotated[
    int,
    taking(
        "--redraws",
        "N",
        "Release the original N times by icsa anonymize, for the risk before any key.",
        min=0,
    ),
]


def assess(
    original: Original,
    released: Released,
    schema: SchemaFile = None,
    outliers: Outliers = None,
    model: Models = None,
    classify: Classify = None,
    clusters: Clusters = None,
    select: Select = None,
    against: Against = None,
    policy: PolicyFile = None,
    json: JsonFile = None,
    public_json: PublicJsonFile = None,
    report: Report = None,
    public_report: PublicReport = None,
    gate: Gate = False,
    redraws: Redraws = 0,
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

    outputs = {
        "--json": json,
        "--public-json": public_json,
        "--report": report,
        "--public-report": public_report,
    }
    listed = None if outliers is None or not Path(outliers).is_file() else Path(outliers)
    require_free(outputs, (original, released, against, schema, policy, listed), force=force)
    reading = {"separator": separator, "decimal": decimal, "encoding": encoding, "sheet": sheet}
    require_of_use([original, released, against], **reading)
    thresholds = None if policy is None else read_policy(policy)
    with telling_what_is_written(outputs.values()):
        first, second = read_file(original, **reading), read_file(released, **reading)
        other = None if against is None else read_file(against, **reading)
        declared = schema_of(schema, first)
        plan, note = None, ""
        if redraws:
            with naming_the_file(original):
                plan, declared, note = _usual_plan(first, declared)
        assessment = _assessed(
            first,
            second,
            quiet=quiet,
            schema=declared,
            outliers=outliers,
            policy=thresholds,
            models=tuple(model or ()),
            classify=tuple(classify or ()),
            clusters=clusters,
            select=tuple(select or ()),
            against=other,
            redraws=redraws,
            plan=plan,
            note=note,
        )
        _write(assessment, outputs)
        if not quiet:
            print_assessment(assessment, tuple(outputs.values()))
    if gate:
        raise typer.Exit(assessment.gate)


def policy() -> None:
    """Print the thresholds of the verdict as a commented file.

    Change what you answer for, say why, and give the file to icsa assess --policy.

    Example: icsa policy > policy.toml
    """
    from icsa.assessment import policy_text

    print(policy_text(), end="")


def report_on(
    release: Release,
    plan: Plan,
    table: Table,
    schema: Schema,
    reports: Mapping[str, Path | None],
    *,
    redraws: int,
    seconds: float,
    quiet: bool,
) -> Assessment:
    """Return the assessment of a release that was just made, with its plan; write the reports.

    Reports are given by their options. `seconds` is what the release took: making it again under
    other keys takes as long each time.
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
    _write(assessment, reports)
    return assessment


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
    from icsa.assessment.fresh_releases import usual_redraws
    from icsa.cli.console import stages

    rows, columns = original.frame.shape
    cost = assessment_cost(rows, released.frame.height, columns)
    if options.get("against") is not None:
        cost = replace(cost, seconds=2 * cost.seconds)
    plan, again = options.get("plan"), options.get("redraws") or 0
    if plan is not None and not again:
        again = usual_redraws(rows * columns, calibrated=plan.wanted is not None)
    cost = replace(cost, seconds=cost.seconds + again * seconds)
    if cost.seconds > _LONG and not quiet:
        with suppress(BrokenPipeError):  # the work does not depend on who listens
            print(f"icsa: assessing takes {cost}", file=sys.stderr, flush=True)
    # Releases that are made again count as so many tables more.
    with stages(rows * columns * (1 + again), quiet=quiet) as progress:
        found = assess_tables(original, released, progress=progress, **options)
    if not note:
        return found
    return replace(found, tables=replace(found.tables, notes=(*found.tables.notes, note)))


def _usual_plan(table: Table, schema: Schema | None) -> tuple[Plan, Schema, str]:
    from icsa.release import plan, prepare

    usual = plan(prepare(table, schema=schema))
    note = (
        "The risk before any key is that of icsa anonymize with its usual recipe on this original: "
        "it speaks of this release only if it was made so."
    )
    return usual, usual.schema, note


def _write(assessment: Assessment, outputs: Mapping[str, Path | None]) -> None:
    """Write the files that were asked for, by their options."""
    for option, path in outputs.items():
        if path is None:
            continue
        edition: Edition = "public" if option.startswith("--public") else "internal"
        if option.endswith("json"):
            assessment.to_json(path, edition)
        else:
            from icsa.report import write_assessment_report

            # Whether files may be replaced was asked before the work began.
            write_assessment_report(assessment.document(edition), path, force=True)

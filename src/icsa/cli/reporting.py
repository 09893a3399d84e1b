"""Reports on a release: what is asked of them, how long they take, and where they go."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from icsa.errors import InputError

if TYPE_CHECKING:
    from icsa.assessment import Assessment, Edition
    from icsa.release import Plan, Release
    from icsa.release.design_plans import DesignPlan
    from icsa.schema import Schema
    from icsa.tables import Table

__all__ = ["AskedReports", "assessed", "report_on", "write_reports"]

# Seconds of work from which on it is said before how long it will take.
_LONG = 10.0


class AskedReports(NamedTuple):
    """What options of ``icsa anonymize`` say of reports; `paths` are given by their options."""

    paths: Mapping[str, Path | None]
    redraws: int = 0
    rehearse: int | None = None
    prepared_by: str = ""
    decided_by: str = ""

    @property
    def wanted(self) -> bool:
        """Whether there is a report to be written."""
        return any(path is not None for path in self.paths.values())

    def require_of_use(self) -> None:
        """Refuse an option of reports where nobody wants one."""
        given = {
            "--redraws": self.redraws,
            "--rehearse": self.rehearse is not None,
            "--prepared-by": self.prepared_by,
            "--decided-by": self.decided_by,
        }
        option = next((option for option, value in given.items() if value), None)
        if option is not None and not self.wanted:
            raise InputError(f"{option} is for a report. Give --report or --public-report too.")


def report_on(
    release: Release,
    plan: Plan | DesignPlan,
    table: Table,
    schema: Schema,
    asked: AskedReports,
    *,
    seconds: float,
    quiet: bool,
    files: Mapping[str, Path | None],
) -> Assessment:
    """Return the assessment of a release that was just made, with its plan; write the reports.

    `seconds` is what the release took: making it again under other keys takes as long each time.
    `files` are those to be named in the report, by their roles.
    """
    assessment = assessed(
        table,
        release.table,
        quiet=quiet,
        schema=schema,
        redraws=asked.redraws,
        rehearse=asked.rehearse,
        plan=plan,
        making=release,
        seconds=seconds,
        files=files,
        prepared_by=asked.prepared_by,
        decided_by=asked.decided_by,
    )
    write_reports(assessment, asked.paths)
    return assessment


def assessed(
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
    from icsa.assessment.fresh_releases import usual_redraws_by
    from icsa.assessment.rehearsal import rehearsal_seconds, usual_halves
    from icsa.cli.console import stages

    rows, columns = original.frame.shape
    cost = assessment_cost(rows, released.frame.height, columns)
    if options.get("against") is not None:
        cost = replace(cost, seconds=2 * cost.seconds)
    plan, again = options.get("plan"), options.get("redraws") or 0
    if plan is not None and not again:
        again = usual_redraws_by(plan, rows * columns)
    halves = options.get("rehearse")
    if halves is None:
        halves = usual_halves(rows, columns) if plan is not None else 0
    rehearsed = rehearsal_seconds(rows, columns, halves) if halves else 0.0
    cost = replace(cost, seconds=cost.seconds + again * seconds + rehearsed)
    if cost.seconds > _LONG and not quiet:
        with suppress(BrokenPipeError):  # the work does not depend on who listens
            print(f"icsa: assessing takes {cost}", file=sys.stderr, flush=True)
    # Releases that are made again count as so many tables more.
    with stages(rows * columns * (1 + again + halves), quiet=quiet) as progress:
        found = assess_tables(original, released, progress=progress, **options)
    if not note:
        return found
    return replace(found, tables=replace(found.tables, notes=(*found.tables.notes, note)))


def write_reports(assessment: Assessment, outputs: Mapping[str, Path | None]) -> None:
    """Write the files that were asked for, by their options."""
    for option, path in outputs.items():
        if path is None:
            continue
        edition: Edition = "public" if option.startswith("--public") else "internal"
        if option.endswith(("json", "assessment")):
            assessment.to_json(path, edition)
        else:
            from icsa.report import write_assessment_report

            # Whether files may be replaced was asked before the work began.
            write_assessment_report(assessment.document(edition), path, force=True)

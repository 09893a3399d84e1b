"""``icsa assess``: a word for a release, why, and a report; ``icsa policy``: its thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from icsa.cli.anonymize import Dask, Mask, Memory, Method, Scatters, ScratchFolder
from icsa.cli.arguments import (
    Bound,
    DecidedBy,
    Decimal,
    Encoding,
    Force,
    PreparedBy,
    PublicReport,
    Quiet,
    Rehearse,
    Report,
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
    read_file,
    require_free,
    require_of_use,
    scatter_pair,
    schema_of,
    taking,
    telling_what_is_written,
)
from icsa.cli.assess_large import Means, StoredPair, assess_large, other_release, stored_pair
from icsa.cli.assessment_summary import print_assessment
from icsa.cli.making import Making
from icsa.cli.reporting import assessed, write_reports
from icsa.errors import InputError
from icsa.recipes import RECIPES

if TYPE_CHECKING:
    from icsa.assessment import Assessment

__all__ = ["assess", "policy"]

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
AlsoReleased = Annotated[
    Path | None,
    taking(
        "--also-released",
        "FILE",
        "Another release of ORIGINAL that is already out: do both give away more?",
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
Holdout = Annotated[
    Path | None,
    taking(
        "--holdout",
        "FILE",
        "People who were not in ORIGINAL, with the same columns: are those in it found more often?",
    ),
]
AssessWorkers = Annotated[
    int, taking("--workers", "N", "Processes, for tables that do not fit.", min=1)
]
MadeByRecipe = Annotated[
    str | None,
    taking(
        "--recipe",
        "|".join(RECIPES),
        "RELEASED was made by icsa anonymize with this recipe: it is rehearsed, and released again "
        "under fresh keys.",
    ),
]


def assess(
    original: Original,
    released: Released,
    schema: SchemaFile = None,
    unit: Unit = None,
    time: Time = None,
    bound: Bound = None,
    role: Role = None,
    weight: Weight = None,
    strata: Strata = None,
    outliers: Outliers = None,
    model: Models = None,
    classify: Classify = None,
    clusters: Clusters = None,
    select: Select = None,
    against: Against = None,
    also_released: AlsoReleased = None,
    policy: PolicyFile = None,
    json: JsonFile = None,
    public_json: PublicJsonFile = None,
    report: Report = None,
    public_report: PublicReport = None,
    gate: Gate = False,
    redraws: Redraws = 0,
    rehearse: Rehearse = None,
    holdout: Holdout = None,
    recipe: MadeByRecipe = None,
    method: Method = None,
    scatters: Scatters = None,
    mask: Mask = None,
    prepared_by: PreparedBy = "",
    decided_by: DecidedBy = "",
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    memory: Memory = None,
    workers: AssessWorkers = 1,
    dask: Dask = None,
    scratch: ScratchFolder = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Assess a release: people who stand out in it, and what analyses lose.

    Prints one word, release, look again or do not release, and why. Nothing is changed, nothing is
    sent anywhere.

    Example: icsa assess patients.csv release.csv --report report.html

    People who were not in the table make the best comparison. Give some, or say how icsa anonymize
    made the release, so that random halves of the people are released alike:

    icsa assess patients.csv release.csv --holdout others.csv

    icsa assess patients.csv release.csv --recipe mixed --rehearse 20

    Of people with several rows, such as visits, everything is asked by person:

    icsa assess visits.csv release.csv --unit id --time day --model "crp ~ day + (1 | id)"

    CSV and Parquet files, or folders of the latter, that do not fit in memory are assessed from
    their files:

    icsa assess register.parquet register.release.parquet --memory 4GB

    icsa assess visits/ released/ --unit id --time day --memory 4GB
    """
    from icsa.assessment import read_policy

    outputs = {
        "--json": json,
        "--public-json": public_json,
        "--report": report,
        "--public-report": public_report,
    }
    listed = None if outliers is None or not Path(outliers).is_file() else Path(outliers)
    tables = (original, released, against, also_released, holdout)
    require_free(outputs, (*tables, schema, policy, listed), force=force)
    reading = {"separator": separator, "decimal": decimal, "encoding": encoding, "sheet": sheet}
    require_of_use(tables, **reading)
    making = Making(recipe, method, scatter_pair(scatters), mask)
    if holdout is not None and rehearse:
        raise InputError("--holdout and --rehearse are two ways to the same. Give one of them.")
    thresholds = None if policy is None else read_policy(policy)
    written = outputs.values()
    means = Means(memory, workers, dask, scratch)
    stored = stored_pair(original, released, means, reading)
    with telling_what_is_written(written):
        if stored is not None:
            assessment = _from_files(
                stored,
                (original, released),
                means,
                also_released=also_released,
                against=None if against is None else other_release(against, reading),
                making=making,
                rehearse=rehearse,
                redraws=redraws,
                design=design_of(unit, time, bound, role, weight, strata),
                schema=schema,
                files={"schema": schema, "policy": policy, "people to look at": listed},
                quiet=quiet,
                outliers=outliers,
                policy=thresholds,
                models=tuple(model or ()),
                classify=tuple(classify or ()),
                clusters=clusters,
                select=tuple(select or ()),
                holdout=None if holdout is None else read_file(holdout, **reading),
                prepared_by=prepared_by,
                decided_by=decided_by,
            )
            _finish(assessment, outputs, quiet=quiet, gate=gate)
            return
        first, second = read_file(original, **reading), read_file(released, **reading)
        other = None if against is None else read_file(against, **reading)
        others = None if holdout is None else read_file(holdout, **reading)
        out = None if also_released is None else read_file(also_released, **reading)
        declared = schema_of(schema, first)
        plan, note = None, ""
        said = design_of(unit, time, bound, role, weight, strata)
        if redraws or rehearse or making.told:
            with naming_the_file(original):
                plan, declared, note = making.plan(first, declared, said)
        assessment = assessed(
            first,
            second,
            quiet=quiet,
            schema=declared,
            **said,
            outliers=outliers,
            policy=thresholds,
            models=tuple(model or ()),
            classify=tuple(classify or ()),
            clusters=clusters,
            select=tuple(select or ()),
            against=other,
            holdout=others,
            also_released=out,
            redraws=redraws,
            rehearse=rehearse,
            plan=plan,
            note=note,
            files={"schema": schema, "policy": policy, "people to look at": listed},
            prepared_by=prepared_by,
            decided_by=decided_by,
        )
        _finish(assessment, outputs, quiet=quiet, gate=gate)


def _from_files(
    stored: StoredPair,
    tables: tuple[Path, Path],
    means: Means,
    *,
    files: Mapping[str, Path | None],
    models: tuple[str, ...],
    classify: tuple[str, ...],
    clusters: int | None,
    select: tuple[str, ...],
    **options: Any,
) -> Assessment:
    """Return the assessment of tables that do not fit in memory."""
    from icsa.assessment.asked import Asked

    asked = Asked(models=models, classify=classify, clusters=clusters, select=select)
    return assess_large(stored, tables, means, named=files, asked=asked, **options)


def _finish(
    assessment: Assessment, outputs: Mapping[str, Path | None], *, quiet: bool, gate: bool
) -> None:
    """Write what was asked for, print the rest, and end with the gate's code if it is wanted."""
    write_reports(assessment, outputs)
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

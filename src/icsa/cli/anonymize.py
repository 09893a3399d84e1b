"""``icsa anonymize``: a file in, a release out."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    naming_the_sheet,
    read_file,
    require_free,
    require_of_use,
    scatter_pair,
    schema_of,
    taking,
    telling_what_is_written,
)
from icsa.cli.assessment_summary import print_assessment
from icsa.cli.choosing import Choose, chosen_options, require_choosing
from icsa.cli.compare import Budget, Classify, Models
from icsa.cli.large_choosing import LargeChoice
from icsa.cli.large_inputs import AskedFor, known_kind, large_table
from icsa.cli.large_reports import LargeReports
from icsa.cli.large_tables import (
    anonymize_large,
    is_folder_of_parts,
    key_for,
    require_elsewhere,
    require_free_folder,
    write_key,
)
from icsa.cli.made_in_memory import explain_in_memory, made_in_memory
from icsa.cli.release_summary import print_release, print_release_json
from icsa.cli.reporting import AskedReports, report_on
from icsa.masks import MASKS
from icsa.recipes import RECIPES, Recipe

if TYPE_CHECKING:
    from icsa.release.methods import MethodOptions
    from icsa.tables import Table

__all__ = ["anonymize"]


_RECIPE = "mixed"


def _default_masks() -> str:
    """Return which mask a release has if none is asked for, and recipes with another one."""
    usual = Recipe(name="").mask
    others = [recipe for recipe in RECIPES.values() if recipe.mask != usual]
    return "; ".join([usual, *(f"with --recipe {r.name} {r.mask}" for r in others)])


File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="CSV, Parquet, xlsx, SPSS, Stata or SAS file; a folder or pattern of Parquet files.",
    ),
]
Output = Annotated[Path | None, taking("--output -o", "FILE", "Where to; the suffix says how.")]
Keep = Annotated[list[str] | None, taking("--keep", "COLUMN", "Release this column as it is.")]
Drop = Annotated[list[str] | None, taking("--drop", "COLUMN", "Leave this column out; repeatable.")]
Method = Annotated[
    str | None,
    taking(
        "--method",
        "auto|icsa|sa|forest",
        "icsa: robust coordinates; sa: principal components; forest: curves kept. Default: auto, "
        "which is icsa, or forest where curves are strong.",
    ),
]
Scatters = Annotated[
    str | None, taking("--scatters", "A,B", "A pair of scatters; see icsa scatters.")
]
Mask = Annotated[
    str | None,
    taking("--mask", "|".join(MASKS), f"What hides people. Default: {_default_masks()}."),
]
RecipeName = Annotated[str, taking("--recipe", "|".join(RECIPES), "How columns are encoded.")]
RawUnits = Annotated[
    bool, typer.Option("--raw-units", help="With --method sa: do not standardise columns.")
]
Seed = Annotated[
    int | None, taking("--seed", "N", "Reproducible, for tests: not for release.", min=0)
]
SaveKey = Annotated[
    Path | None, taking("--save-key", "FILE", "Keep the secret key: it repeats every draw.")
]
NoRaking = Annotated[
    bool, typer.Option("--no-raking", help="With --weight: do not give weighted totals back.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
AssessmentFile = Annotated[
    Path | None, taking("--assessment", "F.json", "The assessment as JSON; CONFIDENTIAL.")
]
Memory = Annotated[
    str | None,
    taking("--memory", "SIZE", "What data may take, such as 4GB. Default: what is free."),
]
Workers = Annotated[
    int,
    taking("--workers", "N", "Processes, for a table that does not fit or for --choose.", min=1),
]
Dask = Annotated[
    str | None, taking("--dask", "ADDRESS", "A Dask scheduler to compute on, or local.")
]
ScratchFolder = Annotated[
    Path | None, taking("--scratch", "FOLDER", "For files while a table does not fit; private.")
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on where a killed run stopped.")]
Explain = Annotated[
    bool, typer.Option("--explain", help="Print the passes over a table that does not fit.")
]
FreshKeys = Annotated[
    int, taking("--redraws", "N", "Fresh keys for the report. Default: by size.", min=0)
]


def anonymize(
    file: File,
    output: Output = None,
    schema: SchemaFile = None,
    unit: Unit = None,
    time: Time = None,
    bound: Bound = None,
    role: Role = None,
    weight: Weight = None,
    strata: Strata = None,
    no_raking: NoRaking = False,
    keep: Keep = None,
    drop: Drop = None,
    method: Method = None,
    scatters: Scatters = None,
    mask: Mask = None,
    recipe: RecipeName = _RECIPE,
    raw_units: RawUnits = False,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    seed: Seed = None,
    save_key: SaveKey = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    report: Report = None,
    public_report: PublicReport = None,
    assessment: AssessmentFile = None,
    redraws: FreshKeys = 0,
    rehearse: Rehearse = None,
    prepared_by: PreparedBy = "",
    decided_by: DecidedBy = "",
    choose: Choose = False,
    model: Models = None,
    classify: Classify = None,
    budget: Budget = None,
    memory: Memory = None,
    workers: Workers = 1,
    dask: Dask = None,
    scratch: ScratchFolder = None,
    resume: Resume = False,
    explain: Explain = False,
) -> None:
    """Anonymize a table about people: a file in, a release out.

    Every column is masked by its kind; identifiers are replaced and free text is left out. The
    release is written beside the input as NAME.release.SUFFIX. Look at the table first with: icsa
    inspect FILE

    Example: icsa anonymize patients.csv --output release.csv

    Which method and recipe suit this table best can be found out, in minutes:

    icsa anonymize patients.csv --choose
    """
    from icsa.files import is_several, require_readable
    from icsa.tables import default_output, output_kind

    # With --choose the workers are for comparing, too, which is no reason to go by files.
    processes = workers if workers > 1 else None
    asked = AskedFor(memory, 1 if choose else workers, dask, scratch, resume, explain)
    reading = {"separator": separator, "decimal": decimal, "encoding": encoding, "sheet": sheet}
    require_of_use([file], **reading)
    large, several = large_table(file, asked, reading), is_several(file)
    if not several:
        require_readable(file)
    target = default_output(file) if output is None else output
    outputs = {"--output": target, "--save-key": save_key}
    reports = {"--report": report, "--public-report": public_report, "--assessment": assessment}
    design = design_of(unit, time, bound, role, weight, strata)
    design |= {"raking": False} if no_raking else {}
    asked_reports = AskedReports(reports, redraws, rehearse, prepared_by, decided_by)
    large_reports = LargeReports(asked_reports, file, target, schema, design, reading)
    may_replace = force or explain  # which writes nothing
    if resume:
        outputs["--save-key"] = None  # it is read where it is there
        large_reports.require_to_do(force=may_replace)
    in_parts = known_kind(target) is None if large is None else is_folder_of_parts(target)
    if in_parts and (several or large is not None):
        outputs["--output"] = None
        require_free_folder(target, file, force=may_replace)
    require_free({**outputs, **reports}, (file, schema), force=may_replace)
    require_elsewhere(target, file)
    if large is None and not (several and in_parts):
        output_kind(target)
    asked_reports.require_of_use()
    quietly = quiet or as_json
    require_choosing(
        choose,
        {"--model": model, "--classify": classify, "--budget": budget},
        {
            "--method": method,
            "--scatters": scatters,
            "--mask": mask,
            "--raw-units": raw_units,
            "--recipe": recipe != _RECIPE,
        },
    )
    options: MethodOptions = {
        "method": method,
        "scatters": scatter_pair(scatters),
        "mask": mask,
        "raw_units": raw_units,
    }
    choices = {"keep": keep or (), "drop": drop or (), "recipe": recipe, "design": design}
    if large is not None:
        asked_of_choice = tuple(model or ()), tuple(classify or ()), budget, processes
        choice = LargeChoice(*asked_of_choice, quiet=quietly) if choose else None
        with telling_what_is_written([target, save_key, *reports.values()]):
            anonymize_large(
                large,
                asked._replace(workers=workers),
                large_reports,
                seed=seed,
                save_key=save_key,
                choices=choices,
                options=options,
                choice=choice,
                force=force,
                quiet=quiet,
                as_json=as_json,
            )
        return
    if explain:
        explain_in_memory(read_file(file, **reading), file)
        return
    if asked.option and not quietly:
        print(
            f"icsa: {file} is released in memory: {asked.option} has no use there.", file=sys.stderr
        )
    key = key_for(seed, save_key, resume=resume)
    doing = {"force": force, "quiet": quietly, "once": not asked_reports.wanted}
    read = partial(read_file, file, **reading)
    # All files are written before anything is shown: whoever reads it may go away.
    with telling_what_is_written({**outputs, **reports}.values()):
        if choose:
            wanted: dict[str, Any] = {"models": model or (), "classify": classify or ()}
            wanted |= {"budget": budget, "schema_file": schema}
            wanted["workers"] = processes
            table = read()
            with naming_the_sheet(table.layout), naming_the_file(file):
                declared = schema_of(schema, table)
                advised = chosen_options(table, declared, choices, quiet=quietly, **wanted)
            choices["recipe"] = advised.pop("recipe")
            options = {**options, **advised}
            read, doing["checked"] = partial(_same, table), True
        made = made_in_memory(read, file, schema, key, target, choices, options, **doing)
        if save_key is not None:
            write_key(save_key, key.reveal())
        assessed_as = None
        if made.plan is not None:
            assessed_as = report_on(
                made.release,
                made.plan,
                made.table,
                made.schema,
                asked_reports,
                seconds=made.seconds,
                quiet=quietly,
                files={"release": target, "schema": schema},
            )
        if as_json:
            print_release_json(made.release, target)
        elif not quiet:
            print_release(made.release, made.table, made.schema.design, file, target, save_key)
            if assessed_as is not None:
                print_assessment(assessed_as, tuple(reports.values()))


def _same(table: Table) -> Table:
    """Return a table that was read before."""
    return table

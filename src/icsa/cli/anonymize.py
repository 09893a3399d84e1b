"""``icsa anonymize``: a file in, a release out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Thread
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

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
    naming_the_sheet,
    read_file,
    require_free,
    require_of_use,
    schema_of,
    taking,
    telling_what_is_written,
)
from icsa.cli.assessment_summary import print_assessment
from icsa.cli.release_summary import print_release, print_release_json
from icsa.errors import InputError
from icsa.masks import MASKS
from icsa.recipes import RECIPES, Recipe

if TYPE_CHECKING:
    from icsa.assessment import Assessment
    from icsa.randomness import Key
    from icsa.release import Plan, Release
    from icsa.release.methods import MethodOptions
    from icsa.schema import Schema
    from icsa.tables import Table

__all__ = ["anonymize"]


def _default_masks() -> str:
    """Return which mask a release has if none is asked for, and recipes with another one."""
    usual = Recipe(name="").mask
    others = [recipe for recipe in RECIPES.values() if recipe.mask != usual]
    return "; ".join([usual, *(f"with --recipe {r.name} {r.mask}" for r in others)])


File = Annotated[
    Path, typer.Argument(metavar="FILE", help="CSV, Parquet, xlsx, SPSS, Stata or SAS file.")
]
Output = Annotated[Path | None, taking("--output -o", "FILE", "Where to; the suffix says how.")]
Keep = Annotated[list[str] | None, taking("--keep", "COLUMN", "Release this column as it is.")]
Method = Annotated[
    str | None, taking("--method", "icsa|sa", "Robust (default if it works), or spectral.")
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
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
FreshKeys = Annotated[
    int, taking("--redraws", "N", "Fresh keys for the report. Default: by size.", min=0)
]


class _Made(NamedTuple):
    """A release, and what an assessment of it needs besides; no plan where there is none."""

    release: Release
    table: Table
    plan: Plan | None
    schema: Schema
    seconds: float


def anonymize(
    file: File,
    output: Output = None,
    schema: SchemaFile = None,
    keep: Keep = None,
    method: Method = None,
    scatters: Scatters = None,
    mask: Mask = None,
    recipe: RecipeName = "mixed",
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
    redraws: FreshKeys = 0,
) -> None:
    """Anonymize a table about people: a file in, a release out.

    Every column is masked by its kind; identifiers are replaced and free text is left out. The
    release is written beside the input as NAME.release.SUFFIX. Look at the table first with: icsa
    inspect FILE

    Example: icsa anonymize patients.csv --output release.csv
    """
    from icsa.files import require_readable
    from icsa.randomness import as_key
    from icsa.tables import default_output, output_kind

    require_readable(file)
    target = default_output(file) if output is None else output
    outputs = {"--output": target, "--save-key": save_key}
    reports = {"--report": report, "--public-report": public_report}
    require_free({**outputs, **reports}, (file, schema), force=force)
    reading = {"separator": separator, "decimal": decimal, "encoding": encoding, "sheet": sheet}
    require_of_use([file], **reading)
    output_kind(target)
    key, assessed = as_key(seed), any(path is not None for path in reports.values())
    if redraws and not assessed:
        raise InputError("--redraws is for a report. Give --report or --public-report too.")
    quietly = quiet or as_json
    options: MethodOptions = {
        "method": method,
        "scatters": _pair(scatters),
        "mask": mask,
        "raw_units": raw_units,
    }
    choices = {"keep": keep or (), "recipe": recipe}
    doing = {"force": force, "quiet": quietly, "once": not assessed}
    read = partial(read_file, file, **reading)
    # All files are written before anything is shown: whoever reads it may go away.
    with telling_what_is_written({**outputs, **reports}.values()):
        made = _made(read, file, schema, key, target, choices, options, **doing)
        if save_key is not None:
            _write_key(save_key, key.reveal())
        assessment = _reported(made, reports, redraws, quiet=quietly)
        if as_json:
            print_release_json(made.release, target)
        elif not quiet:
            print_release(made.release, made.table, file, target, save_key)
            if assessment is not None:
                print_assessment(assessment, tuple(reports.values()))


def _pair(scatters: str | None) -> list[str] | None:
    if scatters is None:
        return None
    names = [name.strip() for name in scatters.split(",")]
    if len(names) == 2 and names[0] == names[1]:  # known before a long file is read
        raise InputError(f"--scatters names {names[0]!r} twice. Give two that differ.")
    return names


def _reported(
    made: _Made, reports: Mapping[str, Path | None], redraws: int, *, quiet: bool
) -> Assessment | None:
    """Return the assessment of a release whose reports were written; None if none was asked for."""
    if made.plan is None:
        return None
    from icsa.cli.assess import report_on

    about = (made.release, made.plan, made.table, made.schema)
    return report_on(*about, reports, redraws=redraws, seconds=made.seconds, quiet=quiet)


def _made(
    read: Callable[[], Table],
    file: Path,
    schema: Path | None,
    key: Key,
    target: Path,
    choices: Mapping[str, Any],
    options: MethodOptions,
    *,
    force: bool,
    quiet: bool,
    once: bool,
) -> _Made:
    """Read, mask and write. A release that is made once lets the original go as early as can be."""
    from icsa.cli.console import stages

    Thread(target=_load).start()
    table = read()
    from icsa.release import PlanOnce, plan, prepare, release
    from icsa.release.methods import method_of
    from icsa.tables import unwritten_reasons, write_table

    method_of(**options)
    size = table.frame.height * table.frame.width
    with naming_the_sheet(table.layout):
        given = schema_of(schema, table)
    with stages(size, quiet=quiet) as progress:
        progress("looking at the columns", 0.0)
        with naming_the_sheet(table.layout), naming_the_file(file):
            prepared = prepare(table, schema=given, **choices)
            declared = prepared.schema
            if once:
                table = prepared.spare
            planned = plan(prepared, progress=progress, **options)
            started = perf_counter()
            made = release(PlanOnce(planned) if once else planned, key, progress=progress)
        seconds = perf_counter() - started
        kept = None if once else planned
        del prepared, planned  # a long table needs the room
        lost = unwritten_reasons(made.table, target)
        made = replace(made, warnings=(*made.warnings, *lost))
        progress("writing", 0.9)
        write_table(made.table, target, force=force)
    return _Made(made, table, kept, declared, seconds)


def _load() -> None:
    """Load what a release needs, in a thread of its own while its file is being read.

    Polars reads without holding the interpreter, so that half of the time is gained. What goes
    wrong here goes wrong again, and is told, where it is needed.
    """
    with suppress(Exception):
        import numpy as np

        import icsa.release  # noqa: F401
        from icsa.columns.transforms import PowerScale

        # The first kernel of a process takes longest, as numba itself is set up.
        PowerScale(centre=0.0, spread=1.0, exponent=0.5, low=-1.0, high=1.0).forward(np.zeros(1))


def _write_key(path: Path, secret: bytes) -> None:
    """Write the key as a line of hexadecimal digits that only its owner may read."""
    from icsa.files import write_atomically

    def write(beside: Path) -> None:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secret.hex() + "\n")

    write_atomically(path, write)

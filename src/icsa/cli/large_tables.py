"""``icsa anonymize`` of tables that do not fit in memory: what it asks, says, and leaves."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from icsa.cli.large_inputs import AskedFor, allowed_bytes, known_kind, written_as
from icsa.cli.large_leftovers import held_back, remove_unfinished, tell_leftovers
from icsa.errors import InputError

if TYPE_CHECKING:
    from icsa.cli.large_choosing import LargeChoice
    from icsa.cli.large_reports import LargeReports
    from icsa.randomness import Key
    from icsa.release import Release
    from icsa.release.blocks import Ground, MadeInBlocks, Passes
    from icsa.release.blocks.ground import Resources
    from icsa.release.blocks.scratch_runs import Run
    from icsa.release.blocks.text_tables import TextTable
    from icsa.release.methods import MethodOptions
    from icsa.schema import Design, Schema
    from icsa.tables import Table
    from icsa.tables.stored import StoredTable

__all__ = [
    "anonymize_large",
    "cluster",
    "is_folder_of_parts",
    "key_for",
    "require_elsewhere",
    "require_free_folder",
    "write_key",
]


def is_folder_of_parts(target: Path) -> bool:
    """Return whether a release goes into part files; an error for a file of another format."""
    kind = known_kind(target)
    if kind is None:
        return True
    if kind.file_format not in ("csv", "parquet"):
        raise InputError(
            f"{target.name}: a table that does not fit in memory is written as CSV or Parquet. "
            "Give --output FILE.csv or FILE.parquet, or a folder for part files."
        )
    return False


def require_free_folder(target: Path, inputs: Path, *, force: bool) -> None:
    """Refuse a folder for part files that is there, but for one of Parquet files with --force."""
    from icsa.cli.arguments import require_folder

    require_folder(target.parent)
    if not os.path.lexists(target):
        return
    if not force:
        raise InputError(
            f"{target} is there already. Give another name, or --force to overwrite it."
        )
    same = os.path.realpath(target) in (os.path.realpath(inputs), os.path.realpath(inputs.parent))
    others = not target.is_dir() or any(
        p.is_dir() or p.suffix != ".parquet" for p in target.iterdir()
    )
    if same or others:
        raise InputError(
            f"{target} is no folder that holds part files of a release alone. Give another "
            "--output."
        )


def require_elsewhere(target: Path, inputs: Path) -> None:
    """Refuse a release among the part files of its original, of which it would be one next time."""
    if inputs.is_dir() and os.path.realpath(target.parent) == os.path.realpath(inputs):
        raise InputError(
            f"{target} would be among the original's part files. Give --output in another folder."
        )


def anonymize_large(
    source: StoredTable | TextTable,
    asked: AskedFor,
    reports: LargeReports,
    *,
    seed: int | None,
    save_key: Path | None,
    choices: Mapping[str, Any],
    options: MethodOptions,
    choice: LargeChoice | None,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Release a table from its files, and report on it; or explain how that would be done.

    With a `choice` recipe and options are found out first.
    """
    from icsa.cli.assessment_summary import print_assessment
    from icsa.cli.release_summary import print_release, print_release_json
    from icsa.release.blocks.ground import Resources

    file, target, quietly = reports.file, reports.target, quiet or as_json
    resources = Resources(
        memory=int(allowed_bytes(asked)),
        scratch=asked.scratch or target.parent,
        workers=asked.workers,
        dask=asked.dask,
        resume=asked.resume,
    )
    if asked.explain:
        _explain(source, resources, reports, choices, options, choice)
        return
    made = _released(
        source,
        asked,
        resources,
        reports,
        seed=seed,
        save_key=save_key,
        choices=choices,
        options=options,
        choice=choice,
        force=force,
        quiet=quietly,
    )
    release, table, design, options = made
    found = reports.written(source, release, asked, choices, options, quiet=quietly)
    if as_json:
        print_release_json(release, target)
    elif not quiet:
        print_release(release, table, design, file, target, save_key)
        if found is not None:
            print_assessment(found, tuple(reports.asked.paths.values()))


def _explain(
    source: StoredTable | TextTable,
    resources: Resources,
    reports: LargeReports,
    choices: Mapping[str, Any],
    options: MethodOptions,
    choice: LargeChoice | None,
) -> None:
    from icsa.cli.arguments import naming_the_file, schema_of
    from icsa.cli.large_explained import print_explanation
    from icsa.release.blocks.large_runs import ways_of
    from icsa.release.methods import method_of
    from icsa.tables.stored import StoredTable

    declared: Schema | None = None
    if isinstance(source, StoredTable):
        with naming_the_file(reports.file):
            declared = schema_of(reports.schema, source.without_rows())
    around = [] if choice is None else [choice.explained]
    around += [following] if (following := reports.explained(source, resources.scratch)) else []
    ways = ways_of(declared, choices, options)
    print_explanation(
        source,
        resources,
        ways,
        " ".join(around),
        by_itself=choice is None and method_of(**options).name == "auto",
    )


class _Made(NamedTuple):
    """A release that is written, its table without rows, what was said of these, and how."""

    release: Release
    table: Table
    design: Design
    options: MethodOptions


@dataclass(eq=False)
class _Learned:
    """What is known of a table once it is read: itself without rows, and what is said of these.

    The options are others where they are chosen.
    """

    reports: LargeReports
    choices: Mapping[str, Any]
    options: MethodOptions
    choice: LargeChoice | None
    table: Table | None = None
    design: Design | None = None

    def schema_for(self, table: Table) -> Schema | None:
        """Return what a schema says of a table without rows, and keep both for the account."""
        from icsa.cli.arguments import schema_of

        given = schema_of(self.reports.schema, table)
        self.table, self.design = table, _design(given, self.choices)
        return given

    def choose(
        self, passes: Passes, ground: Ground, schema: Schema | None
    ) -> tuple[str, MethodOptions]:
        """Return the recipe and the options that suit a table."""
        assert self.choice is not None
        recipe, self.options = self.choice.made(
            passes, ground, schema, self.choices, self.options, self.reports
        )
        return recipe, self.options


def _released(
    source: StoredTable | TextTable,
    asked: AskedFor,
    resources: Resources,
    reports: LargeReports,
    *,
    seed: int | None,
    save_key: Path | None,
    choices: Mapping[str, Any],
    options: MethodOptions,
    choice: LargeChoice | None,
    force: bool,
    quiet: bool,
) -> _Made:
    """Return the account of a release that was written from files."""
    from icsa.cli.arguments import naming_the_file
    from icsa.cli.console import stages
    from icsa.release.blocks.block_preparing import said_in_blocks
    from icsa.release.blocks.large_runs import anonymize_stored
    from icsa.tables import unwritten_reasons

    file, target, said = reports.file, reports.target, said_in_blocks(choices)
    key = key_for(seed, save_key, resume=asked.resume)
    facts = {"choices": dict(choices), "options": dict(options)}
    facts |= {} if choice is None else {"choose": choice.facts}
    kept = seed is not None or save_key is not None
    run = _run(source, file, reports.schema, key, facts, resumable=kept)
    if asked.resume:
        remove_unfinished(target)
    if not quiet:
        tell_leftovers(resources, run, target)
    learned = _Learned(reports, said, options, choice)
    with (
        _kept_key(save_key, key),
        nullcontext(target) if choice is None else held_back(target) as held,
    ):
        with (
            stages(source.n_rows * len(source.names), quiet=quiet) as progress,
            naming_the_file(file),
            cluster(asked.dask, asked.workers) as dask,
        ):
            made: Release = anonymize_stored(
                source,
                key,
                partial(_write, held, force),
                replace(resources, dask=dask),
                run,
                schema=learned.schema_for,
                choices=said,
                options=options,
                told=progress,
                choose=None if choice is None else learned.choose,
            )
        if choice is not None:
            choice.require_released(source, held, made, asked, reports)
    lost = unwritten_reasons(made.table, written_as(target))
    made = replace(made, warnings=(*made.warnings, *lost))
    assert learned.table is not None
    assert learned.design is not None
    return _Made(made, learned.table, learned.design, learned.options)


def _design(schema: Schema | None, choices: Mapping[str, Any]) -> Design:
    """Return what is said of the rows, by a schema or by options, which go before it."""
    from icsa.schema import NO_DESIGN

    said = {key: value for key, value in choices["design"].items() if value not in (None, ())}
    return replace(NO_DESIGN if schema is None else schema.design, **said)


def _write(
    target: Path, force: bool, passes: Passes, table: StoredTable, made: MadeInBlocks
) -> None:
    """Write a release as its name says: a file of text, one of Parquet, or part files."""
    from icsa.release.blocks.large_runs import write_file, write_parts, write_text_file

    kind = known_kind(target)
    if kind is None:
        write_parts(passes, made.cells, table, target, force=force)
    elif kind.file_format == "csv":
        write_text_file(passes, made, target)
    else:
        told = partial(passes.told, "writing")
        write_file(made.cells, target, told)


def key_for(seed: int | None, save_key: Path | None, *, resume: bool) -> Key:
    """Return the key: that of the seed, one that was kept where a run goes on, or a fresh one."""
    from icsa.randomness import as_key

    if resume and save_key is not None and save_key.is_file():
        try:
            return as_key(bytes.fromhex(save_key.read_text(encoding="ascii").strip()))
        except (ValueError, InputError):
            raise InputError(
                f"{save_key} holds no key. Name the file that --save-key wrote, or leave --resume "
                "out."
            ) from None
    return as_key(seed)


def _run(
    table: StoredTable | TextTable,
    file: Path,
    schema: Path | None,
    key: Key,
    done: Mapping[str, Any],
    *,
    resumable: bool,
) -> Run:
    from icsa import __version__
    from icsa.files import fingerprint
    from icsa.release.blocks.scratch_runs import Run

    facts = {
        "input": str(file),
        "version": __version__,
        "parts": [
            (os.path.realpath(part), part.stat().st_size, part.stat().st_mtime_ns)
            for part in table.parts
        ],
        "reading": getattr(table, "options", None),
        "schema": None if schema is None else fingerprint(schema),
        **done,
    }
    return Run(facts, key, resumable=resumable)


@contextmanager
def _kept_key(path: Path | None, key: Key) -> Iterator[None]:
    """Keep the key before the work begins, so that a killed run can go on; not after an error."""
    fresh = path is not None and not path.exists()
    if path is not None:
        write_key(path, key.reveal())
    try:
        yield
    except Exception:
        if path is not None and fresh:
            path.unlink(missing_ok=True)
        raise


@contextmanager
def cluster(address: str | None, workers: int) -> Iterator[Any]:
    """Give a client of the cluster that was asked for; None for none."""
    if address is None:
        yield None
        return
    from icsa.jobs.dask_cluster import connected

    with connected(address, workers) as client:
        yield client


def write_key(path: Path, secret: bytes) -> None:
    """Write the key as a line of hexadecimal digits that only its owner may read."""
    from icsa.files import write_atomically

    def write(beside: Path) -> None:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secret.hex() + "\n")

    write_atomically(path, write)

"""``icsa anonymize`` of tables that do not fit in memory: what it asks, says, and leaves."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from icsa.errors import InputError

if TYPE_CHECKING:
    from icsa.randomness import Key
    from icsa.release import Release
    from icsa.release.blocks.large_runs import Resources
    from icsa.release.blocks.scratch_runs import Run
    from icsa.release.methods import MethodOptions
    from icsa.schema import Schema
    from icsa.tables.stored import StoredTable

__all__ = [
    "AskedFor",
    "anonymize_large",
    "default_target",
    "is_folder_of_parts",
    "large_table",
    "require_free_folder",
    "write_key",
]

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
# Tables of memory that a release in memory takes at its widest; measured.
_TABLES_IN_MEMORY = 3.9


class AskedFor(NamedTuple):
    """Options that say how a table is to be released that does not fit."""

    memory: str | None = None
    workers: int = 1
    dask: str | None = None
    scratch: Path | None = None
    resume: bool = False
    explain: bool = False

    @property
    def option(self) -> str:
        """An option that only such tables have a use for; empty where none was given."""
        given = {
            "--workers": self.workers > 1,
            "--dask": self.dask,
            "--scratch": self.scratch,
            "--resume": self.resume,
            "--explain": self.explain,
        }
        return next((option for option, value in given.items() if value), "")


def large_table(file: Path, asked: AskedFor) -> StoredTable | None:
    """Return a table that is to be released from its files; None for one that is to be read.

    Those in several files are; one file of Parquet is where it does not fit, or where somebody asks
    for workers.
    """
    several = file.is_dir() or (not file.exists() and bool(set("*?[") & set(file.name)))
    parquet = several or file.suffix in (".parquet", ".pq")
    allowed = _allowed(asked)
    if not parquet:
        _require_fitting(file, asked, allowed)
        return None
    if not several and not file.is_file():
        return None  # told where files are read
    from icsa.limits import LONG
    from icsa.tables.stored import parquet_parts, stored_parquet

    table = stored_parquet(parquet_parts(file))
    if table.n_rows <= LONG:
        if several:
            raise InputError(
                f"{file}: {table.n_rows:,} rows in {len(table.parts)} file(s). Part files are for "
                f"tables of more than {LONG:,} rows: write them as one file."
            )
        if asked.option:
            raise InputError(
                f"{asked.option} is for tables of more than {LONG:,} rows, and {file} has "
                f"{table.n_rows:,}. Leave it out."
            )
        return None
    if several or asked.option or _TABLES_IN_MEMORY * table.n_bytes > allowed:
        return table
    return None


def _allowed(asked: AskedFor) -> float:
    """Return the bytes that data may take."""
    if asked.memory is not None:
        return parsed_size(asked.memory)
    from icsa.release.blocks.ground import free_memory

    return free_memory()


def _require_fitting(file: Path, asked: AskedFor, allowed: float) -> None:
    """Refuse files of other formats that do not fit, before they are read."""
    if asked.option:
        raise InputError(
            f"{asked.option} is for Parquet files, and {file.name} is none. Leave it out, or write "
            "the table as Parquet first."
        )
    if not file.is_file() or file.suffix == ".gz":
        return
    size = file.stat().st_size
    if _TABLES_IN_MEMORY * size > allowed:
        raise InputError(
            f"{file} is {size / 1e9:.2g} GB, more than fits in memory as a {file.suffix} file. "
            "Write it as Parquet, which is read column by column; a CSV file for instance by "
            f"python -c \"import polars; polars.scan_csv('{file.name}', infer_schema_length=None)"
            f".sink_parquet('{file.stem}.parquet')\", or give --memory more."
        )


def default_target(file: Path, table: StoredTable | None) -> Path:
    """Return where a release goes if nobody says: beside its input, a folder where that is one."""
    from icsa.tables import default_output

    if table is None or file.is_file():
        return default_output(file)
    if file.is_dir():
        return file.with_name(f"{file.name}.release")
    raise InputError("A pattern has no name for its release. Give --output FOLDER.")


def is_folder_of_parts(target: Path) -> bool:
    """Return whether a release goes into part files; an error for a file of another format."""
    from icsa.tables import FORMATS

    if target.suffix in FORMATS["parquet"].suffixes:
        return False
    if any(target.name.endswith(suffix) for one in FORMATS.values() for suffix in one.suffixes):
        raise InputError(
            f"{target.name}: a table that does not fit in memory is written as Parquet. Give "
            "--output FILE.parquet, or a folder for part files."
        )
    return True


def require_free_folder(target: Path, inputs: Path, *, force: bool) -> None:
    """Refuse a folder for part files that is there, but for one of Parquet files with --force."""
    if not target.exists():
        return
    if not force:
        raise InputError(
            f"{target} is there already. Give another name, or --force to overwrite it."
        )
    same = os.path.realpath(target) in (os.path.realpath(inputs), os.path.realpath(inputs.parent))
    others = not target.is_dir() or any(p.suffix != ".parquet" for p in target.iterdir())
    if same or others:
        raise InputError(
            f"{target} is no folder that holds part files of a release alone. Give another "
            "--output."
        )


def anonymize_large(
    table: StoredTable,
    file: Path,
    target: Path,
    asked: AskedFor,
    *,
    schema: Path | None,
    seed: int | None,
    save_key: Path | None,
    choices: Mapping[str, Any],
    options: MethodOptions,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Release a table from its files, or explain how that would be done."""
    from icsa.cli.console import stages
    from icsa.cli.release_summary import print_release, print_release_json
    from icsa.release.blocks.block_preparing import row_by_row
    from icsa.release.blocks.large_runs import Resources, anonymize_stored, write_file, write_parts
    from icsa.schema import NO_DESIGN

    is_file = not is_folder_of_parts(target)
    resources = Resources(
        memory=int(_allowed(asked)),
        scratch=asked.scratch or target.parent,
        workers=asked.workers,
        resume=asked.resume,
    )
    if asked.explain:
        _print_explanation(table, resources)
        return
    from icsa.cli.arguments import naming_the_file, schema_of

    key = _key(seed, save_key, resume=asked.resume)
    run = _run(table, file, schema, key, choices, options, resumable=_is_kept(seed, save_key))
    _tell_leftovers(resources, run, resumable=run.resumable, quiet=quiet or as_json)
    said = row_by_row(choices)
    with stages(table.n_rows * len(table.names), quiet=quiet or as_json) as progress:

        def write(passes: Any, cells: Any) -> None:
            if is_file:
                write_file(cells, table.n_rows, target, lambda share: passes.told("writing", share))
            else:
                write_parts(passes, cells, table, target, force=force)

        with naming_the_file(file), _kept_key(save_key, key), _cluster(asked) as dask:
            given: Schema | None = schema_of(schema, table.without_rows())
            made: Release = anonymize_stored(
                table,
                key,
                write,
                replace(resources, dask=dask),
                run,
                schema=given,
                choices=said,
                options=options,
                told=progress,
            )
    if as_json:
        print_release_json(made, target)
    elif not quiet:
        print_release(made, table.without_rows(), NO_DESIGN, file, target, save_key)


def _print_explanation(table: StoredTable, resources: Resources) -> None:
    """Print the passes and their sizes."""
    from rich.table import Table as Grid

    from icsa.cli.console import console, print_line
    from icsa.release.blocks.explained_passes import explained
    from icsa.release.blocks.ground import memory_of_a_column
    from icsa.release.blocks.large_runs import ground_for

    ground, show = ground_for(table, resources), console()
    print_line(
        show,
        f"{table.n_rows:,} rows, {len(table.names):,} columns in {len(table.parts):,} file(s): "
        f"{table.n_bytes / 1e9:.3g} GB as numbers. Blocks of {ground.block_rows:,} rows; a task on "
        f"a column takes up to {memory_of_a_column(table.n_rows) / 1e9:.2g} GB; scratch up to "
        f"{2.5 * table.n_bytes / 1e9:.3g} GB in {resources.scratch}.",
    )
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for heading in ("pass", "tasks", "what it does", "GB read", "GB written"):
        grid.add_column(heading, justify="right" if heading.startswith("GB") else "left")
    for row in explained(table.n_rows, len(table.names), ground.block_rows):
        grid.add_row(*row)
    show.print(grid)


def _key(seed: int | None, save_key: Path | None, *, resume: bool) -> Key:
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


def _is_kept(seed: int | None, save_key: Path | None) -> bool:
    return seed is not None or save_key is not None


def _run(
    table: StoredTable,
    file: Path,
    schema: Path | None,
    key: Key,
    choices: Mapping[str, Any],
    options: MethodOptions,
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
        "schema": None if schema is None else fingerprint(schema),
        "choices": dict(choices),
        "options": dict(options),
    }
    return Run(facts, key, resumable=resumable)


def _tell_leftovers(resources: Resources, run: Run, *, resumable: bool, quiet: bool) -> None:
    """Say what killed runs left, and why there is nothing to go on with."""
    from icsa.release.blocks.scratch_runs import leftovers

    if quiet:
        return
    for sentence in leftovers(resources.scratch, run):
        print(f"icsa: {sentence}", file=sys.stderr)
    if resources.resume and not resumable:
        print(
            "icsa: --resume needs --seed or --save-key, because a fresh key is kept nowhere: "
            "starting anew.",
            file=sys.stderr,
        )


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
def _cluster(asked: AskedFor) -> Iterator[Any]:
    """Give a client of the cluster that was asked for; None for none."""
    if asked.dask is None:
        yield None
        return
    from icsa.jobs.dask_cluster import connected

    with connected(asked.dask, asked.workers) as client:
        yield client


def write_key(path: Path, secret: bytes) -> None:
    """Write the key as a line of hexadecimal digits that only its owner may read."""
    from icsa.files import write_atomically

    def write(beside: Path) -> None:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secret.hex() + "\n")

    write_atomically(path, write)


def parsed_size(text: str) -> float:
    """Return the bytes of a size such as 4GB or 500 MB.

    Examples
    --------
    >>> parsed_size("4GB"), parsed_size("1.5 gib")
    (4000000000.0, 1610612736.0)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(I?)B?\s*", text.upper())
    if found is None or float(found[1]) == 0.0:
        raise InputError(f"--memory {text!r} is no size. Give one such as 4GB or 500MB.")
    power = " KMGT".index(found[2] or " ")
    return float(found[1]) * (1024.0**power if found[3] else _UNITS[found[2]])

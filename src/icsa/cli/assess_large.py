"""``icsa assess`` of tables that do not fit in memory: what is chosen, refused and said."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from icsa.errors import InputError

if TYPE_CHECKING:
    from icsa.assessment import Assessment
    from icsa.assessment.blocks import Wanted
    from icsa.release.blocks.large_runs import Resources
    from icsa.tables.stored import StoredTable

__all__ = ["Means", "StoredPair", "assess_large", "stored_pair"]

# How often both tables lie in memory at the widest, as numbers; measured.
_TABLES_IN_MEMORY = 4


class Means(NamedTuple):
    """Options that say what an assessment of large tables may use."""

    memory: str | None = None
    workers: int = 1
    dask: str | None = None
    scratch: Path | None = None

    @property
    def option(self) -> str:
        """An option that only such tables have a use for; empty where none was given."""
        given = {"--workers": self.workers > 1, "--dask": self.dask, "--scratch": self.scratch}
        return next((option for option, value in given.items() if value), "")

    @property
    def allowed(self) -> float:
        """Bytes that data may take."""
        if self.memory is not None:
            from icsa.cli.large_inputs import parsed_size

            return parsed_size(self.memory)
        from icsa.release.blocks.ground import free_memory

        return free_memory()


class StoredPair(NamedTuple):
    """An original and a release that are assessed from their files."""

    original: StoredTable
    released: StoredTable


def stored_pair(original: Path, released: Path, means: Means) -> StoredPair | None:
    """Return both tables where they are assessed from files; None where they are to be read.

    Tables in several files are; those in one file of Parquet each are where they do not fit, or
    where somebody asks for workers.
    """
    files = original, released
    if not all(_is_parquet(file) for file in files):
        _require_fitting(files, means)
        return None
    several = [file for file in files if _is_several(file)]
    if not several and not all(file.is_file() for file in files):
        return None  # told where files are read
    from icsa.limits import LONG
    from icsa.tables.stored import parquet_parts, stored_parquet

    pair = StoredPair(*(stored_parquet(parquet_parts(file)) for file in files))
    needed = _TABLES_IN_MEMORY * sum(table.n_bytes for table in pair)
    if not several and not means.option and needed <= means.allowed:
        return None
    if pair.original.n_rows <= LONG:
        what = f"{several[0]}: part files are" if several else f"{means.option} is"
        if not several and not means.option:
            return None  # few people beside a huge release: told where it does not fit
        raise InputError(
            f"{what} for originals of more than {LONG:,} rows, and this one has "
            f"{pair.original.n_rows:,}. "
            + ("Write them as one file." if several else "Leave it out.")
        )
    return pair


def _is_several(file: Path) -> bool:
    return file.is_dir() or (not file.exists() and bool(set("*?[") & set(file.name)))


def _is_parquet(file: Path) -> bool:
    return _is_several(file) or file.suffix in (".parquet", ".pq")


def _require_fitting(files: tuple[Path, Path], means: Means) -> None:
    """Refuse tables in other formats that do not fit, before they are read."""
    other = next(file for file in files if not _is_parquet(file))
    if means.option:
        raise InputError(
            f"{means.option} is for Parquet files, and {other.name} is none. Leave it out, or "
            "write the table as Parquet first."
        )
    several = [file for file in files if _is_several(file)]
    if several:
        raise InputError(
            f"{several[0]} is read as Parquet files, and {other.name} is none. Write that as "
            "Parquet, too."
        )
    sizes = [file.stat().st_size for file in files if file.is_file() and file.suffix != ".gz"]
    if _TABLES_IN_MEMORY * sum(sizes) > means.allowed:
        raise InputError(
            f"{files[0].name} and {files[1].name} are {sum(sizes) / 1e9:.2g} GB, more than fits in "
            "memory. Write both as Parquet, which is read column by column, or give --memory more."
        )


def assess_large(
    pair: StoredPair,
    files: tuple[Path, Path],
    means: Means,
    refused: Mapping[str, Any],
    design: Mapping[str, Any],
    *,
    schema: Path | None,
    named: Mapping[str, Path | None],
    quiet: bool,
    **wanted: Any,
) -> Assessment:
    """Return the assessment of tables in files.

    Parameters
    ----------
    pair : StoredPair
    files : (Path, Path)
        As they were given.
    means : Means
    refused : mapping of str to object
        Options that need the tables in memory, and what was given for them.
    design : mapping
        What was said of the rows.
    schema : Path, optional
    named : mapping of str to Path
        Other files, by their roles.
    quiet : bool
    **wanted
        As `icsa.assessment.blocks.large_assessing.Wanted` takes it.
    """
    from icsa.assessment.blocks import Wanted, assess_stored
    from icsa.cli.arguments import naming_the_file, schema_of
    from icsa.cli.console import stages
    from icsa.release.blocks.large_runs import Resources

    _require_possible(refused, design)
    resources = Resources(
        memory=int(means.allowed),
        scratch=means.scratch or Path.cwd(),
        workers=means.workers,
    )
    _say(pair, resources, quiet=quiet)
    cells = sum(table.n_rows * len(table.names) for table in pair)
    with ExitStack() as stack:
        progress = stack.enter_context(stages(cells, quiet=quiet))
        stack.enter_context(naming_the_file(files[0]))
        if means.dask is not None:
            from icsa.jobs.dask_cluster import connected

            client = stack.enter_context(connected(means.dask, means.workers))
            resources = replace(resources, dask=client)
        asked: Wanted = Wanted(
            schema=schema_of(schema, pair.original.without_rows()),
            every_row_a_person=design.get("unit") is False,
            files=named,
            **wanted,
        )
        return assess_stored(*pair, resources, asked, progress)


def _require_possible(refused: Mapping[str, Any], design: Mapping[str, Any]) -> None:
    """Refuse what takes the tables in memory, in a sentence that says what to do."""
    said = {f"--{key}": value for key, value in design.items() if value}
    option = next((name for name, value in {**refused, **said}.items() if value), None)
    if option is not None:
        raise InputError(
            f"{option} needs the tables in memory, and these are assessed from their files. Leave "
            "it out, or give --memory more than four times the size of both tables."
        )


def _say(pair: StoredPair, resources: Resources, *, quiet: bool) -> None:
    """Say what will be done, and what killed runs left."""
    if quiet:
        return
    from icsa.randomness import as_key
    from icsa.release.blocks.scratch_runs import Run, leftovers

    for sentence in leftovers(resources.scratch, Run({}, as_key(None), resumable=False)):
        print(f"icsa: {sentence}", file=sys.stderr)
    first, second = (table.n_rows for table in pair)
    size = sum(table.n_bytes for table in pair) / 1e9
    print(
        f"icsa: assessing {first:,} and {second:,} rows from their files: up to {1.5 * size:.2g} "
        f"GB of scratch in {resources.scratch}",
        file=sys.stderr,
    )

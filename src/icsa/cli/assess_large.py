"""``icsa assess`` of tables that do not fit in memory: what is chosen, refused and said."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from icsa.cli.large_inputs import (
    ALWAYS_FITS,
    MOST_A_BYTE,
    known_kind,
    parsed_size,
    text_table,
)
from icsa.errors import ICSAError, InputError
from icsa.files import is_several
from icsa.limits import LONG

if TYPE_CHECKING:
    from icsa.assessment import Assessment
    from icsa.assessment.blocks import Wanted
    from icsa.assessment.blocks.made_again import MadeBy
    from icsa.assessment.blocks.text_sources import Source
    from icsa.cli.making import Making
    from icsa.release import Plan
    from icsa.release.blocks.ground import Resources
    from icsa.release.design_plans import DesignPlan
    from icsa.schema import Schema
    from icsa.tables import Table
    from icsa.tables.stored import StoredTable

__all__ = [
    "Means",
    "StoredPair",
    "assess_large",
    "other_release",
    "scratch_of",
    "source_of",
    "stored_pair",
]

# How often both tables lie in memory at the widest, as numbers; measured.
_TABLES_IN_MEMORY = 4
# How often they lie in scratch at most, beside the sample; measured. With two rows a person, twice.
_SCRATCH, _UNIT_SCRATCH = 1.2, 2.2


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
            return parsed_size(self.memory)
        from icsa.release.blocks.ground import free_memory

        return free_memory()

    @property
    def resources(self) -> Resources:
        """The same for passes, but for a cluster; scratch is here if nobody says where."""
        from icsa.release.blocks.ground import Resources

        scratch = self.scratch or Path.cwd()
        return Resources(memory=int(self.allowed), scratch=scratch, workers=self.workers)


class StoredPair(NamedTuple):
    """An original and a release that are assessed from their files."""

    original: Source
    released: Source


def stored_pair(
    original: Path, released: Path, means: Means, reading: Mapping[str, Any]
) -> StoredPair | None:
    """Return both tables where they are assessed from files; None where they are to be read.

    Long tables in several files are; those in one file each, of Parquet or text, are where they do
    not fit, or where somebody asks for workers.
    """
    files = original, released
    if not all(is_several(file) or file.is_file() for file in files):
        return None  # told where files are read
    if any(_format(file) is None for file in files):
        _require_fitting(files, means)
        return None
    chosen = means.option or any(map(is_several, files))
    if not chosen and _TABLES_IN_MEMORY * sum(map(_most_bytes, files)) <= means.allowed:
        return None
    pair = StoredPair(*(source_of(file, reading) for file in files))
    needed = _TABLES_IN_MEMORY * sum(table.n_bytes for table in pair)
    if not chosen and needed <= means.allowed:
        return None
    if pair.original.n_rows > LONG:
        return pair
    if needed <= max(means.allowed, ALWAYS_FITS):
        return None
    raise InputError(
        f"{original.name} and {released.name} take {needed / 1e9:.2g} GB, more than fits in "
        f"memory, where originals of up to {LONG:,} rows are assessed. Give --memory more."
    )


def _format(file: Path) -> Literal["parquet", "csv"] | None:
    """Return how a table is stored that need not fit; None for other formats."""
    kind = None if is_several(file) else known_kind(file)
    if is_several(file) or (kind is not None and kind.file_format == "parquet"):
        return "parquet"
    return "csv" if kind is not None and kind.file_format == "csv" else None


def _most_bytes(file: Path) -> float:
    """Return what a table takes in memory at most, by a glance at its file."""
    if _format(file) == "parquet":
        return _parquet(file).n_bytes
    from icsa.files import require_readable
    from icsa.tables import file_kind
    from icsa.tables.text_streams import expanded_size

    require_readable(file)
    return MOST_A_BYTE * expanded_size(file, compressed=file_kind(file).compressed)


def source_of(file: Path, reading: Mapping[str, Any]) -> Source:
    """Return a table in CSV or Parquet files, to be read block by block."""
    if _format(file) == "parquet":
        return _parquet(file)
    from icsa.tables import file_kind

    return text_table(file, file_kind(file), reading)


def _parquet(file: Path) -> StoredTable:
    from icsa.tables.stored import parquet_parts, stored_parquet

    return stored_parquet(parquet_parts(file))


def _require_fitting(files: tuple[Path, Path], means: Means) -> None:
    """Refuse tables of which one is in another format and which do not fit, before reading."""
    from icsa.tables.stored import files_of

    sizes = [part.stat().st_size for file in files for part in files_of(file)]
    if _TABLES_IN_MEMORY * sum(sizes) > max(means.allowed, ALWAYS_FITS):
        raise InputError(
            f"{files[0].name} and {files[1].name} are {sum(sizes) / 1e9:.2g} GB, more than fits in "
            "memory. Write both as CSV or Parquet, which need not fit, or give --memory more."
        )


def other_release(file: Path, reading: Mapping[str, Any]) -> Source:
    """Return another release, to be compared with from its files."""
    if not is_several(file):
        from icsa.files import require_readable

        require_readable(file)
    if _format(file) is None:
        raise InputError(
            f"{file.name}: beside tables that are assessed from their files, another release is "
            "CSV or Parquet. Write it so first."
        )
    return source_of(file, reading)


def assess_large(
    pair: StoredPair,
    files: tuple[Path, Path],
    means: Means,
    making: Making,
    design: Mapping[str, Any],
    *,
    against: Source | None,
    also_released: Path | None,
    schema: Path | None,
    named: Mapping[str, Path | None],
    quiet: bool,
    alone: bool = True,
    **wanted: Any,
) -> Assessment:
    """Return the assessment of tables in files.

    Parameters
    ----------
    pair : StoredPair
    files : (Path, Path)
        As they were given.
    means, making, design
        What may be used, how the release was made, and what was said of the rows.
    against : StoredTable or TextTable, optional
        Another release.
    also_released : Path, optional
        Refused.
    schema : Path, optional
    named : mapping of str to Path
        Other files, by their roles.
    quiet : bool
    alone : bool
        Whether the command does nothing else: one that does has told what killed runs left.
    **wanted
        As `icsa.assessment.blocks.large_assessing.Wanted` takes it.
    """
    from icsa.assessment import making_of
    from icsa.assessment.blocks import Wanted, assess_stored
    from icsa.cli.arguments import naming_the_file, schema_of
    from icsa.cli.console import stages
    from icsa.cli.large_tables import cluster

    _require_possible(also_released)
    resources = means.resources
    sources, others = list(pair), () if against is None else against.parts
    if against is not None:
        sources.append(against)
    if not quiet:
        if alone:
            _tell_leftovers(resources.scratch)
        _say(sources, resources.scratch, scratch_of(sources, design, schema))
    cells = sum(table.n_rows * len(table.names) for table in sources)
    wanted["made_by"] = _made_by(making, wanted["rehearse"] or wanted["redraws"])
    wanted["making"] = None if making.release is None else making_of(making.release)
    with (
        stages(cells, quiet=quiet) as progress,
        naming_the_file(*files, *others),
        cluster(means.dask, means.workers) as dask,
    ):

        def asked(original: Table) -> Wanted:
            return Wanted(schema=schema_of(schema, original), design=design, files=named, **wanted)

        given = replace(resources, dask=dask)
        return assess_stored(*pair, given, asked, progress, against=against)


def _made_by(making: Making, again: int | None) -> MadeBy | None:
    """Return how to plan the release of a sample as the release was made, where that is asked."""
    if not (again or making.told):
        return None

    def plan(sample: Table, schema: Schema) -> tuple[Plan | DesignPlan | None, str]:
        try:
            made, _, note = making.plan(sample, schema, {}, what="a sample of this original")
        except ICSAError as error:
            if again or making.release is None:
                raise
            why = str(error).split(". ")[0].rstrip(".")
            return None, f"Neither rehearsed nor tried under fresh keys: of a sample, {why}."
        return made, note

    return plan


def _require_possible(also_released: Path | None) -> None:
    """Refuse what takes the tables in memory, in a sentence that says what to do."""
    if also_released is not None:
        raise InputError(
            "--also-released looks for scores that both releases have, in tables of up to 100,000 "
            "rows: samples of two releases have none in common. Leave it out."
        )


def _tell_leftovers(scratch: Path) -> None:
    """Say what killed runs left."""
    from icsa.randomness import as_key
    from icsa.release.blocks.scratch_runs import Run, leftovers

    for sentence in leftovers(scratch, Run({}, as_key(None), resumable=False)):
        print(f"icsa: {sentence}", file=sys.stderr)


def _say(tables: Sequence[Source], scratch: Path, n_bytes: float) -> None:
    """Say what will be done, in how much scratch."""
    rows = " and ".join(_rows_said(table) for table in tables)
    print(
        f"icsa: assessing {rows} rows from their files: up to {n_bytes / 1e9:.2g} GB of "
        f"scratch in {scratch}",
        file=sys.stderr,
    )


def _rows_said(table: Source) -> str:
    """Return the number of rows, which are known about where cells of text may hold line ends."""
    from icsa.assessment.blocks.text_sources import rows_for_sure

    return f"{table.n_rows:,}" if rows_for_sure(table) else f"about {table.n_rows:,}"


def scratch_of(tables: Sequence[Source], design: Mapping[str, Any], schema: Path | None) -> float:
    """Return the bytes of scratch that an assessment of tables takes at most.

    A schema may say that people have several rows, where no option does.
    """
    unit = design.get("unit")
    may_have_units = bool(unit) or (unit is None and schema is not None)
    times = _UNIT_SCRATCH if may_have_units else _SCRATCH
    return sum(_scratch_bytes(table, times) for table in tables)


def _scratch_bytes(table: Source, times: float) -> float:
    """Return what scratch takes of a table at most: numbers, a sample, and the cells of text."""
    from icsa.assessment.blocks.large_comparison import SAMPLED_ROWS
    from icsa.tables.stored import StoredTable

    sampled = min(table.n_rows, SAMPLED_ROWS)
    numbers = 8 * (times * table.n_rows + sampled) * len(table.names)
    return numbers if isinstance(table, StoredTable) else numbers + table.n_bytes

"""Which tables ``icsa anonymize`` releases from their files: those that would not fit in memory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from icsa.errors import InputError
from icsa.files import is_several
from icsa.limits import LONG, TABLES_IN_MEMORY

if TYPE_CHECKING:
    from icsa.release.blocks.text_tables import TextTable
    from icsa.tables.base import FileKind
    from icsa.tables.stored import StoredTable

__all__ = [
    "ALWAYS_FITS",
    "MOST_A_BYTE",
    "AskedFor",
    "allowed_bytes",
    "known_kind",
    "large_table",
    "parsed_size",
    "text_table",
    "written_as",
]

# Bytes of data that are taken to fit whatever is said, as the program itself takes as many.
ALWAYS_FITS = 250e6
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
# Bytes of memory for a byte of text at most: cells of one digit, and what separates them.
MOST_A_BYTE = 4.0


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
        }
        return next((option for option, value in given.items() if value), "")


def large_table(
    file: Path, asked: AskedFor, reading: Mapping[str, Any]
) -> StoredTable | TextTable | None:
    """Return a table that is to be released from its files; None for one that is to be read.

    Long tables in several files are; one in a file of Parquet or text is where it does not fit, or
    where somebody asks for workers.
    """
    several = is_several(file)
    allowed = allowed_bytes(asked)
    if not several and not file.is_file():
        return None  # told where files are read
    kind = None if several else known_kind(file)
    if kind is not None and kind.file_format == "csv":
        return _large_text(file, kind, asked, reading, allowed)
    if not several and (kind is None or kind.file_format != "parquet"):
        _require_fitting(file, allowed)
        return None
    from icsa.tables.stored import parquet_parts, stored_parquet

    table = stored_parquet(parquet_parts(file))
    if table.n_rows <= LONG:
        _require_room(file, TABLES_IN_MEMORY * table.n_bytes, allowed)
        return None
    if several or asked.option or TABLES_IN_MEMORY * table.n_bytes > allowed:
        return table
    return None


def known_kind(file: Path) -> FileKind | None:
    """Return what the name of a file says; None where it says nothing."""
    from icsa.tables import file_kind

    try:
        return file_kind(file)
    except InputError:
        return None


def written_as(target: Path) -> Path:
    """Return a name whose suffix says the format of a release, which is Parquet in part files."""
    return Path("part.parquet") if known_kind(target) is None else target


def _require_room(file: Path, needed: float, allowed: float) -> None:
    """Refuse a table with few rows, which is released in memory alone, if it does not fit there."""
    if needed > max(allowed, ALWAYS_FITS):
        raise InputError(
            f"{file} takes {needed / 1e9:.2g} GB, more than fits in memory, where tables of up "
            f"to {LONG:,} rows are released. Leave columns out, or give --memory more."
        )


def _large_text(
    file: Path, kind: FileKind, asked: AskedFor, reading: Mapping[str, Any], allowed: float
) -> TextTable | None:
    """Return a text file that does not fit, or is to be worked on by workers."""
    from icsa.files import require_readable
    from icsa.tables.text_streams import expanded_size

    require_readable(file)
    needed = TABLES_IN_MEMORY * expanded_size(file, compressed=kind.compressed)
    # Short cells take more in memory than in the file; most that is spared is spared here.
    if not asked.option and MOST_A_BYTE * needed <= allowed:
        return None
    table = text_table(file, kind, reading)
    needed = TABLES_IN_MEMORY * table.n_bytes
    if table.n_rows <= LONG:
        _require_room(file, needed, allowed)
        return None
    return table if asked.option or needed > allowed else None


def text_table(file: Path, kind: FileKind, reading: Mapping[str, Any]) -> TextTable:
    """Return a text file after a look through all of it, to be read by the options given."""
    from icsa.release.blocks.text_tables import TextTable
    from icsa.tables.base import ReadingOptions
    from icsa.tables.text_streams import look_through

    options = ReadingOptions(reading["separator"], reading["decimal"], reading["encoding"])
    looked = look_through(file, compressed=kind.compressed, encoding=options.encoding)
    return TextTable(looked, kind, options)


def allowed_bytes(asked: AskedFor) -> float:
    """Return the bytes that data may take."""
    if asked.memory is not None:
        return parsed_size(asked.memory)
    from icsa.release.blocks.ground import free_memory

    return free_memory()


def _require_fitting(file: Path, allowed: float) -> None:
    """Refuse files of other formats that do not fit, before they are read."""
    size = file.stat().st_size
    if TABLES_IN_MEMORY * size > max(allowed, ALWAYS_FITS):
        raise InputError(
            f"{file} is {size / 1e9:.2g} GB, more than fits in memory as a {file.suffix} file. "
            "Write it as CSV or Parquet, which need not fit, or give --memory more."
        )


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

"""What was handed in: files with their fingerprints, when, and who answers for it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from icsa.errors import UnknownNameError
from icsa.files import fingerprint
from icsa.tables import Origin, Table
from icsa.tables.stored import files_of

__all__ = ["ROLES", "HandedFile", "HandedIn", "handed_in"]

# What a file can be, in the order in which they are told.
ROLES = (
    "original",
    "release",
    "schema",
    "policy",
    "people to look at",
    "other release",
    "holdout",
    "also released",
)


@dataclass(frozen=True)
class HandedFile:
    """A file by its role; no name for a data frame, no fingerprint for a file that has changed."""

    role: str
    name: str = ""
    sha256: str | None = None


@dataclass(frozen=True)
class HandedIn:
    """What an assessment rests on, and who answers for it.

    Attributes
    ----------
    files : tuple of HandedFile
        In the order of `ROLES`; names without folders.
    date : str
        When the assessment was made, in UTC.
    prepared_by, decided_by : str
        As given; empty: to be filled in by hand.
    """

    files: tuple[HandedFile, ...]
    date: str
    prepared_by: str = ""
    decided_by: str = ""


def handed_in(
    tables: Mapping[str, Table | None],
    files: Mapping[str, str | Path | None] | None = None,
    *,
    prepared_by: str = "",
    decided_by: str = "",
) -> HandedIn:
    """Return what was handed in.

    Parameters
    ----------
    tables : mapping of str to Table
        By role. A table that was read from a file has that file's name and fingerprint.
    files : mapping of str to str or Path, optional
        By role: files of tables that are frames here, and others, such as the schema.
    prepared_by, decided_by : str
        Names for the report.

    Examples
    --------
    >>> import polars as pl
    >>> found = handed_in({"original": Table(pl.DataFrame({"age": [41, 39]}))})
    >>> found.files
    (HandedFile(role='original', name='', sha256=None),)
    """
    known = {role: None for role, table in tables.items() if table is not None}
    given = {role: Path(path) for role, path in (files or {}).items() if path is not None}
    for role in given:
        if role not in ROLES:
            raise UnknownNameError("role of a file", role, ROLES)
    found: list[HandedFile] = []
    for role in ROLES:
        if role in given:
            parts = files_of(given[role])
            found.extend(HandedFile(role, part.name, fingerprint(part)) for part in parts)
        elif role in known:
            table = tables[role]
            found.extend(_of_table(role, None if table is None else table.origin))
    return HandedIn(tuple(found), _now(), prepared_by.strip(), decided_by.strip())


def _of_table(role: str, origin: Origin | None) -> list[HandedFile]:
    """Return the files of a table: without fingerprints where they are not as they were read."""
    if origin is None:
        return [HandedFile(role)]
    try:
        found = [HandedFile(role, part.name, fingerprint(part)) for part in origin.parts]
        same = Origin.of(origin.path, origin.parts) == origin
    except OSError:
        same = False
    return found if same else [HandedFile(role, part.name) for part in origin.parts]


def _now() -> str:
    """Return the time, or the one that a build which is to be repeated asks for."""
    asked = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(asked), UTC) if asked.isdecimal() else datetime.now(UTC)
    return moment.strftime("%Y-%m-%d %H:%M UTC")

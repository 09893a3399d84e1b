"""Tables to be assessed that are text: read into scratch first, each into a folder of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from icsa.release.blocks.ground import Resources
from icsa.release.blocks.passes import Passes
from icsa.release.blocks.scratch import Scratch
from icsa.release.blocks.text_tables import TextTable
from icsa.tables.stored import StoredTable

__all__ = [
    "Source",
    "Told",
    "after_reading",
    "drop_all_but_text",
    "rows_for_sure",
    "stored_sources",
]

Source: TypeAlias = StoredTable | TextTable
Told: TypeAlias = Callable[[str, float], None]

# Of the time of an assessment, what one table of text takes to be read: measured on 1,000,000 rows.
_A_TEXT = 0.1
# Of that, what is done when its columns are typed.
_READ = 0.7
# How folders of cells from text end.
_TEXT = " text"


def rows_for_sure(source: Source) -> bool:
    """Return whether the number of rows is known before a table is read."""
    return isinstance(source, StoredTable) or not source.file.quoted


def stored_sources(
    passes: Passes, sources: Mapping[str, Source], resources: Resources, told: Told
) -> dict[str, StoredTable]:
    """Return tables in files by their roles; those of text are read into scratch, as for a release.

    Parameters
    ----------
    passes : Passes
    sources : mapping of str to StoredTable or TextTable
        By role.
    resources : Resources
        What the passes may use.
    told : function
        Called with what is done and the share of the whole assessment before it.

    Raises
    ------
    InputError
        As where files are read into memory, and in the same words.
    """
    found: dict[str, StoredTable] = {}
    before = 0.0
    for role, source in sources.items():
        if isinstance(source, StoredTable):
            found[role] = source
            continue
        folder = passes.scratch.folder / f"{role}{_TEXT}"
        folder.mkdir()
        own = replace(passes, scratch=Scratch(folder, 0), told=_telling(told, before))
        found[role] = source.stored(own, resources)
        before += _A_TEXT
    return found


def after_reading(told: Told, sources: Mapping[str, Source]) -> Told:
    """Return whom to tell of what follows the reading of text, by its share of what follows."""
    before = _A_TEXT * sum(isinstance(source, TextTable) for source in sources.values())
    return lambda stage, share: told(stage, before + (1.0 - before) * share)


def drop_all_but_text(folder: Path) -> None:
    """Remove from scratch what was found and computed, but no cells that were read from text."""
    for path in folder.iterdir():
        if path.is_dir() and not path.name.endswith(_TEXT):
            shutil.rmtree(path)


def _telling(told: Told, before: float) -> Told:
    def tell(name: str, share: float) -> None:
        done = _READ * share if name == "reading" else _READ + (1.0 - _READ) * share
        told("reading text", before + _A_TEXT * done)

    return tell

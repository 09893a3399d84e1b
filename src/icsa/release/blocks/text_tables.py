"""A text file that does not fit, as a stored table: the passes that read and type its columns."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from icsa.errors import InputError
from icsa.release.blocks.ground import Resources
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import Scratch
from icsa.tables import text_reading
from icsa.tables.base import FileKind, ReadingOptions
from icsa.tables.spooled_text import (
    SpooledText,
    TypedColumn,
    conventions_again,
    header_of,
    spool_text,
    store_columns,
    stored_text,
    type_again,
    type_column,
    type_signs,
)
from icsa.tables.stored import StoredColumns
from icsa.tables.text_streams import TextFile

__all__ = ["TextTable"]

# Text that is parsed at a time: a sixteenth of what data may take, as its cells take several times
# as much; more makes nothing faster, and less has polars start too often.
_SHARE, _LEAST, _MOST = 16, 1 << 20, 1 << 24
# Columns of strings that typing one holds at a time. Measured: 2 to 3.6, and 5.3 for durations.
_STRINGS_AT_A_TIME = 3.6


@dataclass(frozen=True)
class TextTable:
    """A text file that was looked through, and how it is to be read.

    Attributes
    ----------
    file : TextFile
    kind : FileKind
    options : ReadingOptions
    """

    file: TextFile
    kind: FileKind
    options: ReadingOptions

    @property
    def parts(self) -> tuple[Path, ...]:
        """The file itself."""
        return (self.file.path,)

    @property
    def n_rows(self) -> int:
        """Rows, where no cell holds line ends; fewer where some do."""
        return self.file.n_lines - 1

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, by the header."""
        return tuple(header_of(self.file, self.options).names)

    @property
    def n_bytes(self) -> int:
        """What the cells take in memory: their text, or eight bytes each."""
        return max(self.file.size, 8 * self.n_rows * len(self.names))

    def stored(self, passes: Passes, resources: Resources) -> StoredColumns:
        """Return the table, its columns in scratch; what is there already is not read again.

        Raises
        ------
        InputError
            As where files are read into memory, and in the same words.
        """
        spooled = _kept(passes, "reading", partial(self._spooled, passes, resources.memory))
        if isinstance(spooled, StoredColumns):
            return spooled
        passes = replace(passes, columns_at_a_time=_typed_at_a_time(spooled, resources))
        names = spooled.names
        columns: list[TypedColumn] = _over(passes, "typing", type_column, spooled, names)
        shutil.rmtree(spooled.folder / "blocks", ignore_errors=True)
        doubtful = [name for name, one in zip(names, columns, strict=True) if one.doubtful]
        if not doubtful:
            return stored_text(spooled, columns, {}, None)
        signs = _over(passes, "typing, marks", type_signs, spooled, doubtful)
        again = conventions_again(spooled, columns, signs)
        if again is None:
            return stored_text(spooled, columns, {}, None)
        found = _over(passes, "typing again", type_again, spooled, doubtful, again)
        typed = {n: one for n, one in zip(doubtful, found, strict=True) if one is not None}
        return stored_text(spooled, columns, typed, again)

    def _spooled(self, passes: Passes, memory: int) -> SpooledText | StoredColumns:
        folder = passes.scratch.folder / "original"
        if self.file.size <= text_reading.SMALL:
            table = text_reading.read_text(self.file.path, self.kind, self.options)
            return store_columns(table, self.file.path, folder)
        return spool_text(
            self.file,
            self.kind,
            self.options,
            folder,
            n_bytes=min(max(memory // _SHARE, _LEAST), _MOST),
            told=lambda share: passes.told("reading", share),
        )


def _typed_at_a_time(spooled: SpooledText, resources: Resources) -> int:
    """Return how many columns are typed at a time; refuse strings that do not fit."""
    name, n_bytes = spooled.widest
    needed = _STRINGS_AT_A_TIME * n_bytes
    found = resources.at_a_time(needed)
    if found:
        return found
    raise InputError(
        f"Column {name!r} takes {needed / 1e9:.3g} GB as text while it is looked at, and "
        f"{resources.memory / resources.fewest / 1e9:.3g} GB may be taken. Give --memory more or "
        "fewer --workers, or take the column out of the file."
    )


def _kept(passes: Passes, name: str, find: Callable[[], Any]) -> Any:
    """Return what is found in this process, once."""
    passes.told(name, 0.0)
    if not passes.scratch.has(name):
        with passes.scratch.telling_of_room():
            passes.scratch.keep(name, find())
    return passes.scratch.kept(name)


def _over(
    passes: Passes,
    label: str,
    function: Callable[..., Any],
    spooled: SpooledText,
    names: Sequence[str],
    *more: Any,
) -> list[Any]:
    return passes.over(label, [Task(_call, (function, spooled, name, *more)) for name in names])


def _call(scratch: Scratch, function: Callable[..., Any], *arguments: Any) -> Any:
    with scratch.telling_of_room():
        return function(*arguments)

"""Tables in files of which one column at a time is read: for those that do not fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import polars as pl

from icsa.errors import InputError
from icsa.files import (
    folder_written_atomically,
    is_pattern,
    is_several,
    require_not_empty,
    require_readable,
    write_atomically,
)
from icsa.tables.arrow_files import (
    BROKEN,
    PARQUET,
    damaged,
    read_parquet_columns,
)
from icsa.tables.table import Layout, Table, Variable

__all__ = [
    "StoredColumns",
    "StoredTable",
    "files_of",
    "parquet_parts",
    "released_parts",
    "stored_parquet",
    "write_parts_of",
]

# Beside Parquet files they may well be parts of the same table; a note in .txt is none.
_TEXTS = frozenset({".csv", ".tsv"})


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StoredTable:
    """A table in one Parquet file or several, whose rows follow one another.

    Attributes
    ----------
    parts : tuple of Path
    rows : tuple of int
        How many each part has.
    dtypes : mapping of str to polars data type
    variables, layout
        As those of `Table`.
    """

    parts: tuple[Path, ...]
    rows: tuple[int, ...]
    dtypes: Mapping[str, pl.DataType]
    variables: Mapping[str, Variable] = field(default_factory=lambda: MappingProxyType({}))
    layout: Layout = field(default_factory=lambda: Layout("parquet"))

    @property
    def n_rows(self) -> int:
        """Rows of all parts."""
        return sum(self.rows)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.dtypes)

    @property
    def n_bytes(self) -> int:
        """What the cells take in memory, as numbers: eight bytes each."""
        return 8 * self.n_rows * len(self.dtypes)

    def column(self, name: str) -> Table:
        """Return a table of one column, all rows of it.

        Raises
        ------
        InputError
            A part cannot be read, or was changed since it was looked at first.
        """
        found = []
        for part, n_rows in zip(self.parts, self.rows, strict=True):
            try:
                cells = read_parquet_columns(part, [name])[name]
            except BROKEN:
                require_readable(part)
                raise InputError(damaged(part, "Parquet")) from None
            if len(cells) != n_rows:
                raise InputError(
                    f"{part} had {n_rows:,} rows at first and has {len(cells):,} now. Let no "
                    "program write to it while it is read, and begin again."
                )
            found.append(cells)
        found = [cells for cells in found if len(cells)] or found[:1]  # others have no types
        try:
            cells = pl.concat(found, rechunk=True) if len(found) > 1 else found[0].rechunk()
        except pl.exceptions.PolarsError:
            raise InputError(
                f"Column {name!r} has other ordered levels in some parts than in {self.parts[0]}. "
                "Write all parts with the same levels."
            ) from None
        return Table(cells.to_frame(), self.variables, self.layout)

    def all_columns(self) -> Table:
        """Return the table, all columns and rows of it; errors as `column` has them."""
        frame = pl.DataFrame([self.column(name).frame[name] for name in self.names])
        return Table(frame, self.variables, self.layout)

    def text_bytes(self, name: str) -> int:
        """Return what a column takes in memory if it is text, by a stream of its cells; 0 if not.

        Sixteen bytes a cell, and those of texts that these do not hold.
        """
        if self.dtypes[name] != pl.String:
            return 0
        lengths = pl.col(name).str.len_bytes()
        beyond, total = lengths.filter(lengths > 12).sum(), 16 * self.n_rows
        for part in self.parts:
            lazy = pl.scan_parquet(part, glob=False, hive_partitioning=False).select(beyond)
            try:
                total += int(lazy.collect(engine="streaming").item())
            except BROKEN:
                require_readable(part)
                raise InputError(damaged(part, "Parquet")) from None
        return total

    def let_go(self, names: Iterable[str]) -> None:
        """Say that the cells of some columns are not asked for any more."""

    def without_rows(self) -> Table:
        """Return a table with all columns and no row."""
        frame = pl.DataFrame(schema=dict(self.dtypes))
        return Table(frame, self.variables, self.layout)

    def __repr__(self) -> str:
        """Show the size only."""
        return f"<StoredTable of {self.n_rows} rows and {len(self.dtypes)} columns>"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StoredColumns(StoredTable):
    """A table whose columns are in files of their own, in a folder that is ours.

    Attributes
    ----------
    files : mapping of str to Path
        Parquet or Arrow, or numbers alone, not-a-number where missing.
    """

    files: Mapping[str, Path] = field(default_factory=lambda: MappingProxyType({}))

    def column(self, name: str) -> Table:
        """Return a table of one column, all rows of it."""
        path = self.files[name]
        if path.suffix == ".parquet":
            cells = pl.read_parquet(path, glob=False)[name].rechunk()
        elif path.suffix == ".arrow":
            cells = pl.read_ipc(path)[name].rechunk()
        else:
            cells = pl.Series(name, np.fromfile(path, count=self.n_rows))
            cells = cells.fill_nan(None) if cells.is_nan().any() else cells
        return Table(cells.to_frame(), self.variables, self.layout)

    def text_bytes(self, name: str) -> int:  # noqa: ARG002
        """Return 0: whoever stored the columns held each of them."""
        return 0

    def let_go(self, names: Iterable[str]) -> None:
        """Remove the files of columns that are not asked for any more."""
        for name in names:
            self.files[name].unlink(missing_ok=True)


def files_of(path: Path) -> tuple[Path, ...]:
    """Return the files that a name stands for: itself, whatever it is, or Parquet files."""
    return parquet_parts(path) if is_several(path) else (path,)


def parquet_parts(path: Path) -> tuple[Path, ...]:
    """Return the Parquet files that a name stands for: itself, those of a folder, or of a pattern.

    Raises
    ------
    InputError
        There are none, or there are others in folders below.
    """
    if path.is_dir():
        inside = sorted(p for p in path.iterdir() if not _is_hidden(p))
        _require_one_folder(path, [p for p in inside if p.is_dir() and not p.name.startswith("_")])
        found = [p for p in inside if p.suffix in PARQUET.suffixes and not p.is_dir()]
        texts = [p.name for p in inside if _TEXTS & set(p.suffixes)]
        if found and texts:
            raise InputError(
                f"{path} holds {texts[0]} besides Parquet files, which alone are read as one "
                f"table. Take it out, or give the pattern {path / '*.parquet'} in quotes."
            )
        if not found:
            raise InputError(
                f"{path} is a folder. Give the name of a file in it. Folders of Parquet files are "
                "read as one table; this one has none."
            )
        return tuple(found)
    if not is_pattern(path):
        require_readable(path)
        require_not_empty(path)
        return (path,)
    if is_pattern(path.parent):
        raise InputError(
            f"{path}: a pattern stands for files of one folder, not for folders. Put all part "
            "files into one folder."
        )
    asked = path.name.startswith((".", "_"))
    found = sorted(p for p in path.parent.glob(path.name) if asked or not _is_no_part(p))
    _require_one_folder(path, [p for p in found if p.is_dir()])
    if not found:
        raise InputError(f"No file is called {path}. Check the pattern, and quote it.")
    return tuple(found)


def released_parts(
    parts: Sequence[Path], rows: Sequence[int], starts: npt.NDArray[np.int64] | None = None
) -> list[tuple[str, slice]]:
    """Return the part files of a release by name, and which of its rows each has.

    Parameters
    ----------
    parts : sequence of Path
        Those of the original, whose names the release has, with their suffixes if need be.
    rows : sequence of int
        How many each of them has.
    starts : array, optional
        Where units begin among the released rows, and these end. No unit is in two parts, whose
        shares are as those of the original.

    Examples
    --------
    >>> released_parts([Path("a.parquet"), Path("b.pq")], [2, 3])
    [('a.parquet', slice(0, 2, None)), ('b.parquet', slice(2, 5, None))]
    >>> released_parts([Path("a.0"), Path("a.1")], [2, 3], np.array([0, 3, 6]))
    [('a.0.parquet', slice(0, 3, None)), ('a.1.parquet', slice(3, 6, None))]
    """
    stems = [part.stem for part in parts]
    names = stems if len(set(stems)) == len(stems) else [part.name for part in parts]
    ends = list(accumulate(rows))
    if starts is not None:
        wanted = np.floor(np.array(ends) / ends[-1] * int(starts[-1]))
        ends = [int(starts[place]) for place in np.searchsorted(starts, wanted)]
    return [
        (f"{name}.parquet", slice(start, end))
        for name, start, end in zip(names, [0, *ends], ends, strict=False)
    ]


def write_parts_of(
    frame: pl.DataFrame, parts: Sequence[Path], folder: Path, *, unit: str | None, force: bool
) -> None:
    """Write a released frame as part files, as its original is in; all or none.

    Parameters
    ----------
    frame : polars.DataFrame
    parts : sequence of Path
        Those of the original.
    folder : Path
    unit : str, optional
        The column that names units with several rows, of which none is in two parts.
    force : bool
        Whether a folder that is there is replaced.
    """
    starts = None
    if unit is not None:
        named = frame[unit].rle_id() if unit in frame else np.arange(frame.height)
        starts = np.append(np.flatnonzero(np.diff(named, prepend=-1)), frame.height)
    with folder_written_atomically(folder, force=force) as beside:
        for name, rows in released_parts(parts, stored_parquet(parts).rows, starts):
            write_atomically(beside / name, frame[rows].write_parquet)


def _require_one_folder(path: Path, folders: Sequence[Path]) -> None:
    """Refuse Parquet files in folders below: nobody would miss their rows in the release."""
    for folder in folders:
        if any(inside.suffix in PARQUET.suffixes for inside in folder.rglob("*")):
            raise InputError(
                f"{path} holds Parquet files in the folder {folder.name} too, and those of one "
                "folder are read as one table. Put all part files into one folder, under names of "
                "their own; what names of folders tell (year=2024) is to be a column in them."
            )


def _is_no_part(path: Path) -> bool:
    """Return whether a file is hidden, or one that Spark writes beside part files (_SUCCESS)."""
    return _is_hidden(path) or (path.name.startswith("_") and path.suffix not in PARQUET.suffixes)


def _is_hidden(path: Path) -> bool:
    """Return whether a name says that a file is none of the table's, such as one half-written."""
    return path.name.startswith(".")


def stored_parquet(parts: Sequence[Path]) -> StoredTable:
    """Return the table in Parquet files, after a look at what each says of itself.

    Raises
    ------
    InputError
        A file is damaged, or its columns are not those of the first, by name or by type.
    """
    rows, found = [], []
    for part in parts:
        require_readable(part)
        try:
            found.append(dict(read_parquet_columns(part, None, 0).schema))
            rows.append(int(pl.scan_parquet(part, glob=False).select(pl.len()).collect().item()))
        except BROKEN:
            raise InputError(damaged(part, "Parquet")) from None
    first = next((number for number, n_rows in enumerate(rows) if n_rows), 0)
    dtypes = {name: found[first].get(name, dtype) for name, dtype in found[0].items()}
    for number, (part, n_rows, schema) in enumerate(zip(parts, rows, found, strict=True), start=1):
        _require_alike(f"{part} (part {number})", schema, dtypes, typed=n_rows > 0)
    return StoredTable(parts=tuple(parts), rows=tuple(rows), dtypes=dtypes)


def _require_alike(
    where: str,
    schema: Mapping[str, pl.DataType],
    first: Mapping[str, pl.DataType],
    *,
    typed: bool,
) -> None:
    """Refuse a part with other columns than the first; one without rows has no types."""
    absent = [name for name in first if name not in schema]
    more = [name for name in schema if name not in first]
    if absent or more:
        what = f"has no column {absent[0]!r}" if absent else f"has a column {more[0]!r} besides"
        raise InputError(
            f"{where} {what}, other than the first part. Give all parts the same columns."
        )
    for name, dtype in first.items() if typed else ():
        levelled = isinstance(dtype, pl.Categorical | pl.Enum)
        alike = isinstance(schema[name], type(dtype)) if levelled else schema[name] == dtype
        if not alike:
            raise InputError(
                f"{where}: column {name!r} is of type {schema[name]}, and of type {dtype} in the "
                "first part. Give it one type in all parts."
            )

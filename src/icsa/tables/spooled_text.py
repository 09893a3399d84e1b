"""A text file that does not fit, read in pieces into a folder, and its columns typed one by one.

The types, words for missing cells, marks and refusals are those of `read_text`: the same functions
are asked, of blocks of whole records and of whole columns.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np
import polars as pl

from icsa.errors import InputError
from icsa.tables.base import FileKind, ReadingOptions
from icsa.tables.headers import blank_rows_at_end
from icsa.tables.stored import StoredColumns
from icsa.tables.table import Layout, Table, Variable
from icsa.tables.text_cells import Conventions, Signs, TypedCells, conventions_by, signs_of
from icsa.tables.text_cells import type_cells as typed_cells
from icsa.tables.text_dialect import HEAD, find_dialect
from icsa.tables.text_encoding import Text
from icsa.tables.text_reading import (
    Source,
    careful_blocks,
    checked_numbers,
    finished_layout,
    first_rows,
    is_doubtful,
    is_left_over,
    layout_of,
    opened,
    parsed_by_polars,
    with_marks,
)
from icsa.tables.text_streams import TextFile, record_blocks

__all__ = [
    "SpooledText",
    "TypedColumn",
    "conventions_again",
    "header_of",
    "spool_text",
    "store_columns",
    "stored_text",
    "type_again",
    "type_column",
    "type_signs",
]

# A line above a block, so that it begins like no compressed file.
_LINE_ABOVE = b"_\n"


@dataclass(frozen=True, repr=False)
class SpooledText:
    """The cells of a text file in a folder: strings in blocks of rows, numbers a column a file.

    Attributes
    ----------
    folder : Path
    source : Path
        The text file.
    names : tuple of str
    numbers : mapping of str to (Variable, Counter)
        Columns that are numbers already, and what the first rows suggested of them.
    conventions : Conventions
    decimal : str, optional
        The decimal mark that was given.
    layout : Layout
    n_rows, n_blocks : int
    widest : tuple of str and int
        The column whose strings take most memory, and the bytes; none where all are numbers.
    """

    folder: Path
    source: Path
    names: tuple[str, ...]
    numbers: Mapping[str, tuple[Variable, Counter[str]]]
    conventions: Conventions
    decimal: str | None
    layout: Layout
    n_rows: int
    n_blocks: int
    widest: tuple[str, int]

    def strings(self, name: str) -> pl.Series:
        """Return the cells of a column of strings."""
        paths = [_block_path(self.folder, number) for number in range(self.n_blocks)]
        found = [pl.read_parquet(path, columns=[name], glob=False)[name] for path in paths]
        return pl.concat(found, rechunk=False).head(self.n_rows)

    def path(self, name: str) -> Path:
        """Return the file of a column that is typed, or of its numbers."""
        ending = "numbers" if name in self.numbers else "parquet"
        return self.folder / "columns" / f"{self.names.index(name)}.{ending}"


@dataclass(frozen=True)
class TypedColumn:
    """What is known of a column after a look at all its cells.

    Attributes
    ----------
    dtype : polars data type
    variable : Variable
    missing : Counter of str
    n_missing : int
    doubtful : bool
        Whether it is text only because of what follows its first rows.
    """

    dtype: pl.DataType
    variable: Variable
    missing: Counter[str]
    n_missing: int
    doubtful: bool


def header_of(file: TextFile, options: ReadingOptions) -> Source:
    """Return a file after a look at its dialect and its header."""
    head = Text(file.head(HEAD + 1), file.encoding, file.newline)
    dialect = find_dialect(file.path, head, options.separator)
    return opened(file.path, file.lines, dialect)


def spool_text(
    file: TextFile,
    kind: FileKind,
    options: ReadingOptions,
    folder: Path,
    *,
    n_bytes: int,
    told: Callable[[float], None] = lambda _share: None,
) -> SpooledText:
    """Read a text file of more than `text_reading.SMALL` bytes into a folder.

    Parameters
    ----------
    file : TextFile
    kind : FileKind
    options : ReadingOptions
    folder : Path
        For its cells; what is in it from another try goes.
    n_bytes : int
        Of text, that is parsed at a time.
    told : function
        Called with the share of the file that is read.
    """
    source = header_of(file, options)
    first = first_rows(source, options.decimal)
    tries = [dict(first.floats)] if first.floats else []
    for floats in (*tries, dict[str, TypedCells]()):
        blocks = _parsed_blocks(source, file, floats, first.tokens if floats else (), n_bytes)
        if (counted := _stored_blocks(source, folder, floats, blocks, file.size, told)) is not None:
            break
    else:
        floats = {}
        careful = ((block, 0) for block in careful_blocks(source))
        counted = _stored_blocks(source, folder, floats, careful, file.size, told)
        assert counted is not None
    layout = layout_of(source, file, kind, first.conventions)
    return SpooledText(
        folder=folder,
        source=file.path,
        names=tuple(source.names),
        numbers={name: (typed.variable, typed.missing) for name, typed in floats.items()},
        conventions=first.conventions,
        decimal=options.decimal,
        layout=replace(layout, blank_rows=counted.blank),
        n_rows=counted.n_rows - counted.blank,
        n_blocks=counted.n_blocks,
        widest=max(counted.sizes.items(), key=lambda one: one[1], default=("", 0)),
    )


@dataclass
class _Counted:
    """What was stored: blocks, rows, blank rows at the end, and bytes of the strings by column."""

    n_blocks: int = 0
    n_rows: int = 0
    blank: int = 0
    sizes: Counter[str] = field(default_factory=Counter)

    def add(self, frame: pl.DataFrame, texts: pl.DataFrame) -> None:
        """Count a block."""
        at_end = blank_rows_at_end(frame)
        self.blank = self.blank + frame.height if at_end == frame.height else at_end
        self.n_blocks += 1
        self.n_rows += frame.height
        self.sizes.update({cells.name: _size(cells) for cells in texts})


def _size(strings: pl.Series) -> int:
    """Return what strings take in memory: sixteen bytes, and their own where these hold none."""
    lengths = strings.str.len_bytes()
    return 16 * len(strings) + int(lengths.filter(lengths > 12).sum())


def _parsed_blocks(
    source: Source,
    file: TextFile,
    floats: Mapping[str, TypedCells],
    tokens: Sequence[str],
    n_bytes: int,
) -> Iterator[tuple[pl.DataFrame | None, int]]:
    """Yield the cells of blocks and their bytes; None where polars may see other rows."""
    for number, block in enumerate(record_blocks(file.pieces(), source.dialect.quote, n_bytes)):
        if block is None:
            yield None, 0
        elif number == 0:
            skipped = source.header_lines
            yield parsed_by_polars(source, block, floats, tokens, skipped=skipped), len(block)
        else:
            below = _LINE_ABOVE + block
            yield parsed_by_polars(source, below, floats, tokens, skipped=1), len(block)


def _stored_blocks(
    source: Source,
    folder: Path,
    floats: Mapping[str, TypedCells],
    blocks: Iterator[tuple[pl.DataFrame | None, int]],
    size: int,
    told: Callable[[float], None],
) -> _Counted | None:
    """Store cells and count them; None where a block cannot be had in this way."""
    for part in ("blocks", "columns"):
        shutil.rmtree(folder / part, ignore_errors=True)
        (folder / part).mkdir(parents=True)
    counted, done = _Counted(), 0
    for frame, n_bytes in blocks:
        if frame is None:
            return None
        for place, name in enumerate(source.names):
            if name in floats:
                numbers = frame[name].fill_null(float("nan")).to_numpy()
                with (folder / "columns" / f"{place}.numbers").open("ab") as out:
                    numbers.tofile(out)
        texts = frame.drop(list(floats))
        if texts.width:
            _write_parquet(texts, _block_path(folder, counted.n_blocks))
        counted.add(frame, texts)
        done += n_bytes
        told(min(done / size, 1.0))
    return counted


def _block_path(folder: Path, number: int) -> Path:
    return folder / "blocks" / f"{number:06}.parquet"


def _write_parquet(frame: pl.DataFrame, path: Path) -> None:
    frame.write_parquet(path, compression="zstd", compression_level=1, statistics=False)


def type_column(spooled: SpooledText, name: str) -> TypedColumn:
    """Return what a column is, and store its cells so."""
    if name in spooled.numbers:
        numbers = np.fromfile(spooled.path(name), count=spooled.n_rows)
        suggested = TypedCells(pl.Series(dtype=pl.Float64), *spooled.numbers[name])
        typed = checked_numbers(pl.Series(name, numbers), suggested)
    else:
        typed = typed_cells(spooled.strings(name), spooled.conventions)
        _write_parquet(typed.cells.to_frame(name), spooled.path(name))
    doubtful = is_doubtful(typed.cells, spooled.conventions)
    return _known(typed, doubtful=doubtful)


def _known(typed: TypedCells, *, doubtful: bool) -> TypedColumn:
    cells = typed.cells
    return TypedColumn(cells.dtype, typed.variable, typed.missing, cells.null_count(), doubtful)


def _typed_as_text(spooled: SpooledText, name: str) -> pl.Series:
    return pl.read_parquet(spooled.path(name), glob=False)[name]


def type_signs(spooled: SpooledText, name: str) -> Signs:
    """Return what a column that is text shows of marks and days that its first rows do not."""
    return signs_of([_typed_as_text(spooled, name)])


def conventions_again(
    spooled: SpooledText, columns: Sequence[TypedColumn], signs: Sequence[Signs]
) -> Conventions | None:
    """Return the conventions by which doubtful columns are looked at again; None for none."""
    decided = any(column.dtype == pl.Float64 for column in columns)
    decimal = spooled.conventions.marks.decimal if decided else spooled.decimal
    try:
        separator = spooled.layout.separator or ","
        return conventions_by(reduce(add, signs), separator=separator, decimal=decimal)
    except InputError:  # the file's decimal mark goes with none of them
        return None


def type_again(spooled: SpooledText, name: str, again: Conventions) -> TypedColumn | None:
    """Return what a doubtful column is by other conventions; None where it stays text."""
    typed = typed_cells(_typed_as_text(spooled, name), again)
    if typed.cells.dtype == pl.String:
        return None
    beside = spooled.path(name).with_suffix(".again")
    _write_parquet(typed.cells.to_frame(name), beside)
    beside.replace(spooled.path(name))
    return _known(typed, doubtful=False)


def stored_text(
    spooled: SpooledText,
    columns: Sequence[TypedColumn],
    typed_again: Mapping[str, TypedColumn],
    again: Conventions | None,
) -> StoredColumns:
    """Return the table of a text file whose columns are typed."""
    names = list(spooled.names)
    last = columns[-1]
    if is_left_over(names[-1], len(names), spooled.n_rows, last.n_missing):
        names.pop()
    missing: Counter[str] = Counter()
    for column in columns:
        missing += column.missing
    layout = finished_layout(spooled.layout, names, missing)
    if again is not None and typed_again:
        layout = with_marks(layout, again)
    known = {**dict(zip(spooled.names, columns, strict=True)), **typed_again}
    variables = {name: known[name].variable for name in names}
    return StoredColumns(
        parts=(spooled.source,),
        rows=(spooled.n_rows,),
        dtypes={name: known[name].dtype for name in names},
        variables={name: one for name, one in variables.items() if one != Variable()},
        layout=layout,
        files={name: spooled.path(name) for name in names},
    )


def store_columns(table: Table, source: Path, folder: Path) -> StoredColumns:
    """Store a table that is in memory, a column a file."""
    (folder / "columns").mkdir(parents=True, exist_ok=True)
    files = {}
    for place, cells in enumerate(table.frame.get_columns()):
        files[cells.name] = folder / "columns" / f"{place}.parquet"
        _write_parquet(cells.to_frame(), files[cells.name])
    return StoredColumns(
        parts=(source,),
        rows=(table.frame.height,),
        dtypes=dict(table.frame.schema),
        variables=table.variables,
        layout=table.layout,
        files=files,
    )

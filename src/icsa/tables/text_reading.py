"""Text tables (CSV, TSV) to typed columns.

Large files go through polars' own parser with the types that their first rows suggest; whatever
that parser refuses, or may have read otherwise than it stands, is read again as strings. Columns
that only begin like numbers or dates are then looked at again as a whole.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

import polars as pl

from icsa.errors import InputError
from icsa.tables.base import FileKind, ReadingOptions
from icsa.tables.headers import ROWS_LOOKED_AT, blank_rows_at_end, require_names
from icsa.tables.table import Layout, Table, Variable
from icsa.tables.text_cells import (
    MISSING,
    Conventions,
    TypedCells,
    find_conventions,
    type_cells,
)
from icsa.tables.text_dialect import (
    Dialect,
    column_names,
    find_dialect,
    quotes_are_paired,
    records,
    separators_outside_quotes,
)
from icsa.tables.text_encoding import Text, load_text
from icsa.tables.text_streams import TextFile

__all__ = [
    "SMALL",
    "FirstRows",
    "Source",
    "careful_blocks",
    "checked_numbers",
    "finished_layout",
    "first_rows",
    "is_doubtful",
    "is_left_over",
    "layout_of",
    "opened",
    "parsed_by_polars",
    "read_text",
    "with_marks",
]

# Up to this size every cell is looked at as text; above, the first rows suggest types.
SMALL = 1 << 22
_SAMPLED_ROWS = 2000
_BLOCK = 50_000


@dataclass(frozen=True, repr=False)
class Source:
    """A text file: how its cells stand, what its columns are called, and its lines from the top."""

    path: Path
    lines: Callable[[], Iterator[str]]
    dialect: Dialect
    names: Sequence[str]
    unnamed: tuple[str, ...]
    header_lines: int


@dataclass(frozen=True, repr=False)
class FirstRows:
    """What the first rows of a large file suggest.

    Attributes
    ----------
    conventions : Conventions
    floats : mapping of str to TypedCells
        Columns that polars can parse as numbers itself.
    tokens : list of str
        The words for missing cells among them.
    """

    conventions: Conventions
    floats: Mapping[str, TypedCells]
    tokens: list[str]


def read_text(path: Path, kind: FileKind, options: ReadingOptions) -> Table:
    """Return the table in a text file, with everything about its format that was found."""
    text = load_text(path, compressed=kind.compressed, encoding=options.encoding)
    dialect = find_dialect(path, text, options.separator)
    source = opened(path, partial(_lines_of, text.data), dialect)
    conventions_of = partial(find_conventions, separator=dialect.separator)
    conventions, floats, frame = None, dict[str, TypedCells](), None
    is_large = len(text.data) > SMALL
    if is_large:
        first = first_rows(source, options.decimal)
        conventions, floats = first.conventions, dict(first.floats)
        frame = _read_with_polars(source, text.data, floats, first.tokens) if floats else None
    if frame is None:
        floats = {}
        frame = _read_with_polars(source, text.data, floats, ())
    if frame is None:
        frame = pl.concat(careful_blocks(source))
    blank = blank_rows_at_end(frame)
    frame = frame.head(frame.height - blank)
    conventions = conventions or conventions_of(frame.get_columns(), decimal=options.decimal)
    layout = replace(layout_of(source, text, kind, conventions), blank_rows=blank)
    del text, source  # a long table needs the room
    # In one piece, so that columns of numbers are looked at without copying them.
    table = _typed(frame.rechunk(), conventions, floats, layout)
    if is_large:
        decided = any(dtype == pl.Float64 for dtype in table.frame.dtypes)
        mark = conventions.marks.decimal if decided else options.decimal
        return _look_again(table, conventions, partial(conventions_of, decimal=mark))
    return table


def first_rows(source: Source, decimal: str | None) -> FirstRows:
    """Return what the first rows of a large file suggest."""
    sample = _sample(source)
    separator = source.dialect.separator
    conventions = find_conventions(sample.get_columns(), separator=separator, decimal=decimal)
    floats = _plain_floats(sample, conventions)
    return FirstRows(conventions, floats, _tokens(sample.get_column(name) for name in floats))


def layout_of(
    source: Source, text: Text | TextFile, kind: FileKind, conventions: Conventions
) -> Layout:
    """Return the layout of a text file, as far as it is known before all rows are typed."""
    return Layout(
        "csv",
        separator=source.dialect.separator,
        decimal=conventions.marks.decimal,
        thousands=conventions.marks.thousands,
        quote=source.dialect.quote,
        encoding=text.encoding,
        newline=text.newline,
        compressed=kind.compressed,
        suffix=kind.of_content,
        unnamed=source.unnamed,
    )


def opened(path: Path, lines_of: Callable[[], Iterator[str]], dialect: Dialect) -> Source:
    """Return a file after a look at its header; an error where that looks like none."""
    lines = islice(lines_of(), dialect.skipped, None)
    used = 0

    def counted() -> Iterator[str]:
        nonlocal used
        for line in lines:
            used += 1
            yield line

    found = (record for record in records(path, counted(), dialect) if record)
    header = next(found, [])
    header_lines = used + dialect.skipped
    if not header:
        raise InputError(f"{path} has no header. Give a file with a header and rows.")
    first = list(islice(found, ROWS_LOOKED_AT))
    if first and len(first[0]) == len(header) + 1 and not first[0][-1].strip():
        header = [*header, ""]  # rows end in a separator; what follows it is taken out at the end
    whole = [row for row in first if len(row) == len(header)]
    columns = [pl.Series(cells, dtype=pl.String) for cells in zip(*whole, strict=True)]
    require_names(str(path), header, columns, dialect.separator)
    names, unnamed = column_names(path, header)
    return Source(path, lines_of, dialect, names, unnamed, header_lines)


def _lines_of(data: bytes) -> Iterator[str]:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="\n")


def _rows(source: Source) -> Iterator[list[str]]:
    """Return the rows below the header; those of another width are an error."""
    width = len(source.names)
    lines = islice(source.lines(), source.dialect.skipped, None)
    found = records(source.path, lines, source.dialect)
    header_seen = False
    for number, record in enumerate(found, start=1):
        if not record and width > 1:
            continue
        if not header_seen:
            header_seen = True
            continue
        row = record or [""]
        if len(row) != width:
            raise InputError(
                f"{source.path}, row {number} (the header is row 1): {len(row)} cells where the "
                f"header has {width}. Repair the row, give the right separator, or delete lines "
                "above the header."
            )
        yield row


def _as_strings(source: Source, rows: Sequence[Sequence[str]]) -> pl.DataFrame:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(source.names)
    return pl.DataFrame(
        [
            pl.Series(name, cells, dtype=pl.String)
            for name, cells in zip(source.names, columns, strict=True)
        ]
    )


def _sample(source: Source) -> pl.DataFrame:
    first = _as_strings(source, list(islice(_rows(source), _SAMPLED_ROWS)))
    return first.head(first.height - blank_rows_at_end(first))


def careful_blocks(source: Source) -> Iterator[pl.DataFrame]:
    """Yield all rows as strings, block by block, read as they stand; the first has no row."""
    rows = _rows(source)
    yield _as_strings(source, [])
    while block := list(islice(rows, _BLOCK)):
        yield _as_strings(source, block)


def _tokens(columns: Iterable[pl.Series]) -> list[str]:
    """Return the words for missing cells that some columns use."""
    found = {cell for cells in columns for cell in cells.filter(cells.is_in(MISSING))}
    return sorted(found - {""})


def _read_with_polars(
    source: Source, data: bytes, floats: Collection[str], missing: Sequence[str]
) -> pl.DataFrame | None:
    return parsed_by_polars(source, data, floats, missing, skipped=source.header_lines)


def parsed_by_polars(
    source: Source, data: bytes, floats: Collection[str], missing: Sequence[str], *, skipped: int
) -> pl.DataFrame | None:
    """Return the cells below some lines, None where the parser may see other rows than there are.

    What it says of whole records is what it says of all of them together.
    """
    if not quotes_are_paired(data, source.dialect):
        return None
    try:
        frame = pl.read_csv(
            data,
            has_header=False,
            skip_lines=skipped,
            schema={n: pl.Float64 if n in floats else pl.String for n in source.names},
            separator=source.dialect.separator,
            quote_char=source.dialect.quote,
            null_values=list(missing) or None,
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return None  # OSError: text that begins like a compressed file, such as "x^"
    if frame.get_columns()[-1].null_count():
        separators = separators_outside_quotes(_below(data, skipped), source.dialect)
        if separators != frame.height * (len(source.names) - 1) or len(source.names) == 1:
            return None
    return frame


def _below(data: bytes, skipped: int) -> bytes:
    start = 0
    for _ in range(skipped):
        end = data.find(b"\n", start)
        start = end + 1 if end >= 0 else len(data)
    return data[start:]


def _plain_floats(sample: pl.DataFrame, conventions: Conventions) -> dict[str, TypedCells]:
    """Return the columns that polars can parse as numbers itself: a decimal point in some cells."""
    if conventions.marks.decimal != ".":
        return {}
    found = {}
    for cells in sample.get_columns():
        typed = type_cells(cells, conventions)
        if typed.cells.dtype == pl.Float64 and typed.variable.text_format is None:
            found[cells.name] = typed
    return found


def _typed(
    frame: pl.DataFrame,
    conventions: Conventions,
    floats: Mapping[str, TypedCells],
    layout: Layout,
) -> Table:
    missing: Counter[str] = Counter()
    variables: dict[str, Variable] = {}
    columns = frame.get_columns()
    del frame
    for position, cells in enumerate(columns):
        if cells.name in floats:
            typed = checked_numbers(cells, floats[cells.name])
        else:
            typed = type_cells(cells, conventions)
        columns[position] = typed.cells
        variables[cells.name] = typed.variable
        missing += typed.missing
    last = columns[-1]
    if is_left_over(last.name, len(columns), len(last), last.null_count()):
        columns.pop()
    known = {c.name: variables[c.name] for c in columns if variables[c.name] != Variable()}
    layout = finished_layout(layout, [c.name for c in columns], missing)
    return Table(pl.DataFrame(columns), known, layout)


def finished_layout(layout: Layout, names: Sequence[str], missing: Counter[str]) -> Layout:
    """Return the layout with the commonest word for missing, and the unnamed that are there."""
    there = tuple(name for name in names if name in layout.unnamed)
    commonest = missing.most_common(1)[0][0] if missing else ""
    return replace(layout, missing=commonest, unnamed=there)


def checked_numbers(cells: pl.Series, suggested: TypedCells) -> TypedCells:
    """Return a column that polars parsed as numbers, with what its first rows suggested."""
    numbers = cells.fill_nan(None) if cells.is_nan().any() else cells
    variable = _checked_decimals(numbers, suggested.variable)
    return TypedCells(numbers, variable, suggested.missing)


def _look_again(
    table: Table,
    conventions: Conventions,
    conventions_of: Callable[[Sequence[pl.Series]], Conventions],
) -> Table:
    """Return the table with columns typed that are text only because of what follows the sample.

    Marks of thousands, decimals or days over 12 may first be seen thousands of rows below.
    """
    doubtful = [c for c in table.frame.get_columns() if is_doubtful(c, conventions)]
    if not doubtful:
        return table
    try:
        again = conventions_of(doubtful)
    except InputError:  # the file's decimal mark goes with none of them
        return table
    found = [type_cells(cells, again) for cells in doubtful]
    typed = [one for one in found if one.cells.dtype != pl.String]
    if not typed:
        return table
    layout = with_marks(table.layout, again)
    variables = {**table.variables, **{one.cells.name: one.variable for one in typed}}
    frame = table.frame.with_columns(one.cells for one in typed)
    known = {name: variable for name, variable in variables.items() if variable != Variable()}
    return replace(table, frame=frame, variables=known, layout=layout)


def is_doubtful(cells: pl.Series, conventions: Conventions) -> bool:
    """Return whether a typed column is text only because of what follows its first rows."""
    if cells.dtype != pl.String:
        return False
    return type_cells(cells.head(_SAMPLED_ROWS), conventions).cells.dtype != pl.String


def with_marks(layout: Layout, again: Conventions) -> Layout:
    """Return a layout with the marks that columns show which were looked at again."""
    thousands = layout.thousands or again.marks.thousands
    return replace(layout, decimal=again.marks.decimal, thousands=thousands)


def is_left_over(name: str, position: int, n_rows: int, n_missing: int) -> bool:
    """Return whether a last column is only what follows a separator at the end of every line."""
    return position > 1 and name == f"column_{position}" and n_missing == n_rows > 0


def _checked_decimals(cells: pl.Series, variable: Variable) -> Variable:
    """Return the variable, without decimals where some cell has more of them."""
    if variable.decimals is None:
        return variable
    kept = (cells.round(variable.decimals) == cells).all()
    return variable if kept else replace(variable, decimals=None)

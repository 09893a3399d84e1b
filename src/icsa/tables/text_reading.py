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

__all__ = ["read_text"]

# Below this size every cell is looked at as text; above, the first rows suggest types.
_SMALL = 1 << 22
_SAMPLED_ROWS = 2000
_BLOCK = 50_000


@dataclass(frozen=True, repr=False)
class _Source:
    path: Path
    text: Text
    dialect: Dialect
    names: Sequence[str]
    unnamed: tuple[str, ...]
    header_lines: int


def read_text(path: Path, kind: FileKind, options: ReadingOptions) -> Table:
    """Return the table in a text file, with everything about its format that was found."""
    text = load_text(path, compressed=kind.compressed, encoding=options.encoding)
    source = _open(path, text, find_dialect(path, text, options.separator))
    decimal = options.decimal
    conventions_of = partial(find_conventions, separator=source.dialect.separator)
    conventions, floats, frame = None, {}, None
    is_large = len(text.data) > _SMALL
    if is_large:
        sample = _sample(source)
        conventions = conventions_of(sample.get_columns(), decimal=decimal)
        floats = _plain_floats(sample, conventions)
        seen = _tokens(sample.get_column(name) for name in floats)
        frame = _read_with_polars(source, floats, seen) if floats else None
    if frame is None:
        floats = {}
        frame = _read_with_polars(source, floats, ())
    if frame is None:
        frame = _read_with_care(source)
    blank = blank_rows_at_end(frame)
    frame = frame.head(frame.height - blank)
    conventions = conventions or conventions_of(frame.get_columns(), decimal=decimal)
    layout = Layout(
        "csv",
        separator=source.dialect.separator,
        decimal=conventions.marks.decimal,
        thousands=conventions.marks.thousands,
        quote=source.dialect.quote,
        encoding=text.encoding,
        newline=text.newline,
        compressed=kind.compressed,
        suffix=kind.of_content,
        blank_rows=blank,
        unnamed=source.unnamed,
    )
    del text, source  # a long table needs the room
    # In one piece, so that columns of numbers are looked at without copying them.
    table = _typed(frame.rechunk(), conventions, floats, layout)
    if is_large:
        decided = any(dtype == pl.Float64 for dtype in table.frame.dtypes)
        mark = conventions.marks.decimal if decided else decimal
        return _look_again(table, conventions, partial(conventions_of, decimal=mark))
    return table


def _open(path: Path, text: Text, dialect: Dialect) -> _Source:
    lines = _lines(text.data, dialect)
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
    return _Source(path, text, dialect, names, unnamed, header_lines)


def _lines(data: bytes, dialect: Dialect) -> Iterator[str]:
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="\n")
    return islice(lines, dialect.skipped, None)


def _rows(source: _Source) -> Iterator[list[str]]:
    """Return the rows below the header; those of another width are an error."""
    width = len(source.names)
    found = records(source.path, _lines(source.text.data, source.dialect), source.dialect)
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


def _as_strings(source: _Source, rows: Sequence[Sequence[str]]) -> pl.DataFrame:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(source.names)
    return pl.DataFrame(
        [
            pl.Series(name, cells, dtype=pl.String)
            for name, cells in zip(source.names, columns, strict=True)
        ]
    )


def _sample(source: _Source) -> pl.DataFrame:
    first = _as_strings(source, list(islice(_rows(source), _SAMPLED_ROWS)))
    return first.head(first.height - blank_rows_at_end(first))


def _read_with_care(source: _Source) -> pl.DataFrame:
    rows = _rows(source)
    blocks = [_as_strings(source, [])]
    while block := list(islice(rows, _BLOCK)):
        blocks.append(_as_strings(source, block))
    return pl.concat(blocks)


def _tokens(columns: Iterable[pl.Series]) -> list[str]:
    """Return the words for missing cells that some columns use."""
    found = {cell for cells in columns for cell in cells.filter(cells.is_in(MISSING))}
    return sorted(found - {""})


def _read_with_polars(
    source: _Source, floats: Collection[str], missing: Sequence[str]
) -> pl.DataFrame | None:
    """Return the cells, None where the parser may see other rows than there are."""
    if not quotes_are_paired(source.text.data, source.dialect):
        return None
    try:
        frame = pl.read_csv(
            source.text.data,
            has_header=False,
            skip_lines=source.header_lines,
            schema={n: pl.Float64 if n in floats else pl.String for n in source.names},
            separator=source.dialect.separator,
            quote_char=source.dialect.quote,
            null_values=list(missing) or None,
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return None  # OSError: text that begins like a compressed file, such as "x^"
    if frame.get_columns()[-1].null_count():
        separators = separators_outside_quotes(_below_header(source), source.dialect)
        if separators != frame.height * (len(source.names) - 1) or len(source.names) == 1:
            return None
    return frame


def _below_header(source: _Source) -> bytes:
    start = 0
    for _ in range(source.header_lines):
        end = source.text.data.find(b"\n", start)
        start = end + 1 if end >= 0 else len(source.text.data)
    return source.text.data[start:]


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
            columns[position] = cells.fill_nan(None) if cells.is_nan().any() else cells
            first_rows = floats[cells.name]
            variables[cells.name] = _checked_decimals(columns[position], first_rows.variable)
            missing += first_rows.missing
        else:
            typed = type_cells(cells, conventions)
            columns[position] = typed.cells
            variables[cells.name] = typed.variable
            missing += typed.missing
    if len(columns) > 1 and _is_left_over(columns[-1], len(columns)):
        columns.pop()
    there = tuple(c.name for c in columns if c.name in layout.unnamed)
    commonest = missing.most_common(1)[0][0] if missing else ""
    known = {c.name: variables[c.name] for c in columns if variables[c.name] != Variable()}
    return Table(pl.DataFrame(columns), known, replace(layout, missing=commonest, unnamed=there))


def _look_again(
    table: Table,
    conventions: Conventions,
    conventions_of: Callable[[Sequence[pl.Series]], Conventions],
) -> Table:
    """Return the table with columns typed that are text only because of what follows the sample.

    Marks of thousands, decimals or days over 12 may first be seen thousands of rows below.
    """
    doubtful = [
        cells
        for cells in table.frame.get_columns()
        if cells.dtype == pl.String
        and type_cells(cells.head(_SAMPLED_ROWS), conventions).cells.dtype != pl.String
    ]
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
    thousands = table.layout.thousands or again.marks.thousands
    layout = replace(table.layout, decimal=again.marks.decimal, thousands=thousands)
    variables = {**table.variables, **{one.cells.name: one.variable for one in typed}}
    frame = table.frame.with_columns(one.cells for one in typed)
    known = {name: variable for name, variable in variables.items() if variable != Variable()}
    return replace(table, frame=frame, variables=known, layout=layout)


def _is_left_over(cells: pl.Series, position: int) -> bool:
    """Return whether a last column is only what follows a separator at the end of every line."""
    return cells.name == f"column_{position}" and cells.null_count() == len(cells) > 0


def _checked_decimals(cells: pl.Series, variable: Variable) -> Variable:
    """Return the variable, without decimals where some cell has more of them."""
    if variable.decimals is None:
        return variable
    kept = (cells.round(variable.decimals) == cells).all()
    return variable if kept else replace(variable, decimals=None)

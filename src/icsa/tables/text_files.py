"""Text files (.csv, .tsv, .txt) as one of the formats: written as the table that was read was."""

from __future__ import annotations

import codecs
import gzip
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

import polars as pl

from icsa.errors import InputError
from icsa.tables.base import FileKind, Format
from icsa.tables.table import Layout, Table, Variable
from icsa.tables.text_cells import MISSING
from icsa.tables.text_dates import written_durations
from icsa.tables.text_encoding import encoding_name
from icsa.tables.text_numbers import GROUPED
from icsa.tables.text_reading import read_text

__all__ = [
    "CSV",
    "TEXT_ROWS",
    "CellFacts",
    "cell_facts",
    "columns_to_know",
    "text_layout",
    "write_text",
    "write_text_blocks",
]

# Rows that are written at a time.
TEXT_ROWS = 100_000
# Beyond this a decimal of 38 digits does not hold the number with its digits after the mark.
_DECIMAL_DIGITS = 37


def _write(table: Table, path: Path, kind: FileKind) -> None:
    write_text(table, path, text_layout(table.layout, kind))


@dataclass(frozen=True)
class CellFacts:
    """What is to be known of all cells before the first is written.

    Those of rows after one another are joined by ``+``.

    Attributes
    ----------
    fixed : mapping of str to bool
        Of columns of numbers with as many digits: whether no cell has more.
    fractions : mapping of str to int
        Of moments without a pattern: the fewest digits that hold all fractions of a second.
    empty : mapping of str to bool
        Whether all cells are missing.
    doubtful : bool
        Whether cells could be taken for quoted ones, or names for several names.
    """

    fixed: Mapping[str, bool]
    fractions: Mapping[str, int]
    empty: Mapping[str, bool]
    doubtful: bool

    def __add__(self, other: CellFacts) -> CellFacts:
        """Return the facts of these rows and others."""
        return CellFacts(
            {name: fits and other.fixed[name] for name, fits in self.fixed.items()},
            {name: max(n, other.fractions[name]) for name, n in self.fractions.items()},
            {name: empty and other.empty[name] for name, empty in self.empty.items()},
            self.doubtful or other.doubtful,
        )


def columns_to_know(table: Table, layout: Layout) -> list[str]:
    """Return the columns of which cells are to be known before any is written."""
    if layout.missing not in MISSING:
        return table.frame.columns
    return [
        name
        for name, dtype in table.frame.schema.items()
        if dtype == pl.String
        or (dtype.is_float() and table.variable(name).decimals is not None)
        or _lacks_pattern(dtype, table, name)
    ]


def cell_facts(table: Table, names: Sequence[str] | None = None) -> CellFacts:
    """Return what is to be known of a table's cells before they are written.

    `names` are those of all columns, where some are not in the table as nothing is to be known of
    them.
    """
    moments = [c for c in table.frame.get_columns() if _lacks_pattern(c.dtype, table, c.name)]
    return CellFacts(
        _fixed_decimals(table),
        {cells.name: _fraction_digits(cells) for cells in moments},
        {cells.name: cells.null_count() == len(cells) for cells in table.frame.get_columns()},
        _is_doubtful(table.frame, table.frame.columns if names is None else names),
    )


def text_layout(layout: Layout, kind: FileKind) -> Layout:
    """Return the layout of a text file: that of the input if it was one, but tabs in .tsv files."""
    suffix = kind.of_content
    if layout.file_format != "csv":
        layout = Layout("csv", separator=",", decimal=".", encoding="utf-8", newline="\n")
    separator = layout.separator
    if suffix == ".tsv" and layout.suffix != suffix:
        separator = "\t"
    elif suffix == ".csv" and layout.suffix == ".tsv" and separator == "\t":
        separator = ";" if layout.decimal == "," else ","
    return replace(layout, separator=separator, suffix=suffix, compressed=kind.compressed)


def write_text(table: Table, path: Path, layout: Layout) -> None:
    """Write a table as text: separator, marks, patterns and encoding as in `layout`.

    The quotation mark is always the double one, around cells that need it.
    """
    write_text_blocks(_blocks(table.frame), table, cell_facts(table), path, layout)


def write_text_blocks(
    blocks: Iterable[pl.DataFrame], table: Table, facts: CellFacts, path: Path, layout: Layout
) -> None:
    """Write rows that come in blocks of `TEXT_ROWS`, one block at least.

    Parameters
    ----------
    blocks : iterable of polars.DataFrame
    table : Table
        With all columns; its rows are not looked at.
    facts : CellFacts
        Of all rows.
    path : Path
    layout : Layout
        By `text_layout`.
    """
    encoding = layout.encoding or "utf-8"
    schema = table.frame.schema
    variables = {
        name: _patterned(dtype, table.variable(name), facts.fractions.get(name))
        for name, dtype in schema.items()
    }
    blank = _blank_when_missing(schema, layout.missing, facts)
    quotes: Literal["always", "necessary"] = "always" if facts.doubtful else "necessary"
    # Most programs skip blank lines: people without a cell would be gone.
    hidden = len(schema) == 1 and not layout.missing and quotes == "necessary"
    options: dict[str, Any] = {
        "separator": layout.separator or ",",
        "line_terminator": layout.newline or "\n",
        "null_value": '""' if hidden else layout.missing,
        "quote_style": quotes,
    }
    with _opened(path, compressed=layout.compressed) as file:
        for number, block in enumerate(blocks):
            columns = []
            for cells in block.get_columns():
                fits = facts.fixed.get(cells.name, False)
                texts = _written(cells, variables[cells.name], layout, fixed=fits)
                columns.append(
                    texts.cast(pl.String).fill_null("") if cells.name in blank else texts
                )
            block = pl.DataFrame(columns)
            first = number == 0
            if encoding in ("utf-8", "utf-8-sig"):
                mark = first and "sig" in encoding
                block.write_csv(file, include_header=first, include_bom=mark, **options)
            else:
                text = block.write_csv(include_header=first, **options)
                file.write(_encoded(text, encoding, first, path))


def _blocks(frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
    if frame.height == 0:
        yield frame
    yield from frame.iter_slices(TEXT_ROWS)


@contextmanager
def _opened(path: Path, *, compressed: bool) -> Iterator[BinaryIO]:
    with path.open("wb") as file:
        if compressed:  # neither a name nor a time in the gzip header
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6) as z:
                yield cast(BinaryIO, z)
        else:
            yield file


def _encoded(text: str, encoding: str, first: bool, path: Path) -> bytes:
    if encoding == "utf-16":  # the codec would put a byte order mark before every block
        encoding = "utf-16-le"
        mark = codecs.BOM_UTF16_LE if first else b""
    else:
        mark = b""
    try:
        return mark + text.encode(encoding)
    except UnicodeEncodeError:
        raise InputError(
            f"{path.name}: some characters cannot be written as {encoding_name(encoding)}. "
            "Write the release in another format."
        ) from None


def _fixed_decimals(table: Table) -> dict[str, bool]:
    """Return whether no number of a column has more digits after the mark than are written."""
    names, fits = [], []
    for position, (name, dtype) in enumerate(table.frame.schema.items()):
        digits = table.variable(name).decimals
        if digits is not None and dtype.is_float():
            cells = pl.nth(position)  # by place: a name such as '^a.*$' would be a pattern
            small = cells.abs() < 10.0 ** min(15, _DECIMAL_DIGITS - digits)
            fits.append((((cells.round(digits) == cells) & small) | cells.is_nan()).all())
            names.append(name)
    checked = table.frame.select(fits).row(0) if fits else ()
    return {name: bool(fit) for name, fit in zip(names, checked, strict=True)}


def _written(cells: pl.Series, variable: Variable, layout: Layout, *, fixed: bool) -> pl.Series:
    """Return the cells as they are to be written: strings, or numbers that polars writes alike."""
    dtype = cells.dtype
    if dtype.is_float():
        if cells.is_nan().any():
            cells = cells.fill_nan(None)
        if fixed and variable.decimals is not None:
            cells = cells.cast(pl.Decimal(38, variable.decimals))
    grouped = variable.text_format == GROUPED and layout.thousands is not None
    if dtype.is_numeric():
        if not (grouped or (layout.decimal == "," and not dtype.is_integer())):
            return cells
        texts = cells.cast(pl.String)
        if grouped:
            texts = _grouped(texts, "_")
        if layout.decimal == ",":
            texts = texts.str.replace(".", ",", literal=True)
        return texts.str.replace_all("_", layout.thousands or "", literal=True)
    if dtype == pl.Boolean:
        yes, _, no = (variable.text_format or "true/false").partition("/")
        return cells.replace_strict({True: yes, False: no}, return_dtype=pl.String)
    if _is_moment(dtype):
        return cells.dt.strftime(variable.text_format or "")
    if isinstance(dtype, pl.Duration):
        pattern = variable.text_format
        return cells.dt.to_string("iso") if pattern is None else written_durations(cells, pattern)
    if isinstance(dtype, (pl.Categorical, pl.Enum)):
        return cells.cast(pl.String)
    return cells


def _grouped(texts: pl.Series, mark: str) -> pl.Series:
    whole = texts.str.extract(r"^([-+]?\d+)", 1)
    rest = texts.str.replace(r"^[-+]?\d+", "")
    groups = whole.str.reverse().str.replace_all(r"(\d{3})", f"${{1}}{mark}").str.reverse()
    grouped = groups.str.replace(rf"^([-+]?){mark}", "${1}") + rest
    return grouped.zip_with(whole.is_not_null(), texts)  # infinite numbers have no digits


def _lacks_pattern(dtype: pl.DataType, table: Table, name: str) -> bool:
    pattern = table.variable(name).text_format
    return _is_moment(dtype) and (pattern is None or "%" not in pattern)


def _patterned(dtype: pl.DataType, variable: Variable, digits: int | None) -> Variable:
    """Return the variable with a pattern for moments that have none: such have `digits`."""
    if digits is None:
        return variable
    fraction = f"%.{digits}f" if digits else ""
    date = "" if dtype == pl.Time else "%Y-%m-%d"
    time = "" if dtype == pl.Date else f"%H:%M:%S{fraction}"
    zone = "%:z" if isinstance(dtype, pl.Datetime) and dtype.time_zone else ""
    return replace(variable, text_format="T".join(p for p in (date, time) if p) + zone)


def _is_doubtful(frame: pl.DataFrame, columns: Sequence[str]) -> bool:
    """Return whether cells could be taken for quoted ones, or names for several names."""
    texts = [cells for cells in frame.get_columns() if cells.dtype == pl.String]
    names = pl.Series(columns, dtype=pl.String)
    lone = texts if len(columns) == 1 else []  # no separator shows between cells
    marks = "[,;|\\t]"
    return any(bool(cells.str.starts_with("'").any()) for cells in [names, *texts]) or any(
        bool(cells.str.contains(marks).any()) for cells in [names, *lone]
    )


def _blank_when_missing(
    schema: Mapping[str, pl.DataType], missing: str, facts: CellFacts
) -> set[str]:
    """Return the columns in which the file's word for missing could be taken for a level."""
    if missing in MISSING:
        return set()
    return {
        name
        for name, dtype in schema.items()
        if not _has_type_of_its_own(dtype) or facts.empty.get(name, False)
    }


def _has_type_of_its_own(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype.is_temporal() or dtype == pl.Boolean


def _is_moment(dtype: pl.DataType) -> bool:
    return dtype in (pl.Date, pl.Time) or isinstance(dtype, pl.Datetime)


def _fraction_digits(cells: pl.Series) -> int:
    """Return the fewest digits that hold all fractions of a second."""
    if cells.dtype == pl.Date:
        return 0
    nanoseconds = cells.dt.nanosecond().drop_nulls()
    for digits, step in ((0, 10**9), (3, 10**6), (6, 10**3)):
        if (nanoseconds % step == 0).all():
            return digits
    return 9


CSV = Format(
    name="csv",
    title="CSV",
    suffixes=(".csv", ".tsv", ".txt"),
    read=read_text,
    write=_write,
    options=("separator", "decimal", "encoding"),
    gzipped=True,
)

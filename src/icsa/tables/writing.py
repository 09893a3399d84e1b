"""Tables to files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from icsa.errors import InputError
from icsa.files import write_atomically
from icsa.tables.arrow_files import write_feather, write_parquet
from icsa.tables.statistical_files import write_statistical
from icsa.tables.suffixes import FileKind, file_kind, text_suffix
from icsa.tables.table import Layout, Table
from icsa.tables.text_writing import write_text
from icsa.tables.workbooks import write_workbook

__all__ = ["output_kind", "write_table"]


def write_table(table: Table, path: str | Path, *, force: bool = False) -> None:
    r"""Write a table to a file, as a whole or not at all, in the format that its suffix names.

    Text files are written as the table's layout says, which is how the input was written. Nothing
    of the input's own metadata (notes, authors, dates, key-values) is carried over.

    Parameters
    ----------
    table : Table
    path : str or Path
    force : bool
        Whether a file that is there may be replaced.

    Examples
    --------
    >>> import tempfile, polars as pl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "release.csv"
    ...     write_table(Table(pl.DataFrame({"age": [41, 39], "sex": ["f", None]})), path)
    ...     path.read_text()
    'age,sex\n41,f\n39,\n'
    """
    path = Path(path)
    kind = output_kind(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder. Give the name of a file in it.")
    if path.exists() and not force:
        raise InputError(f"{path} is there already. Give another name, or --force to replace it.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent}. Make it, or give another name.")
    if not table.frame.width:
        raise InputError(f"{path.name}: the table has no columns, so there is nothing to write.")
    writer = _writer(table, kind)
    write_atomically(path, writer)


def output_kind(path: Path) -> FileKind:
    """Return the format that a name stands for; an error where it cannot be written.

    Examples
    --------
    >>> output_kind(Path("release.csv")).file_format
    'csv'
    """
    kind = file_kind(path)
    if kind.file_format == "sas7bdat":
        raise InputError(
            f"{path.name}: SAS data sets (.sas7bdat) can be read, not written. "
            "Use .xpt, which SAS reads too, or another format."
        )
    return kind


def _writer(table: Table, kind: FileKind) -> Callable[[Path], object]:
    match kind.file_format:
        case "csv":
            layout = _text_layout(table.layout, kind)
            return lambda beside: write_text(table, beside, layout)
        case "parquet":
            return lambda beside: write_parquet(table, beside)
        case "feather":
            return lambda beside: write_feather(table, beside)
        case "xlsx":
            return lambda beside: write_workbook(table, beside)
    return lambda beside: write_statistical(table, beside, kind.file_format)


def _text_layout(layout: Layout, kind: FileKind) -> Layout:
    """Return the layout of a text file: that of the input if it was one, but tabs in .tsv files."""
    suffix = text_suffix(kind)
    tabs = suffix == ".tsv"
    if layout.file_format == "csv":
        separator = layout.separator
        if tabs and layout.suffix != suffix:
            separator = "\t"
        elif suffix == ".csv" and layout.suffix == ".tsv" and separator == "\t":
            separator = ";" if layout.decimal == "," else ","
        return replace(layout, separator=separator, suffix=suffix, compressed=kind.compressed)
    return Layout(
        "csv",
        separator="\t" if tabs else ",",
        decimal=".",
        encoding="utf-8",
        newline="\n",
        suffix=suffix,
        compressed=kind.compressed,
    )

"""Files to tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from icsa.errors import InputError
from icsa.files import require_readable
from icsa.tables.arrow_files import read_feather, read_parquet
from icsa.tables.names import listed_names
from icsa.tables.statistical_files import read_statistical
from icsa.tables.suffixes import file_kind, text_suffix
from icsa.tables.table import Table
from icsa.tables.text_encoding import encoding_name
from icsa.tables.text_reading import read_text
from icsa.tables.workbooks import read_workbook

__all__ = ["describe_layout", "read_table"]

_NAMES = {
    "csv": "CSV",
    "parquet": "Parquet",
    "feather": "Arrow",
    "xlsx": "Excel",
    "sav": "SPSS",
    "zsav": "SPSS, compressed",
    "dta": "Stata",
    "sas7bdat": "SAS",
    "xpt": "SAS transport",
    "frame": "data frame",
}


def read_table(
    path: str | Path,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
    file_format: str | None = None,
) -> Table:
    r"""Return the table in a file, with what the file says about its columns and how it is written.

    The suffix of the name says the format: .csv .tsv .txt (each also .gz), .parquet .pq, .feather
    .arrow .ipc, .xlsx, .sav .zsav, .dta, .sas7bdat, .xpt.

    Parameters
    ----------
    path : str or Path
    separator, decimal, encoding : str, optional
        Of text files and, for `encoding`, of SPSS, Stata and SAS files. None: found from the file.
    sheet : str or int, optional
        Name or number (from 1) of a workbook's sheet. None: the first.
    file_format : str, optional
        "csv", "parquet", "feather", "xlsx", "sav", "zsav", "dta", "sas7bdat" or "xpt", whatever
        the suffix is.

    Raises
    ------
    InputError
        The file cannot be read as what it claims to be. The message holds no cell.
    OSError
        There is no such file, or it may not be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "clinic.csv"
    ...     _ = path.write_text("age;bmi\n41;22,5\n39;30,1\n")
    ...     table = read_table(path)
    >>> table.frame.rows()
    [(41, 22.5), (39, 30.1)]
    >>> describe_layout(table)
    "CSV, separator ';', decimal ',', UTF-8, 2 rows, 2 columns"
    """
    path = Path(path)
    kind = file_kind(path, file_format)
    require_readable(path)
    if not path.stat().st_size:
        raise InputError(f"{path} is empty. Give a file with a header and rows.")
    if kind.file_format == "csv":
        table = read_text(
            path,
            compressed=kind.compressed,
            separator=separator,
            decimal=decimal,
            encoding=encoding,
        )
        return replace(table, layout=replace(table.layout, suffix=text_suffix(kind)))
    if kind.file_format == "parquet":
        return read_parquet(path)
    if kind.file_format == "feather":
        return read_feather(path)
    if kind.file_format == "xlsx":
        return read_workbook(path, sheet)
    return read_statistical(path, kind.file_format, encoding)


def describe_layout(table: Table) -> str:
    """Return one line about a table's format and size.

    Examples
    --------
    >>> import polars as pl
    >>> describe_layout(Table(pl.DataFrame({"age": [41, 39]})))
    'data frame, 2 rows, 1 column'
    """
    layout = table.layout
    parts = [_NAMES.get(layout.file_format, layout.file_format)]
    if layout.compressed:
        parts.append("gzip")
    if layout.separator is not None:
        parts.append(
            "separator tab" if layout.separator == "\t" else f"separator {layout.separator!r}"
        )
    if layout.decimal is not None:
        parts.append(f"decimal {layout.decimal!r}")
    if layout.thousands is not None:
        parts.append(f"thousands {layout.thousands!r}")
    if layout.encoding is not None:
        parts.append(encoding_name(layout.encoding))
    if layout.sheet is not None:
        others = f" (not read: {listed_names(layout.other_sheets)})" if layout.other_sheets else ""
        parts.append(f"sheet {layout.sheet!r}{others}")
    rows, columns = table.frame.shape
    parts.append(f"{rows:,} row{'s' * (rows != 1)}")
    parts.append(f"{columns:,} column{'s' * (columns != 1)}")
    if blank := layout.blank_rows:
        parts.append(f"{blank:,} blank row{'s' * (blank != 1)} at the end left out")
    return ", ".join(parts)

"""The formats of files: one record each; files to tables and back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from icsa.errors import InputError
from icsa.files import is_several, require_not_empty, require_readable, write_atomically
from icsa.tables.arrow_files import FEATHER, PARQUET
from icsa.tables.base import FileKind, Format, ReadingOptions, listed_names, writable_letters
from icsa.tables.statistical_files import DTA, SAS7BDAT, SAV, XPT, ZSAV
from icsa.tables.stored import parquet_parts, stored_parquet
from icsa.tables.table import Origin, Table
from icsa.tables.text_encoding import encoding_name
from icsa.tables.text_files import CSV
from icsa.tables.workbooks import XLSX

__all__ = [
    "FORMATS",
    "default_output",
    "describe_layout",
    "file_kind",
    "output_kind",
    "output_options",
    "read_table",
    "unwritten_reasons",
    "write_table",
]

FORMATS: dict[str, Format] = {
    known.name: known for known in (CSV, PARQUET, FEATHER, XLSX, SAV, ZSAV, DTA, SAS7BDAT, XPT)
}


def file_kind(path: Path, file_format: str | None = None) -> FileKind:
    """Return what the suffix of a file's name says about its format.

    Parameters
    ----------
    path : Path
    file_format : str, optional
        A name in `FORMATS`; then the suffix only says whether the file is compressed.

    Examples
    --------
    >>> file_kind(Path("patients.csv.gz"))
    FileKind(file_format='csv', suffix='.csv.gz', compressed=True)
    """
    if file_format is not None and file_format not in FORMATS:
        raise InputError(f"No file format {file_format!r}. Known: {', '.join(sorted(FORMATS))}.")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = suffixes[-1:] == [".gz"]
    last = (suffixes[-2:-1] if compressed else suffixes[-1:]) or [""]
    written = "".join(path.suffixes[-2:] if compressed else path.suffixes[-1:])
    by_suffix = {suffix: known for known in FORMATS.values() for suffix in known.suffixes}
    found = by_suffix.get(last[0]) if file_format is None else FORMATS[file_format]
    if found is None or (compressed and not found.gzipped):
        gzipped = [suffix for suffix, known in by_suffix.items() if known.gzipped]
        raise InputError(
            f"{path}: the format is not known from the name. Known suffixes: "
            f"{', '.join(by_suffix)} ({', '.join(gzipped[:-1])} and {gzipped[-1]} also with .gz). "
            "Rename the file, or name its format."
        )
    return FileKind(found.name, written, compressed)


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
    .arrow .ipc, .xlsx, .sav .zsav, .dta, .sas7bdat, .xpt, as in `FORMATS`. A folder, or a pattern
    with * in it, stands for its Parquet files, whose rows follow one another.

    Parameters
    ----------
    path : str or Path
    separator, decimal, encoding : str, optional
        Of text files and, for `encoding`, of SPSS, Stata and SAS files. None: found from the file.
    sheet : str or int, optional
        Name or number (from 1) of a workbook's sheet. None: the first.
    file_format : str, optional
        A name in `FORMATS`, whatever the suffix is.

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
    if file_format is None and is_several(path):
        parts = parquet_parts(path)
        origin = Origin.of(path, parts)
        return stored_parquet(parts).all_columns().read_from(origin)
    kind = file_kind(path, file_format)
    require_readable(path)
    require_not_empty(path)
    options = ReadingOptions(separator, decimal, encoding, sheet)
    origin = Origin.of(path)
    return FORMATS[kind.file_format].read(path, kind, options).read_from(origin)


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
    write = FORMATS[kind.file_format].write
    assert write is not None
    write_atomically(path, lambda beside: write(table, beside, kind))


def output_kind(path: Path) -> FileKind:
    """Return the format that a name stands for; an error where it cannot be written.

    Examples
    --------
    >>> output_kind(Path("release.csv")).file_format
    'csv'
    """
    kind = file_kind(path)
    known = FORMATS[kind.file_format]
    if known.write is None:
        raise InputError(
            f"{path.name}: {known.title} files ({known.suffixes[0]}) can be read, not written. "
            f"Use {known.written_as or '.csv'}, or another format."
        )
    return kind


def default_output(path: str | Path) -> Path:
    """Return the name of a release beside its input: NAME.release.SUFFIX.

    SAS data sets (.sas7bdat) cannot be written; their release is a transport file (.xpt). That of
    a folder is a folder.

    Examples
    --------
    >>> default_output("patients.csv").name, default_output("old/a.b.csv.gz").name
    ('patients.release.csv', 'a.b.release.csv.gz')
    >>> default_output("trial.sas7bdat").name
    'trial.release.xpt'
    """
    path = Path(path)
    if path.is_dir():
        named = path if path.name not in ("", "..") else path.resolve()  # such as "."
        return named.with_name(f"{named.name}.release")
    if is_several(path):
        raise InputError("A pattern has no name for its release. Give --output FOLDER.")
    kind = file_kind(path)
    suffix = FORMATS[kind.file_format].written_as or kind.suffix
    return path.with_name(f"{path.name.removesuffix(kind.suffix)}.release{suffix}")


def output_options(path: Path) -> list[str]:
    """Return the options without which a release of a file could not be written.

    Examples
    --------
    >>> output_options(Path("patients.csv")), output_options(Path("parts/*.parquet"))
    ([], ['--output', 'release'])
    """
    if not path.is_dir() and is_several(path):
        return ["--output", "release"]
    return ["--force"] if default_output(path).exists() else []


def describe_layout(table: Table, n_rows: int | None = None) -> str:
    """Return one line about a table's format and size; `n_rows` where its rows are elsewhere.

    Examples
    --------
    >>> import polars as pl
    >>> describe_layout(Table(pl.DataFrame({"age": [41, 39]})))
    'data frame, 2 rows, 1 column'
    """
    layout = table.layout
    parts = [FORMATS[layout.file_format].title if layout.file_format in FORMATS else "data frame"]
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
    height, columns = table.frame.shape
    rows = height if n_rows is None else n_rows
    parts.append(f"{rows:,} row{'s' * (rows != 1)}")
    parts.append(f"{columns:,} column{'s' * (columns != 1)}")
    if blank := layout.blank_rows:
        parts.append(f"{blank:,} blank row{'s' * (blank != 1)} at the end left out")
    if layout.unnamed:
        them = "it is" if len(layout.unnamed) == 1 else "they are"
        parts.append(
            f"{len(layout.unnamed):,} without a name in the header: {them} called "
            f"{listed_names(layout.unnamed)}"
        )
    return ", ".join(parts)


def unwritten_reasons(table: Table, path: str | Path) -> tuple[str, ...]:
    """Return sentences on the letters and codes for missing that a file cannot hold.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [41, None]})
    >>> table = Table(frame, missing_letters={"age": pl.Series([None, "a"])})
    >>> unwritten_reasons(table, "release.csv")
    ('age: 1 lettered missing value(s) (.a) are written as plain missing ones, because ...',)
    >>> unwritten_reasons(table, "release.dta")
    ()
    """
    known = FORMATS[file_kind(Path(path)).file_format]
    return (*_unwritten_letters(table, known), *_undeclared_codes(table, known))


def _undeclared_codes(table: Table, known: Format) -> Iterator[str]:
    names = [name for name in table.frame.columns if table.variable(name).missing_codes]
    if names and not known.declares_codes:
        others = [other.suffixes[0] for other in FORMATS.values() if other.declares_codes]
        yield (
            f"{', '.join(names)}: codes for missing are written as plain values, because "
            f"{known.name} files do not declare them. Write {others[0]} to keep them apart."
        )


def _unwritten_letters(table: Table, known: Format) -> Iterator[str]:
    written = writable_letters(table, known.missing_letters)
    lost: dict[str, int] = {}
    letters_lost: set[str] = set()
    for name, letters in table.missing_letters.items():
        kept = written.get(name)
        gone = letters if kept is None else letters.filter(kept.is_null())
        if gone.drop_nulls().len():
            lost[name] = gone.drop_nulls().len()
            letters_lost |= set(gone.drop_nulls())
    if lost:
        shown = ", ".join(f".{letter}" for letter in sorted(letters_lost))
        others = [other.suffixes[0] for other in FORMATS.values() if other.missing_letters]
        yield (
            f"{', '.join(lost)}: {sum(lost.values())} lettered missing value(s) ({shown}) are "
            f"written as plain missing ones, because {known.name} files do not have them. Write "
            f"{' or '.join(others)} to keep them."
        )

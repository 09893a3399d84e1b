"""Files of SPSS, Stata and SAS to tables and back, with labels and codes for missing values.

Numbers without decimals become integers, dates become dates. Codes that SPSS declares as missing
stay in the cells and are listed in `Variable.missing_codes`; in columns of dates they become
missing cells. Stata's and SAS's lettered missing values (.a to .z) become missing cells, with the
letters in `Table.missing_letters`. Empty texts become missing cells too, which these programs do
not tell from missing ones.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from string import ascii_lowercase
from typing import Any, cast

import polars as pl

from icsa.errors import InputError
from icsa.tables.base import (
    FileKind,
    Format,
    ReadingOptions,
    check_usable,
    require,
    writable_letters,
)
from icsa.tables.statistical_formats import (
    FAMILIES,
    Family,
    check_names,
    from_numbers,
    moment_kind,
    split_letters,
    stata_letters,
    to_numbers,
    with_letters,
)
from icsa.tables.table import Layout, Measurement, Table, Variable
from icsa.tables.transport_files import (
    is_cut_off,
    read_transport_letters,
    transport_size,
    write_transport_letters,
)

__all__ = ["DTA", "SAS7BDAT", "SAV", "XPT", "ZSAV"]

_READERS = {
    "sav": "read_sav",
    "zsav": "read_sav",
    "dta": "read_dta",
    "sas7bdat": "read_sas7bdat",
    "xpt": "read_xport",
}
_LARGEST_WHOLE = 2**53
_STATA_LARGEST = 2_147_483_620
# SAS has one more than Stata; no other format has any.
_LETTERS = {"dta": ascii_lowercase, "xpt": f"{ascii_lowercase}_"}


def _read(path: Path, kind: FileKind, options: ReadingOptions) -> Table:
    """Return the table in a file of SPSS, Stata or SAS with what it says about its columns."""
    file_format = kind.file_format
    pyreadstat = require("pyreadstat", f"{FAMILIES[file_format].name} files")
    reasons: dict[str, Any] = {} if file_format == "xpt" else {"user_missing": True}
    try:
        frame, meta = getattr(pyreadstat, _READERS[file_format])(
            str(path),
            output_format="polars",
            disable_datetime_conversion=True,
            encoding=options.encoding,
            **reasons,
        )
    except Exception:
        # The library's own message may hold cells.
        raise _damaged(path, file_format) from None
    if file_format == "xpt" and is_cut_off(path, frame.width):
        raise _damaged(path, file_format)
    if frame.width == 0:
        raise InputError(f"{path} has no columns. Export it again.")
    check_usable(str(path), frame.columns)
    letters = read_transport_letters(path, frame) if file_format == "xpt" else {}
    columns, variables = [], {}
    for cells in frame.get_columns():
        # SPSS has codes for missing texts too; a letter stands for a missing number.
        if FAMILIES[file_format].name != "SPSS" and cells.name in meta.missing_user_values:
            cells, letters[cells.name] = split_letters(cells)
        found, variable = _read_column(cells, meta, file_format)
        columns.append(found)
        if variable != Variable():
            variables[cells.name] = variable
    return Table(pl.DataFrame(columns), variables, Layout(file_format), letters)


def _write(table: Table, path: Path, kind: FileKind) -> None:
    """Write a table as SPSS, Stata or SAS transport file; no note, no label of the file."""
    file_format = kind.file_format
    family = FAMILIES[file_format]
    pyreadstat = require("pyreadstat", f"{family.name} files")
    check_names(table.frame.columns, family)
    kept = FAMILIES.get(table.layout.file_format) is family
    columns, formats = [], {}
    for cells in table.frame.get_columns():
        written, shown = _write_column(cells, table.variable(cells.name), family, kept)
        columns.append(written)
        if shown:
            formats[cells.name] = shown
    frame = pl.DataFrame(columns)
    variables = {name: table.variable(name) for name in frame.columns}
    letters = writable_letters(table, _LETTERS.get(file_format, ""))
    options: dict[str, Any] = {
        "column_labels": {n: v.label for n, v in variables.items() if v.label} or None,
        "variable_format": formats or None,
    }
    if file_format != "xpt":
        options["variable_value_labels"] = _value_labels(frame, variables, family)
    if file_format == "dta" and (known := stata_letters(frame, variables, letters)):
        options["missing_user_values"] = known
        labels = options["variable_value_labels"] or {}
        labels |= {n: {**labels.get(n, {}), **variables[n].letter_labels} for n in known}
        options["variable_value_labels"] = {n: said for n, said in labels.items() if said} or None
        frame = frame.with_columns(with_letters(frame[n], letters.get(n)) for n in known)
    if file_format in ("sav", "zsav"):
        options["missing_ranges"] = _missing_ranges(frame, variables)
        options["variable_measure"] = {
            n: v.measurement for n, v in variables.items() if v.measurement
        }
        options["compress"] = file_format == "zsav"
        options["row_compress"] = file_format == "sav"
    writer = {"dta": "write_dta", "xpt": "write_xport"}.get(file_format, "write_sav")
    try:
        getattr(pyreadstat, writer)(frame, str(path), **options)
    except OSError:
        raise
    except Exception:
        raise InputError(
            f"The table cannot be written as {family.name}: a name, a label or a code is not "
            "allowed there. Write another format."
        ) from None
    _require_whole(path, frame, file_format)
    if file_format == "xpt" and letters:
        write_transport_letters(path, frame, letters)


def _damaged(path: Path, file_format: str) -> InputError:
    return InputError(
        f"{path} is not a whole {FAMILIES[file_format].name} file, or its encoding is not "
        "what it says. Export it again, or give its encoding."
    )


def _require_whole(path: Path, frame: pl.DataFrame, file_format: str) -> None:
    """Raise an error where rows are not in the file: the library overlooks a disk without room."""
    if file_format == "xpt":
        whole = path.stat().st_size == transport_size(path, frame.shape)
    else:
        read = getattr(require("pyreadstat", "this file"), _READERS[file_format])
        try:
            found, _ = read(str(path), usecols=frame.columns[:1], output_format="polars")
            whole = found.height == frame.height
        except Exception:
            whole = False
    if not whole:
        raise OSError(errno.EIO, "The file could not be written as a whole", str(path))


def _read_column(cells: pl.Series, meta: Any, file_format: str) -> tuple[pl.Series, Variable]:
    family, name = FAMILIES[file_format], cells.name
    shown = meta.original_variable_types.get(name)
    ranges = [(r["lo"], r["hi"]) for r in meta.missing_ranges.get(name, ())]
    codes: tuple[Any, ...] = tuple(low if low == high else (low, high) for low, high in ranges)
    labels = dict(meta.variable_value_labels.get(name, {}))
    meanings: dict[str, str] = {}
    if not cells.dtype.is_numeric():
        texts = cells.cast(pl.String)
        texts = texts.set(texts == "", None)
    else:
        meanings = {v.lower(): text for v, text in labels.items() if isinstance(v, str)}
        labels = {value: text for value, text in labels.items() if not isinstance(value, str)}
        cells = cells.fill_nan(None) if cells.dtype.is_float() else cells
        if meta.readstat_variable_types.get(name) == "float":
            cells = _as_typed_in(cells)
        kind = moment_kind(family, shown)
        if kind is not None:
            texts = from_numbers(_without(cells, codes), kind, family)
            codes = ()
        elif _shows_whole_numbers(cells, shown, family):
            texts = cells.cast(pl.Int64)
            labels = {_whole(value): text for value, text in labels.items()}
            codes = tuple(
                (_whole(c[0]), _whole(c[1])) if isinstance(c, tuple) else _whole(c) for c in codes
            )
        else:
            texts = cells
    measure = meta.variable_measure.get(name)
    return texts, Variable(
        label=meta.column_names_to_labels.get(name) or None,
        value_labels=labels,
        measurement=cast(Measurement, measure)
        if measure in ("nominal", "ordinal", "scale")
        else None,
        missing_codes=codes,
        letter_labels=meanings,
        display_format=shown or None,
    )


def _as_typed_in(cells: pl.Series) -> pl.Series:
    """Return numbers of single precision as their shortest decimals, which are what people wrote.

    Widened as they are, 71.3 would be 71.30000305175781, and no digits would be found to round to.
    """
    shortest = cells.cast(pl.Float32).cast(pl.String).cast(pl.Float64)
    return cells.zip_with((cells.round() == cells).fill_null(True), shortest)


def _without(cells: pl.Series, codes: tuple[Any, ...]) -> pl.Series:
    for code in codes:
        low, high = code if isinstance(code, tuple) else (code, code)
        cells = cells.set(cells.is_between(low, high).fill_null(False), None)
    return cells


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _shows_whole_numbers(cells: pl.Series, shown: str | None, family: Family) -> bool:
    if cells.dtype.is_integer():
        return True
    present = cells.drop_nulls()
    if not ((present.round() == present) & (present.abs() <= _LARGEST_WHOLE)).all():
        return False
    if family.name == "SPSS":
        return bool(re.fullmatch(r"[FN]\d+(?:\.0)?", shown or ""))
    if family.name == "Stata":
        return bool(re.fullmatch(r"%-?0?\d+\.0fc?", shown or ""))
    return not shown or bool(re.fullmatch(r"(?:BEST|F)?\d*(?:\.0?)?", shown))


def _write_column(
    cells: pl.Series, variable: Variable, family: Family, kept: bool
) -> tuple[pl.Series, str | None]:
    """Return the cells as a program keeps them, and the format that shows them."""
    dtype = cells.dtype
    shown = variable.display_format if kept else None
    if dtype in (pl.Date, pl.Time) or isinstance(dtype, (pl.Datetime, pl.Duration)):
        _refuse_moments(cells, family)
        numbers, kind = to_numbers(cells, family)
        fitting = shown if moment_kind(family, shown) == kind else None
        return numbers, fitting or family.formats[kind]
    if shown is not None and moment_kind(family, shown) is not None:
        shown = None
    if dtype == pl.Boolean:
        return cells.cast(pl.Int8), shown or ("F1.0" if family.name == "SPSS" else None)
    if dtype.is_integer():
        return _whole_numbers(cells, family), shown or ("F12.0" if family.name == "SPSS" else None)
    if dtype.is_numeric():
        numbers = cells.cast(pl.Float64).fill_nan(None)
        if numbers.is_infinite().any():
            raise _unheld(cells, "infinite numbers", family)
        if shown is None and family.name == "SPSS" and variable.decimals:
            shown = f"F{min(40, 12 + variable.decimals)}.{min(16, variable.decimals)}"
        return numbers, shown
    texts = cells.cast(pl.String)
    longest = texts.str.len_bytes().max()
    limit = {"SPSS": 32_767, "Stata": 2_000_000}.get(family.name, 32_767)
    if isinstance(longest, int) and longest > limit:
        raise _unheld(cells, f"texts longer than {limit:,} bytes", family)
    return texts, None


def _whole_numbers(cells: pl.Series, family: Family) -> pl.Series:
    least, most = cells.min(), cells.max()
    size = max(abs(int(cast(int, least))), abs(int(cast(int, most)))) if least is not None else 0
    if size > _LARGEST_WHOLE:
        raise _unheld(cells, "whole numbers of more than 15 digits", family)
    return cells.cast(pl.Int32 if size <= _STATA_LARGEST else pl.Int64)


def _refuse_moments(cells: pl.Series, family: Family) -> None:
    dtype = cells.dtype
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
        raise _unheld(cells, "times with a time zone", family)
    if isinstance(dtype, pl.Duration) and family.name == "Stata":
        raise _unheld(cells, "durations", family)
    if family.name == "SPSS" and (dtype == pl.Date or isinstance(dtype, pl.Datetime)):
        first = cells.dt.year().min()
        if isinstance(first, int) and first < 1583:
            raise _unheld(cells, "dates before 1583", family)


def _unheld(cells: pl.Series, what: str, family: Family) -> InputError:
    return InputError(
        f"Column {cells.name!r} has {what}, which {family.name} cannot hold. Write another format."
    )


def _value_labels(
    frame: pl.DataFrame, variables: Mapping[str, Variable], family: Family
) -> dict[str, dict[Any, str]] | None:
    found = {}
    for name, variable in variables.items():
        text = frame.schema[name] == pl.String
        labels = {
            value: label
            for value, label in variable.value_labels.items()
            if isinstance(value, str) == text
        }
        if family.name == "Stata":  # it labels whole numbers only
            labels = {_whole(v): t for v, t in labels.items() if isinstance(_whole(v), int)}
        if labels:
            found[name] = labels
    return found or None


def _missing_ranges(
    frame: pl.DataFrame, variables: Mapping[str, Variable]
) -> dict[str, list[Any]] | None:
    found: dict[str, list[Any]] = {}
    for name, variable in variables.items():
        for code in variable.missing_codes:
            low, high = code if isinstance(code, tuple) else (code, code)
            if isinstance(low, str) == (frame.schema[name] == pl.String):
                found.setdefault(name, []).append({"lo": low, "hi": high})
    return found or None


_statistical = partial(Format, read=_read, options=("encoding",))
SAV = _statistical(
    name="sav",
    title="SPSS",
    suffixes=(".sav",),
    write=_write,
    column_labels=True,
    value_labels="any",
    declares_codes=True,
)
ZSAV = replace(SAV, name="zsav", title="SPSS, compressed", suffixes=(".zsav",))
DTA = _statistical(
    name="dta",
    title="Stata",
    suffixes=(".dta",),
    write=_write,
    column_labels=True,
    value_labels="whole",
    missing_letters=_LETTERS["dta"],
)
SAS7BDAT = _statistical(
    name="sas7bdat", title="SAS", suffixes=(".sas7bdat",), write=None, written_as=".xpt"
)
XPT = _statistical(
    name="xpt",
    title="SAS transport",
    suffixes=(".xpt",),
    write=_write,
    column_labels=True,
    missing_letters=_LETTERS["xpt"],
)

"""The dialect of a text table: its separator, its quotation mark, its header, its rows.

polars' fast parser fills short rows with nulls, makes rows of blank lines, and can join lines after
a quotation mark inside a cell. Counting marks in the bytes shows when that may have happened.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from icsa.errors import InputError
from icsa.tables.base import check_usable
from icsa.tables.text_encoding import Text

__all__ = [
    "HEAD",
    "SEPARATORS",
    "Dialect",
    "column_names",
    "find_dialect",
    "quotes_are_paired",
    "records",
    "separators_outside_quotes",
]

SEPARATORS = (",", ";", "\t", "|")

HEAD = 1 << 18
_ROWS_LOOKED_AT = 1000
_CHUNK = 1 << 22
# So many lines, and this share of them, must be equally wide to be taken for rows.
_FEWEST_LINES, _MOST_LINES = 5, 0.8
_NUMBER_WITH_COMMAS = re.compile(r"[-+]?(?:[\d.]*,\d+|\d{1,3}(?:,\d{3})+(?:\.\d+)?)")
# White space, and byte order marks that programs leave before the first name.
_AROUND_NAMES = " \t\r\n\u00a0\ufeff"


@dataclass(frozen=True)
class Dialect:
    """How cells stand in a text file.

    Attributes
    ----------
    separator, quote : str
        Between cells, and around cells that hold a separator or a line end.
    skipped : int
        Lines before the header: 1 where the first line is ``sep=;``, as Excel writes it.
    """

    separator: str
    quote: str = '"'
    skipped: int = 0


def find_dialect(path: Path, text: Text, separator: str | None = None) -> Dialect:
    """Return the dialect that makes the first rows as wide as the header, in the most columns."""
    if separator is not None and (len(separator) != 1 or separator in "\r\n\"'"):
        raise InputError(
            "The separator must be one character, and no quotation mark or line end: "
            f"got {separator!r}. Use one of , ; | or a tab."
        )
    if separator is not None and not separator.isascii():
        raise InputError(f"The separator must be an ASCII character: got {separator!r}.")
    lines = _head(text)
    stated = re.fullmatch(r"sep=([,;\t|])\r?\n?", lines[0], flags=re.IGNORECASE)
    if stated:
        lines = lines[1:]
        if not lines:
            raise InputError(f"{path} has no header. Give a file with a header and rows.")
    quote = _quote(lines)
    chosen = separator or (stated[1] if stated else None)
    if chosen is None:
        chosen = _separator(path, lines, quote)
    else:
        _require_columns(path, lines, quote, chosen)
    return Dialect(chosen, quote, 1 if stated else 0)


def records(
    path: Path, lines: Sequence[str] | Iterator[str], dialect: Dialect
) -> Iterator[list[str]]:
    """Return the records of some lines, the header included; blank lines are empty lists."""
    reader = csv.reader(
        iter(lines), delimiter=dialect.separator, quotechar=dialect.quote, strict=True
    )
    row = 1
    try:
        for record in reader:
            yield record
            row += 1
    except csv.Error as error:
        raise InputError(
            f"{path}, row {row} (the header is row 1): {_reason(str(error))}"
        ) from None


def column_names(path: Path, header: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Return the names of the columns, and those that were given to columns without one.

    These are column_1, column_2, ... by position.
    """
    names = [name.strip(_AROUND_NAMES) for name in header]
    twice = [name for name, count in Counter(names).items() if count > 1 and name]
    if twice:
        listed = ", ".join(repr(name) for name in twice[:5])
        raise InputError(
            f"{path}: the header has the same name more than once: {listed}. "
            "Give every column its own name."
        )
    check_usable(str(path), names)
    taken, unnamed = set(names), []
    for position, name in enumerate(names, start=1):
        if not name:
            new = f"column_{position}"
            while new in taken:
                new += "_"
            taken.add(new)
            names[position - 1] = new
            unnamed.append(new)
    return names, tuple(unnamed)


def _reason(message: str) -> str:
    if "end of data" in message:
        return "a quotation mark opens a cell and none closes it. Close or remove it."
    if "field limit" in message:
        return f"a cell is longer than {csv.field_size_limit()} characters. Shorten it."
    if "expected after" in message:
        return "a quotation mark inside a quoted cell is not doubled. Double or remove it."
    return "a line ends inside a cell that is not quoted. Quote the cell or repair the line ends."


def _head(text: Text) -> list[str]:
    lines = text.data[:HEAD].decode("utf-8", errors="ignore").split("\n")
    if len(text.data) > HEAD and len(lines) > 1:
        lines = lines[:-1]  # cut off in its middle
    return [line + "\n" for line in lines]


def _quote(lines: Sequence[str]) -> str:
    head = "".join(lines)
    if re.search(r'(?:^|[,;\t|])"', head, flags=re.MULTILINE):
        return '"'
    starts = len(re.findall(r"(?:^|[,;\t|])'", head, flags=re.MULTILINE))
    ends = len(re.findall(r"'(?=\r?$|[,;\t|])", head, flags=re.MULTILINE))
    return "'" if starts >= 2 and starts == ends else '"'


def _separator(path: Path, lines: Sequence[str], quote: str) -> str:
    best, best_score = None, (False, 0.0, 0)
    for separator in SEPARATORS:
        widths, quotes_fit = _widths(lines, separator, quote)
        if not widths or widths[0] < 2:
            continue
        agreeing = sum(width == widths[0] for width in widths) / len(widths)
        score = (quotes_fit, agreeing, widths[0])
        if score > best_score:
            best, best_score = separator, score
    if best is not None:
        return best
    _require_no_title(path, lines, quote)
    head = "".join(lines)
    return next((mark for mark in SEPARATORS if mark not in head), ",")


def _widths(lines: Sequence[str], separator: str, quote: str) -> tuple[list[int], bool]:
    """Return the widths of the first records, and whether quoted cells end at separators."""
    widths: list[int] = []
    reader = csv.reader(iter(lines), delimiter=separator, quotechar=quote, strict=True)
    try:
        for record in islice(reader, _ROWS_LOOKED_AT):
            if record:
                widths.append(len(record))
    except csv.Error as error:  # a quoted cell may go on where the head of the file ends
        return widths, "end of data" in str(error) and bool(widths)
    return widths, True


def _require_no_title(path: Path, lines: Sequence[str], quote: str) -> None:
    """Refuse a first line of one cell above lines that a separator makes equally wide."""
    for separator in SEPARATORS:
        widths, _ = _widths(lines, separator, quote)
        width, agreeing = _commonest(widths[1:])
        if width > 1 and agreeing >= _MOST_LINES and not _is_within_cells(separator, width, lines):
            raise InputError(
                f"{path}: the first line is one cell, and most lines below are {width} cells "
                f"between {_shown(separator)}. Delete the lines above the header. If it is a table "
                "of one column, give another separator that does not occur in it."
            )


def _require_columns(path: Path, lines: Sequence[str], quote: str, given: str) -> None:
    """Refuse a separator that makes one column of lines that another one makes several of."""
    if (_widths(lines, given, quote)[0] or [2])[0] > 1:
        return
    for separator in SEPARATORS:
        widths, _ = _widths(lines, separator, quote)
        width, agreeing = _commonest(widths)
        if width > 1 and widths[0] == width and agreeing >= _MOST_LINES:
            raise InputError(
                f"{path}: by the separator {_shown(given)} the file is one column, and {width} by "
                f"{_shown(separator)}. Leave the separator out, or give the right one."
            )


def _commonest(widths: Sequence[int]) -> tuple[int, float]:
    """Return the width that most lines have and their share; 0 where there are few lines."""
    if len(widths) < _FEWEST_LINES:
        return 0, 0.0
    width, count = Counter(widths).most_common(1)[0]
    return width, count / len(widths)


def _is_within_cells(separator: str, width: int, lines: Sequence[str]) -> bool:
    """Return whether commas may belong to the cells: decimals, thousands, surname and name."""
    if separator != ",":
        return False
    body = [line.strip() for line in lines[1:] if line.strip()]
    inside = sum(bool(_NUMBER_WITH_COMMAS.fullmatch(line)) for line in body)
    if width == 2:
        inside += sum(", " in line for line in body)
    return inside >= _MOST_LINES * len(body)


def _shown(separator: str) -> str:
    return "tabs" if separator == "\t" else repr(separator)


def quotes_are_paired(data: bytes, dialect: Dialect) -> bool:
    """Return whether every quoted cell begins and ends at a separator or a line end."""
    if dialect.quote.encode() not in data:
        return True
    text = np.frombuffer(data, dtype=np.uint8)
    quotes = np.concatenate(
        [np.flatnonzero(part == ord(dialect.quote)) + start for start, part in _parts(text)]
    )
    if len(quotes) % 2:
        return False
    opening, closing = quotes[0::2], quotes[1::2]
    doubled = opening[1:] == closing[:-1] + 1
    ends = np.frombuffer(f"{dialect.separator}\r\n".encode(), dtype=np.uint8)
    before = np.isin(text[np.maximum(opening - 1, 0)], ends) | (opening == 0)
    after = np.isin(text[np.minimum(closing + 1, len(text) - 1)], ends)
    after |= closing == len(text) - 1
    before[1:] |= doubled
    after[:-1] |= doubled
    return bool(before.all() and after.all())


def separators_outside_quotes(data: bytes, dialect: Dialect) -> int:
    """Return how many separators stand outside quoted cells."""
    quoted = dialect.quote.encode() in data
    text = np.frombuffer(data, dtype=np.uint8)
    count, inside = 0, False
    for _, part in _parts(text):
        separators = part == ord(dialect.separator)
        if quoted:
            within = np.logical_xor.accumulate(part == ord(dialect.quote)) ^ inside
            separators &= ~within
            inside = bool(within[-1])
        count += int(np.count_nonzero(separators))
    return count


def _parts(
    text: npt.NDArray[np.uint8],
) -> Iterator[tuple[int, npt.NDArray[np.uint8]]]:
    for start in range(0, len(text), _CHUNK):
        yield start, text[start : start + _CHUNK]

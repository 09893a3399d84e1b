"""SAS transport files: lettered missing values, and whether all rows are there.

The library that reads and writes these files passes over both.

A numeric cell of a transport file whose bytes after the first are all zero is missing: its first
byte is ``.``, ``_`` or a capital letter ("The Record Layout of a Data Set in SAS Transport
Format", SAS Technical Support TS-140, versions 5 and 8).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

__all__ = [
    "is_cut_off",
    "read_transport_letters",
    "transport_size",
    "write_transport_letters",
]

_RECORD = 80
_HEADER = b"HEADER RECORD*******"
_LETTERS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ_", dtype=np.uint8)
# Where a description of a variable says its type, its length and its position in a row.
_TYPE, _LENGTH, _POSITION = slice(0, 2), slice(4, 6), slice(84, 88)
_NUMBER = 1
# Where the header of a data set says how many bytes describe a variable.
_DESCRIPTION = slice(74, 78)
# Where the header of the rows says how many there are.
_STATED_ROWS = slice(48, 63)

Bytes = npt.NDArray[np.uint8]


class _Place(NamedTuple):
    """The bytes of a numeric variable in a row, and its position among the variables."""

    variable: int
    start: int
    length: int


class _Rows(NamedTuple):
    """Where the rows begin, how many bytes one has, and the numbers in it."""

    first: int
    width: int
    numbers: tuple[_Place, ...]


def read_transport_letters(path: Path, frame: pl.DataFrame) -> dict[str, pl.Series]:
    """Return the letters of a transport file by column, null where there is none.

    The frame is the table as it was read, for its names and its number of rows.
    """
    content = np.fromfile(path, dtype=np.uint8)
    found = {}
    for place, cells in _numeric_cells(content, frame.shape):
        lettered = np.isin(cells[:, 0], _LETTERS) & ~cells[:, 1:].any(axis=1)
        if lettered.any():
            letters = np.where(lettered, cells[:, 0], 0)
            name = frame.columns[place.variable]
            found[name] = pl.Series(name, [chr(n).lower() if n else None for n in letters])
    return found


def write_transport_letters(
    path: Path, frame: pl.DataFrame, letters: Mapping[str, pl.Series]
) -> None:
    """Put letters into a transport file that was written without them."""
    content = np.fromfile(path, dtype=np.uint8)
    for place, cells in _numeric_cells(content, frame.shape):
        wanted = letters.get(frame.columns[place.variable])
        if wanted is not None:
            rows = np.flatnonzero(wanted.is_not_null().to_numpy())
            cells[rows, 0] = [ord(letter.upper()) for letter in wanted.drop_nulls()]
    content.tofile(path)


def transport_size(path: Path, shape: tuple[int, int]) -> int | None:
    """Return how many bytes a transport file of so many rows and variables has to have."""
    found = _find_rows(path.read_bytes(), shape[1])
    if found is None:
        return None
    bytes_of_rows = shape[0] * found.width
    return found.first + -(-bytes_of_rows // _RECORD) * _RECORD


def is_cut_off(path: Path, n_variables: int) -> bool:
    """Return whether a transport file ends within a record or within a row."""
    content = path.read_bytes()
    if len(content) % _RECORD:
        return True
    found = _find_rows(content, n_variables)
    if found is None or not found.width or content.find(_HEADER, found.first) >= 0:
        return False  # where another data set follows, the first one is there
    stated = content[found.first - _RECORD :][_STATED_ROWS].strip()  # since version 8
    if stated.isdigit() and int(stated) * found.width > len(content) - found.first:
        return True
    rest = (len(content) - found.first) % found.width
    return bool(rest) and bool(content[len(content) - rest :].strip(b" "))


def _numeric_cells(content: Bytes, shape: tuple[int, int]) -> Iterator[tuple[_Place, Bytes]]:
    """Yield each numeric variable with a view of its bytes, one row a row."""
    n_rows, n_variables = shape
    found = _find_rows(content.tobytes(), n_variables)
    if found is None:
        return
    rows = content[found.first : found.first + n_rows * found.width]
    if not n_rows or rows.size < n_rows * found.width:
        return
    table = rows.reshape(n_rows, found.width)
    for place in found.numbers:
        yield place, table[:, place.start : place.start + place.length]


def _find_rows(raw: bytes, n_variables: int) -> _Rows | None:
    """Return where the rows of the first data set are; None where that is not to be seen."""
    member, described = raw.find(_HEADER + b"MEMB"), raw.find(_HEADER + b"NAM")
    observed = raw.find(_HEADER + b"OBS", described)
    if min(member, described, observed) < 0:
        return None
    size = raw[member + _DESCRIPTION.start : member + _DESCRIPTION.stop]
    if not size.isdigit():
        return None
    start = described + _RECORD
    places, width = [], 0
    for variable in range(n_variables):
        one = raw[start + variable * int(size) : start + (variable + 1) * int(size)]
        kind, length, position = (
            int.from_bytes(one[part], "big") for part in (_TYPE, _LENGTH, _POSITION)
        )
        width = max(width, position + length)
        if kind == _NUMBER and length > 1:
            places.append(_Place(variable, position, length))
    return _Rows(observed + _RECORD, width, tuple(places))

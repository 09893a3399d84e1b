"""Whether polars' fast parser saw the rows of a text file as they are.

The parser fills short rows with nulls, makes rows of blank lines, and can join lines after a
quotation mark inside a cell. Counting marks in the bytes shows when that may have happened.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from icsa.tables.text_dialect import Dialect

__all__ = ["quotes_are_paired", "separators_outside_quotes"]

_CHUNK = 1 << 22


def quotes_are_paired(data: bytes, dialect: Dialect) -> bool:
    r"""Return whether every quoted cell begins and ends at a separator or a line end.

    Examples
    --------
    >>> quotes_are_paired(b'a,b\n1,"x, ""y, z"\n', Dialect(","))
    True
    >>> quotes_are_paired(b'a,b\n1,5" tall\n', Dialect(","))
    False
    """
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
    r"""Return how many separators stand outside quoted cells.

    Examples
    --------
    >>> separators_outside_quotes(b'a,b\n1,"x,y"\n', Dialect(","))
    2
    """
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

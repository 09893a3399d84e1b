"""Text files that do not fit in memory: looked through once, then given as UTF-8 in pieces.

What is found, what is refused, and the bytes themselves are those of `load_text`.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from icsa.errors import InputError
from icsa.tables.text_encoding import (
    MARKS,
    PIECE,
    broken_gzip,
    canonical_name,
    is_unusual,
    is_utf16,
    line_end,
    no_text,
    nothing_inside,
    refuse_other_formats,
    undecodable,
)

__all__ = ["TextFile", "expanded_size", "look_through", "record_blocks"]

# A cell that is longer than so many blocks is not waited for.
_MOST_BLOCKS = 4
_LOOKED_AT, _SIGNS = 4096, 8192
_NEWLINES = b"\r\n"


@dataclass(frozen=True)
class TextFile:
    """A text file that was looked through.

    Attributes
    ----------
    path : Path
    compressed : bool
    encoding, newline : str
        As those of `Text`.
    size : int
        Bytes of its text as UTF-8.
    n_lines : int
        Lines, the header among them.
    quoted : bool
        Whether some cell may be quoted, and hold line ends.
    """

    path: Path
    compressed: bool
    encoding: str
    newline: str
    size: int
    n_lines: int
    quoted: bool

    def pieces(self) -> Iterator[bytes]:
        r"""Yield the text as UTF-8 without a byte order mark, lines ending in ``\n``."""
        begun = False
        for piece in _as_utf8(
            self.path, _raw(self.path, compressed=self.compressed), self.encoding
        ):
            text = piece.replace(b"\r", b"\n") if self.newline == "\r" else piece
            if not begun:
                text = text.lstrip(_NEWLINES)
                begun = bool(text)
            if text:
                yield text

    def head(self, n_bytes: int) -> bytes:
        """Return the beginning of the text."""
        found = b""
        for piece in self.pieces():
            found += piece
            if len(found) >= n_bytes:
                break
        return found[:n_bytes]

    def lines(self) -> Iterator[str]:
        """Return its lines, read as they are asked for."""
        return io.TextIOWrapper(
            io.BufferedReader(_Pieces(self.pieces()), PIECE), encoding="utf-8", newline="\n"
        )


class _Pieces(io.RawIOBase):
    """Pieces of bytes as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: object) -> int:
        """Fill a buffer, as far as the piece at hand goes."""
        target = memoryview(cast(bytearray, buffer))
        if not self._rest:
            self._rest = memoryview(next(self._pieces, b""))
        count = min(len(target), len(self._rest))
        target[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def look_through(path: Path, *, compressed: bool, encoding: str | None) -> TextFile:
    """Return what `load_text` finds of a file, from one look or few, a piece at a time.

    Raises
    ------
    InputError
        The file is none that can be read; the sentences are those of `load_text`.
    """
    head = _start(path, compressed=compressed)
    if not head.strip() and not any(map(bytes.strip, _raw(path, compressed=compressed))):
        raise InputError(nothing_inside(path))
    refuse_other_formats(path, head)
    if encoding:
        return _looked(path, compressed, canonical_name(encoding, head), told=True)
    for mark, name in MARKS:
        if head.startswith(mark):
            return _looked(path, compressed, name, told=True)
    if (wide := is_utf16(head[:_LOOKED_AT])) is not None:
        return _looked(path, compressed, wide, told=True)
    for name in ("utf-8", "cp1252"):
        try:
            return _looked(path, compressed, name, told=False)
        except UnicodeError:
            continue
    return _looked(path, compressed, "iso8859-1", told=False)


def _looked(path: Path, compressed: bool, encoding: str, *, told: bool) -> TextFile:
    """Return a file by its encoding; a UnicodeError where another one is to be tried."""
    head, size, leading, n_lines, zero_at, quoted = b"", 0, 0, 0, None, False
    last = b""
    for piece in _as_utf8(path, _raw(path, compressed=compressed), encoding, told=told):
        head += piece[: max(max(PIECE, _SIGNS) - len(head), 0)]
        if zero_at is None and (place := piece.find(b"\0")) >= 0:
            zero_at = n_lines + piece.count(b"\n", 0, place)
        n_lines += piece.count(b"\n")
        quoted = quoted or b'"' in piece or b"'" in piece
        if leading == size:
            leading += len(piece) - len(piece.lstrip(_NEWLINES))
        size += len(piece)
        last = piece[-1:] or last
    if zero_at is not None or is_unusual(head):
        raise InputError(no_text(path, None if zero_at is None else zero_at + 1))
    newline = line_end(head[:PIECE], has_newlines=n_lines > 0)
    if newline == "\r":
        n_lines = sum(
            piece.count(b"\r")
            for piece in _as_utf8(path, _raw(path, compressed=compressed), encoding)
        )
    n_lines += last != newline[-1:].encode()
    return TextFile(path, compressed, encoding, newline, size - leading, n_lines, quoted)


def _raw(path: Path, *, compressed: bool) -> Iterator[bytes]:
    """Yield the bytes of a file, unpacked."""
    with path.open("rb") as file:
        source = cast(BinaryIO, gzip.GzipFile(fileobj=file)) if compressed else file
        try:
            while piece := source.read(PIECE):
                yield piece
        except (gzip.BadGzipFile, EOFError, zlib.error):
            raise InputError(broken_gzip(path)) from None


def _start(path: Path, *, compressed: bool) -> bytes:
    """Return at least as much of a file as is looked at to find its encoding."""
    found = b""
    for piece in _raw(path, compressed=compressed):
        found += piece
        if len(found) >= _LOOKED_AT:
            break
    return found


def _as_utf8(
    path: Path, pieces: Iterable[bytes], encoding: str, *, told: bool = True
) -> Iterator[bytes]:
    """Yield pieces as UTF-8; an error with the line, or one of Python's where nobody is told."""
    decoder = codecs.getincrementaldecoder(encoding)()
    n_lines, plain = 0, encoding == "utf-8"
    try:
        for piece in pieces:
            # What was ASCII before leaves nothing open.
            if plain and piece.isascii() and not decoder.getstate()[0]:
                found = piece
            else:
                found = decoder.decode(piece).encode()
            n_lines += found.count(b"\n")
            yield found
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError:
        if not told:
            raise
        raise InputError(undecodable(path, encoding, n_lines + 1)) from None


def expanded_size(path: Path, *, compressed: bool) -> float:
    """Return about how many bytes a file has, unpacked; from its beginning where it is packed."""
    size = float(path.stat().st_size)
    if not compressed:
        return size
    with path.open("rb") as file, gzip.GzipFile(fileobj=file) as unpacked:
        try:
            found = len(unpacked.read(PIECE))
        except (gzip.BadGzipFile, EOFError, zlib.error):
            return size  # told where it is read
        return max(size, float(found)) if found < PIECE else size * found / max(file.tell(), 1)


def record_blocks(pieces: Iterable[bytes], quote: str, n_bytes: int) -> Iterator[bytes | None]:
    r"""Yield blocks of about so many bytes that end where a record does.

    None stands for a block that does not end: a quotation mark opens a cell and none closes it for
    long. Nothing follows.

    Examples
    --------
    >>> list(record_blocks([b'a\n"b', b'\n"\nc\n', b'd'], '"', 3))
    [b'a\n', b'"b\n"\n', b'c\n', b'd']
    """
    mark, held = quote.encode(), b""
    sliced = (one[k : k + n_bytes] for one in pieces for k in range(0, len(one), n_bytes))
    for piece in sliced:
        held += piece
        if len(held) < n_bytes:
            continue
        end = _last_end(held, mark)
        if not end and len(held) > _MOST_BLOCKS * n_bytes:
            yield None
            return
        if end:
            yield held[:end]
            held = held[end:]
    if held:
        yield held


def _last_end(text: bytes, mark: bytes) -> int:
    """Return where the last record ends that is whole, by the number of marks before it."""
    end = text.rfind(b"\n")
    before = text.count(mark, 0, max(end, 0))
    while end >= 0:
        if before % 2 == 0:
            return end + 1
        earlier = text.rfind(b"\n", 0, end)
        before -= text.count(mark, max(earlier, 0), end)
        end = earlier
    return 0

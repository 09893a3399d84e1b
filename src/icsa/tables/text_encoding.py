"""Bytes of a text file to UTF-8 and back: encodings, line ends, and files that are no text."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from icsa.errors import InputError

__all__ = [
    "MARKS",
    "PIECE",
    "Text",
    "broken_gzip",
    "canonical_name",
    "encoding_name",
    "is_unusual",
    "is_utf16",
    "line_end",
    "load_text",
    "no_text",
    "nothing_inside",
    "refuse_other_formats",
    "undecodable",
]

# Bytes that are decoded at a time.
PIECE = 1 << 22
# How much of a text is looked at for signs of a file that is none.
_SIGNS = 8192

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

# How files of other programs begin; none of these can be the beginning of a text file.
_BEGINNINGS = (
    (b"PK\x03\x04", "a zip archive or a workbook", ".xlsx"),
    (b"PAR1", "a Parquet file", ".parquet"),
    (b"ARROW1", "an Arrow file", ".feather"),
    (b"\x1f\x8b", "compressed by gzip", ".csv.gz"),
    (b"$FL2", "an SPSS file", ".sav"),
    (b"$FL3", "an SPSS file", ".zsav"),
    (b"%PDF", "a PDF document", None),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word file", None),
)

_NAMES = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8 with a byte order mark",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16 (little endian)",
    "utf-16-be": "UTF-16 (big endian)",
    "cp1252": "Windows-1252",
    "iso8859-1": "Latin-1",
}


@dataclass(frozen=True, repr=False)
class Text:
    r"""A file's text as UTF-8 without a byte order mark, lines ending in ``\n`` or ``\r\n``."""

    data: bytes
    encoding: str
    newline: str


def encoding_name(encoding: str) -> str:
    """Return an encoding as people write it."""
    return _NAMES.get(encoding, encoding)


def load_text(path: Path, *, compressed: bool, encoding: str | None) -> Text:
    """Return a file's text, its encoding and its line ends, given or found from its bytes.

    A byte order mark decides. Without one, many zero bytes at every other place mean UTF-16; bytes
    that are valid UTF-8 are UTF-8; anything else is Windows-1252, or Latin-1 where that has no
    character.
    """
    data = _unpacked(path) if compressed else path.read_bytes()
    if not data[:PIECE].strip() and not data.strip():
        raise InputError(nothing_inside(path))
    refuse_other_formats(path, data)
    found = canonical_name(encoding, data) if encoding else _detected(data)
    if encoding or found != "utf-8":
        data = _as_utf8(path, data, found)
    zero = data.find(b"\0")
    if zero >= 0 or is_unusual(data):
        raise InputError(no_text(path, data.count(b"\n", 0, zero) + 1 if zero >= 0 else None))
    newline = line_end(data[:PIECE], has_newlines=b"\n" in data)
    if newline == "\r":
        data = data.replace(b"\r", b"\n")
    return Text(data.lstrip(b"\r\n") if data[:1] in b"\r\n" else data, found, newline)


def _unpacked(path: Path) -> bytes:
    try:
        return gzip.decompress(path.read_bytes())
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(broken_gzip(path)) from None


def broken_gzip(path: Path) -> str:
    """Return what to say of a file that gzip does not unpack."""
    return (
        f"{path} is not a whole gzip file. Copy it again, or take '.gz' off its name if it is "
        "not compressed."
    )


def nothing_inside(path: Path) -> str:
    """Return what to say of a file of white space."""
    return f"{path} is empty. Give a file with a header and rows."


def line_end(head: bytes, *, has_newlines: bool) -> str:
    """Return how lines end, by the beginning of a text and whether it has newlines anywhere."""
    if b"\r" in head and not has_newlines:
        return "\r"
    return "\r\n" if b"\r\n" in head else "\n"


def refuse_other_formats(path: Path, data: bytes) -> None:
    """Raise an error for bytes that begin like a file of another program."""
    for beginning, what, suffix in _BEGINNINGS:
        if data.startswith(beginning):
            remedy = f"Rename it to end in {suffix}." if suffix else "Save it as CSV first."
            raise InputError(f"{path} is not a text file: it looks like {what}. {remedy}")


def is_unusual(data: bytes) -> bool:
    """Return whether so many control characters are at the beginning that it is no text."""
    control = len(re.findall(rb"[\x01-\x08\x0e-\x1f]", data[:_SIGNS]))
    return control > 0.02 * min(len(data), _SIGNS)


def no_text(path: Path, line: int | None) -> str:
    """Return what to say of a file that is no text; `line` where a zero byte is."""
    where = "" if line is None else f" (line {line} has a zero byte)"
    return (
        f"{path} is not a text file that can be read{where}. Save it as CSV or give its "
        "encoding, such as utf-16."
    )


def canonical_name(encoding: str, data: bytes) -> str:
    """Return the name of an encoding that was given, for a file that begins like this."""
    try:
        name = codecs.lookup(encoding).name
        "a".encode(name)
    except (LookupError, UnicodeError):
        raise InputError(
            f"No encoding {encoding!r}. Use one such as utf-8, utf-16, windows-1252 or latin-1."
        ) from None
    if name == "utf-8" and data.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    return name


def _detected(data: bytes) -> str:
    for mark, name in MARKS:
        if data.startswith(mark):
            return name
    if (wide := is_utf16(data[:4096])) is not None:
        return wide
    if _decodes(data, "utf-8"):
        return "utf-8"
    return "cp1252" if _decodes(data, "cp1252") else "iso8859-1"


def is_utf16(head: bytes) -> str | None:
    """Return which UTF-16 a text is in that has zeros at every other place; None for neither."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if max(even, odd) > 0.4 * len(head) / 2 and min(even, odd) < 0.1 * len(head) / 2:
        return "utf-16-le" if odd > even else "utf-16-be"
    return None


def undecodable(path: Path, encoding: str, line: int) -> str:
    """Return what to say of a file that is not in an encoding, from a line on."""
    return (
        f"{path} is not {encoding_name(encoding)} (from line {line} on). "
        "Give another encoding, such as utf-8, utf-16 or windows-1252."
    )


def _decoded(data: bytes, encoding: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)()
    for start in range(0, len(data), PIECE):
        yield decoder.decode(data[start : start + PIECE])
    yield decoder.decode(b"", final=True)


def _decodes(data: bytes, encoding: str) -> bool:
    if data.isascii() and encoding == "utf-8":
        return True
    try:
        for _ in _decoded(data, encoding):
            pass
    except UnicodeError:
        return False
    return True


def _as_utf8(path: Path, data: bytes, encoding: str) -> bytes:
    if encoding == "utf-8" and data.isascii():
        return data
    parts: list[bytes] = []
    try:
        for part in _decoded(data, encoding):
            parts.append(part.encode())
    except UnicodeError:
        line = b"".join(parts).count(b"\n") + 1
        raise InputError(undecodable(path, encoding, line)) from None
    return b"".join(parts)

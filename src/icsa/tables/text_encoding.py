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

__all__ = ["Text", "encoding_name", "load_text"]

_CHUNK = 1 << 22

_MARKS = (
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
    if not data[:_CHUNK].strip() and not data.strip():
        raise InputError(f"{path} is empty. Give a file with a header and rows.")
    _refuse_other_formats(path, data)
    found = _canonical(encoding, data) if encoding else _detected(data)
    if encoding or found != "utf-8":
        data = _as_utf8(path, data, found)
    _refuse_binary(path, data)
    head = data[:_CHUNK]
    newline = "\r\n" if b"\r\n" in head else "\n"
    if b"\r" in head and b"\n" not in data:
        newline, data = "\r", data.replace(b"\r", b"\n")
    return Text(data.lstrip(b"\r\n") if data[:1] in b"\r\n" else data, found, newline)


def _unpacked(path: Path) -> bytes:
    try:
        return gzip.decompress(path.read_bytes())
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(
            f"{path} is not a whole gzip file. Copy it again, or take '.gz' off its name if it is "
            "not compressed."
        ) from None


def _refuse_other_formats(path: Path, data: bytes) -> None:
    for beginning, what, suffix in _BEGINNINGS:
        if data.startswith(beginning):
            remedy = f"Rename it to end in {suffix}." if suffix else "Save it as CSV first."
            raise InputError(f"{path} is not a text file: it looks like {what}. {remedy}")


def _refuse_binary(path: Path, data: bytes) -> None:
    control = len(re.findall(rb"[\x01-\x08\x0e-\x1f]", data[:8192]))
    zero = data.find(b"\0")
    if zero >= 0 or control > 0.02 * min(len(data), 8192):
        line = data.count(b"\n", 0, max(zero, 0)) + 1
        where = f" (line {line} has a zero byte)" if zero >= 0 else ""
        raise InputError(
            f"{path} is not a text file that can be read{where}. Save it as CSV or give its "
            "encoding, such as utf-16."
        )


def _canonical(encoding: str, data: bytes) -> str:
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
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    head = data[:4096]
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if max(even, odd) > 0.4 * len(head) / 2 and min(even, odd) < 0.1 * len(head) / 2:
        return "utf-16-le" if odd > even else "utf-16-be"
    if _decodes(data, "utf-8"):
        return "utf-8"
    return "cp1252" if _decodes(data, "cp1252") else "iso8859-1"


def _decoded(data: bytes, encoding: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)()
    for start in range(0, len(data), _CHUNK):
        yield decoder.decode(data[start : start + _CHUNK])
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
        raise InputError(
            f"{path} is not {encoding_name(encoding)} (from line {line} on). "
            "Give another encoding, such as utf-8, utf-16 or windows-1252."
        ) from None
    return b"".join(parts)

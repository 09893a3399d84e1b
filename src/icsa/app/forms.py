"""What a page sends: small fields, and at most one file, written to a folder as it comes."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from hmac import compare_digest
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import parse_qsl

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request

from icsa.errors import InputError

__all__ = ["MOST_UPLOADED", "Form", "NotOursError", "read_form", "safe_name"]

# A text file takes about four times its size in memory while it is read: more than this is better
# read where it lies than copied first.
MOST_UPLOADED = 2**30
# Without a file. A schema has some 200 bytes a column.
_MOST_TEXT = 4 * 2**20
_LONGEST_STEM, _LONGEST_SUFFIX = 80, 12


class NotOursError(Exception):
    """A form that no page of this start made."""


@dataclass
class Form:
    """The fields of a form, all values of each; and the file, if one came."""

    fields: dict[str, list[str]] = field(default_factory=dict)
    file: Path | None = None

    def one(self, name: str, otherwise: str = "") -> str:
        """Return the last value of a field."""
        return self.fields.get(name, [otherwise])[-1]

    def every(self, name: str) -> list[str]:
        """Return all values of a field."""
        return self.fields.get(name, [])


def safe_name(given: str, otherwise: str = "table") -> str:
    r"""Return the name of a file without what means something to a system or a terminal.

    Parameters
    ----------
    given : str
        What a browser calls it.
    otherwise : str
        What it is called where nothing is left.

    Examples
    --------
    >>> safe_name("../../etc/passwd"), safe_name("Z:\\Potilaat 2024.csv"), safe_name(".csv")
    ('passwd', 'Potilaat 2024.csv', 'table.csv')
    """
    last = unicodedata.normalize("NFC", given).replace("\\", "/").rpartition("/")[2]
    kept = "".join(sign if sign.isalnum() or sign in " ._-" else "_" for sign in last)
    stem, dot, suffix = kept.rpartition(".")
    stem, suffix = (stem, suffix.strip(" _-")[:_LONGEST_SUFFIX]) if dot else (suffix, "")
    stem = stem.strip(" ._-")[:_LONGEST_STEM] or otherwise
    return f"{stem}.{suffix}" if suffix else stem


async def read_form(request: Request, csrf: str, folder: Path, most: int = MOST_UPLOADED) -> Form:
    """Return what was sent, if a page of ours sent it.

    Parameters
    ----------
    request : Request
    csrf : str
        Which every form has as its first field.
    folder : Path
        Where a file goes, under a safe name.
    most : int
        Bytes that a file may have.

    Raises
    ------
    NotOursError
        The field is missing or another's, before anything is kept.
    InputError
        It is too large, or no form.
    """
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind == b"multipart/form-data" and b"boundary" in options:
        return await _Parts(options[b"boundary"], csrf, folder, most).read(request.stream())
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_TEXT:
            raise InputError(f"That is longer than {_MOST_TEXT:,} bytes. Shorten it.")
    form = Form()
    for name, value in parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True):
        form.fields.setdefault(name, []).append(value)
    _require_ours(form, csrf)
    return form


def _require_ours(form: Form, csrf: str) -> None:
    if not compare_digest(form.one("csrf").encode(), csrf.encode()):
        raise NotOursError


class _Parts:
    """A form in parts: fields are kept, a file is written as it comes."""

    def __init__(self, boundary: bytes, csrf: str, folder: Path, most: int) -> None:
        self._form, self._csrf, self._folder, self._most = Form(), csrf, folder, most
        self._headers: dict[bytes, bytes] = {}
        self._header = b"", b""
        self._name, self._held = "", b""
        self._file: BinaryIO | None = None
        self._written = self._kept = 0
        self._too_large = self._complete = False
        calls: Any = {
            "on_part_begin": self._begin,
            "on_header_field": lambda data, start, end: self._on_header(data[start:end], b""),
            "on_header_value": lambda data, start, end: self._on_header(b"", data[start:end]),
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_finished,
            "on_part_data": lambda data, start, end: self._data(data[start:end]),
            "on_part_end": self._end,
            "on_end": self._all_came,
        }
        self._parser = MultipartParser(boundary, calls)

    async def read(self, chunks: AsyncIterator[bytes]) -> Form:
        """Return the form; where it is refused, nothing of its file is left."""
        try:
            async for chunk in chunks:  # to the end: who still sends does not hear an answer
                if not self._too_large:
                    self._parser.write(chunk)
            if self._too_large:
                raise InputError(
                    f"The file is larger than {self._most / 2**20:,.0f} MB, the most that is taken "
                    "over from a browser. Type its path instead: then it is read where it lies."
                )
            self._parser.finalize()
            if not self._complete:
                raise InputError("The upload stopped before its end. Choose the file again.")
            _require_ours(self._form, self._csrf)
        except BaseException as error:
            self._close()
            if self._form.file is not None:
                self._form.file.unlink(missing_ok=True)
            if isinstance(error, FormParserError):
                raise InputError("What the browser sent is no form. Load the page again.") from None
            raise
        return self._form

    def _begin(self) -> None:
        self._headers, self._held = {}, b""

    def _on_header(self, name: bytes, value: bytes) -> None:
        self._header = self._header[0] + name, self._header[1] + value

    def _header_end(self) -> None:
        self._headers[self._header[0].lower()] = self._header[1]
        self._header = b"", b""

    def _headers_finished(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        self._name = options.get(b"name", b"").decode("utf-8", "replace")
        given = options.get(b"filename")
        if given is None or self._form.file is not None:
            return
        _require_ours(self._form, self._csrf)  # the first field: no file of another page is kept
        if not given:  # nothing was chosen
            return
        path = self._folder / safe_name(given.decode("utf-8", "replace"))
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._file, self._form.file = os.fdopen(descriptor, "wb"), path

    def _data(self, data: bytes) -> None:
        if self._file is not None:
            self._written += len(data)
            self._too_large = self._written > self._most
            if not self._too_large:
                self._file.write(data)
            return
        self._kept += len(data)
        if self._kept > _MOST_TEXT:
            raise InputError(f"The fields are longer than {_MOST_TEXT:,} bytes. Shorten them.")
        self._held += data

    def _end(self) -> None:
        if self._file is not None:
            self._close()
        else:
            self._form.fields.setdefault(self._name, []).append(
                self._held.decode("utf-8", "replace")
            )

    def _all_came(self) -> None:
        self._complete = True

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

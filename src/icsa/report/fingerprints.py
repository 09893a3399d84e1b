"""Which files a report is about: its fingerprints, read again and held against files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import msgspec

from icsa.assessment.document import Document
from icsa.assessment.document_parts import HandedIn
from icsa.errors import InputError
from icsa.files import fingerprint, require_readable
from icsa.tables.stored import files_of

__all__ = ["FINGERPRINTS", "Matched", "embedded_fingerprints", "match_files", "read_handed_in"]

# The name of the element of a page that machines read.
FINGERPRINTS = "icsa-handed-in"


class _Embedded(msgspec.Struct, frozen=True):
    """What of a report machines read: any JSON of an assessment has it too."""

    edition: str
    handed_in: HandedIn


@dataclass(frozen=True)
class Matched:
    """A file, and what it is in a report; where it is nothing, why not."""

    path: Path
    roles: tuple[str, ...]
    why: str = ""


class _Page(HTMLParser):
    """A page, of which one element is read."""

    found: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "meta" and named.get("name") == FINGERPRINTS and self.found is None:
            self.found = named.get("content")


def embedded_fingerprints(document: Document) -> str:
    """Return what a page of a document holds for machines."""
    known = _Embedded(edition=document.edition, handed_in=document.handed_in)
    return msgspec.json.encode(known).decode()


def read_handed_in(path: Path) -> HandedIn:
    """Return what a report says was handed in.

    Parameters
    ----------
    path : Path
        A page or a JSON file of either edition.

    Raises
    ------
    InputError
        It is neither, or of another version.
    """
    require_readable(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise _unreadable(path) from None
    if text.lstrip()[:1] != "{":
        page = _Page()
        page.feed(text)
        if page.found is None:
            raise _unreadable(path)
        text = page.found
    try:
        return msgspec.json.decode(text, type=_Embedded).handed_in
    except msgspec.DecodeError:
        raise _unreadable(path) from None


def match_files(handed: HandedIn, paths: Sequence[Path]) -> list[Matched]:
    """Return for each file, of folders and patterns too, which of those it is that were handed in.

    Examples
    --------
    >>> nothing = HandedIn(files=[], date="", prepared_by="", decided_by="")
    >>> match_files(nothing, [])
    []
    """
    return [_matched(handed, file) for path in paths for file in files_of(path)]


def _matched(handed: HandedIn, path: Path) -> Matched:
    sha256 = fingerprint(path)
    roles = tuple(file.role for file in handed.files if file.sha256 == sha256)
    if roles:
        return Matched(path, roles)
    known = [file for file in handed.files if file.sha256]
    if not known:
        return Matched(path, (), "the report has no fingerprint: it was made from data frames")
    named = [file.role for file in known if file.name == path.name]
    if named:
        return Matched(path, (), f"the {named[0]} had this name, with other bytes")
    listed = ", ".join(file.role for file in known)
    return Matched(path, (), f"the report has fingerprints of: {listed}")


def _unreadable(path: Path) -> InputError:
    return InputError(
        f"{path} cannot be read as a report of icsa. Give the HTML of --report or --public-report, "
        "or the JSON of --json or --public-json, as this version writes them."
    )

"""What is known of the work at hand: the file, its schema with all that it was, releases, choices.

A project's folder keeps it: schema, choices, releases and reports; never a key, and never a file
that was uploaded.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from icsa.app.forms import safe_name
from icsa.app.places import PROJECT_FILE
from icsa.errors import InputError
from icsa.files import write_text_atomically

__all__ = ["READING", "Project", "Tried"]

READING = ("separator", "decimal", "encoding", "sheet")
_VERSION = 1
_SCHEMA = "schema.toml"
# Texts that undo can go back to.
_MOST_UNDONE = 200


@dataclass
class Tried:
    """A release that was made: how, and what came out.

    Attributes
    ----------
    number : int
        From 1, in the order in which they were made.
    choices : dict
        Recipe, method and mask, where they are not the usual ones.
    schema : str
        Its text when the release was made.
    file : str
        Name of the release's file in its folder.
    word : str
    beyond : list of int
        Columns that differ from the original by more than chance, and those that were judged.
    exposed : int
        People who are not hidden.
    loss : str
        What analysts lose, in a sentence.
    models : list of str
        Formulas of its user's own, each assessed into a file of its own.
    """

    number: int
    choices: dict[str, str]
    schema: str
    file: str
    made: str = field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC")
    seconds: float = 0.0
    word: str = ""
    beyond: list[int] = field(default_factory=list)
    exposed: int = 0
    loss: str = ""
    models: list[str] = field(default_factory=list)


@dataclass
class Project:
    """The state that all tabs show.

    Attributes
    ----------
    scratch : Path
        The folder that goes at the end.
    folder : Path, optional
        That stays, if its user gave one.
    file : dict
        ``path``, and how it is to be read; empty for none.
    found : dict
        What was found when it was opened; empty while it is not.
    texts : list of str
        The schema as it was, and as it is: the last.
    view : dict
        What the desk says of the last text.
    revision : int
        Of the schema: a page that shows an older one does not replace a newer.
    """

    scratch: Path
    folder: Path | None = None
    file: dict[str, Any] = field(default_factory=dict)
    found: dict[str, Any] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    view: dict[str, Any] = field(default_factory=dict)
    choices: dict[str, str] = field(default_factory=dict)
    tried: list[Tried] = field(default_factory=list)
    marked: int | None = None
    prepared_by: str = ""
    decided_by: str = ""
    find: str = ""
    sha256: str = ""
    advice: dict[str, Any] = field(default_factory=dict)
    revision: int = 0

    @property
    def is_open(self) -> bool:
        """Whether a table lies on the desk."""
        return bool(self.found)

    @property
    def text(self) -> str:
        """The schema as it is."""
        return self.texts[-1] if self.texts else ""

    @property
    def problem(self) -> str:
        """What is wrong with the schema; nothing where it holds."""
        return str(self.view.get("problem", ""))

    def take_schema(self, view: dict[str, Any]) -> None:
        """Have a text that the desk has looked at be the schema; the one before can be had back."""
        if view["text"] != self.text:
            self.texts = [*self.texts[-_MOST_UNDONE:], view["text"]]
            self.revision += 1
        self.view = view
        self.save()

    def release(self, number: int) -> Tried:
        """Return a release by its number.

        Raises
        ------
        InputError
            There is none.
        """
        for one in self.tried:
            if one.number == number:
                return one
        raise InputError("There is no such release. Choose one of those that are listed.")

    def folder_of(self, number: int) -> Path:
        """Return the folder of a release."""
        return (self.folder or self.scratch) / "releases" / str(number)

    @property
    def comparison(self) -> Path:
        """The folder of the comparison of ways to release the table."""
        return (self.folder or self.scratch) / "comparison"

    def new_folder(self) -> tuple[int, Path]:
        """Return the number of the next release, and an empty folder for it."""
        number = max((one.number for one in self.tried), default=0) + 1
        folder = self.folder_of(number)
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(mode=0o700)
        return number, folder

    def forget(self) -> None:
        """Put the table away, with its schema and its releases."""
        for one in self.tried:
            shutil.rmtree(self.folder_of(one.number), ignore_errors=True)
        self.file, self.found, self.texts, self.view, self.tried = {}, {}, [], {}, []
        shutil.rmtree(self.comparison, ignore_errors=True)
        self.marked, self.sha256, self.find, self.choices, self.advice = None, "", "", {}, {}
        self.save()

    def save(self) -> None:
        """Keep it in the project's folder, if there is one."""
        if self.folder is None:
            return
        uploaded = self.file.get("uploaded", False)
        kept = {
            "version": _VERSION,
            "name": self.file.get("name", ""),
            "path": None if uploaded else self.file.get("path"),
            "sha256": self.sha256,
            "reading": {key: self.file.get(key) for key in READING if self.file.get(key)},
            "choices": self.choices,
            "advice": self.advice,
            "releases": [asdict(one) for one in self.tried],
            "handed_out": self.marked,
            "prepared_by": self.prepared_by,
            "decided_by": self.decided_by,
        }
        _write(self.folder / _SCHEMA, self.text)
        _write(self.folder / PROJECT_FILE, json.dumps(kept, indent=2, ensure_ascii=False) + "\n")

    @classmethod
    def restored(cls, scratch: Path, folder: Path | None) -> Project:
        """Return the project of a folder as it was left; a new one where there is none.

        Raises
        ------
        InputError
            What is in the folder cannot be read.
        """
        if folder is None or not (folder / PROJECT_FILE).is_file():
            return cls(scratch=scratch, folder=folder)
        try:
            kept = json.loads((folder / PROJECT_FILE).read_text(encoding="utf-8"))
            if kept["version"] != _VERSION:
                raise ValueError("another version")
            text = (folder / _SCHEMA).read_text(encoding="utf-8")
            tried = [Tried(**one) for one in kept["releases"]]
            names = [kept["name"], *(one.file for one in tried)]
            if any(name and safe_name(name) != name for name in names):
                raise ValueError("no name of a file")
            if not all(isinstance(one.number, int) for one in tried):
                raise ValueError("no number of a release")
            _remove_unfinished(folder, {str(one.number) for one in tried})
            file = {"name": kept["name"], "path": kept["path"], **kept["reading"]}
            file["uploaded"] = kept["path"] is None
            return cls(
                scratch=scratch,
                folder=folder,
                file=file if kept["name"] else {},
                texts=[text] if text else [],
                choices=kept["choices"],
                advice=kept["advice"],
                tried=[one for one in tried if (folder / "releases" / str(one.number)).is_dir()],
                marked=kept["handed_out"],
                prepared_by=kept["prepared_by"],
                decided_by=kept["decided_by"],
                sha256=kept["sha256"],
            )
        except (ValueError, KeyError, TypeError, OSError) as error:
            raise InputError(
                f"{folder / PROJECT_FILE} cannot be read as a project ({type(error).__name__}). "
                "Give another --folder."
            ) from None


def _remove_unfinished(folder: Path, finished: set[str]) -> None:
    """Remove what a server that was killed was at: the original could stand in it."""
    for place in (*folder.glob("releases/*"), folder / "racing"):
        unfinished = place / "model" if place.name in finished else place
        shutil.rmtree(unfinished, ignore_errors=True)


def _write(path: Path, text: str) -> None:
    write_text_atomically(path, text)
    path.chmod(0o600)

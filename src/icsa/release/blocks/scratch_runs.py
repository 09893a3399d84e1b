"""The scratch folder of a run: made for its owner alone, found again, removed at the end."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Any

from icsa.errors import InputError
from icsa.jobs.folder import locked
from icsa.randomness import Key

__all__ = ["Run", "is_there", "leftovers", "opened_scratch"]

_PREFIX = ".icsa-scratch-"
_NOTE = "run.json"


class Run:
    """What tells one run from another: the input, what is done to it, and the key.

    Parameters
    ----------
    facts : mapping
        Of the input's files and the options, in values that fit into JSON.
    key : Key
        Only what it gives for this purpose is looked at, which tells nothing of the key.
    resumable : bool
        Whether the same key can be had again.
    command : str
        What runs, for the next command to tell of what it left.
    """

    def __init__(
        self,
        facts: Mapping[str, Any],
        key: Key,
        *,
        resumable: bool,
        command: str = "icsa anonymize",
    ) -> None:
        mark = key.stream("scratch").random_bytes(16).tobytes().hex()
        text = json.dumps({**facts, "key": mark}, sort_keys=True, default=str)
        self.name = hashlib.sha256(text.encode()).hexdigest()[:16]
        self.about = str(facts.get("input", ""))
        self.resumable = resumable
        self.command = command

    def note(self) -> str:
        """Return what its folder says of it, for whoever finds it."""
        said = {"input": self.about, "command": self.command, "resumable": self.resumable}
        return json.dumps(said)


@contextmanager
def opened_scratch(base: Path, run: Run, *, resume: bool) -> Iterator[Path]:
    """Give the scratch folder of a run within a folder.

    It is removed when all is done and after errors. It stays after an interruption, and where the
    process is killed; what stays is gone on with if `resume` is said, and is in the way if not.
    """
    folder = _folder(base, run)
    if folder.exists() and not resume:
        if _is_locked(folder):
            raise InputError(
                f"Another process runs this command, and computes in {folder}. Wait for it."
            )
        raise InputError(
            f"{folder} is what an interrupted run of this command left "
            f"({_gigabytes(folder)}; it holds what the table holds). Add --resume to go on with "
            f"it, or remove it: rm -r {quote(str(folder))}"
        )
    with _telling_where(base):
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)  # whatever the umask says
    with locked(folder):
        try:
            with _telling_where(base):
                (folder / _NOTE).write_text(run.note(), encoding="utf-8")
            yield folder
        except KeyboardInterrupt as stop:
            if run.resumable:
                stop.add_note(f"What is done so far is in {folder}: --resume goes on with it.")
            else:
                _remove(folder)
            raise
        except BaseException:
            _remove(folder)
            raise
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a scratch folder, an interruption notwithstanding.

    Under another name and without its note: workers that are not done yet find it no more, and
    nobody goes on with what is left of it should this process be killed.
    """
    going = folder.with_name(f"{folder.name}-{secrets.token_hex(4)}")
    (folder / _NOTE).unlink(missing_ok=True)
    try:
        folder.replace(going)
        shutil.rmtree(going, ignore_errors=True)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
    except KeyboardInterrupt:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(going, ignore_errors=True)
        raise


@contextmanager
def _telling_where(base: Path) -> Iterator[None]:
    """Have an error of the disk say which folder cannot hold scratch files."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{base} cannot hold scratch files ({error.strerror}). Give another --scratch."
        ) from None


def _folder(base: Path, run: Run) -> Path:
    return base / f"{_PREFIX}{run.name}"


def is_there(base: Path, run: Run) -> bool:
    """Return whether an interrupted run like this one left its scratch in a folder."""
    return _folder(base, run).exists()


def leftovers(base: Path, run: Run) -> list[str]:
    """Return a sentence on each scratch folder that a killed run of another command left."""
    found = []
    for folder in sorted(base.glob(f"{_PREFIX}*")):
        own = folder.name == f"{_PREFIX}{run.name}"
        if own or _is_of_others(folder) or _is_locked(folder):
            continue
        try:
            said = json.loads((folder / _NOTE).read_text(encoding="utf-8"))
            about, command, resumable = said["input"], said["command"], said["resumable"]
        except (OSError, ValueError, KeyError, TypeError):
            about, command, resumable = "a table", "icsa", False
        on = (
            "Go on with it by that command and --resume, or remove it"
            if resumable
            else "Nothing can go on with it: remove it"
        )
        found.append(
            f"{folder} was left by a run on {about} that was killed ({command}; "
            f"{_gigabytes(folder)}; it holds what the table holds). {on}: "
            f"rm -r {quote(str(folder))}"
        )
    return found


def _is_of_others(folder: Path) -> bool:
    """Return whether somebody else owns a folder: whether they are at work cannot be seen."""
    return hasattr(os, "getuid") and folder.stat().st_uid != os.getuid()


def _gigabytes(folder: Path) -> str:
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return f"{size / 1e9:.2g} GB"


def _is_locked(folder: Path) -> bool:
    try:
        with locked(folder):
            return False
    except InputError:
        return True
    except OSError:
        return False

"""The scratch folder of a run: made for its owner alone, found again, removed at the end."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from icsa.errors import InputError
from icsa.jobs.folder import locked
from icsa.randomness import Key

__all__ = ["Run", "leftovers", "opened_scratch"]

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
    """

    def __init__(self, facts: Mapping[str, Any], key: Key, *, resumable: bool) -> None:
        mark = key.stream("scratch").random_bytes(16).tobytes().hex()
        text = json.dumps({**facts, "key": mark}, sort_keys=True, default=str)
        self.name = hashlib.sha256(text.encode()).hexdigest()[:16]
        self.about = str(facts.get("input", ""))
        self.resumable = resumable


@contextmanager
def opened_scratch(base: Path, run: Run, *, resume: bool) -> Iterator[Path]:
    """Give the scratch folder of a run within a folder.

    It is removed when all is done and after errors. It stays after an interruption, and where the
    process is killed; what stays is gone on with if `resume` is said, and is in the way if not.
    """
    folder = base / f"{_PREFIX}{run.name}"
    if folder.exists() and not resume:
        raise InputError(
            f"{folder} is what an interrupted run of this command left "
            f"({_gigabytes(folder)}; it holds what the table holds). Add --resume to go on with "
            f"it, or remove it: rm -r {folder}"
        )
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{base} cannot hold scratch files ({error.strerror}). Give another --scratch."
        ) from None
    folder.chmod(0o700)  # whatever the umask says
    with locked(folder):
        (folder / _NOTE).write_text(json.dumps({"input": run.about}), encoding="utf-8")
        try:
            yield folder
        except KeyboardInterrupt as stop:
            if run.resumable:
                stop.add_note(f"What is done so far is in {folder}: --resume goes on with it.")
            else:
                shutil.rmtree(folder, ignore_errors=True)
            raise
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        shutil.rmtree(folder, ignore_errors=True)


def leftovers(base: Path, run: Run) -> list[str]:
    """Return a sentence on each scratch folder that a killed run of another command left."""
    found = []
    for folder in sorted(base.glob(f"{_PREFIX}*")):
        if folder.name == f"{_PREFIX}{run.name}" or _is_locked(folder):
            continue
        try:
            about = json.loads((folder / _NOTE).read_text(encoding="utf-8"))["input"]
        except (OSError, ValueError, KeyError):
            about = "a table"
        found.append(
            f"{folder} was left by a run on {about} that was killed ({_gigabytes(folder)}; it "
            "holds what the table holds). Go on with it by that command and --resume, or remove "
            f"it: rm -r {folder}"
        )
    return found


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

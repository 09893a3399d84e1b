"""Where files lie: a folder of this start that goes with it, and a project's that stays."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path

from icsa.errors import InputError

__all__ = ["PROJECT_FILE", "open_project_folder", "remove_left_behind", "start_folder"]

_PREFIX = "icsa-app-"
PROJECT_FILE = "project.json"


def start_folder() -> Path:
    """Return a new folder that only its owner may enter, named after this process."""
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))


def remove_left_behind() -> None:
    """Remove the folders of starts that were killed: their processes are no more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        number = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if number.isdecimal() and _is_own(folder) and not _is_alive(int(number)):
            shutil.rmtree(folder, ignore_errors=True)


def open_project_folder(folder: Path) -> Path:
    """Return a project's folder, made if it is not there, for its owner only.

    Raises
    ------
    InputError
        It is a file, may not be written to, holds something else than a project, or links: what is
        written to a project, and removed from it, lies in its folder.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file. Give --folder the name of a folder.")
    if not folder.parent.is_dir():
        raise InputError(f"There is no folder {folder.parent}. Make it first, or give another.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / PROJECT_FILE).is_file():
        raise InputError(
            f"{folder} holds other files and no project of icsa. Give --folder an empty or a new "
            "folder."
        )
    folder.mkdir(mode=0o700, exist_ok=True)
    _require_no_links(folder)
    if not os.access(folder, os.W_OK):
        raise InputError(f"{folder} may not be written to by you. Give another folder.")
    return folder.resolve()


def _require_no_links(folder: Path) -> None:
    for path in (*folder.iterdir(), *folder.glob("releases/*")):
        if path.is_symlink():
            raise InputError(
                f"{path} is a link, and a project has none. Remove it, or give another --folder."
            )


def _is_own(folder: Path) -> bool:
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and (
        not hasattr(os, "getuid") or found.st_uid == os.getuid()
    )


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's process has the number now
        return True
    return True

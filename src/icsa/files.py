"""Files: written as a whole or not at all, and what people wrote in TOML."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from icsa.errors import InputError

__all__ = [
    "UNFINISHED",
    "fingerprint",
    "folder_written_atomically",
    "is_pattern",
    "is_several",
    "read_toml",
    "require_not_empty",
    "require_readable",
    "write_atomically",
    "write_text_atomically",
]

# How the names of files begin that are being written; what a crash leaves behind has it too.
UNFINISHED = ".tmp-"

# What makes a name a pattern of several.
_PATTERN_SIGNS = frozenset("*?[")
# No room: on the disk, in the share of it that somebody may use, or under the size of a file.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_TRIED = bytes(1 << 16)


def is_several(path: Path) -> bool:
    """Return whether a name stands for several files: a folder, or a pattern."""
    return path.is_dir() or is_pattern(path)


def is_pattern(path: Path) -> bool:
    """Return whether a name stands for several: for files, or for folders, which is refused.

    Examples
    --------
    >>> is_pattern(Path("2024-*.parquet")), is_pattern(Path("2024-1.parquet"))
    (True, False)
    """
    if path.exists():
        return False
    return bool(_PATTERN_SIGNS & set(path.name)) or (path.name != "" and is_pattern(path.parent))


def require_not_empty(path: Path) -> None:
    """Raise an error in one sentence and a remedy if a file holds nothing."""
    if not path.stat().st_size:
        raise InputError(f"{path} is empty. Give a file with a header and rows.")


def require_readable(path: Path, remedy: str = "Check its name and its folder.") -> None:
    """Raise an error in one sentence and a remedy unless a file is there and may be read.

    Parameters
    ----------
    path : Path
    remedy : str
        What to do where there is no such file.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder. Give the name of a file in it.")
    try:
        with path.open("rb"):
            pass
    except PermissionError:
        raise PermissionError(
            f"{path} may not be read by you. Ask its owner for the right to read it, or for a copy."
        ) from None
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(f"There is no file {path}. {remedy}") from None


def fingerprint(path: Path) -> str:
    r"""Return the SHA-256 of a file's bytes, as 64 hexadecimal digits.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     _ = path.write_bytes(b"age\n41\n")
    ...     fingerprint(path)[:8]
    '545ee1f1'
    """
    require_readable(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_atomically(path: Path, writer: Callable[[Path], object]) -> None:
    """Write a file beside `path` and put it in its place when it is complete and on the disk.

    Whoever looks at `path`, after a crash too, sees the old file or the new one, never a part.
    Where the disk has no room, the error is an OSError that says so and names `path`, whatever the
    library raised that was writing.

    Parameters
    ----------
    path : Path
        The file to write; its folder must be there.
    writer : callable
        Gets the name to write to, which is in the same folder and ends like `path`.
    """
    beside = path.with_name(f"{UNFINISHED}{secrets.token_hex(4)}-{path.name}")
    try:
        writer(beside)
        _reach_the_disk(beside)
        beside.replace(path)
    except Exception as error:
        told = _about_the_disk(error, beside, path)
        if told is not None:
            raise told from None
        raise
    finally:
        beside.unlink(missing_ok=True)
    if os.name == "posix":  # the new name is on the disk when the folder is
        _reach_the_disk(path.parent)


@contextmanager
def folder_written_atomically(folder: Path, *, force: bool) -> Iterator[Path]:
    """Give a folder beside to write files to, and put it in its place when all are complete.

    Parameters
    ----------
    folder : Path
        It must not be there, but with `force`; then it is replaced.
    force : bool
    """
    beside = folder.with_name(f"{UNFINISHED}{secrets.token_hex(4)}-{folder.name}")
    beside.mkdir()
    try:
        yield beside
        if folder.exists() and force:
            shutil.rmtree(folder)
        beside.replace(folder)
    except OSError as error:
        if error.filename and Path(error.filename).parent == beside:  # a name that nobody gave
            error.filename = str(folder / Path(error.filename).name)
        raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def write_text_atomically(path: Path, text: str) -> None:
    r"""Write `text` as UTF-8 with ``\n`` at the ends of lines, as a whole or not at all."""
    write_atomically(path, lambda beside: beside.write_text(text, encoding="utf-8", newline="\n"))


def _about_the_disk(error: Exception, beside: Path, path: Path) -> OSError | None:
    """Return what the disk has to do with a file that could not be written; None if nothing."""
    cause = error if isinstance(error, OSError) and error.errno is not None else None
    if beside.exists() and (cause is None or cause.errno not in _NO_ROOM):
        cause = _lack_of_room(beside) or cause  # libraries seldom say why they could not write
    if cause is None:
        return None
    if cause.errno in _NO_ROOM:
        advice = "Make room on the disk of that folder, or write to another one."
        return OSError(cause.errno, f"{cause.strerror}. {advice}", str(path))
    # A name that nobody gave says nothing to whoever reads it.
    ours = cause.filename is None or str(cause.filename) == str(beside)
    return OSError(cause.errno, cause.strerror, str(path)) if ours else None


def _lack_of_room(beside: Path) -> OSError | None:
    """Return the error of a full disk when some more is written to a file; None where it fits."""
    try:
        with beside.open("ab") as file:
            file.write(_TRIED)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return error if error.errno in _NO_ROOM else None
    return None


def _reach_the_disk(path: Path) -> None:
    # Windows flushes only what is open for writing.
    descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_toml(path: Path, remedy: str) -> dict[str, Any]:
    """Return what a TOML file says.

    Parameters
    ----------
    path : Path
    remedy : str
        What to do where it is no TOML, but for a key that is there twice.

    Raises
    ------
    InputError
        It is not written in UTF-8, or no TOML; with the line.
    """
    import tomlkit  # needed by few
    from tomlkit.exceptions import TOMLKitError

    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not written in UTF-8. Save it as UTF-8.") from error
    try:
        return tomlkit.parse(text).unwrap()
    except TOMLKitError as error:
        where = f"{path}, line {_line_of(error, text)}"
        twice = re.search(r'Key "(.*)" already exists', str(error))
        if twice:
            raise InputError(
                f"{where}: the key {twice[1]!r} is there twice. Take one of the two out."
            ) from error
        reason = str(error).split(" at line")[0]
        raise InputError(f"{where}: this is no TOML ({reason}). {remedy}") from error


def _line_of(error: Exception, text: str) -> int:
    """Return the line that is wrong; the one parser does not always tell, the other does."""
    try:
        tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as other:
        found = re.search(r"at line (\d+)", str(other))
        if found and "already exists" in str(error):
            return int(found[1])
    return int(getattr(error, "line", 1))

"""TOML files that people wrote, and what is wrong with them in words."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from icsa.errors import InputError

__all__ = ["read_toml"]


def read_toml(path: Path, remedy: str) -> dict[str, Any]:
    r"""Return what a TOML file says.

    Parameters
    ----------
    path : Path
    remedy : str
        What to do where it is no TOML, but for a key that is there twice.

    Raises
    ------
    InputError
        It is not written in UTF-8, or no TOML; with the line.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "schema.toml"
    ...     _ = path.write_text("version = 1\n")
    ...     read_toml(path, "Repair it.")
    {'version': 1}
    """
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


def _line_of(error: TOMLKitError, text: str) -> int:
    """Return the line that is wrong; the one parser does not always tell, the other does."""
    try:
        tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as other:
        found = re.search(r"at line (\d+)", str(other))
        if found and "already exists" in str(error):
            return int(found[1])
    return int(getattr(error, "line", 1))

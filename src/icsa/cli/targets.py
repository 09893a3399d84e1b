"""Files that a command is to write: none of them an input, none twice, none over another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from icsa.errors import InputError

__all__ = ["require_free", "sheet_of"]


def require_free(
    outputs: Mapping[str, Path | None], inputs: Sequence[Path | None], *, force: bool
) -> None:
    """Refuse targets that would destroy something, before any work is done.

    Parameters
    ----------
    outputs : mapping of str to Path or None
        By the option that names them.
    inputs : sequence of Path or None
        Files that the command reads: never written to, with --force neither.
    force : bool
        Whether other files may be replaced.

    Examples
    --------
    >>> require_free({"--output": Path("a.csv"), "--save-key": Path("a.csv")}, [], force=True)
    Traceback (most recent call last):
    icsa.errors.InputError: --output and --save-key are the same file, a.csv. Give ...
    """
    read = {path.resolve() for path in inputs if path is not None}
    taken: dict[Path, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        place = path.resolve()
        if place in read:
            raise InputError(f"{path} is an input, which is never touched. Give another {option}.")
        if place in taken:
            raise InputError(
                f"{taken[place]} and {option} are the same file, {path}. Give each its own name."
            )
        taken[place] = option
        if path.exists() and not force:
            raise InputError(
                f"{path} is there already. Give another name, or --force to overwrite it."
            )
        if not path.parent.is_dir():
            raise InputError(f"{path.parent} is no folder. Make it first, or write elsewhere.")


def sheet_of(sheet: str | None) -> str | int | None:
    """Return a sheet's name, or its number from 1.

    Examples
    --------
    >>> sheet_of("2"), sheet_of("visits")
    (2, 'visits')
    """
    return int(sheet) if sheet is not None and sheet.isdecimal() else sheet

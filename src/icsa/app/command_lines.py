"""Command lines: those that the page runs, and those that would do the same."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

__all__ = [
    "anonymize_line",
    "assess_line",
    "compare_line",
    "inspect_line",
    "named",
    "reading_options",
    "schema_name",
    "shown",
]


def reading_options(file: Mapping[str, Any]) -> list[str]:
    """Return how a file is to be read, where somebody chose it.

    Examples
    --------
    >>> reading_options({"path": "a.csv", "separator": ";", "sheet": ""})
    ['--separator', ';']
    """
    keys = ("separator", "decimal", "encoding", "sheet")
    return [word for key in keys if file.get(key) for word in (f"--{key}", str(file[key]))]


def schema_name(file: Mapping[str, Any]) -> str:
    """Return what the schema of a file is called.

    Examples
    --------
    >>> schema_name({"name": "clinic.csv"})
    'clinic.toml'
    """
    return f"{_stem(file)}.toml"


def inspect_line(file: Mapping[str, Any]) -> list[str]:
    """Return the command that writes the schema of a file."""
    return ["inspect", named(file), *reading_options(file), "--schema-out", schema_name(file)]


def anonymize_line(
    file: Mapping[str, Any], choices: Mapping[str, str], output: str, *more: str
) -> list[str]:
    """Return the command that makes a release.

    Parameters
    ----------
    file : mapping
        ``name`` and ``path``, and how it is to be read.
    choices : mapping
        Recipe, method, mask.
    output : str
        The release's file.
    *more
        Options for reports.

    Examples
    --------
    >>> file = {"name": "a.csv", "path": "a.csv", "uploaded": True}
    >>> shown(anonymize_line(file, {"recipe": "topcode"}, "a.release.csv"))
    'icsa anonymize a.csv --schema a.toml --output a.release.csv --recipe topcode'
    """
    words = ["anonymize", named(file), *reading_options(file)]
    words += ["--schema", schema_name(file), "--output", output]
    return [*words, *_options(choices), *more]


def assess_line(file: Mapping[str, Any], output: str, *more: str) -> list[str]:
    """Return the command that assesses a release."""
    words = ["assess", named(file), output, *reading_options(file)]
    return [*words, "--schema", schema_name(file), *more]


def compare_line(file: Mapping[str, Any], *more: str) -> list[str]:
    """Return the command that races ways to release a table against each other."""
    return ["compare", named(file), *reading_options(file), "--schema", schema_name(file), *more]


def named(file: Mapping[str, Any]) -> str:
    """Return a file as a command names it: by the path that was typed; an upload by its name."""
    return str(file["name"] if file.get("uploaded") else file["path"])


def shown(words: Sequence[str]) -> str:
    """Return a command as it is typed."""
    return shlex.join(["icsa", *words])


def _options(choices: Mapping[str, str]) -> list[str]:
    return [word for key, value in choices.items() if value for word in (f"--{key}", value)]


def _stem(file: Mapping[str, Any]) -> str:
    name = PurePath(str(file["name"]))
    return name.stem or "table"

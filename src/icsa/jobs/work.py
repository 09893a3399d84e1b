"""What work is: a config, the jobs that it becomes, and the function that does one."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Job", "Work", "as_record", "columns_of", "config_text", "digest"]

_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.,+=-]*")


@dataclass(frozen=True)
class Job:
    """A part of some work that can be computed on its own.

    Attributes
    ----------
    name : str
        Names its file, so: letters, digits and ``_ . , + = -`` only, once in a work.
    arguments : mapping
        What the work's function gets besides the config; it must fit into JSON.
    cost : float
        How long it takes compared with the work's other jobs: for the time left, and because
        long jobs start first. No result depends on it.
    """

    name: str
    arguments: Mapping[str, Any]
    cost: float = 1.0


@dataclass(frozen=True)
class Work:
    """Everything that determines the results.

    Attributes
    ----------
    name : str
        One word.
    config : frozen dataclass
        Every parameter, in values that fit into JSON; tuples become lists there.
    jobs : tuple of Job
        What is to be computed, in the order in which `read_parts` gives it.
    function : callable
        ``function(config, **job.arguments)`` returns the columns of a small table by name: arrays
        or lists of the same length. It must be pure, and a module must have it by its name, so that
        other processes find it.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Config:
    ...     seed: int = 1
    >>> jobs = (Job("two", {"x": 2}),)
    >>> work = Work("squares", Config(), jobs, lambda config, x: {"y": [x * x]})
    >>> print(config_text(work))
    {
      "study": "squares",
      "config": {
        "seed": 1
      },
      "jobs": 1,
      "jobs_sha256": "6dfd9f..."
    }
    """

    name: str
    config: DataclassInstance
    jobs: tuple[Job, ...]
    function: Callable[..., Mapping[str, Any]]

    def __post_init__(self) -> None:
        """Refuse names that cannot be those of files."""
        names = [job.name for job in self.jobs]
        bad = [name for name in names if not _FILE_NAME.fullmatch(name)]
        if bad:
            raise ValueError(f"A job's name must be that of a file: {bad[0]!r} is not.")
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"Two jobs have the name {twice!r}.")


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    """Return what a job found, a record a row, as the columns of its table."""
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def config_text(work: Work) -> str:
    """Return the work's config as JSON: what ``--show-config`` prints and ``config.json`` holds.

    The same config can become other jobs in another version of this package, so the text tells
    jobs apart as well.
    """
    lines = []
    for name, value in as_record(work).items():
        if name == "config":
            fields = (f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in value.items())
            lines.append('  "config": {\n' + ",\n".join(fields) + "\n  }")
        else:
            lines.append(f"  {json.dumps(name)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}"


def as_record(work: Work) -> dict[str, Any]:
    """Return what identifies work, in values as they come back from JSON."""
    jobs = [[job.name, dict(job.arguments)] for job in work.jobs]
    record = {
        "study": work.name,
        "config": dataclasses.asdict(work.config),
        "jobs": len(jobs),
        "jobs_sha256": digest(jobs),
    }
    restored: dict[str, Any] = json.loads(json.dumps(record, allow_nan=False))
    return restored


def digest(value: object) -> str:
    """Return the SHA-256 of a value's canonical JSON: the order of keys does not matter."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()

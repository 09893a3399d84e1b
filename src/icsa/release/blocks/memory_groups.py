"""The memory that a container or a queue gives to a process, which may be less than is free."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

__all__ = ["free_in_groups"]


class _Names(NamedTuple):
    """Where Linux mounts its groups, and what it calls the files of one and a line in them."""

    mount: str
    limit: str
    used: str
    spare: str


# Of its second version, and of its first. What is spare are files in memory, given back at need.
_SECOND = _Names("sys/fs/cgroup", "memory.max", "memory.current", "inactive_file")
_FIRST = _Names(
    "sys/fs/cgroup/memory",
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    "total_inactive_file",
)


def free_in_groups(root: Path = Path("/")) -> float:
    """Return the bytes that are left to this process's groups, and those around them; inf for all.

    Parameters
    ----------
    root : Path
        Of the file system, for tests.

    Examples
    --------
    >>> free_in_groups(Path("nowhere"))
    inf
    """
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return math.inf
    return min((_left_of(root, line) for line in lines), default=math.inf)


def _left_of(root: Path, line: str) -> float:
    """Return what is left to a group and those around it, from a line such as 0::/job_7/step_0."""
    _, controllers, path = (*line.split(":", 2), "", "")[:3]
    if controllers and "memory" not in controllers.split(","):
        return math.inf
    names = _FIRST if controllers else _SECOND
    group, left = root / names.mount / path.strip("/"), math.inf
    while group != root / names.mount:
        left = min(left, _left(group, names))
        group = group.parent
    return min(left, _left(group, names))


def _left(group: Path, names: _Names) -> float:
    try:
        limit = float(
            (group / names.limit).read_text(encoding="ascii")
        )  # or max, which is no number
        used = float((group / names.used).read_text(encoding="ascii"))
        told = (group / "memory.stat").read_text(encoding="ascii").splitlines()
        spare = sum(float(line.split()[1]) for line in told if line.startswith(f"{names.spare} "))
    except (OSError, ValueError, IndexError):
        return math.inf
    return max(limit - used + spare, 0.0)

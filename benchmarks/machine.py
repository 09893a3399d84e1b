"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.peers import glmnet, robustbase

__all__ = ["describe_machine"]

_PACKAGES = ("icsa", "numpy", "numba", "scipy", "scikit-learn", "cryptography")


def describe_machine() -> dict[str, object]:
    """Return cores, processor, memory, load and versions; what is not there is None."""
    versions: dict[str, str | None] = {"python": platform.python_version()}
    versions |= {name: _version(name) for name in _PACKAGES}
    server = robustbase()
    versions |= {"R": None, "robustbase": None} if server is None else server.versions
    lasso = glmnet()
    versions |= {"glmnet": None} if lasso is None else lasso.versions
    return {
        "cores": os.cpu_count(),
        "processor": _processor(),
        "memory_gib": _memory_gib(),
        "system": platform.platform(),
        "commit": _commit(),
        "load_at_start": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "versions": versions,
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """Return the commit that was measured, "-dirty" added where files differ from it."""
    command = ["git", "describe", "--always", "--dirty"]
    try:
        done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() or None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()


def _memory_gib() -> float | None:
    try:
        pages, page = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
    return round(pages * page / 2**30, 1)

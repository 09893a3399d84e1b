"""The folder of some work: its config, a Parquet part for every finished job, a manifest."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import textwrap
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from icsa.errors import InputError
from icsa.files import UNFINISHED, write_atomically, write_text_atomically
from icsa.jobs.work import Work, as_record, config_text, digest

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Parts", "PartsInMemory", "WorkFolder", "locked", "opened_folder", "versions"]

_PACKAGES = ("icsa", "numpy", "numba", "scipy", "scikit-learn")
_MAGIC = b"PAR1"  # a Parquet file begins and ends with it
# Seconds between two manifests: what a killed session loses of the time used.
_EVERY = 5.0


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that the numbers depend on."""
    found = {name: importlib.metadata.version(name) for name in _PACKAGES}
    return {"python": platform.python_version(), **found}


@contextmanager
def opened_folder(work: Work, out: Path) -> Iterator[WorkFolder]:
    """Give the folder `out` to this process: made if missing, checked to be that of `work`."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file. Name a folder.")
    (out / "parts").mkdir(parents=True, exist_ok=True)
    with locked(out):
        folder = WorkFolder(work, out)
        folder.check()
        folder.clean()
        yield folder


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Refuse a folder that another process computes in; the system frees it when that one ends."""
    try:
        import fcntl
    except ImportError:  # Windows: two processes would only do the same work twice
        yield
        return
    descriptor = os.open(out, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"Another process is computing in {out}. Wait for it, or name another folder."
            ) from None
        except OSError:  # a file system without locks
            pass
        yield
    finally:
        os.close(descriptor)


class PartsInMemory:
    """The tables of jobs, where nobody gave a folder for them."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self._tables: dict[str, pl.DataFrame] = {}

    def finished(self) -> set[str]:
        """Return the names of the jobs whose tables are here."""
        return set(self._tables)

    def write_part(self, name: str, columns: Mapping[str, np.ndarray]) -> None:
        """Keep the table of a finished job."""
        self._tables[name] = _as_frame(columns)

    def read(self) -> dict[str, np.ndarray]:
        """Return the columns of all tables, in the order of the jobs."""
        return _columns([self._tables[job.name] for job in self.work.jobs])

    @contextmanager
    def timed(self) -> Iterator[PartsInMemory]:
        """Keep no manifest."""
        yield self

    def refresh(self) -> None:
        """Do nothing: there is no manifest."""

    def complete_manifest(self) -> None:
        """Do nothing: there is no manifest."""


class WorkFolder:
    """A work's files in the folder `out`."""

    def __init__(self, work: Work, out: Path) -> None:
        self.work = work
        self.out = out
        self._names = {job.name for job in work.jobs}

    def check(self) -> None:
        """Raise an error unless the folder is empty or holds this very work; note its config."""
        config = self.out / "config.json"
        if config.exists():
            self._compare(_read_json(config))
        elif self.present():
            raise InputError(
                f"{self.out} holds parts of some work but no config.json that says of which. "
                "Name another folder."
            )
        else:
            write_text_atomically(config, config_text(self.work) + "\n")
        strange = sorted(self.present() - self._names)
        if strange:
            raise InputError(
                f"{self.out} holds parts that are none of this work's, such as {strange[0]!r}. "
                "Name another folder."
            )

    def _compare(self, there: Mapping[str, Any]) -> None:
        now = as_record(self.work)
        if there.get("study") != now["study"]:
            raise InputError(
                f"{self.out} holds results of {there.get('study')!r}, not "
                f"{now['study']!r}. Name another folder."
            )
        differences = _differences(there.get("config"), now["config"])
        if differences:
            raise InputError(
                f"{self.out} holds results of another configuration: {'; '.join(differences)}. "
                "Give the same options, or name another folder."
            )
        if there != now:
            raise InputError(
                f"{self.out} comes from a version of icsa that divides this work into other "
                "jobs. Name another folder."
            )

    def clean(self) -> None:
        """Remove what a killed process left half-written."""
        for folder in (self.out, self.out / "parts"):
            for path in folder.glob(f"{UNFINISHED}*"):
                path.unlink(missing_ok=True)

    def part(self, name: str) -> Path:
        """Return the file of a job."""
        return self.out / "parts" / f"{name}.parquet"

    def present(self) -> set[str]:
        """Return the names of the parts that are there."""
        names = {path.stem for path in self.out.glob("parts/*.parquet")}
        return {name for name in names if not name.startswith(UNFINISHED)}

    def finished(self) -> set[str]:
        """Return the names of the jobs whose parts are there; a damaged one is an error."""
        names = self.present() & self._names
        for name in sorted(names):
            if not _ends_as_parquet(self.part(name)):
                raise _damaged(self.part(name))
        return names

    def write_part(self, name: str, columns: Mapping[str, np.ndarray]) -> None:
        """Write the table of a finished job."""
        write_atomically(self.part(name), _as_frame(columns).write_parquet)

    def read(self) -> dict[str, np.ndarray]:
        """Return the columns of all parts, in the order of the jobs."""
        import polars as pl

        tables = []
        for job in self.work.jobs:
            try:
                tables.append(pl.read_parquet(self.part(job.name), hive_partitioning=False))
            except pl.exceptions.PolarsError:
                raise _damaged(self.part(job.name)) from None
        return _columns(tables)

    @contextmanager
    def timed(self) -> Iterator[_Manifest]:
        """Keep the manifest while a session computes."""
        manifest = _Manifest(self)
        try:
            yield manifest
        finally:
            manifest.write()

    def complete_manifest(self) -> None:
        """Write the manifest of finished work that was killed just before it could."""
        path = self.out / "manifest.json"
        if not path.exists() or _read_json(path).get("jobs_done") != len(self.work.jobs):
            _Manifest(self).write()


class _Manifest:
    """What is known of a run: versions, time used over all sessions, jobs done."""

    def __init__(self, folder: WorkFolder) -> None:
        self._folder = folder
        self._path = folder.out / "manifest.json"
        before = _read_json(self._path) if self._path.exists() else {}
        self._versions = versions()
        self._seconds_before = float(before.get("seconds", 0.0))
        known = [*before.get("earlier_versions", []), before.get("versions", self._versions)]
        self._earlier = [found for found in known if found != self._versions]
        self._start = self._written = time.monotonic()

    def refresh(self) -> None:
        """Write if the last time is some seconds ago."""
        if time.monotonic() - self._written > _EVERY:
            self.write()

    def write(self) -> None:
        """Write the state of now."""
        work = self._folder.work
        self._written = time.monotonic()
        record = {
            "study": work.name,
            "config_sha256": digest(as_record(work)),
            "jobs": len(work.jobs),
            "jobs_done": len(self._folder.present()),
            "seconds": round(self._seconds_before + self._written - self._start, 1),
            "versions": self._versions,
            "earlier_versions": self._earlier,
        }
        write_text_atomically(self._path, json.dumps(record, indent=2) + "\n")


# What keeps the tables of finished jobs.
Parts = PartsInMemory | WorkFolder


def _as_frame(columns: Mapping[str, np.ndarray]) -> pl.DataFrame:
    import polars as pl

    # Lists, so that None among numbers or words becomes a missing value.
    return pl.DataFrame({n: c.tolist() if c.dtype == object else c for n, c in columns.items()})


def _columns(tables: list[pl.DataFrame]) -> dict[str, np.ndarray]:
    import polars as pl

    whole = pl.concat(tables, how="vertical_relaxed") if tables else pl.DataFrame()
    return {column.name: column.to_numpy() for column in whole}


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InputError(f"{path} is damaged: it is no JSON object. Name another folder.")
    return found


def _ends_as_parquet(path: Path) -> bool:
    with path.open("rb") as part:
        if part.read(4) != _MAGIC:
            return False
        part.seek(-4, os.SEEK_END)
        return part.read() == _MAGIC


def _damaged(path: Path) -> InputError:
    return InputError(
        f"{path} is damaged. Delete it, and the same command will compute this part again."
    )


def _differences(there: object, now: Mapping[str, Any]) -> list[str]:
    """Return a line for every field that differs."""
    old = there if isinstance(there, dict) else {}
    return [
        f"{field} is {_shown(old, field)} there and {_shown(now, field)} now"
        for field in {**now, **old}
        if field not in old or field not in now or old[field] != now[field]
    ]


def _shown(config: Mapping[str, Any], field: str) -> str:
    if field not in config:
        return "missing"
    return textwrap.shorten(json.dumps(config[field]), 120, placeholder=" ...")

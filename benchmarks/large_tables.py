"""A release from files against polars' streaming copy of the same files.

Processor time of both and of an assessment, resident memory, the most room that scratch takes, how
time grows from a tenth of the rows, and what a second worker saves on the clock. Run it alone on a
machine::

    python -m benchmarks.large_tables --rows 10000000 --json out.json
    python -m benchmarks.large_tables --rows 10000000 --text
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import polars as pl
import psutil
from polars.io.plugins import register_io_source

N_COLUMNS = 20
_BLOCK = 250_000


def write_table(path: Path, n_rows: int) -> None:
    """Write measurements that go together, rounded or not, skewed or not; one in 100 far out."""
    mixing = 0.3 * np.random.default_rng(9).normal(size=(N_COLUMNS, N_COLUMNS)) + np.eye(N_COLUMNS)
    shapes = (
        lambda z: z.round(2),
        lambda z: np.exp(0.5 * z),
        lambda z: (50.0 + 10.0 * z).round(1),
        lambda z: z,
    )

    def blocks(*_: object) -> Iterator[pl.DataFrame]:
        for number, start in enumerate(range(0, n_rows, _BLOCK)):
            draw = np.random.default_rng([5, number])
            z = draw.normal(size=(min(_BLOCK, n_rows - start), N_COLUMNS)) @ mixing
            z[: z.shape[0] // 100] *= 6.0
            yield pl.DataFrame({f"x{j}": shapes[j % 4](z[:, j]) for j in range(N_COLUMNS)})

    schema = {f"x{j}": pl.Float64 for j in range(N_COLUMNS)}
    register_io_source(blocks, schema=schema).sink_parquet(path)


def room_of(folder: Path) -> int:
    """Return the bytes on disk of the scratch folders in a folder; files may go while we look."""
    found = 0
    for scratch in folder.glob(".icsa-scratch-*"):
        for inside, _, names in os.walk(scratch):  # which passes over folders that are gone
            for name in names:
                with suppress(OSError):
                    found += 512 * (Path(inside) / name).stat().st_blocks
    return found


def resident_together() -> int:
    """Return the resident bytes of all processes below this one; some may end while we look."""
    found = 0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            found += process.memory_info().rss
    return found


@contextmanager
def watched(folder: Path) -> Iterator[list[int]]:
    """Give the most room of scratch, and memory of all processes; looked at twice a second."""
    most, done = [0, 0], Event()

    def watch() -> None:
        while not done.wait(0.5):
            most[0] = max(most[0], room_of(folder))
            most[1] = max(most[1], resident_together())

    watcher = Thread(target=watch)
    watcher.start()
    try:
        yield most
    finally:
        done.set()
        watcher.join()


def timed(command: list[str], scratch: Path) -> dict[str, float]:
    """Return processor seconds, seconds, gigabytes of a command and its children, and of scratch.

    The memory is that of the largest process, and of all together, with what they share as often
    as they have it.
    """
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    # A process between, whose children are this command's alone: the largest is asked for.
    script = (
        "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:]).returncode; "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)"
    )
    with watched(scratch) as most:
        found = subprocess.run(
            [sys.executable, "-c", script, *command], check=True, stdout=subprocess.PIPE, text=True
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    largest = 1024 * int(found.stdout.split()[-1])
    return {
        "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "wall": time.perf_counter() - start,
        "gigabytes": largest / 1e9,
        "gigabytes together": max(largest, most[1]) / 1e9,
        "scratch": most[0] / 1e9,
    }


def measured(
    source: Path, n_rows: int, memory: str, workers: Sequence[int], target: Path | None = None
) -> dict[str, Any]:
    """Return the times of copies by polars and of releases of a table of so many rows."""
    folder, kind = source.parent, source.suffix[1:]
    target = target or folder / f"release.{kind}"
    copy = f"import polars; polars.scan_{kind}({str(source)!r}).sink_{kind}({str(target)!r})"
    found: dict[str, Any] = {"file": kind, "rows": n_rows, "columns": N_COLUMNS}
    found["copies"] = [timed([sys.executable, "-c", copy], folder)]
    for count in workers:
        found[f"{count} worker(s)"] = made = released(source, target, memory, folder, count)
        made["scratch, in tables as numbers"] = made["scratch"] / (8e-9 * n_rows * N_COLUMNS)
        print(json.dumps(found), file=sys.stderr, flush=True)
    if kind == "parquet":
        found["assessment"] = assessed(source, target, memory, folder)
    again = folder / f"copy.{kind}"  # the release stays
    found["copies"].append(
        timed([sys.executable, "-c", copy.replace(str(target), str(again))], folder)
    )
    again.unlink()
    found["cpu, in copies by polars"] = [
        found[f"{workers[0]} worker(s)"]["cpu"] / one["cpu"] for one in found["copies"]
    ]
    return found


def released(
    source: Path, target: Path, memory: str, folder: Path, workers: int
) -> dict[str, float]:
    """Return the times of a release from a file."""
    command = [*(sys.executable, "-m", "icsa", "anonymize", str(source)), "--seed", "1", "-q"]
    command += ["--output", str(target), "--force", "--memory", memory]
    return timed([*command, "--workers", str(workers), "--scratch", str(folder)], folder)


def assessed(source: Path, target: Path, memory: str, folder: Path) -> dict[str, float]:
    """Return the times of an assessment of a release from the files of both tables."""
    command = [*(sys.executable, "-m", "icsa", "assess", str(source), str(target)), "-q"]
    command += ["--memory", memory, "--scratch", str(folder), "--unit", "none"]
    return timed([*command, "--json", str(folder / "assessment.json"), "--force"], folder)


def main() -> None:
    """Measure, print, and write JSON where it is asked for."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rows", type=int, default=10_000_000)
    asked.add_argument("--memory", default="2GB")
    asked.add_argument("--folder", default=None)
    asked.add_argument("--json", default=None)
    asked.add_argument("--text", action="store_true", help="CSV files instead of Parquet")
    asked.add_argument("--table", default=None, help="one table that is there, of --rows rows")
    asked.add_argument("--release", default=None, help="where its release goes")
    options = asked.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if options.table:
        release = Path(options.release) if options.release else None
        found: Any = measured(Path(options.table), options.rows, options.memory, (1,), release)
    else:
        found = both_sizes(options.rows, options.memory, options.folder, text=options.text)
    print(json.dumps(found, indent=2))
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=2), encoding="utf-8")


def both_sizes(
    rows: int, memory: str, folder: str | None = None, *, text: bool = False
) -> dict[str, Any]:
    """Return the figures of a table, and of one with a tenth of its rows."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(dir=folder) as name:
        for size, n_rows, workers in (("small", rows // 10, (1,)), ("large", rows, (1, 2))):
            source = Path(name) / f"{n_rows}.parquet"
            write_table(source, n_rows)
            if text:
                as_text = source.with_suffix(".csv")
                pl.scan_parquet(source).sink_csv(as_text)
                source.unlink()
                source = as_text
            if size == "small":  # not counted: what an installation compiles once is compiled here
                released(source, source.with_stem("release"), memory, source.parent, 1)
            found[size] = measured(source, n_rows, memory, workers)
            source.unlink()
    times = [found[size]["1 worker(s)"]["cpu"] for size in ("small", "large")]
    found["exponent"] = math.log10(times[1] / times[0])
    return found


if __name__ == "__main__":
    main()

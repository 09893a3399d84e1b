"""A release from files against polars' streaming copy of the same Parquet.

Processor time of both, resident memory, how time grows from a tenth of the rows, and what a second
worker saves on the clock. Run it alone on a machine::

    python -m benchmarks.large_tables --rows 10000000 --json out.json
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
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

N_COLUMNS = 20
_BLOCK = 250_000
_COPY = "import polars; polars.scan_parquet({0!r}).sink_parquet({1!r})"


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


def timed(command: list[str]) -> dict[str, float]:
    """Return processor seconds, seconds and gigabytes of a command and its children."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    # A process between, whose children are this command's alone: the largest is asked for.
    script = (
        "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:]).returncode; "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)"
    )
    found = subprocess.run(
        [sys.executable, "-c", script, *command], check=True, stdout=subprocess.PIPE, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "wall": time.perf_counter() - start,
        "gigabytes": int(found.stdout.split()[-1]) / 1e6,
    }


def measured(folder: Path, n_rows: int, memory: str, workers: tuple[int, ...]) -> dict[str, object]:
    """Return the times of a copy and of releases of a table of so many rows."""
    source, target = folder / f"{n_rows}.parquet", folder / "release.parquet"
    write_table(source, n_rows)
    found: dict[str, object] = {"rows": n_rows, "columns": N_COLUMNS}
    found["copy"] = timed([sys.executable, "-c", _COPY.format(str(source), str(target))])
    for count in workers:
        command = [*(sys.executable, "-m", "icsa", "anonymize", str(source)), "--seed", "1", "-q"]
        command += ["--output", str(target), "--force", "--memory", memory]
        command += ["--workers", str(count), "--scratch", str(folder)]
        found[f"release, {count} worker(s)"] = timed(command)
        print(json.dumps(found), flush=True)
    found["copy again"] = timed([sys.executable, "-c", _COPY.format(str(source), str(target))])
    source.unlink()
    return found


def main() -> None:
    """Measure, print, and write JSON where it is asked for."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rows", type=int, default=10_000_000)
    asked.add_argument("--memory", default="2GB")
    asked.add_argument("--folder", default=None)
    asked.add_argument("--json", default=None)
    options = asked.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        small = measured(Path(name), options.rows // 10, options.memory, (1,))
        large = measured(Path(name), options.rows, options.memory, (1, 2))
    one, two = (large[f"release, {count} worker(s)"] for count in (1, 2))
    before = small["release, 1 worker(s)"]
    copies = [large["copy"]["cpu"], large["copy again"]["cpu"]]  # type: ignore[index]
    summary = {
        "cpu, in copies by polars": one["cpu"] / (sum(copies) / 2),  # type: ignore[index]
        "exponent": math.log10(one["cpu"] / before["cpu"]),  # type: ignore[index]
        "gigabytes": one["gigabytes"],  # type: ignore[index]
        "wall, 1 worker": one["wall"],  # type: ignore[index]
        "wall, 2 workers": two["wall"],  # type: ignore[index]
    }
    print(json.dumps(summary, indent=2))
    if options.json:
        text = json.dumps({"small": small, "large": large, **summary}, indent=2)
        Path(options.json).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

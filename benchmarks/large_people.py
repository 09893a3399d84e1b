"""A release from files of a table with several rows a person: time, memory and scratch.

How time grows from a tenth of the rows. Run it alone on a machine::

    python -m benchmarks.large_people --people 1000000 --memory 1GB
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.large_tables import timed

_A_PART = 100_000


def visits(number: int, n_people: int, rows_each: int = 10) -> pl.DataFrame:
    """Return about so many visits each of some people; five columns are theirs, ten the visits'."""
    draw = np.random.default_rng([7, number])
    sizes = 1 + draw.poisson(rows_each - 1, n_people)
    unit, starts = np.repeat(np.arange(n_people), sizes), np.cumsum(sizes) - sizes
    gaps = np.rint(draw.lognormal(4.0, 0.5, unit.size)) + 1.0
    gaps[starts] = 0.0
    day = np.cumsum(gaps)
    day -= np.repeat(day[starts], sizes)
    followed = day[np.cumsum(sizes) - 1] + draw.integers(0, 200, n_people)
    age = draw.integers(25, 80, n_people)
    level, slope = draw.normal(0.02 * (age - 50), 0.8), draw.normal(0.15, 0.1, n_people)
    y = level[unit] + slope[unit] * day / 365.0 + draw.normal(0.0, 0.3, unit.size)
    columns = {
        "id": (number * _A_PART + unit) * 7 + 1000,
        "day": day.astype(np.int64),
        "futime": followed[unit].astype(np.int64),
        "age": age[unit],
        "sex": np.array(["f", "m"])[draw.integers(0, 2, n_people)][unit],
        "kg": (70.0 + 9.0 * draw.normal(size=n_people)).round(1)[unit],
        "crp": np.exp(y).round(2),
    }
    for j in range(6):
        columns[f"lab{j}"] = (0.5 * y + draw.normal(0.3 * level[unit] * j, 1.0)).round(3)
    columns["pain"] = np.clip(np.rint(2 + 0.5 * y + draw.normal(0, 0.8, unit.size)), 0, 4)
    columns["flare"] = y + draw.normal(size=unit.size) > 1.0
    return pl.DataFrame(columns)


def measured(folder: Path, n_people: int, rows_each: int, memory: str) -> dict[str, float]:
    """Return what a release of so many people takes."""
    parts, scratch = folder / f"{n_people}", folder / f"{n_people} scratch"
    parts.mkdir()
    scratch.mkdir()
    n_rows, n_columns = 0, 0
    for number, start in enumerate(range(0, n_people, _A_PART)):
        frame = visits(number, min(_A_PART, n_people - start), rows_each)
        frame.write_parquet(parts / f"part-{number:04}.parquet")
        n_rows, n_columns = n_rows + frame.height, frame.width
    command = [sys.executable, "-m", "icsa", "anonymize", str(parts), "--seed", "1", "-q"]
    command += ["--unit", "id", "--time", "day", "--bound", "futime", "--memory", memory]
    found = timed([*command, "--scratch", str(scratch)], scratch)
    in_tables = 1e9 * found["scratch"] / (8 * n_rows * n_columns)
    return {"rows": n_rows, **found, "scratch, in tables": in_tables}


def main() -> None:
    """Measure and print."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--people", type=int, default=1_000_000)
    asked.add_argument("--rows-each", type=int, default=10)
    asked.add_argument("--memory", default="1GB")
    asked.add_argument("--folder", default=None)
    options = asked.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        small, large = (
            measured(Path(name), n_people, options.rows_each, options.memory)
            for n_people in (options.people // 10, options.people)
        )
    exponent = math.log10(large["cpu"] / small["cpu"])
    print(json.dumps({"small": small, "large": large, "exponent": exponent}, indent=2))


if __name__ == "__main__":
    main()

"""Whole tables from file to file: the command against polars reading and writing the same file."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.results import Case, Row, Target
from benchmarks.rows.settings import Settings

__all__ = ["cases"]

_NUMERIC, _CATEGORICAL = 15, 5
_TIMES, _TABLES = 5.0, 4.0


def cases(settings: Settings) -> Iterator[Case]:
    """Yield one case: time and memory are measured together."""
    rows = settings.choose(1_000_000, 20_000)
    name = f"anonymize CSV {rows}x{_NUMERIC + _CATEGORICAL}"
    yield Case(name, partial(_rows, name, rows, settings.choose(3, 1)))


def _rows(name: str, n_rows: int, rounds: int) -> list[Row]:
    frame = _table(n_rows)
    # Arrow keeps 16 bytes a cell for text besides letters that do not fit into them.
    size = n_rows * (8 * _NUMERIC + 16 * _CATEGORICAL)
    ours, theirs, peaks = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "table.csv", Path(folder) / "release.csv"
        frame.write_csv(source)
        del frame
        _anonymize(source, target)  # compiles what is not in the cache
        for _ in range(rounds):
            start = time.perf_counter()
            pl.read_csv(source).write_csv(target)
            theirs.append(time.perf_counter() - start)
            found = _anonymize(source, target)
            ours.append(found["seconds"])
            peaks.append(found["peak"])
    ratios = [peer / own for peer, own in zip(theirs, ours, strict=True)]
    peak = max(peaks)
    return [
        Row(
            name,
            statistics.median(ours),
            peer="polars read_csv + write_csv",
            peer_value=statistics.median(theirs),
            ratio=statistics.median(ratios),
            least_ratio=min(ratios),
            target=Target("ratio", 1 / _TIMES),
            remark="the whole command without its start; kinds guessed, relations looked for",
        ),
        Row(
            f"{name} memory",
            peak / size,
            unit="tables",
            target=Target("ours", _TABLES),
            remark=f"the process's peak, {peak / 1e6:.0f} MB, over a table of {size / 1e6:.0f} MB",
        ),
    ]


def _anonymize(source: Path, target: Path) -> dict[str, float]:
    """Return what a child process measured."""
    command = [sys.executable, "-m", "benchmarks.children.anonymize_file", str(source), str(target)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(result.stdout.splitlines()[-1])
    if found["code"] != 0:
        raise RuntimeError(result.stderr)
    return found


def _table(n_rows: int) -> pl.DataFrame:
    """Return correlated numbers with six decimals, some skewed, and categories to go with them."""
    generator = np.random.default_rng(0)
    hidden = generator.normal(size=(n_rows, 3))
    columns: dict[str, object] = {}
    for j in range(_NUMERIC):
        x = hidden @ generator.normal(size=3) + generator.normal(size=n_rows)
        columns[f"x{j}"] = np.round((np.exp(x / 3) if j % 3 == 1 else x) * 10.0 ** (j % 3), 6)
    for j in range(_CATEGORICAL):
        levels = 3 + j
        odds = np.exp(hidden @ generator.normal(size=(3, levels)))
        share = np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)
        drawn = (share > generator.random((n_rows, 1))).argmax(axis=1)
        columns[f"c{j}"] = np.array([f"level {level}" for level in range(levels)])[drawn]
    return pl.DataFrame(columns)

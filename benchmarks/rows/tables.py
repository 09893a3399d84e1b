"""Whole tables from file to file: the commands against reading and writing the same files."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.results import Case, Row, Target
from benchmarks.rows.settings import Settings

__all__ = ["cases"]

_NUMERIC, _CATEGORICAL = 15, 5
# Times what reading and writing takes, and tables of memory: anonymize; tables: assess.
_TIMES, _TABLES, _BOTH_TABLES = 5.0, 4.0, 3.0
_SECONDS = 60.0
# Columns of visits, seconds and tables of memory that they may take.
_OF_VISITS, _VISITS_SECONDS, _VISITS_TABLES = 14, 120.0, 6.0
# An environment of its own: SDMetrics needs an older pandas.
_PEER_PYTHON = Path(__file__).parents[1] / ".sdmetrics" / "bin" / "python"
_PEER_ROWS = 1_000


def cases(settings: Settings) -> Iterator[Case]:
    """Yield a case for each command; time and memory are measured together."""
    rows, rounds = settings.choose(1_000_000, 20_000), settings.choose(3, 1)
    size = f"{rows}x{_NUMERIC + _CATEGORICAL}"
    name = f"anonymize CSV {size}"
    yield Case(name, partial(_anonymize_rows, name, rows, rounds))
    name = f"anonymize visits {rows}x{_OF_VISITS}"
    yield Case(name, partial(_visits_rows, name, rows, rounds))
    name = f"assess CSV {size}"
    yield Case(name, partial(_assess_rows, name, rows))
    name = f"assess CSV 20000x{_NUMERIC + _CATEGORICAL} SDMetrics"
    yield Case(name, partial(_sdmetrics_rows, name, settings.choose(20_000, 2_000)))


def _anonymize_rows(name: str, n_rows: int, rounds: int) -> list[Row]:
    ours, theirs, peaks = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "table.csv", Path(folder) / "release.csv"
        _table(n_rows).write_csv(source)
        command = ["anonymize", str(source), "--output", str(target), "--force", "--quiet"]
        _command(command)  # compiles what is not in the cache
        copying = f"import polars; polars.read_csv({str(source)!r}).write_csv({str(target)!r})"
        for _ in range(rounds):
            theirs.append(_process(copying))
            found, seconds = _command(command)
            ours.append(seconds)
            peaks.append(found["peak"])
    ratios = [peer / own for peer, own in zip(theirs, ours, strict=True)]
    return [
        Row(
            name,
            statistics.median(ours),
            peer="polars read_csv + write_csv",
            peer_value=statistics.median(theirs),
            ratio=statistics.median(ratios),
            least_ratio=min(ratios),
            target=Target("ratio", 1 / _TIMES),
            remark="both as processes, from start to end; kinds guessed, relations looked for",
        ),
        _memory(f"{name} memory", max(peaks), _bytes(n_rows), _TABLES, "a table"),
    ]


def _visits_rows(name: str, n_rows: int, rounds: int) -> list[Row]:
    """Return how long people with ten visits each take, and a tenth of them beside."""
    seconds: dict[int, list[float]] = {n_rows // 10: [], n_rows: []}
    peak = program = 0
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "release.csv"
        said = ["--unit", "id", "--time", "day", "--output", str(target), "--force", "--quiet"]
        few = Path(folder) / "few.csv"
        _visits(300).write_csv(few)
        for _ in range(2):  # the first compiles
            program = _command(["anonymize", str(few), *said])[0]["peak"]
        for size, taken in seconds.items():
            source = Path(folder) / f"visits{size}.csv"
            _visits(size // 10).write_csv(source)
            _command(["anonymize", str(source), *said])  # compiles what is not in the cache
            for _ in range(rounds):
                found, own = _command(["anonymize", str(source), *said])
                taken.append(own)
                peak = max(peak, found["peak"])
    short, long = (statistics.median(taken) for taken in seconds.values())
    return [
        Row(
            name,
            long,
            peer="a tenth of the people, times ten",
            peer_value=10.0 * short,
            ratio=10.0 * short / long,
            least_ratio=10.0 * short / long,
            target=Target("ours", _VISITS_SECONDS),
            remark="ten visits a person, on two levels, as a process from start to end",
        ),
        _memory(
            f"{name} memory",
            peak - program,
            8 * n_rows * _OF_VISITS,
            _VISITS_TABLES,
            "a table, above the program itself",
        ),
    ]


def _visits(n_people: int) -> pl.DataFrame:
    """Return ten visits of each of so many people: eight measurements, levels and slopes."""
    rng = np.random.default_rng(0)
    unit, number = np.repeat(np.arange(n_people), 10), np.tile(np.arange(10), n_people)
    age, levels = rng.integers(20, 90, n_people), rng.normal(size=(n_people, 8))
    columns = {
        "id": unit + 1,
        "age": age[unit],
        "sex": rng.choice(["f", "m"], n_people)[unit],
        "site": rng.choice(list("ABCDE"), n_people)[unit],
        "day": number * 90 + rng.integers(0, 40, unit.size) * (number > 0),
        "flag": (levels[unit, 0] + rng.normal(size=unit.size) > 0).astype(np.int64),
    }
    for j in range(8):
        noise = rng.normal(0, 0.3, unit.size)
        columns[f"y{j}"] = (
            levels[unit, j] + 0.01 * age[unit] + 1e-4 * columns["day"] + noise
        ).round(3)
    return pl.DataFrame(columns)


def _assess_rows(name: str, n_rows: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "table.csv", Path(folder) / "release.csv"
        _table(n_rows).write_csv(source)
        _command(["anonymize", str(source), "--output", str(target), "--quiet"])
        command = ["assess", str(source), str(target), "--quiet", "--report"]
        _command([*command, str(Path(folder) / "first.html")])
        reading = f"import polars; [polars.read_csv(f) for f in ({str(source)!r}, {str(target)!r})]"
        peer = _process(reading)
        found, seconds = _command([*command, str(Path(folder) / "second.html")])
    return [
        Row(
            name,
            seconds,
            peer="polars read_csv of both files",
            peer_value=peer,
            ratio=peer / seconds,
            least_ratio=peer / seconds,
            target=Target("ours", _SECONDS),
            remark="both as processes, from start to end; with the report",
        ),
        _memory(f"{name} memory", found["peak"], 2 * _bytes(n_rows), _BOTH_TABLES, "two tables"),
    ]


def _sdmetrics_rows(name: str, n_rows: int) -> list[Row]:
    peer = f"SDMetrics quality report, closest records of {_PEER_ROWS} rows"
    if not _PEER_PYTHON.exists():
        reason = "no environment benchmarks/.sdmetrics with sdmetrics installed"
        return [Row(name, peer=peer, absent=reason, remark=reason)]
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "table.csv", Path(folder) / "release.csv"
        _table(n_rows).write_csv(source)
        _command(["anonymize", str(source), "--output", str(target), "--quiet"])
        command = ["assess", str(source), str(target), "--quiet"]
        _command(command)
        _, seconds = _command(command)
        script = Path(__file__).parents[1] / "children" / "sdmetrics_reports.py"
        arguments = [str(source), str(target), str(_PEER_ROWS)]
        found = json.loads(_run([str(_PEER_PYTHON), str(script), *arguments]))
    theirs = found["quality"] + found["closest"]
    # It takes a part of both tables, and compares every row with every other.
    whole = found["quality"] + found["closest"] * (n_rows / _PEER_ROWS) ** 2
    return [
        Row(
            name,
            seconds,
            peer=peer,
            peer_value=theirs,
            ratio=theirs / seconds,
            least_ratio=theirs / seconds,
            remark=f"version {found['version']}; ours from start to end, all rows. Theirs of "
            f"all rows would take {whole:.0f} s, as it grows with the square",
        )
    ]


def _memory(name: str, peak: float, size: int, most: float, of_what: str) -> Row:
    return Row(
        name,
        peak / size,
        unit="tables",
        target=Target("ours", most),
        remark=f"the process's peak, {peak / 1e6:.0f} MB, over {of_what} of {size / 1e6:.0f} MB",
    )


def _bytes(n_rows: int) -> int:
    # Arrow keeps 16 bytes a cell for text besides letters that do not fit into them.
    return n_rows * (8 * _NUMERIC + 16 * _CATEGORICAL)


def _command(arguments: Sequence[str]) -> tuple[dict[str, float], float]:
    """Return what a process that runs the command measured of itself, and its seconds."""
    start = time.perf_counter()
    shown = _run([sys.executable, "-m", "benchmarks.children.command", *arguments])
    seconds = time.perf_counter() - start
    found: dict[str, float] = json.loads(shown.splitlines()[-1])
    if found["code"] != 0:
        raise RuntimeError(f"icsa {arguments[0]} ended with {found['code']}")
    return found, seconds


def _process(code: str) -> float:
    """Return the seconds of a Python process from start to end."""
    start = time.perf_counter()
    _run([sys.executable, "-c", code])
    return time.perf_counter() - start


def _run(command: Sequence[str]) -> str:
    # As it is after an installation: modules are compiled once, not at every start.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if result.returncode:
        raise RuntimeError(result.stderr)
    return result.stdout


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

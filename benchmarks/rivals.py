"""The peers' table: what a user would pick instead, on real tables, by one command.

    python -m benchmarks.rivals FILE... [--rows 240] [--releases 6] [--of-peers 2]
                                [--peers NAME=PYTHON ...] [--whole-only dp] [--json FILE]
                                [--rst FILE]

Releases by icsa and by the rivals of `icsa.rivals` are made several times of every table, of halves
of it, and of tables with planted people, and measured by the functions of `icsa compare`; of long
tables so many rows are drawn. Peers that have an environment of their own are asked through it, and
less often: arfpy (adversarial forests; with pandas 2), sdv (Gaussian copula) and tvae (SDV's
autoencoder) by `benchmarks/children/synthesize.py`, dp (the rival that needs OpenDP) by this
program run there. Those named by `--whole-only` release whole tables only. With `--json` what is
measured is kept, and the same command goes on there. Columns are means over tables with standard
errors over releases:

bSE      error of coefficients of the tables' own regressions, in standard errors
pairs    associations, columns: distributions, curves: squares and products; 1 is another sample
closer   members told from others on halves, AUC
planted  share of three people planted at 20 sd whom a release reveals
gain     largest of what attackers get more about members on a split: singling out, linkability,
         inference
word     share of releases whose word is release
s        seconds of CPU a release
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.analyses import analyses_of
from benchmarks.to_rst import list_table
from icsa.choice.candidates import Candidate
from icsa.choice.trials import RaceConfig, Subject, as_arguments, plan_of, try_candidate
from icsa.comparison.matching import match_tables
from icsa.errors import ICSAError
from icsa.inspection import guess_schema
from icsa.randomness import as_key
from icsa.release import release
from icsa.rivals import RIVALS, registry, rival_release
from icsa.rivals.base import Cells, within_column
from icsa.tables import read_table
from icsa.utility.lost_curves import curves_of

OWN = ("icsa mixed", "icsa topcode", "sa mixed", "forest mixed", "forest topcode")
HEADINGS = (
    *("bSE", "pairs", "curves", "columns", "beyond"),
    *("closer", "planted", "gain", "word", "s"),
)
PAGE = """\
Measured
--------

``python -m benchmarks.rivals FILE...`` renews this table: {tables} tables ({names}),
up to {rows} rows each. A cell has {releases} releases, {splits} splits into halves and {splits}
tables with planted people; {peers}in brackets are standard errors over releases.

{table}

bSE is the error of the coefficients of the tables' own regressions in standard errors (another
sample: 1.13; a model that cannot be fitted counts as 11.3). pairs, curves, columns and beyond are
losses as above: 1 is another sample of the same people (beyond: what is more than that). closer is
the AUC by which members are told from others on halves (.5 is not at all), planted the share of
people planted at 20 standard deviations whom a release reveals, gain the largest of what attackers
get more about members, word the share of releases whose word is *release*, s the seconds of CPU for
a plan and a release (of peers, whose programs are started for each: over all their releases).
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--rows", type=int, default=240)
    parser.add_argument("--releases", type=int, default=6)
    parser.add_argument("--of-peers", type=int, default=2, help="releases by each of the peers")
    parser.add_argument("--whole-only", nargs="*", default=[], help="neither halved nor planted")
    parser.add_argument("--only", nargs="*", help="names of methods")
    parser.add_argument("--peers", nargs="*", default=[], help="arfpy=PYTHON, sdv=, tvae=, dp=")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rst", type=Path)
    options = parser.parse_args()
    peers = dict(peer.split("=", 1) for peer in options.peers)
    for name, python in peers.items():
        if python and name not in RIVALS:
            RIVALS[name] = registry.Rival(name=name, summary="a peer", run=_peer(name, python))
    names = [*OWN, *(name for name, rival in RIVALS.items() if not rival.library), *peers]
    lines = json.loads(options.json.read_text()) if options.json and options.json.exists() else []
    for file in options.files:
        for name in options.only or dict.fromkeys(names):
            about = {"table": file.stem, "method": name}
            if any(about.items() <= line.items() for line in lines):
                continue
            elsewhere = bool(peers.get(name)) and bool(RIVALS[name].library)
            found = (
                _measured_elsewhere(file, name, peers[name], options)
                if elsewhere
                else measured(file, name, options)
            )
            lines.append({**about, **found})
            print(json.dumps(lines[-1]), flush=True)
            if options.json:
                options.json.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")
    if options.rst:
        options.rst.write_text(page(lines, options), encoding="utf-8")


def measured(file: Path, name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return a method's measures on a table: a list of values over releases for each."""
    table = read_table(file)
    if table.frame.height > options.rows:
        seed = zlib.crc32(file.stem.encode())
        table = table.with_frame(table.frame.sample(options.rows, seed=seed))
    schema = guess_schema(table)
    same = match_tables(table, table, schema)
    config = RaceConfig(
        table_sha256="",
        seed=1,
        models=analyses_of(file.stem, table, schema),
        classify=(),
        curves=tuple((c.column, c.first, c.second) for c in curves_of(same.columns)),
    )
    keys = options.of_peers if name in _peers_of(options) else options.releases
    again = 0 if name in options.whole_only else splits_of(keys)
    draws = {"keys": (0, keys), "splits": (0, again), "plantings": (0, again)}
    method, _, recipe = name.partition(" ")
    own = name in OWN
    candidate = (
        Candidate(name=name, method=method, recipe=recipe)
        if own
        else Candidate(name=name, rival=name)
    )
    subject = Subject(table, schema)
    start = _cpu()
    rows = pl.DataFrame(
        try_candidate(
            config,
            candidate=as_arguments(candidate),
            draws=draws,
            subject=subject,
        )
    )
    if name in _peers_of(options):  # they take long: their releases are not made once more
        seconds = (_cpu() - start) / (keys + 4 * again)
    else:
        seconds = _seconds(candidate, subject)
    return {**dict(_measures(rows)), "s": [round(seconds, 3)]}


def splits_of(releases: int) -> int:
    """Return how many splits, and tables with planted people, go with so many releases."""
    return max(1, releases // 2)


def _peers_of(options: argparse.Namespace) -> list[str]:
    return [peer.partition("=")[0] for peer in options.peers]


def _measured_elsewhere(
    file: Path, name: str, python: str, options: argparse.Namespace
) -> dict[str, Any]:
    """Return the measures of a rival whose library another environment has, icsa included."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "found.json"
        command = [python, "-m", "benchmarks.rivals", file.resolve(), "--only", name]
        command += ["--peers", f"{name}=", "--rows", options.rows, "--json", target]
        command += ["--of-peers", options.of_peers, "--whole-only", *options.whole_only]
        subprocess.run(
            [str(part) for part in command],
            check=True,
            capture_output=True,
            cwd=Path(__file__).parents[1],
        )
        found: dict[str, Any] = json.loads(target.read_text())[0]
    return {key: value for key, value in found.items() if key not in ("table", "method")}


def _seconds(candidate: Candidate, subject: Subject) -> float:
    """Return the CPU seconds for one release and its plan."""
    start = _cpu()
    if candidate.rival:
        rival_release(subject.table, candidate.rival, schema=subject.schema, random_state=1)
    else:
        release(plan_of(candidate, subject), as_key(1))
    return _cpu() - start


def _cpu() -> float:
    """Return the CPU seconds of this process and its children so far."""
    return sum(os.times()[:4])


def _measures(rows: pl.DataFrame) -> Iterator[tuple[str, list[float]]]:
    def values(what: str, measure: str) -> list[float]:
        found = rows.filter((pl.col("what") == what) & (pl.col("measure") == measure))
        return [round(value, 4) for value in found["value"].to_list()]

    # A loss of models is an error in standard errors over that of a sample, sqrt(4 / pi).
    yield "bSE", [math.sqrt(4.0 / math.pi) * value for value in values("key", "models")]
    for part in ("pairs", "curves", "columns", "beyond"):
        yield part, values("key", part)
    yield "closer", values("split", "area")
    yield "variance of closer", values("split", "variance")
    yield "planted", values("planting", "found")
    attacks = ("singling out", "linkability", "inference")
    gains = [values("split", attack) for attack in attacks]
    yield "gain", [max(found) for found in zip(*filter(None, gains), strict=True)]
    yield "word", [float(value == 0.0) for value in values("key", "word")]
    failed = rows.filter(pl.col("what") == "failed")["note"].to_list()
    if failed:
        print(f"  {failed[0][:150]}", flush=True)


def _peer(name: str, python: str) -> Callable[[Cells, np.random.Generator], dict[str, Any]]:
    """Return a rival that a peer in another environment draws, through files."""
    child = Path(__file__).parent / "children" / "synthesize.py"

    def run(cells: Cells, generator: np.random.Generator) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder) / "in.csv", Path(folder) / "out.csv"
            levelled = [n for n, c in cells.columns.items() if c.levels is not None]
            frame = pl.DataFrame(
                {n: pl.Series(numbers, nan_to_null=True) for n, numbers in cells.numbers.items()}
            )
            frame.write_csv(source)
            seed = str(int(generator.integers(1 << 30)))
            command = [python, child, name, source, target, seed, ",".join(levelled)]
            subprocess.run([str(part) for part in command], check=True, capture_output=True)
            drawn = pl.read_csv(target)
        # As those of all rivals: on their lattices and within their bounds.
        numbers = {n: drawn[n].cast(pl.Float64).to_numpy() for n in cells.numbers}
        for quantity in cells.quantities:
            numbers[quantity] = within_column(numbers[quantity], cells.columns[quantity])
        return numbers

    return run


def page(lines: list[dict[str, Any]], options: argparse.Namespace) -> str:
    """Return the table of means with standard errors."""
    names = list(dict.fromkeys(line["method"] for line in lines))
    tables = list(dict.fromkeys(line["table"] for line in lines))
    cells = []
    for name in names:
        own = [line for line in lines if line["method"] == name]
        some = "" if len(own) == len(tables) else f" ({len(own)} tables)"
        cells.append([f"{name}{some}", *(_cell(own, heading) for heading in HEADINGS)])
    peers = ", ".join(name for name in names if name in _peers_of(options))
    few = f"{peers}: {options.of_peers} and {splits_of(options.of_peers)}; " if peers else ""
    if options.whole_only:
        few += f"{', '.join(options.whole_only)} on whole tables only; "
    return PAGE.format(
        tables=len(tables),
        names=", ".join(tables),
        rows=options.rows,
        releases=options.releases,
        splits=splits_of(options.releases),
        peers=few,
        table="\n".join(list_table(["method", *HEADINGS], cells)),
    )


def _cell(lines: list[dict[str, Any]], heading: str) -> str:
    """Return the mean over tables, and its standard error over their releases."""
    found = [line[heading] for line in lines if line[heading]]
    if not found:
        return "–"
    if heading == "closer":  # of halves, whose people are drawn: one has an error, too
        areas = [line for line in lines if line["closer"]]
        within = [np.mean(line["variance of closer"]) / len(line["closer"]) for line in areas]
    else:
        within = [np.var(v, ddof=1) / len(v) for v in found if len(v) > 1]
    mean = float(np.mean([np.mean(values) for values in found]))
    if len(within) < len(found):
        return f"{mean:.2f}"
    return f"{mean:.2f} ({np.sqrt(np.sum(within)) / len(found):.2f})"


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=UserWarning)
        try:
            main()
        except ICSAError as error:
            raise SystemExit(str(error)) from error

"""How often the MCD's search reaches the optimum, on tables that it was not made on.

``python -m benchmarks.mcd_optimum [--repetitions 4] [--first-seed 200000] [--quick] [--output FILE]
[--rst FILE]`` fits tables of many kinds and shapes by default, once more with 20 times the random
starts and another seed, and by robustbase's covMcd where R is there; all objectives are computed
from the rows that were found, by one function.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.machine import describe_machine
from benchmarks.mcd_tables import HELD_OUT, KINDS, SHAPES, draw
from benchmarks.peers import Rows, robustbase
from benchmarks.to_rst import list_table
from icsa.errors import ExactFitError
from icsa.matrices import Matrix
from icsa.scatters.mcd_estimate import mcd

__all__ = ["main"]

_ALPHAS = (0.5, 0.75)
_TIMES = 20
# Long tables are searched in a part of their rows, so they are tried on their own, without R.
_LONG_SHAPES = ((2_000, 5), (5_000, 10), (10_000, 20))
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Fit:
    """What was found in one table: log determinants, and seconds of processor time."""

    kind: str
    n: int
    p: int
    alpha: float
    seed: int
    ours: float
    wide: float
    peer: float | None
    n_starts: int
    agreeing: int
    seconds: float
    peer_seconds: float | None

    @property
    def best(self) -> float:
        """The lower one of ours and that of 20 times the starts."""
        return min(self.ours, self.wide)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit all tables, print the shares and write JSON and the table for the documentation."""
    options = _parser().parse_args(arguments)
    started, fits, machine = time.perf_counter(), [], describe_machine()
    for fit in _fits(options):
        fits.append(fit)
        if fit.ours > fit.best + _TOLERANCE or fit.ours > (fit.peer or math.inf) + _TOLERANCE:
            print(fit, flush=True)
    report = {
        "seconds": time.perf_counter() - started,
        "machine": machine,
        "fits": [asdict(fit) for fit in fits],
    }
    options.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    lines = _table(fits)
    print("\n".join(lines))
    if options.rst:
        options.rst.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{time.perf_counter() - started:.0f} s; written to {options.output}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mcd_optimum", description=__doc__)
    parser.add_argument(
        "--repetitions", type=int, default=4, help="short tables of every kind and shape"
    )
    parser.add_argument("--first-seed", type=int, default=200_000)
    parser.add_argument("--quick", action="store_true", help="one repetition of two shapes")
    parser.add_argument("--rst", type=Path, help="also write the table for the documentation")
    parser.add_argument(
        "--output", type=Path, default=Path(__file__).resolve().parent / "mcd_optimum.json"
    )
    return parser


def _fits(options: argparse.Namespace) -> Iterator[Fit]:
    """Yield the fits of all tables, short and long ones."""
    repetitions = 1 if options.quick else options.repetitions
    shapes = SHAPES[:2] if options.quick else SHAPES + _LONG_SHAPES
    for n, p in shapes:
        for kind in KINDS | HELD_OUT:
            tables = 1 if (n, p) in _LONG_SHAPES else repetitions
            for seed in range(options.first_seed, options.first_seed + tables):
                x = draw(kind, n, p, seed)
                for alpha in _ALPHAS:
                    try:
                        yield _fit(kind, seed, x, alpha, (n, p) not in _LONG_SHAPES)
                    except ExactFitError:  # rounded rows may lie on a plane, and nobody searches
                        print(f"{kind}, {n} x {p}, seed {seed}, alpha {alpha}: an exact fit")


def _fit(kind: str, seed: int, x: Matrix, alpha: float, with_peer: bool) -> Fit:
    start = time.process_time()
    ours = mcd(x, alpha=alpha)
    seconds = time.process_time() - start
    wide = mcd(x, alpha=alpha, n_starts=_TIMES * ours.n_starts, random_state=seed)
    peer, peer_seconds = None, None
    server = robustbase() if with_peer else None
    if server is not None:
        server.give(x)
        peer_seconds = server.time_mcd(alpha, 1).cpu
        peer = _objective(x, server.best_rows())
    objectives = [_objective(x, found.support) for found in (ours, wide)]
    counts = (ours.n_starts, ours.agreeing)
    return Fit(kind, *x.shape, alpha, seed, *objectives, peer, *counts, seconds, peer_seconds)


def _objective(x: Matrix, rows: Rows) -> float:
    """Return the log determinant of the covariance of some rows, divisor h - 1."""
    return float(np.linalg.slogdet(np.cov(x[rows], rowvar=False))[1])


def _table(fits: Sequence[Fit]) -> list[str]:
    """Return the table for the documentation: a line a shape, and lines for all of them."""
    groups: dict[str, list[Fit]] = {}
    for fit in fits:
        groups.setdefault(f"{fit.n:,} x {fit.p}", []).append(fit)
    short = [fit for fit in fits if (fit.n, fit.p) not in _LONG_SHAPES]
    groups["all up to 480 rows"] = short
    groups["of these, kinds held out"] = [fit for fit in short if fit.kind in HELD_OUT]
    headings = ["tables", "fits", "at or below R", "below R", "at the best of 20 times the starts"]
    headings += ["largest gap", "starts, median", "starts, most"]
    lines = [_line(name, group) for name, group in groups.items() if group]
    return list(list_table(headings, lines))


def _line(name: str, fits: Sequence[Fit]) -> list[str]:
    with_peer = [fit for fit in fits if fit.peer is not None]
    at_most = [fit.ours <= fit.peer + _TOLERANCE for fit in with_peer if fit.peer is not None]
    below = [fit.ours < fit.peer - _TOLERANCE for fit in with_peer if fit.peer is not None]
    at_best = [fit.ours <= fit.best + _TOLERANCE for fit in fits]
    gap = max(fit.ours - fit.best for fit in fits)
    starts = [fit.n_starts for fit in fits]
    return [
        name,
        f"{len(fits)}",
        _share(at_most),
        _share(below),
        _share(at_best),
        f"{gap:.2g}" if gap > _TOLERANCE else "0",
        f"{statistics.median(starts):.0f}",
        f"{max(starts)}",
    ]


def _share(said: Sequence[bool]) -> str:
    """Return a share in percent with its standard error; without a failure, that of one."""
    if not said:
        return "-"
    count, share = len(said), sum(said) / len(said)
    spread = max(share * (1.0 - share), (1.0 - 1.0 / count) / count)
    return f"{100.0 * share:.1f}% ({100.0 * math.sqrt(spread / count):.1f})"


if __name__ == "__main__":
    raise SystemExit(main())

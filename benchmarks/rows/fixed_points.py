"""Hettmansperger-Randles and Tyler against ICSNP's recorded times and a plain NumPy loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks import peers
from benchmarks.data import Table, table
from benchmarks.results import Case, Row, Target
from benchmarks.rows.settings import Settings
from benchmarks.timing import interleaved, paced, timed
from icsa.scatters.fixed_point import TOLERANCE
from icsa.scatters.hettmansperger_randles import hr
from icsa.scatters.tyler_shape import tyler

__all__ = ["cases"]

_SIZES = ((120, 8), (480, 32), (100_000, 10))


class _Scatter(NamedTuple):
    """A scatter, its textbook loop, and what is known of the R function that does the same."""

    ours: Callable[[Table], Table]
    plain: Callable[[Table], Table]
    r_function: str
    target: float
    # CPU seconds of ICSNP, measured once on another machine; at which tolerance is not known.
    recorded: dict[tuple[int, int], float]


_SCATTERS = {
    "hr": _Scatter(
        lambda x: hr(x).scatter,
        lambda x: peers.plain_hr(x, TOLERANCE)[1],
        "ICSNP HR.Mest",
        100.0,
        {(120, 8): 0.087, (480, 32): 0.19, (100_000, 10): 34.0},
    ),
    "tyler": _Scatter(
        lambda x: tyler(x).scatter,
        lambda x: peers.plain_tyler(x, TOLERANCE),
        "ICSNP tyler.shape",
        20.0,
        {},
    ),
}


def cases(settings: Settings) -> Iterator[Case]:
    """Yield a case for each scatter and size."""
    for scatter in _SCATTERS:
        for n, p in _SIZES:
            name = f"{scatter} {n}x{p}"
            yield Case(name, partial(_rows, name, _SCATTERS[scatter], n, p, settings))


def _rows(name: str, scatter: _Scatter, n: int, p: int, settings: Settings) -> list[Row]:
    x = table(n, p)
    rounds = settings.choose(5, 1)
    ours, plain = timed(partial(scatter.ours, x)), timed(partial(scatter.plain, x))
    figures = interleaved(ours, plain, rounds, paced(ours, plain, 0.1)).figures()
    apart = float(np.abs(scatter.ours(x) - scatter.plain(x)).max())
    figures["details"] |= {"tolerance": TOLERANCE, "largest_difference": apart}
    live = Row(
        f"{name} numpy",
        peer="plain NumPy loop, same tolerance",
        remark=f"results differ by {apart:.0e} at most",
        **figures,
    )
    return [_recorded_row(name, scatter, (n, p), figures["details"]["ours_cpu"]), live]


def _recorded_row(name: str, scatter: _Scatter, size: tuple[int, int], ours_cpu: float) -> Row:
    """Return the comparison with a time that was not measured in this run, labelled as such."""
    target = Target("ratio", scatter.target)
    recorded = scatter.recorded.get(size)
    if recorded is None:
        reason = "ICSNP does not run here, and no time of it is recorded"
        return Row(
            f"{name} ICSNP",
            ours_cpu,
            peer=scatter.r_function,
            target=target,
            absent=reason,
            remark=reason,
        )
    return Row(
        f"{name} ICSNP",
        ours_cpu,
        peer=f"{scatter.r_function} (recorded, other machine)",
        peer_value=recorded,
        ratio=recorded / ours_cpu,
        target=target,
        remark="CPU seconds; ICSNP's were not measured in this run, its tolerance is not known",
    )

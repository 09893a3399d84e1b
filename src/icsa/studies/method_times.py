"""How long every method takes, measured when a report is made and kept in the report alone."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import polars as pl
from threadpoolctl import threadpool_limits

from icsa.studies.simulation import SimulationConfig, simulate_block

__all__ = ["NOTE", "method_times", "seconds_a_set"]

ALL = "all together"
NOTE = (
    "Measured on this machine when the report was made, with one thread, and on whatever else ran "
    "beside it: milliseconds for a data set drawn, released by one method alone and scored, not "
    "attacked; the median of {rounds} rounds of {sets} data sets of scenario {scenario}, severity "
    "{severity}. The last row computes all methods of the study, which share the scatters of a "
    "data set. These times are in no other file."
)


def method_times(
    config: SimulationConfig, *, sets: int = 5, rounds: int = 3
) -> tuple[str, pl.DataFrame]:
    """Return what was measured in words, and milliseconds a data set by method and size.

    Parameters
    ----------
    config : SimulationConfig
        Its smallest, middle and largest sizes are measured, on its own first data sets.
    sets, rounds : int
        Data sets a round, and rounds.

    Returns
    -------
    str, DataFrame
        The table has a column for every size, and a last row for all methods together.

    Examples
    --------
    >>> config = SimulationConfig(n=(20,), columns=(4,), methods=("sa",))
    >>> method_times(config, sets=1, rounds=1)[1].columns
    ['method', '20 x 4, ms']
    """
    scenario, severity = config.scenarios[0], max(config.severities)
    table: dict[str, list[object]] = {"method": [*config.methods, ALL]}
    for n, columns in _sizes(config):
        cell = (scenario, n, columns, severity)
        milliseconds: list[object] = []
        for chosen in (*((method,) for method in config.methods), config.methods):
            found = seconds_a_set(
                replace(config, methods=chosen, attacked=()),
                cell,
                sets=min(sets, config.repetitions),
                rounds=rounds + 1,
            )
            # The first round loads the kernels.
            milliseconds.append(1e3 * statistics.median(found[1:]))
        table[f"{n} x {columns}, ms"] = milliseconds
    note = NOTE.format(rounds=rounds, sets=sets, scenario=scenario, severity=severity)
    return note, pl.DataFrame(table)


def _sizes(config: SimulationConfig) -> list[tuple[int, int]]:
    n, columns = sorted(config.n), sorted(config.columns)
    pairs = zip(
        (n[0], n[len(n) // 2], n[-1]),
        (columns[0], columns[len(columns) // 2], columns[-1]),
        strict=True,
    )
    return list(dict.fromkeys(pairs))


def seconds_a_set(
    config: SimulationConfig,
    cell: tuple[int, int, int, int],
    *,
    sets: int,
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Return the seconds a data set takes in each round, with one thread.

    Parameters
    ----------
    config : SimulationConfig
    cell : tuple of int
        Scenario, rows, columns, severity.
    sets, rounds : int
        Data sets a round, and rounds. The first one in a process loads the kernels too.
    clock : callable

    Examples
    --------
    >>> config = SimulationConfig(n=(20,), columns=(4,), methods=("sa",))
    >>> len(seconds_a_set(config, (1, 20, 4, 0), sets=1, rounds=2))
    2
    """
    scenario, n, columns, severity = cell
    place = {"scenario": scenario, "n": n, "columns": columns, "severity": severity}
    found = []
    with threadpool_limits(limits=1):
        for _ in range(rounds):
            start = clock()
            simulate_block(config, **place, first=0, last=sets)
            found.append((clock() - start) / sets)
    return found

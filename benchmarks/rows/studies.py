"""The simulation study: data sets a second for each size, and the time of the whole grid."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.results import Case, Row, Target
from benchmarks.rows.settings import Settings
from icsa.studies.simulation import SimulationConfig
from icsa.studies.simulation_results import seconds_a_set

__all__ = ["cases"]

_CORES = 2
_MINUTES = 30.0


def cases(settings: Settings) -> Iterator[Case]:
    """Yield one case: all sizes belong to the sum."""
    yield Case("simulation grid", partial(_rows, settings))


def _rows(settings: Settings) -> list[Row]:
    config = SimulationConfig(attacked=())  # the paper measures releases, it does not attack them
    sets = settings.choose(10, 1)
    rows, seconds = [], 0.0
    for n in config.n:
        for columns in config.columns:
            found = _mean_seconds(config, n, columns, sets)
            cells = len(config.scenarios) * len(config.severities)
            seconds += found * config.repetitions * cells
            remark = (
                f"nine methods, not attacked, one thread; {sets} sets of each scenario and severity"
            )
            name = f"simulation {n}x{columns}"
            rows.append(Row(name, 1.0 / found, unit="sets/s CPU", remark=remark))
    remark = (
        f"sum over the grid's {10 * len(rows) * config.repetitions:,} data sets / {_CORES} cores"
    )
    whole = Row(
        "simulation grid",
        seconds / _CORES / 60.0,
        unit="min",
        target=Target("ours", _MINUTES),
        remark=remark,
    )
    return [*rows, whole]


def _mean_seconds(config: SimulationConfig, n: int, columns: int, sets: int) -> float:
    """Return the seconds a data set, the mean over scenarios and severities."""
    # Kernels are loaded before the clock starts.
    seconds_a_set(config, (1, n, columns, 0), sets=1, rounds=1)
    found = [
        seconds_a_set(
            config,
            (scenario, n, columns, severity),
            sets=sets,
            rounds=1,
            clock=time.process_time,
        )
        for scenario in config.scenarios
        for severity in config.severities
    ]
    return float(np.mean(found))

"""The simulation study: data sets a second for each size, and the time of the whole grid."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

from threadpoolctl import threadpool_limits

from benchmarks.results import Case, Row, Target
from benchmarks.rows.settings import Settings
from icsa.studies.simulation import SimulationConfig, simulate_block

__all__ = ["cases"]

_CORES = 2
_MINUTES = 30.0


def cases(settings: Settings) -> Iterator[Case]:
    """Yield one case: all sizes belong to the sum."""
    yield Case("simulation grid", partial(_rows, settings))


def _rows(settings: Settings) -> list[Row]:
    config = SimulationConfig()
    sets = settings.choose(10, 1)
    rows, seconds = [], 0.0
    for n in config.n:
        for columns in config.columns:
            found = _seconds_a_set(config, n, columns, sets)
            cells = len(config.scenarios) * len(config.severities)
            seconds += found * config.repetitions * cells
            remark = f"nine methods, one thread; {sets} sets of each scenario and severity"
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


def _seconds_a_set(config: SimulationConfig, n: int, columns: int, sets: int) -> float:
    """Return the mean over scenarios and severities, with one thread."""
    total = 0.0
    with threadpool_limits(limits=1):
        # Kernels are loaded before the clock starts.
        simulate_block(config, scenario=1, n=n, columns=columns, severity=0, first=0, last=1)
        for scenario in config.scenarios:
            for severity in config.severities:
                start = time.process_time()
                simulate_block(
                    config,
                    scenario=scenario,
                    n=n,
                    columns=columns,
                    severity=severity,
                    first=0,
                    last=sets,
                )
                total += time.process_time() - start
    return total / (sets * len(config.scenarios) * len(config.severities))

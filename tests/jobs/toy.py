"""A study that takes no time, in a module that workers can import."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from icsa import compilation
from icsa.errors import ConvergenceError
from icsa.jobs import Job, Work, run

GATE = "ICSA_TOY_GATE"


@dataclass(frozen=True)
class ToyConfig:
    sizes: tuple[int, ...] = (3, 40, 300)
    repetitions: int = 4
    seed: int = 7
    pause: float = 0.0
    mark: str = ""


def draw(config: ToyConfig, *, size: int, repetition: int) -> dict[str, object]:
    """Return numbers whose last bits depend on how many threads BLAS has.

    Where a gate is set, a folder, workers come to it after the first jobs, leave a file there, and
    wait: the study stays in its middle however slow the machine is.
    """
    time.sleep(config.pause)
    gate = os.environ.get(GATE)
    if gate and size < 300:
        (Path(gate) / str(os.getpid())).touch()
        time.sleep(60)
    x = np.random.default_rng([config.seed, size, repetition]).normal(size=(size, size))
    values = np.linalg.eigvalsh(x @ x.T)
    return {
        "size": np.full(size, size),
        "repetition": [repetition] * size,
        "value": values,
        "reason": np.array(["" if value > 1.0 else "small" for value in values]),
        "root": [None if value < 1e-3 else float(np.sqrt(value)) for value in values],
    }


def say_whether_silent(config: ToyConfig, *, size: int, repetition: int) -> dict[str, object]:
    return {"silent": [int(compilation.SILENT in os.environ)]}


def say_where(config: ToyConfig, *, size: int, repetition: int) -> dict[str, object]:
    return {"process": [os.getpid()]}


def say_whether_mapped(config: ToyConfig, *, cells: np.ndarray) -> dict[str, object]:
    return {"mapped": [isinstance(cells, np.memmap)]}


def refuse(config: ToyConfig, *, size: int, repetition: int) -> dict[str, object]:
    raise AssertionError("a finished study is computed again")


def fail_once(config: ToyConfig, *, size: int, repetition: int) -> dict[str, object]:
    if (size, repetition) == (40, 1):
        raise ConvergenceError("the toy did not converge.")
    return draw(config, size=size, repetition=repetition)


def kill_worker(config: ToyConfig, *, size: int, repetition: int) -> dict[str, object]:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def kill_first_worker(config: ToyConfig, *, size: int, repetition: int) -> dict[str, object]:
    """Lose one worker, once: a file says whether it happened."""
    mark = Path(config.mark)
    if (size, repetition) == (40, 1) and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return draw(config, size=size, repetition=repetition)


def toy_study(config: ToyConfig | None = None, function: object = draw, name: str = "toy") -> Work:
    config = ToyConfig() if config is None else config
    jobs = tuple(
        Job(f"n{size}-r{repetition}", {"size": size, "repetition": repetition}, cost=size)
        for size in config.sizes
        for repetition in range(config.repetitions)
    )
    return Work(name, config, jobs, function)  # type: ignore[arg-type]


if __name__ == "__main__":
    from tests.jobs.toy import toy_study  # so that workers find them by name

    run(toy_study(), Path(sys.argv[1]), workers=2)


def say_what_waits(_: object, **__: int) -> dict[str, object]:
    """Return whether Ctrl-C is put off in this process."""
    return {"interrupts wait": [signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())]}

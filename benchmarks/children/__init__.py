"""Programs that run in a fresh interpreter, and how to run them."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Child", "run_child"]

_FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Child:
    """What a child process took and said."""

    elapsed: float
    cpu: float
    answer: dict[str, Any]
    errors: str


def run_child(
    program: str,
    *arguments: str,
    environment: Mapping[str, str | None] | None = None,
    through: Sequence[str] = (),
) -> Child:
    """Run a program of this folder in a fresh interpreter; its last line of output is JSON.

    Parameters
    ----------
    program : str
        Its name without ".py".
    environment : mapping, optional
        Variables to set, or to take away (None).
    through : sequence of str
        A command that starts the interpreter in its turn.
    """
    variables = dict(os.environ) | {k: v for k, v in (environment or {}).items() if v is not None}
    for name in (name for name, value in (environment or {}).items() if value is None):
        variables.pop(name, None)
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [*through, sys.executable, str(_FOLDER / f"{program}.py"), *arguments],
        env=variables,
        capture_output=True,
        text=True,
    )
    elapsed = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"{program} failed: {done.stderr.strip()[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Child(elapsed, cpu, json.loads(done.stdout.splitlines()[-1]), done.stderr)

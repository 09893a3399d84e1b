"""Commands in processes of their own that stop in the middle of a pass, however slow or fast."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_WAITING = """
import signal, sys
for number in (signal.SIGHUP, signal.SIGINT):  # whoever runs the tests may have them ignored
    signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
from icsa.cli import main
from icsa.release.blocks import passes

compute, task = passes.run, sys.argv[1]

def compute_until(work, *, progress, **more):
    def advance(job):
        progress(job)
        if job.name == task:
            print("here", flush=True)
            signal.pause()

    return compute(work, progress=advance, **more)

passes.run = compute_until
sys.argv[:2] = ["icsa"]
main()
"""


@contextmanager
def waiting_after(task: str, *command: str, first: str = "") -> Iterator[subprocess.Popen[str]]:
    """Give the process of a command that has done a task of a pass and waits for a signal.

    `first` is Python code that comes before.
    """
    with subprocess.Popen(
        [sys.executable, "-c", first + _WAITING, task, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n", "it ended too soon to be stopped"
        try:
            yield process
        finally:
            process.kill()

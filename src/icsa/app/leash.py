"""``python -m icsa.app.leash COMMAND...``: a command that ends with the server, or before memory.

The command is that of the command line, as it is. Its standard input is the server's end of a
leash: when the server goes, by whatever signal, the command goes too.
"""

from __future__ import annotations

import os
import runpy
import signal
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

__all__ = ["OUT_OF_MEMORY", "most_memory", "on_a_leash", "ran_short"]

# The exit code of a process that took more memory than there was.
OUT_OF_MEMORY = 77
# Of what is free at the start: the rest is for the browser, and for whoever else is at work.
_SHARE = 0.8
# Of what a process may take: beyond, the system refuses. Who grows slowly ends before, with a code.
_BEYOND = 1.15
_SECONDS = 0.2


def most_memory(free: str) -> int | None:
    r"""Return the bytes that a process may take, by what ``/proc/meminfo`` says; None if nothing.

    Examples
    --------
    >>> most_memory("MemTotal: 200 kB\nMemAvailable: 100 kB\n")
    81920
    """
    for line in free.splitlines():
        if line.startswith("MemAvailable:"):
            return int(_SHARE * 1024 * int(line.split()[1]))
    return None


def on_a_leash(*, reads_input: bool = False) -> None:
    """Have this process end when memory runs short and, unless it reads its input, with that."""
    if not reads_input:
        Thread(target=_end_with_input, daemon=True).start()
    try:
        limit = most_memory(Path("/proc/meminfo").read_text(encoding="ascii"))
    except OSError:
        return  # another system: the machine's own limits have to do
    if limit is not None:
        _refuse_beyond(limit)
        Thread(target=_end_before, args=(limit,), daemon=True).start()


def _refuse_beyond(limit: int) -> None:
    """Have the system refuse memory: a library can take all of it while no thread of ours runs."""
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    with suppress(ValueError, OSError):  # less is allowed already
        resource.setrlimit(resource.RLIMIT_DATA, (int(_BEYOND * limit), most))


def ran_short(code: int) -> bool:
    """Return whether an exit code is of a process that wanted more memory than there was.

    Examples
    --------
    >>> ran_short(OUT_OF_MEMORY), ran_short(-signal.SIGABRT), ran_short(2)
    (True, True, False)
    """
    return code in (OUT_OF_MEMORY, -signal.SIGABRT)  # the second: refused to what cannot go on


def _end_with_input() -> None:
    while os.read(0, 1 << 12):
        pass
    _end(1)


def _end_before(limit: int) -> None:
    page = os.sysconf("SC_PAGE_SIZE")
    while int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * page < limit:
        time.sleep(_SECONDS)
    _end(OUT_OF_MEMORY)


def _end(code: int) -> None:
    """End this process, and those that it started in its group."""
    if hasattr(os, "killpg") and os.getpgid(0) == os.getpid() and code != OUT_OF_MEMORY:
        os.killpg(0, signal.SIGKILL)
    os._exit(code)


if __name__ == "__main__":
    on_a_leash()
    try:
        runpy.run_module("icsa", run_name="__main__", alter_sys=True)
    except MemoryError:
        _end(OUT_OF_MEMORY)

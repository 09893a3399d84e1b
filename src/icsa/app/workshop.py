"""Work that takes a while: one piece at a time, with what it is at, time left, and an end to it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from icsa.app.leash import ran_short
from icsa.errors import ICSAError, InputError

__all__ = ["Work", "Workshop", "run_command"]

# Below this share what is left is a guess of a guess.
_KNOWN = 0.04


@dataclass
class Work:
    """A piece of work.

    Attributes
    ----------
    title : str
        What is done, in words.
    back : str
        The step that it was started from.
    then : str
        The page to look at when it is done.
    parts : int
        How many times the share goes from 0 to 1.
    state : "running", "done", "refused" or "cancelled"
    sentence : str
        Why it was refused.
    """

    title: str
    back: str
    then: str
    parts: int = 1
    state: str = "running"
    sentence: str = ""
    stage: str = "starting"
    part: int = 1
    share: float | None = None
    started: float = field(default_factory=monotonic)
    _part_started: float = field(default_factory=monotonic)
    _reached: float = field(default_factory=monotonic)
    cancel: Callable[[], None] = lambda: None

    def at(self, stage: str, share: float | None = None) -> None:
        """Note how far it is."""
        now = monotonic()
        if share is not None and self.share is not None and share < self.share:
            self.part, self._part_started = min(self.part + 1, self.parts), now
        if share != self.share:
            self._reached = now
        self.stage, self.share = stage, share

    @property
    def left(self) -> float | None:
        """Seconds that this part will take on, by what it took so far; None if not known."""
        if self.share is None or self.share < _KNOWN:
            return None
        took = self._reached - self._part_started
        return max(0.0, took * (1 - self.share) / self.share - (monotonic() - self._reached))

    def as_dict(self) -> dict[str, Any]:
        """Return what a page shows of it; nothing of a table is in it."""
        return {
            "state": self.state,
            "title": self.title,
            "stage": self.stage,
            "part": self.part,
            "parts": self.parts,
            "percent": None if self.share is None else round(100 * self.share),
            "elapsed": round(monotonic() - self.started),
            "left": None if self.left is None else round(self.left),
            "then": self.then if self.state == "done" else self.back,
        }


class Workshop:
    """Where work is done, one piece at a time."""

    def __init__(self) -> None:
        self.work: Work | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """Whether something is being done."""
        return self.work is not None and self.work.state == "running"

    async def begin(
        self, work: Work, do: Callable[[Work], Awaitable[None]], patience: float = 0.0
    ) -> None:
        """Start a piece of work, and wait a moment for what is quick.

        Raises
        ------
        InputError
            Another one is being done.
        """
        if not self.busy and self._task is not None:
            await asyncio.wait([self._task])  # what was cancelled clears its folder away first
        if self.busy:
            raise InputError("Something else is being done. Wait for it, or cancel it first.")
        self.work = work
        self._task = asyncio.create_task(self._do(work, do))
        if patience:
            await asyncio.wait([self._task], timeout=patience)

    async def _do(self, work: Work, do: Callable[[Work], Awaitable[None]]) -> None:
        try:
            await do(work)
            state, sentence = "done", ""
        except ICSAError as error:
            state, sentence = "refused", str(error)
        except OSError as error:
            state, sentence = "refused", f"{error.strerror or error}."
        except asyncio.CancelledError:
            state, sentence = "cancelled", ""
        except Exception as error:  # a bug of ours; its words could hold a cell
            state = "refused"
            sentence = f"This is a bug in icsa ({type(error).__name__}). Report it."
        if work.state == "running":
            work.state, work.sentence = state, sentence

    def cancel(self) -> None:
        """End the work that is being done; what it was about to write is not there."""
        if self.work is not None and self.busy:
            self.work.state = "cancelled"
            self.work.cancel()

    async def end(self) -> None:
        """End the work that is being done, and wait until what it had written is gone."""
        self.cancel()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=5)


async def run_command(work: Work, arguments: Sequence[str], folder: Path) -> None:
    """Run a command of the command line in a folder; its processes end with this one.

    Raises
    ------
    InputError
        The command refused, with its own sentence.
    """
    heard = folder / ".progress"
    heard.touch(mode=0o600)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "icsa.app.leash",
        *arguments,
        cwd=folder,
        env={**os.environ, "ICSA_PROGRESS_FILE": str(heard)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    work.cancel = lambda: _kill(process)
    if work.state == "cancelled":
        _kill(process)
    listening = asyncio.create_task(_listen(work, heard))
    try:
        assert process.stderr is not None
        said = (await process.stderr.read()).decode("utf-8", "replace")
        code = await process.wait()
    finally:
        listening.cancel()
        _kill(process)
        heard.unlink(missing_ok=True)
    if code:
        raise InputError(_sentence(code, said))


def _sentence(code: int, said: str) -> str:
    """Return why a command ended, in its own words if it had any."""
    if ran_short(code):
        return (
            "This needs more memory than is free. Close other programs, or release fewer columns "
            "or rows."
        )
    lines = [line.removeprefix("icsa: ") for line in said.splitlines() if line.startswith("icsa: ")]
    if not lines:
        return "The work was ended before it was done. Nothing was written: try it again."
    return lines[-1].removeprefix("error: ")


async def _listen(work: Work, heard: Path) -> None:
    """Note what a command writes about how far it is."""
    with heard.open(encoding="utf-8") as file:
        while True:
            for line in file.read().splitlines():
                share, _, stage = line.partition(" ")
                with suppress(ValueError):
                    work.at(stage, float(share))
            await asyncio.sleep(0.1)


def _kill(process: asyncio.subprocess.Process) -> None:
    """End a process and all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        elif process.returncode is None:
            process.kill()

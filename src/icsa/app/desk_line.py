"""The line to the desk: a question at a time, an answer or a sentence; it can be cut."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from icsa.app.leash import ran_short
from icsa.errors import InputError

__all__ = ["DeskLine"]

# A line is an answer: pictures of some thousand columns.
_LONGEST = 2**28


class DeskLine:
    """A process that reads tables and holds schemas against them, so that the server does not.

    It is started before it is needed, as loading takes a second, and again when it is gone.
    """

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def start(self) -> asyncio.subprocess.Process:
        """Return the process that answers."""
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "icsa.app.desk",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                limit=_LONGEST,
                start_new_session=True,
            )
        return self._process

    async def ask(
        self, question: str, told: Callable[[str], None] = lambda _stage: None, **about: Any
    ) -> dict[str, Any]:
        """Return the answer to a question.

        Parameters
        ----------
        question : str
            One of those that `icsa.app.desk` answers.
        told : callable
            Called with what is being done, where that takes several stages.
        **about
            Plain values.

        Raises
        ------
        InputError
            What is asked cannot be done; the sentence is that of the command line.
        """
        async with self._turn:
            process = await self.start()
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps({"question": question, **about}).encode() + b"\n")
            with suppress(ConnectionError):
                await process.stdin.drain()
            while line := await process.stdout.readline():
                said: dict[str, Any] = json.loads(line)
                if "stage" in said:
                    told(said["stage"])
                    continue
                if "refused" in said:
                    raise InputError(said["refused"])
                answer: dict[str, Any] = said["answer"]
                return answer
            code = await process.wait()
        if ran_short(code):
            raise InputError(
                "This needs more memory than is free. Close other programs, or take a file with "
                "fewer rows."
            )
        raise InputError("This was ended before it was done. Nothing is lost: try it again.")

    def cut(self) -> None:
        """End the process, whatever it is at."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()

    async def close(self) -> None:
        """End the process and wait until it is gone."""
        self.cut()
        if self._process is not None:
            await self._process.wait()

"""A running R that obeys commands, one line each, and times functions by its own clock."""

from __future__ import annotations

import atexit
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.timing import Timing

__all__ = ["RServer"]


class RServer:
    """An R process that runs one of the scripts beside this file and holds one table at a time."""

    def __init__(self, rscript: str, script: str, package: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="icsa-benchmarks-")
        self._process = subprocess.Popen(
            [rscript, "--vanilla", str(Path(__file__).with_name(script))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        atexit.register(self.close)
        r, version = self._ask("versions")
        self.versions = {"R": r, package: version}

    def give(self, x: npt.NDArray[np.float64]) -> None:
        """Hand over a table."""
        path = self._path("table")
        # The transpose in C order is the table in R's order.
        np.ascontiguousarray(x.T).tofile(path)
        self._ask("data", path, *x.shape)

    def close(self) -> None:
        """End the process."""
        self._process.communicate()
        self._folder.cleanup()

    def _timing(self, *words: object) -> Timing:
        elapsed, cpu = self._ask(*words)
        return Timing(float(elapsed), float(cpu))

    def _path(self, name: str) -> str:
        return str(Path(self._folder.name) / name)

    def _ask(self, *words: object) -> list[str]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\t".join(map(str, words)) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().rstrip("\n").split("\t")
        if answer[0] in ("", "error"):
            raise RuntimeError(f"R did not answer {words[0]}: {' '.join(answer[1:])}")
        return answer

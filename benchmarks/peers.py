"""Who we are compared with: robustbase in a running R, scikit-learn, textbook loops in NumPy."""

from __future__ import annotations

import atexit
import functools
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.data import Table
from benchmarks.timing import Timing

__all__ = ["Robustbase", "plain_hr", "plain_tyler", "robustbase", "sklearn_mcd_rows"]

Rows = npt.NDArray[np.integer]
Vector = npt.NDArray[np.float64]


class Robustbase:
    """An R process that holds one table at a time and times covMcd on it by its own clock."""

    def __init__(self, rscript: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="icsa-benchmarks-")
        self._process = subprocess.Popen(
            [rscript, "--vanilla", str(Path(__file__).with_name("peer.R"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        atexit.register(self.close)
        r, package = self._ask("versions")
        self.versions = {"R": r, "robustbase": package}

    def give(self, x: Table) -> None:
        """Hand over a table."""
        path = self._path("table")
        # The transpose in C order is the table in R's order.
        np.ascontiguousarray(x.T).tofile(path)
        self._ask("data", path, *x.shape)

    def time_mcd(self, alpha: float, calls: int) -> Timing:
        """Return the seconds that a call of covMcd takes, by default with 500 starts."""
        elapsed, cpu = self._ask("mcd", alpha, calls, self._path("best"))
        return Timing(float(elapsed), float(cpu))

    def best_rows(self) -> Rows:
        """Return the row numbers of the last call's best subset."""
        return np.fromfile(self._path("best"), dtype=np.int32)

    def close(self) -> None:
        """End the process."""
        self._process.communicate()
        self._folder.cleanup()

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


@functools.cache
def robustbase() -> Robustbase | None:
    """Return the running R with robustbase, None where either is not installed."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        return None
    try:
        server = Robustbase(rscript)
    except (OSError, RuntimeError):
        return None
    server.give(np.random.default_rng(0).normal(size=(40, 3)))
    server.time_mcd(0.5, 5)  # R compiles functions at their second call
    return server


def sklearn_mcd_rows(x: Table, h: int) -> Rows:
    """Return the rows of MinCovDet's raw subset of h rows."""
    from sklearn.covariance import MinCovDet

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = MinCovDet(support_fraction=(h + 0.5) / x.shape[0], random_state=0).fit(x)
    return np.flatnonzero(fit.raw_support_)


def plain_tyler(x: Table, tolerance: float, max_iterations: int = 10_000) -> Table:
    """Return Tyler's shape around the mean by V <- p mean(r r' / r' V^-1 r), determinant one."""
    n, p = x.shape
    centred = x - x.mean(axis=0)
    shape: Table = np.cov(x.T)
    for _ in range(max_iterations):
        factor = np.linalg.cholesky(shape)
        y = np.linalg.solve(factor, centred.T)
        u = y / np.sqrt(np.square(y).sum(axis=0))
        step = p / n * (u @ u.T)
        shape = factor @ step @ factor.T
        shape /= np.linalg.det(shape) ** (1 / p)
        if np.linalg.norm(step - np.eye(p)) <= tolerance * np.sqrt(p):
            return shape
    raise RuntimeError("The plain Tyler loop did not converge.")


def plain_hr(x: Table, tolerance: float, max_iterations: int = 10_000) -> tuple[Vector, Table]:
    """Return the Hettmansperger-Randles location and shape by turns of their two equations."""
    n, p = x.shape
    location, shape = x.mean(axis=0), np.cov(x.T)
    for _ in range(max_iterations):
        factor = np.linalg.cholesky(shape)
        y = np.linalg.solve(factor, (x - location).T)
        length = np.sqrt(np.square(y).sum(axis=0))
        u = y / length
        pull, step = u.mean(axis=1), p / n * (u @ u.T)
        location = location + factor @ pull / np.mean(1 / length)
        shape = factor @ step @ factor.T
        shape /= np.linalg.det(shape) ** (1 / p)
        scatter_residual = np.linalg.norm(step - np.eye(p)) / np.sqrt(p)
        # The solver of icsa measures the pull with weights sqrt(p)/|y|.
        if max(scatter_residual, np.sqrt(p) * np.linalg.norm(pull)) <= tolerance:
            return location, shape
    raise RuntimeError("The plain Hettmansperger-Randles loop did not converge.")

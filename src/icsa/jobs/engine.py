"""The engine: compute the jobs that are missing, keep each as it comes, tell how far it is."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from icsa.compilation import silent_children
from icsa.errors import InputError
from icsa.jobs.folder import Parts, PartsInMemory, WorkFolder, opened_folder
from icsa.jobs.progress import Pace, shown_progress
from icsa.jobs.work import Job, Work
from icsa.jobs.workers import Outcome, in_processes, in_this_process

__all__ = ["read_parts", "run"]


def run(
    work: Work,
    folder: Path | None = None,
    *,
    workers: int = 1,
    dask: Any = None,
    progress: bool | Callable[[Job], None] = True,
) -> dict[str, np.ndarray]:
    """Return the columns that the jobs of `work` give, in the order of the jobs.

    With a folder every finished job is a Parquet file ``parts/NAME.parquet`` there at once, so
    interrupted work goes on where it stopped, and finished work is not computed again. The files
    are the same, bit for bit, whatever the number of workers and wherever they are.
    ``config.json`` holds the config and ``manifest.json`` the versions and the time used.

    Parameters
    ----------
    work : Work
        What to compute.
    folder : Path, optional
        Where parts are kept; made if missing. Without one they are kept in memory.
    workers : int
        Processes on this machine, each with one thread; 1 computes in this process. A script that
        starts more than one must do so under ``if __name__ == "__main__":``.
    dask : str or Client, optional
        The address of a running Dask scheduler to compute there, or "local" to start one here
        with `workers` processes; or a client that `icsa.jobs.dask_cluster.connected` gives.
    progress : bool or callable
        Whether to show on standard error how far it is, or what to call with every job done.

    Returns
    -------
    dict of str to ndarray

    Raises
    ------
    InputError
        If the folder holds something else (other work, the same one with another config,
        damaged files), or if the workers cannot be reached.
    Exception
        What a job raised, with a note that says which job; the finished jobs are kept.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Config:
    ...     power: int = 2
    >>> def raised(config, x):
    ...     return {"x": [x], "y": [x**config.power]}
    >>> jobs = tuple(Job(f"x{x}", {"x": x}) for x in range(4))
    >>> run(Work("powers", Config(), jobs, raised), progress=False)
    {'x': array([0, 1, 2, 3]), 'y': array([0, 1, 4, 9])}
    """
    if workers < 1:
        raise InputError(f"At least 1 worker is needed: got {workers}.")
    with _parts_of(work, folder) as parts:
        finished = parts.finished()
        missing = [job for job in work.jobs if job.name not in finished]
        if missing:
            _compute(parts, missing, workers, dask, progress)
        else:
            parts.complete_manifest()
        return parts.read()


def read_parts(work: Work, folder: Path) -> dict[str, np.ndarray]:
    """Return the columns of finished work: all parts, in the order of its jobs.

    Parameters
    ----------
    work : Work
        Whose parts they are; another one's are an error.
    folder : Path
        The folder that `run` filled.

    Returns
    -------
    dict of str to ndarray
        The columns by name, whatever the order in which the jobs were finished.
    """
    there = WorkFolder(work, Path(folder))
    if not (there.out / "config.json").exists():
        raise InputError(f"{folder} holds no results.")
    there.check()
    missing = len(work.jobs) - len(there.finished())
    if missing:
        raise InputError(
            f"The work in {folder} is not finished: {missing} of {len(work.jobs)} jobs are "
            "missing. Run it again; it goes on where it stopped."
        )
    return there.read()


@contextmanager
def _parts_of(work: Work, folder: Path | None) -> Iterator[Parts]:
    if folder is None:
        yield PartsInMemory(work)
    else:
        with opened_folder(work, Path(folder)) as opened:
            yield opened


def _compute(
    parts: Parts,
    jobs: Sequence[Job],
    workers: int,
    dask: Any,
    progress: bool | Callable[[Job], None],
) -> None:
    named = {job.name: job for job in jobs}
    total = len(parts.work.jobs)
    pace = Pace(total - len(jobs), total, sum(job.cost for job in jobs))
    # Long jobs first: then no worker is left with one when the others are done.
    longest_first = sorted(jobs, key=lambda job: -job.cost)
    with (
        parts.timed() as manifest,
        shown_progress(parts.work.name, pace, progress) as advance,
        closing(_outcomes(parts.work, longest_first, workers, dask)) as outcomes,
    ):
        for outcome in _telling_what_is_kept(outcomes, parts):
            if outcome.error is not None:
                kept = "" if isinstance(parts, PartsInMemory) else "; finished jobs are kept"
                outcome.error.add_note(
                    f"This was in job {outcome.name!r} of {parts.work.name!r}{kept}."
                )
                raise outcome.error from _JobError(outcome.trace)
            parts.write_part(outcome.name, outcome.columns)
            manifest.refresh()
            advance(named[outcome.name])


def _telling_what_is_kept(outcomes: Iterator[Outcome], parts: Parts) -> Iterator[Outcome]:
    """Yield outcomes; an error of the workers says what becomes of those that came before."""
    try:
        yield from outcomes
    except InputError as error:
        if not isinstance(parts, PartsInMemory):
            error.add_note("Finished jobs are kept: the same command goes on where it stopped.")
        raise


def _outcomes(
    work: Work, jobs: Sequence[Job], workers: int, dask: Any
) -> Generator[Outcome, None, None]:
    if dask is None and workers == 1:
        yield from in_this_process(work, jobs)
        return
    with silent_children():
        if dask is None:
            yield from in_processes(work, jobs, workers)
        else:
            from icsa.jobs.dask_cluster import on_dask

            yield from on_dask(work, jobs, dask, workers)


class _JobError(Exception):
    """Shows, as the cause of an error, where it was raised in another process."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"

"""The engine of all studies: compute the jobs that are missing, keep each as it comes, tell."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np

from icsa.compilation import silent_children
from icsa.errors import InputError
from icsa.studies.folder import StudyFolder, opened_folder
from icsa.studies.jobs import Job, Study
from icsa.studies.workers import Outcome, in_processes, in_this_process

__all__ = ["Pace", "read_parts", "run_study"]

# Seconds between two lines on how far a study is, where there is no terminal.
_EVERY = 30.0


def run_study(
    study: Study, out: Path, *, workers: int = 2, dask: str | None = None, progress: bool = True
) -> None:
    """Compute the jobs of `study` that are not in the folder `out` yet.

    Every finished job is a Parquet file ``parts/NAME.parquet`` at once, so an interrupted study
    goes on where it stopped, and a finished one is not computed again. The files are the same, bit
    for bit, whatever the number of workers and wherever they are. ``config.json`` holds the config
    and ``manifest.json`` the versions and the time used.

    Parameters
    ----------
    study : Study
        What to compute.
    out : Path
        The folder; made if missing.
    workers : int
        Processes on this machine, each with one thread. A script that starts more than one must do
        so under ``if __name__ == "__main__":``.
    dask : str, optional
        The address of a running Dask scheduler to compute there, or "local" to start one here
        with `workers` processes.
    progress : bool
        Whether to show on standard error how far it is.

    Raises
    ------
    InputError
        If the folder holds something else (another study, the same one with another config,
        damaged files), or if the workers cannot be reached.
    Exception
        What a job raised, with a note that says which job; the finished jobs are kept.

    Examples
    --------
    >>> import tempfile
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Config:
    ...     power: int = 2
    >>> def raised(config, x):
    ...     return {"x": [x], "y": [x**config.power]}
    >>> jobs = tuple(Job(f"x{x}", {"x": x}) for x in range(4))
    >>> study = Study("powers", Config(), jobs, raised)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     run_study(study, Path(out), workers=1, progress=False)
    ...     read_parts(study, Path(out))
    {'x': array([0, 1, 2, 3]), 'y': array([0, 1, 4, 9])}
    """
    if workers < 1:
        raise InputError(f"At least 1 worker is needed: got {workers}.")
    with opened_folder(study, Path(out)) as folder:
        finished = folder.finished()
        missing = [job for job in study.jobs if job.name not in finished]
        if missing:
            _compute(folder, missing, workers, dask, progress)
        else:
            folder.complete_manifest()


def read_parts(study: Study, out: Path) -> dict[str, np.ndarray]:
    """Return the columns of a finished study: all parts, in the order of its jobs.

    Parameters
    ----------
    study : Study
        Whose parts they are; another one's are an error.
    out : Path
        The folder that `run_study` filled.

    Returns
    -------
    dict of str to ndarray
        The columns by name, whatever the order in which the jobs were finished.
    """
    folder = StudyFolder(study, Path(out))
    if not (folder.out / "config.json").exists():
        raise InputError(f"{out} holds no study.")
    folder.check()
    missing = len(study.jobs) - len(folder.finished())
    if missing:
        raise InputError(
            f"The study in {out} is not finished: {missing} of {len(study.jobs)} jobs are missing. "
            "Run it again; it goes on where it stopped."
        )
    return folder.read()


def _compute(
    folder: StudyFolder, jobs: Sequence[Job], workers: int, dask: str | None, progress: bool
) -> None:
    costs = {job.name: job.cost for job in jobs}
    total = len(folder.study.jobs)
    pace = Pace(total - len(jobs), total, sum(costs.values()))
    # Long jobs first: then no worker is left with one when the others are done.
    longest_first = sorted(jobs, key=lambda job: -job.cost)
    with (
        folder.timed() as manifest,
        _shown_progress(folder.study.name, pace, shown=progress) as advance,
        closing(_outcomes(folder.study, longest_first, workers, dask)) as outcomes,
    ):
        for outcome in outcomes:
            if outcome.error is not None:
                outcome.error.add_note(
                    f"This was in job {outcome.name!r} of the study {folder.study.name!r}; "
                    "finished jobs are kept."
                )
                raise outcome.error from _JobError(outcome.trace)
            folder.write_part(outcome.name, outcome.columns)
            manifest.refresh()
            advance(costs[outcome.name])


def _outcomes(
    study: Study, jobs: Sequence[Job], workers: int, dask: str | None
) -> Generator[Outcome, None, None]:
    if dask is None and workers == 1:
        yield from in_this_process(study, jobs)
        return
    with silent_children():
        if dask is None:
            yield from in_processes(study, jobs, workers)
        else:
            from icsa.studies.dask_cluster import on_dask

            yield from on_dask(study, jobs, dask, workers)


class _JobError(Exception):
    """Shows, as the cause of an error, where it was raised in another process."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class Pace:
    """Jobs done, how many a second, and the time left.

    Of all jobs some were done before this session; the cost is of those that it has to do.
    """

    def __init__(
        self, done: int, total: int, cost: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.done = done
        self.total = total
        self._before = done
        self._cost = cost
        self._spent = 0.0
        self._clock = clock
        self._start = clock()
        self._last = self._start

    def advance(self, cost: float) -> None:
        """Count a job of that cost as done."""
        self.done += 1
        self._spent += cost
        self._last = self._clock()

    def __str__(self) -> str:
        """Return all of it in one line."""
        text = f"{self.done} of {self.total} jobs"
        now = self._clock()
        if self.done == self._before or self._last <= self._start:
            return text
        rate = (self.done - self._before) / (self._last - self._start)
        whole = (self._last - self._start) * self._cost / self._spent
        left = max(0.0, self._start + whole - now)
        return f"{text}, {rate:.3g} jobs/s, {_spoken(left)} left"


def _spoken(seconds: float) -> str:
    """Return a duration for people.

    Examples
    --------
    >>> _spoken(41.6), _spoken(95), _spoken(3 * 3600 + 125)
    ('42 s', '1 min 35 s', '3 h 2 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


@contextmanager
def _shown_progress(name: str, pace: Pace, *, shown: bool) -> Iterator[Callable[[float], None]]:
    """Show the progress of a study; give a function to call with the cost of every job done."""
    if not shown:
        yield pace.advance
    elif sys.stderr.isatty():
        with _bar(name, pace) as advance:
            yield advance
    else:
        yield _lines(name, pace)


@contextmanager
def _bar(name: str, pace: Pace) -> Iterator[Callable[[float], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[pace]}"))
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(name, total=pace.total, completed=pace.done, pace=pace)

        def advance(cost: float) -> None:
            pace.advance(cost)
            progress.update(task, completed=pace.done)

        yield advance


def _lines(name: str, pace: Pace) -> Callable[[float], None]:
    said = 0.0

    def say() -> None:
        nonlocal said
        said = time.monotonic()
        print(f"{name}: {pace}", file=sys.stderr, flush=True)

    def advance(cost: float) -> None:
        pace.advance(cost)
        if pace.done == pace.total or time.monotonic() - said > _EVERY:
            say()

    say()
    return advance

"""The engine of all studies: compute the jobs that are missing, keep each as it comes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from icsa.compilation import silent_children
from icsa.errors import InputError
from icsa.studies.folder import StudyFolder, opened_folder
from icsa.studies.jobs import Job, Study, config_text
from icsa.studies.pace import Pace, shown_progress
from icsa.studies.workers import Outcome, in_processes, in_this_process

__all__ = ["Job", "Study", "config_text", "read_parts", "run_study"]


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
        shown_progress(folder.study.name, pace, shown=progress) as advance,
        closing(_outcomes(folder.study, longest_first, workers, dask)) as outcomes,
    ):
        for outcome in outcomes:
            _raise_error_of(outcome, folder.study)
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


def _raise_error_of(outcome: Outcome, study: Study) -> None:
    if outcome.error is None:
        return
    outcome.error.add_note(
        f"This was in job {outcome.name!r} of the study {study.name!r}; finished jobs are kept."
    )
    raise outcome.error from _JobError(outcome.trace)


class _JobError(Exception):
    """Shows, as the cause of an error, where it was raised in another process."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"

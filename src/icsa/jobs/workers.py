"""Where jobs are done: in this process, in others on this machine, or on a Dask cluster.

Every job runs with one thread, so results depend neither on the place nor on the number of workers.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from icsa.errors import InputError
from icsa.jobs.work import Job, Work

__all__ = [
    "Outcome",
    "end_processes",
    "ignore_interrupts",
    "in_processes",
    "in_this_process",
    "perform",
    "perform_in_worker",
]

# How often workers may be lost before we believe that they will be again.
_ATTEMPTS = 3


@dataclass(frozen=True)
class Outcome:
    """The table of a job, or the error that the work's function raised, and where it did."""

    name: str
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    error: Exception | None = None
    trace: str = ""


def perform(function: Callable[..., Mapping[str, Any]], config: object, job: Job) -> Outcome:
    """Return what a job gives; its errors come back as values, so that we know whose they are.

    Examples
    --------
    >>> perform(lambda config, x: {"double": [2 * x]}, None, Job("three", {"x": 3})).columns
    {'double': array([6])}
    >>> perform(lambda config: 1 / 0, None, Job("zero", {})).error
    ZeroDivisionError('division by zero')
    """
    try:
        return Outcome(job.name, _checked(function(config, **job.arguments)))
    except Exception as error:
        return Outcome(job.name, error=_portable(error), trace=traceback.format_exc())


def _checked(table: Mapping[str, Any]) -> dict[str, np.ndarray]:
    columns = {name: np.asarray(column) for name, column in table.items()}
    shapes = {column.shape for column in columns.values()}
    if len(shapes) != 1 or len(next(iter(shapes))) != 1:
        raise TypeError(f"A job must return columns of one length: got shapes {sorted(shapes)}.")
    return columns


def _portable(error: Exception) -> Exception:
    """Return `error` if it survives the way to another process, or its words if not."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def in_this_process(work: Work, jobs: Sequence[Job]) -> Iterator[Outcome]:
    """Yield the outcomes of `jobs`, one after the other."""
    libraries = _libraries()
    for job in jobs:
        with libraries.limit(limits=1):
            outcome = perform(work.function, work.config, job)
        yield outcome


def in_processes(work: Work, jobs: Sequence[Job], workers: int) -> Iterator[Outcome]:
    """Yield the outcomes of `jobs` as they come from so many processes of joblib.

    Jobs that were under way when a process was lost are done again.
    """
    missing = {job.name: job for job in jobs}
    for _ in range(_ATTEMPTS):
        try:
            with closing(_through_joblib(work, list(missing.values()), workers)) as outcomes:
                for outcome in outcomes:
                    del missing[outcome.name]
                    yield outcome
            return
        except BrokenProcessPool:
            continue
    raise InputError(
        f"Worker processes were ended from outside {_ATTEMPTS} times: most likely the memory ran "
        "out. Use fewer --workers."
    )


def _through_joblib(
    work: Work, jobs: Sequence[Job], workers: int
) -> Generator[Outcome, None, None]:
    from joblib import Parallel, delayed, parallel_config

    here = os.getpid()
    calls = (delayed(_perform_in_child)(here, work.function, work.config, job) for job in jobs)
    # With one process joblib would do a job in this one, which is not to be lost with it.
    processes = min(workers, max(len(jobs), 2))
    # Nothing goes by way of files in shared memory: a run that is killed would leave them there.
    options: dict[str, Any] = {"inner_max_num_threads": 1, "max_nbytes": None}
    with parallel_config("loky", n_jobs=processes, **options), _interrupts_later():
        # No batches: what is finished is to be kept at once.
        outcomes = Parallel(return_as="generator_unordered", batch_size=1)(calls)
    try:
        # "yield from" would close joblib's generator before our finally.
        for outcome in outcomes:  # noqa: UP028
            yield outcome
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that jobs were left over when we stop early
            outcomes.close()


def end_processes() -> None:
    """End the processes that wait for more jobs, and with them what they hold of memory."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)


def _perform_in_child(
    parent: int, function: Callable[..., Mapping[str, Any]], config: object, job: Job
) -> Outcome:
    _end_with(parent)
    return perform_in_worker(function, config, job)


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Put Ctrl-C off while processes are started, which are spared it: they inherit that."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # which would end what we begin here if it began later
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@cache
def _end_with(parent: int) -> None:
    """End this process soon after its parent, which may be killed without a word."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    if os.getppid() == parent:
        threading.Thread(target=watch, daemon=True).start()
    elif os.name == "posix" and os.getpid() != parent:  # it was gone before this process began
        os._exit(1)


def perform_in_worker(
    function: Callable[..., Mapping[str, Any]], config: object, job: Job
) -> Outcome:
    """Return what a job gives, in a process that does nothing else than jobs."""
    ignore_interrupts()
    _libraries().limit(limits=1)  # for good: jobs in threads must not take it from each other
    return perform(function, config, job)


def ignore_interrupts() -> None:
    """Leave Ctrl-C, which reaches every process of a terminal, to the one that started this one."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _libraries() -> Any:
    """Return the libraries with threads of their own that numpy, scipy and others have loaded."""
    import scipy.linalg  # noqa: F401  (has a BLAS of its own, which must be there to be limited)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()

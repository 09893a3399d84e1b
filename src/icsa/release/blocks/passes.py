"""Passes over a large table: tasks of which each reads files of scratch and writes others.

What a task returns is small and kept in scratch too, so that a pass that was interrupted goes on
with the tasks that are missing, and a finished one is not done again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from icsa.errors import ICSAError
from icsa.jobs import Job, Work, end_processes, run
from icsa.release.blocks.scratch import Scratch
from icsa.threads import at_most_threads, give_back_memory, one_linear_algebra_thread

__all__ = ["OF_A_BLOCK", "OF_A_COLUMN", "Passes", "Task"]

# Columns of numbers that a task on one column holds at a time: its cells and numbers, sorted ones,
# and what is computed from them. Measured on columns of all kinds: up to 6.
OF_A_COLUMN = 6
# A block of rows is so small that all workers may have one.
OF_A_BLOCK = 0


@dataclass(frozen=True)
class Task:
    """A call of a function that a module has by its name; its arguments can be pickled.

    They may hold a key, so that no text shows them.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class _Place:
    """Where the tasks of a pass keep what they return."""

    scratch: Scratch
    threads: int = 1


@dataclass(eq=False)
class Passes:
    """Who runs the tasks, and tells how far they are.

    Attributes
    ----------
    scratch : Scratch
    workers : int
        Processes; 1 is this one.
    columns_at_a_time : int
        How many of them work at a time where a task holds as much as tasks on a column may.
    dask : str or Client, optional
        A scheduler, as `icsa.jobs.run` takes it.
    told : function
        Called with the name of a pass and the share of it that is done.
    """

    scratch: Scratch
    workers: int = 1
    columns_at_a_time: int = sys.maxsize
    dask: Any = None
    told: Callable[[str, float], None] = lambda _name, _share: None

    def over(self, name: str, tasks: Sequence[Task], *, held: int = OF_A_COLUMN) -> list[Any]:
        """Return what the tasks of a pass return, in their order.

        `held` is how many columns of numbers, of all rows, a task holds at most.
        """
        return list(self.each(name, tasks, held=held))

    def each(self, name: str, tasks: Sequence[Task], *, held: int = OF_A_COLUMN) -> Iterator[Any]:
        """Yield what the tasks of a pass return, in their order, one at a time."""
        names = [_file_name(name, number) for number in range(len(tasks))]
        jobs = [
            Job(each, {"name": each, "task": task})
            for each, task in zip(names, tasks, strict=True)
            if not self.scratch.has(each)
        ]
        done = len(tasks) - len(jobs)
        self.told(name, done / max(len(tasks), 1))
        if jobs:

            def advance(_job: Job) -> None:
                nonlocal done
                done += 1
                self.told(name, done / len(tasks))

            place = _Place(self.scratch)
            work = Work(name.replace(" ", "_"), place, tuple(jobs), _perform)
            dask = self.dask if len(jobs) > 1 else None
            at_a_time = self._at_a_time(held)
            if at_a_time == 1 < self.workers and self.dask is None:
                end_processes()  # what those that wait take of memory is short here
            workers = min(at_a_time, len(jobs))
            try:
                run(work, workers=workers, dask=dask, progress=advance)
            except (ICSAError, OSError) as error:
                error.__notes__ = []  # which task it was says nothing to whoever has the table
                raise
        for each in names:
            yield self.scratch.kept(each)

    def _at_a_time(self, held: int) -> int:
        if held == OF_A_BLOCK:
            return self.workers
        return min(self.workers, self.columns_at_a_time * (OF_A_COLUMN // held))

    def once(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a task returns that is a pass by itself, done in this process."""
        self.told(name, 0.0)
        if not self.scratch.has(name):
            _perform(_Place(self.scratch, threads=self.workers), name, Task(function, arguments))
        return self.scratch.kept(name)

    def forget(self, name: str, n_tasks: int) -> None:
        """Have a pass done again."""
        for number in range(n_tasks):
            self.scratch.forget(_file_name(name, number))

    def drop(self, columns: Iterable[str]) -> None:
        """Remove columns that no later pass reads."""
        for what in columns:
            self.scratch.drop(what)


def _file_name(name: str, number: int) -> str:
    return f"{name.replace(' ', '_')}-{number}"


def _perform(place: _Place, name: str, task: Task) -> Mapping[str, Any]:
    """Do a task and keep what it returns; the engine hears only that it is done."""
    with at_most_threads(place.threads), one_linear_algebra_thread():
        found = task.function(place.scratch, *task.arguments)
    place.scratch.keep(name, found)
    del found
    give_back_memory()
    return {"done": [name]}

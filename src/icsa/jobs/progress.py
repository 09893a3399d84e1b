"""How far work is: jobs done, how many a second, the time left; as a bar, or in plain lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from icsa.jobs.work import Job

__all__ = ["Pace", "shown_progress", "spoken"]

# Seconds between two lines on how far it is, where there is no terminal.
_EVERY = 30.0


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

    def forget(self, jobs: int, cost: float) -> None:
        """Take jobs of that cost together off the list: they will not be done."""
        self.total -= jobs
        self._cost -= cost

    @property
    def share(self) -> float:
        """Of the cost of all jobs, that of those done."""
        return min(1.0, self._spent / self._cost) if self._cost > 0 else 1.0

    def __str__(self) -> str:
        """Return all of it in one line."""
        text = f"{self.done} of {self.total} jobs"
        now = self._clock()
        if self.done == self._before or self._last <= self._start:
            return text
        rate = (self.done - self._before) / (self._last - self._start)
        whole = (self._last - self._start) * max(1.0, self._cost / self._spent)
        left = max(0.0, self._start + whole - now)
        return f"{text}, {rate:.3g} jobs/s, {spoken(left)} left"


def spoken(seconds: float) -> str:
    """Return a duration for people.

    Examples
    --------
    >>> spoken(41.6), spoken(95), spoken(3 * 3600 + 125)
    ('42 s', '1 min 35 s', '3 h 2 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


@contextmanager
def shown_progress(
    name: str, pace: Pace, progress: bool | Callable[[Job], None] = True
) -> Iterator[Callable[[Job], None]]:
    """Give a function to call with every job done, which shows it, or tells whoever asked."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda job: pace.advance(job.cost)
    elif sys.stderr.isatty():
        with _bar(name, pace) as advance:
            yield advance
    else:
        yield _lines(name, pace)


@contextmanager
def _bar(name: str, pace: Pace) -> Iterator[Callable[[Job], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[pace]}"))
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(name, total=pace.total, completed=pace.done, pace=pace)

        def advance(job: Job) -> None:
            pace.advance(job.cost)
            progress.update(task, completed=pace.done, total=pace.total)

        yield advance


def _lines(name: str, pace: Pace) -> Callable[[Job], None]:
    said = 0.0

    def say() -> None:
        nonlocal said
        said = time.monotonic()
        print(f"{name}: {pace}", file=sys.stderr, flush=True)

    def advance(job: Job) -> None:
        pace.advance(job.cost)
        if pace.done == pace.total or time.monotonic() - said > _EVERY:
            say()

    say()
    return advance

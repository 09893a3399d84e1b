"""How far a study is, on standard error: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

__all__ = ["Pace", "shown_progress"]

# Seconds between two lines where there is no terminal.
_EVERY = 30.0


class Pace:
    """Jobs done, how many a second, and the time left.

    Parameters
    ----------
    done, total : int
        Jobs finished before this session, and all jobs.
    cost : float
        Of the jobs that this session has to do.
    clock : callable
        Returns seconds.

    Examples
    --------
    >>> seconds = iter([0.0, 2.0, 2.0])
    >>> pace = Pace(10, 14, cost=4.0, clock=lambda: next(seconds))
    >>> pace.advance(1.0)
    >>> str(pace)
    '11 of 14 jobs, 0.5 jobs/s, 6 s left'
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
def shown_progress(name: str, pace: Pace, *, shown: bool) -> Iterator[Callable[[float], None]]:
    """Show the progress of a study; give a function to call with the cost of every job done."""
    if not shown:
        yield pace.advance
    elif sys.stderr.isatty():
        with _bar(name, pace) as advance:
            yield advance
    else:
        yield _lines(name, pace, sys.stderr)


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


def _lines(name: str, pace: Pace, stream: TextIO) -> Callable[[float], None]:
    said = time.monotonic()
    print(f"{name}: {pace}", file=stream, flush=True)

    def advance(cost: float) -> None:
        nonlocal said
        pace.advance(cost)
        if pace.done == pace.total or time.monotonic() - said > _EVERY:
            said = time.monotonic()
            print(f"{name}: {pace}", file=stream, flush=True)

    return advance

"""A progress bar with the time left, for tables large enough to wait for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["stages"]

# Cells below which no bar is shown: it would be gone before it could be read.
_LONG = 2_000_000


@contextmanager
def stages(n_cells: int, *, quiet: bool) -> Iterator[Callable[[str, float], None]]:
    """Give a function to call with the name of a stage and the share of the work before it.

    Examples
    --------
    >>> with stages(10, quiet=False) as progress:
    ...     progress("reading", 0.5)
    """
    if quiet or n_cells < _LONG or not sys.stderr.isatty():
        yield lambda _name, _share: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=1.0)
        yield lambda name, share: bar.update(task, description=name, completed=share)

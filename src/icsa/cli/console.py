"""Where commands print: colours and progress on a terminal only; no colours if NO_COLOR is set."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import category

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["console", "heard_stages", "plain", "print_line", "stages"]

# A line of a table stays a line for grep.
_WIDTH_OF_PIPES = 200
# Blanks of all widths, which Python does not call printable.
_SPACE = "Zs"
# Cells below which no bar is shown: it would be gone before it could be read.
_LONG = 2_000_000
# A program that runs a command reads in the file of this name how far it is.
_HEARD = "ICSA_PROGRESS_FILE"


def console() -> Console:
    """Return a console on standard output."""
    from rich.console import Console

    class Pipe(Console):
        """A console that lets whoever called it know that nobody reads what it prints."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    terminal = sys.stdout.isatty()
    no_colours = not terminal or bool(os.environ.get("NO_COLOR"))
    return Pipe(
        color_system=None if no_colours else "auto",
        force_terminal=terminal,
        highlight=False,
        width=None if terminal else _WIDTH_OF_PIPES,
    )


def plain(text: str) -> str:
    r"""Return a text from a file without what moves a terminal's cursor or changes its colours.

    Parameters
    ----------
    text : str
        The name of a column or of a file, or a sentence with such names in it.

    Examples
    --------
    >>> print(plain("age"), plain("a\x1b[31mge"), plain(""))
    age a\x1b[31mge ''
    """
    if text.isprintable():
        return text or "''"
    return "".join(
        letter if letter.isprintable() or category(letter) == _SPACE else repr(letter)[1:-1]
        for letter in text
    )


def print_line(
    show: Console, text: str, style: str | None = None, *, to_copy: bool = False
) -> None:
    """Print a sentence, whatever is in the names that it holds.

    A path or a command is there `to_copy`, and must stay in one line.
    """
    show.print(plain(text), markup=False, style=style, soft_wrap=to_copy)


@contextmanager
def heard_stages() -> Iterator[Callable[[str, float], None] | None]:
    """Give the function to call with a stage and the share before it; None if nobody listens."""
    if not (heard := os.environ.get(_HEARD)):
        yield None
        return
    with Path(heard).open("a", encoding="utf-8", buffering=1) as file:
        yield lambda name, share: print(f"{share:.4f} {name}", file=file)


@contextmanager
def stages(n_cells: int, *, quiet: bool) -> Iterator[Callable[[str, float], None]]:
    """Give a function to call with the name of a stage and the share of the work before it."""
    with heard_stages() as heard:
        if heard is not None:
            yield heard
            return
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

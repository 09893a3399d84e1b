"""Where commands print tables: colours on a terminal only, and not if NO_COLOR is set."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["console"]

# A line of a table stays a line for grep.
_WIDTH_OF_PIPES = 200


def console() -> Console:
    """Return a console on standard output.

    Examples
    --------
    >>> console().print("a table", style="red")
    a table
    """
    from rich.console import Console

    terminal = sys.stdout.isatty()
    plain = not terminal or bool(os.environ.get("NO_COLOR"))
    return Console(
        color_system=None if plain else "auto",
        force_terminal=terminal,
        highlight=False,
        width=None if terminal else _WIDTH_OF_PIPES,
    )

"""``python -m icsa.app.desk``: the process that reads tables, holds schemas against them, draws.

A question a line on standard input, an answer a line on standard output, both JSON. Errors are the
sentences of the command line; nothing of a table goes anywhere else.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from icsa.app.leash import on_a_leash
from icsa.errors import ICSAError

__all__ = ["answer"]


def answer(question: str, told: Callable[[str], None], **about: Any) -> Mapping[str, Any]:
    """Return the answer to a question: plain values.

    Parameters
    ----------
    question : str
        "open", "check", "change", "look" or "report".
    told : callable
        Called with the name of each stage.
    **about
        As the function that answers wants it.
    """
    if question == "open":
        from icsa.app.desk_tables import opened

        return opened(told, **about)
    if question in ("check", "change"):
        from icsa.app import desk_schemas

        return (
            desk_schemas.checked(**about) if question == "check" else desk_schemas.changed(**about)
        )
    from icsa.app import desk_reports

    return desk_reports.looked_at(**about) if question == "look" else desk_reports.report(**about)


def _sentence(error: Exception) -> str:
    """Return why something cannot be done, as the command line says it."""
    notes = "".join(f" {note}" for note in getattr(error, "__notes__", ()))
    if isinstance(error, ICSAError):
        return f"{error}{notes}"
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename is not None else ""
        return f"{where}{error.strerror or error}{notes}"
    if isinstance(error, MemoryError):
        return "This needs more memory than is free. Take a file with fewer rows."
    # Its own words could hold a cell.
    return f"This is a bug in icsa ({type(error).__name__}). Report it to whoever gave you icsa."


def _main() -> None:
    on_a_leash(reads_input=True)
    # What a library prints must not come between the lines.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def say(**what: Any) -> None:
        out.write(json.dumps(what) + "\n")

    import icsa.app.desk_reports
    import icsa.app.desk_tables  # noqa: F401  # loaded before the first question comes

    for line in sys.stdin:
        asked = json.loads(line)
        try:
            found = answer(asked.pop("question"), lambda stage: say(stage=stage), **asked)
            say(answer=found)
        except Exception as error:
            say(refused=_sentence(error))


if __name__ == "__main__":
    _main()

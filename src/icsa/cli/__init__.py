"""The command line: parses, calls, shows; computes nothing.

Exit codes: 0 done; 1 a bug of ours; 2 an option, the input or the machine does not allow it; 130
interrupted, 129 by a terminal that is closed and 143 by a system that ends the process; 141 nobody
reads what is printed. An error is one message on standard error without colours.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from typing import TextIO

from icsa.errors import ICSAError

__all__ = ["main", "run"]

_BUG = 1
_REFUSED = 2
_INTERRUPTED = 130
_PIPE_CLOSED = 141
_BY_SIGNAL = 128
# A terminal that is closed, and a system or a queue that ends a process: all is removed in time.
_ENDING = ("SIGHUP", "SIGTERM")


def main() -> None:
    """Run the command of this process's arguments and exit with its code."""
    # Polars' allocator keeps freed memory for more than a second otherwise, which long tables need
    # sooner. It reads this when it is loaded.
    os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:50,muzzy_decay_ms:0")
    # Modules are nearly all that a command makes: looking for cycles among them takes its time, and
    # at the end the whole process goes.
    gc.set_threshold(100_000, 20, 20)
    _clean_up_when_ended()
    code = run(sys.argv[1:])
    gc.freeze()
    sys.exit(code)


class _Ended(KeyboardInterrupt):
    """An interruption that is no Ctrl-C; its argument is the number of the signal."""


def _clean_up_when_ended() -> None:
    """Have signals that end a process interrupt it, so that no scratch stays behind."""

    def end(number: int, _: object) -> None:
        raise _Ended(number)

    for name in _ENDING:
        number = getattr(signal, name, None)
        # nohup has it that a closed terminal ends nothing.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)


def run(arguments: Sequence[str]) -> int:
    """Return the exit code of the command ``icsa ARGUMENTS``.

    Parameters
    ----------
    arguments : sequence of str
        What follows the program's name. ``--debug`` anywhere shows the traceback of an error.

    Examples
    --------
    >>> run(["--version"])
    icsa 0.1.0
    0
    """
    debug, rest = _split_debug(arguments)
    try:
        from icsa.cli.commands import invoke

        code = invoke(rest)
        sys.stdout.flush()
        return code
    except BaseException as error:
        if debug and not isinstance(error, SystemExit):
            import traceback

            traceback.print_exception(error)
        return _code_of(error)


def _split_debug(arguments: Sequence[str]) -> tuple[bool, list[str]]:
    """Return whether ``--debug`` is among the arguments, and the others.

    Examples
    --------
    >>> _split_debug(["scatters", "--debug", "--", "--debug"])
    (True, ['scatters', '--', '--debug'])
    """
    given = list(arguments)
    end = given.index("--") if "--" in given else len(given)
    options = [argument for argument in given[:end] if argument != "--debug"]
    return len(options) < end, options + given[end:]


def _code_of(error: BaseException) -> int:
    """Say in one message what is wrong; return the exit code for it."""
    notes = "".join(f" {note}" for note in getattr(error, "__notes__", ()))
    if isinstance(error, KeyboardInterrupt):
        _say(f"interrupted.{notes or ' Nothing was written.'}")
        return _BY_SIGNAL + error.args[0] if isinstance(error, _Ended) else _INTERRUPTED
    if isinstance(error, BrokenPipeError):  # as in: icsa scatters | head -1
        _give_up(sys.stdout)
        return _PIPE_CLOSED
    if not isinstance(error, Exception):
        raise error
    if isinstance(error, ICSAError):
        _say(f"error: {error}{notes}")
        return _REFUSED
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename is not None else ""
        _say(f"error: {where}{error.strerror or error}{notes}")
        return _REFUSED
    # Not the error's own words, which we did not write: they could hold a cell of somebody's table.
    _say(
        f"this is a bug in icsa: {type(error).__name__} in {_place_of(error)}.{notes} "
        f"Report it {_where_to_report()}, with what the same command prints with --debug: take out "
        "what comes from your table."
    )
    return _BUG


def _where_to_report() -> str:
    """Return where a bug is reported, as far as this package was made to know."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        lines = metadata("icsa").get_all("Project-URL") or []
    except PackageNotFoundError:
        lines = []
    links = [
        (name.strip().lower(), url.strip()) for name, _, url in (x.partition(",") for x in lines)
    ]
    # The first that fits: a list of issues, or else wherever the project is.
    for words in (("issue", "bug", "track"), ("",)):
        for name, url in links:
            if any(word in name for word in words):
                return f"at {url}"
    return "to whoever gave you icsa"


def _place_of(error: BaseException) -> str:
    """Return the module and line of this package where an error comes from."""
    import traceback

    frames = [
        (frame.f_globals.get("__name__", "?"), line)
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    ours = [place for place in frames if str(place[0]).partition(".")[0] == "icsa"]
    module, line = (ours or frames or [("?", 0)])[-1]
    return f"{module}, line {line}"


def _say(message: str) -> None:
    from icsa.cli.console import plain

    try:
        print(f"icsa: {plain(message)}", file=sys.stderr, flush=True)
    except OSError:  # nobody listens, or the terminal is gone; the exit code still tells
        _give_up(sys.stderr)


def _give_up(stream: TextIO) -> None:
    """Have what is left to print go nowhere, or Python would fail once more at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)

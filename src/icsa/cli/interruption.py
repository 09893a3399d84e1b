"""What whoever interrupts a command is told about its files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["telling_what_is_written"]


@contextmanager
def telling_what_is_written(paths: Iterable[Path | None]) -> Iterator[None]:
    """Have an interruption say which of some files the command had written by then.

    Parameters
    ----------
    paths : iterable of Path or None
        All that the command may write.

    Examples
    --------
    >>> try:
    ...     with telling_what_is_written([Path("release.csv")]):
    ...         raise KeyboardInterrupt
    ... except KeyboardInterrupt as stop:
    ...     print(*stop.__notes__)
    Nothing was written.
    """
    before = {path: _state(path) for path in paths if path is not None}
    try:
        yield
    except KeyboardInterrupt as stop:
        done = [path for path, state in before.items() if _state(path) != state]
        missing = [path for path in before if path not in done]
        stop.add_note(f"Written: {_listed(done)}." if done else "Nothing was written.")
        if done and missing:
            stop.add_note(f"Not written: {_listed(missing)}.")
        raise


def _state(path: Path) -> tuple[int, int, int] | None:
    """Return what differs once a file has been replaced; None where there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _listed(paths: list[Path]) -> str:
    return ", ".join(map(str, paths))

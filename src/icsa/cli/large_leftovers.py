"""What killed runs of ``icsa anonymize`` left: scratch, and releases that were not finished."""

from __future__ import annotations

import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from icsa.cli.console import plain
from icsa.files import UNFINISHED

if TYPE_CHECKING:
    from icsa.release.blocks.ground import Resources
    from icsa.release.blocks.scratch_runs import Run

__all__ = ["held_back", "remove_unfinished", "tell_leftovers"]


def tell_leftovers(resources: Resources, run: Run, target: Path) -> None:
    """Say what killed runs left, and why there is nothing to go on with."""
    from icsa.release.blocks.scratch_runs import is_there, leftovers

    said = leftovers(resources.scratch, run)
    said += [
        f"{path} was left by a run that was killed while it wrote {target}. Remove it: rm -r "
        f"{quote(str(path))}"
        for path in _unfinished(target)
    ]
    if resources.resume and not run.resumable:
        said.append(
            "--resume needs --seed or --save-key, because a fresh key is kept nowhere: "
            "starting anew."
        )
    elif resources.resume and not is_there(resources.scratch, run):
        said.append(
            f"{resources.scratch} holds nothing of a run on these files with these options and "
            "this key: starting anew."
        )
    for sentence in said:
        print(f"icsa: {plain(sentence)}", file=sys.stderr)


def _unfinished(target: Path) -> list[Path]:
    """Return what killed runs had written of a release."""
    mark = re.compile(rf"(?:{re.escape(UNFINISHED)}[0-9a-f]{{8}}-)+{re.escape(target.name)}")
    return [path for path in sorted(target.parent.iterdir()) if mark.fullmatch(path.name)]


def remove_unfinished(target: Path) -> None:
    """Remove what a killed run had written of a release that is written again."""
    for path in _unfinished(target):
        _remove(path)


@contextmanager
def held_back(target: Path) -> Iterator[Path]:
    """Give a name beside a release to write it to, and put it in its place when all is well.

    What is in that place is replaced. After errors nothing is left.
    """
    held = target.with_name(f"{UNFINISHED}{secrets.token_hex(4)}-{target.name}")
    try:
        yield held
        if held.is_dir() and target.exists():
            shutil.rmtree(target)
        held.replace(target)
    except OSError as error:
        if error.filename:  # a name that nobody gave
            error.filename = str(error.filename).replace(str(held), str(target))
        raise
    finally:
        _remove(held)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)

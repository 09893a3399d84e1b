"""``icsa verify``: whether files are those that a report is about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from icsa.cli.arguments import Quiet
from icsa.cli.console import plain

if TYPE_CHECKING:
    from icsa.report.fingerprints import Matched

__all__ = ["verify"]

_OTHERS = 4

ReportFile = Annotated[
    Path, typer.Argument(metavar="REPORT", help="A report (HTML) or its JSON, of either edition.")
]
Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files to look for in it.")]


def verify(report: ReportFile, files: Files, quiet: Quiet = False) -> None:
    """Say whether files are those that a report is about, byte by byte.

    Exits with 0 if each of them is, with 4 if one is not, and with 2 if the report cannot be read.

    Example: icsa verify report.html patients.csv release.csv
    """
    from icsa.report.fingerprints import match_files, read_handed_in

    handed = read_handed_in(report)
    found = match_files(handed, files)
    if not quiet:
        for match in found:
            print(plain(_line(match)))
        seen = {role for match in found for role in match.roles}
        known = dict.fromkeys(file.role for file in handed.files if file.sha256)
        missing = [role for role in known if role not in seen]
        if missing:
            print(plain(f"not looked at: {', '.join(missing)}"))
    if not all(match.roles for match in found):
        raise typer.Exit(_OTHERS)


def _line(match: Matched) -> str:
    if match.roles:
        return f"{match.path}: the same, {' and '.join(match.roles)}"
    return f"{match.path}: NOT THE SAME; {match.why}"

"""Turn the JSON of a run into a page for the documentation: ``python -m benchmarks.to_rst``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["convert", "list_table", "page"]

_SECTIONS = {
    "mcd": "Minimum covariance determinant",
    "hr": "Hettmansperger-Randles",
    "tyler": "Tyler's shape",
    "permute": "Shuffling ten columns",
    "transform": "The whole transform, coordinates given",
    "memory": "Memory of the whole transform",
    "lasso": "Lasso with ten folds, the Wisconsin rows",
    "simulation": "The simulation study",
    "anonymize": "A table from file to file",
    "assess": "A release assessed",
    "import": "Import",
    "command": "Commands",
    "first": "First robust release",
    "growth": "Growth",
}
_INTRODUCTION = """\
A ratio is the peer's time over ours, both measured in turns in one run: above 1 we are faster, and
1/12 means that we take twelve times as long. Given are the median over all rounds and the least.
"Recorded" times come from another machine. One thread unless a row says otherwise. An objective is
the log determinant of a subset's covariance, computed by the same code for both sides.
"""


def page(report: dict[str, Any]) -> str:
    """Return the page for a report."""
    parts = [_title("Performance: what was measured", "="), _INTRODUCTION, *_machine(report)]
    for word, title in _SECTIONS.items():
        rows = [row for row in report["rows"] if row["name"].split()[0] == word]
        if rows:
            headings = [*report["headings"], "remark"]
            lines = [[*row["cells"], row["remark"]] for row in rows]
            parts += [_title(title, "-"), *list_table(headings, lines)]
    return "\n".join(parts).rstrip() + "\n"


def convert(source: Path, target: Path) -> None:
    """Write the page for the JSON in `source`."""
    target.write_text(page(json.loads(source.read_text(encoding="utf-8"))), encoding="utf-8")


def _title(text: str, underline: str) -> str:
    return f"{text}\n{underline * len(text)}\n"


def _machine(report: dict[str, Any]) -> Iterable[str]:
    """Yield where and how the run was made."""
    machine = report["machine"]
    versions = (f"{name} {found or 'absent'}" for name, found in machine["versions"].items())
    memory = "" if machine["memory_gib"] is None else f", {machine['memory_gib']} GiB"
    yield f"Machine: {machine['processor']}, {machine['cores']} cores{memory}; {machine['system']}."
    yield f"Versions: {', '.join(versions)}; commit {machine['commit'] or 'unknown'}."
    if report["quick"]:
        yield "This was a quick run, with smaller tables and few rounds: not one to quote."
    if report["only"]:
        yield f"Only the cases that fit ``{report['only']}`` were run."
    yield ""


def list_table(headings: Sequence[str], lines: Iterable[Sequence[str]]) -> Iterable[str]:
    """Yield a list-table, which needs no column widths."""
    yield ".. list-table::\n   :header-rows: 1\n"
    for cells in (headings, *lines):
        for i, cell in enumerate(cells):
            yield f"   {'* -' if i == 0 else '  -'} {_plain(cell)}".rstrip()
    yield ""


def _plain(cell: str) -> str:
    """Return text in which no sign is markup."""
    return "".join(f"\\{sign}" if sign in "\\*`|_" else sign for sign in cell)


def main() -> None:
    """Read the arguments and convert."""
    root = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(prog="python -m benchmarks.to_rst", description=__doc__)
    parser.add_argument("source", type=Path, nargs="?", default=root / "results.json")
    parser.add_argument(
        "target", type=Path, nargs="?", default=root.parent / "docs" / "performance_results.rst"
    )
    options = parser.parse_args()
    convert(options.source, options.target)


if __name__ == "__main__":
    main()

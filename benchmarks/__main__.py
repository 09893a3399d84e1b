"""The command: choose cases, run them, print their rows, write JSON and perhaps a page."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import to_rst
from benchmarks.machine import describe_machine
from benchmarks.results import HEADINGS, Row, write_json
from benchmarks.rows import Settings, all_cases

_FOLDER = Path(__file__).resolve().parent
_WIDTHS = (59, 10, 39, 7, 7, 7, 17, 7)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks; return 1 when a case failed. A missed target is a result, no failure."""
    options = _parser().parse_args(arguments)
    cases = [case for case in all_cases(Settings(quick=options.quick)) if case.fits(options.only)]
    if options.list:
        print("\n".join(case.name for case in cases))
        return 0
    if not cases:
        print(f"No case fits {options.only!r}; --list shows them all.", file=sys.stderr)
        return 2
    started = time.perf_counter()
    report = {"quick": options.quick, "only": options.only, "machine": describe_machine()}
    rows: list[Row] = []
    _print_line(HEADINGS)
    for case in cases:
        for row in case.run_safely():
            rows.append(row)
            _print_line(row.cells(), row.remark)
        # Written after every case, so that an interrupted run keeps what it has.
        write_json(options.output, report | {"seconds": time.perf_counter() - started}, rows)
    if options.rst is not None:
        to_rst.convert(options.output, options.rst)
    _print_summary(rows, time.perf_counter() - started, options.output)
    return int(any(row.failed for row in rows))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only", metavar="PATTERN", help="cases that contain this text or fit this glob"
    )
    parser.add_argument("--quick", action="store_true", help="smaller tables, fewer repetitions")
    parser.add_argument("--list", action="store_true", help="print the cases' names and stop")
    parser.add_argument("--output", type=Path, default=_FOLDER / "results.json", metavar="FILE")
    parser.add_argument("--rst", type=Path, metavar="FILE", help="also write a page for the docs")
    return parser


def _print_line(cells: Sequence[str], remark: str = "") -> None:
    padded = (cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=True))
    print("  ".join((*padded, remark)).rstrip(), flush=True)


def _print_summary(rows: Sequence[Row], seconds: float, output: Path) -> None:
    judged = [row for row in rows if row.reached is not None]
    missed = [row.name for row in judged if not row.reached]
    absent = sum(row.absent is not None for row in rows)
    print(
        f"\n{len(judged) - len(missed)} of {len(judged)} targets reached, {absent} rows absent, "
        f"{seconds:.0f} s; written to {output}"
    )
    for name in missed:
        print(f"  missed: {name}")


if __name__ == "__main__":
    sys.exit(main())

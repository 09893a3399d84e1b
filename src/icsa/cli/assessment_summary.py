"""What a terminal shows of an assessment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from icsa.cli.console import console, plain, print_line

if TYPE_CHECKING:
    from rich.console import Console

    from icsa.assessment import Assessment
    from icsa.assessment.document import Document
    from icsa.assessment.document_parts import Efficiency, Utility

__all__ = ["print_assessment"]

_STYLES = {"release": "bold green", "look again": "bold yellow", "do not release": "bold red"}


def print_assessment(assessment: Assessment, written: tuple[Path | None, ...]) -> None:
    """Print the word and why, the measures, the people, what was asked for, and which files."""
    show = console()
    # The internal edition: whoever has both tables may know row numbers.
    shown = assessment.document("internal")
    _print_verdict(show, shown)
    show.print()
    show.print(_grid(shown))
    show.print()
    _print_people(show, shown)
    _print_analyses(show, shown.utility)
    for note in shown.tables.notes:
        print_line(show, f"note: {note}", "yellow")
    for path in written:
        if path is not None:
            print_line(show, f"written: {path}", "bold")


def _print_verdict(show: Console, shown: Document) -> None:
    from icsa.privacy.verdict import WORDS

    print_line(show, f"verdict: {shown.verdict}", _STYLES[shown.verdict])
    print_line(show, f"{WORDS[shown.verdict]}.")
    for reason in shown.reasons:
        print_line(show, f"- {reason}")
    if not shown.self_test.trusted:
        print_line(show, f"self-test: {shown.self_test.why}", "bold red")


def _print_people(show: Console, shown: Document) -> None:
    people = shown.people_summary
    status = ", ".join(f"{count} {name}" for name, count in people.status.items() if count)
    left = f"; {people.left_out} more were left out" if people.left_out else ""
    print_line(
        show,
        f"people who stand out: {people.count} of {shown.tables.original.rows}"
        f"{f' ({status})' if status else ''}{left}",
    )
    if shown.redraws:
        print_line(show, f"over {shown.redraws.n} fresh keys: {shown.redraws.words}")


def _print_analyses(show: Console, utility: Utility) -> None:
    """Print a line for each analysis that was asked for, and the ratios against another release."""
    from icsa.report.glance import asked_sentences

    for sentence in asked_sentences(utility):
        print_line(show, f"analysis: {sentence}")
    if utility.efficiency:
        show.print()
        show.print(_efficiency_grid(utility.efficiency))
        show.print("Above 1 favours this release, below 1 the other.", markup=False)


def _efficiency_grid(efficiency: Efficiency) -> Any:
    """Return the losses of both releases and the ratios of their efficiencies."""
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=None, pad_edge=False, header_style="bold")
    grid.add_column("loss")
    for heading in ("this release", "the other", "RPE as defined", "as printed"):
        grid.add_column(heading, justify="right")
    for line in efficiency.lines:
        numbers = (line.released, line.other, line.defined.value, line.printed.value)
        grid.add_row(Text(plain(line.loss)), *map(_number, numbers))
    return grid


def _grid(shown: Document) -> Any:
    """Return the privacy measures beside the two ends of their scales."""
    from rich.table import Table as Grid

    from icsa.assessment.privacy_words import SHOWN

    grid = Grid(box=None, pad_edge=False, header_style="bold")
    grid.add_column("measure")
    for heading in ("this release", "an exact copy", "columns shuffled"):
        grid.add_column(heading, justify="right")
    grid.add_column("good")
    for key in SHOWN:
        measure = shown.privacy[key]
        ends = measure.ends
        if measure.value is None and ends.copy is None:
            continue
        numbers = (measure.value, ends.copy, ends.shuffled)
        grid.add_row(measure.label, *map(_number, numbers), measure.good)
    return grid


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.3g}"

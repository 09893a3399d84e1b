"""What a terminal shows of an assessment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from icsa.assessment import Assessment

__all__ = ["print_assessment"]

_STYLES = {"release": "bold green", "look again": "bold yellow", "do not release": "bold red"}
_MEANINGS = {
    "release": "nothing was found that replicates anyone who stands out; this is no proof",
    "look again": "something comes nearer to people than chance explains",
    "do not release": "somebody can be found in the release",
}


def print_assessment(assessment: Assessment, written: tuple[Path | None, ...]) -> None:
    """Print the word and why, the measures, the people, what was asked for, and which files."""
    from icsa.cli.console import console

    show = console()
    # The internal edition: whoever has both tables may know row numbers.
    shown = assessment.as_dict("internal")
    _print_verdict(show, shown)
    show.print()
    show.print(_grid(shown))
    show.print()
    _print_people(show, shown)
    _print_analyses(show, shown["utility"])
    for note in shown["tables"]["notes"]:
        show.print(f"note: {note}", markup=False, style="yellow")
    for path in written:
        if path is not None:
            show.print(f"written: {path}", markup=False, style="bold")


def _print_verdict(show: Console, shown: dict[str, Any]) -> None:
    word = shown["verdict"]
    show.print(f"verdict: {word}", style=_STYLES[word], markup=False)
    show.print(f"{_MEANINGS[word]}.", markup=False)
    for reason in shown["reasons"]:
        show.print(f"- {reason}", markup=False)
    if not shown["self_test"]["trusted"]:
        show.print(f"self-test: {shown['self_test']['why']}", markup=False, style="bold red")


def _print_people(show: Console, shown: dict[str, Any]) -> None:
    people = shown["people_summary"]
    status = ", ".join(f"{count} {name}" for name, count in people["status"].items() if count)
    left = f"; {people['left_out']} more were left out" if people["left_out"] else ""
    show.print(
        f"people who stand out: {people['count']} of {shown['tables']['original']['rows']}"
        f"{f' ({status})' if status else ''}{left}",
        markup=False,
    )
    if shown["redraws"]:
        found = shown["redraws"]
        show.print(f"over {found['n']} fresh keys: {found['words']}", markup=False)


def _print_analyses(show: Console, utility: dict[str, Any]) -> None:
    """Print a line for each analysis that was asked for, and the ratios against another release."""
    from icsa.report.glance import asked_sentences

    for sentence in asked_sentences(utility):
        show.print(f"analysis: {sentence}", markup=False)
    if utility["efficiency"]:
        show.print()
        show.print(_efficiency_grid(utility["efficiency"]))
        show.print("Above 1 favours this release, below 1 the other.", markup=False)


def _efficiency_grid(efficiency: dict[str, Any]) -> Any:
    """Return the losses of both releases and the ratios of their efficiencies."""
    from rich.markup import escape
    from rich.table import Table as Grid

    grid = Grid(box=None, pad_edge=False, header_style="bold")
    grid.add_column("loss")
    for heading in ("this release", "the other", "RPE as defined", "as printed"):
        grid.add_column(heading, justify="right")
    for line in efficiency["lines"]:
        ratios = (line["defined"]["value"], line["printed"]["value"])
        numbers = (line["released"], line["other"], *ratios)
        grid.add_row(escape(line["loss"]), *map(_number, numbers))
    return grid


def _grid(shown: dict[str, Any]) -> Any:
    """Return the privacy measures beside the two ends of their scales."""
    from rich.table import Table as Grid

    from icsa.assessment.measure_words import SHOWN

    grid = Grid(box=None, pad_edge=False, header_style="bold")
    grid.add_column("measure")
    for heading in ("this release", "an exact copy", "columns shuffled"):
        grid.add_column(heading, justify="right")
    grid.add_column("good")
    for key in SHOWN:
        measure = shown["privacy"][key]
        ends = measure["ends"]
        if measure["value"] is None and ends["copy"] is None:
            continue
        numbers = (measure["value"], ends["copy"], ends["shuffled"])
        grid.add_row(measure["label"], *map(_number, numbers), measure["good"])
    return grid


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.3g}"

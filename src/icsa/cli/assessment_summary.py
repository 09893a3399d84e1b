"""What a terminal shows of an assessment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from icsa.cli.console import console, plain, print_line

if TYPE_CHECKING:
    from rich.console import Console

    from icsa.assessment import Assessment
    from icsa.assessment.answers import AttackLine
    from icsa.assessment.document import Control, Document
    from icsa.assessment.document_parts import Efficiency, Measure, Utility

__all__ = ["print_assessment"]

_STYLES = {"release": "bold green", "look again": "bold yellow", "do not release": "bold red"}


def print_assessment(assessment: Assessment, written: tuple[Path | None, ...]) -> None:
    """Print the word and why, who was copied, attackers, the loss; then measures and files."""
    from icsa.assessment.answers import is_another_table

    show = console()
    # The internal edition: whoever has both tables may know row numbers.
    shown = assessment.document("internal")
    decided = not is_another_table(shown)
    _print_verdict(show, shown, tested=decided)
    if decided:
        _print_answers(show, shown)
        show.print()
        show.print(_grid(shown))
        show.print()
        _print_people(show, shown)
        _print_units(show, shown)
        _print_control(show, shown.control)
        _print_analyses(show, shown.utility)
    for note in shown.tables.notes:
        print_line(show, f"note: {note}", "yellow")
    for path in written:
        if path is not None:
            print_line(show, f"written: {path}", "bold")


def _print_verdict(show: Console, shown: Document, *, tested: bool) -> None:
    from icsa.privacy.reasons import WORDS

    print_line(show, f"verdict: {shown.verdict}", _STYLES[shown.verdict])
    print_line(show, f"{WORDS[shown.verdict]}.")
    for reason in shown.reasons:
        print_line(show, f"- {reason.text}")
        for remedy in reason.remedies:
            print_line(show, f"  try: {remedy}", to_copy=True)
    if tested and not shown.self_test.trusted:
        print_line(show, f"self-test: {shown.self_test.why}", "bold red")


def _print_answers(show: Console, shown: Document) -> None:
    """Print what who signs asks first."""
    from icsa.assessment.answers import (
        attack_lines,
        control_answer,
        copied_answer,
        loss_answer,
        noticed_answer,
    )

    show.print()
    print_line(show, f"was anybody copied? {copied_answer(shown)[1]}")
    noticed = noticed_answer(shown)
    if noticed:
        print_line(show, noticed)
    print_line(show, f"what do analysts lose? {loss_answer(shown)}")
    show.print()
    show.print(_attackers_grid(attack_lines(shown)))
    print_line(show, control_answer(shown))


def _attackers_grid(lines: list[AttackLine]) -> Any:
    """Return what attackers get, beside people who were not in the table."""
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for heading in ("an attacker who knows", "guesses", "right", "not in the table", "that means"):
        grid.add_column(heading, overflow="fold")
    for line in lines:
        told = (line.knows, line.guesses, line.right, line.control, line.means)
        grid.add_row(*(Text(plain(each)) for each in told))
    return grid


def _print_people(show: Console, shown: Document) -> None:
    people = shown.people_summary
    status = ", ".join(f"{count} {name}" for name, count in people.status.items() if count)
    left = f"; {people.left_out} more were left out" if people.left_out else ""
    of = shown.units.original.units if shown.units else shown.tables.original.rows
    print_line(
        show,
        f"people who stand out: {people.count} of {of}{f' ({status})' if status else ''}{left}",
    )
    if shown.redraws:
        words = ", ".join(f"{n} {word}" for word, n in shown.redraws.verdicts.items() if n)
        print_line(show, f"over {shown.redraws.n} fresh keys: {shown.redraws.words} ({words})")


def _print_units(show: Console, shown: Document) -> None:
    """Print how many units and rows there are, and what does not hold within units any more."""
    units = shown.units
    if not units:
        return
    from icsa.report.units_view import unit_sentences

    for sentence in unit_sentences(units, internal=True):
        print_line(show, sentence)


def _print_control(show: Console, control: Control) -> None:
    """Print who those in the table were compared with, and how they fared."""
    print_line(show, f"control ({control.kind}): {control.words}.")
    if control.told_apart and control.nearest:
        area, share = _with_ends(control.told_apart), _with_ends(control.nearest)
        print_line(
            show,
            f"- nearer to the release than somebody who was not in the table: {area}; in the table "
            f"of those who are nearest: {share}; 50% tells nothing",
        )


def _with_ends(measure: Measure) -> str:
    return f"{measure.value:.1%} ({measure.low:.1%} to {measure.high:.1%})"


def _print_analyses(show: Console, utility: Utility) -> None:
    """Print a line for each analysis that was asked for, and the ratios against another release."""
    from icsa.report.glance import asked_sentences, curve_sentences

    beyond = [f"{column.name} {column.beyond}" for column in utility.columns if column.beyond]
    if beyond:
        print_line(show, f"beyond the original's range: {'; '.join(beyond)}")
    for sentence in curve_sentences(utility.curves):
        print_line(show, f"curves: {sentence}")
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

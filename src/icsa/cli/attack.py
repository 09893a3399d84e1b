"""``icsa attack``: what attackers get from a release, beside the same on people not in it."""

from __future__ import annotations

import json as json_text
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from icsa.cli.arguments import (
    Decimal,
    Encoding,
    Force,
    Quiet,
    Role,
    SchemaFile,
    Separator,
    Sheet,
    Time,
    Unit,
    naming_the_file,
    read_file,
    require_free,
    require_of_use,
    schema_of,
    taking,
    telling_what_is_written,
)
from icsa.cli.assess import AlsoReleased, JsonFile, Original, Released

if TYPE_CHECKING:
    from rich.console import Console

    from icsa.assessment import Attacks
    from icsa.attacks import AttackResult
    from icsa.attacks.key_variables import KeyVariables
    from icsa.measures import Measure
    from icsa.schema import Schema

__all__ = ["attack", "print_attackers"]

Knows = Annotated[
    str | None, taking("--knows", "A,B,C", "Columns that the attacker knows, between commas.")
]
Secret = Annotated[str | None, taking("--secret", "D", "Columns to be guessed, between commas.")]
Holdout = Annotated[
    Path | None,
    taking("--holdout", "FILE", "People like them who were not in ORIGINAL: the control."),
]
Names = Annotated[
    str | None, taking("--attacks", "NAMES", "Some attacks only, between commas; all if left out.")
]
People = Annotated[
    int | None, taking("--people", "N", "How many people are tried; 1,000 or fewer.", min=1)
]
Seed = Annotated[int, taking("--seed", "N", "Of what is drawn.", min=0)]


def attack(
    original: Original,
    released: Released,
    knows: Knows = None,
    secret: Secret = None,
    holdout: Holdout = None,
    also_released: AlsoReleased = None,
    attacks: Names = None,
    people: People = None,
    seed: Seed = 0,
    schema: SchemaFile = None,
    unit: Unit = None,
    time: Time = None,
    role: Role = None,
    json: JsonFile = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Try attacks on a release, and the same on people who were not in the table.

    Prints how often each attacker is right. Without --holdout there is nobody to compare with but
    the original itself, which says less. Nothing is changed, nothing is sent anywhere.

    Example: icsa attack patients.csv release.csv --holdout others.csv --knows age,sex
    """
    outputs = {"--json": json}
    inputs = (original, released, holdout, also_released)
    require_free(outputs, (*inputs, schema), force=force)
    reading = {"separator": separator, "decimal": decimal, "encoding": encoding, "sheet": sheet}
    require_of_use(inputs, **reading)
    with telling_what_is_written(outputs.values()):
        first, second, others, another = (
            None if path is None else read_file(path, **reading) for path in inputs
        )
        assert first is not None
        assert second is not None
        found = _attacked(
            first,
            second,
            rows=first.frame.height,
            quiet=quiet,
            knows=_names(knows),
            secret=_names(secret),
            holdout=others,
            also_released=another,
            attacks=_names(attacks) or None,
            people=people,
            seed=seed,
            schema=_schema(schema, original, first),
            unit=False if unit == "none" else unit,
            time=time,
            role=role,
        )
        if json is not None:
            _write_json(found, json)
        if not quiet:
            _print(found, json)


def _schema(path: Path | None, original: Path, table: Any) -> Schema | None:
    with naming_the_file(original):
        return schema_of(path, table)


def _attacked(first: Any, second: Any, *, rows: int, quiet: bool, **options: Any) -> Attacks:
    from icsa.assessment import attack as attack_tables
    from icsa.cli.console import stages

    # Attacks take longer than reading: the bar is shown from fewer cells on.
    with stages(rows * first.frame.width * 10, quiet=quiet) as progress:
        return attack_tables(first, second, progress=progress, **options)


def _names(text: str | None) -> tuple[str, ...]:
    """Return names between commas, without those that are empty."""
    parts = (part.strip() for part in (text or "").split(","))
    return tuple(part for part in parts if part)


def _write_json(found: Attacks, path: Path) -> None:
    from icsa.files import write_text_atomically

    def plain_of(result: AttackResult) -> dict[str, Any]:
        values = asdict(result)
        del values["counts"]
        values["rows"] = [row + 1 for row in result.rows]
        return values

    content = {
        "people": found.people,
        "attackers": [plain_of(result) for result in found.results],
        "against": [{"word": reason.word, "why": reason.text} for reason in found.reasons],
        "keys": None if found.keys is None else asdict(found.keys),
    }
    text = json_text.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    write_text_atomically(path, text + "\n")


def _print(found: Attacks, written: Path | None) -> None:
    from icsa.cli.console import console, print_line

    show = console()
    print_attackers(show, found.results, in_words=True)
    show.print()
    for line in _notes(found.results):
        print_line(show, line)
    if found.keys is not None:
        show.print()
        _print_keys(show, found.keys)
    if found.reasons:
        show.print()
    for reason in found.reasons:
        print_line(show, f"{reason.word}: {reason.text}.", "bold red")
    if written is not None:
        print_line(show, f"written: {written}", "bold")


def print_attackers(show: Console, results: Any, *, in_words: bool = False) -> None:
    """Print one line for each guess: who, what is known, how often right, and the difference.

    Parameters
    ----------
    show : Console
    results : sequence
        Of `icsa.attacks.AttackResult`, or of what an assessment's document has of them.
    in_words : bool
        Whether a last column says what that means.
    """
    from rich.table import Table as Grid
    from rich.text import Text

    from icsa.cli.console import plain

    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for heading in ("attacker", "knows", "guesses"):
        grid.add_column(heading)
    for heading in ("right", "not in the table", "difference (95%)"):
        grid.add_column(heading, justify="right", no_wrap=True)
    if in_words:
        grid.add_column("that means")
    for result in results:
        if result.right.value is None:
            continue
        words = (result.attack, result.knows, result.guesses)
        weaker = "*" if result.control_is == "the original without the person" else ""
        grid.add_row(
            *(Text(plain(word)) for word in words),
            _percent(result.right),
            _percent(result.control) + weaker,
            _points(result.difference) + weaker,
            *((Text(plain(result.means)),) if in_words else ()),
        )
    show.print(grid)


def _notes(results: tuple[AttackResult, ...]) -> list[str]:
    """Return what the control was where it was a weaker one, and which attacks were not made."""
    lines = []
    if any(
        result.control_is == "the original without the person" and result.control.value is not None
        for result in results
    ):
        lines.append(
            "* Compared with the same guesses from the original without the person, which says "
            "less than people who were not in the table would (--holdout)."
        )
    missing = {
        (result.attack, result.right.reason) for result in results if result.right.value is None
    }
    lines += [f"{name}: not made, as {reason}." for name, reason in sorted(missing)]
    return lines


def _print_keys(show: Console, keys: KeyVariables) -> None:
    from icsa.cli.console import print_line

    smallest = "one released row alone" if keys.smallest == 1 else f"{keys.smallest} released rows"
    lines = (
        f"keys: {', '.join(keys.keys)}",
        f"the rarest combination in the release is that of {smallest} (k-anonymity: "
        f"{keys.smallest})",
        f"only one of their kind: {keys.unique_original:,} of {keys.rows:,} originals, "
        f"{keys.unique_released:,} of {keys.released_rows:,} released rows",
        f"unique originals whose combination is in the release: {keys.recurring:,}; among as many "
        f"fresh people about {keys.expected:,.0f} would be",
    )
    for line in lines:
        print_line(show, line)


def _percent(measure: Measure) -> str:
    return "-" if measure.value is None else f"{measure.value:.1%}"


def _points(measure: Measure) -> str:
    if measure.value is None:
        return "-"
    if measure.low is None or measure.high is None:
        return f"{100 * measure.value:+.1f}"
    return f"{100 * measure.value:+.1f} ({100 * measure.low:+.1f} to {100 * measure.high:+.1f})"

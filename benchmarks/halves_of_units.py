"""The word on people with several rows: halves of a table's people against each other, and spoiled.

    python -m benchmarks.halves_of_units FILE --unit ID [--time T] [--bound B] [--role R]
        [--splits 20] [--json FILE]

One half of the people is fresh data for the other: "look again" or worse is a false alarm. Into the
same half one person is put whole, or two successive visits of one in place of two of somebody's:
"look again" or worse is right.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

import icsa
from icsa.assessment import Assessment
from icsa.tables import Table, read_table

Spoiled = Callable[[pl.DataFrame, pl.DataFrame, str, np.random.Generator], pl.DataFrame]


def fresh(
    _original: pl.DataFrame, others: pl.DataFrame, _unit: str, _rng: np.random.Generator
) -> pl.DataFrame:
    """Return other people as they are."""
    return others


def with_one_person(
    original: pl.DataFrame, others: pl.DataFrame, unit: str, rng: np.random.Generator
) -> pl.DataFrame:
    """Return other people, one of whom has all cells of somebody."""
    somebody, replaced = _two_people(original, others, unit, rng)
    rows = somebody.with_columns(pl.lit(replaced[unit][0], dtype=others.schema[unit]).alias(unit))
    return pl.concat([others.filter(pl.col(unit) != replaced[unit][0]), rows])


def with_two_visits(
    original: pl.DataFrame, others: pl.DataFrame, unit: str, rng: np.random.Generator
) -> pl.DataFrame:
    """Return other people, one of whom has two successive rows of somebody in place of two."""
    somebody, changed = _two_people(original, others, unit, rng)
    constant = [
        name
        for name in original.columns
        if name == unit or original.group_by(unit).agg(pl.col(name).n_unique())[name].max() == 1
    ]
    start = int(rng.integers(somebody.height - 1))
    rows = somebody[start : start + 2].with_columns(
        pl.lit(changed[name][0], dtype=original.schema[name]).alias(name) for name in constant
    )
    rest = others.filter(pl.col(unit) != changed[unit][0])
    return pl.concat([rest, changed[2:], rows])


def _two_people(
    original: pl.DataFrame, others: pl.DataFrame, unit: str, rng: np.random.Generator
) -> Iterator[pl.DataFrame]:
    """Yield somebody of either table who has two rows or more."""
    for frame in (original, others):
        several = frame.group_by(unit, maintain_order=True).len().filter(pl.col("len") > 1)
        yield frame.filter(pl.col(unit) == several[unit][int(rng.integers(several.height))])


def told(table: Table, said: dict[str, str], splits: int) -> dict[str, Counter[str]]:
    """Return how often each word was said, and each rule was met, by what was assessed."""
    unit, frame = said["unit"], table.frame
    people = frame[unit].unique(maintain_order=True)
    found: dict[str, Counter[str]] = {}
    made: tuple[Spoiled, ...] = (fresh, with_one_person, with_two_visits)
    for split in range(splits):
        rng = np.random.default_rng([15, split])
        inside = people[rng.permutation(people.len())[: people.len() // 2]]
        half = frame.filter(pl.col(unit).is_in(inside.implode()))
        other = frame.filter(~pl.col(unit).is_in(inside.implode()))
        for spoil in made:
            assessment: Assessment = icsa.assess(half, spoil(half, other, unit, rng), **said)
            words = found.setdefault(spoil.__name__, Counter())
            words[assessment.verdict] += 1
            words.update(f"rule {rule}" for rule in {reason.rule for reason in assessment.reasons})
    return found


def main() -> None:
    """Print how often each word was said."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    for key in ("unit", "time", "bound", "role"):
        parser.add_argument(f"--{key}", required=key == "unit")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    said = {key: getattr(given, key) for key in ("unit", "time", "bound", "role")}
    said = {key: name for key, name in said.items() if name}
    found = told(read_table(given.file), said, given.splits)
    for name, words in found.items():
        print(f"{name}: {dict(words.most_common())}")
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""The verdict on real mixed tables: halves of a table against each other, and spoiled copies.

    python -m benchmarks.halves FOLDER... [--splits 50] [--json FILE]

One half of a table is fresh data for the other: "look again" or worse is a false alarm. A copy, a
copy with one column shuffled, and a copy with 10% noise on its numbers must be found.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import polars as pl
from threadpoolctl import threadpool_limits

from icsa.comparison.matching import match_tables
from icsa.inspection import guess_schema
from icsa.privacy import assess_privacy
from icsa.schema import Schema
from icsa.tables import Table, read_table

WORDS = ("release", "look again", "do not release")


def word(original: Table, released: Table, schema: Schema) -> str:
    """Return the verdict on the compared columns, the self-test's alarm included."""
    found = assess_privacy(match_tables(original, released, schema).features)
    return found.verdict.word if found.trusted else "not to be trusted"


def halves(table: Table, schema: Schema, splits: int) -> list[str]:
    """Return the verdicts on one half of the table as the release of the other."""
    words = []
    for seed in range(splits):
        rows = np.random.default_rng(seed).permutation(table.frame.height)
        middle = rows.size // 2
        first, second = (
            table.with_frame(table.frame[part]) for part in (rows[:middle], rows[middle:])
        )
        words.append(word(first, second, schema))
    return words


def spoiled(table: Table, schema: Schema, seed: int) -> dict[str, str]:
    """Return the verdicts on copies of the table."""
    generator = np.random.default_rng(seed)
    order = generator.permutation(table.frame.height)
    copy = table.frame[order]
    masked = [spec.name for spec in schema.columns.values() if spec.action == "mask"]
    column = masked[int(generator.integers(len(masked)))]
    shuffled = copy.with_columns(copy[column].shuffle(seed=seed))
    noisy = copy
    for name in masked:
        if copy[name].dtype.is_numeric() and schema.columns[name].kind in ("continuous", "integer"):
            cells = copy[name].cast(pl.Float64)
            noise = 0.1 * float(cells.std() or 0.0) * generator.normal(size=cells.len())
            noisy = noisy.with_columns((cells + pl.Series(noise)).alias(name))
    releases = {"copy": copy, "one column shuffled": shuffled, "10% noise": noisy}
    return {name: word(table, table.with_frame(f), schema) for name, f in releases.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--splits", type=int, default=50)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results, alarms, total = [], 0, 0
    for file in [f for folder in options.folders for f in sorted(folder.glob("*.csv"))]:
        table = read_table(file)
        schema = guess_schema(table)
        with threadpool_limits(limits=1):
            words = halves(table, schema, options.splits)
            copies = [spoiled(table, schema, seed) for seed in range(5)]
        raised = sum(found != "release" for found in words)
        alarms, total = alarms + raised, total + len(words)
        missed = {name: sum(c[name] == "release" for c in copies) for name in copies[0]}
        counts = {name: words.count(name) for name in (*WORDS, "not to be trusted")}
        print(
            f"{file.stem:14} alarms {raised} of {len(words)} {counts}; missed of 5: {missed}",
            flush=True,
        )
        results.append(
            {
                "table": file.stem,
                "alarms": raised,
                "splits": len(words),
                "words": counts,
                "missed": missed,
            }
        )
    print(f"all tables: {alarms} of {total} halves raise an alarm ({alarms / total:.1%})")
    if options.json:
        options.json.write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()

"""What exact counts give away, and what it costs to move them: one-row differencing, bSE and KS.

    python -m benchmarks.counts FOLDER... [--releases 10] [--recipe mixed] [--json FILE]

Somebody who knows all rows of a table but one, and the recipe, looks at the counts of the release
and guesses what the last person has: the level of each discrete column, on the spike or off it in
zero-inflated ones, missing or not in columns with gaps, and between which two of the kept quantiles
a measurement lies. The guess is the one with the largest posterior probability; under moved counts
by their exact law. Everybody is the last person once. Columns of the table:

levels   share of right guesses of levels and spikes, columns without missing cells
rare     the same for people who do not have the most common level
gaps     share of right guesses of missing or not
empty    the same for people whose cell is missing
bins     share of right guesses of the interval between quantiles, by two attacks
bSE, KS  as in `benchmarks.recipes`

The control guesses what is most common among the known rows; of intervals, one at random.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.analyses import analyses_of
from benchmarks.recipes import View, analyses, margins
from icsa.columns.continuous import Continuous
from icsa.columns.counts import level_tree, most_moved
from icsa.columns.zero_inflated import ZeroInflated
from icsa.inspection import guess_schema
from icsa.randomness import as_key
from icsa.release import plan, prepare, release
from icsa.tables import read_table

MEASURES = ("levels", "rare", "gaps", "empty", "bins", "bSE", "KS")
# Where nobody known has a level, somebody may: half a person.
UNSEEN = 0.5
TARGETS = 60
FEWEST = 2


def likelihood(counts: np.ndarray, seen: np.ndarray, *, exact: bool) -> float:
    """Return the probability that these counts become those that were seen."""
    if exact or counts.sum() != seen.sum():
        return float(np.array_equal(counts, seen))
    if np.any((counts == 0) & (seen > 0)):
        return 0.0
    links = level_tree(counts)
    people = seen - counts  # into each level from above, once those below it are added
    for level, above in reversed(links):
        people[above] += people[level]
    now, probability = counts.copy(), 1.0
    for level, above in links:
        most = most_moved(counts, now, level, above, FEWEST)
        if abs(people[level]) > most:
            return 0.0
        probability /= 2 * most + 1
        now[level] += people[level]
        now[above] -= people[level]
    return probability


def guessed(counts: np.ndarray, seen: np.ndarray, *, exact: bool) -> np.ndarray:
    """Return for the holders of each level whether the attack, and the control, name it."""
    found = np.zeros((2, counts.size))
    for own in np.flatnonzero(counts):
        known = counts.copy()
        known[own] -= 1
        posterior = np.zeros(counts.size)
        for level in np.flatnonzero(counts):
            candidate = known.copy()
            candidate[level] += 1
            chance = likelihood(candidate, seen, exact=exact)
            posterior[level] = chance * max(float(known[level]), UNSEEN)
        found[:, own] = own == np.argmax(posterior), own == np.argmax(known)
    return found


def shares(counts: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the shares of right guesses of all people, and of those without the usual level."""
    others = counts.copy()
    others[np.argmax(counts)] = 0
    return right @ counts / counts.sum(), right @ others / others.sum()


def bins_found(
    original: np.ndarray, released: np.ndarray, column: Continuous, generator: np.random.Generator
) -> tuple[float, float, float]:
    """Return how often the interval between quantiles is found, by two attacks and by guessing.

    The first takes the interval for which all quantiles are nearest to the release's, the second
    the one in which the release has most people more than the known rows have.
    """
    levels = column.quantiles.levels
    ordered, there = np.sort(original), np.sort(released)
    seen = quantiles(there, levels)
    scale = np.maximum(np.diff(quantiles(ordered, np.linspace(0.02, 0.98, levels.size + 1))), 1e-12)
    right: list[tuple[bool, bool]] = []
    for place in generator.integers(0, ordered.size, TARGETS):
        known = np.delete(ordered, place)
        borders = quantiles(known, levels)
        middles = quantiles(known, 0.5 * (np.append(0.0, levels) + np.append(levels, 1.0)))
        distances = [
            np.abs((quantiles(np.sort(np.append(known, middle)), levels) - seen) / scale).sum()
            for middle in middles
        ]
        excess = np.diff(np.searchsorted(there, borders), prepend=0, append=there.size) - np.diff(
            np.searchsorted(known, borders), prepend=0, append=known.size
        )
        own = int(np.searchsorted(borders, ordered[place]))
        right.append((int(np.argmin(distances)) == own, int(np.argmax(excess)) == own))
    first, second = np.mean(right, axis=0)
    return float(first), float(second), 1.0 / (levels.size + 1)


def quantiles(ordered: np.ndarray, levels: np.ndarray) -> np.ndarray:
    return np.interp(levels * ordered.size - 0.5, np.arange(ordered.size), ordered)


def attacked(plan, original, released, generator: np.random.Generator) -> list[dict]:
    """Return what the attack and its control find, a record for each column that they see."""
    exact, found = plan.recipe.exact_counts, []
    derived = {relation.target for relation in plan.derivation.computed}
    derived |= {gap.other for gap in plan.derivation.gaps}
    seen_groups = set()
    for part in plan.encoding.parts:
        name, column = part.column.name, part.column
        if name not in original or name in derived:
            continue
        before, after = original[name], released[name]
        if part.group is not None:
            if part.group not in seen_groups:
                seen_groups.add(part.group)
                counts, seen = (
                    np.array([np.sum(~np.isnan(v)), np.sum(np.isnan(v))]) for v in (before, after)
                )
                right = guessed(counts, seen, exact=exact)
                everybody = right @ counts / counts.sum()
                found.append({"gaps": everybody, "empty": right[:, 1]})
            continue
        if column.levels is not None:
            size = column.levels.counts.size
            counts, seen = (np.bincount(v.astype(int), minlength=size) for v in (before, after))
        elif isinstance(column, ZeroInflated):
            counts, seen = (
                np.array([np.sum(v == column.spike), np.sum(v != column.spike)])
                for v in (before, after)
            )
        elif isinstance(column, Continuous) and column.quantiles.levels.size:
            found.append({"bins": np.array(bins_found(before, after, column, generator))})
            continue
        else:
            continue
        right = guessed(counts, seen, exact=exact)
        everybody, others = shares(counts, right)
        found.append({"levels": everybody, "rare": others})
    return found


def numbers_of(plan, frame) -> dict:
    """Return the numbers of the masked columns of a table."""
    return {name: column.numbers(frame[name]) for name, column in plan.columns.items()}


def measure(file: Path, exact: bool, releases: int, recipe: str) -> list[dict]:
    """Return the measures of each release of a table; attack and control in pairs."""
    table = read_table(file)
    schema = replace(guess_schema(table), recipe={"exact_counts": exact})
    formulas = analyses_of(file.stem, table, schema)
    planned = plan(prepare(table, schema=schema, recipe=recipe))
    view, original = View.of(table, schema, table), numbers_of(planned, table.frame)
    generator, found = np.random.default_rng(0), []
    for seed in range(releases):
        made = release(planned, as_key(seed)).table
        records = attacked(planned, original, numbers_of(planned, made.frame), generator)
        row = {
            name: np.mean([record[name] for record in records if name in record], axis=0)
            for name in ("levels", "rare", "gaps", "empty", "bins")
            if any(name in record for record in records)
        }
        utility = analyses(table.frame, made.frame, formulas)
        row["KS"] = margins(view, View.of(made, schema, table))["KS"]
        row["bSE"] = utility["bSE"]
        found.append(row)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--releases", type=int, default=10)
    parser.add_argument("--recipe", default="mixed")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    lines = []
    for file in [f for folder in options.folders for f in sorted(folder.glob("*.csv"))]:
        for exact in (True, False):
            rows = measure(file, exact, options.releases, options.recipe)
            line = {"table": file.stem, "exact": exact}
            for name in MEASURES:
                values = [row[name] for row in rows if name in row and row[name] is not None]
                if values:
                    line[name] = np.mean(values, axis=0).tolist()
            lines.append(line)
            print(line, flush=True)
    for exact in (True, False):
        print("exact" if exact else "moved")
        for name in MEASURES:
            values = np.array([x[name] for x in lines if x["exact"] is exact and name in x])
            if not len(values):
                continue
            error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
            print(f"  {name:8}{np.round(values.mean(axis=0), 3)} ({np.round(error, 3)})")
    for name in ("bSE", "KS"):
        pairs = [
            (one[name], two[name])
            for one, two in zip(lines[::2], lines[1::2], strict=True)
            if name in one and name in two
        ]
        change = np.array([after - before for before, after in pairs])
        error = change.std(ddof=1) / np.sqrt(change.size)
        print(f"{name}: moved minus exact {change.mean():+.4f} ({error:.4f}), {change.size} tables")
    if options.json:
        options.json.write_text(json.dumps(lines, indent=1))


if __name__ == "__main__":
    main()

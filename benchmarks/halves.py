"""The verdict on real mixed tables: halves of a table against each other, and spoiled ones.

    python -m benchmarks.halves FOLDER... [--splits 50] [--spoiled 2] [--rows 800] [--json FILE]

One half of a table is fresh data for the other: "look again" or worse is a false alarm. Harmful
releases (`benchmarks.spoiled`) must be found, most of them about people who do not stand out; they
are told apart by whether most copied people could be noticed in such a table at all. Records that
stand in a table twice, but for two cells at most, are taken out first: halves would share people.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.spoiled import HARMFUL, HARMLESS, Scene
from icsa.comparison.features import Features
from icsa.comparison.matching import match_tables
from icsa.inspection import guess_schema
from icsa.privacy.everybody import shuffled_bound
from icsa.privacy.lenses import fit_lenses
from icsa.privacy.noticing import how_noticed
from icsa.privacy.people import measure_surroundings
from icsa.privacy.people_findings import Findings
from icsa.privacy.policy import Policy
from icsa.privacy.rarity import best_by_equal_cells, equal_weights
from icsa.privacy.reasons import Verdict
from icsa.privacy.standing_out import standing_out
from icsa.privacy.verdict import verdict
from icsa.tables import read_table

_DOUBLE = 1e-6
_TELLABLE = 0.8


@dataclass(frozen=True)
class Told:
    """One verdict: of what release, of which table, and whether copies could be noticed there."""

    release: str
    table: str
    tellable: bool
    verdict: Verdict


def judged(features: Features) -> tuple[Verdict, Findings]:
    """Return the verdict on the compared columns, by all rules but identifiers and self-test."""
    lenses = fit_lenses(features)
    around = measure_surroundings(lenses, standing_out(lenses))
    found = Findings.of(lenses, around)
    return (
        verdict(
            around,
            found.near,
            found.group,
            exact=found.exact,
            everybody=found.everybody,
            reread=found.reread,
            extremes=found.extremes,
        ),
        found,
    )


def different_people(features: Features) -> np.ndarray:
    """Return the rows without those that repeat an earlier one in all but two cells or fewer."""
    table = features.original
    rows = np.arange(table.n_rows, dtype=np.int64)
    best = best_by_equal_cells(table, rows, table, own=rows)
    weights = equal_weights(table, rows)
    chance = table.n_rows**2 * shuffled_bound(weights, best.scores[:, 0])
    other = best.rows[:, 0]
    same = np.vstack(
        [table.numbers == table.numbers[:, other], table.codes == table.codes[:, other]]
    )
    same[: len(table.numbers)] |= np.isnan(table.numbers) & np.isnan(table.numbers[:, other])
    twice = (np.sum(~same, axis=0) <= 2) & (chance <= _DOUBLE) & (other < rows)
    return rows[~twice]


def halves(features: Features, rows: int, seed: int) -> Features:
    """Return one half of (some rows of) a table as the release of the other."""
    order = np.random.default_rng(seed).permutation(features.original.n_rows)[:rows]
    first, second = (features.original.rows(part) for part in np.array_split(order, 2))
    return Features(first, second, features.columns)


def told_of(name: str, features: Features, splits: int, spoiled: int, rows: int) -> list[Told]:
    """Return all verdicts about one table."""
    told = []
    policy = Policy()
    for seed in range(splits):
        both = halves(features, rows, seed)
        word, found = judged(both)
        told.append(Told("fresh people", name, False, word))
        if seed >= spoiled:
            continue
        noticed = how_noticed(
            found.lenses,
            found.around,
            found.everybody,
            person=policy.person_chance.value,
            equal=policy.equal_look.value,
        )
        ordinary = np.setdiff1d(np.arange(both.original.n_rows), found.rows)
        scene = Scene(both.original, both.released, ordinary, np.random.default_rng([seed, 1]))
        for release, made in {**HARMLESS, **HARMFUL}.items():
            if release != "fresh people":
                word, _ = judged(both.with_released(made(scene)))
                told.append(Told(release, name, noticed.ordinary >= _TELLABLE, word))
    return told


def summed(told: list[Told]) -> dict[str, dict[str, object]]:
    """Return rates by release: of all tables, of those where copies can be told, and the rules."""
    result: dict[str, dict[str, object]] = {}
    for release in dict.fromkeys(each.release for each in told):
        mine = [each for each in told if each.release == release]
        counted = {"all tables": mine, "tellable tables": [each for each in mine if each.tellable]}
        result[release] = {
            **{where: _rates(those) for where, those in counted.items()},
            "rules": dict(Counter(r.rule for each in mine for r in each.verdict.reasons)),
        }
    return result


def _rates(told: list[Told]) -> dict[str, float]:
    words = [each.verdict.word for each in told]
    n = max(1, len(words))
    look, stop = sum(w != "release" for w in words) / n, words.count("do not release") / n
    return {"n": len(words), "look": round(look, 4), "stop": round(stop, 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--splits", type=int, default=50)
    parser.add_argument("--spoiled", type=int, default=2, help="splits that are spoiled, too")
    parser.add_argument("--rows", type=int, default=800, help="of larger tables")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    told: list[Told] = []
    alarms: dict[str, dict[str, int]] = defaultdict(dict)
    for file in [f for folder in options.folders for f in sorted(folder.glob("*.csv"))]:
        table = read_table(file)
        features = match_tables(table, table, guess_schema(table)).features
        people = features.original.rows(different_people(features))
        features = Features(people, people, features.columns)
        with threadpool_limits(limits=1):
            mine = told_of(file.stem, features, options.splits, options.spoiled, options.rows)
        fresh = [each for each in mine if each.release == "fresh people"]
        raised = [each for each in fresh if each.verdict.word != "release"]
        alarms[file.stem] = dict(Counter(r.rule for e in raised for r in e.verdict.reasons))
        print(
            f"{file.stem:20} alarms {len(raised)} of {len(fresh)} {alarms[file.stem]}", flush=True
        )
        told += mine
    rates = summed(told)
    for release, found in rates.items():
        print(f"{release:32} {found['all tables']} {found['tellable tables']}")
    if options.json:
        options.json.write_text(json.dumps({"alarms": alarms, "rates": rates}, indent=1) + "\n")


if __name__ == "__main__":
    main()

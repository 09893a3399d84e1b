"""Rows repeated in every cell: ordinary people who are copied are seen, fresh people are not."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from icsa.comparison.features import Features, FeatureTable, as_features
from icsa.comparison.matching import match_tables
from icsa.inspection import guess_schema
from icsa.privacy.exact_rows import ExactRows, counted, exact_rows
from icsa.privacy.lenses import fit_lenses
from icsa.privacy.people import measure_surroundings
from icsa.privacy.people_findings import Findings
from icsa.privacy.policy import Policy, Threshold
from icsa.privacy.reasons import Verdict
from icsa.privacy.standing_out import standing_out
from icsa.privacy.verdict import verdict
from icsa.tables import read_table

TABLES = Path(__file__).parent.parent / "golden" / "tables"


@cache
def table(name: str) -> Features:
    read = read_table(TABLES / f"{name}.csv")
    return match_tables(read, read, guess_schema(read)).features


def ordinary(features: Features) -> np.ndarray:
    """Return the row numbers of those who do not stand out."""
    people = standing_out(fit_lenses(features)).rows
    return np.setdiff1d(np.arange(features.original.n_rows), people)


def judged(features: Features, released: FeatureTable, policy: Policy | None = None) -> Verdict:
    lenses = fit_lenses(features).with_released(released)
    found = Findings.of(lenses, measure_surroundings(lenses, standing_out(lenses)))
    return verdict(found.around, found.near, found.group, exact=found.exact, policy=policy)


def shuffled_apart(table: FeatureTable, rng: np.random.Generator) -> FeatureTable:
    numbers, codes = table.numbers.copy(), table.codes.copy()
    for column in (*numbers, *codes):
        rng.shuffle(column)
    return FeatureTable(numbers, codes)


def with_copies(features: Features, people: np.ndarray, rng: np.random.Generator) -> FeatureTable:
    """Return a table of nobody, its columns shuffled apart, with some people put in."""
    made = shuffled_apart(features.original, rng)
    made.numbers[:, : people.size] = features.original.numbers[:, people]
    made.codes[:, : people.size] = features.original.codes[:, people]
    return made


@pytest.mark.parametrize(("name", "count"), [("pima", 747), ("pbc", 333)])
@pytest.mark.parametrize("share", [1.0, 0.6, 0.1])
def test_ordinary_people_who_are_copied_stop_a_release(name: str, count: int, share: float) -> None:
    features, rng = table(name), np.random.default_rng(7)
    people = rng.permutation(ordinary(features))[:count]
    assert people.size == count
    copied = people[: round(share * count)]
    released = (
        features.original.rows(copied) if share == 1.0 else with_copies(features, copied, rng)
    )
    found = judged(features, released)
    assert found.word == "do not release"
    (reason,) = [reason for reason in found.reasons if reason.rule == "exact rows"]
    assert reason.word == "do not release"
    assert set(copied.tolist()) <= set(reason.rows)
    assert reason.text.startswith(f"{len(reason.rows)} of the ")


def test_the_thresholds_are_those_of_the_policy() -> None:
    features = table("pima")
    released = with_copies(features, ordinary(features)[:75], np.random.default_rng(1))
    deaf = Policy(
        exact_look=Threshold(0.0, "never"),
        **{name: Threshold(0.0, "never") for name in ("person_chance", "group_chance")},
        part_share=Threshold(2.0, "never"),
    )
    assert judged(features, released, deaf).word == "release"
    slow = Policy(exact_stop=Threshold(0.0, "never"), person_chance=Threshold(0.0, "never"))
    (reason,) = [r for r in judged(features, released, slow).reasons if r.rule == "exact rows"]
    assert reason.word == "look again"


def halves(features: Features, rng: np.random.Generator) -> ExactRows:
    order = rng.permutation(features.original.n_rows)
    first, second = np.array_split(order, 2)
    both = (features.original.rows(first), features.original.rows(second))
    return exact_rows(Features(*both, features.columns))


@pytest.mark.parametrize("name", ["pima", "pbc", "colon", "gbsg2"])
def test_other_people_of_the_same_table_are_no_copies(name: str) -> None:
    rng = np.random.default_rng(3)
    found = [halves(table(name), rng).chance for _ in range(40)]
    assert sum(p <= Policy().exact_look.value for p in found) <= 2
    assert min(found) > 1e-4


def test_coincidences_of_few_levels_calibrate_themselves() -> None:
    rng = np.random.default_rng(4)
    alarms, matches = 0, 0
    for _ in range(300):
        n, n_released = rng.integers(60, 300, size=2)
        levels = int(rng.integers(3, 9))
        x, y = (rng.binomial(levels, 0.3, size=(size, 4)) for size in (n, n_released))
        found = exact_rows(as_features(x, y))
        matches += found.matched.size
        alarms += found.chance <= 0.05
    assert matches > 1_000  # there was something to be wrong about
    assert alarms <= binom.ppf(0.9999, 300, 0.05)


def test_counting_by_hand() -> None:
    # 1 three times, 2 twice, 3 to 6 once; the release has 3, 4 twice, 2, 7 twice and 8.
    x = [[v] for v in (1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 6.0)]
    y = [[v] for v in (3.0, 4.0, 4.0, 2.0, 7.0, 7.0, 8.0)]
    found = exact_rows(as_features(x, y))
    assert (found.copied, found.unique, found.matched.tolist()) == (4, 4, [5, 6])
    assert (found.doubles, found.split, found.same) == (1, 1, 1)
    split, matched = 2 * 9 * 7 / (16 * 15), 14 / (14 + 8)
    smaller = min(1 - (1 - split) ** 2, matched**3 + 3 * matched**2 * (1 - matched))
    assert found.chance == pytest.approx(min(1.0, 2 * smaller))
    assert found.expected == pytest.approx(14 / 8)
    alone = exact_rows(as_features([[1.0]], [[1.0]]))
    assert (alone.chance, alone.expected) == (1.0, 0.0)


def test_buckets_of_hashes_add_up() -> None:
    rng = np.random.default_rng(4)
    mine, theirs = (rng.integers(0, 400, 600).astype(np.uint64) for _ in range(2))
    rows = np.arange(600)
    whole = counted([(rows, mine, theirs)], 600, 600)
    parts = [(rows[mine % 3 == k], mine[mine % 3 == k], theirs[theirs % 3 == k]) for k in range(3)]
    found = counted(parts, 600, 600)
    for name in ("copied", "unique", "doubles", "split", "same", "chance"):
        assert getattr(found, name) == getattr(whole, name), name
    assert found.matched.tolist() == whole.matched.tolist()
    assert found.copies.tolist() == whole.copies.tolist()

"""Traces that masked cells do not hide: the order of rows, gaps, columns copied together."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

import icsa
from icsa.comparison.features import Features, as_features
from icsa.privacy.copied_gaps import gap_patterns, of_gaps
from icsa.privacy.linked_columns import _links, linked_columns
from icsa.privacy.row_order import of_row_order, order_excess
from icsa.privacy.traces import of_traces

SEEDS = range(20)


def people(seed: int, n: int = 240, p: int = 6) -> np.ndarray:
    rng = np.random.default_rng([seed, 41])
    return (rng.normal(size=(n, 2)) @ rng.normal(size=(2, p)) + rng.normal(size=(n, p))).round(2)


def with_gaps(x: np.ndarray, seed: int) -> np.ndarray:
    gaps = np.random.default_rng([seed, 42]).random(x.shape) < 0.2
    return np.where(gaps, np.nan, x)


def test_fresh_people_leave_no_traces() -> None:
    for seed in SEEDS:
        fresh = with_gaps(people(seed), seed), with_gaps(people(seed + 100), seed + 100)
        assert of_traces(as_features(*fresh)) == ()


@pytest.mark.parametrize("noise", [0.5, 1.0, 2.0])
def test_rows_in_the_order_of_the_original_are_seen_through_noise(noise: float) -> None:
    for seed in range(5):
        x, rng = people(seed), np.random.default_rng(seed)
        released = x + noise * x.std(axis=0) * rng.normal(size=x.shape)
        (reason,) = of_row_order(as_features(x, released))
        assert (reason.word, reason.rule) == ("look again", "row order")
        assert not of_row_order(as_features(x, rng.permutation(released)))
        assert order_excess(as_features(x, released[:-1])) is None  # places say nothing then


def test_levels_in_the_order_of_the_original_are_seen() -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 4, size=(200, 3))
    other = np.where(rng.random(codes.shape) < 0.5, rng.integers(0, 4, size=codes.shape), codes)
    none = np.empty((200, 0))
    told = as_features(none, none, original_codes=codes, released_codes=other)
    assert order_excess(told) > 6
    mixed = as_features(none, none, original_codes=codes, released_codes=rng.permutation(other))
    assert order_excess(mixed) < 6


def test_two_sorted_tables_are_in_no_suspicious_order() -> None:
    for seed in SEEDS:
        first, second = people(seed), people(seed + 100)
        ordered = [table[np.argsort(table[:, 0])] for table in (first, second)]
        assert not of_row_order(as_features(*ordered))
        same = np.sort(first[:, :1], axis=0)  # the same values, sorted
        assert not of_row_order(
            as_features(np.hstack([same, first[:, 1:]]), np.hstack([same, second[:, 1:]]))
        )
        by_turns = np.tile([[0.0], [5.0]], (120, 1))  # a case, a control, a case, ...
        assert not of_row_order(as_features(first + by_turns, second + by_turns))


def test_gaps_that_were_copied_are_seen() -> None:
    for seed in range(5):
        x, fresh = with_gaps(people(seed, p=12), seed), people(seed + 100, p=12)
        copied = np.where(np.isnan(np.random.default_rng(seed).permutation(x)), np.nan, fresh)
        (reason,) = of_gaps(as_features(x, copied))
        assert (reason.word, reason.rule) == ("look again", "gaps")
        found = gap_patterns(as_features(x, copied))
        patterns = Counter(tuple(row) for row in np.isnan(x).tolist())
        assert found.matched.size == sum(count == 1 for count in patterns.values())
    assert gap_patterns(as_features(fresh, copied)) is None  # nothing to be copied


def slow_links(original: np.ndarray, released: np.ndarray) -> list[int]:
    """Say the same as `_links`, value by value."""
    here, there = original.tolist(), released.tolist()
    return [
        here.index(value) if here.count(value) == there.count(value) == 1 else -1 for value in there
    ]


def test_links_are_those_of_values_that_both_tables_have_once() -> None:
    rng = np.random.default_rng(5)
    for _ in range(30):
        original, released = rng.integers(0, 40, size=(2, 30)).astype(float)
        assert _links(original, released).tolist() == slow_links(original, released)
    gaps = np.array([1.0, np.nan, 2.0]), np.array([np.nan, 2.0])
    assert _links(*gaps).tolist() == [-1, 2]
    assert _links(np.array([-1, 3]), np.array([3, -1])).tolist() == [1, -1]


def test_columns_that_were_copied_together_are_seen_among_many() -> None:
    for seed in range(5):
        x, released = people(seed, p=20), people(seed + 100, p=20)
        order = np.random.default_rng(seed).permutation(len(x))
        released[:, [3, 7, 11]] = x[order][:, [3, 7, 11]]
        pairs = linked_columns(as_features(x, released))
        assert {pair.columns for pair in pairs} == {
            ("number 3", "number 7"),
            ("number 3", "number 11"),
            ("number 7", "number 11"),
        }


def test_columns_that_follow_from_one_another_are_not_called_copied() -> None:
    """A time of recurrence is that of death where there was none: whoever is released has it so."""
    for seed in SEEDS:
        tables: list[np.ndarray] = []
        for part in (seed, seed + 100):
            rng = np.random.default_rng([part, 43])
            died = rng.integers(1, 3000, 400).astype(float)
            back = np.where(rng.random(400) < 0.6, died, np.floor(died * rng.random(400)))
            tables.append(np.column_stack([died, back, 3000 - died, died**2, rng.normal(size=400)]))
        assert linked_columns(as_features(*tables)) == ()
        sorted_values = np.sort(tables[0][:, :1], axis=0)  # values kept, and what follows from them
        kept = np.hstack([sorted_values, 3000 - sorted_values])
        order = np.random.default_rng(seed).permutation(400)
        assert linked_columns(as_features(kept, kept[order])) == ()


def test_what_a_group_has_in_common_is_not_called_copied() -> None:
    """Colleagues have the holidays and the insurance of their employer, in either table."""
    for seed in SEEDS:
        rng = np.random.default_rng([seed, 44])
        given = rng.normal(size=(300, 2)).round(4)  # of 300 employers, one or two people each
        tables = [
            np.column_stack([given[rng.integers(0, 300, 200)], rng.normal(size=(200, 3))])
            for _ in range(2)
        ]
        assert linked_columns(as_features(*tables)) == ()


def test_large_tables_are_looked_at_in_part() -> None:
    rng = np.random.default_rng(8)
    x, released = rng.normal(size=(2, 150_000, 3))
    released[:, :2] = x[:, :2]
    both = as_features(x, rng.permutation(released))
    assert isinstance(both, Features)
    (pair,) = linked_columns(both)
    assert pair.columns == ("number 0", "number 1")
    assert np.isin(x[pair.people, 0], released[:, 0]).all()


def test_the_word_and_what_to_do() -> None:
    names = list("abcdef")
    original, fresh = (pl.DataFrame(people(seed), schema=names) for seed in (1, 2))
    assert icsa.assess(original, fresh).verdict == "release"
    renamed = fresh.select(names[:4]).with_columns(
        original.select(names[4:]).rename(str.upper).sample(fraction=1.0, shuffle=True, seed=1)
    )
    found = icsa.assess(original, renamed)
    (reason,) = found.reasons
    assert (found.gate, reason.rule, reason.columns) == (3, "not assessed", ("E", "F"))
    assert "columns out of the release" in reason.remedies[0]
    assert icsa.assess(original, fresh.with_columns(site=pl.lit("A"))).verdict == "release"
    noise = np.random.default_rng(1).normal(size=original.shape)
    noisy = pl.DataFrame(original.to_numpy() + 2 * original.to_numpy().std(axis=0) * noise)
    found = icsa.assess(original, noisy.rename(dict(zip(noisy.columns, names, strict=True))))
    assert "row order" in {reason.rule for reason in found.reasons}
    says = [reason["says"] for reason in found.as_dict("public")["reasons"]]
    assert "Rows stand in the order of the original, so that places name people." in says

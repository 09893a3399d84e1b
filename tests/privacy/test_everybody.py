"""Everybody counts: kernels against slow truths, ordinary people who are copied, fresh people."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from icsa.comparison.features import Features, FeatureTable, as_features
from icsa.comparison.matching import match_tables
from icsa.inspection import guess_schema
from icsa.privacy import everybody as everybody_module
from icsa.privacy.everybody import Everybody, look_at_everybody, shuffled_bound
from icsa.privacy.lenses import fit_lenses
from icsa.privacy.many_rows import best_in_buckets, near_scores
from icsa.privacy.passport import PrivacyAssessment, assess_privacy
from icsa.privacy.people import measure_surroundings
from icsa.privacy.people_findings import Findings
from icsa.privacy.rarity import BEST, Best, best_by_equal_cells, best_by_near_cells
from icsa.privacy.standing_out import standing_out
from icsa.privacy.tails import fit_tail, simes
from icsa.privacy.verdict import verdict
from icsa.tables import read_table

TABLES = Path(__file__).parent.parent / "golden" / "tables"


@cache
def table(name: str) -> Features:
    read = read_table(TABLES / f"{name}.csv")
    return match_tables(read, read, guess_schema(read)).features


def mixed(seed: int, n: int, share_missing: float = 0.1) -> FeatureTable:
    """Return numbers with ties and gaps, continuous ones, a constant, and codes."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(5, n))
    numbers[:2] = np.round(numbers[:2], 1)
    numbers[3] = 7.0
    numbers[4] = np.exp(3.0 * numbers[4])
    numbers[0, rng.random(n) < share_missing] = np.nan
    return FeatureTable(numbers, rng.integers(-1, 3, size=(2, n)).astype(np.int32))


def slow_scores(original: FeatureTable, row: int, table: FeatureTable, near: bool) -> np.ndarray:
    """Return the scores of one person with every row, as the definition says."""
    n = original.n_rows
    scores = np.zeros(table.n_rows)
    for column, cells in zip(original.numbers, table.numbers, strict=True):
        x = column[row]
        for other, y in enumerate(cells):
            if np.isnan(x) or np.isnan(y):
                count = n
            elif x == y:
                count = np.sum(column == x)
            elif near:
                slack = 1e-9 * (abs(x) + abs(y))
                count = np.sum(np.abs(column - x) <= abs(y - x) + slack)
                count += not np.any(np.abs(column - y) <= slack)
            else:
                count = n
            scores[other] += max(0.0, np.log(n / max(2, count)))
    for levels, codes in zip(original.codes, table.codes, strict=True):
        weight = np.log(n / max(2, np.sum(levels == levels[row]))) * (levels[row] >= 0)
        scores += weight * (codes == levels[row])
    return scores


@pytest.mark.parametrize(
    ("kernel", "near"), [(best_by_equal_cells, False), (best_by_near_cells, True)]
)
@pytest.mark.parametrize(("seed", "n", "n_other"), [(1, 70, 90), (2, 4, 3), (3, 150, 20)])
def test_kernels_against_the_definition(
    kernel: Callable[..., Best], near: bool, seed: int, n: int, n_other: int
) -> None:
    original, other = mixed(seed, n), mixed(seed + 10, n_other)
    other.numbers[:, 0] = original.numbers[:, 1]
    people = np.arange(n, dtype=np.int64)
    for table_, own in ((other, None), (original, people)):
        found = kernel(original, people, table_, own=own, threads=2)
        for row in range(n):
            truth = slow_scores(original, row, table_, near)
            if own is not None:
                truth = np.delete(truth, row)
            expected = np.zeros(BEST)
            best = np.sort(truth)[::-1][:BEST]
            expected[: best.size] = best
            np.testing.assert_allclose(found.scores[row], expected, atol=1e-9)
            assert row not in found.rows[row] or own is None
            if near:
                rows = found.rows[[row]]
                np.testing.assert_allclose(
                    near_scores(original, np.array([row]), table_, rows)[0],
                    found.scores[row],
                    atol=1e-9,
                )


def test_units_and_skewness_do_not_matter() -> None:
    original, other = mixed(4, 80), mixed(5, 60)
    people = np.arange(80, dtype=np.int64)

    def larger(table: FeatureTable) -> FeatureTable:
        return FeatureTable(8.0 * table.numbers, table.codes)

    for kernel in (best_by_equal_cells, best_by_near_cells):
        first = kernel(original, people, other)
        second = kernel(larger(original), people, larger(other))
        np.testing.assert_allclose(first.scores, second.scores, atol=1e-9)


def found_in(features: Features, released: FeatureTable) -> Everybody:
    return look_at_everybody(fit_lenses(features).with_released(released))


def ordinary(features: Features) -> np.ndarray:
    people = standing_out(fit_lenses(features)).rows
    return np.setdiff1d(np.arange(features.original.n_rows), people)


def with_copies(features: Features, people: np.ndarray, rng: np.random.Generator) -> FeatureTable:
    """Return columns that were shuffled apart, with some people put in."""
    numbers, codes = features.original.numbers.copy(), features.original.codes.copy()
    for column in (*numbers, *codes):
        rng.shuffle(column)
    numbers[:, : people.size] = features.original.numbers[:, people]
    codes[:, : people.size] = features.original.codes[:, people]
    return FeatureTable(numbers, codes)


@pytest.mark.parametrize("name", ["pbc", "pima"])
def test_one_ordinary_person_among_shuffled_columns_is_named(name: str) -> None:
    features, rng = table(name), np.random.default_rng(5)
    seen = 0
    for person in rng.permutation(ordinary(features))[:10]:
        found = found_in(features, with_copies(features, np.array([person]), rng)).equal
        people = found.found(0.005)
        assert set(people.tolist()) <= {int(person)}
        seen += people.size
    assert seen >= 8


def test_a_copy_with_two_cells_changed_is_still_one() -> None:
    features, rng = table("pbc"), np.random.default_rng(6)
    person = ordinary(features)[17]
    released = with_copies(features, np.array([person]), rng)
    released.numbers[[1, 2], 0] = released.numbers[[1, 2], 5]
    found = found_in(features, released).equal
    assert found.found(0.005).tolist() == [person]
    assert found.released_rows[person] == 0


def test_everybody_with_noise_is_closer() -> None:
    features, rng = table("pima"), np.random.default_rng(7)
    cells = features.original.numbers
    noisy = cells + 0.1 * np.nanstd(cells, axis=1)[:, None] * rng.normal(size=cells.shape)
    closer = found_in(features, FeatureTable(noisy, features.original.codes)).closer
    assert closer.z > 4.0
    assert closer.as_if_copied > 0.5


@pytest.mark.parametrize("name", ["pima", "pbc", "colon", "gbsg2"])
def test_other_people_of_the_same_table_are_no_copies(name: str) -> None:
    features, rng = table(name), np.random.default_rng(8)
    for _ in range(5):
        first, second = np.array_split(rng.permutation(features.original.n_rows), 2)
        both = Features(
            features.original.rows(first), features.original.rows(second), features.columns
        )
        found = look_at_everybody(fit_lenses(both))
        assert min(found.equal.chance, found.near.chance) > 0.001
        assert abs(found.closer.z) < 4.5
        assert found.near.excess < 4.0


def test_digits_that_the_original_does_not_have_bring_nobody_nearer() -> None:
    rng = np.random.default_rng(9)
    x = np.round(10.0 * rng.normal(size=(300, 6)))
    found = look_at_everybody(fit_lenses(as_features(x, 10.0 * rng.normal(size=(300, 6)))))
    assert abs(found.closer.z) < 4.0
    shaken = look_at_everybody(fit_lenses(as_features(x, x + rng.uniform(-0.4, 0.4, x.shape))))
    assert shaken.equal.chance < 0.005  # rounded again they are copies


def test_large_tables_find_the_same_people(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(10)
    x, y = rng.normal(size=(2, 1_500, 8))
    x[:, :3], y[:, :3] = np.round(x[:, :3], 1), np.round(y[:, :3], 1)
    y[3], y[4] = x[7], x[8]
    y[4, [0, 5]] = y[9, [0, 5]]  # all but two cells
    features = as_features(x, y)
    people, best = best_in_buckets(features)
    assert {7, 8} <= set(people.tolist())
    assert best.rows[np.searchsorted(people, [7, 8]), 0].tolist() == [3, 4]
    whole = look_at_everybody(fit_lenses(features))
    monkeypatch.setattr(everybody_module, "_EQUAL_WORK", 0)
    monkeypatch.setattr(everybody_module, "_NEAR_WORK", 0)
    part = look_at_everybody(fit_lenses(features))
    assert part.near.people.size == 500
    for found in (whole, part):
        assert found.equal.found(0.005).tolist() == [7, 8]
        assert abs(found.closer.z) < 4.0
        assert np.mean(found.own * found.n <= 0.005) > 0.95


def test_many_people_and_a_single_one_by_hand() -> None:
    assert simes(np.array([0.004, 0.9])) == pytest.approx(0.008)
    assert simes(np.array([0.004]), 100) == pytest.approx(0.4)
    assert simes(np.full(50, 0.004), 100) == pytest.approx(0.008)
    assert simes(np.empty(0)) == 1.0
    tail = fit_tail(np.random.default_rng(1).exponential(size=4_000))
    beyond = tail.beyond(np.array([1.0, 5.0, 7.0]))
    np.testing.assert_allclose(beyond, np.exp([-1.0, -5.0, -7.0]), rtol=0.5)
    assert fit_tail(np.zeros(30)).beyond(np.array([0.0, np.inf])).tolist() == [1.0, 0.0]


def test_the_bound_for_shuffled_columns_is_one() -> None:
    rng = np.random.default_rng(11)
    shares = np.array([0.1, 0.3, 0.5, 0.2])
    weights = -np.log(shares)[None, :]
    draws = (rng.random((200_000, 4)) < shares) @ weights[0]
    for score in (2.0, 4.0, 5.5):
        assert np.mean(draws >= score) <= shuffled_bound(weights, np.array([score]))[0]


def assessed(name: str, people: np.ndarray) -> PrivacyAssessment:
    features = table(name)
    return assess_privacy(features.with_released(features.original.rows(people)))


def test_a_person_who_is_in_the_release_cell_by_cell_is_called_copied() -> None:
    features = table("pima")
    people = standing_out(fit_lenses(features)).rows
    found = assessed("pima", np.concatenate([people[[0, 0, 1, 2]], ordinary(features)[:100]]))
    status = {person.row: (person.status, person.copies) for person in found.people}
    assert [status[int(row)] for row in people[:3]] == [("copied", 2), ("copied", 1), ("copied", 1)]
    assert all(copies == 0 for word, copies in status.values() if word != "copied")
    (reason,) = [reason for reason in found.verdict.reasons if reason.rule == "exact rows"]
    assert len(reason.rows) == 103  # who was copied twice is one person


def test_how_often_a_copy_would_be_noticed_is_how_often_it_is() -> None:
    features, rng = table("pbc"), np.random.default_rng(12)
    found = assessed("pbc", np.arange(50))
    assert found.noticing.ordinary > 0.9
    assert found.noticing.standing_out is not None
    assert found.noticing.standing_out > 0.9
    assert (found.noticing.is_enough, found.noticing.advice) == (True, "")
    narrow = as_features(rng.normal(size=(100, 2)), rng.normal(size=(100, 2)))
    told = assess_privacy(narrow).noticing
    assert told.ordinary < 0.1
    assert "more columns" in told.advice
    copied = rng.normal(size=(100, 2))
    copied[0] = narrow.original.numbers[:, 50]
    again = look_at_everybody(fit_lenses(as_features(narrow.original.numbers.T, copied)))
    assert again.equal.chance > 0.005
    assert features.n_columns > told.n_columns


def test_the_rules_are_in_the_word() -> None:
    features, rng = table("pima"), np.random.default_rng(13)
    lenses = fit_lenses(features)
    around = measure_surroundings(lenses, standing_out(lenses))
    rules = set()
    noisy = features.original.numbers[:, 100:]
    noisy = noisy + 0.1 * np.nanstd(noisy, axis=1)[:, None] * rng.normal(size=noisy.shape)
    for released in (
        with_copies(features, ordinary(features)[:50], rng),
        FeatureTable(noisy, features.original.codes[:, 100:]),
    ):
        found = Findings.of(lenses.with_released(released), around)
        word = verdict(
            around,
            found.near,
            found.group,
            exact=found.exact,
            everybody=found.everybody,
            extremes=found.extremes,
        )
        assert word.word == "do not release"
        rules |= {reason.rule for reason in word.reasons}
    assert {"exact rows", "equal cells", "closer", "resemblance"} <= rules

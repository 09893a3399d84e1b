"""The attacks that undo masks, on tables: what `permute` gives away and `redraw` does not."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.attacks import Targets, run_attacks
from icsa.attacks.complete_columns import complete_columns, spread_columns
from icsa.attacks.digits_attack import has_more_digits
from icsa.comparison.features import FeatureTable, as_features
from icsa.matrices import Matrix
from tests.attacks.tables import people, released


def no_grid(x: Matrix, y: Matrix) -> Targets:
    return Targets(features=as_features(x, y, grids=np.zeros(x.shape[1])))


def lone_tables(mask: str, severity: float, count: int) -> list[tuple[Matrix, Matrix]]:
    tables = [people(240, 5, seed, severity=severity) for seed in range(count)]
    return [(x, released(x, mask, seed)[0]) for seed, x in enumerate(tables)]


@pytest.mark.parametrize(("mask", "least", "most"), [("permute", 11, 12), ("redraw", 0, 0)])
def test_a_lone_person_far_out_is_put_together_after_permute_only(
    mask: str, least: int, most: int
) -> None:
    found = 0
    for x, y in lone_tables(mask, 50.0, 12):
        every, _ = run_attacks(no_grid(x, y), names=["reassembly"])
        found += 239 in every.rows
        assert set(every.rows) <= {239}
    assert least <= found <= most


def test_fresh_people_are_hardly_ever_put_together() -> None:
    """Of 120 tables with heavy tails at most 4 alarm: at a rate of 1% more has a chance of .008."""
    alarms = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        draw = [rng.standard_t(3, size=(150, 4)), np.exp(rng.normal(size=(150, 4)))][seed % 2]
        other = [rng.standard_t(3, size=(150, 4)), np.exp(rng.normal(size=(150, 4)))][seed % 2]
        alarms += any(r.rows for r in run_attacks(no_grid(draw, other), names=["reassembly"]))
    assert alarms <= 4


def test_a_copy_is_no_reassembly_as_the_person_stands_there_already() -> None:
    x = people(240, 5, 1, severity=50.0)
    for result in run_attacks(no_grid(x, x[::-1]), names=["reassembly"]):
        assert not result.rows


@pytest.mark.parametrize("p", [2, 3])
def test_digits_give_back_a_rounded_table_and_its_rounding_stops_it(p: int) -> None:
    whole = 0
    for seed in range(4):  # the attack fails now and then
        x = np.rint(10.0 * people(160, p, seed)) + 7.0  # an offset changes nothing
        y, _ = released(x, "permute", seed)
        targets = Targets(features=as_features(x, y), outsiders=as_features(x + 0.5, y).original)
        (found,) = run_attacks(targets, names=["digits"])
        assert found.right.value in (0.0, 1.0)
        assert found.control.value == 0.0
        whole += len(found.rows) == 160
    assert whole >= 3
    rounded = Targets(features=as_features(x, np.round(y, 2)))
    assert not has_more_digits(rounded)
    (found,) = run_attacks(rounded, names=["digits"])
    assert "no more digits" in found.right.reason


def test_digits_that_were_not_mixed_from_the_rows_give_nothing_back() -> None:
    x = np.rint(10.0 * people(160, 3, 4))
    targets = Targets(features=as_features(x, 10.0 * people(160, 3, 5)))
    assert has_more_digits(targets)
    (found,) = run_attacks(targets, names=["digits"])
    assert found.right.value == 0.0
    assert not found.rows


def test_digits_need_few_columns_all_of_them_rounded() -> None:
    x = people(160, 6, 1)
    (found,) = run_attacks(no_grid(x, x + 1.0), names=["digits"])
    assert "not all numeric columns" in found.right.reason
    whole = np.rint(10.0 * x)
    (found,) = run_attacks(Targets(features=as_features(whole, x)), names=["digits"])
    assert "with 6 numeric columns" in found.right.reason
    fine = people(160, 3, 1).round(6)
    (found,) = run_attacks(Targets(features=as_features(fine, x[:, :3])), names=["digits"])
    assert "so many digits" in found.right.reason
    few = np.rint(10.0 * people(20, 3, 1))
    (found,) = run_attacks(Targets(features=as_features(few, people(20, 3, 2))), names=["digits"])
    assert "more than 40 released rows" in found.right.reason


@pytest.mark.parametrize(("mask", "known"), [("permute", True), ("redraw", False)])
def test_two_releases_give_away_the_map_of_permute(mask: str, known: bool) -> None:
    both = people(160, 3, 2)
    x, others = both[:80], both[80:]
    one, two = (released(x, mask, seed)[0] for seed in (1, 2))
    targets = Targets(
        features=as_features(x, one),
        outsiders=as_features(others, one).original,
        also_released=as_features(two, two).original,
    )
    the_map, members = run_attacks(targets, names=["two releases"])
    assert (the_map.right.value == 1.0) == known
    if known:
        assert (members.right.value, members.control.value) == (1.0, 0.0)
    else:
        assert the_map.right.value == 0.0
        assert members.difference.low <= 0.0


def test_two_rounded_releases_still_tell_members() -> None:
    both = people(240, 3, 2)
    x, others = both[:120], both[120:]
    one, two = (np.round(released(x, "permute", seed)[0], 3) for seed in (1, 2))
    targets = Targets(
        features=as_features(x, one),
        outsiders=as_features(others, one).original,
        also_released=as_features(two, two).original,
    )
    the_map, members = run_attacks(targets, names=["two releases"])
    assert the_map.right.value == 0.0  # not exactly
    assert members.right.value > 0.9
    assert members.difference.low > 0.3


def test_releases_that_cannot_be_compared_say_why() -> None:
    x = people(60, 3, 1)
    features = as_features(x, x)
    cases = {
        "--also-released": None,
        "different numbers of rows": as_features(x[:50], x).original,
        "two numeric columns": as_features(np.where(x > 9, 0, np.nan), x).original,
    }
    for why, other in cases.items():
        targets = Targets(features=features, also_released=other)
        (found,) = run_attacks(targets, names=["two releases"])
        assert why in found.right.reason


def test_all_but_one_is_told_by_means_and_not_by_redraw() -> None:
    shares = {}
    for mask in ("permute", "redraw"):
        x = people(200, 4, 3)
        y = released(x, mask, 3)[0]
        (found,) = run_attacks(no_grid(x, y), names=["all but one"])
        shares[mask] = found.right.value
    assert shares["permute"] == 1.0
    assert shares["redraw"] < 0.1


def test_columns_for_matrices_are_complete_spread_and_independent() -> None:
    x = np.random.default_rng(1).normal(size=(5, 80))
    x[2] = x[0] + 2.0 * x[1]
    x[3, 4] = np.nan
    x[4, :50] = 0.0
    table = FeatureTable(x, np.empty((0, 80), dtype=np.int32))
    whole = complete_columns([table])
    assert whole.tolist() == [0, 1, 2, 4]
    kept = spread_columns(table, whole).tolist()
    assert len(kept) == 2
    assert set(kept) < {0, 1, 2}

"""Orders between columns that nothing keeps."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from icsa import anonymize
from icsa.constraints import LinearRelation, Order, find_derivation, find_unkept_orders
from icsa.constraints.units import are_comparable, words_of_most

DAY = 86_400.0


def orders(table: dict[str, np.ndarray], kinds: dict[str, str] | str) -> set[Order]:
    of = dict.fromkeys(table, kinds) if isinstance(kinds, str) else kinds
    return set(find_derivation(table, dict.fromkeys(table, None), of).orders)


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(7)


def test_numbers_in_order(generator):
    low = generator.normal(70.0, 9.0, 300)
    table = {"high": low + generator.exponential(9.0, 300), "low": low}
    assert orders(table, "continuous") == {Order("low", "high")}
    table["high"][17] = table["low"][17] - 1.0
    assert orders(table, "continuous") == set()


def test_missing_cells_break_no_order(generator):
    low = generator.normal(70.0, 9.0, 300)
    table = {"low": np.where(generator.random(300) < 0.3, np.nan, low)}
    table["high"] = low + generator.exponential(9.0, 300)
    table["high"][5] = np.nan
    assert orders(table, "continuous") == {Order("low", "high")}


def test_ranges_that_hardly_overlap_say_nothing(generator):
    table = {"age": generator.uniform(18, 90, 500), "systolic": generator.uniform(89, 200, 500)}
    assert orders(table, "continuous") == set()


def test_what_follows_from_two_others_is_not_said(generator):
    first = generator.normal(size=300)
    second = first + generator.exponential(size=300)
    table = {"a": first, "b": second, "c": second + generator.exponential(size=300)}
    assert orders(table, "continuous") == {Order("a", "b"), Order("b", "c")}


def test_parts_of_a_sum_are_below_it_without_a_word(generator):
    a, b = generator.integers(0, 40, (2, 300)).astype(float)
    assert orders({"a": a, "b": b, "total": a + b}, "integer") == set()


def test_a_datetime_and_a_date_are_compared_by_their_days(generator):
    admitted = DAY * generator.uniform(0, 900, 300)
    discharged = np.floor(admitted / DAY) + generator.integers(0, 9, 300)
    kinds = {"admitted": "datetime", "discharged": "date"}
    table = {"admitted": admitted, "discharged": discharged}
    assert orders(table, kinds) == {Order("admitted", "discharged")}


def test_dates_that_are_coded_by_a_gap_are_kept_already(generator):
    ill = generator.integers(0, 900, 300).astype(float)
    table = {"ill": ill, "well": ill + generator.integers(0, 60, 300)}
    found = find_derivation(table, dict.fromkeys(table, 1.0), dict.fromkeys(table, "date"))
    assert [gap.other for gap in found.gaps] == ["well"]
    assert found.orders == ()
    alone = find_unkept_orders(table, dict.fromkeys(table, "date"), (), ())
    assert alone == (Order("ill", "well"),)


def test_a_date_and_its_time_of_day_are_one_column(generator):
    seen = np.floor(DAY * generator.uniform(0, 900, 300))
    day = np.floor(seen / DAY)
    table = {"admission": day, "seen": seen, "left": day + generator.integers(0, 9, 300)}
    kinds = {"admission": "date", "seen": "datetime", "left": "date"}
    assert Order("seen", "admission") in find_unkept_orders(table, kinds, (), ())
    found = find_derivation(table, dict.fromkeys(table, 1.0), kinds)
    assert [relation.target for relation in found.computed] == ["admission"]
    assert len(found.orders) == 1
    assert {order.second for order in found.orders} == {"left"}


def test_dates_that_are_computed_from_others_are_in_order(generator):
    visit = generator.integers(9000, 9900, 300).astype(float)
    first, second = generator.integers(0, 60, (2, 300)).astype(float)
    table = {
        "visit": visit,
        "visit2": visit + first,
        "visit3": visit + first + second,
        "d12": first,
        "d23": second,
        "d13": first + second,
    }
    kinds = {name: "date" if name.startswith("visit") else "integer" for name in table}
    found = find_derivation(table, dict.fromkeys(table, 1.0), kinds)
    assert len(found.computed) == 3
    assert found.orders == ()


def test_a_sum_with_a_negative_part_can_come_out_below_another(generator):
    a, b = generator.integers(0, 40, (2, 300)).astype(float)
    relation = LinearRelation("total", (("a", 1.0), ("b", 1.0)), 0.0, 1.0)
    table = {"a": a, "b": b, "total": a + b}
    kinds = dict.fromkeys(table, "integer")
    assert find_unkept_orders(table, kinds, (), (relation,)) == ()
    lower = {"a": a, "b": b - 10.0, "total": a + b - 10.0}
    lower["total"] = np.maximum(lower["total"], lower["a"])
    assert find_unkept_orders(lower, kinds, (), (relation,)) == (Order("a", "total"),)


def test_an_order_among_the_parts_of_a_sum_is_told(generator):
    low = generator.integers(0, 40, 300).astype(float)
    high = low + generator.integers(0, 40, 300)
    table = {"low": low, "high": high, "total": low + high}
    assert orders(table, "integer") == {Order("low", "high")}


def test_of_equal_columns_one_is_told(generator):
    low = generator.normal(70.0, 9.0, 300)
    table = {"low": low, "copy": low, "high": low + generator.exponential(9.0, 300)}
    (order,) = orders(table, "continuous")
    assert order.second == "high"


def test_long_chains_are_told_link_by_link(generator):
    steps = np.cumsum(generator.exponential(size=(5, 300)), axis=0)
    table = {name: steps[place] for place, name in enumerate("abcde")}
    mixed = {name: table[name] for name in "dbeac"}
    assert orders(mixed, "continuous") == {Order(*pair) for pair in ("ab", "bc", "cd", "de")}


def test_a_chain_needs_its_middle(generator):
    steps = np.cumsum(generator.exponential(size=(3, 300)), axis=0)
    table = {name: steps[place] for place, name in enumerate("abc")}
    table["b"][:100] = np.nan
    assert Order("a", "c") in orders(table, "continuous")


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ("price_now", "price_then", True),
        ("income", "cost_of_rent", True),
        ("petal width (cm)", "petal length (cm)", True),
        ("age", "weight", False),
        ("weight_kg", "height_cm", False),
        ("log_income", "income", False),
        ("income", "share_of_income", False),
        ("bilirubin_per_l", "transaminase_per_l", False),
        ("x1", "x2", False),
    ],
)
def test_names_say_whether_units_are_in_common(first: str, second: str, wanted: bool) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(50.0, 9.0, 300), rng.normal(60.0, 9.0, 300)
    assert are_comparable(first, second, x, y, words_of_most(["x1", "x2", "x3"])) == wanted


def test_without_names_columns_lie_in_one_place_and_go_together() -> None:
    rng = np.random.default_rng(1)
    spent = rng.lognormal(6.0, 0.4, 300)
    earned = spent * rng.uniform(1.05, 1.8, 300)
    assert are_comparable("foodexp", "wealth", spent, earned)
    assert not are_comparable("foodexp", "wealth", spent, rng.permutation(earned))
    # The logarithm of a population is below the population, and that says nothing.
    people = rng.lognormal(4.0, 2.0, 300)
    table = {"logpopul": np.log(people + 0.1), "popul": people}
    assert (table["logpopul"] < table["popul"]).all()
    assert orders(table, "continuous") == set()


@pytest.mark.parametrize(("ahead", "seed"), [(1.0, 1), (1.0, 2), (25.0, 1), (25.0, 2)])
def test_not_kept_is_said_of_what_does_not_hold(ahead: float, seed: int) -> None:
    rng = np.random.default_rng(3)
    rest = rng.normal(70.0, 12.0, 300)
    stairs = rest + ahead + rng.exponential(4.0, 300)
    frame = pl.DataFrame(
        {"pulse_rest": rest, "pulse_stairs": stairs, "age": rng.normal(50, 9, 300)}
    )
    release = anonymize(frame, random_state=seed)
    broken = bool((release.table["pulse_rest"] > release.table["pulse_stairs"]).any())
    assert broken == (ahead == 1.0)  # so far ahead the mask keeps it by itself
    assert any("pulse_rest is never above" in said for said in release.warnings) == broken


def test_the_largest_numbers_are_compared_as_others_are() -> None:
    x = np.linspace(-1.0, 1.0, 60) * np.finfo(float).max
    assert are_comparable("first", "second", x, x)

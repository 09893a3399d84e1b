"""Orders between columns that nothing keeps."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.relations import Order, find_derivation, find_unkept_orders

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

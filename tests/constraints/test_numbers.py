"""Rules and computed columns in numbers: lattices with an offset, narrow types, what stays."""

from __future__ import annotations

import datetime as dt
from dataclasses import fields, replace
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa.columns import ColumnSpec
from icsa.constraints import (
    Latitude,
    LinearRelation,
    check_rules,
    enforce_rules,
    parse_rule,
)
from icsa.constraints.computing import compute, in_order, recompute
from icsa.constraints.domains import Domain
from icsa.constraints.keeping import rules_of
from icsa.constraints.limits import LIMITS
from icsa.inspection import guess_schema
from icsa.lattice import Lattice
from icsa.release import anonymize
from icsa.tables import from_frame

TOTAL = LinearRelation("total", (("a", 1.0), ("b", 1.0)), 0.0, 1.0)


def enforced(frame: pl.DataFrame, *texts: str, **latitude: object) -> pl.DataFrame:
    rules = [parse_rule(text, frame.columns) for text in texts]
    released, _ = enforce_rules(rules, frame, Latitude(**latitude))
    assert check_rules(rules, released) == ()
    return released


class TestLattices:
    @given(
        st.fractions(Fraction(1, 1000), 1000, max_denominator=1000),
        st.fractions(-5, 5, max_denominator=20),
        st.floats(-1e6, 1e6),
        st.integers(-(10**5), 10**5),
    )
    def test_next_to_a_bound_is_what_exact_arithmetic_gives(self, step, offset, bound, place):
        lattice = Lattice(step, offset % step)
        on_it = float(lattice.offset + step * place)
        exactly = {
            "<=": lattice.at_most,
            "<": lattice.below,
            ">=": lattice.at_least,
            ">": lattice.above,
        }
        bounds = np.array([bound, float(lattice.round(np.array([on_it]))[0])])
        for sign, expected in exactly.items():
            found = lattice.next_to(bounds, sign)
            assert found[0] == pytest.approx(expected(bound), rel=1e-12, abs=1e-9 * lattice.width)
            if sign in ("<=", ">="):
                assert found[1] == bounds[1]
            else:
                away = 1.0 if sign == ">" else -1.0
                assert (found[1] - bounds[1]) / lattice.width == pytest.approx(away, abs=1e-6)

    def test_an_offset_is_kept(self):
        frame = pl.DataFrame({"odd": [1, 5, 21], "day": [dt.date(2020, 1, d) for d in (6, 13, 27)]})
        monday = Lattice(Fraction(7), Fraction((dt.date(2020, 1, 6) - dt.date(1970, 1, 1)).days))
        lattices = {"odd": Lattice(Fraction(2), Fraction(1)), "day": monday}
        released = enforced(frame, "odd <= 8", "day <= 2020-01-25", lattices=lattices)
        assert released["odd"].to_list() == [1, 5, 7]
        assert released["day"].to_list() == [dt.date(2020, 1, d) for d in (6, 13, 20)]

    def test_an_offset_is_kept_in_a_release(self):
        generator = np.random.default_rng(4)
        odd = 2 * generator.integers(0, 30, 300) + 1
        frame = pl.DataFrame(
            {
                "odd": odd,
                "limit": odd + generator.integers(1, 40, 300),
                "x": generator.normal(50, 9, 300).round(1),
                "y": generator.normal(5, 1, 300).round(2),
            }
        )
        schema = replace(guess_schema(from_frame(frame)), rules=("odd <= limit", "odd >= 1"))
        release = anonymize(frame, schema=schema, method="sa", random_state=2)
        assert release.moved_cells["odd <= limit"] > 0
        assert (release.table["odd"] % 2 == 1).all()
        assert (release.table["odd"] <= release.table["limit"]).all()

    def test_decimals_move_by_their_own_step(self):
        prices = pl.Series("price", [Decimal("9.50"), Decimal("12.25")], dtype=pl.Decimal(9, 2))
        released = enforced(prices.to_frame(), "price <= 9.99")
        assert released["price"].to_list() == [Decimal("9.50"), Decimal("9.99")]

    def test_a_narrow_float_keeps_the_bound_that_it_is_compared_with(self):
        # In single precision .3 is a little more than .3.
        frame = pl.DataFrame({"x": pl.Series([0.1, 0.2, 0.9], dtype=pl.Float32)})
        released = enforced(frame, "x <= 0.3", lattices={"x": Lattice(Fraction(1, 10))})
        assert released["x"].to_list() == frame["x"].gather([0, 1, 1]).to_list()


class TestDomains:
    def test_levels_are_compared_by_what_they_stand_for(self):
        domain = Domain(name="dose", dtype=pl.Float64(), levels=np.array([20.0, 2.5, 5.0]))
        numbers = np.array([2.0, np.nan, 0.0])
        quantities = domain.quantities(numbers)
        assert np.array_equal(quantities, [5.0, np.nan, 20.0], equal_nan=True)
        assert np.array_equal(domain.numbers(quantities), numbers, equal_nan=True)
        assert np.isnan(domain.numbers(np.array([7.0, 99.0, 0.0]))).all()

    def test_texts_of_two_columns_are_compared(self):
        enum = pl.Enum(["z", "a"])
        frame = pl.DataFrame({"s": ["a", "q", None], "e": pl.Series(["a", "z", "z"], dtype=enum)})
        assert check_rules([parse_rule("s = e", frame.columns)], frame)[0].first_row == 1
        released = enforced(frame, "s = e")
        assert released["s"].to_list() == ["a", "z", None]

    def test_what_cannot_be_compared_can_be_missing(self):
        frame = pl.DataFrame({"l": [[1], None], "n": [1, 1]})
        [violation] = check_rules([parse_rule("l present", frame.columns)], frame)
        assert violation.first_row == 1

    def test_untouched_cells_stay_to_the_last_digit(self):
        large = 2**60 + 1
        frame = pl.DataFrame({"n": [large, 7]})
        assert enforced(frame, "n >= 8")["n"].to_list() == [large, 8]


class TestComputing:
    numbers = MappingProxyType(
        {"a": np.array([1.0, 2.0, np.nan, 4.0]), "b": np.array([5.0, 6.0, 7.0, 8.0])}
    )

    @staticmethod
    def hold(name, numbers):
        return np.minimum(numbers, 11.0) if name == "total" else numbers

    def test_by_hand(self):
        found = compute([TOTAL], self.numbers, self.hold)
        assert np.array_equal(found["total"], [6.0, 8.0, np.nan, 11.0], equal_nan=True)

    def test_cells_of_its_own_that_are_missing(self):
        scores = np.array([0.1, 0.9, 0.5, 0.2])
        one = replace(TOTAL, missing=2)
        found = compute([one], {**self.numbers, "total": scores}, self.hold)
        assert np.array_equal(found["total"], [6.0, np.nan, np.nan, 11.0], equal_nan=True)

    def test_again_only_where_it_is_wrong(self):
        before = np.array([6.0 + 1e-12, 7.0, 3.0, np.nan])
        found = recompute([TOTAL], {**self.numbers, "total": before}, self.hold)
        assert np.array_equal(found["total"], [before[0], 8.0, np.nan, 11.0], equal_nan=True)
        emptied = recompute(
            [replace(TOTAL, missing=1)], {**self.numbers, "total": before}, self.hold
        )
        assert np.isnan(emptied["total"][3])

    def test_what_is_needed_comes_first(self):
        double = LinearRelation("double", (("total", 2.0),), 0.0, 1.0)
        ordered = in_order([double, TOTAL], lambda one: one.target, lambda one: one.sources)
        assert [one.target for one in ordered] == ["total", "double"]
        assert compute(ordered, self.numbers, self.hold)["double"][0] == 12.0


def test_cells_that_a_rule_empties_get_the_reasons_that_others_have() -> None:
    generator = np.random.default_rng(6)
    n_rows = 600
    x = generator.normal(size=n_rows).round(2)
    weeks = generator.integers(5, 40, n_rows)
    gone = (x >= 0.5) | (generator.random(n_rows) < 0.1)
    reasons = np.where(generator.random(n_rows) < 0.5, -9, -8)
    frame = pl.DataFrame(
        {
            "weeks": np.where(gone, reasons, weeks),
            "x": x,
            "y": generator.normal(size=n_rows).round(2),
        }
    )
    schema = guess_schema(from_frame(frame))
    specs = {**schema.columns}
    specs["weeks"] = replace(specs["weeks"], kind="integer", missing_codes=(-9, -8))
    schema = replace(
        schema,
        columns=specs,
        rules=("if x >= 0.5 then weeks missing",),
        recipe={"calibration_rounds": 0},
    )
    ruled, plain = (
        anonymize(frame, schema=one, method="sa", random_state=1).table["weeks"]
        for one in (schema, replace(schema, rules=()))
    )
    emptied = ruled.filter((plain > 0) & (ruled < 0))
    assert emptied.len() >= 10  # so that all have one reason by chance once in 500 releases
    assert set(emptied) == {-9, -8}


def test_a_value_that_no_cell_can_have_is_no_missing_code() -> None:
    frame = pl.DataFrame({"n": pl.Series([1, 9], dtype=pl.UInt8), "m": [1, 2]})
    spec = ColumnSpec(name="n", kind="integer", missing_codes=(9,))
    texts = ["if n = 999 then m = 1", "if n = 9 then m = 2"]
    first, second = rules_of(texts, frame, [spec])
    assert first.when.operator == "="
    assert second.when.operator == "missing"


def test_every_threshold_says_what_it_rests_on() -> None:
    for field in fields(LIMITS):
        assert len(field.metadata["rests on"]) > 2, field.name

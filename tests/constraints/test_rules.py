"""Declared rules: reading them, finding rows that break them, mending those."""

from __future__ import annotations

import contextlib
import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa.constraints import Latitude, check_rules, enforce_rules, parse_rule, require_rules
from icsa.errors import InputError
from icsa.lattice import lattice_of

COLUMNS = ("a", "b", "c", "alk.phos", "date of birth", "größe")


def enforced(frame, *texts, steps=()):
    rules = [parse_rule(text, frame.columns) for text in texts]
    released, moved = enforce_rules(
        rules,
        frame,
        Latitude(lattices={name: lattice_of(step) for name, step in dict(steps).items()}),
    )
    assert check_rules(rules, released) == ()
    assert released.schema == frame.schema
    return released, dict(moved)


class TestReading:
    @pytest.mark.parametrize(
        ("text", "column", "operator", "other"),
        [
            ("a <= b", "a", "<=", "b"),
            ("a<b", "a", "<", "b"),
            ("alk.phos > größe", "alk.phos", ">", "größe"),
            ("`date of birth` >= a", "date of birth", ">=", "a"),
            ('a <= "date of birth"', "a", "<=", "date of birth"),
            ("a ≤ b", "a", "<=", "b"),
            ("a = `date of birth`", "a", "=", "date of birth"),
        ],
    )
    def test_two_columns(self, text, column, operator, other):
        claim = parse_rule(text, COLUMNS).then
        assert (claim.column, claim.operator, claim.other) == (column, operator, other)

    @pytest.mark.parametrize(
        ("text", "values"),
        [
            ("a >= -1.5e3", ["-1.5e3"]),
            ("a >= 2020-01-31", ["2020-01-31"]),
            ("a < 2020-01-31T10:30", ["2020-01-31T10:30"]),
            ("a in {1, 2,3}", ["1", "2", "3"]),
            ("a in {\"x, y\", 'z'}", ["x, y", "z"]),
            ('a = "say ""no"""', ['say "no"']),
            ("a = true", ["true"]),
        ],
    )
    def test_values(self, text, values):
        assert [word.text for word in parse_rule(text, COLUMNS).then.values] == values

    def test_condition(self):
        rule = parse_rule("  If a = 0 THEN b Missing ", COLUMNS)
        assert rule.when.column == "a"
        assert rule.then.operator == "missing"
        assert rule.columns == ("a", "b")
        assert rule.text == "If a = 0 THEN b Missing"

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "position 1: the name of a column"),
            ("aa <= b", r"position 1: no column 'aa'; the nearest is 'a'"),
            ("a <= alkphos", r"position 6: no column 'alkphos'; the nearest is 'alk.phos'"),
            ("a b", "position 3: expected <="),
            ("a <=", "position 5: the name of a column"),
            ("a <= b c", "position 8: the rule should end here"),
            ("if a = 0", "position 9: 'then' was expected"),
            ("if a = 0 than b missing", "position 10: 'then' was expected"),
            ("a in 1, 2", "position 6: expected {"),
            ("a in {1 2}", r"position 9: expected , or }"),
            ("a in {}", "position 7: expected a number"),
            ("a in {1,", "position 9: expected a number"),
            ("a = yes", "position 5: no column of this name; text stands in double quotes"),
            ("a != 3", "position 1: != can only stand behind 'if'"),
            ("a <= §", "position 6: cannot be read"),
            ('a = "open', "position 5: cannot be read"),
            ("then <= b", "position 1: the name of a column"),
        ],
    )
    def test_errors_name_the_place(self, text, message):
        with pytest.raises(InputError, match=message):
            parse_rule(text, COLUMNS)

    @given(st.text(alphabet="ab <>={}\"'`,01-:.ifthenmsg§", max_size=30))
    def test_any_text_is_read_or_refused(self, text):
        with contextlib.suppress(InputError):
            assert parse_rule(text, COLUMNS).then.column in COLUMNS


class TestChecking:
    frame = pl.DataFrame(
        {
            "a": [1, 5, None, 7],
            "b": [2.0, 4.5, 1.0, None],
            "s": ["x", "y", None, "y"],
            "d": [dt.date(2020, 1, day) for day in (1, 2, 3, 4)],
            "yes": [True, False, None, True],
        }
    )

    @pytest.mark.parametrize(
        ("text", "count", "first"),
        [
            ("a <= b", 1, 1),
            ("a >= 5", 1, 0),
            ("a < 7", 1, 3),
            ("a in {1, 5}", 1, 3),
            ("s in {'x'}", 2, 1),
            ('s = "x"', 2, 1),
            ("d <= 2020-01-03", 1, 3),
            ("d in {2020-01-01}", 3, 1),
            ("b missing", 3, 0),
            ("a present", 1, 2),
            ("if a missing then b missing", 1, 2),
            ("if a >= 5 then b present", 1, 3),
            ('if s = "y" then a <= 5', 1, 3),
            ('if s != "y" then a missing', 1, 0),
            ("if s in {'x'} then a = 2", 1, 0),
            ("if yes = true then a > 1", 1, 0),
            ("if yes = 0 then a > 5", 1, 1),
        ],
    )
    def test_counts_by_hand(self, text, count, first):
        [violation] = check_rules([parse_rule(text, self.frame.columns)], self.frame)
        assert (violation.count, violation.first_row) == (count, first)

    @pytest.mark.parametrize(
        "text",
        ["a >= 1", "s in {'x', 'y'}", "d >= 2020-01-01", "if a = 3 then b missing", "b <= 4.5"],
    )
    def test_rules_that_hold(self, text):
        assert check_rules([parse_rule(text, self.frame.columns)], self.frame) == ()

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("s <= 3", "'s' holds text, which goes only with =, in"),
            ("a >= 2020-01-01", "'a' holds numbers"),
            ("d >= 3", "'d' holds dates"),
            ("d >= 2020-02-31", "'d' holds dates"),
            ("a <= d", "'a' and 'd' hold numbers and dates, which cannot be compared"),
            ("a <= 1e999", "'a' holds numbers"),
            ("yes = 7", "'yes' holds true and false"),
        ],
    )
    def test_types_that_do_not_suit(self, text, message):
        with pytest.raises(InputError, match=message):
            check_rules([parse_rule(text, self.frame.columns)], self.frame)

    def test_no_error_shows_the_levels_of_a_type(self):
        frame = pl.DataFrame({"e": pl.Series(["secret"], dtype=pl.Enum(["secret"])), "n": [1]})
        for text in ("e <= 3", "e <= n"):
            with pytest.raises(InputError, match=r"'e' .*hold.* text") as caught:
                check_rules([parse_rule(text, frame.columns)], frame)
            assert "secret" not in str(caught.value)

    @pytest.mark.parametrize(
        ("text", "rows"),
        [
            ("day <= moment", [2]),
            ("moment >= day", [2]),
            ("moment <= day", [0]),
            ("day >= moment", [0]),
            ("day < moment", [1, 2]),
            ("moment = day", [0, 2]),
            ("if moment > day then n = 5", [0]),
        ],
    )
    @pytest.mark.parametrize("zone", [None, "America/New_York"])
    def test_a_date_and_a_datetime_are_compared_by_their_days(self, text, rows, zone):
        frame = pl.DataFrame(
            {
                "day": [dt.date(2020, 1, day) for day in (1, 5, 9)],
                "moment": [dt.datetime(2020, 1, day, 22, 30) for day in (2, 5, 8)],
                "n": [1, 2, 3],
            }
        ).with_columns(pl.col("moment").dt.replace_time_zone(zone))
        [violation] = check_rules([parse_rule(text, frame.columns)], frame)
        assert (violation.count, violation.first_row) == (len(rows), rows[0])

    def test_error_for_originals(self):
        rule = parse_rule("a >= 5", self.frame.columns)
        with pytest.raises(InputError, match=r"breaks it in 1 of 4 rows, first in row 1\. Correct"):
            require_rules([rule], self.frame)

    def test_nan_is_missing(self):
        frame = pl.DataFrame({"a": [float("nan"), 1.0]})
        assert check_rules([parse_rule("a <= 1", ["a"])], frame) == ()
        assert check_rules([parse_rule("a missing", ["a"])], frame)[0].first_row == 1


class TestEnforcing:
    def test_bounds_on_the_lattice(self):
        frame = pl.DataFrame({"n": [-3, 2, 9], "x": [0.1, 0.95, 3.0], "y": [0.0, 1.0, 2.0]})
        released, moved = enforced(
            frame, "n >= 0.5", "n < 9", "x >= 0.3", "x < 3", "y > 0", steps={"x": 0.25, "y": 0.1}
        )
        assert released["n"].to_list() == [1, 2, 8]
        assert released["x"].to_list() == [0.5, 0.95, 2.75]
        assert released["y"].to_list() == [0.1, 1.0, 2.0]
        assert moved == {"n >= 0.5": 1, "n < 9": 1, "x >= 0.3": 1, "x < 3": 1, "y > 0": 1}

    def test_strict_bound_between_whole_numbers(self):
        released, _ = enforced(pl.DataFrame({"n": [0, 9, 12]}), "n > 0.5", "n < 8.5")
        assert released["n"].to_list() == [1, 8, 8]

    def test_strict_bound_without_lattice(self):
        released, _ = enforced(pl.DataFrame({"x": [0.0, 1.0]}), "x > 0")
        assert 0 < released["x"][0] < 1e-300

    def test_order_exchanges_cells(self):
        frame = pl.DataFrame({"a": [1, 8, None], "b": [5, 3, 2]})
        released, moved = enforced(frame, "a <= b")
        assert released.rows() == [(1, 5), (3, 8), (None, 2)]
        assert moved == {"a <= b": 2}

    def test_chain_is_sorted(self):
        days = [dt.date(2020, 1, day) for day in (9, 5, 1)]
        frame = pl.DataFrame({"a": [days[0]], "b": [days[1]], "c": [days[2]]})
        released, _ = enforced(frame, "a <= b", "c >= b")
        assert list(released.row(0)) == sorted(days)

    def test_order_of_other_types_moves_one_cell(self):
        frame = pl.DataFrame({"n": [7, 1], "x": [4.5, 2.0]})
        released, moved = enforced(frame, "n <= x")
        assert released.rows() == [(4, 4.5), (1, 2.0)]
        assert moved == {"n <= x": 1}

    @pytest.mark.parametrize("zone", [None, "America/New_York"])
    def test_days_are_exchanged_and_hours_stay(self, zone):
        frame = pl.DataFrame(
            {
                "day": [dt.date(2020, 1, 9), dt.date(2020, 1, 2), None],
                "moment": [dt.datetime(2020, 1, day, 22, 30) for day in (5, 2, 3)],
            }
        ).with_columns(pl.col("moment").dt.replace_time_zone(zone))
        released, moved = enforced(frame, "day <= moment")
        clock = released["moment"].dt.replace_time_zone(None).to_list()
        assert released["day"].to_list() == [dt.date(2020, 1, 5), dt.date(2020, 1, 2), None]
        assert clock == [dt.datetime(2020, 1, day, 22, 30) for day in (9, 2, 3)]
        assert moved == {"day <= moment": 2}
        released, _ = enforced(frame, "moment < day")
        assert released["moment"].dt.day().to_list() == [5, 1, 3]
        released, _ = enforced(frame, "day = moment")
        assert released["day"].dt.day().to_list() == [5, 2, None]

    def test_days_with_bounds_that_forbid_an_exchange(self):
        frame = pl.DataFrame({"day": [dt.date(2020, 1, 9)], "moment": [dt.datetime(2020, 1, 5, 8)]})
        released, _ = enforced(frame, "day <= moment", "day >= 2020-01-07")
        assert released.rows() == [(dt.date(2020, 1, 7), dt.datetime(2020, 1, 9, 8))]

    def test_an_hour_that_clocks_skip(self):
        moment = pl.Series([dt.datetime(2020, 3, 5, 2, 30)])
        frame = pl.DataFrame(
            {
                "day": [dt.date(2020, 3, 8)],
                "moment": moment.dt.replace_time_zone("America/New_York"),
            }
        )
        released, _ = enforced(frame, "day = 2020-03-08", "moment = day")
        assert released["moment"].dt.replace_time_zone(None)[0] == dt.datetime(2020, 3, 8, 3, 30)

    def test_strict_order_of_equal_cells(self):
        day = dt.date(2020, 3, 1)
        frame = pl.DataFrame({"a": [day, day], "b": [day, dt.date(2020, 2, 1)]})
        released, moved = enforced(frame, "a < b")
        assert released.rows() == [(dt.date(2020, 2, 29), day), (dt.date(2020, 2, 1), day)]
        assert moved == {"a < b": 3}

    def test_exchange_that_breaks_a_bound_is_replaced_by_a_move(self):
        frame = pl.DataFrame({"a": [8], "b": [3]})
        released, _ = enforced(frame, "a <= b", "a >= 5")
        assert 5 <= released["a"][0] <= released["b"][0]

    def test_unsigned_zero_cannot_be_lowered(self):
        frame = pl.DataFrame({"a": [0], "b": [0]}, schema={"a": pl.UInt8, "b": pl.UInt8})
        assert enforced(frame, "a < b")[0].rows() == [(0, 1)]

    def test_allowed_values(self):
        frame = pl.DataFrame(
            {"n": [1, 6, 9, None], "s": ["x", "q", "y", "y"], "d": [dt.date(2020, 1, 9)] * 4}
        )
        released, moved = enforced(
            frame, "n in {1, 5, 10}", "s in {'x', 'y'}", "d in {2020-01-01, 2020-01-12}"
        )
        assert released["n"].to_list() == [1, 5, 10, None]
        assert released["s"].to_list() == ["x", "y", "y", "y"]
        assert released["d"].to_list() == [dt.date(2020, 1, 12)] * 4
        assert list(moved.values()) == [2, 1, 4]

    def test_categories_keep_their_type(self):
        frame = pl.DataFrame(
            {"e": ["x", "q"], "c": ["x", "q"]},
            schema={"e": pl.Enum(["q", "x"]), "c": pl.Categorical()},
        )
        assert enforced(frame, "e = 'x'", "c in {'x'}")[0].rows() == [("x", "x")] * 2

    def test_conditions(self):
        frame = pl.DataFrame(
            {"p": [0, 1, 1, None], "w": [12, None, 30, 7], "s": ["yes", "no", "yes", "yes"]}
        )
        released, moved = enforced(
            frame,
            "if p = 0 then w missing",
            "if p = 1 then w present",
            'if s = "yes" then w >= 10',
        )
        assert released["w"].to_list() == [None, 7, 30, 10]
        assert list(moved.values()) == [1, 1, 1]

    def test_times_with_zones(self):
        noon = dt.datetime(2020, 1, 1, 12)
        frame = pl.DataFrame({"t": [noon], "u": [dt.time(9)], "v": [dt.timedelta(seconds=90)]})
        frame = frame.with_columns(pl.col("t").dt.replace_time_zone("Europe/Helsinki"))
        released, _ = enforced(
            frame, "t < 2020-01-01T12:00", "u >= 10:30", "v <= 60", steps={"t": 60.0}
        )
        assert released["t"].dt.replace_time_zone(None)[0] == dt.datetime(2020, 1, 1, 11, 59)
        assert released["u"][0] == dt.time(10, 30)
        assert released["v"][0] == dt.timedelta(seconds=60)

    def test_a_cell_counts_for_the_rule_that_moved_it_last(self):
        frame = pl.DataFrame({"a": [20]})
        assert enforced(frame, "a <= 10", "a <= 5")[1] == {"a <= 10": 0, "a <= 5": 1}

    @pytest.mark.parametrize(
        "texts",
        [("a <= 3", "a >= 5"), ("a < b", "b < a"), ("a in {1.5}",)],
    )
    def test_contradictions(self, texts):
        frame = pl.DataFrame({"a": [4, 4], "b": [4, 5]})
        rules = [parse_rule(text, frame.columns) for text in texts]
        with pytest.raises(InputError, match=r"cannot all hold: \d of 2 rows still break"):
            enforce_rules(rules, frame)

    def test_nothing_to_fill_in(self):
        frame = pl.DataFrame({"a": [None, None]}, schema={"a": pl.Int64})
        with pytest.raises(InputError, match="'a' has no value to fill in"):
            enforce_rules([parse_rule("a present", ["a"])], frame)

    @given(
        st.lists(
            st.tuples(*[st.none() | st.integers(-20, 20)] * 3, st.sampled_from([0, 1])), min_size=1
        )
    )
    def test_any_table_comes_out_right(self, rows):
        frame = pl.DataFrame(rows, schema=dict.fromkeys("abcf", pl.Int64), orient="row")
        released, moved = enforced(
            frame, "a <= b", "b <= c", "a >= -5", "c <= 9", "if f = 0 then b missing"
        )
        changed = sum(
            before != after
            for one, other in zip(frame.rows(), released.rows(), strict=True)
            for before, after in zip(one, other, strict=True)
        )
        assert sum(moved.values()) == changed
        assert released["f"].to_list() == frame["f"].to_list()
        again, nothing = enforced(
            released, "a <= b", "b <= c", "a >= -5", "c <= 9", "if f = 0 then b missing"
        )
        assert again.equals(released)
        assert not any(nothing.values())


def among(*values):
    known = pl.Series(values).to_physical().cast(pl.Float64).to_numpy()
    return lambda numbers: np.isin(numbers, known)


def mended(frame, latitude, *texts):
    rules = [parse_rule(text, frame.columns) for text in texts]
    released, moved = enforce_rules(rules, frame, latitude)
    return released, dict(moved)


class TestLatitude:
    """Cells are moved only to what their columns may have."""

    def test_cells_are_exchanged_where_both_columns_may_have_them(self):
        frame = pl.DataFrame({"a": [9, 9], "b": [5, 4]})
        latitude = Latitude(allowed={"a": among(1, 5, 9)})
        released, moved = mended(frame, latitude, "a <= b")
        assert released.rows() == [(5, 9), (9, 9)]
        assert moved == {"a <= b": 3}

    def test_the_nearest_value_of_the_column_is_taken(self):
        frame = pl.DataFrame({"dose": [2.5, 10.0, 20.0, 5.0], "kg": [1.0, 2.0, 3.0, 4.0]})
        latitude = Latitude(allowed={"dose": among(2.5, 5.0, 10.0, 20.0)})
        assert mended(frame, latitude, "dose < 10")[0]["dose"].to_list() == [2.5, 5, 5, 5]
        assert mended(frame, latitude, "dose >= 4")[0]["dose"].to_list() == [5, 10, 20, 5]
        assert mended(frame, latitude, "dose in {5, 7}")[0]["dose"].to_list() == [5] * 4

    def test_counts_of_levels_stay_where_the_other_cell_can_move(self):
        frame = pl.DataFrame({"dose": [20, 5], "limit": [12, 7]})
        allowed = {"dose": among(5, 20)}
        latitude = Latitude(allowed=allowed, counted=frozenset({"dose"}))
        assert mended(frame, latitude, "dose <= limit")[0].rows() == [(20, 20), (5, 7)]
        assert mended(frame, latitude, "limit >= dose")[0].rows() == [(20, 20), (5, 7)]
        assert mended(frame, Latitude(allowed=allowed), "dose <= limit")[0].rows()[0] == (5, 12)

    def test_equal_cells_take_the_value_that_is_allowed(self):
        frame = pl.DataFrame({"a": [1, 1], "b": [5, 7]})
        latitude = Latitude(allowed={"a": among(1, 5)})
        assert mended(frame, latitude, "a = b")[0].rows() == [(5, 5), (1, 1)]

    def test_days_are_moved_to_where_they_may_be(self):
        days = [dt.date(2020, 1, 9), dt.date(2020, 1, 2)]
        frame = pl.DataFrame({"day": days, "moment": [dt.datetime(2020, 1, 5, 8)] * 2})
        latitude = Latitude(allowed={"day": among(*days)})
        released, _ = mended(frame, latitude, "day <= moment")
        assert released["day"].to_list() == days
        assert released["moment"].dt.day().to_list() == [9, 5]

    def test_nothing_fits(self):
        frame = pl.DataFrame({"a": [4, 5]})
        rule = parse_rule("a <= 3", ["a"])
        with pytest.raises(InputError, match="cannot all hold: 2 of 2 rows"):
            enforce_rules([rule], frame, Latitude(allowed={"a": among(4, 5)}))

    def test_columns_that_are_missing_together(self):
        frame = pl.DataFrame({"f": [0, 1, 1, 1], "a": [7, None, 3, 9], "b": ["x", None, "y", "z"]})
        latitude = Latitude(together=(("b", "a"),))
        texts = ("if f = 0 then a missing", "if f = 1 then a present")
        released, moved = mended(frame, latitude, *texts)
        assert released.rows() == [(0, None, None), (1, 3, "y"), (1, 3, "y"), (1, 9, "z")]
        assert list(moved.values()) == [2, 2]

    def test_orders_hold_too_and_count_for_the_rule(self):
        frame = pl.DataFrame({"a": [5, 1, 8], "b": [5, 2, 6], "c": [3, 9, 9]})
        latitude = Latitude(orders=(parse_rule("a <= b", frame.columns),))
        released, moved = mended(frame, latitude, "b <= c")
        assert (released["a"] <= released["b"]).all()
        assert (released["b"] <= released["c"]).all()
        pairs = zip(frame.rows(), released.rows(), strict=True)
        assert [before != after for before, after in pairs] == [True, False, True]
        in_first = sum(x != y for x, y in zip(frame.row(0), released.row(0), strict=True))
        assert moved == {"b <= c": in_first}

    @given(
        st.lists(st.tuples(*[st.none() | st.integers(-6, 6)] * 3), min_size=1, max_size=12),
        st.sets(st.integers(-6, 6), min_size=1),
    )
    def test_no_cell_leaves_what_is_allowed(self, rows, values):
        frame = pl.DataFrame(rows, schema=dict.fromkeys("abc", pl.Int64), orient="row")
        allowed = among(*sorted(values))
        frame = frame.with_columns(pl.when(pl.col("a").is_in(values)).then("a").alias("a"))
        released, _ = mended(frame, Latitude(allowed={"a": allowed}), "a <= b", "c >= b")
        assert set(released["a"].drop_nulls()) <= values
        assert released.null_count().equals(frame.null_count())


def test_a_rule_may_list_hundreds_of_levels() -> None:
    levels = ", ".join(f'"level {i}"' for i in range(500))
    assert len(parse_rule(f"ward in {{{levels}}}", ["ward"]).then.values) == 500

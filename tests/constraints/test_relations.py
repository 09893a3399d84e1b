"""Relations between columns: sums, columns that follow others, products."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icsa.columns import fit_column
from icsa.constraints import (
    Derivation,
    Gap,
    LinearRelation,
    find_derivation,
    find_gaps,
    find_orders,
    find_products,
    find_relations,
)
from icsa.constraints.fitting import densest, snap
from icsa.matrices import Vector
from icsa.schema import ColumnSpec

N_ROWS = 300


def whole(seed=0, n_columns=3, high=60, n_rows=N_ROWS):
    """Return columns of whole numbers that have nothing to do with each other."""
    return np.random.default_rng(seed).integers(0, high, (n_columns, n_rows)).astype(float)


def lattice(table, step=1.0):
    return dict.fromkeys(table, step)


def described(table, steps=None, kinds=None):
    steps = lattice(table) if steps is None else steps
    return [relation.describe() for relation in find_relations(table, steps, kinds)]


def spoilt(column, share, seed=1):
    """Return the column with a share of its cells far off."""
    rng = np.random.default_rng(seed)
    wrong = rng.choice(column.size, round(share * column.size), replace=False)
    column = column.copy()
    column[wrong] += rng.integers(100, 1000, wrong.size)
    return column


class TestSums:
    def test_worked_by_hand(self):
        a = np.array([1.0, 4, 2, 8, 5, 7, 3, 9, 6, 2, 7, 1])
        b = np.array([2.0, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5])
        [relation] = find_relations({"a": a, "b": b, "sum": a + b}, {"a": 1, "b": 1, "sum": 1})
        expected = LinearRelation("sum", (("a", 1.0), ("b", 1.0)), 0.0, 1.0)
        assert relation == expected

    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_the_sum_is_the_target_wherever_it_stands(self, place):
        a, b, _ = whole()
        columns = [("a", a), ("b", b)]
        columns.insert(place, ("total", a + b))
        assert described(dict(columns)) == ["total = a + b in all rows"]

    @pytest.mark.parametrize("spoils", ["total", "a"])
    def test_one_row_in_a_hundred_is_wrong(self, spoils):
        a, b, c = whole()
        table = {"a": a, "b": b, "c": c, "total": a + b}
        table[spoils] = spoilt(table[spoils], 0.01)
        assert described(table) == ["total = a + b in 99.0% of the rows"]

    def test_too_many_wrong_rows_are_no_relation(self):
        a, b, c = whole()
        assert described({"a": a, "b": b, "c": c, "total": spoilt(a + b, 0.03)}) == []

    def test_order_of_recomputation(self):
        a, b, c = whole()
        table = {"all": a + b + c, "total": a + b, "twice": 2 * a, "a": a, "b": b, "c": c}
        relations = find_relations(table, lattice(table))
        free = {name: table[name] for name in table} | {}
        for relation in relations:
            del free[relation.target]
        for relation in relations:
            assert relation.target not in free
            free[relation.target] = relation.predict(free)
        assert set(free) == set(table)
        for name, column in table.items():
            np.testing.assert_allclose(free[name], column)
        assert len(relations) == 3
        assert max(len(relation.terms) for relation in relations) == 2

    @pytest.mark.parametrize("seed", range(20))
    def test_any_tangle_can_be_recomputed(self, seed):
        rng = np.random.default_rng(seed)
        columns = list(whole(seed, n_columns=4))
        for _ in range(4):
            one, other = rng.choice(len(columns), 2, replace=False)
            columns.append(columns[one] + rng.choice([-1, 1]) * columns[other])
        table = {f"x{place}": columns[place] for place in rng.permutation(len(columns))}
        relations = find_relations(table, lattice(table))
        known = {name: table[name] for name in table}
        for relation in relations:
            del known[relation.target]
        for relation in relations:
            known[relation.target] = relation.predict(known)
            np.testing.assert_array_equal(known[relation.target], table[relation.target])
        assert len(relations) == 8 - np.linalg.matrix_rank(np.array(columns))

    def test_whole_and_small_multiples_are_preferred(self):
        a, b, _ = whole()
        table = {"a": a, "b": b, "total": a + b, "more": 2 * a + b, "most": 3 * a + 2 * b}
        relations = find_relations(table, lattice(table))
        assert len(relations) == 3
        assert {multiple for relation in relations for _, multiple in relation.terms} == {1.0}

    def test_two_ways_to_split_a_total(self):
        a, b, c = whole()
        table = {"a": a, "b": b, "c": c, "d": a + b - c, "total": a + b}
        relations = find_relations(table, lattice(table))
        assert len({relation.target for relation in relations}) == len(relations) == 2

    def test_long_sum(self):
        items = whole(n_columns=12, high=5)
        table = {f"q{place}": item for place, item in enumerate(items)}
        table["score"] = items.sum(axis=0)
        [relation] = find_relations(table, lattice(table))
        assert relation.target == "score"
        assert relation.terms == tuple((f"q{place}", 1.0) for place in range(12))
        table["score"] = spoilt(table["score"], 0.01)
        [relation] = find_relations(table, lattice(table))
        assert (relation.target, len(relation.terms)) == ("score", 12)

    def test_two_long_sums_share_columns(self):
        a, b, c, d, e, f = whole(n_columns=6)
        table = {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f}
        table |= {"one": a + b + c + d, "two": c + d + e + f}
        relations = find_relations(table, lattice(table))
        assert sorted(relation.describe() for relation in relations) == [
            "one = a + b + c + d in all rows",
            "two = c + d + e + f in all rows",
        ]

    def test_rounded_mean(self):
        a, b, _ = whole(high=1000)
        table = {"a": a, "b": b, "mean": np.floor((a + b) / 2)}
        [relation] = find_relations(table, lattice(table))
        assert relation.terms == (("a", 0.5), ("b", 0.5))
        assert relation.rounded
        np.testing.assert_array_equal(np.rint(relation.predict(table)), table["mean"])

    def test_messy_coefficients_only_when_exact(self):
        x, y = np.random.default_rng(0).normal(size=(2, N_ROWS))
        table = {"x": x, "y": y, "z": 0.3137 * x + 1.71 * y + 3}
        [relation] = find_relations(table, {})
        np.testing.assert_allclose(relation.predict(table), table[relation.target])
        table["z"] = np.append(table["z"][:-1], 0.0)
        assert find_relations(table, {}) == ()

    def test_messy_coefficient_after_rounding(self):
        days, _, other = whole(high=5000)
        table = {"days": days, "scaled": np.rint(0.3137 * days), "other": other}
        [relation] = find_relations(table, lattice(table))
        assert relation.target == "scaled"
        np.testing.assert_array_equal(np.rint(relation.predict(table)), table["scaled"])

    def test_dirty_sum_without_lattice(self):
        x, y = np.random.default_rng(0).normal(size=(2, N_ROWS))
        table = {"x": x, "y": y, "z": spoilt(x + y, 0.01)}
        assert described(table, {}) == ["z = x + y in 99.0% of the rows"]

    def test_single_precision(self):
        x, y = np.random.default_rng(0).normal(size=(2, N_ROWS)).astype(np.float32)
        table = {"x": x, "y": y, "z": x + y}
        table = {name: column.astype(float) for name, column in table.items()}
        assert described(table, {}) == ["z = x + y in all rows"]

    def test_years_follow_days_and_not_the_other_way(self):
        days = whole(high=9000)[0]
        table = {"years": np.floor(days / 365.25), "days": days}
        [relation] = find_relations(table, lattice(table))
        assert relation.target == "years"

    def test_binary_complement(self):
        male = whole(high=2)[0]
        table = {"male": male, "female": 1 - male, "other": whole(seed=3, high=2)[1]}
        assert described(table) == ["female = -male + 1 in all rows"]

    def test_copies_of_one_column(self):
        a, b, _ = whole()
        table = {"a": a, "b": b} | {f"copy{place}": a for place in range(5)}
        relations = find_relations(table, lattice(table))
        assert {relation.terms[0][0] for relation in relations} == {"a"}
        assert len(relations) == 5

    def test_large_and_small_numbers(self):
        a, b, _ = whole()
        table = {"a": a * 1e-300, "b": b * 1e300, "c": a * 1e-300, "d": np.zeros(N_ROWS)}
        assert find_relations(table, {}) == ()
        table = {"a": a * 1e-100, "b": b * 1e-100, "sum": (a + b) * 1e-100}
        assert described(table, {}) == ["sum = a + b in all rows"]

    @pytest.mark.parametrize("n_rows", [0, 1, 2, 5])
    def test_hardly_any_rows(self, n_rows):
        a, b, c = whole(n_rows=n_rows)
        assert described({"a": a, "b": b, "c": c, "d": a + b}) == []

    def test_no_columns(self):
        assert find_relations({}, {}) == ()

    def test_all_missing(self):
        a, b, _ = whole()
        assert described({"a": a, "b": b, "gone": np.full(N_ROWS, np.nan)}) == []


class TestMissing:
    def test_parts_are_missing_in_different_rows(self):
        rng = np.random.default_rng(5)
        columns = {f"x{place}": column for place, column in enumerate(whole(n_columns=12))}
        for column in columns.values():
            column[rng.random(N_ROWS) < 0.2] = np.nan
        columns["sum"] = columns["x3"] + columns["x7"]
        [relation] = find_relations(columns, lattice(columns))
        assert relation.target == "sum"
        assert relation.columns == {"sum", "x3", "x7"}
        assert relation.covered == 1.0
        np.testing.assert_array_equal(relation.predict(columns), columns["sum"])

    def test_covered_counts_cells_that_can_be_computed(self):
        a, b, c = whole()
        total = a + b
        b[:60] = np.nan
        table = {"a": a, "b": b, "c": c, "total": total}
        [relation] = find_relations(table, lattice(table))
        assert relation.target == "total"
        assert relation.covered == pytest.approx(0.8)
        assert np.isnan(relation.predict(table)[:60]).all()


class TestDates:
    def test_lymph_node_dates(self):
        rng = np.random.default_rng(2)
        diagnosed = rng.integers(5000, 7000, N_ROWS).astype(float)
        to_relapse = rng.integers(1, 2000, N_ROWS).astype(float)
        to_death = to_relapse + np.where(rng.random(N_ROWS) < 0.6, 0, rng.integers(1, 900, N_ROWS))
        table = {
            "diagnosed": diagnosed,
            "relapsed": diagnosed + to_relapse,
            "died": diagnosed + to_death,
            "to_relapse": to_relapse,
            "to_death": to_death,
        }
        kinds = dict.fromkeys(("diagnosed", "relapsed", "died"), "date")
        kinds |= dict.fromkeys(("to_relapse", "to_death"), "integer")
        found = find_relations(table, lattice(table), kinds)
        assert sorted(relation.describe() for relation in found) == [
            "died = diagnosed + to_death in all rows",
            "relapsed = diagnosed + to_relapse in all rows",
        ]
        rest = {name: table[name] for name in ("diagnosed", "to_relapse", "to_death")}
        [gap] = find_gaps(rest, kinds)
        assert (gap.bases, gap.other, gap.ordered) == (("to_relapse",), "to_death", True)

    def test_difference_of_two_dates_written_first(self):
        first = whole(high=3000)[0]
        days = whole(seed=4, high=900)[1]
        table = {"days": days, "last": first + days, "first": first}
        kinds = {"days": "integer", "first": "date", "last": "date"}
        assert described(table, kinds=kinds) == ["last = days + first in all rows"]

    def test_the_earliest_date_is_no_target(self):
        first = whole(high=3000)[0]
        days = whole(seed=4, high=900)[1]
        table = {"first": first, "last": first + days, "ago": -days}
        kinds = {"ago": "integer", "first": "date", "last": "date"}
        assert described(table, kinds=kinds) == ["last = first - ago in all rows"]


def random_table(seed):
    """Return columns of many sorts that only share a factor."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.choice([30, 60, 200, 500])), int(rng.choice([4, 10, 25]))
    factor = rng.normal(size=n_rows)
    table, steps = {}, {}
    for place in range(n_columns):
        z = rng.uniform() * factor + rng.normal(size=n_rows)
        zero = rng.random(n_rows) < rng.uniform(0.3, 0.97)
        column, step = [
            ((z > rng.uniform(-1, 2.5)).astype(float), 1.0),
            (np.where(zero, 0, np.rint(10 * np.exp(z))), 1.0),
            (np.clip(np.rint(z + 1), 0, 4), 1.0),
            (z, None),
            (np.rint(20 * z + 100), 1.0),
            (np.where(zero, 0, np.exp(z)), None),
            (rng.poisson(0.03 + 0.3 * rng.random(), n_rows).astype(float), 1.0),
        ][rng.integers(7)]
        if rng.random() < 0.3:
            column[rng.random(n_rows) < rng.uniform(0, 0.6)] = np.nan
        table[f"x{place}"], steps[f"x{place}"] = column, step
    return table, steps


class TestNothingThere:
    @pytest.mark.parametrize("seed", range(25))
    def test_random_tables_have_no_relations(self, seed):
        table, steps = random_table(seed)
        assert find_relations(table, steps) == ()
        assert find_products(table, steps) == ()
        kinds = {name: "continuous" if step is None else "integer" for name, step in steps.items()}
        assert find_gaps(table, kinds) == ()

    def test_flag_of_a_threshold_is_not_linear(self):
        nodes = np.minimum(whole(high=34)[0], 33)
        assert described({"nodes": nodes, "many": (nodes > 4).astype(float)}) == []

    def test_flag_that_rounding_could_explain(self):
        age = 31 + whole(high=39)[0]
        assert described({"age": age, "old": (age > 50).astype(float)}) == []

    def test_flag_of_three_levels(self):
        level = np.arange(N_ROWS) % 3.0
        assert described({"level": level, "any": (level > 0).astype(float)}) == []

    def test_few_steps_and_a_messy_coefficient(self):
        age = 31 + whole(high=80)[0]
        assert described({"age": age, "group": np.rint(0.0613 * age)}) == []
        assert described({"age": age, "decade": np.floor(age / 10)}) != []

    def test_zeros_that_agree_are_no_merit(self):
        first, second = np.zeros((2, 1000))
        first[:30] = 1
        second[8:30] = 1
        second[30:35] = 1
        assert np.mean(first == second) > 0.98
        assert described({"first": first, "second": second}) == []

    def test_rare_events_that_mostly_agree(self):
        rng = np.random.default_rng(3)
        rare = (rng.random(1000) < 0.01).astype(float)
        other = (rng.random(1000) < 0.01).astype(float)
        assert described({"rare": rare, "other": other}) == []

    def test_sparse_part_of_a_sum_is_needed(self):
        a, _, _ = whole()
        rare = np.where(np.arange(N_ROWS) % 12 == 0, whole(seed=8)[0] + 1, 0)
        table = {"a": a, "rare": rare, "total": a + rare}
        assert described(table) == ["total = a + rare in all rows"]

    def test_highly_correlated_columns(self):
        x = np.random.default_rng(0).normal(size=N_ROWS)
        noise = np.random.default_rng(1).normal(size=(4, N_ROWS))
        table = {f"x{place}": np.rint(100 * (x + 0.02 * noise[place])) for place in range(4)}
        assert described(table) == []


class TestManyColumns:
    def test_three_hundred(self):
        columns = whole(n_columns=300, high=100, n_rows=600)
        table = {f"x{place}": column for place, column in enumerate(columns)}
        table["x50"] = table["x3"] + table["x4"]
        table["x52"] = columns[10:16].sum(axis=0)
        for place in (62, 65, 68, 71):
            parts = table[f"x{place - 2}"] + table[f"x{place - 1}"]
            table[f"x{place}"] = spoilt(parts, 0.01, seed=place)
        assert sorted(described(table)) == [
            "x50 = x3 + x4 in all rows",
            "x52 = x10 + x11 + x12 + x13 + x14 + x15 in all rows",
            "x62 = x60 + x61 in 99.0% of the rows",
            "x65 = x63 + x64 in 99.0% of the rows",
            "x68 = x66 + x67 in 99.0% of the rows",
            "x71 = x69 + x70 in 99.0% of the rows",
        ]

    def test_dirty_long_sum_among_fifty(self):
        columns = whole(n_columns=50, n_rows=600)
        table = {f"x{place}": column for place, column in enumerate(columns)}
        table["sum"] = spoilt(columns[10:16].sum(axis=0), 0.01)
        [relation] = find_relations(table, lattice(table))
        assert (relation.target, len(relation.terms), relation.share) == ("sum", 6, 0.99)

    def test_search_uses_a_sample_but_shares_are_of_all_rows(self):
        a, b, c = whole(n_rows=20_000)
        total = a + b
        total[:150] += 1000
        [relation] = find_relations({"a": a, "b": b, "c": c, "t": total}, dict.fromkeys("abct", 1))
        assert relation.share == 1 - 150 / 20_000


class TestGaps:
    def test_forward_and_back_by_hand(self):
        gap = Gap(("x",), "y", 0.5, ordered=False)
        table = {"x": np.array([1.0, 2, np.nan, 4]), "y": np.array([1.0, 0, 3, np.nan])}
        np.testing.assert_array_equal(gap.forward(table), [0, -2, np.nan, np.nan])
        back = gap.back(gap.start(table), gap.forward(table))
        np.testing.assert_array_equal(back, [1, 0, np.nan, np.nan])

    def test_ordered_gap_never_goes_below(self):
        gap = Gap(("x",), "y", 0.5, ordered=True)
        np.testing.assert_array_equal(gap.back(np.array([5.0]), np.array([-2.0])), [5])

    @pytest.mark.parametrize("first", ["low", "high"])
    def test_the_smaller_is_the_base(self, first):
        low = whole(high=2000)[0]
        high = low + np.where(np.arange(N_ROWS) % 2, 0, 1 + whole(seed=2)[0])
        table = {"low": low, "high": high} if first == "low" else {"high": high, "low": low}
        [gap] = find_gaps(table, dict.fromkeys(table, "integer"))
        assert (gap.bases, gap.other, gap.ordered, gap.share) == (("low",), "high", True, 0.5)
        assert gap.describe() == "high is never below low; equal in 50.0% of the rows"

    def test_unordered_pair(self):
        x = whole(high=2000)[0]
        y = x + np.where(np.arange(N_ROWS) % 2, 0, whole(seed=2)[0] - 30)
        [gap] = find_gaps({"x": x, "y": y}, {"x": "continuous", "y": "continuous"})
        assert not gap.ordered
        assert gap.describe().startswith("y and x are equal in 5")

    def test_other_kinds_few_values_and_shared_zeros_are_left_alone(self):
        x = whole(high=2000)[0]
        assert find_gaps({"x": x, "y": x}, {"x": "date", "y": "integer"}) == ()
        few = whole(high=3)[0]
        assert find_gaps({"x": few, "y": few}, dict.fromkeys("xy", "integer")) == ()
        rng = np.random.default_rng(0)
        zeros = np.where(rng.random((2, N_ROWS)) < 0.8, 0, whole(high=900)[:2])
        assert find_gaps({"x": zeros[0], "y": zeros[1]}, dict.fromkeys("xy", "zero-inflated")) == ()

    def test_coverage(self):
        x = whole(high=2000)[0]
        y = x + np.where(np.arange(N_ROWS) % 2, 0, 5)
        x[:30] = np.nan
        [gap] = find_gaps({"x": x, "y": y}, dict.fromkeys("xy", "integer"))
        assert gap.bases == ("x",)
        assert gap.covered == pytest.approx(0.9)


class TestOrders:
    def dates(self, *, missing=False):
        rng = np.random.default_rng(3)
        seen = rng.integers(0, 3000, N_ROWS).astype(float)
        relapsed = seen + rng.integers(0, 500, N_ROWS)
        died = relapsed + rng.integers(0, 500, N_ROWS)
        if missing:
            relapsed[rng.random(N_ROWS) < 0.6] = np.nan
            died[rng.random(N_ROWS) < 0.4] = np.nan
        return {"died": died, "relapsed": relapsed, "seen": seen}

    def test_chain_is_minimal_and_can_be_undone_in_order(self):
        table = self.dates()
        gaps = find_orders(table, dict.fromkeys(table, "date"))
        assert [(gap.bases, gap.other) for gap in gaps] == [
            (("seen",), "relapsed"),
            (("relapsed",), "died"),
        ]
        rebuilt = {"seen": table["seen"]}
        for gap in gaps:
            rebuilt[gap.other] = gap.back(gap.start(rebuilt), gap.forward(table))
        for name, column in table.items():
            np.testing.assert_array_equal(rebuilt[name], column)

    def test_missing_link_falls_back_to_the_earlier_date(self):
        table = self.dates(missing=True)
        gaps = {gap.other: gap for gap in find_orders(table, dict.fromkeys(table, "date"))}
        died = gaps["died"]
        assert set(died.bases) == {"seen", "relapsed"}
        assert died.covered == 1.0
        np.testing.assert_array_equal(np.isnan(died.forward(table)), np.isnan(table["died"]))
        assert np.nanmin(died.forward(table)) >= 0

    def test_one_row_out_of_order(self):
        table = self.dates()
        table["died"][7] = table["relapsed"][7] - 1
        others = [gap.bases for gap in find_orders(table, dict.fromkeys(table, "date"))]
        assert ("relapsed",) not in others

    def test_dates_that_do_not_overlap_say_nothing(self):
        born, seen = whole(high=3000)[:2]
        table = {"born": born, "seen": seen + 20_000}
        assert find_orders(table, dict.fromkeys(table, "date")) == ()

    def test_numbers_and_other_kinds_are_not_compared(self):
        table = self.dates()
        assert find_orders(table, dict.fromkeys(table, "integer")) == ()
        kinds = {"died": "datetime", "relapsed": "date", "seen": "datetime"}
        assert [gap.other for gap in find_orders(table, kinds)] == ["died"]

    def test_equal_dates_do_not_go_round_in_circles(self):
        seen = whole(high=3000)[0]
        table = {"x": seen, "y": seen.copy(), "z": seen.copy()}
        gaps = find_gaps(table, dict.fromkeys(table, "date"))
        assert [gap.other for gap in gaps] == ["y", "z"]

    @given(st.integers(0, 2**32 - 1))
    @settings(max_examples=25, deadline=None)
    def test_every_gap_can_be_undone(self, seed):
        rng = np.random.default_rng(seed)
        base = rng.integers(0, 2000, 60).astype(float)
        table = {}
        for name in "abcde":
            later = base + rng.integers(0, 300, 60) * (rng.random(60) < rng.random())
            later[rng.random(60) < rng.choice([0, 0.3])] = np.nan
            table[name] = later
        gaps = find_gaps(table, dict.fromkeys(table, rng.choice(["date", "integer"])))
        rebuilt = {name: table[name] for name in table if name not in {g.other for g in gaps}}
        for gap in gaps:
            rebuilt[gap.other] = gap.back(gap.start(rebuilt), gap.forward(table))
        for name, column in table.items():
            known = ~np.isnan(rebuilt[name])
            np.testing.assert_array_equal(rebuilt[name][known], column[known])


class TestProducts:
    def table(self):
        rng = np.random.default_rng(1)
        kg, cm = np.rint(rng.normal(75, 12, N_ROWS)), np.rint(rng.normal(170, 9, N_ROWS))
        return {"kg": kg, "cm": cm, "bmi": np.round(kg / (cm / 100) ** 2, 1), "x": kg[::-1].copy()}

    def test_body_mass_index(self):
        table = self.table()
        steps = {"kg": 1.0, "cm": 1.0, "bmi": 0.1, "x": 1.0}
        [found] = find_products(table, steps)
        assert found.describe() == "bmi is proportional to kg / cm^2 in all rows"
        assert found.constant == pytest.approx(1e4, rel=2e-3)
        table["bmi"] = spoilt(table["bmi"], 0.01)
        [found] = find_products(table, steps)
        assert found.describe() == "bmi is proportional to kg / cm^2 in 99.0% of the rows"

    def test_square_and_ratio(self):
        x, y = np.exp(np.random.default_rng(1).normal(size=(2, N_ROWS)))
        found = find_products({"x": x, "y": y, "area": x**2}, {})
        assert [relation.describe() for relation in found] == [
            "area is proportional to x^2 in all rows"
        ]
        found = find_products({"x": x, "y": y, "ratio": 100 * x / y}, {})
        assert [relation.describe() for relation in found] == [
            "ratio is proportional to x / y in all rows"
        ]

    def test_multiples_are_linear_relations(self):
        x = np.exp(np.random.default_rng(1).normal(size=N_ROWS))
        assert find_products({"x": x, "twice": 2 * x}, {}) == ()


class TestPieces:
    def test_densest_interval_is_half_open_enough(self):
        values = np.array([0.0, 1.0, 0.0, 1.0])
        assert densest(values, 1 - 1e-6)[1] == 0.5
        assert densest(np.empty(0), 1.0) == (0.0, 0.0)

    def test_snap_keeps_the_sign_and_refuses_others(self):
        near = np.array([-2.0000001, 1 / 365.25, 99.99999])
        np.testing.assert_allclose(snap(near, np.full(3, 1e-4)), [-2, 1 / 365.25, 100])
        assert snap(np.array([0.3137]), np.array([1e-4])) is None

    def test_descriptions_hold_no_dates(self):
        relation = LinearRelation("age", (("born", -1 / 365.25),), 123.4567, 1.0, rounded=True)
        assert relation.describe() == "age = -0.00273785 born + a constant, rounded, in all rows"


class TestDerivation:
    """One search for all who ask what follows from what."""

    rng = np.random.default_rng(12)
    first, days, other = rng.integers(0, 700, (3, 90)).astype(float)

    def found(self, **columns: tuple[str, Vector]) -> Derivation:
        numbers = {name: values for name, (_, values) in columns.items()}
        kinds = {name: kind for name, (kind, _) in columns.items()}
        return find_derivation(numbers, dict.fromkeys(numbers, 1.0), kinds)

    def test_one_length_between_several_dates_is_one_target(self):
        numbers = {
            "a": self.first,
            "b": self.first + self.days,
            "c": self.other + 9000.0,
            "d": self.other + 9000.0 + self.days,
            "s": self.days,
        }
        kinds = {**dict.fromkeys("abcd", "date"), "s": "integer"}
        found = self.found(**{name: (kinds[name], v) for name, v in numbers.items()})
        targets = [relation.target for relation in found.computed]
        assert len(targets) == len(set(targets)) == 2
        free = {name: v for name, v in numbers.items() if name not in targets}
        reduced = found.reduce(numbers)
        assert set(reduced) == set(free)
        restored = dict(free)
        for relation in found.computed:
            restored[relation.target] = relation.predict(restored)
        for name, values in numbers.items():
            assert np.array_equal(restored[name], values)

    def test_only_quantities_are_looked_at(self):
        found = self.found(a=("ordinal", self.first), b=("category", self.first))
        assert (found.computed, found.gaps, found.products, found.unkept) == ((), (), (), ())

    def test_what_is_missing_elsewhere_is_not_kept(self):
        total = self.first + self.days
        holed = np.where(np.arange(90) < 9, np.nan, self.days)
        found = self.found(a=("integer", self.first), b=("integer", holed), t=("integer", total))
        assert found.computed == ()
        assert [one.describe() for one in found.unkept] == ["t = a + b in all rows"]

    def test_a_target_may_be_missing_where_its_terms_are_not(self):
        total = self.first + self.days
        rows = np.arange(90)
        numbers = {
            "a": np.where(rows < 3, np.nan, self.first),
            "b": self.days,
            "t": np.where(rows < 9, np.nan, total),
        }
        found = self.found(**{name: ("integer", values) for name, values in numbers.items()})
        (relation,) = found.computed
        assert (relation.target, relation.missing, found.unkept) == ("t", 9, ())
        reduced = found.reduce(numbers)
        assert np.array_equal(reduced["t"], (rows >= 3) & (rows < 9))
        masked = reduced | {"t": rows / 90.0}
        restored = found.restore(masked, {}, lambda _, values: values)
        assert np.flatnonzero(np.isnan(restored["t"])).tolist() == [0, 1, 2, *range(84, 90)]
        assert np.array_equal(restored["t"][3:84], total[3:84])

    def test_days_are_computed_from_dates_unless_a_date_is_missing(self):
        died = np.where(np.arange(90) < 30, np.nan, self.first + self.days)
        found = self.found(
            ill=("date", self.first), days=("integer", self.days), died=("date", died)
        )
        (relation,) = found.computed
        assert (relation.target, relation.missing) == ("died", 30)
        days = np.where(np.arange(90) < 30, np.nan, self.days)
        later = self.first + self.days
        found = self.found(ill=("date", self.first), days=("integer", days), died=("date", later))
        (relation,) = found.computed
        assert (relation.target, relation.missing) == ("days", 30)

    def test_of_two_dates_the_one_with_gaps_is_computed(self):
        seen = np.where(np.arange(90) < 30, np.nan, self.first)
        found = self.found(seen=("date", seen), due=("date", self.first + 365.0))
        (relation,) = found.computed
        assert (relation.describe(), relation.missing) == ("seen = due - 365 in all rows", 30)
        assert (found.gaps, found.unkept, found.orders) == ((), (), ())

    def test_a_column_without_a_base_for_every_cell_is_coded_beside_its_gap(self):
        numbers = {
            "a": np.where(np.arange(90) < 9, np.nan, self.first),
            "b": self.first + self.days,
        }
        found = self.found(**{name: ("date", values) for name, values in numbers.items()})
        (gap,) = found.gaps
        assert (gap.name, gap.covered, found.unkept) == ("b after a", 0.9, ())
        reduced = found.reduce(numbers)
        assert list(reduced) == ["a", "b", "b after a"]
        spec = ColumnSpec(name="b after a", kind="continuous")
        column = fit_column(pl.Series("b after a", self.days), spec)
        masked = {"a": numbers["a"], "b": np.full(90, 7.0), "b after a": self.days}
        masked["b"][80:] = np.nan
        restored = found.restore(masked, {"b after a": column}, lambda _, values: values)
        assert list(restored) == ["a", "b"]
        assert np.array_equal(restored["b"][:9], np.full(9, 7.0))
        assert np.array_equal(restored["b"][9:80], numbers["b"][9:80])
        assert np.isnan(restored["b"][80:]).all()

    def test_a_gap_does_not_take_the_name_of_a_column(self):
        holed = np.where(np.arange(90) < 9, np.nan, self.first)
        columns = {"a": ("date", holed), "b": ("date", self.first + self.days)}
        found = self.found(**columns, **{"b after a": ("ordinal", self.other)})
        assert found.gaps == ()
        (lost,) = found.unkept
        assert lost.columns == {"a", "b"}

    def test_what_is_held_goes_into_what_follows(self):
        found = self.found(
            ill=("date", self.first),
            well=("date", self.first + self.days),
            days=("integer", self.days),
        )
        numbers = {"ill": self.first, "well": self.first + self.days, "days": self.days}
        reduced = found.reduce(numbers)
        column = fit_column(
            pl.Series("well", reduced["well"]), ColumnSpec(name="well", kind="integer")
        )
        limit = 800.0
        restored = found.restore(
            reduced, {"well": column}, lambda name, v: np.minimum(v, limit) if name == "well" else v
        )
        assert restored["well"].max() == limit
        assert np.array_equal(restored["days"], restored["well"] - restored["ill"])


def test_long_tables_are_looked_at_in_a_sample_first() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 50_000)).round(2)
    kinds = {"a": "continuous", "b": "continuous", "total": "continuous"}
    steps = dict.fromkeys(kinds, 0.01)
    nothing = find_derivation({"a": a, "b": b, "total": rng.normal(size=a.size)}, steps, kinds)
    assert nothing == Derivation()
    found = find_derivation({"a": a, "b": b, "total": (a + b).round(2)}, steps, kinds)
    assert [relation.target for relation in found.computed] == ["total"]
    assert found.computed[0].share == 1.0

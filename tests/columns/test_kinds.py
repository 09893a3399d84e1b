"""Small columns of every kind, with answers worked by hand."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest

from icsa.columns import fit_column
from icsa.columns.continuous import Continuous
from icsa.columns.unmasked import Identifier
from icsa.columns.zero_inflated import ZeroInflated
from icsa.errors import InputError
from icsa.schema import ColumnSpec


def fitted(cells: pl.Series, kind: Any, scale: Any = "linear", **declared: Any) -> Any:
    return fit_column(cells, ColumnSpec(name="x", kind=kind, **declared), scale=scale)


def test_continuous_on_the_linear_scale() -> None:
    cells = pl.Series("x", [2.0, 4.0, 6.0, 8.0, 100.0])
    column = fitted(cells, "continuous")
    # The median is 6; deviations 4, 2, 0, 2, 94 have the median 2.
    unit = 2 * 1.482602218505602
    np.testing.assert_allclose(
        column.encode(column.numbers(cells))[:, 0], np.array([-4, -2, 0, 2, 94]) / unit
    )
    np.testing.assert_allclose(column.anchor(np.array([8.0])), [2 / unit])
    np.testing.assert_allclose(column.view(np.array([8.0, 100.0]))[:, 0], [2 / unit, 2.5])


@pytest.mark.parametrize(
    ("values", "lower"),
    [
        ([0.0, 0.5, 7.0], 0.0),
        ([0.5, 1.5, 7.0], 0.5),
        ([-0.5, 1.5, 7.0], -np.finfo(float).max),
        ([0.0371828182845, 1.414213562373, 2.71828182845], 0.001),
    ],
)
def test_natural_lower_bounds(values: list[float], lower: float) -> None:
    column = fitted(pl.Series("x", values), "continuous")
    assert column.lower == pytest.approx(lower, rel=1e-12)
    assert column.decode(np.array([[-1e6]]))[0] == max(column.lower, -1e300) or lower < -1


def test_natural_upper_bounds() -> None:
    assert fitted(pl.Series("x", [-3.0, -2.0, 0.0]), "continuous").upper == 0.0
    assert fitted(pl.Series("x", [-3.0, -2.0, -1.0]), "continuous").upper == -1.0


def test_declared_bounds_replace_natural_ones() -> None:
    column = fitted(pl.Series("x", [0.5, 1.5, 7.0]), "continuous", lower=-1, upper=7.2)
    np.testing.assert_array_equal(column.decode(np.array([[-99.0], [99.0]])), [-1.0, 7.0])


def test_single_precision_stays() -> None:
    cells = pl.Series("x", [0.1, 0.2, 0.7, 12.3], dtype=pl.Float32)
    column = fitted(cells, "continuous", lower=0.1)
    assert column.lattice.width == 0.1
    released = column.cells(column.decode(np.array([[-99.0], [0.0], [1e60]])))
    assert released.dtype == pl.Float32
    assert released[0] == cells[0]
    assert released.is_finite().all()


def test_decimals_stay() -> None:
    cells = pl.Series("x", [Decimal("1.10"), Decimal("2.35"), Decimal("9.99")])
    column = fitted(cells, "continuous")
    released = column.cells(column.decode(np.array([[0.123], [1e30]])))
    assert released.dtype == cells.dtype
    assert column.lattice.width == 0.01


@pytest.mark.parametrize(
    ("dtype", "lowest", "highest"),
    [(pl.UInt8, 0, 255), (pl.Int8, -128, 127), (pl.Int64, -(2**63), 2**63 - 1024)],
)
def test_integers_stay_within_their_type(dtype: Any, lowest: int, highest: int) -> None:
    cells = pl.Series("x", [-3, 5, 7] if lowest else [0, 5, 7], dtype=dtype)
    column = fitted(cells, "integer")
    assert column.cells(column.decode(np.array([[-1e30], [1e30]]))).to_list() == [lowest, highest]


def test_new_values_that_do_not_fit_the_type() -> None:
    column = fitted(pl.Series("x", [1, 5, 7], dtype=pl.UInt8), "integer")
    with pytest.raises(InputError, match="1 of 3 new values do not fit its type, UInt8"):
        column.cells(np.array([3.0, 256.0, np.nan]))


def test_half_of_the_cells_tied_is_no_anchor() -> None:
    column = fitted(pl.Series("x", [3.0] * 6 + [1.0, 2.0, 4.0, 5.5]), "continuous")
    assert column.anchor(np.array([1.0])) is None


def test_the_quantile_scale_is_clipped_only_on_the_way_in() -> None:
    cells = pl.Series("x", [*np.arange(101.0), 1e6])
    column = fitted(cells, "continuous", scale="quantile")
    scores = column.encode(column.numbers(cells))
    assert scores.max() == 5.0
    decoded = column.decode(np.array([[5.0], [6.0]]))
    assert 100 < decoded[0] < decoded[1]
    np.testing.assert_allclose(column.decode(scores[:-1]), np.arange(101.0))


def test_a_spike_at_zero() -> None:
    cells = pl.Series("x", [0, 0, 0, 2, 4, 9, None])
    column = fitted(cells, "zero-inflated")
    assert isinstance(column, ZeroInflated)
    scores = column.encode(column.numbers(cells))
    np.testing.assert_array_equal(scores[:, 0], [0, 0, 0, 1, 1, 1, np.nan])
    np.testing.assert_array_equal(np.isnan(scores[:, 1]), [1, 1, 1, 0, 0, 0, 1])
    assert scores[4, 1] == 0.0
    assert column.anchor(column.numbers(cells)) is None
    # Rows 2, 4 and 5 have the smallest indicators; others at or below 0 go to 1.
    masked = np.array([[0.9, -50.0], [0.1, 0.0], [0.5, 0.0], [0.2, 9.0], [0.0, 9.0], [0.6, -2.7]])
    assert column.decode(masked).tolist() == [1.0, 0.0, 4.0, 0.0, 0.0, 1.0]


def test_a_spike_elsewhere_with_numbers_on_both_sides() -> None:
    cells = pl.Series("x", [10.0] * 5 + [7.0, 9.0, 11.0, 13.0, 12.0])
    column = fitted(cells, "zero-inflated")
    assert (column.spike, column.n_spike) == (10.0, 5)
    # The part's median is 11 and its MAD 2: scores of 9.9 and 10.1 go to 9 and 11.
    unit = 2 * 1.482602218505602
    masked = np.zeros((10, 2))
    masked[:5, 0] = 1.0
    masked[:5, 1] = (np.array([9.9, 10.1, 10.0, 7.2, 12.6]) - 11.0) / unit
    assert column.decode(masked).tolist() == [9.0, 11.0, 11.0, 7.0, 13.0] + [10.0] * 5


def test_a_spike_at_the_top_keeps_the_others_below() -> None:
    cells = pl.Series("x", [100] * 5 + [40, 70, 90, 95], dtype=pl.UInt8)
    column = fitted(cells, "zero-inflated")
    masked = np.column_stack([np.arange(9.0), np.full(9, 50.0)])
    assert column.decode(masked).tolist() == [100.0] * 5 + [99.0] * 4 or (
        column.part.lattice.width == 5.0
        and column.decode(masked).tolist() == [100.0] * 5 + [95.0] * 4
    )


def test_zero_is_the_spike_unless_another_value_has_forty_percent() -> None:
    assert fitted(pl.Series("x", [0] * 4 + [7] * 5 + [8]), "zero-inflated").spike == 0.0
    assert fitted(pl.Series("x", [0] * 3 + [7] * 6 + [8]), "zero-inflated").spike == 7.0
    assert fitted(pl.Series("x", [0, 7, 7, 8, 9, 10, 11, 12]), "zero-inflated").spike == 0.0
    assert fitted(pl.Series("x", [7, 7, 8, 9, 10, 11, 12]), "zero-inflated").spike == 7.0


def test_a_spike_and_one_other_value_are_binary() -> None:
    cells = pl.Series("x", [0, 0, 5])
    column = fitted(cells, "zero-inflated")
    assert column.kind == "binary"
    assert column.cells(column.decode(np.array([[0.9], [0.1], [0.2]]))).to_list() == [5, 0, 0]


def test_binary_of_any_type() -> None:
    cells = pl.Series("x", [False, True, True, None])
    column = fitted(cells, "binary")
    np.testing.assert_array_equal(column.numbers(cells), [0, 1, 1, np.nan])
    assert column.cells(column.decode(np.array([[0.5], [0.4], [-3.0]]))).to_list() == [
        True,
        True,
        False,
    ]
    declared = fitted(pl.Series("x", ["no", "yes"]), "binary", levels=("yes", "no"))
    np.testing.assert_array_equal(declared.numbers(pl.Series(["no", "yes"])), [1, 0])


def test_ties_are_decided_by_the_order_of_rows() -> None:
    column = fitted(pl.Series("x", ["a", "b", "b"]), "binary")
    assert column.decode(np.zeros((3, 1))).tolist() == [0.0, 1.0, 1.0]


def test_the_order_of_an_enum() -> None:
    cells = pl.Series("x", ["mild", "none", "bad"], dtype=pl.Enum(["none", "mild", "bad", "dead"]))
    column = fitted(cells, "ordinal")
    np.testing.assert_array_equal(column.numbers(cells), [1, 0, 2])
    released = column.cells(column.decode(np.array([[3.0], [2.0], [1.0]])))
    assert released.to_list() == ["bad", "mild", "none"]
    assert released.dtype == cells.dtype


def test_the_base_of_a_category_is_the_most_frequent_level() -> None:
    cells = pl.Series("x", ["b", "c", "a", "b", None])
    column = fitted(cells, "category")
    expected = [[0, 0], [0, 1], [1, 0], [0, 0], [np.nan, np.nan]]
    np.testing.assert_array_equal(column.encode(column.numbers(cells)), expected)
    # Scores of a, b, c: (.2, -.1, .9), (.9, .1, 0), (.3, .4, .3), (.1, .8, .1).
    masked = np.array([[0.2, 0.9], [0.9, 0.0], [0.3, 0.3], [0.1, 0.1]])
    assert column.cells(column.decode(masked)).to_list() == ["c", "a", "b", "b"]


def test_dates_in_weeks_and_beyond_the_calendar() -> None:
    mondays = pl.Series("x", [date(2024, 1, 1) + timedelta(weeks=k) for k in (0, 3, 4, 9, 11, 20)])
    column = fitted(mondays, "date")
    released = column.cells(column.decode(np.array([[0.123], [-0.9], [2.2]])))
    assert set(released.dt.weekday()) == {1}
    ends = column.cells(column.decode(np.array([[-1e9], [1e9]])))
    assert (ends[0].year, ends[1].year) == (1, 9999)


def test_midnight_stays_midnight_in_summer_and_winter() -> None:
    days = [datetime(2024, 1, 3), datetime(2024, 7, 9), datetime(2024, 3, 1), datetime(2023, 9, 9)]
    cells = pl.Series("x", days).dt.replace_time_zone("Europe/Amsterdam")
    column = fitted(cells, "datetime")
    released = column.cells(column.decode(np.linspace(-2, 2, 50)[:, None]))
    assert released.dtype == cells.dtype
    assert set(released.dt.hour()) == {0}


def test_times_that_clocks_skip_come_later() -> None:
    cells = pl.Series("x", [datetime(2024, 1, 1), datetime(2024, 6, 1)])
    column = fitted(cells.dt.replace_time_zone("Europe/Amsterdam"), "datetime")
    skipped = (datetime(2024, 3, 31, 2, 30) - datetime(1970, 1, 1)).total_seconds()
    released = column.cells(np.array([skipped, np.nan])).dt.replace_time_zone(None)
    assert released.to_list() == [datetime(2024, 3, 31, 3, 30), None]
    samoa = fitted(cells.dt.replace_time_zone("Pacific/Apia"), "datetime")
    no_such_day = (datetime(2011, 12, 30, 12) - datetime(1970, 1, 1)).total_seconds()
    released = samoa.cells(np.array([no_such_day])).dt.replace_time_zone(None)
    assert released.to_list() == [datetime(2011, 12, 31, 12)]


def test_units_of_datetimes_stay() -> None:
    for unit in ("ms", "us", "ns"):
        cells = pl.Series("x", [datetime(2024, 1, 1, 8, 5), datetime(2025, 1, 1, 9, 7)])
        cells = cells.cast(pl.Datetime(unit))  # type: ignore[arg-type]
        column = fitted(cells, "datetime")
        released = column.cells(column.decode(np.array([[0.37], [-1e30], [1e30]])))
        assert released.dtype == cells.dtype
        assert released[0].second == 0


def test_durations_stay_at_least_zero() -> None:
    cells = pl.Series("x", [timedelta(), timedelta(hours=2), timedelta(hours=5)])
    column = fitted(cells, "duration")
    assert column.cells(column.decode(np.array([[-99.0]]))).to_list() == [timedelta()]


def test_times_stay_within_the_day() -> None:
    cells = pl.Series("x", [time(8, 30), time(9, 0), time(23, 30), time(12, 30), time(4, 0)])
    column = fitted(cells, "time")
    released = column.cells(column.decode(np.array([[-99.0], [99.0]])))
    assert released.to_list() == [time(0, 0), time(23, 30)]


def test_fresh_identifiers_have_nothing_of_the_old() -> None:
    numbers = fitted(pl.Series("x", [8812, 4711, 815], dtype=pl.UInt16), "identifier")
    assert isinstance(numbers, Identifier)
    released = numbers.fresh(3, order=[1, 2, 0])
    assert released.to_list() == [10002, 10003, 10001]
    assert released.dtype == pl.UInt16
    levels = fitted(pl.Series("x", ["q7", "q9"], dtype=pl.Categorical), "identifier")
    assert levels.fresh(2).to_list() == ["x-000001", "x-000002"]
    for name, prefix in (("Given name (1st)", "Given-name-1st"), ("%", "id"), ("n" * 99, "n" * 24)):
        texts = Identifier.fit(pl.Series(["q7"]), ColumnSpec(name=name, kind="identifier"))
        assert texts.fresh(1).to_list() == [f"{prefix}-000001"]
    with pytest.raises(InputError, match="must be a permutation of 0 to 2"):
        numbers.fresh(3, order=[0, 0, 1])
    with pytest.raises(InputError, match="of 300 new values do not fit its type, UInt8"):
        fitted(pl.Series("x", [1, 2], dtype=pl.UInt8), "identifier").fresh(300)


def test_text_comes_out_empty() -> None:
    cells = pl.Series("x", ["fell from a ladder", "HIV+"])
    column = fitted(cells, "text")
    assert column.width == 0
    assert column.cells(column.decode(np.empty((2, 0)))).to_list() == [None, None]


def test_huge_and_tiny_numbers() -> None:
    for unit in (1e-300, 1e300):
        cells = pl.Series("x", np.array([1.0, 2.0, 3.5, 7.25]) * unit)
        column = fitted(cells, "continuous", scale="power")
        assert isinstance(column, Continuous)
        decoded = column.decode(column.encode(column.numbers(cells)))
        np.testing.assert_allclose(decoded, cells.to_numpy(), rtol=1e-12)
        assert np.isfinite(column.decode(np.array([[1e140], [-1e140]]))).all()

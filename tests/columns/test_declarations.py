"""What is declared is kept or named in an error, without a cell's value."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest

from icsa.columns import fit_column
from icsa.errors import InputError, NotNumericError, UnknownNameError
from icsa.schema import ColumnSpec


def spec_of(kind: Any, **declared: Any) -> ColumnSpec:
    return ColumnSpec(name="x", kind=kind, **declared)


def test_cells_outside_of_declared_bounds_are_counted() -> None:
    ages = pl.Series("age", [30, 131, None, 40, 140])
    spec = ColumnSpec(name="age", kind="integer", upper=120)
    wanted = (
        r"^Column 'age': 2 of 5 cells are above the declared upper bound 120 \(first in row 2\)\. "
        r"Correct them or the bound, or declare them as missing codes\.$"
    )
    with pytest.raises(InputError, match=wanted):
        fit_column(ages, spec)
    with pytest.raises(InputError, match=r"2 of 5 cells are below .* bound 50 \(first in row 1\)"):
        fit_column(ages, ColumnSpec(name="age", kind="integer", lower=50, missing_codes=(131,)))


@pytest.mark.parametrize(
    ("kind", "values", "bound", "inside"),
    [
        ("continuous", [1.0, 2.5, 9.5], 9.0, 9.5),
        ("zero-inflated", [0, 0, 3, 8, 9], 8, 9),
        ("date", [date(2020, 1, 1), date(2020, 2, 2), date(2024, 1, 1)], date(2023, 1, 1), None),
        ("duration", [timedelta(1), timedelta(2), timedelta(9)], timedelta(8), None),
        ("time", [time(1), time(2), time(23)], time(22, 30), None),
        ("datetime", [datetime(2020, 1, 1), datetime(2021, 1, 1)], datetime(2020, 6, 1), None),
        ("datetime", [datetime(2020, 1, 1), datetime(2021, 1, 1)], date(2020, 6, 1), None),
    ],
)
def test_bounds_are_in_the_type_of_the_cells(
    kind: str, values: list[Any], bound: Any, inside: Any
) -> None:
    cells = pl.Series("x", values)
    with pytest.raises(InputError, match=r"1 of \d cells are above the declared upper bound"):
        fit_column(cells, spec_of(kind, upper=bound))
    column = fit_column(cells, spec_of(kind, upper=values[-1]))
    released = column.cells(column.decode(np.full((cells.len(), column.width), 1e6)))
    assert released.max() <= values[-1]


def test_bounds_with_a_time_zone_are_converted() -> None:
    cells = pl.Series("x", [datetime(2020, 1, 1, 0), datetime(2020, 1, 1, 12)])
    cells = cells.dt.replace_time_zone("Europe/Amsterdam")
    # Noon in Amsterdam is 11:00 in UTC.
    fit_column(cells, spec_of("datetime", upper=datetime(2020, 1, 1, 11, tzinfo=UTC)))
    with pytest.raises(InputError, match="above the declared upper bound"):
        fit_column(cells, spec_of("datetime", upper=datetime(2020, 1, 1, 10, tzinfo=UTC)))
    naive = cells.dt.replace_time_zone(None)
    with pytest.raises(InputError, match="upper bound is of another type than its cells"):
        fit_column(naive, spec_of("datetime", upper=datetime(2020, 1, 1, 11, tzinfo=UTC)))


@pytest.mark.parametrize(
    ("kind", "values", "declared"),
    [
        ("continuous", [1.0, 2.0], {"upper": "9"}),
        ("integer", [1, 2], {"lower": date(2020, 1, 1)}),
        ("date", [date(2020, 1, 1), date(2020, 1, 2)], {"upper": 9}),
        ("date", [date(2020, 1, 1), date(2020, 1, 2)], {"upper": datetime(2020, 1, 1)}),
        ("time", [time(1), time(2)], {"lower": 3}),
        ("duration", [timedelta(1), timedelta(2)], {"lower": 3}),
        ("continuous", [1.0, 2.0], {"missing_codes": ("none",)}),
        ("category", [1, 2], {"missing_codes": ("none",)}),
    ],
)
def test_declarations_of_another_type(kind: str, values: list[Any], declared: Any) -> None:
    with pytest.raises(InputError, match="of another type than its cells"):
        fit_column(pl.Series("x", values), spec_of(kind, **declared))


@pytest.mark.parametrize(
    ("kind", "values", "codes"),
    [
        ("integer", [1, 2, 999, None, 3, -5], (999, (-9, -1))),
        ("continuous", [1.5, 2.5, 999.0, float("nan"), 3.5, -5.0], (999, (-9, -1))),
        ("zero-inflated", [0, 2, 999, None, 0, -5], (999, (-9, -1))),
        ("ordinal", [1, 2, 999, None, 3, -5], (999, (-9, -1))),
        ("category", ["a", "b", "999", None, "c", "-5"], (999, "-5")),
        ("binary", ["a", "b", "?", None, "a", "!"], ("?", "!")),
        ("constant", ["a", "a", "?", None, "a", "!"], ("?", "!")),
        ("identifier", ["a", "b", "?", None, "c", "!"], ("?", "!")),
        ("text", ["a", "b", "?", None, "c", "!"], ("?", "!")),
    ],
)
def test_missing_codes_are_missing(kind: str, values: list[Any], codes: tuple[Any, ...]) -> None:
    cells = pl.Series("x", values)
    column = fit_column(cells, spec_of(kind, missing_codes=codes))
    numbers = column.numbers(cells)
    np.testing.assert_array_equal(np.isnan(numbers), [False, False, True, True, False, True])
    assert column.cells(numbers).null_count() >= 3


def test_codes_of_single_precision_are_found() -> None:
    cells = pl.Series("x", [0.5, 0.1, 0.75, 0.25], dtype=pl.Float32)
    column = fit_column(cells, spec_of("continuous", missing_codes=(0.1,), upper=0.75))
    np.testing.assert_array_equal(np.isnan(column.numbers(cells)), [False, True, False, False])


def test_infinite_cells_are_refused() -> None:
    cells = pl.Series("x", [1.0, float("inf"), 2.0, float("-inf")])
    wanted = r"Column 'x': 2 of 4 cells are infinite \(first in row 2\)\. Replace them"
    with pytest.raises(InputError, match=wanted):
        fit_column(cells, spec_of("continuous"))
    fit_column(cells, spec_of("continuous", missing_codes=(float("inf"), float("-inf"))))


def test_numbers_that_floats_cannot_compute_with() -> None:
    apart = pl.Series("x", [1.5e308, -1.5e308, 1.7e308, -1.7e308])
    with pytest.raises(InputError, match="Column 'x': its cells are too small or too far apart"):
        fit_column(apart, spec_of("continuous"))
    lonely = pl.Series("x", [0.0, 1e-200, 2e-200, 1e300])
    column = fit_column(lonely, spec_of("continuous"), scale="linear")
    with pytest.raises(InputError, match=r"1 of 4 cells are too far from the others .* row 4"):
        column.encode(column.numbers(lonely))
    with pytest.raises(InputError, match=r"1 of 4 cells are too far from the others .* row 4"):
        column.anchor(column.numbers(lonely))


def test_cells_without_a_declared_level() -> None:
    cells = pl.Series("x", ["low", "high", "HIGH", None])
    wanted = r"1 of 4 cells have none of the declared levels \(first in row 3\)"
    for kind in ("category", "ordinal", "binary"):
        with pytest.raises(InputError, match=wanted):
            fit_column(cells, spec_of(kind, levels=("low", "high")))
    with pytest.raises(InputError, match="declared levels hold one twice"):
        fit_column(cells, spec_of("category", levels=("low", "low")))
    with pytest.raises(InputError, match="declared levels are of another type"):
        fit_column(pl.Series("x", [1, 2]), spec_of("category", levels=("low",)))


def test_unseen_levels_have_a_place_in_the_order() -> None:
    cells = pl.Series("x", ["low", "high", "low"])
    spec = spec_of("ordinal", levels=("low", "middle", "high"))
    np.testing.assert_array_equal(fit_column(cells, spec).numbers(cells), [0.0, 2.0, 0.0])
    category = fit_column(cells, spec_of("category", levels=("low", "middle", "high")))
    assert category.width == 1


def test_the_order_of_text_must_be_declared() -> None:
    with pytest.raises(InputError, match="the order of its 3 levels is not known"):
        fit_column(pl.Series("x", ["low", "high", "middle"]), spec_of("ordinal"))


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("continuous", ["a", "b"]),
        ("continuous", [True, False]),
        ("integer", [date(2020, 1, 1)]),
        ("date", [1, 2]),
        ("datetime", [date(2020, 1, 1)]),
        ("duration", [1, 2]),
        ("time", ["1:00"]),
        ("zero-inflated", ["0", "1"]),
    ],
)
def test_cells_of_another_type(kind: str, values: list[Any]) -> None:
    with pytest.raises(NotNumericError, match=f"Column 'x': a column of kind '{kind}' holds"):
        fit_column(pl.Series("x", values), spec_of(kind))


def test_types_are_named_without_their_levels() -> None:
    cells = pl.Series("x", ["secret", "hidden"], dtype=pl.Enum(["secret", "hidden"]))
    with pytest.raises(NotNumericError, match=r"this one is of type Enum\. Give it"):
        fit_column(cells, spec_of("continuous"))
    with pytest.raises(InputError, match="cells of type List have no levels"):
        fit_column(pl.Series("x", [[1], [2]]), spec_of("category"))


def test_fractions_are_no_integers() -> None:
    with pytest.raises(InputError, match=r"1 of 3 cells are not whole numbers \(first in row 2\)"):
        fit_column(pl.Series("x", [1.0, 2.5, 3.0]), spec_of("integer"))


def test_three_values_are_not_binary_and_two_not_constant() -> None:
    with pytest.raises(InputError, match="a binary column has 2 different values: this one has 3"):
        fit_column(pl.Series("x", [1, 2, 3]), spec_of("binary"))
    with pytest.raises(InputError, match="a constant column has one value"):
        fit_column(pl.Series("x", [1, None, 3]), spec_of("constant"))


def test_a_declared_step_is_used_or_refused() -> None:
    cells = pl.Series("x", [1.0, 2.25, 7.5])
    column = fit_column(cells, spec_of("continuous", step=0.5))
    released = column.decode(np.array([[-0.3], [0.1], [0.77]]))
    np.testing.assert_array_equal(released * 2, np.rint(released * 2))
    with pytest.raises(InputError, match=r"the declared step 0\.5 is no multiple of 1"):
        fit_column(pl.Series("x", [1, 2, 7]), spec_of("integer", step=0.5))
    with pytest.raises(InputError, match="no multiple of the step 10 lies between its bounds"):
        fit_column(pl.Series("x", [1, 2, 7]), spec_of("integer", step=10, lower=1, upper=9))


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(UnknownNameError, match=r"No kind 'numeric'\."):
        fit_column(pl.Series("x", [1, 2]), spec_of("numeric"))


@pytest.mark.parametrize("kind", ["binary", "category", "ordinal", "zero-inflated"])
def test_scores_are_finite_and_as_many_as_the_width(kind: str) -> None:
    cells = pl.Series("x", [0, 1] if kind == "binary" else [0, 0, 2, 3])
    column = fit_column(cells, spec_of(kind))
    with pytest.raises(InputError, match=rf"scores with {column.width} column"):
        column.decode(np.zeros((cells.len(), column.width + 1)))
    with pytest.raises(InputError, match="missing or infinite"):
        column.decode(np.full((cells.len(), column.width), np.nan))

"""Values decide, names help: given numbers, levels and measurements, and edges of the last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from icsa import anonymize
from icsa.inspection import guess_schema, inspect_table
from icsa.inspection.cautions import cautions_on
from icsa.inspection.evidence import Spacing, chance_if_measured, expected_ties
from icsa.schema import ColumnSpec
from icsa.tables.table import Table

ROWS = 400
rng = np.random.default_rng(11)


def table_of(name: str, cells: Sequence[Any]) -> Table:
    """Return a table of one column."""
    return Table(pl.DataFrame({name: pl.Series(list(cells))}))


def guessed(name: str, cells: Sequence[Any]) -> ColumnSpec:
    """Return the guess for a column."""
    return guess_schema(table_of(name, cells)).columns[name]


def said_of(name: str, cells: Sequence[Any]) -> str:
    """Return the reason and the notes on a column, one a line."""
    column = inspect_table(table_of(name, cells)).columns[0]
    return "\n".join((column.why, *column.notes))


def drawn(low: int, high: int, rows: int = ROWS) -> list[int]:
    """Return numbers of a range, no two alike, in no order."""
    return rng.choice(np.arange(low, high), rows, replace=False).tolist()


# Numbers given at forty sites, each counting on from a start of its own, as in many trials.
SITES = [10_000 * site + number for site in range(1, 41) for number in range(1, 31, 3)]


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("x", drawn(1000, 6000)),
        ("x", rng.permutation(SITES).tolist()),
        ("x", [float(number) for number in drawn(1000, 6000)]),
        # Four people are in the table twice.
        ("x", (numbers := drawn(1000, 3000)) + numbers[:4]),
        # 4 pairs are expected of measured ones: too few to decide without the name.
        ("pidnum", drawn(1000, 20_000)),
        ("casenum", drawn(1000, 20_000)),
    ],
)
def test_numbers_that_coincide_too_rarely_were_given(name: str, cells: list[float]) -> None:
    spec = guessed(name, cells)
    assert (spec.kind, spec.action) == ("identifier", "replace")


LOGNORMAL = rng.lognormal(10.4, 0.5, ROWS)


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("income", (LOGNORMAL * 100).round().astype(int)),  # cents, all different
        ("income", np.clip(LOGNORMAL * 100, 1e6, 9_999_999).round().astype(int)),
        ("income", LOGNORMAL.round().astype(int)),
        ("started", rng.integers(1_500_000_000, 1_700_000_000, ROWS)),  # seconds since 1970
        ("seconds", (rng.exponential(90_000, ROWS)).round().astype(int)),
        ("milliseconds", rng.normal(5_500_000, 900_000, ROWS).round().astype(int)),
        ("weight", rng.normal(70_000, 12_000, ROWS).round().astype(int)),
        ("x", drawn(1000, 20_000)),
        ("age", drawn(20, 80, 40)),
        ("year", drawn(1900, 2000, 60)),
    ],
)
def test_measurements_that_are_unique_by_nature_stay_measurements(
    name: str, cells: Sequence[Any]
) -> None:
    assert guessed(name, cells).kind == "integer"


def test_laboratory_values_with_many_digits_are_no_identifiers() -> None:
    assert guessed("assay", rng.normal(3.2, 0.4, ROWS)).kind == "continuous"
    assert guessed("assay", np.round(rng.normal(3.2, 0.4, ROWS), 7)).kind == "continuous"


def test_measured_numbers_are_hardly_ever_taken_for_given_ones() -> None:
    """One in ten thousand by chance: none of 600 columns of six shapes, coarse and fine."""
    draws = np.random.default_rng(2)
    shapes = (
        lambda n: draws.normal(0, 1, n),
        lambda n: draws.exponential(1, n),
        lambda n: draws.lognormal(0, 1.5, n),
        lambda n: draws.uniform(0, 3, n),
        lambda n: np.r_[draws.normal(0, 0.1, n // 2), draws.normal(9, 2, n - n // 2)],
        lambda n: draws.standard_t(2, n),
    )
    for number in range(600):
        rows = int(draws.integers(20, 800))
        numbers = shapes[number % 6](rows) * draws.choice([1e2, 1e3, 1e4, 1e6])
        values, held = np.unique(numbers.round().astype(np.int64), return_counts=True)
        assert chance_if_measured(Spacing(values - values[0], held)) > 1e-4


def test_expected_pairs_are_those_that_measured_numbers_have() -> None:
    """Their mean over draws is that of the formula, on a density that is far from even."""
    draws = np.random.default_rng(3)
    found, expected = [], []
    for _ in range(60):
        numbers = draws.lognormal(7.0, 0.8, 1500).round().astype(np.int64)
        values, held = np.unique(numbers, return_counts=True)
        found.append((held * (held - 1) / 2).sum())
        expected.append(expected_ties(Spacing(values - values[0], held)))
    assert np.mean(expected) == pytest.approx(np.mean(found), rel=0.1)


def test_a_party_named_pid_is_no_number_of_people() -> None:
    cells = rng.integers(0, 7, 944)
    spec = guessed("PID", cells)
    assert (spec.kind, spec.action, spec.levels) == ("ordinal", "mask", tuple(range(7)))
    assert "named like a number of people" in said_of("PID", cells)
    # Seven people with many rows each are named by numbers that nobody else would give.
    assert guessed("PID", 100_000 + 731 * cells).kind == "identifier"


SCHOOLS = rng.choice(np.arange(1200, 9600), 160, replace=False)


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("School", rng.choice(SCHOOLS, 7000)),
        ("schid", rng.choice(SCHOOLS, 7000)),
        ("institution", rng.integers(1, 34, 500)),
        ("ward_no", rng.integers(1, 34, 500)),
        ("center", rng.integers(1, 34, 500).astype(float)),
        ("Klinik", rng.integers(101, 130, 500)),
    ],
)
def test_codes_of_groups_are_levels(name: str, cells: Sequence[Any]) -> None:
    assert guessed(name, cells).kind == "category"


def test_more_groups_than_levels_can_be_are_replaced() -> None:
    assert guessed("school", rng.integers(1000, 1400, ROWS)).kind == "identifier"
    assert "too many for levels" in said_of("school", rng.integers(1000, 1400, ROWS))
    assert "one person" not in said_of("school", rng.integers(1000, 1400, ROWS))


@pytest.mark.parametrize("name", ["school_days", "class_size", "n_wards", "YearsAtCompany"])
def test_names_that_only_have_a_word_for_groups(name: str) -> None:
    assert guessed(name, rng.integers(20, 60, ROWS)).kind == "integer"


def test_years_of_schooling_are_no_schools() -> None:
    years = np.clip(rng.normal(12, 3, ROWS).round(), 4, 20)
    assert guessed("school", years).kind == "integer"
    assert guessed("school", rng.integers(1, 20, ROWS)).kind == "category"


@pytest.mark.parametrize(
    "cells",
    [
        rng.choice(SCHOOLS, 7000),
        rng.choice([500, 1250, 3500, 7500, 12_500, 17_500, 25_000, 35_000, 50_000, 65_000], 900),
        np.repeat(np.arange(1, 13), 40),  # a design
        rng.permutation(np.repeat(np.arange(1935, 1955), 11)),
    ],
)
def test_numbers_that_no_others_can_lie_between_are_levels(cells: Sequence[Any]) -> None:
    assert guessed("x", cells).kind == "ordinal"
    assert "no other numbers than these" in said_of("x", cells)


@pytest.mark.parametrize(
    "cells",
    [
        rng.poisson(9, 3000),
        rng.integers(18, 90, 5000),
        rng.geometric(0.1, 3000),
        (rng.normal(75, 15, 2000) / 5).round() * 5,
        # Each of these is there often, but for some: whoever has those would be found.
        [*rng.choice(SCHOOLS, 7000), 9601, 9603],
        # 99 stands for missing.
        [*rng.integers(0, 13, 3000), *[99] * 30],
    ],
)
def test_numbers_that_others_can_lie_between_are_measured(cells: Sequence[Any]) -> None:
    assert guessed("x", cells).kind == "integer"


def test_a_school_that_nobody_had_is_not_released() -> None:
    cells = rng.choice(SCHOOLS[:40], 600)
    table = pl.DataFrame(
        {
            "school": cells,
            "marks": rng.normal(10, 3, 600) + cells % 7,
            "hours": rng.gamma(4, 2, 600),
            "weight": rng.normal(50, 8, 600),
        }
    )
    released = anonymize(table, random_state=1).table
    assert set(released["school"]) <= set(cells.tolist())
    assert "category" in {change.kind for change in anonymize(table, random_state=1).columns}


def test_doubts_are_told_by_a_release_too() -> None:
    table = pl.DataFrame(
        {
            "register": drawn(1000, 900_000),
            "PID": rng.integers(0, 7, ROWS),
            "dose": rng.choice([5, 12, 40, 75, 110, 160, 220, 300, 390], ROWS),
            "weight": rng.normal(70, 9, ROWS).round(2),
            "height": rng.normal(170, 9, ROWS).round(2),
        }
    )
    said = anonymize(table, random_state=1).warnings
    for words in (
        "register: all different: if these numbers are given",
        "PID: named like a number of people",
        "dose: no other numbers than these",
    ):
        assert sum(warning.startswith(words) for warning in said) == 1
    declared = guess_schema(Table(table))
    assert not [note for note in cautions_on(Table(table), declared) if "weight" in note]


PRESSURES = [
    f"{high}/{low}"
    for high, low in zip(
        rng.normal(130, 15, ROWS).round().astype(int),
        rng.normal(80, 10, ROWS).round().astype(int),
        strict=True,
    )
]


def test_blood_pressures_are_no_identifiers() -> None:
    assert guessed("bp", PRESSURES).kind == "text"
    assert "make two columns of them" in said_of("bp", PRESSURES)
    few = [*PRESSURES[:20], *PRESSURES[40:45]]
    assert guessed("bp", few).kind == "text"
    assert "make two columns of them" in said_of("bp", few)
    # Numbers of files, counted on in each of two years, are written alike.
    files = [f"{number}/{year}" for year in (18, 19) for number in range(1, 200)]
    assert guessed("x", files).kind == "identifier"


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("postcode", rng.choice([f"{number:05}" for number in range(100, 160)], ROWS)),
        ("zip", rng.integers(10_000, 10_100, ROWS)),
        ("first_name", rng.choice(["Anna", "Ben", "Carl", "Dora", "Emil"], ROWS)),
        ("email", rng.choice([f"a{number}@x.fi" for number in range(30)], ROWS)),
    ],
)
def test_who_shares_a_name_or_a_place_is_not_one_person(name: str, cells: Sequence[Any]) -> None:
    assert guessed(name, cells).kind == "identifier"
    assert "one person" not in said_of(name, cells)
    assert "who has the same is not shown" in said_of(name, cells)


def test_rows_of_one_person_are_still_told() -> None:
    assert "rows of one person" in said_of("patient_id", np.repeat(np.arange(1000, 1100), 4))


def test_each_replaced_column_has_identifiers_of_its_own() -> None:
    table = pl.DataFrame(
        {
            "first_name": rng.choice(["Anna", "Ben", "Carl", "Dora"], ROWS),
            "street": [f"Mill {number}" for number in range(ROWS)],
            "weight": rng.normal(70, 9, ROWS).round(2),
            "height": rng.normal(170, 9, ROWS).round(2),
        }
    )
    released = anonymize(table, random_state=1).table
    assert set(released["first_name"]).isdisjoint(released["street"])
    assert released["street"].str.starts_with("street-").all()


@pytest.mark.parametrize(
    ("name", "cells", "lower", "upper"),
    [
        ("age", rng.integers(18, 80, ROWS), None, 100),
        ("Alter", [*rng.integers(18, 80, ROWS), 101], None, 110),
        ("age", rng.integers(0, 190, ROWS), None, None),  # months
        ("age_at_entry", rng.uniform(20.0, 70.0, ROWS), None, 100),
        ("average", rng.normal(50, 15, ROWS).round(), None, None),
        ("age_months", np.random.default_rng(5).integers(0, 90, ROWS), None, None),
        ("age_weeks", np.random.default_rng(5).uniform(1.0, 50.0, ROWS), None, None),
        ("age_years", np.random.default_rng(5).integers(18, 80, ROWS), None, 100),
        ("pct_of_one", np.random.default_rng(5).uniform(0.0, 0.9, ROWS), None, 1),
        ("pct_meals", rng.uniform(0.0, 88.0, ROWS), None, 100),
        ("percent", rng.uniform(-20.0, 88.0, ROWS), None, None),  # of change
        ("proportion", rng.uniform(0.1, 0.9, ROWS), None, 1),
        ("x", np.minimum(rng.normal(90, 10, ROWS).round(1), 100.0), None, 100),
        ("x", [*rng.normal(50, 10, ROWS).round(1), 100.0], None, None),  # once only
        ("mmse", np.clip(rng.normal(23, 2, ROWS).round(), 0, 29), None, 30),
        ("gcs_total", np.clip(rng.normal(9, 1.5, ROWS).round(), 4, 14), 3, 15),
        ("mood_score", [*np.clip(rng.normal(8, 2, ROWS).round(), 0, 14), 17], None, 20),
        ("score", [*rng.normal(600, 50, ROWS).round(), 760], None, 800),
        ("x", np.clip(rng.poisson(9, 2000), 4, 16), 4, 16),
        ("month", [1, 12, *rng.integers(1, 13, ROWS)], 1, 12),
        ("Geburtsmonat", [1, 12, *rng.integers(1, 13, ROWS)], 1, 12),
        ("day_of_birth", [1, 31, *rng.integers(2, 31, 200)], 1, 31),
        ("hour", [0, 23, *rng.integers(1, 23, 200)], None, 23),
        ("month", [*rng.integers(2, 13, ROWS), 1, 250], None, None),
        ("x", rng.normal(50, 10, ROWS).round(3), None, None),
    ],
)
def test_edges(name: str, cells: Sequence[Any], lower: float | None, upper: float | None) -> None:
    spec = guessed(name, cells)
    assert (spec.lower, spec.upper) == (lower, upper)
    assert ("is released" in said_of(name, cells)) == ((lower, upper) != (None, None))


def test_edges_of_a_long_column_hold_for_all_of_it() -> None:
    shares = rng.uniform(0.0, 99.0, 120_000)
    assert guessed("pct", shares).upper == 100
    assert guessed("pct", [*shares[:-1], 130.5]).upper is None


def test_years_need_bounds_of_their_own() -> None:
    years = [1930, 2010, *rng.integers(1931, 2010, ROWS)]
    assert "years: declare lower and upper" in said_of("birth_year", years)
    assert "declare" not in said_of("score", years)


def test_nobody_is_released_beyond_an_edge() -> None:
    """Not even by a recipe that keeps no quantiles, with ages and shares that are skewed."""
    table = pl.DataFrame(
        {
            "age": np.minimum(50 + rng.gamma(1.2, 12, 900), 101).astype(int),
            "pct": np.minimum(rng.gamma(2, 25, 900), 100).round(1),
            "hours": rng.gamma(2, 5, 900).round(2),
            "weight": rng.normal(70, 9, 900).round(2),
        }
    )
    for recipe in ("mixed", "paper"):
        released = anonymize(table, recipe=recipe, random_state=4).table
        assert released["age"].max() <= 110
        assert released["pct"].max() <= 100


def test_how_far_a_release_goes_beyond_the_range_is_told() -> None:
    table = pl.DataFrame(
        {
            "hours": rng.gamma(2, 5, 900).round(2),
            "days": rng.gamma(1, 9, 900).round(2),
            "weight": rng.normal(70, 9, 900).round(2),
        }
    )
    usual, paper = (
        anonymize(table, recipe=recipe, random_state=4) for recipe in ("mixed", "paper")
    )
    for release in (usual, paper):
        for change in release.columns:
            before, after = table[change.name], release.table[change.name]
            cells = int(((after < before.min()) | (after > before.max())).sum())
            assert change.beyond.partition(" ")[0] == (str(cells) if cells else "")
    said = "more cells lie beyond the original's range than chance gives"
    assert sum(said in warning for warning in paper.warnings) == 1
    assert not any(said in warning for warning in usual.warnings)


def test_levels_are_asked_about_once() -> None:
    said = said_of("decile", np.repeat(np.arange(1, 11), 100))
    assert said.count("the kind is category") == 1


def test_codes_of_groups_may_have_letters() -> None:
    codes = [f"SC{number:03d}" for number in np.repeat(np.arange(40), 10) * 17 % 1000]
    assert guessed("school", codes).kind == "category"
    assert guessed("remark", codes).kind == "text"
    assert guessed("school", codes[::3]).kind == "text"  # fewer than five rows each
    named = [f"{code} of the town" for code in codes]
    assert guessed("school", named).kind == "text"

"""Two tables that are no original and release: that is said, and nothing else is decided."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import numpy as np
import polars as pl
import pytest

import icsa
from icsa.assessment.document import document_schema
from icsa.assessment.sameness import ANOTHER_TABLE
from icsa.errors import InputError
from icsa.report import assessment_html
from icsa.tables import read_table

from .tables import people

TABLES = Path(__file__).parent.parent / "golden" / "tables"


@pytest.fixture(scope="module")
def pima() -> pl.DataFrame:
    return read_table(TABLES / "pima.csv").frame


@pytest.fixture(scope="module")
def pbc() -> pl.DataFrame:
    return read_table(TABLES / "pbc.csv").frame


def rules(original: pl.DataFrame, released: pl.DataFrame) -> tuple[str, int, list[str]]:
    found = icsa.assess(original, released)
    return found.verdict, found.gate, [reason.rule for reason in found.reasons]


def test_two_tables_that_share_a_column_are_not_the_same(pima, pbc):
    assert set(pima.columns) & set(pbc.columns) == {"age"}
    assert rules(pima, pbc) == ("look again", 3, [ANOTHER_TABLE])
    assert rules(pbc, pima) == ("look again", 3, [ANOTHER_TABLE])


def test_columns_of_the_same_names_and_other_values_are_not_the_same(pima, pbc):
    numeric = [name for name in pbc.columns if pbc[name].dtype.is_numeric()]
    renamed = pbc.select(numeric[: pima.width])
    renamed.columns = pima.columns[: renamed.width]
    word, gate, found = rules(pima, renamed)
    assert (word, gate, found) == ("look again", 3, [ANOTHER_TABLE])


def test_a_copy_in_other_units_is_a_copy(pima):
    generator = np.random.default_rng(1)
    numbers = pima.select(name for name in pima.columns if pima[name].n_unique() > 10)
    moved = numbers.select(pl.col(name) * 2.54 + 1_000.0 for name in numbers.columns)
    word, gate, found = rules(numbers, moved[generator.permutation(moved.height)])
    assert (word, gate) == ("do not release", 4)
    assert ANOTHER_TABLE not in found


def test_some_columns_of_a_table_are_the_same_table(pima):
    half = pima.select(pima.columns[:4])
    assert ANOTHER_TABLE not in rules(pima, half)[2]
    more = half.with_columns(pl.lit(1.0).alias(f"new {j}") for j in range(3))
    assert ANOTHER_TABLE not in rules(pima, more)[2]


def test_bands_instead_of_numbers_and_renamed_levels_are_not_passed_over() -> None:
    table, fresh = people(), people(seed=1)
    decade = (pl.col("age") // 10 * 10).cast(int)
    banded = fresh.with_columns(age=pl.format("{} to {}", decade, decade + 9))
    renamed = fresh.with_columns(sex=pl.lit("sex ") + pl.col("sex"))
    assert icsa.assess(table, fresh).verdict == "release"
    for released, name in ((banded, "age"), (renamed, "sex")):
        found = icsa.assess(table, released)
        assert found.verdict == "look again"
        (reason,) = found.reasons
        assert (reason.rule, reason.columns) == ("not compared", (name,))
        assert reason.remedies[0].startswith("Assess the release before")


@pytest.mark.parametrize("edition", ["internal", "public"])
def test_tables_without_a_column_in_common_have_an_assessment_that_says_so(pima, pbc, edition):
    strangers = pbc.rename({name: f"other_{name}" for name in pbc.columns})
    found = icsa.assess(pima, strangers, models=["age ~ mass"], classify=["diabetes"])
    assert (found.verdict, found.gate, found.people) == ("look again", 3, ())
    document = found.as_dict(edition)
    jsonschema.Draft202012Validator(document_schema()).validate(document)
    assert [reason["rule"] for reason in document["reasons"]] == [ANOTHER_TABLE]
    assert {measure["value"] for measure in document["privacy"].values()} == {None}
    assert document["attackers"] == document["utility"]["columns"] == []
    assert "do not look like a table and its release" in assessment_html(found.document(edition))


def test_people_with_several_rows_and_a_table_without_them_are_not_the_same():
    visits = pl.DataFrame(
        {"id": [n // 3 for n in range(120)], "kg": [60.5 + n for n in range(120)]}
    )
    prices = pl.DataFrame(
        {"id": [n // 3 for n in range(90)], "price": [1.5 * n for n in range(90)]}
    )
    for other in (prices, prices.drop("id")):
        found = icsa.assess(visits, other, unit="id")
        assert [reason.rule for reason in found.reasons] == [ANOTHER_TABLE]


def test_names_that_were_released_say_more_than_that_nothing_can_be_compared():
    names = pl.DataFrame({"name": [f"Person {n * n}x" for n in range(60)]})
    word, gate, found = rules(names, names.sample(fraction=1.0, shuffle=True, seed=1))
    assert (word, gate, found) == ("do not release", 4, ["identifiers", ANOTHER_TABLE])


def test_another_release_without_a_column_in_common_is_refused(pima):
    strangers = pima.rename({name: f"other_{name}" for name in pima.columns})
    with pytest.raises(InputError, match="no column in common that can be compared"):
        icsa.assess(pima, pima.reverse(), against=strangers)
    with pytest.raises(InputError, match="no column in common that can be compared"):
        icsa.attack(pima, strangers)

"""Analyses that were asked for: prediction, groups, selection, and another release."""

from __future__ import annotations

import json
import math
from functools import cache
from importlib import resources
from typing import Any

import jsonschema
import numpy as np
import polars as pl
import pytest

from icsa.assessment import Assessment, assess
from icsa.assessment.asked import read_outliers
from icsa.errors import InputError, UnknownNameError
from icsa.privacy import Policy, Threshold
from icsa.report.assessment_page import assessment_html
from icsa.tables import Table

from .tables import normal_table, people

SCHEMA = json.loads(
    resources.files("icsa.assessment").joinpath("schema.json").read_text(encoding="utf-8")
)
OPTIONS: dict[str, Any] = {
    "classify": ["sex"],
    "clusters": 2,
    "select": ["pressure", "sex"],
    "models": ["pressure ~ age"],
}


@cache
def asked() -> Assessment:
    """Return everything that can be asked for, of a fresh sample against a worse one."""
    other = people(seed=2).with_columns(pl.col("pressure").shuffle(seed=1))
    return assess(people(), people(seed=1), against=other, **OPTIONS)


def test_tasks_are_run_and_written() -> None:
    tasks = asked().as_dict()["utility"]["tasks"]
    (predicted,) = tasks["classification"]
    assert (predicted["target"], predicted["n_test"], predicted["reason"]) == ("sex", 45, None)
    accuracy, area = predicted["rows"]
    assert (accuracy["name"], area["name"]) == ("accuracy", "auc")
    assert accuracy["loss"] == pytest.approx(
        accuracy["original"]["value"] - accuracy["released"]["value"]
    )
    groups = tasks["clustering"]
    assert groups["clusters"] == 2
    assert groups["agreement"]["chance"] == groups["of_a_sample"]["value"]
    pressure, sex = tasks["selection"]
    assert pressure["n"] == [table.drop_nulls("kg").height for table in (people(), people(seed=1))]
    assert [n + left for n, left in zip(pressure["n"], pressure["n_incomplete"], strict=True)] == [
        *(150, 150)
    ]
    chosen = {v["name"] for v in pressure["variables"] if v["original"]}
    assert "age" in chosen
    assert "pressure" not in {v["name"] for v in pressure["variables"]}
    assert set(sex["measures"]) == {"recall", "fpr", "precision", "jaccard", "distance"}


def test_efficiency_is_the_ratio_by_hand_in_both_forms() -> None:
    found = asked()
    efficiency = found.efficiency
    assert efficiency is not None
    # numbers are missing, so that the raw error is not estimable
    assert efficiency.ore_is == "ore_scaled"
    mine, theirs = (measure.value for measure in efficiency.ore)
    assert mine == found.measures["ore_scaled"].value
    for line in efficiency.lines:
        if line.printed.value is None:
            assert line.printed.reason == line.defined.reason != ""
            continue
        losses = line.other.value / line.released.value
        assert line.printed.value == pytest.approx(mine / theirs * losses)
        assert line.defined.value == pytest.approx(math.sqrt(mine / theirs) * losses)
        assert (line.printed.low, line.printed.high) == (None, None)
    by_name = {line.loss: line for line in efficiency.lines}
    assert len(by_name) == len(efficiency.lines) == 1 + 1 + 1 + 1 + 2 * 5
    # the shuffled response has lost its relations: its coefficients are further off
    model = by_name["mean error of coefficients, in standard errors: pressure ~ age"]
    assert model.other.value > model.released.value
    assert {person.row for person in efficiency.other.people} == {
        person.row for person in found.people
    }


def test_the_raw_error_is_used_where_no_number_is_missing() -> None:
    found = assess(normal_table(), normal_table(seed=1), against=normal_table(seed=2))
    assert found.efficiency is not None
    assert found.efficiency.ore_is == "ore"
    (line,) = found.efficiency.lines
    assert line.released.n == 5
    copied = assess(normal_table(), normal_table(seed=1), against=normal_table())
    assert copied.efficiency is not None
    assert copied.efficiency.other.verdict == "do not release"
    assert copied.verdict == "release"
    assert "its error is 0" in copied.efficiency.lines[0].printed.reason


def test_a_release_that_loses_nothing_or_has_other_columns_has_no_ratio() -> None:
    lossless = assess(normal_table(), normal_table(), against=normal_table(seed=2))
    assert lossless.efficiency is not None
    assert "loses nothing" in lossless.efficiency.lines[0].defined.reason
    fewer = normal_table(seed=2).drop("b")
    other = assess(normal_table(), normal_table(seed=1), against=fewer, select=["b"])
    assert other.efficiency is not None
    assert other.efficiency.lines[0].released.n == 4
    assert "such as 'b'" in other.efficiency.lines[0].defined.reason
    assert "cannot be compared in the release" in other.efficiency.lines[1].other.reason


@pytest.mark.parametrize("edition", ["internal", "public"])
def test_documents_with_everything_have_the_form_that_the_schema_says(edition: Any) -> None:
    document = asked().document(edition)
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(document.as_json()))
    page = assessment_html(document)
    for words in ("Predicting sex", "Finding 2 groups", "Which columns matter for pressure"):
        assert words in page
    assert "Against the other release" in page
    for level in ("north", "south"):
        assert (level in page) == (edition == "internal")


def test_a_column_that_was_not_released_has_a_reason() -> None:
    found = assess(people(), people(seed=1).drop("sex"), classify=["sex"], select=["sex"])
    tasks = found.as_dict()["utility"]["tasks"]
    assert "in the original but" in tasks["classification"][0]["reason"]
    assert "in the original but" in tasks["selection"][0]["reason"]
    jsonschema.Draft202012Validator(SCHEMA).validate(found.as_dict())
    assert "Predicting sex: not estimable" in assessment_html(found.document())


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"classify": ["sexx"]}, UnknownNameError, "No column 'sexx'. Did you mean 'sex'"),
        ({"select": ["presure"]}, UnknownNameError, "Did you mean 'pressure'"),
        ({"classify": ["age"]}, InputError, "'age' is numeric; a category or binary column"),
        ({"select": ["ward"]}, InputError, "'ward' is a category of 3 levels"),
        ({"classify": ["patient_id"]}, InputError, "'patient_id' is not compared"),
        ({"clusters": 1}, InputError, "at least 2: got 1"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_any_work(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    stages: list[str] = []
    with pytest.raises(error, match=message):
        assess(people(), people(seed=1), progress=lambda name, _: stages.append(name), **options)
    assert stages == ["matching columns"]


def test_progress_never_goes_back() -> None:
    told: list[tuple[str, float]] = []
    assess(
        normal_table(),
        normal_table(seed=1),
        against=normal_table(seed=2),
        progress=lambda name, share: told.append((name, share)),
    )
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert shares[-1] < 1.0
    assert any(name.startswith("the other release: ") for name, _ in told)


def test_the_share_of_identifiers_is_a_threshold_of_the_policy() -> None:
    original, fresh = people(), people(seed=5)
    ids = pl.concat([original["patient_id"][:6], fresh["patient_id"][6:]])
    released = fresh.with_columns(patient_id=ids)
    assert assess(original, released).verdict == "look again"
    strict = Policy(identifier_share=Threshold(0.04, "names are names", owner="DPO"))
    found = assess(original, released, policy=strict)
    assert found.verdict == "do not release"
    assert "6 of 150" in found.as_dict()["reasons"][0]["text"]
    shown = {item["name"]: item["value"] for item in found.as_dict("public")["policy"]}
    assert shown["identifier_share"] == 0.04


def test_outliers_from_a_column_a_file_and_numbers(tmp_path) -> None:
    table = Table(normal_table(5).with_columns(rare=pl.Series([0, 0, 1, 0, 1]), a=pl.lit(2.0)))
    path = tmp_path / "rows.txt"
    for text in ("3\n5\n", "row\n3, 5", "\ufeff3;5"):
        path.write_text(text, encoding="utf-8")
        assert read_outliers(path, table)[0].tolist() == [2, 4]
    assert read_outliers(str(path), table)[0].tolist() == [2, 4]
    assert read_outliers("rare", table) == (pytest.approx([2, 4]), "rare")
    assert read_outliers([3, 5], table)[0].tolist() == [2, 4]
    assert read_outliers(np.array([False, True, False, False, False]), table)[0].tolist() == [1]


def test_outliers_that_cannot_be(tmp_path) -> None:
    table = Table(normal_table(5).with_columns(rare=pl.Series([0, 0, 1, 0, 1])))
    with pytest.raises(InputError, match="from 1 to 5"):
        read_outliers([0], table)
    with pytest.raises(InputError, match="cannot mark outliers"):
        read_outliers("a", table)
    with pytest.raises(UnknownNameError, match="Did you mean 'rare'"):
        read_outliers("rar", table)
    with pytest.raises(InputError, match="no such file"):
        read_outliers("rows.txt", table)
    (tmp_path / "bad").write_text("1\ntwo\n", encoding="utf-8")
    with pytest.raises(InputError, match="one a line"):
        read_outliers(tmp_path / "bad", table)
    with pytest.raises(InputError, match="counted from 1"):
        read_outliers([1.5], table)

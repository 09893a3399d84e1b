"""The word, its reasons and the two editions, on tables whose answer is known."""

from __future__ import annotations

import json
import warnings
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from icsa.assessment import Assessment, assess
from icsa.assessment.fresh_releases import how_before, linear_coordinates
from icsa.errors import InputError, UnknownNameError
from icsa.privacy import Policy, Threshold
from icsa.randomness import as_key
from icsa.release import anonymize, plan, prepare, release
from icsa.schema import ColumnSpec, Schema
from icsa.tables import Table

from .tables import break_the_self_test, normal_table, people, with_outlier


@cache
def mixed() -> Assessment:
    """Return the assessment of a mixed table and its release, with its plan and a model."""
    original = people()
    table = Table(original)
    planned = plan(prepare(table))
    made = release(planned, as_key(3))
    return assess(
        original,
        made.table,
        schema=planned.schema,
        plan=planned,
        making=made,
        redraws=5,
        models=["pressure ~ age + ward"],
        utility={"mean age": lambda f: {"mean": (f["age"].mean(), f["age"].std() / len(f) ** 0.5)}},
    )


def texts(value: Any) -> list[str]:
    """Return every text and number of a document, as text."""
    if isinstance(value, dict):
        return [text for item in value.values() for text in texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return [str(value)]


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow"])
def test_a_shuffled_copy_is_found_row_by_row(library: str) -> None:
    original = normal_table()
    released = original.sample(fraction=1.0, shuffle=True, seed=2)
    frames = [original, released]
    if library != "polars":
        frames = [getattr(f, "to_pandas" if library == "pandas" else "to_arrow")() for f in frames]
    found = assess(*frames)
    assert found.verdict == "do not release"
    assert found.gate == 4
    assert found.measures["verbatim_rows"].value == 150
    assert found.ends["verbatim_rows"] == (150, 0)
    assert found.trusted


def test_a_fresh_sample_can_be_released() -> None:
    found = assess(normal_table(seed=0), normal_table(seed=1))
    assert (found.verdict, found.reasons, found.gate) == ("release", (), 0)
    assert found.measures["smallest_chance"].value > 0.05


def test_one_copied_outlier_is_named_in_the_internal_edition_only() -> None:
    original = with_outlier(normal_table(seed=0), 6.0)
    released = pl.concat([normal_table(149, seed=1), original.tail(1)])
    found = assess(original, released.sample(fraction=1.0, shuffle=True, seed=3))
    assert found.verdict == "do not release"
    internal, public = found.as_dict("internal"), found.as_dict("public")
    assert "(row 150)" in internal["reasons"][0]["text"]
    named = [person for person in internal["people"] if person["status"] == "copied"]
    assert [person["row"] for person in named] == [150]
    assert named[0]["before"] == named[0]["after"]
    assert sum(item["share"] for item in named[0]["match_by"]) == pytest.approx(1.0)
    assert public["verdict"] == "do not release"
    assert "150" not in json.dumps(public["reasons"])
    assert public["reasons"][0]["says"].startswith("Somebody who stands out has a near copy")
    # That it is one person follows from no other number either.
    assert not {1, 2} & set(public["people_summary"]["status"].values())
    assert public["people_summary"]["status"]["hidden"] is None
    assert public["privacy"]["verbatim_rows"]["value"] is None
    assert "people" not in public


def test_spectral_anonymization_copies_whom_robust_coordinates_break_into_pieces() -> None:
    original = with_outlier(normal_table(300, 10, seed=0), 100.0)
    rules = {}
    for method in ("sa", "icsa"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            release = anonymize(original, method=method, recipe="paper", random_state=1)
        found = assess(original, release.table)
        rules[method] = {r.rule for r in found.reasons if r.word == "do not release"}
    assert "person" in rules["sa"]
    assert "person" not in rules["icsa"]
    assert "reassembly" in rules["icsa"]  # the pieces add up to the person


def test_a_foreign_release_with_other_rows_and_columns() -> None:
    original = people()
    fresh = people(seed=5).head(90)
    released = fresh.select(
        "ward", "pulse", pl.col("age").cast(pl.String), "visits", "kg", extra=pl.lit(1)
    )
    found = assess(original, released)
    shown = found.as_dict()["tables"]
    assert shown["released"] == {"rows": 90, "columns": 6}
    assert shown["only_released"] == ["extra"]
    assert "sex" in shown["only_original"]
    assert any("'age': numbers in the original, text in the release" in n for n in shown["notes"])
    assert {column.name for column in found.tables.columns} == {
        *("age", "kg", "pulse", "visits", "ward"),
    }
    assert found.verdict != "do not release"


def test_identifiers_released_as_they_are_are_a_finding() -> None:
    original = people()
    fresh = people(seed=5)
    ids = original["patient_id"].shuffle(seed=1)
    found = assess(original, fresh.with_columns(patient_id=ids))
    assert found.verdict == "do not release"
    assert found.tables.as_they_are == {"patient_id": 150}
    assert "150 of 150" in found.as_dict()["reasons"][0]["text"]
    assert "NL-" not in json.dumps(found.as_dict("public"))
    one = fresh["patient_id"].set(pl.Series([True] + [False] * 149), ids[0])
    assert assess(original, fresh.with_columns(patient_id=one)).verdict == "look again"
    renamed = fresh.with_columns(patient_id=pl.Series([f"id-{k:06}" for k in range(1, 151)]))
    assert assess(original, renamed).verdict == "release"


def test_named_people_are_looked_at_instead() -> None:
    original = normal_table().with_columns(rare=pl.Series([1, 1] + [0] * 148))
    found = assess(original, normal_table(seed=1), outliers="rare")
    assert [person.row for person in found.people] == [0, 1]
    assert {person.why for person in found.people} == {"given"}
    again = assess(original.drop("rare"), normal_table(seed=1), outliers=[1, 2])
    assert again.measures["ore"].value == found.measures["ore"].value


def test_the_public_edition_holds_no_cell_no_row_and_no_extreme() -> None:
    original = people()
    found = mixed()
    document = found.as_dict("public")
    shown = set(texts(document["utility"])) | set(texts(document["people_summary"]))
    whole = json.dumps(document)
    for name in ("age", "kg", "pressure", "pulse"):
        cells = original[name].drop_nulls()
        single = cells.filter(cells.is_unique())
        assert single.len() > 100
        assert not {str(cell) for cell in single} & shown
        for end in (cells.min(), cells.max()):
            assert str(end) not in shown
    for code in original["patient_id"]:
        assert code not in whole
    for level in ("north", "south", "east", "some", "much"):
        assert level not in shown
    visits = found.utility.margins[[c.name for c in found.tables.columns].index("visits")]
    assert visits.quantiles[0].original.value is not None
    assert '"row"' not in whole
    assert "rows 1" not in whole
    internal = json.dumps(found.as_dict("internal"))
    assert "north" in internal
    assert '"row"' in internal


def test_levels_of_models_are_numbered_in_the_public_edition() -> None:
    terms = [row["term"] for row in mixed().as_dict("public")["utility"]["models"][0]["rows"]]
    assert terms == ["Intercept", "ward (level 1)", "ward (level 2)", "age"] or sorted(terms) == [
        *("Intercept", "age", "ward (level 1)", "ward (level 2)")
    ]
    internal = [row["term"] for row in mixed().as_dict()["utility"]["models"][0]["rows"]]
    assert any("north" in term for term in internal)


def test_the_plan_gives_the_risk_before_any_key() -> None:
    document = mixed().as_dict()
    assert document["redraws"]["n"] == 5
    assert document["redraws"]["words"].startswith("this key was ")
    assert document["privacy"]["expected_replicas"]["value"] is not None
    person = document["people"][0]
    assert 0 <= person["redraws"]["rho_low"] <= person["redraws"]["rho_high"]
    assert person["expected_replicas"]["high"] > 0
    without = assess(normal_table(), normal_table(seed=1)).as_dict()
    assert without["redraws"] is None
    assert "not known" in without["privacy"]["expected_replicas"]["reason"]


def test_coordinates_of_a_linear_recipe_are_those_of_the_numbers() -> None:
    original = Table(normal_table(200, 4))
    planned = plan(prepare(original, recipe="paper"))
    made = release(planned, as_key(1))
    found = assess(original, made.table, schema=planned.schema)
    coordinates = linear_coordinates(found.tables, planned)
    assert coordinates is not None
    x = original.frame.to_numpy()
    np.testing.assert_allclose(
        coordinates.transform(x), planned.coordinates.transform(planned.scores), atol=1e-9
    )
    np.testing.assert_allclose(
        coordinates.transform(x) @ coordinates.mixing.T + coordinates.location, x, atol=1e-9
    )
    curved = plan(prepare(original, recipe="mixed"))
    assert linear_coordinates(found.tables, curved) is None
    assert how_before(found.tables, curved, 0).n_redraws == 100


def test_the_fitted_map_and_redraws_agree() -> None:
    original = with_outlier(normal_table(120, 3, seed=4), 50.0)
    table = Table(original)
    planned = plan(prepare(table, recipe="paper"), method="sa")
    made = release(planned, as_key(1))
    found = assess(original, made.table, schema=planned.schema, plan=planned, redraws=200)
    redrawn = found.privacy.redrawn
    assert redrawn is not None
    by_map = np.array([person.expected_replicas for person in found.people])
    # 200 releases: three standard errors of a share are at most .11, of a mean a bit more
    assert np.abs(by_map - redrawn.expected.value).max() < 0.2
    assert found.people[0].row == 119
    assert found.people[0].expected_replicas > 0.5


def test_redraws_without_a_plan_are_an_error() -> None:
    with pytest.raises(InputError, match="give it as plan="):
        assess(normal_table(), normal_table(seed=1), redraws=10)


def test_a_self_test_that_fails_closes_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    break_the_self_test(monkeypatch)
    found = assess(normal_table(), normal_table(seed=1))
    assert not found.trusted
    assert found.verdict == "look again"
    assert found.gate == 4
    document = found.as_dict()
    told = " ".join(reason["text"] for reason in document["reasons"])
    assert "not to be trusted on this table: copies look safe" in told
    assert document["self_test"]["copy"] == {"verdict": "release"}


def test_a_stricter_policy_is_used_and_shown() -> None:
    strict = Policy(person_chance=Threshold(1.0, "everybody counts", owner="DPO"))
    found = assess(normal_table(), normal_table(seed=1), policy=strict)
    assert found.verdict != "release"
    shown = {item["name"]: item for item in found.as_dict()["policy"]}
    assert shown["person_chance"] == {
        "name": "person_chance",
        "value": 1.0,
        "reason": "everybody counts",
        "source": Threshold(0, "").source,
        "owner": "DPO",
    }


def test_a_model_whose_column_is_not_released_says_so() -> None:
    original = normal_table()
    found = assess(original, normal_table(seed=1).drop("b"), models=["a ~ b"])
    model = found.as_dict()["utility"]["models"][0]
    assert model["rows"] == []
    assert "not in the release" in model["reason"]


def test_pandas_frames_with_other_types() -> None:
    x = np.random.default_rng(0).random(60)
    original = pd.DataFrame({"n": np.arange(60) % 17 + 100, "x": x})
    released = original.sample(frac=1, random_state=1).astype({"n": float})
    assert assess(original, released).measures["verbatim_rows"].value == 60


def test_words_are_safe_to_print_and_to_write(tmp_path: Any) -> None:
    found = mixed()
    assert repr(found) == (
        f"<Assessment: {found.verdict}, {len(found.people)} people stand out of 150, 150 released "
        "rows, 8 columns compared>"
    )
    path = tmp_path / "a.json"
    found.to_json(path, "public")
    assert json.loads(path.read_text(encoding="utf-8")) == found.as_dict("public")
    with pytest.raises(UnknownNameError, match="edition"):
        found.as_dict("secret")  # type: ignore[arg-type]


def test_public_quantiles_leave_out_extremes_and_values_of_one_person() -> None:
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 10, 150) / 2
    original = normal_table().with_columns(score=pl.Series(scores))
    found = assess(original, original)
    internal, public = found.as_dict("internal"), found.as_dict("public")
    before = {column["name"]: column for column in internal["utility"]["columns"]}["score"]
    after = {column["name"]: column for column in public["utility"]["columns"]}["score"]
    assert (before["original"]["quantiles"][0], before["original"]["quantiles"][4]) == (0.0, 4.5)
    for table in ("original", "released"):
        assert after[table]["quantiles"][0] is None
        assert after[table]["quantiles"][4] is None
        assert 0.0 < after[table]["quantiles"][2] < 4.5
    for column in public["utility"]["columns"]:
        mean = column["original"]["mean"]
        assert mean == float(f"{mean:.3g}")


def test_numbers_that_were_released_as_text_can_be_modelled() -> None:
    original, fresh = normal_table(), normal_table(seed=1)
    text = fresh.with_columns(pl.all().cast(pl.String))
    models = [
        assess(original, released, models=["a ~ b"]).as_dict()["utility"]["models"][0]
        for released in (fresh, text)
    ]
    assert models[0] == models[1]


def test_columns_that_a_schema_leaves_out_are_guessed() -> None:
    original = normal_table().with_columns(score=pl.Series([0.5, 1.5, 2.5] * 50))
    schema = Schema(columns={"score": ColumnSpec(name="score", kind="category")})
    found = assess(original, original, schema=schema)
    assert [column.kind for column in found.tables.columns] == ["continuous"] * 5 + ["category"]


def test_cells_in_common_count_where_they_are_a_finding_about_the_group() -> None:
    original = people()
    copy = assess(original, original.sample(fraction=1.0, shuffle=True, seed=1))
    assert copy.as_dict()["people_summary"]["status"]["hidden"] == 0
    fresh = assess(original, people(seed=1))
    assert fresh.verdict == "release"
    summary = fresh.as_dict()["people_summary"]
    assert summary["status"]["hidden"] == summary["count"] == len(fresh.people)

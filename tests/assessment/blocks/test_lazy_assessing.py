"""Frames that are not in memory are assessed as they are when they are collected."""

from __future__ import annotations

from typing import Any

import dask.dataframe
import polars as pl
import pytest

from icsa.assessment import assess
from icsa.errors import InputError
from icsa.tables import Table
from icsa.tables.table import Layout
from tests.release.blocks.tables import of_all_kinds

N_ROWS = 15_000


def people(seed: int) -> pl.DataFrame:
    return of_all_kinds(seed).select("kg", "dose", "group", "seen")[-N_ROWS:]


@pytest.fixture
def long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have short tables be long ones."""
    monkeypatch.setattr("icsa.assessment.blocks.lazy_assessing.LONG", 10_000)
    monkeypatch.setattr("icsa.privacy.everybody._EQUAL_WORK", 0)
    monkeypatch.setattr("icsa.privacy.self_test._MOST_ROWS", 5_000)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")


def document(*tables: Any, **more: Any) -> dict[str, Any]:
    """Return the document, without the attack that takes all rows."""
    found: dict[str, Any] = assess(*tables, unit=False, **more).as_dict()
    found["attackers"] = [one for one in found["attackers"] if one["attack"] != "all but one"]
    return found


@pytest.mark.usefixtures("long")
def test_lazy_frames_and_frames_beside_them() -> None:
    original, released, other = people(1), people(3), people(4)
    told: list[str] = []
    asked = {"models": ["dose ~ kg"], "outliers": [3, 7], "prepared_by": "me"}
    found = document(
        original.lazy(),
        Table(released, layout=Layout("csv")),
        against=other.lazy(),
        progress=lambda stage, _share: told.append(stage),
        **asked,
    )
    assert "who stands out" in told  # from files
    expected = document(original, Table(released, layout=Layout("csv")), against=other, **asked)
    assert found == expected
    assert [one["row"] for one in found["people"]] == [3, 7]
    files = [(one["role"], one["name"]) for one in found["handed_in"]["files"]]
    assert files == [("original", ""), ("release", ""), ("other release", "")]


@pytest.mark.usefixtures("long")
def test_dask_frames() -> None:
    original, released = people(1), people(3)
    parts = [
        dask.dataframe.from_pandas(frame.to_pandas(), npartitions=count)
        for frame, count in ((original, 3), (released, 2))
    ]
    assert document(*parts) == document(original.to_pandas(), released.to_pandas())


def test_short_ones_are_collected() -> None:
    original, released = people(1)[:300], people(3)[:300]
    found = assess(original.lazy(), released.lazy(), unit=False)
    expected = assess(original, released, unit=False)
    assert found.as_dict()["privacy"] == expected.as_dict()["privacy"]
    assert "all but one" in {one.attack for one in found.attackers if one.right.value is not None}


@pytest.mark.usefixtures("long")
@pytest.mark.parametrize("option", ["rehearse", "also_released"])
def test_what_needs_memory_is_refused(option: str) -> None:
    given = {option: 2 if option == "rehearse" else "kg"}
    with pytest.raises(InputError, match=rf"^{option} needs .*Leave it out, or collect the frames"):
        assess(people(1).lazy(), people(3).lazy(), **given)

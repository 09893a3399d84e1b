"""Rehearsals, fresh keys and another release, of people with several rows in files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from icsa.assessment import Assessment, assess
from icsa.assessment.blocks import Wanted, assess_stored
from icsa.errors import InputError
from icsa.release import Plan, plan, prepare
from icsa.release.blocks.ground import Resources
from icsa.release.design_plans import DesignPlan
from icsa.schema import Schema
from icsa.tables import Table
from tests.assessment.blocks.test_both_ways import require_the_same
from tests.people_tables import clusters, households
from tests.release.blocks.tables import stored
from tests.release.blocks.unit_tables import visits_of_many

SAID = {"unit": "patient", "time": "day", "bound": "followed"}
N_UNITS = 400
ALL, NONE = 10**9, 0


@pytest.fixture(autouse=True)
def as_if_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have few people go the ways of many: nothing is made again without being asked for."""
    monkeypatch.setattr("icsa.privacy.self_test._MOST_ROWS", 100)
    monkeypatch.setattr("icsa.assessment.fresh_releases._MOST_CELLS", 0)
    monkeypatch.setattr("icsa.privacy.everybody._EQUAL_WORK", 0)


def visits(seed: int) -> pl.DataFrame:
    """Return visits of fresh people for every seed, who have names of their own."""
    columns = ["patient", "day", "followed", "age", "arm", "crp", "albumin", "flare"]
    frame = visits_of_many(N_UNITS, seed).select(columns)
    return frame.with_columns(pl.col("patient") + 1_000_000 * seed)


def weighted(seed: int) -> pl.DataFrame:
    """Return the same with weights, of which few are different."""
    return visits(seed).with_columns(pw=1.0 + pl.col("age") % 3)


def made_by(sample: Table, schema: Schema) -> tuple[Plan | DesignPlan, str]:
    """Return the plan of the recipe that is told, and a note."""
    return plan(prepare(sample, schema=schema, recipe="mixed"), method="icsa"), "Made so."


def counted(sizes: list[Table]) -> Callable[[Table, Schema], tuple[Plan | DesignPlan, str]]:
    """Return the same, with the samples kept that it was asked of."""

    def heard(sample: Table, schema: Schema) -> tuple[Plan | DesignPlan, str]:
        sizes.append(sample)
        return made_by(sample, schema)

    return heard


def from_files(
    tables: tuple[pl.DataFrame, ...], folder: Path, said: dict[str, Any] = SAID, **more: Any
) -> Assessment:
    """Return the assessment of a release, and of another if there is one, in part files."""
    first, second, *others = (
        stored(table, folder / str(number), [333 + number]) for number, table in enumerate(tables)
    )
    told = more.pop("told", lambda _stage, _share: None)
    resources = Resources(memory=10**9, scratch=folder)
    wanted = Wanted(design=said, **more)
    against = others[0] if others else None
    try:
        return assess_stored(first, second, resources, wanted, told, against=against)
    finally:
        assert not list(folder.glob(".icsa-*"))


def planned(original: pl.DataFrame, said: dict[str, Any]) -> tuple[Plan | DesignPlan, Schema]:
    made = plan(prepare(Table(original), recipe="mixed", design=said), method="icsa")
    return made, made.schema


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (visits, SAID),
        (weighted, {**SAID, "weight": "pw", "strata": ("arm",)}),
        (lambda seed: households(seed=seed), {"unit": "household", "role": "role"}),
        (lambda seed: clusters(130, seed=seed), {"unit": "school"}),
    ],
)
def test_a_rehearsal_of_all_units_is_that_in_memory(
    make: Callable[[int], pl.DataFrame], said: dict[str, Any], tmp_path: Path
) -> None:
    tables = make(1), make(2)
    made, schema = planned(tables[0], said)
    expected = assess(*tables, **said, schema=schema, plan=made, rehearse=2)
    asked = {"made_by": made_by, "rehearse": 2, "sampled_rows": ALL, "units_in_memory": NONE}
    found = from_files(tables, tmp_path, said, **asked)
    assert found.control.kind == "rehearsal"
    notes = found.tables.notes
    assert notes[-1] == "Made so."
    expected_notes = expected.as_dict()["tables"]["notes"]
    assert found.as_dict()["tables"]["notes"] == [*expected_notes, "Made so."]
    require_the_same(_without_last_note(found), expected)
    assert found.as_dict()["units"] == expected.as_dict()["units"]


def _without_last_note(found: Assessment) -> Any:
    """Return an assessment whose document lacks the note on the recipe."""
    document = found.as_dict()
    document["tables"]["notes"].pop()
    return SimpleNamespace(as_dict=lambda: document)


def test_halves_of_a_sample_are_of_whole_units_and_its_size_is_told(tmp_path: Path) -> None:
    original = visits(1)
    samples: list[Table] = []
    asked = {"made_by": counted(samples), "rehearse": 2, "sampled_rows": 1_500}
    found = from_files((original, visits(2)), tmp_path, **asked)
    sizes = samples[0].frame.group_by("patient").len()
    there = original.filter(pl.col("patient").is_in(sizes["patient"].implode()))
    assert there.height == samples[0].frame.height <= 1_500
    assert found.control.n_people == sizes.height < N_UNITS
    who = f"of a sample of {sizes.height} people with {there.height:,} rows, the same recipe"
    assert found.control.words.startswith(f"{who} released 2 random halves of the people")
    assert who in str(found.as_dict()["control"])
    assert {one.attack for one in found.control.attacks} >= {"linkability", "two visits"}
    (note,) = (note for note in found.tables.notes if "fresh keys" in note)
    assert note.startswith("Not tried under fresh keys, as the table is large. Ask for that by")
    assert note.endswith(
        f"takes as long as a release of {sizes.height} people with {there.height:,} rows."
    )


def test_fresh_keys_are_judged_on_a_sample_of_whole_units(tmp_path: Path) -> None:
    samples: list[Table] = []
    asked = {"made_by": counted(samples), "rehearse": 0, "redraws": 2, "sampled_rows": 1_500}
    found = from_files((visits(1), visits(2)), tmp_path, **asked)
    people, rows = samples[0].frame["patient"].n_unique(), samples[0].frame.height
    (note,) = (note for note in found.tables.notes if "fresh keys" in note)
    begin = f"{people} people with {rows:,} rows drawn at random were released under 2 fresh keys"
    assert note.startswith(begin)
    assert found.privacy.redrawn is None  # it is not of these people
    assert len(samples) == 1


def test_what_most_fresh_keys_give_is_the_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples: list[Table] = []
    copy = lambda *_: SimpleNamespace(table=samples[0])  # noqa: E731
    monkeypatch.setattr("icsa.assessment.fresh_releases.release", copy)
    asked = {"made_by": counted(samples), "rehearse": 0, "redraws": 2, "sampled_rows": 1_500}
    found = from_files((visits(1), visits(2)), tmp_path, **asked)
    assert found.verdict == "do not release"
    assert [reason.rule for reason in found.reasons] == ["keys"]


def test_another_release_is_assessed_for_the_same_people(tmp_path: Path) -> None:
    original, released = visits(1), visits(2)
    some = original["patient"].unique(maintain_order=True)[:90].implode()
    worse = pl.concat([visits(3), original.filter(pl.col("patient").is_in(some))])
    stages: list[tuple[str, float]] = []
    asked = {"sampled_rows": ALL, "units_in_memory": NONE}
    told = {"told": lambda *one: stages.append(one), **asked}
    found = from_files((original, released, worse), tmp_path, **told)
    expected = assess(original, released, **SAID, against=worse)
    require_the_same(found, expected)
    assert found.efficiency is not None
    assert expected.efficiency is not None
    mine, theirs = found.efficiency.other, expected.efficiency.other
    assert mine.privacy.people == theirs.privacy.people
    assert found.as_dict()["utility"]["efficiency"]["other"]["rows"] == worse.height
    assert mine.privacy.standing_out.rows.tolist() == found.privacy.standing_out.rows.tolist()
    shares = [share for _, share in stages]
    assert shares == sorted(shares)
    assert any(name.startswith("the other release: ") for name, _ in stages)


def test_another_release_of_no_such_people_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("the work began")

    monkeypatch.setattr("icsa.assessment.blocks.unit_people.code_columns", never)
    tables = visits(1), visits(2)
    with pytest.raises(InputError, match="The other release has no column 'day'"):
        from_files((*tables, visits(3).drop("day")), tmp_path / "1")
    with pytest.raises(InputError, match="The other release has no column in common with the"):
        from_files((*tables, visits(3).select("patient", "day")), tmp_path / "2")


def test_what_cannot_be_made_again_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("the work began")

    monkeypatch.setattr("icsa.assessment.blocks.unit_people.assess_privacy", never)
    tables = visits(1), visits(2)
    with pytest.raises(InputError, match="only by the recipe that made this release"):
        from_files(tables, tmp_path / "1", rehearse=2)
    with pytest.raises(InputError, match="only by the plan that made this one"):
        from_files(tables, tmp_path / "2", redraws=2)

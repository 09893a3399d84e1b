"""Rehearsals, fresh keys and another release, of tables in files: as in memory, on the sample."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from icsa.assessment import Assessment, assess
from icsa.assessment.blocks.large_assessing import Wanted, assess_stored
from icsa.errors import InputError
from icsa.release import Plan, plan, prepare
from icsa.release.blocks.ground import Resources
from icsa.schema import Schema
from icsa.tables import Table
from tests.release.blocks.tables import of_all_kinds, stored

N_ROWS = 15_000
NAMES = ("kg", "dose", "group", "age")


def people(seed: int) -> pl.DataFrame:
    return of_all_kinds(seed).select(NAMES)[-N_ROWS:]


@pytest.fixture(scope="module")
def original() -> pl.DataFrame:
    return people(1)


@pytest.fixture(autouse=True)
def as_if_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have short tables go the ways of long ones: nothing is made again without being asked for."""
    monkeypatch.setattr("icsa.assessment.fresh_releases._MOST_CELLS", 0)
    monkeypatch.setattr("icsa.privacy.everybody._EQUAL_WORK", 0)


def made_by(sample: Table, schema: Schema) -> tuple[Plan, str]:
    """Return the plan of the recipe that is told, and a note."""
    made = plan(prepare(sample, schema=schema, recipe="mixed"), method="icsa")
    assert isinstance(made, Plan)
    return made, "Made so."


def from_files(
    tables: tuple[pl.DataFrame, ...], folder: Path, told: list[Any] | None = None, **more: Any
) -> Assessment:
    """Return the assessment of a release, and of another if there is one, in files."""
    first, second, *others = (
        stored(table, folder / str(number)) for number, table in enumerate(tables)
    )
    wanted = Wanted(design={"unit": False}, **more)
    resources = Resources(memory=10**9, scratch=folder)
    tell = (lambda *_: None) if told is None else lambda *one: told.append(one)
    against = others[0] if others else None
    found = assess_stored(first, second, resources, wanted, tell, against=against)
    assert not list(folder.glob(".icsa-*"))
    return found


def test_a_rehearsal_of_all_rows_is_that_in_memory(original: pl.DataFrame, tmp_path: Path) -> None:
    released = people(3)
    found = from_files((original, released), tmp_path, made_by=made_by, rehearse=2)
    made = plan(prepare(Table(original), recipe="mixed", design={"unit": False}), method="icsa")
    expected = assess(original, released, unit=False, plan=made, rehearse=2)
    assert found.control.kind == "rehearsal"
    one, other = found.as_dict(), expected.as_dict()
    for part in ("control", "verdict", "privacy", "people", "utility"):
        assert one[part] == other[part], part
    rehearsed = {attack.attack for attack in expected.control.attacks}
    for each in (one, other):
        each["attackers"] = [x for x in each["attackers"] if x["attack"] in rehearsed]
    assert one["attackers"] == other["attackers"]
    assert found.tables.notes[-1] == "Made so."


def test_a_rehearsal_of_a_sample_says_so_and_finds_what_copies(
    original: pl.DataFrame, tmp_path: Path
) -> None:
    found = from_files(
        (original, people(3)), tmp_path, made_by=made_by, rehearse=2, sampled_rows=2_000
    )
    assert found.control.n_people == 2_000
    assert found.control.words.startswith("of a sample of 2,000 people, the same recipe released 2")
    (note,) = (note for note in found.tables.notes if "fresh keys" in note)
    assert note.endswith("each takes as long as a release of 2,000 people.")


def test_fresh_keys_are_judged_on_the_sample(original: pl.DataFrame, tmp_path: Path) -> None:
    sizes: list[int] = []

    def counting(sample: Table, schema: Schema) -> tuple[Plan, str]:
        sizes.append(sample.frame.height)
        return made_by(sample, schema)

    asked = {"made_by": counting, "rehearse": 0, "redraws": 3, "sampled_rows": 3_000}
    found = from_files((original, people(3)), tmp_path, **asked)
    assert sizes == [3_000]
    (note,) = (note for note in found.tables.notes if "fresh keys" in note)
    assert note.startswith("3,000 people drawn at random were released under 3 fresh keys: ")
    assert found.privacy.redrawn is None  # it is not of these people
    assert found.document().redraws is None


def test_what_most_fresh_keys_give_is_the_word(
    original: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples: list[Table] = []

    def copying(sample: Table, schema: Schema) -> tuple[Plan, str]:
        samples.append(sample)
        return made_by(sample, schema)

    def copy(*_: object) -> SimpleNamespace:
        return SimpleNamespace(table=samples[0])

    monkeypatch.setattr("icsa.assessment.fresh_releases.release", copy)
    asked = {"made_by": copying, "rehearse": 0, "redraws": 2, "sampled_rows": 3_000}
    found = from_files((original, people(3)), tmp_path, **asked)
    assert found.verdict == "do not release"
    assert [reason.rule for reason in found.reasons] == ["keys"]


def test_another_release_is_assessed_for_the_same_people(
    original: pl.DataFrame, tmp_path: Path
) -> None:
    released, worse = people(3), pl.concat([people(4)[:-500], original[:500]])
    told: list[tuple[str, float]] = []
    found = from_files((original, released, worse), tmp_path, told)
    expected = assess(original, released, unit=False, against=worse)
    assert found.efficiency is not None
    assert found.as_dict()["utility"]["efficiency"] == expected.as_dict()["utility"]["efficiency"]
    mine, theirs = found.efficiency.other, expected.efficiency
    assert theirs is not None
    assert mine.privacy.people == theirs.other.privacy.people
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert any(name.startswith("the other release: ") for name, _ in told)


def test_what_cannot_be_made_again_is_refused_before_the_work(
    original: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("the work began")

    monkeypatch.setattr("icsa.assessment.blocks.exact_people.standing_out", never)
    tables = original, people(3)
    with pytest.raises(InputError, match="only by the recipe that made this release"):
        from_files(tables, tmp_path / "1", rehearse=2)
    with pytest.raises(InputError, match="only by the plan that made this one"):
        from_files(tables, tmp_path / "2", redraws=2)
    with pytest.raises(InputError, match="two controls for the same thing"):
        from_files(tables, tmp_path / "3", made_by=made_by, rehearse=2, holdout=Table(people(5)))

"""Tables in files are compared on the rows, and with the draws, that they have in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import icsa
from icsa.choice import compare_stored
from icsa.choice.budget import Size, draw_plan
from icsa.choice.candidates import candidates_of
from icsa.inspection import guess_schema
from icsa.limits import LONG
from icsa.matrices import LEAF_ROWS
from icsa.release.blocks import Ground, Passes, Scratch
from icsa.schema import Schema, with_design
from icsa.tables import from_frame
from tests.release.blocks.tables import of_all_kinds, stored
from tests.release.blocks.test_weighted_units_same_cells import weighed
from tests.release.blocks.unit_tables import visits_of_many
from tests.release.blocks.wide_tables import households

ASKED: dict[str, Any] = {"models": ("kg ~ age",), "classify": (), "budget": 2.0}


class _RaceBeganError(Exception):
    """Raised in place of a race; it has what would have been raced."""


@pytest.fixture(autouse=True)
def no_race(monkeypatch: pytest.MonkeyPatch) -> None:
    def began(*given: Any) -> None:
        raise _RaceBeganError(*given[:-1])  # whoever runs it does not matter

    monkeypatch.setattr("icsa.choice.comparing.run_race", began)


def raced_in_memory(frame: pl.DataFrame, schema: Schema | None = None, **more: Any) -> Any:
    with pytest.raises(_RaceBeganError) as began:
        icsa.compare(frame, schema=schema, **ASKED, **more)
    return began.value.args


def raced_from_files(
    frame: pl.DataFrame,
    folder: Path,
    schema: Schema | None = None,
    *,
    edges: tuple[int, ...] = (),
    leaves: int = 3,
    workers: int = 1,
    drop: tuple[str, ...] = (),
    **design: Any,
) -> Any:
    table = stored(frame, folder / "parts", list(edges))
    (folder / "scratch").mkdir()
    passes = Passes(Scratch(folder / "scratch", table.n_rows), workers=workers)
    choices = {"keep": (), "drop": drop, "recipe": "mixed", "design": design}
    ground = Ground(table, leaves * LEAF_ROWS)
    with pytest.raises(_RaceBeganError) as began:
        compare_stored(passes, ground, schema, choices, None, **ASKED)
    return began.value.args


def require_the_same_race(found: Any, wanted: Any) -> None:
    """Hold what is raced against what is in memory."""
    candidates, config, subject, plan, size = wanted
    assert found[0] == candidates
    assert found[1] == config  # with the fingerprint of the sample, and its curves
    assert found[2].table.frame.equals(subject.table.frame)
    assert found[2].table.frame.schema == subject.table.frame.schema
    assert found[2].schema == subject.schema
    assert found[3:] == (plan, size)
    assert subject.table.frame.height < 10_100


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return of_all_kinds().drop("patient")


def test_whatever_files_blocks_and_workers(tmp_path: Path, frame: pl.DataFrame) -> None:
    wanted = raced_in_memory(frame)
    for number, more in enumerate([{"edges": (1_000,), "leaves": 1, "workers": 2}, {}]):
        require_the_same_race(raced_from_files(frame, tmp_path / str(number), **more), wanted)
    assert wanted[2].table.frame.height == wanted[3].rows == 500


def test_with_a_schema_and_a_column_left_out(tmp_path: Path, frame: pl.DataFrame) -> None:
    guessed = guess_schema(from_frame(frame))
    age = replace(guessed.columns["age"], kind="continuous", lower=0)
    schema = replace(guessed, columns={**guessed.columns, "age": age})
    wanted = raced_in_memory(frame, schema, drop=("seen",))
    found = raced_from_files(frame, tmp_path, schema, drop=("seen",))
    require_the_same_race(found, wanted)
    assert found[2].schema.columns["seen"].action == "drop"


@pytest.mark.parametrize("raking", [True, False])
def test_whole_households_with_weights(tmp_path: Path, raking: bool) -> None:
    frame = weighed(households(85_000).rename({"rent": "kg"}), "house")
    design = {"unit": "house", "role": "role", "weight": "w"}
    said = design if raking else {**design, "raking": False}
    wanted, found = raced_in_memory(frame, **said), raced_from_files(frame, tmp_path, **said)
    require_the_same_race(found, wanted)
    sample = found[2].table.frame
    sizes = frame.group_by("house").len()
    assert sample.group_by("house").len().join(sizes, on=["house", "len"]).height == (
        sample["house"].n_unique()
    )
    assert found[2].schema.design.raking == raking


def test_visits_by_a_schema(tmp_path: Path) -> None:
    frame = visits_of_many().select("patient", "day", "followed", "age", "kg", "arm", "crp")
    design = {"unit": "patient", "time": "day", "bound": "followed"}
    schema = with_design(guess_schema(from_frame(frame)), **design)
    require_the_same_race(raced_from_files(frame, tmp_path, schema), raced_in_memory(frame, schema))


def test_strata(tmp_path: Path, frame: pl.DataFrame) -> None:
    some = frame.select("kg", "age", "score", "pain")
    wanted = raced_in_memory(some, strata="pain")
    require_the_same_race(raced_from_files(some, tmp_path, strata=("pain",)), wanted)


def test_a_long_table_is_never_compared_as_a_whole(frame: pl.DataFrame) -> None:
    size = Size(LONG + 1, 3, len(candidates_of(guess_schema(from_frame(frame)))), 6)
    assert draw_plan(size, 1e9).rows == 10_000
    assert draw_plan(replace(size, rows=LONG), 1e9).rows == LONG

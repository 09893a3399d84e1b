"""Tables in files are assessed as those in memory are, whatever the blocks and workers."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from icsa.assessment import Assessment, assess
from icsa.assessment.asked import Asked
from icsa.assessment.blocks import exact_people
from icsa.assessment.blocks.large_assessing import Wanted, assess_stored
from icsa.cli.large_inputs import parsed_size
from icsa.comparison.features import PART
from icsa.errors import InputError
from icsa.release.blocks.ground import Resources, memory_of_a_column
from tests.release.blocks.tables import of_all_kinds, stored

# Two blocks of rows, and a part of one; enough for all that long tables have of their own.
N_ROWS = 2 * PART + 1_234
# Who is copied in every cell: one who stands out, and two like everybody else.
OUTLIER, ORDINARY = 60_000, (50_005, 40_001)
GIGABYTE = 10**9
# Enough that equal cells are counted in buckets.
N_SURVEYED = 17_000


def people(seed: int) -> pl.DataFrame:
    """Return people of all kinds of columns, fresh for every seed."""
    frame = of_all_kinds(seed)[:N_ROWS]
    assert frame.height == N_ROWS
    return frame


@pytest.fixture(scope="module")
def tables() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return an original, and fresh people among whom three of its rows are."""
    original, released = people(1), people(3)
    odd = {"kg": 900.5, "dose": 1e6, "age": 400, "score": -200.5}
    marked = original.with_row_index("row").with_columns(
        pl.when(pl.col("row") == OUTLIER).then(value).otherwise(pl.col(name)).alias(name)
        for name, value in odd.items()
    )
    original = marked.drop("row").select(original.columns).cast(original.schema)
    copied = original[[OUTLIER, *ORDINARY]]
    fresh = released.drop("patient").with_columns(patient=pl.lit(None, pl.Int64))
    copied = copied.with_columns(patient=pl.lit(None, pl.Int64)).select(fresh.columns)
    return original, pl.concat([fresh[: N_ROWS - 3], copied.cast(fresh.schema)])


@pytest.fixture(scope="module")
def in_memory(tables: tuple[pl.DataFrame, pl.DataFrame]) -> Assessment:
    return assess(*tables, unit=False)


def from_files(
    tables: tuple[pl.DataFrame, pl.DataFrame], folder: Path, *, workers: int = 1, **more: Any
) -> Assessment:
    """Return the assessment of tables in part files."""
    pair = (
        stored(table, folder / name, edges)
        for table, name, edges in zip(tables, ("o", "r"), ([4_000], [7, 5_000]), strict=True)
    )
    resources = Resources(memory=more.pop("memory", GIGABYTE), scratch=folder, workers=workers)
    wanted = Wanted(design={"unit": False, **more.pop("design", {})}, **more)
    return assess_stored(*pair, resources, wanted, lambda _stage, _share: None)


def test_all_rows_as_a_sample_give_the_same_document(
    tables: tuple[pl.DataFrame, pl.DataFrame], in_memory: Assessment, tmp_path: Path
) -> None:
    require_the_same(from_files(tables, tmp_path, sampled_rows=N_ROWS), in_memory)


def require_the_same(from_files: Assessment, in_memory: Assessment) -> None:
    """Hold the document of tables in files against that of tables in memory."""
    found, expected = from_files.as_dict(), in_memory.as_dict()
    for part in ("verdict", "self_test", "tables", "privacy", "people", "people_summary"):
        assert found[part] == expected[part], part
    for part in ("noticed", "utility", "control", "policy"):
        assert found[part] == expected[part], part
    texts = [[reason["text"] for reason in one["reasons"]] for one in (found, expected)]
    assert texts[0] == texts[1]
    attackers = [
        [one for one in each["attackers"] if one["attack"] != "all but one"]
        for each in (found, expected)
    ]
    assert attackers[0] == attackers[1]


def survey(seed: int) -> pl.DataFrame:
    """Return a weighted sample of towns; few weights are different."""
    draw = np.random.default_rng(seed)
    n, kg = N_SURVEYED, draw.normal(size=N_SURVEYED)
    return pl.DataFrame(
        {
            "kg": 70.0 + 9.0 * kg,
            "bp": 120.0 + 5.0 * kg + 9.0 * draw.normal(size=n),
            "town": draw.choice(["north", "south", "west"], n, p=[0.5, 0.3, 0.2]),
            "weight": 10.0 * seed + draw.integers(1, 4, n),
        }
    )


def test_analyses_go_by_weights_and_strata(tmp_path: Path) -> None:
    both, said = (survey(1), survey(2)), {"weight": "weight", "strata": ("town",)}
    in_memory = assess(*both, unit=False, **said, models=["bp ~ kg"])
    asked = Asked(models=("bp ~ kg",))
    every = from_files(both, tmp_path / "a", asked=asked, design=said, sampled_rows=N_SURVEYED)
    require_the_same(every, in_memory)
    some = from_files(both, tmp_path / "b", asked=asked, design=said, sampled_rows=7_000)
    means, model = some.utility.models
    assert (means.name, model.method) == ("weighted means", "weighted least squares")
    assert means.n_original == 7_000
    assert [one.row for one in some.people] == [one.row for one in in_memory.people]
    low = both[0].with_columns(weight=pl.col("weight") - 11.0)
    with pytest.raises(InputError, match=r"'weight' is the weight: .* are not positive"):
        from_files((low, both[1]), tmp_path / "c", design=said)


@pytest.mark.parametrize(("memory", "workers"), [(GIGABYTE, 1), (30_000_000, 2)])
def test_people_and_equal_rows_are_exact_beside_a_sample(
    tables: tuple[pl.DataFrame, pl.DataFrame],
    in_memory: Assessment,
    tmp_path: Path,
    memory: int,
    workers: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("icsa.assessment.blocks.hashed_rows._IN_A_BUCKET", 50_000)
    found = from_files(tables, tmp_path, sampled_rows=20_000, memory=memory, workers=workers)
    mine, theirs = found.privacy, in_memory.privacy
    for name in ("copied", "unique", "doubles", "split", "same", "n", "n_released"):
        assert getattr(mine.exact, name) == getattr(theirs.exact, name), name
    assert mine.exact.matched.tolist() == theirs.exact.matched.tolist()
    assert [one.row for one in mine.people] == [one.row for one in theirs.people]
    for one, other in zip(mine.people, theirs.people, strict=True):
        sampled = {"attack": other.attack, "attack_control": other.attack_control}
        assert replace(one, **sampled) == other
    assert mine.extremes.released.tolist() == theirs.extremes.released.tolist()
    assert mine.everybody.equal.people.tolist() == theirs.everybody.equal.people.tolist()
    assert mine.everybody.equal.chances.tolist() == theirs.everybody.equal.chances.tolist()
    assert found.verdict == in_memory.verdict == "do not release"
    assert any("20,000 original and 20,000 released" in note for note in found.tables.notes)
    assert found.document().tables.original.rows == N_ROWS


def test_copied_people_are_found_who_stand_out_or_do_not(in_memory: Assessment) -> None:
    copied = {one.row for one in in_memory.people if one.status == "copied"}
    assert OUTLIER in copied
    equal = in_memory.privacy.everybody.equal.found(0.005).tolist()
    assert set(ORDINARY) <= set(equal)


def test_scratch_is_private_and_gone_at_the_end_and_after_errors(
    tables: tuple[pl.DataFrame, pl.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []

    def fails(*_: object, **__: object) -> None:
        modes.extend(path.stat().st_mode & 0o777 for path in tmp_path.glob(".icsa-scratch-*"))
        raise InputError("told")

    monkeypatch.setattr(exact_people, "standing_out", fails)
    with pytest.raises(InputError, match="told"):
        from_files(tables, tmp_path)
    assert modes == [0o700]
    assert not list(tmp_path.glob(".icsa-scratch-*"))


def test_what_cannot_be_done_is_refused_in_a_sentence(
    tables: tuple[pl.DataFrame, pl.DataFrame], tmp_path: Path
) -> None:
    original, released = tables
    with pytest.raises(InputError, match=r"takes .* GB while it is worked on.*--memory") as told:
        from_files(tables, tmp_path / "memory", memory=1_000)
    advised = re.search(r"--memory (\S+B)", str(told.value))
    assert advised is not None
    assert parsed_size(advised[1]) >= memory_of_a_column(N_ROWS)
    others = released.rename({name: f"{name}_" for name in released.columns})
    found = from_files((original, others), tmp_path / "names")
    assert (found.verdict, [one.rule for one in found.reasons]) == ("look again", ["another table"])
    assert found.document().tables.released.rows == N_ROWS
    visits = original.with_columns(
        patient=pl.Series(np.repeat(np.arange(N_ROWS // 2 + 1), 2)[:N_ROWS] + 1_000_000),
        sex=pl.Series(np.repeat(np.random.default_rng(1).integers(0, 2, N_ROWS), 2)[:N_ROWS]),
        born=pl.Series(np.repeat(np.random.default_rng(2).integers(0, 90, N_ROWS), 2)[:N_ROWS]),
        height=pl.Series(np.repeat(np.random.default_rng(3).normal(size=N_ROWS), 2)[:N_ROWS]),
    )
    table = stored(visits, tmp_path / "visits")
    resources = Resources(memory=GIGABYTE, scratch=tmp_path)
    with pytest.raises(InputError, match=r"Several rows seem to be about one person.*--unit none"):
        assess_stored(table, table, resources, Wanted(), lambda _stage, _share: None)


def test_a_damaged_part_is_named(tables: tuple[pl.DataFrame, pl.DataFrame], tmp_path: Path) -> None:
    pair = [stored(table, tmp_path / name) for table, name in zip(tables, "or", strict=True)]
    part = pair[1].parts[0]
    part.write_bytes(part.read_bytes()[:2_000] + b"x" * 2_000)
    resources = Resources(memory=GIGABYTE, scratch=tmp_path)
    with pytest.raises(InputError, match=r"part-000.parquet is not a whole Parquet file"):
        assess_stored(pair[0], pair[1], resources, Wanted(), lambda _stage, _share: None)
    assert not list(tmp_path.glob(".icsa-scratch-*"))

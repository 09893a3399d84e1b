"""People with several rows in files are assessed as those in memory are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from icsa import cli
from icsa.assessment import Assessment, assess
from icsa.assessment.asked import Asked
from icsa.assessment.blocks import Wanted, assess_stored
from icsa.errors import InputError
from icsa.inspection import guess_schema
from icsa.inspection.unit_rows import rows_of_units, some_units
from icsa.release.blocks.ground import Resources
from icsa.report.units_view import unit_sentences
from icsa.schema import with_design
from icsa.tables import from_frame
from tests.assessment.blocks.test_both_ways import require_the_same
from tests.people_tables import clusters, households
from tests.release.blocks.tables import stored
from tests.release.blocks.unit_tables import visits_of_many

Pair = tuple[pl.DataFrame, pl.DataFrame]

SAID = {"unit": "patient", "time": "day", "bound": "followed"}
OWN = ("patient", "day", "followed", "age", "arm", "kg")
N_UNITS = 1_500
ODD = 77
MANY, NONE = 10**9, 0


@pytest.fixture(scope="module", autouse=True)
def _as_in_long_tables() -> Iterator[None]:
    """Have equal cells counted in buckets, and a part tested, as in tables of many people."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("icsa.privacy.self_test._MOST_ROWS", 100)
        patch.setattr("icsa.privacy.everybody._EQUAL_WORK", 0)
        yield


def named(frame: pl.DataFrame, begin: int) -> pl.DataFrame:
    """Return a table whose people have other names."""
    return frame.with_columns(patient=pl.col("patient") * 3 + begin)


@pytest.fixture(scope="module")
def visits() -> Pair:
    """Return visits of an original, and of fresh people among whom one of its people is."""
    columns = [*OWN, "crp", "albumin", "ward", "flare"]
    original, fresh = (visits_of_many(N_UNITS, seed).select(columns) for seed in (1, 2))
    sizes = original.group_by("patient", maintain_order=True).len()
    odd = sizes.filter(pl.col("len") > 5)["patient"][ODD]
    original = original.with_columns(
        crp=pl.when(pl.col("patient") == odd).then(pl.col("crp") + 900.25).otherwise("crp")
    )
    copied = original.filter(pl.col("patient") == odd).with_columns(patient=pl.lit(5, pl.Int64))
    return original, named(fresh, 50_000_000).vstack(copied)


@pytest.fixture(scope="module")
def in_memory(visits: Pair) -> Assessment:
    return assess(*visits, models=["crp ~ age"], **SAID)


def from_files(
    tables: Pair, folder: Path, said: dict[str, Any] | None = None, **more: Any
) -> Assessment:
    """Return the assessment of tables in part files."""
    pair = [
        stored(table, folder / name, edges)
        for table, name, edges in zip(tables, "or", ([333], [7, 444]), strict=True)
    ]
    means = {"memory": more.pop("memory", 10**9), "workers": more.pop("workers", 1)}
    resources = Resources(scratch=folder, **means)
    wanted = Wanted(design=SAID if said is None else said, **more)
    return assess_stored(*pair, resources, wanted, lambda _stage, _share: None)


@pytest.mark.parametrize("in_files", [False, True])
def test_all_units_as_a_sample_give_the_same_document(
    visits: Pair, in_memory: Assessment, tmp_path: Path, in_files: bool
) -> None:
    most = {"sampled_rows": MANY, "units_in_memory": NONE if in_files else MANY}
    found = from_files(visits, tmp_path, asked=Asked(models=("crp ~ age",)), **most)
    require_the_same(found, in_memory)
    assert found.as_dict()["units"] == in_memory.as_dict()["units"]
    assert not list(tmp_path.glob(".icsa-scratch-*"))


@pytest.mark.parametrize(("most", "workers"), [(MANY, 1), (NONE, 2)])
def test_people_and_equal_ones_are_exact_beside_a_sample(
    visits: Pair, in_memory: Assessment, tmp_path: Path, most: int, workers: int
) -> None:
    told = {"sampled_rows": 4_000, "units_in_memory": most, "workers": workers}
    found = from_files(visits, tmp_path, **told)
    mine, theirs = found.privacy, in_memory.privacy
    assert (mine.n_rows, mine.n_released) == (theirs.n_rows, theirs.n_released)
    assert mine.exact.copied == theirs.exact.copied
    assert mine.exact.matched.tolist() == theirs.exact.matched.tolist()
    assert mine.everybody.equal.chances.tolist() == theirs.everybody.equal.chances.tolist()
    assert mine.extremes.released.tolist() == theirs.extremes.released.tolist()
    for one, other in zip(mine.people, theirs.people, strict=True):
        assert (one.row, one.status, one.ratios) == (other.row, other.status, other.ratios)
    copied = [one for one in found.document().people if one.status == "copied"]
    assert [one.before["crp (mean)"] for one in copied] == [copied[0].after["crp (mean)"]]
    rows = [[one.row for one in each.document().people] for each in (found, in_memory)]
    assert rows[0] == rows[1]
    assert found.verdict == in_memory.verdict == "do not release"
    sizes = found.document().units.original
    assert (sizes.units, sizes.rows) == (N_UNITS, visits[0].height)
    shown = found.document("public").units
    told = " ".join(unit_sentences(shown, internal=False))
    drawn = [some_units(rows_of_units(table["patient"]).starts, 4_000)[0].size for table in visits]
    assert [shown.original.sampled, shown.released.sampled] == drawn
    assert f"Kept in all {drawn[1]} released units drawn at random: " in told
    assert f"Parts of {drawn[0]} people's rows, such as two visits, looked for in all rows" in told
    assert found.utility.models[0].n_original < N_UNITS
    assert any("From all units: who stands out" in note for note in found.tables.notes)


@pytest.mark.parametrize("most", [MANY, NONE])
def test_rows_of_households_are_people_too(tmp_path: Path, most: int) -> None:
    tables, said = (households(seed=1), households(seed=2)), {"unit": "household", "role": "role"}
    expected = assess(*tables, **said)
    found = from_files(tables, tmp_path, said, sampled_rows=MANY, units_in_memory=most)
    require_the_same(found, expected)
    assert found.as_dict()["units"] == expected.as_dict()["units"]


def test_a_schema_names_the_unit(tmp_path: Path) -> None:
    tables = clusters(130, seed=1), clusters(130, seed=2)
    schema = with_design(guess_schema(from_frame(tables[0])), unit="school")
    expected = assess(*tables, schema=schema)
    told = {"schema": schema, "sampled_rows": MANY, "units_in_memory": NONE}
    found = from_files(tables, tmp_path, {}, **told)
    require_the_same(found, expected)
    assert found.as_dict()["units"] == expected.as_dict()["units"]


def test_a_copied_pupil_is_found_among_all_rows(tmp_path: Path) -> None:
    original, fresh = clusters(seed=1), clusters(seed=2)
    drawn = some_units(rows_of_units(original["school"]).starts, 300)[0]
    last = original["school"].unique(maintain_order=True).len() - 1
    assert last not in drawn
    far = pl.int_range(original.height) == original.height - 3
    original = original.with_columns(ses=pl.when(far).then(40.25).otherwise("ses"))
    own = fresh[-1:].select("school", "sector", "funds", "mean_ses")
    taken = pl.concat([own, original[-3:-2].select("ses", "marks")], how="horizontal")
    found = from_files(
        (original, fresh.vstack(taken)), tmp_path, {"unit": "school"}, sampled_rows=300
    )
    near = next(r for r in found.reasons if r.text.startswith("Of single rows") and r.rows)
    assert original.height - 3 in near.rows


def test_named_rows_are_their_people_and_others_a_control(visits: Pair, tmp_path: Path) -> None:
    original = visits[0]
    who = original["patient"][5_000]
    rows = original.with_row_index("row").filter(pl.col("patient") == who).sort("day")["row"]
    others = named(visits_of_many(60, 9).select(original.columns), 70_000_000)
    told = {"outliers": rows + 1, "holdout": from_frame(others), "sampled_rows": 4_000}
    found = from_files(visits, tmp_path, **told)
    assert [person.row - 1 for person in found.document().people] == [rows[0]]
    assert (found.control.kind, found.control.n_people) == ("holdout", 60)
    two = [result for result in found.attackers if result.attack == "two visits"]
    assert all(result.control_is == "people who were not in the table" for result in two)


def test_weights_and_strata_of_units_are_those_of_the_sample(visits: Pair, tmp_path: Path) -> None:
    both = tuple(table.with_columns(pw=1.0 + pl.col("age") % 3) for table in visits)
    said = {**SAID, "weight": "pw", "strata": ("arm",)}
    found = from_files((both[0], both[1]), tmp_path, said, sampled_rows=5_000)
    means = next(model for model in found.utility.models if model.name == "weighted means")
    assert 4_900 < means.n_original <= 5_000


def test_what_is_said_of_units_is_held_against_all_rows(visits: Pair, tmp_path: Path) -> None:
    original, released = visits

    def told(*tables: pl.DataFrame, said: dict[str, Any] = SAID, **more: Any) -> str:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        with pytest.raises(InputError) as error:
            from_files((tables[0], tables[1]), folder, said, **more)
        assert not list(folder.glob(".icsa-scratch-*"))
        return str(error.value)

    nobody = original.with_columns(
        patient=pl.when(pl.int_range(pl.len()) == 4_321).then(None).otherwise("patient")
    )
    assert "1 of" in told(nobody, released)
    assert "rows have no unit" in told(original, nobody)
    assert "The release has no column 'day'" in told(original, released.drop("day"))
    late = original.with_columns(
        followed=pl.when(pl.col("patient") == original["patient"][0]).then(-1).otherwise("followed")
    )
    assert "'day' exceeds its bound 'followed' within 1 of 1500 units" in told(late, released)
    assert "takes 0.00" in told(original, released, memory=60 * original.height)
    assert "No column 'kq'" in told(original, released, said={"unit": "kq"})
    unsaid = told(original, released, said={})
    assert "Add --unit patient, with --time" in unsaid
    assert "--memory" not in unsaid


def test_the_command_takes_units(
    visits: Pair,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("icsa.cli.assess_large.LONG", 1_000)
    files = [tmp_path / name for name in ("visits.parquet", "copy.parquet")]
    for table, file in zip((visits[0][:6_000], visits[0][:6_000]), files, strict=True):
        table.write_parquet(file)
    said = [text for key, name in SAID.items() for text in (f"--{key}", name)]
    report = tmp_path / "report.html"
    more = [
        "--workers",
        "2",
        "--memory",
        "1GB",
        "--scratch",
        str(tmp_path),
        "--report",
        str(report),
    ]
    assert cli.run(["assess", *map(str, files), *said, *more, "--gate"]) == 4
    assert "verdict: do not release" in capsys.readouterr().out
    assert "units of" in report.read_text(encoding="utf-8")

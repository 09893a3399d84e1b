"""``icsa anonymize --choose`` of tables that are released from their files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import icsa.choice
from icsa import cli
from icsa.choice import Advice, Candidate, Compared
from icsa.choice.budget import DrawPlan, RoundDraws
from icsa.cli.assess_large import StoredPair
from icsa.cli.making import Making
from icsa.release import anonymize
from tests.cli.gates import waiting_after
from tests.release.blocks.tables import N_ROWS, measured
from tests.release.blocks.unit_tables import visits_of_many

SMALL = "15MB"  # three columns of N_ROWS take more in memory, and one takes less
PLAN = DrawPlan(rows=80, rounds=(RoundDraws(2, 1, 1),), fresh=2, seconds=1.0)
TOPCODE = Candidate(name="sa topcode", method="sa", recipe="topcode")


class Said:
    """An assessment that was not made, of tables that were there."""

    def __init__(self, word: str) -> None:
        self.verdict, self.reasons = word, ()
        self.tables: list[list[pl.DataFrame]] = []
        self.files: tuple[Path, ...] = ()


@pytest.fixture
def frame() -> pl.DataFrame:
    return measured().select("kg", "dose", "score")


@pytest.fixture
def big(tmp_path: Path, frame: pl.DataFrame) -> Path:
    path = tmp_path / "big.parquet"
    frame.write_parquet(path)
    return path


@pytest.fixture
def text(tmp_path: Path, frame: pl.DataFrame) -> Path:
    path = tmp_path / "big.csv"
    frame.with_columns(pl.col("dose").round(3)).write_csv(path)
    return path


def run(file: Path, *options: str) -> int:
    return cli.run(["anonymize", str(file), "--choose", "--memory", SMALL, "--seed", "1", *options])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def advising(allowed: bool = True, given: list[Any] | None = None) -> Callable[..., Compared]:
    """Return a comparison that is not run: it advises a release, or none."""
    advice = Advice(
        candidate=TOPCODE, may_be_released=allowed, text="Made up.", command="icsa anonymize x"
    )

    def compare(*arguments: Any, **options: Any) -> Compared:
        if given is not None:
            given.append((arguments, options))
        return Compared(candidates=(), advice=advice, plan=PLAN, n_rows=N_ROWS, n_columns=3)

    return compare


def read_part(path: Path) -> pl.DataFrame:
    return pl.read_csv(path) if path.suffix == ".csv" else pl.read_parquet(path)


@pytest.fixture
def word(monkeypatch: pytest.MonkeyPatch) -> Said:
    """Have releases read and given a word, which takes less time than an assessment."""
    said = Said("release")

    def read(pair: StoredPair, files: tuple[Path, Path], *given: Any, **options: Any) -> Said:
        assert given[1] == Making()  # as in memory: a seed is no reason against it
        said.tables = [[read_part(part) for part in one.parts] for one in pair]
        said.files = files
        assert options["rehearse"] is None
        return said

    monkeypatch.setattr("icsa.cli.large_reports.assess_large", read)
    return said


def test_a_short_race_chooses_as_in_memory(
    big: Path,
    frame: pl.DataFrame,
    word: Said,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    both = (Candidate(name="sa mixed", method="sa", recipe="mixed"), TOPCODE)
    monkeypatch.setattr("icsa.choice.comparing.draw_plan", lambda *_: PLAN)
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # in this process, where these are other
    monkeypatch.setattr("icsa.choice.trials._assessed", lambda *_: ("assessed", 0, "word", 0.0, ""))
    monkeypatch.setattr("icsa.choice.comparing.candidates_of", lambda *_: both)
    in_memory = icsa.choice.compare(frame)
    assert in_memory.advice.may_be_released
    assert run(big, "--budget", "0.1", "--model", "kg ~ score") == 0
    shown = capsys.readouterr().out
    assert "Compared on 80 of 201,001 rows" in shown
    options = in_memory.advice.candidate.options
    assert f"recipe {options['recipe']}" in shown
    released = pl.read_parquet(big.with_name("big.release.parquet"))
    assert released.equals(anonymize(frame, random_state=1, **options).table)
    assert word.files == (big, big.with_name("big.release.parquet"))
    assert word.tables[0][0].equals(frame)
    assert word.tables[1][0].equals(released)  # before it had its name
    assert names(big.parent) == ["big.parquet", "big.release.parquet"]


def test_text_and_part_files_come_out_as_chosen(
    text: Path, frame: pl.DataFrame, word: Said, monkeypatch: pytest.MonkeyPatch
):
    given: list[Any] = []
    monkeypatch.setattr("icsa.choice.compare_stored", advising(given=given))
    assert run(text, "--json") == 0
    wanted = text.with_name("wanted.csv")
    chosen = ["--method", "sa", "--recipe", "topcode"]
    plain = ["anonymize", str(text), "--memory", SMALL, "--seed", "1", "-q"]
    assert cli.run([*plain, *chosen, "--output", str(wanted)]) == 0
    assert text.with_name("big.release.csv").read_bytes() == wanted.read_bytes()
    parts = text.with_name("parts")
    parts.mkdir()
    for name, part in (("a", frame[:1_000]), ("b", frame[1_000:])):
        part.write_parquet(parts / f"{name}.parquet")
    out = text.with_name("parts.release")
    for more in ((), ("--force",)):
        assert run(parts, "--keep", "kg", *more) == 0
    released = pl.concat([pl.read_parquet(out / f"{name}.parquet") for name in "ab"])
    options = TOPCODE.options
    assert released.equals(anonymize(frame, random_state=1, keep=["kg"], **options).table)
    assert pl.concat(word.tables[1]).equals(released)
    assert given[-1][0][3]["keep"] == ("kg",)
    assert given[-1][1]["budget"] == icsa.choice.BUDGET
    found = names(text.parent)
    assert found == ["big.csv", "big.release.csv", "parts", "parts.release", "wanted.csv"]


def test_nothing_is_written_where_nothing_may_be_released(
    big: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("icsa.choice.compare_stored", advising(allowed=False))
    assert run(big, "--save-key", str(big.with_name("key"))) == 3
    assert "nothing was written" in capsys.readouterr().err
    assert names(big.parent) == ["big.parquet"]


@pytest.mark.parametrize("earlier", [None, b"an earlier release"])
def test_a_release_whose_own_word_is_another_is_not_written(
    big: Path,
    word: Said,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    earlier: bytes | None,
):
    monkeypatch.setattr("icsa.choice.compare_stored", advising())
    target = big.with_name("big.release.parquet")
    if earlier is not None:
        target.write_bytes(earlier)
    word.verdict = "look again"
    assert run(big, "--force", "--save-key", str(big.with_name("key"))) == 3
    assert "'look again'" in capsys.readouterr().err
    assert names(big.parent) == ["big.parquet", *(["big.release.parquet"] if earlier else [])]
    assert earlier is None or target.read_bytes() == earlier


def test_people_with_several_rows_are_said_to_be_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    given: list[Any] = []
    monkeypatch.setattr("icsa.choice.compare_stored", advising(False, given))
    path = tmp_path / "visits.parquet"
    visits_of_many().select("patient", "day", "age", "crp").write_parquet(path)
    assert run(path, "--memory", "25MB", "--unit", "patient", "--time", "day") == 3
    said = given[0][0][3]["design"]
    assert (said["unit"], said["time"], said["strata"]) == ("patient", "day", ())
    capsys.readouterr()
    assert run(path, "--memory", "25MB", "--explain") == 0
    assert "compared on a sample of the rows" in capsys.readouterr().out


_CHOOSING = """
import icsa.choice, icsa.cli.large_reports
from tests.cli.test_large_choosing import Said, advising
icsa.cli.large_reports.assess_large = lambda *_given, **_options: Said("release")
icsa.choice.compare_stored = advising()
"""


def test_a_killed_run_goes_on_with_what_was_chosen(
    big: Path, frame: pl.DataFrame, monkeypatch: pytest.MonkeyPatch, word: Said
):
    asked = ["anonymize", str(big), "--choose", "--memory", SMALL, "--seed", "1", "-q"]
    with waiting_after("masking-0", *asked, first=_CHOOSING) as first:
        first.kill()

    def again(*_given: Any, **_options: Any) -> Compared:
        raise AssertionError

    monkeypatch.setattr("icsa.choice.compare_stored", again)
    assert cli.run([*asked, "--resume"]) == 0
    released = pl.read_parquet(big.with_name("big.release.parquet"))
    assert released.equals(anonymize(frame, random_state=1, **TOPCODE.options).table)
    assert names(big.parent) == ["big.parquet", "big.release.parquet"]


def test_what_cannot_be_is_told_before_the_race(big: Path, capsys: pytest.CaptureFixture[str]):
    assert run(big, "--model", "kg ~ height") == 2
    assert "height" in capsys.readouterr().err
    assert run(big, "--method", "sa") == 2
    assert "--choose finds out what --method is to be" in capsys.readouterr().err
    assert names(big.parent) == ["big.parquet"]

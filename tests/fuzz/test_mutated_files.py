"""Whatever the bytes are, the command ends with a release or with one sentence, never otherwise.

``pytest --thorough -m fuzz tests/fuzz`` goes through 1,000 files; the normal run through 30.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from icsa import cli
from icsa.tables import read_table

from .mutations import HEADER, SECRET, mutation, original

QUICK, MANY, PARTS = 30, 1000, 10
# Spectral anonymization is quicker, and most of the way is the same.
OPTIONS = (
    ("--method", "sa"),
    ("--method", "sa", "--recipe", "topcode"),
    ("--method", "sa", "--recipe", "paper", "--json"),
    ("--mask", "rotate"),
    ("--quiet",),
)


def complaint_about(
    data: bytes, folder: Path, capsys: pytest.CaptureFixture[str], options: Sequence[str]
) -> str:
    """Return what is wrong with the way the command deals with a file; nothing if nothing is."""
    file, release = folder / "table.csv", folder / "table.release.csv"
    file.write_bytes(data)
    release.unlink(missing_ok=True)
    code = cli.run(["anonymize", str(file), *options])
    shown = capsys.readouterr()
    wrong = []
    if code not in (0, 2):
        wrong.append(f"exit code {code}")
    if (code == 0) != release.exists():
        wrong.append("no release in spite of success, or one in spite of an error")
    if code == 0:
        before, after = read_table(file).frame, read_table(release).frame
        if before.height != after.height:
            wrong.append("rows got lost")
        if not set(after.columns) <= set(before.columns):
            wrong.append("a column appeared")
    if code != 0 and not (shown.err.startswith("icsa: error: ") and shown.err.count("\n") == 1):
        wrong.append("no error of one line")
    if "Traceback" in shown.err + shown.out:
        wrong.append("a traceback")
    named = data.startswith(HEADER.encode() + b"\n")
    if named and SECRET in shown.err + shown.out:
        wrong.append("a cell is shown")
    if file.read_bytes() != data:
        wrong.append("the input was touched")
    left = {path.name for path in folder.iterdir()} - {file.name, release.name}
    if left:
        wrong.append("something is left behind")
    return "; ".join(wrong) and f"{'; '.join(wrong)}: {shown.err.strip()}"


def complaints(numbers: range, folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[int, str]:
    found = {
        n: complaint_about(mutation(n), folder, capsys, OPTIONS[n % len(OPTIONS)]) for n in numbers
    }
    return {number: complaint for number, complaint in found.items() if complaint}


def test_the_table_without_an_accident_is_released(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not complaint_about(original(), tmp_path, capsys, OPTIONS[0])
    assert (tmp_path / "table.release.csv").exists()


def test_mutations_are_many_and_the_same_every_time() -> None:
    files = [mutation(number) for number in range(200)]
    assert files == [mutation(number) for number in range(200)]
    assert len(set(files)) > 190


def test_a_few_mutated_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert complaints(range(0, 5 * QUICK, 5), tmp_path, capsys) == {}


@pytest.mark.fuzz
@pytest.mark.thorough
@pytest.mark.parametrize("part", range(PARTS))
def test_a_thousand_mutated_files(
    part: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert complaints(range(part, MANY, PARTS), tmp_path, capsys) == {}

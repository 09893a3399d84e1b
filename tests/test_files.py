"""Files appear as a whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from icsa.files import write_atomically, write_text_atomically


def test_a_failed_writer_leaves_the_old_file_and_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    write_text_atomically(path, "old\n")

    def fail(beside: Path) -> None:
        beside.write_text("ha")
        raise ArithmeticError("half way")

    with pytest.raises(ArithmeticError, match="half way"):
        write_atomically(path, fail)
    assert path.read_text() == "old\n"
    assert list(tmp_path.iterdir()) == [path]


def test_the_name_beside_ends_alike_so_that_writers_know_the_format(tmp_path: Path) -> None:
    names = []

    def note(beside: Path) -> None:
        names.append(beside)
        beside.touch()

    write_atomically(tmp_path / "figure.svg", note)
    assert names[0].parent == tmp_path
    assert names[0].name.startswith(".tmp-")
    assert names[0].name.endswith("-figure.svg")


def test_text_has_the_same_bytes_everywhere(tmp_path: Path) -> None:
    write_text_atomically(tmp_path / "a.txt", "µ\n")
    assert (tmp_path / "a.txt").read_bytes() == b"\xc2\xb5\n"

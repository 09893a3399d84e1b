"""The README's commands are those that CI runs, and what it says they print is printed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from icsa import cli

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "examples" / "outliers.py"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)


def run_example(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(EXAMPLE), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_the_two_commands() -> None:
    assert [block.strip() for block in blocks("sh")] == [
        "pip install . && icsa anonymize examples/clinic.csv",
        "pip install '.[test]' && pytest",
    ]


def test_ci_takes_its_commands_from_the_readme() -> None:
    """Run the lines of .ci/run that read the README, and nothing else of it."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    start, end = script.index("mapfile"), script.index("\nsay ", script.index("mapfile"))
    found = subprocess.run(
        [
            "bash",
            "-euo",
            "pipefail",
            "-c",
            script[start:end] + '\nprintf "%s\\n" "$example" "$tests"',
        ],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert found.stdout.splitlines() == [block.strip() for block in blocks("sh")]
    assert 'run "$tests"' in script
    assert 'run "$example"' in script
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_the_first_command_prints_what_the_readme_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "examples").mkdir()
    shutil.copy(ROOT / "examples" / "clinic.csv", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    _, _, command = blocks("sh")[0].strip().partition(" && icsa ")
    assert cli.run(command.split()) == 0
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    (shown,) = blocks("text")
    for line in shown.splitlines():
        assert line in printed or line == "..."
    released, original = (
        len(Path(name).read_text(encoding="utf-8").splitlines())
        for name in ("examples/clinic.release.csv", "examples/clinic.csv")
    )
    assert released == original


def test_what_the_first_command_writes_is_ignored_by_git() -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "examples/*.release.*" in ignored


def test_the_example_prints_what_the_tutorial_shows() -> None:
    finished = run_example()
    assert finished.returncode == 0, finished.stderr
    shown = (ROOT / "docs" / "tutorial.rst").read_text(encoding="utf-8")
    table = finished.stdout[finished.stdout.index("  row 40") :].splitlines()[:6]
    assert all(line.strip() in shown for line in table)


def test_the_example_writes_a_release_only_when_asked(tmp_path: Path) -> None:
    file = tmp_path / "released.csv"
    finished = run_example("--releases", "2", "--output", str(file))
    assert finished.returncode == 0, finished.stderr
    original = np.loadtxt(EXAMPLE.with_name("patients.csv"), delimiter=",", skiprows=1)
    released = np.loadtxt(file, delimiter=",", skiprows=1)
    # A fresh key: medians vary by about .07 standard deviations.
    spread = 1.4826 * np.median(np.abs(original - np.median(original, axis=0)), axis=0)
    apart = np.abs(np.median(released, axis=0) - np.median(original, axis=0))
    assert (apart < 0.5 * spread).all()
    assert not {tuple(row) for row in released} & {tuple(row) for row in original}
    again = run_example("--output", str(file))
    assert again.returncode == 2
    assert "exists" in again.stderr


def test_the_shipped_table_is_what_its_recipe_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import make_patients

    monkeypatch.setattr(make_patients, "FILE", tmp_path / "patients.csv")
    make_patients.main()
    shipped = EXAMPLE.with_name("patients.csv").read_text(encoding="utf-8")
    assert make_patients.FILE.read_text(encoding="utf-8") == shipped


def test_the_snippet_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (snippet,) = blocks("python")
    names: dict[str, Any] = {}
    exec(snippet, names)
    assert names["release"].table.height == names["frame"].height
    assert set(names["frame"].columns) - set(names["release"].table.columns) == {"remark"}


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)]+)\)", README))
def test_links_lead_somewhere(link: str) -> None:
    assert (ROOT / link).exists()

"""Shell completion: what a shell asks while somebody types, and what it is answered."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from icsa import cli

SHELLS = ("bash", "zsh", "fish")


def asked(words: str, shell: str = "bash") -> dict[str, str]:
    """Return the variables by which a shell asks for the last of some words."""
    return {
        "_ICSA_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
        "_TYPER_COMPLETE_ARGS": words,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }


@pytest.fixture
def completed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """What is answered to a shell, which gives no arguments."""

    def answer(words: str, shell: str = "bash") -> str:
        for name, value in asked(words, shell).items():
            monkeypatch.setenv(name, value)
        assert cli.run([]) == 0
        shown = capsys.readouterr()
        assert not shown.err
        return shown.out

    return answer


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("icsa ano", ["anonymize"]),
        ("icsa a", ["anonymize", "app", "assess", "attack"]),
        ("icsa study t", ["theorem"]),
        ("icsa anonymize --sc", ["--scatters", "--schema", "--scratch"]),
        ("icsa anonymize people.csv --ou", ["--output"]),
        (
            "icsa --version ",
            [
                *("anonymize", "app", "assess", "attack", "compare", "inspect", "policy"),
                *("scatters", "study", "verify"),
            ],
        ),
        ("icsa anonymize peo", []),  # names of files are completed by the shell itself
    ],
)
def test_bash_is_answered_what_can_follow(words: str, expected: list[str], completed) -> None:
    assert sorted(completed(words).split()) == expected


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_is_answered_one_command(shell: str, completed) -> None:
    answer = completed("icsa ano", shell)
    assert "anonymize" in answer
    assert "assess" not in answer
    assert "Usage" not in answer


def test_what_no_shell_asks_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_ICSA_COMPLETE", "complete_nothing")
    assert cli.run([]) == 2
    assert capsys.readouterr().err


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_a_real_bash_completes(tmp_path: Path) -> None:
    command = tmp_path / "icsa"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m icsa "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    script = """
        source <(icsa --show-completion)
        COMP_WORDS=(icsa ano) COMP_CWORD=1
        $(complete -p icsa | sed 's/.*-F \\([^ ]*\\).*/\\1/') icsa
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    shown = subprocess.run(
        ["bash", "--norc", "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    assert (shown.stdout, shown.stderr) == ("anonymize\n", "")

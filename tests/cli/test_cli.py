"""The command line: help without weight, one clear error, exit codes, no colours when piped."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import icsa
from icsa import cli
from icsa.cli import commands
from icsa.errors import ConvergenceError, InputError
from icsa.scatters import SCATTERS

ESCAPE = "\x1b"


def icsa_command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Return what ``python -m icsa ARGUMENTS`` does with its output piped."""
    return subprocess.run(
        [sys.executable, "-m", "icsa", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
    )


def in_terminal(*arguments: str, **environment: str) -> str:
    """Return what the command shows on a terminal."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    variables = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "icsa", *arguments],
        stdout=theirs,
        stderr=theirs,
        env={**variables, "TERM": "xterm-256color", "COLUMNS": "80", **environment},
    )
    os.close(theirs)
    shown = b""
    try:
        while block := os.read(ours, 4096):
            shown += block
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(ours)
    assert process.wait(60) == 0
    return shown.decode()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "List the scatters"),
        (["--help"], "Reproduce the paper"),
        (["-h"], "--version"),
        (["study", "--help"], "simulation  Hide planted outliers"),
        (["study", "simulation", "--help"], "--repetitions COUNT"),
        (["study", "wdbc", "--help"], "--scatters PAIR"),
        (["study", "theorem", "--help"], "--distance H"),
        (["study", "attacks", "--help"], "--attack NAME"),
    ],
)
def test_help(arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(arguments) == 0
    shown = capsys.readouterr()
    assert expected in shown.out
    assert not shown.err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--version"]) == 0
    assert capsys.readouterr().out == f"icsa {icsa.__version__}\n"


def test_python_m_icsa_lists_every_scatter_with_its_class_without_colours() -> None:
    finished = icsa_command("scatters")
    assert (finished.returncode, finished.stderr) == (0, "")
    assert ESCAPE not in finished.stdout
    rows = {
        line.split()[0]: line.split(maxsplit=2) for line in finished.stdout.splitlines() if line
    }
    for name, scatter in SCATTERS.items():
        _, robustness, summary = rows[name]
        assert (robustness, summary.strip()) == (scatter.robustness, scatter.summary)


def test_a_terminal_has_styles_unless_no_color_is_set() -> None:
    assert ESCAPE in in_terminal("scatters")
    assert ESCAPE not in in_terminal("scatters", NO_COLOR="1")


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from icsa.cli import run; assert run(['study', 'simulation', '--help']) == 0;"
        "heavy = {'numpy', 'numba', 'scipy', 'sklearn', 'polars', 'rich', 'joblib',"
        "'matplotlib', 'distributed'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["stdy"], "No such command 'stdy'. Did you mean 'study'? Try 'icsa --help'."),
        (["study"], "Missing command. Try 'icsa study --help'."),
        (["study", "wbdc"], "Did you mean 'wdbc'? Try 'icsa study --help'."),
        (["scatters", "--nothing"], "No such option: --nothing. Try 'icsa scatters --help'."),
        (["study", "simulation", "--n", "many"], "Invalid value for '--n'"),
        (["study", "theorem", "--workers", "0"], "Invalid value for '--workers'"),
        (["scatters", "more"], "unexpected extra argument"),
    ],
)
def test_bad_options_are_one_clear_error_and_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(arguments) == 2
    shown = capsys.readouterr()
    assert not shown.out
    assert shown.err.startswith("icsa: error: ")
    assert message in shown.err
    assert shown.err.count("\n") == 1


def raising(error: BaseException) -> object:
    def invoke(arguments: list[str]) -> int:
        raise error

    return invoke


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InputError("The table has no columns."), 2, "error: The table has no columns."),
        (ConvergenceError("Not there."), 2, "error: Not there."),
        (PermissionError(13, "Permission denied", "/out"), 2, "error: /out: Permission denied"),
        (OSError("No space"), 2, "error: No space"),
        (KeyboardInterrupt(), 130, "interrupted. Nothing was written."),
    ],
)
def test_exit_codes_of_what_is_no_bug(
    error: BaseException,
    code: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(commands, "invoke", raising(error))
    assert cli.run(["anything"]) == code
    shown = capsys.readouterr().err
    assert shown.startswith(f"icsa: {message}")
    assert shown.count("\n") == 1


def test_a_bug_is_exit_code_1_and_its_words_are_shown_with_debug_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = TypeError("could not convert '41, HIV+'")
    error.add_note("This was in job 'a'.")
    monkeypatch.setattr(commands, "invoke", raising(error))
    assert cli.run(["anything"]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith("icsa: this is a bug in icsa: TypeError in icsa.cli, line ")
    assert "This was in job 'a'. Report it " in shown
    assert "what the same command prints with --debug" in shown
    assert "HIV" not in shown
    assert cli.run(["anything", "--debug"]) == 1
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_the_job_of_an_error_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = InputError("Bad.")
    error.add_note("This was in job 'a'.")
    monkeypatch.setattr(commands, "invoke", raising(error))
    assert cli.run(["anything"]) == 2
    assert capsys.readouterr().err == "icsa: error: Bad. This was in job 'a'.\n"


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m icsa scatters | head -1"
    finished = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    assert finished.stdout.startswith("scatter")
    assert not finished.stderr


def test_the_installed_command_is_this_one() -> None:
    from importlib.metadata import entry_points

    (command,) = entry_points(group="console_scripts", name="icsa")
    assert command.load() is cli.main


def test_main_exits_with_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["icsa", "--version"])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 0

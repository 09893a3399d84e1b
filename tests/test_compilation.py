"""Kernels are compiled once, in one form, announced by one line, and cached in some folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from icsa import compilation

_RELEASE = """
import numpy as np
from icsa import anonymize_matrix
x = np.random.default_rng(0).normal(size=(40, 3))
anonymize_matrix(x, random_state=1)
print("done")
"""


def outside_of_tests() -> dict[str, str]:
    """Return the variables with which the compilation of kernels is told."""
    return {name: value for name, value in os.environ.items() if name != compilation.SILENT}


def _run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**outside_of_tests(), **environment},
        capture_output=True,
        text=True,
        check=True,
    )


def test_a_cold_cache_is_announced_once_and_a_warm_one_not(tmp_path: Path) -> None:
    cold = _run(_RELEASE, NUMBA_CACHE_DIR=str(tmp_path))
    warm = _run(_RELEASE, NUMBA_CACHE_DIR=str(tmp_path))
    assert cold.stdout == warm.stdout == "done\n"
    assert cold.stderr.count("compiling kernels") == 1
    assert cold.stderr.count("\n") == 1
    assert warm.stderr == ""


def test_processes_leave_it_to_the_one_that_started_them(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = """
import os, subprocess, sys
from icsa.compilation import silent_children

def child(place):  # with a cache of its own: as cold as those of processes that start together
    code = "from icsa.compilation import _incremented; _incremented(1.0)"
    cache = os.path.join(sys.argv[1], place)
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "NUMBA_CACHE_DIR": cache})

with silent_children():
    child("first")
    child("second")
sys.stderr.flush()
print("between", file=sys.stderr, flush=True)
child("third")
"""
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        env={**outside_of_tests(), "NUMBA_CACHE_DIR": str(tmp_path / "own")},
        check=True,
    )
    within, after = capfd.readouterr().err.split("between")
    assert within.count("compiling kernels") == 1
    assert after.count("compiling kernels") == 1


_COUNT = """
import sys
import numpy as np, pandas as pd
from numba.core.registry import CPUDispatcher
from icsa import ICSAnonymizer, anonymize_matrix
rng = np.random.default_rng(0)
for shape in [(40, 4), (120, 8), (2000, 3)]:
    x = rng.normal(size=shape)
    for table in (x, np.asfortranarray(x), pd.DataFrame(x)):
        ICSAnonymizer(random_state=1).fit_transform(table)
anonymize_matrix(np.column_stack([x, x[:, 0], x[:, 0] * 0]), decorrelate=True)
anonymize_matrix(rng.normal(size=(70_000, 3)), scatters=("hr", "tyler"))
for name, module in sorted(sys.modules.items()):
    if name.startswith("icsa."):
        for member, value in vars(module).items():
            if isinstance(value, CPUDispatcher) and value.py_func.__module__ == name:
                print(name, member, len(value.signatures))
"""


def test_every_kernel_is_compiled_for_one_signature() -> None:
    counts = [line.split() for line in _run(_COUNT).stdout.splitlines()]
    assert len(counts) > 12
    assert [line for line in counts if int(line[2]) > 1] == []


def test_without_a_writable_folder_the_cache_goes_to_a_private_temporary_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(compilation.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    calls = []
    real = numba.njit
    real(_doubled)(1.0)  # the first compilation imports parts of numba that are compiled themselves

    def without_home(*function, **options):
        if function:  # numba's own, decorated when they are first imported
            return real(*function, **options)
        calls.append(options)
        if len(calls) == 1:
            raise RuntimeError("cannot cache function: no locator available")
        return real(**options)

    monkeypatch.setattr(compilation.numba, "njit", without_home)
    doubled = compilation.kernel(_doubled)
    assert doubled(np.float64(4.0)) == 8.0
    folder = Path(numba.config.CACHE_DIR)
    assert folder.parent == tmp_path
    assert folder.stat().st_mode & 0o077 == 0
    assert any(folder.rglob("*.nbi"))


def test_a_folder_that_others_can_write_to_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(compilation.tempfile, "gettempdir", lambda: str(tmp_path))
    assert compilation._private_temporary_folder() != ""
    for folder in tmp_path.iterdir():
        folder.chmod(0o777)
    assert compilation._private_temporary_folder() == ""


def _doubled(value):
    return value * 2

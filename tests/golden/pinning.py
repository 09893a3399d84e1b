"""A process whose arithmetic is the same on every processor that can run it.

Linear algebra, numpy's loops, compiled kernels and the mathematical functions of the C library are
each told which instructions to use. What is left are the versions of the libraries.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

_LIBRARIES = (
    *("numpy", "scipy", "numba", "llvmlite", "scikit-learn", "pandas", "polars", "pyarrow"),
    *("pyreadstat", "xlsxwriter"),
)
# Whether OpenBLAS has this kernel, and this processor its instructions, is asked of it.
_KERNEL = "Haswell"
_PROBE = """
import numpy, scipy.linalg, threadpoolctl
from numpy._core import _multiarray_umath as loops
a = numpy.eye(50)
scipy.linalg.eigh(a @ a)
pools = threadpoolctl.threadpool_info()
print(*{pool["architecture"] for pool in pools if pool["internal_api"] == "openblas"}, sep=",")
print(*[name for name in loops.__cpu_dispatch__ if loops.__cpu_features__[name]])
"""


def versions() -> dict[str, str]:
    """Return what the bytes depend on besides the program: library and system versions."""
    return {
        "system": f"{platform.system()} {platform.machine()} {'-'.join(platform.libc_ver())}",
        "python": ".".join(platform.python_version_tuple()[:2]),
        **{name: version(name) for name in _LIBRARIES},
    }


def why_not(stored: dict[str, str]) -> str:
    """Return why what is stored cannot be made again here, or nothing."""
    here = versions()
    others = [
        f"{name} {stored.get(name)} (here {here[name]})"
        for name in here
        if here[name] != stored.get(name)
    ]
    if others:
        return f"made with {', '.join(others)}"
    kernels = _probed({"OPENBLAS_CORETYPE": _KERNEL})[0]
    return (
        ""
        if kernels == _KERNEL
        else f"OpenBLAS has {kernels or 'no kernels'} here instead of {_KERNEL}"
    )


def run_pinned(folder: Path) -> None:
    """Run `tests.golden.cases` in a pinned process; raise where it fails."""
    with tempfile.TemporaryDirectory() as compiled:
        environment = {
            **os.environ,
            "OPENBLAS_CORETYPE": _KERNEL,
            "OPENBLAS_NUM_THREADS": "1",
            "NPY_DISABLE_CPU_FEATURES": _probed({})[1],
            "NUMBA_CPU_NAME": "generic",
            "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR", compiled),
            "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4",
            "SOURCE_DATE_EPOCH": "0",  # an assessment says when it was made
        }
        ended = subprocess.run(
            [sys.executable, "-m", "tests.golden.cases", str(folder)],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
        )
    if ended.returncode:
        raise RuntimeError(f"The golden files could not be made:\n{ended.stderr}")


def _probed(variables: dict[str, str]) -> tuple[str, str]:
    """Return OpenBLAS's kernels and numpy's loops under some variables; none where they fail."""
    ended = subprocess.run(
        [sys.executable, "-c", _PROBE], env={**os.environ, **variables}, capture_output=True
    )
    if ended.returncode:
        return "", ""
    kernels, loops = ended.stdout.decode().split("\n")[:2]
    return kernels, loops

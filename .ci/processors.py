"""Run the statistical tests as other processors would: other linear algebra, other compiled code.

Sums come out with other last digits there, and no result may hang on them. Three kernels of
OpenBLAS stand for processors of three ages; for the oldest, numpy's own loops use no instructions
of newer ones either. Numba compiles once for a processor about which nothing is known. Each run
asks the libraries themselves what they use, so that none repeats another, or the run of everything;
what this processor cannot do is skipped, and the reason printed.

    python .ci/processors.py [arguments of pytest]
"""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What each kernel calls itself. Builds for 64 bits have one for all processors before 2008, and say
# the first of its names.
KERNELS = {
    "SkylakeX": {"SkylakeX"},
    "Haswell": {"Haswell"},
    "Prescott": {"Prescott", "Katmai"},
}

# What goes through linear algebra and decides something by its outcome: who stands out, what
# depends on what, what varies, what a release looks like. More than half of the time of these
# packages goes to searches by brute force, to the laws of every scatter and kind of column, and to
# texts: they are left to the run of everything.
LINEAR_ALGEBRA = (
    *("tests/test_correlations.py", "tests/test_last_digits.py", "tests/test_ics.py"),
    *("tests/test_matrices_and_linalg.py", "tests/test_masks.py", "tests/test_anonymization.py"),
    *("tests/test_redraw.py", "tests/test_inspection.py", "tests/test_rounding.py"),
    *("tests/attacks", "tests/columns", "tests/constraints", "tests/privacy", "tests/release"),
    *("tests/scatters", "tests/utility"),
    "--ignore=tests/release/blocks",  # see FROM_FILES
    *(
        f"--ignore=tests/{slow}.py"
        for slow in (
            "attacks/test_differencing",
            "attacks/test_digits",
            "columns/test_column_laws",
            "release/test_account_notes",
            "release/test_far_dates",
            "release/test_moved_counts",
            "scatters/test_mcd_kernels",
            "scatters/test_mm_estimate",
            "scatters/test_s_estimate",
            "utility/test_lasso",
            "utility/test_models",
        )
    ),
)

# A release from files beside one in memory, of more than 200,000 rows. Dot products of the oldest
# kernels have other last digits where a column lies otherwise in memory; with those of newer ones,
# which is what the run of everything has, they do not. Of each way that a table can go, some tests.
FROM_FILES = (
    *(
        str(path.relative_to(ROOT))
        for path in sorted(ROOT.glob("tests/release/blocks/test_*same_cells.py"))
    ),
    "-k",
    "whatever or principal or large_stratum or all_kinds_and or weights or edges0",
)

# Where kernels that numba compiles are compared with slow twins.
COMPILED = (
    *("tests/test_last_digits.py", "tests/test_mapping.py", "tests/test_masks.py"),
    *("tests/test_redraw.py", "tests/columns/test_counts.py"),
    "tests/columns/test_transforms.py",
    *("tests/privacy/test_neighbours.py", "tests/privacy/test_replication.py"),
    *("tests/privacy/test_counting_kernels.py", "tests/privacy/test_near_filter.py"),
    *("tests/scatters/test_mcd_estimate.py", "tests/scatters/test_mcd_kernels.py"),
    *("tests/scatters/test_mixing.py", "tests/scatters/test_pairs.py"),
    *("tests/scatters/test_univariate.py", "tests/scatters/test_weighting.py"),
    *("tests/utility/test_margins.py", "tests/utility/test_regression.py"),
)

# Each library is asked after it has worked: numpy and scipy bring an OpenBLAS each.
PROBE = """
import json
import numpy, scipy.linalg, threadpoolctl
from numba.core.registry import cpu_target
from numpy._core import _multiarray_umath as loops
a = numpy.random.default_rng(0).normal(size=(200, 200))
scipy.linalg.eigh(a @ a.T), numpy.linalg.solve(a, a)
pools = threadpoolctl.threadpool_info()
print(json.dumps({
    "kernels": [pool["architecture"] for pool in pools if pool["internal_api"] == "openblas"],
    "loops": [name for name in loops.__cpu_dispatch__ if loops.__cpu_features__[name]],
    "compiled": cpu_target.target_context.codegen().magic_tuple()[1],
}))
"""


def main() -> int:
    """Return 0 where everything that this processor can do passed."""
    passed, seen = True, set()
    usual = probed({})
    print(f"this processor: {told(usual)}")
    for kernel, names in KERNELS.items():
        variables, runs = {"OPENBLAS_CORETYPE": kernel}, [LINEAR_ALGEBRA]
        if kernel == "Prescott":
            variables["NPY_DISABLE_CPU_FEATURES"] = " ".join(usual["loops"])
            runs.append(FROM_FILES)
        found = probed(variables)
        reason = why_not(found, names)
        if reason:
            print(f"\n--- {kernel}: skipped, {reason}")
            continue
        seen.add(kernel)
        if found == usual:
            print(f"\n--- {kernel}: skipped, the run of everything used it")
            continue
        for tests in runs:
            passed &= tested(kernel, told(found), variables, tests)
    with tempfile.TemporaryDirectory() as cache:
        variables = {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": cache}
        found = probed(variables)
        if found.get("compiled") != "generic":
            print(f"\n--- generic: numba compiles for {found.get('compiled')} all the same")
            return 1
        passed &= tested("generic", told(found), variables, COMPILED)
    if platform.machine() in ("x86_64", "AMD64") and len(seen) < 2:
        print("\nFewer than two kernels could be tried: nothing was compared.")
        return 1
    return 0 if passed else 1


def probed(variables: dict[str, str]) -> dict:
    """Return what the libraries use under some variables, or what ended the attempt."""
    ended = subprocess.run(
        [sys.executable, "-c", PROBE], env={**os.environ, **variables}, capture_output=True
    )
    if ended.returncode == -signal.SIGILL:
        return {"refused": "this processor lacks its instructions"}
    if ended.returncode:
        raise SystemExit(ended.stderr.decode() or f"The probe ended with {ended.returncode}.")
    return json.loads(ended.stdout)


def why_not(found: dict, names: set[str]) -> str:
    """Return why a kernel cannot be tried, or nothing."""
    if "refused" in found:
        return found["refused"]
    if not found["kernels"]:
        return "numpy and scipy do not use OpenBLAS here"
    others = {name for name in found["kernels"] if name not in names}
    return f"OpenBLAS takes {', '.join(sorted(others))} instead" if others else ""


def told(found: dict) -> str:
    """Return what the libraries use, in words."""
    kernels = ", ".join(found["kernels"]) or "none of OpenBLAS"
    loops = " ".join(found["loops"]) or "the oldest only"
    return f"kernels {kernels}; numpy's loops {loops}; numba for {found['compiled']}"


def tested(name: str, told: str, variables: dict[str, str], tests: tuple[str, ...]) -> bool:
    """Return whether the tests pass under some variables."""
    print(f"\n--- {name}: {told}", flush=True)
    start = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *sys.argv[1:]]
    # Several processes test at a time: more threads would only wait for each other.
    environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ, **variables}
    ended = subprocess.run([*command, *tests], cwd=ROOT, env=environment)
    print(f"--- {name}: {'passed' if ended.returncode == 0 else 'FAILED'}", end=" ")
    print(f"in {time.monotonic() - start:.0f} s", flush=True)
    return ended.returncode == 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Mask a table of N x P cells with THREADS threads and print the peak memory in bytes."""

import json
import resource
import sys
from pathlib import Path

import numpy as np

from icsa.anonymization import masked_copy
from icsa.ics import invariant_coordinates


def peak_bytes() -> int:
    """Return the most memory this program has held.

    Linux hands ru_maxrss down from the parent, which holds large tables; VmHWM starts at zero.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        unit = 1 if sys.platform == "darwin" else 1024
        return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


n, p, threads = map(int, sys.argv[1:])
generator = np.random.default_rng(0)
sample = generator.normal(size=(100_000, p))
coordinates = invariant_coordinates(sample, scatters=("cov", "cov4"))
masked_copy(sample, coordinates, threads=threads)  # loads every kernel
baseline = peak_bytes()
x = np.empty((n, p))
generator.standard_normal(out=x)
masked_copy(x, coordinates, threads=threads)
print(json.dumps({"baseline": baseline, "peak": peak_bytes(), "table": x.nbytes}))

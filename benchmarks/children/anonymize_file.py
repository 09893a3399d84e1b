"""Anonymize FILE to OUTPUT by the command, and print seconds and the peak memory in bytes."""

import json
import sys
import time
from pathlib import Path

from icsa.cli import run

start = time.perf_counter()
code = run(["anonymize", sys.argv[1], "--output", sys.argv[2], "--force", "--quiet"])
seconds = time.perf_counter() - start
lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
peak = 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
print(json.dumps({"code": code, "seconds": seconds, "peak": peak}))

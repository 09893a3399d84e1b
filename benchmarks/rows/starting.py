"""The first seconds: imports, commands, and the first release with several states of its cache."""

from __future__ import annotations

import compileall
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import icsa
from benchmarks.children import Child, run_child
from benchmarks.results import Case, Row, Target
from benchmarks.rows.settings import Settings

__all__ = ["cases"]

_COLD, _WARM = Target("ours", 10.0), Target("ours", 1.5)
_ROOT = Path(__file__).parents[2]
_COMMANDS = {"--help": 0.3, "inspect examples/clinic.csv": 1.5}
_CPU = "s CPU"
# What `import icsa` must not load.
_HEAVY = ("matplotlib", "numba", "pandas", "polars", "scipy.stats", "sklearn")
_NOTICE = "icsa: compiling"
# Runs a command with a folder mounted read-only, in a mount namespace of its own.
_READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'


def cases(settings: Settings) -> Iterator[Case]:
    """Yield the imports and the first releases."""
    runs = settings.choose(5, 2)
    yield Case("import icsa", partial(_import_rows, "import icsa", "icsa", runs))
    core = "import icsa.anonymization"
    yield Case(core, partial(_import_rows, core, "icsa.anonymization", runs))
    for command, limit in _COMMANDS.items():
        name = f"command icsa {command}"
        yield Case(name, partial(_command_rows, name, command.split(), limit, 2 * runs))
    name = "first release 120x8"
    yield Case(name, partial(_release_rows, name, settings.choose(3, 1), runs))
    for locked, writable_home in (("package", True), ("package and home", False)):
        name = f"first release 120x8 read-only {locked}"
        yield Case(name, partial(_read_only_rows, name, writable_home, runs))


def _import_rows(name: str, module: str, runs: int) -> list[Row]:
    children = [run_child("importing", module) for _ in range(runs)]
    loaded = set(children[-1].answer["modules"])
    heavy = [package for package in _HEAVY if package in loaded]
    light = module == "icsa"
    return [
        Row(
            name,
            statistics.median(child.answer["seconds"] for child in children),
            target=Target("ours", 0.5) if light else None,
            remark=f"loads {len(loaded)} modules; of the heavy ones: {', '.join(heavy) or 'none'}",
            details={
                "whole_process": statistics.median(child.elapsed for child in children),
                "modules": len(loaded),
                "heavy_modules": heavy,
            },
        )
    ]


def _command_rows(name: str, arguments: Sequence[str], limit: float, runs: int) -> list[Row]:
    """Return the time of a command from start to end, after one that fills the caches."""
    elapsed = []
    for _ in range(1 + runs):
        start = time.perf_counter()
        command = [sys.executable, "-m", "icsa", *arguments]
        subprocess.run(command, cwd=_ROOT, check=True, capture_output=True)
        elapsed.append(time.perf_counter() - start)
    longest = max(elapsed[1:])
    return [
        Row(
            name,
            statistics.median(elapsed[1:]),
            target=Target("ours", limit),
            remark=f"from start to end, {runs} times; the longest {longest:.2f} s",
            details={"elapsed": elapsed[1:]},
        )
    ]


def _release_rows(name: str, cold_runs: int, warm_runs: int) -> list[Row]:
    """Return the first release with an empty folder for kernels, and the next ones."""
    cold = []
    for _ in range(cold_runs):
        with tempfile.TemporaryDirectory() as folder:
            place = {"NUMBA_CACHE_DIR": folder}
            cold.append(run_child("release", environment=place))
            warm = [run_child("release", environment=place) for _ in range(warm_runs)]
    return [
        _release_row(f"{name} empty cache", cold, _COLD, notices=1),
        _release_row(f"{name} warm cache", warm, _WARM, notices=0),
    ]


def _release_row(name: str, children: Sequence[Child], target: Target, notices: int) -> Row:
    said = [child.errors.count(_NOTICE) for child in children]
    as_meant = "as it should be" if said == [notices] * len(said) else "WRONG"
    return Row(
        name,
        statistics.median(child.cpu for child in children),
        unit=_CPU,
        target=target,
        remark=f"lines about compiling: {said[-1]}, {as_meant}",
        details={
            "elapsed": statistics.median(child.elapsed for child in children),
            "cpu": [child.cpu for child in children],
            "lines_about_compiling": said,
        },
    )


def _read_only_rows(name: str, writable_home: bool, warm_runs: int) -> list[Row]:
    """Return releases from a package folder that is read-only, and perhaps a home that is too."""
    with tempfile.TemporaryDirectory() as folder:
        locked, free = Path(folder) / "locked", Path(folder) / "free"
        package = locked / "icsa"
        (locked / "home").mkdir(parents=True)
        (free / "home").mkdir(parents=True)
        through = ["unshare", "-m", "sh", "-c", _READ_ONLY, "sh", str(locked)]
        if not _works(through):
            reason = "folders cannot be mounted read-only here"
            return [Row(name, unit=_CPU, target=_WARM, absent=reason, remark=reason)]
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(icsa.__file__).parent, package, ignore=ignored)
        compileall.compile_dir(package, quiet=2)  # as pip does
        environment: Mapping[str, str | None] = {
            "NUMBA_CACHE_DIR": None,
            "XDG_CACHE_HOME": None,
            "PYTHONPATH": str(locked),
            "HOME": str((free if writable_home else locked) / "home"),
            "TMPDIR": str(free),
        }
        runs = [
            run_child("release", environment=environment, through=through)
            for _ in range(1 + warm_runs)
        ]
        _require_displaced(runs, package, free)
    return [
        _release_row(f"{name}, empty cache", runs[:1], _COLD, notices=1),
        _release_row(f"{name}, warm cache", runs[1:], _WARM, notices=0),
    ]


def _works(through: Sequence[str]) -> bool:
    """Tell whether the folder is really read-only to what is started through the command."""
    if shutil.which(through[0]) is None:
        return False
    mounted = subprocess.run([*through, "true"], capture_output=True).returncode == 0
    touched = subprocess.run([*through, "touch", f"{through[-1]}/probe"], capture_output=True)
    return mounted and touched.returncode != 0


def _require_displaced(runs: Sequence[Child], package: Path, free: Path) -> None:
    """Check that the copy was what ran, and that its kernels went where they could be written."""
    if any(Path(run.answer["package"]).parent != package for run in runs):
        raise RuntimeError("Another icsa than the read-only copy was imported.")
    if any(package.rglob("*.nbi")) or not any(free.rglob("*.nbi")):
        raise RuntimeError("The kernels are not where they should be.")

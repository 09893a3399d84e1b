"""Singling out and linkability beside Anonymeter's own package, on two tables.

``python -m benchmarks.anonymeter_peer --peer PYTHON TABLE...`` prints both programs' success rates
about people in the table and in the control. PYTHON is that of an environment of its own which has
``anonymeter`` (it wants an older NumPy); TABLE is a CSV file. Half of each table's complete rows
are released, twice: by icsa, and by a careless synthesis that copies one row in four. The other
half is the control.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ATTACKS = 500
HALVES = ("original", "released", "control")


def peer(folder: Path) -> None:
    """Print what Anonymeter finds, as JSON; run in its own environment."""
    import pandas as pd
    from anonymeter.evaluators import LinkabilityEvaluator, SinglingOutEvaluator

    ori, syn, control = (pd.read_csv(folder / f"{name}.csv") for name in HALVES)
    found = {}
    for mode in ("univariate", "multivariate"):
        evaluator = SinglingOutEvaluator(
            ori=ori, syn=syn, control=control, n_attacks=ATTACKS, n_cols=3, seed=1
        )
        found[mode] = _rates(evaluator.evaluate(mode=mode).results())
    names = list(ori.columns)
    parts = names[: len(names) // 2], names[len(names) // 2 :]
    evaluator = LinkabilityEvaluator(
        ori=ori, syn=syn, control=control, aux_cols=parts, n_attacks=len(control), n_neighbors=1
    )
    found["linkability"] = _rates(evaluator.evaluate(n_jobs=1).results())
    print(json.dumps(found))


def _rates(results: Any) -> dict[str, tuple[float, float]]:
    return {
        "right": (results.attack_rate.value, results.attack_rate.error),
        "control": (results.control_rate.value, results.control_rate.error),
    }


def ours(folder: Path) -> dict[str, dict[str, tuple[float, float]]]:
    """Return what the shipped attacks find, with the half widths of their intervals."""
    import numpy as np
    import polars as pl

    from icsa.attacks import Targets, run_attacks
    from icsa.comparison.features import as_features

    frames = [pl.read_csv(folder / f"{name}.csv") for name in HALVES]
    names = frames[0].columns
    numeric = [name for name in names if frames[0][name].dtype.is_numeric()]
    levels = [name for name in names if name not in numeric]
    known = {name: sorted(set().union(*(frame[name] for frame in frames))) for name in levels}

    def split(frame: pl.DataFrame) -> tuple[Any, Any]:
        numbers = frame.select(numeric).to_numpy().astype(float)
        codes = [[known[name].index(cell) for cell in frame[name]] for name in levels]
        return numbers, np.array(codes, dtype=int).reshape(len(levels), -1).T

    (x, a), (y, b), (z, c) = (split(frame) for frame in frames)
    named = {"names": numeric, "category_names": levels}
    features = as_features(x, y, original_codes=a, released_codes=b, **named)
    outsiders = as_features(z, y, original_codes=c, released_codes=b).original
    half = tuple(names[: len(names) // 2])
    plain = Targets(features=features, outsiders=outsiders)
    parts = Targets(features=features, outsiders=outsiders, knows=half)
    one, several = run_attacks(plain, names=["singling out"], people=ATTACKS)
    (linked,) = run_attacks(parts, names=["linkability"], people=len(z))
    found = {"univariate": one, "multivariate": several, "linkability": linked}
    return {
        name: {"right": _half(r.right), "control": _half(r.control)} for name, r in found.items()
    }


def _half(measure: Any) -> tuple[float, float]:
    return measure.value, (measure.high - measure.low) / 2.0


def write_halves(table: Path, folder: Path, *, careless: bool) -> None:
    """Write original, control and a release of a table."""
    import numpy as np
    import polars as pl

    import icsa

    frame = pl.read_csv(table, null_values="NA").drop_nulls()
    frame = frame.sample(fraction=1.0, shuffle=True, seed=1)
    size = min(frame.height // 2, 1_000)
    original, control = frame[:size], frame[size : 2 * size]
    released = icsa.anonymize(original, random_state=1).table
    released = getattr(released, "frame", released).cast(dict(original.schema), strict=False)
    if careless:
        copied = np.random.default_rng(1).random(size) < 0.25
        released = pl.concat([original.filter(copied), released.filter(~copied)])
    for name, part in zip(HALVES, (original, released, control), strict=True):
        part.write_csv(folder / f"{name}.csv")


def compare(table: Path, python: str, *, careless: bool) -> None:
    """Print both programs' rates, and whether they agree within their intervals."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_halves(table, folder, careless=careless)
        command = [python, str(Path(__file__).resolve()), "--child", str(folder)]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
        theirs = json.loads(answer.stdout.splitlines()[-1])
        mine = ours(folder)
    release = "one row in four copied" if careless else "by icsa"
    for name, rates in mine.items():
        for who, (value, error) in rates.items():
            other, spread = theirs[name][who]
            same = abs(value - other) <= math.hypot(error, spread)
            print(
                f"{table.stem:8} {release:24} {name:13} {who:8} ours {value:.3f} ± {error:.3f}  "
                f"anonymeter {other:.3f} ± {spread:.3f}  {'agree' if same else 'DIFFER'}"
            )


def main() -> None:
    """Compare, or be the peer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", type=Path)
    parser.add_argument("--peer", default=sys.executable, help="Python that has anonymeter")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child is not None:
        peer(asked.child)
        return
    for table in asked.tables:
        for careless in (False, True):
            compare(table, asked.peer, careless=careless)


if __name__ == "__main__":
    main()

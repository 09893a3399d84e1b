"""Is the choice right? Chosen releases beside the best in hindsight, judged by fresh keys.

    python -m benchmarks.choice FILE... [--rows 240] [--keys 16] [--planted] --json FILE

Every file is compared as `icsa compare` does (of long ones so many rows are drawn), without rivals.
Then every candidate is released under `--keys` other keys than those of the race and of its last
look, the same for all. Which candidate was best is decided by one half of these keys and judged by
the other, and the other way round: the best of nine would else be the luckiest of nine. Regret is
the mean over keys of the chosen one's loss less the best one's, and within noise where the 95%
interval of that mean (Student's t of the differences, key by key) reaches 0. Candidates that seem
better are assessed in full, as one that may not be released is no better choice. With `--planted`
1% of the rows are moved 30 robust standard deviations out first, and the chosen one is asked how
many of them it reveals. Results are kept as they come: the same command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from benchmarks.analyses import analyses_of
from benchmarks.recipes import plant
from icsa.choice import Compared, compare, race
from icsa.choice.candidates import Candidate
from icsa.choice.planting import Planted, share_found
from icsa.choice.trials import RaceConfig, Subject, as_arguments, plan_of, try_candidate
from icsa.comparison.matching import match_tables
from icsa.inspection import guess_schema
from icsa.randomness import as_key
from icsa.release import release
from icsa.tables import Table, read_table
from icsa.utility.lost_curves import curves_of

# Another seed than any race's: these keys had no part in it.
HINDSIGHT = 99


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--rows", type=int, default=240)
    parser.add_argument("--keys", type=int, default=16)
    parser.add_argument("--budget", type=float, default=1.0)
    parser.add_argument("--planted", action="store_true")
    parser.add_argument("--model", action="append", default=[], help="instead of the usual ones")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, required=True)
    options = parser.parse_args()
    # One at a time until one may be released: the choice is the same, and takes a third.
    race.FINALISTS = 1
    done = json.loads(options.json.read_text()) if options.json.exists() else []
    for file in options.files:
        about = {"table": file.stem, "planted": options.planted, "seed": options.seed}
        if any(about.items() <= line.items() for line in done):
            continue
        done.append({**about, **judged(file, options)})
        options.json.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
        print(json.dumps(done[-1]), flush=True)
    show(done)


def judged(file: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Return what was chosen for a table, and what was best."""
    start = time.process_time()
    table = read_table(file)
    if table.frame.height > options.rows:
        seed = zlib.crc32(f"{file.stem}{options.seed}".encode())
        table = table.with_frame(table.frame.sample(options.rows, seed=seed))
    schema = guess_schema(table)
    models = tuple(options.model) or analyses_of(file.stem, table, schema)
    rows = None
    if options.planted:
        table, rows = plant(table, schema, options.seed + 1)
        schema = guess_schema(table)  # as its custodian would have it
    asked: dict[str, Any] = {"schema": schema, "models": models, "seed": options.seed}
    methods = ("icsa", "sa", "forest")
    found = compare(table, methods=methods, budget=options.budget, **asked)
    subject = Subject(table, schema)
    curves = curves_of(match_tables(table, table, schema).columns)
    config = RaceConfig(
        table_sha256="",
        seed=HINDSIGHT,
        models=models,
        classify=(),
        curves=tuple((curve.column, curve.first, curve.second) for curve in curves),
    )
    losses = {
        one.name: hindsight(one.candidate, config, subject, options.keys)
        for one in found.candidates
        if not one.why_not
    }
    return {
        "rows": table.frame.height,
        **verdict(found, losses, config, subject),
        "revealed": None if rows is None else revealed(found, subject, rows, options.keys),
        "cpu": round(time.process_time() - start, 1),
    }


def hindsight(candidate: Candidate, config: RaceConfig, subject: Subject, keys: int) -> np.ndarray:
    """Return the losses under other keys."""
    rows = tried(candidate, config, subject, {"keys": (0, keys)})
    return rows.filter(pl.col("measure") == "loss")["value"].to_numpy()


def tried(
    candidate: Candidate, config: RaceConfig, subject: Subject, draws: dict[str, Any]
) -> pl.DataFrame:
    return pl.DataFrame(
        try_candidate(config, candidate=as_arguments(candidate), draws=draws, subject=subject)
    )


def verdict(
    found: Compared, losses: dict[str, np.ndarray], config: RaceConfig, subject: Subject
) -> dict[str, Any]:
    """Return the regret: who may be released and is better, and by how much."""
    chosen = found.advice.candidate.name
    words = {one.name: one.word for one in found.candidates if one.assessed}
    candidates = {one.name: one.candidate for one in found.candidates}
    while True:
        allowed = [name for name in losses if words.get(name, "release") == "release"]
        best, regret, error = regret_of(chosen, {*allowed, chosen}, losses)
        noise = stats.t.ppf(0.975, losses[chosen].size - 1) * error
        doubtful = [name for name in best if name not in words and name != chosen]
        if regret <= noise or not doubtful:
            break
        for name in doubtful:
            rows = tried(candidates[name], config, subject, {"keys": (0, 1), "fresh": True})
            value = rows.filter(pl.col("what") == "assessed")["value"]
            words[name] = "release" if value.len() and value[0] == 0.0 else "another"
    return {
        "chosen": chosen,
        "may_be_released": found.advice.may_be_released,
        "loss": float(losses[chosen].mean()),
        "best": sorted(best),
        "regret": regret,
        "error": error,
        "within_noise": bool(regret <= noise),
        "losses": {name: values.round(4).tolist() for name, values in losses.items()},
    }


def regret_of(
    chosen: str, allowed: set[str], losses: dict[str, np.ndarray]
) -> tuple[set[str], float, float]:
    """Return who is best by either half of the keys, and the regret with its standard error."""
    keys = losses[chosen].size
    even = np.arange(keys) % 2 == 0
    found = {}
    differences = np.empty(keys)
    for half in (even, ~even):
        found[half[0]] = best = min(sorted(allowed), key=lambda name: losses[name][half].mean())
        differences[~half] = (losses[chosen] - losses[best])[~half]
    error = float(differences.std(ddof=1) / np.sqrt(keys))
    return {*found.values()}, float(differences.mean()), error


def revealed(found: Compared, subject: Subject, rows: np.ndarray, keys: int) -> float:
    """Return the share of planted people whom the chosen one reveals, over keys."""
    made, key = plan_of(found.advice.candidate, subject), as_key(HINDSIGHT).child("revealed")

    def released(number: int) -> Table:
        return release(made, key.child("key", number)).table

    planted = Planted(subject.table, rows)
    return float(np.mean(share_found(planted, subject.schema, released, keys)))


def show(done: list[dict[str, Any]]) -> None:
    right = sum(line["within_noise"] for line in done)
    regrets = np.array([line["regret"] for line in done])
    error = np.sqrt(np.sum([line["error"] ** 2 for line in done])) / len(done)
    print(f"within noise of the best: {right} of {len(done)}")
    print(f"mean regret: {regrets.mean():.4f} (standard error {error:.4f})")
    for line in done:
        told = "" if line["revealed"] is None else f", reveals {line['revealed']:.3f}"
        print(
            f"  {line['table']:12} {'planted' * line['planted']:8} {line['chosen']:32} "
            f"loses {line['loss']:.3f}, regret {line['regret']:.3f} ({line['error']:.3f}), "
            f"best {' or '.join(line['best'])}{told}"
        )


if __name__ == "__main__":
    main()

"""The whole of ``icsa.assess`` on fresh people, and on releases that were made to slip through.

    python -m benchmarks.hostile [FOLDER] [--halvings 8] [--rows 800] [--only TEXT] [--seed 1]
                                 [--json FILE]

Tables of scikit-learn and statsmodels, and simulated ones, or the CSV files of a folder: one half
is the original, the other is fresh people, or what the hostile releases fill up with. Those are
made once for each table. Records that stand in a table twice, but for two cells at most, are taken
out first, as in `benchmarks.halves`.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.random import Generator

import icsa
from benchmarks.halves import different_people
from icsa.comparison.matching import match_tables
from icsa.inspection import guess_schema
from icsa.tables import Table, read_table

__all__ = ["HOSTILE", "main", "simulated"]

Frame = pl.DataFrame
Hostile = Callable[[Frame, Frame, Generator], Frame | tuple[Frame, Frame] | None]


def simulated(n: int, seed: int) -> Frame:
    """Return patients with numbers, levels, counts and dates."""
    draw = np.random.default_rng([seed, 7])
    z = draw.normal(size=(n, 4))
    age = np.clip(np.rint(50 + 15 * z[:, 0]), 18, 95).astype(int)
    days = draw.integers(0, 2500, n).tolist()
    return pl.DataFrame(
        {
            "age": age,
            "sex": draw.choice(["f", "m"], n),
            "height": np.round(170 + 9 * z[:, 1], 1),
            "weight": np.round(75 + 5 * z[:, 1] + 10 * z[:, 2], 1),
            "systolic": np.rint(120 + 0.4 * (age - 50) + 12 * draw.normal(size=n)).astype(int),
            "cholesterol": np.round(np.exp(1.6 + 0.2 * z[:, 3]), 2),
            "region": draw.choice(["north", "south", "east", "west"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "visits": draw.poisson(3, n),
            "income": np.round(np.exp(10 + 0.5 * z[:, 0] + 0.4 * draw.normal(size=n)), -2),
            "since": [dt.date(2015, 1, 1) + dt.timedelta(days=day) for day in days],
            "smoker": draw.choice(["never", "former", "current"], n, p=[0.5, 0.3, 0.2]),
            "score": np.rint(50 + 12 * z[:, 3] + 6 * draw.normal(size=n)).astype(int),
        }
    )


def tables(folder: Path | None, rows: int) -> Iterator[tuple[str, Frame]]:
    """Yield tables, at most so many rows of each."""
    if folder is not None:
        for path in sorted(folder.glob("*.csv")):
            yield path.stem, _some(read_table(path).frame, rows)
        return
    import statsmodels.api as sm
    from sklearn import datasets

    for name in ("breast_cancer", "diabetes", "wine", "iris"):
        yield (
            name,
            _some(pl.from_pandas(getattr(datasets, f"load_{name}")(as_frame=True).data), rows),
        )
    for name in ("fair", "anes96", "randhie", "star98", "heart", "ccard", "fertility", "engel"):
        yield name, _some(pl.from_pandas(getattr(sm.datasets, name).load_pandas().data), rows)
    for n in (120, 400, 800):
        yield f"simulated, {n} rows", simulated(n, n)


def _some(frame: Frame, rows: int) -> Frame:
    table = Table(frame.sample(min(rows, frame.height), seed=3, shuffle=True))
    features = match_tables(table, table, guess_schema(table)).features
    return table.frame[different_people(features)]


def _numbers(frame: Frame) -> list[str]:
    return [name for name, kind in frame.schema.items() if kind.is_numeric()]


def _shuffled(frame: Frame, draw: Generator) -> Frame:
    return frame[draw.permutation(frame.height)]


def _mixed(first: Frame, second: Frame, mine: Mapping[str, np.ndarray]) -> Frame:
    """Return cells of the first table where `mine` says so, row by row, else of the second."""
    return pl.DataFrame(
        {
            name: pl.select(
                pl.when(pl.Series(mine[name])).then(first[name]).otherwise(second[name])
            ).to_series()
            for name in first.columns
        }
    )


def _some_columns(count: int) -> Hostile:
    def release(people: Frame, fresh: Frame, draw: Generator) -> Frame | None:
        if people.width < count + 2:
            return None
        varied = sorted(people.columns, key=lambda name: -people[name].n_unique())
        chosen = varied[:count]
        n = people.height
        return _shuffled(
            _mixed(people, fresh, {c: np.full(n, c in chosen) for c in people.columns}), draw
        )

    return release


def _some_cells(share: float) -> Hostile:
    def release(people: Frame, fresh: Frame, draw: Generator) -> Frame:
        n = people.height
        return _shuffled(
            _mixed(people, fresh, {c: draw.random(n) < share for c in people.columns}), draw
        )

    return release


def _in_order(noise: float) -> Hostile:
    def release(people: Frame, _fresh: Frame, draw: Generator) -> Frame:
        told = {}
        for name in _numbers(people):
            cells = people[name].cast(pl.Float64).to_numpy()
            told[name] = cells + noise * np.nanstd(cells) * draw.normal(size=cells.size)
        return people.with_columns(**{name: pl.Series(cells) for name, cells in told.items()})

    return release


def _jittered(steps: int) -> Hostile:
    def release(people: Frame, _fresh: Frame, draw: Generator) -> Frame:
        told = {}
        for name in _numbers(people):
            values = np.unique(people[name].drop_nulls().to_numpy())
            step = np.diff(values).min() if values.size > 1 else 0
            move = draw.integers(-steps, steps + 1, people.height) * step
            told[name] = (people[name].cast(pl.Float64) + pl.Series(move)).round(9)
        return _shuffled(people.with_columns(**told), draw)

    return release


def _split(people: Frame, fresh: Frame, draw: Generator) -> Frame:
    half = set(draw.permutation(people.columns)[: people.width // 2].tolist())
    n = people.height
    mine = {name: np.full(n, name in half) for name in people.columns}
    theirs = {name: ~there for name, there in mine.items()}
    rows = [_mixed(people, fresh, mine), _mixed(people, _shuffled(fresh, draw), theirs)]
    return _shuffled(pl.concat(rows), draw)


def _neighbours_swapped(people: Frame, _fresh: Frame, draw: Generator) -> Frame | None:
    names = _numbers(people)
    if not names:
        return None
    x = people.select(names).cast(pl.Float64).to_numpy()
    x = np.nan_to_num((x - np.nanmean(x, axis=0)) / (np.nanstd(x, axis=0) + 1e-12))
    distance = ((x[:, None] - x[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    mine = {name: draw.random(people.height) < 0.5 for name in people.columns}
    return _shuffled(_mixed(people, people[distance.argmin(axis=1)], mine), draw)


def _renamed(people: Frame, fresh: Frame, draw: Generator) -> Frame:
    half = people.columns[people.width // 2 :]
    copied = people.select(half).rename(lambda name: f"{name} (new)")
    return pl.concat([fresh.drop(half), _shuffled(copied, draw)], how="horizontal")


def _gaps(people: Frame, fresh: Frame, draw: Generator) -> tuple[Frame, Frame]:
    n, order = people.height, draw.permutation(people.height)
    there = {name: draw.random(n) >= 0.15 for name in people.columns}
    nothing = people.clear(n)
    return (
        _mixed(people, nothing, there),
        _mixed(fresh, nothing, {name: cells[order] for name, cells in there.items()}),
    )


def _turned(people: Frame, _fresh: Frame, draw: Generator) -> Frame:
    names = _numbers(people)
    turned = [(pl.col(n).max() + pl.col(n).min() - pl.col(n)).alias(n) for n in names]
    return _shuffled(people.with_columns(turned), draw)


def _levels_renamed(people: Frame, _fresh: Frame, draw: Generator) -> Frame | None:
    names = [name for name, kind in people.schema.items() if kind == pl.String]
    if not names:
        return None
    told = []
    for name in names:
        levels = people[name].drop_nulls().unique().sort().to_list()
        told.append(pl.col(name).replace(dict(zip(levels, levels[1:] + levels[:1], strict=True))))
    return _shuffled(people.with_columns(told), draw)


def _dates_moved(people: Frame, _fresh: Frame, draw: Generator) -> Frame | None:
    names = [name for name, kind in people.schema.items() if kind == pl.Date]
    moved = [pl.col(name).dt.offset_by("37d") for name in names]
    return _shuffled(people.with_columns(moved), draw) if names else None


HOSTILE: dict[str, Hostile] = {
    "half of each person's cells are the nearest other person's": _neighbours_swapped,
    "numbers moved by up to one step": _jittered(1),
    "numbers moved by up to three steps": _jittered(3),
    "each person in two rows, half of the columns in each": _split,
    "two thirds of the cells copied": _some_cells(2 / 3),
    "half of the cells copied": _some_cells(0.5),
    "a third of the cells copied": _some_cells(1 / 3),
    "four columns copied row by row": _some_columns(4),
    "two columns copied row by row": _some_columns(2),
    "half of the columns copied, under new names": _renamed,
    "noise of one sd, rows in the original's order": _in_order(1.0),
    "noise of two sd, rows in the original's order": _in_order(2.0),
    "gaps copied, other cells fresh": _gaps,
    "dates moved by 37 days": _dates_moved,
    "levels exchanged for one another": _levels_renamed,
    "numbers as text": lambda people, _fresh, draw: _shuffled(
        people.with_columns(pl.col(_numbers(people)).cast(pl.String)), draw
    ),
    "all numbers turned round": _turned,
}


def main() -> None:
    """Print how often the word is "look again" and "do not release", release by release."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="CSV files; else tables at hand")
    parser.add_argument("--halvings", type=int, default=8)
    parser.add_argument("--rows", type=int, default=800)
    parser.add_argument("--only", default="", help="releases whose name contains this text")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    words: dict[str, list[str]] = defaultdict(list)
    rules: Counter[str] = Counter()
    for name, frame in tables(options.folder, options.rows):
        for release, halving, found in _judged(frame, options):
            words[release].append("not judged" if not found.trusted else found.verdict)
            if release == "fresh people" and found.trusted and found.reasons:
                told = sorted({reason.rule for reason in found.reasons})
                rules.update(told)
                print(
                    f"  {name}, halving {halving}: {found.verdict}: {', '.join(told)}", flush=True
                )
        print(name, len(words["fresh people"]), flush=True)
    rates = {release: _rate(said) for release, said in words.items()}
    for release, rate in rates.items():
        print(f"{release:60} {rate}")
    if options.json:
        report = {"rates": rates, "rules of fresh people": dict(rules), **vars(options)}
        text = json.dumps(report, indent=1, default=str)
        options.json.write_text(f"{text}\n", encoding="utf-8")


def _judged(frame: Frame, options: Any) -> Iterator[tuple[str, int, icsa.Assessment]]:
    for halving in range(options.halvings):
        draw = np.random.default_rng([options.seed, halving, frame.height])
        order, half = draw.permutation(frame.height), frame.height // 2
        people, fresh = frame[order[:half]], frame[order[half : 2 * half]]
        if options.only in "fresh people":
            yield "fresh people", halving, icsa.assess(people, fresh, unit=False)
        for release, make in HOSTILE.items() if halving == 0 else ():
            made = make(people, fresh, draw) if options.only in release else None
            if made is not None:
                pair = made if isinstance(made, tuple) else (people, made)
                yield release, halving, icsa.assess(*pair, unit=False)


def _rate(words: list[str]) -> dict[str, float]:
    """Return the rates, of tables on which people who stand out can be judged."""
    judged = [word for word in words if word != "not judged"]
    n = max(1, len(judged))
    look = sum(word != "release" for word in judged) / n
    stop = sum(word == "do not release" for word in judged) / n
    error = round(math.sqrt(look * (1 - look) / n), 4)
    rates = {"look": round(look, 4), "stop": round(stop, 4), "error": error, "releases": n}
    return {**rates, "not judged": len(words) - len(judged)}


if __name__ == "__main__":
    main()

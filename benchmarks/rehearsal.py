"""What rehearsals say of harmless and harmful recipes, on real tables: the limits rest on it.

    python -m benchmarks.rehearsal FILE... [--seeds 1] [--rows 1000] [--halves N] [--json FILE]

Harmless are the recipes of icsa and a normal copula; harmful are a bootstrap, copies of some people
among a copula's rows, noise on a copy, and trees without smoothing. A line is a recipe on a table:
the AUC with its interval, the share of members among the nearest 1% with its interval, and whether
the rule would look again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from scipy.special import ndtri

from icsa.assessment.controls import Control, control_reasons
from icsa.assessment.rehearsal import rehearse, releasing_rows, usual_halves
from icsa.comparison.matching import match_tables
from icsa.errors import ICSAError
from icsa.inspection import guess_schema
from icsa.privacy.policy import Policy
from icsa.release import plan, prepare
from icsa.schema import Schema
from icsa.tables import Table, read_table

__all__ = ["HARMFUL", "HARMLESS", "main"]

Draw = Callable[[pl.DataFrame, np.random.Generator], pl.DataFrame]
HARMLESS = {
    "mixed": ("mixed", {}),
    "mixed, sa": ("mixed", {"method": "sa"}),
    "mixed, rotate": ("mixed", {"mask": "rotate"}),
    "mixed, permute": ("mixed", {"mask": "permute"}),
    "topcode": ("topcode", {}),
    "paper": ("paper", {}),
}


def copula(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Return rows of a normal copula with the frame's own values, ties ranked at random."""
    n = frame.height
    ranks = np.empty((n, frame.width))
    for j, cells in enumerate(frame):
        order = cells.rank("random", seed=int(rng.integers(1 << 30))).to_numpy().astype(float)
        gone = np.isnan(order)
        order[gone] = rng.permutation(np.arange(n - gone.sum() + 1, n + 1))
        ranks[:, j] = order
    scores = ndtri((ranks - 0.5) / n)
    values, vectors = np.linalg.eigh(np.atleast_2d(np.corrcoef(scores.T)))
    drawn = rng.normal(size=scores.shape) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    places = np.argsort(np.argsort(drawn, axis=0), axis=0)
    return pl.DataFrame(
        [cells.sort(nulls_last=True)[places[:, j]] for j, cells in enumerate(frame)]
    )


def copies(share: float) -> Draw:
    """Return a recipe that puts copies of some people among a copula's rows."""

    def draw(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
        count = max(1, round(share * frame.height))
        who = rng.choice(frame.height, count, replace=False)
        return pl.concat([copula(frame, rng)[count:], frame[who]])

    return draw


def bootstrap(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Return rows drawn with replacement."""
    return frame[rng.integers(0, frame.height, frame.height)]


def noise(share: float) -> Draw:
    """Return a recipe that adds noise of so much of each column's deviation to its numbers."""

    def draw(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
        moved = []
        for cells in frame:
            if cells.dtype.is_numeric() and cells.n_unique() > 10:
                numbers = cells.cast(pl.Float64)
                width = share * float(numbers.std() or 0.0)
                cells = numbers + pl.Series(width * rng.normal(size=frame.height))
            moved.append(cells.alias(cells.name))
        return pl.DataFrame(moved, schema=frame.columns)

    return draw


def trees(leaf: int) -> Draw:
    """Return a synthesis by regression trees, which hands on values as they are."""
    from sklearn.tree import DecisionTreeRegressor

    def draw(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
        n = frame.height
        x = np.column_stack([_numbers(cells) for cells in frame])
        drawn, columns = np.empty((n, 0)), []
        for j, cells in enumerate(frame):
            picked = rng.integers(0, n, n)
            if j:
                tree = DecisionTreeRegressor(min_samples_leaf=leaf, random_state=0)
                leaves, mine = (
                    tree.fit(x[:, :j], x[:, j]).apply(part) for part in (x[:, :j], drawn)
                )
                for place in np.unique(mine):
                    here = mine == place
                    picked[here] = rng.choice(np.flatnonzero(leaves == place), int(here.sum()))
            columns.append(cells[picked])
            drawn = np.column_stack([drawn, x[picked, j]])
        return pl.DataFrame(columns)

    return draw


HARMFUL: dict[str, Draw] = {
    "copula, 10% copied": copies(0.1),
    "copula, 2% copied": copies(0.02),
    "bootstrap": bootstrap,
    "copy, 10% noise": noise(0.1),
    "copy, 30% noise": noise(0.3),
    "trees, leaves of 5": trees(5),
}


def _numbers(cells: pl.Series) -> np.ndarray:
    plain = cells.to_physical() if cells.dtype.is_temporal() else cells
    if not plain.dtype.is_numeric():
        plain = plain.cast(pl.String).rank("dense")
    return plain.cast(pl.Float64).fill_null(-1e6).to_numpy()


def _of_frame(draw: Draw, table: Table, schema: Schema) -> Callable[..., pl.DataFrame]:
    names = [spec.name for spec in schema.columns.values() if spec.action == "mask"]

    def released(rows: np.ndarray, number: int) -> pl.DataFrame:
        half = table.frame[rows].select(names)
        return draw(half, np.random.default_rng([7, number, len(names)]))

    return released


def rehearsed(table: Table, halves: int) -> dict[str, Control]:
    """Return what rehearsals of all recipes say of a table."""
    schema = guess_schema(table)
    names = [spec.name for spec in schema.columns.values() if spec.action == "mask"]
    comparison = match_tables(table, table.with_frame(table.frame.select(names)), schema)
    found = {}
    for name, (recipe, options) in HARMLESS.items():
        try:
            made = plan(prepare(table, schema=schema, recipe=recipe), **options)
        except ICSAError as error:
            print(f"  {name}: {str(error)[:80]}")
            continue
        found[name] = rehearse(comparison, releasing_rows(made, table), halves)
    for name, draw in {"copula": copula, **HARMFUL}.items():
        found[name] = rehearse(comparison, _of_frame(draw, table, schema), halves)
    return found


def main() -> None:
    """Rehearse every recipe on every file and print what the rule says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--seeds", type=int, default=1, help="samples of rows, of long files")
    parser.add_argument("--rows", type=int, default=1_000, help="most rows of a sample")
    parser.add_argument("--halves", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results = []
    for file in options.files:
        whole = read_table(file)
        for seed in range(options.seeds):
            few = min(options.rows, whole.frame.height)
            table = whole.with_frame(whole.frame.sample(few, seed=seed))
            halves = options.halves or usual_halves(*table.frame.shape)
            print(f"{file.stem}, {few} rows, {table.frame.width} columns, {halves} halves")
            for name, control in rehearsed(table, halves).items():
                told = bool(control_reasons(control, Policy()))
                print(
                    f"  {name:20} {control.told_apart}  {control.nearest}  {'look' * told}",
                    flush=True,
                )
                area, share = control.told_apart, control.nearest
                if area is not None and share is not None:
                    ends = [area.value, area.low, share.value, share.low]
                    results.append([file.stem, seed, few, name, *ends, told])
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

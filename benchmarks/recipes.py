"""Recipes measured: what they hide and what they lose, on real tables, clean and with planted rows.

    python -m benchmarks.recipes FOLDER... [--releases 10] [--pairs mcd50,mcd75] [--json FILE]

Every CSV file in the folders is read, its columns' kinds are guessed, and it is released several
times under each recipe and method; then 1% of rows are planted (half of their continuous cells
moved by about 30 robust standard deviations) and the same is done again. Columns of the table:

ORE    outlier replication error on the 5% most outlying rows, columns robustly scaled
near   share of these rows that are nearer to the release than to any other original
KS     largest difference between distribution functions, mean over columns
bSE    error of the coefficients of a regression on all columns that are nearly complete, in
       standard errors (the bootstrap of the original gives .74 to .94)
CI     overlap of the confidence intervals of these coefficients
ext    released cells equal to a column's unique largest or smallest value, and how many there are
blow   largest released deviation over the largest original one, the worst column
p...   the same on the planted rows
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from icsa.columns import fit_column
from icsa.inspection import guess_schema
from icsa.privacy import outlier_replication_error
from icsa.randomness import as_key
from icsa.release import RECIPES, plan_release, release_of
from icsa.schema import Schema
from icsa.tables import Table, read_table

CONTINUOUS = ("continuous", "integer", "zero-inflated", "date", "datetime", "duration", "time")
HEADINGS = ("ORE", "near", "KS", "bSE", "CI", "ext", "of", "blow", "pORE", "pnear", "pblow")


@dataclass(frozen=True)
class View:
    """A table as numbers: values, dummies, and which columns are quantities."""

    quantities: dict[str, np.ndarray]
    dummies: dict[str, np.ndarray]

    @classmethod
    def of(cls, table: Table, schema: Schema, original: Table) -> View:
        quantities, dummies = {}, {}
        for spec in schema.columns.values():
            if spec.action != "mask":
                continue
            column = fit_column(original.frame[spec.name], spec, scale="linear")
            numbers = column.numbers(table.frame[spec.name])
            if column.kind in CONTINUOUS:
                quantities[spec.name] = numbers
            elif column.kind != "constant":
                dummies[spec.name] = column.encode(numbers)
        return cls(quantities, dummies)


def scaled(view: View, by: View) -> np.ndarray:
    """Return all columns robustly scaled by those of `by`, missing cells at the middle."""
    parts = []
    for name, numbers in view.quantities.items():
        reference = by.quantities[name]
        middle = np.nanmedian(reference)
        spread = 1.4826 * np.nanmedian(np.abs(reference - middle)) or np.nanstd(reference) or 1.0
        parts.append(np.nan_to_num((numbers - middle) / spread)[:, None])
    parts += [np.nan_to_num(block) for block in view.dummies.values()]
    return np.hstack(parts)


def nearest(people: np.ndarray, rows: np.ndarray, own: np.ndarray | None = None) -> np.ndarray:
    squared = ((people[:, None, :] - rows[None]) ** 2).sum(axis=2)
    if own is not None:
        squared[np.arange(people.shape[0]), own] = np.inf
    return np.sqrt(squared.min(axis=1))


def regression(view: View, response: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Return coefficients and standard errors of a response on all other columns."""
    blocks = [numbers[:, None] for name, numbers in view.quantities.items() if name != response]
    blocks += list(view.dummies.values())
    x, y = np.hstack(blocks), view.quantities[response]
    complete = ~(np.isnan(x).any(axis=1) | np.isnan(y))
    x, y = x[complete], y[complete]
    x = np.column_stack([np.ones(y.size), x])
    gram = x.T @ x
    inverse = np.linalg.pinv(gram, rcond=1e-12)
    coefficients = inverse @ x.T @ y
    residual = y - x @ coefficients
    variance = residual @ residual / max(y.size - x.shape[1], 1)
    return coefficients[1:], np.sqrt(np.diagonal(inverse) * variance)[1:]


def independent(view: View) -> View:
    """Return the nearly complete columns without quantities that follow from others exactly."""
    kept: dict[str, np.ndarray] = {}
    dummies = {n: d for n, d in view.dummies.items() if np.isnan(d[:, 0]).mean() < 0.1}
    for name, numbers in view.quantities.items():
        if np.isnan(numbers).mean() >= 0.1:
            continue
        columns = [*kept.values(), numbers]
        complete = ~np.isnan(np.column_stack(columns)).any(axis=1)
        x = np.column_stack(columns)[complete]
        x = (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
        if np.linalg.svd(x, compute_uv=False)[-1] / np.sqrt(x.shape[0]) > 0.02:
            kept[name] = numbers
    return View(kept, dummies)


def plant(table: Table, schema: Schema, seed: int) -> tuple[Table, np.ndarray]:
    """Return the table with 1% of its rows moved far out, and which rows."""
    generator = np.random.default_rng(seed)
    n = table.frame.height
    rows = np.sort(generator.choice(n, max(2, round(0.01 * n)), replace=False))
    names = [
        s.name
        for s in schema.columns.values()
        if s.action == "mask" and s.kind in ("continuous", "integer", "zero-inflated")
    ]
    frame = table.frame
    for name in names:
        cells = frame[name].cast(pl.Float64).to_numpy().copy()
        middle = np.nanmedian(cells)
        spread = 1.4826 * np.nanmedian(np.abs(cells - middle)) or np.nanstd(cells)
        chosen = rows[generator.random(rows.size) < 0.5]
        moved = middle + spread * (30 + generator.normal(size=chosen.size))
        cells[chosen] = np.rint(moved) if frame[name].dtype.is_integer() else moved.round(4)
        series = pl.Series(name, cells, nan_to_null=True)
        frame = frame.with_columns(series.cast(frame[name].dtype))
    return table.with_frame(frame), rows


def measure(table: Table, schema: Schema, rows: np.ndarray | None, seeds: range, **choices) -> dict:
    original = View.of(table, schema, table)
    space = scaled(original, original)
    if rows is None:
        count = max(2, round(0.05 * space.shape[0]))
        rows = np.sort(np.argsort(-np.linalg.norm(space, axis=1))[:count])
    alone = nearest(space[rows], space, rows)
    basis = independent(original)
    response = next(iter(reversed(basis.quantities)))
    truth = regression(basis, response)
    found = []
    plan, schema = plan_release(table, schema=schema, **choices)
    for seed in seeds:
        release = release_of(plan, table, schema, as_key(seed))
        released = View.of(release.table, schema, table)
        found.append(compare(original, released, space, rows, alone, basis, response, truth))
    return {name: float(np.mean([f[name] for f in found])) for name in found[0]}


def compare(original, released, space, rows, alone, basis, response, truth) -> dict:
    other = scaled(released, original)
    near = nearest(space[rows], other) < alone
    ks, extremes, possible, blow = [], 0, 0, []
    for name, numbers in original.quantities.items():
        a, b = (np.sort(v[~np.isnan(v)]) for v in (numbers, released.quantities[name]))
        both = np.concatenate([a, b])
        gaps = (
            np.searchsorted(a, both, "right") / a.size - np.searchsorted(b, both, "right") / b.size
        )
        ks.append(np.abs(gaps).max())
        for extreme, alone_there in ((a[-1], a[-2] < a[-1]), (a[0], a[1] > a[0])):
            possible += alone_there
            extremes += bool(alone_there and np.any(b == extreme))
        middle = np.median(a)
        blow.append(np.abs(b - middle).max() / np.abs(a - middle).max())
    reduced = View(
        {n: released.quantities[n] for n in basis.quantities},
        {n: released.dummies[n] for n in basis.dummies},
    )
    b, se = truth
    b2, se2 = regression(reduced, response)
    good = se > 1e-12 * np.abs(b).max()
    b, se, b2, se2 = b[good], se[good], b2[good], se2[good]
    overlap = np.minimum(b + 1.96 * se, b2 + 1.96 * se2) - np.maximum(
        b - 1.96 * se, b2 - 1.96 * se2
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = 0.5 * (overlap / (3.92 * se) + overlap / (3.92 * se2))
    ore = outlier_replication_error(space, other, rows)
    return {
        "ORE": float(ore),
        "near": near.mean(),
        "KS": np.mean(ks),
        "bSE": np.mean(np.abs(b2 - b) / se),
        "CI": np.mean(np.clip(shares, 0.0, 1.0)),
        "ext": extremes,
        "of": possible,
        "blow": max(blow),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--releases", type=int, default=10)
    parser.add_argument("--pairs", nargs="*", default=["mcd50,mcd75", "sa"])
    parser.add_argument("--recipes", nargs="*", default=list(RECIPES))
    parser.add_argument("--choices", type=json.loads, default={}, help="of the recipe, as JSON")
    parser.add_argument("--planted", nargs="*", type=int, default=[1, 2], help="seeds")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--each", action="store_true", help="a line for every table too")
    options = parser.parse_args()
    files = [f for folder in options.folders for f in sorted(folder.glob("*.csv"))]
    lines = []
    print(f"{'recipe':10}{'pair':14}{'table':14}" + "".join(f"{h:>7}" for h in HEADINGS))
    for recipe in options.recipes:
        for pair in options.pairs:
            method = {"method": "sa"} if pair == "sa" else {"scatters": pair.split(",")}
            rows = []
            for file in files:
                rows.append(one_table(file, options, recipe, method))
                if options.each:
                    show(recipe, pair, file.stem, rows[-1])
            mean = {h: float(np.mean([r[h] for r in rows])) for h in HEADINGS}
            show(recipe, pair, "mean", mean)
            lines.append({"recipe": recipe, "pair": pair, "tables": len(files), **mean})
    if options.json:
        options.json.write_text(json.dumps(lines, indent=2))


def one_table(file: Path, options: argparse.Namespace, recipe: str, method: dict) -> dict:
    table = read_table(file)
    schema = guess_schema(table)
    schema = Schema(columns=schema.columns, rules=schema.rules, recipe=options.choices)
    seeds = range(options.releases)
    result = measure(table, schema, None, seeds, recipe=recipe, **method)
    planted = []
    for seed in options.planted:
        moved, rows = plant(table, schema, seed)
        few = range(max(2, options.releases // 2))
        planted.append(measure(moved, schema, rows, few, recipe=recipe, **method))
    for name in ("ORE", "near", "blow"):
        result[f"p{name}"] = float(np.mean([p[name] for p in planted])) if planted else np.nan
    return result


def show(recipe: str, pair: str, table: str, values: dict) -> None:
    print(
        f"{recipe:10}{pair:14}{table:14}" + "".join(f"{values[h]:7.3f}" for h in HEADINGS),
        flush=True,
    )


if __name__ == "__main__":
    main()

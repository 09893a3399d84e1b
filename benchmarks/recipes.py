"""Recipes measured: what they hide and what they lose, on real tables, clean and with planted rows.

    python -m benchmarks.recipes FOLDER... [--releases 10] [--pairs mcd50,mcd75] [--json FILE]

Every CSV file in the folders is read, its columns' kinds are guessed, and it is released several
times under each recipe and method; then 1% of rows are planted (half of their continuous cells
moved by about 30 robust standard deviations) and the same is done again. Columns of the table:

ORE    outlier replication error on the 5% most outlying rows, columns robustly scaled
near   share of these rows that are nearer to the release than to any other original
q99    99% quantile, released less original in robust standard deviations, mean over columns
over   released cells beyond the original's smallest or largest, mean over columns; another sample
       of as many people would have two
reach  how far beyond they are at most, as a share of the range, mean over columns
KS     largest difference between distribution functions, mean over columns
bSE    error of the coefficients of regressions (`benchmarks.analyses`), in standard errors
CI     overlap of the confidence intervals of these coefficients
ext    released cells equal to a column's unique largest or smallest value, and how many there are
blow   largest released deviation over the largest original one, the worst column
p...   the same on the planted rows

Two lines say what people can expect of other people from the same population: of rows drawn again
from the original for KS, bSE and CI, and of one half of the rows against the other for near.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import ks_2samp

from benchmarks.analyses import analyses_of
from benchmarks.to_rst import list_table
from icsa.columns import fit_column
from icsa.inspection import guess_schema
from icsa.privacy import outlier_replication_error
from icsa.randomness import as_key
from icsa.release import RECIPES, plan, prepare, release
from icsa.schema import Schema
from icsa.tables import Table, read_table
from icsa.utility.models import fit_models

CONTINUOUS = ("continuous", "integer", "zero-inflated", "date", "datetime", "duration", "time")
HEADINGS = (
    *("ORE", "near", "KS", "q99", "bSE", "CI", "ext", "of", "over", "reach", "blow"),
    *("pORE", "pnear", "pblow"),
)


PAGE = """\
Measured
--------

``python -m benchmarks.recipes FOLDER`` measures recipes on the CSV files of a folder. On {tables}
clinical tables, {releases} releases each, and {few} more with each of {planted} sets of 1%
planted rows:

{table}

ORE is the outlier replication error of the 5% of rows farthest out, in robust units; near is the
share of these that are nearer to the release than to any other original. KS is the mean over
measurements, q99 the 99% quantile, released less original in robust standard deviations. over
counts released cells beyond the original's smallest or largest, of which another sample would have
two a column, and reach says how far beyond they are at most, as a share of the range. bSE is the
error of coefficients in standard errors and CI the overlap of their confidence intervals, in the
regressions that the tables were collected for
(``benchmarks/analyses.py``). ext counts released cells that equal a column's unique largest or
smallest value, of {possible} on average; blow is the largest released deviation over the largest
original one, in the worst column. pORE, pnear and pblow are of the planted rows. Other people are
what another sample would give: rows drawn again from the original, and for near one half of a
table against the other. Means over the tables.
"""


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


def measure(
    table: Table,
    schema: Schema,
    formulas: tuple[str, ...],
    rows: np.ndarray | None,
    seeds: range,
    recipe: str = "mixed",
    **options,
) -> dict:
    original = View.of(table, schema, table)
    space = scaled(original, original)
    rows = farthest(space) if rows is None else rows
    alone = nearest(space[rows], space, rows)
    found = []
    planned = plan(prepare(table, schema=schema, recipe=recipe), **options)
    for seed in seeds:
        made = release(planned, as_key(seed)).table
        released = View.of(made, schema, table)
        other = scaled(released, original)
        found.append(
            {
                "ORE": float(outlier_replication_error(space, other, rows)),
                "near": (nearest(space[rows], other) < alone).mean(),
                **margins(original, released),
                **analyses(table.frame, made.frame, formulas),
            }
        )
    return means(found)


def farthest(space: np.ndarray) -> np.ndarray:
    count = max(2, round(0.05 * space.shape[0]))
    return np.sort(np.argsort(-np.linalg.norm(space, axis=1))[:count])


def margins(original: View, released: View) -> dict:
    distances, extremes, possible, blow = [], 0, 0, []
    tails, beyond, reach = [], [], []
    for name, numbers in original.quantities.items():
        a, b = (np.sort(v[~np.isnan(v)]) for v in (numbers, released.quantities[name]))
        distances.append(ks_2samp(a, b, method="asymp").statistic)
        for extreme, alone_there in ((a[-1], a[-2] < a[-1]), (a[0], a[1] > a[0])):
            possible += alone_there
            extremes += bool(alone_there and np.any(b == extreme))
        middle = np.median(a)
        blow.append(np.abs(b - middle).max() / np.abs(a - middle).max())
        spread = 1.4826 * np.median(np.abs(a - middle)) or a.std()
        tails.append(np.mean(np.quantile(b, [0.99]) - np.quantile(a, [0.99])) / spread)
        beyond.append(((b < a[0]) | (b > a[-1])).sum())
        reach.append(max(a[0] - b[0], b[-1] - a[-1], 0.0) / (a[-1] - a[0]))
    return {
        "KS": np.mean(distances),
        "q99": np.mean(tails),
        "ext": extremes,
        "of": possible,
        "over": np.mean(beyond),
        "reach": np.mean(reach),
        "blow": max(blow),
    }


def analyses(original: pl.DataFrame, released: pl.DataFrame, formulas: tuple[str, ...]) -> dict:
    """Return the mean error of coefficients and overlap of intervals over the formulas."""
    if not formulas:
        return {}
    found = [fit_models(original, released, formula) for formula in formulas]
    return {
        "bSE": mean([comparison.error.value for comparison in found]),
        "CI": mean([comparison.overlap.value for comparison in found]),
    }


def other_people(table: Table, schema: Schema, formulas: tuple[str, ...], seeds: range) -> dict:
    """Return what other people of the same population would have."""
    view = View.of(table, schema, table)
    space, n, found = scaled(view, view), table.frame.height, []
    for seed in seeds:
        generator = np.random.default_rng(seed)
        again = table.with_frame(table.frame[generator.integers(0, n, n)])
        order = generator.permutation(n)
        half, others = space[order[: n // 2]], space[order[n // 2 : 2 * (n // 2)]]
        rows = farthest(half)
        near = nearest(half[rows], others) < nearest(half[rows], half, rows)
        found.append(
            {
                "near": near.mean(),
                "KS": margins(view, View.of(again, schema, table))["KS"],
                **analyses(table.frame, again.frame, formulas),
            }
        )
    return means(found)


def means(found: list[dict]) -> dict:
    return {name: mean([each[name] for each in found]) for name in found[0]}


def mean(values: list[float | None]) -> float | None:
    """Return the mean of the values that could be estimated."""
    estimated = [value for value in values if value is not None]
    return float(np.mean(estimated)) if estimated else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--releases", type=int, default=10)
    parser.add_argument("--pairs", nargs="*", default=["mcd50,mcd75", "sa"])
    parser.add_argument("--recipes", nargs="*", default=list(RECIPES))
    parser.add_argument("--choices", type=json.loads, default={}, help="of the recipe, as JSON")
    parser.add_argument("--planted", nargs="*", type=int, default=[1, 2], help="seeds")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rst", type=Path, help="a page for the docs")
    parser.add_argument("--each", action="store_true", help="a line for every table too")
    options = parser.parse_args()
    files = [f for folder in options.folders for f in sorted(folder.glob("*.csv"))]
    lines = []
    print(f"{'recipe':14}{'pair':14}{'table':14}" + "".join(f"{h:>7}" for h in HEADINGS))

    def line(recipe: str, pair: str, values: Callable[[Path], dict]) -> None:
        rows = []
        for file in files:
            rows.append(values(file))
            if options.each:
                show(recipe, pair, file.stem, rows[-1])
        lines.append({"recipe": recipe, "pair": pair, "tables": len(files), **means(rows)})
        show(recipe, pair, "mean", lines[-1])

    line("other people", "", lambda file: of_other_people(file, options))
    for recipe in options.recipes:
        for pair in options.pairs:
            line(recipe, pair, partial(one_table, options=options, recipe=recipe, pair=pair))
    if options.json:
        options.json.write_text(json.dumps(lines, indent=2))
    if options.rst:
        options.rst.write_text(page(lines, options))


def page(lines: list[dict], options: argparse.Namespace) -> str:
    """Return the table of means with what its columns are."""
    names = [name for name in HEADINGS if name != "of"]
    cells = [
        [
            line["recipe"],
            line["pair"],
            *("" if line.get(n) is None else digits(line[n]) for n in names),
        ]
        for line in lines
    ]
    possible = next(line["of"] for line in lines if "of" in line)
    return PAGE.format(
        tables=lines[0]["tables"],
        releases=options.releases,
        few=max(2, options.releases // 2),
        planted=len(options.planted),
        table="\n".join(list_table(["recipe", "scatters", *names], cells)),
        possible=f"{possible:.1f}",
    )


def digits(value: float) -> str:
    return f"{value:.3f}" if value < 0.2 else f"{value:.2f}"


def of_other_people(file: Path, options: argparse.Namespace) -> dict:
    table = read_table(file)
    schema = guess_schema(table)
    formulas = analyses_of(file.stem, table, schema)
    return other_people(table, schema, formulas, range(2 * options.releases))


def one_table(file: Path, options: argparse.Namespace, recipe: str, pair: str) -> dict:
    table = read_table(file)
    schema = replace(guess_schema(table), recipe=options.choices)
    choices = {"recipe": recipe}
    choices |= {"method": "sa"} if pair == "sa" else {"scatters": pair.split(",")}
    formulas = analyses_of(file.stem, table, schema)
    result = measure(table, schema, formulas, None, range(options.releases), **choices)
    few = range(max(2, options.releases // 2))
    planted = []
    for seed in options.planted:
        moved, rows = plant(table, schema, seed)
        planted.append(measure(moved, schema, (), rows, few, **choices))
    for name in ("ORE", "near", "blow") if planted else ():
        result[f"p{name}"] = means(planted)[name]
    return result


def show(recipe: str, pair: str, table: str, values: dict) -> None:
    known = [values.get(heading) for heading in HEADINGS]
    cells = [" " * 7 if value is None else f"{value:7.3f}" for value in known]
    print(f"{recipe:14}{pair:14}{table:14}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()

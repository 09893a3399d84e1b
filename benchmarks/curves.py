"""Straight lines or forests: what each keeps of curves, and what it remembers, on fresh tables.

    python -m benchmarks.curves [--releases 4] [--splits 4] [--tables fair] [--folder F] [--json F]

Tables that no number of the forests was chosen by: those that statsmodels and scikit-learn ship,
and simulated ones with and without curves. For each: the method that ``--method auto`` takes, and
for both methods the error of coefficients in standard errors, in regressions with main effects
(plain) and with the strongest squares and products of the original besides (curved); how many
curves `icsa.utility.lost_curves` lists; the share of released rows that are closer to the half of
the table that was used; and of people who are farthest out or planted far out how many are nearer
to the release than to anybody else, and their replication error.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from scipy.spatial import cKDTree

from benchmarks.recipes import View, farthest, means, nearest, plant, scaled
from icsa.comparison.column_pairs import numeric_column
from icsa.errors import NoAnchorError
from icsa.inspection import guess_schema
from icsa.privacy import outlier_replication_error
from icsa.randomness import as_key
from icsa.release import Plan, plan, prepare, release
from icsa.release.seen_curves import seen_curves
from icsa.schema import Schema
from icsa.tables import Table, read_table
from icsa.utility.lost_curves import lost_curves

METHODS = ("icsa", "forest")
HEADINGS = ("plain", "curved", "lost", "closer", "near", "pORE", "pnear", "seconds")
_MOST_ROWS = 1500


def wage(seed: int, n: int = 2000) -> pl.DataFrame:
    """Return a wage equation: log wage on schooling, experience and its square."""
    generator = np.random.default_rng(seed)
    school = np.clip(np.rint(generator.normal(12.5, 2.5, n)), 4, 20)
    years = np.clip(np.rint(generator.gamma(2.2, 8.0, n)), 0, 50)
    log = 0.8 + 0.09 * school + 0.06 * years - 0.0012 * years**2 + 0.45 * generator.normal(size=n)
    women = generator.integers(0, 2, n)
    return pl.DataFrame(
        {
            "wage": (log - 0.2 * women).round(3),
            "school": school.astype(int),
            "years": years.astype(int),
            "woman": women,
        }
    )


def linear(seed: int, n: int = 1000, p: int = 8, tails: int | None = None) -> pl.DataFrame:
    """Return a table in which everything is straight, with normal or heavy tails."""
    generator = np.random.default_rng([seed, 1])
    x = generator.normal(size=(n, p))
    if tails:
        x = x * np.sqrt(tails / generator.chisquare(tails, size=(n, 1)))
    x = x @ np.linalg.cholesky(0.4 + 0.6 * np.eye(p)).T
    frame = pl.DataFrame({f"x{j}": x[:, j].round(3) for j in range(p - 2)})
    flag, grade = x[:, p - 2] > 0.5, np.clip(np.rint(x[:, p - 1] + 2.0), 0, 4)
    return frame.with_columns(flag=flag.astype(int), grade=grade.astype(int))


def _shipped(name: str) -> pl.DataFrame:
    if name in ("diabetes", "wine", "breast"):
        import sklearn.datasets

        loader = {"breast": "breast_cancer"}.get(name, name)
        frame = getattr(sklearn.datasets, f"load_{loader}")(as_frame=True).frame
        frame = frame.iloc[:, [*range(10), -1]] if name == "breast" else frame
    else:
        import statsmodels.api as sm

        frame = getattr(sm.datasets, name).load_pandas().data
    rows = np.random.default_rng(0).permutation(len(frame))[:_MOST_ROWS]
    numbers = frame.iloc[np.sort(rows)].reset_index(drop=True)
    numbers.columns = [str(c) for c in numbers.columns]
    made = pl.from_pandas(numbers.astype(dict.fromkeys(numbers.columns, "float64")))
    return made.with_columns(
        pl.col(c).cast(pl.Int64) for c in numbers.columns if _whole(numbers[c])
    )


def _some_rows(frame: pl.DataFrame) -> pl.DataFrame:
    rows = np.random.default_rng(0).permutation(frame.height)[:_MOST_ROWS]
    return frame[np.sort(rows)]


def _whole(cells: pd.Series) -> bool:
    return bool((cells.dropna() % 1 == 0).all()) and not cells.isna().any()


TABLES: dict[str, Callable[[], pl.DataFrame]] = {
    **{
        name: (lambda name=name: _shipped(name)) for name in ("fair", "randhie", "anes96", "star98")
    },
    **{name: (lambda name=name: _shipped(name)) for name in ("diabetes", "wine", "breast")},
    **{f"wage {s}": (lambda s=s: wage(s)) for s in range(3)},
    "wage 300": lambda: wage(7, 300),
    "wage 600": lambda: wage(8, 600),
    **{f"linear {s}": (lambda s=s: linear(s)) for s in range(3)},
    "linear heavy": lambda: linear(3, tails=4),
    "linear 200": lambda: linear(4, n=200),
}


def numbers_of(frame: pl.DataFrame) -> dict[str, np.ndarray]:
    return {
        name: frame[name].cast(pl.Float64).to_numpy()
        for name in frame.columns
        if frame[name].dtype.is_numeric() and frame[name].n_unique() > 1
    }


class Models:
    """Regressions of a table's columns: main effects, and the strongest curves besides."""

    def __init__(self, frame: pl.DataFrame, most: int = 4) -> None:
        self.original = {n: v for n, v in numbers_of(frame).items() if not np.isnan(v).any()}
        self.units = {n: (v.mean(), v.std()) for n, v in self.original.items()}
        nothing = np.random.default_rng(0)
        pairs = [
            numeric_column(name, values, nothing.permutation(values))
            for name, values in self.original.items()
        ]
        self.curves: dict[str, list[tuple[str, str]]] = {}
        for lost in lost_curves(pairs).lost:  # of a release without any: all that there are
            terms = self.curves.setdefault(lost.column, [])
            if len(terms) < 3:
                terms.append((lost.first, lost.second))
        self.curves = dict(list(self.curves.items())[:most])
        self.plain = list(self.original)[:: max(1, len(self.original) // most)][:most]

    def errors(self, released: pl.DataFrame) -> dict[str, float | None]:
        every = numbers_of(released)
        other = {name: every[name] for name in self.original}
        plain = [self._error(other, y, []) for y in self.plain]
        curved = [self._error(other, y, terms) for y, terms in self.curves.items()]
        return {
            "plain": float(np.mean(plain)),
            "curved": float(np.mean(curved)) if curved else None,
        }

    def _error(self, other: dict[str, np.ndarray], y: str, terms: list) -> float:
        slopes, errors = self._fit(self.original, y, terms)
        released, _ = self._fit(other, y, terms)
        own = slice(-len(terms), None) if terms else slice(1, None)
        return float(np.mean(np.abs(released - slopes)[own] / errors[own]))

    def _fit(self, table: dict[str, np.ndarray], y: str, terms: list) -> tuple:
        z = {n: np.clip((table[n] - m) / (s or 1.0), -2.5, 2.5) for n, (m, s) in self.units.items()}
        x = np.column_stack(
            [np.ones_like(z[y]), *(z[n] for n in z if n != y), *(z[a] * z[b] for a, b in terms)]
        )
        inverse = np.linalg.pinv(x.T @ x, rcond=1e-8)
        slopes = inverse @ (x.T @ z[y])
        left = z[y] - x @ slopes
        variance = left @ left / (x.shape[0] - x.shape[1])
        return slopes, np.sqrt(np.maximum(np.diag(inverse) * variance, 1e-12))


def _planned(table: Table, schema: Schema, method: str) -> Plan:
    """Return the plan, with principal components where nothing tells who stands out."""
    try:
        return plan(prepare(table, schema=schema), method=method)
    except NoAnchorError:
        return plan(prepare(table, schema=schema), method="sa")


def of_release(table: Table, schema: Schema, models: Models, method: str, seeds: range) -> dict:
    view = View.of(table, schema, table)
    space = scaled(view, view)
    rows = farthest(space)
    alone = nearest(space[rows], space, rows)
    found = []
    planned = _planned(table, schema, method)
    for seed in seeds:
        made = release(planned, as_key(seed)).table
        other = scaled(View.of(made, schema, table), view)
        after = numbers_of(made.frame)
        pairs = [numeric_column(n, v, after[n]) for n, v in models.original.items()]
        found.append(
            {
                **models.errors(made.frame),
                "lost": len(lost_curves(pairs).lost),
                "near": (nearest(space[rows], other) < alone).mean(),
            }
        )
    return spread_means(found)


def of_halves(table: Table, schema: Schema, method: str, splits: int) -> dict:
    view = View.of(table, schema, table)
    space, n, found = scaled(view, view), table.frame.height, []
    space = np.clip(space, -5.0, 5.0)
    for split in range(splits):
        order = np.random.default_rng(split).permutation(n)
        for one, two in ((0, 1), (1, 0)):
            halves = [order[: n // 2], order[n // 2 : 2 * (n // 2)]]
            used, unused = halves[one], halves[two]
            some = table.with_frame(table.frame[np.sort(used)])
            made = release(_planned(some, schema, method), as_key(split)).table
            other = np.clip(scaled(View.of(made, schema, table), view), -5.0, 5.0)
            first, second = (cKDTree(space[rows]).query(other)[0] for rows in (used, unused))
            found.append({"closer": np.mean(first < second) + 0.5 * np.mean(first == second)})
    return spread_means(found)


def of_planted(table: Table, schema: Schema, method: str, seeds: range) -> dict:
    found = []
    for seed in seeds:
        moved, rows = plant(table, schema, seed)
        schema = guess_schema(moved)
        view = View.of(moved, schema, moved)
        space = scaled(view, view)
        made = release(_planned(moved, schema, method), as_key(seed)).table
        other = scaled(View.of(made, schema, moved), view)
        alone = nearest(space[rows], space, rows)
        found.append(
            {
                "pORE": float(outlier_replication_error(space, other, rows)),
                "pnear": (nearest(space[rows], other) < alone).mean(),
            }
        )
    return spread_means(found)


def spread_means(found: list[dict]) -> dict:
    """Return means, and standard errors under the same names with an ending."""
    result = means(found)
    for name in found[0]:
        values = [each[name] for each in found if each[name] is not None]
        if len(values) > 1:
            result[f"{name}_se"] = float(np.std(values, ddof=1) / np.sqrt(len(values)))
    return result


def one_table(name: str, options: argparse.Namespace) -> dict:
    table = Table(TABLES[name]())
    schema = guess_schema(table)
    started = time.process_time()
    seen = seen_curves(table, schema)
    looking = time.process_time() - started
    models = Models(table.frame)
    line = {
        "table": name,
        "rows": table.frame.height,
        "columns": table.frame.width,
        "seen": {k: round(v, 3) for k, v in seen.items()},
        "looking": looking,
        "auto": plan(prepare(table, schema=schema)).method,
        "curves": {y: ["*".join(t) for t in terms] for y, terms in models.curves.items()},
    }
    for method in METHODS:
        started = time.process_time()
        release(_planned(table, schema, method), as_key(0))
        line[method] = {
            "seconds": time.process_time() - started,
            **of_release(table, schema, models, method, range(options.releases)),
            **of_halves(table, schema, method, options.splits),
            **of_planted(table, schema, method, range(options.releases)),
        }
    return line


def show(line: dict) -> None:
    strongest = max(line["seen"].values(), default=0.0)
    print(
        f"{line['table']}: {line['rows']} x {line['columns']}, auto takes {line['auto']}, "
        f"strongest curve {strongest:.2f}, looked {line['looking']:.3f} s"
    )
    for method in METHODS:
        cells = []
        for heading in HEADINGS:
            value, error = line[method].get(heading), line[method].get(f"{heading}_se")
            told = "" if value is None else f"{value:.3f}" + (f" ({error:.3f})" if error else "")
            cells.append(f"{told:>15}")
        print(f"  {method:8}" + "".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--releases", type=int, default=4)
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--folder", type=Path, help="of CSV files, instead of these tables")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.folder:
        files = {file.stem: file for file in sorted(options.folder.glob("*.csv"))}
        TABLES.update({n: (lambda f=f: _some_rows(read_table(f).frame)) for n, f in files.items()})
        options.tables = list(files)
    print(" " * 10 + "".join(f"{heading:>15}" for heading in HEADINGS))
    lines = []
    for name in options.tables:
        lines.append(one_table(name, options))
        show(lines[-1])
        if options.json:
            options.json.write_text(json.dumps(lines, indent=2))


if __name__ == "__main__":
    main()

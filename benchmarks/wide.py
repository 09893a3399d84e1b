"""More columns than rows: what a release by a few factors keeps, and what it tells of people.

    python -m benchmarks.wide [--splits 3] [--tables survey genes] [--method icsa]

Half of a table is released; the other half are fresh people. *kept* and *kept fresh* are the slope
of correlations of pairs, in the release and among fresh people, on those of the half that was
used; *closer* the share of released rows nearer to the used half; *near*, *means* and *space* how
well an attacker who knows all cells of somebody tells the used from the fresh (area, .5 tells
nothing): by the nearest released row, by the columns' means alone, and by the share of a row in the
release's first ten principal components. pORE is of two people planted far out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import polars as pl
from scipy.spatial.distance import cdist
from scipy.stats import ks_2samp, rankdata

import icsa
from benchmarks.recipes import means
from icsa.privacy import outlier_replication_error

HEADINGS = ("factors", "kept", "kept fresh", "KS", "closer", "near", "means", "space", "pORE", "s")


def genes(n: int, seed: int = 0, p: int = 2000) -> pl.DataFrame:
    """Return expressions with six factors, each in a quarter of the columns."""
    generator = np.random.default_rng(seed)
    slopes = generator.normal(size=(p, 6)) * (generator.random((p, 6)) < 0.25)
    x = generator.normal(size=(n, 6)) @ slopes.T + generator.normal(size=(n, p))
    x = 6.0 + 1.2 * x * generator.gamma(4.0, 0.25, size=p)
    return pl.DataFrame({f"g{j}": column.round(3) for j, column in enumerate(x.T)})


def survey(n: int, seed: int = 0, p: int = 200) -> pl.DataFrame:
    """Return 200 answers of three kinds with five factors, some missing, beside age and sex."""
    generator = np.random.default_rng([seed, 5])
    factors = generator.normal(size=(n, 5))
    slopes = generator.normal(size=(p, 5)) * (generator.random((p, 5)) < 0.4)
    x = 0.8 * factors @ slopes.T + generator.normal(size=(n, p))
    x /= x.std(axis=0)
    age = np.clip(45 + 7 * factors[:, 0] + 12 * generator.normal(size=n), 18, 90)
    cells: dict[str, object] = {"age": age.astype(int), "sex": generator.choice(["f", "m"], n)}
    for j in range(p):
        gone = pl.Series(generator.random(n) < (0.06 if j % 7 == 0 else 0.0))
        if j % 5 < 3:
            answers = pl.Series(np.clip(np.rint(1.1 * x[:, j] + 3), 1, 5).astype(int))
        elif j % 5 == 3:
            answers = pl.Series(np.where(x[:, j] > 0.3, "yes", "no"))
        else:
            answers = pl.Series(np.array(["a", "b", "c"])[np.digitize(x[:, j], [-0.5, 0.6])])
        cells[f"q{j}"] = answers.set(gone, None)
    return pl.DataFrame(cells)


def _pixels(n: int) -> pl.DataFrame:
    from sklearn.datasets import load_digits

    x = load_digits().data
    rows = np.random.default_rng(0).permutation(x.shape[0])[:n]
    used = [j for j in range(x.shape[1]) if x[:, j].std() > 0.5]
    return pl.DataFrame({f"p{j}": x[rows, j].astype(int) for j in used})


def _cells_of_cancer(n: int) -> pl.DataFrame:
    from sklearn.datasets import load_breast_cancer

    frame = pl.from_pandas(load_breast_cancer(as_frame=True).frame)
    return frame[np.random.default_rng(0).permutation(frame.height)[:n]]


TABLES: dict[str, Callable[[], pl.DataFrame]] = {
    "survey": lambda: survey(120),
    "genes": lambda: genes(200),
    "digits": lambda: _pixels(100),
    "cancer": lambda: _cells_of_cancer(80),
}


def numbers_of(frame: pl.DataFrame) -> np.ndarray:
    columns = []
    for name in frame.columns:
        cells = frame[name]
        if not cells.dtype.is_numeric():
            cells = cells.rank("dense")
        values = cells.cast(pl.Float64).to_numpy()
        columns.append(np.where(np.isnan(values), np.nanmean(values), values))
    return np.column_stack(columns)


def area(inside: np.ndarray, outside: np.ndarray) -> float:
    ranks = rankdata(np.concatenate([inside, outside]))[: inside.size]
    return float((ranks.sum() - inside.size * (inside.size + 1) / 2) / inside.size / outside.size)


def pairs(x: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.corrcoef(x.T)[np.triu_indices(x.shape[1], 1)]


def one_split(frame: pl.DataFrame, split: int, method: str | None) -> dict:
    n = frame.height // 2
    order = np.random.default_rng(split).permutation(2 * n)
    x = numbers_of(frame)
    started = time.process_time()
    made = icsa.anonymize(frame[order[:n]], method=method, random_state=split)
    seconds = time.process_time() - started
    z = (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
    released = numbers_of(made.table)
    r = (released - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
    used, fresh = z[order[:n]], z[order[n:]]
    both = [cdist(people, r).min(axis=1) for people in (used, fresh)]
    middle = r.mean(axis=0)
    space = np.linalg.svd(r - middle, full_matrices=False)[2][:10]
    shares = [
        (((people - middle) @ space.T) ** 2).sum(axis=1) / ((people - middle) ** 2).sum(axis=1)
        for people in (used, fresh)
    ]
    a, b, c = pairs(used), pairs(r), pairs(fresh)
    known = ~np.isnan(a + b + c)
    distances = [ks_2samp(u, v, method="asymp").statistic for u, v in zip(used.T, r.T, strict=True)]
    return {
        "factors": made.n_components,
        "kept": np.polyfit(a[known], b[known], 1)[0],
        "kept fresh": np.polyfit(a[known], c[known], 1)[0],
        "KS": np.mean(distances[:200]),
        "closer": (cdist(r, used).min(axis=1) < cdist(r, fresh).min(axis=1)).mean(),
        "near": area(-both[0], -both[1]),
        "means": area(used @ middle, fresh @ middle),
        "space": area(*shares),
        "pORE": planted(frame[order[:n]], split, method),
        "s": seconds,
    }


def planted(frame: pl.DataFrame, seed: int, method: str | None) -> float:
    generator = np.random.default_rng([seed, 9])
    rows = generator.choice(frame.height, 2, replace=False)
    for name in frame.columns:
        if frame[name].dtype.is_numeric() and frame[name].n_unique() > 20:
            cells = frame[name].cast(pl.Float64).to_numpy().copy()
            unit = 1.4826 * np.median(np.abs(cells - np.median(cells))) or cells.std()
            cells[rows] = np.median(cells) + 30 * unit * generator.choice([-1, 1], 2)
            frame = frame.with_columns(pl.Series(name, cells.round(3)))
    x = numbers_of(frame)
    middle = np.median(x, axis=0)
    unit = 1.4826 * np.median(np.abs(x - middle), axis=0)
    unit = np.where(unit > 0, unit, np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0))
    made = numbers_of(icsa.anonymize(frame, method=method, random_state=seed).table)
    scaled = [(table - middle) / unit for table in (x, made)]
    return float(outlier_replication_error(*scaled, rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--method", choices=["icsa", "sa"])
    options = parser.parse_args()
    print(f"{'':10}" + "".join(f"{heading:>12}" for heading in HEADINGS))
    for name in options.tables:
        frame = TABLES[name]()
        found = means([one_split(frame, split, options.method) for split in range(options.splits)])
        told = "".join(f"{found[heading]:12.3f}" for heading in HEADINGS)
        print(f"{name:10}{told}", flush=True)


if __name__ == "__main__":
    main()

"""What the Wisconsin study found: means and efficiency ratios beside the published ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from icsa.files import write_atomically
from icsa.report import Section
from icsa.studies.engine import read_parts
from icsa.studies.pages import Claim, write_page
from icsa.studies.study import Study
from icsa.studies.wdbc import TARGETS
from icsa.tradeoff import Replicates, efficiency_ratios

__all__ = ["PUBLISHED_MEANS", "PUBLISHED_RATIOS", "claims", "means", "ratios", "write_results"]

_METRICS = ("ore", "distance", "recall", "precision", "jaccard", "fpr")
_RATIO_METRICS = ("distance", "recall", "fpr", "precision", "jaccard")
# Metrics of which more is better; the loss is what they lack to 1.
_GAINS = ("recall", "precision", "jaccard")

# Mean and standard deviation as published, by metric: SA, then mcd50-mcd75.
PUBLISHED_MEANS: dict[str, dict[str, tuple[float, float]]] = {
    "sa": {
        "ore": (0.00104, 0.0009),
        "distance": (267.68, 759.82),
        "recall": (0.942, 0.070),
        "precision": (0.810, 0.114),
        "jaccard": (0.767, 0.102),
        "fpr": (0.529, 0.286),
    },
    "mcd50-mcd75": {
        "ore": (0.00490, 0.0044),
        "distance": (436.69, 1208.80),
        "recall": (0.884, 0.118),
        "precision": (0.774, 0.105),
        "jaccard": (0.694, 0.101),
        "fpr": (0.634, 0.264),
    },
}
# Ratios as printed (no root), by target: distance, recall, FPR, precision, Jaccard.
PUBLISHED_RATIOS: dict[str, tuple[float, ...]] = {
    "radius": (2.98, 3.56, 4.79, 4.65, 4.31),
    "texture": (3.92, 5.75, 4.74, 4.98, 5.26),
    "perimeter": (3.20, 2.87, 3.12, 3.33, 3.36),
    "area": (1.89, 1.12, 3.58, 3.33, 2.97),
    "smoothness": (1.16, 4.36, 3.79, 3.97, 4.06),
    "compactness": (1.69, 1.72, 4.24, 4.17, 3.85),
    "concavity": (1.20, 2.54, 2.84, 2.71, 2.78),
    "concave points": (2.61, 2.74, 6.75, 6.75, 6.03),
    "symmetry": (3.03, 1.81, 6.10, 5.03, 3.32),
    "fractal dimension": (0.74, 1.97, 5.41, 5.18, 4.33),
    "overall": (2.88, 2.33, 3.91, 3.95, 3.58),
}
_PUBLISHED_OVERALL = {
    "distance": (2.81, 2.95),
    "recall": (2.27, 2.39),
    "fpr": (3.85, 3.97),
    "precision": (3.89, 4.01),
    "jaccard": (3.53, 3.63),
}


def means(frame: pl.DataFrame) -> pl.DataFrame:
    """Return mean and standard deviation of every method and metric beside the published ones."""
    rows = []
    for method in frame["method"].unique(maintain_order=True):
        part = frame.filter(pl.col("method") == method)
        for metric in _METRICS:
            values = part[metric].to_numpy()
            known = values[~np.isnan(values)]
            published = PUBLISHED_MEANS.get(method, {}).get(metric, (None, None))
            rows.append(
                {
                    "method": method,
                    "metric": metric,
                    "mean": float(known.mean()) if known.size else None,
                    "sd": float(known.std(ddof=1)) if known.size > 1 else None,
                    "n_undefined": int(values.size - known.size),
                    "published_mean": published[0],
                    "published_sd": published[1],
                }
            )
    return pl.DataFrame(rows)


def ratios(frame: pl.DataFrame, method: str, seed: int, resamples: int) -> pl.DataFrame:
    """Return the efficiency ratios of a method to SA, as printed and as defined, by target."""
    rows = []
    for metric in _RATIO_METRICS:
        found = efficiency_ratios(
            _replicates(frame, method, metric),
            _replicates(frame, "sa", metric),
            generator=np.random.default_rng([seed, _RATIO_METRICS.index(metric)]),
            targets=TARGETS,
            resamples=resamples,
        )
        for item in found:
            rows.append(
                {
                    "target": item.target,
                    "metric": metric,
                    "form": item.form,
                    "ratio": item.ratio.value,
                    "low": item.ratio.low,
                    "high": item.ratio.high,
                    **_published(item.target, metric, item.form, method),
                }
            )
    return pl.DataFrame(rows)


def _published(target: str, metric: str, form: str, method: str) -> dict[str, float | None]:
    known = form == "printed" and method == "mcd50-mcd75"
    low, high = _PUBLISHED_OVERALL[metric] if known and target == "overall" else (None, None)
    value = PUBLISHED_RATIOS[target][_RATIO_METRICS.index(metric)] if known else None
    return {"published": value, "published_low": low, "published_high": high}


def _replicates(frame: pl.DataFrame, method: str, metric: str) -> Replicates:
    part = frame.filter(pl.col("method") == method)
    tables = [part.filter(pl.col("target") == target) for target in TARGETS]
    loss = np.stack([table[metric].to_numpy() for table in tables])
    ore = np.stack([table["ore"].to_numpy() for table in tables])
    return Replicates(ore=ore, loss=1.0 - loss if metric in _GAINS else loss)


def claims(table: pl.DataFrame) -> list[Claim]:
    """Return how many of the 50 cells favour the robust pair, in each form."""
    cells = table.filter(pl.col("target") != "overall").drop_nulls("ratio")
    result = []
    for form, words, published in (
        ("printed", "as printed, without the root", 49),
        ("defined", "as defined, with the root", None),
    ):
        part = cells.filter(pl.col("form") == form)
        ahead = part.filter(pl.col("ratio") > 1.0).height
        beside = f"; published {published}" if published else ""
        text = f"ICSA is ahead of SA in most cells, efficiency {words}."
        result.append(Claim(text, 2 * ahead > part.height, f"{ahead} of {part.height}{beside}"))
    return result


def write_results(study: Study, out: Path) -> None:
    """Write means.csv, table2.csv (one more for every further method) and report.html."""
    config = study.config
    frame = pl.DataFrame(read_parts(study, out))
    found = means(frame)
    write_atomically(out / "means.csv", found.write_csv)
    sections = [Section("Means over all targets", columns=found.columns, rows=found.rows())]
    every_claim: list[Claim] = []
    others = [method for method in config.methods if method != "sa"]  # type: ignore[attr-defined]
    for number, method in enumerate(others):
        table = ratios(frame, method, config.seed, config.bootstrap)  # type: ignore[attr-defined]
        name = "table2.csv" if number == 0 else f"table2-{method}.csv"
        write_atomically(out / name, table.write_csv)
        title = f"Relative privacy efficiency of {method} to SA"
        sections.append(Section(title, text=_FORMS, columns=table.columns, rows=table.rows()))
        every_claim.extend(claims(table))
    title = "Wisconsin rows: what the lasso loses, how near the ten malignant rows are copied"
    write_page(out, title, _INTRODUCTION, sections, every_claim)


_INTRODUCTION = (
    "367 rows of 30 measurements, ten of them malignant and taken as outliers. For each of ten "
    "targets, 21 columns are released; a cross-validated lasso on the release is compared with the "
    "one on the original rows.",
)
_FORMS = (
    "The definition of the efficiency has the root of the outlier replication error; the published "
    "table is reproduced only without it. Both are shown: 'printed' without, 'defined' with the "
    "root. A ratio above 1 favours the robust pair. Intervals are percentile bootstrap intervals.",
)

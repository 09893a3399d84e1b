"""What the Wisconsin study found: means and efficiency ratios beside the published ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

from icsa.jobs import Work, read_parts
from icsa.studies.pages import Claim, Section, claims_table, write_page, write_tables
from icsa.studies.wdbc import TARGETS, WdbcConfig, fold_ranges
from icsa.studies.wdbc_claims import (
    METRICS,
    PUBLISHED_INTERVALS,
    PUBLISHED_MEANS,
    PUBLISHED_RATIOS,
    PUBLISHED_RELEASES,
    RATIO_METRICS,
    ROBUST,
    beside_published,
    cell_claims,
    conclusions,
    mean_claims,
    win_claims,
)
from icsa.tradeoff import Replicates, efficiency_ratios

__all__ = ["beside_each_other", "compact_ratios", "duels", "means", "ratios", "write_results"]

# Metrics of which more is better; the loss is what they lack to 1.
_GAINS = ("recall", "precision", "jaccard")
_PUBLISHED_ROWS = "adbench"


def means(frame: pl.DataFrame, *, published: bool = True) -> pl.DataFrame:
    """Return mean and standard deviation of every method and metric beside the published ones.

    These are empty where other rows than the published ones are released.
    """
    rows = []
    for method in frame["method"].unique(maintain_order=True):
        part = frame.filter(pl.col("method") == method)
        for metric in METRICS:
            values = part[metric].to_numpy()
            known = values[~np.isnan(values)]
            beside = PUBLISHED_MEANS.get(method, {}) if published else {}
            rows.append(
                {
                    "method": method,
                    "metric": metric,
                    "mean": float(known.mean()) if known.size else None,
                    "sd": float(known.std(ddof=1)) if known.size > 1 else None,
                    "n_undefined": int(values.size - known.size),
                    "published_mean": beside.get(metric, (None, None))[0],
                    "published_sd": beside.get(metric, (None, None))[1],
                }
            )
    return pl.DataFrame(rows)


def ratios(frame: pl.DataFrame, method: str, config: WdbcConfig, *, to: str = "sa") -> pl.DataFrame:
    """Return the efficiency ratios of a method to another, as printed and as defined, by target."""
    rows = [
        {
            "target": item.target,
            "metric": metric,
            "form": item.form,
            "ratio": item.ratio.value,
            "low": item.ratio.low,
            "high": item.ratio.high,
        }
        for place, metric in enumerate(RATIO_METRICS)
        for item in efficiency_ratios(
            _replicates(frame, method, metric),
            _replicates(frame, to, metric),
            generator=np.random.default_rng([config.seed, place]),
            targets=TARGETS,
            resamples=config.bootstrap,
        )
    ]
    return pl.DataFrame(rows)


def duels(frame: pl.DataFrame, config: WdbcConfig) -> pl.DataFrame:
    """Return the efficiency of mcd50-mcd75 over that of every other pair, over all targets."""
    names = frame["method"].unique(maintain_order=True).to_list()
    tables = [
        ratios(frame, ROBUST, config, to=name)
        .filter(pl.col("target") == "overall")
        .select(pl.lit(name).alias("method"), "metric", "form", "ratio", "low", "high")
        for name in names
        if name not in ("sa", ROBUST)
    ]
    return pl.concat(tables)


def _with_published(table: pl.DataFrame, *, known: bool) -> pl.DataFrame:
    """Return ratios with the published ones beside them, empty where there are none."""
    beside = []
    for target, metric, form in table.select("target", "metric", "form").rows():
        there = known and form == "printed"
        value = PUBLISHED_RATIOS[target][RATIO_METRICS.index(metric)] if there else None
        whole = there and target == "overall"
        beside.append((value, *(PUBLISHED_INTERVALS[metric] if whole else (None, None))))
    names = ("published", "published_low", "published_high")
    schema = dict.fromkeys(names, pl.Float64)
    return table.hstack(pl.DataFrame(beside, schema=schema, orient="row"))


def _replicates(frame: pl.DataFrame, method: str, metric: str) -> Replicates:
    part = frame.filter(pl.col("method") == method)
    tables = [part.filter(pl.col("target") == target) for target in TARGETS]
    loss = np.stack([table[metric].to_numpy() for table in tables])
    ore = np.stack([table["ore"].to_numpy() for table in tables])
    return Replicates(ore=ore, loss=1.0 - loss if metric in _GAINS else loss)


def beside_each_other(found: pl.DataFrame, tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return a row a method: mean ORE, cells ahead of SA in both forms, overall ratios."""
    rows = []
    for method, table in tables.items():
        ore = found.filter(pl.col("method") == method, pl.col("metric") == "ore")["mean"][0]
        row: dict[str, object] = {"method": method, "ore": ore}
        for form in ("printed", "defined"):
            part = table.filter(pl.col("form") == form).drop_nulls("ratio")
            cells = part.filter(pl.col("target") != "overall")
            ahead = cells.filter(pl.col("ratio") > 1.0).height
            row[f"cells ahead, {form}"] = f"{ahead} of {cells.height}"
            if form == "defined":
                overall = part.filter(pl.col("target") == "overall")
                row |= dict(overall.select("metric", "ratio").rows())
        rows.append(row)
    return pl.DataFrame(rows)


def write_results(study: Work, out: Path) -> None:
    """Write the tables and report.html into the study's folder.

    ``claims.csv``, ``means.csv``, ``table2.csv`` (one more for every further method), with other
    pairs ``pairs.csv`` and ``duels.csv``, and on the published rows ``published.csv``.
    """
    config = study.config
    assert isinstance(config, WdbcConfig)
    frame = pl.DataFrame(read_parts(study, out))
    found = means(frame, published=config.rows == _PUBLISHED_ROWS)
    write_tables(out, means=found)
    answers, sections = _mean_sections(found, config, out)
    tables = _ratio_tables(frame, config, out) if "sa" in config.methods else {}
    for method in [ROBUST] if ROBUST in tables else tables:
        answers += [*conclusions(found, method), *cell_claims(tables[method], method)]
    wins: list[Claim] = []
    if len(tables) > 1 and ROBUST in tables:
        fought, pairs = duels(frame, config), beside_each_other(found, tables)
        write_tables(out, duels=fought, pairs=pairs)
        wins = win_claims(fought)
        sections += [
            Section(f"Does {ROBUST} win?", _DUELS, claims_table(wins)),
            Section("All pairs beside each other", _PAIRS, pairs),
            Section(f"Efficiency of {ROBUST} over that of other pairs", table=fought),
        ]
    sections += [
        Section(f"Relative privacy efficiency of {method} to SA", _FORMS, compact_ratios(table))
        for method, table in tables.items()
    ]
    title = "Wisconsin rows: what the lasso loses, how near the ten malignant rows are copied"
    draw = _DRAWS[config.rows == _PUBLISHED_ROWS].format(rows=config.rows)
    write_page(out, title, (_INTRODUCTION, draw, _ROOT), sections, answers, wins)


def _mean_sections(
    found: pl.DataFrame, config: WdbcConfig, out: Path
) -> tuple[list[Claim], list[Section]]:
    """Return what the means answer, and their part of the page."""
    title = "Means over all targets"
    if config.rows != _PUBLISHED_ROWS or config.releases < PUBLISHED_RELEASES:
        return [], [Section(title, f"{_MEANS}\n\n{_NOT_JUDGED}", found)]
    table = beside_published(found, fold_ranges(config))
    write_tables(out, published=table)
    sections = [Section(title, _MEANS, found), Section("Published means", _PUBLISHED, table)]
    return mean_claims(table), sections


def _ratio_tables(frame: pl.DataFrame, config: WdbcConfig, out: Path) -> dict[str, pl.DataFrame]:
    """Write and return the ratios of every method to SA."""
    tables: dict[str, pl.DataFrame] = {}
    for method in config.methods:
        if method == "sa":
            continue
        name = f"table2-{method}" if tables else "table2"
        known = method == ROBUST and config.rows == _PUBLISHED_ROWS
        tables[method] = _with_published(ratios(frame, method, config), known=known)
        write_tables(out, **{name: tables[method]})
    return tables


def compact_ratios(table: pl.DataFrame) -> pl.DataFrame:
    """Return ratios with their intervals as words, both forms in a row."""
    words = [
        None if ratio is None else f"{ratio:.2f} ({low:.2f} to {high:.2f})"
        for ratio, low, high in table.select("ratio", "low", "high").rows()
    ]
    shown = table.with_columns(pl.Series("words", words, dtype=pl.String))
    printed, defined = (shown.filter(pl.col("form") == form) for form in ("printed", "defined"))
    return printed.select(
        "target", "metric", pl.col("words").alias("as printed (no root)"), "published"
    ).join(
        defined.select("target", "metric", pl.col("words").alias("as defined (root)")),
        on=["target", "metric"],
        maintain_order="left",
    )


_INTRODUCTION = (
    "367 rows of 30 measurements, ten of them malignant and taken as outliers. For each of ten "
    "targets, 21 columns are released; a cross-validated lasso on the release is compared with the "
    "one on the original rows."
)
_DRAWS = {
    True: "The ten malignant rows are those of the published study (draw {rows}).",
    False: "The ten malignant rows are another draw ({rows}) than the published study's. The same "
    "claims are asked of them, to see whether the conclusions are tied to one draw; published "
    "figures that stand beside a claim are those of the other draw.",
}
_ROOT = (
    "The definition of the efficiency has the root of the outlier replication error (ORE); the "
    "printed table leaves out the root that the definition has, for its numbers are reproduced "
    "only without it. Without the root 49 of the 50 published cells of target and metric favour "
    "ICSA; with it, dividing by the root of the ratio of the published mean OREs, 41 do. Both "
    "forms are counted here."
)
_MEANS = (
    "n_undefined counts releases in which a metric has no value: a false positive rate when the "
    "reference selects all predictors, a precision when the release selects none."
)
_NOT_JUDGED = (
    "Published means are judged only on the published rows and with as many releases as published."
)
_PUBLISHED = (
    "The gap is ours minus the published mean in standard errors of the published run (from its "
    "standard deviation over 20,000 releases). Here the reference lasso's folds are drawn anew "
    "with every release; low and high say where our mean would be had they been drawn once, at the "
    "extremes of 20 such draws on ten releases a target. A published mean between them "
    "is within reach of the folds.\n\n"
    "mcd50-mcd75 depends on the subset in which the search for the MCD ends. Ours ends in lower "
    "objectives than R's covMcd did on these tables, and covMcd itself ends in another subset "
    "after another seed, which moves the mean ORE between .0040 and .0054 and the other means "
    "with it. A published mean in the range over ten seeds is within reach of the search. Neither "
    "shows what the published run did."
)
_FORMS = (
    "'printed' is without the root, 'defined' with it. A ratio above 1 favours the pair. Average "
    "first, then the ratio; overall pools the targets. Intervals are percentile bootstrap ones."
)
_PAIRS = (
    "Mean ORE, cells of target and metric in which the efficiency is above SA's, and the ratios to "
    "SA over all targets as defined (root)."
)
_DUELS = (
    "The efficiency of mcd50-mcd75 over that of each other pair, over all targets, with a "
    "bootstrap interval: won when the interval is above 1, lost when it is below."
)

"""What the simulation found: summaries, paired differences, figures, a page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from icsa.files import write_atomically
from icsa.studies.engine import read_parts
from icsa.studies.figures import distribution_figure, save_figure, scenario_figure
from icsa.studies.jobs import Study
from icsa.studies.method_times import method_times
from icsa.studies.named_methods import method_of
from icsa.studies.pages import Claim, Section, table_section, write_claims, write_page
from icsa.studies.simulation import CELL
from icsa.studies.simulation_beyond import decorrelated_part, masks_part
from icsa.studies.simulation_claims import against_reference, claims
from icsa.studies.simulation_differences import MEASURES, differences, with_nulls
from icsa.studies.simulation_worst import RULE, ore_quantiles, worst_cells

__all__ = ["summary", "write_results"]

# A guess within this share of somebody's squared length is near.
_NEAR = 0.1


def summary(raw: dict[str, np.ndarray]) -> pl.DataFrame:
    """Return a row for every cell and method: means, standard errors, medians, what is missing.

    ``attacked`` counts the releases that have a reassembled ORE, ``ore_attacked`` is the mean ORE
    of these alone. ``guesses`` counts those for which the attack made a guess at all;
    ``guess_median`` is the median error of these, ``guessed_near`` the share of attacked releases
    whose guess is within a tenth of the outlier's squared length.
    """
    frame = with_nulls(raw).with_columns(pl.col("reason").replace("", None))
    attacked = pl.col("reassembled").count()
    return frame.group_by([*CELL, "method"], maintain_order=True).agg(
        pl.len().alias("repetitions"),
        *(
            statistic
            for name in MEASURES
            for statistic in (
                pl.col(name).mean().alias(name),
                (pl.col(name).std() / pl.col(name).count().sqrt()).alias(f"{name}_se"),
                pl.col(name).median().alias(f"{name}_median"),
            )
        ),
        attacked.alias("attacked"),
        pl.col("ore").filter(pl.col("reassembled").is_not_null()).mean().alias("ore_attacked"),
        pl.col("guess").count().alias("guesses"),
        pl.col("guess").median().alias("guess_median"),
        pl.when(attacked > 0)
        .then((pl.col("guess") < _NEAR).sum() / attacked)
        .alias("guessed_near"),
        pl.col("reason").count().alias("not_estimable"),
        pl.col("reason").drop_nulls().mode().sort().first().alias("reason"),
    )


def write_results(study: Study, out: Path) -> None:
    """Write the tables, the figures and report.html into the study's folder.

    ``claims.csv``, ``summary.csv``, ``differences.csv`` (paired, to SA), ``ore_quantiles.csv``;
    with decorrelated methods ``decorrelation.csv``; with other masks than the paper's
    ``masks.csv``, ``mask_verdicts.csv`` and ``mask_overview.csv``. The times of the methods are
    measured now, for the page alone.
    """
    raw = read_parts(study, out)
    found, gaps, quantiles = summary(raw), differences(raw), ore_quantiles(raw)
    methods = [method_of(name) for name in dict.fromkeys(raw["method"].tolist())]
    names = [method.name for method in methods]
    published = [method.name for method in methods if method.is_published] or names
    for name, table in (("summary", found), ("differences", gaps), ("ore_quantiles", quantiles)):
        write_atomically(out / f"{name}.csv", table.write_csv)
    scenarios = sorted(set(raw["scenario"].tolist()))
    sections = [_scenario_section(found, scenario, published, out) for scenario in scenarios]
    reference = against_reference(found)
    if not reference.is_empty():
        sections.append(table_section("Beside an independent run", _REFERENCE, reference))
    sections += _value_tables(found, gaps, published)
    sections += [_worst_section(raw, quantiles, scenario, published, out) for scenario in scenarios]
    sections.append(table_section("Time of each method", *method_times(study.config)))  # type: ignore[arg-type]
    answers, further = claims(found, gaps), list[Claim]()
    for part in (decorrelated_part, masks_part):
        more, shown = part(raw, found, methods, out)
        further += more
        sections += shown
    write_claims(out, [*answers, *further])
    title = "Simulation: planted outliers, least squares"
    write_page(out, title, _INTRODUCTION, sections, answers)


_INTRODUCTION = (
    "Each data set has predictors and a response with known coefficients; some responses are "
    "shifted by the severity. A release is scored by how far the shifted rows are from the nearest "
    "released row (outlier replication error, ORE: higher is safer) and by how far least squares "
    "on the release is from the true coefficients (loss: lower is better).",
    "First the paper's methods; decorrelated and other masks follow, where the study has them.",
)
_SCENARIOS = {
    1: "Independent predictors of decreasing variance; the last row's response is shifted.",
    2: "Correlated predictors; the responses of a tenth of the rows are shifted.",
}
_REFERENCE = (
    "n = 120, 8 columns, severity 16, beside an independent run in R (robustbase, ICSNP, 300 "
    "repetitions). A gap is ours minus theirs in standard errors of the difference; where the "
    "other run's own were not recorded, ours are taken for 300 repetitions."
)


def _scenario_section(
    found: pl.DataFrame, scenario: int, methods: Sequence[str], out: Path
) -> Section:
    figure = scenario_figure(found, scenario, methods)
    return Section(
        f"Scenario {scenario}",
        text=[_SCENARIOS[scenario]],
        figure=save_figure(figure, out / "figures", f"scenario{scenario}"),
        caption="Bars are 95% intervals of the means. Right: hidden better. Down: lost less.",
    )


def _value_tables(
    found: pl.DataFrame, gaps: pl.DataFrame, methods: Sequence[str]
) -> Iterable[Section]:
    """Yield means with standard errors and paired differences, a row a cell, and the reasons."""
    file = "All digits, medians and reasons are in summary.csv."
    for name, title in (("ore", "ORE"), ("loss", "Loss")):
        text = f"Means over the repetitions, standard errors in brackets. {file}"
        shown = _by_method(found, methods, [name, f"{name}_se"], "{:.3g} ({:.2g})")
        yield table_section(f"{title} of all cells", text, shown)
    for name, title in (("ore", "ORE"), ("loss", "Loss")):
        text = (
            "Methods of one repetition see the same data: the mean of the paired differences, "
            "method minus SA, and the half width of its 95% interval; * where 0 is outside."
        )
        half = (pl.col(f"{name}_high") - pl.col(name)).alias("half")
        mark = pl.when(pl.col(name).abs() > pl.col("half")).then(pl.lit("*")).otherwise(pl.lit(""))
        wide = gaps.with_columns(half).with_columns(mark.alias("mark"))
        others = [method for method in methods if method != "sa"]
        if others and not wide.is_empty():
            shown = _by_method(wide, others, [name, "half", "mark"], "{:+.3g} ± {:.2g}{}")
            yield table_section(f"{title}: differences to SA", text, shown)
    missing = found.filter(pl.col("not_estimable") > 0)
    if not missing.is_empty():
        text = "Cells and methods in which something could not be estimated, by the reason given."
        counted = missing.group_by("reason", maintain_order=True).agg(
            pl.len().alias("cells and methods"), pl.col("not_estimable").sum().alias("repetitions")
        )
        yield table_section("Not estimable", text, counted)


def _by_method(
    table: pl.DataFrame, methods: Sequence[str], names: Sequence[str], pattern: str
) -> pl.DataFrame:
    """Return a row a cell and a column a method, with the named values put into the pattern."""
    chosen = table.filter(pl.col("method").is_in(list(methods)))
    texts = [
        None
        if values[0] is None
        else pattern.format(*(math.nan if v is None else v for v in values))
        for values in chosen.select(names).rows()
    ]
    long = chosen.select(*CELL, "method").with_columns(pl.Series("text", texts, dtype=pl.String))
    return long.pivot("method", index=CELL, values="text", maintain_order=True)


def _worst_section(
    raw: dict[str, np.ndarray],
    quantiles: pl.DataFrame,
    scenario: int,
    methods: Sequence[str],
    out: Path,
) -> Section:
    """Return the distribution of the ORE in the worst cells of a scenario."""
    cells = worst_cells(quantiles, scenario, methods)
    title = f"Scenario {scenario}: the whole distribution of ORE in the worst cells"
    if not cells:
        return Section(title, text=[RULE, "No cell can be estimated by all methods."])
    figure = distribution_figure(pl.DataFrame(raw), cells, methods)
    numbers = pl.DataFrame(
        [(c.scenario, c.n, c.columns, c.severity) for c in cells], CELL, orient="row"
    )
    rows = numbers.join(quantiles, on=CELL, maintain_order="left").filter(
        pl.col("method").is_in(list(methods))
    )
    return Section(
        title,
        text=[RULE],
        figure=save_figure(figure, out / "figures", f"worst{scenario}"),
        caption="Share of the repetitions with an ORE of at most x. Quantiles are in the table.",
        columns=rows.columns,
        rows=rows.rows(),
    )

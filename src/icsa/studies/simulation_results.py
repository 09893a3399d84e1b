"""What the simulation found: summaries, paired differences, claims with a yes or no."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from icsa.files import write_atomically
from icsa.report import Section
from icsa.studies.engine import read_parts
from icsa.studies.figures import save_figure, scenario_figure
from icsa.studies.pages import Claim, write_page
from icsa.studies.study import Study

__all__ = [
    "REFERENCE_RUN",
    "claims",
    "decorrelation",
    "differences",
    "summary",
    "write_results",
]

_CELL = ["scenario", "n", "columns", "severity"]
# Normal quantile of a two-sided 95% interval.
_Z = 1.959963984540054

# An independent run in R (robustbase, ICSNP; 300 repetitions) at n = 120, 8 columns, severity 16:
# ORE, loss, and the standard error of the ORE where it was recorded.
REFERENCE_RUN: dict[int, dict[str, tuple[float, float, float | None]]] = {
    1: {
        "sa": (0.312, 0.336, 0.006),
        "cov-cov4": (0.147, 0.352, 0.007),
        "hr-cov": (0.172, 0.352, None),
        "hr-tyler": (0.402, 0.292, 0.006),
        "mcd50-cov": (0.202, 0.345, None),
        "mcd75-cov": (0.174, 0.353, None),
        "mcd50-hr": (0.400, 0.270, None),
        "mcd75-hr": (0.400, 0.274, None),
        "mcd50-mcd75": (0.405, 0.266, 0.006),
    },
    2: {
        "sa": (0.0182, 2.50, 0.0002),
        "cov-cov4": (0.0197, 2.42, None),
        "hr-cov": (0.0166, 2.56, None),
        "hr-tyler": (0.0168, 2.50, None),
        "mcd50-cov": (0.0165, 2.52, None),
        "mcd75-cov": (0.0165, 2.52, None),
        "mcd50-hr": (0.0172, 2.67, None),
        "mcd75-hr": (0.0172, 2.67, None),
        "mcd50-mcd75": (0.185, 1.43, 0.004),
    },
}
_ROBUST = ("hr-tyler", "mcd50-hr", "mcd75-hr", "mcd50-mcd75")
_WITH_CLASS_I = ("cov-cov4", "hr-cov", "mcd50-cov", "mcd75-cov")


def summary(raw: dict[str, np.ndarray]) -> pl.DataFrame:
    """Return a row for every cell and method: means, standard errors, medians, what is missing."""
    frame = pl.DataFrame(raw).with_columns(
        pl.col("ore", "loss").fill_nan(None), pl.col("reason").replace("", None)
    )
    return frame.group_by([*_CELL, "method"], maintain_order=True).agg(
        pl.len().alias("repetitions"),
        *(
            statistic
            for name in ("ore", "loss")
            for statistic in (
                pl.col(name).mean().alias(name),
                (pl.col(name).std() / pl.col(name).count().sqrt()).alias(f"{name}_se"),
                pl.col(name).median().alias(f"{name}_median"),
            )
        ),
        pl.col("reason").count().alias("not_estimable"),
        pl.col("reason").drop_nulls().mode().sort().first().alias("reason"),
    )


def differences(raw: dict[str, np.ndarray], to: str = "sa") -> pl.DataFrame:
    """Return, for every cell and other method, the paired differences to one method.

    Methods of one repetition see the same data, so the differences vary less than the values.
    """
    frame = pl.DataFrame(raw).with_columns(pl.col("ore", "loss").fill_nan(None))
    return _paired(frame, frame.filter(pl.col("method") == to), on=[*_CELL, "repetition"]).filter(
        pl.col("method") != to
    )


def decorrelation(raw: dict[str, np.ndarray]) -> pl.DataFrame:
    """Return the paired differences of every decorrelated method to the plain one."""
    frame = pl.DataFrame(raw).with_columns(pl.col("ore", "loss").fill_nan(None))
    made = frame.filter(pl.col("method").str.ends_with("+d"))
    made = made.with_columns(pl.col("method").str.strip_suffix("+d"))
    return _paired(made, frame, on=[*_CELL, "repetition", "method"])


def _paired(left: pl.DataFrame, right: pl.DataFrame, on: list[str]) -> pl.DataFrame:
    both = left.join(right, on=on, suffix="_other", maintain_order="left")
    gaps = both.with_columns(
        (pl.col(name) - pl.col(f"{name}_other")).alias(name) for name in ("ore", "loss")
    )
    return gaps.group_by([*_CELL, "method"], maintain_order=True).agg(
        statistic for name in ("ore", "loss") for statistic in _interval(name)
    )


def _interval(name: str) -> Iterable[pl.Expr]:
    error = pl.col(name).std() / pl.col(name).count().sqrt()
    return (
        pl.col(name).mean().alias(name),
        (pl.col(name).mean() - _Z * error).alias(f"{name}_low"),
        (pl.col(name).mean() + _Z * error).alias(f"{name}_high"),
    )


def claims(found: pl.DataFrame, gaps: pl.DataFrame) -> list[Claim]:
    """Return what the paper says of its figures, with a yes or no from these results."""
    most = max(found["severity"].to_list())
    checks = [
        _share(
            f"Scenario 1, severity {most}: robust pairs hide the outlier better than SA.",
            gaps.filter(
                pl.col("scenario") == 1, pl.col("severity") == most, pl.col("method").is_in(_ROBUST)
            ),
            pl.col("ore_low") > 0,
            least=0.9,
        ),
        _share(
            f"Scenario 1, severity {most}: pairs with a class I scatter do no better than SA.",
            gaps.filter(
                pl.col("scenario") == 1,
                pl.col("severity") == most,
                pl.col("method").is_in(_WITH_CLASS_I),
            ),
            pl.col("ore_low") <= 0,
            least=0.9,
        ),
        _best_of_all(found, most),
        *_against_reference(found),
    ]
    return [claim for claim in checks if claim is not None]


def _share(text: str, cells: pl.DataFrame, condition: pl.Expr, least: float) -> Claim | None:
    cells = cells.drop_nulls("ore")
    if cells.is_empty():
        return None
    good = cells.filter(condition).height
    detail = f"{good} of {cells.height} cells and methods"
    return Claim(text, good >= least * cells.height, detail)


def _best_of_all(found: pl.DataFrame, severity: Any) -> Claim | None:
    """Scenario 2: mcd50-mcd75 has the highest ORE and the lowest loss in most cells."""
    cells = found.filter(pl.col("scenario") == 2, pl.col("severity") == severity)
    plain = cells.filter(~pl.col("method").str.ends_with("+d")).drop_nulls(["ore", "loss"])
    plain = plain.filter(pl.col("n") >= 40)
    if plain.is_empty() or "mcd50-mcd75" not in plain["method"]:
        return None
    ranked = plain.with_columns(
        pl.col("ore").rank(descending=True).over(_CELL).alias("ore_rank"),
        pl.col("loss").rank().over(_CELL).alias("loss_rank"),
    ).filter(pl.col("method") == "mcd50-mcd75")
    first = ranked.filter(pl.col("ore_rank") == 1, pl.col("loss_rank") == 1).height
    text = f"Scenario 2, severity {severity}, n from 40: mcd50-mcd75 is first in ORE and in loss."
    return Claim(text, first >= 0.8 * ranked.height, f"{first} of {ranked.height} cells")


def _against_reference(found: pl.DataFrame) -> Iterable[Claim]:
    """Yield whether the ORE agrees with the independent R run, within four standard errors."""
    cell = found.filter(
        pl.col("n") == 120, pl.col("columns") == 8, pl.col("severity") == 16
    ).drop_nulls("ore")
    for scenario, methods in REFERENCE_RUN.items():
        rows = cell.filter(pl.col("scenario") == scenario, pl.col("method").is_in(list(methods)))
        if rows.is_empty():
            continue
        off = {}
        for row in rows.iter_rows(named=True):
            ore, _, error = methods[row["method"]]
            # Where R's own standard error was not recorded, that of as many repetitions as R had.
            theirs = error or row["ore_se"] * (row["repetitions"] / 300) ** 0.5
            off[row["method"]] = abs(row["ore"] - ore) / np.hypot(row["ore_se"], theirs)
        worst = max(off, key=lambda method: off[method])
        text = (
            f"Scenario {scenario}, n = 120, 8 columns, severity 16: ORE as in an independent R run."
        )
        detail = f"{len(off)} methods; farthest {worst}, {off[worst]:.1f} standard errors"
        yield Claim(text, off[worst] <= 4.0, detail)


def write_results(study: Study, out: Path) -> None:
    """Write summary.csv, differences.csv, the figures and report.html into the study's folder."""
    raw = read_parts(study, out)
    found, gaps = summary(raw), differences(raw)
    methods = tuple(dict.fromkeys(raw["method"].tolist()))
    plain = [method for method in methods if not method.endswith("+d")]
    write_atomically(out / "summary.csv", found.write_csv)
    write_atomically(out / "differences.csv", gaps.write_csv)
    sections = [
        Section(
            f"Scenario {scenario}",
            text=[_SCENARIOS[scenario]],
            figure=save_figure(
                scenario_figure(found, scenario, plain), out / "figures", f"scenario{scenario}"
            ),
            caption="Bars are 95% intervals of the mean. Right: hidden better. Down: lost less.",
        )
        for scenario in sorted(set(raw["scenario"].tolist()))
    ]
    sections.append(_table("All cells", "Means with standard errors, and what is missing.", found))
    sections.append(
        _table(
            "Differences to SA",
            "Methods of one repetition see the same data: mean paired difference, 95% interval.",
            gaps,
        )
    )
    if len(plain) < len(methods):
        sections.extend(_decorrelated_sections(raw, found, methods, out))
    title = "Simulation: planted outliers, least squares"
    write_page(out, title, _INTRODUCTION, sections, claims(found, gaps))


_INTRODUCTION = (
    "Each data set has predictors and a response with known coefficients; some responses are "
    "shifted. A release is scored by how far the shifted rows are from the nearest released row "
    "(outlier replication error, ORE: higher is safer) and by how far least squares on the release "
    "is from the true coefficients (loss: lower is better).",
)
_SCENARIOS = {
    1: "Independent predictors of decreasing variance; the last row's response is shifted.",
    2: "Correlated predictors; the responses of a tenth of the rows are shifted.",
}


def _table(title: str, text: str, frame: pl.DataFrame) -> Section:
    return Section(title, text=[text], columns=frame.columns, rows=frame.rows())


def _decorrelated_sections(
    raw: dict[str, np.ndarray], found: pl.DataFrame, methods: tuple[str, ...], out: Path
) -> list[Section]:
    """Return the second half: the same methods with the mask's chance correlations taken out."""
    gaps = decorrelation(raw)
    write_atomically(out / "decorrelation.csv", gaps.write_csv)
    shown = [m for m in methods if m.endswith("+d") or f"{m}+d" in methods]
    text = "Paired difference, decorrelated minus plain: ORE should not change, loss should fall."
    sections = [_table("Decorrelated masks", text, gaps)]
    for scenario in sorted(set(raw["scenario"].tolist())):
        name = f"decorrelated{scenario}"
        figure = save_figure(scenario_figure(found, scenario, shown), out / "figures", name)
        caption = "Thin lines are decorrelated."
        sections.append(
            Section(f"Decorrelated, scenario {scenario}", figure=figure, caption=caption)
        )
    return sections

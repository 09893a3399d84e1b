"""What is claimed of the simulation, and what the results say: yes or no, with the figures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl

from icsa.studies.named_methods import method_of
from icsa.studies.pages import Claim
from icsa.studies.simulation import CELL

__all__ = ["REFERENCE_RUN", "against_reference", "claims"]

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
_REFERENCE_REPETITIONS = 300
_AGREES = 4.0  # standard errors of a difference to the independent run
_ROBUST = ("hr-tyler", "mcd50-hr", "mcd75-hr", "mcd50-mcd75")
_WITH_CLASS_I = ("cov-cov4", "hr-cov", "mcd50-cov", "mcd75-cov")


def claims(found: pl.DataFrame, gaps: pl.DataFrame) -> list[Claim]:
    """Return what the paper says of its figures, with a yes or no from the summary and the gaps."""
    most = max(found["severity"].to_list())
    first = gaps.filter(pl.col("scenario") == 1, pl.col("severity") == most)
    checks = [
        _nine_of_ten(
            f"Scenario 1, severity {most}: robust pairs hide the outlier better than SA (the "
            "paired interval is above 0)",
            first.filter(pl.col("method").is_in(_ROBUST)),
            pl.col("ore_low") > 0,
        ),
        _nine_of_ten(
            f"Scenario 1, severity {most}: pairs with a class I scatter hide it no better than SA "
            "(the paired interval is not above 0)",
            first.filter(pl.col("method").is_in(_WITH_CLASS_I)),
            pl.col("ore_low") <= 0,
        ),
        _best_of_all(found, most),
        *_agreement(against_reference(found)),
    ]
    return [claim for claim in checks if claim is not None]


def _nine_of_ten(text: str, cells: pl.DataFrame, condition: pl.Expr) -> Claim | None:
    cells = cells.drop_nulls("ore")
    if cells.is_empty():
        return None
    good = cells.filter(condition).height
    detail = f"{good} of {cells.height} cells and methods"
    return Claim(
        f"{text}, in nine tenths of the cells or more.", good >= 0.9 * cells.height, detail
    )


def _best_of_all(found: pl.DataFrame, severity: Any) -> Claim | None:
    """Scenario 2: mcd50-mcd75 has the highest ORE and the lowest loss in most cells."""
    cells = found.filter(pl.col("scenario") == 2, pl.col("severity") == severity)
    published = [name for name in cells["method"].unique() if method_of(name).is_published]
    plain = cells.filter(pl.col("method").is_in(published)).drop_nulls(["ore", "loss"])
    if plain.is_empty() or "mcd50-mcd75" not in plain["method"]:
        return None
    ranked = plain.with_columns(
        pl.col("ore").rank(descending=True).over(CELL).alias("ore_rank"),
        pl.col("loss").rank().over(CELL).alias("loss_rank"),
    ).filter(pl.col("method") == "mcd50-mcd75")
    ahead = ranked.filter(pl.col("ore_rank") == 1, pl.col("loss_rank") == 1)
    behind = ranked.join(ahead, on=CELL, how="anti")
    text = (
        f"Scenario 2, severity {severity}: mcd50-mcd75 has the highest ORE and the lowest loss of "
        "all methods, in four fifths of the cells or more."
    )
    others = ", ".join(f"{n} x {columns}" for n, columns in behind.select("n", "columns").rows())
    detail = f"both in {ahead.height} of {ranked.height} cells"
    if others:
        ore, loss = (int((ranked[f"{name}_rank"] == 1).sum()) for name in ("ore", "loss"))
        detail += f", highest ORE in {ore}, lowest loss in {loss}; not both at {others}"
    return Claim(text, ahead.height >= 0.8 * ranked.height, detail)


def against_reference(found: pl.DataFrame) -> pl.DataFrame:
    """Return ORE and loss beside those of the independent run, and the gaps in standard errors.

    A gap is measured in standard errors of the difference. Where the other run's own was not
    recorded, ours is taken, for as many repetitions as it had.
    """
    cell = found.filter(pl.col("n") == 120, pl.col("columns") == 8, pl.col("severity") == 16)
    rows = []
    for row in cell.drop_nulls(["ore", "loss", "ore_se"]).iter_rows(named=True):
        known = REFERENCE_RUN[row["scenario"]].get(row["method"])
        if known is None:
            continue
        ore, loss, error = known
        longer = (row["repetitions"] / _REFERENCE_REPETITIONS) ** 0.5
        theirs = {"ore": error or row["ore_se"] * longer, "loss": row["loss_se"] * longer}
        record: dict[str, Any] = {"scenario": row["scenario"], "method": row["method"]}
        for name, value in (("ore", ore), ("loss", loss)):
            spread = float(np.hypot(row[f"{name}_se"], theirs[name]))
            record |= {
                name: row[name],
                f"{name}_se": row[f"{name}_se"],
                f"{name} in R": value,
                f"{name} gap": (row[name] - value) / spread,
            }
        rows.append(record)
    return pl.DataFrame(rows)


def _agreement(table: pl.DataFrame) -> Iterable[Claim]:
    """Yield whether ORE and loss agree with the independent run."""
    if table.is_empty():
        return
    for (scenario,), rows in table.group_by(["scenario"], maintain_order=True):
        for name, words in (("ore", "ORE"), ("loss", "loss")):
            gaps = rows[f"{name} gap"].abs()
            worst = int(gaps.arg_max() or 0)
            text = (
                f"Scenario {scenario}, n = 120, 8 columns, severity 16: {words} within {_AGREES:g} "
                "standard errors of an independent run in R."
            )
            good = int((gaps <= _AGREES).sum())
            detail = (
                f"{good} of {rows.height} methods; farthest {rows['method'][worst]}, "
                f"{gaps[worst]:.1f} standard errors"
            )
            yield Claim(text, good == rows.height, detail)

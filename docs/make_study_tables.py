"""Tables and figures of the studies' pages, from the folders of finished runs.

``python docs/make_study_tables.py simulation=FOLDER wdbc=FOLDER ...`` takes what ``icsa study
simulation``, ``wdbc``, ``wdbc --rows campos`` (campos), ``wdbc --scatters ...`` (pairs) and
``theorem`` and ``attacks`` put into the folders, and ``simulation --severity 64 ...`` (far), and
writes what the pages show to ``docs/_static/studies``. Studies that are not named stay as they are;
``beyond`` is the part of the simulation on other masks alone.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
from PIL import Image

from icsa.studies.simulation import CELL, PAPER_METHODS
from icsa.studies.simulation_claims import against_reference
from icsa.studies.simulation_tables import worst_cells
from icsa.studies.wdbc_results import compact_ratios

_LARGEST_SVG = 400_000
TARGET = Path(__file__).parent / "_static" / "studies"


def main(arguments: Sequence[str]) -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    for argument in arguments:
        name, _, folder = argument.partition("=")
        _MAKERS[name](name, Path(folder))


def _claims_and_figures(name: str, folder: Path) -> None:
    pl.read_csv(folder / "claims.csv").write_csv(TARGET / f"{name}_claims.csv")
    for figure in sorted((folder / "figures").glob("*.svg")):
        _figure(figure)


def _figure(path: Path) -> None:
    """Copy a figure: as it is, or where it has very many marks as a picture of few colours."""
    if path.stat().st_size < _LARGEST_SVG:
        shutil.copyfile(path, TARGET / path.name)
        return
    with Image.open(path.with_suffix(".png")) as picture:
        picture.convert("RGB").quantize(96).save(TARGET / f"{path.stem}.png", optimize=True)


def _simulation(name: str, folder: Path) -> None:
    _claims_and_figures(name, folder)
    for table in ("summary", "differences", "decorrelation"):
        _short(_read(folder / f"{table}.csv"), 6).write_csv(TARGET / f"{name}_{table}.csv")
    _masks(name, folder)
    found = _read(folder / "summary.csv")
    reference = against_reference(found)
    rows = [
        {
            "scenario": row["scenario"],
            "method": row["method"],
            **{
                key: value
                for measure in ("ore", "loss")
                for key, value in {
                    f"{measure} (standard error)": _with_error(row, measure),
                    f"{measure} in R": f"{row[f'{measure} in R']:.3g}",
                    f"{measure}: gap": f"{row[f'{measure} gap']:+.1f}",
                }.items()
            },
        }
        for row in reference.iter_rows(named=True)
    ]
    pl.DataFrame(rows).write_csv(TARGET / f"{name}_reference.csv")
    quantiles = pl.read_csv(folder / "ore_quantiles.csv")
    chosen = pl.concat(worst_cells(quantiles, scenario, PAPER_METHODS) for scenario in (1, 2))
    worst = (
        chosen.drop("why")
        .join(quantiles, on=CELL, maintain_order="left")
        .filter(pl.col("method").is_in(["sa", "hr-tyler", "mcd50-mcd75"]))
    )
    _short(worst.drop("ore_1%", "ore_25%", "ore_75%")).write_csv(TARGET / f"{name}_worst.csv")


def _with_error(row: dict[str, float], measure: str) -> str:
    return f"{row[measure]:.3g} ({row[f'{measure}_se']:.2g})"


def _masks(name: str, folder: Path) -> None:
    """Write what other masks came to: every cell, medians, verdicts and answers of the claim."""
    _short(_read(folder / "masks.csv")).write_csv(TARGET / f"{name}_masks.csv")
    medians = pl.read_csv(folder / "mask_overview.csv")
    _short(medians, 3).write_csv(TARGET / f"{name}_mask_overview.csv")
    counts = pl.read_csv(folder / "mask_verdicts.csv")
    claimed = counts.filter(method="mcd50-mcd75+redraw+d", to="mcd50-mcd75")
    claimed.drop("method", "to").write_csv(TARGET / f"{name}_mask_verdicts.csv")
    answers = pl.read_csv(folder / "claims.csv")
    of_masks = answers.filter(pl.col("claim").str.contains(" against ", literal=True))
    of_masks.write_csv(TARGET / f"{name}_mask_claims.csv")


def _far(name: str, folder: Path) -> None:
    """Write two methods of the tables of 120 rows or more in which one row is shifted."""
    found = _read(folder / "summary.csv").filter(
        pl.col("scenario") == 1, pl.col("n") >= 120, pl.col("method") != "sa"
    )
    rows = [
        {
            "n": row["n"],
            "columns": row["columns"],
            "method": row["method"],
            "ORE (standard error)": _with_error(row, "ore"),
            "reassembled ORE": _with_error(row, "reassembled"),
            "loss": _with_error(row, "loss"),
            "guesses within a tenth": row["guessed_near"],
        }
        for row in found.iter_rows(named=True)
    ]
    pl.DataFrame(rows).write_csv(TARGET / f"{name}_cells.csv")


def _wdbc(name: str, folder: Path) -> None:
    _claims_and_figures(name, folder)
    _short(pl.read_csv(folder / "means.csv")).write_csv(TARGET / f"{name}_means.csv")
    for file in ("published", "pairs", "duels"):
        if (folder / f"{file}.csv").exists():
            _short(pl.read_csv(folder / f"{file}.csv")).write_csv(TARGET / f"{name}_{file}.csv")
    table = _read(folder / "table2.csv")
    both = compact_ratios(table)
    both.filter(pl.col("target") == "overall").drop("target").write_csv(
        TARGET / f"{name}_overall.csv"
    )
    both.filter(pl.col("target") != "overall").write_csv(TARGET / f"{name}_cells.csv")


def _theorem(name: str, folder: Path) -> None:
    _claims_and_figures(name, folder)
    table = pl.read_csv(folder / "summary.csv")
    distance = pl.col("distance")
    ends = table.filter(
        (distance == distance.min().over("n")) | (distance == distance.max().over("n"))
    )
    _short(ends).write_csv(TARGET / f"{name}_ends.csv")
    _short(table).write_csv(TARGET / f"{name}_summary.csv")


def _attacks(name: str, folder: Path) -> None:
    _claims_and_figures(name, folder)
    shutil.copyfile(folder / "overview.csv", TARGET / f"{name}_overview.csv")
    _short(_read(folder / "summary.csv")).write_csv(TARGET / f"{name}_summary.csv")
    for attack in ("digits", "two_releases", "insiders", "all_but_one", "membership"):
        table = pl.read_csv(folder / f"{attack}.csv", infer_schema_length=0).drop("severity")
        if attack == "membership":  # the scatters make no difference
            table = table.filter(pl.col("method").str.starts_with("mcd50-mcd75"))
        table.write_csv(TARGET / f"{name}_{attack}.csv")
    lone = pl.read_csv(folder / "reassembly.csv", infer_schema_length=0)
    far = lone.filter(
        pl.col("severity").cast(pl.Float64) >= 20.0,
        pl.col("method").is_in(["sa", "mcd50-mcd75", "mcd50-mcd75+d", "mcd50-mcd75+redraw+d"]),
    )
    far.write_csv(TARGET / f"{name}_reassembly.csv")


def _read(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, infer_schema_length=None)


def _short(table: pl.DataFrame, digits: int = 4) -> pl.DataFrame:
    """Return the table with so many significant digits."""
    numbers = [name for name, kind in table.schema.items() if kind == pl.Float64]
    return table.with_columns(pl.col(numbers).round_sig_figs(digits)) if numbers else table


_MAKERS: dict[str, Callable[[str, Path], None]] = {
    "simulation": _simulation,
    "beyond": lambda _, folder: _masks("simulation", folder),
    "far": _far,
    "wdbc": _wdbc,
    "campos": _wdbc,
    "pairs": _wdbc,
    "theorem": _theorem,
    "attacks": _attacks,
}

if __name__ == "__main__":
    main(sys.argv[1:])

"""Tables and figures of the studies' pages, from the folders of finished runs.

``python docs/make_study_tables.py SIMULATION WDBC CAMPOS PAIRS THEOREM`` takes the folders that
``icsa study simulation``, ``wdbc``, ``wdbc --rows campos``, ``wdbc --scatters ...`` and ``theorem``
filled, and writes what the pages show to ``docs/_static/studies``.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import polars as pl
from PIL import Image

from icsa.studies.simulation import CELL, PAPER_METHODS
from icsa.studies.simulation_claims import against_reference
from icsa.studies.simulation_worst import worst_cells
from icsa.studies.wdbc_results import compact_ratios

_LARGEST_SVG = 400_000
TARGET = Path(__file__).parent / "_static" / "studies"


def main(simulation: Path, wdbc: Path, campos: Path, pairs: Path, theorem: Path) -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    folders = {
        "simulation": simulation,
        "wdbc": wdbc,
        "campos": campos,
        "pairs": pairs,
        "theorem": theorem,
    }
    for name, folder in folders.items():
        pl.read_csv(folder / "claims.csv").write_csv(TARGET / f"{name}_claims.csv")
        for figure in sorted((folder / "figures").glob("*.svg")):
            _figure(figure)
    _simulation(simulation)
    for name in ("wdbc", "campos", "pairs"):
        _wdbc(name, folders[name])
    _theorem(theorem)


def _figure(path: Path) -> None:
    """Copy a figure: as it is, or where it has very many marks as a picture of few colours."""
    if path.stat().st_size < _LARGEST_SVG:
        shutil.copyfile(path, TARGET / path.name)
        return
    with Image.open(path.with_suffix(".png")) as picture:
        picture.convert("RGB").quantize(96).save(TARGET / f"{path.stem}.png", optimize=True)


def _simulation(folder: Path) -> None:
    for name in ("summary", "differences", "decorrelation"):
        shutil.copyfile(folder / f"{name}.csv", TARGET / f"simulation_{name}.csv")
    found = pl.read_csv(folder / "summary.csv", infer_schema_length=None)
    reference = against_reference(found)
    rows = [
        {
            "scenario": row["scenario"],
            "method": row["method"],
            **{
                key: value
                for name in ("ore", "loss")
                for key, value in {
                    f"{name} (standard error)": f"{row[name]:.3g} ({row[f'{name}_se']:.2g})",
                    f"{name} in R": f"{row[f'{name} in R']:.3g}",
                    f"{name}: gap": f"{row[f'{name} gap']:+.1f}",
                }.items()
            },
        }
        for row in reference.iter_rows(named=True)
    ]
    pl.DataFrame(rows).write_csv(TARGET / "simulation_reference.csv")
    quantiles = pl.read_csv(folder / "ore_quantiles.csv")
    chosen = [
        cell for scenario in (1, 2) for cell in worst_cells(quantiles, scenario, PAPER_METHODS)
    ]
    keys = pl.DataFrame(
        [(c.scenario, c.n, c.columns, c.severity) for c in chosen], CELL, orient="row"
    )
    worst = keys.join(quantiles, on=CELL, maintain_order="left").filter(
        pl.col("method").is_in(["sa", "hr-tyler", "mcd50-mcd75"])
    )
    _short(worst.drop("ore_1%", "ore_25%", "ore_75%")).write_csv(TARGET / "simulation_worst.csv")


def _wdbc(name: str, folder: Path) -> None:
    _short(pl.read_csv(folder / "means.csv")).write_csv(TARGET / f"{name}_means.csv")
    for file in ("published", "pairs", "duels"):
        if (folder / f"{file}.csv").exists():
            _short(pl.read_csv(folder / f"{file}.csv")).write_csv(TARGET / f"{name}_{file}.csv")
    table = pl.read_csv(folder / "table2.csv", infer_schema_length=None)
    both = compact_ratios(table)
    both.filter(pl.col("target") == "overall").drop("target").write_csv(
        TARGET / f"{name}_overall.csv"
    )
    both.filter(pl.col("target") != "overall").write_csv(TARGET / f"{name}_cells.csv")


def _theorem(folder: Path) -> None:
    table = pl.read_csv(folder / "summary.csv")
    distance = pl.col("distance")
    ends = table.filter(
        (distance == distance.min().over("n")) | (distance == distance.max().over("n"))
    )
    _short(ends).write_csv(TARGET / "theorem_ends.csv")
    _short(table).write_csv(TARGET / "theorem_summary.csv")


def _short(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with four significant digits."""
    numbers = [name for name, kind in table.schema.items() if kind == pl.Float64]
    return table.with_columns(pl.col(numbers).round_sig_figs(4)) if numbers else table


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))

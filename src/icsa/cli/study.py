"""``icsa study``: the paper's studies, one command each."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from icsa.cli.arguments import taking

__all__ = ["app"]

app = typer.Typer(
    help="Reproduce the paper's studies: figures, tables, a report.\n\n"
    "Example: icsa study simulation --quick",
    rich_markup_mode=None,
)

Quick = Annotated[bool, typer.Option("--quick", help="A smaller study, in minutes.")]
Out = Annotated[
    Path | None,
    taking(
        "--out",
        "DIR",
        "Folder for the results; an interrupted study in it goes on. "
        "Default: icsa-STUDY, or icsa-STUDY-quick.",
    ),
]
Workers = Annotated[
    int | None, taking("--workers", "COUNT", "Processes. Default: one a core.", min=1)
]
Dask = Annotated[
    str | None,
    taking(
        "--dask",
        "ADDRESS",
        "Compute on the Dask cluster with this scheduler; 'local' starts one here.",
    ),
]
ShowConfig = Annotated[
    bool, typer.Option("--show-config", help="Print every parameter as JSON and stop.")
]
Seed = Annotated[int | None, taking("--seed", "SEED", "Everything random comes from it.", min=0)]
Methods = Annotated[
    list[str] | None,
    taking(
        "--method",
        "NAME",
        "sa or a pair of scatters such as mcd50-mcd75, then a mask such as +rotate, then +d "
        "to decorrelate. Default: those of the paper.",
    ),
]
Count = int | None
Numbers = list[int] | None
Names = list[str] | None

# What --quick changes, where no option says otherwise.
_QUICK: dict[str, dict[str, Any]] = {
    "simulation": {"repetitions": 40},
    "wdbc": {"releases": 100},
    "theorem": {"tables": 4, "releases": 20},
    "attacks": {
        "kinds": ("normal", "lognormal"),
        "n": (240,),
        "columns": (5, 10),
        "digits_columns": (2, 3),
        "releases_columns": (4,),
        "insiders_columns": (3,),
        "tables": 10,
        "slow_tables": 4,
    },
}


@app.command()
def simulation(
    n: Annotated[Numbers, taking("--n", "ROWS", "Rows of a table.")] = None,
    columns: Annotated[
        Numbers, taking("--columns", "COLUMNS", "Columns, response included.")
    ] = None,
    severity: Annotated[Numbers, taking("--severity", "SHIFT", "How far outliers are.")] = None,
    scenario: Annotated[Numbers, taking("--scenario", "1|2", "1 or 2.")] = None,
    method: Methods = None,
    also: Annotated[
        Names, taking("--also", "NAME", "A method besides the others, such as sa+d.")
    ] = None,
    repetitions: Annotated[
        Count, taking("--repetitions", "COUNT", "Data sets a cell. Default: 1000.", min=1)
    ] = None,
    attack: Annotated[
        Names,
        taking(
            "--attack",
            "NAME",
            "A method whose releases are put together again. Default: sa, mcd50-mcd75 and "
            "those of --also.",
        ),
    ] = None,
    attack_repetitions: Annotated[
        Count,
        taking(
            "--attack-repetitions",
            "COUNT",
            "Data sets a cell whose releases are attacked, the first ones. Default: 200.",
            min=0,
        ),
    ] = None,
    seed: Seed = None,
    quick: Quick = False,
    out: Out = None,
    workers: Workers = None,
    dask: Dask = None,
    show_config: ShowConfig = False,
) -> None:
    """Hide planted outliers with nine methods.

    Without options the paper's whole grid. An option given several times stands for several values.

    Example: icsa study simulation --quick --out simulation
    """
    options = {
        "n": n,
        "columns": columns,
        "severities": severity,
        "scenarios": scenario,
        "methods": method,
        "repetitions": repetitions,
        "attacked": attack,
        "attacked_repetitions": attack_repetitions,
        "seed": seed,
    }
    _run("simulation", options, also, quick, out, workers, dask, show_config)


@app.command()
def wdbc(
    releases: Annotated[
        Count, taking("--releases", "COUNT", "Releases a method and target. Default: 2000.", min=1)
    ] = None,
    rows: Annotated[
        str | None, taking("--rows", "NAME", "Draw of the rows: adbench (default) or campos.")
    ] = None,
    scatters: Annotated[
        Names, taking("--scatters", "PAIR", "A pair besides mcd50-mcd75, such as hr-tyler.")
    ] = None,
    seed: Seed = None,
    quick: Quick = False,
    out: Out = None,
    workers: Workers = None,
    dask: Dask = None,
    show_config: ShowConfig = False,
) -> None:
    """Release the Wisconsin breast cancer data.

    Compares, for ten targets, what the lasso finds in the releases and in the original rows.

    Example: icsa study wdbc --quick --scatters hr-tyler
    """
    options = {"releases": releases, "rows": rows, "seed": seed}
    _run("wdbc", options, scatters, quick, out, workers, dask, show_config)


@app.command()
def theorem(
    n: Annotated[Numbers, taking("--n", "ROWS", "Rows besides the outlier.")] = None,
    columns: Annotated[Numbers, taking("--columns", "COLUMNS", "Columns.")] = None,
    distance: Annotated[
        list[float] | None,
        taking("--distance", "H", "Of the outlier, in (n + 2) radii of the others; over 1."),
    ] = None,
    method: Methods = None,
    tables: Annotated[Count, taking("--tables", "COUNT", "Tables a cell.", min=1)] = None,
    releases: Annotated[
        Count, taking("--releases", "COUNT", "Releases a table and method.", min=1)
    ] = None,
    seed: Seed = None,
    quick: Quick = False,
    out: Out = None,
    workers: Workers = None,
    dask: Dask = None,
    show_config: ShowConfig = False,
) -> None:
    """Move an outlier away, and see who copies it.

    Spectral anonymization does, as the theorem says; robust pairs of scatters do not.

    Example: icsa study theorem --quick --n 100 --columns 5
    """
    options = {
        "n": n,
        "columns": columns,
        "distances": distance,
        "methods": method,
        "tables": tables,
        "releases": releases,
        "seed": seed,
    }
    _run("theorem", options, None, quick, out, workers, dask, show_config)


@app.command()
def attacks(
    attack: Annotated[
        Names,
        taking(
            "--attack",
            "NAME",
            "reassembly, digits, 'two releases', insiders, 'all but one' or membership. "
            "Default: all.",
        ),
    ] = None,
    kind: Annotated[
        Names,
        taking(
            "--kind", "NAME", "Tables: normal, lognormal, t3, t5, mixture, rounded. Default: all."
        ),
    ] = None,
    n: Annotated[Numbers, taking("--n", "ROWS", "Rows of a table.")] = None,
    columns: Annotated[Numbers, taking("--columns", "COLUMNS", "Columns.")] = None,
    severity: Annotated[
        list[float] | None,
        taking("--severity", "SD", "How many standard deviations out the person is."),
    ] = None,
    method: Methods = None,
    also: Annotated[Names, taking("--also", "NAME", "A method besides the others.")] = None,
    digits_columns: Annotated[
        Numbers, taking("--digits-columns", "COLUMNS", "Columns where digits are attacked: 2 to 5.")
    ] = None,
    tables: Annotated[
        Count, taking("--tables", "COUNT", "Tables a cell of attacks that are fast.", min=1)
    ] = None,
    slow_tables: Annotated[
        Count, taking("--slow-tables", "COUNT", "Tables of the others.", min=1)
    ] = None,
    seed: Seed = None,
    quick: Quick = False,
    out: Out = None,
    workers: Workers = None,
    dask: Dask = None,
    show_config: ShowConfig = False,
) -> None:
    """Attack releases, and see which masks withstand.

    Puts lone people together again, reads tables out of digits, finds the map, computes the last
    row; each beside the same on people who are not in the table.

    Example: icsa study attacks --quick --attack reassembly
    """
    options = {
        "attacks": attack,
        "kinds": kind,
        "n": n,
        "columns": columns,
        "digits_columns": digits_columns,
        "severities": severity,
        "methods": method,
        "tables": tables,
        "slow_tables": slow_tables,
        "seed": seed,
    }
    _run("attacks", options, also, quick, out, workers, dask, show_config)


def _run(
    name: str,
    options: Mapping[str, Any],
    also: list[str] | None,
    quick: bool,
    out: Path | None,
    workers: int | None,
    dask: str | None,
    show_config: bool,
) -> None:
    """Compute a study, or go on with it, and write its results."""
    from icsa.jobs import config_text, run

    module = importlib.import_module(f"icsa.studies.{name}")
    given: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in options.items()
        if value not in (None, [])
    }
    config_of = getattr(module, f"{name.title()}Config")
    if also:
        others = given.get("methods") or config_of().methods
        given["methods"] = tuple(dict.fromkeys((*others, *also)))
    config = config_of(**{**(_QUICK[name] if quick else {}), **given})
    study = getattr(module, f"{name}_study")(config)
    if show_config:
        print(config_text(study))
        return
    folder = out or Path(f"icsa-{name}{'-quick' if quick else ''}")
    try:
        run(study, folder, workers=workers or os.cpu_count() or 1, dask=dask)
        importlib.import_module(f"icsa.studies.{name}_results").write_results(study, folder)
    except KeyboardInterrupt as stop:
        stop.add_note("What is finished is kept: the same command goes on where it stopped.")
        raise
    print(f"The results are in {folder}.")

"""``icsa study``: the paper's studies, one command each."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["app"]

app = typer.Typer(
    help="Reproduce the paper's studies: figures, tables, a report.\n\n"
    "Example: icsa study simulation --quick",
    rich_markup_mode=None,
)

Quick = Annotated[bool, typer.Option("--quick", help="A smaller study, in minutes.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Folder for the results; an interrupted study in it goes on. "
        "Default: icsa-STUDY, or icsa-STUDY-quick.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", metavar="COUNT", min=1, help="Processes. Default: one a core."),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Compute on the Dask cluster with this scheduler; 'local' starts one here.",
    ),
]
ShowConfig = Annotated[
    bool, typer.Option("--show-config", help="Print every parameter as JSON and stop.")
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="SEED", min=0, help="Everything random comes from it."),
]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="sa or a pair of scatters such as mcd50-mcd75, then a mask such as +rotate, then +d "
        "to decorrelate. Default: those of the paper.",
    ),
]
Numbers = list[int] | None

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


@dataclass(frozen=True)
class _Run:
    """How a study is to be run, whatever it computes."""

    quick: bool
    out: Path | None
    workers: int | None
    dask: str | None
    show_config: bool


@app.command()
def simulation(
    n: Annotated[Numbers, typer.Option("--n", metavar="ROWS", help="Rows of a table.")] = None,
    columns: Annotated[
        Numbers, typer.Option("--columns", metavar="COLUMNS", help="Columns, response included.")
    ] = None,
    severity: Annotated[
        Numbers, typer.Option("--severity", metavar="SHIFT", help="How far outliers are.")
    ] = None,
    scenario: Annotated[Numbers, typer.Option("--scenario", metavar="1|2", help="1 or 2.")] = None,
    method: Methods = None,
    also: Annotated[
        list[str] | None,
        typer.Option("--also", metavar="NAME", help="A method besides the others, such as sa+d."),
    ] = None,
    repetitions: Annotated[
        int | None,
        typer.Option(
            "--repetitions", metavar="COUNT", min=1, help="Data sets a cell. Default: 1000."
        ),
    ] = None,
    attack: Annotated[
        list[str] | None,
        typer.Option(
            "--attack",
            metavar="NAME",
            help="A method whose releases are put together again. Default: sa, mcd50-mcd75 and "
            "those of --also.",
        ),
    ] = None,
    attack_repetitions: Annotated[
        int | None,
        typer.Option(
            "--attack-repetitions",
            metavar="COUNT",
            min=0,
            help="Data sets a cell whose releases are attacked, the first ones. Default: 200.",
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
    _run("simulation", options, also, _Run(quick, out, workers, dask, show_config))


@app.command()
def wdbc(
    releases: Annotated[
        int | None,
        typer.Option(
            "--releases",
            metavar="COUNT",
            min=1,
            help="Releases a method and target. Default: 2000.",
        ),
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(
            "--rows", metavar="NAME", help="Draw of the rows: adbench (default) or campos."
        ),
    ] = None,
    scatters: Annotated[
        list[str] | None,
        typer.Option(
            "--scatters", metavar="PAIR", help="A pair besides mcd50-mcd75, such as hr-tyler."
        ),
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
    _run("wdbc", options, scatters, _Run(quick, out, workers, dask, show_config))


@app.command()
def theorem(
    n: Annotated[
        Numbers, typer.Option("--n", metavar="ROWS", help="Rows besides the outlier.")
    ] = None,
    columns: Annotated[
        Numbers, typer.Option("--columns", metavar="COLUMNS", help="Columns.")
    ] = None,
    distance: Annotated[
        list[float] | None,
        typer.Option(
            "--distance",
            metavar="H",
            help="Of the outlier, in (n + 2) radii of the others; over 1.",
        ),
    ] = None,
    method: Methods = None,
    tables: Annotated[
        int | None, typer.Option("--tables", metavar="COUNT", min=1, help="Tables a cell.")
    ] = None,
    releases: Annotated[
        int | None,
        typer.Option("--releases", metavar="COUNT", min=1, help="Releases a table and method."),
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
    _run("theorem", options, None, _Run(quick, out, workers, dask, show_config))


@app.command()
def attacks(
    attack: Annotated[
        list[str] | None,
        typer.Option(
            "--attack",
            metavar="NAME",
            help="reassembly, digits, 'two releases', insiders, 'all but one' or membership. "
            "Default: all.",
        ),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="NAME",
            help="Tables: normal, lognormal, t3, t5, mixture, rounded. Default: all.",
        ),
    ] = None,
    n: Annotated[Numbers, typer.Option("--n", metavar="ROWS", help="Rows of a table.")] = None,
    columns: Annotated[
        Numbers, typer.Option("--columns", metavar="COLUMNS", help="Columns.")
    ] = None,
    severity: Annotated[
        list[float] | None,
        typer.Option(
            "--severity", metavar="SD", help="How many standard deviations out the person is."
        ),
    ] = None,
    method: Methods = None,
    also: Annotated[
        list[str] | None,
        typer.Option("--also", metavar="NAME", help="A method besides the others."),
    ] = None,
    digits_columns: Annotated[
        Numbers,
        typer.Option(
            "--digits-columns", metavar="COLUMNS", help="Columns where digits are attacked: 2 to 5."
        ),
    ] = None,
    tables: Annotated[
        int | None,
        typer.Option(
            "--tables", metavar="COUNT", min=1, help="Tables a cell of attacks that are fast."
        ),
    ] = None,
    slow_tables: Annotated[
        int | None,
        typer.Option("--slow-tables", metavar="COUNT", min=1, help="Tables of the others."),
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
    _run("attacks", options, also, _Run(quick, out, workers, dask, show_config))


def _run(name: str, options: Mapping[str, Any], also: list[str] | None, how: _Run) -> None:
    """Compute a study, or go on with it, and write its results."""
    from icsa.studies import config_text, run_study

    module = importlib.import_module(f"icsa.studies.{name}")
    given: dict[str, Any] = {
        key: _frozen(value) for key, value in options.items() if value not in (None, [])
    }
    quick = _QUICK[name] if how.quick else {}
    config_of = getattr(module, f"{name.title()}Config")
    if also:
        others = given.get("methods") or config_of().methods
        given["methods"] = tuple(dict.fromkeys((*others, *also)))
    config = config_of(**{**quick, **given})
    study = getattr(module, f"{name}_study")(config)
    if how.show_config:
        print(config_text(study))
        return
    out = how.out or Path(f"icsa-{name}{'-quick' if how.quick else ''}")
    try:
        run_study(study, out, workers=how.workers or os.cpu_count() or 1, dask=how.dask)
        importlib.import_module(f"icsa.studies.{name}_results").write_results(study, out)
    except KeyboardInterrupt as stop:
        stop.add_note("What is finished is kept: the same command goes on where it stopped.")
        raise
    print(f"The results are in {out}.")


def _frozen(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value

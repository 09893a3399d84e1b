"""Options of ``icsa anonymize`` alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from icsa.masks import MASKS
from icsa.recipes import RECIPES, Recipe

__all__ = [
    "AsJson",
    "File",
    "FreshKeys",
    "Keep",
    "Mask",
    "Method",
    "Output",
    "RawUnits",
    "RecipeName",
    "SaveKey",
    "Scatters",
    "Seed",
]


def _default_masks() -> list[str]:
    """Return which mask a release has if none is asked for, and recipes with another one."""
    usual = Recipe(name="").mask
    others = [recipe for recipe in RECIPES.values() if recipe.mask != usual]
    return [usual, *(f"with --recipe {recipe.name} {recipe.mask}" for recipe in others)]


File = Annotated[
    Path, typer.Argument(metavar="FILE", help="CSV, Parquet, xlsx, SPSS, Stata or SAS file.")
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Where to; the suffix says how."),
]
Keep = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="COLUMN", help="Release this column as it is."),
]
Method = Annotated[
    str | None,
    typer.Option("--method", metavar="icsa|sa", help="Robust (default if it works), or spectral."),
]
Scatters = Annotated[
    str | None,
    typer.Option("--scatters", metavar="A,B", help="A pair of scatters; see icsa scatters."),
]
Mask = Annotated[
    str | None,
    typer.Option(
        "--mask",
        metavar="|".join(MASKS),
        help=f"What hides people. Default: {'; '.join(_default_masks())}.",
    ),
]
RecipeName = Annotated[
    str,
    typer.Option("--recipe", metavar="|".join(RECIPES), help="How columns are encoded."),
]
RawUnits = Annotated[
    bool, typer.Option("--raw-units", help="With --method sa: do not standardise columns.")
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", min=0, help="Reproducible, for tests: not for release."),
]
SaveKey = Annotated[
    Path | None,
    typer.Option("--save-key", metavar="FILE", help="Keep the secret key: it repeats every draw."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
FreshKeys = Annotated[
    int,
    typer.Option(
        "--redraws", metavar="N", min=0, help="Fresh keys for the report. Default: by size."
    ),
]

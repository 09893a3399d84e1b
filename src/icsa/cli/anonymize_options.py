"""Options of ``icsa anonymize`` alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
Method = Annotated[str, typer.Option("--method", metavar="icsa|sa", help="Robust, or spectral.")]
Scatters = Annotated[
    str | None,
    typer.Option("--scatters", metavar="A,B", help="A pair of scatters; see icsa scatters."),
]
Mask = Annotated[
    str | None,
    typer.Option(
        "--mask",
        metavar="redraw|permute|flip|rotate",
        help="What hides people. Default: redraw; with --recipe paper permute.",
    ),
]
RecipeName = Annotated[
    str,
    typer.Option("--recipe", metavar="mixed|topcode|paper", help="How columns are encoded."),
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

"""Options of ``icsa assess`` alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Against",
    "Classify",
    "Clusters",
    "Gate",
    "JsonFile",
    "Models",
    "Original",
    "Outliers",
    "PolicyFile",
    "PublicJsonFile",
    "Redraws",
    "Released",
    "Select",
]

Original = Annotated[
    Path, typer.Argument(metavar="ORIGINAL", help="The table about people; any format.")
]
Released = Annotated[
    Path, typer.Argument(metavar="RELEASED", help="Its release, made by any tool.")
]
Outliers = Annotated[
    str | None,
    typer.Option(
        "--outliers",
        metavar="FILE-OR-COLUMN",
        help="Who to look at: a file of row numbers, or a column of 0 and 1.",
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="FORMULA", help='Such as "bp ~ age + sex"; repeatable.'),
]
Classify = Annotated[
    list[str] | None,
    typer.Option(
        "--classify",
        metavar="COLUMN",
        help="Predict this category, learnt from the release; repeatable.",
    ),
]
Clusters = Annotated[
    int | None,
    typer.Option("--clusters", metavar="K", min=2, help="Find K groups in both tables."),
]
Select = Annotated[
    list[str] | None,
    typer.Option(
        "--select",
        metavar="RESPONSE",
        help="Which columns matter for this one, by the lasso; repeatable.",
    ),
]
Against = Annotated[
    Path | None,
    typer.Option(
        "--against",
        metavar="OTHER_RELEASE",
        help="Another release of ORIGINAL: which gives more privacy for what it loses?",
    ),
]
PolicyFile = Annotated[
    Path | None,
    typer.Option("--policy", metavar="P.toml", help="Other thresholds; see icsa policy."),
]
JsonFile = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Everything as JSON; CONFIDENTIAL."),
]
PublicJsonFile = Annotated[
    Path | None,
    typer.Option("--public-json", metavar="FILE", help="The same, to be handed out."),
]
Gate = Annotated[
    bool, typer.Option("--gate", help="Exit with 3 for look again, 4 for do not release.")
]
Redraws = Annotated[
    int,
    typer.Option(
        "--redraws",
        metavar="N",
        min=0,
        help="Release the original N times by icsa anonymize, for the risk before any key.",
    ),
]

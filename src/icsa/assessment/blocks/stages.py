"""How far an assessment in blocks is: its stages, and the share of the time that each takes."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["STAGES", "share_of_stages"]


class Stage(NamedTuple):
    """A stage: how its passes are called, how many there are about, and its share of the time.

    Shares are those of long tables, from what was measured on 1,000,000 rows of 20 columns.
    """

    name: str
    passes: int
    share: float


STAGES = (
    Stage("reading columns", 1, 0.1),
    Stage("scaling columns", 1, 0.1),
    Stage("who stands out", 5, 0.25),
    Stage("neighbours of people", 3, 0.15),
    Stage("released rows near people", 4, 0.2),
    Stage("equal rows", 8, 0.15),
    Stage("sample", 1, 0.05),
)
# Passes that belong to another stage in what people see.
_PARTS = {
    "people named": "reading columns",
    "weights": "reading columns",
    "finding units": "reading columns",
    "looking at columns": "reading columns",
    "whose columns are": "reading columns",
    "single rows": "sample",
    "order of rows": "scaling columns",
    "rows to people": "scaling columns",
    "own values of units": "scaling columns",
    "fitting": "who stands out",
    "cells of people": "sample",
    "cells of released rows": "sample",
}


def share_of_stages(name: str, share: float, shown: str = "") -> tuple[str, float]:
    """Return what people see, and the share of all work that is done before.

    Passes of a stage are called by its name and a number.

    Examples
    --------
    >>> share_of_stages("scaling columns", 0.5)
    ('scaling columns', 0.15)
    >>> share_of_stages("who stands out 2", 0.5)
    ('who stands out', 0.275)
    """
    part = next((whole for known, whole in _PARTS.items() if name.startswith(known)), "")
    name, share = (part, 0.0) if part else (name, share)
    before = 0.0
    for stage in STAGES:
        if name.startswith(stage.name):
            number = name.removeprefix(stage.name).strip()
            place = int(number) - 1 if number.isdecimal() else 0
            within = min(1.0, (place + share) / stage.passes)
            return shown or stage.name, round(before + within * stage.share, 6)
        before += stage.share
    return shown or name, 0.0

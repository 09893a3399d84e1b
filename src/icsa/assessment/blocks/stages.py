"""How far an assessment in blocks is: its stages, and the share of the time that each takes."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["STAGES", "share_of_stages"]


class Stage(NamedTuple):
    """A stage: how its passes are called, how many there are about, and its share of the time.

    The share was measured on tables of 10,000,000 rows and 20 columns of numbers.
    """

    name: str
    passes: int
    share: float


STAGES = (
    Stage("reading columns", 1, 0.2),
    Stage("scaling columns", 1, 0.1),
    Stage("who stands out", 5, 0.25),
    Stage("neighbours of people", 3, 0.12),
    Stage("released rows near people", 4, 0.15),
    Stage("equal rows", 8, 0.1),
    Stage("sample", 1, 0.08),
)


def share_of_stages(name: str, share: float, shown: str = "") -> tuple[str, float]:
    """Return what people see, and the share of all work that is done before.

    Passes of a stage are called by its name and a number.

    Examples
    --------
    >>> share_of_stages("scaling columns", 0.5)
    ('scaling columns', 0.25)
    >>> share_of_stages("who stands out 2", 0.5)
    ('who stands out', 0.375)
    """
    before = 0.0
    for stage in STAGES:
        if name.startswith(stage.name):
            number = name.removeprefix(stage.name).strip()
            place = int(number) - 1 if number.isdecimal() else 0
            within = min(1.0, (place + share) / stage.passes)
            return shown or stage.name, round(before + within * stage.share, 6)
        before += stage.share
    return shown or name, 0.0

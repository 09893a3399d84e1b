"""Numbers that decide: how a package's record of them is made, and what several packages share."""

from __future__ import annotations

from dataclasses import field
from typing import TypeVar

__all__ = ["LONG", "MANY_EQUAL", "TABLES_IN_MEMORY", "limit"]

_Value = TypeVar("_Value")

# A column with one value in this share of its cells or more is more than a measurement: that value
# (no rain, no visit) is one of its own. Robust scatters would see all others as outliers, so that
# the column cannot say who stands out, and the others alone give it its scale.
MANY_EQUAL = 0.4

# Tables with more rows may not fit in memory. In memory too, their rows are added up by leaves, and
# relations are looked for in as many of them, so that blocks of rows give the same. Chosen: shares
# in as many rows have a standard error of .001, and shorter tables fit everywhere.
LONG = 200_000

# Tables of memory, as numbers, that a release in memory takes at its widest; measured.
TABLES_IN_MEMORY = 3.9


def limit(value: _Value, rests_on: str) -> _Value:
    """Return a field of a record of limits: its default, and what that rests on.

    Examples
    --------
    >>> from dataclasses import dataclass, fields
    >>> @dataclass(frozen=True)
    ... class Limits:
    ...     few: int = limit(3, "two may be a chance")
    >>> Limits().few, fields(Limits)[0].metadata["rests on"]
    (3, 'two may be a chance')
    """
    found: _Value = field(default=value, metadata={"rests on": rests_on})
    return found

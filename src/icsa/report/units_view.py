"""The part of an assessment about people with several rows, as the page and a terminal show it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup
from msgspec import UNSET

from icsa.assessment.document_units import Line, Trajectories, Units
from icsa.report.svg import picture, position, short, tag, text
from icsa.report.wording import measured, number, plural, shortened

__all__ = ["spaghetti", "unit_sentences", "units_view"]

_WIDTH, _HEIGHT = 300, 180
_LEFT, _RIGHT, _TOP, _BOTTOM = 42, 294, 8, 156
# Values that differ by more are drawn by their logarithms.
_FAR_APART = 20.0


def unit_sentences(units: Units, *, internal: bool) -> Iterator[str]:
    """Yield what is to be said of units, a sentence each."""
    first, second = units.original, units.released
    more = ""
    if internal and first.largest is not None:
        more = f"; at most {first.largest:,} rows of one, and {second.largest or 0:,}"
    yield (
        f"By {shortened(units.unit)}: {first.units:,} units with {plural(first.rows, 'row')} in "
        f"the original, {second.units:,} with {plural(second.rows, 'row')} in the release{more}."
    )
    drawn = ["" if one.sampled is UNSET else f"{one.sampled:,} " for one in (first, second)]
    shown = f"{drawn[1]}released units drawn at random" if drawn[1] else ""
    broken = [kept for kept in units.kept if (kept.released or 0.0) < (kept.original or 0.0)]
    if units.kept and not broken:
        yield f"Kept in all {shown or 'units'}: {'; '.join(kept.rule for kept in units.kept)}."
    for kept in broken:
        where = shown or "the released units"
        yield f"Not kept: {kept.rule}, in {kept.released:.1%} of {where} only."
    parts = f"Parts of {drawn[0]}people's rows, such as two visits, looked for in "
    chance = f"P of rows in common {measured(units.parts)}; good: {units.parts.good}"
    yield f"{parts}{f'all rows of {shown}' if shown else 'all released rows'}: {chance}."
    if units.single_rows is not None:
        found = units.single_rows
        yield (
            f"Single rows, which are people too: {found.verdict}; released rows that are an "
            f"original row in every cell: {measured(found.verbatim)} ({found.verbatim.good})."
        )


def units_view(units: Units, *, internal: bool) -> dict[str, Any]:
    """Return what the template shows of units."""
    return {
        "sentences": list(unit_sentences(units, internal=internal)),
        "panels": [
            {
                "column": shortened(panel.column),
                "original": spaghetti(panel, panel.original, "original") if internal else "",
                "released": spaghetti(panel, panel.released, "released"),
            }
            for panel in units.trajectories
        ],
    }


def spaghetti(panel: Trajectories, lines: Sequence[Line], which: str) -> Markup:
    """Return some people's values over time, a line each; both tables have the same axes.

    Examples
    --------
    >>> lines = [[(0, 60), (30, 62)]]
    >>> panel = Trajectories(column="kg", time="day", clock="", original=[], released=lines)
    >>> drawn = spaghetti(panel, panel.released, "released")
    >>> "M42 156L294 8" in drawn, "60" in drawn
    (True, True)
    """
    points = [point for line in (*panel.original, *panel.released) for point in line]
    ends = [
        (min((p[k] for p in points), default=0.0), max((p[k] for p in points), default=1.0))
        for k in (0, 1)
    ]
    scale = _scale(ends[1])
    frame = f"M{_LEFT} {_TOP}V{_BOTTOM}H{_RIGHT}"
    inside = [tag("path", d=frame, class_="frame")]
    for line in lines:
        places = [
            (position(x, *ends[0], _LEFT, _RIGHT), position(scale(y), 0.0, 1.0, _BOTTOM, _TOP))
            for x, y in line
        ]
        d = "M" + "L".join(f"{short(x)} {short(y)}" for x, y in places)
        inside.append(tag("path", d=d, class_=f"thread {which}"))
    for value, y in zip(ends[1], (_BOTTOM, _TOP + 8), strict=True):
        inside.append(text(number(value), _LEFT - 4, y, class_="tick end"))
    for value, x, kind in zip(ends[0], (_LEFT, _RIGHT), ("tick", "tick end"), strict=True):
        inside.append(text(_moment(value, panel.clock), x, _BOTTOM + 14, class_=kind))
    inside.append(
        text(shortened(panel.time, 24), (_LEFT + _RIGHT) / 2, _BOTTOM + 20, class_="axis middle")
    )
    title = f"{shortened(panel.column)} over {shortened(panel.time)}, {which}"
    told = f"{plural(len(lines), 'person', 'people')}, a line each."
    return picture(_WIDTH, _HEIGHT, title, told, inside, "spaghetti")


def _scale(ends: tuple[float, float]) -> Callable[[float], float]:
    """Return where values lie between the ends; by logarithms where these are far apart."""
    low, high = ends
    if not high > low:
        return lambda _value: 0.5
    if low > 0.0 and high / low > _FAR_APART:
        return lambda value: math.log(value / low) / math.log(high / low)
    return lambda value: (value - low) / (high - low)


def _moment(value: float, clock: str) -> str:
    """Return a time as it is written: a day for dates."""
    if clock.endswith(" since 1970-01-01"):
        seconds = value * (86_400 if clock.startswith("days") else 1)
        with suppress(OverflowError, ValueError, OSError):
            return datetime.fromtimestamp(seconds, UTC).date().isoformat()
    return number(value)

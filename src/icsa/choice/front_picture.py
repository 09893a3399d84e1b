"""The picture of a comparison: privacy across, utility up, what may be released and what not.

Colours come from the page it is in, or are its own where the page has none. Whatever a colour says,
a shape says too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from markupsafe import Markup

from icsa.choice.advice import Advice
from icsa.choice.standings import Standing
from icsa.report.svg import line, log_ticks, picture, position, short, tag, text

__all__ = ["front_picture", "numbered"]

_WIDTH, _HEIGHT = 640.0, 440.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 62.0, 620.0, 16.0, 380.0
# Losses outside of these are drawn on the edge.
_LEAST, _MOST = 0.05, 10.0
_STYLE = """
.front text { font: 12px system-ui, sans-serif; fill: var(--ink, #1b1d1f); }
.front .tick { fill: var(--soft, #50565c); } .front .end { text-anchor: end; }
.front .middle { text-anchor: middle; } .front .frame { fill: none; stroke: var(--line, #c9d0d6); }
.front .line { fill: none; stroke: var(--soft, #50565c); stroke-width: 1; }
.front .line.sample { stroke-dasharray: 2 4; }
.front .line.best { stroke: var(--nothing, #0a7763); stroke-width: 2; stroke-dasharray: 6 3; }
.front .own { stroke: var(--part, #1c5fb0); fill: var(--part, #1c5fb0); }
.front .rival { stroke: #8a9199; fill: #8a9199; } .front .rival text { fill: #737a82; }
.front .advised { stroke: var(--nothing, #0a7763); fill: var(--nothing, #0a7763); }
.front g path.line { stroke: inherit; opacity: .55; }
.front .cross { stroke: var(--stop, #ab1f17); stroke-width: 2; fill: none; }
.front g text { stroke: none; fill: var(--ink, #1b1d1f); }
"""
_CIRCLE = "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z"
_SQUARE = "M-4-4h8v8h-8z"
_DIAMOND = "M0-8L8 0 0 8-8 0z"
_CROSS = "M-7-7L7 7M-7 7L7-7"


class _Axes(NamedTuple):
    across: Callable[[float], float]
    up: Callable[[float], float]


def numbered(standings: Sequence[Standing]) -> list[tuple[int, Standing]]:
    """Return who is in the picture with their numbers there, which tables show too."""
    return [
        (number, one)
        for number, one in enumerate(standings, 1)
        if one.risk.value is not None and one.loss.value is not None
    ]


def front_picture(
    standings: Sequence[Standing], front: Sequence[Standing], advice: Advice
) -> Markup:
    """Return an inline SVG: 1 - risk across, loss up on a log scale with less on top.

    Ours are circles, rivals grey squares, the advised one a diamond; who may not be released is
    crossed out. Lines through them are 95% intervals, the broken one is the front.
    """
    shown = numbered(standings)
    losses = [_held(one.loss.value) for _, one in shown] or [1.0]
    low, high = min(*losses, 0.5) / 1.3, max(*losses, 1.5) * 1.3

    def across(risk: float) -> float:
        return position(1.0 - risk, 0.0, 1.0, _LEFT, _RIGHT)

    def up(loss: float) -> float:
        return position(math.log(_held(loss)), math.log(low), math.log(high), _TOP, _BOTTOM)

    axes = _Axes(across, up)
    inside = [tag("style", _STYLE), *_frame(axes, low, high)]
    if len(front) > 1:
        points = [(axes.across(_of(one.risk)), axes.up(_of(one.loss))) for one in front]
        d = "M" + "L".join(f"{short(x)} {short(y)}" for x, y in points)
        inside.append(tag("path", d=d, class_="line best"))
    # The advised one last, so that nobody covers it.
    last_first = sorted(shown, key=lambda pair: (pair[1].candidate == advice.candidate, -pair[0]))
    inside += [_point(number, one, axes, advice) for number, one in last_first]
    described = "; ".join(
        f"{number} {one.name}: risk {_of(one.risk):.2f}, loss {_of(one.loss):.2f}, {one.word}"
        for number, one in shown
    )
    title = "Privacy and utility of the candidates"
    return picture(_WIDTH, _HEIGHT, title, described, inside, "front")


def _frame(axes: _Axes, low: float, high: float) -> list[Markup]:
    parts = [
        tag("rect", x=_LEFT, y=_TOP, width=_RIGHT - _LEFT, height=_BOTTOM - _TOP, class_="frame")
    ]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = axes.across(1.0 - tick)
        parts.append(text(f"{tick:g}", x, _BOTTOM + 18, class_="tick middle"))
    for tick in log_ticks(low, high):
        parts.append(text(f"{tick:g}", _LEFT - 8, axes.up(tick) + 4, class_="tick end"))
    if low < 1.0 < high:
        parts.append(line(_LEFT, axes.up(1.0), _RIGHT, axes.up(1.0), "sample"))
        parts.append(text("as another sample would", _LEFT + 6, axes.up(1.0) - 5, class_="tick"))
    parts.append(text("privacy: 1 − risk →", _RIGHT, _BOTTOM + 40, class_="end"))
    rotate = f"rotate(-90 16 {short(_TOP)})"
    parts.append(text("utility: less loss →", 16, _TOP, class_="end", transform=rotate))
    return parts


def _point(number: int, one: Standing, axes: _Axes, advice: Advice) -> Markup:
    """Return a mark with its intervals, its number, and a cross where it may not be released."""
    x, y = axes.across(_of(one.risk)), axes.up(_of(one.loss))
    advised = one.candidate == advice.candidate and advice.may_be_released
    kind = "rival" if one.candidate.rival else "advised" if advised else "own"
    shape = {"rival": _SQUARE, "own": _CIRCLE, "advised": _DIAMOND}[kind]
    parts: list[str] = [tag("title", f"{number} {one.name}: {one.word}")]
    if one.risk.low is not None and one.risk.high is not None:
        parts.append(line(axes.across(one.risk.high), y, axes.across(one.risk.low), y, "interval"))
    if one.loss.low is not None and one.loss.high is not None:
        ends = [axes.up(max(_LEAST, end)) for end in (one.loss.low, one.loss.high)]
        parts.append(line(x, ends[0], x, ends[1], "interval"))
    move = f"translate({short(x)},{short(y)})"
    parts.append(tag("path", d=shape, transform=move))
    if one.word != "release":
        parts.append(tag("path", d=_CROSS, transform=move, class_="cross"))
    parts.append(text(str(number), x + 8, y - 7))
    return tag("g", *parts, class_=kind)


def _of(measure: object) -> float:
    value = getattr(measure, "value", None)
    return float(value) if value is not None else math.nan


def _held(value: float | None) -> float:
    return min(_MOST, max(_LEAST, value if value is not None else 1.0))

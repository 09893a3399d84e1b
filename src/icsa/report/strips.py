"""Small pictures that stand in a table's cell, each beside the numbers that it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from icsa.assessment.document_parts import Bars, Estimate, Measure
from icsa.report.svg import line, picture, position, short, tag, text
from icsa.report.wording import shortened

__all__ = ["bars_alone", "interval_bars", "overlay", "scale_bar"]

_DIAMOND = "M0-5L5 0 0 5-5 0z"
_RING = "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z"


def scale_bar(measure: Measure) -> Markup:
    """Return a release between a shuffled copy (left) and columns shuffled on their own (right).

    Empty where an end or the value is missing, or where both ends are the same. A release beyond
    an end is drawn on the edge, with an arrow.
    """
    copy, shuffled, value = measure.ends.copy, measure.ends.shuffled, measure.value
    if copy is None or shuffled is None or value is None or copy == shuffled:
        return Markup("")

    def share(of: float) -> float:
        return (of - copy) / (shuffled - copy)

    def place(of: float) -> float:
        return position(share(of), -0.2, 1.2, 6, 174)

    x, at = place(value), share(value)
    inside = [line(place(copy), 12, place(shuffled), 12, "rail")]
    inside += [line(place(end), 6, place(end), 18, "rail") for end in (copy, shuffled)]
    if measure.low is not None and measure.high is not None:
        inside.append(line(place(measure.low), 12, place(measure.high), 12, "interval"))
    arrow = "M0-5l-7 5 7 5z" if at < -0.2 else "M0-5l7 5-7 5z" if at > 1.2 else "M0-6L6 0 0 6-6 0z"
    inside.append(tag("path", d=arrow, transform=f"translate({short(x)},12)", class_="value"))
    inside.append(text("copy", place(copy), 31, class_="small middle"))
    inside.append(text("shuffled", place(shuffled), 31, class_="small middle"))
    told = f"{measure.label}: {_where(at)} from a shuffled copy to columns shuffled"
    return picture(180, 36, told, "", inside, "scale")


def _where(at: float) -> str:
    if at < -0.005:
        return "on the far side of a copy on the way"
    return "beyond the end of the way" if at > 1.005 else f"{at:.0%} of the way"


def overlay(bars: Bars, name: str) -> Markup:
    """Return a column's bars in both tables: the original filled, the release as a line.

    Examples
    --------
    >>> shares = [0.2, 0.5, 0.3]
    >>> bars = Bars(edges=["40", "60"], widths=[1], original=shares, released=shares)
    >>> drawn = overlay(bars, "age")
    >>> "below 40" in drawn, drawn.count("<path")
    (True, 3)
    """
    inside, unit = _drawn(bars, {"original": bars.original, "released": bars.released})
    inside.append(line(2, 62, 198, 62, "rail"))
    told = f"{shortened(name, 40)}: original filled, release as a line"
    if bars.edges:
        first, last = bars.edges[0], bars.edges[-1]
        at = 2 + unit, 198 - unit
        inside.append(text(first, max(at[0], 4), 75, class_="small"))
        if last != first:
            inside.append(text(last, at[1], 75, class_="small end"))
        told += f"; the ends are below {first} and from {last} on"
    described = "; ".join(
        f"{before:.0%} and {after:.0%}"
        for before, after in zip(bars.original, bars.released, strict=True)
    )
    return picture(200, 78, told, described, inside, "overlay")


def bars_alone(bars: Bars, name: str) -> Markup:
    """Return a column's bars in the original.

    Examples
    --------
    >>> bars = Bars(edges=["40"], widths=[], original=[0.4, 0.6], released=[0.4, 0.6])
    >>> bars_alone(bars, "age").count("<path")
    2
    """
    inside, _ = _drawn(bars, {"original": bars.original})
    inside.append(line(2, 62, 198, 62, "rail"))
    told = ", ".join(f"{share:.0%}" for share in bars.original)
    return picture(
        200, 66, f"{shortened(name, 40)}: how its cells are spread", told, inside, "overlay"
    )


def _drawn(bars: Bars, sides: Mapping[str, Sequence[float]]) -> tuple[list[Markup], float]:
    """Return the bars of each side, and the width of the narrowest."""
    widths = [1, *(bars.widths or ()), 1] if bars.widths is not None else [1] * len(bars.original)
    unit = 196 / sum(widths)
    heights = {
        kind: [share / width for share, width in zip(side, widths, strict=True)]
        for kind, side in sides.items()
    }
    highest = max(max(side) for side in heights.values()) or 1.0
    gap = 0.0 if bars.edges is not None else 3.0  # levels stand apart
    inside = []
    for kind, side in heights.items():
        d, x = "", 2.0
        for height, width in zip(side, widths, strict=True):
            up, across = 58 * height / highest, unit * width - gap
            d += f"M{short(x)} 62v{short(-up)}h{short(across)}v{short(up)}"
            x += unit * width
        inside.append(tag("path", d=d, class_=f"bars {kind}"))
    return inside, unit


def interval_bars(original: Estimate, released: Estimate, term: str) -> Markup:
    """Return a coefficient's two intervals: original above (disc), release below (diamond).

    Examples
    --------
    >>> one = Estimate(estimate=1.0, low=0.5, high=1.5)
    >>> interval_bars(one, one, "age").count("whisker")
    2
    """
    both = [(side.low, side.estimate, side.high) for side in (original, released)]
    sides = [tuple(value for value in side if value is not None) for side in both]
    if any(len(side) != 3 for side in sides):
        return Markup("")
    values = [value for side in sides for value in side]
    low, high = min(values), max(values)
    if low <= 0 <= high or min(abs(low), abs(high)) < (high - low) / 2:
        low, high = min(low, 0), max(high, 0)
    inside = []
    if low <= 0 <= high:
        x = position(0, low, high, 8, 152)
        inside.append(line(x, 0, x, 30, "zero"))
    for side, y, kind in zip(sides, (8.0, 22.0), ("original", "released"), strict=True):
        start, middle, end = (position(value, low, high, 8, 152) for value in side)
        inside.append(line(start, y, end, y, f"{kind} whisker"))
        at = f"translate({short(middle)},{short(y)})"
        shape = _RING if kind == "original" else _DIAMOND
        inside.append(tag("path", d=shape, transform=at, class_=f"{kind} point"))
    told = f"Intervals of {shortened(term, 40)}: original above, release below"
    return picture(160, 30, told, "", inside, "strip")

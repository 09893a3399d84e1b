"""Small pictures that stand in a table's cell, each beside the numbers that it shows."""

from __future__ import annotations

from markupsafe import Markup

from icsa.assessment.document_parts import Estimate, Measure, Summary
from icsa.report.svg import line, picture, position, short, tag, text
from icsa.report.wording import shortened

__all__ = ["interval_bars", "margin_strip", "scale_bar"]

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


def margin_strip(original: Summary, released: Summary, name: str) -> Markup:
    """Return five quantiles of a column in both tables: lines, boxes and medians.

    Examples
    --------
    >>> five = Summary(mean=3.0, sd=1.0, quantiles=(1.0, 2.0, 3.0, 4.0, 5.0))
    >>> "original above, release below" in margin_strip(five, five, "age")
    True
    """
    both = [[q for q in side.quantiles if q is not None] for side in (original, released)]
    if any(len(quantiles) != 5 for quantiles in both):
        return Markup("")
    values = [value for quantiles in both for value in quantiles]
    low, high = min(values), max(values)
    inside = []
    for quantiles, y, kind in zip(both, (8.0, 22.0), ("original", "released"), strict=True):
        x = [position(value, low, high, 4, 156) for value in quantiles]
        width = short(max(0.0, x[3] - x[1]))
        box = f"M{short(x[1])} {short(y - 4)}h{width}v8h-{width}z"
        inside.append(line(x[0], y, x[4], y, f"{kind} whisker"))
        inside.append(tag("path", d=box, class_=f"{kind} box"))
        inside.append(line(x[2], y - 6, x[2], y + 6, f"{kind} median"))
    told = f"Quantiles of {shortened(name, 40)}: original above, release below"
    return picture(160, 30, told, "", inside, "strip")


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

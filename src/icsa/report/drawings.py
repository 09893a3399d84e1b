"""The pictures of an assessment, as inline SVG that follows the page's colours.

Whatever a colour says, a shape, a place or a word says too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from markupsafe import Markup

from icsa.assessment.document import Point
from icsa.assessment.document_parts import Number, Picture
from icsa.privacy.reasons import STATUSES, Status
from icsa.report.svg import line, log_ticks, picture, position, short, tag, text
from icsa.report.wording import plural, shortened

__all__ = [
    "MOST_POINTS",
    "RANKS",
    "heat_class",
    "heat_map",
    "mark_key",
    "mark_symbol",
    "standing_out_picture",
    "two_clouds",
]

Scale: TypeAlias = Callable[[float], float]

MOST_POINTS = 2_000
# From so many on, marks are smaller.
_MANY_POINTS = 200
_MOST_CLOUD_POINTS = 1_500
_MOST_LABELS = 30


# How a status is drawn: its name for the page's colours, and a shape around (0, 0).
_MARKS: Mapping[Status, tuple[str, str]] = {
    "copied": ("replicated", "M0-7.5L2-2 7.5 0 2 2 0 7.5-2 2-7.5 0-2-2z"),  # a star
    "replicated": ("replicated", "M0-6L6 0 0 6-6 0z"),  # a diamond
    "look": ("near", "M0-5.5L5.5 4.5H-5.5z"),  # a triangle
    "at risk": ("risk", "M0 5.5L5.5-4.5H-5.5z"),  # one turned
    "repeated in part": ("part", "M-4.2-4.2h8.4v8.4h-8.4z"),  # a square
    "near twin": ("twin", "M-4.5-4.5L4.5 4.5M-4.5 4.5L4.5-4.5"),  # a cross
    "hidden": ("nothing", "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z"),  # a ring
}
# From 0, the worst; on the page the worst come first.
RANKS: Mapping[Status, int] = {status: rank for rank, status in enumerate(STATUSES)}


def mark_key(status: Status) -> str:
    """Return the name of a status for the page's colours."""
    return _MARKS[status][0]


def mark_symbol(status: Status) -> Markup:
    """Return the small symbol of a status, for legends and tables."""
    key, path = _MARKS[status]
    shape = tag("path", d=path, transform="translate(8,8)", class_=f"mark m-{key}")
    return picture(16, 16, status, "", [shape], "symbol")


def standing_out_picture(points: Sequence[Point]) -> Markup:
    """Return how alone people are against how near the release comes, on equal log scales.

    Parameters
    ----------
    points : sequence of Point
        At most 2,000 are drawn, the worst first; a distance of 0 is drawn on the edge.

    Examples
    --------
    >>> drawn = standing_out_picture([Point(alone=2.0, near=0.1, row=7, status="replicated")])
    >>> "row 7: replicated" in drawn
    True
    """
    usable = [
        _Dot(point.alone, point.near, point)
        for point in points
        if point.alone is not None and point.near is not None
    ]
    worst_first = sorted(usable, key=lambda dot: RANKS[dot.point.status])[:MOST_POINTS]
    known = [value for dot in worst_first for value in (dot.alone, dot.near) if value > 0]
    low, high = (min(known) / 1.3, max(known) * 1.3) if known else (0.1, 10.0)
    left, right, top, bottom = 62.0, 428.0, 12.0, 378.0

    def across(value: float) -> float:
        return position(math.log(value), math.log(low), math.log(high), left, right)

    def up(value: float) -> float:
        return position(math.log(value), math.log(low), math.log(high), bottom, top)

    inside = [_frame(left, top, right, bottom), _danger_zone(low, high, across, up)]
    for tick in log_ticks(low, high):
        label = f"{tick:g}"
        inside.append(text(label, across(tick), bottom + 18, class_="tick middle"))
        inside.append(text(label, left - 8, up(tick) + 4, class_="tick end"))
    inside.append(text("how alone: d_org →", right, bottom + 38, class_="axis end"))
    rotate = f"rotate(-90 14 {short(top)})"
    inside.append(
        text("how near the release comes: d_rel →", 14, top, class_="axis end", transform=rotate)
    )
    smaller = "scale(.7)" if len(worst_first) > _MANY_POINTS else None
    for status in reversed(list(STATUSES)):
        key, shape = _MARKS[status]
        placed = _placed(worst_first, status, across, up)
        if placed:
            path = tag("path", d=shape, id=f"mark-{key}", transform=smaller)
            inside.append(tag("defs", path))
            inside.append(tag("g", *placed, "", class_=f"mark m-{key}"))
    described = (
        f"{plural(len(worst_first), 'person', 'people')}. Across: the distance to the nearest "
        "other original. Up: the distance to the nearest released row. Below the lower line, "
        "rho = 0.5, the release is at most half as far as anybody else."
    )
    title = "How alone people are, and how near the release comes"
    return picture(516, 424, title, described, inside, "scatter")


class _Dot(NamedTuple):
    """A person whose distances are known."""

    alone: float
    near: float
    point: Point


def _placed(dots: Sequence[_Dot], status: Status, across: Scale, up: Scale) -> list[Markup]:
    placed, mark = [], f"#mark-{mark_key(status)}"
    for dot in dots:
        if dot.point.status == status:
            x = across(dot.alone) if dot.alone > 0 else 62.0
            y = up(dot.near) if dot.near > 0 else 378.0
            told = f"row {dot.point.row}: {status}"
            placed.append(tag("use", tag("title", told), href=mark, x=x, y=y))
    return placed


def _frame(left: float, top: float, right: float, bottom: float) -> Markup:
    return tag("rect", x=left, y=top, width=right - left, height=bottom - top, class_="frame")


def _danger_zone(low: float, high: float, across: Scale, up: Scale) -> Markup:
    """Return the lines rho = 1 and rho = .5, and the shade below the latter."""
    parts = []
    corner = low * 2
    if corner < high:
        d = (
            f"M{short(across(corner))} {short(up(low))}L{short(across(high))} "
            f"{short(up(high / 2))}V{short(up(low))}z"
        )
        parts.append(tag("path", d=d, class_="zone"))
        parts.append(line(across(corner), up(low), across(high), up(high / 2), "half"))
        below = max(up(high / 2), up(high) + 18)
        parts.append(text("rho = 0.5", across(high) + 6, below + 4, class_="axis"))
    parts.append(line(across(low), up(low), across(high), up(high), "one"))
    parts.append(text("rho = 1", across(high) + 6, up(high) + 4, class_="axis"))
    return tag("g", *parts)


def heat_map(
    names: Sequence[str],
    differences: Sequence[Sequence[Number]],
    limits: Sequence[Sequence[Number]],
) -> Markup:
    """Return the differences of every pair's association, by multiples of what chance gives it.

    Plus and minus are drawn too where there are at most 30 columns.

    Examples
    --------
    >>> drawn = heat_map(["a", "b"], [[None, 0.5], [0.5, None]], [[None, 0.1], [0.1, None]])
    >>> "1 pair of 2 columns" in drawn
    True
    """
    n = len(names)
    few = n <= _MOST_LABELS
    label = min(110.0, 8 + 6.4 * max((min(16, len(str(name))) for name in names), default=0))
    margin = label if few else 28.0
    size = (440 - margin) / max(1, n)
    cells: dict[str, list[str]] = {}
    signs: dict[str, list[str]] = {"signs": [], "signs strong": []}
    for i in range(n):
        for j in range(i):
            value = differences[i][j]
            place = f"M{short(margin + j * size)} {short(i * size)}"
            side = short(size - (1 if few else 0))
            kind = heat_class(value, limits[i][j])
            cells.setdefault(kind, []).append(f"{place}h{side}v{side}h-{side}z")
            if few and kind[0] in "ud":
                sign = _sign(margin + (j + 0.5) * size, (i + 0.5) * size, size, kind)
                signs["signs strong" if kind[1] == "3" else "signs"].append(sign)
    inside = [tag("path", d="".join(d), class_=f"heat {kind}") for kind, d in cells.items()]
    inside += [tag("path", d="".join(d), class_=kind) for kind, d in signs.items() if d]
    inside += _heat_labels(names, margin, size, few)
    told = f"Changes of association in {plural(n * (n - 1) // 2, 'pair')} of {plural(n, 'column')}"
    described = (
        "Released minus original. Up and down are told by plus and minus and by colour; the "
        "table of the largest changes has the numbers."
    )
    return picture(440, n * size + (label if few else 28), told, described, inside, "heatmap")


def heat_class(value: Number, chance: Number) -> str:
    """Return "none", "same" (within chance), or up/down with 1 to 3 for how far beyond.

    Examples
    --------
    >>> [heat_class(value, 0.1) for value in (None, 0.1, 0.15, -0.3, 0.9)]
    ['none', 'same', 'u1', 'd2', 'u3']
    """
    if value is None:
        return "none"
    yardstick = chance if chance else 0.05
    times = abs(value) / yardstick
    if times <= 1:
        return "same"
    return f"{'u' if value > 0 else 'd'}{1 if times <= 2 else 2 if times <= 4 else 3}"


def _sign(x: float, y: float, size: float, kind: str) -> str:
    half = min(4.0, size / 4)
    across = f"M{short(x - half)} {short(y)}h{short(2 * half)}"
    return across + (f"M{short(x)} {short(y - half)}v{short(2 * half)}" if kind[0] == "u" else "")


def _heat_labels(names: Sequence[str], margin: float, size: float, few: bool) -> list[Markup]:
    step = 1 if few else 10
    # A line a cell. By a class: where pages may not have styles of their own, they have this.
    small = f" s{int(min(12.0, 0.85 * size))}" if few else ""
    labels = []
    below = len(names) * size
    for i in range(0, len(names), step):
        shown = shortened(names[i], 16) if few else str(i + 1)
        middle = (i + 0.5) * size
        labels.append(text(shown, margin - 6, max(10.0, middle + 4), class_=f"tick end{small}"))
        x = margin + middle
        turned = f"rotate(-90 {short(x)} {short(below + 6)})" if few else None
        kind = f"tick end{small}" if few else "tick middle"
        y = below + (10 if few else 16)
        labels.append(text(shown, x, y, class_=kind, transform=turned))
    return labels


def two_clouds(shown: Picture) -> Markup:
    """Return both tables' rows in two principal components: dots and crosses.

    Examples
    --------
    >>> rows = [(0.0, 0.0), (1.0, 1.0)]
    >>> drawn = two_clouds(Picture(original=rows, released=[(0.5, 0.4)], explained=(0.6, 0.3)))
    >>> "60%" in drawn and "cloud released" in drawn
    True
    """
    both = [points[:_MOST_CLOUD_POINTS] for points in (shown.original, shown.released)]
    every = [point for points in both for point in points]
    ends = [
        (min((p[k] for p in every), default=0.0), max((p[k] for p in every), default=1.0))
        for k in (0, 1)
    ]
    inside = [_frame(30, 10, 430, 310)]
    for points, kind, stroke in (
        (both[0], "original", "h0"),
        (both[1], "released", "m-2-2l4 4m0-4l-4 4"),
    ):
        places = [
            (position(x, *ends[0], 38, 422), position(y, *ends[1], 302, 18)) for x, y in points
        ]
        path = "".join(f"M{short(x)} {short(y)}{stroke}" for x, y in places)
        if path:
            inside.append(tag("path", d=path, class_=f"cloud {kind}"))
    first, second = (f"{share:.0%}" for share in shown.explained)
    inside.append(text(f"first component ({first}) →", 430, 330, class_="axis end"))
    rotate = "rotate(-90 20 10)"
    inside.append(
        text(f"second component ({second}) →", 20, 10, class_="axis end", transform=rotate)
    )
    described = f"{len(both[0])} original rows as dots, {len(both[1])} released rows as crosses."
    title = "Original and release in the original's first two principal components"
    return picture(440, 340, title, described, inside, "clouds")

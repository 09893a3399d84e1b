"""The pictures of an assessment, as inline SVG that follows the page's colours.

Whatever a colour says, a shape, a place or a word says too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from icsa.report.svg import all_finite, line, log_ticks, picture, position, short, tag, text
from icsa.report.wording import plural, shortened

__all__ = [
    "MARKS",
    "MOST_POINTS",
    "Mark",
    "heat_class",
    "heat_map",
    "mark_of",
    "mark_symbol",
    "standing_out_picture",
    "two_clouds",
]

Record = Mapping[str, Any]

MOST_POINTS = 2_000
# From so many on, marks are smaller.
_MANY_POINTS = 200
_MOST_CLOUD_POINTS = 1_500
_MOST_LABELS = 30


@dataclass(frozen=True)
class Mark:
    """How a person's status is shown.

    Attributes
    ----------
    key : str
        For the page's colours.
    words : str
        What it means, in a few words.
    path : str
        The shape, around (0, 0).
    rank : int
        0 is worst.
    """

    key: str
    words: str
    path: str
    rank: int


_DIAMOND = "M0-6L6 0 0 6-6 0z"
_TRIANGLE = "M0-5.5L5.5 4.5H-5.5z"
_TURNED = "M0 5.5L5.5-4.5H-5.5z"
_SQUARE = "M-4.2-4.2h8.4v8.4h-8.4z"
_CROSS = "M-4.5-4.5L4.5 4.5M-4.5 4.5L4.5-4.5"
_RING = "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z"

MARKS: Mapping[str, Mark] = {
    "replicated": Mark("replicated", "a near copy is in the release", _DIAMOND, 0),
    "near": Mark("near", "the release comes nearer than chance explains", _TRIANGLE, 1),
    "look": Mark("near", "the release comes nearer than chance explains", _TRIANGLE, 1),
    "at risk": Mark("risk", "another key would probably give a near copy", _TURNED, 2),
    "repeated in part": Mark("part", "several cells are repeated together", _SQUARE, 3),
    "near twin": Mark("twin", "somebody else in the original is almost the same", _CROSS, 4),
    "hidden": Mark("nothing", "no sign that the release comes too near", _RING, 5),
    "nothing found": Mark("nothing", "no sign that the release comes too near", _RING, 5),
}
_OTHER = Mark("other", "", "M-5 0H5M0-5V5", 4)


def mark_of(status: str) -> Mark:
    """Return how a status is shown; an unknown one gets a plus.

    Examples
    --------
    >>> mark_of("replicated").rank, mark_of("something new").key
    (0, 'other')
    """
    return MARKS.get(status, _OTHER)


def mark_symbol(status: str) -> Markup:
    """Return the small symbol of a status, for legends and tables.

    Examples
    --------
    >>> "<title>near</title>" in mark_symbol("near")
    True
    """
    mark = mark_of(status)
    shape = tag("path", d=mark.path, transform="translate(8,8)", class_=f"mark m-{mark.key}")
    return picture(16, 16, status, "", [shape], "symbol")


def standing_out_picture(points: Sequence[Record]) -> Markup:
    """Return how alone people are against how near the release comes, on equal log scales.

    Parameters
    ----------
    points : sequence of mappings
        "alone" (d_org), "near" (d_rel), "status", and "row" where it may be shown. At most 2,000
        are drawn, the worst first; a distance of 0 is drawn on the edge.

    Examples
    --------
    >>> point = {"alone": 2.0, "near": 0.1, "status": "replicated", "row": 7}
    >>> drawn = standing_out_picture([point])
    >>> "row 7: replicated" in drawn
    True
    """
    usable = [point for point in points if _is_distance(point, "alone", "near")]
    worst_first = sorted(usable, key=lambda point: mark_of(point["status"]).rank)[:MOST_POINTS]
    low, high = _range(worst_first)
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
    shapes = {mark_of(point["status"]).key: mark_of(point["status"]) for point in worst_first}
    for mark in sorted(shapes.values(), key=lambda mark: -mark.rank):
        inside.append(
            tag("defs", tag("path", d=mark.path, id=f"mark-{mark.key}", transform=smaller))
        )
        inside.append(
            tag("g", *_placed(worst_first, mark, across, up), "", class_=f"mark m-{mark.key}")
        )
    described = (
        f"{plural(len(worst_first), 'person', 'people')}. Across: the distance to the nearest "
        "other original. Up: the distance to the nearest released row. Below the lower line, "
        "rho = 0.5, the release is at most half as far as anybody else."
    )
    title = "How alone people are, and how near the release comes"
    return picture(516, 424, title, described, inside, "scatter")


def _is_distance(point: Record, *keys: str) -> bool:
    values = [point.get(key) for key in keys]
    return all(isinstance(v, (int, float)) and math.isfinite(v) and v >= 0 for v in values)


def _range(points: Sequence[Record]) -> tuple[float, float]:
    values = [point[key] for point in points for key in ("alone", "near") if point[key] > 0]
    if not values:
        return 0.1, 10.0
    return min(values) / 1.3, max(values) * 1.3


def _placed(points: Sequence[Record], mark: Mark, across: Any, up: Any) -> list[Markup]:
    placed = []
    for point in points:
        if mark_of(point["status"]).key == mark.key:
            x = across(point["alone"]) if point["alone"] > 0 else 62.0
            y = up(point["near"]) if point["near"] > 0 else 378.0
            told = f"row {point['row']}: {point['status']}" if "row" in point else point["status"]
            placed.append(tag("use", tag("title", told), href=f"#mark-{mark.key}", x=x, y=y))
    return placed


def _frame(left: float, top: float, right: float, bottom: float) -> Markup:
    return tag("rect", x=left, y=top, width=right - left, height=bottom - top, class_="frame")


def _danger_zone(low: float, high: float, across: Any, up: Any) -> Markup:
    """Return the lines rho = 1 and rho = .5, and the shade below the latter."""
    parts = []
    corner = max(low * 2, low)
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
    differences: Sequence[Sequence[Any]],
    limits: Sequence[Sequence[Any]],
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


def heat_class(value: Any, chance: Any) -> str:
    """Return "none", "same" (within chance), or up/down with 1 to 3 for how far beyond.

    Examples
    --------
    >>> [heat_class(value, 0.1) for value in (None, 0.1, 0.15, -0.3, 0.9)]
    ['none', 'same', 'u1', 'd2', 'u3']
    """
    if not all_finite([value]):
        return "none"
    yardstick = chance if all_finite([chance]) and chance > 0 else 0.05
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
    style = f"font-size:{short(min(12.0, 0.85 * size))}px" if few else None  # a line a cell
    labels = []
    below = len(names) * size
    for i in range(0, len(names), step):
        shown = shortened(names[i], 16) if few else str(i + 1)
        middle = (i + 0.5) * size
        labels.append(
            text(shown, margin - 6, max(10.0, middle + 4), class_="tick end", style=style)
        )
        x = margin + middle
        turned = f"rotate(-90 {short(x)} {short(below + 6)})" if few else None
        kind = "tick end" if few else "tick middle"
        y = below + (10 if few else 16)
        labels.append(text(shown, x, y, class_=kind, transform=turned, style=style))
    return labels


def two_clouds(
    original: Sequence[Sequence[float]],
    released: Sequence[Sequence[float]],
    explained: Sequence[float],
) -> Markup:
    """Return both tables' rows in two principal components: dots and crosses.

    Examples
    --------
    >>> drawn = two_clouds([[0, 0], [1, 1]], [[0.5, 0.4]], [0.6, 0.3])
    >>> "60%" in drawn and "cloud released" in drawn
    True
    """
    both = [list(points)[:_MOST_CLOUD_POINTS] for points in (original, released)]
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
    first, second = ([f"{share:.0%}" for share in explained] + ["?", "?"])[:2]
    inside.append(text(f"first component ({first}) →", 430, 330, class_="axis end"))
    rotate = "rotate(-90 20 10)"
    inside.append(
        text(f"second component ({second}) →", 20, 10, class_="axis end", transform=rotate)
    )
    described = f"{len(both[0])} original rows as dots, {len(both[1])} released rows as crosses."
    title = "Original and release in the original's first two principal components"
    return picture(440, 340, title, described, inside, "clouds")

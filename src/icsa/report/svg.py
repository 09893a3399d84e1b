"""Elements of inline pictures: tags whose texts are escaped, and positions on a scale."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

__all__ = ["line", "log_ticks", "picture", "position", "short", "tag", "text"]


def short(value: float) -> str:
    """Return a coordinate with at most one decimal.

    Examples
    --------
    >>> short(12.04), short(3.26), short(-0.01)
    ('12', '3.3', '0')
    """
    rounded = round(value, 1) + 0.0
    return str(int(rounded)) if rounded == int(rounded) else f"{rounded:.1f}"


def tag(name: str, *inside: str, **attributes: str | float | None) -> Markup:
    """Return an element; underscores in the names of attributes become hyphens.

    Examples
    --------
    >>> print(tag("text", "a < b", x=1.26, class_="label"))
    <text x="1.3" class="label">a &lt; b</text>
    """
    written = [
        f' {key.rstrip("_").replace("_", "-")}="{escape(_attribute(value))}"'
        for key, value in attributes.items()
        if value is not None
    ]
    start = f"<{name}{''.join(written)}"
    if not inside:
        return Markup(f"{start}/>")
    return Markup(f"{start}>{''.join(escape(part) for part in inside)}</{name}>")


def text(content: str, x: float, y: float, **attributes: str | float | None) -> Markup:
    """Return a text at a place."""
    return tag("text", content, x=x, y=y, **attributes)


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    """Return a straight line.

    Examples
    --------
    >>> print(line(0, 1, 2, 3, "zero"))
    <path d="M0 1L2 3" class="line zero"/>
    """
    d = f"M{short(x1)} {short(y1)}L{short(x2)} {short(y2)}"
    return tag("path", d=d, class_=f"line {kind}")


def picture(
    width: float, height: float, title: str, description: str, inside: Iterable[str], kind: str
) -> Markup:
    """Return a whole drawing with a title and a description for screen readers.

    Examples
    --------
    >>> drawn = picture(10, 10, "T", "", [], "strip")
    >>> drawn.startswith('<svg viewBox="0 0 10 10"'), "<title>T</title>" in drawn
    (True, True)
    """
    told = [tag("title", title), tag("desc", description)] if description else [tag("title", title)]
    box = f"0 0 {short(width)} {short(height)}"
    return tag("svg", *told, *inside, viewBox=box, role="img", class_=kind, aria_label=title)


def position(value: float, low: float, high: float, start: float, end: float) -> float:
    """Return where a value is drawn, kept within the scale; the middle where there is no scale.

    Examples
    --------
    >>> position(5, 0, 10, 100, 200), position(11, 0, 10, 100, 200), position(1, 1, 1, 0, 10)
    (150.0, 200.0, 5.0)
    """
    if not high > low:
        return (start + end) / 2
    share = min(1.0, max(0.0, (value - low) / (high - low)))
    return start + share * (end - start)


def log_ticks(low: float, high: float, most: int = 7) -> Sequence[float]:
    """Return round numbers between two positive ones, evenly spread on a log scale.

    Examples
    --------
    >>> log_ticks(0.7, 12), log_ticks(1e-6, 1e6)
    ([1.0, 2.0, 5.0, 10.0], [1e-06, 0.0001, 0.01, 1.0, 100.0, 10000.0, 1000000.0])
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    decades = range(first, last + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [float(f"{step}e{decade}") for decade in decades for step in steps]
        ticks = [tick for tick in ticks if low <= tick * (1 + 1e-9) and tick <= high * (1 + 1e-9)]
        if len(ticks) <= most:
            return ticks
    return ticks[:: -(-len(ticks) // most)]


def _attribute(value: str | float | None) -> str:
    return value if isinstance(value, str) else short(float(value or 0.0))

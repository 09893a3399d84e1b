"""A column's distribution in both tables as bars, fit for every reader.

Edges are round numbers, the first and last bin are open, and every bin holds nobody or at least
three originals: no bar is about one or two people, and no end is anybody's value. Shares are in
whole percents, so that somebody who knows all rows but one cannot count.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta

import numpy as np
import numpy.typing as npt

from icsa.assessment.document_parts import Bars
from icsa.comparison.column_pairs import ColumnPair
from icsa.matrices import Vector

__all__ = ["column_bars"]

Counts = npt.NDArray[np.int64]

_FEWEST = 3
# Bins over the middle of the original's numbers, and how much of them that is.
_BINS, _MIDDLE = 16, (0.025, 0.975)
_MOST_LEVELS = 10


def column_bars(column: ColumnPair) -> Bars | None:
    """Return the bars of a column; None where there would be fewer than two.

    Examples
    --------
    >>> from icsa.comparison.column_pairs import numeric_column
    >>> ages = [30.0, 31, 32, 40, 41, 42, 50, 51, 52, 99]
    >>> bars = column_bars(numeric_column("age", ages, [31.0, 45.0]))
    >>> sum(bars.original), bars.released[-1], "99" in bars.edges
    (1.0, 0.0, False)
    """
    if column.levels is not None:
        return _of_levels(column)
    first, second = (cells[~np.isnan(cells)] for cells in (column.original, column.released))
    if first.size < 2 * _FEWEST or not second.size:
        return None
    edges, step = _round_edges(first, column.grid)
    if not edges.size:
        return None
    before, after = (_counted(cells, edges) for cells in (first, second))
    for place in _few(before):
        before, after = _joined(before, place), _joined(after, place)
        edges = np.delete(edges, place)
    if not edges.size:
        return None
    return Bars(
        edges=[_written(edge, step, column.unit) for edge in edges.tolist()],
        widths=[max(1, round(width / step)) for width in np.diff(edges).tolist()],
        original=_shares(before),
        released=_shares(after),
    )


def _round_edges(numbers: Vector, grid: float) -> tuple[Vector, float]:
    """Return multiples of a round step over the middle of the numbers, and the step."""
    low, high = np.quantile(numbers, _MIDDLE)
    if not high > low:
        return np.empty(0), 1.0
    step = _round_step((high - low) / _BINS)
    if grid > 0:
        step = grid * max(1, round(step / grid))
    places = np.arange(math.floor(low / step) + 1, math.floor(high / step) + 1)
    # Between the points of a lattice, so that no number lies on an edge.
    return places * step - (grid / 2 if grid > 0 else 0.0), step


def _round_step(least: float) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that is not below.

    Examples
    --------
    >>> _round_step(0.3), _round_step(7.0)
    (0.5, 10.0)
    """
    power = math.floor(math.log10(least))
    choices = [float(f"{digit}e{power}") for digit in (1, 2, 5, 10)]
    return next(choice for choice in choices if choice >= least * (1 - 1e-9))


def _counted(numbers: Vector, edges: Vector) -> Counts:
    return np.bincount(np.searchsorted(edges, numbers, side="right"), minlength=edges.size + 1)


def _few(counts: Counts) -> list[int]:
    """Return which edges to take out, one after the other, until no bin holds one or two."""
    places, left = [], counts
    while left.size > 1:
        few = np.flatnonzero((left > 0) & (left < _FEWEST))
        if not few.size:
            break
        k = int(few[0])
        # To the neighbour with more people, so that holes stay holes.
        below = k > 0 and (k + 1 == left.size or left[k - 1] >= left[k + 1])
        place = k - 1 if below else k
        places.append(place)
        left = _joined(left, place)
    return places


def _joined(counts: Counts, place: int) -> Counts:
    """Return counts with the bins on both sides of an edge in one."""
    both = counts[place] + counts[place + 1]
    return np.concatenate([counts[:place], [both], counts[place + 2 :]])


def _of_levels(column: ColumnPair) -> Bars | None:
    size = len(column.levels or ())
    before, after = (
        np.bincount(codes[codes >= 0], minlength=size)
        for codes in (column.original, column.released)
    )
    if not before.sum() or not after.sum():
        return None
    order = np.argsort(-before, kind="stable")
    before, after = before[order], after[order]
    own = min(_MOST_LEVELS, int(np.sum(before >= _FEWEST)))
    if 0 < before[own:].sum() < _FEWEST:  # the others together are too few
        own -= 1
    if own < 1 or (own == 1 and before.size == 1):
        return None
    before, after = (np.append(each[:own], each[own:].sum()) for each in (before, after))
    if not before[-1] and not after[-1]:
        before, after = before[:-1], after[:-1]
    if before.size < 2:
        return None
    return Bars(edges=None, widths=None, original=_shares(before), released=_shares(after))


def _shares(counts: Counts) -> list[float]:
    return [round(share, 2) for share in (counts / counts.sum()).tolist()]


def _written(edge: float, step: float, unit: str) -> str:
    """Return an edge as people write it: a day, or a number without digits that mean nothing."""
    day = date(1970, 1, 1)
    try:
        if unit.startswith("days since 1970"):
            return (day + timedelta(days=edge)).isoformat()
        if unit.startswith("seconds since 1970"):
            return datetime.fromtimestamp(edge, UTC).strftime("%Y-%m-%d")
        if unit == "seconds since midnight":
            return datetime.fromtimestamp(edge, UTC).strftime("%H:%M")
    except (OverflowError, ValueError, OSError):
        return f"{edge:g}"
    decimals = max(0, 1 - math.floor(math.log10(step)))
    text = f"{edge:.{min(decimals, 12)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text

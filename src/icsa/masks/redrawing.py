"""The mask that keeps no score: every coordinate is drawn anew, from groups of its people."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from icsa.masks.base import over_columns, source_and_target
from icsa.masks.redraw_kernels import (
    bin_scores,
    draw_people,
    group_by_levels,
    group_neighbours,
    held_moments,
    move_people,
    orientation,
    robust_scale,
    tail_law,
)
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.randomness import Stream, as_key
from icsa.shuffling import shuffle

__all__ = ["redraw"]

# Fewer scores than this make no groups: they are drawn from one normal law.
_FEWEST_FOR_GROUPS: Final = 24
# People in a tail, and in the smallest group.
_GROUP: Final = 8
# Outermost scores of either end that are not looked at.
_UNSEEN: Final = 2
# A column of so few values, each held by eight people on average, has levels instead of scores.
_MOST_LEVELS: Final = 10
# In a small sample, scores farther from the median than this many deviations count as this far.
_REACH: Final = 3.0
# Tails fall exponentially, or as heavy ones do whose first three moments exist.
_SHAPES: Final = (0.0, 0.3)
# A shape that no tail has: the group's law is uniform.
_UNIFORM: Final = -1.0
# Longer columns are not sorted: that would be most of the work. Their middle goes into bins, whose
# ends have these ranks in a sample; so many bins stay in the cache.
_LONG: Final = 1 << 16
_SAMPLE: Final = 1 << 14
_END_RANK: Final = 64
_BINS: Final = 1 << 13


class _Ranked(NamedTuple):
    """A column's people in ascending order.

    Attributes
    ----------
    sorted : ndarray
        All scores, or a sample of a long column's.
    lowest, highest : ndarray
        The outermost scores, ascending: a quarter of a short column, enough of a long one.
    cells : ndarray of shape (4, n_cells)
        Least, greatest and mean score of each cell between the tails, and squares around the mean.
    before : ndarray of shape (n_cells + 1,)
        People in the cells before each, and in all.
    """

    sorted: Vector
    lowest: Vector
    highest: Vector
    cells: Matrix
    before: npt.NDArray[np.int64]


class _Groups(NamedTuple):
    """Groups of neighbours, ascending: how many people, and the law that they are drawn from."""

    counts: npt.NDArray[np.int64]
    centres: Vector
    widths: Vector
    shapes: Vector


def redraw(
    z: Matrix, *, key: object, out: Matrix | None = None, threads: int = 1, first: int = 0
) -> Matrix:
    """Return scores drawn anew: no score is kept, and how far out somebody is counts for little.

    The people of a column are ranked and divided into groups of eight or more neighbours, a few
    are moved from group to group, and each group's scores are drawn from the uniform law with its
    mean and variance. The eight outermost people of either end are drawn from a tail that continues
    the spacings farther in; where the two outermost lie has no influence at all, however far. Then
    comes a random order.

    The error of a mean is about .4 of its standard error with 100 scores and .16 with 1000, up to
    twice that where tails are heavy. Columns of fewer than 24 scores are drawn from one normal law;
    columns of up to ten values keep these, but for those held by fewer than eight people. Each
    thread needs room for one column more. See `Mask` for the parameters, and the documentation's
    page on the method for what is proved.

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(1000, 1))
    >>> masked = redraw(z, key=7)
    >>> bool(np.isin(masked, z).any()), bool(abs(masked.mean() - z.mean()) < 0.03)
    (False, True)
    >>> z[0] = 1e6  # nobody can tell
    >>> bool(redraw(z, key=7).max() < 6.0)
    True
    """
    secret = as_key(key)
    source, target = source_and_target(z, out)

    def work(columns: range) -> None:
        scratch = np.empty(source.shape[0])
        for j in columns:
            stream = secret.stream("redraw", first + j)
            _redraw_column(source[:, j], stream, target[:, j], scratch)

    over_columns(work, source.shape[1], threads)
    return target


def _redraw_column(column: Vector, stream: Stream, out: Vector, scratch: Vector) -> None:
    """Write new scores for a column to `out`, which may be the column; `scratch` is room."""
    n = column.size
    people = max(min(_GROUP, n // _GROUP), 1)
    unseen = min(_UNSEEN, max(people - 2, 0))
    # A column that is drawn anew in its place is sorted there: a long one needs the room.
    in_place = column.flags.c_contiguous and column.ctypes.data == out.ctypes.data
    binned = _binned(column, people) if n > _LONG else None
    sign, ranked = binned or _sorted(column, people, column if in_place else scratch)
    groups = _levels(ranked.sorted, people, unseen) if ranked.sorted.size == n else None
    if groups is None and n < _FEWEST_FOR_GROUPS:
        reach = _REACH * robust_scale(_inner(ranked.sorted, min(1, n // 4)))
        centre, deviation = held_moments(ranked.sorted, reach)
        out[:] = centre + deviation * stream.normals(n)
    else:
        groups = groups or _neighbours(ranked, n, people, unseen, stream)
        del ranked, binned
        _draw(_with_moves(groups, n, stream), people, stream, out)
        shuffle(out, stream, out=out, scratch=scratch)
    if sign < 0:
        np.negative(out, out=out)


def _sorted(column: Vector, people: int, ordered: Vector) -> tuple[int, _Ranked]:
    """Return which way round a column is drawn, and its people, each in a cell; by sorting.

    `ordered` is room for the sorted column, and may be the column.
    """
    if ordered is not column:
        np.copyto(ordered, column)
    ordered.sort()
    sign = orientation(ordered, people)
    if sign < 0:
        ordered[:] = -ordered[::-1]
    cells = _singles(_inner(ordered, people))
    return sign, _Ranked(ordered, ordered, ordered, cells, np.arange(cells.shape[1] + 1))


def _binned(column: Vector, people: int) -> tuple[int, _Ranked] | None:
    """Return the same of a long column, its middle in bins.

    None where bins will not do: values are few, or too many people come into one bin.
    """
    n = column.size
    sample = np.sort(column[:: n // _SAMPLE])
    sign = orientation(sample, people)
    if sign < 0:
        sample = -sample[::-1]
    low, high = sample[_END_RANK], sample[-1 - _END_RANK]
    few = np.empty(_MOST_LEVELS, dtype=np.int64), np.empty(_MOST_LEVELS)
    if not low < high or group_by_levels(sample, 1, _END_RANK, *few):
        return None
    cells, counts = np.empty((4, _BINS)), np.empty(_BINS, dtype=np.int64)
    room = 8 * _END_RANK * (n // _SAMPLE)
    below, above = np.empty(room), np.empty(room)
    width = (high - low) / _BINS
    found = bin_scores(column, float(sign), low, width, cells, counts, below, above)
    crowded = (counts > 4 * _largest_group(n)) & (cells[0] < cells[1])
    if crowded.any() or min(found) <= _tail_length(n, people) or max(found) > room:
        return None
    below, above = np.sort(below[: found[0]]), np.sort(above[: found[1]])
    filled = counts > 0
    parts = (_singles(below[people:]), cells[:, filled], _singles(above[:-people]))
    in_each = [np.ones(part.shape[1], dtype=np.int64) for part in parts]
    in_each[1] = counts[filled]
    before = np.concatenate([[0], np.cumsum(np.concatenate(in_each))])
    return sign, _Ranked(sample, below, above, np.concatenate(parts, axis=1), before)


def _inner(ordered: Vector, people: int) -> Vector:
    """Return the scores without so many of the outermost of either end."""
    return ordered[people : ordered.size - people]


def _singles(ordered: Vector) -> Matrix:
    """Return the cells of people who have one each."""
    cells = np.empty((4, ordered.size))
    cells[:3], cells[3] = ordered, 0.0
    return cells


def _levels(ordered: Vector, people: int, unseen: int) -> _Groups | None:
    """Return the levels of a column that has few, as groups without a width."""
    room = min(_MOST_LEVELS, ordered.size // _GROUP)
    counts, centres = np.empty(room, dtype=np.int64), np.empty(room)
    found = group_by_levels(ordered, people, unseen, counts, centres)
    if not found:
        return None
    return _Groups(counts[:found], centres[:found], np.zeros(found), np.full(found, _UNIFORM))


def _neighbours(ranked: _Ranked, n: int, people: int, unseen: int, stream: Stream) -> _Groups:
    """Return the lower tail, groups of neighbours, and the upper tail."""
    most = min(n // people, ranked.before.size + 2)
    counts, (centres, widths) = np.empty(most, dtype=np.int64), np.empty((2, most))
    inner = (counts[1:], centres[1:], widths[1:])
    words = stream.words(most)
    found = group_neighbours(ranked.cells, ranked.before, people, _largest_group(n), words, *inner)
    shapes = np.full(found + 2, _UNIFORM)
    length = _tail_length(n, people)
    scale = robust_scale(_inner(ranked.sorted, people))
    below, above = -ranked.lowest[: length + 1], ranked.highest[: -length - 2 : -1].copy()
    for place, side, outward in ((0, -1.0, below), (found + 1, 1.0, above)):
        centre, widths[place], shapes[place] = tail_law(outward, people, unseen, scale, *_SHAPES)
        counts[place], centres[place] = people, side * centre
    return _Groups(counts[: found + 2], centres[: found + 2], widths[: found + 2], shapes)


def _largest_group(n: int) -> int:
    """Return how large groups in the middle are at least."""
    return max(_GROUP, round(2.0 * math.sqrt(n)))


def _tail_length(n: int, people: int) -> int:
    """Return how many spacings of an end are looked at."""
    return max(min(5 * people, n // 4), people + 1)


def _with_moves(groups: _Groups, n: int, stream: Stream) -> _Groups:
    """Return the groups after a few people went from one to the next, or came back."""
    moved = np.empty_like(groups.counts)
    words = stream.words(groups.counts.size)
    move_people(groups.counts, round(0.2 * math.sqrt(n)), words, moved)
    return groups._replace(counts=moved)


def _draw(groups: _Groups, people: int, stream: Stream, out: Vector) -> None:
    """Draw everybody, group after group, by blocks."""
    ends = np.cumsum(groups.counts)
    laws = (groups.centres, groups.widths, groups.shapes)
    cut = math.log(5.0 * people)
    for rows in row_blocks(out.size):
        words = stream.words(rows.stop - rows.start)
        draw_people(ends, *laws, cut, rows.start, words, out[rows])

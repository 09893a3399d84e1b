"""Kernels of the mask `redraw`: cells, tails, groups, and draws from them.

Everything here is about one column. Its people stand in ascending order in cells: a cell is one
score or, in the middle of a long column, everybody in a narrow interval.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from icsa.compilation import kernel
from icsa.correlations import MAD_TO_DEVIATION
from icsa.matrices import Matrix, Vector

__all__ = [
    "bin_scores",
    "draw_people",
    "group_by_levels",
    "group_neighbours",
    "held_moments",
    "move_people",
    "orientation",
    "robust_scale",
    "tail_law",
]

_Words = npt.NDArray[np.uint64]
_Counts = npt.NDArray[np.int64]
_Place = int | np.int64

# What makes the mean distance of normal numbers from their middle the standard deviation.
_MEAN_TO_SD = 1.2533141373155003
# A gap counts as no more than so many times what the spacings farther in let expect: of lone
# people who stand out, this much is left.
_LONGEST_GAP = 5.0
# Spacings are taken to be no less than those of a normal sample's tail, as a share of its sd.
_LEAST_SPACING = 0.35
# A spacing so many times the mean one around it separates groups of people.
_WIDE_GAP = 6.0
# Differences this small, as a share of what they are compared with, are rounding, so that ties are
# ties in every unit and on every processor.
_ROUNDING = 1e-10


@kernel
def robust_scale(ordered: Vector) -> float:
    """Return 1.4826 times the median deviation from the median.

    Where more than half of the scores are tied, it is 1.2533 times the mean deviation.
    """
    n = ordered.size
    middle = median_of(ordered)
    low, high = 0, n - 1  # the outermost deviations are taken off until half are left
    below, above = middle - ordered[low], ordered[high] - middle
    last = 0.0
    for _ in range(n - n // 2):
        if below > above:
            last = below
            low += 1
            below = middle - ordered[low]
        else:
            last = above
            high -= 1
            above = ordered[high] - middle
    deviation = last if n % 2 else 0.5 * (last + max(below, above))
    if deviation > 0.0:
        return MAD_TO_DEVIATION * deviation
    total = 0.0
    for i in range(n):
        total += abs(ordered[i] - middle)
    return _MEAN_TO_SD * total / n


@kernel
def median_of(ordered: Vector) -> float:
    """Return the median of sorted scores."""
    n = ordered.size
    return 0.5 * ordered[(n - 1) // 2] + 0.5 * ordered[n // 2]  # type: ignore[no-any-return]


@kernel
def mean_of(values: Vector) -> float:
    """Return the mean."""
    total = 0.0
    for i in range(values.size):
        total += values[i]
    return total / values.size


@kernel
def sort_few(values: Vector) -> None:
    """Sort in place, by insertion: numpy's sort takes a second to compile."""
    for i in range(1, values.size):
        value, j = values[i], i
        while j > 0 and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value


@kernel
def orientation(ordered: Vector, trimmed: int) -> int:
    """Return -1 where the lower end of the trimmed scores is the longer one, else 1.

    The next pair of scores decides where the outermost are equally far out. A column and its
    negative are thereby drawn alike.
    """
    n = ordered.size
    middle = median_of(ordered)
    for i in range(trimmed, n // 2):
        below, above = middle - ordered[i], ordered[n - 1 - i] - middle
        if abs(above - below) > _ROUNDING * (above + below):
            return 1 if above > below else -1
    return 1


@kernel
def held_moments(ordered: Vector, reach: float) -> tuple[float, float]:
    """Return mean and standard deviation of the scores, held within `reach` of their median."""
    n = ordered.size
    middle = median_of(ordered)
    total, squares = 0.0, 0.0
    for i in range(n):
        total += min(max(ordered[i] - middle, -reach), reach)
    mean = total / n
    for i in range(n):
        squares += (min(max(ordered[i] - middle, -reach), reach) - mean) ** 2
    return middle + mean, math.sqrt(squares / n)


@kernel
def bin_scores(
    column: Vector,
    sign: float,
    low: float,
    width: float,
    cells: Matrix,
    counts: _Counts,
    below: Vector,
    above: Vector,
) -> tuple[int, int]:
    """Sort the scores times `sign` into bins of one width, from `low` on.

    Set how many people each of the bins has, and in `cells` their least and greatest score, their
    mean and the sum of squares around it. Scores outside of all bins go to `below` and `above` as
    they come; return how many these are. Where they do not fit, the numbers alone are right.
    """
    bins, low_count, high_count = counts.size, 0, 0
    lows, highs, means, squares = cells[0], cells[1], cells[2], cells[3]
    for b in range(bins):
        counts[b] = 0
        lows[b], highs[b], means[b], squares[b] = np.inf, -np.inf, 0.0, 0.0
    for i in range(column.size):
        score = sign * column[i]
        place = (score - low) / width
        if place < 0.0:
            if low_count < below.size:
                below[low_count] = score
            low_count += 1
        elif place >= bins:
            if high_count < above.size:
                above[high_count] = score
            high_count += 1
        else:
            b = int(place)
            counts[b] += 1
            lows[b], highs[b] = min(lows[b], score), max(highs[b], score)
            place -= b + 0.5
            means[b] += place
            squares[b] += place * place
    for b in range(bins):  # so far in widths of a bin, from its middle
        if counts[b] == 0 or lows[b] == highs[b]:
            means[b], squares[b] = lows[b], 0.0
        else:
            mean = means[b] / counts[b]
            squares[b] = max(squares[b] - counts[b] * mean * mean, 0.0) * width * width
            means[b] = low + (b + 0.5 + mean) * width
    return low_count, high_count


@kernel
def tail_law(
    outward: Vector, k: int, q: int, scale: float, lightest: float, heaviest: float
) -> tuple[float, float, float]:
    """Return where the k outermost scores are on average, their slope and their shape.

    From the outermost score y_1 inwards, S_j = j (y_j - y_(j+1)) are equal on average where the
    tail falls exponentially, grow outwards where it is heavier, and shrink where it ends. Those of
    j <= q are not looked at but continued from the others, and none counts more than five times
    what those of j > k let expect. The k scores are then built up again from y_(k+1). The shape is
    that of a generalised Pareto law, from `lightest` to `heaviest`.
    """
    last = outward.size - 1
    spacings = np.empty(last)
    for j in range(q + 1, last + 1):
        spacings[j - 1] = j * (outward[j - 1] - outward[j])
    usual = spacings[k:].copy()
    sort_few(usual)
    expected = max(median_of(usual) / math.log(2.0), _LEAST_SPACING * scale)
    for j in range(q, last):
        spacings[j] = min(spacings[j], _LONGEST_GAP * expected)
    slope, inner_slope = mean_of(spacings[q:k]), mean_of(spacings[k:])
    shape = 0.0
    if last >= 3 * k and slope > 0.0 and inner_slope > 0.0:
        shape = math.log(slope / inner_slope) / math.log(math.sqrt(last / (q + 1)))
        shape = min(max(shape, lightest), heaviest)
    for j in range(1, q + 1):
        spacings[j - 1] = slope * (j / math.sqrt((q + 1) * k)) ** -shape
    length, total = 0.0, 0.0
    for j in range(k, 0, -1):
        length += spacings[j - 1] / j
        total += length
    return outward[k] + total / k, slope, shape


@kernel
def group_neighbours(
    cells: Matrix,
    before: _Counts,
    k: int,
    largest: int,
    words: _Words,
    counts: _Counts,
    centres: Vector,
    widths: Vector,
) -> int:
    """Divide cells into groups of neighbours; return how many there are.

    `cells` has least, greatest and mean score and sum of squares; `before` how many people come
    before each cell and, at its end, in all. Sizes are random, from k near the ends to `largest`
    and more in the middle. A wide gap between k people or more on either side is the border of two
    groups. Set how many people each has, their mean, and half the width of the uniform law with
    their variance.
    """
    groups, people = 0, before[-1]
    start: _Place = np.int64(0)  # a plain 0 would have callees compiled twice
    while start < before.size - 1:
        end = _end_of_segment(cells, before, start, k)
        while start < end:
            size = min((before[start] + k) // 2, (people - before[start] + k) // 3)
            size = max(k, min(size, largest))
            size += np.int64(_unit(words[groups]) * size)
            stop = start + 1
            while stop < end and before[stop] - before[start] < size:
                stop += 1
            if before[end] - before[stop] < k:
                stop = end
            counts[groups] = before[stop] - before[start]
            centres[groups], widths[groups] = _uniform_law(cells, before, start, stop)
            groups += 1
            start = stop
    return groups


@kernel
def _end_of_segment(cells: Matrix, before: _Counts, start: _Place, k: int) -> int:
    """Return where the first wide gap after a cell is, with k people on either side, or the end."""
    lows, highs, n_cells = cells[0], cells[1], before.size - 1
    for i in range(start, n_cells - 1):
        gap = lows[i + 1] - highs[i]
        low, high = max(i - 2 * k, 0), min(i + 1 + 2 * k, n_cells - 1)
        people = before[high + 1] - before[low] - 1
        if (
            gap * people > _WIDE_GAP * (1.0 + _ROUNDING) * (highs[high] - lows[low])
            and before[i + 1] - before[start] >= k
            and before[n_cells] - before[i + 1] >= k
        ):
            return i + 1
    return n_cells


@kernel
def _uniform_law(
    cells: Matrix, before: _Counts, start: _Place, stop: _Place
) -> tuple[float, float]:
    """Return the mean of some cells, and half the width of a uniform law with their variance."""
    means, squares = cells[2], cells[3]
    # From the first one, so that tied scores give exactly their value and no width.
    origin, people = means[start], before[stop] - before[start]
    total, spread = 0.0, 0.0
    for i in range(start, stop):
        total += (before[i + 1] - before[i]) * (means[i] - origin)
    mean = total / people
    for i in range(start, stop):
        spread += (before[i + 1] - before[i]) * (means[i] - origin - mean) ** 2 + squares[i]
    return origin + mean, math.sqrt(3.0 * spread / people)


@kernel
def group_by_levels(
    ordered: Vector, k: int, trimmed: int, counts: _Counts, centres: Vector
) -> _Place:
    """Set how many people hold each level and what it is; return how many levels there are.

    0 where there are more levels than `counts` has room for. A level held by fewer than k people
    joins its inner neighbour.
    """
    n, most = ordered.size, counts.size
    rounding = _ROUNDING * (ordered[n - 1 - trimmed] - ordered[trimmed])
    levels = np.int64(0)
    for i in range(n):
        if i == 0 or ordered[i] - ordered[i - 1] > rounding:
            if levels == most:
                return 0
            counts[levels], centres[levels] = 0, ordered[i]
            levels += 1
        counts[levels - 1] += 1
    return _join_rare_levels(k, n, levels, counts, centres)


@kernel
def _join_rare_levels(k: int, n: int, levels: _Place, counts: _Counts, centres: Vector) -> _Place:
    """Merge levels held by fewer than k people into the neighbour on the median's side."""
    while levels > 1:
        rare, below = -1, 0
        for i in range(levels):
            if counts[i] < k and (rare < 0 or counts[i] < counts[rare]):
                rare = i
        if rare < 0:
            break
        for i in range(rare):
            below += counts[i]
        heir = rare + 1 if rare == 0 or (rare < levels - 1 and 2 * below < n) else rare - 1
        counts[heir] += counts[rare]
        for i in range(rare, levels - 1):
            counts[i], centres[i] = counts[i + 1], centres[i + 1]
        levels -= 1
    return levels


@kernel
def move_people(counts: _Counts, most: int, words: _Words, moved: _Counts) -> None:
    """Set `moved` to the counts after a few people went from each group to the next, or came back.

    As many as a uniform draw says, from -m to m, where m is `most` or a third of the smaller group.
    """
    for i in range(counts.size):
        moved[i] = counts[i]
    for i in range(counts.size - 1):
        limit = min(most, min(counts[i], counts[i + 1]) // 3)
        step = np.int64(_unit(words[i]) * (2 * limit + 1)) - limit
        moved[i] -= step
        moved[i + 1] += step


@kernel
def draw_people(
    ends: _Counts,
    centres: Vector,
    widths: Vector,
    shapes: Vector,
    cut: float,
    first: int,
    words: _Words,
    out: Vector,
) -> None:
    """Draw the people first, first + 1, ... of all groups in order, a word each.

    Group g ends before person ends[g]. The first and last group are tails where their shapes are
    not negative: ::

        centre -+ slope (h(E) - 1/(1 - shape)),  h(e) = (exp(shape e) - 1)/shape,

    with E exponential and not above `cut` less a uniform half, so that nothing piles up there. The
    others are uniform.
    """
    group, beyond = 0, ends.size
    while group < beyond:  # the first that ends after the first person
        middle = (group + beyond) // 2
        if ends[middle] > first:
            beyond = middle
        else:
            group = middle + 1
    for i in range(words.size):
        while first + i >= ends[group]:
            group += 1
        word = words[i]
        if shapes[group] < 0.0:
            out[i] = centres[group] + widths[group] * (2.0 * _unit(word) - 1.0)
            continue
        shape = shapes[group]
        exponential = -math.log(((word >> np.uint64(32)) + 0.5) * 2.0**-32)
        blur = 0.5 * ((word & np.uint64(0xFFFFFFFF)) + 0.5) * 2.0**-32
        length = min(exponential, cut - blur)
        if shape > 0.0:
            length = math.expm1(shape * length) / shape
        length = widths[group] * (length - 1.0 / (1.0 - shape))
        out[i] = centres[group] + (length if group else -length)


@kernel
def _unit(word: np.uint64) -> float:
    """Return a word as a number from 0 to less than 1."""
    return (word >> np.uint64(11)) * 2.0**-53

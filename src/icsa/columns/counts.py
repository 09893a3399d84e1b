"""Counts of levels: decoding that keeps them exactly, and counts moved by a few people."""

from __future__ import annotations

import numpy as np

from icsa.columns.levels import Counts
from icsa.matrices import Vector, row_blocks
from icsa.randomness import Stream

__all__ = ["counts_among", "level_tree", "most_moved", "moved_counts", "positions_by_rank"]

# People who move between two levels: so many at most, or this share of the standard error of the
# smaller count, if that is more.
_FEWEST_MOVED = 2
_SHARE_OF_ERROR = 0.3
# Levels that move people to and from one that is more common.
_BRANCHES = 4


def positions_by_rank(scores: Vector, counts: Counts) -> Vector:
    """Return positions of ordered levels: the lowest scores get the first level, and so on.

    Tied scores are taken in the order of the rows.

    Parameters
    ----------
    scores : Vector
        One a row.
    counts : array of int
        Of every level; they add up to the number of rows.

    Examples
    --------
    >>> positions_by_rank(np.array([0.9, -0.2, 0.4, 0.1]), np.array([1, 3]))
    array([1., 0., 1., 1.])
    """
    borders = np.unique(np.cumsum(counts)[:-1])
    borders = borders[(borders > 0) & (borders < scores.size)]
    occupied = np.flatnonzero(counts)
    firsts = np.partition(scores, borders)[borders]
    positions, found = np.empty(scores.size), np.zeros_like(counts)
    for rows in row_blocks(scores.size):  # a long column needs the room
        places = occupied[np.searchsorted(firsts, scores[rows], side="right")]
        found += np.bincount(places, minlength=counts.size)
        positions[rows] = places
    if not np.array_equal(found, counts):
        # Scores are tied across a border. A sort costs more, and decides by the order of rows.
        positions[np.argsort(scores, kind="stable")] = np.repeat(np.arange(counts.size), counts)
    return positions


def counts_among(counts: Counts, n_rows: int) -> Counts:
    """Return the counts scaled to another number of rows, those with the largest rest rounded up.

    Examples
    --------
    >>> counts_among(np.array([10, 20, 70]), 100), counts_among(np.array([10, 20, 70]), 7)
    (array([10, 20, 70]), array([1, 1, 5]))
    """
    total = int(counts.sum())
    if n_rows == total:
        return counts
    exact = counts * (n_rows / total)
    scaled: Counts = np.floor(exact).astype(np.int64)
    order = np.argsort(scaled - exact, kind="stable")
    scaled[order[: n_rows - int(scaled.sum())]] += 1
    return scaled


def moved_counts(
    counts: Counts, stream: Stream, fewest: int = _FEWEST_MOVED, *, reverse: bool = False
) -> Counts:
    """Return the counts after a few people have moved from level to level.

    Levels stand in a tree by their size, the most common one at the root, four below each. Between
    a level and the one above it d people move, d uniform from -a to a, where a is `fewest`, or .3
    times the root of the smaller count if that is more, and never more people than there are. So
    every count has a draw of its own, and those of others say nothing about it: between neighbours
    in a row, many small moves would add up to where a person is missing.

    The counts add up as before, a level that nobody had stays empty, and every count is on average
    what it was. One that one or two people had may become empty.

    Parameters
    ----------
    counts : array of int
        Of levels in any order.
    stream : Stream
        Where the randomness comes from; it moves on.
    fewest : int
        The least a.
    reverse : bool
        Whether equal counts are taken from the last to the first.

    Examples
    --------
    >>> from icsa.randomness import as_key
    >>> moved_counts(np.array([400, 0, 100, 2]), as_key(7).stream("example"))
    array([403,   0,  98,   1])
    """
    if reverse:
        return moved_counts(counts[::-1], stream, fewest)[::-1]
    moved = counts.copy()
    links = level_tree(counts)
    # The remainder of a word of 64 bits is as good as uniform.
    for (level, above), word in zip(links, stream.words(len(links)), strict=True):
        most = most_moved(counts, moved, level, above, fewest)
        people = int(word) % (2 * most + 1) - most
        moved[level] += people
        moved[above] -= people
    return moved


def level_tree(counts: Counts) -> list[tuple[int, int]]:
    """Return each level that somebody has but the most common one, with the level above it."""
    by_size = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)].tolist()
    return [(level, by_size[place // _BRANCHES]) for place, level in enumerate(by_size[1:])]


def most_moved(counts: Counts, moved: Counts, level: int, above: int, fewest: int) -> int:
    """Return how many people may move to a level or from it, given what has moved before."""
    usual = round(_SHARE_OF_ERROR * float(np.sqrt(counts[level])))
    return min(max(fewest, usual), int(moved[level]), int(moved[above]))

"""Decoding of levels without an order: the best level for every row, all counts kept exactly.

Giving every row the level with the largest score plus offset is the best of all assignments that
have the counts it happens to have: the offsets are the prices of the transport problem. They are
found level by level, each as the quantile that gives its level the wanted count while the others
stay; on a sample first, so that the full table needs few rounds. The rows that are still one too
many then move to where they lose least.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from icsa.columns.dummies import LevelScores
from icsa.columns.levels import Counts
from icsa.compilation import kernel
from icsa.matrices import Matrix, Vector

__all__ = ["ACTIVE_SHARE", "assigned_levels", "balancing_offsets"]

_SAMPLE = 20_000
_SWEEPS = 60
_ROUNDS = 12
# Share of the rows nearest to another level that long tables are balanced on.
ACTIVE_SHARE = 0.1
# On a long table the offsets need not be exact to the row: the rest moves at hardly any loss.
_TOLERATED_SHARE = 1e-4
# Rows that are ranked at a time: they stay in the first cache.
_BLOCK = 1024

# Scores that are looked at at a time, of a table that need not be in memory.
_AT_A_TIME = 1 << 19

Rows = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]


def assigned_levels(scores: LevelScores, counts: Counts) -> Vector:
    """Return a level for every row, so that the scores are large and every count is as given.

    Parameters
    ----------
    scores : LevelScores
        How well every level fits every row.
    counts : array of int
        Of every level; they add up to the number of rows.
    """
    n_rows = scores.n_rows
    offsets = np.zeros(counts.size)
    if n_rows > 2 * _SAMPLE:
        sample = np.arange(0, n_rows, n_rows // _SAMPLE)
        share = np.rint(counts * (sample.size / n_rows)).astype(np.int64)
        offsets, _ = balancing_offsets(scores.of_rows(sample), np.maximum(share, 1), offsets)
        offsets, places = _balanced_near_borders(scores, counts, offsets)
    else:
        offsets, places = balancing_offsets(scores.between(0, n_rows), counts, offsets)
    _repair(scores, counts, offsets, places)
    return places.astype(np.float64)


def balancing_offsets(
    scores: Matrix, counts: Counts, start: Vector, reach: float = np.inf
) -> tuple[Vector, Places]:
    """Return offsets whose best levels have nearly the given counts, and these levels.

    No offset moves further than `reach` from its start.
    """
    offsets = start.copy()
    n_levels, n_rows = scores.shape
    first, second, best, runner_up = _ranked(scores, offsets)
    margins = np.empty(n_rows)
    fewest, sweeps_without_gain = np.inf, 0
    for _ in range(_SWEEPS):
        misplaced = _misplaced(first, counts)
        sweeps_without_gain = 0 if misplaced < 0.9 * fewest else sweeps_without_gain + 1
        fewest = min(fewest, misplaced)
        if misplaced <= _TOLERATED_SHARE * n_rows or sweeps_without_gain > 3:
            break
        for level in range(n_levels):
            _margins(scores, level, first, best, runner_up, margins)
            offset = _midway(margins, int(counts[level]))
            offsets[level] = min(max(offset, start[level] - reach), start[level] + reach)
            _update(scores, offsets, level, first, second, best, runner_up)
    return offsets, first


def _misplaced(places: Places, counts: Counts) -> float:
    """Return how many rows would have to move for the counts to be as wanted."""
    return float(np.abs(np.bincount(places, minlength=counts.size) - counts).sum()) / 2.0


def _midway(margins: Vector, count: int) -> float:
    """Return a number that exceeds `count` of the margins."""
    if not 0 < count < margins.size:
        return -np.inf if count <= 0 else np.inf
    parted = np.partition(margins, [count - 1, count])
    return float(0.5 * (parted[count - 1] + parted[count]))


def _balanced_near_borders(
    scores: LevelScores, counts: Counts, start: Vector
) -> tuple[Vector, Places]:
    """Return what `balancing_offsets` does, working on the rows whose best two levels are close.

    Rows whose best two levels are further apart than the offsets can move cannot change theirs.
    """
    offsets = start
    for _ in range(_ROUNDS):
        places, gaps = _nearest(scores, offsets)
        if _misplaced(places, counts) <= _TOLERATED_SHARE * places.size:
            return offsets, places
        nearest = int(ACTIVE_SHARE * gaps.size)
        reach = 0.5 * np.partition(gaps, nearest)[nearest]
        active = np.flatnonzero(gaps <= 2.0 * reach)
        if active.size > 0.5 * gaps.size:  # tied scores: there is no border to be near to
            break
        del gaps  # a long table needs the room
        settled = np.bincount(places, minlength=counts.size)
        settled -= np.bincount(places[active], minlength=counts.size)
        part = scores.of_rows(active)
        moved, places[active] = balancing_offsets(part, counts - settled, offsets, reach)
        if np.max(np.abs(moved - offsets)) < reach:
            return moved, places
        offsets = moved
        del part, places, active
    return balancing_offsets(scores.between(0, scores.n_rows), counts, offsets)


def _nearest(scores: LevelScores, offsets: Vector) -> tuple[Places, Vector]:
    """Return each row's best level, and how far the second best one is behind."""
    places, gaps = np.empty(scores.n_rows, dtype=np.int32), np.empty(scores.n_rows)
    for rows in _blocks(scores.n_rows, offsets.size):
        places[rows], _, best, runner_up = _ranked(scores.between(rows.start, rows.stop), offsets)
        np.subtract(best, runner_up, out=gaps[rows])
    return places, gaps


def _blocks(n_rows: int, n_levels: int) -> Iterator[slice]:
    step = max(_AT_A_TIME // n_levels, _BLOCK)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def _repair(scores: LevelScores, counts: Counts, offsets: Vector, places: Places) -> None:
    """Move rows of levels that have too many to levels that have too few, smallest loss first."""
    surplus = np.bincount(places, minlength=counts.size) - counts
    while surplus.any():
        moves = _moves(scores, offsets, surplus, places)
        order = np.argsort(moves.losses, kind="stable")
        _move(order, moves.rows, moves.targets, surplus, places)


class _Moves(NamedTuple):
    """Rows that may move, to which levels, and what is lost by it."""

    rows: Rows
    targets: Places
    losses: Vector

    def cheapest(self, n_wanted: int) -> _Moves:
        """Return those that lose least: so many and one, and all that are tied with the last."""
        near = self.losses <= np.partition(self.losses, n_wanted)[n_wanted]
        return _Moves(*(one[near] for one in self))


def _moves(scores: LevelScores, offsets: Vector, surplus: Counts, places: Places) -> _Moves:
    """Return moves to levels with too few rows that lose least, in the order of rows."""
    n_wanted = 4 * int(np.abs(surplus).sum()) + 100
    n_seen, n_held, most, held = 0, 0, 2 * n_wanted, list[_Moves]()
    for block in _blocks(scores.n_rows, offsets.size):
        rows = np.flatnonzero(surplus[places[block]] > 0)
        if not rows.size:
            continue
        some = scores.between(block.start, block.stop)
        found = _cheapest_moves(some, offsets, surplus, places[block], rows)
        held.append(_Moves(rows + block.start, *found))
        n_seen, n_held = n_seen + rows.size, n_held + rows.size
        if n_held > most:  # whatever is dearer here is so among all
            held = [_joined(held).cheapest(n_wanted)]
            n_held = held[0].rows.size
            most = 2 * max(n_held, n_wanted)
    moves = _joined(held)
    return moves.cheapest(n_wanted) if n_seen > 2 * n_wanted else moves


def _joined(moves: list[_Moves]) -> _Moves:
    return _Moves(*(np.concatenate(parts) for parts in zip(*moves, strict=True)))


def _ranked(scores: Matrix, offsets: Vector) -> tuple[Places, Places, Vector, Vector]:
    """Return each row's best and second best level, and their scores plus offsets."""
    n_rows = scores.shape[1]
    first, second = np.empty(n_rows, dtype=np.int32), np.empty(n_rows, dtype=np.int32)
    best, runner_up = np.empty(n_rows), np.empty(n_rows)
    _rank(scores, offsets, first, second, best, runner_up)
    return first, second, best, runner_up


@kernel
def _rank_row(
    scores: Matrix,
    offsets: Vector,
    row: int,
    first: Places,
    second: Places,
    best: Vector,
    runner_up: Vector,
) -> None:
    """Write one row's best and second best level and their scores plus offsets."""
    top, next_, top_value, next_value = 0, 0, -np.inf, -np.inf
    for level in range(scores.shape[0]):
        value = scores[level, row] + offsets[level]
        if value > top_value:
            next_, next_value = top, top_value
            top, top_value = level, value
        elif value > next_value:
            next_, next_value = level, value
    first[row], second[row], best[row], runner_up[row] = top, next_, top_value, next_value


@kernel
def _rank(
    scores: Matrix,
    offsets: Vector,
    first: Places,
    second: Places,
    best: Vector,
    runner_up: Vector,
) -> None:
    """Write each row's best and second best level and their scores plus offsets.

    Levels outside and rows inside, without branches: rows are then done in lanes.
    """
    n_levels, n_rows = scores.shape
    for start in range(0, n_rows, _BLOCK):
        end = min(start + _BLOCK, n_rows)
        top, next_ = best[start:end], runner_up[start:end]
        which, other = first[start:end], second[start:end]
        for i in range(top.size):
            top[i], next_[i], which[i], other[i] = -np.inf, -np.inf, 0, 0
        for level in range(n_levels):
            row, offset = scores[level, start:end], offsets[level]
            for i in range(top.size):
                value, high, low, place = row[i] + offset, top[i], next_[i], which[i]
                runner = level if value > low else other[i]
                other[i] = place if value > high else runner
                next_[i] = min(max(low, value), high)
                which[i] = level if value > high else place
                top[i] = max(high, value)


@kernel
def _margins(
    scores: Matrix,
    level: int,
    first: Places,
    best: Vector,
    runner_up: Vector,
    margins: Vector,
) -> None:
    """Write the offset from which on `level` is each row's best one."""
    for row in range(scores.shape[1]):
        rival = runner_up[row] if first[row] == level else best[row]
        margins[row] = rival - scores[level, row]


@kernel
def _update(
    scores: Matrix,
    offsets: Vector,
    level: int,
    first: Places,
    second: Places,
    best: Vector,
    runner_up: Vector,
) -> None:
    """Write the best and second best levels after the offset of one level has changed."""
    for row in range(scores.shape[1]):
        value = scores[level, row] + offsets[level]
        if first[row] == level and value >= runner_up[row]:
            best[row] = value
        elif first[row] != level and second[row] != level:
            if value > best[row]:
                second[row], runner_up[row] = first[row], best[row]
                first[row], best[row] = level, value
            elif value > runner_up[row]:
                second[row], runner_up[row] = level, value
        elif second[row] == level and value > best[row]:
            second[row], runner_up[row] = first[row], best[row]
            first[row], best[row] = level, value
        elif second[row] == level and value >= runner_up[row]:
            runner_up[row] = value
        else:
            _rank_row(scores, offsets, row, first, second, best, runner_up)


@kernel
def _cheapest_moves(
    scores: Matrix, offsets: Vector, surplus: Counts, places: Places, rows: Rows
) -> tuple[Places, Vector]:
    """Return the level with too few rows that each of `rows` fits best, and what is lost by it."""
    targets = np.empty(rows.size, dtype=np.int32)
    losses = np.empty(rows.size)
    for position in range(rows.size):
        row = rows[position]
        top, top_value = 0, -np.inf
        for level in range(scores.shape[0]):
            value = scores[level, row] + offsets[level]
            if surplus[level] < 0 and value > top_value:
                top, top_value = level, value
        present = places[row]
        targets[position] = top
        losses[position] = scores[present, row] + offsets[present] - top_value
    return targets, losses


@kernel
def _move(order: Rows, rows: Rows, targets: Places, surplus: Counts, places: Places) -> None:
    """Move rows in the given order as long as their levels have too many and too few."""
    for move in order:
        row, target = rows[move], targets[move]
        if surplus[places[row]] > 0 and surplus[target] < 0:
            surplus[places[row]] -= 1
            surplus[target] += 1
            places[row] = target

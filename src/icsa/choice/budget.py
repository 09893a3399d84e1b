"""How many draws a race has: by a fixed model of what they cost, not by a clock.

The same table, options and budget give the same draws on any machine, and so the same result. The
seconds are those of one core of a usual machine, to a factor of two; workers share them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from icsa.assessment.fresh_releases import FEWEST_REDRAWS, usual_redraws
from icsa.assessment.rehearsal import rehearsal_seconds, usual_halves
from icsa.errors import InputError
from icsa.limits import LONG

__all__ = ["FINALISTS", "DrawPlan", "RoundDraws", "Size", "draw_plan"]

# Measured on one core: seconds for any release with its assessment, for each cell, and for each
# step (a person against a row, in a column).
_START, _CELL, _STEP = 0.12, 2.5e-5, 6e-9
# A plan that is made of others takes so many times as long.
_DESIGNED = 2.0
# Of that: both halves of a split released and attacked, a planted table with its two releases, and
# a fresh key of a whole assessment, of which the people who stand out are looked at only.
_SPLIT, _PLANTING, _FRESH_KEY = 1.1, 0.6, 0.25
# Fitting a model or predicting a column, a key.
_ASKED = 0.1
# How many are assessed in full at a time, and how many are in the last round before that.
FINALISTS, _LAST = 3, 4
# The smallest race: keys, splits and planted tables in each round.
_SMALLEST = ((3, 1, 1), (3, 1, 1), (4, 2, 1))
_MOST_TIMES = 16
_FRESH = 6
# Rows that are compared on: as many of these as a budget allows, of longer tables.
_ROWS = (500, 1_000, 2_000, 5_000, 10_000)


@dataclass(frozen=True)
class Size:
    """Of a comparison: the table's rows and columns, candidates, rivals, and what is asked for.

    `designed` says whether people have several rows, rows stand for many, or there are strata.
    """

    rows: int
    columns: int
    candidates: int
    rivals: int
    asked: int = 0
    designed: bool = False

    @property
    def draw(self) -> float:
        """Seconds for one release of one candidate, with what is looked at in any table."""
        cells, steps = self.rows * self.columns, self.rows**2 * self.columns
        return (_DESIGNED if self.designed else 1.0) * (_START + _CELL * cells + _STEP * steps)

    @property
    def key(self) -> float:
        """Seconds for one key of one candidate, with what is asked for."""
        return self.draw + _ASKED * self.asked

    @property
    def full(self) -> float:
        """Seconds for the whole assessment of one candidate."""
        redraws = usual_redraws(self.rows * self.columns, calibrated=True)
        if self.designed:
            redraws = min(FEWEST_REDRAWS, redraws)
        halves = usual_halves(self.rows, self.columns)
        again = redraws * _FRESH_KEY * self.draw
        return 1.0 + again + rehearsal_seconds(self.rows, self.columns, halves)


@dataclass(frozen=True)
class RoundDraws:
    """What each candidate gets in a round."""

    keys: int
    splits: int
    plantings: int

    def seconds(self, size: Size) -> float:
        """Return how long one candidate takes."""
        others = _SPLIT * self.splits + _PLANTING * self.plantings
        return 2.0 * _START + self.keys * size.key + others * size.draw


@dataclass(frozen=True)
class DrawPlan:
    """The draws of a race.

    Attributes
    ----------
    rows : int
        Of the table, that are compared on.
    rounds : tuple of RoundDraws
    fresh : int
        Keys of the last look, at those that are assessed in full.
    seconds : float
        What all of it is expected to take on one core.
    """

    rows: int
    rounds: tuple[RoundDraws, ...]
    fresh: int
    seconds: float

    def staying(self, number: int, candidates: int) -> int:
        """Return how many candidates are in a round at most; the first is 0.

        Examples
        --------
        >>> [draw_plan(Size(400, 30, 12, 6), 5.0).staying(k, 12) for k in range(3)]
        [12, 6, 4]
        """
        return candidates if not number else min(candidates, max(_LAST, candidates >> number))


def draw_plan(size: Size, minutes: float) -> DrawPlan:
    """Return the draws that a budget of minutes allows, at least the smallest race.

    Examples
    --------
    >>> plan = draw_plan(Size(400, 30, 9, 6), 5.0)
    >>> plan.rows, [found.keys for found in plan.rounds], plan.fresh
    (400, [12, 12, 16], 24)
    >>> [draw_plan(Size(1_000_000, 30, 9, 6), minutes).rows for minutes in (5.0, 1e9)]
    [1000, 10000]
    """
    if not 0.0 < minutes < math.inf:
        raise InputError(f"The budget must be more than 0 minutes: got {minutes:g}.")
    budget = 60.0 * minutes
    all_rows = size.rows if size.rows <= LONG else 0  # longer ones may be in files
    fitting = [rows for rows in (*_ROWS, all_rows) if 0 < rows <= size.rows]
    plans = [_plan(_with_rows(size, rows), 1) for rows in sorted({*fitting, min(size.rows, 500)})]
    # The longest table that the smallest race has the time for.
    rows = max((plan.rows for plan in plans if plan.seconds <= budget), default=plans[0].rows)
    fewer = _with_rows(size, rows)
    larger = [_plan(fewer, times) for times in range(2, _MOST_TIMES + 1)]
    return max(
        (plan for plan in larger if plan.seconds <= budget),
        key=lambda plan: plan.seconds,
        default=_plan(fewer, 1),
    )


def _with_rows(size: Size, rows: int) -> Size:
    return replace(size, rows=rows)


def _plan(size: Size, times: int) -> DrawPlan:
    rounds = tuple(
        RoundDraws(times * keys, max(1, times * splits // 2), max(1, times * plantings // 2))
        for keys, splits, plantings in _SMALLEST
    )
    unpaid = DrawPlan(size.rows, rounds, times * _FRESH, 0.0)
    in_rounds = (
        unpaid.staying(number, size.candidates) + (size.rivals if not number else 0)
        for number in range(len(rounds))
    )
    racing = sum(
        count * found.seconds(size) for count, found in zip(in_rounds, rounds, strict=True)
    )
    finals = min(FINALISTS, size.candidates) * (size.full + unpaid.fresh * size.key)
    return DrawPlan(size.rows, rounds, unpaid.fresh, racing + finals)

"""When and how often: the pattern of a unit's rows as columns of the unit, and back.

A unit begins at a start, has n rows up to a span L, and may have an end F that no time exceeds.
With m_k the median k-th gap, K(L) the number of gaps by a span L if all were medians, and a cap on
n that ten units reach, its columns are log[(min(n, cap) - 1) / K(L)], the share (F - L)/F that
is left at its end, or L itself where there is no end, and the start where it varies. All but the
start are missing where n = 1. How gaps deviate from their medians is masked apart, the first, the
second, the third and all later ones each for themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from icsa.inspection.unit_rows import Places
from icsa.masks import resolve
from icsa.matrices import Vector
from icsa.randomness import Key, Stream
from icsa.release.limits import LIMITS
from icsa.release.units.effect_kernels import set_times
from icsa.shuffling import permutation

__all__ = ["Clock", "ReleasedTimes", "TimePattern", "clock_of", "pattern_of", "uniforms"]

# Gaps that have a distribution of their own; all later ones share one.
_OWN_GAPS = 3
# Least number of gaps expected by a short span.
_LEAST_EXPECTED = 0.3
# Least relative deviation of a gap: two rows at nearly one time are no longer apart than that.
_LEAST_GAP = 1e-3


@dataclass(frozen=True, eq=False)
class Clock:
    """How times are counted: in their own units on a lattice, or by places in a list of few.

    Attributes
    ----------
    step : float
        Between two times at least.
    listed : ndarray, optional
        All times there are, where they are few and shared by units.
    """

    step: float
    listed: Vector | None = None

    def ticks(self, numbers: Vector) -> Vector:
        """Return times as they are counted."""
        if self.listed is None:
            return numbers
        places = np.searchsorted(self.listed, numbers, side="right") - 1
        return places.astype(np.float64)

    def numbers(self, ticks: Vector) -> Vector:
        """Return the times of what is counted."""
        if self.listed is None:
            return ticks
        places = np.clip(np.rint(ticks), 0, self.listed.size - 1).astype(np.intp)
        return self.listed[places]


def clock_of(numbers: Vector, step: float | None) -> Clock:
    """Return how times are counted: by places where there are as few as stand side by side.

    Examples
    --------
    >>> clock_of(np.array([0.0, 3.0, 6.0, 0.0, 6.0] * 20), 1.0).listed
    array([0., 3., 6.])
    """
    listed, held = np.unique(numbers, return_counts=True)
    if listed.size <= LIMITS.most_places and held.min() >= LIMITS.fewest_in_a_place:
        return Clock(1.0, listed)
    return Clock(step if step else max(float(np.ptp(numbers)), 1.0) * 1e-9)


@dataclass(frozen=True, eq=False, repr=False)
class TimePattern:
    """The times of all units, as far as a release needs them.

    Attributes
    ----------
    clock : Clock, optional
        None where rows have no times.
    cap : int
        The most rows that a released unit has.
    medians : ndarray
        Of the gaps, from the first on.
    deviations : tuple of ndarray
        Of the logarithms of gaps, around those and the unit's mean.
    columns : dict of str to ndarray
        What a unit has: by names, NaN where missing.
    """

    clock: Clock | None
    cap: int
    medians: Vector
    deviations: tuple[Vector, ...]
    columns: dict[str, Vector]

    def expected(self, spans: Vector) -> Vector:
        """Return how many gaps there would be by a span, if all were medians."""
        reached = np.concatenate([[0.0], np.cumsum(self.medians)])
        places = np.interp(spans, reached, np.arange(reached.size, dtype=np.float64))
        beyond = np.maximum(spans - reached[-1], 0.0) / self.medians[-1]
        return np.asarray(np.maximum(places + beyond, _LEAST_EXPECTED))

    def released(
        self, columns: dict[str, Vector], ends: Vector | None, mask: str, key: Key
    ) -> ReleasedTimes:
        """Return the rows of released units.

        Parameters
        ----------
        columns : dict of str to ndarray
            As `columns`, after masking.
        ends : ndarray, optional
            What no tick exceeds, counted from the start.
        mask : str
        key : Key
        """
        n_units = columns["rows"].size
        if self.clock is None:
            wanted = np.exp(columns["rows"]) + uniforms(n_units, key.stream("rows"))
            sizes = np.clip(np.floor(wanted), 1, self.cap).astype(np.int64)
            return ReleasedTimes(_starts(sizes), None)
        step = self.clock.step
        single = np.isnan(columns["rows"])
        if "left" in columns and ends is not None:
            spans = (1.0 - np.clip(np.where(single, 0.0, columns["left"]), 0.0, 1.0)) * ends
        else:
            spans = np.maximum(np.where(single, 0.0, columns["span"]), step)
            ends = np.full(n_units, np.inf) if ends is None else ends
        gaps = self.expected(spans) * np.exp(np.where(single, 0.0, columns["rows"]))
        gaps = np.floor(gaps + uniforms(n_units, key.stream("rows")))
        most = np.minimum(self.cap - 1, np.floor(ends / step + 1e-9))
        gaps = np.where(single, 0.0, np.minimum(np.maximum(gaps, 1.0), np.maximum(most, 0.0)))
        sizes = gaps.astype(np.int64) + 1
        starts = _starts(sizes)
        spans = np.minimum(np.maximum(spans, gaps * step), ends)
        ticks = np.empty(starts[-1])
        set_times(self._gaps(sizes, mask, key), starts, spans, ends, step, ticks)
        return ReleasedTimes(starts, ticks)

    def _gaps(self, sizes: Places, mask: str, key: Key) -> Vector:
        """Return gaps of all rows before they are scaled; those of first rows are 0."""
        starts = _starts(sizes)
        number = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
        medians = np.concatenate([[0.0], self.medians])[np.minimum(number, self.medians.size)]
        deviations = np.zeros(number.size)
        for group, known in enumerate(self.deviations):
            own = number == group + 1 if group < _OWN_GAPS else number > _OWN_GAPS
            rows = np.flatnonzero(own)
            if rows.size and known.size:
                deviations[rows] = _masked(known, rows.size, mask, key.child("gaps", group))
        return np.asarray(medians * np.exp(deviations))

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<TimePattern: at most {self.cap} rows>"


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedTimes:
    """Where each released unit's rows begin, and their ticks from the start; None without times."""

    starts: Places
    ticks: Vector | None


def pattern_of(
    clock: Clock | None, ticks: Vector | None, starts: Places, ends: Vector | None
) -> TimePattern:
    """Return the pattern of times.

    Parameters
    ----------
    clock : Clock, optional
        None where rows have no times.
    ticks : ndarray, optional
        Of all rows, those of a unit together and ascending.
    starts : array of int of shape (n_units + 1,)
    ends : ndarray, optional
        What no tick of a unit exceeds.
    """
    sizes = np.diff(starts)
    cap = int(np.sort(sizes)[-min(LIMITS.fewest_in_a_place, sizes.size)])
    if clock is None or ticks is None:
        counts = np.log(np.minimum(sizes, cap).astype(np.float64))
        return TimePattern(None, cap, np.ones(1), (), {"rows": counts})
    first = ticks[starts[:-1]]
    spans = ticks[starts[1:] - 1] - first
    gaps = np.diff(ticks, prepend=ticks[:1])
    number = np.arange(ticks.size) - np.repeat(starts[:-1], sizes)
    cap = max(cap, 2)
    medians = np.array(list(_medians(gaps, number, cap)))
    pattern = TimePattern(clock, cap, medians, _deviations(gaps, number, starts, medians), {})
    several = sizes > 1
    columns = {}
    expected = pattern.expected(spans)
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = np.log((np.minimum(sizes, cap) - 1) / expected)
        columns["rows"] = np.where(several, rows, np.nan)
        if ends is not None:
            far = np.maximum(ends - first, clock.step)
            columns["left"] = np.where(several, np.clip(1.0 - spans / far, 0.0, 1.0), np.nan)
        else:
            columns["span"] = np.where(several, spans, np.nan)
    if np.ptp(first) > 0.0:
        columns["start"] = first
    pattern.columns.update(columns)
    return pattern


def _medians(gaps: Vector, number: Places, cap: int) -> Iterator[float]:
    """Yield the median of the first, second, ... gap; that of all later ones where few have it."""
    for k in range(1, cap):
        own = gaps[number == k]
        chosen = own if own.size >= LIMITS.fewest_in_a_place else gaps[number > 0]
        yield float(max(np.median(chosen[chosen > 0.0]) if np.any(chosen > 0.0) else 1.0, 1e-12))


def _deviations(
    gaps: Vector, number: Places, starts: Places, medians: Vector
) -> tuple[Vector, ...]:
    later = number > 0
    usual = medians[np.minimum(np.maximum(number, 1), medians.size) - 1]
    logs = np.where(later, np.log(np.maximum(gaps, _LEAST_GAP * usual) / usual), 0.0)
    count = np.maximum(np.diff(starts) - 1, 1)
    means = np.add.reduceat(logs, starts[:-1]) / count
    logs = logs - np.repeat(means, np.diff(starts))
    groups = [logs[number == k] for k in range(1, _OWN_GAPS + 1)]
    return (*groups, logs[number > _OWN_GAPS])


def _masked(known: Vector, size: int, mask: str, key: Key) -> Vector:
    """Return so many masked numbers: all of them masked as often as is needed."""
    masking = resolve(mask)
    parts = []
    for repeat in range(-(-size // known.size)):
        own = key.child("mask", repeat)
        column = np.array(known)[:, None]
        found = masking(column, key=own)[:, 0] if known.size > 1 else column[:, 0]
        parts.append(found[permutation(known.size, own.stream("order"))])
    return np.concatenate(parts)[:size]


def uniforms(size: int, stream: Stream) -> Vector:
    """Return numbers between 0 and 1."""
    return (stream.words(size) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _starts(sizes: Places) -> Places:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

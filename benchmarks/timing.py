"""Time measured: elapsed and CPU seconds, rounds that alternate between two sides, growth."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "Duel",
    "Timed",
    "Timing",
    "fastest",
    "fitted_exponent",
    "interleaved",
    "paced",
    "timed",
]


class Timing(NamedTuple):
    """Seconds for one call."""

    elapsed: float
    cpu: float


# Something that can be timed: it makes that many calls and returns the time for one of them.
Timed = Callable[[int], Timing]


def timed(function: Callable[[], object]) -> Timed:
    """Return what times calls of a function in this process."""

    def measure(calls: int) -> Timing:
        elapsed, cpu = time.perf_counter(), time.process_time()
        for _ in range(calls):
            function()
        return Timing((time.perf_counter() - elapsed) / calls, (time.process_time() - cpu) / calls)

    return measure


def calls_within(measure: Timed, seconds: float, most: int = 50) -> int:
    """Return how many calls fill the given time, judged by one call."""
    return int(np.clip(seconds / max(measure(1).elapsed, 1e-9), 1, most))


@dataclass(frozen=True)
class Duel:
    """Timings of two sides, round by round."""

    ours: tuple[Timing, ...]
    peer: tuple[Timing, ...]

    @classmethod
    def joined(cls, duels: Sequence[Duel]) -> Duel:
        """Return all rounds of several duels."""
        ours = tuple(timing for duel in duels for timing in duel.ours)
        return cls(ours, tuple(timing for duel in duels for timing in duel.peer))

    def ratios(self, clock: str = "elapsed") -> list[float]:
        """Return the peer's time over ours, for every round."""
        pairs = zip(self.ours, self.peer, strict=True)
        return [getattr(peer, clock) / max(getattr(our, clock), 1e-9) for our, peer in pairs]

    def figures(self) -> dict[str, Any]:
        """Return the fields of a `Row` that the timings give: medians, and CPU time as details."""
        elapsed, cpu = self.ratios(), self.ratios("cpu")
        return {
            "ours": statistics.median(timing.elapsed for timing in self.ours),
            "peer_value": statistics.median(timing.elapsed for timing in self.peer),
            "ratio": statistics.median(elapsed),
            "least_ratio": min(elapsed),
            "details": {
                "rounds": len(elapsed),
                "ratio_of_fastest": min(t.elapsed for t in self.peer)
                / min(t.elapsed for t in self.ours),
                "cpu_ratio": statistics.median(cpu),
                "ours_cpu": statistics.median(timing.cpu for timing in self.ours),
                "peer_cpu": statistics.median(timing.cpu for timing in self.peer),
            },
        }


def paced(ours: Timed, peer: Timed, seconds: float) -> tuple[int, int]:
    """Return how many calls of each side fill a round; the calls that find out are a warm-up."""
    return calls_within(ours, seconds), calls_within(peer, seconds)


def interleaved(ours: Timed, peer: Timed, rounds: int, calls: tuple[int, int]) -> Duel:
    """Time both sides in turn, so that whatever else the machine does hits both."""
    turns = [(ours(calls[0]), peer(calls[1])) for _ in range(rounds)]
    return Duel(tuple(turn[0] for turn in turns), tuple(turn[1] for turn in turns))


def fastest(function: Callable[[], object], rounds: int, seconds: float = 0.05) -> float:
    """Return the least elapsed seconds a call over some rounds."""
    measure = timed(function)
    calls = calls_within(measure, seconds)
    return min(measure(calls).elapsed for _ in range(rounds))


def fitted_exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return b of seconds = a sizes^b, by least squares in logarithms.

    Examples
    --------
    >>> round(fitted_exponent([1, 2, 4], [3.0, 12.0, 48.0]), 6)
    2.0
    """
    return float(np.polynomial.Polynomial.fit(np.log(sizes), np.log(seconds), 1).convert().coef[1])

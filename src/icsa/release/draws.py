"""Draws that move counts by a few people: the same one for all that parts the people alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from icsa.columns.counts import moved_counts
from icsa.randomness import Key, Stream

__all__ = ["Draw", "Draws"]


@dataclass(frozen=True)
class Draw:
    """Which random numbers move a count, and from which end.

    Whatever parts the people in the same two, such as smokers and those without cigarettes, or a
    date of death and the dead, is moved by the same draw: two of their own would break what
    belongs together, and tell more of a person than one.

    Attributes
    ----------
    index : int
    reverse : bool
        Whether the second part is the one with the first row.
    """

    index: int
    reverse: bool

    def stream(self, key: Key) -> Stream:
        """Return the random numbers."""
        return key.stream("people", self.index)

    def moved_share(self, second: int, n_rows: int, key: Key) -> int:
        """Return how many of `n_rows` people are in the second part afterwards."""
        counts = np.array([n_rows - second, second])
        return int(moved_counts(counts, self.stream(key), reverse=self.reverse)[1])


class Draws:
    """Draws by what they part: one for all that part the people in the same two."""

    def __init__(self) -> None:
        self._found: dict[bytes, int] = {}
        self._next = 0

    def of(self, second: npt.NDArray[np.bool_] | None) -> Draw:
        """Return the draw for two parts; a new one where there are not two."""
        if second is None:
            self._next += 1
            return Draw(self._next - 1, reverse=False)
        reverse = bool(second[0])
        index = self._found.setdefault(np.packbits(second ^ reverse).tobytes(), self._next)
        self._next += index == self._next
        return Draw(index, reverse)

"""All columns of a table as one matrix of scores, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from icsa.columns import Column
from icsa.columns.counts import moved_counts, positions_by_rank
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.randomness import Key, Stream
from icsa.threads import in_threads

__all__ = ["Encoding", "Part", "encoding_of"]


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


class _Draws:
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


@dataclass(frozen=True, eq=False)
class Part:
    """A column with its place among the scores, and the group of columns it is missing with."""

    column: Column
    place: slice
    group: int | None
    draw: Draw


@dataclass(frozen=True, eq=False)
class Encoding:
    """Where each column's scores are, and how rows of scores become numbers again.

    Attributes
    ----------
    parts : tuple of Part
    group_shares : tuple of float
        For each distinct pattern of columns missing together, the share of rows it is missing in.
        Its indicator stands after the scores of all columns.
    group_draws : tuple of Draw
        What moves their counts, if they are to be moved.
    n_scores : int
        Scores of columns and indicators.
    keeps_quantiles : bool
        Whether measurements come out with the quantiles that they had.
    """

    parts: tuple[Part, ...]
    group_shares: tuple[float, ...]
    group_draws: tuple[Draw, ...]
    n_scores: int
    keeps_quantiles: bool

    @property
    def n_columns_scores(self) -> int:
        """Number of scores before the indicators."""
        return self.n_scores - len(self.group_shares)

    def with_moved_counts(self, n_rows: int, key: Key) -> Self:
        """Return the encoding with all counts moved by a few of so many people, to decode with."""
        shares = tuple(
            draw.moved_share(round(share * n_rows), n_rows, key) / n_rows
            for share, draw in zip(self.group_shares, self.group_draws, strict=True)
        )
        parts = tuple(
            replace(
                part,
                column=part.column.with_moved_counts(
                    part.draw.stream(key), reverse=part.draw.reverse
                ),
            )
            for part in self.parts
        )
        return replace(self, parts=parts, group_shares=shares)

    def with_drawn_tails(self, key: Key) -> Self:
        """Return the encoding with the tails of measurements drawn by the key, to decode with."""
        parts = tuple(
            replace(part, column=part.column.with_drawn_tails(key.stream("tails", place)))
            for place, part in enumerate(self.parts)
        )
        return replace(self, parts=parts)

    def room(self, n_rows: int) -> Matrix:
        """Return room for the scores of so many rows."""
        return np.empty((n_rows, self.n_scores), order="F")

    def encode(self, numbers: Mapping[str, Vector], out: Matrix, threads: int = 1) -> None:
        """Set the scores of all columns and indicators, NaN where they are not defined."""

        def fill(part: Part) -> None:
            values = numbers[part.column.name]
            _fill_by_blocks(out[:, part.place], part.column.encode, values)
            if part.group is not None:
                out[:, self.n_columns_scores + part.group] = np.isnan(values)

        in_threads(fill, self.parts, threads)

    def view(self, numbers: Mapping[str, Vector]) -> Matrix:
        """Return what calibration compares: the same places as the scores."""
        n_rows = next(iter(numbers.values())).size
        view = np.empty((n_rows, self.n_scores), order="F")
        for part in self.parts:
            values = numbers[part.column.name]
            view[:, part.place] = part.column.view(values)
            if part.group is not None:
                view[:, self.n_columns_scores + part.group] = np.isnan(values)
        return view

    def anchors(
        self, numbers: Mapping[str, Vector], out: Matrix, threads: int = 1
    ) -> tuple[Matrix, tuple[str, ...]]:
        """Return the continuous columns on a linear scale, missing ones at the middle; and names.

        One column in the place of another, such as the days between two dates, is named after it.
        They are written to the first columns of the scores' room, which is larger.
        """
        none = np.empty(0)
        found = [part.column for part in self.parts if part.column.anchor(none) is not None]
        matrix = out[:, : len(found)]

        def fill(j: int) -> None:
            column, anchor = found[j], matrix[:, j]
            _fill_by_blocks(anchor, column.anchor, numbers[column.name])
            anchor[np.isnan(anchor)] = 0.0

        in_threads(fill, range(len(found)), threads)
        return matrix, tuple(column.name for column in found)

    def decode(
        self, scores: Matrix, threads: int = 1, *, in_place: bool = False
    ) -> dict[str, Vector]:
        """Return the numbers of every column, NaN where it is missing.

        In place, numbers are written over scores where they can be: a long table needs the room.
        """
        missing = self._missing(scores)

        def decoded(part: Part) -> Vector:
            own = scores[:, part.place]
            if part.group is not None:
                numbers = np.full(scores.shape[0], np.nan)
                present = ~missing[part.group]
                if present.any():
                    numbers[present] = part.column.decode(self._settled(part, own[present]))
            elif in_place and part.column.decodes_by_row:
                numbers = own[:, 0]
                _fill_by_blocks(numbers, part.column.decode, self._settled(part, own))
            else:
                numbers = part.column.decode(self._settled(part, own if in_place else own.copy()))
            if not in_place or part.column.width == 0:
                return numbers
            own[:, 0] = numbers
            return own[:, 0]

        # The widest first, so that none of them is left for one thread alone at the end.
        parts = sorted(self.parts, key=lambda part: -part.column.width)
        found = dict(zip([id(p) for p in parts], in_threads(decoded, parts, threads), strict=True))
        return {part.column.name: found[id(part)] for part in self.parts}

    def _settled(self, part: Part, scores: Matrix) -> Matrix:
        """Return scores that are ready to be decoded, moved in place."""
        if self.keeps_quantiles:
            part.column.regain_quantiles(scores)
        return scores

    def _missing(self, scores: Matrix) -> list[npt.NDArray[np.bool_]]:
        """Return for each pattern the rows in which it is missing: as large a share as it was."""
        found = []
        for group, share in enumerate(self.group_shares):
            indicator = scores[:, self.n_columns_scores + group]
            count = round(share * indicator.size)
            counts = np.array([indicator.size - count, count])
            found.append(positions_by_rank(indicator, counts) == 1.0)
        return found


def _fill_by_blocks(
    out: Matrix | Vector, function: Callable[[Any], Any], values: Matrix | Vector
) -> None:
    """Set `out` to a function of each row, block by block: what it needs stays in the cache."""
    for rows in row_blocks(values.shape[0]):
        try:
            out[rows] = function(values[rows])
        except InputError:
            function(values)  # says in which row of all
            raise


def encoding_of(
    columns: Mapping[str, Column], numbers: Mapping[str, Vector], *, keep_quantiles: bool = False
) -> Encoding:
    """Return the places of all columns, and the patterns in which they are missing together."""
    patterns: dict[bytes, int] = {}
    shares: list[float] = []
    draws = _Draws()
    group_draws: list[Draw] = []
    parts: list[Part] = []
    start = 0
    for name, column in columns.items():
        missing = np.isnan(numbers[name])
        group = None
        if missing.any() and not missing.all():
            pattern = np.packbits(missing).tobytes()
            group = patterns.setdefault(pattern, len(patterns))
            if group == len(shares):
                shares.append(float(missing.mean()))
                group_draws.append(draws.of(missing))
        own = draws.of(None if missing.any() else column.second_part(numbers[name]))
        parts.append(Part(column, slice(start, start + column.width), group, own))
        start += column.width
    n_scores = start + len(shares)
    return Encoding(tuple(parts), tuple(shares), tuple(group_draws), n_scores, keep_quantiles)

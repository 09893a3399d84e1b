"""All columns of a table as one matrix of scores, and back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from icsa.columns import Column
from icsa.columns.counts import moved_counts, positions_by_rank
from icsa.columns.dummies import Dummies
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.randomness import Key, Stream
from icsa.threads import in_threads

__all__ = [
    "Encoding",
    "Part",
    "Presence",
    "encoding_from",
    "encoding_of",
    "presence_of",
]

Flags = npt.NDArray[np.bool_]


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


class Parting(NamedTuple):
    """People in two parts: a digest of who is with the first row, and in which part that is."""

    digest: bytes
    reverse: bool

    @classmethod
    def of(cls, second: Flags) -> Self:
        """Return that of who is in the second part."""
        reverse = bool(second[0])
        bits = np.packbits(second ^ reverse).tobytes()
        return cls(hashlib.blake2b(bits, digest_size=16).digest(), reverse)


class Presence(NamedTuple):
    """What others ask of where the cells of a column are: small, however long the column is.

    Attributes
    ----------
    n_rows, n_missing : int
    gaps : Parting, optional
        Who is missing; None where nobody is, or everybody.
    second : Parting, optional
        Who is in the second part of a column that has two and no gaps.
    """

    n_rows: int
    n_missing: int
    gaps: Parting | None
    second: Parting | None


def presence_of(column: Column, numbers: Vector) -> Presence:
    """Return where the cells of a column are."""
    missing = np.isnan(numbers)
    count = int(np.count_nonzero(missing))
    second = None if count else column.second_part(numbers)
    return Presence(
        missing.size,
        count,
        Parting.of(missing) if 0 < count < missing.size else None,
        None if second is None else Parting.of(second),
    )


class _Draws:
    """Draws by what they part: one for all that part the people in the same two."""

    def __init__(self) -> None:
        self._found: dict[bytes, int] = {}
        self._next = 0

    def of(self, parting: Parting | None) -> Draw:
        """Return the draw for two parts; a new one where there are not two."""
        if parting is None:
            self._next += 1
            return Draw(self._next - 1, reverse=False)
        index = self._found.setdefault(parting.digest, self._next)
        self._next += index == self._next
        return Draw(index, parting.reverse)


@dataclass(frozen=True, eq=False)
class Part:
    """A column with its place among the scores, and the group of columns it is missing with."""

    column: Column
    place: slice
    group: int | None
    draw: Draw

    def encode(self, numbers: Vector, out: Matrix) -> None:
        """Set the scores of numbers, NaN where they are not defined."""
        _fill_by_blocks(out, self.column.encode, numbers)

    def anchor(self, numbers: Vector, out: Vector) -> None:
        """Set the numbers on a linear scale, those that are missing at the middle."""
        _fill_by_blocks(out, self.column.anchor, numbers)
        out[np.isnan(out)] = 0.0

    def settled(self, scores: Matrix, *, keeps_quantiles: bool) -> Matrix:
        """Return scores that are ready to be decoded, moved in place."""
        if keeps_quantiles:
            self.column.regain_quantiles(scores)
        return scores

    def decode(
        self, own: Matrix, missing: Flags | None, *, keeps_quantiles: bool, in_place: bool = False
    ) -> Vector:
        """Return the numbers of the part's own scores, NaN in rows that are missing.

        In place, numbers are written over scores where they can be: a long table needs the room.
        """
        column, settled = self.column, partial(self.settled, keeps_quantiles=keeps_quantiles)
        if missing is not None:
            numbers = np.full(own.shape[0], np.nan)
            present = ~missing
            if present.any():
                there = _moved_up(own, present) if in_place else own[present]
                numbers[present] = column.decode(settled(there))
        elif in_place and column.decodes_by_row:
            numbers = own[:, 0]
            _fill_by_blocks(numbers, column.decode, settled(own))
        else:
            numbers = column.decode(settled(own if in_place else own.copy()))
        if not in_place or column.width == 0:
            return numbers
        own[:, 0] = numbers
        return own[:, 0]

    def decode_dummies(self, dummies: Dummies, missing: Flags | None) -> Vector:
        """Return what `decode` does, of dummies of the rows that are not missing."""
        if missing is None:
            return self.column.decode_dummies(dummies)
        numbers = np.full(missing.size, np.nan)
        if dummies.n_rows:
            numbers[~missing] = self.column.decode_dummies(dummies)
        return numbers


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
    group_within : tuple of int or None
        For each pattern the largest one that it has all rows of, where that is to stay so; empty
        where patterns are not looked at.
    """

    parts: tuple[Part, ...]
    group_shares: tuple[float, ...]
    group_draws: tuple[Draw, ...]
    n_scores: int
    keeps_quantiles: bool
    group_within: tuple[int | None, ...] = ()

    @property
    def n_columns_scores(self) -> int:
        """Number of scores before the indicators."""
        return self.n_scores - len(self.group_shares)

    @property
    def indicated(self) -> list[tuple[Part, int | None]]:
        """Parts, the first one of each pattern with the place of its indicator."""
        firsts: dict[int | None, Part] = {}
        for part in self.parts:
            firsts.setdefault(part.group, part)
        return [
            (part, None)
            if part.group is None or firsts[part.group] is not part
            else (part, self.n_columns_scores + part.group)
            for part in self.parts
        ]

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
            part.encode(values, out[:, part.place])
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
        found = self.anchor_parts
        matrix = out[:, : len(found)]

        def fill(j: int) -> None:
            found[j].anchor(numbers[found[j].column.name], matrix[:, j])

        in_threads(fill, range(len(found)), threads)
        return matrix, tuple(part.column.name for part in found)

    @property
    def anchor_parts(self) -> tuple[Part, ...]:
        """Parts whose columns can be anchors."""
        none = np.empty(0)
        return tuple(part for part in self.parts if part.column.anchor(none) is not None)

    def decode(
        self, scores: Matrix, threads: int = 1, *, in_place: bool = False
    ) -> dict[str, Vector]:
        """Return the numbers of every column, NaN where it is missing.

        In place, numbers are written over scores where they can be: a long table needs the room.
        """
        missing = self._missing(scores)

        def decoded(part: Part) -> Vector:
            return part.decode(
                scores[:, part.place],
                None if part.group is None else missing[part.group],
                keeps_quantiles=self.keeps_quantiles,
                in_place=in_place,
            )

        # The widest first, so that none of them is left for one thread alone at the end.
        parts = sorted(self.parts, key=lambda part: -part.column.width)
        found = dict(zip([id(p) for p in parts], in_threads(decoded, parts, threads), strict=True))
        return {part.column.name: found[id(part)] for part in self.parts}

    def missing_rows(self, group: int, indicator: Callable[[int], Vector]) -> Flags:
        """Return the rows in which a pattern is missing: as large a share as it was.

        Parameters
        ----------
        group : int
        indicator : function
            Returns the masked scores of a pattern.
        """
        other = self.group_within[group] if self.group_within else None
        within = None if other is None else self.missing_rows(other, indicator)
        return self._missing_rows(group, indicator(group), within)

    def _missing_rows(self, group: int, indicator: Vector, within: Flags | None) -> Flags:
        """Return the rows in which a pattern is missing, those of another one among them."""
        count = round(self.group_shares[group] * indicator.size)
        if within is None:
            counts = np.array([indicator.size - count, count])
            return np.equal(positions_by_rank(indicator, counts), 1.0)
        missing, left = within.copy(), np.flatnonzero(~within)
        count = max(count - int(within.sum()), 0)
        counts = np.array([left.size - count, count])
        missing[left] = positions_by_rank(indicator[left], counts) == 1.0
        return missing

    def _missing(self, scores: Matrix) -> list[Flags]:
        """Return for each pattern the rows in which it is missing."""
        found: dict[int, Flags] = {}
        within = self.group_within or (None,) * len(self.group_shares)
        # A pattern that has all rows of another is larger, so that it comes later.
        for group in np.argsort(self.group_shares, kind="stable"):
            other = within[group]
            inside = None if other is None else found[other]
            indicator = scores[:, self.n_columns_scores + group]
            found[group] = self._missing_rows(int(group), indicator, inside)
        return [found[group] for group in range(len(found))]


def _moved_up(own: Matrix, rows: Flags) -> Matrix:
    """Return some rows, written over the first ones."""
    n_rows = int(np.count_nonzero(rows))
    for column in own.T:
        column[:n_rows] = column[rows]
    return own[:n_rows]


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
    columns: Mapping[str, Column],
    numbers: Mapping[str, Vector],
    *,
    keep_quantiles: bool = False,
) -> Encoding:
    """Return the places of all columns, and the patterns in which they are missing together."""
    presences = {name: presence_of(column, numbers[name]) for name, column in columns.items()}
    return encoding_from(columns, presences, keep_quantiles=keep_quantiles)


def encoding_from(
    columns: Mapping[str, Column],
    presences: Mapping[str, Presence],
    *,
    keep_quantiles: bool = False,
) -> Encoding:
    """Return what `encoding_of` does from what is known of where cells are."""
    patterns: dict[Parting, int] = {}
    shares: list[float] = []
    draws = _Draws()
    group_draws: list[Draw] = []
    parts: list[Part] = []
    start = 0
    for name, column in columns.items():
        found = presences[name]
        group = None
        if found.gaps is not None:
            group = patterns.setdefault(found.gaps, len(patterns))
            if group == len(shares):
                shares.append(found.n_missing / found.n_rows)
                group_draws.append(draws.of(found.gaps))
        parts.append(
            Part(column, slice(start, start + column.width), group, draws.of(found.second))
        )
        start += column.width
    n_scores = start + len(shares)
    return Encoding(tuple(parts), tuple(shares), tuple(group_draws), n_scores, keep_quantiles)

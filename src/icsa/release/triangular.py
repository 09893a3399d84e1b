"""A triangular map: columns drawn one after the other, each given those before it.

In the end nothing of a release depends on people but through the laws that forests found
(`icsa.forests`), and through counts and quantiles, as with every other method.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from icsa.columns.counts import positions_by_rank
from icsa.forests.forest_kernels import Codes
from icsa.forests.growing import binned
from icsa.forests.laws import LevelLaw, MeasuredLaw
from icsa.matrices import Matrix, Vector
from icsa.randomness import Key
from icsa.release.encoding import Encoding, Part

__all__ = ["Drawn", "SameAs", "Step", "TriangularMap", "Variable", "indicator"]

Flags = npt.NDArray[np.bool_]


class Drawn(Enum):
    """How scores are drawn: as numbers, as ranks of levels, as one of two, as one of levels."""

    NUMBER = "number"
    RANK = "rank"
    TWO = "one of two"
    LEVEL = "one of levels"


@dataclass(frozen=True, eq=False)
class Variable:
    """Scores that are drawn together.

    Attributes
    ----------
    places : tuple of int
        Which scores.
    drawn : Drawn
    part : Part, optional
        Whose scores; None for the indicator of a pattern of missing cells.
    group : int, optional
        The pattern.
    """

    places: tuple[int, ...]
    drawn: Drawn
    part: Part | None = None
    group: int | None = None

    @property
    def completes_part(self) -> bool:
        """Whether all scores of a column are there once it is drawn."""
        return self.part is not None and self.places[-1] == self.part.place.stop - 1


@dataclass(frozen=True)
class SameAs:
    """The law of what parts people in the same two as an earlier score: it follows from that."""

    place: int
    sign: float


@dataclass(frozen=True, eq=False, repr=False)
class Step:
    """A variable with its law; `share` of the rows have the second of two."""

    variable: Variable
    law: MeasuredLaw | LevelLaw | SameAs
    share: float = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class TriangularMap:
    """Laws of all scores, each given those before it.

    Attributes
    ----------
    encoding : Encoding
    steps : tuple of Step
        In the order in which they are drawn.
    cuts : mapping of int to Vector
        By the place of a score: where its bins end, in standardised scores.
    centre, spread : ndarray of shape (n_scores,)
        What scores are standardised by.
    """

    encoding: Encoding
    steps: tuple[Step, ...]
    cuts: dict[int, Vector]
    centre: Vector
    spread: Vector

    def draw(self, key: Key, out: Matrix, threads: int = 1) -> None:
        """Set `out` to scores drawn by a key, in their own units."""
        features = _Features(self, out.shape[0])
        for index, step in enumerate(self.steps):
            variable, own = step.variable, key.child("variable", index)
            if isinstance(step.law, MeasuredLaw):
                place = variable.places[0]
                drawn = step.law.draw(features.codes, own, threads)
                out[:, place] = self.centre[place] + self.spread[place] * drawn
            elif isinstance(step.law, SameAs):
                out[:, variable.places[0]] = step.law.sign * out[:, step.law.place]
            else:
                fits = step.law.draw(features.codes, own, threads)
                self._set_levels(variable, fits, out)
            features.add(step, out)

    def _set_levels(self, variable: Variable, fits: Matrix, out: Matrix) -> None:
        """Set the scores whose best level is the one that fits best.

        A column with dummies gives the level without one 1 less the sum s of the others. With d
        how much better than that level each other one fits, d + 1 - s is the dummy's score for
        s = (sum of d + m) / (1 + m), m dummies.
        """
        if variable.drawn is Drawn.TWO:
            out[:, variable.places[0]] = fits[:, 1] - fits[:, 0]
            return
        assert variable.part is not None
        base = variable.part.column.without_dummy
        assert base is not None
        better = np.delete(fits, base, axis=1) - fits[:, [base]]
        total = (better.sum(axis=1) + better.shape[1]) / (1.0 + better.shape[1])
        out[:, variable.part.place] = better + 1.0 - total[:, None]


class _Features:
    """The bins of what is drawn so far: of cells as they will be, not of scores."""

    def __init__(self, of: TriangularMap, n_rows: int) -> None:
        self._map = of
        self._next = 0
        self._column = {place: f for f, place in enumerate(_places(of.steps))}
        self._missing: dict[int, Flags] = {}
        self.codes: Codes = np.zeros((n_rows, len(self._column)), dtype=np.uint8)

    def add(self, step: Step, scores: Matrix) -> None:
        """Add what a step has drawn; a column is decoded when it is complete."""
        variable = step.variable
        if variable.part is not None and variable.completes_part:
            self._decode(variable.part, step, scores)
            return
        place = variable.places[0]
        drawn = scores[:, place]
        if variable.drawn is Drawn.TWO:
            flags = indicator(drawn, step.share)
            drawn = flags.astype(np.float64)
            if variable.group is not None:
                self._missing[variable.group] = flags
        self._set(place, drawn)

    def _decode(self, part: Part, step: Step, scores: Matrix) -> None:
        own = scores[:, part.place]
        numbers = np.full(scores.shape[0], np.nan)
        there = slice(None) if part.group is None else ~self._missing[part.group]
        chosen = own[there].copy()
        if chosen.shape[0]:
            numbers[there] = part.column.decode(
                part.settled(chosen, keeps_quantiles=self._map.encoding.keeps_quantiles)
            )
        again = part.column.encode(numbers)
        for column, place in enumerate(range(part.place.start, part.place.stop)):
            found = again[:, column]
            if step.variable.drawn is Drawn.TWO and part.column.decodes_by_row:
                found = indicator(found, step.share).astype(np.float64)  # it is decoded later
            self._set(place, found)

    def _set(self, place: int, scores: Vector) -> None:
        """Set a feature from scores in their own units; where there is none, it is 0."""
        standard = (scores - self._map.centre[place]) / self._map.spread[place]
        standard[np.isnan(standard)] = 0.0
        self.codes[:, self._column[place]] = binned(standard, self._map.cuts[place])


def indicator(scores: Vector, share: float) -> Flags:
    """Return the rows with the largest scores, as large a share as is given.

    Examples
    --------
    >>> indicator(np.array([0.3, -1.0, 2.0, 0.1]), 0.5)
    array([ True, False,  True, False])
    """
    count = round(share * scores.size)
    flags: Flags = positions_by_rank(scores, np.array([scores.size - count, count])) == 1.0
    return flags


def _places(steps: tuple[Step, ...]) -> Iterator[int]:
    for step in steps:
        yield from step.variable.places

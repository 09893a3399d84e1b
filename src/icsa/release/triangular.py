"""A triangular map: columns drawn one after the other, each given those before it.

In the end nothing of a release depends on people but through the laws that forests found
(`icsa.forests`), and through counts and quantiles, as with every other method.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from icsa.columns.counts import positions_by_rank
from icsa.forests.forest_kernels import Codes
from icsa.forests.growing import binned
from icsa.forests.laws import LevelLaw, MeasuredLaw
from icsa.matrices import Matrix, Vector
from icsa.randomness import Key
from icsa.release.encoding import Encoding, Part

__all__ = [
    "Drawn",
    "Features",
    "SameAs",
    "Step",
    "TriangularMap",
    "Variable",
    "drawn_scores",
    "goes_by_all_rows",
    "indicator",
    "key_of",
]

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
class Features:
    """How what is drawn so far becomes bins: cells as they will be, not scores.

    Attributes
    ----------
    encoding : Encoding
    variables : tuple of Variable
        In the order in which they are drawn.
    cuts : mapping of int to Vector
        By the place of a score: where its bins end, in standardised scores.
    centre, spread : ndarray of shape (n_scores,)
        What scores are standardised by.
    """

    encoding: Encoding
    variables: tuple[Variable, ...]
    cuts: dict[int, Vector]
    centre: Vector
    spread: Vector

    @cached_property
    def column_of(self) -> dict[int, int]:
        """Return by the place of a score which column of bins is its own."""
        places = (place for variable in self.variables for place in variable.places)
        return {place: column for column, place in enumerate(places)}

    def bins(self, place: int, scores: Vector) -> Codes:
        """Return the bins of scores in their own units; where there is none, it counts as 0."""
        standard = (scores - self.centre[place]) / self.spread[place]
        standard[np.isnan(standard)] = 0.0
        return binned(standard, self.cuts[place])

    def bins_of_numbers(self, step: Step, numbers: Vector) -> Iterator[Codes]:
        """Yield the bins of each score of a column that is decoded."""
        part = step.variable.part
        assert part is not None
        scores = part.column.encode(numbers)
        for j, place in enumerate(range(part.place.start, part.place.stop)):
            found = scores[:, j]
            if goes_by_all_rows(step):
                found = indicator(found, step.share).astype(np.float64)  # it is decoded later
            yield self.bins(place, found)


def goes_by_all_rows(step: Step) -> bool:
    """Return whether the bins of a column that is decoded hang on all rows."""
    part = step.variable.part
    return step.variable.drawn is Drawn.TWO and part is not None and part.column.decodes_by_row


@dataclass(frozen=True, eq=False, repr=False)
class TriangularMap:
    """Laws of all scores, each given those before it.

    Attributes
    ----------
    features : Features
    steps : tuple of Step
        In the order in which they are drawn; none where they are kept elsewhere.
    """

    features: Features
    steps: tuple[Step, ...]

    def draw(self, key: Key, out: Matrix, threads: int = 1) -> None:
        """Set `out` to scores drawn by a key, in their own units."""
        features, n_rows = self.features, out.shape[0]
        codes: Codes = np.zeros((n_rows, len(features.column_of)), dtype=np.uint8)
        missing: dict[int, Flags] = {}
        for index, step in enumerate(self.steps):
            own = key_of(index, key)
            variable, law = step.variable, step.law
            places = list(variable.places)
            if isinstance(law, SameAs):
                out[:, places] = law.sign * out[:, [law.place]]
            else:
                shares = law.shares(n_rows, own) if isinstance(law, MeasuredLaw) else None
                out[:, places] = drawn_scores(features, step, codes, shares, own, threads=threads)
            if variable.completes_part:
                for place, bins in self._decoded(step, out, missing):
                    codes[:, features.column_of[place]] = bins
                continue
            (place,) = places
            shown = out[:, place]
            if variable.drawn is Drawn.TWO:
                flags = indicator(shown, step.share)
                shown = flags.astype(np.float64)
                if variable.group is not None:
                    missing[variable.group] = flags
            codes[:, features.column_of[place]] = features.bins(place, shown)

    def _decoded(
        self, step: Step, scores: Matrix, missing: dict[int, Flags]
    ) -> Iterator[tuple[int, Codes]]:
        """Yield the places of a column with bins of what it is decoded to."""
        part, encoding = step.variable.part, self.features.encoding
        assert part is not None
        numbers = part.decode(
            scores[:, part.place],
            None if part.group is None else missing[part.group],
            keeps_quantiles=encoding.keeps_quantiles,
        )
        places = range(part.place.start, part.place.stop)
        yield from zip(places, self.features.bins_of_numbers(step, numbers), strict=True)


def key_of(index: int, key: Key) -> Key:
    """Return what the variable of a step is drawn by."""
    return key.child("variable", index)


def drawn_scores(
    features: Features,
    step: Step,
    codes: Codes,
    shares: Vector | None,
    own: Key,
    *,
    first_row: int = 0,
    threads: int = 1,
) -> Matrix:
    """Return the scores of a variable in rows that follow one another, in their own units.

    `codes` are the bins of these rows, and `shares` what the law of a measurement says of them.
    """
    how: Any = {"first_row": first_row, "threads": threads}
    variable = step.variable
    if isinstance(step.law, MeasuredLaw):
        assert shares is not None
        (place,) = variable.places
        drawn = step.law.draw(codes, shares, own, **how)
        return np.asarray(features.centre[place] + features.spread[place] * drawn)[:, None]
    assert isinstance(step.law, LevelLaw)
    fits = step.law.draw(codes, own, **how)
    if variable.drawn is Drawn.TWO:
        return np.asarray(fits[:, [1]] - fits[:, [0]])
    assert variable.part is not None
    return _scores_of_levels(fits, variable.part)


def _scores_of_levels(fits: Matrix, part: Part) -> Matrix:
    """Return the scores whose best level is the one that fits best.

    A column with dummies gives the level without one 1 less the sum s of the others. With d how
    much better than that level each other one fits, d + 1 - s is the dummy's score for
    s = (sum of d + m) / (1 + m), m dummies.
    """
    base = part.column.without_dummy
    assert base is not None
    better = np.delete(fits, base, axis=1) - fits[:, [base]]
    total = (better.sum(axis=1) + better.shape[1]) / (1.0 + better.shape[1])
    return np.asarray(better + 1.0 - total[:, None])


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

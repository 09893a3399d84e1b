"""How a triangular map is fitted: which scores are drawn how, in which order, on whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from icsa.forests.beyond_lines import STRONG
from icsa.forests.forest_kernels import Codes, Whole
from icsa.forests.growing import binned, cut_points
from icsa.forests.laws import LevelLaw, MeasuredLaw, middle_and_unit, near_ends
from icsa.forests.limits import LIMITS
from icsa.matrices import Matrix, Vector
from icsa.randomness import Key, as_key
from icsa.release.calibration import score_correlation
from icsa.release.encoding import Encoding, Part
from icsa.release.seen_curves import Sight
from icsa.release.triangular import Drawn, Features, SameAs, Step, TriangularMap, Variable

__all__ = ["fitted_map", "variables_of"]

Flags = npt.NDArray[np.bool_]
# Rows that the law of a variable is fitted to at least, those far out included if need be.
_FEWEST = 20


def fitted_map(
    sight: Sight,
    known: Matrix,
    centre: Vector,
    spread: Vector,
    *,
    curved: Mapping[str, float],
    threads: int = 1,
) -> TriangularMap:
    """Return the laws of all scores, each given those before it.

    Nothing here is secret or random: bags are drawn by a key that everybody knows.

    Parameters
    ----------
    sight : Sight
        The rows that forests are grown on.
    known : ndarray of shape (sight.rows.size, n_scores)
        The scores of these rows, standardised and without gaps.
    centre, spread : ndarray of shape (n_scores,)
        What the scores were standardised by.
    curved : mapping of str to float
        By column, what curves explain beyond lines: see `_ordered`.
    """
    encoding, gone = sight.encoding, sight.undefined
    variables = variables_of(_ordered(encoding, known, curved), encoding, known, gone)
    # What nobody draws would stay as it is in people.
    assert sum(len(variable.places) for variable in variables) == encoding.n_scores
    shown = np.where(gone, 0.0, known)
    fitting = _Fitting(known, gone, variables)
    cuts: dict[int, Vector] = {}
    steps: list[Step] = []
    key = as_key(0).child("forests")
    for index, variable in enumerate(variables):
        step = fitting.same_as_before(variable)
        steps.append(step or fitting.fit(variable, key.child("variable", index), threads))
        for place in variable.places:
            cuts[place] = fitting.add(variable, shown[:, place], place)
    return TriangularMap(Features(encoding, tuple(variables), cuts, centre, spread), tuple(steps))


class _Fitting:
    """What is known of the rows while laws are fitted, one variable after the other."""

    def __init__(self, scores: Matrix, undefined: Flags, variables: Sequence[Variable]) -> None:
        n_rows = scores.shape[0]
        self._scores, self._undefined = scores, undefined
        width = sum(len(variable.places) for variable in variables)
        self._codes: Codes = np.zeros((n_rows, width), dtype=np.uint8)
        self._n_features = 0
        self._far = np.zeros(n_rows, dtype=bool)
        self._parted: dict[bytes, int] = {}

    def same_as_before(self, variable: Variable) -> Step | None:
        """Return a step that follows from an earlier one, if it parts everybody as that does.

        Such as who has no date of death, and who lives: drawn by chances, some would have both.
        """
        place = variable.places[0]
        if variable.drawn is not Drawn.TWO or self._undefined[:, place].any():
            return None
        own = self._scores[:, place]
        second = own > 0.5 * (own.min() + own.max())
        earlier = self._parted.setdefault(np.packbits(second ^ second[0]).tobytes(), place)
        if earlier == place:
            return None
        sign = float(np.sign(np.dot(own, self._scores[:, earlier])))
        return Step(variable, SameAs(earlier, sign), float(second.mean()))

    def fit(self, variable: Variable, bags: Key, threads: int) -> Step:
        """Return a variable with its law given those before, of people who are not far out."""
        there = ~self._undefined[:, variable.places[0]]
        rows = np.flatnonzero(there & ~self._far)
        rows = rows if rows.size >= _FEWEST else np.flatnonzero(there)
        given = (self._codes[rows], self._n_features)
        own = self._scores[rows][:, variable.places]
        if variable.drawn is Drawn.NUMBER:
            return Step(variable, MeasuredLaw.fit(*given, own[:, 0], bags, threads))
        if variable.drawn is Drawn.RANK:
            ranks = _normal_ranks(own[:, 0], bags)
            return Step(variable, MeasuredLaw.fit(*given, ranks, bags, threads))
        ends = self._scores[there][:, variable.places]
        halfway = 0.5 * (ends.min(axis=0) + ends.max(axis=0))
        share = float(np.mean(ends[:, 0] > halfway[0]))
        places, n_levels = _levels(variable, own > halfway)
        return Step(variable, LevelLaw.fit(*given, places, n_levels, bags, threads), share)

    def add(self, variable: Variable, shown: Vector, place: int) -> Vector:
        """Add a score as a feature, and return where its bins end; forget who is far out in it."""
        low, high = -np.inf, np.inf
        if variable.drawn is Drawn.NUMBER:
            there = ~self._undefined[:, place]
            middle, unit = middle_and_unit(shown[there])
            reach = LIMITS.feature_reach * unit
            low, high = middle - reach, middle + reach
            standard = (shown - middle) / unit
            ends = near_ends(standard[there])
            self._far |= there & ((standard < ends[0]) | (standard > ends[1]))
        cuts = cut_points(shown, low, high)
        self._codes[:, self._n_features] = binned(shown, cuts)
        self._n_features += 1
        return cuts


def variables_of(
    parts: Sequence[Part], encoding: Encoding, scores: Matrix, undefined: Flags
) -> list[Variable]:
    """Return what is drawn one after the other: patterns of missing cells before their columns."""
    found: list[Variable] = []
    patterns: set[int] = set()
    for part in parts:
        if part.group is not None and part.group not in patterns:
            patterns.add(part.group)
            place = encoding.n_columns_scores + part.group
            found.append(Variable((place,), Drawn.TWO, group=part.group))
        found += _of_part(part, scores, undefined)
    return found


def _of_part(part: Part, scores: Matrix, undefined: Flags) -> Iterator[Variable]:
    places = range(part.place.start, part.place.stop)
    if part.column.without_dummy is not None and part.column.width > 1:
        yield Variable(tuple(places), Drawn.LEVEL, part)
        return
    measured = part.column.measured(np.empty(0))
    for place in places:
        own = scores[~undefined[:, place], place]
        drawn = Drawn.RANK if part.column.levels is not None else Drawn.NUMBER
        if measured is not None and measured[0] == place - part.place.start:
            drawn = Drawn.NUMBER
        elif not np.any((own != own.min()) & (own != own.max())):
            drawn = Drawn.TWO
        yield Variable((place,), drawn, part)


def _ordered(encoding: Encoding, scores: Matrix, curved: Mapping[str, float]) -> list[Part]:
    """Return the parts in the order in which they are drawn.

    Those whose scores have the largest squared correlations with all others come first. What curves
    explain of a column is known only after the others: from the largest share on, last.
    """
    correlation = score_correlation(scores) ** 2
    correlation[:, encoding.n_columns_scores :] = 0.0

    def rank(part: Part) -> tuple[float, float]:
        own, share = correlation[part.place], curved.get(part.column.name, 0.0)
        related = float(own.sum() - own[:, part.place].sum()) / max(own.shape[0], 1)
        last = part.column.levels is None and share >= STRONG
        return share if last else 0.0, -related

    # A constant has no scores, but may have gaps, whose pattern is drawn.
    return sorted((p for p in encoding.parts if p.column.width or p.group is not None), key=rank)


def _normal_ranks(scores: Vector, bags: Key) -> Vector:
    """Return normal scores of ranks, ties broken at random."""
    words = bags.stream("ties").words(scores.size)
    ranks = np.empty(scores.size)
    ranks[np.lexsort((words, scores))] = np.arange(scores.size)
    return np.asarray(ndtri((ranks + 0.5) / scores.size))


def _levels(variable: Variable, dummies: Flags) -> tuple[Whole, int]:
    """Return each row's level by its place, and how many levels there are."""
    if variable.drawn is Drawn.TWO:
        return dummies[:, 0].astype(np.int64), 2
    assert variable.part is not None
    base = variable.part.column.without_dummy
    assert base is not None
    n_levels = len(variable.places) + 1
    others = np.delete(np.arange(n_levels), base)
    levels: Whole = np.where(dummies.any(axis=1), others[dummies.argmax(axis=1)], base)
    return levels, n_levels

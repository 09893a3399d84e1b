"""The coordinates in which a table's scores are masked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from icsa.errors import ConvergenceError, ExactFitError, InputError, NoAnchorError
from icsa.ics import InvariantCoordinates, invariant_coordinates
from icsa.matrices import Matrix
from icsa.scatters import SCATTERS, LocationScatter, ResolvedScatter, resolve
from icsa.scatters.anchored_estimate import AnchoredScatter, anchor_weights, weighted_scatter

__all__ = ["Anchoring", "FoundCoordinates", "find_coordinates", "judge_anchors"]


@dataclass(frozen=True, eq=False)
class FoundCoordinates:
    """Coordinates, with what people should know about how they were found.

    Attributes
    ----------
    coordinates : InvariantCoordinates
    n_borrowed : int
        Directions in which only people who stand out vary: the spread is everybody's there.
    notes : tuple of str
    """

    coordinates: InvariantCoordinates
    n_borrowed: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Anchoring:
    """The rows that an MCD of the anchors keeps, and which anchors it could use or not."""

    weights: npt.NDArray[np.bool_]
    used: tuple[int, ...]
    unused: tuple[str, ...]


def judge_anchors(
    anchors: Matrix, names: Sequence[str], scatters: tuple[str, str]
) -> dict[str, Anchoring]:
    """Return which rows each MCD of a pair keeps; the anchors are not needed any more then.

    An MCD takes its weights from the anchors, since discrete columns would make it singular.
    """
    fractions = {name: SCATTERS[name].anchored_at for name in scatters if name in SCATTERS}
    pair = {name: alpha for name, alpha in fractions.items() if alpha is not None}
    if anchors.shape[1] == 0 and pair:
        raise NoAnchorError(
            f"The scatters {scatters[0]} and {scatters[1]} need a continuous column to tell who "
            "stands out, and the table has none. Use --method sa (method='sa')."
        )
    judged = {}
    for scatter, alpha in pair.items():
        weights, used = anchor_weights(anchors, alpha)
        unused = tuple(name for j, name in enumerate(names) if j not in used)
        judged[scatter] = Anchoring(weights, used, unused)
    return judged


def find_coordinates(
    scores: Matrix, judged: Mapping[str, Anchoring], scatters: tuple[str, str]
) -> FoundCoordinates:
    """Return the invariant coordinates of the scores for a pair of scatters."""
    pair = [
        _Anchored(name, judged[name]) if name in judged else _named(resolve(name))
        for name in scatters
    ]
    try:
        coordinates = invariant_coordinates(scores, scatters=_estimated(scores, pair))
    except ExactFitError as error:
        others = [name for name, scatter in SCATTERS.items() if scatter.anchored_at is not None]
        raise InputError(
            f"{error.estimate} is singular on this table: its discrete columns put too many rows "
            f"on one hyperplane. Use the scatters {','.join(others)}, whose weights come from the "
            "continuous columns alone, or --method sa."
        ) from None
    anchored = [scatter for scatter in pair if isinstance(scatter, _Anchored)]
    notes = [note for scatter in anchored for note in scatter.notes()]
    borrowed = max((scatter.n_borrowed for scatter in anchored), default=0)
    return FoundCoordinates(coordinates, borrowed, tuple(dict.fromkeys(notes)))


def _estimated(scores: Matrix, pair: Sequence[object]) -> Sequence[object]:
    """Return the estimates themselves where all columns vary among the rows that count.

    That saves whitening a long table; where columns depend on each other, the coordinates must be
    found within the space that the rows span.
    """
    if not all(isinstance(scatter, _Anchored) for scatter in pair):
        return pair
    found = [scatter(scores) for scatter in pair if isinstance(scatter, _Anchored)]
    regular = all(isinstance(f, AnchoredScatter) and f.n_borrowed == 0 for f in found)
    return found if regular else pair


def _named(scatter: ResolvedScatter) -> ResolvedScatter:
    """Return a scatter whose errors call it as people do, not by the one that it is made from."""

    def found(x: Matrix, **options: object) -> LocationScatter:
        try:
            return scatter.function(x, **options)
        except ExactFitError as error:
            error.estimate = scatter.name
            raise
        except ConvergenceError as error:
            if scatter.name in re.findall(r"\w+", str(error))[:1]:
                raise
            raise ConvergenceError(f"{scatter.name}: {error}") from error

    return replace(scatter, function=found)


class _Anchored:
    """The scatter of a name such as mcd50, with weights from the anchors."""

    def __init__(self, name: str, anchoring: Anchoring) -> None:
        self.__name__ = name
        self._anchoring = anchoring
        self._found: AnchoredScatter | None = None

    def __call__(self, x: Matrix) -> LocationScatter:
        self._found = weighted_scatter(x, self._anchoring.weights, self._anchoring.used)
        return self._found

    @property
    def n_borrowed(self) -> int:
        """Directions in which only people who stand out vary."""
        return 0 if self._found is None else self._found.n_borrowed

    def notes(self) -> list[str]:
        """Return what people should know of the estimate."""
        if self._found is None or not self._anchoring.unused:
            return []
        return [
            f"{', '.join(self._anchoring.unused)}: left out when judging who stands out, "
            "because most rows share one value there or the column follows from others."
        ]

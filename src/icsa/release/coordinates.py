"""The coordinates in which a table's scores are masked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from icsa.anonymization import flip_keeps_rows
from icsa.correlations import varies
from icsa.errors import NoAnchorError
from icsa.ics import InvariantCoordinates, invariant_coordinates
from icsa.masks import MASKS
from icsa.matrices import Matrix
from icsa.recipes import Recipe
from icsa.release.encoding import Encoding
from icsa.release.limits import LIMITS
from icsa.release.sampled_scatters import named_scatter, telling_of_exact_fits
from icsa.scatters import SCATTERS, LocationScatter
from icsa.scatters.anchored_estimate import (
    AnchoredScatter,
    AnchorJudge,
    anchor_weights,
    fitted_judge,
    weighted_scatter,
)
from icsa.tables.base import listed_names

__all__ = [
    "Anchoring",
    "FoundCoordinates",
    "coordinate_notes",
    "find_coordinates",
    "fractions_of",
    "judge_anchors",
    "judges_of",
    "outlying_note",
    "outlying_notes",
    "unused_notes",
]


@dataclass(frozen=True, eq=False)
class FoundCoordinates:
    """Coordinates, with what people should know about how they were found.

    Attributes
    ----------
    coordinates : InvariantCoordinates, optional
        None where nothing is masked.
    n_borrowed : int
        Directions in which only people who stand out vary: the spread is everybody's there.
    notes : tuple of str
    """

    coordinates: InvariantCoordinates | None
    n_borrowed: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Anchoring:
    """The rows that an MCD of the anchors keeps, and which anchors it could use or not."""

    weights: npt.NDArray[np.bool_]
    used: tuple[int, ...]
    unused: tuple[str, ...]


def judge_anchors(
    anchors: Matrix, names: Sequence[str], scatters: tuple[str, ...]
) -> dict[str, Anchoring]:
    """Return which rows each MCD of a pair keeps; the anchors are not needed any more then.

    An MCD takes its weights from the anchors, since discrete columns would make it singular.
    """
    judged = {}
    for scatter, alpha in fractions_of(scatters, anchors.shape[1]).items():
        weights, used = anchor_weights(anchors, alpha)
        unused = tuple(name for j, name in enumerate(names) if j not in used)
        judged[scatter] = Anchoring(weights, used, unused)
    return judged


def fractions_of(scatters: tuple[str, ...], n_anchors: int) -> dict[str, float]:
    """Return the support fractions of the MCDs of a pair that take their weights from anchors."""
    fractions = {name: SCATTERS[name].anchored_at for name in scatters if name in SCATTERS}
    pair = {name: alpha for name, alpha in fractions.items() if alpha is not None}
    if n_anchors == 0 and pair:
        raise NoAnchorError(
            f"The scatters {scatters[0]} and {scatters[1]} need a continuous column to tell who "
            "stands out, and the table has none. Use --method sa (method='sa')."
        )
    return pair


def judges_of(rows: Matrix, scatters: tuple[str, ...]) -> dict[str, AnchorJudge]:
    """Return who says which rows each MCD of a pair keeps, from the anchors of `judging_rows`."""
    fractions = fractions_of(scatters, rows.shape[1])
    return {scatter: fitted_judge(rows, alpha) for scatter, alpha in fractions.items()}


def find_coordinates(
    scores: Matrix, judged: Mapping[str, Anchoring], scatters: tuple[str, ...]
) -> FoundCoordinates:
    """Return the invariant coordinates of the scores for a pair of scatters."""
    pair = [
        _Anchored(name, judged[name]) if name in judged else named_scatter(name)
        for name in scatters
    ]
    with telling_of_exact_fits():
        coordinates = invariant_coordinates(scores, scatters=_estimated(scores, pair))
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
        return [] if self._found is None else unused_notes(self._anchoring.unused)


def unused_notes(names: Sequence[str]) -> list[str]:
    """Return a note on anchors that an MCD could not use."""
    if not names:
        return []
    return [
        f"{', '.join(names)}: left out when judging who stands out, because most rows share one "
        "value there or the column follows from others."
    ]


def outlying_notes(
    encoding: Encoding, scores: Matrix, judged: Mapping[str, Anchoring]
) -> tuple[str]:
    """Return a note on the columns in which only people who stand out have something else."""
    kept = [np.flatnonzero(anchoring.weights) for anchoring in judged.values()]
    return outlying_note(
        encoding, lambda place: any(not varies(scores[rows, place]) for rows in kept)
    )


def outlying_note(encoding: Encoding, is_flat: Callable[[int], bool]) -> tuple[str]:
    """Return the same note from a function that says which scores do not vary among the others."""
    found: dict[str, None] = {}
    for part in encoding.parts:
        places = [*range(part.place.start, part.place.stop)]
        places += [] if part.group is None else [encoding.n_columns_scores + part.group]
        if any(map(is_flat, places)):
            found[part.column.name] = None
    where = f"{listed_names(tuple(found))}: some values" if found else "Some combinations of values"
    return (
        f"{where} belong only to people who stand out, who are hidden less well there. Merge rare "
        "levels with others, or drop the column, and look at these people in an assessment.",
    )


def coordinate_notes(
    coordinates: InvariantCoordinates | None,
    encoding: Encoding,
    recipe: Recipe,
    mask: str,
    n_rows: int,
) -> list[str]:
    """Return what people should know about how little the coordinates may hide."""
    if coordinates is None:
        return []
    notes = _verbatim_notes(coordinates, encoding, recipe, mask)
    n_components = coordinates.eigenvalues.size
    if MASKS[mask].signs_only and flip_keeps_rows(n_rows, n_components):
        notes.append(
            f"With --mask {mask} a row keeps all signs once in 2^{n_components} times: about "
            f"{n_rows / 2**n_components:.2g} of {n_rows} people come out nearly or exactly as they "
            "are. Use --mask redraw, or add columns."
        )
    if n_components <= LIMITS.few_coordinates:
        notes.append(
            f"Only {n_components} coordinate(s) can be masked. With {LIMITS.few_coordinates} or "
            "fewer the method hides people who stand out badly: assess the release, or add columns."
        )
    return notes


def _verbatim_notes(
    coordinates: InvariantCoordinates, encoding: Encoding, recipe: Recipe, mask: str
) -> list[str]:
    if not MASKS[mask].keeps_scores:
        return []
    verbatim = set(coordinates.verbatim_columns)
    names = [
        p.column.name for p in encoding.parts if verbatim & set(range(p.place.start, p.place.stop))
    ]
    if not names:
        return []
    moved = recipe.keep_quantiles or recipe.calibration_rounds > 0 or recipe.scale == "quantile"
    how = "nearly as they are" if moved else "as they are"
    if recipe.keep_quantiles or recipe.scale == "quantile":
        how += ", but for the farthest"
    return [
        f"{', '.join(names)}: unrelated to every other column, so the values come out {how}, only "
        "in another order. Use --mask redraw, or drop the column."
    ]

"""A plan: everything about a table that does not depend on the key, so that releases are quick."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from icsa.anonymization import flip_keeps_rows, masked_copy
from icsa.columns import Column
from icsa.constraints import Computed, Derivation
from icsa.constraints.coded_columns import (
    Quantity,
    broken_by_keeping,
    coded_columns,
    derivation_of,
    quantity_of,
)
from icsa.constraints.extents import Extent
from icsa.constraints.keeping import Bonds
from icsa.correlations import varies
from icsa.errors import InputError, VerbatimColumnWarning
from icsa.ics import InvariantCoordinates
from icsa.inspection.profile import profile_of
from icsa.masks import MASKS
from icsa.matrices import Matrix, Vector
from icsa.memory import give_back_memory
from icsa.randomness import Key
from icsa.recipes import Recipe
from icsa.release.calibration import Move, calibrating_move, score_correlation, view_correlation
from icsa.release.coordinates import find_coordinates, judge_anchors
from icsa.release.encoding import Encoding, encoding_of
from icsa.release.imputation import fill_missing_scores
from icsa.release.methods import MethodOptions, method_of
from icsa.release.preparation import Prepared
from icsa.schema import Schema
from icsa.tables import Table
from icsa.threads import in_threads, threads_for

__all__ = ["Plan", "make_plan", "silent"]

FEWEST_ROWS = 30
# Rows that calibration looks at.
_CALIBRATION_ROWS = 20_000
# With so few coordinates or fewer the method hides little.
_FEW_COORDINATES = 3


def silent(_stage: str, _share: float) -> None:
    """Tell nobody about progress."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Plan:
    """A table's columns, scores and coordinates. It holds the original: keep it to yourself.

    Attributes
    ----------
    columns : mapping of str to Column
        Every column that is masked or recomputed, as the original has it.
    extents : mapping of str to Extent
        Of the original's columns.
    derivation : Derivation
        What follows from what.
    encoding : Encoding
        Where the scores of each column are.
    scores : ndarray of shape (n_rows, n_scores)
        The original's scores, complete and standardised.
    centre, spread : ndarray of shape (n_scores,)
        What the scores were standardised by.
    coordinates : InvariantCoordinates
    wanted : ndarray, optional
        Correlations that calibration aims at.
    """

    recipe: Recipe
    method: str
    scatters: tuple[str, str]
    mask: str
    columns: Mapping[str, Column]
    extents: Mapping[str, Extent]
    derivation: Derivation
    encoding: Encoding
    scores: Matrix
    centre: Vector
    spread: Vector
    coordinates: InvariantCoordinates
    wanted: Matrix | None
    notes: tuple[str, ...]

    def released_numbers(
        self,
        key: Key,
        *,
        in_place: bool = False,
        progress: Callable[[str, float], None] = silent,
    ) -> dict[str, Vector]:
        """Return the numbers of every masked or recomputed column, after masking with a key.

        In place it needs less memory, and the plan is used up.
        """
        progress("masking", 0.4)
        give_back_memory()
        # Calibration knows of the original's counts and tails only.
        encoding, derivation = self.encoding, self.derivation
        if not self.recipe.exact_counts:
            encoding, derivation = self._with_moved_counts(key.child("counts"))
        encoding = encoding.with_drawn_tails(key)
        masked = self.masked_scores(key, in_place=in_place)
        if self.wanted is not None:
            progress("calibrating", 0.5)
            self._calibrating_move(masked).apply_in_place(masked)
        progress("decoding", 0.6)
        give_back_memory()
        threads = threads_for(masked.size, None)
        coded = {part.column.name: part.column for part in encoding.parts}
        decoded = encoding.decode(masked, threads, in_place=True)
        return derivation.restore(decoded, coded, self.bonds.hold)

    @property
    def bonds(self) -> Bonds:
        """What holds the columns of a release together."""
        groups = {part.column.name: part.group for part in self.encoding.parts}
        return Bonds(columns=self.columns, derivation=self.derivation, groups=groups)

    def relations_in(self, numbers: Mapping[str, Vector]) -> tuple[str, ...]:
        """Return in words how far the relations hold in the numbers of a release."""
        return self.derivation.describe_in(numbers, self.bonds.rounded)

    def masked_scores(self, key: Key, *, in_place: bool = False) -> Matrix:
        """Return the scores after masking, in their own units; in place, the plan is used up."""
        with warnings.catch_warnings():
            # Said in the notes, with the names of columns instead of those of scores.
            warnings.simplefilter("ignore", VerbatimColumnWarning)
            masked = masked_copy(
                self.scores,
                self.coordinates,
                mask=self.mask,
                decorrelate=False,
                random_state=key.child("mask"),
                out=self.scores if in_place and self._is_square else None,
            )
        for j in range(masked.shape[1]):
            masked[:, j] *= self.spread[j]
            masked[:, j] += self.centre[j]
        return masked

    @property
    def _is_square(self) -> bool:
        # One column is its own row: then blocks of rows are not copied before they are written to.
        components = self.coordinates.eigenvalues.size
        return bool(components == self.scores.shape[1] > 1)

    def _with_moved_counts(self, key: Key) -> tuple[Encoding, Derivation]:
        """Return what the release is decoded by, with counts moved by a few people."""
        n_rows = self.scores.shape[0]
        draws = {part.column.name: part.draw for part in self.encoding.parts}

        def moved(relation: Computed) -> int:
            return draws[relation.target].moved_share(relation.missing, n_rows, key)

        return self.encoding.with_moved_counts(n_rows, key), self.derivation.with_missing(moved)

    def _calibrating_move(self, masked: Matrix) -> Move:
        assert self.wanted is not None
        sample = masked[_sample_of(masked.shape[0])]
        threads = threads_for(masked.size, None)

        def correlation_of_decoded(scores: Matrix) -> Matrix:
            return view_correlation(self.encoding.view(self.encoding.decode(scores, threads)))

        return calibrating_move(
            sample, self.wanted, correlation_of_decoded, self.recipe.calibration_rounds
        )

    def __repr__(self) -> str:
        """Show sizes only."""
        rows, scores = self.scores.shape
        return f"<Plan for {rows} rows, {len(self.columns)} columns, {scores} scores>"


def make_plan(
    prepared: Prepared,
    schema: Schema,
    recipe: Recipe,
    *,
    progress: Callable[[str, float], None] = silent,
    **options: Unpack[MethodOptions],
) -> Plan:
    """Return the plan for prepared columns, whose numbers are used up; options of `method_of`."""
    method = method_of(**options)
    mask = method.mask or recipe.mask
    columns, numbers, table = prepared.columns, prepared.numbers, prepared.spare
    threads = threads_for(table.frame.height * table.frame.width, None)
    derivation = Derivation()
    broken: tuple[str, ...] = ()
    if recipe.find_relations:
        derivation = derivation_of(columns, numbers)
        broken = broken_by_keeping(_kept(table, schema), columns, numbers, table.frame.columns)
    coded, reduced = coded_columns(
        columns, numbers, derivation, scale=recipe.scale, split_zeros=recipe.split_zeros
    )
    numbers.clear()  # a long table needs the room
    progress("encoding", 0.1)
    give_back_memory()
    encoding = encoding_of(coded, reduced, keep_quantiles=recipe.keep_quantiles)
    n_rows = next(iter(reduced.values())).size
    _require_enough_rows(n_rows, encoding)
    scores = encoding.room(n_rows)
    # The anchors are gone before the scores come, because a long table needs the room.
    judged = judge_anchors(*encoding.anchors(reduced, scores, threads), method.scatters)
    encoding.encode(reduced, scores, threads)
    fill_missing_scores(scores)
    wanted = _wanted_correlation(encoding, reduced, scores) if recipe.calibration_rounds else None
    centre, spread = _standardize(scores, threads)
    if method.raw_units:
        spread = _back_to_raw_units(scores, encoding, reduced, spread)
    reduced.clear()
    found = find_coordinates(scores, judged, method.scatters)
    return Plan(
        recipe=recipe,
        method=method.name,
        scatters=method.scatters,
        mask=mask,
        columns=columns,
        extents=prepared.extents,
        derivation=derivation,
        encoding=encoding,
        scores=scores,
        centre=centre,
        spread=spread,
        coordinates=found.coordinates,
        wanted=wanted,
        notes=(
            *prepared.notes,
            *broken,
            *found.notes,
            *_notes(found.coordinates, encoding, recipe, mask, n_rows),
        ),
    )


def _kept(table: Table, schema: Schema) -> dict[str, Quantity]:
    """Return the quantities that are released as they are."""
    specs = (spec for spec in schema.columns.values() if spec.action == "keep")
    found = {s.name: quantity_of(profile_of(table, s.name, s).cells, s.kind) for s in specs}
    return {name: quantity for name, quantity in found.items() if quantity is not None}


def _wanted_correlation(
    encoding: Encoding, numbers: Mapping[str, Vector], scores: Matrix
) -> Matrix:
    """Return the correlations that calibration aims at.

    What is never seen, such as how a measurement goes with its own being there, is taken from the
    scores, whose gaps are filled: otherwise cells that are there would come out like those that
    are not.
    """
    rows = _sample_of(scores.shape[0])
    seen = view_correlation(encoding.view({name: v[rows] for name, v in numbers.items()}))
    return np.where(np.isnan(seen), score_correlation(scores[rows]), seen)


def _standardize(scores: Matrix, threads: int) -> tuple[Vector, Vector]:
    """Give every column mean 0 and standard deviation 1 in place; return what they were."""
    centre, spread = np.empty(scores.shape[1]), np.ones(scores.shape[1])

    def work(j: int) -> None:
        column = scores[:, j]
        if not varies(column):
            centre[j] = column[0]
            column[:] = 0.0
            return
        centre[j] = column.mean()
        column -= centre[j]
        spread[j] = np.sqrt(column @ column / column.size)
        column /= spread[j]

    in_threads(work, range(scores.shape[1]), threads)
    return centre, spread


def _require_enough_rows(n_rows: int, encoding: Encoding) -> None:
    """Refuse tables with too few rows, or none that vary."""
    if n_rows < FEWEST_ROWS:
        raise InputError(
            f"The table has {n_rows} rows, and {FEWEST_ROWS} are the fewest that can be "
            "anonymized: among fewer, everybody stands out."
        )
    n_scores = encoding.n_scores
    if n_scores == 0:
        raise InputError(
            "No column that is to be masked varies: there is nothing to hide, and nothing to learn "
            "from the table."
        )
    if n_rows <= 2 * (n_scores + 1):
        columns = sorted((part.column for part in encoding.parts), key=lambda c: -c.width)
        widest = ", ".join(repr(column.name) for column in columns[:3])
        raise InputError(
            f"The table has {n_rows} rows, too few for its columns: encoded, they are {n_scores} "
            f"(widest: {widest}), for which {2 * (n_scores + 1) + 1} rows are needed. Drop columns "
            "(action = 'drop'), or merge rare levels."
        )


def _back_to_raw_units(
    scores: Matrix, encoding: Encoding, numbers: Mapping[str, Vector], spread: Vector
) -> Vector:
    """Give scores the spread of the columns' own units in place; return what they are now."""
    raw = np.ones_like(spread)
    for part in encoding.parts:
        found = part.column.measured(numbers[part.column.name])
        if found is not None:
            place, measured = part.place.start + found[0], found[1]
            raw[place] = spread[place] / (float(np.nanstd(measured)) if varies(measured) else 1.0)
    scores *= spread / raw
    return raw


def _notes(
    coordinates: InvariantCoordinates, encoding: Encoding, recipe: Recipe, mask: str, n_rows: int
) -> list[str]:
    """Return what people should know about how little the coordinates may hide."""
    notes = _verbatim_notes(coordinates, encoding, recipe, mask)
    n_components = coordinates.eigenvalues.size
    if MASKS[mask].signs_only and flip_keeps_rows(n_rows, n_components):
        notes.append(
            f"With --mask {mask} a row keeps all signs once in 2^{n_components} times: about "
            f"{n_rows / 2**n_components:.2g} of {n_rows} people come out nearly or exactly as they "
            "are. Use --mask redraw, or add columns."
        )
    if n_components <= _FEW_COORDINATES:
        notes.append(
            f"Only {n_components} coordinate(s) can be masked. With 3 or fewer the method hides "
            "people who stand out badly: assess the release, or add columns."
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


def _sample_of(n_rows: int) -> slice | np.ndarray:
    """Return which rows calibration looks at: all, or a fixed sample of them."""
    if n_rows <= _CALIBRATION_ROWS:
        return slice(None)
    return np.sort(np.random.default_rng(n_rows).choice(n_rows, _CALIBRATION_ROWS, replace=False))

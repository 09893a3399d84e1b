"""A plan: everything about a table that does not depend on the key, so that releases are quick."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from icsa.anonymization import masked_copy
from icsa.columns import Column
from icsa.constraints import Computed, Derivation
from icsa.constraints.coded_columns import (
    Quantity,
    broken_by_keeping,
    coded_columns,
    derivation_of,
    quantity_of,
)
from icsa.constraints.keeping import Bonds
from icsa.errors import InputError, NoAnchorError, VerbatimColumnWarning
from icsa.ics import InvariantCoordinates
from icsa.inspection.profile import profile_of
from icsa.matrices import Matrix, Vector
from icsa.randomness import Key
from icsa.recipes import Recipe
from icsa.release.calibration import Move, calibrating_move, score_correlation, view_correlation
from icsa.release.coordinates import (
    Anchoring,
    coordinate_notes,
    find_coordinates,
    judge_anchors,
    outlying_notes,
)
from icsa.release.encoding import Encoding, encoding_of
from icsa.release.limits import LIMITS
from icsa.release.methods import Method, MethodOptions, method_of
from icsa.release.preparing import Extent, PreparedOnce
from icsa.release.scores import back_to_raw_units, fill_missing_scores, standardize
from icsa.schema import Schema
from icsa.tables import Table
from icsa.threads import give_back_memory, one_linear_algebra_thread, threads_for

__all__ = ["Plan", "PlanOnce", "plan", "silent"]


def silent(_stage: str, _share: float) -> None:
    """Tell nobody about progress."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Plan:
    """A table's columns, scores and coordinates. It holds the original: keep it to yourself.

    Attributes
    ----------
    schema : Schema
        Of the whole table.
    spare : Table
        What a release needs of the original's cells; see `PreparedOnce`.
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

    schema: Schema
    spare: Table
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
        out: Matrix | None = None,
        progress: Callable[[str, float], None] = silent,
    ) -> dict[str, Vector]:
        """Return the numbers of every masked or recomputed column, after masking with a key.

        The scores are masked in `out`, where it is given.
        """
        progress("masking", 0.4)
        give_back_memory()
        # Calibration knows of the original's counts and tails only.
        encoding, derivation = self.encoding, self.derivation
        if not self.recipe.exact_counts:
            encoding, derivation = self._with_moved_counts(key.child("counts"))
        encoding = encoding.with_drawn_tails(key)
        masked = self.masked_scores(key, out=out)
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

    def masked_scores(self, key: Key, *, out: Matrix | None = None) -> Matrix:
        """Return the scores after masking, in their own units, in `out` where it is given."""
        with warnings.catch_warnings():
            # Said in the notes, with the names of columns instead of those of scores.
            warnings.simplefilter("ignore", VerbatimColumnWarning)
            masked = masked_copy(
                self.scores,
                self.coordinates,
                mask=self.mask,
                decorrelate=False,
                random_state=key.child("mask"),
                out=out,
            )
        for j in range(masked.shape[1]):
            masked[:, j] *= self.spread[j]
            masked[:, j] += self.centre[j]
        return masked

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


class PlanOnce:
    """A plan for one release, which is made where the plan's own scores are: they are used up.

    That takes less memory. Nobody else may hold the plan.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan: Plan | None = plan

    def take(self) -> tuple[Plan, Matrix | None]:
        """Return the plan and the room for its masked scores, and let go of both."""
        taken, self._plan = self._plan, None
        if taken is None:
            raise InputError("A plan that is used up makes one release. Make another plan.")
        # One column is its own row: then blocks of rows are not copied before they are written to.
        square = taken.coordinates.eigenvalues.size == taken.scores.shape[1] > 1
        return taken, taken.scores if square else None


def plan(
    prepared: PreparedOnce,
    *,
    progress: Callable[[str, float], None] = silent,
    **options: Unpack[MethodOptions],
) -> Plan:
    """Return the plan for prepared columns, which are used up; options of `method_of`."""
    method = method_of(**options)
    with one_linear_algebra_thread():
        return _planned(prepared, method, progress)


def _planned(
    prepared: PreparedOnce, method: Method, progress: Callable[[str, float], None]
) -> Plan:
    recipe, columns, table = prepared.recipe, prepared.columns, prepared.spare
    numbers = prepared.take_numbers()
    mask = method.mask or recipe.mask
    threads = threads_for(table.frame.height * table.frame.width, None)
    specs = prepared.schema.columns.items()
    derive = {name: spec.derive for name, spec in specs if name in columns}
    declared = {name: text for name, text in derive.items() if text is not None}
    derivation = derivation_of(columns, numbers, declared, search=recipe.find_relations)
    broken: tuple[str, ...] = ()
    if recipe.find_relations:
        kept = _kept(table, prepared.schema)
        broken = broken_by_keeping(kept, columns, numbers, table.frame.columns)
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
    method, judged, instead = _judged(encoding, reduced, scores, method)
    encoding.encode(reduced, scores, threads)
    fill_missing_scores(scores)
    wanted = _wanted_correlation(encoding, reduced, scores) if recipe.calibration_rounds else None
    centre, spread = standardize(scores, threads)
    if method.raw_units:
        spread = back_to_raw_units(scores, encoding, reduced, spread)
    reduced.clear()
    found = find_coordinates(scores, judged, method.scatters)
    return Plan(
        schema=prepared.schema,
        spare=table,
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
            *instead,
            *prepared.notes,
            *broken,
            *found.notes,
            *(outlying_notes(encoding, scores, judged) if found.n_borrowed else ()),
            *coordinate_notes(found.coordinates, encoding, recipe, mask, n_rows),
        ),
    )


def _kept(table: Table, schema: Schema) -> dict[str, Quantity]:
    """Return the quantities that are released as they are."""
    specs = (spec for spec in schema.columns.values() if spec.action == "keep")
    found = {s.name: quantity_of(profile_of(table, s.name, s).cells, s.kind) for s in specs}
    return {name: quantity for name, quantity in found.items() if quantity is not None}


def _judged(
    encoding: Encoding, numbers: Mapping[str, Vector], scores: Matrix, method: Method
) -> tuple[Method, Mapping[str, Anchoring], tuple[str, ...]]:
    """Return the method, or one that works where nobody asked for it; who counts; and a note."""
    try:
        anchors, names = encoding.anchors(numbers, scores, threads_for(scores.size, None))
        return method, judge_anchors(anchors, names, method.scatters), ()
    except NoAnchorError:
        if method.asked_for:
            raise
    note = (
        "NOT THE ROBUST METHOD: no continuous column can tell who stands out, so principal "
        "components were masked instead (as with --method sa). Somebody with a rare combination of "
        "values may come through: assess the release before it is handed out."
    )
    return method_of("sa", mask=method.mask), {}, (note,)


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


def _require_enough_rows(n_rows: int, encoding: Encoding) -> None:
    """Refuse tables with too few rows, or none that vary."""
    if n_rows < LIMITS.fewest_rows:
        raise InputError(
            f"The table has {n_rows} rows, and {LIMITS.fewest_rows} are the fewest that can be "
            "anonymized: among fewer, everybody stands out."
        )
    n_scores = encoding.n_scores
    if n_scores == 0:
        raise InputError(
            "No column that is to be masked varies: there is nothing to hide, and nothing to learn "
            "from the table."
        )
    needed = LIMITS.rows_a_score * (n_scores + 1) + 1
    if n_rows < needed:
        columns = sorted((part.column for part in encoding.parts), key=lambda c: -c.width)
        widest = ", ".join(repr(column.name) for column in columns[:3])
        enough = (n_rows - 1) // LIMITS.rows_a_score - 1
        raise InputError(
            f"The table has {n_rows} rows, too few for its columns: encoded, they are {n_scores} "
            f"(widest: {widest}), for which {needed} rows are needed; {n_rows} rows do for "
            f"{enough}. Merge rare levels, or drop columns: icsa inspect FILE --schema-out S.toml "
            "writes a schema, in which they get action = 'drop'; then: icsa anonymize FILE "
            "--schema S.toml"
        )


def _sample_of(n_rows: int) -> slice | np.ndarray:
    """Return which rows calibration looks at: all, or a fixed sample of them."""
    if n_rows <= LIMITS.sample_rows:
        return slice(None)
    return np.sort(np.random.default_rng(n_rows).choice(n_rows, LIMITS.sample_rows, replace=False))

"""A plan: everything about a table that does not depend on the key, so that releases are quick."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
import numpy.typing as npt

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
from icsa.release.chosen_method import chosen_method, n_looked_at, require_no_mask_chosen
from icsa.release.coordinates import (
    Anchoring,
    FoundCoordinates,
    coordinate_notes,
    find_coordinates,
    fractions_of,
    judge_anchors,
    outlying_notes,
)
from icsa.release.design_plans import DesignPlan, PreparedDesign
from icsa.release.encoding import Encoding, encoding_of
from icsa.release.factors import FactorMap, fill_by_factors, fitted_factors
from icsa.release.few_rows import has_few_rows, require_rows
from icsa.release.limits import LIMITS
from icsa.release.methods import Method, MethodOptions, method_of
from icsa.release.nested_patterns import with_nested_patterns
from icsa.release.preparing import Extent, PreparedOnce
from icsa.release.scores import back_to_raw_units, fill_missing_scores, standardize
from icsa.release.seen_curves import Sight, curve_notes
from icsa.release.triangular import TriangularMap
from icsa.release.triangular_fitting import fitted_map
from icsa.schema import Schema
from icsa.tables import Table
from icsa.threads import give_back_memory, one_linear_algebra_thread, threads_for

__all__ = [
    "Plan",
    "PlanOnce",
    "calibration_rows",
    "instead_of_anchors",
    "plan",
    "silent",
    "wanted_correlation",
    "weights_among",
]


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
    coordinates : InvariantCoordinates, optional
        Which are masked; or else
    triangular : TriangularMap, optional
        By which scores are drawn; or else
    factors : FactorMap, optional
        Which stand for more scores than rows can tell apart.
    wanted : ndarray, optional
        Correlations that calibration aims at.
    weight : str, optional
        The column of logarithms of weights, with which they are compared.
    why : str
        Why the method was taken, if nobody asked for it.
    """

    schema: Schema
    spare: Table
    recipe: Recipe
    method: str
    scatters: tuple[str, ...]
    mask: str
    raw_units: bool
    columns: Mapping[str, Column]
    extents: Mapping[str, Extent]
    derivation: Derivation
    encoding: Encoding
    scores: Matrix
    centre: Vector
    spread: Vector
    coordinates: InvariantCoordinates | None
    triangular: TriangularMap | None
    wanted: Matrix | None
    notes: tuple[str, ...]
    factors: FactorMap | None = None
    weight: str | None = None
    why: str = ""

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
        encoding, derivation = self.decoded_by(key, self.scores.shape[0])
        masked = self.masked_scores(key, out=out)
        if self.wanted is not None:
            progress("calibrating", 0.5)
            sample = masked[calibration_rows(masked.shape[0])]
            self.calibrating_move(sample).apply_in_place(masked)
        progress("decoding", 0.6)
        give_back_memory()
        threads = threads_for(masked.size, None)
        coded = {part.column.name: part.column for part in encoding.parts}
        decoded = encoding.decode(masked, threads, in_place=True)
        return derivation.restore(decoded, coded, self.bonds.hold)

    @property
    def n_components(self) -> int:
        """Coordinates that are masked, or scores that are drawn."""
        if self.factors is not None:
            return self.factors.n_factors
        if self.coordinates is None:
            return self.encoding.n_scores
        return int(self.coordinates.eigenvalues.size)

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
        if self.triangular is not None:
            drawn = self.encoding.room(self.scores.shape[0]) if out is None else out
            self.triangular.draw(key.child("forests"), drawn, threads_for(drawn.size, None))
            return drawn
        with warnings.catch_warnings():
            # Said in the notes, with the names of columns instead of those of scores.
            warnings.simplefilter("ignore", VerbatimColumnWarning)
            masked = self._masked(key, out)
        self.to_own_units(masked)
        return masked

    def to_own_units(self, masked: Matrix) -> None:
        """Give masked scores, or some rows of them, their own centre and spread in place."""
        for j in range(masked.shape[1]):
            masked[:, j] *= self.spread[j]
            masked[:, j] += self.centre[j]

    def _masked(self, key: Key, out: Matrix | None) -> Matrix:
        """Return the standardised scores after masking."""
        if self.factors is not None:
            return self.factors.masked(self.scores, self.mask, key, self._seen)
        assert self.coordinates is not None
        return masked_copy(
            self.scores,
            self.coordinates,
            mask=self.mask,
            decorrelate=False,
            random_state=key.child("mask"),
            out=out,
        )

    def _seen(self, standard: Matrix) -> Matrix:
        """Return what is seen of standardised scores once they are decoded; 0 for missing cells."""
        scores = np.asfortranarray(standard * self.spread + self.centre)
        return np.nan_to_num(self.encoding.view(self.encoding.decode(scores, in_place=True)))

    def decoded_by(self, key: Key, n_rows: int) -> tuple[Encoding, Derivation]:
        """Return what a release of so many rows is decoded and recomputed by.

        Calibration knows of the original's counts and tails only.
        """
        encoding, derivation = self.encoding, self.derivation
        if not self.recipe.exact_counts:
            encoding, derivation = self._with_moved_counts(key.child("counts"), n_rows)
        return encoding.with_drawn_tails(key), derivation

    def _with_moved_counts(self, key: Key, n_rows: int) -> tuple[Encoding, Derivation]:
        """Return what the release is decoded by, with counts moved by a few people."""
        draws = {part.column.name: part.draw for part in self.encoding.parts}

        def moved(relation: Computed) -> int:
            return draws[relation.target].moved_share(relation.missing, n_rows, key)

        return self.encoding.with_moved_counts(n_rows, key), self.derivation.with_missing(moved)

    def calibrating_move(self, sample: Matrix) -> Move:
        """Return the move of masked scores, found from `calibration_rows` of them."""
        assert self.wanted is not None
        threads = threads_for(sample.size, None)

        def correlation_of_decoded(scores: Matrix) -> Matrix:
            decoded = self.encoding.decode(scores, threads)
            weights = weights_among(decoded, self.weight)
            return view_correlation(self.encoding.view(decoded), weights)

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

    def __init__(self, plan: Plan | DesignPlan) -> None:
        self._plan: Plan | DesignPlan | None = plan

    def take(self) -> tuple[Plan | DesignPlan, Matrix | None]:
        """Return the plan and the room for its masked scores, and let go of both."""
        taken, self._plan = self._plan, None
        if taken is None:
            raise InputError("A plan that is used up makes one release. Make another plan.")
        if isinstance(taken, DesignPlan):
            return taken, None
        # One column is its own row: then blocks of rows are not copied before they are written to.
        square = taken.n_components == taken.scores.shape[1] > 1
        return taken, taken.scores if square or taken.triangular is not None else None


def plan(
    prepared: PreparedOnce | PreparedDesign,
    *,
    progress: Callable[[str, float], None] = silent,
    **options: Unpack[MethodOptions],
) -> Plan | DesignPlan:
    """Return the plan for prepared columns, which are used up; options of `method_of`."""
    if isinstance(prepared, PreparedDesign):
        return prepared.planned(progress, **options)
    method = method_of(**options)
    with one_linear_algebra_thread():
        return _planned(prepared, method, progress)


def _planned(
    prepared: PreparedOnce, method: Method, progress: Callable[[str, float], None]
) -> Plan:
    recipe, columns, table = prepared.recipe, prepared.columns, prepared.spare
    numbers = prepared.take_numbers()
    require_no_mask_chosen(method, prepared.schema)
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
    if prepared.nested:
        encoding = with_nested_patterns(encoding, reduced)
    n_rows = next(iter(reduced.values())).size
    require_rows(n_rows, encoding)
    few_rows = has_few_rows(n_rows, encoding, method)
    scores = encoding.room(n_rows)
    looked_at = n_looked_at(method, recipe)
    # The anchors are gone before the scores come, because a long table needs the room.
    method, judged, instead = _judged(encoding, reduced, scores, method, few_rows)
    encoding.encode(reduced, scores, threads)
    sight = Sight.of(encoding, reduced, scores, 0 if few_rows else looked_at)
    (fill_by_factors if few_rows else fill_missing_scores)(scores)
    weights = weights_among(reduced, prepared.weight)
    wanted = None
    if recipe.calibration_rounds and not few_rows:  # it would give the people's own space away
        rows = calibration_rows(n_rows)
        sample = {name: values[rows] for name, values in reduced.items()}
        wanted = wanted_correlation(
            encoding, sample, scores[rows], None if weights is None else weights[rows]
        )
    centre, spread = standardize(scores, threads)
    curved = sight.curves_in(scores)
    fixed = few_rows or "mask" in prepared.schema.recipe or not looked_at
    method, why = chosen_method(method, curved, n_rows, coordinates=fixed)
    mask = "" if method.name == "forest" else method.mask or recipe.mask
    if method.raw_units:
        spread = back_to_raw_units(scores, encoding, reduced, spread)
    reduced.clear()
    triangular, found, factors = None, FoundCoordinates(None), None
    if few_rows:
        factors = fitted_factors(scores, method.scatters)
    elif method.name == "forest":
        known = scores[sight.rows]
        triangular = fitted_map(sight, known, centre, spread, curved=curved, threads=threads)
    else:
        found = find_coordinates(scores, judged, method.scatters)
    return Plan(
        schema=prepared.schema,
        spare=table,
        recipe=recipe,
        method=method.name,
        scatters=method.scatters,
        mask=mask,
        raw_units=method.raw_units,
        columns=columns,
        extents=prepared.extents,
        derivation=derivation,
        encoding=encoding,
        scores=scores,
        centre=centre,
        spread=spread,
        coordinates=found.coordinates,
        triangular=triangular,
        wanted=wanted,
        factors=factors,
        weight=prepared.weight,
        why=why,
        notes=(
            *(() if method.name == "forest" else instead),
            *(() if factors is None else factors.notes(n_rows)),
            *prepared.notes,
            *broken,
            *found.notes,
            *(outlying_notes(encoding, scores, judged) if found.n_borrowed else ()),
            *coordinate_notes(found.coordinates, encoding, recipe, mask, n_rows),
            *(curve_notes(curved) if triangular is None and factors is None else ()),
        ),
    )


def _kept(table: Table, schema: Schema) -> dict[str, Quantity]:
    """Return the quantities that are released as they are."""
    specs = (spec for spec in schema.columns.values() if spec.action == "keep")
    found = {s.name: quantity_of(profile_of(table, s.name, s).cells, s.kind) for s in specs}
    return {name: quantity for name, quantity in found.items() if quantity is not None}


def _judged(
    encoding: Encoding,
    numbers: Mapping[str, Vector],
    scores: Matrix,
    method: Method,
    few_rows: bool,
) -> tuple[Method, Mapping[str, Anchoring], tuple[str, ...]]:
    """Return the method, or one that works where nobody asked for it; who counts; and a note."""
    if method.name == "forest" or few_rows:
        return method, {}, ()
    try:
        if not fractions_of(method.scatters, len(encoding.anchor_parts)):
            return method, {}, ()
        anchors, names = encoding.anchors(numbers, scores, threads_for(scores.size, None))
        return method, judge_anchors(anchors, names, method.scatters), ()
    except NoAnchorError:
        if method.asked_for:
            raise
    return instead_of_anchors(method)


def instead_of_anchors(method: Method) -> tuple[Method, Mapping[str, Anchoring], tuple[str, ...]]:
    """Return principal components for a table of which no column can tell who stands out."""
    note = (
        "NOT THE ROBUST METHOD: no continuous column can tell who stands out, so principal "
        "components were masked instead (as with --method sa). Somebody with a rare combination of "
        "values may come through: assess the release before it is handed out."
    )
    instead = method_of("sa", mask=method.mask, straight=method.straight)
    return replace(instead, asked_for=False), {}, (note,)


def wanted_correlation(
    encoding: Encoding, numbers: Mapping[str, Vector], scores: Matrix, weights: Vector | None
) -> Matrix:
    """Return the correlations that calibration aims at, from `calibration_rows` of a table.

    What is never seen, such as how a measurement goes with its own being there, is taken from the
    scores, whose gaps are filled: otherwise cells that are there would come out like those that
    are not.
    """
    seen = view_correlation(encoding.view(numbers), weights)
    return np.where(np.isnan(seen), score_correlation(scores), seen)


def weights_among(numbers: Mapping[str, Vector], name: str | None) -> Vector | None:
    """Return the weights of rows, of which a column has the logarithms; None without."""
    return np.exp(numbers[name]) if name is not None and name in numbers else None


def calibration_rows(n_rows: int) -> slice | npt.NDArray[np.int64]:
    """Return which rows calibration looks at: all, or a fixed sample of them."""
    if n_rows <= LIMITS.sample_rows:
        return slice(None)
    return np.sort(np.random.default_rng(n_rows).choice(n_rows, LIMITS.sample_rows, replace=False))

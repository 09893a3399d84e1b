"""The plan of a large table: the passes that find its relations, scores and coordinates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from icsa.columns import Column
from icsa.columns.assignment import ACTIVE_SHARE
from icsa.constraints import Derivation, parse_rule
from icsa.constraints.coded_columns import (
    Quantity,
    broken_by_keeping,
    coded_columns,
    derivation_of,
)
from icsa.constraints.keeping import joined
from icsa.errors import NoAnchorError
from icsa.forests.beyond_lines import rows_to_look_at
from icsa.matrices import Matrix, Vector
from icsa.release.blocks.block_coordinates import InBlocks, anchored, judge_rows
from icsa.release.blocks.block_filling import fill_in_blocks
from icsa.release.blocks.block_forests import grow_forests
from icsa.release.blocks.block_preparing import Prepared
from icsa.release.blocks.ground import Ground
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import Scratch, StoredNumbers
from icsa.release.blocks.stored_dummies import write_scores
from icsa.release.chosen_method import chosen_method, n_looked_at, require_no_mask_chosen
from icsa.release.coordinates import (
    FoundCoordinates,
    coordinate_notes,
    fractions_of,
    judges_of,
    outlying_note,
)
from icsa.release.encoding import (
    Encoding,
    Part,
    Presence,
    encoding_from,
    presence_of,
)
from icsa.release.few_rows import require_enough_rows
from icsa.release.methods import Method
from icsa.release.nested_patterns import with_nested_patterns
from icsa.release.planning import (
    Plan,
    calibration_rows,
    instead_of_anchors,
    wanted_correlation,
    weights_among,
)
from icsa.release.scores import raw_unit, standardize_column
from icsa.release.seen_curves import Sight, curve_notes
from icsa.scatters.anchored_estimate import AnchorJudge, judging_rows
from icsa.schema import Schema

__all__ = ["encode_column", "plan_in_blocks"]

# Up to so many levels, a column takes no more while it is decoded than while it is fitted.
_FEW_LEVELS = 20
# Columns that decoding levels holds besides the scores of rows that are near to another level.
_WITH_LEVELS = 4
# Columns that computing columns holds besides these and results.
_BESIDES = 4
# Columns that encoding or scaling one holds: measured on all kinds, with gaps, 2.1 and 1.
_HELD_ENCODING, _HELD_SCALING = 3, 2

Places = Mapping[str, tuple[str, int]]


@dataclass(frozen=True, eq=False)
class _Coded:
    """What follows from what, and the columns that are encoded, with where their numbers are."""

    derivation: Derivation
    broken: tuple[str, ...]
    columns: Mapping[str, Column]
    presences: Mapping[str, Presence]
    places: Places


def plan_in_blocks(passes: Passes, ground: Ground, prepared: Prepared, method: Method) -> Plan:
    """Return the plan of a large table, whose scores are in scratch, and not in it."""
    recipe = prepared.recipe
    require_no_mask_chosen(method, prepared.schema)
    names = ground.table.names
    coded: _Coded = passes.once("relations", _code, prepared, names)
    encoding = encoding_from(coded.columns, coded.presences, keep_quantiles=recipe.keep_quantiles)
    require_enough_rows(ground.n_rows, encoding)
    if prepared.nested:
        encoding = passes.once("patterns", _nest, encoding, coded.places)
    _require_room(ground, encoding, coded.derivation, prepared.schema)
    method, judges, instead = _judges(passes, encoding, coded, method)
    anchors = encoding.anchor_parts
    anchor_places = [coded.places[part.column.name] for part in anchors]
    judge_rows(passes, ground, anchors, anchor_places, judges)
    looked = n_looked_at(method, recipe)
    sight, wanted = _score(passes, encoding, coded, prepared, looked)
    units = _units(passes, encoding, coded.places) if method.raw_units else None
    passes.drop(["numbers", "coded"])
    centre, spread, constant, curved = _scale(passes, encoding, sight, units)
    fixed = "mask" in prepared.schema.recipe or not looked
    method, why = chosen_method(method, curved, ground.n_rows, coordinates=fixed)
    triangular, found = None, FoundCoordinates(None)
    if method.name == "forest":
        mask, instead = "", ()
        triangular = grow_forests(passes, sight, centre, spread, curved)
        passes.drop(["standard"])
    else:
        mask = method.mask or recipe.mask
        found = _coordinates(passes, ground, encoding, method, judges, constant)
    passes.drop(["counting"])
    return Plan(
        schema=prepared.schema,
        spare=ground.table.without_rows(),
        recipe=recipe,
        method=method.name,
        scatters=method.scatters,
        mask=mask,
        raw_units=method.raw_units,
        columns={name: one.column for name, one in prepared.fitted.items()},
        extents={name: one.extent for name, one in prepared.fitted.items()},
        derivation=coded.derivation,
        encoding=encoding,
        scores=np.empty((0, encoding.n_scores)),
        centre=centre,
        spread=spread,
        coordinates=found.coordinates,
        triangular=triangular,
        wanted=wanted,
        weight=prepared.weight,
        why=why,
        notes=(
            *instead,
            *prepared.notes,
            *coded.broken,
            *found.notes,
            *coordinate_notes(found.coordinates, encoding, recipe, mask, ground.n_rows),
            *(curve_notes(curved) if triangular is None else ()),
        ),
    )


def _coordinates(
    passes: Passes,
    ground: Ground,
    encoding: Encoding,
    method: Method,
    judges: Mapping[str, AnchorJudge],
    constant: list[bool],
) -> FoundCoordinates:
    """Return the coordinates of the scores, with a note on what only people who stand out have."""
    n_scores = encoding.n_scores
    blocks = InBlocks(passes, ground.for_scores(n_scores), n_scores, judges, constant)
    pair = (method.scatters[0], method.scatters[1])
    found = blocks.find(pair, [part.column.name for part in encoding.anchor_parts])
    if not found.n_borrowed:
        return found
    outlying = outlying_note(encoding, blocks.flat_scores().__contains__)
    return replace(found, notes=(*found.notes, *outlying))


def _require_room(
    ground: Ground, encoding: Encoding, derivation: Derivation, schema: Schema
) -> None:
    """Refuse what holds more columns at a time than fit, before the long passes begin."""
    for part in encoding.parts:
        n_levels = part.column.width + 1
        if n_levels > _FEW_LEVELS:
            ground.require_room(
                _WITH_LEVELS + math.ceil(n_levels * ACTIVE_SHARE),
                f"Column {part.column.name!r}: its {n_levels:,} levels",
                "Merge rare levels, drop the column, or give --memory more.",
            )
    for names in _held_together(derivation, schema):
        ground.require_room(
            2 * len(names) + _BESIDES,
            f"{', '.join(sorted(names))}: columns that relations or rules hold together",
            "Take rules out of the schema, drop a column, or give --memory more.",
        )


def _held_together(derivation: Derivation, schema: Schema) -> list[frozenset[str]]:
    """Return columns that are in memory together: all that rules, or bounds, may move cells of.

    What else follows from others goes row by row, but for those with missing cells of their own.
    """
    rules = [parse_rule(text, list(schema.columns)).columns for text in schema.rules]
    related = [one.columns for one in derivation.computed]
    related += [gap.columns for gap in derivation.gaps]
    every: frozenset[str] = frozenset().union(*related, *rules)
    specs = [schema.columns[name] for names in related for name in names if name in schema.columns]
    if rules or any(spec.lower is not None or spec.upper is not None for spec in specs):
        return [every]
    whole = {one.target for one in derivation.computed if one.missing}
    return [names for names in joined(related) if not whole.isdisjoint(names)]


def _code(scratch: Scratch, prepared: Prepared, names: tuple[str, ...]) -> _Coded:
    """Return what is encoded; numbers that are neither those of columns go to scratch."""
    recipe, schema = prepared.recipe, prepared.schema
    columns = {name: one.column for name, one in prepared.fitted.items()}
    own = {name: ("numbers", names.index(name)) for name in columns}
    numbers = StoredNumbers(scratch, own)
    derive = {name: spec.derive for name, spec in schema.columns.items() if name in columns}
    declared = {name: text for name, text in derive.items() if text is not None}
    derivation = derivation_of(columns, numbers, declared, search=recipe.find_relations)
    broken: tuple[str, ...] = ()
    if recipe.find_relations:
        broken = broken_by_keeping(_kept(scratch, prepared, names), columns, numbers, names)
    coded, reduced = coded_columns(
        columns, numbers, derivation, scale=recipe.scale, split_zeros=recipe.split_zeros
    )
    fresh = {gap.name for gap in derivation.gaps}
    fresh |= {one.target for one in derivation.computed if one.missing}
    places, presences = {}, {}
    for number, (name, column) in enumerate(coded.items()):
        places[name] = ("coded", number) if name in fresh else own[name]
        if name in fresh:
            scratch.write(*places[name], reduced[name])
            presences[name] = presence_of(column, reduced[name])
        else:
            presences[name] = prepared.fitted[name].presence
    return _Coded(derivation, broken, coded, presences, places)


def _nest(scratch: Scratch, encoding: Encoding, places: Places) -> Encoding:
    return with_nested_patterns(encoding, StoredNumbers(scratch, places))


def _kept(scratch: Scratch, prepared: Prepared, names: tuple[str, ...]) -> dict[str, Quantity]:
    """Return the quantities that are released as they are."""
    return {
        name: Quantity(scratch.column("numbers", names.index(name)), one.step, one.kind)
        for name, one in prepared.others.items()
        if one.kind
    }


def _judges(
    passes: Passes, encoding: Encoding, coded: _Coded, method: Method
) -> tuple[Method, Mapping[str, AnchorJudge], tuple[str, ...]]:
    """Return the method, or one that works where nobody asked for it; who judges; and a note."""
    if method.name == "forest":
        return method, {}, ()
    judges: Mapping[str, AnchorJudge] | NoAnchorError = passes.once(
        "judges", _fit_judges, encoding.anchor_parts, coded.places, method.scatters
    )
    if not isinstance(judges, NoAnchorError):
        return method, judges, ()
    if method.asked_for:
        raise judges
    method, _, note = instead_of_anchors(method)
    return method, {}, note


def _fit_judges(
    scratch: Scratch, parts: tuple[Part, ...], places: Places, scatters: tuple[str, ...]
) -> dict[str, AnchorJudge] | NoAnchorError:
    """Return who judges rows by the anchors; or why nobody can."""
    rows = judging_rows(scratch.n_rows)
    assert not isinstance(rows, slice)
    where = [places[part.column.name] for part in parts]
    numbers = (scratch.column(*place)[rows] for place in where)
    try:
        if not fractions_of(scatters, len(parts)):
            return {}
        anchors = anchored(scratch, parts, where, numbers, rows.size)
        return judges_of(np.ascontiguousarray(anchors), scatters)
    except NoAnchorError as error:
        return error


def _score(
    passes: Passes, encoding: Encoding, coded: _Coded, prepared: Prepared, looked: int
) -> tuple[Sight, Matrix | None]:
    """Write the scores without gaps; return what is seen of them, and the correlations wanted."""
    tasks = [
        Task(encode_column, (part, coded.places[part.column.name], indicator))
        for part, indicator in encoding.indicated
    ]
    if not passes.scratch.has("filling") and passes.scratch.has("sight"):
        passes.forget("encoding", len(tasks))  # gaps may be filled already, some of them
    gaps: list[dict[int, bool]] = passes.over("encoding", tasks, held=_HELD_ENCODING)
    sight: Sight = passes.once("sight", _see, encoding, coded.places, looked)
    open_gaps = {place: everywhere for found in gaps for place, everywhere in found.items()}
    passes.once("filling", fill_in_blocks, encoding.n_scores, open_gaps)
    wanted: Matrix | None = None
    if prepared.recipe.calibration_rounds:
        wanted = passes.once("correlations", _wanted, encoding, coded.places, prepared.weight)
    passes.drop(["gaps"])
    return sight, wanted


def encode_column(
    scratch: Scratch, part: Part, place: tuple[str, int], indicator: int | None
) -> dict[int, bool]:
    """Write the scores of a column; return which have gaps, and whether nothing else."""
    numbers = scratch.column(*place)
    write_scores(scratch, "raw", part, numbers)
    if indicator is not None:
        scratch.write("raw", indicator, np.isnan(numbers).astype(np.float64))
    del numbers
    found = {}
    for number in range(part.place.start, part.place.stop):
        missing = np.isnan(scratch.column("raw", number))
        if missing.any():
            scratch.write("gaps", number, missing)
            found[number] = bool(missing.all())
    return found


def _see(scratch: Scratch, encoding: Encoding, places: Places, most: int) -> Sight:
    """Return which rows are looked at for curves, and what is not there in them."""
    rows = rows_to_look_at(scratch.n_rows, most)
    scores = scratch.gathered("raw", range(encoding.n_scores), rows)
    numbers = {
        part.column.name: scratch.column(*places[part.column.name])[rows] for part in encoding.parts
    }
    return Sight.among(encoding, rows, numbers, scores)


def _wanted(scratch: Scratch, encoding: Encoding, places: Places, weight: str | None) -> Matrix:
    rows = calibration_rows(scratch.n_rows)
    assert not isinstance(rows, slice)
    numbers = {
        part.column.name: scratch.column(*places[part.column.name])[rows] for part in encoding.parts
    }
    scores = scratch.gathered("raw", range(encoding.n_scores), rows)
    return wanted_correlation(encoding, numbers, scores, weights_among(numbers, weight))


def _units(passes: Passes, encoding: Encoding, places: Places) -> dict[int, float]:
    """Return the standard deviation of each score's numbers, where they measure something."""
    tasks = [Task(_unit, (part, places[part.column.name])) for part in encoding.parts]
    found = zip(encoding.parts, passes.over("units of columns", tasks), strict=True)
    return {part.place.start + one[0]: one[1] for part, one in found if one is not None}


def _unit(scratch: Scratch, part: Part, place: tuple[str, int]) -> tuple[int, float] | None:
    return raw_unit(part.column, scratch.column(*place))


def _scale(
    passes: Passes, encoding: Encoding, sight: Sight, units: Mapping[int, float] | None
) -> tuple[Vector, Vector, list[bool], dict[str, float]]:
    """Return centre and spread of the scores, which do not vary, and the curves among them.

    Standardised scores, or those in their own units, are in scratch as "standard".
    """
    plain = "standard" if units is None else "plain"
    tasks = [Task(_standardize, (j, plain)) for j in range(encoding.n_scores)]
    scaled = passes.over("scaling", tasks, held=_HELD_SCALING)
    centre, spread = (np.array([one[k] for one in scaled]) for k in range(2))
    curved = passes.once("curves", _curves, sight, plain)
    passes.drop(["raw"])
    if units is not None:
        raw = np.ones_like(spread)
        for place, unit in units.items():
            raw[place] = spread[place] / unit
        factors = enumerate((spread / raw).tolist())
        passes.over("own units", [Task(_multiply, (j, factor)) for j, factor in factors])
        passes.drop(["plain"])
        spread = raw
    return centre, spread, [bool(one[2]) for one in scaled], curved


def _standardize(scratch: Scratch, place: int, what: str) -> tuple[float, float, bool]:
    """Write a column of scores with mean 0 and standard deviation 1; return what they were."""
    column = scratch.loaded("raw", place)
    centre, spread = standardize_column(column)
    scratch.write(what, place, column)
    return centre, spread, not column.any()


def _curves(scratch: Scratch, sight: Sight, what: str) -> dict[str, float]:
    width = sight.encoding.n_columns_scores
    return sight.curves_among(scratch.gathered(what, range(width), sight.first_rows))


def _multiply(scratch: Scratch, place: int, factor: float) -> None:
    column = scratch.loaded("plain", place)
    column *= factor
    scratch.write("standard", place, column)

"""A large table masked: to coordinates by blocks, each masked whole, back by blocks, decoded.

Or drawn by forests, and decoded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from types import MappingProxyType

import numpy as np

from icsa.columns import Column
from icsa.constraints import Derivation
from icsa.constraints.grammar import Rule
from icsa.constraints.keeping import Bonds, joined, mended_columns, rules_of
from icsa.ics import InvariantCoordinates
from icsa.masks import MASKS
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.randomness import Key, as_key
from icsa.release.blocks.block_forests import draw_by_forests
from icsa.release.blocks.ground import Ground
from icsa.release.blocks.passes import OF_A_BLOCK, OF_A_COLUMN, Passes, Task
from icsa.release.blocks.scratch import Scratch, StoredNumbers
from icsa.release.blocks.stored_dummies import decoded_numbers
from icsa.release.calibration import Move
from icsa.release.encoding import Encoding, Part
from icsa.release.planning import Plan, calibration_rows
from icsa.release.releasing import specs_in_file

__all__ = [
    "decode_column",
    "keep_stored_rules",
    "mask_coordinate",
    "release_numbers",
    "restore_columns",
    "take_mended",
    "to_coordinates",
]

# Rows of columns that belong together which are computed at a time.
_ROWS = 1 << 17
# Columns that decoding one holds where all are numbers without gaps: measured, 2.2.
_HELD_DECODING_NUMBERS = 3


def release_numbers(
    passes: Passes, ground: Ground, plan: Plan, key: Key, names: Sequence[str]
) -> Mapping[str, int]:
    """Write the numbers of every masked or computed column; return cells that rules moved.

    Those of the column at a place of `names` are in scratch as "released".
    """
    ground = ground.for_scores(plan.encoding.n_scores)
    if plan.triangular is not None:
        draw_by_forests(passes, ground, plan.triangular.features, key, "masked")
    else:
        assert plan.coordinates is not None
        _mask(passes, ground, plan.coordinates, plan.mask, key, plan.encoding.n_scores)
    move: Move | None = None
    if plan.wanted is not None:
        move = passes.once("calibrating", _calibrate, plan)
    passes.scratch.allocate("back", plan.encoding.n_scores)
    tasks = [Task(_back, (rows, plan, move)) for rows in ground.blocks]
    passes.over("back to scores", tasks, held=OF_A_BLOCK)
    passes.drop(["masked"])
    encoding, derivation = plan.decoded_by(key, ground.n_rows)
    parts = encoding.parts
    tasks = [Task(decode_column, (number, part, encoding)) for number, part in enumerate(parts)]
    plain = all(part.group is None and part.column.width == 1 for part in parts)
    passes.over("decoding", tasks, held=_HELD_DECODING_NUMBERS if plain else OF_A_COLUMN)
    passes.drop(["back"])
    coded = {part.column.name: part.column for part in parts}
    passes.once("computing", restore_columns, plan.bonds, derivation, coded, tuple(names))
    passes.drop(["decoded"])
    moved, mended = passes.once("keeping rules", _keep_rules, plan, tuple(names))
    passes.once("rules kept", take_mended, mended)
    passes.scratch.drop_spare()
    found: Mapping[str, int] = moved
    return found


def _mask(
    passes: Passes,
    ground: Ground,
    coordinates: InvariantCoordinates,
    mask: str,
    key: Key,
    p: int,
) -> None:
    k = coordinates.eigenvalues.size
    passes.scratch.allocate("coordinates", k)
    tasks = [Task(to_coordinates, (rows, coordinates, p)) for rows in ground.blocks]
    passes.over("to coordinates", tasks, held=OF_A_BLOCK)
    passes.drop(["standard"])
    # The key goes to whoever masks and is written down nowhere.
    secret = key.child("mask").reveal()
    passes.over("masking", [Task(mask_coordinate, (j, mask, secret)) for j in range(k)])
    passes.drop(["coordinates"])


def to_coordinates(
    scratch: Scratch, rows: slice, coordinates: InvariantCoordinates, p: int
) -> None:
    """Write the coordinates of some rows of standardised scores."""
    x = scratch.rows("standard", range(p), rows)
    # By leaves, as a long table in memory is reduced where some scores follow from others.
    scores = np.empty((x.shape[0], coordinates.eigenvalues.size), order="F")
    for leaf in row_blocks(x.shape[0]):
        scores[leaf] = coordinates.transform(x[leaf])
    scratch.write_rows("coordinates", range(scores.shape[1]), rows, scores)


def mask_coordinate(scratch: Scratch, place: int, mask: str, secret: bytes) -> None:
    """Write a coordinate after masking, all rows of it."""
    column = scratch.loaded("coordinates", place)[:, None]
    masked = MASKS[mask](column, key=as_key(secret), out=column, first=place)
    scratch.write("masked", place, masked[:, 0])


def _calibrate(scratch: Scratch, plan: Plan) -> Move:
    """Return the move that calibrates, found from a sample of the masked rows."""
    rows = calibration_rows(scratch.n_rows)
    assert not isinstance(rows, slice)
    masked = scratch.gathered("masked", range(plan.n_components), rows)
    return plan.calibrating_move(np.ascontiguousarray(_own_scores(plan, masked)))


def _own_scores(plan: Plan, masked: Matrix) -> Matrix:
    """Return the scores of masked rows in their own units, which forests draw them in."""
    if plan.coordinates is None:
        return masked
    scores = plan.coordinates.inverse_transform(masked)
    plan.to_own_units(scores)
    return scores


def _back(scratch: Scratch, rows: slice, plan: Plan, move: Move | None) -> None:
    """Write the masked scores of some rows, in their own units and calibrated."""
    scores = _own_scores(plan, scratch.rows("masked", range(plan.n_components), rows))
    if move is not None:
        move.apply_in_place(scores)
    scratch.write_rows("back", range(scores.shape[1]), rows, scores)


def decode_column(scratch: Scratch, number: int, part: Part, encoding: Encoding) -> None:
    """Write the numbers of a column that is encoded."""
    missing = None
    if part.group is not None:
        first = encoding.n_columns_scores
        missing = encoding.missing_rows(
            part.group, lambda group: scratch.column("back", first + group)
        )
    keeps = encoding.keeps_quantiles
    numbers = decoded_numbers(scratch, "back", part, missing, keeps_quantiles=keeps)
    scratch.write("decoded", number, numbers)


def restore_columns(
    scratch: Scratch,
    bonds: Bonds,
    derivation: Derivation,
    coded: Mapping[str, Column],
    names: tuple[str, ...],
    above: Mapping[str, tuple[str, int]] = MappingProxyType({}),
) -> None:
    """Write the numbers of all columns, those that belong together at a time.

    `above` says where numbers are that others follow from and that are given.
    """
    places = {name: ("decoded", number) for number, name in enumerate(coded)}
    stored, related = StoredNumbers(scratch, {**above, **places}), set[str]()
    together = [one.columns for one in derivation.computed]
    together += [gap.columns for gap in derivation.gaps]
    for group in joined(together):
        ours = replace(
            derivation,
            computed=tuple(one for one in derivation.computed if one.columns <= group),
            gaps=tuple(gap for gap in derivation.gaps if gap.columns <= group),
        )
        own = {*group, *(gap.name for gap in ours.gaps)}
        related |= own
        restored = _restored_by_blocks(scratch.n_rows, stored, own, ours, coded, bonds)
        first = next(restored)
        ours_now = [name for name in first if name not in above]
        with scratch.written("released", map(names.index, ours_now)) as files:
            for found in chain([first], restored):
                for name, file in zip(ours_now, files, strict=True):
                    np.ascontiguousarray(found[name]).tofile(file)
    for name, place in places.items():
        if name not in related:
            scratch.link(*place, "released", names.index(name))


def _restored_by_blocks(
    n_rows: int,
    stored: StoredNumbers,
    names: set[str],
    derivation: Derivation,
    coded: Mapping[str, Column],
    bonds: Bonds,
) -> Iterator[dict[str, Vector]]:
    """Yield the numbers of columns that belong together, some rows after the other."""
    whole = not derivation.goes_by_row
    for rows in row_blocks(n_rows, n_rows if whole else _ROWS):
        numbers = {name: stored[name][rows] for name in stored if name in names}
        yield derivation.restore(numbers, coded, bonds.hold)


def _keep_rules(
    scratch: Scratch, plan: Plan, names: tuple[str, ...]
) -> tuple[dict[str, int], list[int]]:
    """Move numbers until the rules hold; return how many cells each moved, and which columns."""
    rules = rules_of(plan.schema.rules, plan.spare.frame, specs_in_file(plan))
    return keep_stored_rules(scratch, list(plan.columns), plan.bonds, rules, names)


def keep_stored_rules(
    scratch: Scratch,
    columns: Sequence[str],
    bonds: Bonds,
    rules: Sequence[Rule],
    names: tuple[str, ...],
) -> tuple[dict[str, int], list[int]]:
    """Write columns that rules move; return how many cells each rule moved, and which columns."""
    places = {name: ("released", names.index(name)) for name in columns}
    mended, moved = mended_columns(StoredNumbers(scratch, places), bonds, rules)
    for name, found in mended.items():
        scratch.write("mended", names.index(name), found)
    return dict(moved), [names.index(name) for name in mended]


def take_mended(scratch: Scratch, mended: Sequence[int]) -> None:
    """Let mended columns stand for those that were released before."""
    for place in mended:
        scratch.link("mended", place, "released", place)

"""A large table drawn by forests: laws grown on a sample, one variable after the other by blocks.

What is drawn of a row hangs on the row alone, but for its place among all rows in the law of a
measurement, which is drawn before. Then whole columns become cells, whose bins the next ones see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from icsa.forests.laws import MeasuredLaw
from icsa.matrices import LEAF_ROWS, Vector, row_blocks
from icsa.randomness import Key
from icsa.release.blocks.ground import Ground
from icsa.release.blocks.passes import OF_A_BLOCK, Passes, Task
from icsa.release.blocks.scratch import Scratch
from icsa.release.blocks.stored_dummies import FILES_AT_A_TIME, decoded_numbers
from icsa.release.seen_curves import Sight
from icsa.release.triangular import (
    Drawn,
    Features,
    SameAs,
    Step,
    TriangularMap,
    drawn_scores,
    goes_by_all_rows,
    indicator,
    key_of,
)
from icsa.release.triangular_fitting import fitted_map
from icsa.threads import threads_for

__all__ = ["draw_by_forests", "grow_forests"]


def grow_forests(
    passes: Passes, sight: Sight, centre: Vector, spread: Vector, curved: Mapping[str, float]
) -> TriangularMap:
    """Return the laws of all scores; their steps are in scratch, and not in it."""
    features: Features = passes.once("growing forests", _grow, sight, centre, spread, curved)
    return TriangularMap(features, ())


def draw_by_forests(
    passes: Passes, ground: Ground, features: Features, key: Key, what: str
) -> None:
    """Write scores drawn by a key, in their own units."""
    scratch = passes.scratch
    # The key goes to whoever draws and is written down nowhere.
    secret = key.child("forests").reveal()
    measured = [
        index
        for index, variable in enumerate(features.variables)
        if variable.drawn in (Drawn.NUMBER, Drawn.RANK)
    ]
    passes.over("places in laws", [Task(_write_shares, (index, secret)) for index in measured])
    scratch.allocate(what, features.encoding.n_scores)
    last = len(features.variables) - 1
    for index in range(last + 1):
        one = replace(passes, told=_within(passes.told, index, last + 1))
        tasks = [Task(_draw, (rows, index, features, secret, what)) for rows in ground.blocks]
        one.over(f"drawing {index}", tasks, held=OF_A_BLOCK)
        scratch.path("shares", index).unlink(missing_ok=True)
        if index < last:
            one.once(f"cells of {index}", _show, index, features, what)
    passes.drop(["codes", "patterns missing"])


def _within(
    told: Callable[[str, float], None], index: int, count: int
) -> Callable[[str, float], None]:
    """Return who is told how far one of several passes is, as a share of all of them."""
    return lambda _name, share: told("drawing", (index + share) / count)


def _grow(
    scratch: Scratch, sight: Sight, centre: Vector, spread: Vector, curved: Mapping[str, float]
) -> Features:
    """Write the steps, and return how what is drawn becomes bins."""
    known = scratch.gathered("standard", range(sight.encoding.n_scores), sight.rows)
    threads = threads_for(known.size, None)
    found = fitted_map(sight, known, centre, spread, curved=curved, threads=threads)
    for index, step in enumerate(found.steps):
        scratch.keep(_step_name(index), step)
    return found.features


def _step_name(index: int) -> str:
    return f"step-{index}"


def _write_shares(scratch: Scratch, index: int, secret: bytes) -> None:
    """Write where in the law of a measurement each row is drawn."""
    law = scratch.kept(_step_name(index)).law
    assert isinstance(law, MeasuredLaw)
    scratch.write("shares", index, law.shares(scratch.n_rows, key_of(index, Key(secret))))


def _draw(
    scratch: Scratch, rows: slice, index: int, features: Features, secret: bytes, what: str
) -> None:
    """Write the scores of a variable in some rows."""
    step: Step = scratch.kept(_step_name(index))
    places, law = step.variable.places, step.law
    if isinstance(law, SameAs):
        scratch.write_rows(what, places, rows, law.sign * scratch.rows(what, [law.place], rows))
        return
    before = range(features.column_of[places[0]])
    codes = np.ascontiguousarray(scratch.rows("codes", before, rows, np.uint8))
    shares = None
    if isinstance(law, MeasuredLaw):
        shares = scratch.rows("shares", [index], rows)[:, 0]
    own = key_of(index, Key(secret))
    drawn = np.empty((codes.shape[0], len(places)), order="F")
    for some in row_blocks(codes.shape[0]):  # chances of all levels take room
        given = None if shares is None else shares[some]
        first = rows.start + some.start
        drawn[some] = drawn_scores(features, step, codes[some], given, own, first_row=first)
    scratch.write_rows(what, places, rows, drawn)


def _show(scratch: Scratch, index: int, features: Features, what: str) -> None:
    """Write the bins of what was drawn last, by which the next variables are drawn."""
    step: Step = scratch.kept(_step_name(index))
    variable = step.variable
    if variable.completes_part:
        _write_bins_of_numbers(scratch, features, step, what)
        return
    (place,) = variable.places
    shown = scratch.column(what, place)
    if variable.drawn is Drawn.TWO:
        flags = indicator(shown, step.share)
        shown = flags.astype(np.float64)
        if variable.group is not None:
            scratch.write("patterns missing", variable.group, flags)
    scratch.write("codes", features.column_of[place], features.bins(place, shown))


def _write_bins_of_numbers(scratch: Scratch, features: Features, step: Step, what: str) -> None:
    """Write the bins of all scores of a column that is decoded."""
    part = step.variable.part
    assert part is not None
    missing = None
    if part.group is not None:
        missing = scratch.column("patterns missing", part.group, np.bool_)
    numbers = decoded_numbers(
        scratch, what, part, missing, keeps_quantiles=features.encoding.keeps_quantiles
    )
    columns = [features.column_of[place] for place in range(part.place.start, part.place.stop)]
    at_a_time = numbers.size if goes_by_all_rows(step) else LEAF_ROWS
    for first in range(0, len(columns), FILES_AT_A_TIME):
        some = slice(first, first + FILES_AT_A_TIME)
        with scratch.written("codes", columns[some]) as files:
            for rows in row_blocks(numbers.size, at_a_time):
                bins = list(features.bins_of_numbers(step, numbers[rows]))
                for file, own in zip(files, bins[some], strict=True):
                    own.tofile(file)

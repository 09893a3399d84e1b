"""What remains of every row of a large table, masked over all rows: column by column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from icsa.columns.quantile_keeping import KeptQuantiles
from icsa.errors import NoAnchorError
from icsa.ics import InvariantCoordinates
from icsa.matrices import Matrix, Vector
from icsa.randomness import Key, as_key
from icsa.release.blocks.block_coordinates import InBlocks, judge_rows
from icsa.release.blocks.block_masking import mask_coordinate, to_coordinates
from icsa.release.blocks.ground import Ground
from icsa.release.blocks.passes import OF_A_BLOCK, Passes, Task
from icsa.release.blocks.scratch import Scratch, read_starts
from icsa.release.blocks.units.unit_planning import PlannedRows, UnitFiles
from icsa.release.calibration import score_correlation
from icsa.release.coordinates import judges_of
from icsa.release.limits import LIMITS
from icsa.release.methods import Method, method_of
from icsa.release.scores import standardize_column
from icsa.release.units.effect_kernels import whiten_rows
from icsa.release.units.row_residuals import (
    ResidualPlan,
    residual_anchors,
    residual_notes,
    residual_quantiles,
)
from icsa.scatters.anchored_estimate import AnchorJudge, judging_rows
from icsa.shuffling import permutation

__all__ = ["mask_residuals", "plan_residuals", "some_masked"]


class _Whitened(NamedTuple):
    """A score's residuals: their spread, whether they vary, and their quantiles."""

    spread: float
    constant: bool
    quantiles: KeptQuantiles


@dataclass(frozen=True)
class _AsItIs:
    """A score that is an anchor as it is."""

    def anchor(self, numbers: Vector, out: Vector) -> None:
        """Set the numbers."""
        out[:] = numbers


def plan_residuals(
    passes: Passes, ground: Ground, planned: PlannedRows, method: Method, mask: str
) -> ResidualPlan:
    """Return the coordinates of residuals, which are in scratch as "standard", and not in it."""
    level, files = planned.level, planned.files
    q = files.n_scores
    tasks = [Task(_whiten, (j, files, float(planned.effects.memory[j]))) for j in range(q)]
    found: list[_Whitened] = passes.over("scaling", tasks)
    passes.drop(["errors"])
    places, names = residual_anchors(level)
    chosen, judges = _judged(passes, places, method)
    judge_rows(passes, ground, [_AsItIs()] * len(places), [("standard", p) for p in places], judges)
    blocks = InBlocks(passes, ground, q, judges, [one.constant for one in found])
    coordinates = blocks.find((chosen.scatters[0], chosen.scatters[1]), names)
    passes.drop(["counting"])
    assert coordinates.coordinates is not None
    return ResidualPlan(
        np.empty((0, q)),
        np.array([one.spread for one in found]),
        coordinates.coordinates,
        mask,
        tuple(one.quantiles for one in found),
        passes.once("correlations", _correlation, q),
        residual_notes(coordinates, level, mask, ground.n_rows),
    )


def _whiten(scratch: Scratch, place: int, files: UnitFiles, memory: float) -> _Whitened:
    """Write what is new in each row of a score, standardised."""
    column, starts = scratch.loaded("errors", place), read_starts(scratch)
    if memory > 0.0:
        elapsed = scratch.column("elapsed", 0) if files.timed else None
        lags = files.curve.lags(elapsed, starts)
        whiten_rows(column[:, None], starts, lags, np.array([memory]))
        del lags
    _, spread = standardize_column(column)
    scratch.write("standard", place, column)
    return _Whitened(spread, not column.any(), residual_quantiles(column))


def _judged(
    passes: Passes, places: list[int], method: Method
) -> tuple[Method, dict[str, AnchorJudge]]:
    """Return the method, or one that works where nobody asked for it, and who judges."""
    found = passes.once("judges", _fit_judges, places, method.scatters)
    if not isinstance(found, NoAnchorError):
        return method, found
    if method.asked_for:
        raise found
    return method_of("sa", mask=method.mask), {}


def _fit_judges(
    scratch: Scratch, places: list[int], scatters: tuple[str, ...]
) -> dict[str, AnchorJudge] | NoAnchorError:
    rows = judging_rows(scratch.n_rows)
    assert not isinstance(rows, slice)
    try:
        return judges_of(scratch.gathered("standard", places, rows), scatters)
    except NoAnchorError as error:
        return error


def _correlation(scratch: Scratch, n_scores: int) -> Matrix:
    rows = slice(0, min(LIMITS.sample_rows, scratch.n_rows))
    return score_correlation(scratch.rows("standard", range(n_scores), rows))


def mask_residuals(
    passes: Passes, ground: Ground, plan: ResidualPlan, n_rows: int, key: Key
) -> None:
    """Write so many masked rows, all of them as often as is needed: "fresh 0", "fresh 1", ..."""
    coordinates, n_scores = plan.coordinates, plan.spread.size
    k = plan.n_components
    scratch = passes.scratch
    scratch.allocate("coordinates", k)
    tasks = [Task(to_coordinates, (rows, coordinates, n_scores)) for rows in ground.blocks]
    passes.over("to coordinates", tasks, held=OF_A_BLOCK)
    passes.drop(["standard"])
    rounds = range(-(-n_rows // ground.n_rows))
    for number in rounds:
        own = key.child("rows", number)
        again = f" {number}" if number else ""
        secret = own.child("mask").reveal()
        passes.over(
            f"masking{again}", [Task(mask_coordinate, (j, plan.mask, secret)) for j in range(k)]
        )
        if number == rounds[-1]:
            passes.drop(["coordinates"])
        scratch.allocate("back", n_scores)
        tasks = [Task(_back, (rows, coordinates, k)) for rows in ground.blocks]
        passes.over(f"back to scores{again}", tasks, held=OF_A_BLOCK)
        passes.drop(["masked"])
        passes.once(f"order of rows{again}", _write_order, own.reveal())
        tasks = [
            Task(_regain, (j, kept, own.reveal(), f"fresh {number}"))
            for j, kept in enumerate(plan.quantiles)
        ]
        passes.over(f"regaining quantiles{again}", tasks)
        passes.drop(["back", "shuffled"])


def _back(scratch: Scratch, rows: slice, coordinates: InvariantCoordinates, k: int) -> None:
    scores = coordinates.inverse_transform(scratch.rows("masked", range(k), rows))
    scratch.write_rows("back", range(scores.shape[1]), rows, scores)


def _write_order(scratch: Scratch, secret: bytes) -> None:
    scratch.write("shuffled", 0, permutation(scratch.n_rows, as_key(secret).stream("order")))


def _regain(scratch: Scratch, place: int, kept: KeptQuantiles, secret: bytes, what: str) -> None:
    """Write masked residuals of a score with their quantiles regained, in another order."""
    drawn = kept.with_drawn_tails(as_key(secret).stream("tails", place))
    column = drawn.regained(scratch.loaded("back", place))
    scratch.write(what, place, column[scratch.column("shuffled", 0, np.int64)])


def some_masked(scratch: Scratch, n_scores: int, rows: slice) -> Matrix:
    """Return some of the masked rows, each in one piece of memory."""
    found = [
        scratch.rows(f"fresh {number}", range(n_scores), own)
        for number, own in _in_rounds(rows, scratch.n_rows)
    ]
    return np.ascontiguousarray(found[0] if len(found) == 1 else np.concatenate(found))


def _in_rounds(rows: slice, n_rows: int) -> Iterator[tuple[int, slice]]:
    """Yield the round of masking that rows come from, and which of its rows they are."""
    start = rows.start
    while start < rows.stop:
        number = start // n_rows
        stop = min(rows.stop, (number + 1) * n_rows)
        yield number, slice(start - number * n_rows, stop - number * n_rows)
        start = stop

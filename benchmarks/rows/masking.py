"""Masks and the whole transform against copying the same memory, and the room they take."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.children import run_child
from benchmarks.data import table
from benchmarks.results import Case, Row, Target
from benchmarks.rows.settings import Settings
from benchmarks.timing import Timed, interleaved, paced, timed
from icsa.anonymization import masked_copy
from icsa.ics import invariant_coordinates
from icsa.masks import permute, redraw

__all__ = ["cases"]

_COLUMNS = 10


def cases(settings: Settings) -> Iterator[Case]:
    """Yield the masks, the transform and its memory, each with one thread and with two."""
    n, rounds = settings.choose(10_000_000, 1_000_000), settings.choose(5, 2)
    size = f"{n}x{_COLUMNS}"
    for threads in (1, 2):
        name = f"permute {size} threads={threads}"
        yield Case(name, partial(_shuffle_rows, name, n, threads, rounds))
    for threads in (1, 2):
        name = f"redraw {n // 10}x{_COLUMNS} threads={threads}"
        yield Case(name, partial(_redraw_rows, name, n // 10, threads, rounds))
    yield Case(f"permute {size} numpy", partial(_numpy_rows, f"permute {size} numpy", n))
    for threads in (1, 2):
        name = f"transform {size} threads={threads}"
        yield Case(name, partial(_transform_rows, name, n, threads, rounds))
    for threads in (1, 2):
        name = f"memory {size} threads={threads}"
        yield Case(name, partial(_memory_rows, name, n, threads))


def _shuffle_rows(name: str, n: int, threads: int, rounds: int) -> list[Row]:
    z = table(_COLUMNS, n).T  # each column in one piece, as the coordinates give them
    out = np.empty_like(z)
    ours = timed(partial(permute, z, key=None, out=out, threads=threads))
    return [_against_memcpy(name, ours, timed(partial(np.copyto, out, z)), 10.0, threads, rounds)]


def _redraw_rows(name: str, n: int, threads: int, rounds: int) -> list[Row]:
    z = table(_COLUMNS, n).T
    out = np.empty_like(z)
    ours, theirs = (
        timed(partial(mask, z, key=None, out=out, threads=threads)) for mask in (redraw, permute)
    )
    duel = interleaved(ours, theirs, rounds, paced(ours, theirs, 0.0))
    remark = f"{threads} thread(s), into memory given before"
    target = Target("ratio", 0.25)
    return [Row(name, peer="permute", target=target, remark=remark, **duel.figures())]


def _numpy_rows(name: str, n: int) -> list[Row]:
    rows = table(_COLUMNS, n)
    out = np.ones_like(rows)
    permute(rows.T[:1000], key=None)  # loads the kernels
    theirs = partial(np.random.default_rng(0).permuted, rows, axis=1, out=out)
    ours = partial(permute, rows.T, key=None, out=out.T)
    duel = interleaved(timed(ours), timed(theirs), 1, (1, 1))
    remark = "NumPy's generator is not cryptographic"
    return [Row(name, peer="NumPy Generator.permuted", remark=remark, **duel.figures())]


def _transform_rows(name: str, n: int, threads: int, rounds: int) -> list[Row]:
    x = table(n, _COLUMNS)
    coordinates = invariant_coordinates(x[:10_000], scatters=("cov", "cov4"))
    out = np.ones_like(x, order="F")
    ours = timed(partial(masked_copy, x, coordinates, mask="permute", threads=threads, out=out))
    memcpy = timed(partial(np.copyto, np.ones_like(x), x))
    return [_against_memcpy(name, ours, memcpy, 15.0, threads, rounds)]


def _against_memcpy(
    name: str, ours: Timed, memcpy: Timed, times: float, threads: int, rounds: int
) -> Row:
    duel = interleaved(ours, memcpy, rounds, paced(ours, memcpy, 0.0))
    target, remark = Target("ratio", 1.0 / times), f"{threads} thread(s), into memory given before"
    peer = "memcpy of the same array"
    return Row(name, peer=peer, target=target, remark=remark, **duel.figures())


def _memory_rows(name: str, n: int, threads: int) -> list[Row]:
    answer = run_child("peak_memory", str(n), str(_COLUMNS), str(threads)).answer
    share = (answer["peak"] - answer["baseline"]) / answer["table"]
    remark = "peak memory over the interpreter's, the input included"
    target = Target("ours", 2.5)
    return [Row(name, share, unit="tables", target=target, remark=remark, details=answer)]

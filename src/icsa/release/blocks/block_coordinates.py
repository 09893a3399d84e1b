"""The coordinates of a large table: both scatters are sums over leaves of its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from icsa.correlations import varies
from icsa.errors import InputError
from icsa.ics import (
    coordinates_from,
    extended,
    invariant_coordinates,
    shape_in_own_columns,
    whitened_rows,
)
from icsa.matrices import LEAF_ROWS, Matrix, Vector, row_blocks
from icsa.release.blocks.ground import Ground
from icsa.release.blocks.passes import OF_A_BLOCK, Passes, Task
from icsa.release.blocks.scratch import Scratch
from icsa.release.coordinates import FoundCoordinates, unused_notes
from icsa.release.sampled_scatters import (
    fitted_to_sample,
    is_summed,
    named_scatter,
    sampled_rows,
    telling_of_exact_fits,
)
from icsa.row_sums import added, products_of, total_of
from icsa.scatters import SCATTERS, LocationScatter
from icsa.scatters.anchored_estimate import AnchoredScatter, AnchorJudge, with_borrowed_variance
from icsa.scatters.registry import checked_result
from icsa.subspaces import MORE_ROWS, Relations, Subspace, independent_columns, subspace_of

__all__ = ["Anchor", "InBlocks", "anchored", "judge_rows"]


class Anchor(Protocol):
    """What tells from the numbers of a column who stands out."""

    def anchor(self, numbers: Vector, out: Vector) -> None:
        """Set the numbers on a linear scale, those that are missing at the middle."""
        ...


class _Among(NamedTuple):
    """What is added up: scores, in a space or whitened or as they are, and the rows that count.

    Attributes
    ----------
    n_scores : int
    space : Subspace, optional
    judges : tuple of int or None
        By which judges rows count; None counts all.
    whitened_by : LocationScatter, optional
    """

    n_scores: int
    space: Subspace | None
    judges: tuple[int | None, ...]
    whitened_by: LocationScatter | None


class _Sums(NamedTuple):
    """Rows that count, and sums of the leaves of a block: of scores, or of their products."""

    counts: list[int]
    leaves: list[list[Matrix]]


def judge_rows(
    passes: Passes,
    ground: Ground,
    parts: Sequence[Anchor],
    places: Sequence[tuple[str, int]],
    judges: Mapping[str, AnchorJudge],
) -> None:
    """Write down which rows count for each judge, from the numbers of the anchors."""
    if not judges:
        return
    passes.scratch.allocate("counting", len(judges), np.bool_)
    arguments = (tuple(parts), tuple(places), tuple(judges.values()))
    tasks = [Task(_judge, (rows, *arguments)) for rows in ground.blocks]
    passes.over("judging rows", tasks, held=OF_A_BLOCK)


def anchored(
    scratch: Scratch,
    parts: Sequence[Anchor],
    places: Sequence[tuple[str, int]],
    numbers: Iterable[Vector],
    n_rows: int,
) -> Matrix:
    """Return the anchors of some rows, from the numbers of each column in them.

    An error about some cells is one about the whole column, as in memory.
    """
    anchors = np.empty((n_rows, len(parts)), order="F")
    try:
        for part, own, out in zip(parts, numbers, anchors.T, strict=True):
            part.anchor(own, out)
    except InputError:
        for part, place in zip(parts, places, strict=True):
            part.anchor(scratch.column(*place), np.empty(scratch.n_rows))
        raise
    return anchors


def _judge(
    scratch: Scratch,
    rows: slice,
    parts: Sequence[Anchor],
    places: Sequence[tuple[str, int]],
    judges: Sequence[AnchorJudge],
) -> None:
    numbers = (scratch.rows(what, [place], rows)[:, 0] for what, place in places)
    anchors = anchored(scratch, parts, places, numbers, rows.stop - rows.start)
    for number, judge in enumerate(judges):
        kept = [judge.keeps(anchors[leaf]) for leaf in row_blocks(anchors.shape[0])]
        scratch.write_rows("counting", [number], rows, np.concatenate(kept)[:, None])


class InBlocks:
    """Scatters of the standardised scores of a large table, for one pair of names.

    Parameters
    ----------
    passes : Passes
    ground : Ground
    n_scores : int
    judges : mapping of str to AnchorJudge
        By scatter, in the order in which `judge_rows` got them.
    constant : sequence of bool
        Which scores do not vary.
    """

    def __init__(
        self,
        passes: Passes,
        ground: Ground,
        n_scores: int,
        judges: Mapping[str, AnchorJudge],
        constant: Sequence[bool],
    ) -> None:
        self._passes, self._ground, self._p = passes, ground, n_scores
        self._judges, self._constant = dict(judges), constant
        self._space: Subspace | None = None

    def find(self, scatters: tuple[str, str], names: Sequence[str]) -> FoundCoordinates:
        """Return the coordinates for a pair of scatters; `names` are those of the anchors."""
        first, second = scatters
        if any(self._constant):
            raise InputError(
                "A score does not vary, as where a level is only declared: such a table is "
                "released in memory only. Give --memory more, or drop columns with one value."
            )
        with telling_of_exact_fits():
            return self._found(first, second, self._notes(names))

    def _notes(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return what people should know of the judges."""
        unused = [
            [name for j, name in enumerate(names) if j not in judge.used]
            for judge in self._judges.values()
        ]
        return tuple(dict.fromkeys(note for them in unused for note in unused_notes(them)))

    def _found(self, first: str, second: str, notes: tuple[str, ...]) -> FoundCoordinates:
        pair = (first, second)
        found: list[LocationScatter] = []
        if all(name in self._judges for name in pair):
            found = self._scatters(pair)
            if not _n_borrowed(found):
                coordinates = invariant_coordinates(np.zeros((2, self._p)), scatters=found)
                return FoundCoordinates(coordinates, 0, notes)
        self._space = self._spanned(pair)
        s1 = found[0] if found and self._space is None else self._scatters((first,))[0]
        s1 = self._usable(first, s1)
        whitened = self._usable(second, self._scatters((second,), s1)[0])
        turned = whitened.scatter
        if self._is_sampled(second) and SCATTERS[second].unit_determinant:
            turned = shape_in_own_columns(turned, s1.factor)
        core = coordinates_from(s1, turned, pair)
        coordinates = core if self._space is None else extended(core, self._space)
        return FoundCoordinates(coordinates, _n_borrowed((s1, whitened)), notes)

    def _usable(self, name: str, found: LocationScatter) -> LocationScatter:
        """Return a scatter whose weights come from anchors if it is regular, as in memory."""
        return checked_result(found, found.location.size, name) if name in self._judges else found

    def flat_scores(self) -> set[int]:
        """Return the scores that do not vary among the rows that count for some judge."""
        tasks = [Task(_is_flat, (place, len(self._judges))) for place in range(self._p)]
        found = self._passes.over("looking at who stands out", tasks)
        return {place for place, flat in enumerate(found) if flat}

    def _scatters(
        self, names: Sequence[str], s1: LocationScatter | None = None
    ) -> list[LocationScatter]:
        """Return scatters by name: of sums over rows, or the one that is fitted to a sample."""
        if self._is_sampled(names[0]):
            return [self._fitted_to_sample(names[0], s1)]
        moments = self._moments([self._number(name) for name in names], s1)

        def everyone() -> Matrix:
            return self._moments([None], s1)[0][1]

        found: list[LocationScatter] = []
        for name, (mean, covariance) in zip(names, moments, strict=True):
            if name == "identity":
                found.append(LocationScatter(mean, np.eye(mean.size)))
            elif name not in self._judges:
                found.append(LocationScatter(mean, covariance))
            else:
                scatter, lent = with_borrowed_variance(mean, covariance, everyone)
                found.append(
                    AnchoredScatter(
                        mean,
                        scatter,
                        weights=np.empty(0, dtype=bool),
                        anchors=self._judges[name].used,
                        n_borrowed=lent,
                    )
                )
        return found

    def _is_sampled(self, name: str) -> bool:
        return name not in self._judges and not is_summed(name)

    def _fitted_to_sample(self, name: str, s1: LocationScatter | None) -> LocationScatter:
        rows = sampled_rows(self._ground.n_rows)
        among = _Among(self._p, self._space, (), s1)
        tasks = [
            Task(_some_rows, (block, among, rows[(rows >= block.start) & (rows < block.stop)]))
            for block in self._ground.blocks
        ]
        found = self._passes.over(f"sampling scores {self._label(s1)}", tasks, held=OF_A_BLOCK)

        def everyone() -> Matrix:
            return self._moments([None], s1)[0][1]

        return fitted_to_sample(named_scatter(name), np.concatenate(found), everyone)

    def _label(self, s1: LocationScatter | None) -> str:
        """Return what tells passes over the same scores apart."""
        whitened = "whitened " if s1 is not None else ""
        return whitened + ("reduced " if self._space is not None else "")

    def _number(self, name: str) -> int | None:
        return list(self._judges).index(name) if name in self._judges else None

    def _moments(
        self, numbers: Sequence[int | None], s1: LocationScatter | None
    ) -> list[tuple[Vector, Matrix]]:
        """Return mean and covariance for each of the sets of rows that count."""
        p = self._p if self._space is None else self._space.project.shape[0]
        label = self._label(s1) + "-".join("all" if n is None else str(n) for n in numbers)
        among = _Among(self._p, self._space, tuple(numbers), s1)
        tasks = [Task(_totals, (rows, among)) for rows in self._ground.blocks]
        counts = [0] * len(numbers)
        totals = [np.zeros(p) for _ in numbers]
        for block in self._passes.each(f"means of scores {label}", tasks, held=OF_A_BLOCK):
            for k, count in enumerate(block.counts):
                counts[k] += count
                totals[k] = added(block.leaves[k], totals[k])
        means = [total / count for total, count in zip(totals, counts, strict=True)]
        tasks = [Task(_products, (rows, among, tuple(means))) for rows in self._ground.blocks]
        products = [np.zeros((p, p)) for _ in numbers]
        for block in self._passes.each(f"products of scores {label}", tasks, held=OF_A_BLOCK):
            for k, leaves in enumerate(block.leaves):
                products[k] = added(leaves, products[k])
        return [(means[k], products[k] / (counts[k] - 1)) for k in range(len(numbers))]

    def _spanned(self, pair: tuple[str, str]) -> Subspace | None:
        """Return the space that the scores span where some follow from others exactly."""
        anchored = any(name in self._judges for name in pair)
        if not anchored and not any(SCATTERS[name].needs_full_rank for name in pair):
            return None
        orthonormal = anchored or not all(SCATTERS[name].affine_equivariant for name in pair)
        ((means, covariance),) = self._moments([None], None)
        deviations = np.sqrt(np.diagonal(covariance))
        scratch, p, rounds = self._passes.scratch, self._p, 0

        def gathered(rows: np.ndarray) -> Matrix:
            return scratch.gathered("standard", range(p), rows)

        def broken(relations: Relations) -> np.ndarray:
            nonlocal rounds
            rounds += 1
            arguments = (p, means, deviations, relations)
            tasks = [Task(_broken, (rows, *arguments)) for rows in self._ground.blocks]
            name = f"products of scores related {rounds}"
            return np.concatenate(self._passes.over(name, tasks, held=OF_A_BLOCK))[:MORE_ROWS]

        columns, weights = independent_columns(means, covariance, gathered, broken, scratch.n_rows)
        return subspace_of(means, columns, weights, orthonormal=orthonormal)


def _broken(
    scratch: Scratch, rows: slice, p: int, means: Vector, deviations: Vector, relations: Relations
) -> np.ndarray:
    """Return the first rows of a block in which relations do not hold."""
    x = scratch.rows("standard", range(p), rows)
    found = [
        np.flatnonzero(relations.broken_in((x[leaf] - means) / deviations)) + leaf.start
        for leaf in row_blocks(x.shape[0])
    ]
    return np.asarray(np.concatenate(found)[:MORE_ROWS] + rows.start)


def _n_borrowed(scatters: Sequence[LocationScatter]) -> int:
    """Return in how many directions only people who stand out vary."""
    return max((s.n_borrowed for s in scatters if isinstance(s, AnchoredScatter)), default=0)


def _scores(scratch: Scratch, rows: slice, among: _Among) -> Matrix:
    """Return the scores of a block, in a space or whitened where that is asked for."""
    space, s1 = among.space, among.whitened_by
    x: Matrix = scratch.rows("standard", range(among.n_scores), rows)
    if space is not None:
        leaves = row_blocks(x.shape[0], LEAF_ROWS)
        x = np.concatenate([space.reduce(x[leaf], space.origin) for leaf in leaves])
    return x if s1 is None else whitened_rows(x, s1)


def _some_rows(scratch: Scratch, rows: slice, among: _Among, wanted: np.ndarray) -> Matrix:
    """Return some rows of a block."""
    return np.ascontiguousarray(_scores(scratch, rows, among)[wanted - rows.start])


def _leaves(
    scratch: Scratch, rows: slice, among: _Among
) -> Iterator[tuple[int, Matrix, np.ndarray]]:
    """Yield the number of a set, the scores of a leaf, and which of its rows count."""
    x = _scores(scratch, rows, among)
    flags = [
        np.ones(x.shape[0], dtype=bool)
        if number is None
        else scratch.rows("counting", [number], rows, np.bool_)[:, 0]
        for number in among.judges
    ]
    for leaf in row_blocks(x.shape[0], LEAF_ROWS):
        for k, counting in enumerate(flags):
            yield k, x[leaf], counting[leaf]


def _totals(scratch: Scratch, rows: slice, among: _Among) -> _Sums:
    found = _Sums([0] * len(among.judges), [[] for _ in among.judges])
    for k, leaf, counting in _leaves(scratch, rows, among):
        found.counts[k] += int(counting.sum())
        found.leaves[k].append(total_of(leaf, counting))
    return found


def _products(scratch: Scratch, rows: slice, among: _Among, means: Sequence[Vector]) -> _Sums:
    found = _Sums([], [[] for _ in among.judges])
    for k, leaf, counting in _leaves(scratch, rows, among):
        found.leaves[k].append(products_of(leaf, means[k], counting))
    return found


def _is_flat(scratch: Scratch, place: int, n_judges: int) -> bool:
    column = scratch.column("standard", place)
    kept = (scratch.column("counting", number, np.bool_) for number in range(n_judges))
    return any(not varies(column[counting]) for counting in kept)

"""The MCD's search on fresh tables: it stops when populations agree, and then nothing is better."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from icsa.scatters import mcd_long, mcd_populations
from icsa.scatters.mcd_ends import Ends
from icsa.scatters.mcd_estimate import mcd
from icsa.scatters.mcd_factors import subset_size
from icsa.scatters.mcd_long import PartStarts, settled_from_part
from icsa.scatters.mcd_populations import Populations, populations_needed
from icsa.scatters.mcd_starts import STARTS, RandomStarts, Starts

Generator = np.random.Generator


def _mixed(rng: Generator, n: int, p: int, correlation: float) -> np.ndarray:
    distance = np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    return rng.normal(size=(n, p)) @ np.linalg.cholesky(correlation**distance).T


def _clusters(rng: Generator, n: int, p: int) -> np.ndarray:
    centres = 3.0 * rng.normal(size=(3, p))
    return rng.normal(size=(n, p)) + centres[rng.choice(3, size=n, p=[0.45, 0.35, 0.2])]


def _ties(rng: Generator, n: int, p: int) -> np.ndarray:
    x = rng.normal(size=(n, p))
    x[: n // 4] = x[n - n // 4 :]
    x[:, 0] = np.rint(x[:, 0])
    return x


KINDS: dict[str, Callable[[Generator, int, int], np.ndarray]] = {
    "normal": lambda rng, n, p: rng.normal(size=(n, p)),
    "correlated": lambda rng, n, p: _mixed(rng, n, p, 0.9),
    "rounded": lambda rng, n, p: np.rint(4.0 * _mixed(rng, n, p, 0.5)) / 4.0,
    "clusters": _clusters,
    "ties": _ties,
}
SHAPES = ((105, 6), (120, 8), (200, 5), (150, 12))


def _draw(kind: str, n: int, p: int, seed: int) -> np.ndarray:
    return KINDS[kind](np.random.default_rng([seed, n, p, *kind.encode()]), n, p)


def test_twenty_times_the_starts_find_nothing_better_in_fresh_tables() -> None:
    # 57 of 60 do. Numbers of starts that were made to fit the reference sets, as this search once
    # had, do not: they reached the best in 49.
    reached = []
    for kind in KINDS:
        for n, p in SHAPES:
            for seed in range(3):
                x = _draw(kind, n, p, seed)
                found = mcd(x)
                wide = mcd(x, n_starts=20 * max(found.n_starts, 5 * STARTS), random_state=seed + 1)
                reached.append(found.objective <= wide.objective + 1e-9)
    assert np.mean(reached) >= 0.95


def test_long_tables_end_the_same_from_other_parts() -> None:
    # The starts come from other rows altogether. When one part was searched, and its best subset
    # settled in all rows, that ended in the same subset in 4 of these 10 tables.
    gaps = []
    for kind in KINDS:
        for seed in range(2):
            x = _draw(kind, 2000, 5, seed)
            found, other = mcd(x), mcd(x, random_state=seed + 1)
            gaps.append(abs(found.objective - other.objective))
    assert np.mean(np.array(gaps) < 1e-9) >= 0.7
    assert max(gaps) < 0.01


def test_very_long_tables_choose_between_clusters_with_more_rows_than_a_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # In a part of 600 rows the best cluster may not be the one that is best in all of them.
    tables = [_draw("clusters", 25_000, 3, seed) for seed in range(6)]

    def objectives(candidates: int) -> np.ndarray:
        monkeypatch.setattr(mcd_long, "_CANDIDATES", candidates)
        return np.array([[mcd(x, random_state=s).objective for s in range(4)] for x in tables])

    one, several = objectives(1), objectives(5)
    assert np.mean(several <= one + 1e-4) >= 0.95
    assert np.max(one - several) > 0.1


@pytest.mark.parametrize(("different", "needed"), [(1, 5), (2, 7), (3, 9), (10, 15)])
def test_populations_needed(different: int, needed: int) -> None:
    assert populations_needed(different) == needed
    assert different / (needed * (needed - 1)) <= 1 / 20
    assert different / ((needed - 1) * (needed - 2)) > 1 / 20


class _Planned:
    """Starts at given subsets: populations end where they are told to."""

    def __init__(self, subsets: list[np.ndarray]) -> None:
        self.subsets, self.drawn = subsets, 0

    def draw(self, first: int, count: int) -> Starts:
        assert first == self.drawn
        self.drawn += count
        taken = [self.subsets[(first + i) % len(self.subsets)] for i in range(count)]
        return Starts(np.array(taken), np.arange(count))


def _two_ends() -> tuple[np.ndarray, int, np.ndarray, np.ndarray]:
    """Return a table of two clusters (columns first), h, and the better and the worse one."""
    rng = np.random.default_rng(3)
    x = np.vstack([rng.normal(size=(33, 2)), 40.0 + 1.5 * rng.normal(size=(33, 2))])
    h = subset_size(66, 2, 0.5)
    ends = Ends(np.ascontiguousarray(x.T), h)
    near, far = np.arange(h), np.arange(66 - h, 66)
    places = ends.descend(np.array([near, far]), np.array([h, h]))
    return ends.xt, h, *(ends.rows(place) for place in places)


def test_stops_after_five_populations_that_agree() -> None:
    xt, h, better, _ = _two_ends()
    plan = _Planned([better])
    populations = Populations(Ends(xt, h), plan, seed=0, restarts=0)
    populations.search()
    assert plan.drawn == populations.agreeing == 5
    np.testing.assert_array_equal(populations.rows, better)


def test_goes_on_while_champions_differ() -> None:
    xt, h, better, worse = _two_ends()
    plan = _Planned([worse, worse, better])
    populations = Populations(Ends(xt, h), plan, seed=0, restarts=0)
    populations.search()
    assert (plan.drawn, populations.agreeing) == (9, 3)
    np.testing.assert_array_equal(populations.rows, better)


def test_goes_on_while_the_best_was_reached_only_once() -> None:
    xt, h, better, worse = _two_ends()
    plan = _Planned([better] + 30 * [worse])
    populations = Populations(Ends(xt, h), plan, seed=0, restarts=0)
    populations.search()
    assert plan.drawn == populations.starts // STARTS == 60  # the most: agreed or not
    assert populations.agreeing == 2
    np.testing.assert_array_equal(populations.rows, better)


def test_takes_the_starts_that_it_is_told_to() -> None:
    x = np.random.default_rng(1).normal(size=(50, 3))
    assert mcd(x, n_starts=1).n_starts == STARTS
    assert mcd(x, n_starts=7 * STARTS).n_starts == 7 * STARTS
    assert mcd(x, alpha=1.0).n_starts == 0


def test_never_takes_more_populations_than_the_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcd_populations, "_MOST", 6)
    monkeypatch.setattr(mcd_populations, "_AGREEING", 7)
    assert mcd(np.random.default_rng(1).normal(size=(50, 3))).n_starts == 6 * STARTS


def test_crossing_finds_what_no_parent_is() -> None:
    improved = 0
    for seed in range(10):
        x = _draw("ties", 120, 8, 100 + seed)
        xt, h = np.ascontiguousarray(x.T), subset_size(120, 8, 0.5)
        starts, ends = RandomStarts(xt, h, seed).draw(0, 1), Ends(xt, h)
        ends.descend(starts.subsets, np.full(starts.populations.size, h))
        populations = Populations(Ends(xt, h), RandomStarts(xt, h, seed), seed, restarts=0)
        populations.search(n_starts=1)
        assert populations.objective <= ends.objectives.min() + 1e-12
        improved += populations.objective < ends.objectives.min() - 1e-9
    assert improved >= 1


def test_restarts_from_a_few_rows_of_a_champion_find_what_lies_beside_it() -> None:
    improved = 0
    for seed in range(10):
        x = _draw("ties", 120, 8, 100 + seed)
        xt, h = np.ascontiguousarray(x.T), subset_size(120, 8, 0.5)
        objectives = []
        for restarts in (0, 2):
            populations = Populations(Ends(xt, h), RandomStarts(xt, h, seed), seed, restarts)
            populations.search(n_starts=1)
            objectives.append(populations.objective)
        assert objectives[1] <= objectives[0] + 1e-12
        improved += objectives[1] < objectives[0] - 1e-9
    assert improved >= 1


@pytest.mark.parametrize("source", [RandomStarts, PartStarts])
def test_populations_depend_on_seed_and_number_alone(source: type) -> None:
    n = 60 if source is RandomStarts else 1600
    xt = np.ascontiguousarray(np.random.default_rng(0).normal(size=(n, 3)).T)
    h = subset_size(n, 3, 0.5)
    arguments = (xt, h, 7) if source is RandomStarts else (xt, 0.5, 7)
    together = source(*arguments).draw(0, 4)
    for number in range(4):
        alone = source(*arguments).draw(number, 1)
        np.testing.assert_array_equal(
            np.sort(alone.subsets, axis=0),
            np.sort(together.subsets[together.populations == number], axis=0),
        )


def test_ties_in_a_column_leave_elemental_starts() -> None:
    # A column that is 0 in 45% of the rows: nearly all elemental starts are singular at first.
    rng = np.random.default_rng(6)
    x = rng.normal(size=(100, 6))
    x[rng.permutation(100) < 45, :5] = 0.0
    xt = np.ascontiguousarray(x.T)
    starts = RandomStarts(xt, subset_size(100, 6, 0.5), 0).draw(0, 5)
    assert np.bincount(starts.populations, minlength=5).min() >= 3


def test_a_part_says_how_it_was_searched() -> None:
    xt = np.ascontiguousarray(np.random.default_rng(0).normal(size=(25_000, 2)).T)
    rows, populations = settled_from_part(xt, 0.75, 1, None)
    assert rows.size == subset_size(25_000, 2, 0.75)
    assert populations.agreeing >= 3

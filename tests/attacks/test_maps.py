"""Two releases or p + 2 insiders find the map of permuted scores; it tells who is a member."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from icsa.attacks import (
    map_from_flips,
    map_from_insiders,
    map_from_releases,
    same_directions,
    scores_present,
)
from icsa.attacks.two_releases import _distance
from icsa.errors import InputError

from .tables import people, released

SEEDS = range(4)


@pytest.mark.parametrize("decorrelate", [False, True])
def test_two_permuted_releases_give_map_and_members(decorrelate: bool) -> None:
    whole = 0
    for seed in SEEDS:
        x, outsiders = people(200, 3, seed), people(200, 3, seed + 100)
        (one, coordinates), (two, _) = (
            released(x, "permute", 10 * seed + k, decorrelate=decorrelate) for k in (0, 1)
        )
        found = map_from_releases(one, two, starts=200, seed=seed)
        true = same_directions(found.directions, coordinates.unmixing, x.std(axis=0))
        # What it claims to have found is right, always.
        assert np.count_nonzero(true) == found.directions.shape[0]
        whole += true.all()
        if found.directions.size:
            inside = scores_present(x @ found.directions.T, found.scores)
            outside = scores_present(outsiders @ found.directions.T, found.scores)
            assert (inside == found.directions.shape[0]).all()
            assert outside.max() <= 1
            assert (outside > 0).mean() < 0.01
    assert whole >= 3


@pytest.mark.parametrize(("mask", "decorrelate"), [("rotate", False), ("redraw", True)])
def test_two_releases_drawn_anew_have_nothing_in_common(mask: str, decorrelate: bool) -> None:
    for seed in SEEDS:
        x = people(200, 3, seed)
        one, two = (released(x, mask, 10 * seed + k, decorrelate=decorrelate)[0] for k in (0, 1))
        found = map_from_releases(one, two, starts=40, seed=seed)
        assert found.first.shape == (0, 3)
        assert found.directions.shape == (0, 3)
        assert found.scores.shape == (200, 0)
        assert found.gap > 1e-6


def test_the_gradient_is_that_of_the_distance() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 30, 4))
    w = rng.normal(size=4)
    _, gradient = _distance(w, x, y)
    for j, step in itertools.product(range(4), (1e-6,)):
        up, down = w.copy(), w.copy()
        up[j] += step
        down[j] -= step
        slope = (_distance(up, x, y)[0] - _distance(down, x, y)[0]) / (2 * step)
        assert gradient[j] == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_two_flipped_releases_give_the_mixing_matrix() -> None:
    for seed in SEEDS:
        x = people(200, 4, seed)
        (one, coordinates), (two, _) = (released(x, "flip", 10 * seed + k) for k in (0, 1))
        found = map_from_flips(one, two)
        assert same_directions(found, coordinates.mixing.T, np.ones(4)).all()
        one, two = (released(x, "redraw", 10 * seed + k, decorrelate=True)[0] for k in (0, 1))
        assert map_from_flips(one, two).shape == (0, 4)


@pytest.mark.parametrize("p", [2, 3, 4])
def test_insiders_find_the_map_of_a_permuted_release(p: int) -> None:
    for seed in SEEDS:
        x = people(60, p, seed)
        table, coordinates = released(x, "permute", seed)
        # With two columns now and then somebody is released as a whole, and is of no use.
        found = map_from_insiders(table, x[: p + 4])
        assert same_directions(found.directions, coordinates.unmixing, x.std(axis=0)).all()
        assert found.directions.shape == (p, p)
        assert found.n_tries == 60 ** (p - 2)


@pytest.mark.parametrize("p", [2, 3])
def test_people_who_are_no_insiders_find_nothing(p: int) -> None:
    for seed in SEEDS:
        table, _ = released(people(60, p, seed), "permute", seed)
        outsiders = people(60, p, seed + 100)
        assert map_from_insiders(table, outsiders[: p + 2]).directions.shape == (0, p)


@pytest.mark.parametrize(
    ("mask", "decorrelate"), [("permute", True), ("rotate", False), ("redraw", False)]
)
def test_insiders_find_nothing_where_no_score_is_kept(mask: str, decorrelate: bool) -> None:
    for seed in SEEDS:
        x = people(60, 3, seed)
        table, _ = released(x, mask, seed, decorrelate=decorrelate)
        assert map_from_insiders(table, x[:5]).directions.shape == (0, 3)


def test_insiders_by_hand() -> None:
    """Along the axes: whole columns moved on by one and two rows, and everybody is found."""
    x = np.array([[0.0, 3.0], [1.0, 7.5], [2.5, 1.0], [4.2, 0.2], [7.7, 5.1]])
    table = np.column_stack([np.roll(x[:, 0], 1), np.roll(x[:, 1], 2)])
    found = np.abs(map_from_insiders(table, x[:4]).directions)
    np.testing.assert_allclose(found[np.argsort(found[:, 1])], np.eye(2), atol=1e-12)


def test_insiders_who_are_released_as_they_are_say_nothing() -> None:
    x = people(40, 2, 1)
    assert map_from_insiders(x, x[:9]).directions.shape == (0, 2)
    table, coordinates = released(x, "permute", 1)
    table[5] = x[0]
    found = map_from_insiders(table, x[:9]).directions
    assert same_directions(found, coordinates.unmixing, x.std(axis=0)).all()


def test_what_cannot_be_searched_is_said() -> None:
    with pytest.raises(InputError, match="5 insiders with 3 cells"):
        map_from_insiders(np.zeros((9, 3)), np.zeros((4, 3)))
    with pytest.raises(InputError, match="ways to match"):
        map_from_insiders(np.zeros((1000, 6)), np.zeros((8, 6)))
    with pytest.raises(InputError, match="one shape"):
        map_from_releases(np.zeros((9, 3)), np.zeros((8, 3)))

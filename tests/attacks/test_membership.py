"""With the map known, permuted scores give members away, scores drawn anew hardly do."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.attacks import membership_with_map
from icsa.correlations import area_under_curve
from icsa.errors import InputError

from .tables import people, released


def areas(mask: str, *, decorrelate: bool = False) -> np.ndarray:
    """Return nearest, density and outermost of several tables."""
    found = []
    for seed in range(6):
        everybody = people(480, 4, seed)
        x, outsiders = everybody[:240], everybody[240:]
        table, coordinates = released(x, mask, seed, decorrelate=decorrelate)
        result = membership_with_map(
            *(coordinates.transform(part) for part in (table, x, outsiders))
        )
        found.append((result.nearest, result.density, result.outermost))
    return np.array(found)


def test_permuted_scores_give_members_away() -> None:
    found = areas("permute")
    assert found[:, 0].min() > 0.999
    assert found[:, 1].mean() > 0.6
    assert found[:, 2].min() > 0.999


@pytest.mark.parametrize(("mask", "decorrelate"), [("rotate", False), ("redraw", True)])
def test_scores_drawn_anew_hardly_do(mask: str, decorrelate: bool) -> None:
    assert areas(mask, decorrelate=decorrelate)[:, :2].mean(axis=0).max() < 0.65


def test_people_of_one_kind_are_not_told_apart() -> None:
    """Members and outsiders of a release of somebody else: one half, by chance."""
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        result = membership_with_map(*rng.normal(size=(3, 200, 3)))
        found.append((result.nearest, result.density))
    # Each is .5 with a standard error of .03 / sqrt(20).
    assert np.abs(np.mean(found, axis=0) - 0.5).max() < 0.03


def test_areas_by_hand() -> None:
    assert area_under_curve(np.array([1.0]), np.array([0.0, 2.0])) == 0.5
    assert area_under_curve(np.array([3.0, 4.0]), np.array([0.0, 2.0])) == 1.0
    assert area_under_curve(np.array([1.0, 1.0]), np.array([1.0])) == 0.5
    with pytest.raises(InputError, match="same components"):
        membership_with_map(np.zeros((3, 2)), np.zeros((3, 2)), np.zeros((3, 1)))

"""The risk before any key: what chance explains is no risk, what a recipe copies is."""

from __future__ import annotations

import numpy as np

from icsa.comparison.features import as_features
from icsa.privacy.before_release import clear_risks, risk_over_redraws
from icsa.privacy.lenses import fit_lenses
from icsa.privacy.people import measure_surroundings
from icsa.privacy.policy import Policy, Threshold
from icsa.privacy.standing_out import standing_out

N = 120


def risks(recipe: str, policy: Policy | None = None) -> list[float]:
    """Return the risks of the people of five tables of three columns, 60 keys each."""
    found = []
    for seed in range(5):
        rng = np.random.default_rng([31, seed])
        x = rng.normal(size=(N, 3))
        lenses = fit_lenses(as_features(x, x, grids=np.zeros(3)))
        around = measure_surroundings(lenses, standing_out(lenses))

        def again(number: int, x: np.ndarray = x, rng: np.random.Generator = rng) -> object:
            fresh = rng.normal(size=(N, 3))
            if recipe == "copies every second time" and number % 2:
                fresh = x + 0.01
            return as_features(x, fresh, grids=np.zeros(3)).released

        redrawn = risk_over_redraws(lenses, around, again, 60)
        found += clear_risks(redrawn.expected, around, (N, N), policy or Policy()).values()
    return found


def test_fresh_people_who_come_near_in_few_columns_are_no_risk() -> None:
    assert not any(risks("fresh people"))
    # By the limit of .1 alone, whatever chance gives, somebody would be.
    deaf = Threshold(0.0, "for a test")
    assert any(risks("fresh people", Policy(before_factor=deaf)))


def test_a_recipe_that_copies_under_some_keys_is_a_risk() -> None:
    found = np.array(risks("copies every second time"))
    assert np.mean(found >= 0.5) >= 0.8  # near twins are the rest

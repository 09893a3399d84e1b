"""Choices of a recipe that do not exist."""

from __future__ import annotations

import pytest

from icsa.errors import InputError
from icsa.release.recipes import resolve_recipe


@pytest.mark.parametrize("choice", ["keep_quantiles", "find_relations", "split_zeros"])
@pytest.mark.parametrize("value", [3, 0, "yes", 1.0, None])
def test_switches_are_true_or_false(choice, value):
    with pytest.raises(InputError, match=f"{choice} must be true or false"):
        resolve_recipe("mixed", {choice: value})
    assert getattr(resolve_recipe("mixed", {choice: False}), choice) is False


@pytest.mark.parametrize("value", [True, -1, 101, 2.0, "6"])
def test_rounds_are_a_whole_number(value):
    with pytest.raises(InputError, match="calibration_rounds must be a whole number"):
        resolve_recipe("mixed", {"calibration_rounds": value})

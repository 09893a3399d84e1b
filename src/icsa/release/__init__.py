"""From a table with columns of any kind to its release."""

from __future__ import annotations

from icsa.release.anonymizing import anonymize, plan_release, release_of, spared
from icsa.release.plan import Plan, make_plan
from icsa.release.recipes import RECIPES, Recipe, resolve_recipe
from icsa.release.records import ColumnChange, Release

__all__ = [
    "RECIPES",
    "ColumnChange",
    "Plan",
    "Recipe",
    "Release",
    "anonymize",
    "make_plan",
    "plan_release",
    "release_of",
    "resolve_recipe",
    "spared",
]

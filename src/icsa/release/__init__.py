"""From a table with columns of any kind to its release."""

from __future__ import annotations

from icsa.recipes import RECIPES, Recipe, resolve_recipe
from icsa.release.anonymizing import (
    anonymize,
    plan_of,
    plan_release,
    prepare_release,
    release_of,
)
from icsa.release.plan import Plan
from icsa.release.preparation import Prepared
from icsa.release.records import ColumnChange, Release

__all__ = [
    "RECIPES",
    "ColumnChange",
    "Plan",
    "Prepared",
    "Recipe",
    "Release",
    "anonymize",
    "plan_of",
    "plan_release",
    "prepare_release",
    "release_of",
    "resolve_recipe",
]

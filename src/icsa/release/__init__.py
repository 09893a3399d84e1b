"""From a table with columns of any kind to its release: prepare, plan, release.

`anonymize` does all three. A plan can be released under many keys; what a call uses up, so that a
long table takes less room, has *Once* in its name.
"""

from __future__ import annotations

from icsa.recipes import RECIPES, Recipe, resolve_recipe
from icsa.release.accounts import ColumnChange
from icsa.release.planning import Plan, PlanOnce, plan
from icsa.release.preparing import PreparedOnce, prepare
from icsa.release.releasing import Release, anonymize, release

__all__ = [
    "RECIPES",
    "ColumnChange",
    "Plan",
    "PlanOnce",
    "PreparedOnce",
    "Recipe",
    "Release",
    "anonymize",
    "plan",
    "prepare",
    "release",
    "resolve_recipe",
]

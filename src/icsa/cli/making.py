"""How a release was made: as options of ``icsa assess`` say, or as whoever just made it knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from icsa.release import Plan, Release
    from icsa.release.design_plans import DesignPlan
    from icsa.release.methods import MethodOptions
    from icsa.schema import Schema
    from icsa.tables import Table

__all__ = ["Making"]


class Making(NamedTuple):
    """How the release was made, as far as it is known.

    `release` is the account of one that this very command made: nothing about it is doubtful.
    """

    recipe: str | None = None
    method: str | None = None
    scatters: Sequence[str] | None = None
    mask: str | None = None
    raw_units: bool = False
    keep: Sequence[str] = ()
    drop: Sequence[str] = ()
    release: Release | None = None

    @classmethod
    def of(cls, release: Release, choices: Mapping[str, Any], options: MethodOptions) -> Making:
        """Return how a release was just made."""
        return cls(
            recipe=release.recipe.name,
            method=release.method,  # what was taken, whatever a sample would have taken
            scatters=options.get("scatters"),
            mask=options.get("mask"),
            raw_units=options.get("raw_units", False),
            keep=choices["keep"],
            drop=choices["drop"],
            release=release,
        )

    @property
    def told(self) -> bool:
        """Whether the recipe, or anything that goes with it, is known."""
        return any(one is not None for one in (self.recipe, self.method, self.scatters, self.mask))

    def plan(
        self,
        table: Table,
        schema: Schema | None,
        said: Mapping[str, Any],
        *,
        what: str = "this original",
    ) -> tuple[Plan | DesignPlan, Schema, str]:
        """Return the plan that the release was made by, its schema, and a note on doubts.

        `what` the table is goes into the note, which is empty where nothing is doubtful.
        """
        from icsa.release import Plan, plan, prepare

        recipe = self.recipe or "mixed"
        fates = {"keep": self.keep, "drop": self.drop}
        prepared = prepare(table, schema=schema, recipe=recipe, design=said, **fates)
        made = plan(
            prepared,
            method=self.method,
            scatters=self.scatters,
            mask=self.mask,
            raw_units=self.raw_units,
        )
        if self.release is not None:
            return made, made.schema, ""
        within = made if isinstance(made, Plan) else made.within
        mask = f", mask {within.mask}" if within.mask else ""
        how = f"recipe {recipe}, method {within.method}{mask}" if self.told else "its usual recipe"
        note = (
            f"The risk before any key and the rehearsal are those of icsa anonymize with {how} on "
            f"{what}: they speak of this release only if it was made so."
        )
        return made, made.schema, note

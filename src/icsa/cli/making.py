"""How a release was made, as far as options of ``icsa assess`` say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from icsa.release import Plan
    from icsa.release.design_plans import DesignPlan
    from icsa.schema import Schema
    from icsa.tables import Table

__all__ = ["Making"]


class Making(NamedTuple):
    """How the release was made, as far as options say."""

    recipe: str | None
    method: str | None
    scatters: list[str] | None
    mask: str | None

    @property
    def told(self) -> bool:
        """Whether somebody says anything of it."""
        return any(option is not None for option in self)

    def plan(
        self,
        table: Table,
        schema: Schema | None,
        said: Mapping[str, Any],
        *,
        what: str = "this original",
    ) -> tuple[Plan | DesignPlan, Schema, str]:
        """Return the plan that the release was made by, its schema, and a note that says so.

        `what` the table is goes into the note.
        """
        from icsa.release import Plan, plan, prepare

        recipe = self.recipe or "mixed"
        prepared = prepare(table, schema=schema, recipe=recipe, design=said)
        made = plan(prepared, method=self.method, scatters=self.scatters, mask=self.mask)
        within = made if isinstance(made, Plan) else made.within
        mask = f", mask {within.mask}" if within.mask else ""
        how = f"recipe {recipe}, method {within.method}{mask}" if self.told else "its usual recipe"
        note = (
            f"The risk before any key and the rehearsal are those of icsa anonymize with {how} on "
            f"{what}: they speak of this release only if it was made so."
        )
        return made, made.schema, note

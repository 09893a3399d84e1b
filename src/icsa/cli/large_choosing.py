"""``icsa anonymize --choose`` of tables that do not fit: compared on a sample, then assessed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from icsa.cli.choosing import require_word, take_advice
from icsa.cli.compare import stage_in_words

if TYPE_CHECKING:
    from icsa.assessment.blocks.text_sources import Source
    from icsa.choice import Compared
    from icsa.cli.large_inputs import AskedFor
    from icsa.cli.large_reports import LargeReports
    from icsa.release import Release
    from icsa.release.blocks import Ground, Passes
    from icsa.release.methods import MethodOptions
    from icsa.schema import Schema

__all__ = ["LargeChoice"]

# What a choice is called in scratch, and the folder of its race.
_CHOSEN, _RACE = "chosen", "race"


class LargeChoice(NamedTuple):
    """What is asked of a choice: models, columns to predict, minutes and processes.

    None for the minutes are the usual ones, and for processes one a core.
    """

    models: tuple[str, ...]
    classify: tuple[str, ...]
    budget: float | None
    workers: int | None
    quiet: bool

    @property
    def facts(self) -> dict[str, Any]:
        """What a choice depends on; fits into JSON."""
        return {"models": self.models, "classify": self.classify, "budget": self.budget}

    @property
    def explained(self) -> str:
        """What comes before the passes and after them."""
        return (
            "Columns are looked at first, then releases are compared on a sample of the rows, and "
            "one is chosen (--choose). When it is written, it is assessed from the files of both "
            "tables, before it gets its name."
        )

    def made(
        self,
        passes: Passes,
        ground: Ground,
        schema: Schema | None,
        choices: Mapping[str, Any],
        options: MethodOptions,
        reports: LargeReports,
    ) -> tuple[str, MethodOptions]:
        """Return the recipe and the options that are chosen; exit with 3 for none.

        They are kept in scratch, and so is every finished part of the race: a run that is gone on
        with does not choose again.
        """
        if not passes.scratch.has(_CHOSEN):
            found = self._compared(passes, ground, schema, choices, reports)
            passes.scratch.keep(_CHOSEN, take_advice(found, quiet=self.quiet))
        advised = dict(passes.scratch.kept(_CHOSEN))
        recipe = str(advised.pop("recipe"))
        return recipe, {**options, **advised}

    def _compared(
        self,
        passes: Passes,
        ground: Ground,
        schema: Schema | None,
        choices: Mapping[str, Any],
        reports: LargeReports,
    ) -> Compared:
        from icsa.choice import BUDGET, compare_stored

        return compare_stored(
            passes,
            ground,
            schema,
            choices,
            reports.file,
            models=self.models,
            classify=self.classify,
            budget=BUDGET if self.budget is None else self.budget,
            workers=self.workers or os.cpu_count() or 1,
            folder=passes.scratch.folder / _RACE,
            progress=lambda stage, _share: passes.told(stage_in_words(stage), 0.0),
            announced=not self.quiet,
            schema_file=reports.schema,
        )

    def require_released(
        self, source: Source, held: Path, made: Release, asked: AskedFor, reports: LargeReports
    ) -> None:
        """Exit with 3 unless the word of the release that is held back is release."""
        require_word(reports.looked_at(source, held, made, asked, quiet=self.quiet))

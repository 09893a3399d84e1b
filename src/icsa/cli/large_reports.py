"""``icsa anonymize --report`` of tables that do not fit: assessed from the files of both tables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any, NamedTuple

from icsa.cli.assess_large import Means, StoredPair, assess_large, scratch_of, source_of
from icsa.cli.large_inputs import AskedFor, known_kind
from icsa.cli.making import Making
from icsa.cli.reporting import AskedReports, write_reports
from icsa.errors import InputError

if TYPE_CHECKING:
    from icsa.assessment import Assessment
    from icsa.assessment.blocks.text_sources import Source
    from icsa.release import Release
    from icsa.release.methods import MethodOptions

__all__ = ["LargeReports"]

# How icsa assess calls what has another name here.
_OPTIONS_OF_ASSESS = {"--assessment": "--json"}


class LargeReports(NamedTuple):
    """Reports on a release that is written from files: what is asked, and of what.

    `design` is what options say of the rows, and `reading` what they say of text.
    """

    asked: AskedReports
    file: Path
    target: Path
    schema: Path | None
    design: Mapping[str, Any]
    reading: Mapping[str, Any]

    def require_to_do(self, *, force: bool) -> None:
        """Refuse to go on where a release is complete: only its report is missing."""
        if self.asked.wanted and not force and os.path.lexists(self.target):
            raise InputError(
                f"{self.target} is there already, as a whole: there is nothing to go on with. Ask "
                f"for its report by {self._command()}, or give --force to make it again."
            )

    def explained(self, source: Source, scratch: Path) -> str:
        """Return what follows the release; nothing where no report is asked for."""
        if not self.asked.wanted:
            return ""
        size = scratch_of((source, source), self.design, self.schema) / 1e9
        named = ", ".join(str(path) for path in self.asked.paths.values() if path is not None)
        return (
            "When the release is written, both tables are assessed from their files, with up to "
            f"{size:.2g} GB of scratch in {scratch}. Then is written: {named}."
        )

    def written(
        self,
        source: Source,
        release: Release,
        means: AskedFor,
        choices: Mapping[str, Any],
        options: MethodOptions,
        *,
        quiet: bool,
    ) -> Assessment | None:
        """Return the assessment of a release that is written, after its reports; None for none."""
        if not self.asked.wanted:
            return None
        with self._telling_that_it_stays():
            assessment = self._assessed(
                source,
                self.target,
                release,
                means,
                Making.of(release, choices, options),
                quiet=quiet,
                rehearse=self.asked.rehearse,
                redraws=self.asked.redraws,
                prepared_by=self.asked.prepared_by,
                decided_by=self.asked.decided_by,
            )
            write_reports(assessment, self.asked.paths)
        return assessment

    def looked_at(
        self, source: Source, held: Path, release: Release, means: AskedFor, *, quiet: bool
    ) -> Assessment:
        """Return the assessment of a release before it has its name, by its cells alone."""
        return self._assessed(
            source, held, release, means, Making(), quiet=quiet, rehearse=None, redraws=0
        )

    def _assessed(
        self,
        source: Source,
        released: Path,
        release: Release,
        means: AskedFor,
        making: Making,
        *,
        quiet: bool,
        **wanted: Any,
    ) -> Assessment:
        """Return the assessment of a release in a file, from the files of both tables."""
        from icsa.assessment.asked import Asked

        return assess_large(
            StoredPair(source, source_of(released, self._reading_of(release))),
            (self.file, self.target),
            Means(means.memory, means.workers, means.dask, means.scratch or self.target.parent),
            making,
            self.design,
            against=None,
            also_released=None,
            schema=self.schema,
            named={"schema": self.schema},
            quiet=quiet,
            alone=False,
            asked=Asked(),
            **wanted,
        )

    def _reading_of(self, release: Release) -> dict[str, Any]:
        """Return how the release is to be read, where somebody said how the original is."""
        from icsa.tables.text_files import text_layout

        kind = known_kind(self.target)
        said = dict(self.reading)
        if kind is not None and kind.file_format == "csv" and said["separator"] is not None:
            said["separator"] = text_layout(release.table.layout, kind).separator
        return said

    @contextmanager
    def _telling_that_it_stays(self) -> Iterator[None]:
        """Have errors say that the release is there, and how to get a report on it."""
        try:
            yield
        except Exception as error:  # of interruptions, all that is written is told
            error.add_note(
                f"The release is written, and stays: {self.target}. Ask for its report by "
                f"{self._command()}"
            )
            raise

    def _command(self) -> str:
        """Return the command that gives the reports of a release that is there."""
        from icsa.schema import Design

        outputs = [
            word
            for option, path in self.asked.paths.items()
            if path is not None
            for word in (_OPTIONS_OF_ASSESS.get(option, option), str(path))
        ]
        schema = [] if self.schema is None else ["--schema", str(self.schema)]
        said = {key: value for key, value in self.design.items() if value not in (None, ())}
        files = [str(self.file), str(self.target)]
        return join(["icsa", "assess", *files, *schema, *Design(**said).options, *outputs])

"""What an assessment is: one word, why, and everything that it rests on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from icsa.assessment.efficiency import Efficiency
from icsa.assessment.usefulness import Usefulness
from icsa.comparison.matching import Comparison
from icsa.files import write_text_atomically
from icsa.measures import Measure
from icsa.privacy import Person, Policy, PrivacyAssessment, Reason
from icsa.privacy.verdict import Word

__all__ = ["Assessment", "Edition", "Ends"]

Ends: TypeAlias = Mapping[str, tuple[float | None, float | None]]
Edition: TypeAlias = Literal["internal", "public"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Assessment:
    """What was found out about a release. It holds both tables: keep it to yourself.

    `as_dict("public")` and `to_json(path, "public")` give what can be handed out.

    Attributes
    ----------
    verdict : "release", "look again" or "do not release"
    reasons : tuple of Reason
        Why, the worst first. None for "release": nothing was found, which is no proof.
    privacy : PrivacyAssessment
    measures : mapping of str to Measure
        The privacy measures by their names in files.
    ends : mapping of str to pair
        By the same names: what a shuffled copy gives, and columns shuffled apart.
    utility : Usefulness
    tables : Comparison
        How the columns of the two tables were matched.
    making : mapping, optional
        How the release was made, where that is known.
    versions : mapping of str to str
        Of programs.
    efficiency : Efficiency, optional
        Against another release, where one was given.
    """

    verdict: Word
    reasons: tuple[Reason, ...]
    privacy: PrivacyAssessment
    measures: Mapping[str, Measure]
    ends: Ends
    utility: Usefulness
    tables: Comparison
    making: Mapping[str, Any] | None
    versions: Mapping[str, str]
    efficiency: Efficiency | None = None

    @property
    def people(self) -> tuple[Person, ...]:
        """Those who stand out; for an internal report only."""
        return self.privacy.people

    @property
    def policy(self) -> Policy:
        """The thresholds used."""
        return self.privacy.policy

    @property
    def trusted(self) -> bool:
        """Whether the assessment's own test came out right on this table."""
        return self.privacy.trusted

    @property
    def gate(self) -> int:
        """The exit code that a gate gives: 0 open, 3 look again, 4 closed."""
        if not self.trusted or self.verdict == "do not release":
            return 4
        return 3 if self.verdict == "look again" else 0

    def as_dict(self, edition: Edition = "internal") -> dict[str, Any]:
        """Return everything as plain values; `schema.json` beside this module describes them.

        Parameters
        ----------
        edition : "internal" or "public"
            Public: aggregates only, rounded; no cell, no row number, no extreme.
        """
        from icsa.assessment.json_form import assessment_dict

        return assessment_dict(self, edition)

    def to_json(self, path: str | Path, edition: Edition = "internal") -> None:
        """Write `as_dict` as a JSON file, as a whole or not at all."""
        text = json.dumps(self.as_dict(edition), indent=2, ensure_ascii=False, allow_nan=False)
        write_text_atomically(Path(path), text + "\n")

    def __repr__(self) -> str:
        """Show the word and sizes."""
        n, m = self.privacy.n_rows, self.privacy.n_released
        return (
            f"<Assessment: {self.verdict}, {len(self.people)} people stand out of {n}, "
            f"{m} released rows, {len(self.tables.columns)} columns compared>"
        )

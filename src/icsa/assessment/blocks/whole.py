"""An assessment from files put together: people from all rows, everything else from the sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from icsa.assessment.assessing import Assessment, put_together, without_columns
from icsa.assessment.blocks.large_comparison import LargeComparison
from icsa.assessment.blocks.made_again import MadeAgain
from icsa.assessment.blocks.stages import share_of_stages
from icsa.assessment.blocks.text_sources import Told
from icsa.assessment.blocks.unit_comparison import LargeUnitComparison
from icsa.assessment.provenance import ROLES, HandedFile, HandedIn, handed_in
from icsa.assessment.remedies import Circumstances, with_remedies
from icsa.assessment.unit_assessing import people_in_file
from icsa.attacks.tallies import not_applicable
from icsa.files import fingerprint
from icsa.privacy import PrivacyAssessment
from icsa.tables.stored import StoredTable

if TYPE_CHECKING:
    from icsa.assessment.blocks.large_assessing import Wanted

__all__ = ["files_handed_in", "whole_assessment"]

# What the last row's cells are guessed from are sums over all rows: a sample has others.
_LAST_PERSON = "all but one"


def files_handed_in(tables: Mapping[str, StoredTable], wanted: Wanted) -> HandedIn:
    """Return what was handed in, every part of the tables, which are given by role, by its name."""
    people = {"prepared_by": wanted.prepared_by, "decided_by": wanted.decided_by}
    handed = handed_in({"holdout": wanted.holdout}, wanted.files, **people)
    parts = [
        HandedFile(role, part.name, fingerprint(part))
        for role, table in tables.items()
        for part in (() if wanted.are_frames else table.parts)
    ]
    if wanted.are_frames:
        told = {one.role for one in handed.files}
        parts = [HandedFile(role) for role in tables if role not in told]
    files = sorted((*parts, *handed.files), key=lambda one: ROLES.index(one.role))
    return replace(handed, files=tuple(files))


def whole_assessment(
    comparison: LargeComparison | LargeUnitComparison,
    privacy: PrivacyAssessment | None,
    again: MadeAgain | None,
    wanted: Wanted,
    handed: HandedIn,
    told: Told,
) -> Assessment:
    """Return the assessment, with attackers, utility and rehearsals from the sample.

    Without a column to compare there is neither a privacy part nor anything to be made again.
    """
    if privacy is None or again is None:
        return without_columns(comparison, wanted.policy, handed, wanted.making)

    def tell(stage: str, share: float) -> None:
        told(*share_of_stages("sample", share, stage))

    redrawn = again.over_keys(privacy.policy, tell)
    found = put_together(
        comparison,
        privacy,
        again.controlled,
        wanted.asked,
        handed,
        tell,
        note=again.notes(redrawn),
        made=wanted.making,
        holdout=wanted.holdout,
        without_attacks=(_LAST_PERSON,),
        beyond=comparison.beyond,
        rows=comparison.of_rows,
        redrawn=redrawn,
    )
    left_out = not_applicable(
        _LAST_PERSON,
        knows="all rows but one",
        guesses="cells of the last row",
        reason="it takes all rows of both tables at once, and they do not fit in memory",
    )
    advice = Circumstances(
        file=None if wanted.are_frames else comparison.stored[0].parts[0],
        schema=(wanted.files or {}).get("schema"),
        making=wanted.making,
        people=people_in_file(found.people, comparison),
        design=wanted.asked.design,
    )
    notes = (*found.tables.notes, *([again.note] if again.note else []))
    return replace(
        found,
        attackers=(*found.attackers, left_out),
        reasons=with_remedies(found.reasons, advice),
        tables=replace(found.tables, notes=notes),
    )

"""The words of a verdict: for a release, for a person, and the reasons that lead to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

__all__ = ["STATUSES", "WORDS", "Reason", "Status", "Verdict", "Word", "decided"]

Word = Literal["release", "look again", "do not release"]
Status = Literal[
    "copied", "replicated", "look", "at risk", "repeated in part", "near twin", "hidden"
]

# From harmless to harmful, with what each says whatever the reasons are.
WORDS: Mapping[Word, str] = MappingProxyType(
    {
        "release": "Nothing was found that speaks against handing this table out. That is not a "
        "proof of anonymity",
        "look again": "Something was found that speaks against this release. Look at it before "
        "anything is handed out",
        "do not release": "Something was found that rules this release out. It must not be handed "
        "out as it is",
    }
)
# From worst to nothing, with what each says of a person.
STATUSES: Mapping[Status, str] = MappingProxyType(
    {
        "copied": "the same row, cell by cell, is in the release",
        "replicated": "a near copy is in the release",
        "look": "the release comes nearer than chance explains",
        "at risk": "under another key a near copy is not unlikely",
        "repeated in part": "several cells are repeated together",
        "near twin": "somebody else in the original is almost the same",
        "hidden": "no sign that the release comes too near",
    }
)


@dataclass(frozen=True)
class Reason:
    """A rule of the verdict that was met.

    Attributes
    ----------
    word : "look again" or "do not release"
        What it leads to.
    rule : str
        Of people who stand out: "person", "group", "parts", "small" (too few people for the
        group's test), "near twin". Of everybody: "exact rows", "equal cells", "near cells",
        "closer" (the share nearer to the release), "resemblance" (many people resemble a released
        row a little too much), "extremes". Of the release: "before release", "reproducible",
        "keys", "identifiers", "self-test", "rehearsal", "holdout", "another table", "not
        compared", or the name of an attack.
    text : str
        In plain words, with counts and no row numbers: fit for a public report.
    rows : tuple of int
        The people's row numbers in the original, for an internal report only.
    columns : tuple of str
        Columns that it is about, where it is about some.
    remedies : tuple of str
        What to do about it, the first to try first; commands as they are typed.
    """

    word: Word
    rule: str
    text: str
    rows: tuple[int, ...] = ()
    columns: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """One word with its reasons; none means that nothing was found, which is no proof."""

    word: Word
    reasons: tuple[Reason, ...] = ()


def decided(reasons: Iterable[Reason]) -> Verdict:
    """Return the worst word of all reasons, and these with the worst first."""
    harm = {word: place for place, word in enumerate(WORDS)}
    ordered = tuple(sorted(reasons, key=lambda reason: -harm[reason.word]))
    return Verdict(ordered[0].word if ordered else "release", ordered)

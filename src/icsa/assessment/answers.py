"""Answers for who signs, a sentence each: was anybody copied, what attackers get, what is lost.

The page, the terminal and notebooks show the same sentences, all from the document alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from msgspec import UNSET

from icsa.assessment.privacy_words import attacker_words
from icsa.assessment.public_edition import FEW
from icsa.assessment.sameness import ANOTHER_TABLE
from icsa.attacks.two_visits import NAME as TWO_VISITS
from icsa.attacks.two_visits import TIMES_KNOWN
from icsa.privacy.policy import Policy

if TYPE_CHECKING:
    from icsa.assessment.document import Attacker, Document
    from icsa.assessment.document_parts import Distance, Measure, Number

__all__ = [
    "AttackLine",
    "attack_lines",
    "control_answer",
    "copied_answer",
    "is_another_table",
    "loss_answer",
    "noticed_answer",
    "within_chance",
]

# Rules of the verdict that are about copies of people.
_COPIES = frozenset(
    {
        *("person", "group", "parts", "exact rows", "equal cells", "near cells"),
        *("closer", "resemblance", "extremes", "parts of trajectories", "linked columns"),
    }
)

_NOT_DECIDED = "Not decided, as these do not look like a table and its release."
_REAL = "people who were not in the table"
_WEAK = "*"
_CONTROLS = {
    "rehearsal": "The same recipe released random halves of the people; those in a half were "
    "attacked beside those who were left out.",
    "holdout": "People who were not in the table were given, and attacked beside those in it.",
    "none": "Nobody was there who was not in the table.",
}
_WEAKER = "Where * stands, the same guess was made from the original without the person: weaker."

Answer = Literal["yes", "perhaps", "no"]


@dataclass(frozen=True)
class AttackLine:
    """What one attacker gets.

    Attributes
    ----------
    knows, guesses : str
        What the attacker knows, and guesses.
    right, control : str
        Guesses that are right: about people in the table, and about people who were not used.
    difference : str
        With its interval, where there is one.
    means : str
        In words.
    more : bool
        Whether the release gives something away.
    """

    knows: str
    guesses: str
    right: str
    control: str
    difference: str
    means: str
    more: bool = False


def is_another_table(document: Document) -> bool:
    """Return whether the two tables are not the same one, so that nothing else was decided."""
    return any(reason.rule == ANOTHER_TABLE for reason in document.reasons)


def copied_answer(document: Document) -> tuple[Answer, str]:
    """Return whether anybody was copied into the release: a word, and a sentence."""
    if is_another_table(document):
        return "perhaps", _NOT_DECIDED
    found = {reason.word for reason in document.reasons if reason.rule in _COPIES}
    what = f"{_exact_rows(document, by_chance=not found)} {_standing_out(document)}".strip()
    if "do not release" in found:
        return "yes", f"Yes. {what}"
    if found:
        return "perhaps", f"Perhaps: see the reasons. {what}"
    return "no", f"No copy was found. {what}"


def _exact_rows(document: Document, *, by_chance: bool) -> str:
    rows = document.privacy["verbatim_rows"]
    one, many = ("row", "rows") if document.units is UNSET else ("unit", "units")
    same = "in every cell" if document.units is UNSET else "in all that its rows come to"
    if rows.value == 0:
        return f"No released {one} is an original {one} {same}."
    if rows.value is None:
        few = rows.reason == FEW
        return f"A few released {many} are an original {one} {same}." if few else ""
    count = f"{rows.value:,.0f} released {f'{one} is' if rows.value == 1 else f'{many} are'}"
    beside = ", as chance explains" if by_chance else ""
    return f"{count} an original {one} {same}{beside}."


def _standing_out(document: Document) -> str:
    people = document.people_summary
    if people.count == 0:
        return "Nobody stands out, and nobody was named."
    of = f"the {people.count:,} people who stand out" if people.count else "those who stand out"
    both = [people.status[status] for status in ("copied", "replicated")]
    copied = None if None in both else sum(n or 0 for n in both)
    if copied == 0:
        return f"Of {of}, none has a copy or near copy in the release."
    if copied is None:
        told = any(r.rule in _COPIES and r.word == "do not release" for r in document.reasons)
        return f"Of {of}, somebody has a copy or near copy in the release." if told else ""
    have = "has" if copied == 1 else "have"
    return f"Of {of}, {copied:,} {have} a copy or near copy in the release."


def noticed_answer(document: Document) -> str:
    """Return how often one copied person would be noticed, and what to do where that is seldom."""
    if is_another_table(document):
        return ""
    found = document.noticed
    told = []
    if found.ordinary is not None:
        told.append(f"an ordinary person in {found.ordinary:.0%}")
    if found.standing_out is not None:
        told.append(f"one who stands out in {found.standing_out:.0%}")
    if not told:
        return ""
    said = f"If one person were copied, that would be noticed for {' and '.join(told)} of cases."
    if found.enough:
        return said
    return f"{said} This table is too small to tell more: {found.advice}."


def attack_lines(document: Document) -> list[AttackLine]:
    """Return what attackers get, beside what they would get on people who were not in the table."""
    if is_another_table(document):
        return []
    last = _all_but_one(document.privacy["attack"], document.privacy["attack_control"])
    worst: dict[tuple[str, str], Attacker] = {}
    for attack in tried_attackers(document):
        words = attacker_words(attack.attack, attack.knows)
        other = worst.setdefault(words, attack)
        if _surely(attack) > _surely(other):
            worst[words] = attack
    limits = Policy().values() | {limit.name: limit.value for limit in document.policy}
    lines = [_line(*words, attack, _limit(attack, limits)) for words, attack in worst.items()]
    return [*lines, last]


def _limit(attack: Attacker, limits: Mapping[str, float]) -> float:
    """Return from which lower limit on a difference speaks against a release."""
    half = attack.attack == "membership" or (
        attack.attack == TWO_VISITS and attack.knows != TIMES_KNOWN
    )
    return limits["membership_look" if half else "attack_look"]


def _surely(attack: Attacker) -> float:
    """Return by how much people in the table surely fare worse, for the worst to be told."""
    low = attack.difference.low
    return -math.inf if low is None else low


def tried_attackers(document: Document) -> list[Attacker]:
    """Return the attackers who could be tried on this release."""
    return [attack for attack in document.attackers if _was_tried(attack)]


def _was_tried(attack: Attacker) -> bool:
    return attack.right.value is not None or attack.right.reason == FEW


def control_answer(document: Document) -> str:
    """Return who attackers were tried on besides people in the table, or that nobody was there."""
    return f"{_CONTROLS[document.control.kind]} {_WEAKER}"


def _line(knows: str, guesses: str, attack: Attacker, limit: float) -> AttackLine:
    right, control, gap = attack.right, attack.control, attack.difference
    difference = _points(gap.value, gap.low, gap.high)
    better = gap.low is not None and gap.low > 0
    real = attack.control_is == _REAL
    if control.value is None:
        means = "there is nobody to compare with"
    elif real and better:
        much = gap.low is not None and gap.low > limit
        means = f"the release tells {'' if much else 'a little '}more about them"
        better = much
    elif real:
        means = "the release tells no more"
    else:
        means = "more than others’ rows tell: look for a control" if better else "no more"
    compared = (
        _percent(control) if real or control.value is None else f"{_percent(control)} {_WEAK}"
    )
    return AttackLine(knows, guesses, _percent(right), compared, difference, means, better and real)


def _all_but_one(attack: Measure, control: Measure) -> AttackLine:
    difference, means, more = "–", "could not be tried", False
    if attack.value is not None and control.value is not None:
        difference = _points(attack.value - control.value)
        more = attack.low is not None and attack.low > (control.high or control.value)
        means = "the release tells more about them" if more else "the release tells no more"
    return AttackLine(
        "everything but one cell of somebody who stands out",
        "that cell",
        _percent(attack),
        f"{_percent(control)} {_WEAK}",
        difference,
        means,
        more,
    )


def _points(value: Number, low: Number = None, high: Number = None) -> str:
    """Return a difference of shares in points, with its interval.

    Examples
    --------
    >>> _points(0.052), _points(-0.01, -0.031, 0.15)
    ('+5.2 points', '−1.0 points (−3.1 to +15.0)')
    """
    if value is None:
        return "–"
    known = [each for each in (value, low, high) if each is not None]
    told = [f"{100 * each:+.1f}".replace("-", "−") for each in known]
    told = [each if each.strip("+−0.") else "0" for each in told]
    return f"{told[0]} points" + (f" ({told[1]} to {told[2]})" if len(told) == 3 else "")


def _percent(measure: Measure) -> str:
    if measure.value is None:
        return FEW if measure.reason == FEW else "–"
    if measure.low is None or measure.high is None:
        return f"{measure.value:.0%}"
    low, high = max(0.0, measure.low), min(1.0, measure.high)
    return f"{measure.value:.0%} ({low:.0%} to {high:.0%})"


def within_chance(distance: Distance) -> bool | None:
    """Return whether a column differs no more than two samples would; None where not known."""
    if distance.value is None or distance.chance_high is None:
        return None
    return distance.value <= distance.chance_high


def loss_answer(document: Document) -> str:
    """Return what analysts lose, in a sentence."""
    if is_another_table(document):
        return _NOT_DECIDED
    columns = [
        found for c in document.utility.columns if (found := within_chance(c.distance)) is not None
    ]
    pairs = _pairs(document)
    if not columns:
        return "What analyses lose could not be measured."
    what = "columns" if document.units is UNSET else "columns that units are compared by"
    kept = f"{sum(columns):,} of {len(columns):,} {what}"
    if pairs:
        kept += f" and {sum(pairs):,} of {len(pairs):,} relations between two columns"
    return f"{kept} differ from the original no more than a second sample of such people would."


def _pairs(document: Document) -> list[bool]:
    """Return of every pair of columns whether its association changed no more than by chance."""
    pairs = document.utility.pairs
    found = []
    for i, (row, limits) in enumerate(zip(pairs.difference, pairs.limit, strict=True)):
        for value, limit in zip(row[:i], limits[:i], strict=True):
            if value is not None and limit is not None:
                found.append(abs(value) <= limit)
    return found

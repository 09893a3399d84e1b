"""One word for a release, and why: release, look again, do not release.

No average decides alone: the people who stand out do, each against what chance would give.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np

from icsa.errors import InputError
from icsa.privacy.findings import Group
from icsa.privacy.neighbours import RowNumbers
from icsa.privacy.people import Nearness, Surroundings

__all__ = [
    "WORDS",
    "Policy",
    "Reason",
    "Status",
    "Threshold",
    "Verdict",
    "Word",
    "statuses",
    "verdict",
]

Word = Literal["release", "look again", "do not release"]
Status = Literal["replicated", "near", "at risk", "repeated in part", "nothing found"]

# From harmless to harmful.
WORDS: tuple[Word, ...] = ("release", "look again", "do not release")
_MEASURED = "error rates measured on fresh, synthetic and copied tables: benchmarks/verdict.py"


@dataclass(frozen=True)
class Threshold:
    """A number that decides, why it is this number, and who answers for it.

    Examples
    --------
    >>> Threshold(0.05, "the usual level").value
    0.05
    """

    value: float
    reason: str
    source: str = _MEASURED
    owner: str = "the icsa developers"


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The thresholds of the verdict.

    Examples
    --------
    >>> Policy().person_chance.value
    0.05
    >>> stricter = Policy(person_chance=Threshold(0.1, "few people, all vulnerable"))
    """

    person_chance: Threshold = Threshold(
        0.05, "P at or below it: the release is nearer to a person than chance explains"
    )
    person_ratio: Threshold = Threshold(
        0.5, "rho at or below it besides: at most half as far as the nearest other original"
    )
    person_rest: Threshold = Threshold(
        0.8,
        "a person is replicated only if rho without the column that stands out most is as small",
    )
    group_chance: Threshold = Threshold(
        0.01, "the group's share is larger than chance explains; alone it rejects harmless releases"
    )
    group_ratio_stop: Threshold = Threshold(
        0.5, "median rho at or below it besides: the group as a whole is replicated"
    )
    group_ratio_look: Threshold = Threshold(
        0.8, "median rho at or below it besides: the group as a whole is approached"
    )
    part_cells: Threshold = Threshold(
        2.0, "so many cells or more equal to one released row count as a repeated part"
    )
    part_excess: Threshold = Threshold(1.0, "if they are more than the control's by more than this")
    part_surprise: Threshold = Threshold(
        3.5,
        "or, rare values weighing more, if their surprise (sum of -log frequency) exceeds the "
        "control's by this: by chance about one person in ten",
    )
    part_share: Threshold = Threshold(
        0.5, "repeated parts count from this share of the people on: blocks were passed on"
    )
    before_stop: Threshold = Threshold(
        0.5, "upper limit of min(1, Lambda) at or above it: a key that replicates is likely"
    )
    before_look: Threshold = Threshold(
        0.1, "upper limit of min(1, Lambda) above it: a key that replicates is not unlikely"
    )
    identifier_share: Threshold = Threshold(
        0.1,
        "identifiers, texts or columns to be dropped that came through in this share of the "
        "released rows or more were not replaced; in fewer rows they may be so by coincidence",
        source="chosen; no error rate was measured",
    )

    def values(self) -> dict[str, float]:
        """Return every threshold's number by its name."""
        return {item.name: getattr(self, item.name).value for item in fields(self)}


@dataclass(frozen=True)
class Reason:
    """A rule of the verdict that was met.

    Attributes
    ----------
    word : "look again" or "do not release"
        What it leads to.
    rule : str
        "person", "group", "parts" or "before release".
    text : str
        In plain words, with counts and no row numbers: fit for a public report.
    rows : tuple of int
        The people's row numbers in the original, for an internal report only.
    """

    word: Word
    rule: str
    text: str
    rows: tuple[int, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """One word with its reasons; none means that nothing was found, which is no proof."""

    word: Word
    reasons: tuple[Reason, ...] = ()


def verdict(
    around: Surroundings,
    near: Nearness,
    group: Group,
    *,
    before: Mapping[int, float] | None = None,
    policy: Policy | None = None,
) -> Verdict:
    """Return the word for a release: the worst of all rules that are met.

    Parameters
    ----------
    around, near : Surroundings, Nearness
        Of the people who stand out.
    group : Group
        The same people together.
    before : mapping of int to float, optional
        By row number: upper limit of Lambda, the expected number of replicas before a key is drawn.
    policy : Policy, optional
        Other thresholds than the usual ones.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.findings import nearest_release_group
    >>> from icsa.privacy.lenses import fit_lenses
    >>> from icsa.privacy.people import measure_nearness, measure_surroundings
    >>> from icsa.privacy.standing_out import standing_out
    >>> x = np.random.default_rng(1).normal(size=(100, 4))
    >>> lenses = fit_lenses(as_features(x, x[::-1]))
    >>> around = measure_surroundings(lenses, standing_out(lenses))
    >>> near = measure_nearness(lenses, around)
    >>> verdict(around, near, nearest_release_group(near.rho["E"], 100, 100)).word
    'do not release'
    """
    chosen = Policy() if policy is None else policy
    limits, rows = chosen.values(), around.people.rows
    if near.corrected.size != rows.size:
        raise InputError("The people whose surroundings and nearness are given must be the same.")
    reasons = [
        *_of_people(limits, rows, near),
        *_of_group(limits, group),
        *_of_parts(limits, rows, around, near),
        *_before_release(limits, before or {}),
    ]
    worst = max((WORDS.index(reason.word) for reason in reasons), default=0)
    return Verdict(WORDS[worst], tuple(sorted(reasons, key=lambda r: -WORDS.index(r.word))))


def statuses(
    around: Surroundings,
    near: Nearness,
    *,
    before: Mapping[int, float] | None = None,
    policy: Policy | None = None,
) -> tuple[Status, ...]:
    """Return a word for each person, by the same thresholds.

    "replicated" and "near" are persons with a small P, with rho small or not; "at risk" those whom
    a likely key replicates; "repeated in part" those who have too many cells in common with one
    released row.
    """
    limits = (Policy() if policy is None else policy).values()
    flagged, close = _flags(limits, near)
    parts = _has_parts(limits, around, near)
    words: list[Status] = []
    for k, row in enumerate(around.people.rows.tolist()):
        if flagged[k]:
            words.append("replicated" if close[k] else "near")
        elif (before or {}).get(row, 0.0) > limits["before_look"]:
            words.append("at risk")
        else:
            words.append("repeated in part" if parts[k] else "nothing found")
    return tuple(words)


def _flags(limits: Mapping[str, float], near: Nearness) -> tuple[np.ndarray, np.ndarray]:
    flagged = near.corrected <= limits["person_chance"]
    copied = (near.worst_rho <= limits["person_ratio"]) & (near.rest <= limits["person_rest"])
    return flagged, copied


def _has_parts(limits: Mapping[str, float], around: Surroundings, near: Nearness) -> np.ndarray:
    mine, control = near.agreement, around.agreement
    more = mine.cells > control.cells + limits["part_excess"]
    rarer = mine.surprise > control.surprise + limits["part_surprise"]
    return np.asarray((mine.cells >= limits["part_cells"]) & (more | rarer))


def _of_people(limits: Mapping[str, float], rows: RowNumbers, near: Nearness) -> list[Reason]:
    flagged, close = _flags(limits, near)
    cases: tuple[tuple[Word, np.ndarray, str], ...] = (
        ("do not release", flagged & close, "a near copy in the release"),
        (
            "look again",
            flagged & ~close,
            "the release comes near, or holds the extreme value of the one column in which they do",
        ),
    )
    reasons = []
    for word, who, what in cases:
        count = int(who.sum())
        if count:
            text = (
                f"{count} of {rows.size} people who stand out: {what}, nearer than chance explains "
                f"(smallest P {near.corrected[who].min():.2g}, smallest rho "
                f"{near.worst_rho[who].min():.2g})"
            )
            reasons.append(Reason(word, "person", text, tuple(int(r) for r in rows[who])))
    return reasons


def _of_group(limits: Mapping[str, float], group: Group) -> list[Reason]:
    if group.share.value is None or group.p_value > limits["group_chance"]:
        return []
    text = (
        f"{group.share.value:.0%} of the {group.share.n} people who stand out are nearer to the "
        f"release than to anyone else; fresh data would give {group.expected:.0%} "
        f"(p = {group.p_value:.2g}), and their median rho is {group.median_ratio:.2g}"
    )
    if group.median_ratio <= limits["group_ratio_stop"]:
        return [Reason("do not release", "group", text)]
    if group.median_ratio <= limits["group_ratio_look"]:
        return [Reason("look again", "group", text)]
    return []


def _of_parts(
    limits: Mapping[str, float], rows: RowNumbers, around: Surroundings, near: Nearness
) -> list[Reason]:
    parts = _has_parts(limits, around, near)
    if not rows.size or parts.mean() < limits["part_share"]:
        return []
    text = (
        f"{int(parts.sum())} of {rows.size} people who stand out have more cells in common with "
        "one released row than with any other original: parts of rows were passed on"
    )
    return [Reason("look again", "parts", text, tuple(int(row) for row in rows[parts]))]


def _before_release(limits: Mapping[str, float], before: Mapping[int, float]) -> list[Reason]:
    reasons = []
    levels: tuple[tuple[Word, float, float], ...] = (
        ("do not release", limits["before_stop"], np.inf),
        ("look again", np.nextafter(limits["before_look"], 1.0), limits["before_stop"]),
    )
    for word, low, high in levels:
        who = tuple(row for row, value in before.items() if low <= min(1.0, value) < high)
        if who:
            largest = max(min(1.0, before[row]) for row in who)
            text = (
                f"before any key is drawn, {len(who)} of {len(before)} people who stand out can "
                f"expect a replica (up to {largest:.2g}, upper limit)"
            )
            reasons.append(Reason(word, "before release", text, who))
    return reasons

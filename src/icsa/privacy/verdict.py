"""One word for a release, and why: release, look again, do not release; and one for each person.

No average decides alone: the people who stand out do, each against what chance would give. Rows
that are repeated in every cell count for everybody, against what chance would give too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Literal

import numpy as np

from icsa.comparison.column_pairs import RowNumbers
from icsa.errors import InputError
from icsa.privacy.exact_rows import ExactRows
from icsa.privacy.people import Nearness, Surroundings
from icsa.privacy.people_findings import Group

__all__ = [
    "STATUSES",
    "WORDS",
    "Policy",
    "Reason",
    "Status",
    "Threshold",
    "Verdict",
    "Word",
    "statuses",
    "verdict",
    "verdict_of_release",
]

Word = Literal["release", "look again", "do not release"]
Status = Literal["replicated", "look", "at risk", "repeated in part", "near twin", "hidden"]

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
        "replicated": "a near copy is in the release",
        "look": "the release comes nearer than chance explains",
        "at risk": "under another key a near copy is not unlikely",
        "repeated in part": "several cells are repeated together",
        "near twin": "somebody else in the original is almost the same",
        "hidden": "no sign that the release comes too near",
    }
)
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
    exact_look: Threshold = Threshold(
        0.005,
        "P of so many people who are repeated in every cell, whether they stand out or not: half "
        "a percent, as all rules together are to alarm on at most 3% of fresh tables",
    )
    exact_stop: Threshold = Threshold(
        0.001, "the same: rows were copied; on fresh people in one table of a thousand at most"
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
        "person", "group", "parts", "exact rows", "before release", "reproducible", "identifiers",
        "self-test" or "near twin".
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
    exact: ExactRows | None = None,
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
    exact : ExactRows, optional
        Whom the release repeats in every cell, of all people.
    before : mapping of int to float, optional
        By row number: upper limit of Lambda, the expected number of replicas before a key is drawn.
    policy : Policy, optional
        Other thresholds than the usual ones.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.people_findings import nearest_release_group
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
        *_of_exact_rows(limits, exact),
        *_before_release(limits, before or {}),
    ]
    return _decided(reasons)


def verdict_of_release(
    of_people: Verdict,
    policy: Policy,
    *,
    n_released: int,
    as_they_are: Mapping[str, int],
    twins: Sequence[int] = (),
    reproducible: bool = False,
    why_not_trusted: str = "",
) -> Verdict:
    """Return the word for a release as a whole: people, its columns, its key and the self-test.

    Parameters
    ----------
    of_people : Verdict
        What the people who stand out say.
    policy : Policy
    n_released : int
        Rows of the release.
    as_they_are : mapping of str to int
        By identifiers and texts that were released: in how many rows stands somebody's own value.
    twins : sequence of int
        Rows of people who have a near twin.
    reproducible : bool
        Whether the key came from a seed.
    why_not_trusted : str
        Why the assessment's own test failed; empty where it did not.

    Examples
    --------
    >>> fine = Verdict("release")
    >>> found = verdict_of_release(fine, Policy(), n_released=9, as_they_are={"id": 9})
    >>> found.word, found.reasons[0].rule
    ('do not release', 'identifiers')
    """
    reasons = list(of_people.reasons)
    if reproducible:
        text = (
            "The key came from a seed: whoever guesses it can repeat every draw, and so check "
            "guesses about people. Make the release again without a seed"
        )
        reasons.append(Reason("do not release", "reproducible", text))
    most = policy.identifier_share.value * n_released
    for name, count in as_they_are.items():
        text = (
            f"{name!r} was released as it is: {count} of {n_released} released rows have a value "
            "that only one original row has"
        )
        word: Word = "do not release" if count >= most else "look again"
        reasons.append(Reason(word, "identifiers", text))
    if why_not_trusted:
        reasons.append(Reason("look again", "self-test", f"The assessment is {why_not_trusted}"))
    near = {row for reason in of_people.reasons if reason.rule == "person" for row in reason.rows}
    rows = tuple(row for row in twins if row in near)
    if rows:
        text = (
            f"Near twins in the original: {len(rows)} of these people have one, and what the "
            "release comes near to may be the twin"
        )
        reasons.append(Reason("look again", "near twin", text, rows))
    return _decided(reasons)


def _decided(reasons: Iterable[Reason]) -> Verdict:
    """Return the worst word of all reasons, and these with the worst first."""
    harm = {word: place for place, word in enumerate(WORDS)}
    ordered = tuple(sorted(reasons, key=lambda reason: -harm[reason.word]))
    return Verdict(ordered[0].word if ordered else "release", ordered)


def statuses(
    around: Surroundings,
    near: Nearness,
    *,
    before: Mapping[int, float] | None = None,
    policy: Policy | None = None,
) -> tuple[Status, ...]:
    """Return a word for each person, by the same thresholds.

    "replicated" and "look" are persons with a small P, with rho small or not; "at risk" those whom
    a likely key replicates; "repeated in part" those who have too many cells in common with one
    released row, where so many have that it is a finding about the group: one in twenty has by
    chance. Whoever is not replicated and has a near twin is a "near twin" instead.
    """
    limits = (Policy() if policy is None else policy).values()
    flagged, close = _flags(limits, near)
    parts = _has_parts(limits, around, near)
    in_parts = _are_many(limits, parts)
    words: list[Status] = []
    for k, row in enumerate(around.people.rows.tolist()):
        word: Status = "hidden"
        if flagged[k]:
            word = "replicated" if close[k] else "look"
        elif (before or {}).get(row, 0.0) > limits["before_look"]:
            word = "at risk"
        elif parts[k] and in_parts:
            word = "repeated in part"
        twin = around.has_near_twin[k] and word not in ("replicated", "hidden")
        words.append("near twin" if twin else word)
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


def _are_many(limits: Mapping[str, float], parts: np.ndarray) -> bool:
    """Return whether so many people have cells in common that blocks were passed on."""
    return bool(parts.size and parts.mean() >= limits["part_share"])


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
    if not _are_many(limits, parts):
        return []
    text = (
        f"{int(parts.sum())} of {rows.size} people who stand out have more cells in common with "
        "one released row than with any other original: parts of rows were passed on"
    )
    return [Reason("look again", "parts", text, tuple(int(row) for row in rows[parts]))]


def _of_exact_rows(limits: Mapping[str, float], exact: ExactRows | None) -> list[Reason]:
    if exact is None or exact.chance > limits["exact_look"]:
        return []
    text = (
        f"{exact.matched.size} of the {exact.unique} people who are like nobody else in the "
        "original stand in the release cell by cell, whether they stand out or not; chance would "
        f"give about {exact.expected:.0f} (P = {exact.chance:.2g})"
    )
    word: Word = "do not release" if exact.chance <= limits["exact_stop"] else "look again"
    return [Reason(word, "exact rows", text, tuple(exact.matched.tolist()))]


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

"""One word for a release, and why: release, look again, do not release; and one for each person.

No average decides alone: the people who stand out do, each against what chance would give; and
everybody whom a released row resembles too much (`icsa.privacy.everybody_rules`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import bdtrc

from icsa.comparison.column_pairs import RowNumbers
from icsa.errors import InputError
from icsa.privacy.equal_cells import Agreement
from icsa.privacy.everybody import Everybody
from icsa.privacy.everybody_rules import (
    of_closer_share,
    of_equal_cells,
    of_exact_rows,
    of_extremes,
    of_near_cells,
    of_resemblance,
)
from icsa.privacy.exact_rows import ExactRows
from icsa.privacy.extremes import Extremes
from icsa.privacy.people import Nearness, Surroundings
from icsa.privacy.people_findings import Group, Reread
from icsa.privacy.policy import Policy
from icsa.privacy.reasons import Reason, Status, Verdict, Word, decided

__all__ = ["statuses", "verdict", "verdict_of_release"]

# Of fewer people, all are nearer to fresh rows too often to say anything.
_FEWEST = 5
# A rule about everybody is a function and an entry here.
_EVERYBODY = (of_equal_cells, of_near_cells, of_closer_share, of_resemblance)


def verdict(
    around: Surroundings,
    near: Nearness,
    group: Group,
    *,
    exact: ExactRows | None = None,
    everybody: Everybody | None = None,
    reread: Reread | None = None,
    extremes: Extremes | None = None,
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
    everybody : Everybody, optional
        Whom released rows resemble, of all people.
    reread : Reread, optional
        The same with columns that are distributed otherwise in common units.
    extremes : Extremes, optional
        Whose unique largest or smallest values are released.
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
        *_of_small_table(limits, group),
        *_of_parts(limits, rows, around, near),
        *_before_release(limits, before or {}),
    ]
    if exact is not None:
        reasons += of_exact_rows(limits, exact)
    if everybody is not None:
        for rule in _EVERYBODY:
            reasons += rule(limits, everybody)
    if reread is not None:
        reasons += _of_other_units(limits, reread, {reason.rule for reason in reasons})
    if extremes is not None:
        reasons += of_extremes(limits, extremes)
    return decided(reasons)


def verdict_of_release(
    of_people: Verdict,
    policy: Policy,
    *,
    n_released: int,
    as_they_are: Mapping[str, int],
    twins: Sequence[int] = (),
    reproducible: bool = False,
    why_not_trusted: str = "",
    more: Sequence[Reason] = (),
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
    more : sequence of Reason
        What attackers and rehearsals found.

    Examples
    --------
    >>> fine = Verdict("release")
    >>> found = verdict_of_release(fine, Policy(), n_released=9, as_they_are={"id": 9})
    >>> found.word, found.reasons[0].rule
    ('do not release', 'identifiers')
    """
    reasons = [*of_people.reasons, *more]
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
        reasons.append(Reason(word, "identifiers", text, columns=(name,)))
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
    return decided(reasons)


def statuses(
    around: Surroundings,
    near: Nearness,
    *,
    copies: RowNumbers | None = None,
    before: Mapping[int, float] | None = None,
    policy: Policy | None = None,
) -> tuple[Status, ...]:
    """Return a word for each person, by the same thresholds.

    "copied" is who is in the release cell by cell, whatever rho says; `copies` counts these rows.
    "replicated" and "look" are persons with a small P, with rho small or not; "at risk" those whom
    a likely key replicates; "repeated in part" those who have too many cells in common with one
    released row, where so many have that it is a finding about the group: one in twenty has by
    chance. Whoever is not replicated and has a near twin is a "near twin" instead.
    """
    limits = (Policy() if policy is None else policy).values()
    flagged, close = _flags(limits, near)
    parts = _has_parts(limits, near.agreement, around.agreement)
    in_parts = _are_many(limits, around, near)
    words: list[Status] = []
    for k, row in enumerate(around.people.rows.tolist()):
        word: Status = "hidden"
        if copies is not None and copies[k]:
            word = "copied"
        elif flagged[k]:
            word = "replicated" if close[k] else "look"
        elif (before or {}).get(row, 0.0) > limits["before_look"]:
            word = "at risk"
        elif parts[k] and in_parts:
            word = "repeated in part"
        twin = around.has_near_twin[k] and word not in ("copied", "replicated", "hidden")
        words.append("near twin" if twin else word)
    return tuple(words)


def _flags(limits: Mapping[str, float], near: Nearness) -> tuple[np.ndarray, np.ndarray]:
    flagged = near.corrected <= limits["person_chance"]
    copied = (near.worst_rho <= limits["person_ratio"]) & (near.rest <= limits["person_rest"])
    return flagged, copied


def _has_parts(limits: Mapping[str, float], mine: Agreement, control: Agreement) -> np.ndarray:
    more = mine.cells > control.cells + limits["part_excess"]
    rarer = mine.surprise > control.surprise + limits["part_surprise"]
    return np.asarray((mine.cells >= limits["part_cells"]) & (more | rarer))


def _are_many(limits: Mapping[str, float], around: Surroundings, near: Nearness) -> bool:
    """Return whether so many people have cells in common that blocks were passed on.

    Fresh people have as much in common with each other: a sign test against the same turned round.
    """
    parts = _has_parts(limits, near.agreement, around.agreement)
    turned = int(_has_parts(limits, around.agreement, near.agreement).sum())
    count = int(parts.sum())
    if not count or parts.mean() < limits["part_share"]:
        return False
    chance = float(bdtrc(count - 1, count + turned, near.fresh_share))
    return chance <= limits["part_chance"]


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


def _of_small_table(limits: Mapping[str, float], group: Group) -> list[Reason]:
    """Return whether all are nearer to the release, too few to be sure that it is no chance."""
    people = group.share.n
    if people < _FEWEST or group.share.value != 1.0 or group.p_value <= limits["group_chance"]:
        return []
    if group.median_ratio > limits["small_ratio"]:
        return []
    text = (
        f"All {people} people who stand out are nearer to the release than to anyone else, and "
        f"their median rho is {group.median_ratio:.2g}: too few people, or columns, to say that "
        "this is chance"
    )
    return [Reason("look again", "small", text)]


def _of_parts(
    limits: Mapping[str, float], rows: RowNumbers, around: Surroundings, near: Nearness
) -> list[Reason]:
    if not _are_many(limits, around, near):
        return []
    parts = _has_parts(limits, near.agreement, around.agreement)
    text = (
        f"{int(parts.sum())} of {rows.size} people who stand out have more cells in common with "
        "one released row than with any other original: parts of rows were passed on"
    )
    return [Reason("look again", "parts", text, tuple(int(row) for row in rows[parts]))]


def _of_other_units(limits: Mapping[str, float], reread: Reread, known: set[str]) -> list[Reason]:
    """Return what is found in common units only."""
    found = of_exact_rows(limits, reread.exact)
    for rule in _EVERYBODY:
        found += rule(limits, reread.everybody)
    how = (
        f"; columns that are distributed otherwise than in the original ({len(reread.names)}) were "
        "read back into its units: a copy that was shifted, rescaled or rounded is one"
    )
    return [replace(reason, text=reason.text + how) for reason in found if reason.rule not in known]


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

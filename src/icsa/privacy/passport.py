"""The privacy of a release, put together: people, group, measures, verdict and self-test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from icsa.comparison.features import Features, FeatureTable
from icsa.ics import InvariantCoordinates
from icsa.matrices import Matrix, Vector
from icsa.measures import Measure
from icsa.privacy.before_release import (
    ExpectedReplicas,
    RedrawnRisk,
    clear_risks,
    expected_replicas,
    risk_over_redraws,
)
from icsa.privacy.everybody import Everybody
from icsa.privacy.exact_rows import ExactRows
from icsa.privacy.extremes import Extremes
from icsa.privacy.lenses import Lenses, LensName, fit_lenses
from icsa.privacy.measuring import privacy_measures
from icsa.privacy.neighbours import MISMATCH
from icsa.privacy.noticing import Noticing, how_noticed
from icsa.privacy.people import (
    LENSES,
    Nearness,
    Surroundings,
    match_shares,
    measure_surroundings,
    standing_out_parts,
)
from icsa.privacy.people_findings import Findings, Group
from icsa.privacy.policy import Policy
from icsa.privacy.reasons import Status, Verdict
from icsa.privacy.self_test import End, ends_of_the_scale
from icsa.privacy.standing_out import StandingOut, Why, named_people, standing_out
from icsa.privacy.verdict import statuses, verdict
from icsa.threads import give_back_memory, threads_for

__all__ = [
    "LensRatio",
    "Person",
    "PrivacyAssessment",
    "assess_privacy",
    "judged",
    "risk_over_keys",
]

# In longer tables the rules about everybody would take as long again as a release under a fresh
# key; the first release is judged by all rules in any case.
_ROWS_JUDGED_BY_ALL = 2_000


@dataclass(frozen=True, repr=False)
class LensRatio:
    """How alone a person is and how near the release comes, under one lens."""

    lens: LensName
    d_org: float
    d_rel: float
    rho: float
    p: float
    dimension: float

    def __repr__(self) -> str:
        """Show the lens only."""
        return f"<LensRatio {self.lens}>"


@dataclass(frozen=True, repr=False)
class Person:
    """A line of the passport: one person who stands out, for an internal report only.

    Attributes
    ----------
    row : int
        Row number in the original, from 0.
    why : str
        Why chosen: "distance", "isolation", "distance and isolation" or "given".
    robust_distance, isolation : float
        Distance to the centre; to the 5th neighbour.
    ratios : tuple of LensRatio
        Under E, M and A.
    worst_lens : str
        The lens with the smallest p.
    corrected_chance : float
        P.
    released_row : int
        The nearest released row under the worst lens.
    expected_replicas, expected_replicas_high : float or None
        Lambda and its upper .95 limit, where the recipe is known.
    attack, attack_control : float or None
        Share of cells guessed right from the release, and from the original without the person.
    equal_cells, equal_cells_control : int
        h, against the other originals.
    has_near_twin : bool
        Whether another original is unusually near: what the release comes near to may be the twin.
    stands_out_by, matched_by : tuple of (str, float)
        Columns and their shares, largest first; they sum to 1. `matched_by` is empty where the
        nearest released row repeats nothing of what makes the person stand out.
    status : str
        A key of `icsa.privacy.reasons.STATUSES`.
    copies : int
        How many released rows equal this person in every cell.
    """

    row: int
    why: Why
    robust_distance: float
    isolation: float
    ratios: tuple[LensRatio, ...]
    worst_lens: LensName
    corrected_chance: float
    released_row: int
    expected_replicas: float | None
    expected_replicas_high: float | None
    attack: float | None
    attack_control: float | None
    equal_cells: int
    equal_cells_control: int
    has_near_twin: bool
    stands_out_by: tuple[tuple[str, float], ...]
    matched_by: tuple[tuple[str, float], ...]
    status: Status
    copies: int = 0

    @property
    def worst(self) -> LensRatio:
        """The distances under the worst lens."""
        return next(ratio for ratio in self.ratios if ratio.lens == self.worst_lens)

    def __repr__(self) -> str:
        """Show the status only."""
        return f"<Person: {self.status}>"


@dataclass(frozen=True, eq=False, repr=False)
class PrivacyAssessment:
    """What was found out about the privacy of a release.

    Attributes
    ----------
    verdict : Verdict
        One word, and why.
    people : tuple of Person
        Those who stand out; for an internal report only.
    standing_out : StandingOut
        How they were chosen, how many were left out, and what could not be looked at.
    group : Group
        The people together.
    exact, everybody, extremes : ExactRows, Everybody, Extremes
        What the release has of everybody, whether they stand out or not.
    noticing : Noticing
        How often one copied person would be noticed at this size, and what would raise that.
    by_chance : mapping of str to float
        By names of measures: what fresh people would give.
    measures : mapping of str to Measure
        By name, such as "ore", "verbatim_rows", "nearest_release_share", "dcr_q05".
    ends : pair of End
        The self-test.
    policy : Policy
        The thresholds used.
    redrawn : RedrawnRisk, optional
        What fresh releases under other keys say.
    n_rows, n_released, n_columns : int
        Sizes.
    """

    verdict: Verdict
    people: tuple[Person, ...]
    standing_out: StandingOut
    group: Group
    exact: ExactRows
    everybody: Everybody
    extremes: Extremes
    noticing: Noticing
    by_chance: Mapping[str, float]
    measures: Mapping[str, Measure]
    ends: tuple[End, End]
    policy: Policy
    redrawn: RedrawnRisk | None
    n_rows: int
    n_released: int
    n_columns: int

    @property
    def trusted(self) -> bool:
        """Whether both ends of the scale came out right."""
        return all(end.right for end in self.ends)

    @property
    def why_not_trusted(self) -> str:
        """Why the assessment is not to be trusted on this table; empty where it is."""
        wrong = "; ".join(end.why for end in self.ends if not end.right)
        return f"not to be trusted on this table: {wrong}" if wrong else ""

    def __repr__(self) -> str:
        """Show the word and sizes."""
        return (
            f"<PrivacyAssessment: {self.verdict.word}, {len(self.people)} people stand out of "
            f"{self.n_rows}, {self.n_released} released rows>"
        )


def assess_privacy(
    features: Features,
    *,
    outliers: object = None,
    coordinates: InvariantCoordinates | None = None,
    redraw: Callable[[int], FeatureTable] | None = None,
    n_redraws: int = 100,
    policy: Policy | None = None,
    cap: int = 1_000,
    threads: int | None = None,
) -> PrivacyAssessment:
    """Return what a release gives away, above all about the people who stand out.

    Parameters
    ----------
    features : Features
        The original and the release.
    outliers : array-like, optional
        Row numbers of the people to look at, or a boolean vector; found when left out.
    coordinates : InvariantCoordinates, optional
        The map that the release was made with, with permuted components: gives Lambda, the risk
        before a key is drawn. For numeric columns without missing cells.
    redraw : callable, optional
        Returns a release under a fresh key, for any recipe: gives Lambda from `n_redraws` of them.
    n_redraws : int
        How many.
    policy : Policy, optional
        Other thresholds than the usual ones.
    cap : int
        Look at this many people at most.
    threads : int, optional
        How many threads to use; by default what suits the size. The result is the same.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> x = np.random.default_rng(1).normal(size=(200, 4))
    >>> assessment = assess_privacy(as_features(x, x[::-1]))
    >>> assessment
    <PrivacyAssessment: do not release, 5 people stand out of 200, 200 released rows>
    >>> assessment.measures["verbatim_rows"].value, assessment.trusted
    (200.0, True)
    """
    used = threads_for(features.original.numbers.size + features.released.numbers.size, threads)
    chosen = Policy() if policy is None else policy
    lenses = fit_lenses(features)
    give_back_memory()
    people = (
        standing_out(lenses, cap=cap, threads=used)
        if outliers is None
        else named_people(lenses, outliers, threads=used)
    )
    around = measure_surroundings(lenses, people, threads=used)
    found = Findings.of(lenses, around, threads=used)
    redrawn = None
    if redraw is not None:
        redrawn = risk_over_keys(lenses, around, redraw, n_redraws, chosen, threads=used)
    before = _expected(lenses, around, coordinates, redrawn)
    return judged(found, chosen, before=before, redrawn=redrawn)


def risk_over_keys(
    lenses: Lenses,
    around: Surroundings,
    redraw: Callable[[int], FeatureTable],
    n_redraws: int,
    policy: Policy,
    *,
    threads: int = 1,
) -> RedrawnRisk:
    """Return how often fresh releases replicate each person, and what the rules say of each.

    Parameters are those of `risk_over_redraws`; the rules go by `policy`.
    """
    judge = _judge(around, policy, threads)
    return risk_over_redraws(lenses, around, redraw, n_redraws, judge=judge, threads=threads)


def judged(
    found: Findings,
    policy: Policy,
    *,
    before: ExpectedReplicas | None = None,
    redrawn: RedrawnRisk | None = None,
) -> PrivacyAssessment:
    """Return what findings come to: the word, the passport, the measures and the self-test.

    Parameters
    ----------
    found : Findings
    policy : Policy
    before : ExpectedReplicas, optional
        Lambda, where the recipe is known.
    redrawn : RedrawnRisk, optional
        What fresh releases under other keys say.
    """
    lenses, around, people = found.lenses, found.around, found.around.people
    features = found.features
    sizes = features.original.n_rows, features.released.n_rows
    limits = clear_risks(before, around, sizes, policy)
    copies = found.exact.copies[people.rows]
    words = statuses(around, found.near, copies=copies, before=limits, policy=policy)
    return PrivacyAssessment(
        verdict=verdict(
            around,
            found.near,
            found.group,
            exact=found.exact,
            everybody=found.everybody,
            reread=found.reread,
            extremes=found.extremes,
            before=limits,
            policy=policy,
        ),
        people=_passport(found, before, words),
        standing_out=people,
        group=found.group,
        exact=found.exact,
        everybody=found.everybody,
        extremes=found.extremes,
        noticing=how_noticed(
            lenses,
            around,
            found.everybody,
            person=policy.person_chance.value,
            equal=policy.equal_look.value,
        ),
        by_chance=_by_chance(found),
        measures=privacy_measures(found),
        ends=ends_of_the_scale(lenses, around, policy, threads=found.threads),
        policy=policy,
        redrawn=redrawn,
        n_rows=features.original.n_rows,
        n_released=features.released.n_rows,
        n_columns=features.n_columns,
    )


def _judge(around: Surroundings, policy: Policy, threads: int) -> Callable[[Lenses], Verdict]:
    """Return what judges another release of the same original, for the same people."""

    def judged(lenses: Lenses) -> Verdict:
        found = Findings.of(lenses, around, threads=threads)
        everybody = lenses.original.shape[1] <= _ROWS_JUDGED_BY_ALL
        return verdict(
            around,
            found.near,
            found.group,
            exact=found.exact,
            everybody=found.everybody if everybody else None,
            reread=found.reread if everybody else None,
            extremes=found.extremes,
            policy=policy,
        )

    return judged


def _by_chance(found: Findings) -> dict[str, float]:
    """Return what fresh people would give for the measures whose best value is not 0."""
    exact, n_released = found.exact, found.features.released.n_rows
    return {
        "verbatim_rows": exact.expected_copied,
        "identical_match_share": exact.expected_copied / n_released,
        "replicated_uniques": min(1.0, exact.expected / max(1, exact.unique)),
        "verbatim_extremes": found.extremes.expected,
        "nearest_release_share": found.group.expected,
        "closer_share": found.everybody.closer.expected,
    }


def _expected(
    lenses: Lenses,
    around: Surroundings,
    coordinates: InvariantCoordinates | None,
    redrawn: RedrawnRisk | None,
) -> ExpectedReplicas | None:
    if coordinates is not None:
        return expected_replicas(lenses, around, coordinates)
    return None if redrawn is None else redrawn.expected


def _passport(
    found: Findings, before: ExpectedReplicas | None, words: tuple[Status, ...]
) -> tuple[Person, ...]:
    lenses, around, near, attack = found.lenses, found.around, found.near, found.attack
    people, names = around.people, lenses.features.names
    parts = standing_out_parts(lenses, people.rows)
    gaps = _gaps(found)
    lines = []
    for k, row in enumerate(people.rows.tolist()):
        worst = near.worst[k]
        lines.append(
            Person(
                row=row,
                why=people.why[k],
                robust_distance=float(people.robust_distances[k]),
                isolation=float(people.isolations[k]),
                ratios=tuple(_ratio(lens, around, near, k) for lens in LENSES),
                worst_lens=worst,
                corrected_chance=float(near.corrected[k]),
                released_row=int(near.released_rows[worst][k]),
                expected_replicas=None if before is None else float(before.value[k]),
                expected_replicas_high=None if before is None else float(before.high[k]),
                attack=_defined(attack.success[k]),
                attack_control=_defined(attack.control[k]),
                equal_cells=int(near.agreement.cells[k]),
                equal_cells_control=int(around.agreement.cells[k]),
                has_near_twin=bool(around.has_near_twin[k]),
                stands_out_by=_named_shares(names, match_shares(parts[k], 0.0 * parts[k])),
                matched_by=_named_shares(names, match_shares(parts[k], gaps[k])),
                status=words[k],
                copies=int(found.exact.copies[row]),
            )
        )
    return tuple(lines)


def _ratio(lens: LensName, around: Surroundings, near: Nearness, k: int) -> LensRatio:
    return LensRatio(
        lens=lens,
        d_org=float(around.d_org[lens][k]),
        d_rel=float(near.d_rel[lens][k]),
        rho=float(near.rho[lens][k]),
        p=float(near.p[lens][k]),
        dimension=float(around.chances[lens].dimensions[k]),
    )


def _gaps(found: Findings) -> Matrix:
    """Return squared differences between each person and the nearest released row, by column.

    In E's units, or A's where that is the worst lens.
    """
    lenses, near, people = found.lenses, found.near, found.around.people
    gaps = np.empty((people.rows.size, lenses.features.n_columns))
    shown: tuple[LensName, LensName] = ("E", "A")
    for lens in shown:
        who = np.array([k for k, worst in enumerate(near.worst) if (worst == "A") == (lens == "A")])
        if not who.size:
            continue
        rows = np.array([near.released_rows[near.worst[k]][k] for k in who])
        mine = lenses.originals("E").rows(people.rows[who])
        theirs = lenses.releases(lens).rows(rows)
        x, y = mine.block(slice(0, who.size)), theirs.block(slice(0, who.size))
        squares = (x - y) ** 2
        squares[np.isnan(x) & np.isnan(y)] = 0.0
        squares = np.nan_to_num(squares, nan=MISMATCH)
        gaps[who] = np.vstack([squares, MISMATCH * (mine.codes != theirs.codes)]).T
    return gaps


def _named_shares(names: tuple[str, ...], shares: Vector) -> tuple[tuple[str, float], ...]:
    order = np.argsort(-shares, kind="stable")
    return tuple((names[j], float(shares[j])) for j in order if shares[j] > 0.0)


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)

"""A rehearsal: the recipe releases a random half of the people, and both halves are attacked.

Whoever was not in that half is a real person whom the release cannot know of. What is nearer to
those who were, on average over halves, is what the recipe gives away. Both halves of a split are
released, so that everybody is in once and out once.

Halves and keys come from fixed seeds, which are no secret: these releases are handed to nobody, and
the same recipe on the same table is judged the same, however often it is tried.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from icsa.assessment.attackers import encoded_as, usual_people
from icsa.assessment.controls import (
    NO_CONTROL,
    Control,
    held_out,
    people_for,
    pooled_by_split,
    without_control,
)
from icsa.attacks import AttackResult, Targets, run_attacks
from icsa.attacks.two_visits import two_visits
from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import Features, FeatureTable
from icsa.comparison.matching import Comparison
from icsa.comparison.unit_matching import UnitComparison
from icsa.errors import ICSAError, InputError
from icsa.privacy.member_scores import MemberScores
from icsa.privacy.membership_rounds import Round, nearest_share, pooled_area
from icsa.randomness import as_key
from icsa.release import Plan, plan, prepare, release
from icsa.release.design_plans import DesignPlan
from icsa.release.methods import MethodOptions
from icsa.tables import Table, from_frame

__all__ = [
    "ControlledBy",
    "ReleaseRows",
    "attacked_half",
    "how_controlled",
    "rehearsal_seconds",
    "rehearse",
    "released_halves",
    "releasing_people",
    "releasing_rows",
    "scores_of_people",
    "usual_halves",
]

ControlledBy: TypeAlias = Callable[[Callable[[str, float], None]], Control]
ReleaseRows: TypeAlias = Callable[[RowNumbers, int], pl.DataFrame]

# So many of the nearest 1% are to be seen in all halves together: their share is then known to .13.
_NEAREST_SEEN = 60
_MOST_HALVES = 40
# Of a small half no fewer than these are the nearest, but 5%: whoever is alone in having a rare
# value is the nearest one of all, since counts of levels are kept.
_FEWEST_NEAREST = 5
# Without being asked, a rehearsal may take so many seconds.
_MOST_SECONDS = 60.0
# Measured on one core: seconds for any half, and for each of its cells.
_START, _CELL = 0.06, 1.5e-5
# Seconds for a step of a score.
_STEP = 4e-9
# Attacks that other people can be the control of.
_ATTACKS = ("singling out", "linkability", "inference", "membership")
# Fixed, and no secret: they choose halves and people, and make keys.
_SEED = 20_007


def how_controlled(
    comparison: Comparison, made_by: Plan | DesignPlan | None, rehearse_on: int | None, holdout: Any
) -> ControlledBy:
    """Return what finds the control, once it is given somebody to tell its progress to.

    A holdout comes first; then a rehearsal, where there is a plan and nobody said 0. Questions that
    cannot be answered are refused here, before the work.
    """
    if rehearse_on is not None and rehearse_on < 0:
        raise InputError(f"rehearse must be 0 or larger: got {rehearse_on}.")
    if holdout is not None:
        if rehearse_on:
            raise InputError(
                "A holdout and a rehearsal are two controls for the same thing. Give one of them."
            )
        others = holdout if isinstance(holdout, Table) else from_frame(holdout)
        encoded = encoded_as(comparison, others, "holdout")
        return lambda _told: held_out(comparison, encoded)
    if made_by is None:
        if rehearse_on:
            raise InputError(
                "Halves can be released only by the recipe that made this release: give its plan "
                "as plan=."
            )
        return lambda _told: NO_CONTROL
    rows, columns = comparison.files.original.frame.shape
    people = comparison.features.original.n_rows
    halves = usual_halves(rows, columns, people) if rehearse_on is None else rehearse_on
    if halves:
        releasing = releasing_people(made_by, comparison)
        return lambda told: rehearse(comparison, releasing, halves, progress=told)
    why = "not rehearsed, as nobody wanted it"
    if rehearse_on is None:
        seconds = rehearsal_seconds(rows, columns, 2)
        why = (
            f"not rehearsed, as that takes about {seconds:.0f} s for two halves of the people; ask "
            "for it with --rehearse 2 (rehearse=2)"
        )
    return lambda _told: without_control(why)


def rehearse(
    comparison: Comparison,
    release_rows: ReleaseRows,
    n_halves: int,
    *,
    progress: Callable[[str, float], None] = lambda _stage, _share: None,
) -> Control:
    """Return how people who were in fare beside those who were not, over halves of the people.

    Parameters
    ----------
    comparison : Comparison
        Its original is halved; the release does not matter.
    release_rows : callable
        Returns the release of some people of the original, from their numbers and a number that is
        another one for every call.
    n_halves : int
        How many halves are released; an odd number is one more, as both halves of a split are.
    progress : callable
        Called with a name and the share of the rehearsal that is done.

    Returns
    -------
    Control
        Of kind "none", with the reason, where most of the halves cannot be released.
    """
    if n_halves < 1:
        raise InputError(f"A rehearsal needs at least one half: n_halves is {n_halves}.")
    n, splits = comparison.features.original.n_rows, (n_halves + 1) // 2
    scores = scores_of_people(comparison)
    rounds: list[Round] = []
    attacks: list[tuple[AttackResult, ...]] = []
    why = ""
    for split in range(splits):
        progress("rehearsing on halves of the people", split / splits)
        try:
            frames: list[pl.DataFrame] = []
            both = released_halves(comparison, _kept_in(frames, release_rows), split)
        except ICSAError as error:
            why = why or str(error).split(". ")[0].rstrip(".")
            continue
        for frame, (released, who) in zip(frames, both, strict=True):
            found, members = scores(released), who[scores.people]
            rounds.append(Round(found[members], found[~members]))
            attacks.append(
                (*attacked_half(comparison, released, who), *_two_visits(comparison, frame, who))
            )
    if len(rounds) <= splits:
        return without_control(f"not rehearsed: half of the people cannot be released ({why})")
    left = splits - len(rounds) // 2
    return Control(
        kind="rehearsal",
        words=(
            f"the same recipe released {len(rounds)} random halves of the people, and the others "
            "were not in it"
            + (f"; {left} splits were left out, whose halves cannot be released" if left else "")
        ),
        n_people=n,
        n_halves=len(rounds),
        told_apart=pooled_area(rounds, roles=2),
        nearest=nearest_share(rounds, roles=2, fewest=_FEWEST_NEAREST),
        attacks=pooled_by_split(attacks),
    )


def scores_of_people(comparison: Comparison) -> MemberScores:
    """Return what scores people against releases of halves: all of them, or some of many."""
    table = comparison.features.original
    columns = table.numbers.shape[0] + table.codes.shape[0]
    return MemberScores(table, _people(table.n_rows, columns))


def released_halves(
    comparison: Comparison, release_rows: ReleaseRows, split: int
) -> list[tuple[FeatureTable, np.ndarray]]:
    """Return the releases of both halves of a split, each with who was in it."""
    inside = _half(comparison.features.original.n_rows, split)
    return [
        (comparison.encode(release_rows(np.flatnonzero(who), 2 * split + role)), who)
        for role, who in enumerate((inside, ~inside))
    ]


def releasing_people(made_by: Plan | DesignPlan, comparison: Comparison) -> ReleaseRows:
    """Return how people of a table are released, with all their rows, by the recipe of a plan."""
    releasing = releasing_rows(made_by, comparison.files.original)
    if not isinstance(comparison, UnitComparison):
        return releasing
    return lambda units, number: releasing(comparison.rows_of(units), number)


def releasing_rows(made_by: Plan | DesignPlan, table: Table) -> ReleaseRows:
    """Return how rows of a table are released by the recipe of a plan that was made for all of it.

    Columns keep their kinds, bounds and rules; everything else is fitted to these rows anew.
    """
    within = made_by if isinstance(made_by, Plan) else made_by.within
    # Forests have neither mask nor scatters.
    options: MethodOptions = {"method": within.method, "mask": within.mask or None}
    if within.method == "icsa":
        options["scatters"] = within.scatters
    if within.raw_units:
        options["raw_units"] = True
    key = as_key(_SEED).child("rehearsal")

    def released(rows: RowNumbers, number: int) -> pl.DataFrame:
        letters = {name: cells[rows] for name, cells in table.missing_letters.items()}
        some = table.with_frame(table.frame[rows], letters)
        with warnings.catch_warnings():  # about a table that nobody gets
            warnings.simplefilter("ignore")
            prepared = prepare(some, schema=made_by.schema, recipe=within.recipe.name)
            made = release(plan(prepared, **options), key.child("half", number))
        frame: pl.DataFrame = made.table.frame
        return frame

    return released


def usual_halves(n_rows: int, n_columns: int, n_people: int | None = None) -> int:
    """Return how many halves are released when nobody says how many; 0 where it takes too long.

    As many as show 60 of the people who are nearest; fewer where that takes more than a minute.
    People are rows unless they have several.

    Examples
    --------
    >>> usual_halves(400, 30), usual_halves(5_000, 20), usual_halves(1_000_000, 20)
    (16, 2, 0)
    """
    people = n_rows if n_people is None else n_people
    wanted = 2 * math.ceil(_NEAREST_SEEN / (2 * max(1.0, 0.01 * people)))
    halves = min(wanted, _MOST_HALVES)
    while halves and rehearsal_seconds(n_rows, n_columns, halves) > _MOST_SECONDS:
        halves -= 2
    return halves


def rehearsal_seconds(n_rows: int, n_columns: int, n_halves: int) -> float:
    """Return how long a rehearsal takes, to a factor of two.

    Examples
    --------
    >>> round(rehearsal_seconds(400, 30, 16))
    5
    """
    steps = people_for(n_rows, n_rows // 2, n_columns) * n_columns * n_rows
    half = _START + _CELL * n_rows / 2 * n_columns + _STEP * 1.5 * steps
    return n_halves * half + _STEP * 2.0 * steps


def _people(n_rows: int, n_columns: int) -> RowNumbers:
    count = min(n_rows, people_for(n_rows, n_rows // 2, n_columns))
    return np.sort(np.random.default_rng(_SEED).permutation(n_rows)[:count])


def _half(n_rows: int, split: int) -> np.ndarray:
    """Return who is in the first half of a split."""
    inside = np.zeros(n_rows, dtype=bool)
    inside[np.random.default_rng([_SEED, 1 + split]).permutation(n_rows)[: n_rows // 2]] = True
    return inside


def attacked_half(
    comparison: Comparison, released: FeatureTable, inside: np.ndarray
) -> tuple[AttackResult, ...]:
    """Return what attackers get about those who are inside, beside the others."""
    table = comparison.features.original
    members, others = (table.rows(np.flatnonzero(who)) for who in (inside, ~inside))
    features = Features(members, released, comparison.columns)
    targets = Targets(features=features, outsiders=others)
    return run_attacks(targets, names=_ATTACKS, people=usual_people(comparison))


def _two_visits(
    comparison: Comparison, released: pl.DataFrame, inside: np.ndarray
) -> tuple[AttackResult, ...]:
    """Return what is got by who knows two rows of somebody; nothing where people have one."""
    if not isinstance(comparison, UnitComparison):
        return ()
    visits = comparison.both_visits[0]
    members, others = (visits.units(np.flatnonzero(who)) for who in (inside, ~inside))
    return two_visits(members, comparison.visits(released), others)


def _kept_in(frames: list[pl.DataFrame], release_rows: ReleaseRows) -> ReleaseRows:
    """Return how rows are released, with releases kept as they are made."""

    def released(rows: RowNumbers, number: int) -> pl.DataFrame:
        frames.append(release_rows(rows, number))
        return frames[-1]

    return released

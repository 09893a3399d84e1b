"""One candidate's draws: released under several keys, on halves of the people, with planted people.

A trial is a pure job: it depends on the table, the candidate, the seed and the numbers of its draws
only, so that it can be done anywhere, in any order.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from icsa.assessment import assess
from icsa.assessment.asked import Asked
from icsa.assessment.rehearsal import (
    ReleaseRows,
    attacked_half,
    released_halves,
    releasing_people,
    scores_of_people,
)
from icsa.assessment.whom_compared import matched
from icsa.choice.candidates import Candidate
from icsa.choice.losses import loss_of, losses_of
from icsa.choice.planting import plant_people, share_found
from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import FeatureTable
from icsa.comparison.matching import Comparison
from icsa.errors import ICSAError
from icsa.inspection.unit_rows import taken
from icsa.jobs import columns_of
from icsa.privacy import assess_privacy
from icsa.privacy.membership_rounds import Round
from icsa.privacy.reasons import WORDS
from icsa.randomness import Key, as_key
from icsa.release import Plan, plan, prepare, release
from icsa.release.design_plans import DesignPlan
from icsa.release.methods import MethodOptions
from icsa.rivals import rival_release
from icsa.schema import Design, Schema
from icsa.tables import Table
from icsa.utility.lost_curves import Curve

__all__ = ["Draws", "RaceConfig", "Subject", "as_arguments", "plan_of", "try_candidate"]

_Row: TypeAlias = tuple[str, int, str, float, str]
# Releases of every planted table.
_KEYS_A_PLANTING = 2
_WORDS = tuple(WORDS)


@dataclass(frozen=True, kw_only=True)
class RaceConfig:
    """What a race's results depend on besides the table; fits into JSON.

    Attributes
    ----------
    table_sha256 : str
        The table's fingerprint.
    seed : int
        Everything random comes from it; no secret, as nobody gets these releases.
    models, classify : tuple of str
        What was asked for.
    curves : tuple of tuple
        The original's curves.
    """

    table_sha256: str
    seed: int
    models: tuple[str, ...]
    classify: tuple[str, ...]
    curves: tuple[tuple[str, str, str], ...]

    @property
    def asked(self) -> Asked:
        """What was asked for."""
        return Asked(models=self.models, classify=self.classify)


@dataclass(frozen=True, eq=False, repr=False)
class Subject:
    """The table that is compared on, and what is declared of it. It holds the original."""

    table: Table
    schema: Schema


@dataclass(frozen=True)
class Draws:
    """Which draws: from a number to before another, counted over all rounds of a race.

    Attributes
    ----------
    keys, splits, plantings : pair of int
        Keys, splits of the people into halves, and tables with planted people.
    fresh : bool
        Whether these keys are others than those of the race, whatever their numbers.
    """

    keys: tuple[int, int] = (0, 0)
    splits: tuple[int, int] = (0, 0)
    plantings: tuple[int, int] = (0, 0)
    fresh: bool = False


def try_candidate(
    config: RaceConfig, *, candidate: Mapping[str, Any], draws: Mapping[str, Any], subject: Subject
) -> dict[str, np.ndarray]:
    """Return what some draws of a candidate gave, a row for each number: the job of a race.

    Columns: candidate, what ("key", "split", "planting" or "failed"), number, measure, value, note.
    """
    who = Candidate(**{**candidate, "scatters": tuple(candidate["scatters"])})
    rows: list[_Row] = []
    with warnings.catch_warnings():  # about tables that nobody gets
        warnings.simplefilter("ignore")
        try:
            rows += _tried(config, who, Draws(**draws), subject)
        except ICSAError as error:
            rows.append(("failed", 0, "", np.nan, str(error)))
    names = ("what", "number", "measure", "value", "note")
    return columns_of(
        [{"candidate": who.name, **dict(zip(names, row, strict=True))} for row in rows]
    )


def plan_of(candidate: Candidate, subject: Subject) -> Plan | DesignPlan:
    """Return the plan of a candidate for a table."""
    options: MethodOptions = {
        "method": candidate.method,
        "mask": candidate.mask or None,
        "scatters": candidate.scatters or None,
    }
    prepared = prepare(subject.table, schema=subject.schema, recipe=candidate.recipe)
    return plan(prepared, **options)


@dataclass(frozen=True, eq=False, repr=False)
class _Maker:
    """How a candidate releases tables and parts of them; `plan` is a rival's None."""

    of: Callable[[Table], Callable[[Key], Table]]
    whole: Callable[[Key], Table]
    plan: Plan | DesignPlan | None

    def people(self, comparison: Comparison) -> ReleaseRows:
        """Return how some people of the table are released, with all their rows."""
        if self.plan is not None:
            return releasing_people(self.plan, comparison)
        table = comparison.files.original

        def of_rows(rows: RowNumbers, number: int) -> pl.DataFrame:
            key = as_key(number).child("rival on a half")
            return self.of(taken(table, rows))(key).frame

        return of_rows


def _maker(candidate: Candidate, subject: Subject) -> _Maker:
    table, schema = subject.table, subject.schema
    if candidate.rival:

        def of_rival(other: Table) -> Callable[[Key], Table]:
            return lambda key: rival_release(
                other, candidate.rival, schema=schema, random_state=key
            )

        return _Maker(of_rival, of_rival(table), None)

    def of_plan(planned: Plan | DesignPlan) -> Callable[[Key], Table]:
        def released(key: Key) -> Table:
            found: Table = release(planned, key).table
            return found

        return released

    made = plan_of(candidate, subject)
    return _Maker(
        lambda other: of_plan(plan_of(candidate, Subject(other, schema))), of_plan(made), made
    )


def _tried(
    config: RaceConfig, candidate: Candidate, draws: Draws, subject: Subject
) -> Iterator[_Row]:
    purpose = "fresh" if draws.fresh else "race"
    # The same keys for all: what luck they share does not part them.
    key = as_key(config.seed).child(purpose)
    maker = _maker(candidate, subject)
    first = maker.whole(key.child("key", draws.keys[0]))
    comparison = matched(subject.table, first, subject.schema)
    releases = _with_first(_under(maker.whole, key), draws.keys[0], first)
    yield from _under_keys(config, subject, releases, comparison, range(*draws.keys))
    yield from _on_halves(maker.people(comparison), comparison, range(*draws.splits))
    if draws.fresh and maker.plan is not None:
        yield _assessed(config, subject, first, maker.plan)
    yield from _planted(config, subject, maker, key, range(*draws.plantings))


def _planted(
    config: RaceConfig, subject: Subject, maker: _Maker, key: Key, numbers: Sequence[int]
) -> Iterator[_Row]:
    """Yield which share of planted people is found. Where they are is the same for all."""
    if not numbers:
        return
    made = maker.plan
    if not isinstance(made, Plan) or not made.recipe.find_relations:
        made = plan_of_rows(subject)
    for number in numbers:
        planted = plant_people(
            subject.table, made, (config.seed, number), design=subject.schema.design
        )
        if planted is None:
            continue
        try:
            releases = _under(maker.of(planted.table), key.child("planting", number))
            shares = share_found(planted, subject.schema, releases, _KEYS_A_PLANTING)
        except ICSAError:  # with somebody so far out this table cannot be released
            continue
        yield "planting", number, "found", float(np.mean(shares)), ""


def plan_of_rows(subject: Subject) -> Plan:
    """Return a plan in which every row stands for itself: it knows relations of columns."""
    alone = replace(subject.schema, design=Design(unit=False))
    found = plan_of(Candidate(name="", method="sa", recipe="mixed"), Subject(subject.table, alone))
    assert isinstance(found, Plan)
    return found


def _under(releases: Callable[[Key], Table], key: Key) -> Callable[[int], Table]:
    """Return what gives the release under a key of that number."""
    return lambda number: releases(key.child("key", number))


def _with_first(
    releases: Callable[[int], Table], number: int, first: Table
) -> Callable[[int], Table]:
    """Return the same releases; the one that is there already is not made again."""
    return lambda other: first if other == number else releases(other)


def _under_keys(
    config: RaceConfig,
    subject: Subject,
    releases: Callable[[int], Table],
    comparison: Comparison,
    numbers: Sequence[int],
) -> Iterator[_Row]:
    """Yield the word and the losses under every key."""
    if not numbers:
        return
    released: list[Table] = []

    def redraw(place: int) -> FeatureTable:
        released.append(releases(numbers[place]))
        return comparison.encode(released[-1].frame)

    privacy = assess_privacy(comparison.features, redraw=redraw, n_redraws=len(numbers))
    assert privacy.redrawn is not None
    curves = [Curve(*curve) for curve in config.curves]
    asked = replace(config.asked, design=subject.schema.design)
    for number, word, table in zip(numbers, privacy.redrawn.words, released, strict=True):
        yield "key", number, "word", float(_WORDS.index(word)), ""
        parts = losses_of(matched(subject.table, table, subject.schema), asked, curves)
        for name, value in {**parts, "loss": loss_of(parts)}.items():
            yield "key", number, name, value, ""


def _assessed(
    config: RaceConfig, subject: Subject, released: Table, made: Plan | DesignPlan
) -> _Row:
    """Return the word of a whole assessment, with the reasons."""
    found = assess(
        subject.table,
        released,
        schema=subject.schema,
        models=config.models,
        classify=config.classify,
        plan=made,
    )
    reasons = "; ".join(f"{reason.rule}: {reason.text}" for reason in found.reasons)
    return "assessed", 0, "word", float(_WORDS.index(found.verdict)), reasons


def _on_halves(
    release_rows: ReleaseRows, comparison: Comparison, splits: Sequence[int]
) -> Iterator[_Row]:
    """Yield how well members are told from others, and what attackers gain, on each split."""
    if not splits:
        return
    scores = scores_of_people(comparison)
    for split in splits:
        rounds: list[Round] = []
        gains: dict[str, list[float]] = {}
        try:
            both = released_halves(comparison, release_rows, split)
        except ICSAError:  # half of the people are too few: nothing is told of halves then
            continue
        for released, who in both:
            found, members = scores(released), who[scores.people]
            rounds.append(Round(found[members], found[~members]))
            for result in attacked_half(comparison, released, who):
                if result.difference.value is not None and result.attack != "membership":
                    gains.setdefault(result.attack, []).append(result.difference.value)
        yield "split", split, "area", float(np.mean([one.area for one in rounds])), ""
        yield "split", split, "variance", float(np.mean([one.variance for one in rounds])), ""
        for attack, values in gains.items():
            yield "split", split, attack, float(np.mean(values)), ""


def as_arguments(candidate: Candidate) -> dict[str, Any]:
    """Return a candidate in values that fit into JSON."""
    return {**asdict(candidate), "scatters": list(candidate.scatters)}

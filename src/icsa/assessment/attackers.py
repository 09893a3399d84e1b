"""Attackers in an assessment: which are tried, and which of their findings change the word.

`attack` tries them on two tables as they are in files and frames; `quick_attackers` is what every
assessment runs. Only an attack that is clearly better on people in the table than on people who
were not in it changes the word, and those that compute people from the release outright.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from icsa.assessment import document as doc
from icsa.assessment.document_parts import Measure as Shown
from icsa.assessment.document_parts import measured
from icsa.assessment.whom_compared import declared_of, matched
from icsa.attacks import ATTACKS, AttackResult, Targets, difference_of, run_attacks
from icsa.attacks.digits_attack import has_more_digits
from icsa.attacks.key_variables import KeyVariables, key_variables
from icsa.attacks.reassembly_attack import ALL_PIECES
from icsa.attacks.two_releases_attack import NEAR_SCORES, THE_MAP
from icsa.attacks.two_visits import WHO_IT_IS, two_visits
from icsa.comparison.features import FeatureTable
from icsa.comparison.matching import Comparison, require_columns
from icsa.comparison.unit_matching import UnitComparison
from icsa.errors import InputError, UnknownNameError
from icsa.measures import Measure
from icsa.privacy import Policy, Reason
from icsa.privacy.reasons import Word
from icsa.schema import Schema
from icsa.tables import Table, from_frame

__all__ = [
    "Attacks",
    "attack",
    "attackers_part",
    "encoded_as",
    "quick_attackers",
    "reasons_of_attacks",
    "usual_people",
]

# People times rows times columns that one look through a table may take: one second or two in an
# assessment, ten times as long where attacks are all that is asked for.
_CELLS, _CELLS_ALONE = 2_000_000_000, 20_000_000_000
_FEWEST, _MOST = 100, 1_000
_MOST_NAMES = 12
_REAL = "people who were not in the table"


@dataclass(frozen=True, kw_only=True)
class Attacks:
    """What attackers get from a release.

    Attributes
    ----------
    results : tuple of AttackResult
        One record for each thing that is guessed.
    reasons : tuple of Reason
        Which of them speak against the release.
    keys : KeyVariables, optional
        How people are told apart by the columns that are known, where such are named.
    people : int
        How many were tried at most.
    """

    results: tuple[AttackResult, ...]
    reasons: tuple[Reason, ...]
    keys: KeyVariables | None
    people: int

    def __repr__(self) -> str:
        """Show how many."""
        return f"<Attacks: {len(self.results)} guesses, {len(self.reasons)} against the release>"


def attack(
    original: Any,
    released: Any,
    *,
    knows: Sequence[str] = (),
    secret: Sequence[str] = (),
    holdout: Any = None,
    also_released: Any = None,
    attacks: Sequence[str] | None = None,
    people: int | None = None,
    seed: int = 0,
    schema: Schema | None = None,
    unit: str | Literal[False] | None = None,
    time: str | None = None,
    role: str | None = None,
    policy: Policy | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Attacks:
    """Return what attackers get from a release, beside the same on people not in the table.

    Parameters
    ----------
    original, released : pandas, polars or pyarrow table, or icsa.tables.Table
        Columns are matched by name.
    knows : sequence of str
        Columns that the attacker knows; those with ``key = true`` in the schema where it is empty.
    secret : sequence of str
        Columns to be guessed.
    holdout : optional
        A table of people like those in the original who were not in it: the control.
    also_released : optional
        Another release of the same original that is already out.
    attacks : sequence of str, optional
        Names in `icsa.attacks.ATTACKS`; by default all.
    people : int, optional
        How many are tried at most; by default 1,000, and fewer where the tables are large.
    seed : int
        Of what is drawn.
    schema : Schema, optional
        What each column of the original is; by default guessed.
    unit, time, role : optional
        Whom the rows are about, as in `icsa.anonymize`. People with several rows are attacked as
        people, by what their rows come to, and by who knows two rows of them.
    policy : Policy, optional
        Other thresholds than the usual ones.
    progress : callable, optional
        Called with the name of each attack and the share of the work that is done before it.

    Returns
    -------
    Attacks

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> people = pl.DataFrame(np.random.default_rng(1).normal(size=(300, 4)))
    >>> table, others = people[:150], people[150:]
    >>> found = attack(table, table.reverse(), holdout=others, attacks=["linkability"])
    >>> found
    <Attacks: 1 guesses, 1 against the release>
    >>> found.results[0].right.value, found.reasons[0].word
    (1.0, 'do not release')
    """
    before, after = (_table(part) for part in (original, released))
    declared = declared_of(schema, before, unit=unit, time=time, role=role)
    comparison = matched(before, after, declared)
    require_columns(comparison)
    known = tuple(knows) or key_columns(comparison, declared)
    _require_compared(comparison, (*known, *secret))
    others = None if holdout is None else encoded_as(comparison, _table(holdout), "holdout")
    another = (
        None
        if also_released is None
        else encoded_as(comparison, _table(also_released), "other release")
    )
    features = comparison.features
    targets = Targets(
        features=features,
        outsiders=others,
        also_released=another,
        knows=known,
        secret=tuple(secret),
    )
    tried = usual_people(comparison, _CELLS_ALONE) if people is None else people
    results = run_attacks(targets, names=attacks, people=tried, seed=seed, progress=progress)
    if isinstance(comparison, UnitComparison) and attacks is None:
        outsiders = None if holdout is None else comparison.visits(_table(holdout).frame)
        visits = two_visits(*comparison.both_visits, outsiders, people=tried, seed=seed)
        results = (*results, *visits)
    chosen = Policy() if policy is None else policy
    return Attacks(
        results=results,
        reasons=reasons_of_attacks(results, chosen, more_digits=has_more_digits(targets)),
        keys=key_variables(features, known) if known else None,
        people=tried,
    )


def quick_attackers(
    comparison: Comparison,
    outsiders: FeatureTable | None = None,
    also_released: FeatureTable | None = None,
    *,
    policy: Policy | None = None,
    leave_out: Collection[str] = (),
) -> tuple[tuple[AttackResult, ...], tuple[Reason, ...]]:
    """Return what the attackers get that every assessment tries, and what speaks against it.

    Parameters
    ----------
    comparison : Comparison
    outsiders : FeatureTable, optional
        People who were not in the table, encoded like it.
    also_released : FeatureTable, optional
        Another release of the same original.
    policy : Policy, optional
    leave_out : collection of str
        Names of attacks that are not to be tried.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> from icsa.comparison.matching import match_tables
    >>> from icsa.inspection import guess_schema
    >>> from icsa.tables import Table
    >>> table = Table(pl.DataFrame(np.random.default_rng(1).normal(size=(90, 3))))
    >>> results, reasons = quick_attackers(match_tables(table, table, guess_schema(table)))
    >>> len(results), reasons  # a copy, but without people who were not in the table
    (11, ())
    """
    targets = Targets(
        features=comparison.features, outsiders=outsiders, also_released=also_released
    )
    names = [name for name, kind in ATTACKS.items() if kind.quick and name not in leave_out]
    results = run_attacks(targets, names=names, people=usual_people(comparison))
    chosen = Policy() if policy is None else policy
    return results, reasons_of_attacks(results, chosen, more_digits=has_more_digits(targets))


def reasons_of_attacks(
    results: Iterable[AttackResult], policy: Policy, *, more_digits: bool = False
) -> tuple[Reason, ...]:
    """Return the findings that change the word.

    Parameters
    ----------
    results : iterable of AttackResult
    policy : Policy
    more_digits : bool
        Whether a rounded original was released with more digits than it has.

    Examples
    --------
    A control within the original never decides:

    >>> from icsa.attacks import Tally
    >>> from icsa.attacks.tallies import constant, outcome
    >>> told = {"knows": "", "guesses": "", "right": Tally(90, 100, 100), "naive": constant(0.1)}
    >>> for who in ("people who were not in the table", "the original without the person"):
    ...     found = outcome("linkability", control=Tally(9, 100, 100), control_is=who, **told)
    ...     print([reason.word for reason in reasons_of_attacks([found], Policy())])
    ['do not release']
    []
    """
    found = list(results)
    reasons = [
        *_of_digits(found, more_digits),
        *_of_reassembly(found),
        *_of_two_releases(found),
    ]
    return (*reasons, *_of_differences(found, policy))


def attackers_part(results: Iterable[AttackResult]) -> list[doc.Attacker]:
    """Return the part of an assessment's document about attackers."""

    def shown(measure: Measure, good: str) -> Shown:
        return measured(measure, definition="attackers", good=good)

    return [
        doc.Attacker(
            attack=result.attack,
            knows=result.knows,
            guesses=result.guesses,
            right=shown(result.right, "as the control"),
            control=shown(result.control, "as the naive guess"),
            naive=shown(result.naive, ""),
            difference=shown(result.difference, "about 0"),
            control_is=result.control_is,
            means=result.means,
        )
        for result in results
    ]


def encoded_as(comparison: Comparison, table: Table, what: str) -> FeatureTable:
    """Return another table with the columns that are compared; refuse one that lacks some."""
    missing = [name for name in comparison.needed if name not in table.frame]
    if missing:
        more = f" and {len(missing) - _MOST_NAMES} more" if len(missing) > _MOST_NAMES else ""
        listed = ", ".join(repr(name) for name in missing[:_MOST_NAMES])
        raise InputError(
            f"The {what} lacks {listed}{more}: it needs every column that original and release "
            "have in common and that can be compared."
        )
    if table.frame.height < 1:
        raise InputError(f"The {what} has no rows.")
    return comparison.encode(table.frame)


def usual_people(comparison: Comparison, cells: int = _CELLS) -> int:
    """Return how many people are tried: 1,000, and fewer the larger the tables are.

    Parameters
    ----------
    comparison : Comparison
    cells : int
        People times rows times columns that one look through a table may take.

    Examples
    --------
    >>> import polars as pl
    >>> from icsa.comparison.matching import match_tables
    >>> from icsa.inspection import guess_schema
    >>> from icsa.tables import Table
    >>> table = Table(pl.DataFrame({"kg": [60.5, 71.5, 66.0]}))
    >>> usual_people(match_tables(table, table, guess_schema(table)))
    1000
    """
    rows = max(comparison.original.frame.height, comparison.released.frame.height)
    return int(min(_MOST, max(_FEWEST, cells // max(1, rows * len(comparison.columns)))))


def key_columns(comparison: Comparison, schema: Schema) -> tuple[str, ...]:
    """Return the columns that the schema calls keys and that are compared."""
    names = (column.name for column in comparison.columns)
    return tuple(name for name in names if name in schema.columns and schema.columns[name].key)


def _require_compared(comparison: Comparison, names: Sequence[str]) -> None:
    """Refuse columns that cannot be known or guessed, and say why."""
    compared = {column.name for column in comparison.columns}
    for name in names:
        if name in comparison.original.frame.columns and name not in compared:
            raise InputError(
                f"Column {name!r} is not in both tables as something that can be compared "
                "(identifiers, free text and columns with one value are not). Name another one."
            )
        if name not in compared:
            raise UnknownNameError("column", name, sorted(compared))


def _of_digits(results: list[AttackResult], more_digits: bool) -> list[Reason]:
    """Return a reason where digits gave back rows, or might to somebody who tries longer."""
    found = [result for result in results if result.attack == "digits"]
    for result in found:
        if result.right.value:
            return [Reason("do not release", "digits", result.means)]
    if more_digits and any(result.right.value is not None for result in found):
        text = (
            "The original is rounded and the release is not: in so few numeric columns its digits "
            "can give back whole rows, though it was tried and they did not"
        )
        return [Reason("look again", "digits", text)]
    return []


def _of_reassembly(results: list[AttackResult]) -> list[Reason]:
    """Return a reason where a person was put together from all far rows, or from some."""
    for result in results:
        if result.attack == "reassembly" and result.rows:
            word: Word = "do not release" if result.guesses == ALL_PIECES else "look again"
            return [Reason(word, "reassembly", result.means, result.rows)]
    return []


def _of_two_releases(results: list[AttackResult]) -> list[Reason]:
    for result in results:
        if result.attack == "two releases" and result.guesses == THE_MAP and result.right.value:
            return [Reason("do not release", "two releases", result.means)]
    return []


def _of_differences(results: list[AttackResult], policy: Policy) -> list[Reason]:
    """Return a reason for each attack that is clearly better on people in the table."""
    limits = policy.values()
    worst: dict[str, Reason] = {}
    for result in results:
        if result.control_is != _REAL or result.attack in ("digits", "reassembly"):
            continue
        low = difference_of(result.counts, 1.0 - 2.0 * limits["attack_chance"])[0]
        half = result.attack == "membership" or result.guesses in (NEAR_SCORES, WHO_IT_IS)
        look, stop = (
            limits[f"{'membership' if half else 'attack'}_{word}"] for word in ("look", "stop")
        )
        if math.isnan(low) or low <= look:
            continue
        text = (
            f"{result.attack}: an attacker who knows {result.knows} and guesses {result.guesses} "
            f"is right in {result.right.value:.0%} of the cases, about people who were not in the "
            f"table in {result.control.value:.0%}"
        )
        word: Word = "do not release" if low > stop else "look again"
        before = worst.get(result.attack)
        if before is None or (before.word == "look again" and word == "do not release"):
            worst[result.attack] = Reason(word, result.attack, text)
    return list(worst.values())


def _table(table: Any) -> Table:
    return table if isinstance(table, Table) else from_frame(table)

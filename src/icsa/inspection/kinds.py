"""Which kind a column is, and why: the rules, from the first that fits.

*There* are the cells that are not missing: neither null, NaN nor a missing code. *Few* different
values are at most 8, each held by 5 rows on average. *A sequence* is 10 or more whole numbers, all
different, with equal steps or in a range hardly longer than their number.

1. No cell there, or all the same: **constant**.
2. Lists, records, bytes, objects: **text** (left out; nothing else can be done with them).
3. Dates, dates with times, durations, times of day, by their type: **date**, **datetime**,
   **duration**, **time**.
4. True or false: **binary**.
5. **identifier**, from the first of these that fits; numbers with decimals never are.
   a. The name is that of a number given to a person (id, patient_id, mrn, ssn, Patientennummer),
      even where the same number stands in several rows; but not few whole numbers from 0 or 1 on
      without gaps, each in 5 rows: whatever they are called, they point at nobody.
   b. Codes of ICD-10 of which not nearly all are different are none; rules 9b and 9c are for them.
   c. Four fifths of the texts look like e-mail addresses or telephone numbers, however often each
      is there. Plain numbers are telephone numbers only where the name says so.
   d. Three or more texts under a name for people's names (surname, gp_name, Vorname, apellido),
      nine or more under one for addresses or telephones; whole numbers where a fifth are different.
   e. The name has a word for given numbers (id, record, no), or ends with one (casenum), and most
      cells are different. Codes of groups (school, ward_no) that rule 10b takes are none; those
      that are too many for it are.
   f. The name says postal codes, and there are nine or more.
   g. The name ends, or begins, with a word for given numbers (family_id, household_no, kvnr), or
      is that of a family, household or case, and there are 20 or more different whole numbers or
      codes, however often each is there. What begins with "number of" is not, nor are small
      numbers crowded at some values, as counts are, nor up to 30 codes of groups (site_id).
   h. Whole numbers, nearly all different: in sequence; long ones of one length, but for salaries
      in cents and seconds; or such that coincide less than measured ones would
      (`icsa.inspection.evidence`).
6. Two different values: **binary**.
7. A file that says ordinal, at most 30 levels; a type with ordered levels, at most 256, not nearly
   all different: **ordinal**. A type with levels in no order, 5 rows a level (2 where there are at
   most 8 levels): **category**.
8. Value labels for every value and a file that does not say scale or ordinal: **category** with as
   many rows a level as in 7, **identifier** with fewer: such labels may be names.
9. Strings.
   a. More than 90% of 20 or more are different: **identifier** where they are short codes (no
      blanks, at most 40 characters, mostly with a digit), **text** where not, and where they are
      two numbers (120/80).
   b. At most 30 levels, 256 of short codes under a name of groups (school), and 5 rows a level (2
      where there are at most 8 levels): **ordinal** where they are a well-known scale (I, II,
      III; mild, moderate, severe; stage 1, stage 2), else **category**.
   c. Others: **text**, too many levels or free text.
10. Numbers.
    a. Few whole numbers: **category** where the name says groups (race, site, arm), else
       **ordinal** where they begin at 0 or 1 and have no gaps.
    b. Up to 256 whole numbers, 5 rows each, under a name of groups (school, institution, ctr_id):
       **category**.
    c. 40% or more zeros and 4 or more other values: **zero-inflated**.
    d. Few others: **ordinal**.
    e. Up to 256 whole numbers, each in 3 rows and in 5 on average, that no others can lie between:
       **ordinal** (`icsa.inspection.evidence`).
    f. Whole numbers: **integer**; others: **continuous**.

Identifiers are replaced by fresh ones, text is dropped, all other kinds are masked.
No sentence written here holds a cell value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import polars as pl

from icsa.columns import KINDS, Kind
from icsa.columns.levels import FEWEST_HOLDERS
from icsa.inspection.evidence import are_levels, spacing_of
from icsa.inspection.identities import are_codes, are_grades, are_group_codes, identity_of
from icsa.inspection.limits import LIMITS
from icsa.inspection.names import (
    names_diagnosis,
    names_grades,
    names_group_codes,
    names_groups,
    names_person_number,
)
from icsa.inspection.notations import are_pairs
from icsa.inspection.oddities import sentinel_codes
from icsa.inspection.profile import Profile

__all__ = ["ONLY_THESE", "Guess", "guess_kind"]

_SCALES = (
    ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"),
    ("none", "very mild", "mild", "moderate", "severe", "very severe"),
    ("very low", "low", "medium", "high", "very high"),
    ("low", "normal", "high"),
    ("small", "medium", "large"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("never", "former", "current"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
)
_GIVEN = "all different: if these numbers are given, not measured, the kind is identifier"
_NO_IDS = (
    "named like a number of people, with the values of a scale: if ids, the kind is identifier"
)
ONLY_THESE = (
    "no other numbers than these are released: if they are codes without an order, the kind is "
    "category; if any number may be, integer"
)
_NUMBERED = re.compile(r"(\D*)(\d{1,2})")


@dataclass(frozen=True, repr=False)
class Guess:
    """A kind, why, and for ordinal columns the levels in order where they may be shown.

    Identifiers are known by their cells or by the column's name, and are of people or not. A doubt
    is what the custodian alone can decide.
    """

    kind: Kind
    why: str
    levels: tuple[Any, ...] = ()
    by_name: bool = False
    of_people: bool = False
    doubt: str = ""

    def __repr__(self) -> str:
        """Show no levels."""
        return f"<Guess: {self.kind}, {self.why}>"


def guess_kind(profile: Profile) -> Guess:
    """Return the kind of a column by the rules at the top of this module.

    Examples
    --------
    >>> from icsa.inspection.profile import profile_of
    >>> from icsa.tables.table import Table
    >>> table = Table(pl.DataFrame({"weight": [61.5, 70.25, 80.1]}))
    >>> guess_kind(profile_of(table, "weight"))
    <Guess: continuous, numbers with decimals>
    """
    if profile.distinct <= 1:
        return Guess("constant", "the same in every row" if profile.distinct else "no cells")
    if profile.is_nested:
        return Guess("text", "lists, records or bytes: nothing that could be masked")
    for kind in KINDS.values():
        if kind.is_temporal and kind.storage is not None and kind.storage.accepts(profile.dtype):
            return Guess(kind.name, kind.storage.holds)
    if isinstance(profile.dtype, pl.Boolean):
        return Guess("binary", "true or false")
    named = identity_of(profile)
    if named is not None:
        return Guess("identifier", named.why, by_name=named.by_name, of_people=named.of_people)
    if profile.distinct == 2:
        return Guess("binary", "two different values")
    return _declared(profile) or (_of_text(profile) if profile.is_text else _of_numbers(profile))


def _declared(profile: Profile) -> Guess | None:
    """Return the kind that the file or the type itself declares, where levels are no names."""
    says, labels = profile.variable.measurement, set(profile.variable.value_labels)
    labelled = bool(labels) and labels.issuperset(profile.values.to_list())
    if _nearly_all_differ(profile):
        why = "codes with a label each, different in nearly every row"
        return Guess("identifier", why) if labelled and not profile.is_text else None
    if isinstance(profile.dtype, pl.Enum) and says != "nominal":
        if profile.distinct <= LIMITS.most_levels_of_types:
            return Guess("ordinal", "its type has levels in an order", _shown_levels(profile))
    elif says == "ordinal" and profile.distinct <= LIMITS.most_levels:
        return Guess("ordinal", "the file says ordinal", _shown_levels(profile))
    few = profile.distinct <= LIMITS.most_levels_of_types and not _are_held_by_few(profile)
    if isinstance(profile.dtype, pl.Enum | pl.Categorical) and few:
        return Guess("category", "its type has levels")
    if labelled and says not in ("ordinal", "scale"):
        if few:
            return Guess("category", "codes that the file gives a label each")
        return Guess("identifier", f"{profile.distinct} codes with labels: too many for levels")
    return None


def _nearly_all_differ(profile: Profile) -> bool:
    share = profile.distinct / profile.present
    return share > LIMITS.nearly_all and profile.present >= LIMITS.rows_to_be_unique


def _are_held_by_few(profile: Profile) -> bool:
    rows_a_level = (
        LIMITS.rows_of_few if profile.distinct <= LIMITS.few_values else LIMITS.rows_a_value
    )
    return profile.present < rows_a_level * profile.distinct


def _of_text(profile: Profile) -> Guess:
    if _nearly_all_differ(profile):
        if are_pairs(profile):
            return Guess("text", "two numbers in one cell")
        if are_codes(profile.values.cast(pl.String)):
            return Guess("identifier", "a short code of its own in nearly every row")
        return Guess("text", "nearly every row has a text of its own")
    named = names_group_codes(profile.name) and not names_diagnosis(profile.name)
    of_groups = named and are_codes(profile.values.cast(pl.String))
    most = LIMITS.most_levels_of_types if of_groups else LIMITS.most_levels
    if profile.distinct > most or _are_held_by_few(profile):
        many = f"{profile.distinct} different texts in {profile.present} rows"
        return Guess("text", f"{many}: too many for levels")
    levels = _scale(profile)
    if levels:
        return Guess("ordinal", f"{len(levels)} levels of a well-known scale", levels)
    return Guess("category", f"{profile.distinct} different texts")


def _of_numbers(profile: Profile) -> Guess:
    different = profile.distinct
    few = different <= LIMITS.few_values and profile.present >= LIMITS.rows_a_value * different
    finite = profile.numbers.size == different
    named = names_groups(profile.name) or are_group_codes(profile)
    if few and finite and profile.is_whole and named:
        return Guess("category", f"{different} codes, and its name says groups")
    if are_grades(profile):
        why = f"{different} whole numbers without gaps, from 0 or 1 on"
        doubt = _NO_IDS if names_person_number(profile.name) else ""
        return Guess("ordinal", why, _shown_levels(profile), doubt=doubt)
    if are_group_codes(profile):
        return Guess("category", f"{different} codes, and its name says groups")
    if (
        profile.largest_share >= LIMITS.many_equal
        and profile.commonest == 0.0
        and different > LIMITS.others_than_zero
    ):
        return Guess("zero-inflated", f"{profile.largest_share:.0%} zeros, and other numbers")
    if few and finite:
        return Guess("ordinal", f"{different} different numbers only", _shown_levels(profile))
    if profile.is_whole:
        return _of_whole_numbers(profile)
    return Guess("continuous", "numbers with decimals")


def _of_whole_numbers(profile: Profile) -> Guess:
    codes = sentinel_codes(profile)
    if profile.is_exact and are_levels(spacing_of(profile, without=codes)):
        why = f"{profile.distinct} whole numbers only, each in several rows"
        return Guess("ordinal", why, doubt=ONLY_THESE)
    unique = profile.distinct == profile.present >= LIMITS.rows_to_be_unique
    return Guess("integer", "whole numbers", doubt=_GIVEN if unique else "")


def _scale(profile: Profile) -> tuple[str, ...]:
    """Return the levels in the order of a well-known scale; empty where they are none."""
    levels = profile.values.cast(pl.String).to_list()
    plain = {level: " ".join(level.casefold().split()) for level in levels}
    if len(set(plain.values())) < len(levels):
        return ()
    for scale in _SCALES:
        if set(plain.values()) <= set(scale):
            return tuple(sorted(levels, key=lambda level: scale.index(plain[level])))
    numbered = [_NUMBERED.fullmatch(level) for level in levels]
    parts = [(match[1], int(match[2])) for match in numbered if match is not None]
    alike = len(parts) == len(levels) and len({before for before, _ in parts}) == 1
    if not alike or not names_grades(profile.name) or _rarest(profile) < FEWEST_HOLDERS:
        return ()
    order = dict(zip(levels, (number for _, number in parts), strict=True))
    return tuple(sorted(levels, key=order.__getitem__))


def _shown_levels(profile: Profile) -> tuple[Any, ...]:
    """Return the levels in order where at least three rows hold each; else none."""
    if _rarest(profile) < FEWEST_HOLDERS:
        return ()
    # Decimals are no TOML.
    exact = isinstance(profile.dtype, pl.Decimal)
    values = profile.values.cast(pl.Float64) if exact else profile.values
    return tuple(values.sort().to_list())


def _rarest(profile: Profile) -> int:
    return int(profile.held.min()) if profile.held.size else 0

"""Which columns name people, their families or ways to reach them, and by what that is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from icsa.inspection.evidence import are_even, chance_if_measured, spacing_of
from icsa.inspection.limits import LIMITS
from icsa.inspection.names import (
    is_postal,
    names_address,
    names_codes,
    names_contact,
    names_diagnosis,
    names_given_number,
    names_group_codes,
    names_groups,
    names_id,
    names_long_number,
    names_measured,
    names_number,
    names_person_number,
    names_phone,
    names_schooling,
    person_name_in,
)
from icsa.inspection.notations import are_written_dates
from icsa.inspection.profile import Profile, sample_of
from icsa.matrices import Vector

__all__ = [
    "Identity",
    "are_codes",
    "are_grades",
    "are_group_codes",
    "has_diagnoses",
    "identity_of",
    "looks_like_contacts",
]

_PERSON_NUMBER = "its name is that of a number given to people"
_MAIL = r"[^\s@]@[^\s@]+\.[^\s@]{2,}"
_PHONE_SIGNS = r"^\s*[+(]?[0-9][0-9 ()/.\-\u00a0]*$"
# What a telephone number has, and a plain number has not. Two zeros begin numbers abroad.
_PHONE_MARK = r"^\s*\+|^\s*\(|^\s*0[1-9]|^\s*00[1-9][0-9 /\-]{8,}|[0-9)][ /\u00a0]+[0-9(]"
# Dates, decimals, marked thousands, postal codes and negative amounts have the same signs.
_NO_PHONE = (
    r"^\s*\d{1,4}([./\- ])\d{1,2}[./\- ]\d{1,4}\s*$"
    r"|^\s*[+-]?\d*[.]\d+\s*$"
    r"|^\s*[1-9]\d{0,2}([ .\u00a0]\d{3})+([.]\d+)?\s*$"
    r"|^\s*\d{5}-\d{3,4}\s*$"
    r"|^\s*\(\d+([.]\d+)?\)\s*$"
)
_DIAGNOSIS = r"^\s*[A-Za-z]\d{2}(\.[0-9A-Za-z]{1,4}|\d{1,2})?\s*$"


@dataclass(frozen=True)
class Identity:
    """Why a column is one of identifiers.

    Attributes
    ----------
    why : str
    by_name : bool
        Whether the column's name says so.
    of_people : bool
        Whether the same cell in two rows says that they are of the same person or family; the
        same first name or postal code does not.
    """

    why: str
    by_name: bool = True
    of_people: bool = True


_NAMED = Identity("its name is that of people's names or ways to reach them", of_people=False)


def identity_of(profile: Profile) -> Identity | None:
    """Return why a column is an identifier; None where it is not, as far as names and cells say.

    Examples
    --------
    >>> from icsa.inspection.profile import profile_of
    >>> from icsa.tables.table import Table
    >>> table = Table(pl.DataFrame({"contact": ["a@example.org", "b@example.org"] * 9}))
    >>> identity_of(profile_of(table, "contact"))
    Identity(why='its cells look like e-mail addresses', by_name=False, of_people=False)
    """
    if not (profile.is_text or profile.is_whole) or not profile.present:
        return None
    name, share = profile.name, profile.distinct / profile.present
    if names_person_number(name) and (profile.distinct > 2 or share == 1.0):
        return None if are_grades(profile) else Identity(_PERSON_NUMBER)
    if has_diagnoses(profile) and share <= LIMITS.nearly_all:
        return None
    found = _contact(profile)
    if found is not None:
        return found
    if are_group_codes(profile):
        return None
    said = names_number(name) or (profile.is_whole and names_codes(name))
    if said and share > 0.5 and profile.present >= LIMITS.rows_of_a_sequence:
        return Identity("its name has a word for given numbers, and most are different")
    if is_postal(name) and profile.distinct > LIMITS.few_values:
        return Identity("its name is that of postal codes", of_people=False)
    if _may_be_group_codes(profile) and profile.distinct > LIMITS.few_values:
        why = f"{profile.distinct} codes of groups: too many for levels"
        return Identity(why, of_people=False)
    if _is_given(profile):
        return Identity("its name is that of given numbers, and there are many different ones")
    if profile.is_whole and share > LIMITS.nearly_all:
        return _given_number(profile)
    return None


def are_grades(profile: Profile) -> bool:
    """Return whether cells are few whole numbers from 0 or 1 on, without gaps, each in many rows.

    Whatever the name says, such numbers point at nobody.

    Examples
    --------
    >>> from icsa.inspection.profile import profile_of
    >>> from icsa.tables.table import Table
    >>> are_grades(profile_of(Table(pl.DataFrame({"PID": [0, 1, 2] * 20})), "PID"))
    True
    """
    few = 1 < profile.distinct <= LIMITS.few_values
    repeated = profile.present >= LIMITS.rows_a_value * profile.distinct
    if not (few and repeated and profile.is_whole) or profile.numbers.size < profile.distinct:
        return False
    gapless = np.ptp(profile.numbers) == profile.distinct - 1
    return bool(gapless and profile.numbers.min() in (0, 1))


def are_group_codes(profile: Profile) -> bool:
    """Return whether whole numbers are codes of groups by their name, each in several rows.

    Examples
    --------
    >>> from icsa.inspection.profile import profile_of
    >>> from icsa.tables.table import Table
    >>> table = Table(pl.DataFrame({"school": [1224, 1288, 1296, 1308] * 20}))
    >>> are_group_codes(profile_of(table, "school"))
    True
    """
    few = profile.distinct <= LIMITS.few_values
    rows_a_code = LIMITS.rows_of_few if few else LIMITS.rows_a_value
    return (
        _may_be_group_codes(profile)
        and 1 < profile.distinct <= LIMITS.most_levels_of_types
        and profile.present >= rows_a_code * profile.distinct
    )


def _may_be_group_codes(profile: Profile) -> bool:
    """Return whether whole numbers have a name of groups; years of schooling have one too."""
    if not profile.is_whole or not names_group_codes(profile.name):
        return False
    codes = profile.numbers.min() == 1 or profile.numbers.max() > LIMITS.longest_schooling
    return codes or not names_schooling(profile.name)


def has_diagnoses(profile: Profile) -> bool:
    """Return whether nearly all cells are written as codes of ICD-10."""
    return profile.is_text and are_diagnoses(profile.cells, said=names_diagnosis(profile.name))


def are_codes(texts: pl.Series) -> bool:
    """Return whether different texts are codes: short, without blanks, mostly with a digit.

    Examples
    --------
    >>> are_codes(pl.Series(["P-0815", "P-4711"])), are_codes(pl.Series(["by bus 7"]))
    (True, False)
    """
    longest = texts.str.len_chars().max()
    blanks = texts.str.contains(r"\s").any()
    digits = texts.str.contains(r"\d|@").mean()
    short = isinstance(longest, int) and longest <= LIMITS.longest_code
    return short and not blanks and isinstance(digits, float) and digits > 0.5


def _contact(profile: Profile) -> Identity | None:
    """Return whether cells or the name say that people are named or reached by the cells."""
    name, phone = profile.name, names_phone(profile.name)
    many = profile.distinct > LIMITS.few_values
    if not profile.is_text:
        by_phone = phone and long_enough_for_phones(profile.cells)
        differ = many and profile.distinct > LIMITS.some * profile.present and not phone
        return _NAMED if by_phone or (differ and names_contact(name)) else None
    found = looks_like_contacts(profile.cells, phones_too=phone)
    if found:
        return Identity(f"its cells look like {found}", by_name=phone, of_people=False)
    if (person_name_in(name) and profile.distinct > 2) or (many and (phone or names_address(name))):
        return _NAMED
    differ = many and profile.distinct > LIMITS.some * profile.present
    return _NAMED if differ and names_contact(name) else None


def _is_given(profile: Profile) -> bool:
    """Return whether the name says given numbers, and many cells are neither counts nor groups."""
    name, long_number = profile.name, names_long_number(profile.name)
    if profile.distinct < LIMITS.fewest_given or not (names_given_number(name) or long_number):
        return False
    if profile.is_text:
        groups = names_groups(name) and profile.distinct <= LIMITS.most_levels
        return not groups and are_codes(profile.values.cast(pl.String))
    if long_number and not names_id(name):
        return bool(np.median(profile.numbers) >= LIMITS.smallest_long_number)
    return names_id(name) or not _may_be_counts(profile)


def _may_be_counts(profile: Profile) -> bool:
    lowest, highest = profile.numbers.min(), profile.numbers.max()
    if lowest > LIMITS.smallest_count or highest >= LIMITS.largest_count:
        return False
    commonest = np.sort(profile.held)[-(profile.distinct // 4) :]
    return bool(commonest.sum() > LIMITS.crowded * profile.present)


def _given_number(profile: Profile) -> Identity | None:
    """Return an identity where whole numbers, nearly all different, are given, not measured."""
    unique, rows = profile.distinct == profile.present, profile.present
    numbers = np.sort(profile.numbers)
    if unique and (_are_long(numbers) or are_written_dates(numbers)):
        why = "long whole numbers of one length, another one in every row"
        return Identity(why, by_name=False)
    if not profile.is_exact:
        return None
    spacing = spacing_of(profile)
    length = int(spacing.points[-1]) + 1
    if unique and rows >= LIMITS.rows_of_a_sequence and length <= LIMITS.sparsest_sequence * rows:
        return Identity("whole numbers in sequence, another one in every row", by_name=False)
    if names_measured(profile.name):
        return None
    coded = names_codes(profile.name)
    if chance_if_measured(spacing) < (LIMITS.chance_with_name if coded else LIMITS.chance):
        why = "whole numbers that repeat less than measured ones would"
        return Identity(why, by_name=False)
    return None


def _are_long(numbers: Vector) -> bool:
    """Return whether sorted numbers have as many digits as registers give, and all the same."""
    digits = [len(str(abs(int(end)))) for end in numbers[[0, -1]]]
    if numbers[0] < 0 or digits[0] != digits[1] or digits[0] < LIMITS.digits_of_given:
        return False
    if digits[0] < LIMITS.long_digits:  # salaries in cents have as many
        return numbers.size >= LIMITS.rows_to_be_even and are_even(numbers)
    low, high = LIMITS.seconds
    return numbers.size >= LIMITS.rows_to_be_unique and not low <= numbers[0] <= numbers[-1] <= high


def looks_like_contacts(cells: pl.Series, *, phones_too: bool) -> str:
    """Return what most texts of a column look like, by which people can be reached; or nothing.

    Parameters
    ----------
    cells : polars.Series
        Texts. Of long columns a sample is looked at.
    phones_too : bool
        Whether the column's name says telephone: then plain numbers are some, too.

    Examples
    --------
    >>> looks_like_contacts(pl.Series(["anna@example.org", "b@example.org"]), phones_too=False)
    'e-mail addresses'
    >>> looks_like_contacts(pl.Series(["5551234"]), phones_too=False)
    ''
    """
    texts = sample_of(cells).cast(pl.String)
    if _share(texts.str.contains("[@0-9]")) < LIMITS.most:
        return ""
    if _share(texts.str.contains(_MAIL)) >= LIMITS.most:
        return "e-mail addresses"
    digits = texts.str.count_matches(r"[0-9]")
    signs = texts.str.contains(_PHONE_SIGNS) & ~texts.str.contains(_NO_PHONE)
    fewest, most = LIMITS.named_phone_digits if phones_too else LIMITS.phone_digits
    phones = signs & digits.is_between(fewest, most)
    if not phones_too:
        phones = phones & texts.str.contains(_PHONE_MARK)
    return "telephone numbers" if _share(phones) >= LIMITS.most else ""


def long_enough_for_phones(cells: pl.Series) -> bool:
    """Return whether most whole numbers have as many digits as telephone numbers.

    Examples
    --------
    >>> long_enough_for_phones(pl.Series([401234567, 407654321])), long_enough_for_phones(
    ...     pl.Series([12, 31])
    ... )
    (True, False)
    """
    numbers = sample_of(cells).cast(pl.Float64)
    fewest, most = LIMITS.named_phone_digits
    return _share(numbers.is_between(10.0 ** (fewest - 1), 10.0**most)) >= LIMITS.most


def are_diagnoses(cells: pl.Series, *, said: bool) -> bool:
    """Return whether nearly all texts are written as codes of ICD-10.

    Without a dot in some of them they may be anything, unless it is `said` by the column's name.

    Examples
    --------
    >>> are_diagnoses(pl.Series(["C50.1", "I10", "E11.9"]), said=False)
    True
    """
    texts = sample_of(cells).cast(pl.String)
    if not texts.len() or _share(texts.str.contains(_DIAGNOSIS)) < LIMITS.nearly_all:
        return False
    return said or _share(texts.str.contains(".", literal=True)) >= LIMITS.some


def _share(flags: pl.Series) -> float:
    mean = flags.mean()
    return float(mean) if isinstance(mean, int | float) else 0.0

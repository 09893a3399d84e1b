"""Which columns name people, their families or ways to reach them, and by what that is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from icsa.inspection.contacts import are_diagnoses, long_enough_for_phones, looks_like_contacts
from icsa.inspection.names import (
    is_postal,
    names_address,
    names_contact,
    names_diagnosis,
    names_given_number,
    names_groups,
    names_id,
    names_long_number,
    names_number,
    names_person_number,
    names_phone,
    person_name_in,
)
from icsa.inspection.profile import Profile
from icsa.matrices import Vector

__all__ = ["Identity", "are_codes", "has_diagnoses", "identity_of"]

_FEW_VALUES = 8
_NEARLY_ALL = 0.9
_ROWS_TO_BE_UNIQUE = 20
_ROWS_OF_A_SEQUENCE = 10
_SPARSEST_SEQUENCE = 1.2
_DIGITS_OF_GIVEN_NUMBERS = 7
_LONGEST_CODE = 40
_FEWEST_GIVEN = 20
_MOST_LEVELS = 30
# Counts begin near zero, are small, and a quarter of their values have more than so many cells.
_SMALLEST_COUNT, _LARGEST_COUNT, _CROWDED = 2.0, 1000.0, 0.55
_SMALLEST_LONG_NUMBER = 10_000.0

_CONTACT_NAME = "its name is that of people's names or ways to reach them"


@dataclass(frozen=True)
class Identity:
    """Why a column is one of identifiers, and whether its name says so."""

    why: str
    by_name: bool = True


def identity_of(profile: Profile) -> Identity | None:
    """Return why a column is an identifier; None where it is not, as far as names and cells say.

    Examples
    --------
    >>> from icsa.inspection.profile import profile_of
    >>> from icsa.tables.table import Table
    >>> table = Table(pl.DataFrame({"contact": ["a@example.org", "b@example.org"] * 9}))
    >>> identity_of(profile_of(table, "contact"))
    Identity(why='its cells look like e-mail addresses', by_name=False)
    """
    if not (profile.is_text or profile.is_whole) or not profile.present:
        return None
    name, share = profile.name, profile.distinct / profile.present
    if names_person_number(name) and (profile.distinct > 2 or share == 1.0):
        return Identity("its name is that of a number given to people")
    if has_diagnoses(profile) and share <= _NEARLY_ALL:
        return None
    found = _contact(profile)
    if found is not None:
        return found
    if names_number(name) and share > 0.5 and profile.present >= _ROWS_OF_A_SEQUENCE:
        return Identity("its name has a word for given numbers, and most are different")
    if is_postal(name) and profile.distinct > _FEW_VALUES:
        return Identity("its name is that of postal codes")
    if _is_given(profile):
        return Identity("its name is that of given numbers, and there are many different ones")
    if profile.is_whole and share == 1.0 and profile.present >= _ROWS_OF_A_SEQUENCE:
        return _given_number(np.sort(profile.numbers))
    return None


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
    short = isinstance(longest, int) and longest <= _LONGEST_CODE
    return short and not blanks and isinstance(digits, float) and digits > 0.5


def _contact(profile: Profile) -> Identity | None:
    """Return whether cells or the name say that people are named or reached by the cells."""
    name, phone = profile.name, names_phone(profile.name)
    many = profile.distinct > _FEW_VALUES
    if not profile.is_text:
        by_phone = phone and long_enough_for_phones(profile.cells)
        differ = many and profile.distinct > 0.2 * profile.present and not phone
        return Identity(_CONTACT_NAME) if by_phone or (differ and names_contact(name)) else None
    found = looks_like_contacts(profile.cells, phones_too=phone)
    if found:
        return Identity(f"its cells look like {found}", by_name=phone)
    if (person_name_in(name) and profile.distinct > 2) or (many and (phone or names_address(name))):
        return Identity(_CONTACT_NAME)
    differ = many and profile.distinct > 0.2 * profile.present
    return Identity(_CONTACT_NAME) if differ and names_contact(name) else None


def _is_given(profile: Profile) -> bool:
    """Return whether the name says given numbers, and many cells are neither counts nor groups."""
    name, long_number = profile.name, names_long_number(profile.name)
    if profile.distinct < _FEWEST_GIVEN or not (names_given_number(name) or long_number):
        return False
    if profile.is_text:
        groups = names_groups(name) and profile.distinct <= _MOST_LEVELS
        return not groups and are_codes(profile.values.cast(pl.String))
    if long_number and not names_id(name):
        return bool(np.median(profile.numbers) >= _SMALLEST_LONG_NUMBER)
    return names_id(name) or not _may_be_counts(profile)


def _may_be_counts(profile: Profile) -> bool:
    lowest, highest = profile.numbers.min(), profile.numbers.max()
    if lowest > _SMALLEST_COUNT or highest >= _LARGEST_COUNT:
        return False
    commonest = np.sort(profile.held)[-(profile.distinct // 4) :]
    return bool(commonest.sum() > _CROWDED * profile.present)


def _given_number(numbers: Vector) -> Identity | None:
    """Return an identity where sorted whole numbers, all different, are given, not measured."""
    if numbers.size < _ROWS_OF_A_SEQUENCE:
        return None
    steps = np.diff(numbers)
    length = numbers[-1] - numbers[0] + 1.0
    if (steps == steps[0]).all() or length <= _SPARSEST_SEQUENCE * numbers.size:
        return Identity("whole numbers in sequence, another one in every row", by_name=False)
    digits = np.floor(np.log10(np.maximum(np.abs(numbers), 1.0))) + 1
    many = digits[0] >= _DIGITS_OF_GIVEN_NUMBERS and (digits == digits[0]).all()
    if many and numbers.size >= _ROWS_TO_BE_UNIQUE:
        why = "long whole numbers of one length, another one in every row"
        return Identity(why, by_name=False)
    return None

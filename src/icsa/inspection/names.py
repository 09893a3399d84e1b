"""What a column's name says: a number of a person, a way to reach one, groups, or grades."""

from __future__ import annotations

import re

__all__ = [
    "is_postal",
    "names_contact",
    "names_grades",
    "names_groups",
    "names_number",
    "names_person_number",
    "words_of",
]


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_PEOPLE = _words(
    "case child client customer employee individual member mother pat patient participant person "
    "proband pupil record respondent row sample student subj subject user usubj"
)
_PERSON_NUMBERS = _words(
    "bsn guid medicalrecordnumber mrn nhsnumber pid ssn socialsecuritynumber uid uuid"
)
_NUMBERS = _words("code id identifier idx index key no nr num number record seq")
_CONTACTS = _words(
    "address email fax firstname forename fullname iban initials lastname mail mobile name "
    "passport phone phonenumber street surname telephone"
)
_POSTAL = _words("postal postalcode postcode zip zipcode")
_GROUPS = _words(
    "arm cause center centre clinic country department diagnosis ethnic ethnicity group "
    "hospital language marital nationality occupation profession race region religion site status "
    "treatment type ward"
)
_GRADES = _words(
    "asa degree dose education extent grade level likert nyha order performance quality rank "
    "rating satisfaction scale score severity stage tgrade visit year"
)
_BOUNDARY = re.compile(r"[^0-9a-zA-Z\u00c0-\uffff]+|(?<=[a-z])(?=[A-Z])")


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a column's name in small letters.

    Examples
    --------
    >>> words_of("patientId"), words_of("date.of-Birth")
    (('patient', 'id'), ('date', 'of', 'birth'))
    """
    return tuple(word.lower() for word in _BOUNDARY.split(name) if word)


def names_person_number(name: str) -> bool:
    """Return whether a name is that of a number given to a person, whatever the cells.

    Examples
    --------
    >>> [names_person_number(name) for name in ("id", "patient_id", "SubjID", "mrn", "site_id")]
    [True, True, True, True, False]
    """
    words = words_of(name)
    joined = "".join(words)
    if joined in _PERSON_NUMBERS or _PERSON_NUMBERS & set(words):
        return True
    for ending in ("id", "identifier", "nr", "number", "no", "key"):
        before = joined.removesuffix(ending)
        if before != joined and (before in _PEOPLE or (not before and ending.startswith("id"))):
            return True
    return False


def names_number(name: str) -> bool:
    """Return whether a name has a word for numbers that are given, not measured.

    Examples
    --------
    >>> [names_number(name) for name in ("site_id", "record", "sample_no", "age")]
    [True, True, True, False]
    """
    return bool(_NUMBERS & set(words_of(name)))


def names_contact(name: str) -> bool:
    """Return whether a name is that of a name or of a way to reach a person.

    Examples
    --------
    >>> [names_contact(name) for name in ("e-mail", "last_name", "phone", "amount")]
    [True, True, True, False]
    """
    words = words_of(name)
    return bool(_CONTACTS & set(words)) or "".join(words) in _CONTACTS


def is_postal(name: str) -> bool:
    """Return whether a name is that of a postal code.

    Examples
    --------
    >>> is_postal("ZIP code"), is_postal("clip")
    (True, False)
    """
    words = words_of(name)
    return bool(_POSTAL & set(words)) or "".join(words) in _POSTAL


def names_groups(name: str) -> bool:
    """Return whether a name says that codes stand for groups without an order.

    Examples
    --------
    >>> names_groups("race"), names_groups("grade")
    (True, False)
    """
    return bool(_GROUPS & set(words_of(name)))


def names_grades(name: str) -> bool:
    """Return whether a name says that codes have an order.

    Examples
    --------
    >>> names_grades("tumour grade"), names_grades("race")
    (True, False)
    """
    return bool(_GRADES & set(words_of(name)))

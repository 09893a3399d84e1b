"""What a column's name says: a number of a person, a way to reach one, groups, or grades."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

from icsa.inspection import vocabulary as known
from icsa.inspection.vocabulary import word_set

__all__ = [
    "is_postal",
    "names_address",
    "names_codes",
    "names_contact",
    "names_counts",
    "names_diagnosis",
    "names_given_number",
    "names_grades",
    "names_group_codes",
    "names_groups",
    "names_id",
    "names_long_number",
    "names_measured",
    "names_moment",
    "names_number",
    "names_person_number",
    "names_phone",
    "names_schooling",
    "person_name_in",
    "plain_words",
    "words_of",
]


_PERSON_NUMBERS = word_set(
    "bsn guid medicalrecordnumber mrn nhsnumber pid ssn socialsecuritynumber uid uuid"
)
_NUMBERS = word_set("code id identifier idx index key no nr num number record seq")
_GRADES = word_set(
    "asa degree dose education extent grade level likert nyha order performance quality rank "
    "rating satisfaction scale score severity stage tgrade visit year"
)
_DIAGNOSES = word_set("diag diagnose diagnoses diagnosis diagnosi diagnostic dx icd icd10")
_PERSON_ENDINGS = ("id", "identifier", "nr", "number", "no", "key", "nummer", "numero")
_STRONG = word_set("id ident identifier kennung nummer")
_BOUNDARY = re.compile(r"[^0-9a-zA-Z\u00c0-\uffff]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Letters that have no accent to take off.
_LETTERS = str.maketrans({"ß": "ss", "ø": "o", "æ": "ae", "ð": "d", "þ": "th", "ł": "l"})


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
    for ending in _PERSON_ENDINGS:
        before = joined.removesuffix(ending)
        if before != joined and (
            before in known.PEOPLE or (not before and ending.startswith("id"))
        ):
            return True
    return False


def names_number(name: str) -> bool:
    """Return whether a name has a word for numbers that are given, not measured.

    Examples
    --------
    >>> [names_number(name) for name in ("site_id", "record", "sample_no", "age")]
    [True, True, True, False]
    """
    return bool(_NUMBERS & set(words_of(name))) and not names_counts(name)


def names_counts(name: str) -> bool:
    """Return whether a name begins with a word for "number of".

    Examples
    --------
    >>> [names_counts(name) for name in ("no_children", "number of visits", "n", "id_number")]
    [True, True, False, False]
    """
    words = plain_words(name)
    if len(words) < 2 or words[0] not in known.COUNTS:
        return False
    return words[1] not in known.PEOPLE | known.HOUSEHOLDS | known.RECORDS


def names_id(name: str) -> bool:
    """Return whether a name says id, or number as one word with what it is given to.

    Examples
    --------
    >>> [names_id(name) for name in ("family_id", "Fallnummer", "hhid", "family_no", "candid")]
    [True, True, True, False, False]
    """
    words = plain_words(name)
    if len(words) > 1 and _STRONG & {words[0], words[-1]}:
        return True
    givers = known.PEOPLE | known.HOUSEHOLDS
    return any(
        (word.endswith(known.GIVEN_ENDINGS) and word not in known.GIVEN_ENDINGS)
        or (word.endswith("nr") and len(word) > len("inr"))
        or (word.endswith("id") and word.removesuffix("id") in givers)
        for word in words
    )


def names_long_number(name: str) -> bool:
    """Return whether a name has the short name of a register's number, such as CPR.

    Examples
    --------
    >>> names_long_number("cpr"), names_long_number("crp")
    (True, False)
    """
    return bool(known.LONG_NUMBERS & _candidates(name))


def names_given_number(name: str) -> bool:
    """Return whether a name is that of numbers given to people, families or cases.

    Numbers of what is counted are not.

    Examples
    --------
    >>> [names_given_number(name) for name in ("household_no", "case", "kvnr", "nr_nodes")]
    [True, True, True, False]
    """
    words = plain_words(name)
    if not words or names_counts(name):
        return False
    if names_id(name) or (len(words) > 1 and words[-1] in known.GIVEN_WORDS):
        return True
    whole = "".join(words)
    begins = len(words) > 1 and words[0] in known.GIVEN_WORDS
    return begins or whole in known.PEOPLE | known.HOUSEHOLDS | known.RECORDS


def person_name_in(name: str) -> bool:
    """Return whether a column's name is that of people's names, in many languages.

    Examples
    --------
    >>> [person_name_in(name) for name in ("gp_name", "Vorname", "prénom", "drug_name", "rename")]
    [True, True, True, False, False]
    """
    words, found = set(plain_words(name)), _candidates(name)
    if known.ATTRIBUTES & words:
        return False
    if known.PERSON_NAMES & found or any(w.endswith(known.PERSON_NAME_ENDINGS) for w in found):
        return True
    return bool(known.NAMES & words) and not known.THINGS & words


def names_phone(name: str) -> bool:
    """Return whether a name is that of telephone numbers, in many languages.

    Examples
    --------
    >>> [names_phone(name) for name in ("Tel.", "handynummer", "puhelin", "phone_type", "cell")]
    [True, True, True, False, False]
    """
    found = _candidates(name)
    if known.ATTRIBUTES & set(plain_words(name)):
        return False
    return bool(known.PHONES & found) or any(
        part in word for word in found for part in known.PHONE_PARTS
    )


def names_address(name: str) -> bool:
    """Return whether a name is that of addresses, of places or of e-mail.

    Examples
    --------
    >>> [names_address(name) for name in ("e-mail", "Straße", "Wohnadresse", "given via")]
    [True, True, True, False]
    """
    found, words = _candidates(name), plain_words(name)
    if known.ATTRIBUTES & set(words):
        return False
    if words == ("via",) or (known.MAILS | known.ADDRESSES - {"via"}) & found:
        return True
    return any(word.endswith(known.ADDRESS_PARTS) for word in found)


def names_contact(name: str) -> bool:
    """Return whether a name is that of a name or of a way to reach a person.

    Examples
    --------
    >>> [names_contact(name) for name in ("e-mail", "last_name", "phone", "amount")]
    [True, True, True, False]
    """
    return (
        person_name_in(name)
        or names_phone(name)
        or names_address(name)
        or bool(known.OTHER_CONTACTS & _candidates(name))
    )


def names_diagnosis(name: str) -> bool:
    """Return whether a name is that of diagnoses.

    Examples
    --------
    >>> names_diagnosis("main_icd"), names_diagnosis("medical")
    (True, False)
    """
    return bool(_DIAGNOSES & set(words_of(name)))


def is_postal(name: str) -> bool:
    """Return whether a name is that of a postal code.

    Examples
    --------
    >>> is_postal("ZIP code"), is_postal("clip")
    (True, False)
    """
    return bool(known.POSTAL & _candidates(name))


def names_groups(name: str) -> bool:
    """Return whether a name says that codes stand for groups without an order.

    Examples
    --------
    >>> names_groups("race"), names_groups("grade")
    (True, False)
    """
    return bool(known.GROUPS & set(words_of(name)))


def names_codes(name: str) -> bool:
    """Return whether a name ends with a word for codes or numbers that are given.

    Examples
    --------
    >>> [names_codes(name) for name in ("pidnum", "distcod", "school_id", "paid", "no_children")]
    [True, True, True, False, False]
    """
    return bool(_coded(name)) and not names_counts(name)


def names_group_codes(name: str) -> bool:
    """Return whether a name is that of groups, alone or with a word for codes at its end.

    Examples
    --------
    >>> [names_group_codes(name) for name in ("School", "schid", "ward_no", "years_at_firm")]
    [True, True, True, False]
    """
    words = plain_words(name)
    if not words or names_counts(name) or names_moment(name):
        return False
    base, ending = _coded(name) or (words[-1], "")
    return base in known.GROUPS | known.MORE_GROUPS or bool(ending and base in known.GROUP_ROOTS)


def _coded(name: str) -> tuple[str, str] | None:
    """Return what codes are given to, and the word or ending that says codes; None without one."""
    words = plain_words(name)
    if len(words) > 1 and words[-1] in (*known.GIVEN_WORDS, *known.CODE_ENDINGS):
        return words[-2], words[-1]
    groups = known.GROUPS | known.MORE_GROUPS | known.GROUP_ROOTS
    owners = known.PEOPLE | known.HOUSEHOLDS | groups
    for ending in known.CODE_ENDINGS:
        base = words[-1].removesuffix(ending) if words else ""
        # "paid" and "casino" end alike.
        if base and base != words[-1] and (len(ending) > 2 or base in owners):
            return base, ending
    return None


def names_measured(name: str) -> bool:
    """Return whether a name is that of dates, times, ages, percentages or shares.

    Examples
    --------
    >>> [names_measured(name) for name in ("age_at_entry", "pct", "year", "patient")]
    [True, True, True, False]
    """
    measured = known.AGES | known.PERCENTAGES | known.SHARES
    return names_moment(name) or bool(measured & set(plain_words(name)))


def names_schooling(name: str) -> bool:
    """Return whether a name says school and nothing else, as that of years of schooling may.

    Examples
    --------
    >>> names_schooling("school"), names_schooling("school_id")
    (True, False)
    """
    return plain_words(name) in (("school",), ("schule",), ("ecole",), ("skola",), ("skole",))


def names_moment(name: str) -> bool:
    """Return whether a name is that of dates, times or years.

    Examples
    --------
    >>> [names_moment(name) for name in ("year", "admission_date", "time", "yearling")]
    [True, True, True, False]
    """
    return bool(known.MOMENTS & set(words_of(name)))


def names_grades(name: str) -> bool:
    """Return whether a name says that codes have an order.

    Examples
    --------
    >>> names_grades("tumour grade"), names_grades("race")
    (True, False)
    """
    return bool(_GRADES & set(words_of(name)))


@lru_cache(maxsize=1024)
def plain_words(name: str) -> tuple[str, ...]:
    """Return the words without accents, and without digits at their ends.

    Examples
    --------
    >>> plain_words("Prénom2"), plain_words("SpO2")
    (('prenom',), ('sp', 'o'))
    """
    apart = unicodedata.normalize("NFKD", " ".join(words_of(name)).translate(_LETTERS))
    plain = "".join(sign for sign in apart if not unicodedata.combining(sign))
    return tuple(word for word in (w.rstrip("0123456789") for w in plain.split()) if word)


@lru_cache(maxsize=1024)
def _candidates(name: str) -> frozenset[str]:
    """Return the words, neighbours as one word, and the whole name as one word."""
    words = plain_words(name)
    joined = (first + second for first, second in pairwise(words))
    return frozenset((*words, *joined, "".join(words)))

"""Cells by which people can be reached: e-mail addresses and telephone numbers."""

from __future__ import annotations

import polars as pl

from icsa.inspection.profile import sample_of

__all__ = ["are_diagnoses", "long_enough_for_phones", "looks_like_contacts"]

_SHARE = 0.8
_NEARLY_ALL = 0.9
_SOME = 0.2
_DIGITS = (7, 15)  # of a number with its area; the longest that there are have 15
_DIGITS_BY_NAME = (6, 15)

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
    if _share(texts.str.contains("[@0-9]")) < _SHARE:
        return ""
    if _share(texts.str.contains(_MAIL)) >= _SHARE:
        return "e-mail addresses"
    digits = texts.str.count_matches(r"[0-9]")
    signs = texts.str.contains(_PHONE_SIGNS) & ~texts.str.contains(_NO_PHONE)
    fewest, most = _DIGITS_BY_NAME if phones_too else _DIGITS
    phones = signs & digits.is_between(fewest, most)
    if not phones_too:
        phones = phones & texts.str.contains(_PHONE_MARK)
    return "telephone numbers" if _share(phones) >= _SHARE else ""


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
    fewest, most = _DIGITS_BY_NAME
    return _share(numbers.is_between(10.0 ** (fewest - 1), 10.0**most)) >= _SHARE


def are_diagnoses(cells: pl.Series, *, said: bool) -> bool:
    """Return whether nearly all texts are written as codes of ICD-10.

    Without a dot in some of them they may be anything, unless it is `said` by the column's name.

    Examples
    --------
    >>> are_diagnoses(pl.Series(["C50.1", "I10", "E11.9"]), said=False)
    True
    """
    texts = sample_of(cells).cast(pl.String)
    if not texts.len() or _share(texts.str.contains(_DIAGNOSIS)) < _NEARLY_ALL:
        return False
    return said or _share(texts.str.contains(".", literal=True)) >= _SOME


def _share(flags: pl.Series) -> float:
    mean = flags.mean()
    return float(mean) if isinstance(mean, int | float) else 0.0

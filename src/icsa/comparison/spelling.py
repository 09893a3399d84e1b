"""Names that were only spelled otherwise: capitals, punctuation, a common prefix, leading zeros."""

from __future__ import annotations

import math

import polars as pl

__all__ = ["plainly_spelled", "respelled_cells"]

# Numbers in common that chance gives, and so many standard errors and numbers more, are nobody's.
_CLEAR, _FEW = 5.0, 2


def plainly_spelled(text: pl.Series) -> pl.Series:
    """Return names in small letters and digits only, without letters that all begin or end with.

    Examples
    --------
    >>> plainly_spelled(pl.Series(["P-0107", "P-0042"])).to_list()
    ['107', '42']
    >>> plainly_spelled(pl.Series(["Was ill.", "Came late"])).to_list()
    ['wasill', 'camelate']
    """
    plain = text.str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]", "")
    for letters in (r"^\p{L}+", r"\p{L}+$"):
        common = plain.str.extract(f"({letters})").drop_nulls()
        if common.len() == plain.drop_nulls().len() and common.n_unique() == 1:
            plain = plain.str.replace(letters, "")
    shortened = plain.str.strip_chars_start("0")
    return pl.select(
        pl.when(shortened.str.len_chars() > 0).then(shortened).otherwise(plain)
    ).to_series()


def respelled_cells(original: pl.Series, released: pl.Series) -> pl.Series:
    """Return which released names are one original row's alone but for their spelling.

    Numbers in common say nothing where so many are by chance: ids from 1 on are in every table.

    Examples
    --------
    >>> ids = pl.Series([f"P-{k**3:06}" for k in range(5, 25)])
    >>> respelled_cells(ids, pl.Series(["1000", "216", "9", "1331", "343"])).to_list()
    [True, True, False, True, True]
    >>> from_one_on = pl.Series([f"P-{k:06}" for k in range(1, 25)])
    >>> respelled_cells(from_one_on, pl.Series(["7", "3", "12", "24", "1"])).any()
    False
    """
    first, second = plainly_spelled(original), plainly_spelled(released)
    there = first.drop_nulls()
    single = there.filter(there.is_unique() & (there.str.len_chars() > 0))
    found = second.is_in(single.implode()).fill_null(value=False)
    numbers = single.cast(pl.Int64, strict=False)
    if single.is_empty() or numbers.null_count():
        return found
    low, high = int(numbers.min()), int(numbers.max())  # type: ignore[arg-type]
    given = int(second.cast(pl.Int64, strict=False).is_between(low, high).sum())
    chance = given * single.len() / (high - low + 1)
    return found if int(found.sum()) > chance + _CLEAR * math.sqrt(chance) + _FEW else found & False

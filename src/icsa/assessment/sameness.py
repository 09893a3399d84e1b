"""Whether two tables can be an original and its release at all."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from icsa.comparison.matching import Comparison
from icsa.privacy.reasons import Reason, Verdict, decided
from icsa.utility.margins import Margin

__all__ = ["ANOTHER_TABLE", "another_table", "unless_another_table"]

ANOTHER_TABLE = "another table"
# A release may leave columns out or add some, not most of both.
_COLUMNS_IN_COMMON = 0.5
# Distance of distributions in the middle column. Releases by coarse methods have up to .3, a
# column drawn evenly over its range about .5; of 650 unrelated pairs of tables 98.6% have more.
_FAR = 0.5


def unless_another_table(
    found: Verdict, comparison: Comparison, margins: Sequence[Margin]
) -> Verdict:
    """Return the verdict, or another one for two tables that are not the same one.

    Few columns in common rule everything else out. Columns that are distributed quite differently
    do so unless somebody was found in the release, as in a copy that was shifted and rescaled.

    Parameters
    ----------
    found : Verdict
        If they are the same.
    comparison : Comparison
    margins : sequence of Margin
        Of its columns.

    Examples
    --------
    >>> import polars as pl
    >>> from icsa.comparison.matching import match_tables
    >>> from icsa.inspection import guess_schema
    >>> from icsa.tables import from_frame
    >>> from icsa.utility.margins import compare_margins
    >>> ages = [31.5, 47.25, 58.0, 22.75, 64.5]
    >>> one = from_frame(pl.DataFrame({"age": ages, "kg": [61.5, 80.0, 70.2, 55.1, 90.3], "x": 1}))
    >>> two = from_frame(pl.DataFrame({"age": ages, "price": 5, "size": 2, "colour": "red"}))
    >>> both = match_tables(one, two, guess_schema(one))
    >>> found = unless_another_table(Verdict("release"), both, compare_margins(both.columns))
    >>> print(found.reasons[0].text)
    These do not look like a table and its release: only 1 of 3 and 4 columns has the same name. \
Nothing else was decided
    """
    why = _few_columns(comparison)
    if not why and found.word != "do not release":
        why = _other_margins(margins)
    return found if not why else Verdict("look again", (_not_the_same(why),))


def another_table(comparison: Comparison, found: Verdict) -> Verdict:
    """Return the verdict on two tables of which no column can be compared.

    Parameters
    ----------
    comparison : Comparison
    found : Verdict
        What identifiers say; it counts where most columns have the same names.
    """
    why = _few_columns(comparison)
    if not why:
        kept = [reason for reason in found.reasons if reason.word == "do not release"]
        why = f"none of the {len(comparison.matched)} columns in common can be compared"
        return decided([*kept, _not_the_same(why)])
    return Verdict("look again", (_not_the_same(why),))


def _not_the_same(why: str) -> Reason:
    text = f"These do not look like a table and its release: {why}. Nothing else was decided"
    return Reason("look again", ANOTHER_TABLE, text)


def _few_columns(comparison: Comparison) -> str:
    widths = comparison.original.frame.width, comparison.released.frame.width
    common = len(comparison.matched)
    if common >= _COLUMNS_IN_COMMON * min(widths):
        return ""
    has = "has" if common == 1 else "have"
    if not common:
        return f"none of their {widths[0]} and {widths[1]} columns have the same name"
    return f"only {common} of {widths[0]} and {widths[1]} columns {has} the same name"


def _other_margins(margins: Sequence[Margin]) -> str:
    values = [margin.distance.measure.value for margin in margins]
    known = [value for value in values if value is not None]
    if not known or median(known) <= _FAR:
        return ""
    far = sum(value > _FAR for value in known)
    return (
        f"{far} of {len(known)} columns that have the same name are distributed quite differently"
    )

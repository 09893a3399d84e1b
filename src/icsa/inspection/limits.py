"""The limits of inspection: every number that a guess or a note hangs on, with what it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from icsa.limits import MANY_EQUAL, limit

__all__ = ["LIMITS", "Limits"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What is few, many, far or long; ``fields(Limits)`` has the reasons.

    Examples
    --------
    >>> from dataclasses import fields
    >>> LIMITS.many_equal
    0.4
    >>> fields(Limits)[0].name, fields(Limits)[0].metadata["rests on"]
    ('nearly_all', 'one cell in ten may be wrong, empty or written otherwise')
    """

    # Shares of cells.
    nearly_all: float = limit(0.9, "one cell in ten may be wrong, empty or written otherwise")
    most: float = limit(0.8, "of a sample: what has nearly all in the column has this many in it")
    mostly: float = limit(0.5, "more than half")
    some: float = limit(0.2, "one in five: more than slips, less than a habit")
    many_equal: float = limit(
        MANY_EQUAL,
        "so many equal cells are a value of its own (no rain, no visit), not a measurement",
    )

    # Rows that say something.
    rows_to_be_unique: int = limit(
        20, "twenty different cells of grades or groups would be a coincidence"
    )
    rows_of_a_sequence: int = limit(10, "ten numbers in sequence are no coincidence")
    sparsest_sequence: float = limit(1.2, "one number in six may be lost from a running one")

    # Levels.
    few_values: int = limit(8, "scales of grades have at most seven points, and one for unknown")
    rows_a_value: int = limit(5, "fewer rows a level cannot be told from chance")
    rows_of_few: int = limit(2, "few levels, each of them seen twice")
    most_levels: int = limit(30, "more texts than that are nobody's list of choices")
    most_levels_of_types: int = limit(256, "of types and codes that are levels; a dummy each")
    longest_schooling: int = limit(25, "years: a school's code is 1 or larger than that")
    others_than_zero: int = limit(4, "with fewer, the zeros are a level among levels")

    # What whole numbers say by themselves.
    chance: float = limit(
        1e-4, "measured numbers coincide as rarely as that: a mistake in 10,000 columns"
    )
    chance_with_name: float = limit(0.05, "the same where the name says numbers that are given")
    neighbours: int = limit(10, "few enough for numbers given at small sites, enough for a width")
    evenness: float = limit(0.9, "two in three sets of drawn lots lie below it, few measurements")
    rows_to_be_even: int = limit(50, "normal numbers lie above it in as many rows")
    long_digits: int = limit(9, "nothing that is measured of people has so many, but for time")
    seconds: tuple[float, float] = limit((3e8, 4e9), "seconds since 1970: from 1979 to 2096")
    empty_errors: float = limit(6.0, "standard errors: no coincidence, whatever the density is")
    balance_errors: float = limit(3.7, "standard errors: one column in 10,000 by chance")

    # Given numbers.
    fewest_given: int = limit(20, "fewer families, cases or households are groups")
    digits_of_given: int = limit(7, "registers of towns and of countries need so many")
    longest_code: int = limit(40, "an UUID has 36 characters")
    smallest_count: float = limit(2.0, "counts begin near zero")
    largest_count: float = limit(1000.0, "and hardly anything is counted beyond")
    crowded: float = limit(0.55, "a quarter of a count's values have more than half of its cells")
    smallest_long_number: float = limit(10_000.0, "numbers of registers have five digits or more")
    phone_digits: tuple[int, int] = limit((7, 15), "with the area; the longest have 15 (E.164)")
    named_phone_digits: tuple[int, int] = limit((6, 15), "a name that says phone needs no area")

    # Units that have several rows.
    rows_a_unit: float = limit(1.3, "rows to a unit on average; with fewer, a few are twice there")
    most_varying: float = limit(0.001, "units in which a column of theirs may differ, by slips")
    classes_change: float = limit(
        0.25,
        "of the changes that random order gives: 30 units have so few by chance in .001 or less",
    )
    fewest_units: int = limit(30, "as few as rows: among fewer, everybody stands out")
    most_roles: int = limit(12, "more are no roles in a household")

    # Edges.
    oldest: tuple[int, ...] = limit((100, 110, 120), "years: nobody is known to be older")
    score_ends: tuple[int, ...] = limit(
        (5, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100), "scales end at round numbers"
    )
    rows_on_an_edge: int = limit(10, "as many as any end of a release tells of at once")

    # Dates.
    years: tuple[int, int] = limit((1850, 2100), "people of whom there is a table, and plans")
    far_dates: float = limit(5.0, "lengths of the middle half beyond it: a slip of the year")
    most_far_dates: float = limit(0.05, "more of them are no slips")

    # Numbers far from all others.
    far_deviations: float = limit(100.0, "no measured distribution reaches so far; totals do")
    most_far: int = limit(3, "more of them are a tail")
    far_beyond: float = limit(2.0, "twice as far as the next: a tail has no such gap")
    rows_for_far: int = limit(10, "robust deviations of fewer are chance")

    # Codes for missing.
    rows_of_a_code: int = limit(2, "once may be a value")
    code_gap: float = limit(0.5, "of the others' range: values come nearer to each other")
    code_pile: float = limit(3.0, "times as often as its neighbours: tails fall, codes pile up")

    # Heaping.
    rows_for_heaping: int = limit(50, "fewer multiples of ten are chance")
    values_for_heaping: int = limit(15, "fewer values are levels")
    decimals_for_heaping: int = limit(3, "nobody rounds finer than that by hand")
    heaping_errors: float = limit(4.0, "standard errors: by chance one column in 30,000")
    heaping_excess: float = limit(1.5, "times what is expected: less does no harm")
    heaping_middle: int = limit(5, "steps in the middle 90%: next to one peak many are equal")

    # Samples.
    sample: int = limit(20_000, "shares within 1% of the column's")
    sample_differs: int = limit(1_000, "more different values than any levels have")
    quick_sample: int = limit(2_000, "shares within 3% of the column's")
    listed: int = limit(5, "rows or names that a sentence can hold")


LIMITS: Final = Limits()

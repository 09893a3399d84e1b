"""The numbers that decide what counts as a relation, an order or a derived column."""

from __future__ import annotations

from dataclasses import dataclass

from icsa.limits import MANY_EQUAL, limit

__all__ = ["LIMITS", "Limits"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Every threshold of the package; what each rests on is in its field's metadata.

    Examples
    --------
    >>> LIMITS.least_share
    0.98
    >>> Limits.__dataclass_fields__["least_share"].metadata["rests on"]
    'a relation with 1% wrong rows reaches .989, columns without one .004'
    """

    # Which rows are looked at.
    seed: int = limit(
        20_240_229,
        "any: which rows are looked at first is no secret, and a table gives the same each time",
    )
    sampled_rows: int = limit(
        20_000,
        "what holds in nearly all rows holds in nearly all of these; most tables have nothing",
    )
    block_rows: int = limit(5_000, "chosen for cost")
    block_rows_of_many: int = limit(1_000, "chosen for cost, where there are many blocks")
    many_blocks: int = limit(30, "chosen for cost")
    most_blocks: int = limit(40, "chosen for cost; beyond it only blocks of several columns")
    block_least_rows: int = limit(60, "chosen: among few rows chance makes relations")
    block_least_share: float = limit(0.8, "chosen: of the rows, where the table has fewer")
    block_failures: int = limit(10, "chosen for cost")
    set_rows: int = limit(2_000, "chosen for cost")
    small_set_rows: int = limit(
        24, "none of them is wrong in four of five sets when 1% of all rows are"
    )
    order_rows: int = limit(2_000, "chosen for cost; all rows are asked afterwards")

    # What is suspected, before all rows are asked.
    rounding_left: float = limit(0.45, "above 1 / sqrt(12) steps, which rounding leaves")
    least_residual: float = limit(1e-4, "chosen: relative to the spread")
    most_residual: float = limit(0.15, "chosen: relative to the spread")
    least_varied_rows: int = limit(5, "chosen: what hardly varies goes with everything")
    most_suspicions: int = limit(1_000, "chosen for cost")
    checked_rows: int = limit(500, "chosen for cost")
    borne_out: float = limit(0.95, "chosen below the least share, since rows are few")
    small_singular: float = limit(
        0.2, "singular value / sqrt(n): rounded columns .004, 1% wrong rows .028, none .39"
    )
    zero_singular: float = limit(1e-6, "cross-products are exact to 1e-16, so roots to 1e-8")
    concentrations: int = limit(6, "chosen: most steps of least trimmed squares")
    shrinking: float = limit(0.9, "a true relation comes out at once; others shrink less")
    concentrated_share: float = limit(0.95, "chosen: rows kept in a step")
    outlying: float = limit(10.0, "chosen: robust deviations of a far cell")
    most_operations: float = limit(5e8, "chosen for cost")
    most_rounds: int = limit(40, "chosen for cost")
    most_in_triples: int = limit(
        400, "chosen for cost: all triples of 400 columns take two seconds, of 2,000 four minutes"
    )

    # What is believed.
    least_share: float = limit(
        0.98, "a relation with 1% wrong rows reaches .989, columns without one .004"
    )
    near_share: float = limit(0.005, "chosen: targets that hold as often up to it are as good")
    least_gain: float = limit(0.75, "chosen: of the rows that no shorter relation explains")
    least_messy_share: float = limit(0.9, "chosen: below it every row is out of reach")
    relative_error: float = limit(1e-9, "sums of decimal numbers are right to this")
    single_precision: float = limit(2.5e-7, "about four roundings of single precision")
    steps_simple: int = limit(4, "chosen: a rounded target of fewer steps follows much")
    steps_messy: int = limit(20, "chosen: free coefficients follow more")
    fit_rounds: int = limit(4, "chosen for cost")
    most_terms: int = limit(40, "chosen for cost")
    most_terms_messy: int = limit(6, "chosen: free coefficients of more columns fit much")
    smallest: float = limit(1e-150, "squares stay above the smallest float")
    largest: float = limit(1e150, "squares stay below the largest float")
    exponent_slack: float = limit(0.1, "exponents are halves apart or more")
    shorter_product: float = limit(0.5, "chosen: a product holds far less without a factor")
    least_distinct: int = limit(15, "chosen: columns of few values are equal by chance")
    least_product_rows: int = limit(20, "chosen: fewer rows fit by chance")
    least_rows: int = limit(10, "chosen: fewer rows in common say nothing")

    # Orders and equal columns.
    least_equal: float = limit(
        MANY_EQUAL, "chosen: a gap codes columns better if so many are equal"
    )
    sampled_equal: float = limit(0.9, "of it, since a sample may be a little off")
    usual: float = limit(0.1, "chosen: what so many have is equal in both by chance")
    surprise_kept: float = limit(
        5.0, "chosen: were rows paired at random, so many would break the order of two dates"
    )
    surprise_told: float = limit(
        10.0, "chosen: the same where the order is only told; numbers are in order by chance"
    )

    order_overlap: float = limit(0.3, "chosen: columns with a unit in common lie in the same place")
    order_correlation: float = limit(
        0.5,
        "rank correlation of columns without a word in common that have a unit in common; of 196 "
        "pairs of columns in twelve tables 20 reach it, 7 of them with the overlap",
    )

    # Derived columns.
    derived_surprise: float = limit(
        14.0, "-log of one in a million: so rarely a table of unrelated columns has one"
    )
    derived_rows: int = limit(20, "chosen: fewer rows fit by chance")
    derived_shifts: int = limit(20, "chosen for cost: other rows that a number is held against")
    transformed_values: int = limit(
        10, "chosen: with fewer values a class is as good, and 0 and 1 are their own squares"
    )
    transformed_steps: float = limit(
        20.0, "of 1,000 tables with correlations of .9 none has a false logarithm or root"
    )
    most_codes: int = limit(20, "chosen: whole numbers with fewer values may be classes")
    most_groups: int = limit(200, "chosen for cost: no groups that something follows from")
    bound_neighbours: int = limit(5, "chosen: people near a bound, or at the end beside it")
    near_bound: float = limit(
        0.2, "standard deviations: 98 of 100 bounds in 60 rows are found; groups apart have none"
    )
    round_bound: int = limit(
        5, "multiples of so many lattice steps are a formula's rather than somebody's"
    )
    coefficient_error: float = limit(1e-6, "coefficients come out to this")

    # Rules.
    passes: int = limit(12, "chosen: sweeps until rules count as contradicting each other")
    exchanging_passes: int = limit(4, "chosen: sweeps that exchange cells first")
    lowering_passes: int = limit(8, "chosen: sweeps that lower a cell before raising one")
    donors: int = limit(24, "chosen for cost: other rows tried, near ones and as many others")


LIMITS = Limits()

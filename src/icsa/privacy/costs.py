"""How long an assessment will take and how much memory, said before it starts."""

from __future__ import annotations

from dataclasses import dataclass

from icsa.errors import InputError

__all__ = ["Cost", "estimate_cost"]

# Measured on one core: nanoseconds for each pair of rows, and each of its columns.
_PAIR, _PAIR_COLUMN = 1.0, 0.125
_ATTACK_COLUMN, _EQUAL_COLUMN = 0.55, 0.45
# Seconds for each cell that is standardised, sorted, hashed, put in buckets; and for any table.
_CELL, _START = 8e-7, 0.3
# The tables, both in robust units, the release on lattices, and blocks on their way.
_COPIES = 3.1
_SAMPLED_ROWS, _EXACT_ROWS = 1_000, 20_000


@dataclass(frozen=True)
class Cost:
    """An estimate, good to a factor of about two.

    Attributes
    ----------
    seconds : float
    bytes : int
        Peak memory with the two tables themselves.
    """

    seconds: float
    bytes: int

    def __str__(self) -> str:
        """Return it as people read it."""
        return f"about {self.seconds:.0f} s and {self.bytes / 2**20:.0f} MB"


def estimate_cost(
    n_rows: int, n_released: int, n_columns: int, m: int, *, threads: int = 1
) -> Cost:
    """Return the time and memory that `assess_privacy` will need, roughly.

    Parameters
    ----------
    n_rows, n_released, n_columns : int
        Sizes of the tables.
    m : int
        Number of people who stand out; at most the cap.
    threads : int
        How many threads.

    Examples
    --------
    >>> estimate_cost(1_000, 1_000, 5, 15).seconds < 1.0
    True
    >>> print(estimate_cost(10**6, 10**6, 20, 1_000, threads=2))
    about 75 s and 946 MB
    """
    if min(n_rows, n_released, n_columns) < 1 or m < 0 or threads < 1:
        raise InputError("Sizes must be 1 or more to estimate the cost.")
    one_pass = 1e-9 * (_PAIR + _PAIR_COLUMN * n_columns)
    screened = min(n_rows, _EXACT_ROWS) * n_rows if n_rows <= _EXACT_ROWS else 0
    if n_rows > _EXACT_ROWS:
        screened = 2 * 1_000 * n_rows + 2 * m * n_rows
    pairs = screened + m * (3 * n_rows + 3 * n_released) + _SAMPLED_ROWS * (2 * n_rows + n_released)
    per_column = 1e-9 * (_ATTACK_COLUMN + _EQUAL_COLUMN) * m * (n_rows + n_released) * n_columns
    cells = (n_rows + n_released) * n_columns
    seconds = _START + _CELL * cells + (pairs * one_pass + per_column) / threads
    return Cost(seconds, int(_COPIES * 8 * cells))
